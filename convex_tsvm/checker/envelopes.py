"""Searches over intervals of outputs: what is stated, its boxes, and the proofs by envelopes.

Losses are given by pieces a t² + b t + c, so that all that is to be known of them is the least value of a quadratic on
an interval.
"""

import math
from typing import Any

import numpy as np

from .balls import EPS, MORE, TINY, Ball, circles, column, counted, demand, floor, halved, kept, placed, reflected
from .kernels import centred, kernel_matrix

FAR = 1e30  # beyond which a quadratic only rises, or only falls
OUTSIDE = 1e-6  # how far the solution's outputs may be beyond ends of constraints and of losses, relatively


def least(low: Any, high: Any, a: Ball, b: Ball, c: Ball) -> Any:
    """Numbers that a t² + b t + c is not below on [low, high], which is finite, or empty."""
    empty = low > high
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    ends = np.minimum(((a * low + b) * low + c).low, ((a * high + b) * high + c).low)
    straight = ((2 * a * low + b).low >= 0) | ((2 * a * high + b).high <= 0) | (a.high <= 0)
    # Of a convex one the vertex; of one that is nearly straight, what it is below its chord at most.
    vertex = c.low - b.size**2 / (4 * np.maximum(a.low, TINY)) * (1 + 8 * EPS)
    arch = ends - np.maximum(a.high, 0.0) * (high - low) ** 2 / 4 * MORE
    inside = np.maximum(np.where(a.low > 0, vertex - EPS * np.abs(vertex), -np.inf), arch - EPS * np.abs(arch))
    return np.where(empty, np.inf, np.where(straight, ends, np.minimum(ends, inside)))


