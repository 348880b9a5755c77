"""Points in a folder on disk, mapped into memory: read where they are, a page at a time, however many there are.

The folder holds the arrays of compressed sparse rows as they are in memory (``data``, ``indices``, ``indptr``), the
labels, and ``header.json`` with their types and lengths.
"""

import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..memory import free_bytes
from ..text import check_unpacked, is_number, unpacked
from ..validation import integer
from .memory import SparsePoints, check_rows

#: About so many bytes are read at a time, and no line may be longer.
BYTES_READ_AT_ONCE = 2**25


def read_blocks(
    path: Path, *, zero_based: bool = False, n_features: int | None = None, size: int = BYTES_READ_AT_ONCE
) -> Iterator[tuple[Any, NDArray[np.float64], float]]:
    """Yield points, labels, and the share of the file that has been read, for one block of lines after the other.

    ValueError names the file and the line that cannot be read, and why.
    """
    n_lines = n_bytes = 0
    with unpacked(path) as (file, _, share):
        while block := file.read(size):
            block += (rest := file.readline(BYTES_READ_AT_ONCE))
            n_bytes, n_read = n_bytes + len(block), block.count(b"\n")
            check_unpacked(n_bytes, path)
            if len(rest) == BYTES_READ_AT_ONCE:
                raise ValueError(f"{path}, line {n_lines + n_read + 1}: it is longer than {len(rest)} bytes")
            yield *_parsed(block, path, n_lines, zero_based, n_features), share()
            n_lines += n_read


def too_wide(n_features: int) -> str:
    """Why so many columns are too many: what a fit would take of memory, and what there is; "" if they are not."""
    n_vectors = 10  # a fit has at least so many with an entry a column, of 8 bytes an entry
    needed, free = 8.0 * n_vectors * n_features, free_bytes()
    if needed <= free:
        return ""
    return (
        f"with {n_features} columns the {n_vectors} vectors of a fit take {needed / 2**30:.1f} GB of memory, "
        f"and {free / 2**30:.1f} GB are free"
    )


