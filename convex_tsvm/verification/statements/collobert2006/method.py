"""§2: the objective, its decomposition, and the concave-convex procedure."""

from __future__ import annotations

import numpy as np

from ....formulations import tsvm
from ....losses import exponential, ramp, symmetric_hinge, symmetric_ramp, two_slope_symmetric_ramp
from ....problem import Array
from . import PAPER
from .quantities import H, Quantities, Theta


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
    says="β is the slope of the concave part, which the toolkit finds by splitting the loss.",
    computed=lambda q: q.step.point_slope[q.L :],
    claimed=lambda q: slopes(q, q.C_star * (q.y * q.f(q.theta_t) < q.s)),
    faults={"the kink at 1 in place of s": lambda q: slopes(q, q.C_star * (q.y * q.f(q.theta_t) < 1))},
)


def slopes(q: Quantities, beta: np.ndarray) -> np.ndarray:
    """Of each unlabelled point the slopes of its two copies, added up."""
    signed = q.y * beta
    return np.asarray(signed[q.unlabeled] + signed[q.L + q.U + 1 :])


PAPER.states(
    "Algorithm 1",
    r"J(\theta^1), J(\theta^2), \dots",
    r"\theta^{t+1} = \arg\min_\theta\ J_{vex}(\theta) + J'_{cav}(\theta^t)\cdot\theta,\ \text{until } \theta^t \text{"
    r" stays}",
    says="CCCP ends: the toolkit's last objective is that of the procedure written out with CVXPY.",
    rests_on=("eq. 5", "eq. 6", "eq. 7"),
    tolerance=1e-5,
    computed=lambda q: q.run.objective,
    claimed=lambda q: procedure(q),
    faults={"no tangent": lambda q: procedure(q, factor=0.0)},
)


def procedure(q: Quantities, factor: float = 1.0) -> float:
    """Algorithm 1 in w and b; the last objective."""
    theta = q.theta_t
    for _ in range(30):
        beta = q.beta_at(theta)
        theta = q.minimum(factor * beta)
        if np.array_equal(q.beta_at(theta), beta):
            break
    return q.toolkit_objective(theta)


PAPER.states(
    "Algorithm 2",
    r"f_{\theta^*}(x_i)",
    r"\sum_{j=0}^{L+2U}\alpha_j K_{ij} + b,\ \alpha \text{ from eq. 27},\ \beta \text{ from eq. 11},\ \text{until }"
    r" \beta \text{ stays}",
    says="CCCP by the dual of every step: outputs where it ends.",
    rests_on=("Algorithm 1", "eq. 27"),
    tolerance=1e-4,
    computed=lambda q: q.run.scores,
    claimed=lambda q: dual_procedure(q),
    faults={"bounds that are not moved by β": lambda q: dual_procedure(q, moved=False)},
)


def dual_procedure(q: Quantities, moved: bool = True) -> Array:
    """Algorithm 2; outputs of the points where β no longer changes."""
    f = q.f(q.theta_t)
    for _ in range(30):
        beta = q.slopes_at(f)
        without = q.phi @ (q.phi.T @ q.maximum(beta * moved))
        # The balance fixes b: the output of x₀ is the mean of the known labels.
        f = without + (q.c - without[0])
        if np.array_equal(q.slopes_at(f), beta):
            break
    return q.points(f)


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

    The first step is that of two labelled points, ±1 on a line, and two others, 0 and 2, with C = 1, C* = ¼ and s = -½,
    from the SVM f(x) = x of the labelled ones to f(x) = (x - 1) / 2.
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
    """A plateau that is tilted: the slope inside |s| is another one than outside."""
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
