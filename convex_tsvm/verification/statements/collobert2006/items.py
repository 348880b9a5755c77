"""The items that are compared as numbers: the objective (§2), CCCP, other losses, and what is printed wrong."""

from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import approx_fprime

from ....formulations import cs3vm, tsvm
from ....losses import exponential, ramp, symmetric_hinge, symmetric_ramp, two_slope_symmetric_ramp
from ....problem import Array
from .quantities import PAPER, H, Quantities, Theta


def tsvm_objective(q: Quantities, theta: Theta, *, half: float = 0.5) -> float:
    """Eq. 1 written out."""
    f = q.f(theta)
    losses = q.C * H(1, q.y * f)[q.labeled].sum() + q.C_star * H(1, np.abs(f))[q.unlabeled].sum()
    return float(half * theta[0] @ theta[0] + losses)


PAPER.states(
    "eq. 1",
    r"\min_{\xi}\ \tfrac12\|w\|^2 + C\sum_{i\le L}\xi_i + C^*\sum_{i>L}\xi_i",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{L} H_1(y_i f(x_i)) + C^*\sum_{i=L+1}^{L+U} H_1(|f(x_i)|)",
    says="The TSVM pays the hinge loss of known labels, and of unlabelled points the hinge loss of |f|.",
    computed=lambda q: [q.toolkit_objective(theta, tsvm("hinge")) for theta in q.others],
    claimed=lambda q: [tsvm_objective(q, theta) for theta in q.others],
    faults={"‖w‖² without its half": lambda q: [tsvm_objective(q, one, half=1.0) for one in q.others]},
)

PAPER.states(
    "eq. 4",
    r"\tfrac1L\sum_{i=1}^{L} y_i",
    r"\tfrac1U\sum_{i=L+1}^{L+U} f(x_i)",
    says="At a solution the mean output of the unlabelled points is the mean of the known labels.",
    computed=lambda q: float(q.problem.y[: q.L].mean()),
    claimed=lambda q: q.f(q.theta_next)[q.unlabeled].sum() / q.U,
    printed=lambda q: q.f(q.theta_next)[q.copies].sum() / q.U,
    printed_tex=r"\tfrac1U\sum_{i=L+1}^{L+2U} f(x_i) = \tfrac1L\sum_{i=1}^{L} y_i",
    corrected_tex=r"\tfrac1U\sum_{i=L+1}^{L+U} f(x_i) = \tfrac1L\sum_{i=1}^{L} y_i",
    misprint="The sum runs to L + 2U: every unlabelled point counts twice. Eq. 13 has the right L + U.",
    faults={"the mean over all points": lambda q: q.points(q.f(q.theta_next)).mean()},
)

PAPER.states(
    "eq. 8",
    r"R_s(z)",
    r"H_1(z) - H_s(z)",
    says="The ramp loss is the difference of two hinge losses.",
    computed=lambda q: ramp(q.s)(q.z),
    claimed=lambda q: H(1, q.z) - H(q.s, q.z),
    faults={"a plus in place of the minus": lambda q: H(1, q.z) + H(q.s, q.z)},
)

PAPER.states(
    "eq. 11",
    r"\sum_{\text{copies of } x_i} y\,\partial J_{cav}/\partial f(x_i)",
    r"\sum_{\text{copies}} y\,\beta,\quad \beta_i = C^* \text{ if } y_i f(x_i) < s \text{, else } 0",
    says="β is the slope of the concave part, found here by splitting the loss.",
    computed=lambda q: q.step.point_slope[q.L :],
    claimed=lambda q: slopes(q, q.C_star * (q.y * q.f(q.theta_t) < q.s)),
    faults={"the kink at 1 in place of s": lambda q: slopes(q, q.C_star * (q.y * q.f(q.theta_t) < 1))},
)


def slopes(q: Quantities, beta: np.ndarray) -> np.ndarray:
    """Of each unlabelled point the slopes of its two copies, added up."""
    signed = q.y * beta
    return np.asarray(signed[q.unlabeled] + signed[q.L + q.U + 1 :])


