"""What the statements of sindhwani2006 are about: a linear problem with the squared hinge, and a w to step from."""

from functools import cached_property
from typing import Any, Self

import numpy as np

from ....formulations import Formulation, s3vm
from ....instance import Instance
from ....problem import Array, Problem
from ....solvers.finite_newton import FiniteNewton
from ....solvers.finite_newton.newton import NewtonDescent
from ....validation import is_sparse
from ..concerned import SIX, few_points, pays_squared_hinge
from ..statement import Paper


class Quantities:
    """A linear problem in the paper's notation: λ = 1 and costs c_i = 2 C, which has the toolkit's objective.

    The paper regularizes the bias, as the weight of a feature that is constant; so w is all there is.  A step begins at
    w, and others are other such points.  Unlabelled points, which are u, have labels y that are drawn, or are positive
    with probabilities p; r is the share of positive labels that is asked for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.X = problem, np.asarray(problem.X, dtype=float)
        self.rng = np.random.default_rng(0)
        self.unknown, self.u = problem.unlabeled, problem.n_unlabeled
        self.y = np.where(problem.y == 0, self.rng.choice([-1.0, 1.0], problem.n), problem.y)
        self.c, self.lam = 2 * problem.cost, 1.0
        self.w: Array = self.rng.normal(size=(self.X.shape[1],))
        self.others: list[Array] = [self.w + size * self.rng.normal(size=len(self.w)) for size in (0.1, 0.5, 2.0) * 4]
        self.p = self.rng.uniform(0.05, 0.95, self.u)
        self.n_positive = max(1, self.u // 3)
        self.r = self.n_positive / self.u

    @classmethod
    def of(cls, formulation: Formulation, problem: Problem) -> Self | None:
        """Quantities of a formulation on a few points, if the paper is about them: linear, squared hinge."""
        if not problem.is_linear or is_sparse(problem.X) or not pays_squared_hinge(formulation):
            return None
        return cls(few_points(problem))

    @cached_property
    def instance(self) -> Instance:
        """The squared hinge, without a separate bias and without a linear balance, on the problem."""
        return Instance(s3vm(balance=None, fit_intercept=False), self.problem)

    @cached_property
    def descent(self) -> NewtonDescent:
        """The library's Newton descent at w."""
        step = self.instance.svm(self.y)
        solver = FiniteNewton(self.problem, tol=1e-10)
        descent = NewtonDescent(solver, step, solver._check(step), self.w, self.X @ self.w)
        descent._gradient()
        return descent

    @cached_property
    def direction(self) -> Array:
        """The Newton direction n at w."""
        return self.descent.directions.newton(self.descent.h, self.descent._gradient(), 1e-13)

    @cached_property
    def length(self) -> float:
        """The step length δ of that descent."""
        gradient, change = self.descent._gradient(), self.X @ self.direction
        return self.descent._line_search(self.direction, change, abs(float(gradient @ self.direction)))

    def objective(self, w: Array, *, below: float = 1.0) -> float:
        """Eq. 1.2: ½ Σ over the active set of c_i l₂ + λ/2 ‖w‖²; for a mistake over those with y w·x below a number."""
        t = self.y * (self.X @ w)
        return float(0.5 * (self.c * (1 - t) ** 2)[t < below].sum() + 0.5 * self.lam * w @ w)

    @cached_property
    def outputs(self) -> Array:
        """Outputs of the unlabelled points at w."""
        return self.X[self.unknown] @ self.w


def squared_hinge(t: Any) -> Array:
    """l₂(t) = max(0, 1 - t)²."""
    return np.maximum(0, 1 - np.asarray(t, dtype=float)) ** 2


def problems() -> list[Quantities]:
    """A problem of six points, and one of thirty with five features."""
    six = Problem(np.column_stack([SIX, np.ones(6)]), [-1, 1, 1, 0, 0, 0], C=4.0, C_unlabeled=1.5, balance=None)
    rng = np.random.default_rng(6)
    X, y = np.column_stack([rng.normal(size=(30, 4)), np.ones(30)]), np.zeros(30)
    y[:8] = np.resize([1.0, -1.0], 8)
    return [Quantities(six), Quantities(Problem(X, y, C=2.0, C_unlabeled=0.5, balance=None))]


PAPER = Paper("sindhwani2006", "Newton Methods for Fast Solution of Semi-supervised Linear SVMs", problems)
