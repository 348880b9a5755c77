"""Proofs by convex quadratics in outputs and their signs."""

import math
from typing import Any

import numpy as np

from .balls import EPS, MORE, TINY, Ball, circles, column, demand, kept, norm, placed
from .labels import Labels, labels_of

EACH = ("square", "unit", "arc", "count")  # multipliers that a proof may take a share of


class Quadratic:
    """q(v) = ½ (v - o)ᵀ M⁻¹ (v - o) + constant = vᵀ H v + 2 bᵀ v + c, the best bias minimized out.

    Where targets must have a sum, a multiple of the square of its error is added, which is zero for all solutions.
    """

    def __init__(self, given: Labels) -> None:
        from flint import arb, arb_mat

        (K, ridge, offset), n, share = given.exact, given.n, np.zeros(given.n)
        targets = given.kind == "targets"
        half, offset = (given.whole if targets else K + ridge).inv() * arb(0.5), offset * arb(0 if targets else 1)
        if given.bias:
            sums = half * column(np.ones(n))
            half = half - sums * sums.transpose() * (1 / sum(sums.entries(), arb(0)))
        linear = half * offset * arb(-1)
        self.c = Ball.exact(offset.transpose() * half * offset)[0] + (0.0 if targets else given.constant)
        if targets:
            share[given.members], value = 1.0, arb(given.value)
            weight = arb(sum(float(half[i, i].mid()) for i in range(n)) / n)
            half, linear = half + column(share) * column(share).transpose() * weight, column(share) * (-weight * value)
            self.c = Ball.exact(arb_mat([[weight * value * value]]))[0]
        self.H, self.b = Ball.exact(half), Ball.exact(linear)


