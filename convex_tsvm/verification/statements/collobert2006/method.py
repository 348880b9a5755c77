"""§2: the objective, its decomposition, and the concave-convex procedure."""

from __future__ import annotations

import numpy as np

from ....formulations import tsvm
from ....kernels import RowsWithSums
from ....losses import exponential, hinge, ramp, symmetric_hinge, symmetric_ramp, two_slope_symmetric_ramp
from ....problem import Array
from . import PAPER
from .quantities import H, Quantities, R, Theta


def tsvm_objective(q: Quantities, theta: Theta, *, cost: float | None = None, half: float = 0.5) -> float:
    """Eq. 1 written out."""
    f = q.f(theta)
    labelled, unlabelled = H(1, q.y * f)[q.labeled], H(1, np.abs(f))[q.unlabeled]
    return float(
        half * theta[0] @ theta[0] + q.C * labelled.sum() + (q.C_star if cost is None else cost) * unlabelled.sum()
    )


@PAPER.states(
    "eq. 1",
    r"\min_{\xi}\ \tfrac12\|w\|^2 + C\sum_{i\le L}\xi_i + C^*\sum_{i>L}\xi_i",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{L} H_1(y_i f(x_i)) + C^*\sum_{i=L+1}^{L+U} H_1(|f(x_i)|)",
    claimed=lambda q: [tsvm_objective(q, theta) for theta in q.others],
    faults={
        "the cost C for unlabelled points, too": lambda q: [tsvm_objective(q, one, cost=q.C) for one in q.others],
        "‖w‖² without its half": lambda q: [tsvm_objective(q, one, half=1.0) for one in q.others],
    },
)
def eq_1(q: Quantities) -> list[float]:
    """The TSVM pays the hinge loss of known labels, and of unlabelled points the hinge loss of |f|."""
    return [q.toolkit_objective(theta, tsvm("hinge")) for theta in q.others]


@PAPER.states(
    "eq. 2",
    r"\min(1 + s, \max(0, 1 - |z|))",
    r"R_s(z) + R_s(-z) - (1 - s)",
    claimed=lambda q: R(q.s, q.z) + R(q.s, -q.z) - (1 - q.s),
    faults={
        "the constant 1 - s left out": lambda q: R(q.s, q.z) + R(q.s, -q.z),
        "R_s(z) twice": lambda q: 2 * R(q.s, q.z) - (1 - q.s),
    },
)
def eq_2(q: Quantities) -> np.ndarray:
    """The loss of an unlabelled point is the sum of the ramp losses of both labels, but for a constant.

    Figure 1's caption has the left side, the text the right one without the constant; the toolkit takes the first,
    which is zero beyond the margin.
    """
    return symmetric_ramp(q.s)(q.z)


def ramp_objective(q: Quantities, theta: Theta, copies: slice | None = None) -> float:
    """Eq. 3 written out."""
    f, w = q.y * q.f(theta), theta[0]
    return float(0.5 * w @ w + q.C * H(1, f[q.labeled]).sum() + q.C_star * R(q.s, f[copies or q.copies]).sum())


@PAPER.states(
    "eq. 3",
    r"J(\theta) + U C^* (1 - s)",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{L} H_1(y_i f(x_i)) + C^*\sum_{i=L+1}^{L+2U} R_s(y_i f(x_i))",
    rests_on=("eq. 1", "eq. 2"),
    claimed=lambda q: [ramp_objective(q, theta) for theta in q.others],
    faults={"one copy of each unlabelled point": lambda q: [ramp_objective(q, one, q.unlabeled) for one in q.others]},
)
def eq_3(q: Quantities) -> list[float]:
    """Every unlabelled point counts twice, once with each label, and pays the ramp loss."""
    return [q.toolkit_objective(theta) + q.constant for theta in q.others]


def rewritten(q: Quantities, s: float) -> list[float]:
    """Eq. 3 with some s, less its constant."""
    constant = q.U * q.C_star * (1 - s)
    found = []
    for theta in q.others:
        f, w = q.y * q.f(theta), theta[0]
        loss = q.C * H(1, f[q.labeled]).sum() + q.C_star * R(s, f[q.copies]).sum()
        found.append(float(0.5 * w @ w + loss) - constant)
    return found


