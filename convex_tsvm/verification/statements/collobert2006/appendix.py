"""Appendix A: its equations as lines of the derivations, which are proven, and what is printed wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...steps import Line
from ...symbols import Total, formula
from . import PAPER
from .method import concave_part, convex_part
from .quantities import Quantities, Theta


def without(k: int, times: int = 0) -> Callable[[Line], Line]:
    """The line without its k-th term, or with another multiple of it: a mistake that is to be refused."""

    def wrong(line: Line) -> Line:
        assert isinstance(line.formula, Total)
        terms = list(line.formula.terms)
        terms[k] = times * terms[k]
        return replace(line, formula=sum(terms, formula(0)))

    return wrong


def unconditioned(k: int) -> Callable[[Line], Line]:
    """The line without its k-th condition."""
    return lambda line: replace(line, conditions=tuple(one for one in line.conditions if one is not line.conditions[k]))


# Which derivation and which step each equation is the line of.
_ITEMS: tuple[tuple[str, str, int, int, dict[str, Any]], ...] = (
    ("eq. 12", "Eq. 3 again: both copies of an unlabelled point pay the ramp loss.", 1, 1,
     {"one copy twice": without(2, 2), "the constant left out": without(3)}),
    ("eq. 13", "The balance is a mean over the unlabelled points, each once.", 1, 1, {"left out": unconditioned(0)}),
    ("eq. 14", "The update is by the least surrogate, under linear constraints as well.", 0, 5,
     {"the tangents left out": without(3)}),
    ("eq. 15", "The convex part is the sum of the losses' own.", 1, 2, {"of labelled points only": without(2)}),
    ("eq. 16", "The concave part is the sum of the losses' own.", 1, 2, {"the sign": without(3, -1)}),
    ("eq. 17", "The concave part is replaced by its tangents, with slopes β.", 1, 3, {"the sign of β": without(3, -1)}),
    ("eq. 18", "A step is a quadratic program in w, b and slacks ξ.", 1, 4, {"slacks twice": without(1, 2)}),
    ("eq. 19", "Each copy has its margin, but for its slack.", 1, 4, {"left out": unconditioned(1)}),
    ("eq. 20", "Slacks are not negative.", 1, 4, {"left out": unconditioned(2)}),
    ("eq. 21", "The Lagrangian.", 1, 5, {"the sign of α₀": without(4, -1), "ν left out": without(6)}),
    ("eq. 22", "w is an expansion over the copies and x₀.", 1, 10, {"without ½": without(0, 2)}),
    ("eq. 23", "The bias is free, so that the coefficients of w add up to 0.", 1, 9, {"left out": unconditioned(2)}),
    ("eq. 24", "The multipliers of ξ >= 0 are what α lacks of the costs.", 1, 7, {"left out": unconditioned(2)}),
    ("eq. 25", "The dual objective.", 1, 11, {"without ½": without(0, 2), "without α₀ c": without(2)}),
    ("eq. 26", "Bounds of α, and the sum.", 1, 11, {"no upper bound": unconditioned(1), "no sum": unconditioned(2)}),
    ("eq. 27", "The same in α̃ = y (α - β): ζ'α̃ - ½ α̃'Kα̃.", 1, 13, {"the sign": without(2, -1)}),
)  # fmt: skip
for _number, _says, _derivation, _step, _faults in _ITEMS:
    PAPER.proven(_number, _says, _derivation, _step, faults=_faults)


@PAPER.states(
    "Appendix A, derivative of J_cav",
    r"\partial J_{cav} / \partial w",
    r"\sum_{i=L+1}^{L+2U} \frac{\partial J_{cav}}{\partial f(x_i)}\,\frac{\partial f(x_i)}{\partial w}",
    rests_on=("eq. 16",),
    tolerance=1e-5,
    claimed=lambda q: (q.beta * q.y) @ q.phi,
    printed=lambda q: -q.C_star * (q.beta * q.y) @ q.phi,
    printed_tex=(
        r"\frac{\partial J_{cav}}{\partial\theta} = -C^*\sum_{i=L+1}^{L+2U}\frac{\partial J_{cav}}{\partial"
        r" f(x_i)}\frac{\partial f(x_i)}{\partial\theta}"
    ),
    corrected_tex=(
        r"\frac{\partial J_{cav}}{\partial\theta} = \sum_{i=L+1}^{L+2U}\frac{\partial J_{cav}}{\partial"
        r" f(x_i)}\frac{\partial f(x_i)}{\partial\theta}"
    ),
    misprint="The factor -C* in front of the sum is already in the derivative of J_cav by f.",
    faults={"without the labels": lambda q: q.beta @ q.phi},
)
def derivative(q: Quantities) -> np.ndarray:
    """The concave part's derivative by w, against central differences."""
    return differences(lambda w: concave_part(q, (w, q.theta_t[1])), q.theta_t[0])


