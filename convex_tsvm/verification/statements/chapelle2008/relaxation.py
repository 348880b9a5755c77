"""§3.4: the convex relaxation."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from ....exact import brute_force
from ....problem import Array
from ..concerned import EXACT
from . import PAPER
from .quantities import Quantities


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
