"""The items that are compared as numbers: Newton steps (§1.2), label switching (§1.3) and annealing (§1.4)."""

import numpy as np
import scipy.optimize
from scipy.special import xlogy

from ....formulations import s3vm, svm
from ....instance import Instance
from ....instance.probabilities import Probabilities
from ....losses import annealed, symmetric_squared_hinge
from ....losses import squared_hinge as squared_hinge_loss
from ....methods.exchanges import exchanges
from ....problem import Array, Problem
from ....solvers.finite_newton import FiniteNewton
from .quantities import PAPER, Quantities, squared_hinge


def objective(q: Quantities, w: Array, *, half: float = 0.5) -> float:
    """Eq. 1.1 over the labelled points, with λ = 1 / (2 C) and times 1 / λ, which is the toolkit's scale."""
    known = q.problem.labeled
    lam = 1 / (2 * float(q.problem.cost[known[0]]))
    return float(half * squared_hinge(q.y[known] * (q.X[known] @ w)).sum() + lam / 2 * w @ w) / lam


@PAPER.states(
    "eq. 1.1",
    r"\tfrac12\|w\|^2 + C\sum_i \max(0, 1 - y_i w^\top x_i)^2",
    r"\tfrac1\lambda\left(\tfrac12\sum_{i=1}^{l} l_2(y_i w^\top x_i) + \tfrac\lambda2\|w\|^2\right),\quad \lambda ="
    r" \tfrac{1}{2C}",
    claimed=lambda q: [objective(q, w) for w in q.others],
    faults={"λ = 1 / C": lambda q: [objective(q, w, half=1.0) for w in q.others]},
)
def eq_1_1(q: Quantities) -> list[float]:
    """The l₂-SVM: squared hinge losses, and the bias regularized with the rest.

    Its λ is 1 / (2 C) for the C of the toolkit, whose losses have no ½ in front; the footnote's λ = 1 / C is for
    C/2 Σ l₂.
    """
    supervised = svm(squared_hinge_loss(), fit_intercept=False, balance=None)
    return [supervised.objective(q.problem, q.X @ w, 0.5 * float(w @ w)) for w in q.others]


PAPER.states(
    "eq. 1.2",
    r"\text{the toolkit's objective}",
    r"\tfrac12\sum_{i\in\jmath(w)} c_i\, l_2(y_i w^\top x_i) + \tfrac\lambda2\|w\|^2,\quad \jmath(w) = \{i: y_i w^\top"
    r" x_i < 1\}",
    says="Only points of the active set pay: on them the loss is a square, (1 - y f)².",
    rests_on=("eq. 1.1",),
    computed=lambda q: [0.5 * float(w @ w) + q.instance.svm(q.y).loss_value(q.X @ w) for w in q.others],
    claimed=lambda q: [q.objective(w) for w in q.others],
    faults={"all points, without the maximum": lambda q: [q.objective(w, below=1e9) for w in q.others]},
)

PAPER.states(
    "eq. 1.5",
    r"f(w^k + \delta_k(\bar w^k - w^k))",
    r"\min_{\delta\ge0} f(w^k + \delta(\bar w^k - w^k))",
    says="The line search ends at the least value along the step, against SciPy's bounded search.",
    rests_on=("eq. 1.3",),
    computed=lambda q: q.objective(q.w + q.length * q.direction),
    claimed=lambda q: along(q),
    faults={"half a step": lambda q: q.objective(q.w + q.direction / 2)},
)


def along(q: Quantities) -> float:
    """The least value along the step."""
    found = scipy.optimize.minimize_scalar(
        lambda t: q.objective(q.w + t * q.direction), bounds=(0, 20), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.fun)


@PAPER.states(
    "§1.2, finite convergence",
    r"\text{Newton steps until the active set stays}",
    r"30",
    relation="<=",
    rests_on=("eq. 1.4", "eq. 1.5"),
    claimed=lambda q: 30,
    faults={"one step": lambda q: 1},
)
def convergence(q: Quantities) -> int:
    """The procedure ends at the optimum after a few steps, on these problems and a larger one."""
    X = np.random.default_rng(0).normal(size=(400, 10))
    large = Problem(X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0), C=5.0, C_unlabeled=None, balance=None)
    model = svm(squared_hinge_loss(), fit_intercept=False, balance=None)
    found = FiniteNewton(large, tol=1e-9).solve(Instance(model, large).step())
    assert found.gap <= 1e-9
    return found.n_iter


