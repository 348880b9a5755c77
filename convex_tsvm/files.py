"""Files of points and labels as people have them: tables, svmlight text, arrays, and folders of points.

Where a file is not the plain case, what was understood is told; what can be understood in several ways is asked about.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .persistence import DAMAGED, FittedModel, unlike
from .text import is_number, read_text
from .validation import Archive, archive

#: What may separate the fields of a table.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}

#: Numbers with a decimal comma.
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Table:
    """What a file holds, before classes become signs."""

    X: Any
    labels: NDArray[np.str_]  # shape (n,), as they are written; "" where unknown, once markers are told from classes
    splits: NDArray[np.int64] | None = None
    names: tuple[str, ...] | None = None  # of X's columns
    label: str | None = None  # the name of the column of labels
    has_labels: bool = True
    marks: str = "without labels"  # what marks the unknown ones
    zero_based: bool | None = None  # whether an svmlight file counts columns from 0
    told: tuple[str, ...] = ()  # whatever was not the plain case


def kind_of(source: str) -> str:
    """What a name says that a file is: ".npz", ".csv", "folder", or "svmlight text"; packed files have two endings."""
    path = Path(source)
    if path.is_dir():
        return "folder"
    ending = Path(path.stem if path.suffix.lower() in (".gz", ".bz2", ".xz") else path.name).suffix.lower()
    return {".npz": ".npz", ".csv": ".csv", ".tsv": ".csv", ".tab": ".csv"}.get(ending, "svmlight text")


def read_table(
    source: str, splits: str, label_column: str | None, model: FittedModel | None, zero_based: bool | None
) -> Table:
    """The table with its labels as they are written in the file; errors name the file."""
    path, kind = Path(source), kind_of(source)
    if kind == "folder" and not (path / "header.json").exists():
        raise ValueError(f"DATA={source!r} is a folder without points; it must be a .npz, .csv or svmlight file")
    try:
        if kind == ".npz":
            return _read_npz(path, splits, model is None)
        if kind == ".csv":
            return _read_csv(path, label_column, model)
        return _read_points(path, model, zero_based)
    except DAMAGED as error:
        reason, kind = str(error) or type(error).__name__, path.suffix.lower() or kind
        raise ValueError(f"DATA={str(path)!r} cannot be read as {kind}: {reason}") from error


def _points_of(file: Archive) -> Any:
    """The points of a file of arrays, dense or sparse, in whatever format ``scipy.sparse.save_npz`` wrote."""
    if "X" in file.files:
        return file["X"]
    form = file["format"].item() if "format" in file.files else "csr"
    form = form.decode() if isinstance(form, bytes) else str(form)
    # The arrays beside ``data`` and ``shape`` that a format of scipy.sparse.save_npz has.
    compressed = ("indices", "indptr")
    own = {"csr": compressed, "csc": compressed, "bsr": compressed, "coo": ("row", "col"), "dia": ("offsets",)}
    if form not in own:
        raise ValueError(f"its sparse format {form!r} must be one of {', '.join(own)}")
    if not {"data", "shape", *own[form]} <= set(file.files):
        raise ValueError(f"it has neither 'X' nor a {form.upper()} matrix; it has {', '.join(sorted(file.files))}")
    n, d = (int(size) for size in file["shape"])
    if n * 8 > file.limit:
        raise ValueError(f"its shape ({n}, {d}) has more rows than a file of its size holds")
    parts = tuple(file[name] for name in own[form])
    given = (file["data"], parts) if form == "coo" else (file["data"], *parts)
    X = getattr(sp, f"{form}_matrix")(given, shape=(n, d))
    if own[form] == compressed:
        X.check_format()
    X = X.tocsr()
    X.sum_duplicates()
    return X


def _read_npz(path: Path, splits: str, needs_labels: bool) -> Table:
    with archive(path) as file:
        names = sorted(file.files)
        if "y" not in names and needs_labels:
            raise ValueError(f"it has no array 'y'; it has {', '.join(names)}")
        found = {name: file[name] for name in {"y", splits} & set(names)}
        X, y, rows = _points_of(file), found.get("y"), found.get(splits)
    if rows is None and splits != "labeled":
        others = ", ".join(name for name in names if name.startswith("labeled")) or "no such array"
        raise ValueError(f"splits={splits!r} is not in it; it has {others}")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"X has shape {X.shape}; it must be 2-dimensional, (n, d), and of numbers, not {X.dtype}")
    if y is None:
        return Table(X, np.full(X.shape[0], ""), has_labels=False)
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise ValueError(f"y has shape {y.shape}, but there are {X.shape[0]} points")
    if rows is not None:
        rows = np.atleast_2d(rows)
        if rows.dtype.kind not in "iu" or rows.size == 0 or rows.min() < 0 or rows.max() >= len(y):
            raise ValueError(f"{splits!r} holds an index outside 0..{len(y) - 1}")
    return Table(X, as_text(y), rows)


def as_text(y: NDArray[Any]) -> NDArray[np.str_]:
    """Labels as text, numbers without superfluous decimals."""
    if y.dtype.kind in "USO":
        return np.char.strip(y.astype(str))
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y has the type {y.dtype}; labels must be numbers or text")
    values, which = np.unique(y, return_inverse=True)
    text = [str(int(value)) if float(value).is_integer() else repr(value) for value in values.tolist()]
    return np.array(["NaN" if name == "nan" else name for name in text], dtype=str)[which]


def _read_points(path: Path, model: FittedModel | None, asked: bool | None) -> Table:
    """An svmlight file, or a folder that one was converted to: columns are counted as in the model's file, if known."""
    from .points import open_points, read_svmlight

    known, told = None if model is None else model.zero_based, ""
    wanted = known if asked is None else asked
    if path.is_dir():
        saved = open_points(path)
        if None not in (saved.zero_based, wanted) and saved.zero_based != wanted:
            raise ValueError(
                f"it is of a file that counts columns from {int(not saved.zero_based)}, and the one of the model "
                f"from {int(not wanted)}: convert it {'with' if wanted else 'without'} --zero-based, or say with "
                f"{'--zero-based' if saved.zero_based else '--no-zero-based'} that it is right"
            )
    else:
        saved = read_svmlight(path, zero_based=wanted)
        if asked is None and saved.zero_based:
            told = "columns are counted from 0, as " + ("there is an index 0" if known is None else "the model's were")
        elif wanted is None and model is not None and saved.points.shape[1] < model.n_features:
            told = "columns are counted from 1; --zero-based says that they are from 0"
    parts = saved.points.data, saved.points.indices, saved.points.indptr
    X = sp.csr_matrix(parts, shape=saved.points.shape)
    return Table(X, as_text(saved.labels), zero_based=saved.zero_based, told=(told,) if told else ())


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows of a table that are not blank, with the line that each begins in, as an editor counts lines."""
    rows, first = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True), 1
    try:
        for row in rows:
            if len(row) > 1 or "".join(row).strip():
                yield first, row
            first = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{error}, in line {first}") from None


def _separator(text: str) -> str:
    """What separates the fields: what gives all lines looked at as many, and more than one; else what the first has."""
    possible = []
    for separator in SEPARATORS:
        try:
            widths = {len(row) for _, row in itertools.islice(_records(text, separator), 50)}
        except ValueError:
            continue
        if len(widths) == 1 and widths != {1}:
            possible.append(separator)
    if len(possible) > 1:
        ways = " or by ".join(SEPARATORS[separator] for separator in possible)
        raise ValueError(f"fields may be separated by {ways}; write names that have none of them")
    first = text.partition("\n")[0]
    return next(iter([*possible, *(separator for separator in SEPARATORS if separator in first), ","]))


def _fields(text: str, separator: str) -> tuple[NDArray[Any], list[int]]:
    """All fields as text, shape (n + 1, d), header first, and the line that each row begins in."""
    records = list(_records(text, separator))
    for line, row in records:
        if len(row) != len(records[0][1]):
            raise ValueError(f"line {line} has {len(row)} fields, the header {len(records[0][1])}")
    if len(records) < 2:
        raise ValueError("it has no rows below its header")
    fields = np.array([row for _, row in records], dtype=object)
    fields[0] = [name.strip() for name in fields[0]]
    return fields, [line for line, _ in records]


def _read_csv(path: Path, label_column: str | None, model: FittedModel | None) -> Table:
    text, encoding = read_text(path)
    separator, told = _separator(text), []
    table, lines = _fields(text, separator)
    if table.shape[1] == 1 and model is None:
        separators = ", ".join(SEPARATORS.values())
        raise ValueError(f"it has one column, {table[0, 0][:40]!r}; what separates columns is {separators}")
    if separator != ",":
        told.append(f"separator {separator!r}")
    if encoding != "utf-8":
        told.append(f"encoding {encoding}" + (", as latin-1, since it is not UTF-8" if "win" in encoding else ""))
    kept, left_out = _without_index(table, label_column, model)
    header, body = table[0, kept].tolist(), table[1:, kept]
    told += [*left_out, *_checked_header(header, body, label_column, model)]
    column, order = _columns(header, label_column, model)
    if not order:
        raise ValueError(f"it has no column of features beside the labels in {header[-1]!r}")
    if order != sorted(order):
        told.append("columns are in another order than the model's features; they are taken by name")
    labels = np.array(["" if column is None else row[column].strip() for row in body], dtype=str)
    fields, names = body[:, order], tuple(header[k] for k in order)
    if _has_decimal_commas(fields):
        told.append("decimal commas")
        fields = np.char.replace(fields.astype(str), ",", ".").astype(object)
        labels = np.array([x.replace(",", ".") if DECIMAL_COMMA.fullmatch(x) else x for x in labels], dtype=str)
    label = None if column is None else header[column]
    X = _numbers(fields, names, lines[1:])
    return Table(X, labels, names=names, label=label, has_labels=column is not None, told=tuple(told))


def _without_index(
    table: NDArray[Any], label_column: str | None, model: FittedModel | None
) -> tuple[list[int], list[str]]:
    """The columns that do not only count rows, and what is told of the others.

    What is asked for, or known to a model, stays; another column without a name that is no index is a ValueError.
    """
    counters = ("index", "id", "idx", "no", "nr", "#", "row", "row_id", "rowid", "level_0")
    names = None if model is None else model.feature_names
    exact = model is not None and names is None and table.shape[1] == model.n_features
    kept, told = [], []
    for k, name in enumerate(table[0]):
        nameless = re.fullmatch(r"(Unnamed: [\d.]+)?", name, re.ASCII) is not None
        asked = name in (label_column, *(names or ())) or not (nameless or (name.casefold() in counters and not exact))
        why = "" if asked else _index([value.strip() for value in table[1:, k]], nameless)
        if why:
            told.append(f"column {k + 1}, {repr(name) if name else 'without a name'}, is {why} and is left out")
        elif nameless and not asked:
            raise ValueError(f"column {k + 1} has no name; give it one in the first line, or leave the column out")
        else:
            kept.append(k)
    if not kept:
        raise ValueError(f"it has no column of features: {'; '.join(told)}")
    return kept, told


def _index(values: list[str], nameless: bool) -> str:
    """What a column is that is no feature: an index counts, or has no name and distinct whole numbers; else ""."""
    numbers = [int(value) for value in values if re.fullmatch(r"\d{1,18}", value, re.ASCII)]
    counts = numbers == list(range(numbers[0], numbers[0] + len(values))) if numbers else False
    if counts or (nameless and len(set(numbers)) == len(values)):
        return "an index of the rows"
    return "empty" if nameless and not any(values) else ""


def _checked_header(
    header: list[str], body: NDArray[Any], label_column: str | None, model: FittedModel | None
) -> list[str]:
    """What is to be told of the header; a ValueError if it looks like a point, or a name comes twice."""
    names = model.feature_names if model is not None else None
    named = label_column in header or (names is not None and set(names) <= set(header))
    features = header if model is not None and len(header) == model.n_features else header[:-1]
    is_label = features is not header and (header[-1] in map(str.strip, body[:, -1]) or is_number(header[-1]))
    told = []
    if not named and (is_label or any(map(is_number, features))):
        counted = features in ([str(k + first) for k in range(len(features))] for first in (0, 1))
        if features is header or is_label or not counted:
            what = "has numbers only" if all(map(is_number, header)) else "looks like a point"
            raise ValueError(
                f"its first line, {', '.join(header)[:80]}, {what}; it must be a header with the names of the columns, "
                "above the first point"
            )
        told = ["the numbers in the first line are names of columns"]
    if twice := [name for name in header if header.count(name) > 1]:
        raise ValueError(f"it has {len(twice)} columns {', '.join(map(repr, dict.fromkeys(twice)))}; each needs a name")
    return told


def _columns(header: list[str], label_column: str | None, model: FittedModel | None) -> tuple[int | None, list[int]]:
    """The column of labels, if there is one, and those of the features, in the order of the model's."""
    known = None if model is None else model.feature_names
    if label_column not in (None, *header):
        raise ValueError(f"label_column={label_column!r} is not in it; its columns are {', '.join(header)}")
    label = label_column
    if label is None and model is not None and known is not None:
        label = model.label_name if model.label_name in header else None
    elif label is None and not (model is not None and len(header) == model.n_features):
        label = header[-1]
    names = [name for name in header if name != label]
    column = None if label is None else header.index(label)
    if known is None or sorted(known) == sorted(names):
        return column, [header.index(name) for name in (names if known is None else known)]
    extra = [name for name in names if name not in known]
    hint = f"(label_column={extra[0]!r} says that it is the label)" if len(extra) == 1 and column is None else ""
    raise ValueError(f"{unlike(known, names)}{hint}")


def _has_decimal_commas(fields: NDArray[Any]) -> bool:
    """Whether numbers are written with a comma for the point; a ValueError if it may be one between thousands."""
    commas = [field.strip() for field in fields.flat if "," in field]
    if not commas or not all(map(DECIMAL_COMMA.fullmatch, commas)) or any("." in field for field in fields.flat):
        return False
    if all(re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", comma, re.ASCII) for comma in commas):
        raise ValueError(
            f"{commas[0]!r} is one number with a decimal comma and another with one between thousands; write numbers "
            "with a point, and without commas"
        )
    return True


def _numbers(fields: NDArray[Any], names: Sequence[str], lines: Sequence[int]) -> NDArray[np.float64]:
    """The features as numbers; a ValueError that names line and column of the first one that is none."""
    try:
        X = np.array([float(field) for field in fields.flat]).reshape(fields.shape)
        if np.isfinite(X).all() and not any("_" in field for field in fields.flat):
            return X
    except ValueError:
        pass
    place = next(k for k, field in enumerate(fields.flat) if not is_number(field))
    where = f"line {lines[place // len(names)]}, column {names[place % len(names)]!r}"
    raise ValueError(f"{where}: {fields.flat[place][:40]!r} is not a number")
