"""The items that are compared as numbers: the problem (§2), searches for labels (§3), methods in the primal (§4)."""

from functools import cache

import cvxpy as cp
import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.special import xlogy
from sklearn.datasets import make_moons

from ....exact import brute_force, exact_search
from ....formulations import s3vm, tsvm
from ....instance import Instance
from ....instance.primal import ExpansionPrimal, SmoothPrimal
from ....instance.probabilities import Probabilities
from ....kernels import RBF, Linear
from ....losses import exponential, flat_newton, hinge, smoothed, squared_hinge, symmetric_squared_hinge
from ....methods import annealing, switching
from ....methods.exchanges import exchanges
from ....methods.settings import doubling, growing
from ....problem import Array, Problem
from ....solvers.levenberg_marquardt import levenberg_marquardt
from ..concerned import EXACT
from .quantities import PAPER, Quantities, V


def objective(q: Quantities, function: tuple[Array, float], labels: Array, *, half: float = 1.0) -> float:
    """Eq. 1 at (w, b) and labels of all points."""
    return float(half * q.half(function) + q.cost @ V(labels, q.o(function)))


PAPER.states(
    "eq. 1",
    r"\mathcal I(w, b, y_u)",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{l} V(y_i, o_i) + C^*\sum_{i=l+1}^{n} V(y_i, o_i)",
    says="The objective for a function and the labels of all points.",
    computed=lambda q: [q.instance.labelled_objective(q.o(one), q.half(one), q.labelings[3]) for one in q.functions],
    claimed=lambda q: [objective(q, one, q.labelings[3]) for one in q.functions],
    faults={"‖w‖² without its half": lambda q: [objective(q, one, q.labelings[3], half=2.0) for one in q.functions]},
)

PAPER.states(
    "eq. 2",
    r"V(1, o) \text{ for } p = 1, 2",
    r"\max(0, 1 - o)^p",
    says="The hinge loss, plain and squared; there is no ½ in front of the square.",
    computed=lambda q: [hinge()(q.t), squared_hinge()(q.t)],
    claimed=lambda q: [V(1, q.t, 1), V(1, q.t, 2)],
    faults={"p = 2 with a half": lambda q: [V(1, q.t, 1), V(1, q.t, 2) / 2]},
)


@PAPER.states(
    "eq. 3",
    r"\left(\tfrac1u\sum\max(y_i, 0),\ \tfrac1u\sum y_i\right) \text{ of the toolkit's labels}",
    r"(r,\ 2r - 1)",
    claimed=lambda q: [q.r, 2 * q.r - 1],
    faults={"r for both": lambda q: [q.r, q.r]},
)
def eq_3(q: Quantities) -> list[float]:
    """The balance: a share r of the unlabelled points is positive, in both forms of the equation."""
    labels = switching(s3vm(), q.counted).labels[q.l :]
    return [float(np.maximum(labels, 0).mean()), float(labels.mean())]


PAPER.states(
    "eq. 4",
    r"\mathcal J(y_u)",
    r"\min_{w,b} \mathcal I(w, b, y_u)",
    says="For fixed labels the problem is an SVM: native solver and CVXPY, for every labelling.",
    rests_on=("eq. 1",),
    computed=lambda q: q.values,
    claimed=lambda q: [q.program(labels) for labels in q.labelings],
    faults={"the cost C for all points": lambda q: [q.program(labels, np.full(q.n, q.C)) for labels in q.labelings]},
)

PAPER.states(
    "eq. 5",
    r"\tfrac12\|w\|^2 + C\sum\max(0, 1-y_i o_i)^2 + C^*\sum\max(0, 1-|o_i|)^2",
    r"\min_{y_u} \mathcal I(w, b, y_u)",
    says="The best labels are the signs of the outputs; compared with every labelling.",
    rests_on=("eq. 1",),
    computed=lambda q: [q.model.objective(q.problem, q.o(one), q.half(one)) for one in q.functions],
    claimed=lambda q: [min(objective(q, one, labels) for labels in q.labelings) for one in q.functions],
    faults={"the largest over labels": lambda q: [max(objective(q, f, y) for y in q.labelings) for f in q.functions]},
)


PAPER.states(
    "Figure 1",
    r"\text{wrong labels at the global optimum of two moons}",
    r"0",
    says="With two labelled points, one in each moon, the optimum separates the moons.",
    quantities=lambda: [moons()],
    computed=lambda case: int((exact_search(s3vm(), case[0], time_limit=60).labels != case[1]).sum()),
    claimed=lambda case: 0,
    faults={"the answer 1": lambda case: 1},
)


