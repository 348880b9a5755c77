"""Appendix A: its equations as lines of the derivations, which are proven, and what is printed wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....formulations import cs3vm
from ..statement import unconditioned, without
from . import PAPER
from .method import concave_part
from .quantities import H, Quantities

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
    """The derivative of J_cav by b is the sum of the slopes, with their labels."""
    return float(differences(lambda b: concave_part(q, (q.theta_t[0], float(b[0]))), np.array([q.theta_t[1]]))[0])


def hinge_slope(q: Quantities) -> np.ndarray:
    """H_s' at y_i f(x_i), for the copies; 0 for the others."""
    return np.where((np.arange(len(q.y)) > q.L) & (q.y * q.f(q.theta_t) < q.s), -1.0, 0.0)


def differences(function, at: np.ndarray, width: float = 1e-6) -> np.ndarray:  # type: ignore[no-untyped-def]
    """A gradient by central differences."""
    steps = width * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * width) for step in steps])


@PAPER.states(
    "§3, CS³VM",
    r"\text{the toolkit's objective of CS}^3\text{VM}",
    r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{L+U}\min(\xi_i, \xi_i^*)",
    claimed=lambda q: [one_norm(q, w, b) for w, b in _lines(q)],
    printed=lambda q: [one_norm(q, w, b, last=q.U) for w, b in _lines(q)],
    printed_tex=r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{U}\min(\xi_i, \xi_i^*)",
    corrected_tex=r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{L+U}\min(\xi_i, \xi_i^*)",
    misprint="The last sum runs to U, and must run to L + U: with fewer unlabelled points than labelled ones it is"
    " empty.",
    faults={"½ ‖w‖² for ‖w‖₁": lambda q: [one_norm(q, w, b, power=2) for w, b in _lines(q)]},
)
def one_norm_objective(q: Quantities) -> list[float]:
    """The linear S3VM with the 1-norm, of Fung and Mangasarian."""
    X, model = _features(q), cs3vm()
    found = []
    for w, b in _lines(q):
        found.append(model.objective(q.problem, X @ w + b, float(np.abs(w).sum())))
    return found


def _features(q: Quantities) -> np.ndarray:
    """Two features a point, from the kernel matrix: any will do."""
    return np.asarray(q.problem.gram[:, :2])


def _lines(q: Quantities) -> list[tuple[np.ndarray, float]]:
    rng = np.random.default_rng(1)
    return [(rng.normal(size=2), float(rng.normal())) for _ in range(5)]


def one_norm(q: Quantities, w: np.ndarray, b: float, *, last: int | None = None, power: int = 1) -> float:
    """The display written out, with the least slacks."""
    f = _features(q) @ w + b
    size = float(np.abs(w).sum()) if power == 1 else 0.5 * float(w @ w)
    unlabelled = np.minimum(H(1, f), H(1, -f))[q.L : None if last is None else last]
    return size + q.C * float(H(1, q.problem.y[: q.L] * f[: q.L]).sum()) + q.C_star * float(unlabelled.sum())
