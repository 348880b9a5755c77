"""§2 and §3: the problem, and methods that search over labels."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import scipy.optimize
from scipy.special import xlogy

from ....exact import brute_force, exact_search
from ....formulations import s3vm
from ....instance import AnnealedPrimal, Instance
from ....instance.probabilities import Probabilities
from ....kernels import RBF, Linear
from ....losses import annealed, hinge, squared_hinge, symmetric_squared_hinge
from ....methods import annealing, switching
from ....methods.exchanges import exchanges
from ....methods.schedule import growing
from ....problem import Array, Problem
from . import PAPER
from .quantities import EXACT, Quantities, V


def objective(q: Quantities, function: tuple[Array, float], labels: Array, *, p: int = 2, half: float = 1.0) -> float:
    """Eq. 1 at (w, b) and labels of all points."""
    return float(half * q.half(function) + q.cost @ V(labels, q.o(function), p))


@PAPER.states(
    "eq. 1",
    r"\mathcal I(w, b, y_u)",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{l} V(y_i, o_i) + C^*\sum_{i=l+1}^{n} V(y_i, o_i)",
    claimed=lambda q: [objective(q, one, q.labelings[3]) for one in q.functions],
    faults={
        "‖w‖² without its half": lambda q: [objective(q, one, q.labelings[3], half=2.0) for one in q.functions],
        "p = 1": lambda q: [objective(q, one, q.labelings[3], p=1) for one in q.functions],
    },
)
def eq_1(q: Quantities) -> list[float]:
    """The objective at a function and labels of all points."""
    return [q.instance.labelled_objective(q.o(one), q.half(one), q.labelings[3]) for one in q.functions]


@PAPER.states(
    "eq. 2",
    r"V(1, o) \text{ for } p = 1, 2",
    r"\max(0, 1 - o)^p",
    claimed=lambda q: [V(1, q.t, 1), V(1, q.t, 2)],
    faults={"p = 2 with a half": lambda q: [V(1, q.t, 1), V(1, q.t, 2) / 2]},
)
def eq_2(q: Quantities) -> list[Array]:
    """The hinge loss, plain and squared; there is no ½ in front of the square."""
    return [hinge()(q.t), squared_hinge()(q.t)]


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


@PAPER.states(
    "eq. 4",
    r"\mathcal J(y_u)",
    r"\min_{w,b} \mathcal I(w, b, y_u)",
    rests_on=("eq. 1",),
    claimed=lambda q: [q.program(labels) for labels in q.labelings],
    faults={
        "the cost C for all points": lambda q: [q.program(labels, np.full(q.n, q.C)) for labels in q.labelings],
        "the labelled points only": lambda q: [
            q.program(labels, np.where(np.arange(q.n) < q.l, q.cost, 0)) for labels in q.labelings
        ],
    },
)
def eq_4(q: Quantities) -> Array:
    """For fixed labels the problem is an SVM: native solver against CVXPY, for every labelling."""
    return q.values


@PAPER.states(
    "eq. 5",
    r"\tfrac12\|w\|^2 + C\sum\max(0, 1-y_i o_i)^2 + C^*\sum\max(0, 1-|o_i|)^2",
    r"\min_{y_u} \mathcal I(w, b, y_u)",
    rests_on=("eq. 1",),
    claimed=lambda q: [min(objective(q, one, labels) for labels in q.labelings) for one in q.functions],
    faults={"the largest over labels": lambda q: [max(objective(q, f, y) for y in q.labelings) for f in q.functions]},
)
def eq_5(q: Quantities) -> list[float]:
    """Labels are the signs of the outputs at best, which leaves a continuous objective: against every labelling."""
    return [q.model.objective(q.problem, q.o(one), q.half(one)) for one in q.functions]


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
    misprint="C̃ ← min(1.5 C, C*) has C where 1.5 C̃ is meant: as printed the second value is C* wherever C* <= 1.5 C."
    " And the"
    " loop ends once C̃ = C*, before anything is minimized with that cost.",
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
    printed=lambda q: 1e-5 * 1.5**28,
    misprint="'while C̃ < C*' ends the loop as C̃ reaches C*, before anything is minimized with it; the last C̃ is"
    " then 0.85 C*.",
    faults={"2/3": lambda q: 2 / 3},
)
def end_of_schedule(q: Quantities) -> float:
    """The last SVMs have the cost that was asked for."""
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


@PAPER.states(
    "eq. 7",
    r"\mathcal I'(w, b, p_u)",
    r"\mathbb E_{y_u \sim p_u}\,\mathcal I(w, b, y_u)",
    rests_on=("eq. 1",),
    claimed=lambda q: [mean_objective(q, one) for one in q.functions[:4]],
    faults={"p and 1 - p exchanged": lambda q: [mean_objective(q, one, other=True) for one in q.functions[:4]]},
)
def eq_7(q: Quantities) -> list[float]:
    """The expected objective is the sum of the losses weighted by p and 1 - p: against the mean over all labelings."""
    p = np.append((q.y > 0).astype(float), probabilities(q))
    return [q.instance.expected_objective(q.o(one), q.half(one), p) for one in q.functions[:4]]


def probabilities(q: Quantities) -> Array:
    """Some p_u."""
    return np.random.default_rng(1).uniform(0.1, 0.9, q.u)


def mean_objective(q: Quantities, function: tuple[Array, float], other: bool = False) -> float:
    """The mean of eq. 1 over all labelings, each with its probability."""
    p, total = probabilities(q), 0.0
    p = 1 - p if other else p
    for labels in q.labelings:
        chance = float(np.prod(np.where(labels[q.l :] > 0, p, 1 - p)))
        total += chance * objective(q, function, labels)
    return total


def best_p(q: Quantities, g: Array, T: float, *, sign: float = 1.0) -> Array:
    """Eq. 8 with the ν for which the balance holds."""

    def p(nu: float) -> Array:
        return 1 / (1 + np.exp(np.clip(sign * (g - nu) / T, -700, 700)))

    reach = float(np.abs(g).max()) + 50 * T
    nu = scipy.optimize.brentq(lambda nu: float(p(nu).sum()) - q.positive, -reach, reach, xtol=1e-14)
    return np.asarray(p(float(nu)))


def gaps(q: Quantities) -> Array:
    """g_i = C* [V(1, o_i) - V(-1, o_i)] at a function."""
    o = q.o(q.functions[1])[q.l :]
    return q.C_star * (V(1, o) - V(-1, o))


@PAPER.states(
    "eq. 8",
    r"\arg\min_{p_u} \mathcal I'' \text{ under the balance}",
    r"\frac{1}{1 + e^{(g_i - \nu)/T}},\quad g_i = C^*[V(1, o_i) - V(-1, o_i)]",
    rests_on=("eq. 7",),
    claimed=lambda q: best_p(q, gaps(q), 0.5),
    faults={
        "g with the wrong sign": lambda q: best_p(q, gaps(q), 0.5, sign=-1.0),
        "C* left out": lambda q: best_p(q, gaps(q) / q.C_star + 0.3 * gaps(q) ** 2, 0.5),
    },
)
def eq_8(q: Quantities) -> Array:
    """The best probabilities at a temperature under the balance, as the toolkit finds them."""
    return Probabilities.best(gaps(q), 0.5, q.positive).p


def annealed_value(q: Quantities, x: Array, primal: AnnealedPrimal, *, sign: float = 1.0) -> float:
    """min over p of I'' at the variables x, by CVXPY."""
    o = primal.outputs(x)
    g, p = q.C_star * (V(1, o[q.l :]) - V(-1, o[q.l :])), cp.Variable(q.u)
    goal = cp.Minimize(g @ p - sign * 0.5 * cp.sum(cp.entr(p) + cp.entr(1 - p)))
    least = float(cp.Problem(goal, [cp.sum(p) == q.positive]).solve(**EXACT))
    known = float(q.C * V(q.y, o[: q.l]).sum() + q.C_star * V(-1, o[q.l :]).sum())
    return primal.regularization(x) + known + least


def surface(q: Quantities) -> tuple[AnnealedPrimal, Array]:
    """The toolkit's S(w, b) at T = ½, and variables."""
    primal = AnnealedPrimal(Instance(s3vm().balanced_as(q.counted), q.counted)).cooled(0.5)
    return primal, np.random.default_rng(2).normal(size=primal.n_variables)