def moons() -> tuple[Problem, Array]:
    """Two half circles of 15 points each, one of them labelled in each."""
    X, moon = make_moons(30, shuffle=False)
    truth = 1.0 - 2 * moon
    y = np.where(np.isin(np.arange(30), [7, 22]), truth, 0.0)
    return Problem(X, y, kernel=RBF(0.3), C=10.0, C_unlabeled=10.0, balance=0.0), truth


PAPER.states(
    "Figure 2",
    r"\text{loss of an unlabelled point}",
    r"\max(0, 1 - |o|)^2",
    says="The effective loss: 1 at the boundary, 0 outside the margin.",
    rests_on=("eq. 5",),
    computed=lambda q: symmetric_squared_hinge()(q.t),
    claimed=lambda q: np.maximum(0, 1 - np.abs(q.t)) ** 2,
    faults={"max(0, 1 - o²)": lambda q: np.maximum(0, 1 - q.t**2)},
)


def path_down(q: Quantities) -> Array:
    """J of the SVM as unlabelled points get labels one after the other, down a branch of the tree."""
    labels = q.labelings[2]
    return np.array([q.program(labels, np.where(np.arange(q.n) < q.l + k, q.cost, 0.0)) for k in range(q.u + 1)])


PAPER.states(
    "Figure 3",
    r"\text{lower bound of a node}",
    r"\text{that of its child}",
    says="Down a branch of the tree the SVM has more labelled points, so its objective rises.",
    relation="<=",
    rests_on=("eq. 4",),
    computed=lambda q: path_down(q)[:-1] - 1e-8,
    claimed=lambda q: path_down(q)[1:],
    faults={"that of the child, less its new point's loss": lambda q: path_down(q)[1:] - q.C_star},
)


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
    faults={"eq. 6 the other way round": lambda q: exchanged(q, sign=-1.0)},
)
def the_pair(q: Quantities) -> list[Array]:
    """One pair at a time is switched: here the pair that gains most."""
    counted = q.problem.replace(balance=("exact", 0.5))
    instance = Instance(s3vm().balanced_as(counted), counted)
    at = [(q.o(one), q.labelings[k % len(q.labelings)]) for k, one in enumerate(q.functions)]
    pairs = [exchanges(instance, outputs, labels, q.cost, most=1) for outputs, labels in at]
    return [np.isin(np.arange(q.n), pair).astype(float) for pair in pairs]


PAPER.states(
    "Algorithm 1, schedule",
    r"\tilde C \text{ of the toolkit, in units of } C^*",
    r"10^{-5},\ \tilde C \leftarrow \min(1.5\,\tilde C, C^*),\ \dots, 1",
    says="C̃ starts at 10⁻⁵ C* and rises by a half each time.",
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
    says="The last SVMs are trained with C*.\n\n"
    '"while C̃ < C*" ends the loop as C̃ reaches C*, before anything is minimized with it.',
    rests_on=("Algorithm 1, schedule",),
    computed=lambda q: float(switching(s3vm(), q.counted, max_pairs=1).history[-1].stage),
    claimed=lambda q: 1.0,
    faults={"two thirds of C*": lambda q: 2 / 3},
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
    "§3.3, T = 0 and T = ∞",
    r"p_u \text{ at very low and very high } T",
    r"\text{labels of the } ru \text{ smallest } g_i;\ r",
    says="At T = 0 the best p are labels, at T = ∞ all p are r.",
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
    says="The entropy of the labels: a sum over points, in nats.",
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
    says="The least dual value over all label matrices is the optimum, found here by enumeration.",
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
    "every Γ, it makes the relaxation no bound worth having; the toolkit fixes the bias by the linear balance, or has "
    "a number of labels: then the identity is no Γ, and all unlabelled points may have one α.",
    rests_on=("eq. 11",),
    tolerance=1e-5,
    computed=lambda q: free_bias(q),
    claimed=lambda q: labelled_alone(q),
    faults={"half of the value": lambda q: labelled_alone(q) / 2},
)


def effective_loss(t: Array, far: float = -4.0) -> Array:
    """L̃, for a point that is classified positive."""
    return np.where(t >= 1, 0.0, np.where(t <= -1, far * t, (1 - t) ** 2))


