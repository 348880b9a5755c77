"""A solver made for the SDP relaxation of debie2004: the S3VM with vectors for labels.

A label matrix Γ = R Rᵀ with unit rows r_i is a unit vector for every point in place of a sign (Burer, Monteiro 2003);
the points known to be +1 have r₀, those known to be -1 have -r₀.  For given vectors the problem in w is an SVM with
vector-valued outputs F_i, whose margins are r_iᵀ F_i, and for given outputs the best vector of an unlabelled point is
F_i / ‖F_i‖.  So the relaxation is

    min over w of ½ ‖w‖² + Σ_labelled c_i ℓ(y_i r₀ᵀ F_i) + Σ_unlabelled c_i ℓ(‖F_i‖),

the S3VM itself with ‖F‖ for |f|.  With more dimensions than √(2 u) local minima are global as a rule, and here that is
not assumed: a dual point comes out, of which :func:`~convex_tsvm.relaxations.transduction_bound` makes a bound.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from ...deadline import time_is_up, unlimited
from ...instance.labelling import Labelling, check_relaxable
from ...kernels import GramRows, kernel_factor
from ...problem import Array
from ...solvers.dual import minimize_quadratic
from ..safe_bounds import stationary_multipliers, transduction_bound


@dataclass(frozen=True, eq=False)
class LowRankPoint:
    """An approximate saddle point of the relaxation."""

    value: float  # the SVM's objective for a label matrix, not below that of the relaxation up to the SVM's tolerance
    bound: float  # a proven lower bound of the relaxation
    vectors: Array  # r₀ and the vectors, shape (1 + u, p), of the unlabelled points
    alpha: Array  # the dual point behind ``bound``, shape (n,)
    multipliers: Array  # and shape (1 + u,)
    n_iter: int = 0
    seconds: float = 0.0
    status: str = "inaccurate"  # or "optimal", or "max_iter"

    @property
    def scores(self) -> Array:
        """g, the labels before thresholding (debie2004 §2.3), shape (u,)."""
        return np.asarray(self.vectors[1:] @ self.vectors[0])

    @staticmethod
    def nothing(search: Labelling) -> LowRankPoint:
        """The point to begin with: value ∞, bound -∞."""
        u = len(search.unknown)
        return LowRankPoint(np.inf, -np.inf, np.ones((1 + u, 1)), np.zeros(search.n), np.zeros(1 + u))

    def better(self, other: LowRankPoint) -> LowRankPoint:
        """The best value (and its vectors) and the best bound (and its α) of both."""
        best = self if self.bound >= other.bound else other
        vectors = self.vectors if self.value <= other.value else other.vectors
        return dataclasses.replace(best, value=min(self.value, other.value), vectors=vectors)


def solve_low_rank(search: Labelling, *, tol: float = 1e-4, max_iter: int = 20_000) -> LowRankPoint:
    """Solve the SDP relaxation of debie2004 §2 by vectors of dimension ⌈√(2 (1 + u))⌉ + 1 in place of labels.

    Losses with kinks are replaced by their Moreau envelopes, ever closer; for the vectors found, the SVM is solved with
    the loss itself.  The status is "max_iter" if the gap was not closed within the limit, "inaccurate" if it was not
    closed otherwise.

    Parameters
    ----------
    tol : float
        Relative gap between value and bound at which to stop.
    max_iter : int
        Limit on L-BFGS iterations in all.
    """
    check_relaxable(search)
    if search.n_positive is not None:
        raise ValueError(f"{search.instance.balance}: the low-rank method takes no number of labels")
    if search.has_ties:
        raise ValueError(f"constraints={search.formulation.constraints!r}: the low-rank method takes no links")
    began = time.perf_counter()
    model = _Vectors(search, int(np.ceil(np.sqrt(2 * (1 + len(search.unknown))))) + 1)
    w = np.random.default_rng(0).normal(size=model.shape).ravel() / np.sqrt(np.prod(model.shape))
    smooth = bool((search.loss.slope_jumps() == 0).all() and search.loss.is_finite)
    best, n_iter, status = LowRankPoint.nothing(search), 0, "inaccurate"
    cost = float(np.median(search.cost[search.cost > 0]))
    # Curvatures of the Moreau envelopes, times the costs, that are tried one after the other.
    for width in [0.0, 0.0] if smooth else [cost / curvature for curvature in (1e2, 1e3, 1e4, 1e5, 1e6, 1e7)]:
        model.width = width
        left = max_iter - n_iter
        options = {"maxiter": left, "maxfun": 2 * left, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-9}
        found = scipy.optimize.minimize(  # type: ignore[call-overload]
            model, w, jac=True, method="L-BFGS-B", options=options, callback=_stop_in_time
        )
        w, n_iter = found.x, n_iter + int(found.nit)
        best = best.better(model.dual_point(w))
        if best.value - best.bound <= tol * max(1.0, abs(best.value)):
            status = "optimal"
            break
        if n_iter >= max_iter or time_is_up():
            status = "max_iter"
            break
    return dataclasses.replace(best, n_iter=n_iter, seconds=time.perf_counter() - began, status=status)


def _stop_in_time(w: Array) -> None:
    if time_is_up():
        raise StopIteration


class _Vectors:
    """The objective in w, with the loss replaced by its Moreau envelope of a given width."""

    def __init__(self, search: Labelling, rank: int) -> None:
        self.search, self.rank, self.width = search, rank, 0.0
        with unlimited():
            self.factor = kernel_factor(search.kernel)
        self.basis = search.basis
        self.known, self.unknown = np.flatnonzero(search.y), search.unknown

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of w."""
        return self.factor.shape[1], self.rank

    def __call__(self, w: Array) -> tuple[float, Array]:
        """Value and gradient."""
        search, known, unknown = self.search, self.known, self.unknown
        W = w.reshape(self.shape)
        F = self.outputs(W)
        t = self.margins(F)
        values, slopes = self.envelope(t)
        pull = search.cost * slopes
        G = np.zeros_like(F)
        G[known, 0] = pull[known] * search.y[known]
        G[unknown] = (pull[unknown] / np.maximum(t[unknown], 1e-100))[:, None] * F[unknown]
        return 0.5 * float(w @ w) + float(search.cost @ values), (W + self.factor.T @ G).ravel()

    def outputs(self, W: Array) -> Array:
        """F, shape (n, p)."""
        F = self.factor @ W
        F[:, 0] += self.search.offset
        return F

    def margins(self, F: Array) -> Array:
        """y_i r₀ᵀ F_i where the label is known, ‖F_i‖ where not."""
        t = self.search.y * F[:, 0]
        t[self.unknown] = np.linalg.norm(F[self.unknown], axis=1)
        return np.asarray(t)

    def envelope(self, t: Array) -> tuple[Array, Array]:
        """min over s of ℓ(s) + (s - t)² / (2 width), and its derivative."""
        loss = self.search.loss
        if self.width == 0:
            return loss(t), loss.derivatives(t)[0]
        near = loss.prox(t, self.width)
        return loss(near) + (near - t) ** 2 / (2 * self.width), (t - near) / self.width

    def dual_point(self, w: Array) -> LowRankPoint:
        """The vectors that w gives, and the best of two α: that of w, and that of the SVM for these vectors."""
        search = self.search
        F = self.outputs(w.reshape(self.shape))
        t = self.margins(F)
        vectors = np.zeros((1 + len(self.unknown), self.rank))
        vectors[0, 0] = 1.0
        vectors[1:] = F[self.unknown] / np.maximum(t[self.unknown], 1e-100)[:, None]
        # Where an output is exactly zero any unit vector is a best one.
        vectors[1:][t[self.unknown] == 0, 0] = 1.0
        labels = self.basis @ vectors
        start = -search.cost * self.envelope(t)[1]
        value, alpha = margin_svm(search, labels @ labels.T, labels[:, 0], start=start)
        point = LowRankPoint.nothing(search)
        for candidate in (alpha, start):
            if np.isfinite(point.bound) and time_is_up():
                break
            multipliers = stationary_multipliers(search, candidate, vectors @ vectors.T)
            bound = transduction_bound(search, candidate, multipliers)
            point = point.better(LowRankPoint(value + search.constant, bound, vectors, candidate, multipliers))
        return point


def margin_svm(
    search: Labelling, label_matrix: Array, signs: Array | float, *, start: Array | None = None, tol: float = 1e-8
) -> tuple[float, Array]:
    """Least ½ αᵀ Q α + Σ c_i ℓ(t_i) with Q = G ∘ Γ and margins t = Q α + o ∘ g, and its α >= 0.

    Γ is ``label_matrix``, shape (n, n), and g is ``signs``, shape (n,), the labels before thresholding, which count
    only where there are offsets o.  ``start`` is an α to start from; ``tol`` is a tolerance on the margins.
    """
    kernel = search.kernel * label_matrix
    point = minimize_quadratic(
        GramRows(kernel), (search.loss,), cost=search.cost, offset=search.offset * signs, start=start, tol=tol
    )
    alpha = np.maximum(point.gamma, 0.0)
    # A margin that is outside the loss's domain by the solver's tolerance is moved into it.
    losses = search.loss(np.clip(point.outputs, *search.loss.domain))
    value = 0.5 * float(alpha @ kernel @ alpha) + float(search.cost @ losses)
    return value, alpha
