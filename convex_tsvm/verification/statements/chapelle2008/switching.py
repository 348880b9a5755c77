"""§3.2: S³VMlight."""

from __future__ import annotations

import numpy as np

from ....formulations import s3vm
from ....instance import Instance
from ....kernels import Linear
from ....methods import switching
from ....methods.exchanges import exchanges
from ....methods.settings import growing
from ....problem import Array, Problem
from . import PAPER
from .quantities import Quantities, V


def gains(q: Quantities, labels: Array, o: Array) -> dict[tuple[int, int], float]:
    """V(1, o_i) + V(-1, o_j) - V(-1, o_i) - V(1, o_j) of all pairs of unlabelled points with labels 1 and -1."""
    up, down = (np.flatnonzero(labels[q.l :] == sign) + q.l for sign in (1, -1))
    more = V(1, o) - V(-1, o)
    return {(int(i), int(j)): float(more[i] - more[j]) for i in up for j in down}


def switched(q: Quantities, sign: float = 1.0) -> Array:
    """For every labelling and pair of labels 1, -1: by how much J changes with a switch, and what eq. 6 allows."""
    found = []
    for k, labels in enumerate(q.labelings):
        for pair, gain in gains(q, labels, q.solution(labels).outputs).items():
            after = labels * np.where(np.isin(np.arange(q.n), pair), -1, 1)
            where = next(m for m, one in enumerate(q.labelings) if np.array_equal(one, after))
            allowed = -q.C_star * sign * gain if sign * gain > 1e-6 else np.inf
            found.append((q.values[where] - q.values[k], allowed))
    return np.array(found)


PAPER.states(
    "eq. 6",
    r"\mathcal J \text{ after switching} - \mathcal J \text{ before}",
    r"-C^*[V(1,o_i) + V(-1,o_j) - V(-1,o_i) - V(1,o_j)] \text{ where that is} < 0",
    says="Switching a pair lowers the losses at fixed outputs, and retraining lowers the objective further.",
    relation="<=",
    rests_on=("eq. 4",),
    quantities=lambda: PAPER.quantities()[:1],
    computed=lambda q: switched(q)[:, 0] - 1e-8,
    claimed=lambda q: switched(q)[:, 1],
    faults={"pairs with the opposite inequality": lambda q: switched(q, -1.0)[:, 1]},
)


def exchanged(q: Quantities, *, sign: float = 1.0) -> list[Array]:
    """The pair that satisfies eq. 6 with the largest gain, as points that change; for several labellings."""
    found = []
    for k, one in enumerate(q.functions):
        gain = {pair: sign * value for pair, value in gains(q, q.labelings[k % len(q.labelings)], q.o(one)).items()}
        best = max(gain, key=lambda pair: gain[pair], default=())
        found.append(np.isin(np.arange(q.n), best if best and gain[best] > 1e-9 else ()).astype(float))
    return found


@PAPER.states(
    "§3.2, the pair",
    r"\text{points whose labels the toolkit exchanges}",
    r"\arg\max_{i,j} V(1,o_i) + V(-1,o_j) - V(-1,o_i) - V(1,o_j) \text{ if that is} > 0",
    rests_on=("eq. 6",),
    claimed=lambda q: exchanged(q),
    faults={"the other way round": lambda q: exchanged(q, sign=-1.0)},
)
def the_pair(q: Quantities) -> list[Array]:
    """One pair at a time: the toolkit takes the one that gains most."""
    found = []
    for k, one in enumerate(q.functions):
        labels = q.labelings[k % len(q.labelings)]
        counted = q.problem.replace(balance=("exact", 0.5))
        changed = exchanges(Instance(s3vm().balanced_as(counted), counted), q.o(one), labels, q.cost, most=1)
        found.append(np.isin(np.arange(q.n), changed).astype(float))
    return found


PAPER.states(
    "Algorithm 1, schedule",
    r"\tilde C \text{ of the toolkit, in units of } C^*",
    r"10^{-5},\ \tilde C \leftarrow \min(1.5\,\tilde C, C^*),\ \dots, 1",
    says="C* is raised from a hundred-thousandth of it, by half each time.",
    computed=lambda q: growing(1e-5, 1.5),
    claimed=lambda q: np.append(1e-5 * 1.5 ** np.arange(29), 1.0),
    printed=lambda q: [1e-5, min(1.5 * q.C / q.C_star, 1.0)],
    printed_tex=r"\tilde C \leftarrow \min(1.5\,C, C^*)",
    corrected_tex=r"\tilde C \leftarrow \min(1.5\,\tilde C, C^*)",
    misprint="C̃ ← min(1.5 C, C*) has C where 1.5 C̃ is meant: as printed the second value is C* wherever C* <= 1.5 C,"
    " and elsewhere the loop has no end.",
    faults={"doubling": lambda q: np.append(1e-5 * 2.0 ** np.arange(17), 1.0)},
)

PAPER.states(
    "Algorithm 1, end",
    r"\text{the last } \tilde C / C^* \text{ that the toolkit minimizes with}",
    r"1",
    says="The last SVMs have the cost that was asked for.\n\n"
    '"while C̃ < C*" ends the loop as C̃ reaches C*, before anything is minimized with it.',
    rests_on=("Algorithm 1, schedule",),
    computed=lambda q: float(switching(s3vm(), q.counted, max_pairs=1).history[-1].stage),
    claimed=lambda q: 1.0,
    faults={"2/3": lambda q: 2 / 3},
)


def switching_by_hand(q: Quantities, *, swaps: bool = True) -> float:
    """Algorithm 1 for the squared hinge, with CVXPY's SVMs; J where it ends."""

    def train(y: Array, scale: float) -> Array:
        return q.svm(y, np.where(np.arange(q.n) < q.l, q.cost, scale * q.cost))[1]

    o = train(q.whole(np.ones(q.u)), 1e-12)
    y = q.whole(np.where(np.argsort(np.argsort(-o[q.l :])) < q.positive, 1.0, -1.0))
    for scale in [*(1e-5 * 1.5 ** np.arange(29)), 1.0] if swaps else []:
        while True:
            gain = gains(q, y, train(y, float(scale)))
            best = max(gain, key=lambda pair: gain[pair])
            if gain[best] <= 1e-7:
                break
            y[list(best)] *= -1
    return q.program(y)


PAPER.states(
    "Algorithm 1",
    r"\mathcal J \text{ where the toolkit ends}",
    r"\mathcal J \text{ where Algorithm 1 ends, written out}",
    says="S³VMlight: SVMs of all points' labels, exchanges of one pair at a time, and a C* that rises.",
    rests_on=("eq. 6", "Algorithm 1, schedule"),
    tolerance=1e-5,
    quantities=lambda: [Quantities(exchanging())],
    computed=lambda q: q.program(switching(s3vm(), q.counted, max_pairs=1, tol=1e-8).labels),
    claimed=lambda q: switching_by_hand(q),
    faults={"no exchanges": lambda q: switching_by_hand(q, swaps=False)},
)


def exchanging() -> Problem:
    """Ten unlabelled points of which some change their labels on the way."""
    X = np.random.default_rng(47).normal(size=(14, 2))
    return Problem(X, [-1, 1, 1, -1] + [0] * 10, kernel=Linear(), C=1.0, C_unlabeled=1.0, balance=None)