@PAPER.states(
    "§2, before eq. 3",
    r"J(\theta) \text{ of eq. 1}",
    r"J^s(\theta) - UC^*(1 - s),\quad s = 0",
    rests_on=("eq. 1", "eq. 3"),
    claimed=lambda q: rewritten(q, 0.0),
    faults={"s = -0.9": lambda q: rewritten(q, -0.9)},
)
def before_eq_3(q: Quantities) -> list[float]:
    """The doubled points with the ramp loss are eq. 1 if the ramp is not clipped inside the margin.

    With s < 0 the text has the loss of eq. 2 in place of eq. 1's.
    """
    return [q.toolkit_objective(theta, tsvm("hinge")) for theta in q.others]


@PAPER.states(
    "eq. 4",
    r"\tfrac1L\sum_{i=1}^{L} y_i",
    r"\tfrac1U\sum_{i=L+1}^{L+U} f(x_i)",
    claimed=lambda q: q.f(q.theta_next)[q.unlabeled].sum() / q.U,
    printed=lambda q: q.f(q.theta_next)[q.copies].sum() / q.U,
    printed_tex=r"\tfrac1U\sum_{i=L+1}^{L+2U} f(x_i) = \tfrac1L\sum_{i=1}^{L} y_i",
    corrected_tex=r"\tfrac1U\sum_{i=L+1}^{L+U} f(x_i) = \tfrac1L\sum_{i=1}^{L} y_i",
    misprint="The sum runs to L + 2U: every unlabelled point counts twice. Eq. 13 has the right L + U.",
    faults={"the mean over all points": lambda q: q.points(q.f(q.theta_next)).mean()},
)
def eq_4(q: Quantities) -> float:
    """At a solution the mean output of the unlabelled points is the mean of the known labels."""
    return float(q.problem.y[: q.L].mean())


def convex_part(q: Quantities, theta: Theta) -> float:
    """J_vex, eq. 15."""
    f, w = q.y * q.f(theta), theta[0]
    return float(0.5 * w @ w + q.C * H(1, f[q.labeled]).sum() + q.C_star * H(1, f[q.copies]).sum())


def concave_part(q: Quantities, theta: Theta) -> float:
    """J_cav, eq. 16."""
    return float(-q.C_star * H(q.s, (q.y * q.f(theta))[q.copies]).sum())


def slope_times(q: Quantities, at: Theta, theta: Theta) -> float:
    """J'_cav(at)·θ = Σ β_i y_i f_θ(x_i)."""
    return float((q.beta_at(at) * q.y) @ q.f(theta))


@PAPER.states(
    "eq. 5",
    r"f_{\theta^{t+1}}(x_i)",
    r"\text{outputs of } \arg\min_\theta\ J_{vex}(\theta) + J'_{cav}(\theta^t)\cdot\theta",
    rests_on=("eq. 9",),
    tolerance=1e-5,
    claimed=lambda q: q.f(q.program.theta),
    faults={
        "the tangent of another point": lambda q: q.f(q.solve(q.beta_at(q.others[3])).theta),
        "the tangent with the wrong sign": lambda q: q.f(q.solve(-q.beta).theta),
    },
)
def eq_5(q: Quantities) -> np.ndarray:
    """A step minimizes the convex part plus the tangent of the concave one: native solver against CVXPY."""
    return q.f(q.theta_next)


@PAPER.states(
    "eq. 6",
    r"J_{vex}(\theta^{t+1}) + J'_{cav}(\theta^t)\cdot\theta^{t+1}",
    r"J_{vex}(\theta^t) + J'_{cav}(\theta^t)\cdot\theta^t",
    relation="<=",
    rests_on=("eq. 5",),
    claimed=lambda q: convex_part(q, q.theta_t) + slope_times(q, q.theta_t, q.theta_t),
    faults={
        "the losses of the copies left out": lambda q: (
            convex_part(q, q.theta_t) - q.C_star * H(1, (q.y * q.f(q.theta_t))[q.copies]).sum()
        ),
    },
)
def eq_6(q: Quantities) -> float:
    """The step's minimum is not above its value at the point before."""
    return convex_part(q, q.theta_next) + slope_times(q, q.theta_t, q.theta_next)


