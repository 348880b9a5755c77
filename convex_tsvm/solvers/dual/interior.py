"""An interior-point method on the dual (Mehrotra 1992; Fine and Scheinberg 2001 for kernels of low rank).

All variables stay between breakpoints, and are kept from these by barriers.  That takes some fifteen systems of
equations whatever the data are, each as large as the rank of the kernel matrix, which has to be low.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ...deadline import time_is_up
from .dual_problem import Array, DualProblem, Indices, State
from .factors import Factors

#: Iterations at most: a problem that takes more is left to others.
MOST_SYSTEMS = 60

#: Share of the way to the nearest end of an interval that a step goes.
SHARE_TO_END = 0.995


@dataclass(frozen=True)
class Ways:
    """The ways that all dual variables can go, from the anchor of each, one segment after the other.

    Attributes
    ----------
    point : int array, shape (m,)
        The variable that a way belongs to.
    sign, start, rate, length : array, shape (m,)
        As in :class:`~convex_tsvm.losses.Segments`.
    anchor : array, shape (n,)
        Where s is when nothing has been gone.
    """

    point: Indices
    sign: Array
    start: Array
    rate: Array
    length: Array
    anchor: Array


def ways_of(dual: DualProblem) -> Ways | None:
    """The ways of all variables with a cost; None if one of them has no breakpoint to begin from."""
    ends = dual.conjugates.ends
    finite = np.isfinite(ends)
    if not finite[np.unique(dual.kind)].any(axis=1).all():
        return None
    anchor = np.where(finite.any(axis=1), ends[np.arange(len(ends)), finite.argmax(axis=1)], 0.0)
    segments = dual.conjugates.outwards(anchor)
    # A variable has the segments of its kind; those of one segment stand together.
    members = [np.flatnonzero((dual.kind == k) & (dual.cost > 0)) for k in range(len(ends))]
    counts = [len(members[k]) for k in segments.function.tolist()]
    if not any(counts):
        return None
    columns = (segments.sign, segments.start, segments.rate, segments.length)
    sign, start, rate, length = (np.repeat(column, counts) for column in columns)
    point = np.concatenate([members[k] for k in segments.function.tolist()])
    return Ways(point, sign, start, rate, length, anchor[dual.kind])


class _Systems:
    """Equations (1 / w + G) x = q / w with the ridge of G, G = Z Zᵀ of low rank, for ever new weights w."""

    def __init__(self, Z: Array, ridge: float, weight: Array) -> None:
        self.Z, self.share = Z, 1.0 / (1.0 + ridge * weight)  # the ridge belongs to the diagonal
        self.weight = weight * self.share
        system = Z.T @ (self.weight[:, None] * Z)
        system[np.diag_indices_from(system)] += 1.0
        self.cholesky = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, q: Array) -> Array:
        """x."""
        q = q * self.share
        inner = scipy.linalg.cho_solve(self.cholesky, self.Z.T @ q, check_finite=False)
        return np.asarray(q - self.weight * (self.Z @ inner))


def interior(dual: DualProblem, factors: Factors, tol: float) -> State | None:
    """The minimum, to a violation of ``tol``; None where this method does not apply or does not get there.

    It applies to duals without a free bias whose matrix has a factor of low rank.
    """
    ways = ways_of(dual)
    if ways is None or factors.factor is None:
        return None
    try:
        return _minimize(_Barrier(dual, ways, factors.factor, factors.ridge), tol)
    except np.linalg.LinAlgError:
        return None


@dataclass
class _Point:
    """What has been gone of each way (u), what is left (v), and the multipliers of both ends (z, w)."""

    u: Array
    v: Array
    z: Array
    w: Array


class _Barrier:
    """The problem in its ways, and steps of the method on it."""

    def __init__(self, dual: DualProblem, ways: Ways, Z: Array, ridge: float) -> None:
        self.dual, self.ways, self.Z, self.ridge = dual, ways, Z, ridge
        self.n, self.cost = len(dual.kind), dual.cost[ways.point]
        self.bounded = np.isfinite(ways.length)
        self.length = np.where(self.bounded, ways.length, 1.0)
        self.count = len(ways.point) + int(self.bounded.sum())

    def begin(self) -> _Point:
        """Everything in the middle."""
        u = 0.5 * self.length
        slope = self.slope(u)
        size = max(1.0, float(np.abs(slope).mean()))
        w = np.where(self.bounded, np.maximum(-slope, 0) + size, 0.0)
        return _Point(u, np.where(self.bounded, self.length - u, 1.0), np.maximum(slope, 0) + size, w)

    def at(self, u: Array) -> Array:
        """s."""
        return np.asarray(self.ways.anchor + np.bincount(self.ways.point, self.ways.sign * u, self.n))

    def slope(self, u: Array) -> Array:
        """The derivative of the dual along each way."""
        ways = self.ways
        gamma = self.dual.gamma(self.at(u))
        h = self.Z @ (self.Z.T @ gamma) + self.ridge * gamma + self.dual.offset
        return np.asarray(self.cost * (ways.sign * (ways.start - h[ways.point]) + ways.rate * u))

    def gap(self, p: _Point) -> float:
        """The mean of what should be 0: a way left or gone times the multiplier of that end."""
        return float(p.z @ p.u + p.w @ p.v) / self.count

    def step(self, p: _Point) -> tuple[_Point, float]:
        """The next point, and what share of the full step led there."""
        ways, mu = self.ways, self.gap(p)
        i, signed = ways.point, ways.sign * self.cost
        residual = self.slope(p.u) - p.z + p.w
        H = self.cost * ways.rate + p.z / p.u + p.w / p.v
        weight = np.maximum(np.bincount(i, self.cost * self.cost / H, self.n), 1e-300)
        systems = _Systems(self.Z, self.ridge, weight)

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
        share = min(1.0, SHARE_TO_END * self.room(p, du, dz, dw))
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
        """The state next to a point: where an output is off its kink, its variable is at an end of the way."""
        slack = 0.5 * tol * self.cost
        u = np.where(p.z > slack, 0.0, np.where(p.w > slack, self.length, p.u))
        s = self.dual.start(self.dual.gamma(self.at(u)))  # inside the domain, and on breakpoints but for rounding
        return self.dual.afresh(s)


def _minimize(barrier: _Barrier, tol: float) -> State | None:
    point, small = barrier.begin(), 1e-2 * tol * float(barrier.cost.mean())
    for _ in range(MOST_SYSTEMS):
        point, share = barrier.step(point)
        if barrier.gap(point) < small:
            found = barrier.settled(point, tol)
            if barrier.dual.survey(found).violation <= tol:
                return found
        if not share > 1e-8 or time_is_up():
            return None
    return None
