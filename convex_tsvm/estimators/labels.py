"""Class labels with a marker for unknown ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


def split_labels(y: Any, marker: Any, name: str) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.bool_]]:
    """Classes, class index of every point (-1 for unknown), and which points are unlabelled.

    Parameters
    ----------
    y : array, shape (n,)
        Numbers or strings, with ``marker`` where unknown.
    marker : object
        NaN matches every missing value (NaN, None, pandas' NA); None marks nothing.
    name : str
        The estimator's, for errors.

    Raises
    ------
    ValueError
        If no point is labelled, there is one class only, or the labels are not classes.
    """
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind not in "biufUSO":
        y = np.array(list(y), dtype=object)
    unlabeled = _matches(y, marker)
    known = y[~unlabeled]
    if len(known) == 0:
        raise ValueError(f"y has no labelled point: every entry is unlabeled={marker!r}")
    if known.dtype.kind == "f" and not np.isfinite(known).all():
        raise ValueError(f"Input y contains NaN or infinity; unlabelled points are marked by unlabeled={marker!r}")
    if known.dtype == object:
        # A marker that is a number forces labels that are strings into an object array; undo that.
        if any(_is_missing(label) for label in known):
            raise ValueError(f"y contains missing values besides unlabeled={marker!r}; use unlabeled=np.nan for them")
        kinds = {"text" if isinstance(label, str) else "numbers" for label in known}
        if len(kinds) > 1:
            raise ValueError("y mixes text and numbers as labels; use one kind")
        known = np.array(known.tolist())
    check_classification_targets(known)
    classes, index = np.unique(known, return_inverse=True)
    if len(classes) < 2:
        hint = ""
        if isinstance(marker, (int, float)) and marker == -1 and unlabeled.any() and classes[0] == 1:
            hint = (
                ": -1 marks unlabelled points by default, so labels -1/+1 are ambiguous; "
                "pass unlabeled=0 or unlabeled=np.nan (or None if every label is known)"
            )
        raise ValueError(f"y has one class only, {classes[0]!r}; the number of classes has to be at least 2{hint}")
    result = np.full(len(y), -1, dtype=np.intp)
    result[~unlabeled] = index
    return classes, result, unlabeled


def _matches(y: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    if marker is None:
        return np.zeros(len(y), dtype=bool)
    if _is_missing(marker):
        return np.array([_is_missing(v) for v in y], dtype=bool)
    if y.dtype.kind in "US" and not isinstance(marker, str):
        # An array of strings holds a numeric marker as text.
        return np.asarray(y == str(marker))
    if y.dtype == object:
        alike = [not _is_missing(v) and isinstance(v, str) == isinstance(marker, str) and v == marker for v in y]
        return np.array(alike, dtype=bool)
    return np.broadcast_to(np.asarray(y == marker), y.shape).copy()


def _is_missing(value: Any) -> bool:
    """Whether ``value`` is NaN, None or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value))
