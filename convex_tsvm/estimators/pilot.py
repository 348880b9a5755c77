"""How long a fit is going to take: by times that were measured before, or of fits to some of the points."""

from __future__ import annotations

import time
import timeit
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..deadline import time_left, until
from ..notice import warn
from ..problem import Problem
from ..validation import is_sparse


@dataclass(frozen=True)
class Cost:
    """How the time of a fit to ``count`` points grows, by what was measured on one core of a machine of 2024."""

    count: int
    what: str  # is counted, such as "unlabelled points"
    measured: int  # so many of them took
    seconds: float  # and time grows with their number to
    power: float
    instead: str  # what to do about a long fit


def warn_of_cost(name: str, cost: Cost, n_fits: int) -> None:
    """Warn in the name of an estimator if ``n_fits`` fits take ``PILOT.warned`` seconds or more."""
    seconds = n_fits * cost.seconds * (cost.count / cost.measured) ** cost.power
    if seconds >= PILOT.warned:
        times = f" for each of {n_fits} classes" if n_fits > 1 else ""
        warn(
            f"{name}: {cost.count} {cost.what}{times} take about {_in_words(seconds)}, and time grows like their "
            f"number to the power of {cost.power:g}; {cost.instead}. verbose=1 says how far it is"
        )


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


@dataclass(frozen=True)
class Pilot:
    """How fits to some of the points are timed; benchmarks/corners.py and linear_solvers.py measure the passes."""

    warned: float = 120.0  # seconds, of which users are warned whose time is known from the number of points
    announced: float = 10.0  # seconds, of which they are told after fits to some of the points
    passes: int = 20  # over all entries of the kernel matrix, in the hardest fits
    products_of_an_entry: int = 60  # of features, that an entry takes as long as, beside its own
    linear_passes: float = 1e5  # over all features, in the hardest linear fits
    first_points: int = 500  # in the first fit; each of the others is to twice as many as the one before
    enough_points: int = 2000  # in the last fit at most,
    most_of_all: float = 0.25  # or this share of all points, if that is more
    share_of_fit: float = 0.02  # fits are timed until they have taken this share of the estimate
    least_power: float = 0.8  # that time grows with, up to twice the points of the last fit,
    largest_power: float = 3.0  # by what was seen between the last two fits
    later_power: float = 2.25  # at most beyond that, since a steep rise seldom goes on


PILOT = Pilot()


@lru_cache(maxsize=1)
def seconds_a_product() -> float:
    """How long this machine takes for a multiplication and an addition in a product of matrices, at best."""
    rows = np.ones((256, 256))
    return min(timeit.repeat(lambda: rows @ rows, number=1, repeat=4)) / 256**3


def may_be_long(problem: Problem, n_fits: int) -> bool:
    """Whether ``n_fits`` fits to a problem may take ``PILOT.announced`` seconds, if they are as hard as any."""
    numbers = problem.X.nnz if is_sparse(problem.X) else np.prod(problem.X.shape)
    if problem.is_linear:
        products = PILOT.linear_passes * float(numbers)
    else:
        products = PILOT.passes * problem.n * (float(numbers) + PILOT.products_of_an_entry * problem.n)
    return n_fits * products * seconds_a_product() >= PILOT.announced


def expected_seconds(problem: Problem, solve: Callable[[Problem], object]) -> float | None:
    """How many seconds ``solve`` takes for a problem, by parts of it; None if these cannot be solved alike."""
    order = np.random.default_rng([0, problem.n]).permutation(problem.n)
    # The labels are in as many of the parts as they are in all points, and one of each class is always there.
    groups = [order[problem.y[order] == sign] for sign in (1, -1, 0)]
    place = np.concatenate([np.arange(len(group)) / max(len(group), 1) for group in groups])
    order = np.concatenate(groups)[np.argsort(place, kind="stable")]
    first = [group[0] for group in groups if len(group)]
    sizes: list[float] = []
    seconds: list[float] = []
    n, expected = PILOT.first_points, np.inf
    most = max(PILOT.enough_points, PILOT.most_of_all * problem.n)
    while n <= most and not sum(seconds) >= PILOT.share_of_fit * expected:
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
    power = float(np.clip(power, PILOT.least_power, PILOT.largest_power))
    first = min(2.0, n / sizes[-1])
    return float(seconds[-1] * first**power * (n / sizes[-1] / first) ** min(power, PILOT.later_power))


def announce(name: str, seconds: float | None, n_fits: int, instead: str) -> None:
    """Warn in the name of an estimator if ``n_fits`` fits of so many seconds, if these are known, take long."""
    if seconds is not None and seconds * n_fits >= PILOT.announced:
        times = f" for {n_fits} classes" if n_fits > 1 else ""
        warn(
            f"{name}: this fit is going to take about {_in_words(seconds * n_fits)}{times}, as fits to some of the "
            f"points say; {instead}. verbose=1 says how far it is, and time_limit= ends it with the best so far"
        )
