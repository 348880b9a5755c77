"""§1.3 and §1.4: label switching, and deterministic annealing."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from ....formulations import s3vm
from ....instance import Instance
from ....instance.probabilities import Probabilities
from ....losses import annealed
from ....losses import squared_hinge as convex
from ....methods.exchanges import exchanges
from ....problem import Array
from . import PAPER
from .quantities import Quantities, squared_hinge


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
    faults={"twice as low": lambda q: paid(q)[:, 0] / 2},
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
    computed=lambda q: [annealed(convex(), T)(np.linspace(-3, 3, 13)) for T in (1e-9, 0.1, 1.0, 4.0)],
    claimed=lambda q: [effective(q, T) for T in (1e-9, 0.1, 1.0, 4.0)],
    faults={"the entropy with the wrong sign": lambda q: [effective(q, T, sign=-1.0) for T in (1e-9, 0.1, 1.0, 4.0)]},
)
