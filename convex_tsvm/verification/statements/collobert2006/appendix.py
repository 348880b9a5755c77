"""Appendix A: from the objective to the dual of a step, and what the printed derivation gets wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....formulations import cs3vm
from ....losses import ramp
from . import PAPER
from .method import concave_part, convex_part, procedure, ramp_objective, slope_times
from .quantities import H, Quantities, Theta


@PAPER.states(
    "eq. 12",
    r"J(\theta) + U C^* (1 - s)",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{L} H_1(y_i f(x_i)) + C^*\sum_{i=L+1}^{L+2U} R_s(y_i f(x_i))",
    rests_on=("eq. 3",),
    claimed=lambda q: [ramp_objective(q, theta) for theta in q.others],
    faults={"the labelled points' copies only": lambda q: [ramp_objective(q, one, q.labeled) for one in q.others]},
)
def eq_12(q: Quantities) -> list[float]:
    """Eq. 3 again, with which the appendix begins."""
    return [q.toolkit_objective(theta) + q.constant for theta in q.others]


@PAPER.states(
    "eq. 13",
    r"\tfrac1L\sum_{i=1}^{L} y_i",
    r"\tfrac1U\sum_{i=L+1}^{L+U} f(x_i)",
    claimed=lambda q: q.run.scores[q.L :].mean(),
    faults={"the mean over all points": lambda q: q.run.scores.mean()},
)
def eq_13(q: Quantities) -> float:
    """The balance, with the right range of the sum: it holds where CCCP ends."""
    return q.c


@PAPER.states(
    "eq. 14",
    r"J(\theta^*)",
    r"\text{where } \theta^{t+1} = \arg\min_{\theta\in\mathcal A} J_{vex}(\theta) + J'_{cav}(\theta^t)\cdot\theta"
    r" \text{ ends}",
    rests_on=("eq. 5", "eq. 13"),
    tolerance=1e-5,
    claimed=lambda q: procedure(q),
    faults={"tangents that stay where they were first": lambda q: procedure(q, again=False)},
)
def eq_14(q: Quantities) -> float:
    """The same update under linear constraints on θ; here 𝒜 is the balance."""
    return q.toolkit_objective(q.theta_of(q.run.step))


@PAPER.states(
    "eq. 15",
    r"R(w) + \sum_i c_i\,\ell^{vex}_i(f(x_i))",
    r"\tfrac12\|w\|^2 + C\sum_{i=1}^{L} H_1(y_i f(x_i)) + C^*\sum_{i=L+1}^{L+2U} H_1(y_i f(x_i))",
    rests_on=("eq. 9",),
    claimed=lambda q: [convex_part(q, theta) for theta in q.others],
    faults={
        "one copy of each unlabelled point": lambda q: [
            convex_part(q, one) - q.C_star * H(1, q.f(one)[q.unlabeled]).sum() for one in q.others
        ]
    },
)
def eq_15(q: Quantities) -> list[float]:
    """The convex part: the sum of the convex parts of the losses, as the toolkit splits them."""
    total = []
    for theta in q.others:
        f, value = q.points(q.f(theta)), 0.5 * float(theta[0] @ theta[0]) + q.constant
        for i in range(q.problem.n):
            part = q.model.parts[{1: 0, -1: 1, 0: 2}[int(q.problem.y[i])]][0]
            value += q.problem.cost[i] * float(part(f[i]))
        total.append(value)
    return total


@PAPER.states(
    "eq. 16",
    r"C^*\sum_{i=L+1}^{L+2U} R_s^{cav}(y_i f(x_i))",
    r"-C^*\sum_{i=L+1}^{L+2U} H_s(y_i f(x_i))",
    rests_on=("eq. 8",),
    claimed=lambda q: [concave_part(q, theta) for theta in q.others],
    faults={
        "the minus left out": lambda q: [-concave_part(q, theta) for theta in q.others],
        "H_1 in place of H_s": lambda q: [-q.C_star * H(1, (q.y * q.f(theta))[q.copies]).sum() for theta in q.others],
    },
)
def eq_16(q: Quantities) -> list[float]:
    """The concave part: the sum of the ramp losses' concave parts."""
    concave = ramp(q.s).split()[1]
    return [float(q.C_star * concave((q.y * q.f(theta))[q.copies]).sum()) for theta in q.others]


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