#: Outputs of unlabelled points before and after a step with s = -½.
STEPS = [(np.array([0.0, 2.0]), np.array([-0.5, 0.5])), (np.array([0.0, 2.0]), np.array([-0.75, 0.75]))]


@PAPER.states(
    "§2, after Algorithm 2",
    r"J_{cav}(\theta^{t+1}) < J_{cav}(\theta^t) + J'_{cav}(\theta^t)\cdot(\theta^{t+1} - \theta^t)",
    r"\beta_i^{t+1} \ne \beta_i^t \text{ for an } i \text{ with } y_i f_{\theta^{t+1}}(x_i) \ne s",
    sign=r"\Leftrightarrow",
    rests_on=("eq. 7", "eq. 11"),
    quantities=lambda: STEPS,
    claimed=lambda f: changed(*f, at_kink=False),
    printed=lambda f: changed(*f),
    printed_tex=r"(7) \text{ is strict unless } \beta^{t+1} = \beta^t",
    corrected_tex=r"(7) \text{ is strict unless for all } i:\ \beta_i^{t+1} = \beta_i^t \text{ or } y_i f(x_i) = s",
    misprint="Where all copies whose β changes end on the kink, y f = s, (7) is an equality.",
    faults={"strict whatever happens": lambda f: True},
)
def strict(f: tuple[Array, Array]) -> bool:
    """Eq. 7 is strict where β changes at a copy that does not end on the kink.

    The first example has labelled points ±1 and unlabelled points 0 and 2 on a line, C = 1, C* = ¼ and s = -½; its step
    goes from the SVM of the labelled points, f(x) = x, to f(x) = (x - 1) / 2.
    """
    concave, (before, after) = ramp(-0.5).split()[1], map(both_copies, f)
    tangent = concave(before) + concave.supergradient(before) * (after - before)
    return bool(concave(after).sum() < tangent.sum())


def both_copies(f: Array) -> Array:
    """y f of both copies of each point."""
    return np.concatenate([f, -f])


def changed(before: Array, after: Array, *, at_kink: bool = True) -> bool:
    """Whether β of eq. 11 changes at a copy, or at one that does not end on the kink."""
    before, after = both_copies(before), both_copies(after)
    return bool((((before < -0.5) != (after < -0.5)) & (at_kink | (after != -0.5))).any())


PAPER.states(
    "Figure 1",
    r"\text{symmetric hinge, sigmoid, ramp}",
    r"\max(0, 1-|t|),\ \exp(-3t^2),\ \min(1+s, \max(0, 1-|t|))",
    says="Three losses of unlabelled points, all zero far out.",
    computed=lambda q: np.array([loss(q.z) for loss in (symmetric_hinge(), exponential(3), symmetric_ramp(q.s))]),
    claimed=lambda q: three_losses(q.z, q.s),
    faults={"the ramp cut at 1 - s": lambda q: three_losses(q.z, -q.s)},
)


def three_losses(t: np.ndarray, s: float) -> np.ndarray:
    """The curves of Figure 1."""
    return np.array([H(1, np.abs(t)), np.exp(-3 * t**2), np.minimum(1 + s, H(1, np.abs(t)))])


@PAPER.states(
    "§4.3, two slopes",
    r"\text{where the toolkit's loss of two slopes is less steep than 1}",
    r"|f(x)| < |s|",
    sign=r"\Leftrightarrow",
    claimed=lambda q: np.abs(q.z) < abs(q.s),
    printed=lambda q: np.abs(q.z) < q.s,
    printed_tex=r"|f(x)| < s",
    corrected_tex=r"|f(x)| < |s|",
    misprint="'|f(x)| > s and |f(x)| < s' must have |s|: s is at most 0, so that the second is true of no output.",
    faults={"|f(x)| < 1": lambda q: np.abs(q.z) < 1},
)
def two_slopes(q: Quantities) -> np.ndarray:
    """The plateau is tilted: where |f(x)| < |s| the slope is less than outside."""
    loss, width = two_slope_symmetric_ramp(q.s, 0.2), 1e-6
    steep = np.abs(loss(q.z + width) - loss(q.z - width)) / (2 * width)
    return np.asarray((steep > 0.1) & (steep < 0.5))


