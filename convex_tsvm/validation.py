"""Checks of arguments, with errors that name the argument, its value, and what is allowed."""

import numbers
import os
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp


class InfeasibleError(ValueError):
    """The constraints of a problem cannot be met; the message names them.

    Examples
    --------
    >>> fixed = [ct.output_constraint({0: 1.0}, 2, 3), ct.output_constraint({0: 1.0}, 4, 5)]  # f(x_0) in both
    >>> try:
    ...     ct.cccp(ct.Formulation(ct.hinge(), constraints=fixed), problem)
    ... except ct.InfeasibleError as error:
    ...     print(type(error).__name__)
    InfeasibleError
    """


def is_sparse(X: Any) -> TypeGuard[sp.csr_matrix]:
    """Whether points or a matrix are sparse, in whatever format; those of problems are in CSR format."""
    return sp.issparse(X)


def canonical(X: Any) -> Any:
    """A sparse matrix in CSR format, without zeros and with each entry once, sorted; others as they are."""
    if not is_sparse(X):
        return X
    found = sp.csr_matrix(X)  # what another matrix remembers of its format may no longer be true
    if not (found.has_canonical_format and found.data.all()):
        found = found.copy()
        found.sum_duplicates()
        found.eliminate_zeros()
    return found


def finite(
    name: str,
    value: Any,
    *,
    least: float = -np.inf,
    above: float = -np.inf,
    most: float = np.inf,
    below: float = np.inf,
) -> float:
    """``value`` as a float, if it is a finite number within the limits; otherwise an error that states them."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number) or not (least <= number <= most and above < number < below):
        limits = [(">=", least), (">", above), ("<=", most), ("<", below)]
        allowed = " and ".join(f"{sign} {limit:g}" for sign, limit in limits if np.isfinite(limit))
        raise ValueError(f"{name}={value!r} must be a finite number" + (f" {allowed}" if allowed else ""))
    return number


def integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """``value`` as an int, if it is an integer within the limits (no bool); otherwise an error that states them."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        allowed = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} must be an integer {allowed}")
    return int(value)


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """``value``, if it is among the words allowed; otherwise an error that lists them."""
    if not isinstance(value, str) or value not in allowed:
        words = [repr(word) for word in allowed]
        raise ValueError(f"{name}={value!r} must be {', '.join(words[:-1])} or {words[-1]}")
    return value


#: A packed file of arrays may unpack to so many bytes, or to more if it is large.
UNPACKED_BYTES = 2**28


def unpacked_limit(size: int, least: int) -> int:
    """The most bytes that a packed file of so many bytes is unpacked to: ``least``, or 32 times its size."""
    return max(least, 32 * size)


class Archive:
    """The arrays of an open ``.npz`` file, by name: each is unpacked when asked for, if all fit into the limit."""

    def __init__(self, file: Any, limit: int) -> None:
        self.files: list[str] = list(file.files)
        self.limit, self._left, self._file = limit, limit, file
        self._members = {member.filename.removesuffix(".npy"): member for member in file.zip.infolist()}
        if len(self._members) < len(file.zip.infolist()):
            raise ValueError("it has two members of one name")

    def __getitem__(self, name: str) -> Any:
        member = self._members[name]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its member {name!r} is packed as NumPy does not pack")
        self._left -= member.file_size
        if self._left < 0:
            raise ValueError(
                f"its members unpack to {(self.limit - self._left) >> 20} MB and more, with {name!r}, and no more than "
                f"{self.limit >> 20} MB are read from a file of its size; numpy.savez writes one that is not packed"
            )
        try:
            found = self._file[name]
        except RuntimeError as error:
            raise ValueError(f"its member {name!r} cannot be read: {error}") from error
        if not isinstance(found, np.ndarray):
            raise ValueError(f"its member {name!r} is no array")
        return found


@contextmanager
def archive(path: str | os.PathLike[str], known: Collection[str] | None = None) -> Iterator[Archive]:
    """The arrays of an .npz file by name; a ValueError if it is none, or has others than the ``known`` ones."""
    with open(path, "rb") as opened:
        if not zipfile.is_zipfile(opened):
            raise ValueError("it is no .npz file, or a damaged one")
        opened.seek(0)
        with np.load(opened, allow_pickle=False) as file:
            found = Archive(file, unpacked_limit(os.fstat(opened.fileno()).st_size, UNPACKED_BYTES))
            unknown = sorted(set(found.files) - set(found.files if known is None else known))
            if unknown:
                raise ValueError(f"it has members that do not belong there: {', '.join(unknown[:5])}")
            yield found


def new_file(name: str, value: Any) -> Path:
    """``value`` as the path of a file that can be written, and is neither made nor changed; else an error."""
    if isinstance(value, bytes) or not isinstance(value, (str, os.PathLike)):
        raise ValueError(f"{name}={value!r} must be the path of a file")
    path = Path(value)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{name}={str(path)!r}: there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{name}={str(path)!r} is a folder; it must be a file")
    try:
        if path.exists():
            with open(path, "ab"):
                pass
        if not path.exists() or path.is_file():
            # The file will be written under another name in the same folder first, so the folder must take new files.
            with tempfile.TemporaryFile(dir=path.parent):
                pass
    except OSError as error:
        raise type(error)(f"{name}={str(path)!r} cannot be written: {error.strerror or error}") from None
    return path
