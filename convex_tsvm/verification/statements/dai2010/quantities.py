"""What the statements of dai2010 are about: outputs of a few points, their labels, and the costs of the machine."""

from functools import cached_property
from typing import Self

import cvxpy as cp
import numpy as np

from ....formulations import Formulation, compact_margin, compactness_weights
from ....kernels import RBF, kernel_factor
from ....losses import PLQ, relaxed_compact_hinge, relaxed_compact_symmetric_hinge
from ....problem import Array, Problem
from ....solvers import NativeSolver
from ..concerned import SIX, few_points, has_two_costs, labelled_first
from ..statement import Paper


class Quantities:
    """A problem in the paper's notation: l labelled points first, then u unlabelled ones, C₁, C₂ and C₃, ε and δ.

    Z Zᵀ is the kernel matrix, and functions are random (w, b) in the coordinates of Z, which are the z_i as well.  d_i
    of an unlabelled point is 0 for the positive class, 1 for the negative one, whose share among them is 2r - 1 by the
    class balance in eq. 3.  Losses are compared at t.
    """

    def __init__(self, problem: Problem, epsilon: float, C_3: float, delta: float) -> None:
        self.problem, self.epsilon, self.C_3, self.delta = problem, epsilon, C_3, delta
        self.l, self.u, self.n = problem.n_labeled, problem.n_unlabeled, problem.n
        self.y, self.C_1, self.C_2 = problem.y[: self.l], float(problem.cost[0]), float(problem.cost[-1])
        rng = np.random.default_rng(0)
        self.Z = kernel_factor(problem.gram)
        self.functions: list[tuple[Array, float]] = [
            (rng.normal(0, size, (self.Z.shape[1],)), rng.normal()) for size in (0.3, 1.0, 2.0) * 5
        ]
        self.d = (np.arange(self.u) % 3 == 0).astype(float)
        self.r = float(1 + self.d.mean()) / 2
        self.t = np.linspace(-3, 3, 25) + 0.01

    @classmethod
    def of(cls, formulation: Formulation, problem: Problem) -> Self | None:
        """Quantities of a formulation on a few points of a problem, if the paper is about them: eq. 8."""
        labelled, unlabelled, t = formulation.labeled, formulation.unlabeled, np.linspace(-4, 4, 81)
        if not isinstance(labelled, PLQ) or not isinstance(unlabelled, PLQ) or not has_two_costs(problem):
            return None
        # Far out both losses rise like their weight times |t| - ε.
        weights = [float(loss(11.0) - loss(10.0)) for loss in (labelled, unlabelled)]
        if not formulation.is_plain or not (min(weights) > 0 and np.isfinite(weights).all()):
            return None
        epsilon, s = 10 - float(labelled(10.0)) / weights[0], float(unlabelled(0.0)) - 1
        costs = problem.cost[problem.labeled[0]], problem.cost[problem.unlabeled[0]]
        tied = np.isclose(weights[0] * costs[0], weights[1] * costs[1])
        if not (tied and epsilon >= 0 and -1 < s <= 0):
            return None
        ours = relaxed_compact_hinge(epsilon, weights[0]), relaxed_compact_symmetric_hinge(epsilon, weights[1], s)
        if not all(np.allclose(a(t), b(t)) for a, b in zip(ours, (labelled, unlabelled), strict=True)):
            return None
        few = labelled_first(few_points(problem, 8)).replace(balance=None)
        return cls(few, epsilon, float(weights[0] * costs[0]), s)

    @property
    def labels(self) -> Array:
        """+1 or -1 for all points, from y and d."""
        return np.concatenate([self.y, 1 - 2 * self.d])

    def f(self, function: tuple[Array, float]) -> Array:
        return np.asarray(self.Z @ function[0] + function[1])

    def half_square(self, function: tuple[Array, float]) -> float:
        """½ ‖w‖²."""
        return 0.5 * float(function[0] @ function[0])

    @cached_property
    def model(self) -> Formulation:
        """The relaxed machine of eq. 8, without a balance, with δ."""
        weights = compactness_weights(self.problem, self.C_3)
        return compact_margin(self.epsilon, *weights, s=self.delta, balance=None)

    def objectives(self, model: Formulation) -> list[float]:
        """The toolkit's objective of a formulation at the functions."""
        return [model.objective(self.problem, self.f(one), self.half_square(one)) for one in self.functions]

    @cached_property
    def outputs(self) -> Array:
        """Outputs at which tangents are taken."""
        return self.f(self.functions[1])

    @cached_property
    def step_value(self) -> float:
        """The least value of the step, with the paper's convex part H₁(f) + H₁(-f) of the unlabelled points' loss."""
        step = self.model.on(self.problem).step(self.outputs)
        found = NativeSolver(self.problem, tol=1e-10, max_iter=10**6).solve(step)
        constant = 2 - float(self.model.unlabeled.split()[0](0.0))  # type: ignore[union-attr]
        return found.primal + self.u * self.C_2 * constant

    def dual(self, *, counted: int = 1, gamma: float = 1.0, gamma_hat: float = 1.0) -> float:
        """Minus the value of Algorithm 1's quadratic program.

        Its arguments make mistakes: the compactness of an unlabelled point counts ``counted`` times, and ``gamma`` and
        ``gamma_hat`` are factors of ε γ'1 and ε γ̂'1.
        """
        l, u, f = self.l, self.u, self.outputs
        point = np.concatenate([np.arange(l), np.arange(l, l + u), np.arange(l, l + u)])
        y = np.concatenate([self.y, np.ones(u), -np.ones(u)])
        cost = np.where(np.arange(len(point)) < l, self.C_1, self.C_2)
        beta = np.where((np.arange(len(point)) >= l) & (y * f[point] < self.delta), self.C_2, 0.0)
        copies = np.zeros((l + u, len(point)))
        copies[point, np.arange(len(point))] = y
        alpha = cp.Variable(len(point), nonneg=True)
        first, second = cp.Variable(l + u, nonneg=True), cp.Variable(l + u, nonneg=True)
        v = copies @ (alpha - beta) - first + second
        paid = self.epsilon * (gamma * cp.sum(first) + gamma_hat * cp.sum(second))
        goal = cp.Minimize(0.5 * cp.sum_squares(self.Z.T @ v) - cp.sum(alpha) + paid)
        most = self.C_3 * np.append(np.ones(l), np.full(u, float(counted)))
        made = cp.Problem(goal, [cp.sum(v) == 0, first + second <= most, alpha <= cost])
        return -float(made.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10))


def problems() -> list[Quantities]:
    """A problem of six points, and one of twelve."""
    six = Problem(SIX, [-1, 1, 0, 0, 0, 0], kernel=RBF(0.9), C=4.0, C_unlabeled=1.5, balance=None)
    X, y = np.random.default_rng(4).normal(size=(12, 2)), np.zeros(12)
    y[:5] = [1, -1, 1, -1, -1]
    twelve = Problem(X, y, kernel=RBF(1.2), C=2.0, C_unlabeled=0.7, balance=None)
    return [Quantities(six, 0.8, 0.6, -0.2), Quantities(twelve, 1.2, 0.9, 0.0)]


PAPER = Paper("dai2010", "Compact Margin Machine", problems)