def gradient_of_minimum(q: Quantities, *, shift: float = 0.0) -> Array:
    """S and its gradient, by CVXPY and central differences."""
    primal, x = surface(q)
    steps, width = np.eye(len(x)), 1e-3
    slopes = [
        (annealed_value(q, x + width * one, primal) - annealed_value(q, x - width * one, primal)) / (2 * width)
        for one in steps
    ]
    return np.append(annealed_value(q, x, primal) + shift, slopes)


@PAPER.states(
    "eq. 9",
    r"(\mathcal S,\ \nabla\mathcal S) \text{ with } p_u \text{ held at its best}",
    r"\min_{p_u}\mathcal I''(w, b, p_u; T) \text{ and its differences}",
    rests_on=("eq. 8",),
    tolerance=1e-3,
    quantities=lambda: PAPER.quantities()[:1],
    claimed=lambda q: gradient_of_minimum(q),
    faults={"without the entropy": lambda q: gradient_of_minimum(q, shift=0.5 * q.u * np.log(2) / 2)},
)
def eq_9(q: Quantities) -> Array:
    """The gradient of the minimum over p is that with p fixed at the best one, under the balance, too."""
    primal, x = surface(q)
    value, gradient = primal.value_and_gradient(x)
    return np.append(value, gradient)


