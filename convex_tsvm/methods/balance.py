"""Exact class balance by a search on the linear one (chapelle2008 §4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ..instance import Instance
from ..notice import warn
from ..solution import Solution

#: The balance c is searched in ±LARGEST.
LARGEST = 1 - 1e-6

#: From a solution that misses at most this share of the unlabelled points on, its minimum is tracked: each descent
#: starts at the nearest solution so far.  That takes less time than descents from nothing, and falls into no other
#: minimum, whose number of positives may jump.
NEAR = 0.05

#: Tracking ends after so many descents, or when so many in a row have changed no label: some minima hold their labels
#: whatever c is, and are left by descents from nothing.
TRACKED, HELD = 8, 2


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
        self.low, self.high, self.few, self.many, self.c = -LARGEST, LARGEST, few, many, start
        self.step, self._before, self._evaluated, self._held = step, 0.0, 0, 0

    @property
    def width(self) -> float:
        """The difference of the ends."""
        return self.high - self.low

    @property
    def leads_nowhere(self) -> bool:
        """Whether labels hold, or many descents have not brought the number wanted."""
        return self._held >= HELD or self._evaluated > TRACKED

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
        closed = self.low > -LARGEST and self.high < LARGEST
        if self.step is not None and not closed:
            self.c, self.step = self.c - np.sign(miss) * self.step, 2 * self.step
            if abs(self.c) < LARGEST:
                return
        # Every third time a bracket with known ends is halved, whatever the counts say: they may jump.
        share = 0.5 if closed and self._evaluated % 3 == 0 else self.few / (self.few - self.many)
        self.c = self.low + self.width * min(max(share, 0.05), 0.95)


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
    # In a bracket this narrow no more than a point or two change sides, unless the method falls into another minimum.
    narrow = 0.5 / max(problem.n_unlabeled, 1000)
    best, best_miss, seconds = None, problem.n + 1, 0.0
    bracket, stopped = _Bracket(-float(wanted), float(problem.n_unlabeled - wanted), c), ""
    tracked: _Bracket | None = None
    for _ in range(max_iter):
        try:
            solution = solve(instance.with_mean((tracked or bracket).c), best if tracked else None)
        except KeyboardInterrupt:
            # This c had no result yet; those before it are kept.
            if best is None:
                raise
            stopped = "interrupted"
            break
        seconds += solution.seconds
        miss = float((solution.labels[problem.unlabeled] > 0).sum() - wanted)
        improved = abs(miss) < best_miss
        if improved:
            best, best_miss = solution, int(abs(miss))
        stopped = solution.status if solution.status in ("interrupted", "time_limit") else ""
        if miss == 0 or stopped:
            break
        if tracked:
            tracked.narrow(miss)
            if tracked.leads_nowhere or tracked.width < narrow:
                tracked = None
        else:
            c = bracket.c
            bracket.narrow(miss)
            if improved and best_miss <= NEAR * problem.n_unlabeled:
                # A bracket of its own: other minima say nothing of this one.
                tracked = _Bracket(-abs(miss), abs(miss), c, 2 * abs(miss) / problem.n_unlabeled)
                tracked.narrow(miss)
        if tracked is None and bracket.width < narrow:
            break
    if best is None:
        raise ValueError(f"max_iter={max_iter!r} must be an integer >= 1")
    if stopped:
        warn(f"{stopped}: the best balance so far is returned")
        return dataclasses.replace(best, seconds=seconds, status=stopped)
    if best_miss:
        warn(f"no balance c gives {wanted} positive labels; the nearest misses by {best_miss}")
    return dataclasses.replace(best, seconds=seconds)
