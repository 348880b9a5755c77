"""How long a fit is going to take, warnings after it (unlabelled points changed nothing), and what it refuses."""

import time
import timeit
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import time_left, until
from ..decision import chosen_classes
from ..formulations import Formulation
from ..formulations.constraints import Link
from ..losses import PLQ
from ..methods.cccp import supervised_svms
from ..methods.shares import ClassShares, per_class_probability, spoilt
from ..notice import warn
from ..problem import Problem
from ..solution import Solution
from ..validation import is_sparse
from .labels import Labels


def warn_of_cost(
    name: str, count: int, what: str, n_fits: int, instead: str, *, measured: int, seconds: float, power: float
) -> None:
    """Warn in the name of an estimator if ``n_fits`` fits to ``count`` points take ``PILOT.warned`` seconds or more.

    On one core of a machine of 2024 a fit to ``measured`` of them took so many seconds, and time grows like their
    number to a power; ``instead`` is what to do about a long fit.
    """
    expected = n_fits * seconds * (count / measured) ** power
    if expected >= PILOT.warned:
        times = f" for each of {n_fits} classes" if n_fits > 1 else ""
        warn(
            f"{name}: {count} {what}{times} take about {_in_words(expected)}, and time grows like their number to the "
            f"power of {power:g}; {instead}. verbose=1 says how far it is"
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
        with until(time.time() + 0.5 * time_left()), warnings.catch_warnings(action="ignore"):
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


#: How far shares of the classes may be from each other before a warning; shares are from 0 to 1.
APART = 0.15


def acting(solution: Solution) -> NDArray[np.bool_]:
    """Which unlabelled points influence the solution, shape (n_unlabeled,): those whose loss has a slope there."""
    loss, outputs = solution.formulation.unlabeled, solution.scores[solution.problem.unlabeled]
    if loss is None:
        return np.zeros(len(outputs), dtype=bool)
    own: Any = loss
    slopes = loss.derivatives(outputs) if isinstance(loss, PLQ) else [own.derivative(outputs)]
    return np.asarray(np.max(np.abs(slopes), axis=0) > 1e-9)  # smaller ones count as 0


def warn_of_unused_share(name: str, value: Any, formulation: Formulation) -> None:
    """Warn if the parameter ``name`` asks for a share of its own (no word, not None) that nothing constrains."""
    if value is None or isinstance(value, str) or formulation.unlabeled is None or formulation.is_balanced:
        return
    warn(
        f"{name}={value!r} has no effect: a formulation with balance=None, or without an intercept that a balance "
        "could set, asks nothing of the unlabelled points together; use balance='linear' and fit_intercept=True"
    )


def check_links(formulation: Formulation, n_classes: int) -> None:
    """Raise ValueError for a cannot_link() of more than two classes: one of them against the rest may have neither."""
    for one in formulation.constraints:
        if n_classes > 2 and isinstance(one, Link) and one.sign < 0:
            raise ValueError(
                f"constraint {one!r}: cannot_link() is for two classes, and y has {n_classes}; when one class is "
                "learned against the rest, two points of different classes may both be of the rest"
            )


def advise(labels: Labels, solutions: Sequence[Solution], balance: Any) -> None:
    """Warn of what a fit shows by its solutions, one for each of ``labels.positives``, unless one was ended."""
    if not labels.unlabeled.any():
        return
    names = [str(labels.classes[k]) for k in labels.positives]
    for name, solution in zip(names, solutions, strict=True):
        if solution.status in ("interrupted", "time_limit"):
            return
        _warn_of_idle_points(solution, name)
        _warn_of_misfit(solution, name)
    if isinstance(balance, str) and balance == "labeled":
        _warn_of_shares(labels, solutions)
    if labels.inferred is not None and solutions[0].formulation.unlabeled is not None:
        _warn_of_contradictions(labels, labels.inferred)
        _warn_of_no_help(labels.inferred)


def _warn_of_idle_points(solution: Solution, name: str) -> None:
    """Warn if nearly all unlabelled points are on the plateau of a ramp: they add nothing to the convex steps."""
    loss, n = solution.formulation.unlabeled, solution.problem.n_unlabeled
    if not isinstance(loss, PLQ):
        return
    values = loss(solution.scores[solution.problem.unlabeled])
    # Where the loss is flat and 0, far from the boundary, points are where they should be.
    idle = int((~acting(solution) & (values > 1e-9)).sum())
    if idle >= 0.9 * n:
        warn(
            f"class {name}: {idle} of {n} unlabelled points have no say, as their outputs are near 0, where the loss "
            "is flat, and the result is nearly that of the labelled points alone.  A ramp without a plateau, s=0, or "
            "loss='exp' with method='gradient' uses them"
        )


def _warn_of_misfit(solution: Solution, name: str) -> None:
    """Warn if most labelled points of a class are on the wrong side, and are not so for the supervised SVM."""
    problem, alone = solution.problem, None
    for sign, side in ((1, name), (-1, f"the others than {name}")):
        own = problem.y == sign
        wrong = int((solution.scores[own] * sign < 0).sum())
        if wrong >= 2 and 2 * wrong > own.sum():
            alone = supervised_svms(solution.formulation, [problem])[0] if alone is None else alone
            if 2 * (alone.scores[own] * sign < 0).sum() > own.sum():
                continue  # the classes overlap: the supervised SVM has most of these points wrong, too
            warn(
                f"class {name}: {wrong} of the {int(own.sum())} labelled points of {side} are on the wrong side, where "
                "the supervised SVM does not have them; the true shares of the classes as balance, a larger C or a "
                "smaller C_unlabeled follow the labels"
            )


def _warn_of_shares(labels: Labels, solutions: Sequence[Solution]) -> None:
    """Warn if labels look drawn per class, so that balance="labeled" says nothing, and the supervised SVM differs."""
    known = ~labels.unlabeled
    counts = np.bincount(labels.index[known], None if labels.weights is None else labels.weights[known])
    if np.ptp(counts) > 1e-9 * counts.max():
        return
    alone = supervised_svms(solutions[0].formulation, [solution.problem for solution in solutions])
    found = chosen_classes(np.column_stack([one.scores for one in alone])[labels.unlabeled])
    shares = np.bincount(found, minlength=len(labels.classes)) / len(found)
    if np.abs(shares - 1 / len(shares)).max() > APART:
        warn(
            f"all classes have as many labels ({counts[0]:g}), as if drawn per class, and balance='labeled' makes them "
            f"equally large among the unlabelled points; the supervised SVM finds {_shown(labels, shares)}.  If "
            "labels were drawn per class, pass the shares, balance={class: share}, or balance=None; balance='auto' "
            "infers them"
        )


def _shown(labels: Labels, shares: NDArray[np.float64]) -> str:
    return f"{{{', '.join(f'{name}: {share:.2f}' for name, share in zip(labels.classes, shares, strict=True))}}}"


def _warn_of_contradictions(labels: Labels, found: ClassShares) -> None:
    """Warn if the inferred shares of the classes differ from those among labels that were not drawn per class."""
    counts = np.bincount(labels.index[~labels.unlabeled], minlength=len(labels.classes))
    counted, inferred = counts / counts.sum(), found.shares
    room = np.maximum(APART, 2 * found.errors)
    # Labels count as drawn per class if the probability of that is at least one half.
    if per_class_probability(counts) < 0.5 and (np.abs(counted - inferred) > room).any():
        warn(
            f"the labels have the shares {_shown(labels, counted)}, but labels that are left out are found with the "
            f"shares {_shown(labels, inferred)} among the unlabelled points, which are used; balance='labeled' "
            "takes the labels', and balance={class: share} any others"
        )


def _warn_of_no_help(found: ClassShares) -> None:
    """Warn if the transductive SVM has clearly more of the labels left out wrong than the supervised SVM has."""
    left_out = [] if found.estimate is None else list(found.estimate.left_out)
    # By so many deviations of chance the errors must exceed those of the supervised SVM.
    if left_out and (errors := spoilt(np.array(left_out), 2.0)) is not None:
        warn(
            f"of {len(left_out)} labels left out a transductive SVM has {errors[0]} wrong and the supervised SVM "
            f"{errors[1]}: unlabelled points do not seem to help here.  safe=True falls back on the supervised SVM, "
            "and C_unlabeled=None is it; compare_supervised tells more"
        )
