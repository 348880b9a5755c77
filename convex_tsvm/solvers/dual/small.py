"""Descents on many small problems with the same points, by compiled loops alone, to a loose tolerance.

What is inferred from labels that are left out takes some thirty descents on a few hundred points, which differ in
labels, costs and the mean output.  They are the concave-convex steps that the native solver takes, without
certificates: no figure of theirs is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels import GramRows
from ...losses import PLQ, Pieces, conjugate_pieces, indicator, zero
from .._loops import follow_tangents
from .dual_problem import Array, DualProblem
from .in_memory import steps

#: Times that all variables are visited, at most, in one convex step, and steps for each in that of the SVM.
MOST_SWEEPS, MOST_PAIR_STEPS = 200, 50

#: Without a bias no mean but 0 can be had if the largest mean of a function of norm 1 is below this share of outputs.
LEAST_MEAN = 1e-5


class SmallProblems:
    """The points that problems share, and the losses of their points.

    Parameters
    ----------
    gram : array, shape (n, n)
        Kernel matrix.
    parts : sequence of (PLQ, PLQ)
        Convex and concave parts of the losses of f: of points labelled +1, labelled -1, and unlabelled.
    fit_intercept : bool
    tol : float
        Largest violation of optimality conditions in a convex step, in units of the outputs.
    max_iter : int
        Convex steps at most.
    """

    def __init__(
        self, gram: Array, parts: Sequence[tuple[PLQ, PLQ]], *, fit_intercept: bool, tol: float, max_iter: int
    ) -> None:
        self.gram, self.fit_intercept, self.tol, self.max_iter = gram, fit_intercept, tol, max_iter
        self.convex = tuple(convex for convex, _ in parts)
        self.conjugates = conjugate_pieces(self.convex)
        self.concave = Pieces.of([*(concave for _, concave in parts), zero()]).derivatives

    def svm(self, y: Array, cost: Array) -> Array:
        """Outputs of the SVM of the labels in y, +1, -1 or 0, without a balance, shape (n,)."""
        known = np.flatnonzero((y != 0) & (cost > 0))
        kind, none, inner = (y[known] < 0).astype(np.intp), np.zeros(len(known)), self.gram[np.ix_(known, known)]
        free = self.fit_intercept
        dual = DualProblem(self.conjugates, kind, cost[known], none, GramRows(inner), free_bias=free)
        state, _ = steps(dual, dual.state(none, none), self.tol, MOST_PAIR_STEPS * len(known))
        return np.asarray(dual.gamma(state.s) @ self.gram[known] + dual.survey(state).bias)


class BalancedProblem:
    """A problem in which the unlabelled points have one mean output after the other.

    Parameters
    ----------
    shared : SmallProblems
    y : array, shape (n,)
        +1, -1, or 0 for unlabelled points.
    cost : array, shape (n,)

    Raises
    ------
    ValueError
        If there is no bias, and no mean but 0 can be had.
    """

    def __init__(self, shared: SmallProblems, y: Array, cost: Array) -> None:
        self._shared, self._n = shared, len(y)
        self._kind, self._cost = np.where(y == 0, 2, (y < 0).astype(np.intp)), cost
        self._known, members = np.flatnonzero((y != 0) & (cost > 0)), np.flatnonzero(y == 0)
        mean = shared.gram[members].mean(axis=0)
        constant = float(mean[members].mean())
        self._matrix = shared.gram, mean, constant
        if not shared.fit_intercept:
            # The mean is one more point, whose output is given (collobert2006 eq. 10).
            if constant <= LEAST_MEAN**2 * float(shared.gram.diagonal().mean()):
                raise ValueError("without a bias the mean output is 0")
            extended = np.block([[shared.gram, mean[:, None]], [mean[None], np.array([[constant]])]])
            self._matrix = extended, np.zeros(self._n + 1), 0.0
            self._kind, self._cost = np.append(self._kind, 3), np.append(cost, 1.0)
            self._known = np.append(self._known, self._n)

    def outputs(self, mean: float) -> Array:
        """Outputs of the transductive SVM with this mean output, shape (n,): where steps from the SVM end."""
        shared, offset, losses = self._shared, mean, self._shared.conjugates
        if not shared.fit_intercept:
            offset, losses = 0.0, conjugate_pieces((*shared.convex, indicator(mean, mean)))
        gamma = np.zeros(len(self._kind))
        given = (self._known, self._kind, self._cost, *losses.derivatives, shared.concave)
        limits = (shared.tol, MOST_SWEEPS, shared.max_iter)
        found: Array = follow_tangents(*self._matrix, offset, gamma, *given, *limits)
        return found[: self._n]