PAPER.states(
    "Figure 1.1",
    r"\min_y \max(0, 1 - y f)^2",
    r"\max(0, 1 - |f|)^2",
    says="The loss of an unlabelled point is that of its better label.",
    computed=lambda q: symmetric_squared_hinge()(q.outputs),
    claimed=lambda q: np.maximum(0, 1 - np.abs(q.outputs)) ** 2,
    faults={"not squared": lambda q: np.maximum(0, 1 - np.abs(q.outputs))},
)


def paid(q: Quantities) -> Array:
    """Σ c_i l₂(y_i f_i) before and after the exchanges, of labels and outputs at which some gain."""
    rng, counted, found = np.random.default_rng(1), q.problem.replace(balance=("exact", q.r)), []
    instance = Instance(s3vm().balanced_as(counted), counted)
    for _ in range(8):
        labels, f = q.y.copy(), rng.normal(size=q.problem.n)
        labels[q.unknown] = rng.permutation(np.where(np.arange(q.u) < q.n_positive, 1.0, -1.0))
        moved = exchanges(instance, f, labels, q.problem.cost)
        after = labels * np.where(np.isin(np.arange(q.problem.n), moved), -1, 1)
        assert after.sum() == labels.sum()
        found += [[q.problem.cost @ squared_hinge(y * f) for y in (labels, after)]] if len(moved) else []
    return np.array(found).reshape(-1, 2)


PAPER.states(
    "§1.3.2, pairs",
    r"\text{objective after the exchanges, at the same } w",
    r"\text{objective before}",
    says="Exchanging as many pairs as gain lowers the objective, as one pair does; so the procedure ends.",
    relation="<=",
    computed=lambda q: paid(q)[:, 1],
    claimed=lambda q: paid(q)[:, 0] - 1e-9,
    faults={"half the objective": lambda q: paid(q)[:, 0] / 2},
)

PAPER.states(
    "§1.4, first display",
    r"\text{objective over } w, \mu",
    r"\tfrac\lambda2\|w\|^2 + \tfrac{1}{2l}\sum_i l_2(y_i w^\top x_i) + \tfrac{\lambda'}{2u}\sum_j \mu_j l_2(f_j) +"
    r" (1-\mu_j) l_2(-f_j)",
    says="With binary μ the objective is that of the labels.",
    computed=lambda q: [q.instance.labelled_objective(q.X @ w, 0.5 * float(w @ w), q.y) for w in q.others],
    claimed=lambda q: [expected(q, w, (q.y[q.unknown] > 0).astype(float)) for w in q.others],
    printed=lambda q: [expected(q, w, (q.y[q.unknown] > 0).astype(float), signs=False) for w in q.others],
    printed_tex=r"\tfrac{1}{2l}\sum_{i=1}^{l} l_2(w^\top x_i)",
    corrected_tex=r"\tfrac{1}{2l}\sum_{i=1}^{l} l_2(y_i w^\top x_i)",
    misprint="The first display lacks y_i: l₂(wᵀx_i) in place of l₂(y_i wᵀx_i); eq. 1.6 has it.",
    faults={"μ and 1 - μ exchanged": lambda q: [expected(q, w, (q.y[q.unknown] < 0).astype(float)) for w in q.others]},
)


def expected(q: Quantities, w: Array, p: Array, *, signs: bool = True) -> float:
    """The terms of eq. 1.6 but for the entropy, in the toolkit's scale."""
    f, known, cost = q.X @ w, q.problem.labeled, q.problem.cost
    labelled = cost[known] @ squared_hinge((q.y[known] if signs else 1.0) * f[known])
    mixed = p * squared_hinge(f[q.unknown]) + (1 - p) * squared_hinge(-f[q.unknown])
    return float(0.5 * w @ w + labelled + cost[q.unknown] @ mixed)


