"""The relaxation with signs as bounds of boxes: rounds of a low-rank method, of what it proves, and of cuts."""

import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ...deadline import time_is_up
from ...problem import Array
from ...solvers.sdp import LowRankPoint, LowRankSDP, SparseMatrices
from ..box import LabelBox, labels_of
from ..label_model import LabelModel
from ..proof import Proof, Stored, single
from ..quadratic_program import OutputSpace
from ..region import Relaxation, Work
from ..rounding import EPS
from .cuts import Layout, SignCuts
from .quadratic import WEIGHT_OF_OUTPUTS, SignMultipliers, SignQuadratic


@dataclass(frozen=True)
class Rounds:
    """How rounds go, as ``benchmarks/exact.py`` was fastest."""

    columns: int = 60  # of the factor
    # Updates of multipliers in a round of the low-rank method, and steps for each of them.
    updates: int = 6
    steps: int = 40
    # Weight of the penalty, relative to the mean diagonal entry of the objective: with a larger one the multipliers get
    # less exact, with a smaller one they take longer to get large.
    penalty: float = 0.3
    # What is added to the form before an ellipsoid is taken from it, as multiples of what it lacked of being positive
    # semidefinite: the bound gets lower, and the ellipsoid narrower.
    lifts: tuple[float, ...] = (0.0, 0.5, 2.0)
    shares: tuple[float, ...] = (0.95, 0.8)  # of the multipliers, tried besides for the outputs that they exclude
    # Cuts are dropped if their multiplier is less than this share of the largest and they hold with this room.
    active: float = 1e-5
    room: float = 1e-3
    cuts_per_point: int = 3  # new ones of each kind: with a third of them a round takes as long and brings less
    # Directions in which the form is negative are added to the factor: at most so many, with this norm.
    most_added: int = 20
    norm_added: float = 0.3
    # Rounds in turn without gain after which the rounds end: where the relaxation is too weak, and where its
    # multipliers are not exact enough.
    idle: int = 3
    idle_inexact: int = 8
    exact: float = 0.1  # they are not where a bound lacks more than this share of what the relaxation lacks,
    most_effort: int = 8  # and there a round takes more steps, up to so many times as many
    # Multipliers of a box above are kept if they are likely to close a box within so many levels of the tree, which
    # takes about as long as one SDP relaxation.
    levels_kept: int = 8
    turns: int = 20  # how often the same multipliers are applied to a box, at most, as long as they settle labels
    below: int = 4  # rounds below the root, at most


@dataclass(frozen=True, eq=False)
class Turn:
    """One round; the form was negative in ``directions``, shape (N, k), and lacked ``lacking``, which it has got."""

    point: LowRankPoint
    multipliers: SignMultipliers
    lacking: float
    directions: Array
    slack: Array