@PAPER.states(
    "eq. 17",
    r"R(w) + \sum_i \psi_i(f(x_i))",
    r"J_{vex}(\theta) + \sum_{i=L+1}^{L+2U}\beta_i y_i [w\cdot\Phi(x_i) + b]",
    rests_on=("eq. 11", "eq. 14", "eq. 15"),
    claimed=lambda q: [convex_part(q, one) + slope_times(q, q.theta_t, one) for one in q.others],
    faults={
        "the slopes with the wrong sign": lambda q: [
            convex_part(q, one) - slope_times(q, q.theta_t, one) for one in q.others
        ],
        "without b": lambda q: [convex_part(q, one) + float((q.beta * q.y) @ (q.phi @ one[0])) for one in q.others],
    },
)
def eq_17(q: Quantities) -> list[float]:
    """What a step minimizes, as the toolkit's convex step has it.

    The text after it calls the convex part eq. 16; it is eq. 15.
    """
    return [0.5 * float(one[0] @ one[0]) + q.step.loss_value(q.points(q.f(one))) + q.constant for one in q.others]


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


@PAPER.states(
    "eq. 18",
    r"\text{value of the step}",
    r"\min\ \tfrac12\|w\|^2 + C\sum_{i\le L}\xi_i + C^*\sum_{i>L}\xi_i + \sum_{i>L}\beta_i y_i f(x_i)",
    rests_on=("eq. 17",),
    claimed=lambda q: q.program.value,
    faults={
        "no balance": lambda q: q.solve(q.beta, balanced=False).value,
        "the cost C for all points": lambda q: q.solve(q.beta, upper=np.where(q.upper > 0, q.C, 0)).value,
    },
)
def eq_18(q: Quantities) -> float:
    """The step as a quadratic program under the balance: the native solver's value against CVXPY's."""
    return q.step_value


@PAPER.states(
    "eq. 19",
    r"y_i f(x_i)",
    r"1 - \xi_i",
    relation=">=",
    rests_on=("eq. 18",),
    claimed=lambda q: 1 - q.program.xi[1:],
    faults={
        "the sign of ξ": lambda q: 1 + q.program.xi[1:],
        "ξ of a program without the balance": lambda q: 1 - q.solve(q.beta, balanced=False).xi[1:],
    },
)
def eq_19(q: Quantities) -> np.ndarray:
    """At the native solver's solution every copy has its margin, but for CVXPY's slack."""
    return (q.y * q.f(q.theta_next))[1:]


@PAPER.states(
    "eq. 20",
    r"H_1(y_i f(x_i))",
    r"\text{least } \xi_i \text{ with } \xi_i \ge 0,\ y_i f(x_i) \ge 1 - \xi_i",
    rests_on=("eq. 19",),
    tolerance=1e-5,
    claimed=lambda q: q.program.xi[1:],
    faults={"ξ free": lambda q: q.solve(q.beta, nonnegative=False).xi[1:]},
)
def eq_20(q: Quantities) -> np.ndarray:
    """Slacks are nonnegative, which makes the least of them the hinge loss."""
    return H(1, (q.y * q.f(q.theta_next))[1:])


def lagrangian(q: Quantities, theta: Theta, xi: np.ndarray, *, sign: float = 1.0, with_beta: bool = True) -> float:
    """Eq. 21 written out, at the multipliers of the program."""
    f, alpha, nu = q.f(theta), q.program.alpha, q.program.nu
    value = 0.5 * float(theta[0] @ theta[0]) + float(q.upper @ xi) + with_beta * float((q.beta * q.y) @ f)
    value -= sign * alpha[0] * (f[q.unlabeled].sum() / q.U - q.c)
    return value - float(alpha[1:] @ (q.y * f - 1 + xi)[1:]) - float(nu @ xi)


