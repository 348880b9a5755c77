"""Exact class balance by a search on the linear one (chapelle2008 §4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ..instance import Instance
from ..notice import warn
from ..solution import Solution

#: The balance c is searched in ±MOST_BALANCE.
MOST_BALANCE = 1 - 1e-6

#: From a solution that misses at most this share of the unlabelled points on, its minimum is tracked: each descent
#: starts at the nearest solution so far.  That takes less time than descents from nothing, and falls into no other
#: minimum, whose number of positives may jump.
TRACKED_MISS = 0.05

#: Tracking ends after so many descents, or when so many in a row have changed no label: some minima hold their labels
#: whatever c is, and are left by descents from nothing.
TRACKED_DESCENTS, HELD_DESCENTS = 8, 2


class _Bracket:
    """Two balances c of which one has too few positive labels and the other too many, and the next c between them.

    Parameters
    ----------
    few, many : float
        How far from the number wanted it is at both ends; at first as if every label were the mean.
    start : float
        The first c.
    step : float or None
        The first step from there, doubled until the number is on the other side; None if c may be anywhere between.
    """

    def __init__(self, few: float, many: float, start: float, step: float | None = None) -> None:
        self.low, self.high, self.few, self.many, self.c = -MOST_BALANCE, MOST_BALANCE, few, many, start
        self.step, self._before, self._evaluated, self._held = step, 0.0, 0, 0

    @property
    def width(self) -> float:
        """The difference of the ends."""
        return self.high - self.low

    @property
    def leads_nowhere(self) -> bool:
        """Whether labels hold, or many descents have not brought the number wanted."""
        return self._held >= HELD_DESCENTS or self._evaluated > TRACKED_DESCENTS

    def narrow(self, miss: float) -> None:
        """Let c, which misses by so many labels, be an end, and propose the next one."""
        # Where the same end stays, what is known of it counts for less each time, so that it moves as well.
        same = 0.5 if miss * self._before > 0 else 1.0
        if miss < 0:
            self.low, self.few, self.many = self.c, miss, self.many * same
        else:
            self.high, self.many, self.few = self.c, miss, self.few * same
        self._held = self._held + 1 if miss == self._before else 0
        self._before, self._evaluated = miss, self._evaluated + 1
        closed = self.low > -MOST_BALANCE and self.high < MOST_BALANCE
        if self.step is not None and not closed:
            self.c, self.step = self.c - np.sign(miss) * self.step, 2 * self.step
            if abs(self.c) < MOST_BALANCE:
                return
        # Every third time a bracket with known ends is halved, whatever the counts say: they may jump.
        share = 0.5 if closed and self._evaluated % 3 == 0 else self.few / (self.few - self.many)
        self.c = self.low + self.width * min(max(share, 0.05), 0.95)


class _Next:
    """Which c is next: in the bracket of all solutions, or in one around a solution that is near.

    Attributes
    ----------
    is_tracking : bool
        Whether it is the latter; descents then go on from the nearest solution.
    """

    def __init__(self, n_unlabeled: int, wanted: int, start: float) -> None:
        self._n_unlabeled = n_unlabeled
        self._whole, self._tracked = _Bracket(-float(wanted), float(n_unlabeled - wanted), start), None
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

    def narrow(self, miss: float, nearer: bool) -> None:
        """The solution for c misses by so many labels, and is the nearest so far or not."""
        if self._tracked is not None:
            self._tracked.narrow(miss)
            if self._tracked.leads_nowhere or self._tracked.width < self._narrow:
                self._tracked = None
            return
        c = self._whole.c
        self._whole.narrow(miss)
        if nearer and abs(miss) <= TRACKED_MISS * self._n_unlabeled:
            # A bracket of its own: other minima say nothing of this one.
            self._tracked = _Bracket(-abs(miss), abs(miss), c, 2 * abs(miss) / self._n_unlabeled)
            self._tracked.narrow(miss)


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

    def take(self, solution: Solution) -> tuple[float, bool]:
        """By how many labels a solution misses, with the sign, and whether it is the nearest so far."""
        self._seconds += solution.seconds
        miss = float((solution.labels[self.unlabeled] > 0).sum() - self.wanted)
        nearer = abs(miss) < self.misses_by
        if nearer:
            self.solution, self.misses_by = solution, int(abs(miss))
        self.stopped = solution.status if solution.status in ("interrupted", "time_limit") else ""
        return miss, nearer

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

    The mean output c of the linear balance constraint is not the mean label; but more points turn positive as it
    rises, so a c is bracketed for which chapelle2008 eq. 3 holds, and the bracket is narrowed by false position and by
    halving.  Once a solution is near, the minimum that it is in is tracked.  Where the number of positives jumps over
    the one wanted, the nearest solution is returned, with a warning.

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
    nearest, c_next = _Nearest(instance, wanted), _Next(problem.n_unlabeled, wanted, c)
    for _ in range(max_iter):
        try:
            start = nearest.solution if c_next.is_tracking else None
            solution = solve(instance.with_mean(c_next.c), start)
        except KeyboardInterrupt:
            nearest.interrupt()
            break
        miss, nearer = nearest.take(solution)
        if miss == 0 or nearest.stopped:
            break
        c_next.narrow(miss, nearer)
        if c_next.is_over:
            break
    return nearest.result()
