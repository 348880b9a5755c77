"""Curvature that the regularizer lends to losses, so that their envelopes are higher.

½ ‖w‖² is at least ½ Σ d_i g_i² for numbers d with B = I - Lᵀ D L ⪰ 0.  What is lent to the losses, φ_i(t) + ½ d_i t²,
makes them less concave, and the rest of the regularizer is a convex quadratic still:

    J >= -½ γᵀ L B⁻¹ Lᵀ γ + Σ_i min over t in the interval of  φ_i(t) + ½ d_i t² + γ_i t        for every γ.

The best d and γ are the dual variables of an SDP relaxation with Γ_ii for g_i² (a quadratic convex reformulation):

    max  -½ s + Σ h_i   s.t.   Z = [[s, γᵀ L], [Lᵀ γ, B]] ⪰ 0,   w_ik = γ_i t_ik + ½ d_i t_ik² + φ_i(t_ik) - h_i >= 0

where the places t_ik are added where they are missed.  The method is a primal-dual interior-point method in the form of
Helmberg, Rendl, Vanderbei and Wolkowicz (1996), with Mehrotra's (1992) predictor and corrector, and its steps written
out for these matrices of rank one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ...deadline import time_is_up
from ...parallel import one_blas_thread
from ...problem import Array
from .model import OutputModel


def lend(
    model: OutputModel, low: Array, high: Array, start: tuple[Array, Array] | None = None, tol: float = 1e-4
) -> tuple[Array, Array]:
    """Curvatures d and dual variables γ that give a good bound for outputs in a finite box, from those of another box.

    ``tol`` is the duality gap, relative to the bound, up to which the semidefinite program is solved.
    """
    # Outputs that w changes by less than the root of this are constants.
    if model.squares.max(initial=0.0) < 1e-100:
        # All points are where the origin is: w changes no output.
        return model.no_curvature(low, high, 1.0), np.zeros(model.n)
    with one_blas_thread():
        return _Lending(model, low, high, start).maximize(tol)


class _Lending:
    """The semidefinite program and a point inside its cones."""

    most_kinks = 24  # functions with more pieces stand for smooth ones

    def __init__(self, model: OutputModel, low: Array, high: Array, start: tuple[Array, Array] | None) -> None:
        self.model, self.L = model, model.factor
        self.losses = model.losses.within(low, high)
        n = model.n
        mean = float(model.squares[: model.n_points].mean()) or 1.0
        # No curvature is below minus this, ten times what an output can be lent if no other is: an output that is held
        # in a tiny interval would be given ever more.
        self.taken = 10.0 / np.maximum(model.squares, 1e-2 * mean)
        if model.free_bias:
            self.taken[-1] = 10.0 / mean
        self.d, self.gamma = (np.zeros(n), np.zeros(n)) if start is None else (0.9 * start[0], start[1].copy())
        if model.free_bias and start is None:
            self.d[-1] = -0.1 * self.taken[-1]
        self.d = np.maximum(self.d, -0.99 * self.taken)
        # Ends may be a little beyond where a loss is finite.
        low, high = self.losses.ends()
        kinks = np.where(self.losses.low <= self.losses.high, self.losses.low, low[:, None])
        places = 6  # where every output's minimum is looked for at first, beside its kinks
        if self.losses.low.shape[1] > self.most_kinks:
            places, kinks = self.most_kinks, low[:, None]  # of so many kinks none says much
        grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, places)
        self.t = np.clip(np.hstack([grid, kinks]), low[:, None], high[:, None])
        self.paid = np.column_stack([self.losses.at(column) for column in self.t.T])
        lowest = self._without_h().min(axis=1)
        spread = float(np.median(self._without_h().max(axis=1) - lowest)) + 1e-3 * (1 + float(np.abs(lowest).mean()))
        self.h = lowest - spread
        form = self.model.form(self.d)
        image = scipy.linalg.cho_solve(scipy.linalg.cho_factor(form), self.L.T @ self.gamma)
        self.s = float(self.gamma @ self.L @ image) + spread
        scale = spread / (1 + places)
        self.p = scale / self._slack()
        self.p /= self.p.sum(axis=1, keepdims=True)
        self.X = 0.5 * np.eye(len(form) + 1)
        self.z = scale / (self.d + self.taken)

    def _without_h(self) -> Array:
        return np.asarray(self.gamma[:, None] * self.t + self.paid + 0.5 * self.d[:, None] * self.t**2)

    def _slack(self) -> Array:
        return self._without_h() - self.h[:, None]

    def _matrix(self) -> Array:
        row = self.L.T @ self.gamma
        return np.block([[np.array([[self.s]]), row[None]], [row[:, None], self.model.form(self.d)]])

    def maximize(self, tol: float) -> tuple[Array, Array]:
        """The best d and γ for places that are added where they are missed."""
        for coarse in (1e-2, 1e-3, 1e-4, tol):
            self._solve(max(tol, coarse))
            if time_is_up() or not self._add_places(tol):
                break
        return self.d, self.gamma

    def _add_places(self, tol: float) -> bool:
        """Add the best place of every output; whether any is much better than those that are there."""
        function = self.losses.plus(0.5 * self.d, self.gamma, np.zeros(len(self.d)))
        least, at = function.least()
        best = least.argmin(axis=1)[:, None]
        t = np.take_along_axis(at, best, 1)[:, 0]
        missed = self._without_h().min(axis=1) - least.min(axis=1)
        total = abs(-0.5 * self.s + float(self.h.sum()))
        if missed.sum() <= tol * total:
            return False
        self.t = np.column_stack([self.t, t])
        self.paid = np.column_stack([self.paid, self.losses.at(t)])
        room = 0.01 * total / len(t)
        self.h = np.minimum(self.h, self._without_h().min(axis=1) - room)
        self.p = np.column_stack([self.p, self.p.min(axis=1)])
        return True

    def _solve(self, tol: float) -> None:
        for _ in range(30):
            Z, w = self._matrix(), self._slack()
            gap = float((self.X * Z).sum() + (self.p * w).sum() + self.z @ (self.d + self.taken))
            value = -0.5 * self.s + float(self.h.sum())
            if gap <= tol * max(abs(value), 1e-9) or time_is_up():
                break
            try:
                if not self._step(Z, w, gap / (len(Z) + w.size + len(self.z))):
                    break
            except np.linalg.LinAlgError:
                break

    def _step(self, Z: Array, w: Array, mu: float) -> bool:
        """A predictor and a corrector; whether it went anywhere."""
        system = _System(self, Z, w)
        way = system.direction(0.0, 0.0, 0.0, 0.0)
        dual, primal = (min(1.0, 0.98 * length) for length in system.lengths(way))
        reached = float(((self.X + primal * way.X) * (Z + dual * way.Z)).sum())
        reached += float(((self.p + primal * way.p) * (w + dual * way.w)).sum())
        reached += float((self.z + primal * way.z) @ (system.room + dual * way.d))
        reached = max(reached, 0.0) / (len(Z) + w.size + len(self.d))
        target = min(1.0, max(0.02, reached / mu) ** 2 if min(primal, dual) > 0.1 else 0.5) * mu
        second = way.X @ way.Z @ system.V
        way = system.direction(target, (second + second.T) / 2, way.p * way.w, way.z * way.d)
        # The share of the way to the boundary that a step goes.
        dual, primal = (min(1.0, 0.95 * length) for length in system.lengths(way))
        self.s += dual * way.s
        self.gamma = self.gamma + dual * way.gamma
        self.d = self.d + dual * way.d
        self.h = self.h + dual * way.h
        self.X = self.X + primal * way.X
        self.p = self.p + primal * way.p
        self.z = self.z + primal * way.z
        return max(primal, dual) > 1e-5


@dataclass(frozen=True, eq=False)
class _Way:
    """Changes of the dual s, γ, d and h, of the cones' Z and w that follow from them, and of the primal X, p and z."""

    s: float
    gamma: Array
    d: Array
    h: Array
    Z: Array
    w: Array
    X: Array
    p: Array
    z: Array