@PAPER.states(
    "§4.1, effective loss",
    r"\text{convex part} + \text{tangent at a positive output}",
    r"\tilde L(t) = 0\ (t \ge 1),\ (1-t)^2\ (|t| < 1),\ -4t\ (t \le -1)",
    rests_on=("§4.1, decomposition",),
    claimed=lambda q: effective_loss(q.t),
    faults={"-2 t below -1": lambda q: effective_loss(q.t, -2.0)},
)
def effective(q: Quantities) -> Array:
    """What an unlabelled point pays in the next step if its output is positive now, from the split of the loss."""
    convex, concave = symmetric_squared_hinge().split()
    at = 0.7
    return np.asarray(convex(q.t) + concave(at) + concave.supergradient(at) * (q.t - at))


def smooth_primal(q: Quantities) -> tuple[SmoothPrimal, list[Array]]:
    """The toolkit's primal of eq. 14, and variables to look at it."""
    primal = SmoothPrimal(Instance(tsvm("exp"), q.balanced))
    return primal, [np.random.default_rng(k).normal(0, 0.8, primal.n_variables) for k in range(6)]


def smooth_objective(q: Quantities, x: Array, s: float = 5.0) -> float:
    """Eq. 14 at the toolkit's variables."""
    primal = smooth_primal(q)[0]
    o = primal.outputs(x)
    return float(primal.regularization(x) + q.C * V(q.y, o[: q.l]).sum() + q.C_star * np.exp(-s * o[q.l :] ** 2).sum())


PAPER.states(
    "eq. 14",
    r"\text{the toolkit's smooth primal}",
    r"\tfrac12\|w\|^2 + C\sum\max(0, 1 - y_i o_i)^2 + C^*\sum\exp(-s\,o_i^2),\quad s = 5",
    says="∇S³VM's objective, whose loss has no kink at 0.",
    computed=lambda q: [smooth_primal(q)[0].value(x) for x in smooth_primal(q)[1]],
    claimed=lambda q: [smooth_objective(q, x) for x in smooth_primal(q)[1]],
    faults={"s = 3, for the hinge loss": lambda q: [smooth_objective(q, x, 3.0) for x in smooth_primal(q)[1]]},
)

PAPER.states(
    "§4.2, schedule",
    r"\text{factors on } C^* \text{ of the toolkit's } \nabla S^3VM",
    r"2^{i-10},\ i = 1, \dots, 10",
    says="The cost doubles from step to step, and is C* at the tenth.\n\n"
    "§5.4.4 begins at 1/1000, which is i = 0; the toolkit begins at i = 1, and has ten factors from 1/1000 for CCCP "
    "and Newton-S³VM.",
    computed=lambda q: doubling(),
    claimed=lambda q: 2.0 ** (np.arange(1, 11) - 10),
    faults={"from 2⁻¹⁰ on": lambda q: 2.0 ** (np.arange(10) - 10)},
)

PAPER.states(
    "Figure 5",
    r"\text{both losses of the toolkit}",
    r"\max(0, 1-|t|)^2,\ \exp(-5t^2)",
    says="The differentiable loss and that of Figure 2.",
    rests_on=("eq. 14",),
    computed=lambda q: [symmetric_squared_hinge()(q.t), exponential()(q.t)],
    claimed=lambda q: [V(1, np.abs(q.t)), np.exp(-5 * q.t**2)],
    faults={"exp(-3 t²)": lambda q: [V(1, np.abs(q.t)), np.exp(-3 * q.t**2)]},
)


@PAPER.states(
    "Figure 6",
    r"\text{minima of a function of one variable, smoothed less and less}",
    r"1, 1, 2",
    rests_on=("Algorithm 5",),
    claimed=lambda q: [1, 1, 2],
    faults={"two all the way": lambda q: [2, 2, 2]},
)
def figure_6(q: Quantities) -> list[int]:
    """An objective with two minima has one when smoothed, which moves to the lower of the two with less smoothing."""
    w = np.linspace(-3, 3, 6001)
    convex = 0.05 * (w - 1) ** 2 + squared_hinge()(w) * 0.02
    rises = [np.diff(convex + smoothed(exponential(), width)(w)) > 0 for width in (2.0, 1.0, 0.0)]
    return [int((one[1:] & ~one[:-1]).sum()) for one in rises]


@cache
def flat_primal(problem: Problem) -> ExpansionPrimal:
    """The primal of the loss that is flat, straight and curved by turns; it is asked for in every step of a descent."""
    return ExpansionPrimal(Instance(tsvm("flat"), problem))


