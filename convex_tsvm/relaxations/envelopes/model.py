"""A formulation as one quadratic of some outputs, and what each of them pays.

Outputs here are those of points that cost something, the sums of outputs that are constrained, whose loss is zero in
their interval, and a free bias.  All of them are linear in w and the bias, g = L z with the ‖z‖² of w's part in the
objective, and the formulation is to minimize ½ ‖z‖² + Σ φ_i(g_i) with every g_i in an interval.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Formulation
from ...instance import Instance
from ...kernels import centred_gram, plain_gram
from ...losses import PLQ, ConvexLoss, Exponential, Loss, Pieces
from ...problem import Array
from ..bound_model import BoundModel
from ..box import Box, counted
from ..rounding import EPS
from .quadratics import Quadratics

#: Losses that are unbounded below must leave this share of ½ ‖w‖², and of what a free bias costs, at least.
LEAST_HOLD = 1e-6

#: By how much slopes and curvatures of minorants are below those of losses, relatively: a check, whose arithmetic is
#: directed, takes a tenth of it.
SLOPE_ROOM = 1e-8


@dataclass(frozen=True)
class Minorant:
    """A function of ‖w‖ and a free bias b below the objective: held ‖w‖² - fall ‖w‖ + bias |b| + Σ least."""

    least: Array
    fall: float
    held: float
    bias: float
    reach: Array  # what w with a norm of 1 adds to each output at most
    tied: Array  # and what a bias of 1 does

    def farthest(self, cutoff: float) -> Array:
        """A size that no output of a solution below a cutoff exceeds, shape (n,)."""
        room = cutoff - float(self.least.sum()) + SLOPE_ROOM * (abs(cutoff) + float(np.abs(self.least).sum()))
        most = room + self.fall**2 / (4 * self.held)
        if most < 0:
            return np.zeros(len(self.least))
        norm = (self.fall / (2 * self.held) + np.sqrt(most / self.held)) * (1 + SLOPE_ROOM)
        bias = most / self.bias * (1 + SLOPE_ROOM)
        return np.asarray(norm * self.reach + np.where(self.tied > 0, bias * self.tied, 0.0))


class OutputModel(BoundModel):
    """Outputs, losses and intervals of a formulation on a problem.

    Its losses are piecewise linear-quadratic, exponential, or convex and smooth, its regularizer is ½ ‖w‖², and its
    balance is no sum of targets, else there is a ValueError.  A piecewise linear-quadratic function may be below a
    smooth loss, in whose place it is, by ``error``.

    Where a number of positive labels is prescribed, boxes know it: an interval of an unlabelled point that is split at
    0 has a label, and an end is exactly 0 for no other reason.
    """

    about = "outputs"

    def __init__(self, instance: Instance, error: float = 1e-3) -> None:
        super().__init__()
        why = _why_no_pieces(instance)
        if why is not None:
            raise ValueError(why)
        self.instance = instance
        self.error = error
        self.uncounted = instance = instance.replaced(instance.formulation).without_targets()
        problem, bias, formulation = instance.problem, instance.bias, instance.formulation
        kinds = [_below(kind.of_output, error) for kind in formulation.by_kind] + [_below(None, error)]
        kind = formulation.kinds(problem)
        pays = (instance.cost > 0) & ((kind != 2) | (formulation.unlabeled is not None))
        self.points = np.flatnonzero(pays)  # the points of the first outputs
        rows = [] if bias.centred and instance.rows is None else list(instance.dense_rows())
        if bias.centred and instance.rows is not None:
            rows = rows[1:]  # centring has met the first, which is the mean
        self.rows = rows  # the constraints on outputs that are left: coefficients of all points, and ends
        n_points, n_rows = len(self.points), len(rows)
        combination = np.zeros((n_points + n_rows, problem.n))
        combination[np.arange(n_points), self.points] = 1.0
        for k, (row, _, _) in enumerate(rows):
            combination[n_points + k] = row
        arguments = (problem.kernel, problem.X)
        gram = centred_gram(*arguments, bias.members) if bias.centred else plain_gram(*arguments)
        self.lift = gram.lift  # what the diagonal of a precomputed kernel is larger by than was given
        # A square root of the kernel of all points, or of one that is larger by what rounding may have done.
        self.kernel_root = _root(gram.matrix, 2 * gram.error * float(gram.scale @ gram.scale))
        # L, shape (n, r).  Where the bias is free its last column is the bias, which is not in the norm.
        self.factor = combination @ self.kernel_root
        self.offset = combination.sum(axis=1) * bias.offset  # f_i = g_i + offset_i
        self.free_bias = bias.free
        low = np.concatenate([np.full(n_points, -np.inf), [low for _, low, _ in rows]])
        high = np.concatenate([np.full(n_points, np.inf), [high for _, _, high in rows]])
        which = np.concatenate([kind[self.points], np.full(n_rows, len(kinds) - 1)])
        cost = np.concatenate([instance.cost[self.points], np.ones(n_rows)])
        low, high = low - self.offset, high - self.offset
        if bias.free:
            self.factor = np.hstack([self.factor, combination.sum(axis=1)[:, None]])
            self.factor = np.vstack([self.factor, np.eye(1, self.factor.shape[1], self.factor.shape[1] - 1)])
            which, cost = np.append(which, len(kinds) - 1), np.append(cost, 1.0)
            low, high, self.offset = np.append(low, -np.inf), np.append(high, np.inf), np.append(self.offset, 0.0)
        self.n = len(low)
        self.counted = np.flatnonzero(problem.y[self.points] == 0)  # the unlabelled points among the outputs
        self.low, self.high = low, high  # intervals that the formulation itself asks for
        # What outputs pay: φ_i, costs included, as functions of g_i.
        self.losses = _losses(kinds, which.astype(np.intp), cost, self.offset)
        # The distinct losses, as functions of f and without their costs, and which of them each point pays.
        self.n_points, self.kinds, self.kind = n_points, kinds, kind[self.points]
        falls = np.isneginf(self.losses.within(self.low, self.high).least()[0]).any()
        self.minorant = self._minorant() if falls else None

    @cached_property
    def squares(self) -> Array:
        """What the square of each output without the bias is at most, for ‖w‖ = 1."""
        root = self.factor[:, :-1] if self.free_bias else self.factor
        return np.asarray((root**2).sum(axis=1) * (1 + (self.n + 8) * EPS))

    @cached_property
    def metric(self) -> Array:
        """The diagonal of the quadratic form of z: one, and zero for a free bias."""
        return np.append(np.ones(self.factor.shape[1] - 1), 0.0 if self.free_bias else 1.0)

    def form(self, curvature: Array) -> Array:
        """I - Lᵀ D L, what curvatures leave of the regularizer, with 0 for a free bias in I."""
        return np.asarray(np.diag(self.metric) - (self.factor.T * curvature) @ self.factor)

    def root(self, cutoff: float) -> Box:
        """The box of all solutions below a cutoff; the first one, and its cutoff, are part of a certificate."""
        low, high = self.box(cutoff)
        if self.first is None:
            self.first = low, high, cutoff
        return self.count(self.without_zeros(Box(low, high)))

    def halves(self, box: Box, i: int, place: float) -> tuple[Box, Box]:
        lower, upper = box.halves(i, place)
        return self.count(lower), self.count(upper)

    def without_zeros(self, box: Box, within: Box | None = None) -> Box:
        """A box whose ends are 0 only where those of the box that it is in are, if labels are counted."""
        if self.instance.n_positive is None:
            return box
        low, high = box.low.copy(), box.high.copy()
        little = np.nextafter(0.0, 1.0)
        low[(low == 0) & (True if within is None else within.low != 0)] = -little
        high[(high == 0) & (True if within is None else within.high != 0)] = little
        return Box(low, high)

    def labels(self, box: Box) -> Array:
        """Labels of the unlabelled outputs in a box, 0 where both are possible."""
        low, high = box.low[self.counted], box.high[self.counted]
        return np.where(low >= 0, 1.0, np.where(high <= 0, -1.0, 0.0))

    def count(self, box: Box) -> Box:
        """The box after the number of positive labels is taken into account, if one is prescribed."""
        number = self.instance.n_positive
        if number is None or box.is_empty:
            return box
        found: Box = counted(box, self.counted, self.labels(box), number, number, 0.0)
        return found

    def undecided(self, box: Box, outputs: Array) -> tuple[int, float] | None:
        """The output without a label that is nearest to 0, and 0, if labels are counted and there is one."""
        if self.instance.n_positive is None:
            return None
        open_ = self.counted[self.labels(box) == 0]
        return (int(open_[np.abs(outputs[open_]).argmin()]), 0.0) if len(open_) else None

    def scores(self, box: Box, outputs: Array) -> Array:
        """Outputs of all points of the problem; zero where they cost nothing."""
        found = np.zeros(self.instance.problem.n)
        found[self.points] = self.outputs(outputs)
        return found

    def proven(self, box: Box) -> Array:
        """Labels given, or signs of all outputs in a box; 0 where it has both."""
        proven = self.instance.problem.y.copy()
        low, high = self.outputs(box.low), self.outputs(box.high)
        signs = np.where(low > 0, 1.0, np.where(high < 0, -1.0, 0.0))
        proven[self.points] = np.where(proven[self.points] != 0, proven[self.points], signs)
        return proven

    def statement(self) -> tuple[dict[str, Any], dict[str, Array]]:
        bias, formulation, rows = self.uncounted.bias, self.instance.formulation, self.rows
        return {
            "positive": self.instance.n_positive,
            "bias": "centred" if bias.centred else "free" if bias.free else "none",
            "value": bias.offset,
            "lift": float(self.lift),
        }, {
            "loss_labeled": spans(formulation.labeled),
            "loss_unlabeled": spans(formulation.unlabeled),
            "rows": np.array([row for row, _, _ in rows]).reshape(len(rows), self.instance.problem.n),
            "row_low": np.array([low for _, low, _ in rows], dtype=float),
            "row_high": np.array([high for _, _, high in rows], dtype=float),
            "root": self.kernel_root,
            **self._own_losses(),
        }

    def _own_losses(self) -> dict[str, Array]:
        """Points of groups: which of these losses of the output each pays, -1 for others, and their costs."""
        groups = self.uncounted.formulation.by_kind[3:]
        if not groups:
            return {}
        tables = [spans(kind.of_output) for kind in groups]
        return {
            "loss_own": np.vstack(tables),
            "loss_own_end": np.cumsum([len(table) for table in tables]),
            "own_loss": np.maximum(self.uncounted.formulation.kinds(self.uncounted.problem) - 3, -1),
            "own_cost": self.uncounted.cost,
        }

    def why_no_file(self) -> str | None:
        formulation = self.uncounted.formulation
        smooth = [loss for loss in formulation.losses if not isinstance(loss, PLQ)]
        if not smooth:
            return None
        return (
            f"files of searches are about piecewise linear-quadratic losses, which {smooth[0]!r} is not: its search is "
            "over a function that is a little below"
        )

    def box(self, cutoff: float) -> tuple[Array, Array]:
        """Finite intervals of the outputs of every solution with an objective below ``cutoff``.

        ½ ‖w‖² and every point's loss are each at most what is left when all others are as low as they can be.
        """
        own_low, own_high = self.low, self.high
        if self.minorant is not None:
            far = self.minorant.farthest(cutoff)
            own_low, own_high = np.maximum(own_low, -far), np.minimum(own_high, far)
        losses = self.losses.within(own_low, own_high)
        least = losses.least()[0].min(axis=1)
        room = max(cutoff - float(least.sum()), 0.0) * (1 + 1e-9) + 1e-12 * (abs(cutoff) + float(np.abs(least).sum()))
        reach = np.sqrt(2 * room * self.squares)
        low, high = losses.below(least + room)
        if self.free_bias:
            tied = self.factor[:, -1]
            ends: list[float] = []
            for sign in (1.0, -1.0):
                with np.errstate(divide="ignore", invalid="ignore"):
                    # g_i = (w's part) + tied_i b, with w's part within reach.
                    farthest = np.where(tied * sign > 0, high + reach, -low + reach) / np.abs(tied)
                end = float(np.where(tied != 0, farthest, np.inf)[: self.n - 1].min(initial=np.inf))
                if not np.isfinite(end):
                    # Beyond its kinks every point's loss is constant, or it would bound the bias itself.
                    kinks = np.concatenate(
                        [part[: self.n_points].ravel() for part in (self.losses.low, self.losses.high)]
                    )
                    farthest_kink = float(np.abs(kinks[np.isfinite(kinks)]).max(initial=0.0))
                    end = farthest_kink + float(reach[: self.n_points].max(initial=0.0))
                ends.append(end)
            most, least_bias = ends[0], -ends[1]
            low[-1], high[-1] = least_bias, most
            low = np.maximum(low, np.minimum(tied * most, tied * least_bias) - reach)
            high = np.minimum(high, np.maximum(tied * most, tied * least_bias) + reach)
        else:
            low, high = np.maximum(low, -reach), np.minimum(high, reach)
        low, high = np.maximum(low, own_low), np.minimum(high, own_high)
        # Ends are a little wider, for the rounding of offsets.
        return low - 1e-12 * (1 + np.abs(low)), high + 1e-12 * (1 + np.abs(high))

    def _minorant(self) -> Minorant:
        """What is below losses that are unbounded below, and still bounds the solutions; a ValueError if that is none.

        The last pieces of a loss say how fast it falls.  Where one only rises any slope will do: such losses hold a
        bias against those that fall with it.
        """
        losses, tied = self.losses.within(self.low, self.high), np.zeros(self.n)
        if self.free_bias:
            tied = self.factor[:, -1]
        falls = np.zeros(self.n)
        slopes, rising = np.zeros((2, self.n)), np.ones((2, self.n), dtype=bool)
        for side, (sign, far) in enumerate(((1.0, np.isposinf(losses.high)), (-1.0, np.isneginf(losses.low)))):
            last = far & (losses.low <= losses.high)
            falls = np.maximum(falls, np.where(last, -losses.a, 0.0).max(axis=1) * (1 + SLOPE_ROOM))
            slopes[side] = np.where(last & (losses.a <= 0), sign * losses.b, 0.0).sum(axis=1)
            rising[side] = ~(last & (losses.a <= 0)).any(axis=1)
        held = 0.5
        if falls.any():
            # Of the least eigenvalue of a form this share is taken.
            held = 0.5 * 0.99 * float(np.linalg.eigvalsh(self.form(2 * falls))[0])
            if held <= LEAST_HOLD:
                raise ValueError(
                    "losses are concave at infinity, and fall faster than ½ ‖w‖² rises, or along a free bias: smaller "
                    "costs, or losses with less curvature there, have a bound"
                )
        if self.free_bias:
            bias, slopes = self._held_bias(tied, slopes, rising)
        else:
            bias, slopes = np.inf, np.minimum(slopes, 0.0)
        slopes = slopes - SLOPE_ROOM * np.abs(slopes)
        least = np.zeros(self.n)
        for side, sign in enumerate((1.0, -1.0)):
            ends = (np.zeros(self.n), np.full(self.n, np.inf))
            half = losses.within(*(ends if sign > 0 else (-ends[1], -ends[0])))
            least = np.minimum(least, half.plus(falls, -sign * slopes[side], np.zeros(self.n)).least()[0].min(axis=1))
        steepest = np.abs(slopes).max(axis=0) if self.free_bias else np.maximum(-slopes, 0.0).max(axis=0)
        return Minorant(least, float(steepest @ np.sqrt(self.squares)), held, bias, np.sqrt(self.squares), np.abs(tied))

    def _held_bias(self, tied: Array, slopes: Array, rising: NDArray[np.bool_]) -> tuple[float, Array]:
        """The least slope of all losses together along a free bias, and slopes of the minorant."""
        bias, slopes = np.inf, slopes.copy()
        for sign in (1.0, -1.0):
            side = np.where(sign * tied > 0, 0, 1)
            at = (side, np.arange(self.n))
            falling = float(np.abs(tied) @ np.maximum(-slopes[at], 0.0))
            steep = rising[at] & (tied != 0)
            slopes[at] = np.where(steep, 2 * falling / max(float(np.abs(tied[steep]).sum()), 1e-300), slopes[at])
            along = float(np.abs(tied) @ slopes[at]) - SLOPE_ROOM * float(np.abs(tied) @ np.abs(slopes[at]))
            if along <= LEAST_HOLD * falling:
                raise ValueError(
                    f"losses that are unbounded below outweigh, or balance, the others as the bias goes to "
                    f"{'+' if sign > 0 else '-'}∞: it needs a balance, a constraint on outputs, or fit_intercept=False"
                )
            bias = min(bias, along)
        return bias, slopes

    def no_curvature(self, low: Array, high: Array, cutoff: float, share: float = 1e-6) -> Array:
        """Curvatures that lend nothing; only a free bias needs some, which costs a share of the cutoff at most."""
        d = np.zeros(self.n)
        if self.free_bias:
            farthest = max(abs(float(low[-1])), abs(float(high[-1])), 1e-3)
            d[-1] = -2 * share * max(abs(cutoff), 1e-9) / farthest**2
        return d

    def outputs(self, g: Array) -> Array:
        """f of the points that pay, shape (p,)."""
        return g[: self.n_points] + self.offset[: self.n_points]


def spans(loss: Any) -> Array:
    """A row (from, to, a, b, c) for every piece a t² + b t + c of a loss; none if nothing is paid."""
    if not isinstance(loss, PLQ):
        return np.zeros((0, 5))
    return np.array([(left, right, *piece) for piece, left, right in loss.spans()], dtype=float)


def trivial_bound(instance: Instance) -> float:
    """What the objective of every solution is at least: 0 if no loss is ever negative, else -∞ for want of better."""
    losses = [kind.of_output for kind in instance.formulation.by_kind]
    negative = any(isinstance(loss, PLQ) and loss.minimizers()[0] < 0 for loss in losses)
    return -np.inf if negative or instance.formulation.additions else 0.0


def error_for(instance: Instance, objective: float, gap: float) -> float:
    """What a minorant may be off by at each point, so that all of them cost a share of a relative gap at most."""
    cost = sum(float(instance.cost[at].sum()) for kind, at in instance.paying() if not isinstance(kind.loss, PLQ))
    return max(0.2 * gap * abs(objective) / max(cost, 1e-300), 1e-8)


def approximated(formulation: Formulation, error: float) -> Formulation:
    """The formulation with a piecewise linear function that is at most so far below for each convex smooth loss."""

    def of(loss: Any) -> Any:
        return _below(loss, error) if isinstance(loss, ConvexLoss) else loss

    groups = tuple(replace(group, loss=of(group.loss)) for group in formulation.groups)
    return replace(formulation, labeled=of(formulation.labeled), unlabeled=of(formulation.unlabeled), groups=groups)


def _below(loss: Loss | None, error: float) -> PLQ:
    """A piecewise linear-quadratic function that is a loss, or for a smooth one below it by at most an error."""
    if isinstance(loss, Exponential):
        return loss.minorant(error)
    if isinstance(loss, ConvexLoss):
        return loss.minorant(error / 4)
    assert loss is None or isinstance(loss, PLQ)
    return PLQ([], [(0, 0, 0)]) if loss is None else loss


def why_no_envelopes(instance: Instance) -> str | None:
    """Why losses or constraints are none that envelopes are for, or the objective is unbounded below; else None."""
    why = _why_no_pieces(instance)
    falls = any(
        isinstance(kind.of_output, PLQ) and kind.of_output.minimizers()[0] == -np.inf
        for kind in instance.formulation.by_kind
    )
    if why is None and falls:
        try:
            OutputModel(instance)
        except ValueError as error:
            return str(error)
    return why


def _why_no_pieces(instance: Instance) -> str | None:
    """Why losses or constraints are none of which envelopes can be made, or None if they are."""
    formulation = instance.formulation
    for kind in formulation.by_kind:
        if not (kind.loss is None or isinstance(kind.loss, PLQ | Exponential | ConvexLoss)):
            return (
                f"{kind.field}={kind.loss!r}: envelopes are of piecewise linear-quadratic losses, of convex ones and "
                "of exp(-s t²)"
            )
    if instance.target_sum is not None:
        return f"{instance.balance}: envelopes take a mean output, a number of labels, or None"
    pays = instance.cost[instance.problem.unlabeled] > 0
    if instance.n_positive is not None and (formulation.unlabeled is None or not pays.all()):
        return f"{instance.balance}: envelopes count the labels of points that pay something, and some do not"
    if not formulation.regularizer.is_squared_norm:
        return f"regularizer={formulation.regularizer!r}: envelopes are for 'l2'"
    if formulation.additions:
        return f"additions={list(formulation.additions)!r}: envelopes know none"
    return None


def _root(matrix: Array, error: float) -> Array:
    """A square root of a kernel matrix that may be off by an error, whose square is no smaller."""
    values, vectors = np.linalg.eigh(matrix)
    # What is added to the diagonal of the kernel, relative to its largest eigenvalue: it covers all errors of its
    # numbers.
    room = 1e-11 * max(float(values[-1]), 1e-300) + error
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0) + room))


def _losses(kinds: list[PLQ], which: NDArray[np.intp], cost: Array, offset: Array) -> Quadratics:
    """c_i ℓ(g + offset_i) for each output."""
    pieces = Pieces.of(kinds)
    assert pieces.constant is not None
    ends = pieces.ends[which] - offset[:, None]
    low, high = ends[:, :-1], ends[:, 1:]
    a, slope, constant = pieces.rate[which] / 2, pieces.offset[which], pieces.constant[which]
    o = offset[:, None]
    b, c = slope + 2 * a * o, constant + slope * o + a * o**2
    none = np.arange(a.shape[1]) >= pieces.count[which][:, None]
    low, high = np.where(none, np.inf, low), np.where(none, -np.inf, high)
    return Quadratics(low, high, a * cost[:, None], b * cost[:, None], c * cost[:, None])
