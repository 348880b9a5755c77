"""What is relaxed: an S3VM as a search for labels.

min over y_u in {-1, 1}^u and w of  ½ ‖w‖² + Σ c_i ℓ(y_i f_i),  f_i = <w, φ(x_i)> + o_i,  with ‖w‖² = aᵀ G a.

A formulation is of this kind if its loss for unlabelled points is the better of the two losses that a label would give
them, ℓ*(f) = min(ℓ(f), ℓ(-f)).  A balance constraint is gone before anything is relaxed: it moves the origin (G is the
centred kernel, chapelle2008 eq. 13) and fixes the offsets o.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..convex_step import ConvexStep, StepSolution
from ..formulations import Formulation
from ..kernels import CentredRows, RowsWithMean
from ..losses import PLQ, indicator
from ..problem import Array, Problem

#: Points at which losses are compared.
GRID = np.linspace(-4, 4, 801)


@dataclass(frozen=True, eq=False)
class Labelling:
    """An S3VM as a search for labels.

    Attributes
    ----------
    formulation : Formulation
    problem : Problem
    loss : PLQ
        ℓ, convex and nowhere increasing.
    kernel : array, shape (n, n)
        G.
    offset : array, shape (n,)
        o.
    y : array, shape (n,)
        +1, -1, or 0 for the labels that are searched for.
    cost : array, shape (n,)
        c.
    constant : float
        What is to be added to the objective for it to be that of the formulation.
    loss_constant : float
        The part of it that comes from the losses: what is to be added to the objective of :meth:`svm`.
    """

    formulation: Formulation
    problem: Problem
    loss: PLQ
    kernel: Array
    offset: Array
    y: Array
    cost: Array
    constant: float = 0.0
    loss_constant: float = 0.0

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.y)

    @property
    def unknown(self) -> np.ndarray:
        """Indices of the points whose labels are searched for."""
        return np.flatnonzero(self.y == 0)

    def fixed(self, labels: Array) -> Labelling:
        """The same search with more labels known.

        Parameters
        ----------
        labels : array, shape (n,)
            +1, -1, or 0 for unknown; labels known before must be the same.

        Raises
        ------
        ValueError
            If a label is none of these, or contradicts a known one.
        """
        labels = np.asarray(labels, dtype=float)
        if labels.shape != self.y.shape or not np.isin(labels, (-1.0, 0.0, 1.0)).all():
            raise ValueError(f"labels has shape {labels.shape}; it must hold +1, -1 or 0 for each of {self.n} points")
        changed = np.flatnonzero((self.y != 0) & (labels != self.y))
        if len(changed):
            raise ValueError(f"labels[{changed[0]}]={labels[changed[0]]:g} contradicts the known label")
        return dataclasses.replace(self, y=labels)

    def hard_margin(self) -> Labelling:
        """The same search with margins of at least 1 and no slacks (debie2004 §2.1: μ = 0), for the SDP relaxation."""
        return dataclasses.replace(self, loss=indicator(1, np.inf))

    def svm(self, labels: Array) -> ConvexStep:
        """The SVM for given labels of the points; those with label 0 pay nothing."""
        return svm_of_labels(self.formulation, self.problem, labels)

    def objective(self, solution: StepSolution) -> float:
        """The formulation's objective at the outputs of an SVM: an upper bound of the optimum."""
        return self.formulation.objective(self.problem, solution.outputs, solution.regularization)


def svm_of_labels(formulation: Formulation, problem: Problem, labels: Array) -> ConvexStep:
    """The SVM with the formulation's loss for labelled points, for given labels; points with label 0 pay nothing.

    Bias and balance constraint are those of the formulation.
    """
    supervised = formulation.supervised()
    if not supervised.is_convex:
        raise ValueError(f"labeled={formulation.labeled!r} must be a convex PLQ")
    cost = np.where(labels == 0, 0.0, problem.cost)
    return supervised.step(problem).replace(kind=(labels < 0).astype(np.intp), cost=cost)


