"""How long a fit is going to take: fits to some of the points are timed, and their times are extrapolated.

The number of points alone says little about the time: it depends on how many points influence the solution, how fast a
row of the kernel is computed, and how hard the convex steps are.  A fit to a thousand points shows all of that.
"""

from __future__ import annotations

import time
import timeit
import warnings
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..deadline import time_left, until
from ..notice import warn
from ..problem import Problem
from ..validation import is_sparse

#: In the hardest fits all entries of the kernel matrix are gone over so many times, each as long as so many products of
#: features take beside its own; in linear fits all features are.  (benchmarks/corners.py, linear_solvers.py)
PASSES, PRODUCTS_OF_AN_ENTRY, LINEAR_PASSES = 20, 60, 1e5

#: The number of points of the first timed fit, each of the others being to twice as many as the one before, and the
#: largest number, which is the second of these or, if that is more, the third as a share of all points.
FIRST_POINTS, ENOUGH_POINTS, MOST_OF_ALL = 500, 2000, 0.25

#: Fits are timed until they have taken this share of the estimate.
SHARE_OF_FIT = 0.02

#: Up to twice the points of the last timed fit, time grows with the power of their number that was seen between the
#: last two fits, if it is between the first two of these numbers.  Beyond that the power is the third at most, since a
#: steep rise seldom goes on.
POWERS, LATER = (0.8, 3.0), 2.25

#: A fit that takes longer than this, in seconds, is announced.
ANNOUNCED_SECONDS = 10.0


@lru_cache(maxsize=1)
def seconds_a_product() -> float:
    """How long this machine takes for a multiplication and an addition in a product of matrices, at best."""
    rows = np.ones((256, 256))
    return min(timeit.repeat(lambda: rows @ rows, number=1, repeat=4)) / 256**3


def may_be_long(problem: Problem, n_fits: int) -> bool:
    """Whether ``n_fits`` fits to a problem may take ``ANNOUNCED_SECONDS``, if they are as hard as any."""
    numbers = problem.X.nnz if is_sparse(problem.X) else np.prod(problem.X.shape)
    if problem.is_linear:
        products = LINEAR_PASSES * float(numbers)
    else:
        products = PASSES * problem.n * (float(numbers) + PRODUCTS_OF_AN_ENTRY * problem.n)
    return n_fits * products * seconds_a_product() >= ANNOUNCED_SECONDS


def expected_seconds(problem: Problem, solve: Callable[[Problem], object]) -> float | None:
    """How many seconds ``solve`` is going to take for a problem; None if what is asked cannot be asked of a part.

    Problems of some of its points, with at least one label of each class, are solved to find out.
    """
    order = np.random.default_rng([0, problem.n]).permutation(problem.n)
    # The labels are in as many of the parts as they are in all points, and one of each class is always there.
    groups = [order[problem.y[order] == sign] for sign in (1, -1, 0)]
    place = np.concatenate([np.arange(len(group)) / max(len(group), 1) for group in groups])
    order = np.concatenate(groups)[np.argsort(place, kind="stable")]
    first = [group[0] for group in groups if len(group)]
    sizes: list[float] = []
    seconds: list[float] = []
    n, expected = FIRST_POINTS, np.inf
    while n <= max(ENOUGH_POINTS, MOST_OF_ALL * problem.n) and not sum(seconds) >= SHARE_OF_FIT * expected:
        part = problem.part(np.union1d(np.array(first, dtype=np.intp), order[:n]))
        began = time.perf_counter()
        with until(time.time() + 0.5 * time_left()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                solve(part)
            except ValueError:
                return None  # constraints may name points that the part has not, or may not be met by those it has
        sizes.append(float(part.n))
        seconds.append(time.perf_counter() - began)
        n, expected = 2 * n, _continued(sizes, seconds, problem.n)
    return expected


def _continued(sizes: list[float], seconds: list[float], n: int) -> float:
    """The seconds for n points by the power law through the last two fits, with a power within limits."""
    power = 2.0
    if len(sizes) > 1 and min(seconds[-2:]) > 0:
        power = float(np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2]))
    power = float(np.clip(power, *POWERS))
    first = min(2.0, n / sizes[-1])
    return float(seconds[-1] * first**power * (n / sizes[-1] / first) ** min(power, LATER))


def announce(name: str, seconds: float | None, n_fits: int, instead: str) -> None:
    """Warn in the name of an estimator if ``n_fits`` fits of so many seconds take ``ANNOUNCED_SECONDS`` or more.

    ``instead`` says what would be faster.  Nothing is said if ``seconds`` is None.
    """
    if seconds is None or seconds * n_fits < ANNOUNCED_SECONDS:
        return
    whole = seconds * n_fits
    shown = f"{whole:.0f} seconds" if whole < 120 else f"{whole / 60:.0f} minutes" if whole < 7200 else (
        f"{whole / 3600:.0f} hours"
    )  # fmt: skip
    times = f" for {n_fits} classes" if n_fits > 1 else ""
    warn(
        f"{name}: this fit is going to take about {shown}{times}, as fits to some of the points say; {instead}. "
        "verbose=1 says how far it is, and time_limit= ends it with the best so far",
    )