def _parsed(
    block: bytes, path: Path, n_before: int, zero_based: bool, n_features: int | None
) -> tuple[Any, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(block), zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        number, why = _worst_line(block, zero_based, n_features) or (None, str(error))
        where = "" if number is None else f", line {n_before + number}"
        raise ValueError(f"{path}{where}: {why}") from None
    too_far = too_wide(X.shape[1]) if n_features is None else X.shape[1] > n_features
    finite = np.isfinite(X.data).all() and np.isfinite(y).all()
    # Python, and so the parser, reads 1_0 as 10.
    if (too_far or not finite or b"_" in block) and (worst := _worst_line(block, zero_based, n_features)):
        raise ValueError(f"{path}, line {n_before + worst[0]}: {worst[1]}")
    return X, y


def _worst_line(block: bytes, zero_based: bool, n_features: int | None) -> tuple[int, str] | None:
    """The first line with a mistake, counted from 1, and what is wrong with it; None if there is none."""
    for number, raw in enumerate(block.split(b"\n"), start=1):
        try:
            line = raw.split(b"#")[0].decode()
        except UnicodeDecodeError:
            return number, "it is not text in UTF-8"
        words = line.split()
        if not words:
            continue
        why = _complaint(words, zero_based, n_features)
        if why:
            return number, why
    return None


def _complaint(words: list[str], zero_based: bool, n_features: int | None) -> str:
    """What is wrong with a label and its entries; "" if nothing is."""
    if not is_number(words[0]):
        return f"the label {words[0][:40]!r} is not a finite number"
    last, first = -1, 0 if zero_based else 1
    for word in words[1:]:
        index, colon, value = word.partition(":")
        if index == "qid":
            continue
        if not colon or not re.fullmatch(r"[0-9]+", index):
            return f"{word[:40]!r} is not index:value"
        if not is_number(value):
            return f"the value in {word[:40]!r} is not a finite number"
        place = int(index)
        if place < first:
            return (
                f"the index {place} is below {first}; say zero_based=True (--zero-based) if columns are counted from 0"
            )
        if place == last:
            return f"the index {place} comes twice"
        if place < last:
            return f"the index {place} comes after {last}; indices must increase"
        if why := _too_far(place, first, n_features):
            return why
        last = place
    return ""


def _too_far(place: int, first: int, n_features: int | None) -> str:
    """Why an index is too large; "" if it is not."""
    if n_features is not None:
        return f"the index {place} is beyond the {n_features} columns there are" if place - first >= n_features else ""
    if place - first >= 2**31 - 1:
        return f"the index {place} is too large; the largest possible one is {2**31 - 2 + first}"
    why = too_wide(place - first + 1)
    return f"the index {place} is too large: {why}" if why else ""


FORMAT = "convex_tsvm points 1"


@dataclass(frozen=True, eq=False)
class SavedPoints:
    """Points and ``labels``, shape (n,), as they were in the file that was converted; those of a folder are mapped.

    ``zero_based`` says whether the first column was 0 in the svmlight file that they come from, where that is known.
    """

    points: SparsePoints
    labels: NDArray[np.float64]
    zero_based: bool | None = None


def convert_svmlight(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: DTypeLike = np.float32,
    progress: Callable[[float], None] | None = None,
) -> SavedPoints:
    """Convert an svmlight file to a folder that is read from disk, in one pass and little memory.

    A ValueError names the file and the line that cannot be read, and why; a FileNotFoundError says that there is no
    source, a FileExistsError that there is a target already, and an OSError that the disk is full, where nothing is
    left of the target.

    Parameters
    ----------
    source : path
        Lines "label index:value index:value ...", indices increasing; "#" begins a comment.
    target : path
        The folder; it must not be there yet.  It is complete or not there: its parts are written elsewhere first.
    n_features : int, optional
        Columns; as many as there are in the file by default.
    zero_based : bool, default False
        Whether the first column is 0 in the file, not 1.
    dtype : {float32, float64}, default float32
        Of the values that are kept.
    progress : callable, optional
        Called with the share of the file that is done, in [0, 1].
    """
    most = _check(n_features, dtype)
    source, _ = Path(source), os.stat(source)
    # Column indices are written with 32 bits; a file with 2³¹ columns or more is refused when such a column is read.
    index, used, n_entries = np.dtype(np.int32), 0, 0
    with _written(Path(target)) as (folder, files):
        np.zeros(1, dtype=np.int64).tofile(files["indptr"])
        for X, labels, share in read_blocks(source, zero_based=zero_based, n_features=most):
            used = max(used, X.shape[1])
            if used > np.iinfo(index).max:
                raise ValueError(f"{source} has {used} columns; at most {np.iinfo(index).max} are possible")
            X.data.astype(dtype).tofile(files["data"])
            X.indices.astype(index).tofile(files["indices"])
            (n_entries + X.indptr[1:].astype(np.int64)).tofile(files["indptr"])
            labels.astype(np.float64).tofile(files["labels"])
            n_entries += int(X.indptr[-1])
            if progress is not None:
                progress(share)
        n = files["labels"].tell() // 8
        if n == 0:
            raise ValueError(f"{source} has no points")
        sizes = {"n": n, "n_features": most or max(used, 1), "n_entries": n_entries}
        _describe(folder, sizes, dtype, index, zero_based)
    return open_points(target)


def read_svmlight(
    source: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool | None = False,
    dtype: DTypeLike = np.float64,
    progress: Callable[[float], None] | None = None,
) -> SavedPoints:
    """Read an svmlight file into memory; arguments and errors are those of :func:`convert_svmlight`.

    With ``zero_based=None`` the first column is 0 if there is an index 0.
    """
    most = _check(n_features, dtype)
    parts, labels, least = [], [], np.inf
    known = None if zero_based is None else most
    for X, y, share in read_blocks(Path(source), zero_based=zero_based is not False, n_features=known):
        least = min(least, X.indices.min(initial=np.iinfo(X.indices.dtype).max))
        parts.append(X.astype(dtype))
        labels.append(y)
        if progress is not None:
            progress(share)
    if not sum(map(len, labels)):
        raise ValueError(f"{source} has no points")
    from_one = zero_based is None and least > 0
    used = max(part.shape[1] for part in parts) - from_one
    if most is not None and used > most:
        raise ValueError(f"{source} has {used} columns, more than n_features={most}")
    for part in parts:
        part.indices -= from_one
    width = most or max(1, used)
    rows = [sp.csr_array((p.data, p.indices, p.indptr), shape=(p.shape[0], width)) for p in parts]
    together = sp.vstack(rows, format="csr") if len(rows) > 1 else rows[0]
    found = SparsePoints(together.data, together.indices, together.indptr, width)
    return SavedPoints(found, np.concatenate(labels), bool(least == 0) if zero_based is None else zero_based)


def save_points(points: SparsePoints, labels: ArrayLike, target: str | os.PathLike[str]) -> SavedPoints:
    """Write sparse points and their labels to such a folder, as they are.

    A FileExistsError says if there is a target already.
    """
    n, d = points.shape
    labels = np.asarray(labels, dtype=np.float64)
    if labels.shape != (n,):
        raise ValueError(f"labels has shape {labels.shape}; there are {n} points")
    with _written(Path(target)) as (folder, files):
        for name, array in (("data", points.data), ("indices", points.indices), ("labels", labels)):
            np.asarray(array).tofile(files[name])
        np.asarray(points.indptr, dtype=np.int64).tofile(files["indptr"])
        sizes = {"n": n, "n_features": d, "n_entries": points.n_entries}
        _describe(folder, sizes, points.data.dtype, points.indices.dtype)
    return open_points(target)


def open_points(path: str | os.PathLike[str], *, check: bool = True) -> SavedPoints:
    """Points of a folder that :func:`convert_svmlight` or :func:`save_points` wrote.

    A FileNotFoundError says if there is no such folder, and a ValueError if it is none of points, or not whole.

    Parameters
    ----------
    path : path
    check : bool, default True
        Whether to read all column indices once, to see that they are in range; without that nothing is read before it
        is used, and a damaged folder may crash the process.
    """
    path = Path(path)
    if not path.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path)!r} of points")
    try:
        header = json.loads((path / "header.json").read_text(encoding="utf-8"))
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']!r}, not {FORMAT!r}")
        n, d, entries = (integer(name, header[name], least=0) for name in ("n", "n_features", "n_entries"))
        arrays = {}
        for name, length in (("data", entries), ("indices", entries), ("indptr", n + 1), ("labels", n)):
            kind = np.dtype(header["types"][name])
            if os.stat(path / name).st_size != length * kind.itemsize:
                raise ValueError(f"the file {name!r} does not have {length} entries")
            # An empty file, which all rows being empty makes, cannot be mapped.
            mapped = np.memmap(path / name, kind, "r", shape=(length,)) if length else np.zeros(0, kind)
            arrays[name] = np.asarray(mapped)
        if check:
            check_rows(arrays["indices"], arrays["indptr"], d)
        zero_based = header.get("zero_based")
        if zero_based not in (None, True, False):
            raise ValueError(f"zero_based={zero_based!r} must be true, false or null")
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is no whole folder of points: {error}") from error
    points = SparsePoints(arrays["data"], arrays["indices"], arrays["indptr"], d)
    return SavedPoints(points, arrays["labels"], zero_based)