class Outputs:
    """min ½ ‖w‖² + Σ φ_j(g_j) over w and perhaps a bias, for outputs g that are linear in them, each in an interval.

    Outputs are those of points that pay, less an offset; sums of outputs that are constrained; last, a free bias.
    """

    nothing = -math.inf  # a bound that holds without any proof

    def __init__(self, stated: Any, kernel: Any, arrays: Any) -> None:
        from flint import arb, arb_mat

        self.made: dict[Any, Any] = {}
        self.y, self.cost, self.rows = (np.array(arrays[name], dtype=np.float64) for name in ("y", "cost", "rows"))
        n, self.way, self.value = len(self.y), stated["bias"], float(stated["value"])
        demand(n and self.y.shape == self.cost.shape == (n,) and np.isin(self.y, (-1, 0, 1)).all(), "bad labels")
        demand(np.isfinite(self.cost).all() and (self.cost >= 0).all(), "a cost is not a finite number >= 0")
        demand(self.rows.shape[1:] == (n,) and np.isfinite(self.rows).all(), "constraints are not rows of n numbers")
        self.positive = stated["positive"]  # how many unlabelled points have the label +1, or None
        demand(self.way in ("none", "free", "centred") and math.isfinite(self.value), f"a bias is {self.way!r}")
        self.share, self.free = np.zeros(n), int(self.way == "free")
        np.add.at(self.share, np.array(arrays["balance_points"], dtype=np.int64), 1.0)
        K = self.plain = kernel_matrix(kernel, stated, arrays, n)
        labeled, unlabeled = (np.array(arrays[f"loss_{name}"], dtype=np.float64) for name in ("labeled", "unlabeled"))
        own, losses = self.read_own(arrays)
        for loss in (labeled, unlabeled, *losses):
            demand(loss.ndim == 2 and loss.shape[1] == 5, "a loss is no table of pieces")
            demand((loss[1:, 0] == loss[:-1, 1]).all() and (loss[:, 0] <= loss[:, 1]).all(), "a loss has a gap")
        self.losses = [labeled, reflected(labeled), unlabeled, *losses]
        self.kind = np.where(own >= 0, 3 + own, np.where(self.y > 0, 0, np.where(self.y < 0, 1, 2)))
        pays = (own >= 0) | (self.y != 0) | (len(unlabeled) > 0)
        points = self.points = np.flatnonzero((self.cost > 0) & pays)
        R = np.vstack([np.eye(n)[points], self.rows])
        total = arb_mat(R.tolist()) * column(np.ones(n))
        offset = Ball.exact(total * arb(self.value)) if self.way == "centred" else Ball(np.zeros(len(R)))
        K = centred(K, self.share) if self.way == "centred" else K
        self.read_root(arrays, R, K, Ball.exact(total))
        self.counted = np.flatnonzero(self.y[points] == 0)
        counts = self.positive is None or (type(self.positive) is int and len(self.counted) == (self.y == 0).sum())
        demand(counts, "labels are counted, but not of points that pay something")
        self.untied = np.array([*(t == 0 for t in total.entries()), *[False] * self.free])
        tables = [self.losses[k] for k in self.kind[points]]
        self.read_pieces(arrays, tables, self.cost[points], offset)

    def read_own(self, arrays: Any) -> tuple[Any, list[Any]]:
        """Read which points pay a loss of their own output that is neither of the two, which one, and at what cost."""
        n = len(self.y)
        if "own_loss" not in arrays:
            return np.full(n, -1), []
        own, cost = np.array(arrays["own_loss"], dtype=np.int64), np.array(arrays["own_cost"], dtype=np.float64)
        ends = np.array(arrays["loss_own_end"], dtype=np.int64)
        losses = np.split(np.array(arrays["loss_own"], dtype=np.float64), ends[:-1])
        right = own.shape == cost.shape == (n,) and np.isfinite(cost).all() and (cost >= 0).all()
        demand(right and (own >= -1).all() and (own < len(losses)).all(), "bad losses of points' own")
        demand(self.positive is None, "labels are counted where points have losses of their own")
        self.cost = np.where(own >= 0, cost, self.cost)
        return own, losses

    def read_root(self, arrays: Any, R: Any, K: Any, tied: Ball) -> None:
        """Read L, g = L z with ½ ‖z‖² the regularizer, from a root of a larger kernel; a free bias is last."""
        from flint import arb_mat

        root, m = np.array(arrays["root"], dtype=np.float64), len(R) + self.free
        right = root.ndim == 2 and len(root) == K.nrows() and np.isfinite(root).all()
        demand(right, f"the root is no matrix with {K.nrows()} rows")
        factor, k, own = arb_mat(root.tolist()), root.shape[1], slice(len(R))
        larger = circles(Ball.exact(factor * factor.transpose() - K)) >= 0
        demand(larger.all(), "the root is not one of a larger kernel")
        bias = [((own, -1), tied), ((-1, -1), Ball(1.0))] if self.free else []
        self.L = placed((m, k + self.free), ((own, slice(k)), Ball(R) @ root), *bias)
        self.LT, self.tied = Ball(self.L.mid.T, self.L.rad.T), self.L[:, -1]
        self.reach = np.linalg.norm(self.L.size[:, :k], axis=1) * MORE
        self.n = m

    def read_pieces(self, arrays: Any, tables: Any, cost: Any, offset: Ball) -> None:
        """Read what outputs pay as a quadratic for each piece, costs and offsets included."""
        m = self.n
        ends = [arrays["row_low"], arrays["row_high"]]
        tables += [np.array([[low, high, 0.0, 0.0, 0.0]]) for low, high in zip(*ends, strict=True)]
        tables += [np.array([[-np.inf, np.inf, 0.0, 0.0, 0.0]])] * self.free
        pieces, none = max(len(table) for table in tables), [np.inf, -np.inf, 0.0, 0.0, 0.0]
        table = np.array([[*part.tolist(), *[none] * (pieces - len(part))] for part in tables])
        right = not np.isnan(table).any() and np.isfinite(table[:, :, 2:]).all()
        demand(right, "a loss has pieces that are no numbers")
        cost = np.append(cost, np.ones(m - len(cost)))[:, None]
        o = placed((m, 1), ((slice(m - self.free), 0), offset))
        a, b, c = (Ball(table[:, :, k]) for k in (2, 3, 4))
        self.a, self.b, self.c = a * cost, (b + 2 * a * o) * cost, (c + (b + a * o) * o) * cost
        low, high = Ball(table[:, :, 0]) - o, Ball(table[:, :, 1]) - o
        some = table[:, :, 0] <= table[:, :, 1]
        quadratic, slope = table[:, :, 2], table[:, :, 3]
        demand(((quadratic == 0) | (np.abs(slope) < FAR * np.abs(quadratic))).all(), "a loss has a vertex that is far")
        self.bent = np.sign(quadratic) * (cost > 0)
        self.flat = (quadratic == 0) & (slope == 0)
        self.rises = {s: (quadratic > 0) | ((quadratic == 0) & (s * slope >= 0)) for s in (-1.0, 1.0)}
        self.low = np.where(some, np.where(np.isinf(table[:, :, 0]), -np.inf, low.low), np.inf)
        self.high = np.where(some, np.where(np.isinf(table[:, :, 1]), np.inf, high.high), -np.inf)

    def least(self, low: Any, high: Any) -> Any:
        """What each output pays at least between two ends, which may be infinite."""
        low, high = np.maximum(self.low, low[:, None]), np.minimum(self.high, high[:, None])
        found = least(np.maximum(low, -FAR), np.minimum(high, FAR), self.a, self.b, self.c)
        # Beyond, a piece is where it is already, or it falls without end.
        for end, sign in ((low < -FAR, -1.0), (high > FAR, 1.0)):
            found = np.where(end & (low <= high) & ~self.rises[sign], -np.inf, found)
        return found.min(axis=1)

    def check_root(self, low: Any, high: Any, cutoff: float) -> None:
        """Refuse ends that leave out a solution below the cutoff: ½ ‖w‖² and every loss are at most what is left."""
        far = np.full(self.n, np.inf)
        lowest = self.least(-far, far)
        if not np.isfinite(lowest).all():
            far = self.farthest(cutoff)
            lowest = self.least(-far, far)
        room = max(float((Ball(cutoff) - Ball(lowest).sum()).high), 0.0)
        reach, level = np.sqrt(2 * room) * self.reach * MORE + TINY, np.nextafter(lowest + room, np.inf)
        first, last = -reach, reach
        if self.free:
            tied = self.tied
            for bias, sign in ((high[-1], 1.0), (low[-1], -1.0)):
                # With a bias beyond its end some output pays too much, wherever w puts it.
                ends = tied * bias
                right, left = (sign * tied).low > 0, (sign * tied).high < 0
                up = self.least(np.where(right, (ends - reach).low, np.inf), np.where(right, far, -np.inf))
                down = self.least(np.where(left, -far, np.inf), np.where(left, (ends + reach).high, -np.inf))
                excluded = (np.minimum(up, down) >= level)[:-1].any() or sign * bias >= far[-1]
                demand(excluded or self.still(sign, ends, reach, low, high), "a bias is not bounded by what points pay")
            both = tied * low[-1], tied * high[-1]
            first = (Ball(np.minimum(both[0].low, both[1].low)) - reach).low
            last = (Ball(np.maximum(both[0].high, both[1].high)) + reach).high
            first[-1], last[-1] = low[-1], high[-1]
        first, last = np.maximum(first, -far), np.minimum(last, far)
        left, right = self.least(first, np.minimum(low, last)), self.least(np.maximum(high, first), last)
        demand(((left >= level) | (low <= first)).all(), "the root leaves out outputs that are too low")
        demand(((right >= level) | (high >= last)).all(), "the root leaves out outputs that are too high")

    def farthest(self, cutoff: float) -> Any:
        """Sizes that no output of a solution below the cutoff exceeds, where losses are unbounded below.

        Each loss is at least  l + p max(t, 0) + q max(-t, 0) - k t²,  with p, q and k of its last pieces, or any where
        these only rise.  With outputs g = L z, z = (w, b), and what is left of ½ ‖w‖² - Σ k g² the objective is at
        least  held ‖w‖² - fall ‖w‖ + bias |b| + Σ l.
        """
        m, tied = self.n, np.zeros(self.n) if not self.free else self.tied.mid
        k, slopes, rising, least_of = np.zeros(m), np.zeros((2, m)), np.ones((2, m), dtype=bool), np.zeros(m)
        sides = ((1.0, np.isposinf(self.high)), (-1.0, np.isneginf(self.low)))
        for side, (sign, far) in enumerate(sides):
            last = far & (self.low <= self.high) & (self.bent <= 0)
            k = np.maximum(k, np.where(last & (self.bent < 0), -self.a.low, 0.0).max(axis=1) * (1 + 1e-9))
            slopes[side] = np.where(last, (sign * self.b).low, 0.0).sum(axis=1)
            rising[side] = ~last.any(axis=1)
        ones = np.ones(self.L.mid.shape[1])
        ones[-1] -= self.free
        held = 0.5 * floor(Ball(np.diag(ones)) - (self.LT * (2 * k)) @ self.L, 0.999) if k.any() else 0.5
        demand(held > 0, "losses fall faster than ½ ‖w‖² rises")
        bias, slopes = math.inf, slopes if self.free else np.minimum(slopes, 0.0)
        for sign in (1.0, -1.0)[: 2 * self.free]:
            at = (np.where(sign * tied > 0, 0, 1), np.arange(m))
            size, steep = np.abs(tied), rising[at] & (tied != 0)
            falling = float(size @ np.maximum(-slopes[at], 0.0))
            slopes[at] = np.where(steep, 2 * falling / max(float(size[steep].sum()), TINY), slopes[at])
            # Twice the room, for sums and for the radii of coefficients of the bias.
            bias = min(bias, float(size @ slopes[at]) - 2e-9 * float(size @ np.abs(slopes[at])))
        demand(bias > 0, "losses do not hold the bias")
        slopes = slopes - 1e-9 * np.abs(slopes)
        for sign, slope in zip((1.0, -1.0), slopes, strict=True):
            zero, end = np.zeros(m)[:, None], np.full(m, FAR)[:, None]
            low, high = (zero, end) if sign > 0 else (-end, zero)
            low, high = np.maximum(self.low, low), np.minimum(self.high, high)
            form = self.a + k[:, None], self.b - (sign * slope)[:, None], self.c
            least_of = np.minimum(least_of, least(low, high, *form).min(axis=1))
        steepest = np.abs(slopes).max(axis=0) if self.free else -slopes.min(axis=0)
        fall = float(steepest @ self.reach) * MORE
        most = (float((Ball(cutoff) - Ball(least_of).sum()).high) + fall**2 / (4 * held)) * MORE
        demand(most >= 0, "the root's cutoff is below every solution")
        norm = (fall / (2 * held) + math.sqrt(most / held)) * MORE
        return norm * self.reach * MORE + (most / bias * self.tied.size * MORE if self.free else 0.0) + TINY

    def still(self, sign: float, ends: Ball, reach: Any, low: Any, high: Any) -> bool:
        """Whether nothing changes beyond an end of the bias: all points pay constants there, as they do at w = 0.

        That solution must be in the box, so that none that is left out is better than the best one in it.
        """
        up = (sign * self.tied.mid > 0)[:, None]
        beyond = np.where(up, self.high > (ends - reach).low[:, None], self.low < (ends + reach).high[:, None])
        beyond &= self.low <= self.high
        inside = (low <= ends.low) & (ends.high <= high)
        inside[-1] = True
        constant = (beyond.sum(axis=1) == 1) & ~(beyond & ~self.flat).any(axis=1)
        return bool((inside & (constant | self.untied)).all())

    def root(self, arrays: Any, bound: float) -> Any:
        """The box in the file, if it leaves out no solution below a cutoff that is no less than the bound."""
        low, high = (np.array(arrays[f"root_{name}"], dtype=np.float64) for name in ("low", "high"))
        right = all(end.shape == (self.n,) and np.isfinite(end).all() for end in (low, high))
        demand(right, "the root's box is infinite")
        cutoff = float(arrays["root_cutoff"][0])
        demand(cutoff >= bound, "the root leaves out solutions below the bound")
        self.check_root(low, high, cutoff)
        return self.count(*self.without_zeros(low, high, np.ones(self.n), np.ones(self.n)))

    def without_zeros(self, low: Any, high: Any, over_low: Any, over_high: Any) -> Any:
        """Ends that are 0 only where those of the box over them are, as an end that is exactly 0 is a label."""
        if self.positive is None:
            return low, high
        little = np.nextafter(0.0, 1.0)
        return np.where((low == 0) & (over_low != 0), -little, low), np.where(
            (high == 0) & (over_high != 0), little, high
        )

    def count(self, low: Any, high: Any) -> Any:
        """The box with the labels that follow from how many are +1; one without a solution is empty."""
        if self.positive is None or (low > high).any():
            return low, high
        places: Any = self.counted
        labels = np.where(low[places] >= 0, 1, np.where(high[places] <= 0, -1, 0))
        return counted(low, high, places, labels, self.positive, self.positive, 0.0)

    def half(self, box: Any, i: int, place: float, sign: int) -> Any:
        """The half of a box with output i below or above a place."""
        return self.count(*halved(box, i, place, sign, "output"))

    def told(self, i: int, place: float, sign: int) -> str:
        row = i - len(self.points)
        name = f"the output of point {self.points[i]}" if row < 0 else f"the sum of constraint {row}"
        name = "the bias" if row == len(self.rows) else name
        return f"{name} is {'at most' if sign < 0 else 'at least'} {place:.6g}"

    def known(self, box: Any) -> str:
        return f"outputs within {float((box[1] - box[0]).mean()):.3g} on average"

    def upper_bound(self, arrays: Any) -> float:
        """The objective of the solution in the file, or more; constraints hold to a millionth."""
        from flint import arb, arb_mat

        n, coefficients = len(self.y), arrays["coefficients"].astype(np.float64)
        demand(coefficients.shape == (n,) and np.isfinite(coefficients).all(), "the solution is no finite numbers")
        w, ones = column(coefficients), column(np.ones(n))
        f = self.plain * w
        bias = arb(float(arrays["intercept"][0])) if self.free else arb(0)
        if self.way == "centred":
            bias = arb(self.value) - (column(self.share).transpose() * f)[0, 0] / int(self.share.sum())
        total = (w.transpose() * f)[0, 0] / 2
        f, rows = Ball.exact(f + ones * bias), Ball(np.zeros(0))
        if self.positive is not None:
            own, near = f[self.y == 0], OUTSIDE * (1 + float(f.size.max()))
            right = (own.high > near).sum() <= self.positive <= (own.low >= -near).sum()
            demand(right, "the solution has not as many positive labels as are asked for")
        if len(self.rows):
            rows = Ball(self.rows) @ f
            low, high = arrays["row_low"], arrays["row_high"]
            room = OUTSIDE * (1 + sum(np.where(np.isfinite(end), np.abs(end), 0) for end in (low, high)))
            right = (rows.low >= low - room).all() and (rows.high <= high + room).all()
            demand(right, "the solution breaks constraints")
        paid = []
        for i in np.flatnonzero(self.cost > 0).tolist():
            table = self.losses[self.kind[i]]
            if not len(table):
                continue
            room = np.zeros((len(table), 2))
            room[0, 0] = room[-1, 1] = OUTSIDE * (1 + abs(f.mid[i]))
            on = (table[:, 0] - room[:, 0] <= f.high[i]) & (table[:, 1] + room[:, 1] >= f.low[i])
            demand(on.any(), f"output {i} of the solution is where its loss is infinite")
            t = Ball(np.full(len(table), f.mid[i]), np.full(len(table), f.rad[i]))
            values = (Ball(table[:, 2]) * t + table[:, 3]) * t + table[:, 4]
            paid.append(self.cost[i] * float(np.where(on, values.high, -np.inf).max()))
        objective = Ball.exact(arb_mat([[total]]))[0] + Ball(np.array(paid) * (1 + EPS * np.sign(paid))).sum()
        return float(objective.high)


