"""A formulation as a function of its weights and bias alone, and what is known of its points over a box of these."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...instance import Instance
from ...instance.instance import largest
from ...instance.space import Bias
from ...losses import PLQ, Pieces
from ...points import LinearPoints
from ...problem import Array
from ...solution import Expansion
from ..bound_model import BoundModel
from ..box import Box
from ..envelopes.model import spans
from ..rounding import EPS, outward
from ._loops import combine, least, narrow, plane
from .features import features, principal, why_no_planes


@dataclass(frozen=True, eq=False)
class Undecided:
    """The points whose losses may bend in a box, what the others pay, and how many are to be labelled +1, if counted.

    What they pay is as :func:`._loops.plane` has it.
    """

    points: NDArray[np.int32]
    decided: Array
    asked: int


@dataclass(frozen=True, eq=False)
class Touched:
    """A plane that what points pay is not below over a box, and what is known of the point where it touches."""

    at: Array  # where it touches the convex envelopes of the losses, shape (n,)
    plane: Array  # constant and slopes, shape (n + 1,)
    undecided: Undecided  # what is left for parts of the box
    spread: Array  # how much outputs of undecided points vary with each coordinate, times their costs, shape (n,)
    objective: float  # the formulation's, not rounded up
    relaxed: float  # that with envelopes in place of losses
    shift: float  # how far the plane may be from that of a check, whose intervals of outputs have slightly other ends
    price: Array  # what a label +1 costs, where a number of labels is prescribed, shape (1,) or (0,)


@dataclass(frozen=True, eq=False)
class Combination:
    """Planes with weights: their sum, what no objective in the box is below, and what of that is room for rounding.

    ``each`` coordinate's part of the bound, and where it is ``lowest``, are arrays of shape (n,).
    """

    weights: Array
    found: Array
    bound: float
    doubt: float
    each: Array
    lowest: Array


class WeightModel(BoundModel):
    """Boxes of the weights w of a space with few features, and of the bias b where that is free.

    Outputs are f(x) = (φ(x) - centre)·w + b + offset: the centre is the mean of the members of a balance, which has a
    fixed bias, or for a free one the mean of all points, from which the bias is counted here.  The φ are the features
    of the points, or the monomials of a polynomial kernel.  Where the regularizer is ½ λ ‖w‖² boxes are along the
    principal ``axes`` of the points, shape (d, d), so that features that rise together make no thin slanted valleys.

    Where a number of unlabelled points must be labelled +1, each pays the lesser of ℓ(f) + p and ℓ(-f), for any price
    p of the label +1, less p for every label +1 that there must be: no labelling with that number costs less, and at
    given outputs the best one costs no more for a price between what the last points on either side gain by +1.
    """

    about = "weights"
    rounded = 1e-12  # what rounding may do to additions, relatively

    def __init__(self, instance: Instance) -> None:
        super().__init__()
        why = why_no_planes(instance)
        if why is not None:
            raise ValueError(why)
        self.instance = instance = instance.without_targets()
        problem, bias, self.n_positive = instance.problem, instance.bias, instance.n_positive
        if self.n_positive is not None:
            bias = Bias(bias.fitted, None, bias.members)
            label_loss, constant = instance.formulation.label_loss(compared=True)
            self.label_loss = label_loss + constant
        self.features, self.cost, self.free = features(instance), instance.cost, bias.free
        losses = [kind.of_output for kind in instance.formulation.by_kind]
        if self.n_positive is not None:
            losses += [self.label_loss, self.label_loss.reflect()]  # those of points whose label is certain in a box
        self.kind = instance.formulation.kinds(problem).astype(np.int32)
        pays = (self.cost > 0) & np.array([loss is not None for loss in losses])[self.kind]
        self.points = np.flatnonzero(pays).astype(np.int32)
        self.losses = [loss if isinstance(loss, PLQ) else PLQ([], [(0, 0, 0)]) for loss in losses]
        self.tables = _tables(self.losses)
        d, self.offset = self.features.shape[1], bias.offset
        self.n = d + self.free
        found = instance.formulation.regularizer.separable(d) or (np.zeros(d), np.zeros(d))
        self.bend, self.kink = (np.append(part, 0.0) if self.free else part for part in found)
        #: The points whose mean is the centre.
        self.members = bias.members if bias.centred else np.arange(problem.n) if bias.free else np.arange(0)
        centre = self.features[self.members].mean(axis=0) if len(self.members) else np.zeros(d)
        along = bool(self.bend.any()) and not self.kink.any() and np.ptp(self.bend[:d]) == 0
        self._turn(centre, principal(self.features - centre) if along else np.eye(d))
        #: Whether other signs of all weights and the bias make no difference, so that half of all boxes is enough.
        even = all(self.losses[k] == self.losses[k].reflect() for k in np.unique(self.kind[self.points]))
        even = even and self.n_positive in (None, problem.n_unlabeled / 2)
        self.mirrored = even and self.offset == 0 and not problem.y.any()

        self.others = self._others()
        self.mirrored = self.mirrored and self.others is None

    @property
    def is_sum(self) -> bool:
        """Whether the regularizer is a sum over weights, which ``bend`` and ``kink`` are of."""
        return bool(self.bend.any() or self.kink.any())

    def _others(self) -> Any:
        """Additions, and a regularizer that is no sum over weights; None if there are none."""
        formulation = self.instance.formulation
        if self.is_sum and not formulation.additions:
            return None
        from ...modeling.other_terms import OtherTerms

        at = (self.X, self.axes, self.centre, self.offset, self.free)
        return OtherTerms(formulation, *at, self.bend, self.kink)

    def _turn(self, centre: Array, axes: Array) -> None:
        """Take boxes along some axes."""
        self.centre, self.axes = centre, axes
        self.X = (self.features - centre) @ axes
        size = (np.abs(self.features) + np.abs(centre)) @ np.abs(axes)
        #: The largest sum of sizes that a coordinate's feature is made of, to which its rounding error is relative.
        self.largest = np.append(size.max(axis=0), 1.0)[: self.n]
        self.sizes = self._sizes(size[self.points])

    def stored(self) -> dict[str, Array]:
        return super().stored() | {"centre": self.centre, "axes": self.axes}

    def read(self, arrays: dict[str, Array]) -> None:
        super().read(arrays)
        self._turn(arrays["centre"], arrays["axes"])

    def _sizes(self, size: Array) -> tuple[float, Array, Array]:
        """Numbers c, g and h such that what all points pay has terms of at most c + Σ g_j |θ_j| + h_j θ_j² in all.

        The largest coefficients of a loss are those of each of its points; and (Σ_j t_j)² is at most n Σ_j t_j².
        """
        cost, kind, n = self.cost[self.points], self.kind[self.points], self.n + 1
        a, b, c = np.array([np.abs(loss.pieces).max(axis=0) for loss in self.losses]).T
        each = np.bincount(kind, cost, len(a))
        constant = float(each @ (n * a * self.offset**2 + b * abs(self.offset) + c))
        linear, squares = np.full(self.n, float(each @ b)), np.full(self.n, float(n * each @ a))
        for j, own in enumerate(size.T):
            linear[j] = np.bincount(kind, cost * own, len(a)) @ b
            squares[j] = n * np.bincount(kind, cost * own**2, len(a)) @ a
        return constant, linear, squares

    @property
    def begin(self) -> Undecided:
        """What is known of the points where nothing is known of the box."""
        return Undecided(self.points, np.zeros(1 + self.n + self.n**2), self.n_positive or 0)

    def root(self, cutoff: float) -> Box:
        """The box of weights of all solutions below a cutoff, and of a bias beyond which no loss falls."""
        least_of = [loss.minimizers()[0] for loss in self.losses]
        paid = self.cost[self.points] * np.array(least_of)[self.kind[self.points]]
        room = max(cutoff - float(paid.sum()), 0.0) * (1 + 1e-9) + 1e-12 * (abs(cutoff) + float(np.abs(paid).sum()))
        root = np.sqrt(self.kink**2 + 2 * self.bend * room)
        with np.errstate(invalid="ignore", divide="ignore"):
            reach = 2 * room / (self.kink + root)
        if self.others is not None:
            reach = np.fmin(reach, self.others.reach(room))
        if self.free and (self.others is None or not self.others.bounds_bias):
            # Beyond the kinks and vertices of all losses nothing is gained by a bias that is larger still.
            places = np.concatenate([_places(loss) for loss in self.losses])
            reach[-1] = float(np.abs(places).max(initial=0.0)) + float(self.largest[:-1] @ reach[:-1])
        low, high = outward(-reach, reach)
        if self.mirrored:
            low[0] = 0.0
        if self.first is None:
            self.first = low, high, cutoff
        return Box(low, high)

    def halves(self, box: Box, i: int, place: float) -> tuple[Box, Box]:
        return box.halves(i, place)

    def scores(self, box: Box, outputs: Array) -> Array:
        """Outputs of all points of the problem at a point of the box."""
        return self.expansion(outputs).outputs

    def proven(self, box: Box) -> Array:
        """Labels given, or the signs of all outputs in a box; 0 where it has both."""
        y, (low, high) = self.instance.problem.y, self.outputs(box)
        if self.n_positive is not None:
            kind = self._kinds(box, box.low, self.begin)[0]
            low, high = np.zeros((2, len(y)))
            low[self.points], high[self.points] = kind == 3, -1.0 * (kind == 4)
        return np.where(y != 0, y, np.where(low > 0, 1.0, np.where(high < 0, -1.0, 0.0)))

    def outputs(self, box: Box, points: Any = slice(None)) -> tuple[Array, Array]:
        """Ends of the outputs of all points, or some, over a box."""
        d, X = self.X.shape[1], self.X[points]
        middle, half = 0.5 * (box.low + box.high), 0.5 * (box.high - box.low)
        f = X @ middle[:d] + (self.offset + float(middle[d:].sum()))
        rad = np.full(len(f), self.slack(box) + float(half[d:].sum()))
        for j in range(d):
            rad += np.abs(X[:, j]) * half[j]
        return f - rad, f + rad

    def far(self, box: Box) -> float:
        """A size that no output in a box exceeds."""
        return float(self.largest @ np.maximum(np.abs(box.low), np.abs(box.high))) + abs(self.offset) + 1e-290

    def doubt(self, box: Box, planes: int = 1) -> float:
        """What rounding may do to some planes in a box, and to those of a check by other arithmetic.

        They are sums of n terms, each at most six times what its point may pay with the largest coefficients.
        """
        size, (constant, linear, squares) = np.maximum(np.abs(box.low), np.abs(box.high)), self.sizes
        total = 6 * (constant + float(linear @ size + squares @ size**2)) + float((self.bend * size + self.kink) @ size)
        more = 16 if self.n_positive is None else 16 + 8 * len(self.label_loss.pieces)
        return 2 * EPS * (self.instance.problem.n + 4 * self.n + 3 * planes + more) * total

    def slack(self, box: Box) -> float:
        """By how much rounding may move an output in a box."""
        return 2 * (self.n + 64) * EPS * self.far(box)

    def touch(self, box: Box, at: Array, undecided: Undecided, price: Array | None = None) -> Touched:
        """The plane that touches at a point of a box, for a price or the best one there."""
        kind, best = self._kinds(box, at, undecided)
        price = best if price is None else price
        paid, found, below, spread, shift = self._touch(undecided, kind, self.cost, box, at, self.slack(box), price)
        costs = self._costs(at)
        if self.others is not None:
            constant, slopes, value = self.others.below(box.low, box.high, at)
            found[0], found[1:], paid = found[0] + constant, found[1:] + slopes, paid + value
            size = float(np.abs(slopes) @ np.maximum(np.abs(box.low), np.abs(box.high)))
            shift += self.rounded * (abs(constant) + size)
        return Touched(at, found, below, spread, paid + costs, float(found[0] + found[1:] @ at) + costs, shift, price)

    def _touch(
        self, given: Undecided, kind: NDArray[np.int32], cost: Array, box: Box, at: Array, slack: float, price: Array
    ) -> tuple[float, Array, Undecided, Array, float]:
        """What points pay at a point of a box, the plane there, what is left undecided, its spread, and its shift."""
        points, decided, asked = given.points, given.decided.copy(), given.asked
        left, found, spread = np.empty(len(points), dtype=np.int32), np.empty(1 + self.n), np.empty(self.n)
        tables, free = self.tables, np.flatnonzero(kind == 2) if len(price) else left[:0]
        if len(free):
            priced = (self.label_loss + float(price[0])).minimum(self.label_loss.reflect())
            tables = _tables([*self.losses[:2], priced, *self.losses[3:]])
        used, paid, shift = plane(
            self.X, self.offset, self.free, kind, cost, points, box.low, box.high, at, slack, len(free) > 0,
            tables, decided, left, found, spread,
        )  # fmt: skip
        certain = int((kind == 3).sum())
        if len(free):
            worth = float(price[0] * cost[points[free[0]]])
            found[0], paid = found[0] - worth * (asked - certain), paid - worth * (asked - certain)
            shift += 16 * EPS * (len(points) + 16) * abs(worth) * len(free)
        if used < len(points):
            left = left[:used]
            points, asked = points[left], asked - certain + int((kind[left] == 3).sum())
        return paid, found, Undecided(points, decided, asked), spread, shift

    def _kinds(self, box: Box, at: Array, undecided: Undecided) -> tuple[NDArray[np.int32], Array]:
        """Which loss each undecided point pays, and for what price of a label +1 at a point of a box; or no price.

        Labels are certain (3 for +1, 4 for -1) of points that are among those with the largest outputs everywhere in
        the box, as many as are to be labelled +1, or nowhere.  The price is one for which as many gain by +1, and on
        neither side of what those gain that are certain.
        """
        kind = self.kind[undecided.points]
        if self.n_positive is None:
            return kind, np.zeros(0)
        free = np.flatnonzero(kind == 2)
        last, points = len(free) - undecided.asked, undecided.points[free]
        if not 0 < last < len(free):
            kind[free] = 3 if last == 0 else 4
            return kind, np.zeros(1)
        low, high = self.outputs(box, points)
        least, most = np.partition(low, last)[last], np.partition(high, last - 1)[last - 1]
        kind[free[low > most]], kind[free[high < least]] = 3, 4
        f = np.partition(self.outputs(Box(at, at), points)[1], [last - 1, last])
        middle = float(np.clip(0.5 * (f[last - 1] + f[last]), least, most))
        return kind, np.array([self.label_loss(-middle) - self.label_loss(middle)])

    def _costs(self, at: Array) -> float:
        return float((0.5 * self.bend * at + self.kink * np.sign(at)) @ at)

    def combined(self, box: Box, touched: list[Touched], weights: Array | None = None) -> Combination:
        """The best combination of planes for a bound over a box, or that with given weights."""
        planes = np.array([one.plane for one in touched])
        found, each, lowest = np.empty(1 + self.n), np.empty(self.n), np.empty(self.n)
        if weights is None:
            weights, little = np.empty(len(planes)), self.doubt(box)
            value = combine(self.bend, self.kink, planes, weights, box.low, box.high, little, found, each, lowest)
        else:
            found[:] = weights @ planes
            value = least(self.bend, self.kink, found, box.low, box.high, each, lowest)
        shifts = np.array([one.shift for one in touched])
        doubt = self.doubt(box, int((weights > 0).sum())) + float(weights @ shifts)
        return Combination(weights, found, value - doubt, doubt, each, lowest)

    def narrowed(self, box: Box, planes: Combination, cutoff: float) -> Box:
        """What planes leave of a box for solutions below a cutoff."""
        low, high = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        narrow(self.bend, self.kink, planes.found, planes.each, cutoff - planes.bound, low, high)
        return box.meet(*outward(low, high))

    def value(self, at: Array, points: NDArray[np.int32], cost: Array) -> tuple[float, Array, float]:
        """The objective of some points with some costs, a subgradient, and what rounding may do to it."""
        kind = self.kind[points]
        if self.n_positive is not None:
            # As many of these points as stand for those that are to be labelled +1 are, with the largest outputs.
            free = np.flatnonzero(kind == 2)
            number = round(self.n_positive * len(free) / self.instance.problem.n_unlabeled)
            kind[free] = np.where(largest(self.outputs(Box(at, at), points[free])[1], number) > 0, 3, 4)
        given = Undecided(points, self.begin.decided, 0)
        paid, found, _, _, shift = self._touch(given, kind, cost, Box(at, at), at, 0.0, np.zeros(0))
        slopes = found[1:] + self.bend * at + self.kink * np.sign(at)
        if self.others is not None:
            value, more = self.others.at(at)
            paid, slopes, shift = paid + value, slopes + more, shift + self.rounded * abs(value)
        return paid + self._costs(at), slopes, shift + self.doubt(Box(at, at))

    def objective(self, at: Array) -> float:
        """The objective at weights and bias, rounded up."""
        value, _, doubt = self.value(at, self.points, self.cost)
        return value + doubt

    def expansion(self, at: Array) -> Expansion:
        """Weights and bias as a decision function of the problem."""
        problem, d = self.instance.problem, self.X.shape[1]
        w = self.axes @ at[:d]
        fixed = self.offset + float(at[d:].sum())
        if problem.is_linear:
            bias = fixed - float(self.centre @ w)
            outputs = problem.linear_outputs(w) + bias
            charged = self.instance.formulation.regularizer.value(w) if self.is_sum else 0.0
            charged += 0.0 if self.others is None else self.others.charged(at)
            return Expansion(outputs, np.zeros(problem.n), bias, charged, w)
        # Of the weights with these outputs the shortest are a combination of the points, seen from their centre.
        coefficients: Array = np.linalg.lstsq((self.features - self.centre).T, w)[0].astype(float)
        if len(self.members):
            np.add.at(coefficients, self.members, -coefficients.sum() / len(self.members))
        w = self.features.T @ coefficients
        bias = fixed - float(self.centre @ w)
        return Expansion(self.features @ w + bias, coefficients, bias, 0.5 * float(self.bend[:d] @ w**2))

    def statement(self) -> tuple[dict[str, Any], dict[str, Array]]:
        formulation = self.instance.formulation
        return {
            "bias": "free" if self.free else "centred" if len(self.members) else "none",
            "value": self.offset,
            "n_positive": self.n_positive,
        }, {
            "loss_labeled": spans(formulation.labeled),
            "loss_unlabeled": spans(formulation.unlabeled if self.n_positive is None else self.label_loss),
            "bend": self.bend,
            "kink": self.kink,
        }

    def why_no_file(self) -> str | None:
        if isinstance(self.instance.problem.X, LinearPoints):
            return "files of searches have points that are arrays, not such as are known by their products"
        if self.instance.formulation.groups:
            return "files of searches over boxes of weights know no groups of points; branch_on='points' has them"
        if self.others is not None:
            return "files of searches over boxes of weights know sums over weights, and no additions"
        return None


def _tables(losses: list[PLQ]) -> tuple[Any, ...]:
    """Losses as the compiled loop has them."""
    pieces = Pieces.of(losses)
    return pieces.ends, pieces.rate / 2, pieces.offset, pieces.constant, pieces.count, _cuts(pieces)


def _cuts(pieces: Pieces) -> NDArray[np.bool_]:
    """Whether each piece ends a convex stretch: the slope falls after it, or it or the next one is concave."""
    t, a, b = pieces.ends[:, 1:-1], pieces.rate / 2, pieces.offset
    with np.errstate(invalid="ignore"):
        falls = 2 * a[:, 1:] * t + b[:, 1:] < 2 * a[:, :-1] * t + b[:, :-1]
    found = np.zeros(a.shape, dtype=bool)
    found[:, :-1] = falls | (a[:, :-1] < 0) | (a[:, 1:] < 0)
    return found


def _places(loss: PLQ) -> Array:
    """Breakpoints of a loss and the vertices of its first and last piece, as far as they are finite."""
    ends = [-b / (2 * a) for a, b, _ in (loss.pieces[0], loss.pieces[-1]) if a > 0]
    return np.array([*loss.breaks, *ends], dtype=float)
