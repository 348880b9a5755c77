"""Reading data: ``.npz``, svmlight text, ``.csv``, and sets bundled with scikit-learn."""

from __future__ import annotations

import csv
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .notice import warn
from .persistence import unlike
from .validation import archive, is_sparse

#: Errors besides ValueError that readers of files raise where they cannot read one.
UNREADABLE = (
    OSError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    NotImplementedError,
    MemoryError,
    UnicodeDecodeError,
    csv.Error,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


#: Texts that stand for a missing label unless a marker is given: those that pandas reads as missing, and "?".
MISSING = frozenset(
    [
        *("", "?", "<NA>", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null", "None"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)

#: Number of classes that a message names; the others are shown as "…".
CLASSES_NAMED = 12


@dataclass(frozen=True)
class LabelCounts:
    """How the labels of a data set were read.

    ``known`` has the number of points of every class whose labels are shown, ``unknown`` that of the others by the
    reason: a marker in the file, or a split that hides them.
    """

    known: dict[str, int]
    unknown: dict[str, int]

    def __str__(self) -> str:
        n_known, n_unknown = sum(self.known.values()), sum(self.unknown.values())
        classes = [f"{name} {count}" for name, count in self.known.items()]
        told = [name if len(self.unknown) == 1 else f"{count} {name}" for name, count in self.unknown.items()]
        known, unknown = (
            f"{number} {what}" + (f" ({', '.join(parts)})" if parts else "")
            for number, what, parts in ((n_known, "known", _shortened(classes)), (n_unknown, "unknown", told))
        )
        return f"labels: {n_known + n_unknown} points, {known}, {unknown}"


@dataclass(frozen=True, eq=False)
class Data:
    """Points with labels, some of them hidden or unknown.

    Attributes
    ----------
    X : array or CSR matrix, shape (n, d)
    y : array, shape (n,)
        +1, -1, or 0 where the label is hidden or unknown.
    truth : array, shape (n,)
        +1, -1, or 0 where the label is unknown in the file, too.
    classes : (str, str)
        What -1 and +1 stand for.
    feature_names, label_name : tuple of str and str, optional
        The names of X's columns and of the column of labels, from the header of a ``.csv`` file.
    """

    name: str
    X: Any
    y: NDArray[np.float64]
    truth: NDArray[np.float64]
    classes: tuple[str, str]
    counts: LabelCounts | None = None
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None

    def __repr__(self) -> str:
        (n, d), (negative, positive) = self.X.shape, self.classes
        below, above, unknown = (int((self.y == sign).sum()) for sign in (-1, 1, 0))
        shown = f"{below} labelled -1 (class {negative}), {above} labelled +1 (class {positive}), {unknown} unknown"
        return f"Data({self.name!r}: {n} points, {d} features; {shown})"

    @property
    def known(self) -> dict[str, int]:
        """Points of every class whose labels are shown."""
        return {} if self.counts is None else self.counts.known

    def error(self, labels: NDArray[np.float64]) -> float | None:
        """Share of the unlabelled points with a known truth that are labelled wrongly; None if there are none."""
        judged = (self.y == 0) & (self.truth != 0)
        return float(np.mean(labels[judged] != self.truth[judged])) if judged.any() else None


class SeveralClasses(ValueError):
    """Raised where there are more than two classes, and nothing says which of them count as +1."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Points of several classes, some labels of which are hidden or unknown.

    ``labels`` and ``truth`` are arrays of str, shape (n,): classes, with "" where a label is hidden or unknown, and
    where it is unknown in the file, too.  ``classes`` are sorted, numbers by their value; the rest is as in
    :class:`Data`.
    """

    name: str
    X: Any
    labels: NDArray[np.str_]
    truth: NDArray[np.str_]
    classes: tuple[str, ...]
    counts: LabelCounts | None = None
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None

    def against_the_rest(self, k: int) -> Data:
        """The data with class ``classes[k]`` as +1, and all others as -1."""
        rest = ",".join(name for name in self.classes if name != self.classes[k])
        y, truth = (
            np.where(names == "", 0.0, np.where(names == self.classes[k], 1.0, -1.0))
            for names in (self.labels, self.truth)
        )
        return Data(self.name, self.X, y, truth, (rest, self.classes[k]))

    def error(self, labels: NDArray[np.str_]) -> float | None:
        """Share of the unlabelled points with a known truth that are labelled wrongly; None if there are none."""
        judged = (self.labels == "") & (self.truth != "")
        return float(np.mean(labels[judged] != self.truth[judged])) if judged.any() else None


def load_points(
    source: str,
    n_features: int,
    *,
    positive: Sequence[str] = (),
    label_column: str | None = None,
    unlabeled: Any = None,
    feature_names: Sequence[str] | None = None,
    label_name: str | None = None,
    classes: Sequence[str] = (),
) -> tuple[Any, NDArray[np.float64]]:
    """Read points to be labelled by a model, and their true signs, shape (n,): +1, -1, or 0 where unknown.

    Arguments and errors are those of :func:`load_data`, but labels may be missing altogether.  Sparse points with fewer
    than ``n_features`` columns are widened.  Columns of a ``.csv`` file must be ``feature_names``, in any order (with a
    warning), besides one of labels, ``label_column`` or ``label_name``; where no names are known the last one is that,
    unless there are exactly ``n_features`` columns.  With ``classes`` every other label is an error, except that a
    single one which is 0 or -1 marks unknown labels.
    """
    X, labels = load_named_points(
        source,
        n_features,
        label_column=label_column,
        unlabeled=unlabeled,
        feature_names=feature_names,
        label_name=label_name,
        classes=classes,
    )
    truth = np.where(labels == "", 0.0, np.where(np.isin(labels, list(positive)), 1.0, -1.0))
    return X, truth


def load_named_points(
    source: str,
    n_features: int,
    *,
    label_column: str | None = None,
    unlabeled: Any = None,
    feature_names: Sequence[str] | None = None,
    label_name: str | None = None,
    classes: Sequence[str] = (),
) -> tuple[Any, NDArray[np.str_]]:
    """As :func:`load_points`, but with the names of the classes, shape (n,), in place of signs; "" where unknown."""
    names = None if feature_names is None else tuple(feature_names)
    table = _read_source(source, "labeled", label_column, unlabeled, _Model(n_features, names, label_name), classes)
    if table.reordered:
        warn(
            f"DATA={source!r} has its columns in another order than the model's features; they are taken by name",
        )
    X = table.X
    if is_sparse(X) and X.shape[1] < n_features:
        X = X.copy()
        X.resize((X.shape[0], n_features))  # type: ignore[arg-type]
    return X, table.labels


def load_classes(
    source: str,
    *,
    split: int = 0,
    splits: str = "labeled",
    label_column: str | None = None,
    n_labeled: int | None = None,
    random_state: int = 0,
    unlabeled: Any = None,
) -> Classes:
    """Read a data set of any number of classes; arguments and errors are those of :func:`load_data`."""
    table = _read_source(source, splits, label_column, unlabeled)
    classes = tuple(sorted(set(table.labels[table.labels != ""].tolist()), key=_natural))
    if len(classes) < 2:
        raise ValueError(f"DATA has {len(classes)} classes ({', '.join(classes)}); two classes are needed")
    hidden = _hidden(table, table.labels, split, splits, n_labeled, random_state)
    labels = np.where(hidden, "", table.labels)
    missing = [name for name in classes if name not in labels]
    if missing:
        raise ValueError(f"DATA has no labelled point of the classes {', '.join(missing)}; each of them needs one")
    counts = _counts(table, hidden, split, splits, n_labeled)
    return Classes(_name(source), table.X, labels, table.labels, classes, counts, table.names, table.label)


def _name(source: str) -> str:
    return Path(source).stem if source not in BUNDLED else source


def _split(rows: NDArray[np.int64], split: int, splits: str) -> NDArray[np.int64]:
    if not 0 <= split < len(rows):
        raise ValueError(f"split={split} must be in 0..{len(rows) - 1}, the rows of {splits!r}")
    return rows[split]


def _hidden(
    table: _Table, truth: NDArray[Any], split: int, splits: str, n_labeled: int | None, random_state: int
) -> NDArray[np.bool_]:
    """Which labels are hidden: all that are not drawn, or that are not in the chosen row of the file's splits."""
    if n_labeled is not None:
        return ~_draw(truth, n_labeled, random_state)
    hidden = np.zeros(len(truth), dtype=bool)
    if table.splits is None and split != 0:
        raise ValueError(f"split={split}: DATA has no array {splits!r} of rows of labelled points")
    if table.splits is not None:
        hidden[np.setdiff1d(np.arange(len(truth)), _split(table.splits, split, splits))] = True
    return hidden


def _counts(table: _Table, hidden: NDArray[np.bool_], split: int, splits: str, n_labeled: int | None) -> LabelCounts:
    """Count the labels of every class that are shown, and the others by the reason why they are unknown."""
    names, numbers = np.unique(table.labels[~hidden & (table.labels != "")], return_counts=True)
    known = dict(sorted(zip(names.tolist(), numbers.tolist(), strict=True), key=lambda pair: _natural(pair[0])))
    unknown = {table.marks: int((~hidden & (table.labels == "")).sum())}
    how = f"row {split} of {splits!r}" if n_labeled is None else f"n_labeled={n_labeled}"
    unknown[f"hidden by {how}"] = int(hidden.sum())
    return LabelCounts(known, {what: number for what, number in unknown.items() if number})


@dataclass(frozen=True)
class _Table:
    """What a file holds, before classes become signs.

    ``labels``, shape (n,), are as they are written; once markers are told from classes they are "" where unknown, and
    ``marks`` says what marks these.  ``names`` and ``label`` are the names of X's columns and of the column of labels.
    ``reordered`` says whether the file's columns were in another order than the model's features.
    """

    X: Any
    labels: NDArray[np.str_]
    splits: NDArray[np.int64] | None = None
    names: tuple[str, ...] | None = None
    label: str | None = None
    reordered: bool = False
    has_labels: bool = True
    marks: str = "without labels"


class _Model(NamedTuple):
    """What a model requires of points: how many features, and the names of the columns if it knows them."""

    n_features: int
    names: tuple[str, ...] | None
    label: str | None


def load_data(
    source: str,
    *,
    split: int = 0,
    splits: str = "labeled",
    positive: Sequence[str] | None = None,
    label_column: str | None = None,
    n_labeled: int | None = None,
    random_state: int = 0,
    unlabeled: Any = None,
) -> Data:
    r"""Read a data set and hide the labels that a split says are unknown.

    Labels that can be read in several ways are asked about, never guessed: -1, 0 and +1, where SVMlight and SVMlin mean
    0 as unknown and scikit-learn -1, and -1 beside several other labels.

    Parameters
    ----------
    source : str
        Name of a bundled set (:data:`BUNDLED`), or a path ending in ``.npz`` (arrays ``X``, or ``data``,
        ``indices``, ``indptr`` and ``shape`` of a CSR matrix; ``y``; optionally ``labeled`` with the indices of the
        labelled points of one split per row, beside which ``y`` is the truth), in ``.csv`` (a header, then numbers), or
        anything else for svmlight text, or a folder that :func:`~convex_tsvm.points.convert_svmlight` wrote.
    split : int
        Row of ``labeled``.
    splits : str
        Name of that array, for files with several (``labeled10``, ``labeled100``).
    positive : sequence of str, optional
        Classes that count as +1; all others are -1.  Needed for more than two classes.
    label_column : str, optional
        Of a ``.csv`` file; the last column by default.
    n_labeled : int, optional
        Instead of a split: how many labels to show, drawn at random with at least one of each class.
    random_state : int
        Seed of that draw.
    unlabeled : str or number, optional
        The label that marks unknown ones, and nothing else does: -1, 0, "?", NaN for missing ones.  By default those
        that are missing, an empty field, NA, NaN, null, None or ?, and whatever else cannot be a class.

    Returns
    -------
    Data

    Raises
    ------
    ValueError
        Naming what is wrong with which argument or file, or how its labels can be read.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from convex_tsvm.data import load_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "points.csv")
    ...     _ = path.write_text("length,kind\n1.0,ham\n1.2,-1\n3.0,egg\n")
    ...     data = load_data(str(path), unlabeled=-1)
    >>> print(data.counts)
    labels: 3 points, 2 known (egg 1, ham 1), 1 unknown (marked -1)
    """
    table = _read_source(source, splits, label_column, unlabeled)
    truth, classes = _signs(table.labels, positive)
    hidden = _hidden(table, truth, split, splits, n_labeled, random_state)
    counts = _counts(table, hidden, split, splits, n_labeled)
    return Data(_name(source), table.X, np.where(hidden, 0.0, truth), truth, classes, counts, table.names, table.label)


def _read_source(
    source: str,
    splits: str,
    label_column: str | None,
    unlabeled: Any,
    model: _Model | None = None,
    classes: Sequence[str] = (),
) -> _Table:
    """The table of a bundled set or a file, its unknown labels empty; for a model, they may be missing."""
    table = _raw_table(source, splits, label_column, model)
    if model is not None:
        d = table.X.shape[1]
        if d > model.n_features or (d < model.n_features and not is_sparse(table.X)):
            raise ValueError(
                f"DATA={source!r}: X has {d} features, but the model was fitted with {model.n_features} features"
            )
    if not table.has_labels:
        return table
    unknown = _unknown(source, table, unlabeled, classes)
    marks = ["an empty field" if mark == "" else mark for mark in np.unique(table.labels[unknown]).tolist()]
    return replace(table, labels=np.where(unknown, "", table.labels), marks=f"marked {', '.join(marks)}")


def _unknown(source: str, table: _Table, marker: Any, classes: Sequence[str]) -> NDArray[np.bool_]:
    """Which labels of a table are unknown: those with the marker, or without one those that can only mean that.

    ValueError is raised if they can be read in several ways, if one is missing but not marked, or if one is not among
    the classes that are given.
    """
    labels = table.labels
    if marker is None:
        unknown = np.isin(labels, list(MISSING - set(classes)))
    else:
        unknown = np.isin(labels, [name for name in set(labels.tolist()) if _is_marked(name, marker)])
        missing = np.flatnonzero(
            ~unknown & np.isin(labels, [name for name in set(labels.tolist()) if _is_missing(name)])
        )
        if len(missing):
            raise ValueError(
                f"DATA={source!r}: the label of point {missing[0] + 1} is missing, but unknown ones are marked by "
                f"unlabeled={marker!r}"
            )
    kinds = sorted(set(labels[~unknown].tolist()), key=_natural)
    others = [name for name in kinds if name not in classes]
    if classes and others:
        signs = {_number(name) for name in classes} in ({0, 1}, {-1, 1})
        if marker is None and len(others) == 1 and _number(others[0]) in (-1, 0):
            if not (signs and len(kinds) == 2):
                return np.asarray(unknown | np.isin(labels, others))
            raise ValueError(
                f"DATA={source!r} has the labels {_listed(kinds)}, and the model's classes are {_listed(classes)}: "
                f"{others[0]} may mark unknown labels (say so with unlabeled, --unlabeled {others[0]}) or be a class "
                f"(say which counts as +1 with positive)"
            )
        raise ValueError(
            f"DATA={source!r} has the labels {_listed(others)}, which are none of the model's classes "
            f"({_listed(classes)}); say what marks unknown labels with unlabeled, or which classes of two count as +1 "
            "with positive"
        )
    if marker is not None or classes or table.splits is not None:
        return np.asarray(unknown)  # in a file with splits y holds true labels only, so none of them is a marker
    readings = _readings(kinds)
    if len(readings) > 1:
        raise ValueError(
            f"DATA={source!r} has the labels {_listed(kinds)}, which can be read in {len(readings)} ways: "
            + ", or ".join(_told(labels, unknown, kinds, reading) for reading in readings)
            + "; say which with unlabeled, "
            + " or ".join(f"--unlabeled {reading}" for reading in readings)
        )
    return np.asarray(unknown | np.isin(labels, readings))


def _readings(kinds: Sequence[str]) -> list[str]:
    """The labels that could mark unknown ones; a further "nan" stands for the reading in which all are classes.

    The list is empty where all labels can only be classes.
    """
    numbers = [_number(name) for name in kinds]
    zero, minus = ([name for name, number in zip(kinds, numbers, strict=True) if number == k] for k in (0, -1))
    others = [name for name in kinds if name not in minus]
    if set(numbers) == {0}:
        return zero
    if minus and zero and set(numbers) <= {-1, 0, 1}:
        return [zero[0], minus[0]]
    # Beside a single other label -1 is a class, since with -1 as the marker only one class would be left.
    return [minus[0], "nan"] if minus and len(others) > 1 else []


def _told(labels: NDArray[np.str_], missing: NDArray[np.bool_], kinds: Sequence[str], marker: str) -> str:
    """A way to read labels, with how many points of every class it gives."""
    counts = [f"{name} {int((labels == name).sum())}" for name in kinds if name != marker]
    if marker == "nan":
        return f"-1 is a class ({_listed(counts)}, {int(missing.sum())} unknown)"
    known = {"0": " as in SVMlight", "-1": " as in scikit-learn"}.get(f"{_number(marker):g}", "")
    return (
        f"{marker} marks unknown ones{known} ({_listed(counts)}, {int((missing | (labels == marker)).sum())} unknown)"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_shortened(names))


def _shortened(names: Sequence[str]) -> list[str]:
    return [*names[:CLASSES_NAMED], *(["…"] if len(names) > CLASSES_NAMED else [])]


def _is_marked(name: str, marker: Any) -> bool:
    """Whether a label, as it is written, is the marker: the same text or number; NaN is whatever is missing."""
    if isinstance(marker, (float, np.floating)) and np.isnan(marker):
        marker = "nan"
    text = str(marker).strip()
    if text.lower() == "nan":
        return name in MISSING and name != "?"
    number = _number(text)
    return name == text or (number is not None and number == _number(name))


def _is_missing(name: str) -> bool:
    return name == "" or _number(name) != _number(name)  # only NaN differs from itself


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _raw_table(source: str, splits: str, label_column: str | None, model: _Model | None) -> _Table:
    """The table with its labels as they are written in the file."""
    if source in BUNDLED:
        return BUNDLED[source]()
    path = Path(source)
    if not path.exists():
        names = ", ".join(BUNDLED)
        raise FileNotFoundError(f"DATA={source!r}: no such file, and no bundled set (those are {names})")
    if path.is_dir():
        if not (path / "header.json").exists():
            raise ValueError(f"DATA={source!r} is a folder without points; it must be a .npz, .csv or svmlight file")
        return _read_folder(path)
    readers: dict[str, Callable[[], _Table]] = {
        ".npz": lambda: _read_npz(path, splits, model is None),
        ".csv": lambda: _read_csv(path, label_column, model),
    }
    kind = path.suffix.lower()
    try:
        return readers.get(kind, lambda: _read_svmlight(path))()
    except UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"DATA={str(path)!r} cannot be read as {kind or 'svmlight text'}: {reason}") from error
    except ValueError as error:
        if str(error).startswith(("DATA=", "label_column=", "splits=")):
            raise
        raise ValueError(f"DATA={str(path)!r} cannot be read as {kind or 'svmlight text'}: {error}") from error


def _points_of(file: Any, path: Path) -> Any:
    """The points of a file of arrays, dense or in CSR format."""
    names = set(file.files)
    if "X" in names:
        return file["X"]
    if not {"data", "indices", "indptr", "shape"} <= names:
        raise ValueError(f"DATA={str(path)!r} has neither 'X' nor a CSR matrix; it has {', '.join(sorted(names))}")
    X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
    X.check_format()
    return X


def _read_npz(path: Path, splits: str, needs_labels: bool) -> _Table:
    with archive(path) as file:
        names = set(file.files)
        if "y" not in names and needs_labels:
            raise ValueError(f"DATA={str(path)!r} has no array 'y'; it has {', '.join(sorted(names))}")
        y = file["y"] if "y" in names else None
        X = _points_of(file, path)
        rows = file[splits] if splits in names else None
        if rows is None and splits != "labeled":
            others = ", ".join(sorted(n for n in names if n.startswith("labeled"))) or "no such array"
            raise ValueError(f"splits={splits!r} is not in {str(path)!r}; it has {others}")
    if X.ndim != 2:
        raise ValueError(f"DATA={str(path)!r}: X has shape {X.shape}; it must be 2-dimensional, (n, d)")
    if y is None:
        return _Table(X, np.full(X.shape[0], ""), has_labels=False)
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise ValueError(f"DATA={str(path)!r}: y has shape {y.shape}, but there are {X.shape[0]} points")
    if rows is not None:
        rows = np.atleast_2d(rows)
        if rows.min() < 0 or rows.max() >= len(y):
            raise ValueError(f"DATA={str(path)!r}: {splits!r} holds an index outside 0..{len(y) - 1}")
    return _Table(X, _as_text(y), rows)


def _read_csv(path: Path, label_column: str | None, model: _Model | None) -> _Table:
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise ValueError(f"DATA={str(path)!r} has no rows below its header")
    header = [name.strip() for name in rows[0]]
    if all(_number(name) is not None for name in header):
        raise ValueError(
            f"DATA={str(path)!r}: its first line, {', '.join(header)}, has numbers only; it must be a header with the "
            "names of the columns"
        )
    if label_column is not None and label_column not in header:
        raise ValueError(f"label_column={label_column!r} is not in {str(path)!r}; its columns are {', '.join(header)}")
    column, order = _columns(path, header, label_column, model)
    X = np.empty((len(rows) - 1, len(order)))
    labels = []
    for number, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise ValueError(f"DATA={str(path)!r} line {number + 2} has {len(row)} fields, the header {len(header)}")
        labels.append("" if column is None else row[column].strip())
        for place, k in enumerate(order):
            try:
                X[number, place] = float(row[k])
            except ValueError:
                raise ValueError(
                    f"DATA={str(path)!r} line {number + 2}, column {header[k]!r}: {row[k]!r} is not a number"
                ) from None
    return _Table(
        X,
        np.array(labels),
        names=tuple(header[k] for k in order),
        label=None if column is None else header[column],
        reordered=order != sorted(order),
        has_labels=column is not None,
    )


def _columns(
    path: Path, header: list[str], label_column: str | None, model: _Model | None
) -> tuple[int | None, list[int]]:
    """The column of labels, if there is one, and those of the features, in the order of the model's."""
    label = label_column
    if label is None and model is not None and model.names is not None:
        label = model.label if model.label in header else None
    elif label is None and not (model is not None and len(header) == model.n_features):
        label = header[-1]
    column = None if label is None else len(header) - 1 - header[::-1].index(label)
    features = [k for k in range(len(header)) if k != column]
    names = [header[k] for k in features]
    if model is None or model.names is None or list(model.names) == names:
        return column, features
    if sorted(model.names) == sorted(names) and len(set(names)) == len(names):
        return column, [header.index(name) for name in model.names]
    extra = [name for name in names if name not in model.names]
    hint = f"(label_column={extra[0]!r} says that it is the label)" if len(extra) == 1 and column is None else ""
    raise ValueError(f"DATA={str(path)!r}: {unlike(model.names, names)}{hint}")


def _read_svmlight(path: Path) -> _Table:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return _Table(sp.csr_matrix(X), _as_text(y))


def _read_folder(path: Path) -> _Table:
    from .points import open_points

    saved = open_points(path)
    parts = saved.points.data, saved.points.indices, saved.points.indptr
    return _Table(sp.csr_matrix(parts, shape=saved.points.shape), _as_text(saved.labels))


def _as_text(y: NDArray[Any]) -> NDArray[np.str_]:
    """Labels as text, numbers without superfluous decimals."""
    if y.dtype.kind in "US":
        return y.astype(str)
    values, which = np.unique(y.astype(float), return_inverse=True)
    text = [str(int(value)) if value.is_integer() else repr(value) for value in values.tolist()]
    return np.array(["NaN" if name == "nan" else name for name in text])[which]


def class_names(classes: NDArray[Any]) -> list[str]:
    """The classes of a model as files have them: numbers without superfluous decimals, whatever their type."""
    names: list[str] = classes.astype(str).tolist() if classes.dtype == object else _as_text(classes).tolist()
    return names


def _signs(labels: NDArray[np.str_], positive: Sequence[str] | None) -> tuple[NDArray[np.float64], tuple[str, str]]:
    known = labels[labels != ""]
    classes = sorted(set(known.tolist()), key=_natural)
    shown = _listed(classes)
    if positive is not None:
        wrong = [name for name in positive if name not in classes]
        if wrong or not positive or len(set(positive)) == len(classes):
            raise ValueError(f"positive={','.join(positive)!r} must be some, not all, of the classes {shown}")
        chosen = set(positive)
    elif len(classes) == 2:
        chosen = {classes[1]}
    else:
        wanted = "two classes are needed" if len(classes) < 2 else "say which count as +1 with positive"
        raise (SeveralClasses if len(classes) > 2 else ValueError)(
            f"DATA has {len(classes)} classes ({shown}); {wanted}"
        )
    sign = np.where(labels == "", 0.0, np.where(np.isin(labels, list(chosen)), 1.0, -1.0))
    names = (",".join(c for c in classes if c not in chosen), ",".join(c for c in classes if c in chosen))
    return sign, names


def _natural(text: str) -> tuple[int, float, str]:
    number = _number(text)
    return (1, 0.0, text) if number is None else (0, number, text)


def _draw(truth: NDArray[Any], n_labeled: int, seed: int) -> NDArray[np.bool_]:
    """Which points keep their labels: ``n_labeled`` at random, every class among them."""
    unknown = truth == ("" if truth.dtype.kind == "U" else 0)
    candidates = np.flatnonzero(~unknown)
    classes = np.unique(truth[candidates])[::-1]
    if not max(2, len(classes)) <= n_labeled < len(truth):
        raise ValueError(
            f"n_labeled={n_labeled} must be at least {max(2, len(classes))} and less than the {len(truth)} points"
        )
    order = np.random.default_rng(seed).permutation(candidates)
    first = [next(i for i in order if truth[i] == name) for name in classes]
    rest = [i for i in order if i not in first]
    keep = np.zeros(len(truth), dtype=bool)
    keep[[*first, *rest[: n_labeled - len(first)]]] = True
    return keep


def _bundled(name: str) -> Callable[[], _Table]:
    def load() -> _Table:
        from sklearn import datasets
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import StandardScaler

        if name == "two_moons":
            X, y = datasets.make_moons(n_samples=200, noise=0.1, random_state=0)
            per_class, labels = 3, y.astype(str)
        else:
            bunch = getattr(datasets, f"load_{name}")()
            X = bunch.data / 16 if name == "digits" else StandardScaler().fit_transform(bunch.data)
            per_class, labels = 10, np.array([str(bunch.target_names[k]) for k in bunch.target])
        shown = per_class * len(np.unique(labels))
        everything = np.arange(len(labels))
        rows = [train_test_split(everything, train_size=shown, stratify=labels, random_state=k)[0] for k in range(10)]
        return _Table(X, labels, np.array(rows))

    return load


#: Sets that need no file, each with ten splits: two_moons is drawn, the others ship with scikit-learn.
BUNDLED = {name: _bundled(name) for name in ("two_moons", "breast_cancer", "digits", "iris", "wine")}
