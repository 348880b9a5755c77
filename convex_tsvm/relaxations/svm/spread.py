"""The SVM of the labels known so far, with what known points pay for the spread of their class (dai2010 eq. 3-7).

Of a class of n points k are known.  For any numbers g_i in [-C₃, C₃] of these, and their mean ḡ for each of the others,

    C₃ Σ max(0, |f_i - mean| - ε) >= -Σ_known g_i (f_i - mean) - ḡ Σ_others (f_i - mean) - ε (Σ |g_i| + (n - k) |ḡ|),

where the means and the outputs of the others drop out: of g's mean over the class being ḡ, what is left is
-Σ_known (g_i - ḡ) f_i.  So it is an SVM whose weights are Σ β_i φ_i with β = γ + g - ḡ, and

    Σ γ_i y_i - ½ βᵀ G β - ε Σ_classes (Σ |g_i| + (n - k) |ḡ|)

is a bound for all labellings with the known labels, whatever γ of the SVM's domain and g are.  Where all labels are
known it is the dual of the convex problem that is left, whose value it reaches.
"""

import dataclasses

import numpy as np
import scipy.linalg

from ...formulations.class_spread import ClassSpread
from ...instance.labelling import Labelling
from ...kernels import GramRows
from ...losses import epsilon_insensitive
from ...problem import Array
from ...solvers.dual import minimize_quadratic
from ..rounding import EPS, SAFE_ROOM
from .partial_svm import PartialPoint, PartialSVM, Witness


class SpreadSVM(PartialSVM):
    """As :class:`PartialSVM`, for points whose ``gamma`` has 2n numbers: γ, then g."""

    def __init__(self, search: Labelling, spread: ClassSpread) -> None:
        super().__init__(search)
        self.spread, given = spread, search.instance.problem
        positive = search.n_positive or 0
        #: How many points are of each class in the end, by its label.
        self.sizes = {
            sign: int((given.y == sign).sum()) + count
            for sign, count in ((1, positive), (-1, given.n_unlabeled - positive))
        }
        self._losses = (*self._losses, epsilon_insensitive(spread.epsilon))

    def point(self, y: Array, gamma: Array) -> PartialPoint:
        """The dual point of γ and g, which are moved into the domain first; no solver is called."""
        n, cost = self.search.n, self.spread.cost
        inside, g = self._inside(y, gamma[:n]), np.where(y != 0, np.clip(gamma[n:], -cost, cost), 0.0)
        beta, paid = self._weights(y, inside, g)
        # How far rounding may have moved β, and with it w.
        size = float(np.abs(inside).max(initial=0.0) + np.abs(g).max(initial=0.0))
        norms = np.sqrt(self._gram.most_diagonal)
        moved = (n + 8) * EPS * size * float(norms[y != 0].sum())
        square = (np.sqrt(self._gram.most_square(beta)) + moved) ** 2
        outputs, error = self._outputs(beta)
        value = self._least(inside, y, square) - paid * (1 + SAFE_ROOM + (2 * n + 16) * EPS)
        return PartialPoint(value, np.concatenate([inside, g]), outputs, error + norms * moved)

    def _weights(self, y: Array, gamma: Array, g: Array) -> tuple[Array, float]:
        """β, shape (n,), and what is to be paid for g."""
        beta, paid = gamma + g, float(np.abs(g).sum())
        for sign, size in self.sizes.items():
            own = y == sign
            mean = float(g[own].sum()) / max(int(own.sum()), 1)
            beta[own] -= mean
            paid += (size - int(own.sum())) * abs(mean)
        return beta, self.spread.epsilon * paid

    def solve(self, y: Array, gamma: Array | None = None, tol: float = 1e-7) -> PartialPoint:
        """The best γ and g for labels ``y`` (+1, -1, 0 for unknown), from a start where one is given.

        The points of a class that are not known are one more point, with an output that nearly costs nothing.
        """
        n, known = self.search.n, np.flatnonzero(y)
        k = len(known)
        self.n_solved += 1
        signs = np.append(y[known], [1.0, -1.0])
        rest = np.array([self.sizes[sign] - int((y == sign).sum()) for sign in (1, -1)])
        sizes = np.array([self.sizes[sign] for sign in signs.astype(int)])
        share = np.append(np.ones(k), rest) / np.maximum(sizes, 1)  # a class may have no point
        gram = self.M[np.ix_(known, known)]
        far = 1e4 * max(float(np.diag(self.M).max()), 1e-300)
        gram = scipy.linalg.block_diag(gram, far * np.eye(2))
        rows = np.vstack([np.eye(k, k + 2), np.eye(k + 2) - (signs[:, None] == signs) * share])
        cost = np.concatenate([self.cap[known], self.spread.cost * np.append(np.ones(k), rest)])
        kind = np.concatenate([y[known] < 0, np.full(k + 2, 2)]).astype(np.intp)
        start = np.zeros(2 * n) if gamma is None else np.pad(gamma, (0, 2 * n - len(gamma)))
        start = np.concatenate([start[:n][known], start[n:][known], np.zeros(2)])
        pays = cost > 0
        found = minimize_quadratic(
            GramRows((rows @ gram @ rows.T)[np.ix_(pays, pays)]),
            self._losses,
            kind=kind[pays],
            cost=cost[pays],
            sums_to_zero=self.free_bias & (kind < 2)[pays],
            start=start[pays],
            tol=tol,
        )
        whole, full = np.zeros(2 * k + 2), np.zeros(2 * n)
        whole[pays] = found.gamma
        full[known], full[n + known] = whole[:k], whole[k : 2 * k]
        return dataclasses.replace(self.point(y, full), bias=found.bias if self.free_bias else 0.0)

    def witness(self, y: Array, point: PartialPoint) -> Witness:
        """The primal point of w = Σ β_i φ_i, with its value rounded up."""
        beta, _ = self._weights(y, *np.split(point.gamma, 2))
        found = super().witness(y, dataclasses.replace(point, gamma=beta))
        outputs, error = self._outputs(beta)
        missed = (self.search.n + 8) * EPS * float(np.abs(outputs).max()) + 2 * float(error.max())
        spreads = self.spread.of_labels(outputs, y, missed)
        return dataclasses.replace(found, value=self._raised(found.value + spreads))