def primal_of(q: Quantities) -> tuple[ExpansionPrimal, list[Array]]:
    """The toolkit's primal of eq. 15 under the linear balance, and coefficients to look at it."""
    return flat_primal(q.balanced), [np.random.default_rng(k).normal(0, 0.8, q.n) for k in range(6)]


def outputs(q: Quantities, beta: Array) -> Array:
    """K β + b with the centred kernel and b = 2r - 1."""
    return np.asarray(primal_of(q)[0].kernel @ beta + 2 * q.r - 1)


def omega(q: Quantities, beta: Array, half: float = 0.5) -> float:
    """Eq. 15 written out."""
    o = outputs(q, beta)
    loss = q.C * V(q.y, o[: q.l]).sum() + q.C_star * flat_newton()(o[q.l :]).sum()
    return float(half * beta @ primal_of(q)[0].kernel @ beta + loss)


def slopes(q: Quantities, beta: Array) -> Array:
    """g of eq. 16."""
    o = outputs(q, beta)
    known = -2 * q.C * np.maximum(0, 1 - q.y * o[: q.l]) * q.y
    return beta + np.concatenate([known, q.C_star * flat_newton().derivative(o[q.l :])])


def curvatures(q: Quantities, beta: Array) -> Array:
    """D_ii of eq. 17."""
    o = outputs(q, beta)
    return np.concatenate([2 * q.C * (q.y * o[: q.l] < 1), q.C_star * flat_newton().curvature(o[q.l :])])


PAPER.states(
    "eq. 15",
    r"\text{the toolkit's primal of an expansion}",
    r"\tfrac12\beta^\top K\beta + C\sum_{i=1}^{l}\ell_L(y_i(K_i^\top\beta + b)) +"
    r" C^*\sum_{i=l+1}^{n}\ell_U(K_i^\top\beta + b)",
    says="The objective with w = Σ β_i φ(x_i), in the kernel of eq. 13.",
    computed=lambda q: [primal_of(q)[0].value(beta) for beta in primal_of(q)[1]],
    claimed=lambda q: [omega(q, beta) for beta in primal_of(q)[1]],
    faults={"βᵀKβ without its half": lambda q: [omega(q, beta, 1.0) for beta in primal_of(q)[1]]},
)


def blocks(q: Quantities, *, sign: float = -1.0, cross: float = 1.0) -> Array:
    """Eq. 18 at λ = 3, with the Cholesky factor of K + 10⁻⁹ I on the points that bend."""
    beta, damping = primal_of(q)[1][0], 3.0
    K, D, g = primal_of(q)[0].kernel, curvatures(q, beta), slopes(q, beta)
    sv, nsv = np.flatnonzero(D != 0), np.flatnonzero(D == 0)
    A = scipy.linalg.cholesky(K[np.ix_(sv, sv)] + 1e-11 * np.eye(len(sv)))
    B = damping * np.eye(len(sv)) + A @ np.diag(D[sv]) @ A.T
    inner = g[sv] - cross / damping * D[sv] * (K[np.ix_(sv, nsv)] @ g[nsv])
    step = np.zeros(q.n)
    step[sv] = sign * np.linalg.solve(A, np.linalg.solve(B, A @ inner))
    step[nsv] = sign * g[nsv] / damping
    return K @ step


@PAPER.states(
    "eq. 18",
    r"\text{change of the outputs by } -(\lambda K + KDK)^{-1}Kg",
    r"K\begin{pmatrix}-A_{sv}^{-1}B^{-1}A_{sv}(g_{sv} - \tfrac1\lambda D_{sv}K_{sv,nsv}g_{nsv})\\ -\tfrac1\lambda"
    r" g_{nsv}\end{pmatrix}",
    rests_on=("eq. 16", "eq. 17"),
    tolerance=1e-4,
    claimed=lambda q: blocks(q),
    printed=lambda q: blocks(q, sign=1.0),
    printed_tex=(
        r"\begin{pmatrix} A_{sv}^{-1}B^{-1}A_{sv}(g_{sv} - \tfrac1\lambda D_{sv}K_{sv,nsv}g_{nsv})\\"
        r" \tfrac1\lambda g_{nsv}\end{pmatrix}"
    ),
    corrected_tex=(
        r"-\begin{pmatrix} A_{sv}^{-1}B^{-1}A_{sv}(g_{sv} - \tfrac1\lambda D_{sv}K_{sv,nsv}g_{nsv})\\"
        r" \tfrac1\lambda g_{nsv}\end{pmatrix}"
    ),
    misprint="Both lines lack a minus sign: where no loss bends, the step is -g / λ.",
    faults={"without the cross term": lambda q: blocks(q, cross=0.0)},
)
def eq_18(q: Quantities) -> Array:
    """The Newton step by blocks: only points that bend enter a linear system.

    Steps are compared by what they do to the outputs, as the centred K is singular.
    """
    beta, damping = primal_of(q)[1][0], 3.0
    K, D, g = primal_of(q)[0].kernel, curvatures(q, beta), slopes(q, beta)
    return K @ -np.linalg.lstsq(damping * K + K @ np.diag(D) @ K, K @ g, rcond=1e-12)[0]


