"""Text files as people have them: packed or not, in the encoding that they say they are in, with numbers in words."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from .validation import unpacked_limit

#: Packed text of a file may unpack to so many bytes, or to more if it is large.
TEXT_BYTES = 2**26

#: A number as files have it: no "inf", and none of the underscores and foreign digits that Python reads.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def is_number(text: str) -> bool:
    """Whether a text is a number, and a finite one in double precision."""
    return NUMBER.fullmatch(text.strip()) is not None and math.isfinite(float(text))


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