@PAPER.states(
    "Algorithm 2",
    r"T \text{ at which the toolkit anneals}",
    r"10\,C^*,\ T \leftarrow T / 1.5,\ \dots",
    rests_on=("eq. 8",),
    claimed=lambda q: 10 * q.C_star / 1.5 ** np.arange(len(temperatures(q))),
    faults={
        "R = 2": lambda q: 10 * q.C_star / 2.0 ** np.arange(len(temperatures(q))),
        "from C*": lambda q: q.C_star / 1.5 ** np.arange(len(temperatures(q))),
    },
)
def algorithm_2(q: Quantities) -> Array:
    """The temperature starts at 10 C* and falls by a constant factor, until probabilities are labels.

    The entropy that ends the loop is a sum here and a mean in Sindhwani and Keerthi (2006), with the same 10⁻⁶; the
    toolkit's is the mean.
    """
    return temperatures(q)


def temperatures(q: Quantities) -> Array:
    """The temperatures that the toolkit's annealing goes through."""
    found = annealing(s3vm(), q.counted)
    stages = [iteration.stage for iteration in found.history if iteration.stage]
    return np.array(list(dict.fromkeys(stages)))


def dual_of(q: Quantities, labels: Array, *, ridge: float = 0.5, tied: bool = True) -> float:
    """max Σ α - ½ Σ α_i α_j Γ_ij K_ij with the diagonal 1 / (2 C), and Σ α_i y_i = 0."""
    K = q.K + np.diag(ridge / q.cost)
    root, alpha = np.linalg.cholesky(K), cp.Variable(q.n, nonneg=True)
    goal = cp.sum(alpha) - 0.5 * cp.sum_squares(root.T @ cp.multiply(labels, alpha))
    constraints = [labels @ alpha == 0] if tied else []
    return float(cp.Problem(cp.Maximize(goal), constraints).solve(**EXACT))


