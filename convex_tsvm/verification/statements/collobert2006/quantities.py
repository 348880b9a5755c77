"""What the statements of collobert2006 are about: points and their copies, a step of CCCP, and its Lagrangian."""

from functools import cached_property
from typing import Any, Self

import numpy as np

from ....formulations import Formulation, cccp_tsvm, svm
from ....instance import Instance
from ....instance.convex_step import ConvexStep
from ....instance.step_solution import StepSolution
from ....kernels import RBF, kernel_factor
from ....losses import PLQ, hinge, symmetric_ramp
from ....methods import cccp
from ....problem import Array, Problem
from ....solvers import NativeSolver
from ..concerned import SIX, few_points, has_two_costs, labelled_first
from ..statement import Paper

#: A decision function: w in the coordinates of the features, and b.
Theta = tuple[Array, float]


def H(s: float, t: Any) -> Array:
    """The hinge loss max(0, s - t)."""
    return np.maximum(0, s - np.asarray(t, dtype=float))


class Quantities:
    """A TSVM problem in the paper's notation.

    Vectors over points have 1 + L + 2U entries: x₀, whose label y is 1, the L labelled points, the U unlabelled ones
    with label 1, and the same with label -1.  ζ_0, the mean of the known labels, is c.
    """

    def __init__(self, problem: Problem, s: float = -0.3) -> None:
        self.problem, self.s = labelled_first(problem), float(s)  # the problem; where the ramp loss is clipped
        self.L = problem.n_labeled  # number of labelled points
        self.U = problem.n_unlabeled  # number of unlabelled points
        self.labeled = slice(1, self.L + 1)  # entries of the labelled points in vectors over points
        self.unlabeled = slice(self.L + 1, self.L + self.U + 1)  # entries of the unlabelled points with label 1
        self.copies = slice(self.L + 1, self.L + 2 * self.U + 1)  # entries of the unlabelled points with both labels
        known = self.problem.y[: self.L]
        self.y = np.concatenate([[1], known, np.ones(self.U), -np.ones(self.U)])  # labels of x₀, points and copies
        self.C = float(self.problem.cost[0])  # cost of a labelled point
        self.C_star = float(self.problem.cost[-1])  # cost of an unlabelled point
        self.c = float(known.mean())  # the mean of the known labels
        self.model: Formulation = cccp_tsvm(self.s)
        self.z = np.linspace(-2, 2, 17) + 0.01  # arguments at which losses are compared

    @classmethod
    def of(cls, formulation: Formulation, problem: Problem) -> Self | None:
        """Quantities of a formulation on a few points of a problem, if the paper is about them."""
        unlabeled, shared = formulation.unlabeled, has_two_costs(problem)
        if not isinstance(unlabeled, PLQ) or not formulation.is_plain:
            return None
        s, t = float(unlabeled(0.0)) - 1, np.linspace(-3, 3, 61)
        if not -1 < s <= 0 or not np.allclose(unlabeled(t), symmetric_ramp(s)(t), atol=1e-12):
            return None
        plain = np.allclose(formulation.labeled(t), hinge()(t)) and formulation.fit_intercept
        instance, mean = Instance(formulation, problem), float(problem.y[problem.labeled].mean())
        counted = instance.target is None or instance.n_positive is not None
        balanced = not counted and bool(np.isclose(instance.target or 0.0, mean))
        balanced = balanced and np.array_equal(instance.members, problem.unlabeled)
        return cls(few_points(problem), s) if plain and balanced and shared else None

    @cached_property
    def phi(self) -> Array:
        """Φ(x_i) in coordinates, a row for each copy; x₀ is the mean of the unlabelled points (before eq. 22)."""
        Z = kernel_factor(self.problem.gram)
        return np.vstack([Z[self.L :].mean(axis=0), Z, Z[self.L :]])

    def f(self, theta: Theta) -> Array:
        """Outputs w·Φ(x_i) + b of a decision function theta = (w, b), in the order of y."""
        return np.asarray(self.phi @ theta[0] + theta[1])

    def points(self, values: Array) -> Array:
        """From values of all copies, those of the points themselves, shape (L + U,)."""
        return values[1 : self.L + self.U + 1]

    @cached_property
    def theta_t(self) -> Theta:
        """θ^t = (w, b) of the SVM of the labelled points, under the balance."""
        return self.theta_of(cccp(svm(balance="linear"), self.problem, tol=1e-9).step)

    def theta_of(self, found: StepSolution) -> Theta:
        """The θ of a solution: w in the coordinates of the features, and b."""
        return kernel_factor(self.problem.gram).T @ found.coefficients, found.bias

    def toolkit_objective(self, theta: Theta, model: Formulation | None = None) -> float:
        """The objective of a formulation at a θ, from the library."""
        regularization = 0.5 * float(theta[0] @ theta[0])
        return (model or self.model).objective(self.problem, self.points(self.f(theta)), regularization)

    @cached_property
    def step(self) -> ConvexStep:
        """The toolkit's convex step, with tangents at θ^t."""
        return self.model.on(self.problem).step(self.points(self.f(self.theta_t)))

    @cached_property
    def theta_next(self) -> Theta:
        """θ^{t+1} = (w, b) after the step of CCCP from θ^t."""
        return self.theta_of(NativeSolver(self.problem, tol=1e-11, max_iter=10**6).solve(self.step))

    @cached_property
    def others(self) -> list[Theta]:
        """Random decision functions (w, b) that meet the balance."""
        rng = np.random.default_rng(0)
        found = []
        for size in (0.1, 0.5, 1.0, 2.0) * 5:
            w = self.theta_t[0] + size * rng.normal(size=self.phi.shape[1])
            found.append((w, self.c - float(self.phi[0] @ w)))
        return found

    def beta_at(self, theta: Theta) -> Array:
        """β_i where tangents are taken at a θ (eq. 11); 0 for x₀ and the labelled points."""
        is_copy = np.arange(len(self.y)) > self.L
        return np.where(is_copy & (self.y * self.f(theta) < self.s), self.C_star, 0.0)


def problems() -> list[Quantities]:
    """A problem of six points, on which derivations are followed, and one of fourteen."""
    six = Problem(SIX, [-1, 1, 1, 0, 0, 0], kernel=RBF(0.9), C=4.0, C_unlabeled=1.5)
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(14, 2)), np.zeros(14)
    X[:7] += 0.8
    y[[0, 1, 2]], y[[9, 12]] = 1, -1
    return [Quantities(six, -0.3), Quantities(Problem(X, y, kernel=RBF(1.1), C=3.0, C_unlabeled=0.8), -0.5)]


PAPER = Paper("collobert2006", "Large Scale Transductive SVMs", problems)
