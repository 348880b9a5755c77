"""Reading svmlight files a block of lines at a time; scikit-learn's parser, with errors that name the line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory import free_bytes
from ..text import check_unpacked, is_number, unpacked

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
