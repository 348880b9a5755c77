"""Exact class balance by a search on the linear one (chapelle2008 §4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ..instance import Instance
from ..notice import warn
from ..problem import MOST_MEAN
from ..solution import Solution

#: The balance c is searched in ±MOST_BALANCE, which is far beyond the outputs of points that pay little.
MOST_BALANCE = MOST_MEAN * (1 - 1e-9)

#: From a solution that misses at most this share of the unlabelled points on, its minimum is tracked: each descent
#: starts at the nearest solution so far.  That takes less time than descents from nothing, and falls into no other
#: minimum, whose number of positives may jump.
TRACKED_MISS = 0.05

#: Tracking ends after so many descents, or when so many in a row have changed no label: some minima hold their labels
#: whatever c is, and are left by descents from nothing.
TRACKED_DESCENTS, HELD_DESCENTS = 8, 2

#: A miss of at most the first share of the number wanted is near enough after so many descents; one of the second share
#: after so many descents from nothing, since the number of positives then jumps.
NEAR_ENOUGH, PATIENT_DESCENTS = 0.01, 8
NEAR_A_JUMP, MOST_ANEW = 0.05, 6

#: The first step of c is at most this many times what the labels that are missed change the mean label by.
MOST_STEP = 4.0


class _Bracket:
    """Two balances c of which one has too few positive labels and the other too many, and the next c between them.

    A solution's *excess* is the output that divides the number of positives wanted from the other points: the points
    would be divided there if the bias were lower by it, and c with it.  It is negative where positives are too few.

    Parameters
    ----------
    n_unlabeled : int
    start : float
        The first c.
    """

    def __init__(self, n_unlabeled: int, start: float) -> None:
        self._n_unlabeled = n_unlabeled
        self.low, self.high, self.c = -MOST_BALANCE, MOST_BALANCE, start
        self._few: float | None = None
        self._many: float | None = None
        self._step, self._before, self._evaluated, self._held = 0.0, 0.0, 0, 0

    @property
    def width(self) -> float:
        """The difference of the ends."""
        return self.high - self.low

    @property
    def leads_nowhere(self) -> bool:
        """Whether labels hold, or many descents have not brought the number wanted."""
        return self._held >= HELD_DESCENTS or self._evaluated > TRACKED_DESCENTS

    def narrow(self, miss: float, excess: float) -> None:
        """Let c, which misses by so many labels, be an end, and propose the next one."""
        # Where the same end stays, what is known of it counts for less each time, so that it moves as well.
        same = miss * self._before > 0
        if miss < 0:
            self.low, self._few = self.c, min(excess, 0.0)
            self._many = self._many if self._many is None or not same else 0.5 * self._many
        else:
            self.high, self._many = self.c, max(excess, 0.0)
            self._few = self._few if self._few is None or not same else 0.5 * self._few
        self._held = self._held + 1 if miss == self._before else 0
        self._before, self._evaluated = miss, self._evaluated + 1
        if self._few is None or self._many is None:
            # As many labels as are missed change the mean of all labels by this; outputs may need more, or less.
            labels = 2 * abs(miss) / self._n_unlabeled
            step = max(float(np.clip(abs(excess), labels, MOST_STEP * labels)), self._step)
            self._step = 2 * step
            self.c -= float(np.sign(miss)) * step
            if self.low < self.c < self.high:
                return
            self.c = 0.5 * (self.low + self.high)
            return
        # Every third time the bracket is halved, whatever the outputs say: they may jump.
        span = self._many - self._few
        share = 0.5 if self._evaluated % 3 == 0 or span <= 0 else -self._few / span
        self.c = self.low + self.width * min(max(share, 0.05), 0.95)


class _Next:
    """Which c is next: in the bracket of all solutions, or in one around a solution that is near.

    Attributes
    ----------
    is_tracking : bool
        Whether it is the latter; descents then go on from the nearest solution.
    """

    def __init__(self, n_unlabeled: int, start: float) -> None:
        self._n_unlabeled = n_unlabeled
        self._whole, self._tracked = _Bracket(n_unlabeled, start), None
        # In a bracket this narrow no more than a point or two change sides, unless the method falls into another
        # minimum.
        self._narrow = 0.5 / max(n_unlabeled, 1000)

    _tracked: _Bracket | None

    @property
    def is_tracking(self) -> bool:
        return self._tracked is not None

    @property
    def c(self) -> float:
        """The next c."""
        return (self._tracked or self._whole).c

    @property
    def is_over(self) -> bool:
        """Whether the bracket of all solutions is too narrow for another c."""
        return self._tracked is None and self._whole.width < self._narrow

    def narrow(self, miss: float, excess: float, nearer: bool) -> None:
        """The solution for c misses by so many labels, and is the nearest so far or not."""
        if self._tracked is not None:
            self._tracked.narrow(miss, excess)
            if self._tracked.leads_nowhere or self._tracked.width < self._narrow:
                self._tracked = None
            return
        c = self._whole.c
        self._whole.narrow(miss, excess)
        if nearer and abs(miss) <= TRACKED_MISS * self._n_unlabeled:
            # A bracket of its own: other minima say nothing of this one.
            self._tracked = _Bracket(self._n_unlabeled, c)
            self._tracked.narrow(miss, excess)


class _Nearest:
    """The solution so far that misses the number of positive labels wanted by least.

    Attributes
    ----------
    misses_by : int
        By how many labels.
    stopped : str
        Why the search has to end before its time: "interrupted", "time_limit", or "".
    """

    def __init__(self, instance: Instance, wanted: int) -> None:
        self.unlabeled, self.wanted = instance.problem.unlabeled, wanted
        self.solution: Solution | None = None
        self.misses_by, self.stopped, self._seconds = instance.problem.n + 1, "", 0.0

    def excess(self, solution: Solution) -> float:
        """The output in the middle between the last point that is to be positive and the first that is not."""
        ordered = np.sort(solution.scores[self.unlabeled])[::-1]
        last, first = ordered[max(self.wanted - 1, 0)], ordered[min(self.wanted, len(ordered) - 1)]
        return float(0.5 * (last + first))

    def take(self, solution: Solution) -> tuple[float, bool]:
        """By how many labels a solution misses, with the sign, and whether it is the nearest so far."""
        self._seconds += solution.seconds
        miss = float((solution.labels[self.unlabeled] > 0).sum() - self.wanted)
        nearer = abs(miss) < self.misses_by
        if nearer:
            self.solution, self.misses_by = solution, int(abs(miss))
        self.stopped = solution.status if solution.status in ("interrupted", "time_limit") else ""
        return miss, nearer

    def is_near_enough(self, count: int, anew: int) -> bool:
        """Whether what is missed is worth no further descents, after so many in all and so many from nothing."""
        share = self.misses_by / max(min(self.wanted, len(self.unlabeled) - self.wanted), 1)
        return (count >= PATIENT_DESCENTS and share <= NEAR_ENOUGH) or (anew >= MOST_ANEW and share <= NEAR_A_JUMP)

    def interrupt(self) -> None:
        """Ctrl-C came before a solution was there: those before it are kept, if there are any."""
        if self.solution is None:
            raise KeyboardInterrupt
        self.stopped = "interrupted"

    def result(self) -> Solution:
        """The solution, with the seconds of all, and a warning if it is not what was wanted."""
        assert self.solution is not None
        if self.stopped:
            warn(f"{self.stopped}: the best balance so far is returned")
            return dataclasses.replace(self.solution, seconds=self._seconds, status=self.stopped)
        if self.misses_by:
            warn(f"no balance c gives {self.wanted} positive labels; the nearest misses by {self.misses_by}")
        return dataclasses.replace(self.solution, seconds=self._seconds)


def search_balance(
    solve: Callable[[Instance, Solution | None], Solution], instance: Instance, max_iter: int = 30
) -> Solution:
    """Search for the c whose solution labels the wanted number of unlabelled points +1 (chapelle2008 §4).

    The mean output c of the linear balance constraint is not the mean label, and may well be beyond ±1; but more points
    turn positive as it rises, so a c is bracketed for which chapelle2008 eq. 3 holds.  Steps come from the output that
    divides the number wanted from the other points, which is to be 0: by as much c is changed at first, and once there
    is a bracket, by false position and by halving.  Once a solution is near, the minimum that it is in is tracked.
    Where the number of positives jumps over the one wanted, the nearest solution is returned, with a warning.

    Parameters
    ----------
    solve : callable
        Solves an instance with a linear balance, and goes on from a solution nearby if it is given one.
    instance : Instance
        With a prescribed number of positive labels.
    max_iter : int
        Limit on solves.
    """
    problem, wanted, c = instance.problem, instance.n_positive, instance.target
    if wanted is None or c is None:
        raise ValueError(f"{instance.balance} must be ('exact', r) for a search")
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be an integer >= 1")
    nearest, c_next, n_anew = _Nearest(instance, wanted), _Next(problem.n_unlabeled, c), 0
    for count in range(1, max_iter + 1):
        try:
            start = nearest.solution if c_next.is_tracking else None
            n_anew += start is None
            solution = solve(instance.with_mean(c_next.c), start)
        except KeyboardInterrupt:
            nearest.interrupt()
            break
        miss, nearer = nearest.take(solution)
        if miss == 0 or nearest.stopped:
            break
        c_next.narrow(miss, nearest.excess(solution), nearer)
        if c_next.is_over or nearest.is_near_enough(count, n_anew):
            break
    return nearest.result()