@PAPER.states(
    "eq. 10",
    r"\mathcal J(y_u)",
    r"\max_\alpha\ \sum\alpha_i - \tfrac12\sum\alpha_i\alpha_j\Gamma_{ij}K_{ij},\quad K_{ii} = k(x_i, x_i) +"
    r" \tfrac{1}{2C}",
    rests_on=("eq. 4",),
    tolerance=1e-5,
    claimed=lambda q: [dual_of(q, labels) for labels in q.labelings],
    faults={"1 / C on the diagonal": lambda q: [dual_of(q, labels, ridge=1.0) for labels in q.labelings]},
)
def eq_10(q: Quantities) -> Array:
    """The dual of the SVM with squared hinge loss, at the label matrix of every labelling."""
    return q.values


@PAPER.states(
    "eq. 11",
    r"\min_{y_u} \mathcal J(y_u)",
    r"\min_\Gamma\max_\alpha \text{ s.t. } \textstyle\sum\alpha_i y_i = 0,\ \alpha_i \ge 0,\ \Gamma = yy^\top",
    rests_on=("eq. 10",),
    tolerance=1e-5,
    claimed=lambda q: min(dual_of(q, labels) for labels in q.labelings),
    faults={"without Σ α y = 0, which is no bias": lambda q: min(dual_of(q, y, tied=False) for y in q.labelings)},
)
def eq_11(q: Quantities) -> float:
    """Over all label matrices the least dual value is the optimum, which the toolkit finds by enumeration."""
    return brute_force(q.model, q.problem)[0]


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


@PAPER.states(
    "§3.4, the bias in the relaxation",
    r"\text{the relaxation where } \Gamma\alpha = 0 \text{ takes the place of } \alpha^\top y = 0",
    r"\text{the SVM of the labelled points}",
    rests_on=("eq. 11",),
    tolerance=1e-5,
    claimed=lambda q: labelled_alone(q),
    printed=lambda q: q.values.min(),
    misprint="The constraint Σ α_i y_i = 0 stays behind when Γ = yyᵀ is relaxed, though there is no y any more. Read"
    " as what a"
    " free bias asks of every Γ, Γ α = 0, it makes the relaxation the SVM of the labelled points, and not a bound worth"
    " having; the toolkit fixes the bias by the linear balance.",
    faults={"half of it": lambda q: labelled_alone(q) / 2},
)
def bias_in_the_relaxation(q: Quantities) -> float:
    """With an identity for the working set's block, every row of Γ α = 0 there is α_i = 0."""
    return free_bias(q)


@PAPER.states(
    "Figure 1",
    r"\text{wrong labels at the global optimum of two moons}",
    r"0",
    quantities=lambda: [moons()],
    claimed=lambda case: 0,
    faults={"one": lambda case: 1},
)
def figure_1(case: tuple[Problem, Array]) -> int:
    """With two labelled points, one in each moon, the optimum separates the moons."""
    problem, truth = case
    return int((exact_search(s3vm(), problem, time_limit=60).labels != truth).sum())


def moons() -> tuple[Problem, Array]:
    """Two half circles of 15 points each, one of them labelled in each."""
    angle = np.linspace(0, np.pi, 15)
    X = np.vstack(
        [np.column_stack([np.cos(angle), np.sin(angle)]), np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])]
    )
    truth = np.repeat([1.0, -1.0], 15)
    y = np.where(np.isin(np.arange(30), [7, 22]), truth, 0.0)
    return Problem(X, y, kernel=RBF(0.3), C=10.0, C_unlabeled=10.0, balance=0.0), truth


@PAPER.states(
    "Figure 2",
    r"\text{loss of an unlabelled point}",
    r"\max(0, 1 - |o|)^2",
    rests_on=("eq. 5",),
    claimed=lambda q: np.maximum(0, 1 - np.abs(q.t)) ** 2,
    faults={"max(0, 1 - o²)": lambda q: np.maximum(0, 1 - q.t**2)},
)
def figure_2(q: Quantities) -> Array:
    """The effective loss: 1 at the boundary, 0 outside the margin."""
    return symmetric_squared_hinge()(q.t)


