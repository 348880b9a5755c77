"""Appendix A and §3: what is printed wrong."""

from __future__ import annotations

import numpy as np

from ....formulations import cs3vm
from ....problem import Array
from . import PAPER
from .quantities import H, Quantities

PAPER.states(
    "Appendix A, derivative of J_cav",
    r"\partial J_{cav} / \partial w",
    r"\sum_{i=L+1}^{L+2U} \frac{\partial J_{cav}}{\partial f(x_i)}\,\frac{\partial f(x_i)}{\partial w}",
    says="The concave part's derivative by w, against central differences.",
    rests_on=("eq. 16",),
    tolerance=1e-5,
    computed=lambda q: differences(lambda w: concave_part(q, w, q.theta_t[1]), q.theta_t[0]),
    claimed=lambda q: (q.beta_at(q.theta_t) * q.y) @ q.phi,
    printed=lambda q: -q.C_star * (q.beta_at(q.theta_t) * q.y) @ q.phi,
    printed_tex=r"\frac{\partial J_{cav}}{\partial\theta} = -C^*\sum_{i=L+1}^{L+2U}\frac{\partial J_{cav}}{\partial"
    r" f(x_i)}\frac{\partial f(x_i)}{\partial\theta}",
    corrected_tex=r"\frac{\partial J_{cav}}{\partial\theta} = \sum_{i=L+1}^{L+2U}\frac{\partial J_{cav}}{\partial"
    r" f(x_i)}\frac{\partial f(x_i)}{\partial\theta}",
    misprint="The factor -C* in front of the sum is already in the derivative of J_cav by f.",
    faults={"without the labels": lambda q: q.beta_at(q.theta_t) @ q.phi},
)

PAPER.states(
    "Appendix A, β",
    r"\partial J_{cav} / \partial b",
    r"\sum_i y_i \beta_i,\quad \beta_i = -C^* H_s'[y_i f(x_i)]",
    says="The derivative of J_cav by b is the sum of the slopes, with their labels.",
    rests_on=("Appendix A, derivative of J_cav",),
    tolerance=1e-5,
    computed=lambda q: float(
        differences(lambda b: concave_part(q, q.theta_t[0], float(b[0])), np.array([q.theta_t[1]]))[0]
    ),
    claimed=lambda q: -q.C_star * hinge_slope(q) @ q.y,
    printed=lambda q: q.C_star * hinge_slope(q) @ q.y,
    printed_tex=r"\beta_i = C^* H_s'[y_i f(x_i)]",
    corrected_tex=r"\beta_i = -C^* H_s'[y_i f(x_i)]",
    misprint="β_i = C* H_s'[y_i f(x_i)] has the wrong sign, as H_s' is -1 below s; the line after it and eq. 11 are"
    " right.",
    faults={"only the copies with label 1": lambda q: -q.C_star * hinge_slope(q)[q.unlabeled].sum()},
)


def concave_part(q: Quantities, w: Array, b: float) -> float:
    """J_cav, eq. 16."""
    return float(-q.C_star * H(q.s, (q.y * q.f((w, b)))[q.copies]).sum())


def hinge_slope(q: Quantities) -> Array:
    """H_s' at y_i f(x_i), for the copies; 0 for the others."""
    return np.where((np.arange(len(q.y)) > q.L) & (q.y * q.f(q.theta_t) < q.s), -1.0, 0.0)


def differences(function, at: Array, width: float = 1e-6) -> Array:  # type: ignore[no-untyped-def]
    """A gradient by central differences."""
    steps = width * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * width) for step in steps])


PAPER.states(
    "§3, CS³VM",
    r"\text{the toolkit's objective of CS}^3\text{VM}",
    r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{L+U}\min(\xi_i, \xi_i^*)",
    says="The linear S3VM with the 1-norm, of Fung and Mangasarian.",
    computed=lambda q: [
        cs3vm().objective(q.problem, _features(q) @ w + b, float(np.abs(w).sum())) for w, b in _lines(q)
    ],
    claimed=lambda q: [one_norm(q, w, b) for w, b in _lines(q)],
    printed=lambda q: [one_norm(q, w, b, last=q.U) for w, b in _lines(q)],
    printed_tex=r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{U}\min(\xi_i, \xi_i^*)",
    corrected_tex=r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{L+U}\min(\xi_i, \xi_i^*)",
    misprint="The last sum runs to U, and must run to L + U: with fewer unlabelled points than labelled ones it is"
    " empty.",
    faults={"½ ‖w‖² for ‖w‖₁": lambda q: [one_norm(q, w, b, power=2) for w, b in _lines(q)]},
)


def _features(q: Quantities) -> Array:
    """Two features a point, from the kernel matrix: any will do."""
    return np.asarray(q.problem.gram[:, :2])


def _lines(q: Quantities) -> list[tuple[Array, float]]:
    rng = np.random.default_rng(1)
    return [(rng.normal(size=2), float(rng.normal())) for _ in range(5)]


def one_norm(q: Quantities, w: Array, b: float, *, last: int | None = None, power: int = 1) -> float:
    """The display written out, with the least slacks."""
    f = _features(q) @ w + b
    size = float(np.abs(w).sum()) if power == 1 else 0.5 * float(w @ w)
    unlabelled = np.minimum(H(1, f), H(1, -f))[q.L : None if last is None else last]
    return size + q.C * float(H(1, q.problem.y[: q.L] * f[: q.L]).sum()) + q.C_star * float(unlabelled.sum())
