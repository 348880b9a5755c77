"""Reading data: ``.npz``, svmlight text, ``.csv``, and sets bundled with scikit-learn."""

from __future__ import annotations

import csv
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: What readers of files raise, besides ValueError, for what they cannot read.
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


@dataclass(frozen=True, eq=False)
class Data:
    """Points with labels, some of them hidden or unknown.

    Attributes
    ----------
    name : str
    X : array or CSR matrix, shape (n, d)
    y : array, shape (n,)
        +1, -1, or 0 where the label is hidden or unknown.
    truth : array, shape (n,)
        +1, -1, or 0 where it is really unknown.
    classes : (str, str)
        What -1 and +1 stand for.
    """

    name: str
    X: Any
    y: NDArray[np.float64]
    truth: NDArray[np.float64]
    classes: tuple[str, str]

    def __repr__(self) -> str:
        (n, d), (negative, positive) = self.X.shape, self.classes
        below, above, unknown = (int((self.y == sign).sum()) for sign in (-1, 1, 0))
        shown = f"{below} labelled -1 (class {negative}), {above} labelled +1 (class {positive}), {unknown} unknown"
        return f"Data({self.name!r}: {n} points, {d} features; {shown})"

    def error(self, labels: NDArray[np.float64]) -> float | None:
        """Share of the unlabelled points with a known truth that are labelled wrongly; None if there are none."""
        judged = (self.y == 0) & (self.truth != 0)
        return float(np.mean(labels[judged] != self.truth[judged])) if judged.any() else None


#: More classes than this are numbers that were meant for something else.
MANY = 100


class SeveralClasses(ValueError):
    """There are more than two classes, and nothing says which of them count as +1."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Points of several classes, some labels of which are hidden or unknown.

    Attributes
    ----------
    name : str
    X : array or CSR matrix, shape (n, d)
    labels : array of str, shape (n,)
        Classes, "" where hidden or unknown.
    truth : array of str, shape (n,)
        Classes, "" where really unknown.
    classes : tuple of str
        Sorted, numbers by their value.
    """

    name: str
    X: Any
    labels: NDArray[np.str_]
    truth: NDArray[np.str_]
    classes: tuple[str, ...]

    def against_the_rest(self, k: int) -> Data:
        """Class k as +1, all others as -1."""
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
    source: str, n_features: int, *, positive: Sequence[str] = (), label_column: str | None = None
) -> tuple[Any, NDArray[np.float64]]:
    """Read points to be labelled, and their true signs where the file has labels.

    Parameters
    ----------
    source : str
        As for :func:`load_data`; labels may be missing altogether.
    n_features : int
        Columns that the points must have; sparse points with fewer are widened, and a ``.csv`` file with exactly
        this many columns has no label.
    positive : sequence of str
        Classes that count as +1; all others are -1.
    label_column : str, optional
        Of a ``.csv`` file; the last column by default.

    Returns
    -------
    X : array or CSR matrix, shape (n, n_features)
    truth : array, shape (n,)
        +1, -1, or 0 where unknown.
    """
    X, labels = load_named_points(source, n_features, label_column=label_column)
    truth = np.where(labels == "", 0.0, np.where(np.isin(labels, list(positive)), 1.0, -1.0))
    return X, truth


def load_named_points(source: str, n_features: int, *, label_column: str | None = None) -> tuple[Any, NDArray[np.str_]]:
    """The same with the names of the classes, "" where unknown, shape (n,)."""
    table = _read_source(source, "labeled", label_column, n_features)
    X = table.X
    if sp.issparse(X) and X.shape[1] < n_features:
        X = X.copy()
        X.resize((X.shape[0], n_features))
    return X, table.labels


def load_classes(
    source: str,
    *,
    split: int = 0,
    splits: str = "labeled",
    label_column: str | None = None,
    n_labeled: int | None = None,
    random_state: int = 0,
) -> Classes:
    """Read a data set of any number of classes; arguments and errors are those of :func:`load_data`."""
    table = _read_source(source, splits, label_column)
    labels = table.labels.copy()
    classes = sorted(set(labels[labels != ""].tolist()), key=_natural)
    if len(classes) < 2:
        raise ValueError(f"DATA has {len(classes)} classes ({', '.join(classes)}); two classes are needed")
    if n_labeled is not None:
        labels[~_draw(labels, n_labeled, random_state)] = ""
    elif table.splits is not None:
        labels[np.setdiff1d(np.arange(len(labels)), _split(table.splits, split, splits))] = ""
    missing = [name for name in classes if name not in labels]
    if missing:
        raise ValueError(f"DATA has no labelled point of the classes {', '.join(missing)}; each of them needs one")
    return Classes(_name(source), table.X, labels, table.labels, tuple(classes))


def _name(source: str) -> str:
    return Path(source).stem if source not in BUNDLED else source


def _split(rows: NDArray[np.int64], split: int, splits: str) -> NDArray[np.int64]:
    if not 0 <= split < len(rows):
        raise ValueError(f"split={split} must be in 0..{len(rows) - 1}, the rows of {splits!r}")
    return rows[split]


@dataclass(frozen=True)
class _Table:
    """What a file holds, before classes become signs: unknown labels are empty strings."""

    X: Any
    labels: NDArray[np.str_]
    splits: NDArray[np.int64] | None