@PAPER.states(
    "Appendix A, β",
    r"\partial J_{cav} / \partial b",
    r"\sum_i y_i \beta_i,\quad \beta_i = -C^* H_s'[y_i f(x_i)]",
    rests_on=("Appendix A, derivative of J_cav",),
    tolerance=1e-5,
    claimed=lambda q: -q.C_star * hinge_slope(q) @ q.y,
    printed=lambda q: q.C_star * hinge_slope(q) @ q.y,
    printed_tex=r"\beta_i = C^* H_s'[y_i f(x_i)]",
    corrected_tex=r"\beta_i = -C^* H_s'[y_i f(x_i)]",
    misprint="β_i = C* H_s'[y_i f(x_i)] has the wrong sign, as H_s' is -1 below s; the line after it and eq. 11 are"
    " right.",
    faults={"only the copies with label 1": lambda q: -q.C_star * hinge_slope(q)[q.unlabeled].sum()},
)
def slope_of_bias(q: Quantities) -> float:
    """The same by the bias: the sum of the slopes, with their labels."""
    return float(differences(lambda b: concave_part(q, (q.theta_t[0], float(b[0]))), np.array([q.theta_t[1]]))[0])


def hinge_slope(q: Quantities) -> np.ndarray:
    """H_s' at y_i f(x_i), for the copies; 0 for the others."""
    return np.where((np.arange(len(q.y)) > q.L) & (q.y * q.f(q.theta_t) < q.s), -1.0, 0.0)


def differences(function, at: np.ndarray, width: float = 1e-6) -> np.ndarray:  # type: ignore[no-untyped-def]
    """A gradient by central differences."""
    steps = width * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * width) for step in steps])


def bend(q: Quantities, part: Callable[[Quantities, Theta], float]) -> list[float]:
    """By how much a function is above the middle of its ends, from θ^t to random θ: 0 or less if it is convex."""
    found = []
    for theta in q.others:
        middle = ((q.theta_t[0] + theta[0]) / 2, (q.theta_t[1] + theta[1]) / 2)
        found.append(part(q, middle) - (part(q, q.theta_t) + part(q, theta)) / 2)
    return found


@PAPER.states(
    "Appendix A, after eq. 17",
    r"\text{the convex part above its chords}",
    r"0,\ \text{ for eq. 15}",
    relation="<=",
    rests_on=("eq. 15", "eq. 16"),
    claimed=lambda q: np.zeros(len(q.others)),
    printed=lambda q: np.array(bend(q, convex_part)) - np.array(bend(q, concave_part)),
    printed_tex=r"\text{the convex part (16): } -C^*\sum_{i=L+1}^{L+2U} H_s(y_i f(x_i))",
    corrected_tex=(
        r"\text{the convex part (15): } \tfrac12\|w\|^2 + C\sum_{i=1}^{L} H_1(y_i f(x_i)) +"
        r" C^*\sum_{i=L+1}^{L+2U} H_1(y_i f(x_i))"
    ),
    misprint="'The convex part (16)' is eq. 15: eq. 16 is above its chords.",
    faults={"eq. 15 with a margin to spare": lambda q: np.full(len(q.others), -1e3)},
)
def convex_and_concave(q: Quantities) -> list[float]:
    """The part whose hinge losses become slacks is convex; the other one is concave."""
    return bend(q, convex_part)