class Lent:
    """What curvatures d, lent to the losses, leave of the regularizer: B = I - Lᵀ D L, and M = L B⁻¹ Lᵀ.

    For every γ and every output i, with ĝ = M γ and q_j(t) = φ_j(t) + ½ d_j t² + γ_j t, the objective is at least
    -½ γᵀ M γ + ½ (g_i - ĝ_i)² / M_ii + Σ q_j(g_j).
    """

    def __init__(self, given: Outputs, d: Any) -> None:
        self.given, self.d, L, LT = given, d, given.L, given.LT
        ones = np.ones(L.mid.shape[1])
        ones[-1] -= given.free
        self.B = Ball(np.diag(ones)) - (LT * d) @ L
        self.least = floor(self.B, 0.5)
        demand(self.least > 0, "curvatures leave a form that is not positive definite")
        Z = np.linalg.solve(self.B.mid, LT.mid)
        left = LT - self.B @ Z
        M = (Ball(np.ones(len(ones))) @ (Ball(Z) * (LT + left))).high + (left.size**2).sum(axis=0) / self.least * MORE
        self.rate = 1 / np.maximum(M * MORE, TINY)
        self.root = np.sqrt(np.maximum(M, 0.0)) * MORE

    def prove(self, box: Any, gamma: Any, cutoff: float, claimed: Any) -> Any:
        """The bound in a box, and the claimed box, if what it leaves out is not below the cutoff."""
        given, (low, high) = self.given, box
        p = given.LT @ gamma
        z = np.linalg.solve(self.B.mid, p.mid)
        left = p - self.B @ z
        far = float(np.linalg.norm(left.size)) * MORE
        square = float((Ball(z) * (p + left)).sum().high) + far**2 / self.least * MORE
        middle = given.L @ z
        middle = Ball(middle.mid, middle.rad + self.root * far / math.sqrt(self.least) * MORE)
        first, last = np.maximum(given.low, low[:, None]), np.minimum(given.high, high[:, None])
        a, b, c = given.a + (0.5 * self.d)[:, None], given.b + gamma[:, None], given.c
        each = least(first, last, a, b, c).min(axis=1)
        bound = float((Ball(each).sum() - 0.5 * square).low) if np.isfinite(each).all() else -math.inf
        level = np.nextafter(each + max(float((Ball(cutoff) - bound).high), 0.0), np.inf)
        rate = (0.5 * self.rate)[:, None]
        middle = Ball(middle.mid[:, None], middle.rad[:, None])
        a, b, c = a + rate, b - 2 * rate * middle, c + rate * (middle * middle)
        for new, side in ((claimed[0], 0), (claimed[1], 1)):
            part = (first, np.minimum(last, new[:, None])) if side == 0 else (np.maximum(first, new[:, None]), last)
            smaller = new > low if side == 0 else new < high
            beyond = least(*part, a, b, c).min(axis=1)
            demand((beyond >= level)[smaller].all(), "a proof leaves out outputs of solutions below its cutoff")
        return bound, (np.maximum(low, claimed[0]), np.minimum(high, claimed[1]))


def by_envelopes(given: Outputs, box: Any, proof: Any, cutoff: float) -> Any:
    """What the convex envelopes of losses prove, to which curvatures are lent: a bound, and a box that is claimed."""
    m = given.n
    demand(proof.multipliers is not None, f"there are no curvatures {proof.number}")
    demand(len(proof.vector) in (m, 3 * m), f"a proof by envelopes has {m} or {3 * m} numbers")
    gamma = proof.vector[:m]
    claimed = np.split(proof.vector[m:], 2) if len(proof.vector) == 3 * m else box
    claimed = given.without_zeros(*claimed, *box)
    demand(np.isfinite(gamma).all() and not np.isnan(claimed).any(), "a proof has numbers that are none")

    def make() -> Lent:
        d = proof.multipliers["curvature"].astype(np.float64)
        demand(d.shape == (m,) and np.isfinite(d).all(), f"curvatures {proof.number} are no numbers")
        return Lent(given, d)

    return kept(given.made, proof.number, make, 64).prove(box, gamma, cutoff, claimed)
