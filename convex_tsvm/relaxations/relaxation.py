"""What a relaxation is, and what it works on: a box of outputs that becomes smaller, and a bound that rises."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..problem import Array
from .box import Box
from .model import BoundModel
from .proofs import Proof


class Incumbent(Protocol):
    """The best labels so far.

    Attributes
    ----------
    objective : float
        Of their SVM; infinite if there are none.
    """

    objective: float

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Make labels of scores, shape (n,), and keep them if they are better; whether they are."""


@dataclass(frozen=True)
class Stage:
    """One relaxation on the way to a bound.

    Attributes
    ----------
    name : str
    bound : float
        The safe bound known after it.
    relaxed : float
        Its value as the solver left it: no bound.
    n_cuts, n_fixed : int
        Cuts in it; labels that are proven, those given included.
    seconds : float
    status : str
    """

    name: str
    bound: float
    relaxed: float
    n_cuts: int
    n_fixed: int
    seconds: float
    status: str


@dataclass(eq=False)
class Region:
    """A box of outputs, and what is known of it from the box that it is a part of.

    Attributes
    ----------
    box : Box
    depth : int
        How often a box was halved on the way to it.
    bound : float
        No solution in the box is below it.
    gamma, v : array or None
        Where solvers may start.
    number : int
        Multipliers of the model that serve here; -1 for none yet.
    since : int
        Depth at which they were made.
    base : float
        Bound that was reached when they were made.
    """

    box: Box
    depth: int = 0
    bound: float = -np.inf
    gamma: Array | None = None
    v: Array | None = None
    number: int = -1
    since: int = 0
    base: float = -np.inf


@dataclass(frozen=True)
class Rules:
    """When a box is done with.

    Attributes
    ----------
    gap : float
        Relative gap between the incumbent's objective and the bound at which it is closed.
    refresh : int, "auto" or None
        Levels below which the multipliers of a box above are replaced by its own.
    keep_proofs : bool
    """

    gap: float = 1e-6
    refresh: int | str | None = "auto"
    keep_proofs: bool = True

    def cutoff(self, objective: float) -> float:
        """What a box must reach to be closed, at an objective that is known to be reached.

        It is nearer to the objective than ``gap`` by a hundred millionth part, so that rounding does not leave the gap
        that is reported above the one that was asked for.
        """
        return objective - self.gap * (1 - 1e-8) * abs(objective) if np.isfinite(objective) else np.inf


@dataclass(eq=False)
class Work:
    """A region while relaxations work on it.

    Attributes
    ----------
    model : BoundModel
    region : Region
        Where the work began.
    incumbent : Incumbent
    rules : Rules
    callback : callable or None
        Called with every stage.
    box, bound, gamma, v, number, since, base
        As of :class:`Region`, now.
    proofs : list of (Proof, float)
        What has been proven, each with the cutoff that it was made for.
    stages : list of Stage
    outputs : array, shape (n,)
        The last relaxation's.
    rates : callable
        By how much the bound rises with the square of a change of each output without a label.
    correlation : array, shape (n,), or None
        How much outputs vary together in an SDP relaxation made here.
    duals : dict of arrays
        What proves the last relaxation's bound.
    """

    model: BoundModel
    region: Region
    incumbent: Incumbent
    rules: Rules
    callback: Callable[[Stage], None] | None = None
    proofs: list[tuple[Proof, float]] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    correlation: Array | None = None
    duals: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        region = self.region
        self.box, self.bound, self.gamma, self.v = region.box, region.bound, region.gamma, region.v
        self.number, self.since, self.base = region.number, region.since, region.base
        self.outputs: Array = np.zeros(self.model.n)
        self.rates: Callable[[], Array]
        self._began = time.perf_counter()

    @property
    def cutoff(self) -> float:
        """What the bound must reach for the box to be closed."""
        return self.rules.cutoff(self.incumbent.objective)

    @property
    def open(self) -> bool:
        """Whether a better solution may be in the box."""
        return not self.box.is_empty and self.bound < self.cutoff

    def prove(self, proof: Proof) -> bool:
        """Take what a proof gives; whether it settles a label or closes the box."""
        cutoff = self.cutoff
        bound, box = proof.apply(self.model, self.box, cutoff)
        n_before = len(self.box.unknown)
        narrower = (box.low > self.box.low + 1e-9).any() or (box.high < self.box.high - 1e-9).any()
        if bound <= self.bound and not narrower:
            return False
        if self.rules.keep_proofs:
            self.proofs.append((proof, cutoff))
        self.bound, self.box = max(self.bound, bound), box
        if box.is_empty:
            self.bound = max(self.bound, cutoff)
        return not self.open or len(box.unknown) < n_before

    def offer(self, scores: Array, *, thorough: bool = False, always: bool = False) -> None:
        """Labels of a relaxation's point for the incumbent; now and then only, unless ``always``: they cost a bound."""
        if always or self.region.depth % 4 == 0:
            self.incumbent.offer(np.where(self.box.labels != 0, self.box.labels, scores), thorough=thorough)

    def record(self, name: str, relaxed: float, n_cuts: int = 0, status: str = "optimal") -> None:
        """A stage, for reports."""
        now = time.perf_counter()
        n_fixed = int((self.box.labels != 0).sum()) if not self.box.is_empty else self.model.n
        stage = Stage(name, self.bound, relaxed, n_cuts, n_fixed, now - self._began, status)
        self._began = now
        self.stages.append(stage)
        if self.callback is not None:
            self.callback(stage)


class Relaxation(ABC):
    """A way to bound the objective of all solutions in a box; :data:`convex_tsvm.table.RELAXATIONS` lists them.

    Parameters
    ----------
    solver : str
        Of SDPs.
    tol : float
        Relative accuracy of its value.
    max_rounds : int
        Rounds of cuts at the root.
    cuts_per_round : int or None
        Of each kind; as many as points if None.
    """

    def __init__(
        self, *, solver: str = "auto", tol: float = 1e-4, max_rounds: int = 30, cuts_per_round: int | None = None
    ) -> None:
        self.solver, self.tol = solver, tol
        self.max_rounds, self.cuts_per_round = max_rounds, cuts_per_round

    @staticmethod
    @abstractmethod
    def why_not(model: BoundModel) -> str | None:
        """Why there is none for the formulation or problem of a model, or None if there is."""

    @abstractmethod
    def tighten(self, work: Work) -> None:
        """Prove bounds and ends of outputs, until the box is closed or there is no more to prove."""
