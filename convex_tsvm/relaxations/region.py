"""What a relaxation is, and what it works on: a box of outputs that becomes smaller, and a bound that rises."""

import reprlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from ..deadline import time_is_up
from ..problem import Array
from ..solution import relative_gap
from .proof import Proof
from .rounding import UNDERFLOW


class Incumbent(Protocol):
    """The best solution so far, with its objective: infinite if there is none."""

    objective: float

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Make a solution of scores, shape (n,), and keep it if it is the best so far; whether it was kept."""


@dataclass(frozen=True)
class Stage:
    """One relaxation on the way to a bound.

    ``bound`` is the safe bound known after it, ``relaxed`` its value as the solver left it, which is none; ``n_fixed``
    are the labels that are proven, those given included.
    """

    name: str
    bound: float
    relaxed: float
    n_cuts: int
    n_fixed: int
    seconds: float
    status: str


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound of an S3VM's optimum, and what was found on the way.

    Attributes
    ----------
    value : float
        A proven lower bound of the formulation's optimum over all labellings that agree with the labels given; or, if
        ``upper`` was given and is smaller, of that.
    relaxed : float
        The value of the last relaxation as its solver left it: no bound.
    upper, labels : float; array, shape (n,), or None
        The least objective known, and labels whose SVM has it.
    scores : array, shape (n,)
        Labels before thresholding, as the last relaxation has them.
    proven : array, shape (n,)
        Labels that every solution better than ``upper`` must have; 0 where that is not known.
    duals : dict of arrays
        The dual variables behind the last relaxation's bound: "gamma" of the SVM; "alpha" and "multipliers" of the SDP
        (:func:`~convex_tsvm.relaxations.transduction_bound`); "gamma" and "curvature" of a relaxation by envelopes,
        with the ends "low" and "high" of the outputs that it is for.
    status : {"optimal", "inaccurate", "failed", "time_limit", "interrupted"}
        The worst of the solvers' ("optimal" also if the gap is closed); the bound holds whatever it is.
    proofs : tuple of (Proof, float)
        What proves the value, one step after the other, each with the cutoff that it was made for: a certificate of
        exact search stores the same.

    Examples
    --------
    >>> bound = ct.LowerBoundBuilder(ct.s3vm(), problem).bound()
    >>> bound.status, bool(bound.value <= bound.upper), bound.gap < 0.01
    ('optimal', True, True)
    """

    value: float
    relaxed: float
    upper: float
    labels: Array | None
    scores: Array
    proven: Array
    duals: dict[str, Array] = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    status: str = "optimal"
    proofs: tuple[tuple[Proof, float], ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """(upper - value) / upper."""
        return relative_gap(self.upper, self.value)

    def __repr__(self) -> str:
        return f"Bound(value={self.value:.8g}, upper={self.upper:.8g}, gap={self.gap:.2g}, status={self.status!r})"

    def __str__(self) -> str:
        proven = int((self.proven != 0).sum())
        lines = [
            f"no solution is below {self.value:.8g}",
            f"the best one known has {self.upper:.8g} (gap {100 * self.gap:.2f} %)",
            f"{proven} of {len(self.proven)} labels are known or proven",
        ]
        lines += [
            f"{stage.name}: {stage.bound:.8g} after {stage.seconds:.2g} s ({stage.status})" for stage in self.stages
        ]
        return "\n".join(lines)


@dataclass(eq=False)
class Region:
    """A box of outputs, and what is known of it from the larger box that it is a part of."""

    box: Any  # a Box, or for searches for labels a LabelBox
    depth: int = 0  # how often a box was split on the way to this one; 0 at the root
    bound: float = -np.inf
    gamma: Array | None = None  # where solvers may start
    v: Array | None = None
    number: int = -1  # the place of the multipliers to be used here among those of the model; -1 for none yet
    since: int = 0  # the depth at which these multipliers were made
    base: float = -np.inf  # the bound that was reached then
    memory: object = None  # what a relaxation hands down to the boxes below
    unfinished: bool = False  # whether a relaxation ran out of time here, and may go on where it was
    progress: object = None  # what that relaxation has to know of its rounds so far
    pause_at: float = np.inf  # time of the clock, in seconds, at which it is to stop after a round, to go on later


@dataclass(frozen=True)
class Rules:
    """When a box is closed, and what is done for it."""

    gap: float = 1e-6  # it is closed at this relative gap between the incumbent's objective and its bound
    refresh: int | str | None = "auto"  # levels after which it gets multipliers of its own, or never; "auto" decides
    keep_proofs: bool = True
    alone: bool = False  # no search follows, so that more is worth its time
    threshold: float | None = None  # where it is closed instead, whatever the objective is

    def cutoff(self, objective: float) -> float:
        """The bound at which a box is closed, for the objective of the incumbent; infinite if that is.

        It is nearer to the objective than ``gap`` says by a share of 10⁻⁸, or rounding could leave a larger gap than
        asked for.
        """
        if self.threshold is not None:
            return self.threshold
        return objective - self.gap * (1 - 1e-8) * abs(objective) if np.isfinite(objective) else np.inf


@dataclass(eq=False)
class Work:
    """A region while relaxations work on it: ``region`` is where the work began.

    Attributes
    ----------
    box, bound, gamma, v, number, since, base, memory
        What :class:`Region` has under these names, as it is now; ``turn`` regions were worked on before.
    proofs : list of (Proof, float)
        The proofs so far, in their order, each with the cutoff that it was made for.
    outputs : array, shape (n,)
        Those of the last relaxation.
    rates : callable
        Returns by how much the bound rises with the square of a change of each output without a label.
    signs, correlation : array, shape (n,), or None
        What the relaxation has for the signs of the outputs, and how much each varies together with the others.
    split : callable or None
        Returns an output and a place at which the box may be split for the bound to rise, or None if there is none; of
        relaxations that know where their losses are not convex.
    duals : dict of arrays
        The dual variables of the last relaxation, as in :class:`~convex_tsvm.relaxations.Bound`.
    """

    model: Any
    region: Region
    incumbent: Incumbent
    rules: Rules
    callback: Callable[[Stage], None] | None = None
    turn: int = 0
    proofs: list[tuple[Proof, float]] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    correlation: Array | None = None
    duals: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        region = self.region
        self.box, self.bound, self.gamma, self.v = region.box, region.bound, region.gamma, region.v
        self.number, self.since, self.base, self.memory = region.number, region.since, region.base, region.memory
        self.unfinished, self.progress = False, region.progress
        self.outputs: Array = np.zeros(self.model.n)
        self.rates: Callable[[], Array]
        self.split: Callable[[], tuple[int, float] | None] | None = None
        self.signs: Array | None = None
        self._began = time.perf_counter()
        self._idle: tuple[Proof, float] | None = None  # the proof of the bound, if it leaves the box as it is

    @property
    def cutoff(self) -> float:
        """The bound at which the box is closed."""
        return self.rules.cutoff(self.incumbent.objective)

    @property
    def open(self) -> bool:
        """Whether a better solution may be in the box."""
        return not self.box.is_empty and self.bound < self.cutoff

    def region_left(self, box: Any = None, depth: int | None = None) -> Region:
        """What is left of the region, or a part of it at some depth."""
        return Region(
            self.box if box is None else box, self.region.depth if depth is None else depth, self.bound, self.gamma,
            self.v, self.number, self.since, self.base, self.memory, self.unfinished, self.progress,
        )  # fmt: skip

    def prove(self, proof: Proof) -> bool:
        """Apply a proof to the box and the bound; whether that settles a label or closes the box."""
        cutoff = self.cutoff
        bound, box = checked(proof, proof.apply(self.model, self.box, cutoff), self.box)
        narrower = (box.low > self.box.low + 1e-9).any() or (box.high < self.box.high - 1e-9).any()
        if bound <= self.bound and not narrower:
            return False
        before = self.model.proven(self.box)
        self.accept(proof, cutoff, bound, box)
        return not self.open or bool((self.model.proven(box) != before).any())

    def accept(self, proof: Proof, cutoff: float, bound: float, box: Any) -> None:
        """Take what a proof was found to prove for a cutoff."""
        bound, box = checked(proof, (bound, box), self.box)
        narrower = bool((box.low > self.box.low).any() or (box.high < self.box.high).any())
        if bound > self.bound and self._idle is not None:
            self.proofs = [one for one in self.proofs if one is not self._idle]  # another is in its place now
        if self.rules.keep_proofs and (narrower or bound > self.bound):
            self.proofs.append((proof, cutoff))
            self._idle = self._idle if bound <= self.bound else None if narrower else self.proofs[-1]
        self.bound, self.box = max(self.bound, bound), box
        if box.is_empty:
            self.bound = max(self.bound, self.cutoff)

    def offer(self, scores: Array, *, thorough: bool = False, always: bool = False) -> None:
        """Offer outputs to the incumbent, as long as a bound takes: at every fourth depth, or ``always``."""
        if always or self.region.depth % 4 == 0:
            self.incumbent.offer(self.model.scores(self.box, scores), thorough=thorough)

    def record(self, name: str, relaxed: float, n_cuts: int = 0, status: str = "optimal") -> None:
        """Add a stage to the report, and call the callback with it."""
        now = time.perf_counter()
        if status == "optimal" and self.open and time_is_up():
            status = "time_limit"
        relaxed = 0.0 if abs(relaxed) <= UNDERFLOW else relaxed
        proven = self.model.proven(self.box)
        n_fixed = len(proven) if self.box.is_empty else int((proven != 0).sum())
        stage = Stage(name, self.bound, relaxed, n_cuts, n_fixed, now - self._began, status)
        self._began = now
        self.stages.append(stage)
        if self.callback is not None:
            self.callback(stage)


def checked(proof: Proof, found: Any, box: Any) -> tuple[float, Any]:
    """What a proof says of a box, if it is a bound and a part of the box; else a ValueError that names its class."""
    try:
        bound, left = found
        fits = not np.isnan(float(bound)) and left.low.shape == box.low.shape == left.high.shape
    except (TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise ValueError(
            f"the proof {type(proof).__name__} says {reprlib.repr(found)} of a box: it must be a bound and a "
            "box; the bound may be inf where nothing in the box is a solution"
        )
    return float(bound), left


class Relaxation(ABC):
    """A way to bound the objective of all solutions in a box; :data:`convex_tsvm.table.RELAXATIONS` lists ours.

    A subclass says for which problems it is (:meth:`why_not`), and in :meth:`tighten` it hands proofs to the work:
    each is a :class:`~convex_tsvm.relaxations.Proof`, whose :meth:`apply` makes a bound of a box by arithmetic alone.
    The options are those of :class:`~convex_tsvm.LowerBoundBuilder`, which takes such a class as ``relaxation``, as
    exact search does as ``bounds``.

    Attributes
    ----------
    about : {"labels", "outputs", "weights"}
        What boxes are about, and so which kind of :class:`~convex_tsvm.relaxations.BoundModel` there is.
    takes : tuple of str
        Which of the options "solver" and "max_rounds" it looks at; the command line refuses the others.
    closes : bool
        Whether it closes every box that cannot be split, so that a search may rest on it alone.  One that does not is
        asked after one that does.
    resumable : bool
        Whether it goes on where it ran out of time, which ``work.unfinished`` then says.
    """

    about: ClassVar[str] = "labels"
    takes: ClassVar[tuple[str, ...]] = ()
    closes: ClassVar[bool] = False
    resumable: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.about not in ("labels", "outputs", "weights"):
            raise TypeError(f"{cls.__name__}: about={cls.about!r} must be 'labels', 'outputs' or 'weights'")

    def __init__(self, *, solver: str = "auto", tol: float = 1e-4, max_rounds: int = 30) -> None:
        self.solver, self.tol, self.max_rounds = solver, tol, max_rounds

    @staticmethod
    @abstractmethod
    def why_not(model: Any) -> str | None:
        """Why there is none for the formulation or problem of a model (``model.instance``), or None if there is."""

    @abstractmethod
    def tighten(self, work: Work) -> None:
        """Prove bounds and ends of outputs, until the box is closed or there is no more to prove."""

    def finish(self, work: Work) -> None:  # noqa: B027
        """Close a box that is open and cannot be split, if the relaxation ``closes`` such."""
