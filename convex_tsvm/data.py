"""Reading data: ``.npz``, svmlight text, ``.csv``, and sets bundled with scikit-learn."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .files import Table, read_table
from .notice import warn
from .persistence import FittedModel
from .points.memory_mapped import too_wide
from .text import MISSING, is_marked, natural, number_of, one_spelling
from .validation import is_sparse

#: Sets that need no file.
BUNDLED = ("two_moons", "breast_cancer", "digits", "iris", "wine")


@dataclass(frozen=True)
class LabelCounts:
    """How the labels of a data set were read."""

    known: dict[str, int]  # the number of points of every class whose labels are shown,
    unknown: dict[str, int]  # and of the others by the reason: a marker in the file, or a split that hides them

    def __str__(self) -> str:
        n_known, n_unknown = sum(self.known.values()), sum(self.unknown.values())
        classes = listed([f"{name} {count}" for name, count in self.known.items()])
        known = f"{n_known} known" + (f" ({classes})" if classes else "")
        told = [name if len(self.unknown) == 1 else f"{count} {name}" for name, count in self.unknown.items()]
        unknown = f"{n_unknown} unknown" + (f" ({', '.join(told)})" if told else "")
        return f"labels: {n_known + n_unknown} points, {known}, {unknown}"


@dataclass(frozen=True, eq=False)
class _Points:
    """What is read of a file besides labels; see :class:`Data`."""

    name: str
    X: Any
    _: KW_ONLY
    counts: LabelCounts = LabelCounts({}, {})
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None
    zero_based: bool | None = None


def _error(labels: NDArray[Any], shown: NDArray[Any], truth: NDArray[Any], unknown: object) -> float | None:
    """Share of the unlabelled points with a known truth that are labelled wrongly; None if there are none."""
    judged = (shown == unknown) & (truth != unknown)
    return float(np.mean(labels[judged] != truth[judged])) if judged.any() else None


@dataclass(frozen=True, eq=False)
class Data(_Points):
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
    zero_based : bool, optional
        Whether an svmlight file counts columns from 0.
    """

    y: NDArray[np.float64]
    truth: NDArray[np.float64]
    classes: tuple[str, str]

    def __repr__(self) -> str:
        (n, d), (negative, positive) = self.X.shape, self.classes
        below, above, unknown = (int((self.y == sign).sum()) for sign in (-1, 1, 0))
        shown = f"{below} labelled -1 (class {negative}), {above} labelled +1 (class {positive}), {unknown} unknown"
        return f"Data({self.name!r}: {n} points, {d} features; {shown})"

    @property
    def known(self) -> dict[str, int]:
        """Points of every class whose labels are shown."""
        return self.counts.known

    def error(self, labels: NDArray[np.float64]) -> float | None:
        """Share of the unlabelled points with a known truth that are labelled wrongly; None if there are none."""
        return _error(labels, self.y, self.truth, 0)


class SeveralClasses(ValueError):
    """Raised where there are more than two classes, and nothing says which of them count as +1."""


@dataclass(frozen=True, eq=False)
class Classes(_Points):
    """Points of several classes, some labels of which are hidden or unknown; the rest is as in :class:`Data`."""

    labels: NDArray[np.str_]  # shape (n,), "" where a label is hidden or unknown
    truth: NDArray[np.str_]  # shape (n,), "" where a label is unknown in the file, too
    classes: tuple[str, ...]  # sorted, numbers by their value

    def against_the_rest(self, k: int) -> Data:
        """The data with class ``classes[k]`` as +1, and all others as -1."""
        rest = ",".join(name for name in self.classes if name != self.classes[k])
        y, truth = (_as_signs(names, [self.classes[k]]) for names in (self.labels, self.truth))
        return Data(self.name, self.X, y, truth, (rest, self.classes[k]))

    def error(self, labels: NDArray[np.str_]) -> float | None:
        return _error(labels, self.labels, self.truth, "")


def load_new(
    source: str,
    model: FittedModel,
    *,
    classes: Sequence[str] = (),
    label_column: str | None = None,
    unlabeled: Any = None,
    zero_based: bool | None = None,
) -> tuple[Any, NDArray[np.str_]]:
    """Read points to be labelled by a model, and what their file says of their classes, "" where unknown, shape (n,).

    Arguments and errors are those of :func:`load_data`, but labels may be missing altogether, and sparse points have
    fewer columns than the model's.  Columns of a ``.csv`` file must be those of the model, in any order.  With
    ``classes`` every other label is an error, except that a single one which is 0 or -1 marks unknown labels.
    """
    asked = _Shown(label_column=label_column, unlabeled=unlabeled, zero_based=zero_based)
    table = asked.table(source, model, classes)
    _tell(source, table)
    X = table.X
    if is_sparse(X) and X.shape[1] < model.n_features:
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], model.n_features))
    return X, table.labels


