"""Rounds of the SDP relaxation in v-space: solve it, see what the incumbent then excludes, add cuts, solve it again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...problem import Array
from ...solvers.sdp.sparse_matrices import SparseMatrices
from ...solvers.sdp.sparse_sdp import solve_sdp
from ..box import labels_of
from .convexified import Multipliers
from .cuts import Cuts, chord_rows, diagonal_rows, unit_row, violated_products, violated_triangles
from .quadratic_program import OutputSpace

#: Relative accuracy of relaxations.
SDP_TOL = 1e-5

#: Factors on the relaxation's optimal multipliers: each of them may exclude outputs that the others do not.
MULTIPLIER_FACTORS = (1.0, 0.98, 0.95, 0.9, 0.8, 0.6, 0.3)

#: Cuts with a smaller multiplier than this times the largest are dropped.
ACTIVE = 3e-3

#: Attempts to find multipliers to begin with, and halvings after which those on the diagonal are raised as well.
ATTEMPTS, HALVED = 500, 60


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The relaxation solved in a box, with X of shape (1 + n, 1 + n) and the SDP solver's status.

    ``value`` is what the solver reports, which is not a proven bound; ``kept`` are the cuts that are active.
    """

    multipliers: Multipliers
    X: Array
    value: float
    kept: Cuts
    status: str

    @property
    def scores(self) -> Array:
        """v, shape (n,)."""
        return np.asarray(self.X[0, 1:])

    def correlation(self) -> Array:
        """How much the outputs vary together in V - v vᵀ: the sum of every one's squared correlations."""
        covariance = self.X[1:, 1:] - np.outer(self.scores, self.scores)
        deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-9))
        return np.asarray(((covariance / np.outer(deviation, deviation)) ** 2).sum(axis=1))


class Stall:
    """Tells when rounds have stopped helping: when two in turn neither raise the bound nor narrow the box by much.

    It begins with the box and the bound before the first round.
    """

    def __init__(self, low: Array, high: Array, bound: float = -np.inf) -> None:
        self.bound, self.width, self.idle = bound, float((high - low).sum()), 0

    def after(self, bound: float, low: Array, high: Array, cutoff: float) -> bool:
        """Whether to stop, after a round with this bound and box; ``cutoff`` is what the bound has to reach."""
        width = float((high - low).sum())
        lacking = cutoff - self.bound if np.isfinite(self.bound) else 0.0
        gained = bound > self.bound + max(2e-4 * abs(cutoff), 0.02 * lacking) or width < 0.99 * self.width
        self.idle = 0 if gained else self.idle + 1
        self.bound, self.width = max(self.bound, bound), width
        return self.idle >= 2


class Tightening:
    """The SDP relaxation in a box, and the cuts that its solution violates, up to ``cuts_per_round`` of each kind."""

    def __init__(
        self,
        space: OutputSpace,
        *,
        solver: str,
        cuts_per_round: int,
        products: bool = True,
        triangles: bool = True,
    ) -> None:
        self.space, self.solver, self.cuts_per_round = space, solver, cuts_per_round
        self.products, self.triangles = products, triangles

    def relax(self, low: Array, high: Array, cuts: Cuts, cutoff: float = np.inf) -> Relaxed:
        """Solve the relaxation in a box with finite ends; the native solver may stop once it is above the cutoff."""
        # For known labels V_ii >= 1 follows from the chord.
        unknown = np.flatnonzero(labels_of(low, high) == 0)
        parts = [unit_row(), diagonal_rows(unknown), chord_rows(low, high), cuts.rows(low, high)]
        rows = SparseMatrices.stack(parts)
        native = self.solver in ("auto", "native")
        point = solve_sdp(
            self.space.C,
            rows,
            solver=self.solver,
            tol=SDP_TOL,
            start=self._start(low, high, unknown, rows) if native else None,
            enough=cutoff - self.space.constant + SDP_TOL * abs(cutoff),
        )
        z = np.maximum(point.z, 0.0)
        _, found, chord, weights = np.split(z, np.cumsum([part.m for part in parts])[:-1])
        diagonal = np.zeros(len(low))
        diagonal[unknown] = found
        return Relaxed(
            multipliers=Multipliers(diagonal, chord, cuts, weights),
            X=point.X,
            value=point.value + self.space.constant,
            kept=cuts.take(weights > ACTIVE * weights.max(initial=0.0)),
            status=point.status,
        )

    def _start(self, low: Array, high: Array, unknown: NDArray[np.intp], rows: SparseMatrices) -> tuple[Array, Array]:
        """Where the interior-point method begins: the box's centre, where all products hold, with room for V_ii."""
        centre, width = (low + high) / 2, (high - low) / 2
        least = np.zeros(len(low))
        least[unknown] = np.maximum(1 - centre[unknown] ** 2, 0)
        room = np.maximum((least + width**2) / 2, 1e-3)
        x = np.concatenate([[1.0], centre])
        X = np.outer(x, x) + np.diag(np.concatenate([[1e-3], room]))
        mu = 0.03 * float((np.diag(self.space.C)[1:] * room).mean())
        z = mu / np.maximum(rows.values(X) - rows.b, 0.1)
        z[0] = 0.0
        # The chords' multipliers are added to the diagonal of S and are kept, while the others are halved.
        chords = np.zeros(rows.m, dtype=bool)
        chords[1 + len(unknown) :][: len(low)] = True
        for attempt in range(ATTEMPTS):
            S = self.space.C - rows.combine(z, len(X))
            try:
                factor = scipy.linalg.cho_factor(S[1:, 1:])
                break
            except np.linalg.LinAlgError:
                z[~chords] /= 2
                if attempt >= HALVED:
                    # Rounding has left C indefinite, so the multipliers on the diagonal must outweigh that.
                    z[chords] *= 4
        else:
            raise np.linalg.LinAlgError("the quadratic of the relaxation is not finite: scale the points or the costs")
        # The multiplier of X_00 <= 1 is what makes S positive definite.
        lacking = float(S[1:, 0] @ scipy.linalg.cho_solve(factor, S[1:, 0])) - S[0, 0]
        z[0] = max(0.0, lacking) + 0.1 * mu * (len(X) + rows.m)
        return X, z

    def fresh(self, X: Array, low: Array, high: Array) -> Cuts:
        """Cuts that the relaxation's solution violates."""
        none = Cuts.none()
        return Cuts(
            violated_products(X, low, high, self.cuts_per_round) if self.products else none.products,
            violated_triangles(X, self.cuts_per_round) if self.triangles else none.triangles,
        )