class SignProgram:
    """The semidefinite program of a box, whose ends are finite, with cuts."""

    def __init__(self, space: OutputSpace, low: Array, high: Array, cuts: SignCuts) -> None:
        self.space, self.low, self.high = space, low, high
        self.layout = layout = Layout(labels_of(low, high))
        self.cuts = layout.own_margins().join(cuts)
        self.known = np.flatnonzero(layout.labels)
        zero = np.zeros(len(self.known), dtype=np.intp)
        ends = low[self.known] + high[self.known]
        squares = SparseMatrices.make(
            [(zero, 1 + self.known, ends), (1 + self.known, 1 + self.known, -1.0)], (low * high)[self.known]
        )
        # Ends of arcs are a little further out, so that rounding keeps no smaller box from being inside of them.  Those
        # of an open point are on both sides: low <= -1 and high >= 1.
        room = 1e-6  # relative to 1 plus the size of an end
        self.arc_low = np.minimum(low, -1.0) - room * (1 + np.abs(low))
        self.arc_high = np.maximum(high, 1.0) + room * (1 + np.abs(high))
        counted = layout.counted(np.flatnonzero(space.search.summed), space.search.target_sum)
        self._parts = [
            counted,
            squares,
            layout.arcs(self.arc_low, self.arc_high),
            layout.rows(self.cuts),
        ]
        self.rows = SparseMatrices.stack(self._parts)

    def start(self, multipliers: SignMultipliers | None) -> Array:
        """Multipliers of the rows from those of another box or other cuts, shape (m,); those that are new are zero."""
        z, open_ = multipliers, self.layout.open
        if z is None:
            return np.zeros(self.rows.m)
        weights = dict(zip(z.cuts.names(), z.weights, strict=True))
        cuts = [weights.get(name, 0.0) for name in self.cuts.names()]
        # A point whose label has become known has the multiplier of its arc for the square.
        squares = np.where(z.labels == 0, z.square + z.arc, z.square)[self.known]
        count = np.full(self._parts[0].m, z.count)
        return np.concatenate([count, squares, z.arc[open_], cuts])

    def solve(self, R: Array, z: Array, outer: int, inner: int, rounds: Rounds | None = None) -> Turn:
        """A round of the low-rank method, with so many updates of multipliers, and steps for each."""
        rounds = rounds or Rounds()
        layout, n = self.layout, self.layout.n
        signs = 1 + n + np.arange(layout.u)
        point = LowRankSDP(self.space.C, self.rows, layout.N, signs).solve(
            R, z, outer=outer, inner=inner, sigma=rounds.penalty
        )
        S = -self.rows.combine(point.z, layout.N)
        S[: n + 1, : n + 1] += self.space.C
        S[np.diag_indices(layout.N)] -= point.unit
        weight = np.ones(layout.N)
        weight[1 : n + 1] = WEIGHT_OF_OUTPUTS
        root = 1 / np.sqrt(weight)
        values, vectors = scipy.linalg.eigh(
            S * root * root[:, None], subset_by_index=[0, min(rounds.most_added, layout.N) - 1], check_finite=False
        )
        size = float(np.abs(np.diag(self.space.C)).max())
        lacking = max(0.0, -float(values[0])) + 1e-9 * size
        count, squares, arc, weights = np.split(point.z, np.cumsum([part.m for part in self._parts])[:-1])
        square, unit, arcs = np.zeros((3, n))
        square[self.known], unit[layout.open], arcs[layout.open] = squares, -point.unit[signs], arc
        made = SignMultipliers(
            labels=layout.labels, square=square, unit=unit, arc=arcs, arc_low=self.arc_low, arc_high=self.arc_high,
            cuts=self.cuts, weights=weights, count=float(count.sum()),
        )  # fmt: skip
        directions = (vectors * root[:, None])[:, values < -1e-7 * size]
        slack = self._parts[-1].values_of_factor(point.R) - self._parts[-1].b
        return Turn(point, made.lifted(lacking), lacking, directions, slack)


@dataclass(frozen=True, eq=False)
class SignsProof(Proof):
    """Kept multipliers (by number), a convex quadratic that is made of them, and the point whose tangent is the bound.

    ``share`` is the share of the multipliers that is taken; ``lift`` is added to the diagonal of the form for signs,
    and a share of it for outputs: the bound is lower by it, and the ellipsoid of what is below the cutoff is narrower.
    ``x`` has the outputs, and then the signs (:class:`~convex_tsvm.relaxations.signs.quadratic.SignQuadratic`).
    """

    name, has_multipliers = "signs", True
    number: int
    share: float
    x: np.ndarray
    lift: float = 0.0

    def apply(self, model: LabelModel, box: LabelBox, cutoff: float) -> tuple[float, LabelBox]:
        if not model.multipliers[self.number].hold_in(box.low, box.high):
            return -np.inf, box
        form = quadratic(model, self.number, self.share, self.lift)
        bound, low, high = form.consequences(box.low, box.high, self.x.astype(float), cutoff)
        return bound, model.count(box.meet(low, high))

    def store(self) -> Stored:
        return Stored(self.x, self.number, self.share, self.lift)

    @staticmethod
    def read(stored: Stored) -> "SignsProof":
        return SignsProof(stored.number, stored.share, stored.vector, stored.lift)


def quadratic(model: LabelModel, number: int, share: float = 1.0, lift: float = 0.0) -> SignQuadratic:
    """The convex quadratic of a share of kept multipliers with signs, with ``lift`` added to its form."""
    return model.made(
        (number, share, lift),
        lambda: SignQuadratic(model.space, model.multipliers[number].scaled(share).lifted(lift)),
    )


def keep(model: LabelModel, multipliers: SignMultipliers) -> int:
    """Keep multipliers, lifted so that the objective is convex with room for the checker's balls: their number."""
    made = SignQuadratic(model.space, multipliers.without_zeros())
    N = len(made.A) + 1
    spare = 4 * N * (N + 8) * EPS * float(np.abs(np.diag(made.A)).max(initial=0.0))
    return model.keep(made.multipliers.lifted(spare, outputs=1.0))