def load_classes(source: str, **shown: Any) -> Classes:
    """Read a data set of any number of classes; arguments and errors are those of :func:`load_data`."""
    asked = _Shown(**shown)
    table = asked.table(source)
    hidden = asked.hidden(table, table.labels)
    classes = tuple(sorted(set(table.labels[table.labels != ""].tolist()), key=natural))
    if len(classes) < 2:
        raise ValueError(f"DATA has {len(classes)} classes ({', '.join(classes)}); two classes are needed")
    labels = np.where(hidden, "", table.labels)
    missing = [name for name in classes if name not in labels]
    if missing:
        raise ValueError(f"DATA has no labelled point of the classes {', '.join(missing)}; each of them needs one")
    return Classes(labels=labels, truth=table.labels, classes=classes, **asked.others(source, table, hidden))


@dataclass(frozen=True)
class _Shown:
    """How a file is read, and which of its labels are shown; see :func:`load_data`."""

    split: int = 0
    splits: str = "labeled"
    label_column: str | None = None
    n_labeled: int | None = None
    random_state: int = 0
    unlabeled: Any = None
    zero_based: bool | None = None

    def table(self, source: str, model: FittedModel | None = None, classes: Sequence[str] = ()) -> Table:
        """The table of a bundled set or a file, its unknown labels empty; for a model, they may be missing."""
        if source in BUNDLED:
            table = _bundled(source)
        elif Path(source).exists():
            table = read_table(source, self.splits, self.label_column, model, self.zero_based)
        else:
            bundled = f"no bundled set (those are {', '.join(BUNDLED)})"
            raise FileNotFoundError(f"DATA={source!r}: no such file, and {bundled}")
        if is_sparse(table.X) and (why := too_wide(table.X.shape[1])):
            raise ValueError(f"DATA={source!r}: {why}")
        if model is not None:
            d, known = table.X.shape[1], model.n_features
            if d > known or (d < known and not is_sparse(table.X)):
                raise ValueError(f"DATA={source!r}: X has {d} features, but the model was fitted with {known} features")
        if not table.has_labels:
            return table
        labels, told = one_spelling(table.labels, classes)
        table = replace(table, labels=labels, told=(*table.told, *told))
        unknown = _unknown(source, table, self.unlabeled, classes)
        marks = ["an empty field" if mark == "" else mark for mark in np.unique(table.labels[unknown]).tolist()]
        return replace(table, labels=np.where(unknown, "", table.labels), marks=f"marked {', '.join(marks)}")

    def hidden(self, table: Table, truth: NDArray[Any]) -> NDArray[np.bool_]:
        """Which labels are hidden: all that are not drawn, or that are not in the chosen row of the file's splits."""
        if self.n_labeled is not None:
            return ~_draw(truth, self.n_labeled, self.random_state)
        if table.splits is None:
            if self.split != 0:
                raise ValueError(f"split={self.split}: DATA has no array {self.splits!r} of rows of labelled points")
            return np.zeros(len(truth), dtype=bool)
        if not 0 <= self.split < len(table.splits):
            raise ValueError(f"split={self.split} must be in 0..{len(table.splits) - 1}, the rows of {self.splits!r}")
        return ~np.isin(np.arange(len(truth)), table.splits[self.split])

    def others(self, source: str, table: Table, hidden: NDArray[np.bool_]) -> dict[str, Any]:
        """What data have besides labels; a warning tells what was understood of the file."""
        _tell(source, table)
        how = f"row {self.split} of {self.splits!r}" if self.n_labeled is None else f"n_labeled={self.n_labeled}"
        return {
            "name": source if source in BUNDLED else Path(source).stem,
            "X": table.X,
            "counts": _counts(table, hidden, how),
            "feature_names": table.names,
            "label_name": table.label,
            "zero_based": table.zero_based,
        }


def _counts(table: Table, hidden: NDArray[np.bool_], how: str) -> LabelCounts:
    """Count the labels of every class that are shown, and the others by the reason why they are unknown."""
    names, numbers = np.unique(table.labels[~hidden & (table.labels != "")], return_counts=True)
    known = dict(sorted(zip(names.tolist(), numbers.tolist(), strict=True), key=lambda pair: natural(pair[0])))
    unknown = {table.marks: int((~hidden & (table.labels == "")).sum()), f"hidden by {how}": int(hidden.sum())}
    return LabelCounts(known, {what: number for what, number in unknown.items() if number})


