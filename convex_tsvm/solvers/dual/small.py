"""Descents on many small problems with the same points, by compiled loops alone, to a loose tolerance.

What is inferred from labels that are left out takes some thirty descents on a few hundred points, which differ in
labels, costs and the mean output.  They are the concave-convex steps that the native solver takes, without
certificates: no figure of theirs is reported.
"""

from collections.abc import Sequence

import numpy as np

from ...kernels.rows import Rows
from ...losses import PLQ, Pieces, conjugate_pieces, indicator, zero
from .._loops import follow_tangents
from .dual_problem import Array, Indices


class SmallProblems:
    """The points that problems share, and the losses of their points.

    ``gram``, shape (n, n), is the kernel matrix of points of about unit variance, in either precision, and ``parts``
    are the convex and concave parts of the losses of points labelled +1, labelled -1, and unlabelled.  There are at
    most ``max_iter`` convex steps, each of at most ``max_sweeps`` visits to all variables, to a violation of ``tol`` in
    units of the outputs.
    """

    max_sweeps = 200

    def __init__(
        self, gram: Rows, parts: Sequence[tuple[PLQ, PLQ]], *, fit_intercept: bool, tol: float, max_iter: int
    ) -> None:
        self.gram, self.fit_intercept, self.tol, self.max_iter = gram, fit_intercept, tol, max_iter
        self.convex = tuple(convex for convex, _ in parts)
        self.conjugates = conjugate_pieces(self.convex)
        self.concave = Pieces.of([*(concave for _, concave in parts), zero()]).derivatives

    def svm(self, y: Array, cost: Array) -> Array:
        """Outputs of the SVM of the labels in y, +1, -1 or 0, without a balance, shape (n,)."""
        known, kind = np.flatnonzero((y != 0) & (cost > 0)), (y < 0).astype(np.intp)
        # A free bias is a feature like others, whose square is 10, and what it costs is taken back in rounds (proximal
        # points: the cost is that of its distance from the bias of the round before).
        matrix, bias = (self.gram, np.zeros(len(y)), 10.0 if self.fit_intercept else 0.0), 0.0
        for _ in range(5):
            found, gamma = self.descend(matrix, bias, (known, known, kind, cost), self.conjugates, 0)
            moved = matrix[2] * float(gamma.sum())
            bias += moved
            if abs(moved) <= self.tol:
                break
        return found

    def descend(
        self,
        matrix: tuple[Rows, Array, float],
        bias: float,
        points: tuple[Indices, Indices, Indices, Array],
        losses: Pieces,
        steps: int,
    ) -> tuple[Array, Array]:
        """Outputs and γ where steps end from an SVM; the matrix is Q, m and c of Q_ij - m_i - m_j + c.

        ``points`` are those of the SVM, those of the steps, and the kinds and costs of all.
        """
        known, every, kind, cost = points
        gamma, given = np.zeros(len(kind)), (kind, cost, *losses.derivatives, self.concave)
        found: Array = follow_tangents(*matrix, bias, gamma, known, every, *given, self.tol, self.max_sweeps, steps)
        return found, gamma


class BalancedProblem:
    """A problem in which the unlabelled points, 0 in y, have one mean output after the other.

    ValueError is raised if there is no bias, and no mean but 0 can be had.
    """

    def __init__(self, shared: SmallProblems, y: Array, cost: Array) -> None:
        self._shared, self._n, n = shared, len(y), len(y)
        kind, members = np.where(y == 0, 2, (y < 0).astype(np.intp)), np.flatnonzero(y == 0)
        known, every = np.flatnonzero((y != 0) & (cost > 0)), np.flatnonzero(cost)
        share = np.where(y == 0, 1 / len(members), 0.0).astype(shared.gram.dtype)
        mean = (share @ shared.gram).astype(float)
        constant = float(mean[members].mean())
        self._matrix = shared.gram, mean, constant
        if not shared.fit_intercept:
            # The mean is one more point, whose output is given (collobert2006 eq. 10).
            # No mean but 0 can be had if the largest mean of a function of norm 1 is below a share of 1e-5 of outputs.
            if constant <= 1e-5**2 * float(shared.gram.diagonal().mean()):
                raise ValueError("without a bias the mean output is 0")
            extended = np.block([[shared.gram, mean[:, None]], [mean[None], np.array([[constant]])]])
            extended = extended.astype(shared.gram.dtype)
            self._matrix = extended, np.zeros(n + 1), 0.0
            known, every, kind = np.append(known, n), np.append(every, n), np.append(kind, 3)
            cost = np.append(cost, 1.0)
        self._points = known, every, kind, cost

    def outputs(self, mean: float) -> Array:
        """Outputs of the transductive SVM with this mean output, shape (n,): where steps from the SVM end."""
        shared, bias, losses = self._shared, mean, self._shared.conjugates
        if not shared.fit_intercept:
            bias, losses = 0.0, conjugate_pieces((*shared.convex, indicator(mean, mean)))
        return shared.descend(self._matrix, bias, self._points, losses, shared.max_iter)[0][: self._n]
