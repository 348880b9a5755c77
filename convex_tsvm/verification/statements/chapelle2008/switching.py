"""§3.2: S³VMlight."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np

from ....formulations import s3vm
from ....instance import Instance
from ....kernels import Linear
from ....methods import switching
from ....methods.exchanges import exchanges
from ....methods.schedule import growing
from ....problem import Array, Problem
from . import PAPER
from .quantities import Quantities, V


def switched(q: Quantities, sign: float = 1.0) -> Array:
    """For every labelling and pair of labels 1, -1: by how much J changes with a switch, and what eq. 6 allows."""
    found = []
    for k, labels in enumerate(q.labelings):
        o = q.solution(labels).outputs
        for i, j in itertools.permutations(range(q.l, q.n), 2):
            if labels[i] == 1 and labels[j] == -1:
                gain = sign * float(V(1, o[i]) + V(-1, o[j]) - V(-1, o[i]) - V(1, o[j]))
                after = labels * np.where(np.isin(np.arange(q.n), (i, j)), -1, 1)
                where = next(m for m, one in enumerate(q.labelings) if np.array_equal(one, after))
                found.append((q.values[where] - q.values[k], -q.C_star * gain if gain > 1e-6 else np.inf))
    return np.array(found)


@PAPER.states(
    "eq. 6",
    r"\mathcal J \text{ after switching} - \mathcal J \text{ before}",
    r"-C^*[V(1,o_i) + V(-1,o_j) - V(-1,o_i) - V(1,o_j)] \text{ where that is} < 0",
    relation="<=",
    rests_on=("eq. 4",),
    quantities=lambda: PAPER.quantities()[:1],
    claimed=lambda q: switched(q)[:, 1],
    faults={"pairs with the opposite inequality": lambda q: switched(q, -1.0)[:, 1]},
)
def eq_6(q: Quantities) -> Array:
    """Switching a pair lowers the losses at fixed outputs, and retraining lowers the objective further."""
    return switched(q)[:, 0] - 1e-8


def exchanged(q: Quantities, *, reverse: bool = False) -> list[Array]:
    """Which pairs (i, j) of a labelling satisfy eq. 6 with a gain, as sets of points that change."""
    found = []
    for k, one in enumerate(q.functions):
        labels, o = q.labelings[k % len(q.labelings)], q.o(one)
        up, down = (np.flatnonzero(labels[q.l :] == sign) + q.l for sign in (1, -1))
        best = np.zeros(q.n)
        gain = {
            (i, j): float(V(1, o[i]) + V(-1, o[j]) - V(-1, o[i]) - V(1, o[j])) * (-1 if reverse else 1)
            for i in up
            for j in down
        }
        if gain and max(gain.values()) > 1e-9:
            i, j = max(gain, key=lambda pair: gain[pair])
            best[[i, j]] = 1
        found.append(best)
    return found


@PAPER.states(
    "§3.2, the pair",
    r"\text{points whose labels the toolkit exchanges}",
    r"\arg\max_{i,j} V(1,o_i) + V(-1,o_j) - V(-1,o_i) - V(1,o_j) \text{ if that is} > 0",
    rests_on=("eq. 6",),
    claimed=lambda q: exchanged(q),
    faults={"the other way round": lambda q: exchanged(q, reverse=True)},
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


@PAPER.states(
    "Algorithm 1, schedule",
    r"\tilde C \text{ of the toolkit, in units of } C^*",
    r"10^{-5},\ \tilde C \leftarrow \min(1.5\,\tilde C, C^*),\ \dots, 1",
    claimed=lambda q: np.append(1e-5 * 1.5 ** np.arange(29), 1.0),
    printed=lambda q: [1e-5, min(1.5 * q.C / q.C_star, 1.0)],
    printed_tex=r"\tilde C \leftarrow \min(1.5\,C, C^*)",
    corrected_tex=r"\tilde C \leftarrow \min(1.5\,\tilde C, C^*)",
    misprint="C̃ ← min(1.5 C, C*) has C where 1.5 C̃ is meant: as printed the second value is C* wherever C* <= 1.5 C,"
    " and elsewhere the loop has no end.",
    faults={"doubling": lambda q: np.append(1e-5 * 2.0 ** np.arange(17), 1.0)},
)
def schedule(q: Quantities) -> Array:
    """C* is raised from a hundred-thousandth of it, by half each time."""
    return growing(1e-5, 1.5)


@PAPER.states(
    "Algorithm 1, end",
    r"\text{the last } \tilde C / C^* \text{ that the toolkit minimizes with}",
    r"1",
    rests_on=("Algorithm 1, schedule",),
    claimed=lambda q: 1.0,
    faults={"2/3": lambda q: 2 / 3},
)
def end_of_schedule(q: Quantities) -> float:
    """The last SVMs have the cost that was asked for.

    "while C̃ < C*" ends the loop as C̃ reaches C*, before anything is minimized with it.
    """
    return float(switching(s3vm(), q.counted, max_pairs=1).history[-1].stage)


def switching_by_hand(q: Quantities, *, swaps: bool = True) -> float:
    """Algorithm 1 for the squared hinge, with CVXPY's SVMs; J where it ends."""
    w, b = cp.Variable(q.Z.shape[1]), cp.Variable()
    labels, costs = cp.Parameter(q.n), cp.Parameter(q.n, nonneg=True)
    outputs = q.Z @ w + b
    # y (Z w + b) with y a parameter: 1 - y f <= t, t >= 0 is the hinge, and c t² is paid.
    slack = cp.Variable(q.n, nonneg=True)
    made = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(w) + costs @ cp.square(slack)), [cp.multiply(labels, outputs) >= 1 - slack]
    )

    def train(y: Array, scale: float) -> Array:
        labels.value, costs.value = y, np.where(np.arange(q.n) < q.l, q.cost, scale * q.cost)
        made.solve(solver="CLARABEL")
        return np.asarray(outputs.value)

    o = train(q.whole(np.ones(q.u)), 1e-12)
    y = q.whole(np.where(np.argsort(np.argsort(-o[q.l :])) < q.positive, 1.0, -1.0))
    for scale in [*(1e-5 * 1.5 ** np.arange(29)), 1.0] if swaps else [1.0]:
        while True:
            o = train(y, float(scale))
            pairs = [(i, j) for i in range(q.l, q.n) for j in range(q.l, q.n) if y[i] == 1 and y[j] == -1]
            gains = {(i, j): float(V(1, o[i]) + V(-1, o[j]) - V(-1, o[i]) - V(1, o[j])) for i, j in pairs}
            if not swaps or max(gains.values()) <= 1e-7:
                break
            i, j = max(gains, key=lambda pair: gains[pair])
            y[[i, j]] *= -1
    return q.program(y)


@PAPER.states(
    "Algorithm 1",
    r"\mathcal J \text{ where the toolkit ends}",
    r"\mathcal J \text{ where Algorithm 1 ends, written out}",
    rests_on=("eq. 6", "Algorithm 1, schedule"),
    tolerance=1e-5,
    quantities=lambda: [Quantities(exchanging())],
    claimed=lambda q: switching_by_hand(q),
    faults={"no exchanges": lambda q: switching_by_hand(q, swaps=False)},
)
def algorithm_1(q: Quantities) -> float:
    """S³VMlight: SVMs of all points' labels, exchanges of one pair at a time, and a C* that rises."""
    found = switching(s3vm(), q.counted, max_pairs=1, tol=1e-8)
    return q.program(found.labels)


def exchanging() -> Problem:
    """Ten unlabelled points of which some change their labels on the way."""
    X = np.random.default_rng(47).normal(size=(14, 2))
    return Problem(X, [-1, 1, 1, -1] + [0] * 10, kernel=Linear(), C=1.0, C_unlabeled=1.0, balance=None)