class Signs(Relaxation):
    """The relaxation with signs, by its own low-rank method; multipliers are used in smaller boxes as well."""

    name, takes = "signs", ("max_rounds",)
    resumable = True
    rounds = Rounds()

    @staticmethod
    def why_not(model: LabelModel) -> str | None:
        if not model.known.squared:
            return f"labeled={model.search.loss!r}: the relaxation with signs is for the squared hinge, with a cost > 0"
        if not np.isfinite(model.space.doubt):
            return "kernel and costs are too far apart in size: scale points or lower C"
        return None

    def tighten(self, work: Work) -> None:
        if not np.isfinite([work.box.low, work.box.high]).all():
            return
        if work.number >= 0:
            self.reuse(work)
        if work.open and self._is_stale(work) and not time_is_up():
            self.relax(work)

    def relax(self, work: Work) -> None:
        """Rounds in this box; below the root they go on from what is known of the box above."""
        at_root = work.region.depth == 0
        progress = work.progress if isinstance(work.progress, Progress) else Progress(work)
        work.unfinished, work.progress = True, progress
        for k in range(2 * self.max_rounds if at_root else self.rounds.below):
            if time_is_up() or (k and time.time() > work.region.pause_at):
                return
            first = at_root and progress.cuts.m == 0
            if not work.open or self._round(work, progress, self.rounds.updates * (2 if first else 1)):
                break
        work.unfinished = False

    def _round(self, work: Work, progress: "Progress", outer: int) -> bool:
        """Solve the program in the box, prove what follows, and find new cuts; whether there is no more to gain."""
        model, z, rounds = work.model, sign_multipliers(work), self.rounds
        program = SignProgram(model.space, work.box.low, work.box.high, progress.cuts)
        R = fitted(work, program.layout, rounds.columns)
        turn = program.solve(R, program.start(z), outer, rounds.steps * progress.effort, rounds)
        value = turn.point.value + model.space.constant
        self._prove(work, turn)
        work.record(self.name, value, program.cuts.m)
        work.memory = with_directions(turn.point.R, turn.directions, rounds), program.layout.labels
        if not work.open or progress.has_stalled(work, value, rounds):
            return True
        weights, X = turn.multipliers.weights, turn.point.R @ turn.point.R.T
        kept = program.cuts.take((weights > rounds.active * weights.max(initial=0.0)) | (turn.slack < rounds.room))
        # Labels may have become known, and then a cut is about fewer signs; X has the rows of the round before.
        progress.cuts = kept.join(program.layout.violated(X, rounds.cuts_per_point * model.n))
        return False

    def _is_stale(self, work: Work) -> bool:
        """Whether new multipliers are to be computed for this box."""
        refresh, levels = work.rules.refresh, work.region.depth - work.since
        if work.number < 0 or work.region.unfinished:
            return True
        if levels == 0 or refresh is None:
            return False
        if isinstance(refresh, int):
            return levels >= refresh
        # The old multipliers cost almost nothing per box, but may need too many boxes below this one.
        gained, lacking = (work.bound - work.base) / levels, work.cutoff - work.bound
        return lacking > self.rounds.levels_kept * gained

    def reuse(self, work: Work) -> None:
        """Prove what the multipliers at hand prove in this box, as long as they settle labels."""
        form = quadratic(work.model, work.number)
        for _ in range(self.rounds.turns):
            proof = SignsProof(work.number, 1.0, single(form.minimize(work.box.low, work.box.high, work.v)))
            work.v = proof.x.astype(float)
            settled = work.prove(proof)
            if not (settled and work.open) or time_is_up():
                break
        if work.open:
            assert work.v is not None
            work.outputs = work.v[: work.model.n]
            self.weigh(work, work.v)
            work.offer(work.outputs)

    def weigh(self, work: Work, x: Array) -> None:
        """Say by how much the bound would rise with a label, from the minimizer x of the multipliers at hand."""
        form, box = quadratic(work.model, work.number), work.box
        row = form.layout.row[1:] - 1
        work.signs = np.where(box.labels != 0, box.labels, x[row])
        work.rates = lambda: np.diag(form.A)[row[box.unknown]]  # all others held

    def _prove(self, work: Work, turn: Turn) -> None:
        """Keep the multipliers, and prove what they prove with several lifts, and shares of them."""
        model, work.number = work.model, keep(work.model, turn.multipliers)
        n = model.n
        scores = turn.point.R[1 : 1 + n, 0]
        x = turn.point.R[1:, 0]
        tries = [(1.0, lift * turn.lacking) for lift in self.rounds.lifts]
        tries += [(share, 0.0) for share in self.rounds.shares]
        work.since, work.base = work.region.depth, work.bound
        for share, lift in tries:
            x = quadratic(model, work.number, share, lift).minimize(work.box.low, work.box.high, x)
            if (share, lift) == (1.0, 0.0):
                work.v = single(x).astype(float)
            work.prove(SignsProof(work.number, share, single(x), lift))
            if not work.open or time_is_up():
                break
        work.base = work.bound
        work.outputs = scores
        work.correlation = correlation(turn.point.R, model.n)
        if work.open:
            self.weigh(work, x if work.v is None else work.v)
            work.offer(scores, thorough=work.region.depth == 0, always=True)


