"""An interior-point method on the dual (Mehrotra 1992; Fine and Scheinberg 2001 for kernels of low rank).

All variables stay between breakpoints, and are kept from these by barriers.  That takes some fifteen systems of
equations whatever the data are, each as large as the rank of the kernel matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ...deadline import time_is_up
from .dual_problem import Array, DualProblem, Indices, State
from .factors import Factors

#: Iterations at most: a problem that takes more is left to others.
MOST_ITERATIONS = 60

#: Share of the way to the nearest end of an interval that a step goes.
SHARE = 0.995


@dataclass(frozen=True)
class Segments:
    """The pieces of every variable's conjugate as variables of their own, each from 0 to its length.

    A variable that goes from its anchor through one piece after the other is the sum of what it has gone of each; as
    the derivative rises from piece to piece, a minimum fills them in that order.

    Attributes
    ----------
    point : int array, shape (m,)
        The variable that a piece belongs to.
    sign : array, shape (m,)
        Whether s rises (+1) or falls (-1) along it.
    start : array, shape (m,)
        The derivative of the conjugate where it begins.
    rate : array, shape (m,)
        By how much the derivative changes along it, per unit, at least 0.
    length : array, shape (m,)
        May be infinite.
    anchor : array, shape (n,)
        Where s is when nothing has been gone.
    """

    point: Indices
    sign: Array
    start: Array
    rate: Array
    length: Array
    anchor: Array


def segments_of(dual: DualProblem) -> Segments | None:
    """The pieces of all variables with a cost; None if one of them has no breakpoint to begin from."""
    flat, kinds = dual.losses, np.unique(dual.kind)
    parts, anchors = [], np.zeros(len(flat.m))
    for k in kinds.tolist():
        m, S, P, R = int(flat.m[k]), flat.S[k], flat.P[k], flat.R[k]
        finite = np.flatnonzero(np.isfinite(S[: m + 1]))
        if len(finite) == 0:
            return None
        first = int(finite[0])
        anchors[k] = S[first]
        members = np.flatnonzero((dual.kind == k) & (dual.cost > 0))
        for j in range(m):
            rising = j >= first
            begin = S[j] if rising else S[j + 1]
            piece = (1.0 if rising else -1.0, P[j] + R[j] * begin, R[j], S[j + 1] - S[j])
            if piece[3] > 0 and len(members):
                parts.append((members, piece))
    if not parts:
        return None
    point = np.concatenate([members for members, _ in parts])
    columns = [np.concatenate([np.full(len(members), piece[c]) for members, piece in parts]) for c in range(4)]
    sign, start, rate, length = columns
    return Segments(point, sign, start, rate, length, anchors[dual.kind])


class _Systems:
    """Equations (1 / w + G) x = q / w with the ridge of G, for ever new weights w."""

    def __init__(self, factors: Factors, weight: Array) -> None:
        self.factors, self.share = factors, 1.0 / (1.0 + factors.ridge * weight)  # the ridge belongs to the diagonal
        self.weight = weight * self.share
        if factors.factor is None:
            self.root = np.sqrt(self.weight)
            system = self.root[:, None] * factors.G * self.root
        else:
            system = factors.factor.T @ (self.weight[:, None] * factors.factor)
        system[np.diag_indices_from(system)] += 1.0
        self.cholesky = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, q: Array) -> Array:
        """x."""
        q, Z = q * self.share, self.factors.factor
        if Z is None:
            inner = self.root * (self.factors.G @ q)
            return np.asarray(q - self.root * scipy.linalg.cho_solve(self.cholesky, inner, check_finite=False))
        return np.asarray(q - self.weight * (Z @ scipy.linalg.cho_solve(self.cholesky, Z.T @ q, check_finite=False)))


def interior(dual: DualProblem, factors: Factors, tol: float) -> State | None:
    """The minimum, to a violation of ``tol``; None where this method does not apply or does not get there.

    Parameters
    ----------
    dual : DualProblem
        Without a free bias.
    factors : Factors
        Of its matrix.
    tol : float
    """
    pieces = segments_of(dual)
    if pieces is None:
        return None
    try:
        return _minimize(dual, pieces, factors, tol)
    except np.linalg.LinAlgError:
        return None


@dataclass
class _Point:
    """What has been gone of each piece (u), what is left (v), and the multipliers of both ends (z, w)."""

    u: Array
    v: Array
    z: Array
    w: Array


class _Barrier:
    """The problem in its pieces, and steps of the method on it."""

    def __init__(self, dual: DualProblem, pieces: Segments, factors: Factors) -> None:
        self.dual, self.pieces, self.factors = dual, pieces, factors
        self.n, self.cost = len(dual.kind), dual.cost[pieces.point]
        self.bounded = np.isfinite(pieces.length)
        self.length = np.where(self.bounded, pieces.length, 1.0)
        self.count = len(pieces.point) + int(self.bounded.sum())

    def begin(self) -> _Point:
        """Everything in the middle."""
        u = 0.5 * self.length
        slope = self.slope(u)
        size = max(1.0, float(np.abs(slope).mean()))
        w = np.where(self.bounded, np.maximum(-slope, 0) + size, 0.0)
        return _Point(u, np.where(self.bounded, self.length - u, 1.0), np.maximum(slope, 0) + size, w)

    def at(self, u: Array) -> Array:
        """s."""
        return np.asarray(self.pieces.anchor + np.bincount(self.pieces.point, self.pieces.sign * u, self.n))

    def slope(self, u: Array) -> Array:
        """The derivative of the dual along each piece."""
        pieces = self.pieces
        h = self.factors.times(self.dual.gamma(self.at(u))) + self.dual.offset
        return np.asarray(self.cost * (pieces.sign * (pieces.start - h[pieces.point]) + pieces.rate * u))

    def gap(self, p: _Point) -> float:
        """The mean of what should be 0: a way left or gone times the multiplier of that end."""
        return float(p.z @ p.u + p.w @ p.v) / self.count

    def step(self, p: _Point) -> tuple[_Point, float]:
        """The next point, and what share of the full step led there."""
        pieces, mu = self.pieces, self.gap(p)
        i, signed = pieces.point, pieces.sign * self.cost
        residual = self.slope(p.u) - p.z + p.w
        H = self.cost * pieces.rate + p.z / p.u + p.w / p.v
        weight = np.maximum(np.bincount(i, self.cost * self.cost / H, self.n), 1e-300)
        systems = _Systems(self.factors, weight)

        def direction(target_z: Array, target_w: Array) -> tuple[Array, Array, Array]:
            # z u + z du + u dz is to be target_z, and so for w at the other end.
            right = residual + p.z - target_z / p.u - p.w + target_w / p.v
            q = np.bincount(i, signed * right / H, self.n).astype(float)
            dh = (q - systems.solve(q)) / weight  # the change of the outputs, as dγ = q - weight dh
            du = (-right + signed * dh[i]) / H
            dw = np.where(self.bounded, target_w / p.v - p.w + p.w * du / p.v, 0.0)
            return du, target_z / p.u - p.z - p.z * du / p.u, dw

        du, dz, dw = direction(np.zeros_like(p.z), np.zeros_like(p.w))
        after = self.gap(self.moved(p, du, dz, dw, self.room(p, du, dz, dw)))
        centre = mu * (after / mu) ** 3
        du, dz, dw = direction(centre - du * dz, np.where(self.bounded, centre + du * dw, 0.0))
        share = min(1.0, SHARE * self.room(p, du, dz, dw))
        return self.moved(p, du, dz, dw, share), share

    def moved(self, p: _Point, du: Array, dz: Array, dw: Array, share: float) -> _Point:
        """The point after a share of a step."""
        u = p.u + share * du
        v = np.where(self.bounded, np.maximum(self.length - u, 1e-300), 1.0)
        return _Point(u, v, p.z + share * dz, p.w + share * dw)

    def room(self, p: _Point, du: Array, dz: Array, dw: Array) -> float:
        """How much of a step may be gone, at most all, for everything to stay positive."""
        longest, b = 1.0, self.bounded
        for value, change in ((p.u, du), (p.z, dz), (p.v[b], -du[b]), (p.w[b], dw[b])):
            falling = change < 0
            longest = min(longest, float((-value[falling] / change[falling]).min(initial=1.0)))
        return longest

    def settled(self, p: _Point, tol: float) -> State:
        """The state next to a point: where an output is off its kink, its variable is at an end of the piece."""
        slack = 0.5 * tol * self.cost
        u = np.where(p.z > slack, 0.0, np.where(p.w > slack, self.length, p.u))
        s = self.dual.start(self.dual.gamma(self.at(u)))  # inside the domain, and on breakpoints but for rounding
        return self.dual.afresh(s)


def _minimize(dual: DualProblem, pieces: Segments, factors: Factors, tol: float) -> State | None:
    barrier = _Barrier(dual, pieces, factors)
    point, small = barrier.begin(), 1e-2 * tol * float(barrier.cost.mean())
    for _ in range(MOST_ITERATIONS):
        point, share = barrier.step(point)
        if barrier.gap(point) < small:
            found = barrier.settled(point, tol)
            if dual.survey(found).violation <= tol:
                return found
        if not share > 1e-8 or time_is_up():
            return None
    return None