def labelling(formulation: Formulation, problem: Problem) -> Labelling:
    """A formulation on a problem as a search for labels.

    Raises
    ------
    ValueError
        If the formulation is not of that kind, or its relaxations would say nothing: with a free bias and no balance
        constraint a relaxation is no better than the SVM of the labelled points, since label matrices may contain a
        multiple of the matrix of ones that the bias pays for.
    """
    formulation.check(problem)
    loss, constant = _label_loss(formulation)
    if formulation.regularizer != "l2":
        raise ValueError(f"regularizer={formulation.regularizer!r}: relaxations are for 'l2'")
    if problem.n_labeled == 0:
        raise ValueError("y has no labelled point; a relaxation needs one to tell the classes apart")
    if problem.positive_count is not None:
        raise ValueError(
            f"balance={problem.balance!r}: relaxations take a linear balance; use balance={problem.balance_target:g}"
        )
    loss_constant = constant * float(problem.cost[problem.unlabeled].sum())
    total = loss_constant
    n, target = problem.n, problem.balance_target
    if formulation.balance is None or target is None:
        if formulation.fit_intercept:
            raise ValueError(
                "fit_intercept=True without a balance constraint: a relaxation of a free bias is no better than the "
                "SVM on the labelled points; use balance='linear' or fit_intercept=False"
            )
        kernel, offset = problem.gram, np.zeros(n)
    elif formulation.fit_intercept:
        kernel, offset = CentredRows(problem.rows(), problem.balance_points).full(), np.full(n, target)
    else:
        # w = c φ̄ / ‖φ̄‖² + what is orthogonal to the mean φ̄.
        bordered = RowsWithMean(problem.rows(), problem.balance_points).full()
        mean, square = bordered[n, :n], float(bordered[n, n])
        if square <= 1e-12 * float(np.abs(mean).max(initial=0.0)) or square == 0:
            raise ValueError(f"balance={target:g} cannot be met: the mean of the points is zero and there is no bias")
        kernel = bordered[:n, :n] - np.outer(mean, mean) / square
        offset = target * mean / square
        total += 0.5 * target**2 / square
    kernel = np.asarray((kernel + kernel.T) / 2, dtype=float)
    y, cost = problem.y.copy(), problem.cost.copy()
    return Labelling(formulation, problem, loss, kernel, offset, y, cost, total, loss_constant)


def kernel_factor(kernel: Array, tol: float = 1e-13) -> Array:
    """Z with Z Zᵀ = G, without eigenvalues below ``tol`` times the largest."""
    values, basis = scipy.linalg.eigh(kernel)
    kept = values > tol * max(values[-1], 0.0)
    return np.asarray(basis[:, kept] * np.sqrt(values[kept]))


def _label_loss(formulation: Formulation) -> tuple[PLQ, float]:
    """ℓ, and by how much the loss of unlabelled points is above min(ℓ(t), ℓ(-t))."""
    labeled, unlabeled = formulation.labeled, formulation.unlabeled
    if unlabeled is None:
        raise ValueError("the formulation has no loss for unlabelled points; there is nothing to relax")
    name = getattr(unlabeled, "name", "") or repr(unlabeled)
    if not (isinstance(labeled, PLQ) and labeled.is_convex and _never_increases(labeled)):
        raise ValueError(f"labeled={labeled!r}: relaxations need a convex loss that never increases")
    better = labeled.minimum(labeled.reflect()) if labeled.is_finite else None
    if not isinstance(unlabeled, PLQ) or better is None:
        raise ValueError(f"unlabeled={name}: relaxations need piecewise linear-quadratic losses that are finite")
    difference = unlabeled(GRID) - better(GRID)
    if np.ptp(difference) > 1e-9:
        raise ValueError(
            f"unlabeled={name} is not the loss min(ℓ(f), ℓ(-f)) of a point with a label to be found; relaxations are "
            "for symmetric_hinge beside hinge, symmetric_squared_hinge beside squared_hinge, and the like"
        )
    return labeled, float(difference.mean())


def _never_increases(loss: PLQ) -> bool:
    a, b, _ = loss.pieces[-1]
    return bool(a == 0 and b <= 0 if np.isinf(loss.upper) else 2 * a * loss.upper + b <= 0)
