"""Grading of answers: a right-hand side that somebody has written, against what is computed, with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..answers import Grade
from .statement import Proven


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
    if isinstance(statement, Proven):
        return statement.made.grade(statement.step, answer)
    # A value is graded on the problem of six points, which is the first.
    problems = statement.quantities() if callable(answer) else statement.quantities()[:1]
    wanted = [np.asarray(statement.claimed(q), dtype=float) for q in problems]
    found = []
    for q, right in zip(problems, wanted, strict=True):
        try:
            given = answer(q) if callable(answer) else answer
            if given is ... or given is None:
                return Grade(False, "not filled in yet")
            value = np.asarray(given, dtype=float)
        except Exception as error:  # an answer that raises anything is a wrong answer
            return Grade(False, f"the answer raises {type(error).__name__}: {error}")
        if value.shape != right.shape:
            return Grade(False, f"the answer has shape {value.shape}; it must be {right.shape}")
        found.append(value)
    off = max(apart(value, right) for value, right in zip(found, wanted, strict=True))
    if off <= statement.tolerance:
        return Grade(True, f"off by {off:.1e}, allowed {statement.tolerance:.0e}")
    if not all(np.isfinite(value).all() for value in found):
        return Grade(False, "the answer is not finite")
    known = {f"that is the formula with a mistake: {name}": side for name, side in statement.faults.items()}
    if statement.printed is not None:
        known[f"that is what the paper prints. {statement.misprint}"] = statement.printed
    for reason, side in known.items():
        others = [np.asarray(side(q), dtype=float) for q in problems]
        if all(a.shape == b.shape and apart(a, b) <= statement.tolerance for a, b in zip(found, others, strict=True)):
            return Grade(False, reason)
    return Grade(False, _difference(found[0], wanted[0]))


def apart(value: Any, right: Any) -> float:
    """By how much two values differ, relative to the larger of 1 and their size; equal infinities do not."""
    with np.errstate(invalid="ignore"):
        between = np.where(value == right, 0.0, np.abs(value - right))
    finite = np.abs(right[np.isfinite(right)]) if np.ndim(right) else np.abs(right)
    return float(np.max(between, initial=0.0)) / max(1.0, float(np.max(finite, initial=0.0)))


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