def flatness(q: Quantities, **mistake: object) -> np.ndarray:
    """The value of eq. 21 at the solution, and its derivatives by w, b and ξ."""
    (w, b), xi = q.program.theta, q.program.xi

    def at(x: np.ndarray) -> float:
        return lagrangian(q, (x[: len(w)], float(x[len(w)])), x[len(w) + 1 :], **mistake)  # type: ignore[arg-type]

    x = np.concatenate([w, [b], xi])
    return np.append(at(x), differences(at, x))


@PAPER.states(
    "eq. 21",
    r"(\text{value of the step},\ 0, \dots, 0)",
    r"(\mathcal L,\ \nabla\mathcal L) \text{ at the solution}",
    rests_on=("eq. 18", "eq. 19", "eq. 20"),
    tolerance=1e-4,
    claimed=lambda q: flatness(q),
    faults={
        "α₀ with the wrong sign": lambda q: flatness(q, sign=-1.0),
        "the tangents left out": lambda q: flatness(q, with_beta=False),
    },
)
def eq_21(q: Quantities) -> np.ndarray:
    """The Lagrangian has the value of the program at its solution, and is flat there in w, b and ξ."""
    length = len(q.program.theta[0]) + 1 + len(q.y)
    return np.append(q.step_value, np.zeros(length))


@PAPER.states(
    "eq. 22",
    r"f(x_i) - b",
    r"\sum_{j=0}^{L+2U} y_j(\alpha_j - \beta_j)\,\Phi(x_j)\cdot\Phi(x_i)",
    rests_on=("eq. 21",),
    tolerance=1e-5,
    claimed=lambda q: q.K @ (q.y * (q.program.alpha - q.beta)),
    faults={
        "β with the wrong sign": lambda q: q.K @ (q.y * (q.program.alpha + q.beta)),
        "x₀ left out": lambda q: q.K[:, 1:] @ (q.y * (q.program.alpha - q.beta))[1:],
    },
)
def eq_22(q: Quantities) -> np.ndarray:
    """w is an expansion over the copies and x₀: the native solver's function from the program's multipliers."""
    return q.f(q.theta_next) - q.theta_next[1]


@PAPER.states(
    "eq. 23",
    r"\alpha_0",
    r"-\sum_{i=1}^{L+2U} y_i(\alpha_i - \beta_i)",
    rests_on=("eq. 21",),
    tolerance=1e-5,
    claimed=lambda q: -(q.y[1:] @ (q.program.alpha - q.beta)[1:]),
    faults={
        "β left out": lambda q: -(q.y[1:] @ q.program.alpha[1:]),
        "the wrong sign": lambda q: q.y[1:] @ (q.program.alpha - q.beta)[1:],
    },
)
def eq_23(q: Quantities) -> float:
    """The bias is free, so that the coefficients of w add up to 0: it gives the multiplier of the balance."""
    return q.solved.gamma0


@PAPER.states(
    "eq. 24",
    r"\nu_i",
    r"C - \alpha_i \ (i \le L),\quad C^* - \alpha_i \ (i > L)",
    rests_on=("eq. 21",),
    tolerance=1e-5,
    claimed=lambda q: (q.upper - q.program.alpha)[1:],
    faults={
        "C for all points": lambda q: q.C - q.program.alpha[1:],
        "the sign of α": lambda q: (q.upper + q.program.alpha)[1:],
    },
)
def eq_24(q: Quantities) -> np.ndarray:
    """The multipliers of ξ >= 0 are what α lacks of the costs."""
    return q.program.nu[1:]


def dual_value(q: Quantities, *, half: float = 0.5, balance: float = 1.0) -> float:
    """Eq. 25 at the program's multipliers."""
    alpha, a = q.program.alpha, q.y * (q.program.alpha - q.beta)
    return float(-half * a @ q.K @ a + alpha[1:].sum() + balance * alpha[0] * q.c)


