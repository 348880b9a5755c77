"""Linear constraints on outputs, lower <= Σ a_i f(x_i) <= upper.

The balance constraint of the papers (collobert2006 eq. 4) is the first of this family.  As there, such a sum is the
output of one more point, Σ a_i Φ(x_i), whose loss is the indicator of [lower, upper]; so a constraint costs one row of
the kernel and one dual variable, and everything that is derived from losses is derived for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem import Array, Problem
from ..validation import finite
from .groups import AS_THEY_ARE, RowNumbers


@dataclass(frozen=True, eq=False)
class OutputConstraint(ABC):
    """lower <= Σ a_i f(x_i) <= upper; made by the functions of this module, or by a subclass that says what a is.

    Parameters
    ----------
    lower, upper : float
        One of them may be infinite; equal for an equation.
    name : str
        Shown in reports and errors.

    Examples
    --------
    >>> constraint = ct.must_link(0, 2, within=0.1)
    >>> constraint.lower, constraint.upper, constraint.on(problem)
    (-0.1, 0.1, array([ 1.,  0., -1.,  0.,  0.,  0.]))
    """

    lower: float
    upper: float
    name: str

    def __post_init__(self) -> None:
        low, high = (_end(name, getattr(self, name)) for name in ("lower", "upper"))
        if low > high:
            raise ValueError(f"{self.name}: lower={low:g} is above upper={high:g}; no output is between them")
        if np.isinf(low) and np.isinf(high):
            raise ValueError(f"{self.name}: lower={low:g} and upper={high:g} allow every output, or none")

    @abstractmethod
    def coefficients(self, problem: Problem) -> Array:
        """The a_i for a problem's points, shape (n,)."""

    def placed(self, problem: Problem) -> "OutputConstraint":
        """The constraint with row numbers of a problem; itself where they are already, or where it has none.

        A ValueError says if the problem is not one of the points that it is about, or is a part without some of them.
        """
        return self

    def on(self, problem: Problem) -> Array:
        """The a_i, shape (n,), checked; a ValueError if they are not n finite numbers, or are all 0."""
        a = np.asarray(self.coefficients(problem), dtype=float)
        if a.shape != (problem.n,) or not np.isfinite(a).all():
            raise ValueError(f"{self.name}: its coefficients have shape {a.shape}; they must be {problem.n} numbers")
        if not a.any():
            raise ValueError(f"{self.name}: all its coefficients are 0")
        return a

    def __repr__(self) -> str:
        if self.lower == self.upper:
            return f"{self.name} = {self.upper + 0.0:g}"
        return f"{self.lower:g} <= {self.name} <= {self.upper:g}"


@dataclass(frozen=True, eq=False, repr=False)
class WeightedOutput(OutputConstraint):
    """Σ a_i f(x_i) with the a_i given, for some points or for all of them."""

    given: Mapping[Any, float] | Array
    numbers: RowNumbers  # which points these are of

    def placed(self, problem: Problem) -> OutputConstraint:
        places = self.numbers.places(problem, self.name)
        if places is None:
            return self
        given = self.given if isinstance(self.given, Mapping) else dict(enumerate(self.given.tolist()))
        return self._moved({self._place(places, i): value for i, value in given.items() if value})

    def check_index(self, i: Any, n: int) -> None:
        """Raise ValueError if i is not the index of one of n points."""
        if not isinstance(i, (int, np.integer)) or not 0 <= i < n:
            raise ValueError(f"{self.name}: {i!r} is not the index of a point, from 0 to {n - 1}")

    def _place(self, places: NDArray[np.intp], i: Any) -> int:
        self.check_index(i, len(places))
        if places[i] < 0:
            raise ValueError(f"{self.name}: point {i} is not in this part of the problem")
        return int(places[i])

    def _moved(self, given: dict[int, float]) -> OutputConstraint:
        return replace(self, given=given, numbers=AS_THEY_ARE)

    def coefficients(self, problem: Problem) -> Array:
        if not isinstance(self.given, Mapping):
            return self.given
        a = np.zeros(problem.n)
        for i, value in self.given.items():
            self.check_index(i, problem.n)
            a[i] = value
        return a


@dataclass(frozen=True, eq=False, repr=False)
class Link(WeightedOutput):
    """Two points that have the same output, or opposite ones, up to the ends of the interval."""

    i: int  # indices of the points
    j: int
    sign: float  # +1 for outputs that are the same, -1 for opposite ones

    def _moved(self, given: dict[int, float]) -> OutputConstraint:
        i, j = given
        return replace(self, given=given, numbers=AS_THEY_ARE, i=i, j=j)

    @property
    def is_exact(self) -> bool:
        """Whether nothing is allowed between the outputs, so that the labels are the same, or opposite."""
        return self.lower == self.upper == 0.0