def doubled(q: Quantities, w: Array, p: Array) -> float:
    """Eq. 1.2 on the doubled data of eq. 1.8, with probabilities p."""
    known, cost = q.problem.labeled, q.problem.cost[q.unknown]
    points = np.concatenate([known, q.unknown, q.unknown])
    y = np.concatenate([q.y[known], np.ones(q.u), -np.ones(q.u)])
    c = 2 * np.concatenate([q.problem.cost[known], cost * p, cost * (1 - p)])
    return float(0.5 * c @ squared_hinge(y * (q.X[points] @ w)) + 0.5 * w @ w)


@PAPER.states(
    "eq. 1.8",
    r"\text{the toolkit's SVM of weighted labels}",
    r"\text{eq. 1.2 with } \hat Y = [y, 1, \dots, 1, -1, \dots, -1],\ C = \mathrm{diag}(\tfrac1l, \tfrac{\lambda'"
    r" p_j}{u}, \tfrac{\lambda'(1-p_j)}{u})",
    rests_on=("eq. 1.2", "eq. 1.6"),
    claimed=lambda q: [doubled(q, w, q.p) for w in q.others],
    faults={"p and 1 - p exchanged": lambda q: [doubled(q, w, 1 - q.p) for w in q.others]},
)
def eq_1_8(q: Quantities) -> list[float]:
    """For fixed p the objective is an l₂-SVM's, with every unlabelled point twice."""
    positive = (q.y > 0).astype(float)
    positive[q.unknown] = q.p
    step = q.instance.weighted_svm(positive)
    return [0.5 * float(w @ w) + step.loss_value(q.X @ w) for w in q.others]


PAPER.states(
    "§1.4.3, entropy",
    r"H(p)",
    r"-\sum_{j=1}^{u}\left(p_j\log p_j + (1-p_j)\log(1-p_j)\right)",
    says="The uncertainty of all labels, which falls below ε u where annealing ends; the toolkit's is the mean.",
    computed=lambda q: Probabilities(np.log(q.p / (1 - q.p))).entropy() * q.u,
    claimed=lambda q: -(xlogy(q.p, q.p) + xlogy(1 - q.p, 1 - q.p)).sum(),
    printed=lambda q: -(xlogy(q.p, q.p) + xlogy(1 - q.p, 1 - q.p))[1:].sum(),
    printed_tex=r"H(p) = -\sum_{j=l}^{u}\left(p_j\log p_j + (1-p_j)\log(1-p_j)\right)",
    corrected_tex=r"H(p) = -\sum_{j=1}^{u}\left(p_j\log p_j + (1-p_j)\log(1-p_j)\right)",
    misprint="The sum begins at j = l, the number of labelled points, where the unlabelled ones are numbered from 1: "
    "with two labelled points the first is left out, with more than u nothing is summed.",
    faults={"without 1 - p": lambda q: -xlogy(q.p, q.p).sum()},
)


def effective(q: Quantities, T: float, *, sign: float = 1.0) -> Array:
    """Least over p of p l₂(t) + (1 - p) l₂(-t) + T (p log p + (1 - p) log(1 - p)), by a grid of p."""
    t, p = np.linspace(-3, 3, 13)[:, None], np.linspace(0, 1, 20_001)
    value = p * squared_hinge(t) + (1 - p) * squared_hinge(-t)
    return np.asarray((value + sign * T * (xlogy(p, p) + xlogy(1 - p, 1 - p))).min(axis=1))


PAPER.states(
    "Figure 1.2",
    r"\text{the toolkit's annealed losses}",
    r"\min_p\ p\,l_2(t) + (1-p)\,l_2(-t) + T(p\log p + (1-p)\log(1-p))",
    says="The loss of an unlabelled point once p is the best, also where T is almost 0.",
    rests_on=("eq. 1.6", "eq. 1.9"),
    tolerance=1e-5,
    computed=lambda q: [annealed(squared_hinge_loss(), T)(np.linspace(-3, 3, 13)) for T in (1e-9, 0.1, 1.0, 4.0)],
    claimed=lambda q: [effective(q, T) for T in (1e-9, 0.1, 1.0, 4.0)],
    faults={"the entropy with the wrong sign": lambda q: [effective(q, T, sign=-1.0) for T in (1e-9, 0.1, 1.0, 4.0)]},
)