def _check(n_features: int | None, dtype: DTypeLike) -> int | None:
    """The number of columns asked for, None if it is to be found out; ValueError if it or ``dtype`` is not allowed."""
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} must be float32 or float64")
    return None if n_features is None else integer("n_features", n_features, least=1)


@contextmanager
def _written(target: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A temporary folder and files in it, which becomes ``target`` if nothing fails, and is removed otherwise."""
    if target.exists():
        raise FileExistsError(f"target={str(target)!r} is there already")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"target={str(target)!r}: there is no folder {str(target.parent)!r}")
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        with ExitStack() as opened:
            names = ("data", "indices", "indptr", "labels")
            yield folder, {name: opened.enter_context(open(folder / name, "wb")) for name in names}
        os.chmod(folder, 0o755)
        os.rename(folder, target)
    except OSError as error:
        raise type(error)(f"target={str(target)!r} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _describe(
    folder: Path, sizes: dict[str, int], data: DTypeLike, index: DTypeLike, zero_based: bool | None = None
) -> None:
    kinds = {"data": data, "indices": index, "indptr": np.int64, "labels": np.float64}
    header = {"format": FORMAT, **sizes, "types": {name: np.dtype(kind).str for name, kind in kinds.items()}}
    (folder / "header.json").write_text(json.dumps({**header, "zero_based": zero_based}), encoding="utf-8")