class _System:
    """The Newton equations at a point, reduced to s, γ and d: with t, their matrix has no other large part."""

    def __init__(self, at: _Lending, Z: Array, w: Array) -> None:
        self.L, self.X, self.p, self.z, self.t, self.w = at.L, at.X, at.p, at.z, at.t, w
        self.half, self.room = 0.5 * at.t**2, at.d + at.taken
        self.root = inverse_root(Z)
        self.V = self.root.T @ self.root
        self.ratio = self.p / w
        self.hh = self.ratio.sum(axis=1)
        self.gh, self.dh = -(self.ratio * self.t).sum(axis=1), -(self.ratio * self.half).sum(axis=1)
        H = self._of_cone() + self._of_places()
        self.scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        H = H * self.scale * self.scale[:, None]
        H[np.diag_indices(len(H))] += 1e-13
        self.factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)

    def _of_cone(self) -> Array:
        """The part that Z ⪰ 0 has: traces of products of X, V and the matrices of s, γ and d, which have rank two."""
        L, X, V, n = self.L, self.X, self.V, len(self.L)
        Lx, Lv, x0, v0 = L @ X[0, 1:], L @ V[0, 1:], X[0, 0], V[0, 0]
        LX, LV = L @ X[1:, 1:] @ L.T, L @ V[1:, 1:] @ L.T
        H = np.zeros((2 * n + 1, 2 * n + 1))
        g, c = slice(1, n + 1), slice(n + 1, 2 * n + 1)
        H[0, 0] = x0 * v0
        H[0, g] = x0 * Lv + Lx * v0
        H[0, c] = -Lx * Lv
        cross = np.outer(Lx, Lv)
        H[g, g] = cross + cross.T + LX * v0 + x0 * LV
        H[g, c] = -(LX * Lv + LV * Lx)
        H[c, c] = LX * LV
        return np.triu(H) + np.triu(H, 1).T

    def _of_places(self) -> Array:
        """The part that w >= 0 and the bound on d have, which is zero between outputs."""
        n, ratio, t, half = len(self.L), self.ratio, self.t, self.half
        H, i = np.zeros((2 * n + 1, 2 * n + 1)), np.arange(n)
        H[1 + i, 1 + i] = (ratio * t * t).sum(axis=1) - self.gh**2 / self.hh
        H[1 + i, n + 1 + i] = H[n + 1 + i, 1 + i] = (ratio * t * half).sum(axis=1) - self.gh * self.dh / self.hh
        H[n + 1 + i, n + 1 + i] = (ratio * half * half).sum(axis=1) - self.dh**2 / self.hh + self.z / self.room
        return H

    def direction(self, target: float, second: Any, second_p: Any, second_z: Any) -> _Way:
        """The way to complementarity ``target``, with terms of second order."""
        L, n = self.L, len(self.L)
        W, q = target * self.V - second, (target - second_p) / self.w
        pull = (target - second_z) / self.room
        by_s = -0.5 + W[0, 0]
        by_gamma = 2 * (L @ W[0, 1:]) + (q * self.t).sum(axis=1)
        by_d = -np.einsum("ij,jk,ik->i", L, W[1:, 1:], L, optimize=True) + (q * self.half).sum(axis=1) + pull
        by_h = 1 - q.sum(axis=1)
        right = np.concatenate([[by_s], by_gamma - self.gh / self.hh * by_h, by_d - self.dh / self.hh * by_h])
        y = self.scale * scipy.linalg.cho_solve(self.factor, self.scale * right, check_finite=False)
        gamma, d = y[1 : n + 1], y[n + 1 :]
        h = (by_h - self.gh * gamma - self.dh * d) / self.hh
        row = L.T @ gamma
        Z = np.block([[np.array([[y[0]]]), row[None]], [row[:, None], -(L.T * d) @ L]])
        w = gamma[:, None] * self.t + d[:, None] * self.half - h[:, None]
        change = self.X @ Z @ self.V
        X = W - self.X - (change + change.T) / 2
        return _Way(
            float(y[0]), gamma, d, h, Z, w, X, q - self.p - self.ratio * w, pull - self.z - self.z / self.room * d
        )

    def lengths(self, way: _Way) -> tuple[float, float]:
        """How far the dual and the primal may go until a cone is left."""
        dual = min(longest_step(self.root, way.Z), ratio_test(self.w, way.w), ratio_test(self.room, way.d))
        root_x = inverse_root(self.X)
        return dual, min(longest_step(root_x, way.X), ratio_test(self.p, way.p), ratio_test(self.z, way.z))


def inverse_root(A: Array) -> Array:
    """L⁻¹ for A = L Lᵀ."""
    L = scipy.linalg.cholesky(A, lower=True, check_finite=False)
    return np.asarray(scipy.linalg.lapack.dtrtri(L, lower=1)[0])


def longest_step(root: Array, way: Array) -> float:
    """The longest step along ``way`` up to which a matrix stays positive semidefinite, from the inverse of its root."""
    least = scipy.linalg.eigvalsh(root @ way @ root.T, subset_by_index=[0, 0], check_finite=False)[0]
    return np.inf if least >= 0 else -1 / float(least)


def ratio_test(value: Array, way: Array) -> float:
    """The longest step along ``way`` up to which some numbers stay >= 0."""
    falls = way < 0
    return float((-value[falls] / way[falls]).min()) if falls.any() else np.inf
