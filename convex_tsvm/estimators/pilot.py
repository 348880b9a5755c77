"""How long a fit is going to take: by times that were measured before, or of fits to some of the points.

The number of points alone says little about the time of most fits: it depends on how many points influence the
solution, how fast a row of the kernel is computed, and how hard the convex steps are.  A fit to a thousand points shows
all of that.
"""

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

#: A fit that takes longer than this, in seconds, is worth a warning.
WARNED_SECONDS = 120.0


@dataclass(frozen=True)
class Cost:
    """How the time of a fit grows: ``measured`` points took ``seconds``, and time grows with their number to ``power``.

    ``what`` says which points are counted, such as "unlabelled points", and ``instead`` what to do about a long fit.
    The seconds are those of one core of a machine of 2024.
    """

    what: str
    measured: int
    seconds: float
    power: float
    instead: str

    def expected(self, count: int) -> float:
        """Seconds for ``count`` points."""
        return self.seconds * (count / self.measured) ** self.power


#: The relaxation in label matrices.
LABEL_MATRICES = Cost(
    "unlabelled points", 300, 40.0, 2.7, "for more than some hundred, TransductiveSVC has no such limit"
)

#: Methods that factor the kernel matrix, and then take n² for every step.
FACTORED = Cost("points", 1500, 15.0, 2.0, "method='cccp' does not factor the kernel matrix")

#: The whole matrix of a kernel that a graph deforms.
DEFORMED = Cost("points", 5000, 6.0, 3.0, "LaplacianSVC needs the rows of labelled points only")


def warn_of_cost(name: str, cost: Cost, count: int, n_fits: int) -> None:
    """Warn in the name of an estimator if ``n_fits`` fits to ``count`` points take ``WARNED_SECONDS`` or more."""
    seconds = n_fits * cost.expected(count)
    if seconds < WARNED_SECONDS:
        return
    times = f" for each of {n_fits} classes" if n_fits > 1 else ""
    whole = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
    warn(
        f"{name}: {count} {cost.what}{times} take about {whole}, and time grows like their number to the power of "
        f"{cost.power:g}; {cost.instead}. verbose=1 says how far it is"
    )


@dataclass(frozen=True)
class Pilot:
    """How fits to some of the points are timed; benchmarks/corners.py and linear_solvers.py measure the passes."""

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
        products = PILOT.linear_passes * float(numbers)
    else:
        products = PILOT.passes * problem.n * (float(numbers) + PILOT.products_of_an_entry * problem.n)
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
    n, expected = PILOT.first_points, np.inf
    while (
        n <= max(PILOT.enough_points, PILOT.most_of_all * problem.n)
        and not sum(seconds) >= PILOT.share_of_fit * expected
    ):
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
        "verbose=1 says how far it is, and time_limit= ends it with the best so far"
    )