@PAPER.states(
    "eq. 7",
    r"J_{cav}(\theta)",
    r"J_{cav}(\theta^t) + J'_{cav}(\theta^t)\cdot(\theta - \theta^t)",
    relation="<=",
    rests_on=("eq. 11",),
    claimed=lambda q: tangent(q, 1.0),
    faults={"the slope with the wrong sign": lambda q: tangent(q, -1.0), "half the slope": lambda q: tangent(q, 0.5)},
)
def eq_7(q: Quantities) -> np.ndarray:
    """The tangent lies above the concave part, at any θ."""
    return np.array([concave_part(q, theta) for theta in q.others])


def tangent(q: Quantities, factor: float) -> np.ndarray:
    """The right side of eq. 7, with a factor on the slope."""
    at = slope_times(q, q.theta_t, q.theta_t)
    rise = np.array([slope_times(q, q.theta_t, theta) - at for theta in q.others])
    return concave_part(q, q.theta_t) + factor * rise


@PAPER.states(
    "eq. 8",
    r"R_s(z)",
    r"H_1(z) - H_s(z)",
    claimed=lambda q: H(1, q.z) - H(q.s, q.z),
    faults={
        "a plus in place of the minus": lambda q: H(1, q.z) + H(q.s, q.z),
        "H_s at the other side, H_{-s}": lambda q: H(1, q.z) - H(-q.s, q.z),
    },
)
def eq_8(q: Quantities) -> np.ndarray:
    """The ramp loss is the difference of two hinge losses."""
    return ramp(q.s)(q.z)


@PAPER.states(
    "eq. 9",
    r"J^s(\theta)",
    r"J^s_{vex}(\theta) + J^s_{cav}(\theta),\quad J^s_{cav} = -C^*\sum_{i=L+1}^{L+2U} H_s(y_i f(x_i))",
    rests_on=("eq. 3", "eq. 8"),
    claimed=lambda q: [convex_part(q, theta) + concave_part(q, theta) for theta in q.others],
    faults={"the convex part alone": lambda q: [convex_part(q, theta) for theta in q.others]},
)
def eq_9(q: Quantities) -> list[float]:
    """The objective is a convex part plus a concave one."""
    return [q.toolkit_objective(theta) + q.constant for theta in q.others]


@PAPER.states(
    "eq. 10",
    r"K_{i0}",
    r"\tfrac1U\sum_{j=L+1}^{L+U}\Phi(x_j)\cdot\Phi(x_i)",
    claimed=lambda q: q.problem.gram[:, q.L :].sum(axis=1) / q.U,
    faults={
        "the sum in place of the mean": lambda q: q.problem.gram[:, q.L :].sum(axis=1),
        "the mean over all points": lambda q: q.problem.gram.mean(axis=1),
    },
)
def eq_10(q: Quantities) -> np.ndarray:
    """The kernel column of the extra point x₀, which stands for the balance."""
    mean = np.append(np.zeros(q.L), np.full(q.U, 1 / q.U))
    extended = RowsWithSums(q.problem.rows(), mean[None, :])
    return np.asarray(extended.rows(np.array([q.problem.n]))[0][: q.problem.n])


@PAPER.states(
    "eq. 11",
    r"\sum_{\text{copies of } x_i} y\,\partial J_{cav}/\partial f(x_i)",
    r"\sum_{\text{copies}} y\,\beta,\quad \beta_i = C^* \text{ if } y_i f(x_i) < s \text{, else } 0",
    claimed=lambda q: slopes(q, q.C_star * (q.y * q.f(q.theta_t) < q.s)),
    faults={
        "β = C* H_s', as in Appendix A": lambda q: slopes(q, -q.C_star * (q.y * q.f(q.theta_t) < q.s)),
        "the kink at 1 in place of s": lambda q: slopes(q, q.C_star * (q.y * q.f(q.theta_t) < 1)),
    },
)
def eq_11(q: Quantities) -> np.ndarray:
    """β is the slope of the concave part, which the toolkit finds by splitting the loss."""
    return q.step.point_slope[q.L :]


def slopes(q: Quantities, beta: np.ndarray) -> np.ndarray:
    """Of each unlabelled point the slopes of its two copies, added up."""
    signed = q.y * beta
    return np.asarray(signed[q.unlabeled] + signed[q.L + q.U + 1 :])