def load_data(source: str, *, positive: Sequence[str] | None = None, **shown: Any) -> Data:
    r"""Read a data set and hide the labels that a split says are unknown.

    Labels that can be read in several ways are an error, never guessed: -1, 0 and +1, where SVMlight and SVMlin mean
    0 as unknown and scikit-learn -1; -1 beside several other labels; and words such as "unknown".  Equal numbers
    (1, 1.0) are one class.  A warning says how an unusual file was read.  A
    ValueError names what is wrong with which argument or file, or how its labels can be read.

    Parameters
    ----------
    source : str
        Name of a bundled set (:data:`BUNDLED`), or a path ending in ``.npz`` (arrays ``X``, or those of
        ``scipy.sparse.save_npz``; ``y``; optionally ``labeled`` with the indices of the labelled points of one split
        per row, beside which ``y`` is the truth), in ``.csv`` or ``.tsv`` (a header, then numbers), or anything else
        for svmlight text, or a folder that :func:`~convex_tsvm.points.convert_svmlight` wrote.  Text may be packed
        (``.gz``, ``.bz2``, ``.xz``).
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
    zero_based : bool, optional
        Whether an svmlight file counts columns from 0, not 1; by default if it has an index 0.

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
    asked = _Shown(**shown)
    table = asked.table(source)
    truth, classes = _signs(table.labels, positive)
    hidden = asked.hidden(table, truth)
    y = np.where(hidden, 0.0, truth)
    return Data(y=y, truth=truth, classes=classes, **asked.others(source, table, hidden))


def _tell(source: str, table: Table) -> None:
    """Warn of what was understood of a file where that was not the plain case."""
    if table.told:
        names = "" if table.names is None else f", columns {listed(table.names)}"
        label = "" if table.label is None else f"labels in {table.label!r}; "
        warn(f"DATA={source!r} read as: {table.X.shape[0]} points{names}; {label}{'; '.join(table.told)}")


def _unknown(source: str, table: Table, marker: Any, classes: Sequence[str]) -> NDArray[np.bool_]:
    """Which labels of a table are unknown: those with the marker, or without one those that can only mean that.

    A ValueError asks how labels are meant that can be read in several ways, or are none of the classes that are given.
    """
    labels = table.labels
    if marker is None:
        unknown = np.isin(labels, list(MISSING - set(classes)))
    else:
        names = set(labels.tolist())
        unknown = np.isin(labels, [name for name in names if is_marked(name, marker)])
        nothing = np.isin(labels, [name for name in names if name.lower() in ("", "nan", "-nan")])
        missing = np.flatnonzero(~unknown & nothing)
        if len(missing):
            raise ValueError(
                f"DATA={source!r}: the label of point {missing[0] + 1} is missing, but unknown ones are marked by "
                f"unlabeled={marker!r}"
            )
    kinds = sorted(set(labels[~unknown].tolist()), key=natural)
    others = [name for name in kinds if name not in classes]
    if classes and others:
        signs = {number_of(name) for name in classes} in ({0, 1}, {-1, 1})
        if marker is None and len(others) == 1 and number_of(others[0]) in (-1, 0):
            if not (signs and len(kinds) == 2):
                return np.asarray(unknown | np.isin(labels, others))
            raise ValueError(
                f"DATA={source!r} has the labels {listed(kinds)}, and the model's classes are {listed(classes)}: "
                f"{others[0]} may mark unknown labels (say so with unlabeled, {_option(others[0])}) or be a class "
                f"(say which counts as +1 with positive)"
            )
        option = _option(others[0] if len(others) == 1 else "VALUE")
        raise ValueError(
            f"DATA={source!r} has the labels {listed(others)}, which are none of the model's classes "
            f"({listed(classes)}); say what marks unknown labels with unlabeled, {option}, or which classes of two "
            "count as +1 with positive"
        )
    if marker is not None or classes or table.splits is not None:
        return np.asarray(unknown)  # in a file with splits y holds true labels only, so none of them is a marker
    readings = _readings(kinds)
    if len(readings) > 1:
        raise ValueError(
            f"DATA={source!r} has the labels {listed(kinds)}, which can be read in {len(readings)} ways: "
            + _told(labels, unknown, kinds, readings)
            + "; say which with unlabeled, "
            + " or ".join(map(_option, readings))
        )
    return np.asarray(unknown | np.isin(labels, readings))


def _readings(kinds: Sequence[str]) -> list[str]:
    """The labels that could mark unknown ones; a further "nan" stands for the reading in which all are classes."""
    # Words in small letters and without spaces that often mark unknown labels, and may be classes.
    for_unknown = re.compile(
        r"un(known|k|labell?ed|defined|specified)|not(labell?ed|known|available)|none|nil|nul|null|#?n/?a|<na>|n\.a\."
        r"|n\.?d\.?|nan|void|blank|empty|missing|tbd|todo|[-.*_?]+"
    )
    numbers = [number_of(name) for name in kinds]
    zero, minus = ([name for name, number in zip(kinds, numbers, strict=True) if number == k] for k in (0, -1))
    others = [name for name in kinds if name not in minus]
    words = [name for name in kinds if for_unknown.fullmatch("".join(name.casefold().split()))]
    if set(numbers) == {0}:
        return zero
    if minus and zero and set(numbers) <= {-1, 0, 1}:
        return [zero[0], minus[0]]
    # Beside a single other label -1 is a class, since with -1 as the marker only one class would be left.
    found = [*words, *(minus if len(others) > 1 else [])]
    return [*found, "nan"] if found else []


def _told(labels: NDArray[np.str_], missing: NDArray[np.bool_], kinds: Sequence[str], readings: Sequence[str]) -> str:
    """The ways to read labels, with how many points of every class each of them gives."""
    ways, known = [], {0.0: " as in SVMlight", -1.0: " as in scikit-learn"}
    for marker in readings:
        counts = listed([f"{name} {int((labels == name).sum())}" for name in kinds if name != marker])
        number = number_of(marker)
        what = f"{marker} marks unknown ones{'' if number is None else known.get(number, '')}"
        if marker == "nan":
            what = f"{' and '.join(readings[:-1])} is a class"
        ways.append(f"{what} ({counts}, {int((missing | (labels == marker)).sum())} unknown)")
    return ", or ".join(ways)


def _option(marker: str) -> str:
    """How the command line is told of a marker."""
    return f"--unlabeled{'=' if marker.startswith('--') else ' '}{shlex.quote(marker)}"


def listed(names: Sequence[str]) -> str:
    """Names of classes, of which a message has no more than twelve."""
    return ", ".join([*names[:12], *(["…"] if len(names) > 12 else [])])


def _signs(labels: NDArray[np.str_], positive: Sequence[str] | None) -> tuple[NDArray[np.float64], tuple[str, str]]:
    known = labels[labels != ""]
    classes = sorted(set(known.tolist()), key=natural)
    shown = listed(classes)
    if positive is not None:
        chosen = set(one_spelling(np.array(positive, dtype=str), classes)[0].tolist())
        if not chosen < set(classes) or not chosen:
            raise ValueError(f"positive={','.join(positive)!r} must be some, not all, of the classes {shown}")
    elif len(classes) == 2:
        chosen = {classes[1]}
    else:
        several = len(classes) > 2
        wanted = "say which count as +1 with positive" if several else "two classes are needed"
        raise (SeveralClasses if several else ValueError)(f"DATA has {len(classes)} classes ({shown}); {wanted}")
    names = (",".join(c for c in classes if c not in chosen), ",".join(c for c in classes if c in chosen))
    return _as_signs(labels, list(chosen)), names


def _as_signs(labels: NDArray[np.str_], positive: Sequence[str]) -> NDArray[np.float64]:
    return np.where(labels == "", 0.0, np.where(np.isin(labels, positive), 1.0, -1.0))


def _draw(truth: NDArray[Any], n_labeled: int, seed: int) -> NDArray[np.bool_]:
    """Which points keep their labels: ``n_labeled`` at random, every class among them."""
    unknown = truth == ("" if truth.dtype.kind == "U" else 0)
    candidates = np.flatnonzero(~unknown)
    classes = np.unique(truth[candidates])[::-1]
    least = max(2, len(classes))
    if not least <= n_labeled < len(truth):
        raise ValueError(f"n_labeled={n_labeled} must be at least {least} and less than the {len(truth)} points")
    order = np.random.default_rng(seed).permutation(candidates)
    first = [next(i for i in order if truth[i] == name) for name in classes]
    rest = [i for i in order if i not in first]
    return np.isin(np.arange(len(truth)), [*first, *rest[: n_labeled - len(first)]])


def _bundled(name: str) -> Table:
    """A set that needs no file, with ten splits: two_moons is drawn, the others ship with scikit-learn."""
    from sklearn import datasets
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    if name == "two_moons":
        X, y = datasets.make_moons(n_samples=200, noise=0.1, random_state=0)
        per_class, labels = 3, y.astype(str)
    else:
        bunch = getattr(datasets, f"load_{name}")()
        X = bunch.data / 16 if name == "digits" else StandardScaler().fit_transform(bunch.data)
        per_class, labels = 10, bunch.target_names[bunch.target].astype(str)
    shown = per_class * len(np.unique(labels))
    everything = np.arange(len(labels))
    rows = [train_test_split(everything, train_size=shown, stratify=labels, random_state=k)[0] for k in range(10)]
    return Table(X, labels, np.array(rows))
