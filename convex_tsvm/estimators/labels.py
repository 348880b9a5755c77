"""Class labels with a marker for unknown ones, how much every point counts, and the shares of the classes."""

import datetime
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..methods.shares import ClassShares
from ..notice import warn
from ..problem import Array


@dataclass(frozen=True, eq=False)
class Balance:
    """What a user says of the sizes of the classes."""

    # None, "auto", "labeled", a mean output, or shares of the classes, by name or in their order.
    said: str | float | Mapping[Any, float] | Sequence[float] | None
    word: str | None = None  # "exact" if ("exact", said) was given

    @classmethod
    def read(cls, given: Any) -> Self:
        is_pair = isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str)
        return cls(given[1], given[0]) if is_pair else cls(given)

    @property
    def two_classes(self) -> NDArray[Any] | None:
        """The two classes whose sizes are said, by their names, or 0 and 1; None if nothing is said of two."""
        if isinstance(self.said, Mapping):
            return np.unique(np.array(list(self.said))) if len(self.said) == 2 else None
        is_number = isinstance(self.said, (int, float, np.number)) and not isinstance(self.said, bool)
        return np.array([0, 1]) if is_number else None

    def share(self, classes: NDArray[Any], k: int) -> float | None:
        """The share of class k, if shares of all classes are said; a ValueError if they do not fit."""
        shares: Any = self.said
        if not isinstance(shares, Mapping):
            if isinstance(shares, str) or np.ndim(shares) != 1:
                return None
            if len(shares) != len(classes):
                raise ValueError(f"balance={shares!r} has {len(shares)} shares; there are {len(classes)} classes")
            shares = dict(zip(classes.tolist(), shares, strict=True))
        names = classes.tolist()
        if sorted(map(str, shares)) != sorted(map(str, names)):
            raise ValueError(
                f"balance={dict(shares)!r} must have a share for each of the classes {names}, and no other"
            )
        by_name = {str(name): share for name, share in shares.items()}
        found = np.array([by_name[str(name)] for name in names], dtype=float)
        if not ((found > 0) & (found < 1)).all() or abs(found.sum() - 1) > 1e-3:
            raise ValueError(f"balance={dict(shares)!r}: shares must be numbers in (0, 1) whose sum is 1")
        return float(found[k] / found.sum())


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a fit: of several classes, some unknown, with weights; arrays have the shape (n,)."""

    classes: NDArray[Any]  # shape (n_classes,)
    index: NDArray[np.intp]  # the class of every point, as a place in ``classes``; -1 for unknown
    unlabeled: NDArray[np.bool_]
    weights: Array | None = None  # factors on the costs of all points, labelled or not (``sample_weight``)
    class_weights: Array | None = None  # factors on the costs of labelled points by their class; 1 for the others
    inferred: ClassShares | None = None  # shares of the classes among the unlabelled points, if they have been inferred

    @classmethod
    def read(
        cls, y: Any, marker: Any, name: str, sample_weight: Any = None, class_weight: Any = None, sizes: Any = None
    ) -> Self:
        """Labels as users give them; see ``fit`` for the weights.

        ``y`` holds numbers, strings or dates, and ``marker`` where a label is unknown; NaN matches every missing value
        (NaN, None, NaT, pandas' NA), None marks nothing.  ``sizes``, a balance as users give it, may say how large two
        classes are of which not both have a label.  ``name`` is the estimator's, for errors.
        """
        if y is None:
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        y = _readable(column_or_1d(y, warn=True))
        unlabeled = _matches(y, marker)
        _warn_of_zeros(y, marker)
        known, index, own = y[~unlabeled], np.full(len(y), -1, dtype=np.intp), None
        if known.dtype == object and len({isinstance(one, str) for one in known if not _is_missing(one)}) > 1:
            raise ValueError("y mixes text and numbers as labels; use one kind")
        if len(known):
            classes, index[~unlabeled] = _classes(_checked(known, marker), sizes, marker, bool(unlabeled.any()))
        elif (two := Balance.read(sizes).two_classes) is not None:
            classes = two
        else:
            raise ValueError(
                f"y has no labelled point: every entry is unlabeled={marker!r}; two clusters are found if their "
                "sizes are given by a number"
            )
        if class_weight is not None:
            own = np.where(unlabeled, 1.0, _class_weights(class_weight, classes, index[~unlabeled])[index])
        weights = None if sample_weight is None else checked_weights(sample_weight, len(index))
        if weights is not None and len(known):
            check_labels_count(weights[~unlabeled], classes[index[~unlabeled]])
        return cls(classes, index, unlabeled, weights, own)

    @property
    def positives(self) -> list[int]:
        """The classes that are told from the others, as places in ``classes``: the second of two, or each."""
        return [1] if len(self.classes) == 2 else list(range(len(self.classes)))

    def signs(self, k: int) -> Array:
        """+1 for points of class k, -1 for others, 0 for unlabelled points."""
        return np.where(self.unlabeled, 0.0, np.where(self.index == k, 1.0, -1.0))

    def costs(self, C: Any, C_unlabeled: Any) -> tuple[Any, Any]:
        """C and C* as a problem takes them: as given, or an array with the cost of every point if there are weights."""
        if self.weights is None and self.class_weights is None:
            return C, C_unlabeled
        counted = np.ones(len(self.index)) if self.weights is None else self.weights
        factor = counted if self.class_weights is None else counted * self.class_weights
        if C_unlabeled is not None and self.unlabeled.any() and not factor[self.unlabeled].any():
            raise ValueError("sample_weight is 0 at all unlabelled points; leave them out, or pass C_unlabeled=None")
        C = _times(C, factor, ~self.unlabeled)
        if isinstance(C_unlabeled, str) and self.unlabeled.all():
            return C, C * (0.1 if C_unlabeled == "tenth" else 1.0)
        if isinstance(C_unlabeled, str) and isinstance(C, np.ndarray):
            # These are means over the points: a point of weight 2 counts in them as two points of weight 1.
            if C_unlabeled == "balanced":
                return C, factor * C[~self.unlabeled].sum() / factor[self.unlabeled].sum()
            if C_unlabeled == "tenth":
                return C, factor * 0.1 * C[~self.unlabeled].sum() / counted[~self.unlabeled].sum()
        return C, _times(C_unlabeled, factor, self.unlabeled)

    def balance(self, given: Any, k: int) -> Any:
        """The balance of class k against the rest, as a problem takes it; a ValueError if ``given`` does not fit."""
        asked = Balance.read(given)
        share = asked.share(self.classes, k)
        if share is not None:
            return 2 * share - 1 if asked.word is None else (asked.word, share)
        if len(self.classes) > 2 and given is not None and not isinstance(given, str):
            raise ValueError(
                f"balance={given!r}: with {len(self.classes)} classes it must be 'auto', 'labeled', None, the share "
                "of every class such as {'a': 0.6, 'b': 0.3, 'c': 0.1}, or ('exact', such shares)"
            )
        if isinstance(given, str) and given == "auto":
            # Until shares have been inferred they are those of the labels.
            return self.balance("labeled", k) if self.inferred is None else 2 * float(self.inferred.shares[k]) - 1
        if isinstance(given, str) and given == "labeled" and self.class_weights is not None:
            # Factors of classes are about errors and no counts of points, as the costs of a problem are.
            weights = None if self.weights is None else self.weights[~self.unlabeled]
            return float(np.average(self.signs(k)[~self.unlabeled], weights=weights))
        return given

    @property
    def counted(self) -> NDArray[np.intp] | None:
        """The unlabelled points of weight > 0, whose mean output a balance constrains; None if all are, or none is."""
        if self.weights is None:
            return None
        found = np.flatnonzero(self.unlabeled & (self.weights > 0))
        return found if 0 < len(found) < self.unlabeled.sum() else None


def _classes(known: NDArray[Any], sizes: Any, marker: Any, some_unknown: bool) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes of known labels, and the place of each label among them; a ValueError if there is one class only."""
    if known.dtype.kind not in "biuUS":  # whole numbers and text are classes
        check_classification_targets(known)
    classes, index = np.unique(known, return_inverse=True)
    asked = Balance.read(sizes)
    two = asked.two_classes
    if len(classes) == 1 and isinstance(asked.said, Mapping) and two is not None and classes[0] in two:
        return two, np.searchsorted(two, known)
    if len(classes) < 2:
        only = classes.tolist()[0]
        hint = "" if two is None else f"; name both with their sizes, such as {{{only!r}: 0.3, 'other': 0.7}}"
        if isinstance(marker, (int, float)) and marker == -1 and some_unknown and only == 1:
            hint += (
                ": -1 marks unlabelled points by default, so labels -1/+1 are ambiguous; "
                "pass unlabeled=0 or unlabeled=np.nan (or None if every label is known)"
            )
        raise ValueError(f"y has one class only, {only!r}; the number of classes has to be at least 2{hint}")
    return classes, index


def _checked(known: NDArray[Any], marker: Any) -> NDArray[Any]:
    """Known labels, of one kind; a ValueError if one is missing, or is no finite number."""
    if known.dtype.kind == "f" and not np.isfinite(known).all():
        raise ValueError(f"Input y contains NaN or infinity; unlabelled points are marked by unlabeled={marker!r}")
    if known.dtype != object:
        return known
    if any(_is_missing(label) for label in known):
        raise ValueError(f"y contains missing values besides unlabeled={marker!r}; use unlabeled=np.nan for them")
    # A marker of another kind has forced the labels into an array of objects: they become what they were before.
    dates = all(isinstance(label, datetime.date) for label in known)
    return known.astype("datetime64[us]") if dates and len(known) else np.array(known.tolist())


def _readable(y: NDArray[Any]) -> NDArray[Any]:
    return y if y.dtype.kind in "biufUSO" else np.array(list(y), dtype=object)


def _matches(y: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    if marker is None:
        return np.zeros(len(y), dtype=bool)
    if y.dtype.kind in "US" and not isinstance(marker, (str, bytes)):
        # An array of strings holds a marker of another kind as text.
        if _is_missing(marker) and (y == np.array("None", y.dtype.kind)).any():
            raise ValueError(
                f"y is an array of strings with the label 'None', which unlabeled={marker!r} may mark or not: pass an "
                "array of objects with None in it, or unlabeled='None'"
            )
        # What NumPy writes for missing values in an array of strings; "None" may be a word as well.
        texts = {str(marker), *(("nan", "NaN", "NaT", "<NA>") if _is_missing(marker) else ())}
        if isinstance(marker, numbers.Real) and float(marker).is_integer():
            texts |= {str(int(float(marker))), str(float(marker))}
        return np.isin(y, np.array(sorted(texts), dtype=y.dtype.kind))
    if _is_missing(marker):
        return np.array([_is_missing(v) for v in y], dtype=bool)
    if y.dtype.kind == "S" and isinstance(marker, str):
        marker = marker.encode()
    if y.dtype == object:
        return np.array([not _is_missing(v) and _same_marker(v, marker) for v in y], dtype=bool)
    return np.broadcast_to(np.asarray(y == marker), y.shape).copy()


def _is_missing(value: Any) -> bool:
    """Whether ``value`` is NaN, None, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    unlike_itself = value != value  # noqa: PLR0124
    return isinstance(unlike_itself, (bool, np.bool_)) and bool(unlike_itself)


def unlabeled_points(y: Any, marker: Any) -> NDArray[np.bool_]:
    """Which labels are the marker of unlabelled points, shape (n,)."""
    return _matches(_readable(column_or_1d(y)), marker)


def labeled_points(y: Any, marker: Any, purpose: str = "") -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Places of the labelled points, increasing, and their labels; an error if there are none."""
    known = np.flatnonzero(~unlabeled_points(y, marker))
    if len(known) == 0:
        raise ValueError(f"y has no labelled point{purpose}: every entry is unlabeled={marker!r}")
    return known, _checked(np.asarray(y)[known], marker)


def marked(y: NDArray[Any], unknown: NDArray[np.bool_], marker: Any) -> NDArray[Any]:
    """Labels y, shape (n,), with the marker where they are to be unknown; both numbers, or objects of either kind."""
    if marker is None:
        raise ValueError("unlabeled=None marks no point: the estimator must have a marker, such as -1")
    numeric = isinstance(marker, numbers.Real) and y.dtype.kind in "biuf"
    found = y.astype(np.result_type(y, np.asarray(marker))) if numeric else np.array(list(y), dtype=object)
    found[unknown] = marker
    return found


def marker_of(estimator: Any, unlabeled: Any = "auto") -> Any:
    """How an estimator marks unlabelled points in ``y``; pipelines and meta-estimators around it are looked through.

    ``unlabeled`` is what a wrapper's user has said of it, or "auto", and must not contradict the estimator.
    """
    said = not (isinstance(unlabeled, str) and unlabeled == "auto")
    if isinstance(estimator, Pipeline):
        return marker_of(estimator.steps[-1][1], unlabeled)
    if estimator is None:
        return unlabeled if said else -1
    if type(estimator).__module__.startswith("sklearn.semi_supervised"):
        own = -1
    elif hasattr(estimator, "estimator"):
        given = getattr(estimator, "unlabeled", "auto")
        own = marker_of(estimator.estimator, unlabeled if isinstance(given, str) and given == "auto" else given)
    elif hasattr(estimator, "unlabeled"):
        own = estimator.unlabeled
    elif said:
        return unlabeled
    else:
        raise ValueError(
            f"estimator={estimator!r} marks no unlabelled points: it must be one of this package, or unlabeled given"
        )
    if said and not _same_marker(own, unlabeled):
        raise ValueError(f"unlabeled={unlabeled!r} is not the estimator's own unlabeled={own!r}; leave out the former")
    return own


def _same_marker(one: Any, other: Any) -> bool:
    if _is_missing(one) or _is_missing(other):
        return (one is None) == (other is None) and _is_missing(one) == _is_missing(other)
    return isinstance(one, str) == isinstance(other, str) and bool(one == other)


class ScoresLabeled:
    """What a classifier has that scores labelled points only."""

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of the points X, shape (n, n_features), whose labels are known that are labelled rightly, in [0, 1].

        ``y``, shape (n,), has the labels, with ``unlabeled`` where unknown, and ``sample_weight``, shape (n,), weights.
        """
        known, truth = labeled_points(y, marker_of(self), " to score")
        weights = None if sample_weight is None else checked_weights(sample_weight, len(np.asarray(y)))[known]
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is 0 at all labelled points: there is nothing to score")
        own: Any = self
        return float(accuracy_score(truth, own.predict(X)[known], sample_weight=weights))


def _warn_of_zeros(y: NDArray[Any], marker: Any) -> None:
    """Warn if labels are -1, 0 and +1, and most points have that of -1 and 0 which is not the marker."""
    if y.dtype.kind not in "if" or not isinstance(marker, (int, float)) or marker not in (-1, 0):
        return
    values, counts = np.unique(y[np.isfinite(y)] if y.dtype.kind == "f" else y, return_counts=True)
    if values.tolist() != [-1, 0, 1]:
        return
    other = -1 - int(marker)
    if 2 * counts[values == other][0] > len(y):
        warn(
            f"y has the labels -1, 0 and +1, and {other} is that of most points, but unlabeled={marker!r}: so {other} "
            f"is learned as a class.  If it marks unlabelled points, pass unlabeled={other}"
        )


def checked_weights(sample_weight: ArrayLike, n: int) -> Array:
    """Weights of n points, shape (n,), from a number or from one of each, or a ValueError."""
    try:
        weights = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be {n} numbers >= 0, one per sample") from None
    weights = np.full(n, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one weight per sample")
    if len(wrong := weights[~(np.isfinite(weights) & (weights >= 0))]):
        raise ValueError(f"sample_weight must be finite numbers >= 0; it has {wrong[0]:g}")
    if not weights.any():
        raise ValueError("sample_weight is 0 everywhere.  Sample weights must contain at least one non-zero number.")
    return weights


def check_labels_count(weights: Array, labels: NDArray[Any]) -> None:
    """Raise ValueError unless every class has a labelled point of weight > 0; both of shape (n_labeled,)."""
    if not weights.any():
        raise ValueError("sample_weight is 0 at all labelled points; one of each class must have a weight > 0")
    if len(lost := np.setdiff1d(labels, labels[weights > 0])):
        raise ValueError(f"sample_weight is 0 at all labels of class {lost.tolist()[0]!r}; one must have a weight > 0")


def _class_weights(class_weight: Any, classes: NDArray[Any], index: NDArray[np.intp]) -> Array:
    """The weight of every class, from what the user gave; ``index`` has the classes of the labelled points."""
    found, names = np.ones(len(classes)), list(classes)
    if isinstance(class_weight, str) and class_weight == "balanced":
        there = np.unique(index)
        found[there] = compute_class_weight("balanced", classes=there, y=index)
        return found
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight={class_weight!r} must be None, 'balanced', or a weight > 0 per class")
    for name, weight in class_weight.items():
        if name not in names:
            raise ValueError(f"class_weight has {name!r}, which is no label of y; the classes are {classes.tolist()}")
        if not (isinstance(weight, numbers.Real) and 0 < float(weight) < np.inf):
            raise ValueError(f"class_weight={class_weight!r}: the weight of {name!r} must be a number > 0")
        found[names.index(name)] = weight
    return found


def _times(cost: Any, factor: Array, where: NDArray[np.bool_]) -> Any:
    """A cost, of all points or those at ``where``, times the factors of the points, shape (n,); words stay."""
    if cost is None or isinstance(cost, str):
        return cost
    try:
        cost = np.asarray(cost, dtype=float)
    except (TypeError, ValueError):
        return cost  # for the problem to complain about
    if cost.ndim == 1 and len(cost) == where.sum() != len(where):
        whole = np.ones(len(where))
        whole[where] = cost
        cost = whole
    return cost * factor