@PAPER.states(
    "Algorithm 1",
    r"J(\theta^1), J(\theta^2), \dots",
    r"\theta^{t+1} = \arg\min_\theta\ J_{vex}(\theta) + J'_{cav}(\theta^t)\cdot\theta,\ \text{until } \theta^t \text{"
    r" stays}",
    rests_on=("eq. 5", "eq. 6", "eq. 7"),
    tolerance=1e-5,
    claimed=lambda q: procedure(q),
    faults={
        "no tangent": lambda q: procedure(q, factor=0.0),
        "tangents with the wrong sign": lambda q: procedure(q, factor=-1.0),
        "tangents that stay where they were first": lambda q: procedure(q, again=False),
    },
)
def algorithm_1(q: Quantities) -> float:
    """CCCP ends: the toolkit's last objective is that of the procedure written out with CVXPY."""
    return q.run.objective


def procedure(q: Quantities, factor: float = 1.0, again: bool = True) -> float:
    """Algorithm 1 in w and b; the last objective."""
    theta, beta, before = q.theta_t, q.beta, None
    for _ in range(30):
        theta = q.solve(factor * beta).theta
        new = q.beta_at(theta) if again else beta
        if before is not None and np.array_equal(new, beta):
            break
        beta, before = new, theta
    return q.toolkit_objective(theta)


@PAPER.states(
    "Algorithm 2",
    r"f_{\theta^*}(x_i)",
    r"\sum_{j=0}^{L+2U}\alpha_j K_{ij} + b,\ \alpha \text{ from eq. 27},\ \beta \text{ from eq. 11},\ \text{until }"
    r" \beta \text{ stays}",
    rests_on=("Algorithm 1", "eq. 27"),
    tolerance=1e-4,
    claimed=lambda q: dual_procedure(q),
    faults={
        "bounds that are not moved by β": lambda q: dual_procedure(q, moved=False),
        "no balance": lambda q: dual_procedure(q, tied=False),
    },
)
def algorithm_2(q: Quantities) -> np.ndarray:
    """CCCP by the dual of every step: outputs where it ends."""
    return q.run.scores


def dual_procedure(q: Quantities, moved: bool = True, tied: bool = True) -> np.ndarray:
    """Algorithm 2; outputs of the points where β no longer changes."""
    beta = q.beta
    for _ in range(30):
        shift = beta if moved else 0 * beta
        _, alpha = q.maximum(-shift, q.upper - shift, tied=tied)
        without = q.K @ alpha
        # The balance fixes b: the output of x₀ is the mean of the known labels.
        f = without + (q.c - without[0])
        new = np.where((np.arange(len(f)) > q.L) & (q.y * f < q.s), q.C_star, 0.0)
        if np.array_equal(new, beta):
            break
        beta = new
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
    faults={"strict whatever happens": lambda f: True, "never strict": lambda f: False},
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


@PAPER.states(
    "Figure 1",
    r"\text{symmetric hinge, sigmoid, ramp}",
    r"\max(0, 1-|t|),\ \exp(-3t^2),\ \min(1+s, \max(0, 1-|t|))",
    claimed=lambda q: three_losses(q.z, q.s),
    faults={
        "exp(-5 t²), chapelle2008's": lambda q: three_losses(q.z, q.s, 5.0),
        "the ramp cut at 1 - s": lambda q: three_losses(q.z, -q.s),
    },
)
def figure_1(q: Quantities) -> np.ndarray:
    """Three losses of unlabelled points, all zero far out."""
    return np.array([loss(q.z) for loss in (symmetric_hinge(), exponential(3), symmetric_ramp(q.s))])


def three_losses(t: np.ndarray, s: float, factor: float = 3.0) -> np.ndarray:
    """The curves of Figure 1."""
    return np.array([H(1, np.abs(t)), np.exp(-factor * t**2), np.minimum(1 + s, H(1, np.abs(t)))])


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


@PAPER.states(
    "Figure 2",
    r"\text{convex and concave part of the ramp loss}",
    r"H_1(t),\ -H_s(t)",
    rests_on=("eq. 8",),
    claimed=lambda q: [H(1, q.z), -H(q.s, q.z)],
    faults={"a concave part that is convex": lambda q: [H(1, q.z), H(q.s, q.z)]},
)
def figure_2(q: Quantities) -> list[np.ndarray]:
    """The ramp loss splits into a hinge and a concave loss: the toolkit finds the same parts."""
    convex, concave = ramp(q.s).split()
    assert np.allclose(convex(q.z), hinge()(q.z))
    return [convex(q.z), concave(q.z)]