def load_data(
    source: str,
    *,
    split: int = 0,
    splits: str = "labeled",
    positive: Sequence[str] | None = None,
    label_column: str | None = None,
    n_labeled: int | None = None,
    random_state: int = 0,
) -> Data:
    """Read a data set and hide the labels that a split says are unknown.

    Parameters
    ----------
    source : str
        Name of a bundled set (:data:`BUNDLED`), or a path ending in ``.npz`` (arrays ``X``, or ``data``,
        ``indices``, ``indptr`` and ``shape`` of a CSR matrix; ``y``; optionally ``labeled`` with the indices of the
        labelled points of one split per row), in ``.csv`` (a header, then numbers; an empty label is unknown), or
        anything else for svmlight text (a label of 0 is unknown), or a folder that
        :func:`~convex_tsvm.points.convert_svmlight` wrote.
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

    Raises
    ------
    ValueError
        Naming what is wrong with which argument or file.
    FileNotFoundError
        If there is no such file.
    """
    table = _read_source(source, splits, label_column)
    truth, classes = _signs(table.labels, positive)
    y = truth.copy()
    if n_labeled is not None:
        y[~_draw(truth, n_labeled, random_state)] = 0
    elif table.splits is not None:
        y[np.setdiff1d(np.arange(len(y)), _split(table.splits, split, splits))] = 0
    return Data(_name(source), table.X, y, truth, classes)


def _read_source(source: str, splits: str, label_column: str | None, n_features: int | None = None) -> _Table:
    """The table of a bundled set or a file; with ``n_features`` given, labels may be missing."""
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
        ".npz": lambda: _read_npz(path, splits, n_features is None),
        ".csv": lambda: _read_csv(path, label_column, n_features),
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


def _read_npz(path: Path, splits: str, needs_labels: bool) -> _Table:
    with np.load(path, allow_pickle=False) as file:
        names = set(file.files)
        if "y" not in names and needs_labels:
            raise ValueError(f"DATA={str(path)!r} has no array 'y'; it has {', '.join(sorted(names))}")
        y = file["y"] if "y" in names else None
        if "X" in names:
            X: Any = file["X"]
        elif {"data", "indices", "indptr", "shape"} <= names:
            X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            X.check_format()
        else:
            raise ValueError(f"DATA={str(path)!r} has neither 'X' nor a CSR matrix; it has {', '.join(sorted(names))}")
        rows = file[splits] if splits in names else None
        if rows is None and splits != "labeled":
            others = ", ".join(sorted(n for n in names if n.startswith("labeled"))) or "no such array"
            raise ValueError(f"splits={splits!r} is not in {str(path)!r}; it has {others}")
    if X.ndim != 2:
        raise ValueError(f"DATA={str(path)!r}: X has shape {X.shape}; it must be 2-dimensional, (n, d)")
    if y is None:
        y = np.full(X.shape[0], np.nan)
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise ValueError(f"DATA={str(path)!r}: y has shape {y.shape}, but there are {X.shape[0]} points")
    if rows is not None:
        rows = np.atleast_2d(rows)
        if rows.min() < 0 or rows.max() >= len(y):
            raise ValueError(f"DATA={str(path)!r}: {splits!r} holds an index outside 0..{len(y) - 1}")
    return _Table(X, _as_text(y, unknown=None if rows is not None else 0), rows)


def _read_csv(path: Path, label_column: str | None, n_features: int | None) -> _Table:
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise ValueError(f"DATA={str(path)!r} has no rows below its header")
    header = [name.strip() for name in rows[0]]
    if label_column is not None and label_column not in header:
        raise ValueError(f"label_column={label_column!r} is not in {str(path)!r}; its columns are {', '.join(header)}")
    column: int | None = len(header) - 1 if label_column is None else header.index(label_column)
    if label_column is None and len(header) == n_features:
        column = None
    X = np.empty((len(rows) - 1, len(header) - (column is not None)))
    labels = []
    for number, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise ValueError(f"DATA={str(path)!r} line {number + 2} has {len(row)} fields, the header {len(header)}")
        labels.append("" if column is None else row[column].strip())
        for place, (name, text) in enumerate(
            (h, t) for k, (h, t) in enumerate(zip(header, row, strict=True)) if k != column
        ):
            try:
                X[number, place] = float(text)
            except ValueError:
                raise ValueError(
                    f"DATA={str(path)!r} line {number + 2}, column {name!r}: {text!r} is not a number"
                ) from None
    return _Table(X, np.array(labels), None)


def _read_svmlight(path: Path) -> _Table:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return _Table(sp.csr_matrix(X), _as_text(y, unknown=0), None)


def _read_folder(path: Path) -> _Table:
    from .points import open_points

    saved = open_points(path)
    parts = saved.points.data, saved.points.indices, saved.points.indptr
    return _Table(sp.csr_matrix(parts, shape=saved.points.shape), _as_text(saved.labels, unknown=0), None)


def _as_text(y: NDArray[Any], unknown: float | None) -> NDArray[np.str_]:
    """Labels as text, numbers without superfluous decimals; unknown ones and NaN are empty."""
    if y.dtype.kind in "US":
        return y.astype(str)
    values, which = np.unique(y, return_inverse=True)
    text = np.array([f"{value:g}" for value in values.tolist()])[which]
    missing = np.isnan(y.astype(float))
    kinds = set(y[~missing].tolist())
    # A 0 stands for "unknown" beside -1 (and +1), or where there is nothing else; beside 1 alone it is a class.
    if unknown is not None and kinds <= {-1, 0, 1} and kinds != {0, 1}:
        missing |= y == unknown
    text[missing] = ""
    return text


def _signs(labels: NDArray[np.str_], positive: Sequence[str] | None) -> tuple[NDArray[np.float64], tuple[str, str]]:
    known = labels[labels != ""]
    classes = sorted(set(known.tolist()), key=_natural)
    shown = ", ".join(classes[:12]) + (", …" if len(classes) > 12 else "")
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
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


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