@PAPER.states(
    "eq. 25",
    r"\text{value of the step}",
    r"-\tfrac12\sum_{i,j=0}^{L+2U} y_i y_j(\alpha_i-\beta_i)(\alpha_j-\beta_j)K_{ij} + \sum_{i=1}^{L+2U}\alpha_i"
    r" + \alpha_0\,\tfrac1L\sum_{i=1}^{L} y_i",
    rests_on=("eq. 22", "eq. 23", "eq. 24"),
    tolerance=1e-5,
    claimed=lambda q: dual_value(q),
    faults={
        "½ left out": lambda q: dual_value(q, half=1.0),
        "the term of α₀ left out": lambda q: dual_value(q, balance=0.0),
    },
)
def eq_25(q: Quantities) -> float:
    """The dual objective at the program's multipliers has the value of the primal."""
    return q.step_value


def largest(q: Quantities, upper: np.ndarray, tied: bool = True) -> float:
    """Eq. 25 maximized under eq. 26, in α̃ = y (α - β): ζ·α̃ is short of Σ α by Σ β."""
    return q.maximum(-q.beta, upper - q.beta, tied=tied)[0] + float(q.beta.sum())


@PAPER.states(
    "eq. 26",
    r"\text{value of the step}",
    r"\max \text{ eq. 25 s.t. } 0 \le \alpha_i \le C \text{ or } C^*,\ \sum_{i=0}^{L+2U} y_i(\alpha_i - \beta_i) = 0",
    rests_on=("eq. 25",),
    tolerance=1e-5,
    claimed=lambda q: largest(q, q.upper),
    faults={
        "C for all points": lambda q: largest(q, np.where(q.upper > 0, q.C, 0.0)),
        "the sum left out": lambda q: largest(q, q.upper, tied=False),
    },
)
def eq_26(q: Quantities) -> float:
    """Under these constraints the largest dual value is the least primal one."""
    return q.step_value


@PAPER.states(
    "eq. 27",
    r"\text{value of the step} - \sum_i \beta_i",
    r"\max\ \zeta\cdot\tilde\alpha - \tfrac12\tilde\alpha^\top K\tilde\alpha \text{ s.t. } -\beta_i \le"
    r" y_i\tilde\alpha_i"
    r" \le C^* - \beta_i,\ \sum_i\tilde\alpha_i = 0",
    rests_on=("eq. 26",),
    tolerance=1e-5,
    claimed=lambda q: q.maximum(-q.beta, q.upper - q.beta)[0],
    faults={
        "bounds that are not moved by β": lambda q: q.maximum(0 * q.beta, q.upper)[0],
        "bounds moved the wrong way": lambda q: q.maximum(q.beta, q.upper + q.beta)[0],
    },
)
def eq_27(q: Quantities) -> float:
    """The dual in α̃ = y (α - β), an SVM's but for its bounds.

    It leaves out the constant Σ β, which moves its value and not its solution.
    """
    return q.step_value - float(q.beta.sum())


@PAPER.states(
    "Appendix A, KKT conditions",
    r"\text{outputs of the step}",
    r"\sum_j \tilde\alpha_j K_{ij} + b,\ b \text{ from a copy with } 0 < \alpha_i < C^* \text{ or from the balance}",
    rests_on=("eq. 27",),
    tolerance=1e-4,
    claimed=lambda q: dual_procedure_once(q),
    faults={"b of an SVM without bias": lambda q: dual_procedure_once(q, bias=False)},
)
def kkt(q: Quantities) -> np.ndarray:
    """The bias follows from the balance, or from a copy whose α is inside its bounds: both give the same outputs."""
    return q.points(q.f(q.theta_next))


def dual_procedure_once(q: Quantities, bias: bool = True) -> np.ndarray:
    """Outputs by eq. 27, with the bias of a copy inside its bounds if there is one."""
    _, a = q.maximum(-q.beta, q.upper - q.beta)
    without, alpha = q.K @ a, q.y * a + q.beta
    inside = np.flatnonzero((alpha > 1e-4 * q.upper) & (alpha < (1 - 1e-4) * q.upper) & (q.upper > 0))
    b = q.y[inside[0]] - without[inside[0]] if len(inside) else q.c - without[0]
    return q.points(without + (b if bias else 0.0))


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
