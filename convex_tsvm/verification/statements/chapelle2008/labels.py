"""§3: methods that search for labels: S³VMlight, deterministic annealing, and the convex relaxation."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.special import xlogy

from ....exact import brute_force
from ....formulations import s3vm
from ....instance import Instance
from ....instance.probabilities import Probabilities
from ....kernels import Linear
from ....losses import annealed, squared_hinge
from ....methods import annealing, switching
from ....methods.exchanges import exchanges
from ....methods.settings import growing
from ....problem import Array, Problem
from ..concerned import EXACT
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


def probabilities(q: Quantities) -> Array:
    """Some p_u."""
    return np.random.default_rng(1).uniform(0.1, 0.9, q.u)


def gaps(q: Quantities) -> Array:
    """g_i = C* [V(1, o_i) - V(-1, o_i)] at a function."""
    o = q.o(q.functions[1])[q.l :]
    return q.C_star * (V(1, o) - V(-1, o))


PAPER.states(
    "Algorithm 2",
    r"T \text{ at which the toolkit anneals}",
    r"10\,C^*,\ T \leftarrow T / 1.5,\ \dots",
    says="The temperature starts at 10 C* and falls by a constant factor, until probabilities are labels.\n\n"
    "The entropy that ends the loop is a sum here and a mean in Sindhwani and Keerthi (2006), with the same 10⁻⁶; the"
    " toolkit's is the mean.",
    rests_on=("eq. 8",),
    computed=lambda q: temperatures(q),
    claimed=lambda q: 10 * q.C_star / 1.5 ** np.arange(len(temperatures(q))),
    faults={"R = 2": lambda q: 10 * q.C_star / 2.0 ** np.arange(len(temperatures(q)))},
)


def temperatures(q: Quantities) -> Array:
    """The temperatures that the toolkit's annealing goes through."""
    found = annealing(s3vm(), q.counted)
    stages = [iteration.stage for iteration in found.history if iteration.stage]
    return np.array(list(dict.fromkeys(stages)))


PAPER.states(
    "Figure 4",
    r"\text{the toolkit's loss at } T",
    r"-T\log\left(e^{-V(1,o)/T} + e^{-V(-1,o)/T}\right)",
    says="The loss with the best probability, for several temperatures; for one near 0 it is that of Figure 2.",
    rests_on=("eq. 9",),
    computed=lambda q: [annealed(squared_hinge(), T)(q.t) for T in (1e-8, 0.05, 0.5, 3.0)],
    claimed=lambda q: [soft_minimum(q.t, T) for T in (1e-8, 0.05, 0.5, 3.0)],
    faults={"plus T": lambda q: [soft_minimum(q.t, T) + T for T in (1e-8, 0.05, 0.5, 3.0)]},
)


def soft_minimum(t: Array, T: float) -> Array:
    """min over p of p V(1, t) + (1 - p) V(-1, t) - T H(p), in closed form."""
    return -T * np.logaddexp(-V(1, t) / T, -V(-1, t) / T)


PAPER.states(
    "§3.3, T = 0 and T = ∞",
    r"p_u \text{ at very low and very high } T",
    r"\text{labels of the } ru \text{ smallest } g_i;\ r",
    says="At T = 0 the best p are labels, at T = ∞ all are r.",
    rests_on=("eq. 8",),
    tolerance=1e-4,
    computed=lambda q: [Probabilities.best(gaps(q), T, q.positive).p for T in (1e-6, 1e7)],
    claimed=lambda q: [(np.argsort(np.argsort(gaps(q))) < q.positive).astype(float), np.full(q.u, q.r)],
    faults={"one half for all": lambda q: [np.full(q.u, 0.5), np.full(q.u, 0.5)]},
)

PAPER.states(
    "§3.3, entropy",
    r"u \text{ times the toolkit's mean entropy}",
    r"-\sum_i p_i\log p_i + (1-p_i)\log(1-p_i)",
    says="How uncertain labels are: a sum over points, in nats.",
    computed=lambda q: q.u * Probabilities(np.log(1 / (1 / probabilities(q) - 1))).entropy(),
    claimed=lambda q: -xlogy(p := probabilities(q), p).sum() - xlogy(1 - p, 1 - p).sum(),
    faults={"without 1 - p": lambda q: -xlogy(p := probabilities(q), p).sum()},
)


def dual_of(q: Quantities, labels: Array, *, tied: bool = True) -> float:
    """max Σ α - ½ Σ α_i α_j Γ_ij K_ij with the diagonal 1 / (2 C), and Σ α_i y_i = 0."""
    K = q.K + np.diag(0.5 / q.cost)
    root, alpha = np.linalg.cholesky(K), cp.Variable(q.n, nonneg=True)
    goal = cp.sum(alpha) - 0.5 * cp.sum_squares(root.T @ cp.multiply(labels, alpha))
    constraints = [labels @ alpha == 0] if tied else []
    return float(cp.Problem(cp.Maximize(goal), constraints).solve(**EXACT))


PAPER.states(
    "eq. 11",
    r"\min_{y_u} \mathcal J(y_u)",
    r"\min_\Gamma\max_\alpha \text{ s.t. } \textstyle\sum\alpha_i y_i = 0,\ \alpha_i \ge 0,\ \Gamma = yy^\top",
    says="Over all label matrices the least dual value is the optimum, which the toolkit finds by enumeration.",
    rests_on=("eq. 10",),
    tolerance=1e-5,
    computed=lambda q: brute_force(q.model, q.problem)[0],
    claimed=lambda q: min(dual_of(q, labels) for labels in q.labelings),
    faults={"without Σ α y = 0, which is no bias": lambda q: min(dual_of(q, y, tied=False) for y in q.labelings)},
)


def free_bias(q: Quantities) -> float:
    """max over α of eq. 10 under Γ α = 0 on the working set and Σ α_i y_i = 0 on the labelled points.

    Γ has the known block, and an identity for the working set, whose rows of Γ α = 0 are α_i = 0.
    """
    known = np.ix_(range(q.l), range(q.l))
    gamma = np.eye(q.n)
    gamma[known] = np.outer(q.y, q.y)
    root, alpha = np.linalg.cholesky((q.K + np.diag(0.5 / q.cost)) * gamma), cp.Variable(q.n, nonneg=True)
    goal = cp.Maximize(cp.sum(alpha) - 0.5 * cp.sum_squares(root.T @ alpha))
    return float(cp.Problem(goal, [gamma @ alpha == 0]).solve(**EXACT))


def labelled_alone(q: Quantities) -> float:
    """The SVM of the labelled points."""
    return q.program(q.whole(np.ones(q.u)), np.where(np.arange(q.n) < q.l, q.cost, 0.0))


PAPER.states(
    "§3.4, the bias in the relaxation",
    r"\text{the relaxation where } \Gamma\alpha = 0 \text{ takes the place of } \alpha^\top y = 0",
    r"\text{the SVM of the labelled points}",
    says="With an identity for the working set's block, every row of Γ α = 0 there is α_i = 0.\n\n"
    "The text does not say what becomes of Σ α_i y_i = 0 when Γ = yyᵀ is relaxed. Read as what a free bias asks of "
    "every Γ, it makes the relaxation no bound worth having; the toolkit fixes the bias by the linear balance.",
    rests_on=("eq. 11",),
    tolerance=1e-5,
    computed=lambda q: free_bias(q),
    claimed=lambda q: labelled_alone(q),
    faults={"half of it": lambda q: labelled_alone(q) / 2},
)
