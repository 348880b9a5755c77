"""Grading of answers: a right-hand side that somebody has written, against what is computed, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .leftsides import apart, calls_of_the_left, is_copy, is_left_side, shares_nothing
from .statement import Statement

#: Why the left-hand side is no answer.
LEFT = "that is the left-hand side, which is what is to be shown; write it with the quantities of the right-hand side"


@dataclass(frozen=True)
class Grade:
    """What there is to say of an answer.

    Attributes
    ----------
    right : bool
    reason : str

    Examples
    --------
    >>> grade = ct.papers.grade("collobert2006", 8, lambda q: 2 * q.z)
    >>> grade.right, bool(grade)
    (False, False)
    """

    right: bool
    reason: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return f"{'right' if self.right else 'not right'}: {self.reason}"

    __repr__ = __str__


def grade(paper: str, number: str | float, answer: Any) -> Grade:
    """Grade a right-hand side of a numbered statement.

    Parameters
    ----------
    paper : str
        As in :func:`~convex_tsvm.papers.paper`.
    number : int, float or str
        An equation's number, or "Algorithm 2" and the like.
    answer : callable, number or array
        The right-hand side as a function of the paper's quantities ``q`` (their names are those of the derivation
        pages); or its value on the paper's problem of six points.

    Returns
    -------
    Grade
        True if it is right; it prints the reason, which is a known mistake where the answer is one.

    Raises
    ------
    ValueError
        If there is no such paper or statement, or nothing to be compared with.

    Examples
    --------
    >>> ct.papers.grade("collobert2006", 8, lambda q: np.maximum(0, 1 - q.z) - np.maximum(0, q.s - q.z))
    right: off by 0.0e+00, allowed 1e-06
    >>> ct.papers.grade("collobert2006", 8, lambda q: np.maximum(0, 1 - q.z) + np.maximum(0, q.s - q.z))
    not right: that is the formula with a mistake: a plus in place of the minus
    """
    from . import paper as named

    statement = named(paper)[number]
    problems = statement.quantities()
    if answer is statement or answer is statement.computed:
        return Grade(False, LEFT)
    if not callable(answer):
        problems = problems[:1]
    return _grade(statement, problems, answer if callable(answer) else lambda q: answer)


def _grade(statement: Statement, problems: list[Any], answer: Callable[[Any], Any]) -> Grade:
    claimed = statement.claimed
    wanted = [np.asarray(claimed(q), dtype=float) for q in problems]
    found = []
    for q, right in zip(problems, wanted, strict=True):
        try:
            value = np.asarray(answer(q), dtype=float)
        except Exception as error:  # an answer that raises anything is a wrong answer
            return Grade(False, f"the answer raises {type(error).__name__}: {error}")
        if value.shape != right.shape:
            return Grade(False, f"the answer has shape {value.shape}; it must be {right.shape}")
        found.append(value)
    off = max(apart(value, right) for value, right in zip(found, wanted, strict=True))
    if off <= statement.tolerance:
        called = [] if answer is claimed else calls_of_the_left(statement, answer, problems[0])
        if called:
            return Grade(False, f"it calls {called[0]}(), as the left-hand side does; the right-hand side is another")
        if answer is not claimed and _is_left(statement, answer, problems):
            return Grade(False, LEFT)
        return Grade(True, f"off by {off:.1e}, allowed {statement.tolerance:.0e}")
    if any(np.isnan(value).any() for value in found) or not all(
        np.array_equal(np.isfinite(value), np.isfinite(right)) for value, right in zip(found, wanted, strict=True)
    ):
        return Grade(False, "the answer is not finite")
    known = {f"that is the formula with a mistake: {name}": side for name, side in statement.faults.items()}
    if statement.printed is not None:
        known[f"that is what the paper prints. {statement.misprint}"] = statement.printed
    for reason, side in known.items():
        others = [np.asarray(side(q), dtype=float) for q in problems]
        if all(a.shape == b.shape and apart(a, b) <= statement.tolerance for a, b in zip(found, others, strict=True)):
            return Grade(False, reason)
    return Grade(False, _difference(found[0], wanted[0]))


def _is_left(statement: Statement, answer: Callable[[Any], Any], problems: list[Any]) -> bool:
    if is_copy(statement, answer) or any(is_left_side(statement, answer, q) for q in problems):
        return True
    return shares_nothing(statement, answer, problems[0])


def _difference(value: Any, right: Any) -> str:
    """What is to be seen of a difference: a sign, a factor, a constant, or where it is largest."""
    scale = float(np.abs(right).max(initial=0.0)) or 1.0
    if np.allclose(value, -right, atol=1e-6 * scale):
        return "it has the wrong sign"
    factor = float(np.vdot(value, right)) / max(float(np.vdot(right, right)), 1e-300)
    if np.allclose(value, factor * right, atol=1e-6 * scale):
        return f"it is {factor:.4g} times what it should be"
    between = np.atleast_1d(value - right)
    if between.size > 1 and np.ptp(between) <= 1e-6 * scale:
        return f"it differs by the constant {between.flat[0]:.4g}"
    k = int(np.argmax(np.abs(between)))
    where = "" if between.size == 1 else f" at entry {k}"
    return f"it is {np.atleast_1d(value).flat[k]:.6g}{where}, and should be {np.atleast_1d(right).flat[k]:.6g}"
