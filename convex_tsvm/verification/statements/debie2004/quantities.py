"""What the statements of debie2004 are about: label matrices of a few points, and the SVM's value for each."""

import itertools
from functools import cached_property
from typing import Self

import cvxpy as cp
import numpy as np

from ....formulations import Formulation, tsvm
from ....instance import labelling
from ....kernels import RBF, kernel_factor
from ....modeling.label_matrix import ReducedSDP
from ....problem import Array, Problem
from ..concerned import EXACT, SIX, few_points, labelled_first
from ..statement import Paper


class Quantities:
    """A transduction problem without bias, in the paper's notation: labelled points first, one C for all.

    n_t labelled points (the training set) have the labels y_t; n_w (the working set) have none.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.C = problem, float(problem.cost[0])
        self.n_t, self.n_w = problem.n_labeled, problem.n_unlabeled
        self.n, self.y_t = problem.n, problem.y[: self.n_t]
        self.K = problem.gram
        self.rng = np.random.default_rng(0)

    @classmethod
    def of(cls, formulation: Formulation, problem: Problem) -> Self | None:
        """Quantities of a formulation on a few points, if the paper is about them: hinge loss, no bias, one C."""
        t = np.linspace(-3, 3, 25)
        try:
            loss, _ = formulation.label_loss()
        except ValueError:
            return None
        plain = (
            formulation.regularizer.is_squared_norm and not formulation.fit_intercept and not formulation.constraints
        )
        if not (plain and np.allclose(loss(t), np.maximum(0, 1 - t)) and np.ptp(problem.cost) == 0):
            return None
        return cls(labelled_first(few_points(problem, 8)).replace(balance=None))

    @cached_property
    def labelings(self) -> list[Array]:
        """All label vectors with the known labels."""
        unknown = itertools.product((-1.0, 1.0), repeat=self.n_w)
        return [np.concatenate([self.y_t, signs]) for signs in unknown]

    def value(self, gamma: Array) -> float:
        """max over α of 2α'e - α'(K∘Γ)α with 0 <= α <= C: the inner problem of eq. 1."""
        root, alpha = kernel_factor(self.K * gamma), cp.Variable(self.n, nonneg=True)
        goal = 2 * cp.sum(alpha) - cp.sum_squares(root.T @ alpha)
        return float(cp.Problem(cp.Maximize(goal), [alpha <= self.C]).solve(**EXACT))

    @cached_property
    def reduced(self) -> ReducedSDP:
        """The toolkit's relaxation over Γ̃ of the TSVM with zero bias and no balance (footnote 1), solved."""
        made = ReducedSDP(labelling(tsvm("hinge", balance=None, fit_intercept=False), self.problem))
        made.problem.solve(**EXACT)
        return made

    @cached_property
    def matrices(self) -> list[Array]:
        """Matrices of which some are label matrices, and others lack one property each."""
        found = [np.outer(y, y) for y in self.labelings]
        wrong = self.labelings[1].copy()
        wrong[0] *= -1
        scaled = self.labelings[1] * np.append(np.ones(self.n - 1), 2.0)
        # Another known label, no unit diagonal, rank two.
        return [*found, np.outer(wrong, wrong), np.outer(scaled, scaled), (found[0] + found[-1]) / 2]

    @cached_property
    def correlations(self) -> list[Array]:
        """Random Γ ⪰ 0 with a unit diagonal and the known block."""
        found = []
        for rank in (1, 2, 3, 4) * 3:
            vectors = self.rng.normal(size=(self.n_w + 1, rank))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows = np.vstack([np.outer(self.y_t, vectors[0]), vectors[1:]])
            found.append(rows @ rows.T)
        return found


def smallest(matrix: Array) -> float:
    """The smallest eigenvalue."""
    return float(np.linalg.eigvalsh(matrix)[0])


def problems() -> list[Quantities]:
    """A problem of six points, three of them labelled, and one of eight."""
    six = Problem(SIX, [-1, 1, 1, 0, 0, 0], kernel=RBF(0.9), C=2.0, C_unlabeled=2.0, balance=None)
    X = np.random.default_rng(5).normal(size=(8, 2))
    eight = Problem(X, [1, 1, -1, -1, 0, 0, 0, 0], kernel=RBF(0.7), C=0.8, C_unlabeled=0.8, balance=None)
    return [Quantities(six), Quantities(eight)]


PAPER = Paper("debie2004", "Convex Methods for Transduction", problems)
