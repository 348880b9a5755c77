"""Searches over boxes of weights and bias: what is stated, its boxes, and the proofs by planes.

Numbers are plain ones in double precision here, in compiled loops, as there may be a million points: an output that is
computed is within ``err`` of the exact one, and a sum of k terms is within (k + 1) EPS/2 of the sum of their sizes,
relatively, which is taken from every bound.
"""

import itertools
import math
from typing import Any

import numpy as np

from ._loops import below, touch
from .balls import EPS, MORE, TINY, demand, halved, reflected
from .kernels import points_of


class Region(tuple[Any, Any]):
    """Ends of weights and bias, with the points that are not ``decided`` in it, and what the others pay.

    Of the points that are not decided ``asked`` must be labelled +1, where a number of labels is stated.
    """

    points: Any = None
    decided: Any = None
    asked = 0

    def part(self, low: Any, high: Any) -> "Region":
        """A part of it, of which the same is known."""
        found = Region((low, high))
        found.points, found.decided, found.asked = self.points, self.decided, self.asked
        return found


class Weights:
    """min Σ_j ½ λ_j w_j² + μ_j |w_j| + Σ c_i ℓ_i(f_i) over w and perhaps a bias, f_i = (φ(x_i) - centre)·w + b + c.

    The φ are the features of a point, or the monomials of a polynomial kernel; boxes are along the columns of ``axes``.
    Where a number of points without a label must be labelled +1, their loss is that of the label +1, and with a price p
    of it each pays the lesser of ℓ(f) + p and ℓ(-f), and all together less p for each that must be.  The loss may not
    increase, so that no labelling costs less than that in which those with the largest outputs are labelled +1.
    """

    nothing = -math.inf  # a bound that holds without any proof

    def __init__(self, stated: Any, kernel: Any, arrays: Any) -> None:
        self.X = points_of(arrays)
        self.y, self.cost = (np.asarray(arrays[name], dtype=np.float64) for name in ("y", "cost"))
        n = len(self.X)
        demand(n and self.y.shape == self.cost.shape == (n,) and np.isin(self.y, (-1, 0, 1)).all(), "bad labels")
        demand(np.isfinite(self.cost).all() and (self.cost >= 0).all(), "a cost is not a finite number >= 0")
        self.way, self.value, self.free = stated["bias"], float(stated["value"]), int(stated["bias"] == "free")
        demand(self.way in ("none", "free", "centred") and math.isfinite(self.value), f"a bias is {self.way!r}")
        demand(self.way == "centred" or self.value == 0, "an offset without a balance")
        self.monomials = monomials(kernel, self.X.shape[1], constant=self.way == "none")
        d = self.d = self.X.shape[1] if self.monomials is None else len(self.monomials)
        self.n = d + self.free
        names = ("bend", "kink", "centre", "axes")
        self.bend, self.kink, self.centre, self.axes = (np.array(arrays[name], dtype=float) for name in names)
        right = self.bend.shape == self.kink.shape == (self.n,) and self.centre.shape == (d,)
        right = right and self.axes.shape == (d, d)
        demand(right and all(np.isfinite(arrays[name]).all() for name in names), "bad coefficients")
        paid = (self.bend >= 0) & (self.kink >= 0) & (self.bend + self.kink > 0)
        demand(paid[:d].all() and not (self.bend[d:].any() or self.kink[d:].any()), "a weight costs nothing")
        #: How far the axes are from being orthonormal: ‖w‖² is within this share of the sum of squares along them.
        self.skew = self.axes_error()
        degree = 0 if self.monomials is None else int(kernel["degree"])
        #: Operations of which an output is made, beyond those for each of its coordinates.
        self.steps = 16 + 2 * d + 4 * degree
        self.off = self.centre_error(np.asarray(arrays["balance_points"], dtype=np.int64)) @ np.abs(self.axes) * MORE
        self.n_positive = stated["n_positive"]
        self.read_losses(*(np.array(arrays[f"loss_{name}"], dtype=float) for name in ("labeled", "unlabeled")))

    def axes_error(self) -> float:
        """Bound of the norm of AᵀA - 1 for the axes A, whose columns must be about orthonormal; 0 for A = 1."""
        d = self.d
        if np.array_equal(self.axes, np.eye(d)):
            return 0.0
        same = (self.bend[:d] == self.bend[0]).all() and not self.kink.any()
        demand(same, "axes are other than the features', whose weights cost different amounts")
        off = self.axes.T @ self.axes - np.eye(d)
        demand(np.abs(off).max() <= 1e-10, "the axes are not orthonormal")
        return (float(np.sqrt((off**2).sum())) + 2 * d * (d + 2) * EPS) * MORE

    def features(self, points: Any) -> Any:
        X = self.X[points]
        if self.monomials is None:
            return X
        return np.column_stack([factor * np.prod(X**powers, axis=1) for factor, powers in self.monomials])

    def centre_error(self, members: Any) -> Any:
        """How far the centre is from the mean of the members, if the balance makes it that; without a bias it is 0."""
        if self.way != "centred":
            demand(self.free or not self.centre.any(), "there is a centre, but no bias")
            return np.zeros(len(self.centre))
        demand(len(members) and (members >= 0).all() and (members < len(self.X)).all(), "balanced points are no points")
        sums, sizes, largest = np.zeros((3, len(self.centre)))
        for part in self.parts(members):
            Z = self.features(part)
            sums += [math.fsum(column.tolist()) for column in Z.T]
            sizes, largest = sizes + np.abs(Z).sum(axis=0), np.maximum(largest, np.abs(Z).max(axis=0))
        few = 4 + self.steps + len(members) // 65536
        off = (np.abs(self.centre - sums / len(members)) + few * EPS * sizes / len(members)) * MORE + TINY
        demand((off <= 2 * (few + 64) * EPS * largest + TINY).all(), "the centre is not the mean of the balance")
        return off

    def read_losses(self, labeled: Any, unlabeled: Any) -> None:
        """Read losses of outputs: for +1, for -1, and without a label; each a row (from, to, a, b, c) for a piece."""
        for loss in (labeled, unlabeled):
            demand(loss.ndim == 2 and loss.shape[1] == 5, "a loss is no table of pieces")
            right = np.isfinite(loss[:, 2:]).all() and (loss[1:, 0] == loss[:-1, 1]).all()
            demand(right and (loss[:, 0] < loss[:, 1]).all(), "a loss has a gap, or no numbers")
            ends = [(*loss[0, 2:4], -1), (*loss[-1, 2:4], 1)] if len(loss) else []
            whole = not len(loss) or (loss[0, 0] == -np.inf and loss[-1, 1] == np.inf)
            demand(whole, "a loss is not finite everywhere")
            demand(all(a > 0 or (a == 0 and side * b >= 0) for a, b, side in ends), "a loss is unbounded below")
        #: Losses for +1, for -1, without a label, and the last one's reflection.
        self.tables = tables_of([labeled, reflected(labeled), unlabeled, reflected(unlabeled)])
        even = np.array_equal(reflected(unlabeled), unlabeled)
        if self.n_positive is not None:
            costs = self.cost[self.y == 0]
            demand(len(unlabeled) and len(costs) and costs[0] > 0 and np.ptp(costs) == 0, "costs of labels differ")
            demand(falls(unlabeled), "the loss of a label increases")
            right = isinstance(self.n_positive, int) and 0 <= self.n_positive <= len(costs)
            demand(right, f"{self.n_positive!r} is no number of labels")
            even = 2 * self.n_positive == len(costs)
            self.worth = float(costs[0])  # of a price of 1
        self.mirrored = even and self.value == 0 and not self.y.any()
        self.kind = np.where(self.y > 0, 0, np.where(self.y < 0, 1, 2)).astype(np.int8)
        pays = (self.cost > 0) & ((self.y != 0) | (len(unlabeled) > 0))
        self.points = np.flatnonzero(pays).astype(np.int32)
        a, b, c = np.abs(self.tables[:, :, 2:]).max(axis=1).T * MORE
        cost, kind, n = self.cost[pays], self.kind[pays], self.n + 1
        each = np.bincount(kind, cost, 4)
        # All points pay terms of at most constant + Σ_j linear_j |θ_j| + squares_j θ_j², as (Σ_j t_j)² <= n Σ_j t_j².
        self.constant = float(each @ (n * a * self.value**2 + b * abs(self.value) + c))
        self.linear, self.squares = np.full(self.n, each @ b), np.full(self.n, n * each @ a)
        self.linear[: self.d] = self.squares[: self.d] = 0.0
        #: The largest sum of sizes that a coordinate's feature is made of, and 1 for a bias.
        self.largest = np.ones(self.n)
        self.largest[: self.d] = 0.0
        for part in self.parts(self.points):
            size, kind = self.sizes(part), self.kind[part]
            self.largest[: self.d] = np.maximum(self.largest[: self.d], size.max(axis=0, initial=0.0))
            self.linear[: self.d] += (self.cost[part] * b[kind]) @ size
            self.squares[: self.d] += n * ((self.cost[part] * a[kind]) @ size**2)

    def sizes(self, points: Any) -> Any:
        """Sums of the sizes of what the coordinates' features of some points are made of."""
        return ((np.abs(self.features(points)) + np.abs(self.centre)) @ np.abs(self.axes)) * MORE

    def far(self, low: Any, high: Any) -> tuple[float, float]:
        """A size that no output in a box exceeds, and how far a computed one may be from the exact one."""
        size = np.maximum(np.abs(low), np.abs(high))
        far = (float(self.largest @ size) + abs(self.value)) * MORE + TINY
        return far, ((self.n + self.steps) * EPS * far + float(self.off @ size[: len(self.off)])) * MORE + TINY

    def room(self, low: Any, high: Any, more: int = 0) -> float:
        """What rounding may take from a bound in a box, a sum of as many terms as there are points, and some more.

        Each is at most six times what its point may pay with the largest coefficients.
        """
        size = np.maximum(np.abs(low), np.abs(high))
        total = 6 * (self.constant + float(self.linear @ size + self.squares @ size**2))
        total += float((self.bend * size + self.kink) @ size)
        return (len(self.points) + 4 * self.n + more + self.steps) * EPS * total * MORE

    def root(self, arrays: Any, bound: float) -> Region:
        """The box in the file, if it leaves out no weights below a cutoff that is no less than the bound."""
        low, high = (np.array(arrays[f"root_{name}"], dtype=float) for name in ("low", "high"))
        cutoff = float(arrays["root_cutoff"][0])
        right = all(end.shape == (self.n,) and np.isfinite(end).all() for end in (low, high))
        demand(right and cutoff >= bound, "the root's box is infinite, or leaves out solutions below the bound")
        far = 1e30  # Beyond, losses that are bounded below only rise.
        least = np.array(
            [below(table, -far, far, 0.0)[0] if np.isfinite(table).any() else 0.0 for table in self.tables]
        )
        paid = self.cost[self.points] * least[self.kind[self.points]]
        size = float(np.abs(paid).sum()) + abs(cutoff)
        room = max(cutoff - float(paid.sum()), 0.0) + (len(paid) + 8) * EPS * size
        bend = self.bend * (1 - self.skew)
        reach = (2 * room / (self.kink + np.sqrt(self.kink**2 + 2 * bend * room) + TINY) * MORE + TINY)[: self.d]
        if self.free:
            finite = [abs(x) for table in self.tables for x in table[:, :2].ravel() if math.isfinite(x)]
            finite += [abs(b / (2 * a)) for table in self.tables for _, _, a, b, _ in table if a > 0]
            reach = np.append(reach, (max(finite, default=0.0) + float(self.largest[:-1] @ reach)) * MORE + TINY)
        # Without labels other signs of all weights and the bias make no difference: one of them need not be negative.
        least_low = np.where(self.mirrored & (np.arange(self.n) == 0), 0.0, -reach)
        demand((low <= least_low).all() and (high >= reach).all(), "the root leaves out weights")
        return self.region((low, high))

    def half(self, box: Any, i: int, place: float, sign: int) -> Region:
        """The half of a box with coordinate i below or above a place."""
        return self.region(box).part(*halved(box, i, place, sign, "coordinate"))

    def region(self, box: Any) -> Region:
        """A box with what is known of points there: all that pay are undecided in one that says nothing."""
        found = box if isinstance(box, Region) else Region(box)
        if found.points is None:
            found.points, found.decided, found.asked = self.points, np.zeros(1 + self.n + self.n**2), self.n_positive
        return found

    def rows(self, points: Any) -> Any:
        """The rows of outputs as functions of weights and bias, for some points."""
        Z = np.ones((len(points), self.n))
        Z[:, : self.d] = (self.features(points) - self.centre) @ self.axes
        return Z

    def told(self, i: int, place: float, sign: int) -> str:
        name = "the bias" if i == self.d else f"the weight along axis {i}"
        return f"{name} is {'at most' if sign < 0 else 'at least'} {place:.6g}"

    def known(self, box: Any) -> str:
        return f"weights and bias within {float((box[1] - box[0]).mean()):.3g} on average"

    def upper_bound(self, arrays: Any) -> float:
        """The objective of the weights and the bias in the file, or more."""
        at = np.array(arrays["coefficients"], dtype=float)
        demand(at.shape == (self.n,) and np.isfinite(at).all(), "the solution is no finite numbers")
        total, kind = self.room(at, at), self.kind
        if self.n_positive is not None:
            # Whichever are labelled +1 show that there is such a labelling: those with the largest outputs.
            unlabeled = np.flatnonzero(self.y == 0)
            f = np.concatenate([self.rows(points) @ at for points in self.parts(unlabeled)])
            kind = kind.copy()
            kind[unlabeled[np.argsort(-f, kind="stable")[self.n_positive :]]] = 3
        for points in self.parts(self.points):
            values, size = np.full(len(points), -np.inf), np.abs(at)
            f = self.rows(points) @ at + self.value
            far = (self.sizes(points) @ size[: self.d] + (size[self.d :].sum() + abs(self.value))) * MORE + TINY
            err = ((self.n + self.steps) * EPS * far + float(self.off @ size[: self.d])) * MORE
            for k in range(self.tables.shape[1]):
                first, last, a, b, c = self.tables[kind[points], k].T
                here = (first - err <= f) & (f <= last + err)
                value = (a * f + b) * f + c + (2 * np.abs(a) * far + np.abs(b)) * err * MORE
                values = np.maximum(values, np.where(here, value, -np.inf))
            total += float(self.cost[points] @ values)
        return total + float(((0.5 * self.bend * at) * at * (1 + self.skew) + self.kink * np.abs(at)).sum())

    @staticmethod
    def parts(points: Any) -> list[Any]:
        """Points in parts of so many that what is computed of each takes little memory."""
        return np.array_split(points, max(1, -(-len(points) // 65536)))

    def kinds(self, box: Region, middle: Any, half: Any, err: float) -> Any:
        """Which of the losses each undecided point pays: for one price of a label +1 (4) unless its label is certain.

        It is +1 (2) for those that are among as many points with the largest outputs as must be, anywhere in the box,
        and -1 (3) for those that are nowhere.
        """
        kind = self.kind[box.points].astype(np.int8)
        if self.n_positive is None:
            return kind
        free = np.flatnonzero(kind == 2)
        last, low, high = len(free) - box.asked, np.empty(len(free)), np.empty(len(free))
        if not 0 < last < len(free):
            kind[free] = 2 if last == 0 else 3
            return kind
        for part in self.parts(np.arange(len(free))):
            Z = self.rows(box.points[free[part]])
            f, rad = Z @ middle + self.value, (np.abs(Z) @ half) * MORE + err
            low[part], high[part] = f - rad, f + rad
        kind[free] = 4
        kind[free[high < np.partition(low, last)[last]]] = 3
        kind[free[low > np.partition(high, last - 1)[last - 1]]] = 2
        return kind

    def planes(self, box: Region, at: Any, prices: Any) -> Any:
        """Planes that touch at points of a box, shape (k, n + 1), and the box with fewer points undecided."""
        low, high = box
        err = self.far(low, high)[1]
        found, decided = np.zeros((len(at), self.n + 1)), box.decided.copy()
        middle = 0.5 * (low + high)
        half = np.maximum(high - middle, middle - low) * (1 + 2 * EPS)
        kind, left = self.kinds(box, middle, half, err), np.zeros(len(box.points), dtype=bool)
        priced = kind == 4
        for part in self.parts(np.flatnonzero(~priced)):
            points = box.points[part]
            left[part] = touch(
                self.rows(points), self.cost[points], self.value, self.tables, kind[part], middle, half, at, err,
                decided, found,
            )  # fmt: skip
        smaller = box.part(low, high)
        if self.n_positive is not None:
            asked = box.asked - int((kind == 2).sum())
            smaller.asked = asked + int((kind[left] == 2).sum())
            found[:, 0] -= self.worth * asked * prices
            for part in self.parts(np.flatnonzero(priced)):
                points = box.points[part]
                for k, price in enumerate(prices):
                    both = np.concatenate([self.tables[3], self.tables[2] + [0, 0, 0, 0, price]])
                    touch(
                        self.rows(points), self.cost[points], self.value, tables_of([both] * 5), kind[part], middle,
                        half, at[k : k + 1], err, decided, found[k : k + 1],
                    )  # fmt: skip
            left |= priced
        form = decided[1 + self.n :].reshape(self.n, self.n)
        for plane, own in zip(found, at, strict=True):
            bent = form @ own
            plane[0] += decided[0] - 0.5 * float(bent @ own)
            plane[1:] += decided[1 : 1 + self.n] + bent
        smaller.points, smaller.decided = box.points[left], decided
        return found, smaller

    def least(self, low: Any, high: Any, slopes: Any) -> Any:
        """The least value of each coordinate's ½ λ t² + μ |t| + slope t on its interval."""
        bend = self.bend * (1 - self.skew)
        with np.errstate(divide="ignore", invalid="ignore"):
            free = -np.sign(slopes) * np.maximum(np.abs(slopes) - self.kink, 0.0) / bend
        t = np.minimum(np.maximum(np.where(np.abs(slopes) <= self.kink, 0.0, free), low), high)
        return (0.5 * bend * t + slopes) * t + self.kink * np.abs(t)


def falls(table: Any) -> bool:
    """Whether a finite loss never increases, but for rounding where its pieces meet."""
    first, last, a, b, c = table.T
    with np.errstate(invalid="ignore"):
        slopes = np.where(a != 0, 2 * a * np.array([first, last]), 0.0) + b
    t = first[1:]
    before, after = ((a[k] * t + b[k]) * t + c[k] for k in (slice(0, -1), slice(1, None)))
    size = (np.abs(a).max() * np.abs(t) + np.abs(b).max()) * np.abs(t) + np.abs(c).max()
    return bool((slopes <= 0).all() and (after - before <= 8 * EPS * size).all())


def tables_of(losses: list[Any]) -> Any:
    """Losses as one array, with pieces that are none where one has fewer than others."""
    found = np.zeros((len(losses), max(map(len, losses)), 5))
    found[:, :, :2] = np.inf, -np.inf
    for own, table in zip(found, losses, strict=True):
        own[: len(table)] = table
    return found


def monomials(kernel: Any, d: int, constant: bool) -> list[tuple[float, Any]] | None:
    """Factor and powers of each monomial of a polynomial kernel of d features, the constant one last or left out."""
    if kernel["name"] == "linear":
        return None
    demand(kernel["name"] == "poly", f"the kernel {kernel['name']!r} has no weights")
    degree, gamma, coef0 = int(kernel["degree"]), float(kernel["gamma"]), float(kernel["coef0"])
    demand(degree >= 1 and 0 < gamma < math.inf and 0 <= coef0 < math.inf, "a polynomial kernel has no such numbers")
    demand(math.comb(d + degree, degree) <= 10_000, "a polynomial kernel has more monomials than are checked")
    found = []
    for chosen in itertools.combinations_with_replacement(range(d + (coef0 > 0)), degree):
        powers = np.array([chosen.count(j) for j in range(d)])
        missing = degree - int(powers.sum())
        if missing < degree or constant:
            ways = math.factorial(degree) // math.prod(map(math.factorial, [*powers.tolist(), missing]))
            found.append((math.sqrt(ways * gamma ** (degree - missing) * coef0**missing), powers))
    return found


def by_planes(given: Weights, box: Any, proof: Any, cutoff: float) -> Any:
    """What a convex combination of planes proves: a bound, and a box that is claimed."""
    k, sides = proof.number, 2 if proof.share else 0
    n = given.n + (given.n_positive is not None)
    demand(k >= 1 and len(proof.vector) == k * n + k + sides * n, "a proof by planes has more or fewer numbers")
    demand(not np.isnan(proof.vector).any(), "a proof has numbers that are none")
    at, weights, claimed = np.split(proof.vector, [k * n, k * n + k])
    box = given.region(box)
    low, high = box
    demand((weights >= 0).all() and abs(math.fsum(weights.tolist()) - 1) <= (k + 2) * EPS, "weights do not add up to 1")
    at = at.reshape(k, n)
    prices = at[:, given.n :].ravel()
    planes, box = given.planes(box, np.clip(at[:, : given.n], low, high), prices)
    # Where a loss of labels has steps of the size of rounding, other labellings may cost so much less.
    steps = 8 * given.tables.shape[1] if len(prices) else 0
    found, room = weights @ planes, given.room(low, high, 3 * k + steps)
    if len(prices):
        paid = given.worth * len(given.points) * float(np.abs(prices).max())
        room += 12 * (len(given.points) + given.steps) * EPS * paid * MORE
    each = given.least(low, high, found[1:])
    bound = found[0] + float(each.sum()) - room
    if not sides:
        return bound, box
    first, last = (end[: given.n] for end in np.split(claimed, 2))
    first, last = np.maximum(first, low), np.minimum(last, high)
    for start, end, out in ((low, np.minimum(first, high), first > low), (np.maximum(last, low), high, last < high)):
        beyond = given.least(start, end, found[1:])
        demand((bound - each + beyond >= cutoff)[out].all(), "a proof leaves out weights of solutions below its cutoff")
    return bound, box.part(first, last)
