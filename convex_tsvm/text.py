"""Text as people have it: packed or not, in the encoding that it says it is in, and words that are numbers."""

import bz2
import gzip
import io
import lzma
import math
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .validation import unpacked_limit

#: Packed text of a file may unpack to so many bytes, or to more if it is large.
TEXT_BYTES = 2**26

#: A number as files have it: no "inf", and none of the underscores and foreign digits that Python reads.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


#: Texts that stand for a missing label unless a marker is given: those that pandas reads as missing, and "?".
MISSING = frozenset(
    [
        *("", "?", "<NA>", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null", "None"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)


def is_number(text: str) -> bool:
    """Whether a text is a number, and a finite one in double precision."""
    return NUMBER.fullmatch(text.strip()) is not None and math.isfinite(float(text))


def is_marked(name: str, marker: Any) -> bool:
    """Whether a label, as it is written, is the marker: the same text or number; NaN is whatever is missing."""
    if isinstance(marker, (float, np.floating)) and np.isnan(marker):
        marker = "nan"
    text = str(marker).strip()
    return name in MISSING and name != "?" if text.lower() == "nan" else value_of(name) == value_of(text)


def value_of(text: str) -> Decimal | str:
    """The number that a label is, to its last digit, or else its text."""
    try:
        return Decimal(text) if NUMBER.fullmatch(text) else text
    except InvalidOperation:  # of an exponent with twenty digits
        return text


def number_of(text: str) -> float | None:
    """The number that a text is, or None."""
    value = value_of(text)
    return None if isinstance(value, str) else float(value)


def one_spelling(labels: NDArray[np.str_], known: Sequence[str] = ()) -> tuple[NDArray[np.str_], list[str]]:
    """Labels, all that are one number spelled as a known class is, or as the shortest; and what is told."""
    names, which = np.unique(labels, return_inverse=True)
    spelled: dict[Decimal | str, list[str]] = {}
    for name in names.tolist():
        spelled.setdefault(value_of(name), []).append(name)
    chosen = {value: min(found, key=lambda name: (len(name), name)) for value, found in spelled.items()}
    chosen |= {value_of(name): name for name in known}
    told = [f"{', '.join(found)} are one number, {chosen[value]}" for value, found in spelled.items() if len(found) > 1]
    return np.array([chosen[value_of(name)] for name in names.tolist()], dtype=str)[which], told


def natural(text: str) -> tuple[int, float, str]:
    """By what texts are sorted: numbers by their value, and first."""
    number = number_of(text)
    return (1, 0.0, text) if number is None else (0, number, text)


@contextmanager
def unpacked(path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], str, Callable[[], float]]]:
    """The bytes of a text file as UTF-8, the encoding that it says it is in, and what tells the share that was read.

    A ValueError takes the place of all errors of a damaged file.
    """
    # How packed files begin, whatever they are called, and what unpacks them.
    packed: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
    # Byte order marks, the longer ones first, since that of UTF-32 begins with that of UTF-16.
    kinds = ("utf-8", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
    marks = {"\ufeff".encode(kind): kind for kind in kinds}
    with open(path, "rb") as raw:
        size = max(os.fstat(raw.fileno()).st_size, 1)
        unpack = next((how for magic, how in packed.items() if raw.peek(8).startswith(magic)), None)
        try:
            file: Any = raw if unpack is None else io.BufferedReader(unpack(raw))
            mark = next((mark for mark in marks if file.peek(4).startswith(mark)), b"")
            encoding = marks.get(mark, "utf-8")
            file.read(len(mark))
            if encoding != "utf-8":
                file = io.BytesIO(_all_of(file, path).decode(encoding).encode())
            yield file, encoding, lambda: min(raw.tell() / size, 1.0)
        except (EOFError, zlib.error, lzma.LZMAError, UnicodeDecodeError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{path} is damaged: {error}") from error


def read_text(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The whole text of a file, and the encoding that it was in; a ValueError if it is no text, or damaged."""
    with unpacked(path) as (file, encoding, _):
        content = _all_of(file, path)
    if b"\0" in content:
        raise ValueError("it has NUL characters: it is no text, or UTF-16 without a byte order mark; save it as UTF-8")
    try:
        return content.decode(), encoding
    except UnicodeDecodeError:
        return content.decode("windows-1252"), "windows-1252"  # which has the letters of latin-1


def check_unpacked(n_bytes: int, path: str | os.PathLike[str]) -> None:
    """A ValueError if so many bytes are more than a text of the file's size unpacks to."""
    facts = os.stat(path)
    if n_bytes > unpacked_limit(facts.st_size, TEXT_BYTES) and stat.S_ISREG(facts.st_mode):
        raise ValueError(
            f"{path} unpacks to {n_bytes >> 20} MB or more from {facts.st_size} bytes: unpack it beforehand"
        )


def _all_of(file: IO[bytes], path: str | os.PathLike[str]) -> bytes:
    """All that is in an unpacked file, unless that is far more than its size says."""
    content = bytearray()
    while part := file.read(TEXT_BYTES // 4):
        content += part
        check_unpacked(len(content), path)
    return bytes(content)