def damped(q: Quantities, *, least: bool = True, steps: int = 60) -> tuple[float, float]:
    """Algorithm 6, with dense matrices; the last value, and the least λ on the way."""
    primal, beta, damping, lowest = primal_of(q)[0], np.zeros(q.n), 1.0, 1.0
    K = primal.kernel
    for _ in range(steps):
        g, D = slopes(q, beta), np.diag(curvatures(q, beta))
        system = damping * K + K @ D @ K
        if np.linalg.eigvalsh(system)[0] < -1e-10 * np.abs(system).max():
            damping *= 4
            continue
        s = -np.linalg.lstsq(system, K @ g, rcond=1e-11)[0]
        expected = 0.5 * s @ (K + K @ D @ K) @ s + s @ K @ g
        if abs(expected) < 1e-14:
            break
        agreement = (omega(q, beta + s) - omega(q, beta)) / expected
        if agreement > 0:
            beta = beta + s
        if agreement < 0.25:
            damping *= 4
        elif agreement > 0.75:
            damping = max(1.0, damping / 2) if least else min(1.0, damping / 2)
        lowest = min(lowest, damping)
    return omega(q, beta), lowest


PAPER.states(
    "Algorithm 6",
    r"\Omega \text{ where the toolkit's steps from } \beta = 0 \text{ end}",
    r"\Omega \text{ where Algorithm 6 ends, written out}",
    says="Levenberg-Marquardt: a ridge of λ - 1 times K keeps steps downhill.",
    rests_on=("eq. 18",),
    tolerance=1e-5,
    computed=lambda q: levenberg_marquardt(primal_of(q)[0], np.zeros(q.n), goal=1e-12, max_iter=500).primal,
    claimed=lambda q: damped(q)[0],
    faults={"one step": lambda q: damped(q, steps=1)[0]},
)

PAPER.states(
    "Algorithm 6, λ",
    r"\min \lambda \text{ on the way}",
    r"1",
    says="λ = 1 is Newton's own step, and λ is never less.",
    rests_on=("Algorithm 6",),
    computed=lambda q: damped(q)[1],
    claimed=lambda q: 1.0,
    printed=lambda q: damped(q, least=False)[1],
    printed_tex=r"\lambda \leftarrow \min(1, \lambda/2)",
    corrected_tex=r"\lambda \leftarrow \max(1, \lambda/2)",
    misprint="λ ← min(1, λ/2) must be max(1, λ/2): the text wants λ >= 1, and with the minimum λ falls below 1 with"
    " every good step.",
    faults={"λ = 2": lambda q: 2.0},
)

PAPER.states(
    "Figure 7",
    r"\text{slope of the toolkit's flat loss}",
    r"\text{its differences; 0 in the middle and beyond the margin}",
    says="The loss is flat, straight and curved by turns, and has no kink.\n\n"
    "The figure gives no constants; the toolkit's has two parameters for the widths of its plateau and its bends.",
    computed=lambda q: flat_newton().derivative(np.append(q.t, [0.0, 3.0, -3.0])),
    claimed=lambda q: np.append(flat_newton()(q.t + 1e-6) - flat_newton()(q.t - 1e-6), np.zeros(3)) / 2e-6,
    tolerance=1e-5,
    faults={"zero everywhere": lambda q: np.zeros(len(q.t) + 3)},
)

PAPER.states(
    "§4.4, number of steps",
    r"\text{steps of the toolkit for one } C^*",
    r"50",
    says="The number of Newton steps is a small constant.",
    relation="<=",
    rests_on=("Algorithm 6",),
    computed=lambda q: levenberg_marquardt(primal_of(q)[0], np.zeros(q.n), goal=1e-8, max_iter=500).n_iter,
    claimed=lambda q: 50,
    faults={"one step": lambda q: 1},
)
