"""Whether an answer is the left-hand side of a statement over again: what is to be shown, and not what shows it."""

from __future__ import annotations

import dis
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from .statement import Statement

#: Files of the toolkit.
PACKAGE = str(Path(__file__).parents[2])

#: Those of the papers' statements among them.
STATEMENTS = str(Path(__file__).parent)

#: Quantities that are changed are changed by about this share of them.
CHANGE = 0.2

#: Numbers are moved one by one only where that is expected to take no longer, in seconds.
MOST_SECONDS = 2.0

#: Values are told apart if they differ by more than this, relative to the larger of 1 and their size.
DISTINCT = 1e-4


def calls_of_the_left(statement: Statement, answer: Callable[[Any], Any], q: Any) -> list[str]:
    """Names of the toolkit's functions that an answer calls, as the left side does and the right side does not."""
    own, left, right = (_calls(side, q) for side in (answer, statement.computed, statement.claimed))
    code = getattr(statement.computed, "__code__", None)
    if code is not None and code in own and code is not getattr(answer, "__code__", None):
        return [code.co_name]
    kept = [one for one in own if one in left and one not in right and not _is_statement(one.co_filename)]
    return [one.co_qualname.removesuffix(".__init__") for one in kept]


def _calls(side: Callable[[Any], Any], q: Any) -> list[CodeType]:
    """The toolkit's functions, and constructors, that are called by code which is not the toolkit's, or a statement's.

    Methods and properties are left out: they belong to what the side was given.
    """
    found: dict[CodeType, None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code, caller = frame.f_code, frame.f_back
        if event != "call" or not code.co_filename.startswith(PACKAGE) or caller is None:
            return
        made = frame.f_locals.get("make")  # a loss of the catalogue, which is made once and kept
        code = getattr(made, "__code__", code)
        by = caller.f_code.co_filename
        if by.startswith(PACKAGE) and not _is_statement(by):
            return
        if "." not in code.co_qualname or code.co_name == "__init__":
            found[code] = None

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        side(q)
    finally:
        sys.setprofile(before)
    return list(found)


def _is_statement(filename: str) -> bool:
    return filename.startswith(STATEMENTS)


def is_copy(statement: Statement, answer: Callable[[Any], Any]) -> bool:
    """Whether an answer does the same as the left side, instruction by instruction."""
    theirs, own = (getattr(one, "__code__", None) for one in (statement.computed, answer))
    return theirs is not None and own is not None and _instructions(theirs) == _instructions(own)


def _instructions(code: CodeType) -> list[tuple[str, str]]:
    """What code does, with names and constants, and what the functions do that it makes."""
    found = []
    for one in dis.get_instructions(code):
        if isinstance(one.argval, CodeType):
            found += [(one.opname, "code"), *_instructions(one.argval)]
        elif "jump" not in one.opname.lower():
            value = one.argval.rpartition(".")[2] if isinstance(one.argval, str) else repr(one.argval)
            found.append((one.opname, value))
    return found


def is_left_side(statement: Statement, answer: Callable[[Any], Any], q: Any) -> bool:
    """Whether an answer follows the left side, and not the right one, where both differ.

    Both are equal for the quantities of a problem that are found by solving it.  With these changed at random they are
    not, and what an answer has then says which of them it is.
    """
    changed = Changed(q)
    try:
        with np.errstate(all="ignore"):  # changed quantities may be where a formula has no value
            left, right, own = (_array(side(changed)) for side in (statement.computed, statement.claimed, answer))
    except Exception:  # a side that does not take changed quantities tells nothing
        return False
    if not left.shape == right.shape == own.shape or not np.isfinite([left, right, own]).all():
        return False
    return apart(left, right) > DISTINCT and apart(own, left) <= 1e-9 and apart(own, right) > DISTINCT


def shares_nothing(statement: Statement, answer: Callable[[Any], Any], q: Any) -> bool:
    """Whether an answer has none of the numbers that move the right side, but some of the left, or is just read off.

    Each number is moved by itself; an answer that is moved by as many numbers as it has is taken to be read off.
    Where that takes long, or there are many, nothing is said.
    """
    began, seen = time.perf_counter(), dict[str, int]()
    try:
        watched = Changed(q, seen=seen, only=("", 0))
        sides = (statement.claimed, answer, statement.computed)
        before = [_array(side(watched)) for side in sides]
        spent = time.perf_counter() - began
        if sum(seen.values()) * spent > MOST_SECONDS:
            return False
        moved: tuple[set[Any], ...] = (set(), set(), set())
        for place in ((path, k) for path, size in list(seen.items()) for k in range(size)):
            changed = Changed(q, seen={}, only=place)
            for found, side, value in zip(moved, sides, before, strict=True):
                with np.errstate(all="ignore"):
                    now = _array(side(changed))
                if now.shape != value.shape or apart(now, value) > 1e-9:
                    found.add(place)
    except Exception:  # a side that does not take changed quantities tells nothing
        return False
    right, own, left = moved
    read_off = len(own) == before[1].size
    return bool(right) and not right & own and (bool(own & left) or read_off)


class Changed:
    """Quantities whose numbers are changed at random: the same change wherever the same quantity is asked for.

    Labels, counts and what is not a number stay as they are.  With ``only``, a path and a place in the array there,
    nothing but that number is changed; ``seen`` gets the sizes of the arrays that are asked for, by their paths.
    """

    def __init__(
        self, of: Any, path: str = "q", seen: dict[str, int] | None = None, only: tuple[str, int] | None = None
    ) -> None:
        self._of, self._path, self._seen, self._only = of, path, {} if seen is None else seen, only

    def __getattr__(self, name: str) -> Any:
        return self._changed(getattr(self._of, name), f"{self._path}.{name}")

    def _changed(self, value: Any, path: str) -> Any:
        """A value, changed if it is a number, an array of numbers, or has such."""
        if isinstance(value, (bool, int, str, bytes, np.integer)) or value is None:
            return value
        if isinstance(value, (float, np.floating, np.ndarray)):
            array = np.asarray(value)
            if array.dtype.kind != "f" or not np.isfinite(array).all() or np.array_equal(array, np.round(array)):
                return value
            self._seen[path] = array.size
            rng, made = np.random.default_rng(zlib.crc32(path.encode())), array.copy()
            if self._only is None:
                made = array * (1 + CHANGE * rng.standard_normal(array.shape)) + 0.05 * rng.standard_normal(array.shape)
            elif self._only[0] == path:
                made.flat[self._only[1]] += CHANGE * (1 + abs(float(array.flat[self._only[1]])))
            return made if isinstance(value, np.ndarray) else float(made)
        if isinstance(value, (tuple, list)):
            return type(value)(self._changed(one, f"{path}[{k}]") for k, one in enumerate(value))
        if callable(value) and hasattr(value, "__self__"):
            return lambda *args, **named: self._changed(value(*args, **named), f"{path}()")
        module = type(value).__module__
        if module.startswith(("convex_tsvm.verification", "convex_tsvm.instance", "convex_tsvm.solution")):
            return Changed(value, path, self._seen, self._only)
        return value


def _array(value: Any) -> Any:
    return np.asarray(value, dtype=float)


def apart(value: Any, right: Any) -> float:
    """By how much two values differ, relative to the larger of 1 and their size; equal infinities do not."""
    with np.errstate(invalid="ignore"):
        between = np.where(value == right, 0.0, np.abs(value - right))
    finite = np.abs(right[np.isfinite(right)]) if np.ndim(right) else np.abs(right)
    return float(np.max(between, initial=0.0)) / max(1.0, float(np.max(finite, initial=0.0)))