PAPER.states(
    "Figure 2",
    r"\text{convex and concave part of the ramp loss}",
    r"H_1(t),\ -H_s(t)",
    says="The ramp loss splits into a hinge and a concave loss: the toolkit finds the same parts.",
    rests_on=("eq. 8",),
    computed=lambda q: [part(q.z) for part in ramp(q.s).split()],
    claimed=lambda q: [H(1, q.z), -H(q.s, q.z)],
    faults={"a concave part that is convex": lambda q: [H(1, q.z), H(q.s, q.z)]},
)


PAPER.states(
    "Appendix A, derivative of J_cav",
    r"\partial J_{cav} / \partial w",
    r"\sum_{i=L+1}^{L+2U} \frac{\partial J_{cav}}{\partial f(x_i)}\,\frac{\partial f(x_i)}{\partial w}",
    says="The derivative of the concave part with respect to w, compared with differences.",
    rests_on=("eq. 16",),
    tolerance=1e-5,
    computed=lambda q: approx_fprime(q.theta_t[0], partial(concave_part, q, b=q.theta_t[1]), 1e-7),
    claimed=lambda q: (q.beta_at(q.theta_t) * q.y) @ q.phi,
    printed=lambda q: -q.C_star * (q.beta_at(q.theta_t) * q.y) @ q.phi,
    printed_tex=r"\frac{\partial J_{cav}}{\partial\theta} = -C^*\sum_{i=L+1}^{L+2U}\frac{\partial J_{cav}}{\partial"
    r" f(x_i)}\frac{\partial f(x_i)}{\partial\theta}",
    corrected_tex=r"\frac{\partial J_{cav}}{\partial\theta} = \sum_{i=L+1}^{L+2U}\frac{\partial J_{cav}}{\partial"
    r" f(x_i)}\frac{\partial f(x_i)}{\partial\theta}",
    misprint="The factor -C* in front of the sum is already in the derivative with respect to f.",
    faults={"without the labels": lambda q: q.beta_at(q.theta_t) @ q.phi},
)

PAPER.states(
    "Appendix A, β",
    r"\partial J_{cav} / \partial b",
    r"\sum_i y_i \beta_i,\quad \beta_i = -C^* H_s'[y_i f(x_i)]",
    says="The derivative of J_cav with respect to b is the sum of the slopes β, each times its label.",
    rests_on=("Appendix A, derivative of J_cav",),
    tolerance=1e-5,
    computed=lambda q: float(approx_fprime(q.theta_t[1], partial(concave_part, q, q.theta_t[0]), 1e-7)[0]),
    claimed=lambda q: -q.C_star * hinge_slope(q) @ q.y,
    printed=lambda q: q.C_star * hinge_slope(q) @ q.y,
    printed_tex=r"\beta_i = C^* H_s'[y_i f(x_i)]",
    corrected_tex=r"\beta_i = -C^* H_s'[y_i f(x_i)]",
    misprint="β_i = C* H_s'[y_i f(x_i)] has the wrong sign, as H_s' is -1 below s; the line after it and eq. 11 are"
    " right.",
    faults={"only the copies with label 1": lambda q: -q.C_star * hinge_slope(q)[q.unlabeled].sum()},
)


def concave_part(q: Quantities, w: Array, b: Any) -> float:
    """J_cav, eq. 16."""
    return float(-q.C_star * H(q.s, (q.y * q.f((w, b)))[q.copies]).sum())


def hinge_slope(q: Quantities) -> Array:
    """H_s' at y_i f(x_i), for the copies; 0 for the others."""
    return np.where((np.arange(len(q.y)) > q.L) & (q.y * q.f(q.theta_t) < q.s), -1.0, 0.0)


PAPER.states(
    "§3, CS³VM",
    r"\text{the toolkit's objective of CS}^3\text{VM}",
    r"\|w\|_1 + C\sum_{i=1}^{L}\xi_i + C^*\sum_{i=L+1}^{L+U}\min(\xi_i, \xi_i^*)",
    says="The objective of Fung and Mangasarian's linear S3VM with the 1-norm.",
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
