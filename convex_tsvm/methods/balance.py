"""Exact class balance by a search on the linear one (chapelle2008 §4)."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable

from ..problem import Problem
from ..solution import Solution

#: The balance c is searched in ±LARGEST.
LARGEST = 1 - 1e-6


def search_balance(solve: Callable[[Problem], Solution], problem: Problem, max_iter: int = 30) -> Solution:
    """Dichotomic search for the c whose solution labels the wanted number of unlabelled points +1.

    The mean output c of the linear balance constraint is not the mean label; but more points turn positive as it
    rises, so bisection finds a c for which chapelle2008 eq. 3 holds.  Where the number of positives jumps over the
    one wanted, the nearest solution is returned, with a warning.

    Parameters
    ----------
    solve : callable
        Solves a problem with a linear balance.
    problem : Problem
        With an exact balance.
    max_iter : int
        Limit on solves.
    """
    wanted = problem.positive_count
    if wanted is None or problem.balance_target is None:
        raise ValueError(f"balance={problem.balance!r} must be ('exact', r) for a search")
    low, high, c = -LARGEST, LARGEST, problem.balance_target
    # In a bracket this narrow no more than a point or two change sides, unless CCCP falls into another minimum.
    narrow = 0.1 / max(problem.n_unlabeled, 1000)
    best, best_miss, seconds = None, problem.n + 1, 0.0
    interrupted = False
    for _ in range(max_iter):
        try:
            solution = solve(problem.replace(balance=c))
        except KeyboardInterrupt:
            # This c had no result yet; those before it are kept.
            if best is None:
                raise
            interrupted = True
            break
        seconds += solution.seconds
        count = int((solution.labels[problem.unlabeled] > 0).sum())
        if abs(count - wanted) < best_miss:
            best, best_miss = solution, abs(count - wanted)
        interrupted = solution.status == "interrupted"
        if count == wanted or interrupted:
            break
        low, high = (c, high) if count < wanted else (low, c)
        c = (low + high) / 2
        if high - low < narrow:
            break
    if best is None:
        raise ValueError(f"max_iter={max_iter!r} must be an integer >= 1")
    if interrupted:
        warnings.warn("interrupted: the best balance so far is returned", stacklevel=4)
        return dataclasses.replace(best, seconds=seconds, status="interrupted")
    if best_miss:
        warnings.warn(f"no balance c gives {wanted} positive labels; the nearest misses by {best_miss}", stacklevel=4)
    return dataclasses.replace(best, seconds=seconds)