class Progress:
    """The cuts of the next round, and whether rounds have stopped helping."""

    def __init__(self, work: Work) -> None:
        self.bound, self.width, self.value = work.bound, self._width(work), -np.inf
        self.idle, self.effort = 0, 1
        above = sign_multipliers(work)
        self.cuts = SignCuts.none() if above is None else above.cuts

    @staticmethod
    def _width(work: Work) -> float:
        return float((work.box.high - work.box.low).sum())

    def has_stalled(self, work: Work, value: float, rounds: Rounds) -> bool:
        """Whether to stop, after a round with this value of the relaxation, which is no bound."""
        width, cutoff = self._width(work), work.cutoff
        lacking = cutoff - self.bound if np.isfinite(self.bound) else 0.0
        gained = (
            work.bound > self.bound + max(2e-4 * abs(cutoff), 0.02 * lacking)
            or width < 0.99 * self.width
            or value > self.value + 2e-4 * abs(cutoff)
        )
        self.idle = 0 if gained else self.idle + 1
        self.bound, self.width, self.value = max(self.bound, work.bound), width, max(self.value, value)
        # What is lost to multipliers that are not exact is regained by more steps in a round.
        lost, weak = value - self.bound, max(cutoff - value, 0.0)
        exact = lost < rounds.exact * weak
        if not (exact or gained):
            self.effort = min(2 * self.effort, rounds.most_effort)
        return self.idle >= (rounds.idle if exact else rounds.idle_inexact)


def sign_multipliers(work: Work) -> SignMultipliers | None:
    """The multipliers at hand, if there are any."""
    found: SignMultipliers | None = work.model.multipliers[work.number] if work.number >= 0 else None
    return found


def fitted(work: Work, layout: Layout, columns: int) -> Array:
    """A factor R to begin with, R Rᵀ ≈ [1; v; b] [1; v; b]ᵀ: a new one, or that of the box above for open labels."""
    n = layout.n
    if not isinstance(work.memory, tuple):
        rng = np.random.default_rng(0)
        columns = min(columns, layout.N)
        R = rng.standard_normal((layout.N, columns)) / np.sqrt(columns)
        labels = getattr(work.incumbent, "labels", None)
        if labels is not None:
            R[1 : n + 1, 0] += labels
            R[n + 1 :, 0] += labels[layout.open]
        return R
    R, labels = work.memory
    return np.asarray(R[np.concatenate([np.arange(n + 1), Layout(labels).row[1 + layout.open]])])


def with_directions(R: Array, directions: Array, rounds: Rounds) -> Array:
    """A factor of nearly the same matrix, the outputs first, with few columns, and some more for directions."""
    scale = np.linalg.norm(directions[1:], axis=0)
    added = directions[:, scale > 0] * (rounds.norm_added / scale[scale > 0])
    left, size, _ = np.linalg.svd(R[:, 1:], full_matrices=False)
    kept = min(int((size > 1e-2).sum()), max(rounds.columns - 1 - added.shape[1], 1))
    made = np.hstack([R[:, :1], left[:, :kept] * size[:kept], added])
    made[0, 1:] = 0.0
    return made


def correlation(R: Array, n: int) -> Array:
    """How much the outputs vary together: the sum of every one's squared correlations in V - v vᵀ."""
    rest = R[1 : n + 1, 1:]
    covariance = rest @ rest.T
    deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-9))
    return np.asarray(((covariance / np.outer(deviation, deviation)) ** 2).sum(axis=1))
