"""What is given: points, labels, costs, feature space, class balance.  Everything is checked here, once."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .kernels import (
    DeformedKernel,
    GramRows,
    Kernel,
    Linear,
    Precomputed,
    RowSource,
    exact_rows,
    kernel_from_dict,
    make_kernel,
)
from .kernels.functions import CallableKernel, Polynomial
from .points import LinearPoints
from .problem_checks import check_labels, check_points, check_psd
from .validation import is_sparse

Array = NDArray[np.float64]
#: A kernel matrix of up to this many bytes is formed when a product with it is needed, and kept.
GRAM_BYTES = 16 * 2**20

Balance = None | str | float | tuple[str, float]


#: Means of outputs in ±MOST_MEAN are taken.  Labels are ±1, and outputs of most points near them or somewhat beyond; a
#: mean that is further away is a percentage, or a mistake.
MOST_MEAN = 10.0


class PointsSource:
    """An array of points as a problem was given it; :attr:`key` tells it from any other."""

    def __init__(self, X: Any) -> None:
        self._X = X

    @cached_property
    def key(self) -> tuple[int, str]:
        """The number of points, and a digest of them; of points that are known by products, of their shape only."""
        X, found = self._X, hashlib.sha256(repr(self._X.shape).encode())
        if is_sparse(X):
            X = X.tocsr(copy=True)
            X.sum_duplicates()
            X.eliminate_zeros()
            for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data):
                found.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(X, np.ndarray):
            found.update(np.ascontiguousarray(X).tobytes())
        return X.shape[0], found.hexdigest()


def points_source(X: Any) -> PointsSource:
    """The source of points as a :class:`Problem` would take them, with the same errors."""
    return PointsSource(check_points(X))


class Problem:
    """A semi-supervised binary classification problem.

    Parameters
    ----------
    X : array, shape (n, d), or sparse matrix
        The points, labelled and unlabelled; for a precomputed kernel, their (n, n) kernel matrix.
    y : array, shape (n,)
        +1, -1, or 0 where the label is unknown.  A class, or both, may be without a labelled point if ``balance`` is a
        number, an exact share, or None; a formulation that has no minimum then refuses the problem.
    kernel : Kernel, {"linear", "rbf", "poly", "precomputed"} or callable, default "linear"
        The feature space; names take the parameters of ``sklearn.svm.SVC``'s defaults.
    C : float > 0 or array, shape (n,) or (n_labeled,), default 1.0
        Cost of the labelled points' losses, or of each of them, >= 0: a point of cost 0 has no effect.
    C_unlabeled : float > 0, array, "balanced", "tenth" or None, default "balanced"
        Cost C* of the unlabelled points' losses; "balanced" is C* = C L / U (collobert2006 §4.3), "tenth" C / 10, both
        with the mean of C if that is an array; without a labelled point "balanced" is C.  None says that unlabelled
        points cost nothing (and that there may be none).
    balance : "labeled", float, ("exact", float) or None, default "labeled"
        The mean c of the outputs over the unlabelled points (collobert2006 eq. 4, chapelle2008 eq. 12): the mean of
        the known labels, weighted by their costs, a number in (-10, 10), usually in (-1, 1), or nothing.
        ``("exact", r)`` asks instead that the share of the unlabelled points *labelled* +1 is r in (0, 1), to the
        nearest point (chapelle2008 eq. 3).
    balance_sample : int or int array, optional
        Unlabelled points that stand for all of them in the mean of a linear balance: so many, drawn once and evenly,
        or the points with these indices, labelled or not.  All unlabelled ones by default; a sample saves the pass over
        all pairs of points that centring takes, and changes the constraint a little (collobert2006 §2, after eq. 10).

    Attributes
    ----------
    labeled, unlabeled : int array
        Indices of the points, increasing.
    balance_points : int array
        Indices of the points whose mean output is constrained: the unlabelled ones, or the sample of them.
    cost : array, shape (n,)
        C or C* of every point.
    balance_target : float or None
        The c that a linear balance constraint is to use: 2 r - 1 for an exact one.
    positive_count : int or None
        Number of unlabelled points to be labelled +1 under an exact balance.
    source : PointsSource
        The points that this problem, or the one that it is a part of, was made with.
    source_rows : int array, shape (n,), or None
        The places of the points of a part in its source; None for all of them.

    Examples
    --------
    >>> Problem(np.array([[-1.0], [0.9], [1.0]]), [-1, 0, 1], C=2).cost
    array([2., 4., 2.])
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "linear",
        C: ArrayLike = 1.0,
        C_unlabeled: ArrayLike | str | None = "balanced",
        balance: Balance = "labeled",
        balance_sample: int | ArrayLike | None = None,
    ) -> None:
        self.X = check_points(X)
        self.source = PointsSource(self.X)
        self.source_rows: NDArray[np.intp] | None = None
        if isinstance(X, LinearPoints) and kernel != "linear" and not isinstance(kernel, Linear):
            raise ValueError(f"kernel={kernel!r}: points that are known by their products only take kernel='linear'")
        self.kernel = make_kernel(kernel, self.X)
        self._check_kernel()
        self._set_labels(check_labels(y, self.X.shape[0], balance), C, C_unlabeled, balance, balance_sample)

    def _set_labels(
        self,
        y: Array,
        C: ArrayLike,
        C_unlabeled: ArrayLike | str | None,
        balance: Balance,
        balance_sample: int | ArrayLike | None,
    ) -> None:
        self.y = y
        self.n = len(y)
        self.labeled, self.unlabeled = np.flatnonzero(y != 0), np.flatnonzero(y == 0)
        self.n_labeled, self.n_unlabeled = len(self.labeled), len(self.unlabeled)
        if self.n_unlabeled == 0 and C_unlabeled is not None:
            raise ValueError(
                "y has no unlabelled point (no 0); a semi-supervised problem needs one, "
                "a supervised one says C_unlabeled=None"
            )
        self.C, self.C_unlabeled = _keep(C), _keep(C_unlabeled)
        self.cost = self._check_costs(self.C, self.C_unlabeled)
        self.balance = balance if self.n_unlabeled else None
        self.balance_target, self.positive_count = self._check_balance()
        self.balance_sample = _keep(balance_sample)
        self.balance_points = self._check_sample()
        for array in (self.y, self.labeled, self.unlabeled, self.cost, self.balance_points):
            array.setflags(write=False)
        self._frozen = True

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_frozen", False):
            raise AttributeError(f"a Problem cannot be changed; make a new one with replace({name}=...)")
        super().__setattr__(name, value)

    def replace(self, **changes: Any) -> Problem:
        """A new problem with some arguments changed, the others as they were given (a "balanced" C* is balanced anew).

        Points and kernel matrix are shared if they are not among the changes.

        Parameters
        ----------
        **changes
            Arguments of :class:`Problem` by name.
        """
        names = ("y", "C", "C_unlabeled", "balance", "balance_sample")
        given: dict[str, Any] = {name: getattr(self, name) for name in names} | changes
        if "X" in changes:
            return Problem(**{"kernel": self.kernel, **given})
        other = Problem.__new__(Problem)
        other.X, other.kernel, other.source = self.X, self.kernel, self.source
        other.source_rows = self.source_rows
        if "kernel" in changes:
            other.kernel = make_kernel(given.pop("kernel"), self.X)
            other._check_kernel()
        elif "gram" in self.__dict__:
            other.__dict__["gram"] = self.gram
        other._set_labels(check_labels(given.pop("y"), self.n, given["balance"]), **given)
        return other

    def part(self, keep: NDArray[np.intp]) -> Problem:
        """The problem of some of the points, by increasing indices, with their costs and the mean asked for."""
        if isinstance(self.X, LinearPoints):
            X: Any = self.X.take(keep)
        else:
            X = self.X[keep][:, keep] if isinstance(self.kernel, Precomputed) else self.X[keep]
        cost, balance = self.cost[keep], self.balance_target if self.positive_count is None else self.balance
        unlabeled = None if self.C_unlabeled is None else cost
        found = self.replace(X=X, y=self.y[keep], C=cost, C_unlabeled=unlabeled, balance=balance, balance_sample=None)
        return found._of(self, keep)

    def _of(self, whole: Problem, keep: NDArray[np.intp]) -> Problem:
        """The same problem, which knows that its points are some of another's, and where they were there."""
        rows = keep if whole.source_rows is None else whole.source_rows[keep]
        self.__dict__.update(source=whole.source, source_rows=rows)
        return self

    def distinct(self, first: NDArray[np.intp], which: NDArray[np.intp]) -> Problem:
        """The problem of the distinct points; its mean output counts a point as often as it is in this problem.

        ``first`` is a place of each distinct point, and ``which`` the distinct point that each point is, shape (n,).
        All costs are 1: the caller has to add up the losses of points that are equal.
        """
        y = self.y[first]
        y[which[self.unlabeled]] = 0
        other = Problem.__new__(Problem)
        other.X, other.kernel = self.X[first], self.kernel
        other._of(self, first)
        # The labels are not checked: those of one class may all have gone to equal points without a label.
        other._set_labels(y, 1.0, 1.0 if self.n_unlabeled else None, None, None)
        # The mean that is balanced counts points as often as they were there.
        other.__dict__["balance_points"] = which[self.balance_points]
        other.balance_points.setflags(write=False)
        return other

    def by_mean(self) -> Problem:
        """The same problem with the mean of the labels asked for where their number is: a linear balance constraint."""
        return self if self.positive_count is None else self.replace(balance=self.balance_target)

    #: The names of the arrays that :meth:`to_arrays` may write.
    ARRAYS = ("y", "cost", "balance_points", "X", "X_data", "X_indices", "X_indptr", "X_shape")

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The problem as arrays and as values that JSON can hold, from which :meth:`from_arrays` makes it again."""
        arrays: dict[str, NDArray[Any]] = {"y": self.y, "cost": self.cost, "balance_points": self.balance_points}
        try:
            kernel = self.kernel.to_dict()
        except ValueError:
            # A function cannot be saved; its matrix can.
            kernel, arrays["X"] = Precomputed().to_dict(), self.gram
        else:
            if is_sparse(self.X):
                X = self.X
                arrays.update(X_data=X.data, X_indices=X.indices, X_indptr=X.indptr, X_shape=np.array(X.shape))
            else:
                arrays["X"] = self.X
        balance = self.balance_target if self.balance == "labeled" else self.balance
        return arrays, {"kernel": kernel, "balance": balance}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], described: dict[str, Any]) -> Problem:
        """The problem that :meth:`to_arrays` wrote.

        Parameters
        ----------
        arrays, described : dict
            What it returned.
        """
        if "X" in arrays:
            X: Any = arrays["X"]
        else:
            parts = (arrays["X_data"], arrays["X_indices"], arrays["X_indptr"])
            X = sp.csr_matrix(parts, shape=tuple(arrays["X_shape"]))
        cost, balance = arrays["cost"], described["balance"]
        return cls(
            X,
            arrays["y"],
            kernel=kernel_from_dict(described["kernel"]),
            C=cost,
            C_unlabeled=cost,
            balance=tuple(balance) if isinstance(balance, list) else balance,
            balance_sample=arrays["balance_points"],
        )

    @cached_property
    def is_linear(self) -> bool:
        """Whether the feature space is the space of the points themselves."""
        return isinstance(self.kernel, Linear)

    def rows(self) -> RowSource:
        """Source of rows of the kernel matrix."""
        if isinstance(self.kernel, Precomputed):
            return GramRows(self.X)
        if isinstance(self.kernel, DeformedKernel) and self.kernel.is_about(self.X):
            return self.kernel.rows_for(np.flatnonzero(self.cost))
        return exact_rows(self.kernel, self.X)

    @cached_property
    def gram(self) -> Array:
        """Kernel matrix K, shape (n, n); a ValueError if the kernel's values overflow."""
        matrix = self.rows().full()
        if not np.isfinite(matrix).all():
            raise ValueError(f"kernel={self.kernel!r} overflows at these points; scale them")
        return matrix

    def apply_kernel(self, coefficients: Array) -> Array:
        """K times coefficients, (n,) or (n, k); the linear space never forms K, and a large K is formed in blocks."""
        if self.is_linear and coefficients.ndim == 2:
            return np.column_stack([self.apply_kernel(column) for column in coefficients.T])
        if self.is_linear:
            return self.linear_outputs(self.combination(coefficients))
        if "gram" in self.__dict__ or 8 * self.n**2 <= GRAM_BYTES:
            return self.gram @ coefficients
        if coefficients.ndim == 2:
            return self.rows().times(coefficients)
        used = np.flatnonzero(coefficients)
        return self.rows().combine(used, coefficients[used])

    def linear_outputs(self, w: Array) -> Array:
        """X w, shape (n,), in the linear space, where w has shape (d,)."""
        return self.X.times(w) if isinstance(self.X, LinearPoints) else np.asarray(self.X @ w).ravel()

    def combination(self, coefficients: Array) -> Array:
        """Σ a_i x_i, shape (d,), in the linear space, for n coefficients."""
        if isinstance(self.X, LinearPoints):
            return self.X.transposed(coefficients)
        return np.asarray(self.X.T @ coefficients).ravel()

    def __repr__(self) -> str:
        space = self.kernel.__class__.__name__
        return f"Problem(n_labeled={self.n_labeled}, n_unlabeled={self.n_unlabeled}, kernel={space})"

    def _check_kernel(self) -> None:
        if is_sparse(self.X) and not self.kernel.accepts_sparse:
            shown = "precomputed" if isinstance(self.kernel, Precomputed) else repr(self.kernel)
            raise ValueError(
                f"X is sparse, but kernel={shown} needs a dense array; "
                "use kernel='linear', 'rbf' or 'poly', or X.toarray()"
            )
        if isinstance(self.kernel, (Linear, Polynomial)) and not np.isfinite(self.kernel.diag(self.X)).all():
            raise ValueError(f"kernel={self.kernel!r} overflows at these points; scale them")
        if isinstance(self.kernel, Precomputed) and self.X.shape[0] != self.X.shape[1]:
            raise ValueError(f"X has shape {self.X.shape}; a precomputed kernel matrix must be square")
        if isinstance(self.kernel, (Precomputed, CallableKernel)):
            check_psd(self.X if isinstance(self.kernel, Precomputed) else self.kernel(self.X, self.X))

    def _check_costs(self, C: ArrayLike, C_unlabeled: ArrayLike | str | None) -> Array:
        cost = np.zeros(self.n)
        # In clustering C is a cost of no point, but checked.
        own = self._check_cost("C", C, self.labeled if self.n_labeled else self.unlabeled)
        if self.n_labeled:
            cost[self.labeled] = own
        if C_unlabeled is None:
            return cost
        if isinstance(C_unlabeled, str):
            if C_unlabeled not in ("balanced", "tenth"):
                raise ValueError(
                    f"C_unlabeled={C_unlabeled!r} must be a number > 0, an array, 'balanced', 'tenth' or None"
                )
            balanced = self.n_labeled / self.n_unlabeled if self.n_labeled else 1.0
            cost[self.unlabeled] = own.mean() * (balanced if C_unlabeled == "balanced" else 0.1)
        else:
            cost[self.unlabeled] = self._check_cost("C_unlabeled", C_unlabeled, self.unlabeled)
        return cost

    def _check_cost(self, name: str, value: ArrayLike, where: NDArray[np.intp]) -> Array:
        try:
            if isinstance(value, str):
                raise TypeError
            cost = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name}={value!r} must be a number > 0 or an array of them") from None
        if cost.ndim > 1 or (cost.ndim == 1 and len(cost) not in (self.n, len(where))):
            raise ValueError(f"{name} has shape {cost.shape}; it must be a number, ({self.n},) or ({len(where)},)")
        cost = cost[where] if cost.ndim == 1 and len(cost) == self.n else cost
        if cost.ndim == 0 and not (np.isfinite(cost) and cost > 0):
            instead = "; a hard margin is a loss: hard_margin_s3vm(), or loss='hard_margin'" if cost == np.inf else ""
            raise ValueError(f"{name}={float(cost):g} must be a finite number > 0{instead}")
        if not (np.isfinite(cost).all() and (cost >= 0).all() and cost.any()):
            shown = f"array with minimum {cost.min():g}" if cost.any() else "array of zeros"
            raise ValueError(f"{name}={shown} must be finite numbers >= 0, not all 0")
        return cost

    def _check_balance(self) -> tuple[float | None, int | None]:
        balance: Any = self.balance
        allowed = "None, 'labeled', a number c in (-10, 10), or ('exact', r) with r in (0, 1)"
        if balance is None:
            return None, None
        if isinstance(balance, str):
            if balance != "labeled":
                raise ValueError(f"balance={balance!r} must be {allowed}")
            costs = self.cost[self.labeled]
            # Equal costs are none, so that the mean is that of the signs to the last digit.
            return float(np.average(self.y[self.labeled], weights=costs if np.ptp(costs) else None)), None
        if _is_number(balance):
            if not -MOST_MEAN < balance < MOST_MEAN:
                raise ValueError(f"balance={balance!r} must be {allowed}")
            return float(balance), None
        if isinstance(balance, (tuple, list)) and len(balance) == 2 and balance[0] == "exact":
            r = balance[1]
            if _is_number(r) and 0 < r < 1:
                return float(2 * r - 1), round(float(r) * self.n_unlabeled)
        raise ValueError(f"balance={balance!r} must be {allowed}")

    def _check_sample(self) -> NDArray[np.intp]:
        sample, u = self.balance_sample, self.n_unlabeled
        if sample is None:
            return self.unlabeled
        allowed = f"None, an integer from 1 to the number of unlabelled points ({u}), or indices of points"
        if isinstance(sample, (int, np.integer)) and not isinstance(sample, bool):
            if not 1 <= sample <= u:
                raise ValueError(f"balance_sample={sample} must be {allowed}")
            drawn = np.random.default_rng(0).choice(self.unlabeled, int(sample), replace=False)
            return np.sort(drawn)
        points = np.asarray(sample)
        if points.ndim != 1 or len(points) == 0 or not np.issubdtype(points.dtype, np.integer):
            raise ValueError(f"balance_sample={sample!r} must be {allowed}")
        strange = points[(points < 0) | (points >= self.n)]
        if len(strange):
            raise ValueError(f"balance_sample contains {strange[0]}, which is not the index of a point, below {self.n}")
        return np.unique(points).astype(np.intp)


def _keep(value: Any) -> Any:
    """An argument as given, arrays copied and read-only."""
    if value is None or isinstance(value, (str, numbers.Number)):
        return value
    copy = np.array(value)
    copy.setflags(write=False)
    return copy


def _is_number(value: Any) -> bool:
    """Whether a value is a real number, as NumPy's are too, and no truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