class Signs:
    """A convex quadratic in v and the signs b of the points without a label, that is below q wherever b = sign v.

    It is q less multipliers times what holds for v outside (-1, 1) in a box.  A multiplier of 1 - b² = 0 may have
    either sign; the others are >= 0: of (high - v)(v - low); of an arc, which is (h - v)(v - 1) for b = 1 and
    (v - l)(-1 - v) for b = -1; of triangles s b_i b_j + t b_i b_k + s t b_j b_k + 1, and margins
    (|v_i| - 1)(1 + s b_i b_j) = v_i b_i + s v_i b_j - 1 - s b_i b_j.  An index 0 is the constant 1 there, j
    is point j - 1; a known label takes the place of its sign.  Where targets have a sum, which is p above and q below
    the sums that their signs may have: p Σ (|v| - 1)(1 - b) / 2 + q Σ (|v| - 1)(1 + b) / 2 - p q.
    """

    def __init__(
        self, given: Labels, space: Quadratic, each: Any, triangles: Any, margins: Any, w: Any, u: Any, lift: float
    ) -> None:
        n, self.each, labels = len(space.b.mid), each, each["labels"]
        signed = [each[name] for name in ("square", "arc", "count")] + [w, u]
        demand(all((x >= 0).all() for x in signed) and lift >= 0, "multipliers must be >= 0")
        demand(all(np.isfinite(x).all() for x in [*each.values(), w, u]), "multipliers must be finite")
        demand(np.isin(labels, (-1, 0, 1)).all(), "labels of multipliers must be +1, -1 or 0")
        demand((each["arc_low"] <= -1).all() and (each["arc_high"] >= 1).all(), "an arc's ends are on one side")
        demand(len(triangles) == len(w) and len(margins) == len(u), "there must be one multiplier for each cut")
        demand(((triangles[:, :3] >= 0) & (triangles[:, :3] <= n)).all(), f"indices of a triangle must be 0 to {n}")
        demand(((margins[:, :2] >= 0) & (margins[:, :2] <= [n - 1, n])).all(), "a margin's indices are not there")
        demand(np.isin(triangles[:, 3:], (-1, 1)).all() and np.isin(margins[:, 2], (-1, 1)).all(), "bad signs")
        self.open = np.flatnonzero(labels == 0)
        W, constant = self.subtracted(given, triangles, margins, w, u)
        N = len(W.mid)
        sign = 1 + n + np.arange(len(self.open))
        self.constant = space.c + constant
        unit = Ball(each["unit"][self.open]) + lift
        self.constant = self.constant - unit.sum()
        self.square = Ball(each["square"]) + 3e-3 * lift  # outputs get less of a proof's lift than signs
        self.linear = placed(N - 1, (slice(n), space.b)) - W[0, 1:]
        form = (N - 1, N - 1)
        edge = placed(form, (np.diag_indices(n), self.square), ((sign - 1, sign - 1), unit))
        self.A = placed(form, ((slice(n), slice(n)), space.H)) - W[1:, 1:] + edge
        largest = float(np.abs(np.diag(self.A.mid)).max())
        # L Lᵀ is in balls of double precision, which are as wide as this for matrices of N rows.
        safe = 2 * norm(self.A.rad) + 2 * N * (N + 8) * EPS * largest + TINY
        L = np.linalg.cholesky(self.A.mid - safe * np.eye(N - 1))
        least = circles(Ball(self.A.mid) - Ball(L) @ L.T).min()
        demand(least >= norm(self.A.rad), "a form with signs is not positive semidefinite")
        self.invert()

    def subtracted(self, given: Labels, triangles: Any, margins: Any, w: Any, u: Any) -> tuple[Ball, Ball]:
        """What triangles, margins and arcs take from [1; v; b] [1; v; b]ᵀ, and what they add to the constant."""
        labels, n = self.each["labels"], len(self.each["labels"])
        row, factor = np.zeros(1 + n, dtype=np.int64), np.append(1.0, np.where(labels == 0, 1.0, labels))
        row[1 + self.open] = 1 + n + np.arange(len(self.open))
        N, own, sign, zero = 1 + n + len(self.open), 1 + self.open, row[1 + self.open], np.zeros_like(self.open)
        i, j, k, s, t = triangles.T
        pairs = ((i, j, s), (i, k, t), (j, k, s * t))
        parts = [(row[a], row[b], Ball(sign_ab * factor[a] * factor[b] * w)) for a, b, sign_ab in pairs]
        i, j, s = margins.T
        parts += [(1 + i, row[1 + i], Ball(factor[1 + i] * u)), (1 + i, row[j], Ball(s * factor[j] * u))]
        parts.append((row[1 + i], row[j], Ball(-s * factor[1 + i] * factor[j] * u)))
        z, low, high = (Ball(self.each[name][self.open]) for name in ("arc", "arc_low", "arc_high"))
        middle = z * (high + low) * 0.5
        parts += [(zero, own, middle), (zero, sign, -middle), (own, sign, z * (high - low + 2) * 0.5), (own, own, -z)]
        p, q, count = *given.parts(), self.each["count"] * np.ones(len(given.members))
        if p.low > 0 and q.low > 0:
            i, turn = given.members, Ball(count) * (q - p) * 0.5
            parts += [
                (0 * i, 1 + i, turn),
                (0 * i, row[1 + i], -turn * factor[1 + i]),
                (1 + i, row[1 + i], Ball(factor[1 + i] * count)),
            ]
        else:
            demand((count == 0).all(), "a multiplier is of what does not follow")
        # What is subtracted from a product goes half to an entry of [1; v; b] [1; v; b]ᵀ and half to its mirror image.
        place = np.concatenate([p * N + q for a, b, _ in parts for p, q in ((a, b), (b, a))])
        mid, rad = (
            np.concatenate([getattr(x, part) / 2 for *_, x in parts for _ in (0, 1)]) for part in ("mid", "rad")
        )
        often = float(np.bincount(place, minlength=1).max(initial=1))
        W = Ball(mid, rad).per(place, N * N, often)
        W = Ball(W.mid.reshape(N, N), W.rad.reshape(N, N))
        total = Ball(count).sum() + p * q * self.each["count"]
        return W, Ball(u).sum() - Ball(w).sum() + (z * (high - low) * 0.5).sum() + total - W[0, 0]

    def invert(self) -> None:
        """The diagonal of (A + lift)⁻¹ is what a unit of bound lets a variable move, squared: from R ≈ (A + lift)⁻¹."""
        n = len(self.A.mid)
        self.lift = 2.0**-30 * float(np.abs(np.diag(self.A.mid)).max())  # any number > 0 is right
        lifted = self.A + self.lift * np.eye(n)
        R = np.linalg.inv(lifted.mid)
        error = float(np.linalg.norm((np.eye(n) - Ball(R) @ lifted).size)) * MORE
        spread = np.maximum(np.diag(R), 0) + error / (1 - error) * np.linalg.norm(R, axis=1)
        self.spread = spread * MORE if error < 1 else np.full(n, np.inf)

    def tangent(self, low: Any, high: Any, b: Ball, c: Any, x: Any, cutoff: float) -> Any:
        """The bound by the tangent at x, which is below the quadratic, and ends of what is below a cutoff."""
        image = self.A @ x
        slope = 2 * (image + b)
        below, beyond = slope * (Ball(low) - x), slope * (Ball(high) - x)
        least = Ball(np.minimum(below.low, beyond.low)).sum()
        value = c + (Ball(x) * image).sum() + (2 * b * x).sum() + least
        bound, far = float(value.low), np.maximum(np.abs(low - x), np.abs(high - x))
        radius = (max(cutoff - bound, 0.0) + self.lift * float(far @ far)) * MORE + TINY
        reach = np.sqrt(radius * self.spread) * MORE
        return bound, (Ball(x) - reach).low, (Ball(x) + reach).high

    def prove(self, given: Labels, box: Any, x: Any, cutoff: float) -> Any:
        """What the tangent at x, outputs and signs, proves in a box; nothing in one for which it was not made."""
        (low, high), n, each = box, given.n, self.each
        demand(np.isfinite(low).all() and np.isfinite(high).all(), "signs are used in a box with infinite ends")
        y, known, arcs = labels_of(low, high), each["labels"] != 0, each["arc"] > 0
        inside = (each["arc_low"] <= low)[arcs].all() and (each["arc_high"] >= high)[arcs].all()
        if not (inside and (y[known] == each["labels"][known]).all()):
            return -math.inf, box
        demand(x.shape == (n + len(self.open),) and np.isfinite(x).all(), "a proof has not one number per variable")
        labels, outputs = y[self.open], self.square * (Ball(low) + high) * -0.5
        b = self.linear + outputs.per(np.arange(n), n + len(self.open), 1)
        c = self.constant + (self.square * low * high).sum()
        least = np.append(low, np.where(labels > 0, 1.0, -1.0))
        most = np.append(high, np.where(labels < 0, -1.0, 1.0))
        bound, nearest, farthest = self.tangent(least, most, b, c, x, cutoff)
        low, high = nearest[:n], farthest[:n]
        low[self.open[nearest[n:] > -1]] = np.maximum(low[self.open[nearest[n:] > -1]], 1.0)
        high[self.open[farthest[n:] < 1]] = np.minimum(high[self.open[farthest[n:] < 1]], -1.0)
        return bound, given.meet(box, low, high)


def by_signs(given: Labels, box: Any, proof: Any, cutoff: float) -> Any:
    """What the tangent of a convex quadratic in outputs and signs proves."""
    demand(given.squared, "a proof is by signs, which holds for the squared hinge only")
    number, share, lift = proof.number, proof.share, proof.lift
    demand(proof.multipliers is not None and 0 <= share <= 1, f"there is no share {share} of multipliers {number}")

    def make() -> Signs:
        each = {name: values.astype(np.float64) for name, values in proof.multipliers.items()}
        triangles, margins = (
            each.pop(name).astype(np.int64).reshape(-1, k) for name, k in (("triangles", 5), ("margins", 3))
        )
        w, u = np.split(share * each.pop("weights"), [len(triangles)])
        each |= {name: share * each[name] for name in EACH}
        count = each.pop("count")
        right = count.shape == (1,) and all(part.shape == (given.n,) for part in each.values())
        demand(right, "multipliers are not one number for each point")
        each["count"] = count[0]
        given.quadratic = given.quadratic or Quadratic(given)
        return Signs(given, given.quadratic, each, triangles, margins, w, u, lift)

    return kept(given.made, ("signs", number, share, lift), make, 8).prove(given, box, proof.vector, cutoff)