def path_down(q: Quantities) -> Array:
    """J of the SVM as unlabelled points get labels one after the other, down a branch of the tree."""
    labels = q.labelings[2]
    return np.array([q.program(labels, np.where(np.arange(q.n) < q.l + k, q.cost, 0.0)) for k in range(q.u + 1)])


@PAPER.states(
    "Figure 3",
    r"\text{lower bound of a node}",
    r"\text{that of its child}",
    relation="<=",
    rests_on=("eq. 4",),
    claimed=lambda q: path_down(q)[1:],
    faults={"that of the child, less its new point's loss": lambda q: path_down(q)[1:] - q.C_star},
)
def figure_3(q: Quantities) -> Array:
    """Down a branch of the tree the SVM of the labelled points pays for more points: its objective rises."""
    return path_down(q)[:-1] - 1e-8


@PAPER.states(
    "Figure 4",
    r"\text{the toolkit's loss at } T",
    r"-T\log\left(e^{-V(1,o)/T} + e^{-V(-1,o)/T}\right)",
    rests_on=("eq. 9",),
    claimed=lambda q: [soft_minimum(q.t, T) for T in (0.05, 0.5, 3.0)],
    faults={"plus T log 2": lambda q: [soft_minimum(q.t, T) + T * np.log(2) for T in (0.05, 0.5, 3.0)]},
)
def figure_4(q: Quantities) -> list[Array]:
    """The loss with the best probability, for several temperatures: it tends to that of Figure 2."""
    assert np.allclose(annealed(squared_hinge(), 1e-8)(q.t), symmetric_squared_hinge()(q.t), atol=1e-6)
    return [annealed(squared_hinge(), T)(q.t) for T in (0.05, 0.5, 3.0)]


def soft_minimum(t: Array, T: float) -> Array:
    """min over p of p V(1, t) + (1 - p) V(-1, t) - T H(p), in closed form."""
    return -T * np.logaddexp(-V(1, t) / T, -V(-1, t) / T)


@PAPER.states(
    "§3.3, T = 0 and T = ∞",
    r"p_u \text{ at very low and very high } T",
    r"\text{labels of the } ru \text{ smallest } g_i;\ r",
    rests_on=("eq. 8",),
    tolerance=1e-4,
    claimed=lambda q: [(np.argsort(np.argsort(gaps(q))) < q.positive).astype(float), np.full(q.u, q.r)],
    faults={
        "one half for all": lambda q: [np.full(q.u, 0.5), np.full(q.u, 0.5)],
        "the largest g": lambda q: [(np.argsort(np.argsort(-gaps(q))) < q.positive).astype(float), np.full(q.u, q.r)],
    },
)
def ends(q: Quantities) -> list[Array]:
    """At T = 0 the best p are labels, at T = ∞ all are r."""
    return [Probabilities.best(gaps(q), T, q.positive).p for T in (1e-6, 1e7)]


def entropy(p: Array) -> float:
    """H(p_u) as the paper has it."""
    return float(-(xlogy(p, p) + xlogy(1 - p, 1 - p)).sum())


@PAPER.states(
    "§3.3, entropy",
    r"u \text{ times the toolkit's mean entropy}",
    r"-\sum_i p_i\log p_i + (1-p_i)\log(1-p_i)",
    claimed=lambda q: entropy(probabilities(q)),
    faults={"base 2": lambda q: entropy(probabilities(q)) / np.log(2)},
)
def entropies(q: Quantities) -> float:
    """How uncertain labels are: a sum over points, in nats."""
    p = probabilities(q)
    return q.u * Probabilities(np.log(p / (1 - p))).entropy()
