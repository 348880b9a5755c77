"""Exact class balance by a search on the linear one (chapelle2008 §4)."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable

from ..instance import Instance
from ..solution import Solution

#: The balance c is searched in ±LARGEST.
LARGEST = 1 - 1e-6


def search_balance(solve: Callable[[Instance], Solution], instance: Instance, max_iter: int = 30) -> Solution:
    """Dichotomic search for the c whose solution labels the wanted number of unlabelled points +1.

    The mean output c of the linear balance constraint is not the mean label; but more points turn positive as it
    rises, so bisection finds a c for which chapelle2008 eq. 3 holds.  Where the number of positives jumps over the
    one wanted, the nearest solution is returned, with a warning.

    Parameters
    ----------
    solve : callable
        Solves an instance with a linear balance.
    instance : Instance
        With a prescribed number of positive labels.
    max_iter : int
        Limit on solves.
    """
    problem, wanted, c = instance.problem, instance.n_positive, instance.target
    if wanted is None or c is None:
        raise ValueError(f"{instance.balance} must be ('exact', r) for a search")
    low, high = -LARGEST, LARGEST
    # In a bracket this narrow no more than a point or two change sides, unless the method falls into another minimum.
    narrow = 0.1 / max(problem.n_unlabeled, 1000)
    best, best_miss, seconds = None, problem.n + 1, 0.0
    interrupted = False
    for _ in range(max_iter):
        try:
            solution = solve(instance.with_mean(c))
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