@dataclass(frozen=True, eq=False, repr=False)
class MeanOutput(OutputConstraint):
    """The mean output of the unlabelled points, whichever these are in a problem."""

    def coefficients(self, problem: Problem) -> Array:
        if problem.n_unlabeled == 0:
            raise ValueError(f"{self.name}: the problem has no unlabeled point")
        return np.where(problem.y == 0, 1 / problem.n_unlabeled, 0.0)


def output_constraint(
    coefficients: Mapping[int, float] | ArrayLike,
    lower: float = -np.inf,
    upper: float = np.inf,
    *,
    name: str = "weighted output",
    X: Any = None,
) -> OutputConstraint:
    """A row of your own: lower <= Σ a_i f(x_i) <= upper.

    Parameters
    ----------
    coefficients : dict from int to float, or array, shape (n,)
        The a_i, by the points' indices or for all points.
    X : array or sparse matrix, optional
        The points whose row numbers these are (for a precomputed kernel its matrix); by default those of the first
        problem that the constraint is used on.  Other points are refused, a :meth:`Problem.part` is followed.

    Examples
    --------
    >>> ct.output_constraint({0: 1.0, 3: -2.0}, upper=0.5)
    -inf <= weighted output <= 0.5
    """
    given = dict(coefficients) if isinstance(coefficients, Mapping) else np.array(coefficients, dtype=float)
    return WeightedOutput(lower, upper, name, given, RowNumbers(X))


def mean_output(lower: float = -np.inf, upper: float = np.inf) -> OutputConstraint:
    """The mean output of the unlabelled points is in an interval: a balance with room (collobert2006 eq. 4).

    Means of other points, or weighted ones, are an :func:`output_constraint`.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval.

    Examples
    --------
    >>> ct.mean_output(-0.1, 0.1)
    -0.1 <= mean output (unlabeled) <= 0.1
    """
    return MeanOutput(lower, upper, "mean output (unlabeled)")


def mean_of(points: NDArray[np.intp], value: float, n: int) -> OutputConstraint:
    """The mean output of some of n points, which may come several times, is a value."""
    weights = np.bincount(points, minlength=n).astype(float)
    return WeightedOutput(value, value, "weighted mean output", weights / weights.sum(), AS_THEY_ARE)


def must_link(i: int, j: int, within: float = 0.0, *, X: Any = None) -> OutputConstraint:
    """Two points have nearly the same output: |f(x_i) - f(x_j)| <= within.

    Methods that search for labels take a link with ``within=0`` as side information: the two points are of the same
    class (debie2004, footnote 3).

    Parameters
    ----------
    i, j : int
        Indices of the points.
    within : float >= 0, default 0.0
    X : array or sparse matrix, optional
        The points that i and j are of, as in :func:`output_constraint`.

    Examples
    --------
    >>> model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), constraints=[ct.must_link(1, 4)])
    >>> outputs = ct.cccp(model, problem).scores
    >>> bool(abs(outputs[1] - outputs[4]) < 1e-6)
    True
    """
    return _link(i, j, 1.0, within, X)


def cannot_link(i: int, j: int, within: float = 0.0, *, X: Any = None) -> OutputConstraint:
    """Two points have nearly opposite outputs: |f(x_i) + f(x_j)| <= within.

    Methods that search for labels take a link with ``within=0`` as side information: the two points are of different
    classes (debie2004, footnote 3).

    Parameters
    ----------
    i, j, within, X
        As in :func:`must_link`.

    Examples
    --------
    >>> ct.cannot_link(4, 20, within=0.2)
    -0.2 <= f(4) + f(20) <= 0.2
    """
    return _link(i, j, -1.0, within, X)


def _link(i: int, j: int, sign: float, within: float, X: Any) -> Link:
    if i == j:
        raise ValueError(f"i={i!r} and j={j!r} must be two points")
    within = finite("within", within, least=0)
    name = f"f({i}) {'-' if sign > 0 else '+'} f({j})"
    return Link(-within, within, name, {i: 1.0, j: -sign}, RowNumbers(X), i, j, sign)


def _end(name: str, value: Any) -> float:
    """An end of an interval: a number or an infinity, not NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number):
        raise ValueError(f"{name}={value!r} must be a number")
    return number
