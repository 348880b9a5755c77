"""What the statements of chapelle2008 are about: labels and outputs of a few points, and SVMs for all labels."""

import itertools
from functools import cached_property
from typing import Any, Self

import cvxpy as cp
import numpy as np

from ....formulations import Formulation, s3vm
from ....instance import Instance
from ....instance.step_solution import StepSolution
from ....kernels import RBF, kernel_factor
from ....problem import Array, Problem
from ....solvers import NativeSolver
from ..concerned import EXACT, SIX, few_points, has_two_costs, labelled_first, pays_squared_hinge
from ..statement import Paper


def V(y: Any, o: Any, p: int = 2) -> Array:
    """The hinge loss max(0, 1 - y o)^p (eq. 2)."""
    return np.maximum(0, 1 - np.asarray(y, dtype=float) * o) ** p


class Quantities:
    """A problem in the paper's notation: l labelled points first, then u unlabelled ones, squared hinge, C and C*.

    The points z_i of method 1 are the rows of Z, with Z Zᵀ = K.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.n = problem, problem.n  # the problem; number of points
        self.l = problem.n_labeled  # number of labelled points
        self.u = problem.n_unlabeled  # number of unlabelled points
        self.y = problem.y[: self.l]  # the known labels
        self.C = float(problem.cost[0])  # cost of a labelled point
        self.C_star = float(problem.cost[-1])  # cost of an unlabelled point
        self.cost = problem.cost  # costs of all points
        self.K, self.Z = problem.gram, kernel_factor(problem.gram)  # kernel values; points in coordinates, Z Zᵀ = K
        rng = np.random.default_rng(0)
        sizes = (0.3, 1.0, 2.0) * 4
        self.functions: list[tuple[Array, float]] = [  # random decision functions (w, b)
            (rng.normal(0, size, (self.Z.shape[1],)), float(rng.normal())) for size in sizes
        ]
        self.t = np.linspace(-2.5, 2.5, 41) + 0.003  # outputs at which losses are compared
        self.positive = max(1, self.u // 2)  # how many unlabelled points are to be positive
        self.r = self.positive / self.u  # the share of unlabelled points that is to be positive

    @classmethod
    def of(cls, formulation: Formulation, problem: Problem) -> Self | None:
        """Quantities of a formulation on a few points of a problem, if the paper is about them: eq. 5."""
        if not pays_squared_hinge(formulation) or not has_two_costs(problem):
            return None
        return cls(labelled_first(few_points(problem, 8)).replace(balance=None))

    @property
    def model(self) -> Formulation:
        """Eq. 5 with a free bias and no balance."""
        return s3vm(balance=None)

    @cached_property
    def instance(self) -> Instance:
        return Instance(self.model, self.problem)

    @cached_property
    def counted(self) -> Problem:
        """The problem with the balance of eq. 3, a number of labels."""
        return self.problem.replace(balance=("exact", self.r))

    @cached_property
    def balanced(self) -> Problem:
        """The problem with the balance of eq. 12, a mean output."""
        return self.problem.replace(balance=2 * self.r - 1)

    def o(self, function: tuple[Array, float]) -> Array:
        """Outputs w·z_i + b of all points, of a decision function (w, b)."""
        return np.asarray(self.Z @ function[0] + function[1])

    def half(self, function: tuple[Array, float]) -> float:
        """½ ‖w‖² of a decision function (w, b)."""
        return 0.5 * float(function[0] @ function[0])

    def whole(self, y_u: Any) -> Array:
        """The labels of all points."""
        return np.concatenate([self.y, y_u])

    @cached_property
    def labelings(self) -> list[Array]:
        """All label vectors with the known labels."""
        return [self.whole(y_u) for y_u in itertools.product((-1.0, 1.0), repeat=self.u)]

    def solution(self, labels: Array) -> StepSolution:
        """The toolkit's SVM for labels of all points."""
        return NativeSolver(self.problem, tol=1e-11, max_iter=10**6).solve(self.instance.svm(labels))

    @cached_property
    def values(self) -> Array:
        """J of every labelling, by the native solver."""
        return np.array([self.solution(labels).primal for labels in self.labelings])

    def program(self, labels: Array, cost: Array | None = None) -> float:
        """The least ½ ‖w‖² + Σ c_i max(0, 1 - y_i f_i)², by CVXPY."""
        return self.svm(labels, self.cost if cost is None else cost)[0]

    def svm(self, labels: Array, cost: Array) -> tuple[float, Array]:
        """The least value of ``program``, and the outputs at which it is reached."""
        y, c, least, outputs = self._svm
        y.value, c.value = labels, cost
        return float(least.solve(**EXACT)), np.asarray(outputs.value)

    @cached_property
    def _svm(self) -> tuple[cp.Parameter, cp.Parameter, cp.Problem, cp.Expression]:
        """Labels, costs, the problem of the SVM for these, and its outputs."""
        w, b, slack = cp.Variable(self.Z.shape[1]), cp.Variable(), cp.Variable(self.n, nonneg=True)
        y, c, f = cp.Parameter(self.n), cp.Parameter(self.n, nonneg=True), self.Z @ w + b
        goal = cp.Minimize(0.5 * cp.sum_squares(w) + c @ cp.square(slack))
        return y, c, cp.Problem(goal, [cp.multiply(y, f) >= 1 - slack]), f


def problems() -> list[Quantities]:
    """A problem of six points, and one of nine."""
    six = Problem(SIX, [-1, 1, 0, 0, 0, 0], kernel=RBF(0.9), C=2.0, C_unlabeled=0.8, balance=None)
    X, y = np.random.default_rng(8).normal(size=(9, 2)), np.zeros(9)
    y[:4] = [1, -1, -1, 1]
    return [Quantities(six), Quantities(Problem(X, y, kernel=RBF(1.1), C=1.5, C_unlabeled=1.0, balance=None))]


PAPER = Paper("chapelle2008", "Optimization Techniques for Semi-Supervised Support Vector Machines", problems)
