"""What belongs to some of the points: groups with a loss of their own, additions, and whose row numbers are meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..losses import PLQ, Loss
from ..problem import Array, PointsSource, Problem, points_source
from ..validation import finite


class RowNumbers:
    """The points that row numbers are of: X if it is given, or those of the first problem that they are used on.

    A row number means another point in every other array of points, so that a part of the data, as cross-validation
    makes it, would silently bind the wrong ones.

    X is an array or a sparse matrix, for a precomputed kernel its matrix.  Copies are the same object, since copies of
    a formulation are about the same points.  What is sent to another process before it has met a problem cannot know
    which one is the first, and must be told its points.
    """

    def __init__(self, X: Any = None) -> None:
        self._source: PointsSource | None = None if X is None else points_source(X)
        self._key: tuple[int, str] | None = None
        self._was_sent = False

    def places(self, problem: Problem, name: str) -> NDArray[np.intp] | None:
        """The row that each of the points has in a problem, -1 for those it has not; None if all are as they were.

        ValueError is raised if the problem is one of other points.
        """
        if self._key is None and self._source is not None:
            self._key = self._source.key
        key = problem.source.key
        if self._key is None:
            if self._was_sent:
                raise ValueError(
                    f"{name} has row numbers, and was sent to another process before it was used on any points: say "
                    "which points they are of with X=..."
                )
            self._key = key
        if self._key != key:
            raise ValueError(
                f"{name} has row numbers of {self._key[0]} points, and this problem is not of these points, but of "
                f"{key[0]} others: make it anew for them; Problem.part makes parts that it follows"
            )
        if problem.source_rows is None:
            return None
        found = np.full(key[0], -1, dtype=np.intp)
        found[problem.source_rows] = np.arange(problem.n)
        return found

    def __deepcopy__(self, memo: Any) -> RowNumbers:
        return self

    def __getstate__(self) -> dict[str, Any]:
        key = self._key if self._source is None else self._source.key
        return {"_source": None, "_key": key, "_was_sent": key is None}


class _AsTheyAre(RowNumbers):
    """Row numbers of whatever problem they are used on: those that were placed in one already."""

    def places(self, problem: Problem, name: str) -> None:
        return None


AS_THEY_ARE = _AsTheyAre()


@dataclass(frozen=True, eq=False)
class PointGroup:
    """Some of a problem's points, what they pay, and how much that counts.

    Points of a group pay its loss, and neither that of labelled nor that of unlabelled points; they are not counted by
    a balance.

    Parameters
    ----------
    points : sequence of int
        Their indices.
    loss : PLQ, DCLoss or ConvexLoss
        ℓ of the point's sign times its output less its target: ℓ(sign (f(x) - target)).
    cost : float > 0, or sequence of float >= 0
        Of all, or of each.
    target : float or sequence of float, default 0
        What the output of each is to be near, or beyond: for regression the response, for ordinal labels a threshold.
    sign : sequence of ±1, optional
        1 or -1 for each; by default the label of points that have one, and 1 for others.
    name : str, default "group"
        How messages and printed problems call them.
    X : array or sparse matrix, optional
        The points whose row numbers ``points`` are (for a precomputed kernel its matrix); by default those of the first
        problem that the group is used on.  Other points are refused, a :meth:`Problem.part` is followed.

    Examples
    --------
    >>> ct.PointGroup([4, 5], ct.losses.epsilon_insensitive(0.1), cost=2.0, name="universum")
    PointGroup('universum', 2 points, loss=epsilon_insensitive(0.1))

    Regression: every point pays for its distance from its response beyond 0.1.

    >>> X, response = np.linspace(0, 1, 5)[:, None], [0.0, 0.7, 1.0, 0.7, 0.0]
    >>> tube = ct.PointGroup(range(5), ct.losses.epsilon_insensitive(0.1), cost=10.0, target=response)
    >>> model = ct.Formulation(ct.hinge(), balance=None, groups=tube)
    >>> solution = ct.cccp(model, ct.Problem(X, np.zeros(5), kernel=ct.RBF(0.3), balance=None))
    >>> bool(np.abs(solution.scores - response).max() < 0.101)
    True
    """

    points: Sequence[int] | NDArray[np.intp]
    loss: Loss
    cost: float | ArrayLike
    name: str = "group"
    X: InitVar[Any] = None
    target: float | ArrayLike = 0.0
    sign: ArrayLike | None = None
    numbers: RowNumbers | None = None

    def __post_init__(self, X: Any) -> None:
        if self.numbers is None:
            object.__setattr__(self, "numbers", RowNumbers(X))
        points: NDArray[Any] = np.asarray(self.points)
        if points.ndim != 1 or len(points) == 0 or not np.issubdtype(points.dtype, np.integer):
            raise ValueError(f"group {self.name!r}: points={self.points!r} must be a sequence of indices")
        if len(np.unique(points)) < len(points) or points.min() < 0:
            raise ValueError(f"group {self.name!r}: points must be distinct, and counted from 0")
        if not isinstance(self.loss, Loss):
            raise ValueError(f"group {self.name!r}: loss={self.loss!r} must be a PLQ, DCLoss or ConvexLoss")
        object.__setattr__(self, "points", points.astype(np.intp))
        self._set("cost", {"above": 0} if np.ndim(self.cost) == 0 else {"least": 0})
        self._set("target", {})
        if self.sign is not None:
            self._set("sign", {"least": -1})
            if not (np.abs(np.asarray(self.sign)) == 1).all():
                raise ValueError(f"group {self.name!r}: sign={self.sign!r} must be 1 or -1 for each point")

    def _set(self, field: str, limits: dict[str, Any]) -> None:
        """Keep what is given of all points, or of each, as an array."""
        given = [finite(field, one, **limits) for one in np.ravel(getattr(self, field)).tolist()]
        if np.ndim(getattr(self, field)) and len(given) != len(self.points):
            raise ValueError(f"group {self.name!r}: {field} has {len(given)} entries for {len(self.points)} points")
        object.__setattr__(self, field, np.resize(np.array(given), len(self.points)))

    def placed(self, problem: Problem) -> PointGroup:
        """The group with row numbers of a problem; of a part of its points those that are there.

        A ValueError says if the problem is not one of the points that the group is of, or is a part without any of
        them.
        """
        assert self.numbers is not None
        places = self.numbers.places(problem, f"group {self.name!r}")
        if places is None:
            return self
        if self.where.max() >= len(places):
            raise ValueError(f"group {self.name!r} contains point {self.where.max()}; there are {len(places)} points")
        there = places[self.where] >= 0
        if not there.any():
            raise ValueError(f"group {self.name!r}: none of its points is in this part of the problem")
        return replace(self._part(there), points=places[self.where][there], numbers=AS_THEY_ARE)

    def _part(self, which: NDArray[np.bool_]) -> PointGroup:
        """Some of its points, with what belongs to each."""
        names = ("points", "cost", "target", *(["sign"] if self.sign is not None else []))
        own: dict[str, Any] = {name: np.asarray(getattr(self, name))[which] for name in names}
        return replace(self, **own)

    @property
    def has_targets(self) -> bool:
        """Whether not all targets are 0."""
        return bool(np.any(self.target))

    def signs(self, problem: Problem) -> NDArray[np.float64]:
        """The sign of each of its points: as given, or the label, or 1."""
        if self.sign is not None:
            return np.asarray(self.sign, dtype=float)
        labels: NDArray[np.float64] = problem.y[self.where]
        return np.where(labels == 0, 1.0, labels)

    def by_target(self, problem: Problem) -> list[PointGroup]:
        """Groups without targets that pay the same: one for each target and sign, with a loss that is moved there.

        A ValueError says if the loss is not piecewise linear-quadratic.
        """
        if not self.has_targets:
            return [self]
        if not isinstance(self.loss, PLQ):
            raise ValueError(f"group {self.name!r}: loss={self.loss!r} with targets must be a PLQ")
        pairs = np.column_stack([self.target, self.signs(problem)])
        found = []
        for target, sign in np.unique(pairs, axis=0).tolist():
            part = self._part((pairs == (target, sign)).all(axis=1))
            loss, same = self.loss.shift(sign * target), np.full(len(part.where), sign)
            name = f"{self.name} {sign:+g} at {target:g}"
            found.append(replace(part, loss=loss, target=0.0, sign=same, name=name))
        return found

    @property
    def where(self) -> NDArray[np.intp]:
        """The points as an array."""
        return np.asarray(self.points, dtype=np.intp)

    def __repr__(self) -> str:
        return f"PointGroup({self.name!r}, {len(self.points)} points, loss={getattr(self.loss, 'name', self.loss)})"


def check_groups(groups: Sequence[PointGroup], problem: Problem) -> None:
    """Raise ValueError if groups have points in common, or some that a problem does not have."""
    taken: set[int] = set()
    for group in groups:
        points = group.where
        if points.max() >= problem.n:
            raise ValueError(
                f"group {group.name!r} contains point {points.max()}; the problem has {problem.n}, counted from 0"
            )
        if both := taken.intersection(points.tolist()):
            raise ValueError(f"group {group.name!r} contains point {min(both)}, which is in another group, too")
        taken.update(points.tolist())


@dataclass(frozen=True, eq=False)
class Addition:
    """A convex term, constraints, or both, in the weights, the bias and the outputs; :func:`addition` makes it.

    Attributes
    ----------
    function : callable
        ``function(w, b, f)``, which returns a convex expression, a list of constraints, or a pair of both.
    name : str
        How messages and reports call it.
    latex : str
        How LaTeX calls it, without dollars.
    minus : callable or None
        ``minus(f)``, a convex expression that is subtracted.
    least : float or None
        What the difference is never below.

    Examples
    --------
    >>> import cvxpy as cp
    >>> ct.formulations.addition(lambda w, b, f: cp.square(b), name="small bias")
    addition('small bias')
    """

    function: Callable[[Any, Any, Any], Any]
    name: str
    latex: str
    minus: Callable[[Any], Any] | None = None
    least: float | None = None
    numbers: RowNumbers = field(default_factory=RowNumbers, repr=False)

    def subtracted(self, outputs: Array) -> tuple[float, Array]:
        """What ``minus`` is at some outputs, and a subgradient of it there, shape (n,).

        A ValueError says if it is no convex expression of the outputs, or has no slope there.
        """
        import cvxpy as cp

        f = cp.Variable(len(outputs), value=outputs)
        try:
            term = cp.Expression.cast_to_const(0.0 if self.minus is None else self.minus(f))
        except Exception as error:
            raise ValueError(f"addition {self.name!r}: minus fails with {type(error).__name__}: {error}") from error
        if term.size != 1 or not term.is_convex():
            raise ValueError(
                f"addition {self.name!r}: minus must be a convex number by CVXPY's rules; its shape is {term.shape}, "
                f"its curvature {term.curvature.lower()}"
            )
        slope = slope_of(term, f)
        value = np.nan if term.value is None else float(np.sum(term.value))
        if slope is None or not np.isfinite(value):
            raise ValueError(
                f"addition {self.name!r}: minus has no value, or CVXPY no slope of it, at these outputs; norm_inf(f) "
                "has one as max(abs(f))"
            )
        return value, slope

    def placed(self, problem: Problem) -> Addition:
        """Itself, if it may be used on a problem.

        A function of outputs, or of the coefficients of another space than the linear one, is one of the points that it
        was first used on.  A ValueError says if it is such a function, and the problem is one of other points, or of a
        part of them.
        """
        if self._is_by_row(problem) and self.numbers.places(problem, f"addition {self.name!r}") is not None:
            raise ValueError(
                f"addition {self.name!r} is a function of the outputs of all points, and cannot be one of some of them"
            )
        return self

    def _is_by_row(self, problem: Problem) -> bool:
        import cvxpy as cp

        d = problem.X.shape[1] if problem.is_linear else problem.n
        w, b, f = cp.Variable(d), cp.Variable(), cp.Variable(problem.n)
        try:
            found = self.function(w, b, f)
        except Exception:
            return True  # what is wrong is told where the problem is written
        parts = found if isinstance(found, (list, tuple)) else [found]
        parts = [one for part in parts for one in (part if isinstance(part, (list, tuple)) else [part])]
        used = {id(one) for part in parts if hasattr(part, "variables") for one in part.variables()}
        return self.minus is not None or id(f) in used or (not problem.is_linear and id(w) in used)

    def __repr__(self) -> str:
        return f"addition({self.name!r})"


def slope_of(term: Any, variable: Any) -> Array | None:
    """A subgradient of a CVXPY term by a variable at its value, flat; None if CVXPY knows none there."""
    try:
        found = term.grad.get(variable, 0.0)
    except NotImplementedError:
        return None
    if found is None:
        return None
    flat = np.ravel(found.toarray() if hasattr(found, "toarray") else found)
    return np.array(np.broadcast_to(flat, variable.size), dtype=float)


def addition(
    function: Callable[[Any, Any, Any], Any],
    *,
    minus: Callable[[Any], Any] | None = None,
    least: float | None = None,
    name: str | None = None,
    latex: str | None = None,
) -> Addition:
    """A convex term, a difference of two, or constraints, of a formulation, written in CVXPY.

    With one, every method of convex steps goes through CVXPY: the objective, the trace, predictions and estimators have
    it as they have the rest.  An addition is for ``Formulation(additions=[...])``.

    Parameters
    ----------
    function : callable
        ``function(w, b, f)`` is called with CVXPY expressions: the weights w, shape (d,), in the linear space, and in
        other spaces the coefficients a of f(x) = Σ a_i k(x_i, x) + b, shape (n,); the bias b; and the outputs f of all
        points of the problem, shape (n,), those without a loss included.  It returns a convex expression that is a
        number, a list of constraints, or a pair (expression, constraints).  Outputs at other points are
        ``X_new @ w + b`` in the linear space; in others give these points to the problem with a cost of 0.
    minus : callable, optional
        ``minus(f)``, a convex expression of the outputs that is a number and is subtracted: max(0, a - b) is the
        larger of a and b, minus b.  Concave-convex steps have its tangent at the current outputs.
    least : float, optional
        What such a difference is never below, as 0 for max(0, a - b): exact search asks for it.
    name : str, optional
        How messages and reports call it; the function's name by default.
    latex : str, optional
        How LaTeX calls it, without dollars.

    Examples
    --------
    A function that rises in its first feature, and is steady at points that nobody has labelled:

    >>> import cvxpy as cp
    >>> X = np.array([[-1.1, 0.2], [-1.0, 0.1], [-0.9, 0.3], [0.9, 0.2], [1.0, -0.1], [1.1, 0.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> model = ct.Formulation(
    ...     ct.hinge(),
    ...     ct.symmetric_ramp(-0.3),
    ...     additions=[
    ...         ct.formulations.addition(lambda w, b, f: [w[0] >= 0], name="rising"),
    ...         ct.formulations.addition(lambda w, b, f: 0.1 * cp.sum_squares(f[1:3]), name="steady"),
    ...     ],
    ... )
    >>> solution = ct.cccp(model, problem)
    >>> solution.status, solution.labels
    ('converged', array([-1., -1., -1.,  1.,  1.,  1.]))
    """
    if not callable(function):
        raise ValueError(f"function={function!r} must be a function of w, b and f")
    if not (minus is None or callable(minus)):
        raise ValueError(f"minus={minus!r} must be a function of f")
    called = name if name is not None else getattr(function, "__name__", "addition")
    return Addition(function, called, rf"\text{{{called}}}(w, b, f)" if latex is None else latex, minus, least)
