"""The items that are compared as numbers: the machine (§2), its relaxation (§3), and the error bound (§4)."""

import itertools
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from ....exact import brute_force
from ....formulations import tsvm
from ....formulations.class_spread import class_spread, class_spreads
from ....losses import relaxed_compact_hinge, relaxed_compact_symmetric_hinge, tube
from ....modeling.unrelaxed_compact_margin import unrelaxed_objective
from ....problem import Array
from ...complexity import rademacher_complexity
from .quantities import PAPER, Quantities


def hinge(t: Array) -> Array:
    """max(0, 1 - t)."""
    return np.maximum(0, 1 - t)


def semi_supervised(q: Quantities, function: tuple[Array, float], cost: float) -> float:
    """Eq. 1 with the hinge and the symmetric hinge loss, and a cost of unlabelled points."""
    f = q.f(function)
    return float(q.half_square(function) + q.C_1 * hinge(q.y * f[: q.l]).sum() + cost * hinge(np.abs(f[q.l :])).sum())


PAPER.states(
    "eq. 1",
    r"\text{the toolkit's objective}",
    r"\tfrac12\|f\|^2_{\mathcal H} + C_1\sum_{i=1}^{l}\ell_1(x_i, y_i; f) + C_2\sum_{i=l+1}^{l+u}\ell_2(x_i; f)",
    says="The objective of semi-supervised methods; the S3VM has the hinge and the symmetric hinge loss.\n\n"
    "The norm in eq. 1 is neither squared nor halved; it is in eq. 2, 3, 8 and 9, and here.",
    computed=lambda q: q.objectives(tsvm("hinge", balance=None)),
    claimed=lambda q: [semi_supervised(q, one, q.C_2) for one in q.functions],
    faults={"C₁ for all points": lambda q: [semi_supervised(q, one, q.C_1) for one in q.functions]},
)


def enumerated(q: Quantities, cost: float) -> float:
    """Eq. 2: a program for every sign of the unlabelled outputs, by CVXPY; the least value."""
    w, b, found = cp.Variable(q.Z.shape[1]), cp.Variable(), []
    slack, costs = cp.Variable(q.n, nonneg=True), np.append(np.full(q.l, q.C_1), np.full(q.u, cost))
    goal = cp.Minimize(0.5 * cp.sum_squares(w) + costs @ slack)
    for signs in itertools.product((1.0, -1.0), repeat=q.u):
        margins = cp.multiply(np.append(q.y, signs), q.Z @ w + b) >= 1 - slack
        found.append(float(cp.Problem(goal, [margins]).solve(solver="CLARABEL")))
    return min(found)


PAPER.states(
    "eq. 2",
    r"\text{least objective over all labelings}",
    r"\min_{w,b,\eta,\xi\ge0}\ \tfrac12\|w\|^2 + C_1\sum_i\eta_i + C_2\sum_i\xi_i,\quad |f(x_i)| \ge 1 - \xi_i",
    says="The S3VM with slacks: the toolkit's enumeration of labels against a program for every sign.\n\n"
    "The sum over unlabelled points begins at l where l + 1 is meant (so in the proof of Proposition 1); as no "
    "constraint is about ξ_l, it is zero and does no harm.",
    rests_on=("eq. 1",),
    tolerance=1e-5,
    quantities=lambda: PAPER.quantities()[:1],
    computed=lambda q: brute_force(tsvm("hinge", balance=None), q.problem)[0],
    claimed=lambda q: enumerated(q, q.C_2),
    faults={"C₁ for all points": lambda q: enumerated(q, q.C_1)},
)


def scatter(q: Quantities, w: Array, power: int = 2) -> float:
    """The LDA criterion: distance of the projected class means to a power, by the spread within the classes."""
    f, y = q.Z[: q.l] @ w, q.y
    inner = [f[y == sign] - f[y == sign].mean() for sign in (-1, 1)]
    within = sum(float(part @ part) for part in inner) + 1e-3 * float(w @ w)
    return abs(float(f[y > 0].mean() - f[y < 0].mean())) ** power / within


PAPER.states(
    "§2.2, LDA criterion",
    r"\mathcal J(2w) / \mathcal J(w)",
    r"1 \text{ for } \mathcal J(w) = \frac{\|\hat m_{-1} - \hat m_1\|^2}{\sum_i s_i}",
    says="A ratio of spreads does not depend on the length of w.\n\n"
    "The spread within classes has a small ridge here, as a class of a single point has none.",
    computed=lambda q: [scatter(q, 2 * w) / scatter(q, w) for w, _ in q.functions],
    claimed=lambda q: np.ones(len(q.functions)),
    printed=lambda q: [scatter(q, 2 * w, 1) / scatter(q, w, 1) for w, _ in q.functions],
    printed_tex=r"\mathcal J(w) = \frac{\|\hat m_{-1} - \hat m_1\|}{s_{-1} + s_1}",
    corrected_tex=r"\mathcal J(w) = \frac{\|\hat m_{-1} - \hat m_1\|^2}{s_{-1} + s_1}",
    misprint="The distance of the means is not squared, but the spreads s_i are: the criterion halves as w doubles, and"
    " has no maximum.",
    faults={"a cube": lambda q: [scatter(q, 2 * w, 3) / scatter(q, w, 3) for w, _ in q.functions]},
)


def least_slacks(q: Quantities, f: Array, number: int, over_classes: bool = True) -> Array:
    """The least ζ that eq. ``number`` allows, for the points it is about; with means over classes, or all points."""
    positive = number in (4, 6)
    known = (q.y + 1) / 2 if positive else (1 - q.y) / 2
    unknown, size = (1 - q.d, 2 * q.u * (1 - q.r)) if positive else (q.d, q.u * (2 * q.r - 1))
    mean = (unknown @ f[q.l :] + known @ f[: q.l]) / (size + known.sum() if over_classes else q.n)
    weight, outputs = (known, f[: q.l]) if number < 6 else (unknown, f[q.l :])
    return np.asarray(np.maximum(0, weight * np.abs(outputs - mean) - q.epsilon))


def objective(q: Quantities, function: tuple[Array, float], over_classes: bool = True) -> float:
    """Eq. 3 with the least slacks; points pay the hinge loss of their label."""
    f = q.f(function)
    paid = q.C_1 * hinge(q.y * f[: q.l]).sum() + q.C_2 * hinge((1 - 2 * q.d) * f[q.l :]).sum()
    spread = sum(least_slacks(q, f, number, over_classes).sum() for number in (4, 5, 6, 7))
    return float(q.half_square(function) + paid + q.C_3 * spread)


PAPER.states(
    "eq. 3",
    r"\text{the toolkit's objective before relaxation}",
    r"\tfrac12\|w\|^2 + C_1\sum\eta_i + C_2\sum\xi_i + C_3\sum(\zeta_{1,i} + \zeta_{0,i}),\quad"
    r" \tfrac1u\sum d_i = 2r - 1",
    says="Every class stays within ε of its mean output, or pays.\n\n"
    "By the balance 2r - 1 is the share of the negative class, whose d_i are 1: r is no share of a class. The label "
    "d_i, whose class mean counts, and the sign of f(x_i) in |f(x_i)| >= 1 - ξ_i are not tied to each other in the "
    "paper; here both are the label.",
    rests_on=("eq. 2", "eq. 4", "eq. 5", "eq. 6", "eq. 7"),
    computed=lambda q: [
        unrelaxed_objective(q.problem, q.f(one), q.labels, q.half_square(one), q.epsilon, q.C_3) for one in q.functions
    ],
    claimed=lambda q: [objective(q, one) for one in q.functions],
    faults={"means over all points": lambda q: [objective(q, one, False) for one in q.functions]},
)


def slack_statement(number: int, who: str, sign: float) -> None:
    """State one of eq. 4-7: who is within ε of which mean."""
    part = int(number > 5)  # the labelled points, or the others
    known, unknown, size = r"\tfrac{y_j+1}{2}", "(1-d_j)", "2u(1-r)"
    if sign < 0:
        known, unknown, size = r"\tfrac{1-y_j}{2}", "d_j", "u(2r-1)"
    sums = (rf"\sum_{{j>l}}{unknown} f(x_j) + \sum_{{j\le l}}{known} f(x_j)", rf"{size} + \sum_{{j\le l}}{known}")
    own = (known if number < 6 else unknown).replace("j", "i")

    def spreads(q: Quantities) -> list[Array]:
        found = [class_spreads(q.f(one), q.labels, q.epsilon) for one in q.functions]
        return [np.split(np.where(q.labels == sign, one, 0.0), [q.l])[part] for one in found]

    PAPER.states(
        f"eq. {number}",
        r"\zeta_{0,i}" if sign > 0 else r"\zeta_{1,i}",
        rf"\max\Big(0, {own}\,\Big|f(x_i) - \frac{{{sums[0]}}}{{{sums[1]}}}\Big| - \varepsilon\Big)",
        says=f"{who} points are within ε of the mean output of their class, or pay for the rest.",
        computed=spreads,
        claimed=lambda q: [least_slacks(q, q.f(one), number) for one in q.functions],
        faults={"means over all points": lambda q: [least_slacks(q, q.f(one), number, False) for one in q.functions]},
    )


slack_statement(4, "Labelled positive", 1.0)
slack_statement(5, "Labelled negative", -1.0)
slack_statement(6, "Unlabelled positive", 1.0)
slack_statement(7, "Unlabelled negative", -1.0)


PAPER.states(
    "Proposition 1",
    r"\sum_i \ell_c(x_i)",
    r"\sum_i \zeta_i,\quad |f(x_i)| \le \tfrac12(\varepsilon + \zeta_i)",
    says="The relaxed constraints have an upper bound of the class spread for their loss.",
    relation="<=",
    rests_on=("eq. 4", "eq. 5", "eq. 6", "eq. 7"),
    computed=lambda q: [class_spread(f, q.labels, q.epsilon) for f in many_outputs(q)],
    claimed=lambda q: [np.maximum(0, 2 * np.abs(f) - q.epsilon).sum() for f in many_outputs(q)],
    faults={"|f| <= ε + ζ": lambda q: [np.maximum(0, np.abs(f) - q.epsilon).sum() for f in many_outputs(q)]},
)


def many_outputs(q: Quantities) -> list[Array]:
    """Outputs of random functions, and outputs ±ε of which one differs from all others."""
    apart = [np.where(np.arange(q.n) == k, -q.epsilon, q.epsilon) for k in range(q.n)]
    return [*(q.f(one) for one in q.functions), *apart]


def relaxed(q: Quantities, function: tuple[Array, float], *, factor: float = 1.0) -> float:
    """Eq. 8 with the least slacks."""
    f = q.f(function)
    zeta, xi = np.maximum(0, factor * np.abs(f) - q.epsilon), np.minimum(hinge(np.abs(f[q.l :])), 1 + q.delta)
    paid = q.C_1 * hinge(q.y * f[: q.l]).sum() + q.C_2 * xi.sum() + q.C_3 * zeta.sum()
    return float(q.half_square(function) + paid)


PAPER.states(
    "eq. 8",
    r"\text{the toolkit's objective}",
    r"\tfrac12\|w\|^2 + C_1\sum\eta_i + C_2\sum\xi_i + C_3\sum_{i=1}^{l+u}\zeta_i,\quad |f(x_i)| \le \varepsilon +"
    r" \zeta_i",
    says="The relaxed machine: outputs with a margin, and not too far out; clipped at δ, as Algorithm 1 has it.",
    rests_on=("Proposition 1",),
    computed=lambda q: q.objectives(q.model),
    claimed=lambda q: [relaxed(q, one) for one in q.functions],
    faults={"2|f| <= ε + ζ, as in Proposition 1": lambda q: [relaxed(q, one, factor=2.0) for one in q.functions]},
)

PAPER.states(
    "§3, eq. 8 as a bound",
    r"\sum_i \ell_c(x_i) \text{ of one class}",
    r"\sum_i \max(0, 2|f(x_i)| - \varepsilon)",
    says="With ε = 1 Proposition 1's constraint charges at least the spread; eq. 8's half of it for 2 ε.",
    relation="<=",
    rests_on=("Proposition 1", "eq. 8"),
    quantities=lambda: [np.array([1.0, 1.0, -1.0]), np.array([0.3, 2.5, -1.2, 0.1])],
    computed=lambda f: class_spread(f, np.ones(len(f)), 1.0),
    claimed=lambda f: 2 * tube(0.5)(f).sum(),
    printed=lambda f: tube(1.0)(f).sum(),
    printed_tex=r"|w^\top x_i + b| \le \varepsilon + \zeta_i",
    corrected_tex=r"|w^\top x_i + b| \le \tfrac12(\varepsilon + \zeta_i)",
    misprint="Eq. 8 has |f| <= ε + ζ in place of Proposition 1's (ε + ζ)/2, which is no bound of the spread beyond ε:"
    " outputs 1, 1, -1 of one class with ε = 1 pay nothing, and have spread 1/3.",
    faults={"a quarter of the losses": lambda f: tube(0.5)(f).sum() / 2 - 1},
)

PAPER.states(
    "Algorithm 1",
    r"\text{value of the convex step}",
    r"-\min\ \tfrac12 v^\top K v - \alpha^\top 1 + \varepsilon\gamma^\top 1 + \varepsilon\hat\gamma^\top 1,"
    r"\quad v = (\alpha-\beta)\odot y - \gamma + \hat\gamma",
    says="A step of the procedure by the paper's dual, corrected, and by the native solver.",
    rests_on=("eq. 8",),
    tolerance=1e-5,
    computed=lambda q: q.step_value,
    claimed=lambda q: q.dual(),
    printed=lambda q: q.dual(gamma=0.0, gamma_hat=2.0),
    printed_tex=r"\dots - \alpha^\top 1 + \varepsilon\hat\gamma^\top 1 + \varepsilon\hat\gamma^\top 1",
    corrected_tex=r"\dots - \alpha^\top 1 + \varepsilon\gamma^\top 1 + \varepsilon\hat\gamma^\top 1",
    misprint="The dual has ε γ̂'1 twice, in place of ε γ'1 + ε γ̂'1.",
    faults={"ε left out": lambda q: q.dual(gamma=0.0, gamma_hat=0.0)},
)

PAPER.states(
    "§3, J_vex",
    r"\text{value of the convex step}",
    r"\text{its dual with one } \gamma_i, \hat\gamma_i \text{ for each of the } l + u \text{ points}",
    says="Every point's compactness counts once.",
    rests_on=("Algorithm 1",),
    tolerance=1e-5,
    computed=lambda q: q.step_value,
    claimed=lambda q: q.dual(),
    printed=lambda q: q.dual(counted=2),
    printed_tex=r"C_3\sum_{i=1}^{l+2u}\max(0, |f(x_i)| - \varepsilon)",
    corrected_tex=r"C_3\sum_{i=1}^{l+u}\max(0, |f(x_i)| - \varepsilon)",
    misprint="The compactness term of J_vex runs over l + 2u copies, which counts unlabelled points twice; eq. 8"
    " counts them once.",
    faults={"unlabelled points not counted": lambda q: q.dual(counted=0)},
)

PAPER.states(
    "§3.1, special variant",
    r"\ell_2'(t) \text{ with } C_2 = C_3,\ \varepsilon = 0",
    r"\max(1, |t|)",
    says="With these parameters the loss of unlabelled points is convex.",
    rests_on=("eq. 8", "eq. 9"),
    computed=lambda q: relaxed_compact_symmetric_hinge(0.0, 1.0)(q.t),
    claimed=lambda q: np.maximum(1, np.abs(q.t)),
    printed=lambda q: np.abs(q.t),
    printed_tex=r"\varepsilon = 0:\quad f(x_i) \le \varepsilon + \zeta_i,\ -f(x_i) \le \varepsilon + \hat\zeta_i",
    corrected_tex=r"\varepsilon = 0:\quad \ell_2'(t) = \max(1, |t|)",
    misprint="With C₂ = C₃ and ε = 0 an unlabelled point of eq. 8 pays max(1, |t|), where eq. 9 charges |t|. With ε = 1"
    " eq. 9 charges the same but for a constant, and other losses for labelled points than eq. 8 with ε = 0.",
    faults={"the hinge twice": lambda q: 2 * np.maximum(1, np.abs(q.t))},
)


@PAPER.states(
    "Figure 1",
    r"\text{relaxed compact losses}",
    r"\max(0, 1-t) + \tfrac{C_3}{C_1}\max(0, |t|-\varepsilon),\ \max(0, 1-|t|) + \tfrac{C_3}{C_2}\max(0,"
    r" |t|-\varepsilon)",
    rests_on=("eq. 8",),
    claimed=lambda q: compact_losses(q, q.epsilon),
    faults={"ε = 1 whatever it is": lambda q: compact_losses(q, 1.0)},
)
def figure_1(q: Quantities) -> list[Array]:
    """The losses of labelled and unlabelled points that eq. 8 amounts to."""
    labelled = relaxed_compact_hinge(q.epsilon, q.C_3 / q.C_1)
    return [labelled(q.t), relaxed_compact_symmetric_hinge(q.epsilon, q.C_3 / q.C_2)(q.t)]


def compact_losses(q: Quantities, epsilon: float) -> list[Array]:
    """Figure 1's curves, written out."""
    far = np.maximum(0, np.abs(q.t) - epsilon)
    return [hinge(q.t) + q.C_3 / q.C_1 * far, hinge(np.abs(q.t)) + q.C_3 / q.C_2 * far]


#: D of the classes.
RADIUS = 2.0


@PAPER.states(
    "Lemma 2",
    r"R_{l+u}(\mathcal H_D) \text{ by random signs}",
    r"2\sqrt{\tfrac{D}{lu}\sum_i \lambda_i}",
    relation="<=",
    claimed=lambda q: 2 * np.sqrt(RADIUS / (q.l * q.u) * np.linalg.eigvalsh(q.problem.gram).sum()),
    faults={"without the factor 2": lambda q: np.sqrt(RADIUS / (q.l * q.u) * np.trace(q.problem.gram))},
)
def lemma_2(q: Quantities) -> float:
    """The S3VM's class ½ ‖w‖² <= D has no larger complexity: the mean over signs, less four standard errors."""
    found = rademacher_complexity(q.problem, RADIUS, n_draws=4000)
    return found.estimate - 4 * found.error


PAPER.states(
    "Lemma 3",
    r"\text{the toolkit's bound of } R_{l+u}(\mathcal F_{D,C_3})",
    r"\min_{\alpha\ge0}\ \tfrac{1}{l+u}\sum_i x_i^\top K_\alpha x_i + \tfrac{l+u}{lu} D\sum_i\alpha_i,\quad"
    r" K_\alpha = \left(\sum_i\alpha_i (I + C_3 z_i z_i^\top)\right)^{-1}",
    says="The machine's class ½ ‖w‖² + (C₃/2)(w·z_i)² <= D has a smaller bound, the least over α.\n\n"
    "The paper has C₃ |f| beyond ε in eq. 8, and C₃ f² in this class.",
    rests_on=("Lemma 2",),
    tolerance=2e-3,
    computed=lambda q: rademacher_complexity(q.problem, RADIUS, q.C_3, n_draws=2).bound,
    claimed=lambda q: least_over_alpha(q),
    printed=lambda q: 0.0,
    printed_tex=r"\min_{\alpha\ge0}\ \tfrac{1}{l+u}\sum_i x_i K_\alpha x_i + \tfrac{lu}{(m+u)^2}\,D\sum_i\alpha_i,\quad"
    r" K_\alpha = \sum_i\alpha_i I + C_3\sum_i\alpha_i z_i^\top",
    corrected_tex=r"\min_{\alpha\ge0}\ \tfrac{1}{l+u}\sum_i x_i^\top K_\alpha x_i + \tfrac{l+u}{lu}\,D\sum_i\alpha_i,"
    r"\quad K_\alpha = \Big(\sum_i\alpha_i I + C_3\sum_i\alpha_i z_i z_i^\top\Big)^{-1}",
    misprint="K_{α,C₃} is the inverse of what is printed, with z_i z_iᵀ, and the factor of D Σ α is (l+u)/(lu), not"
    " lu/(m+u)²: as printed the value at α = 0 is 0.",
    faults={"without C₃": lambda q: least_over_alpha(q, compact=False)},
)


def least_over_alpha(q: Quantities, *, compact: bool = True) -> float:
    """Lemma 3's minimum, by CVXPY."""
    alpha = cp.Variable(q.n, nonneg=True)
    A = cp.sum(alpha) * np.eye(q.Z.shape[1]) + compact * q.C_3 * q.Z.T @ cp.diag(alpha) @ q.Z
    first = sum(cp.matrix_frac(x, A) for x in q.Z) / q.n
    return float(cp.Problem(cp.Minimize(first + q.n / (q.l * q.u) * RADIUS * cp.sum(alpha))).solve(solver="CLARABEL"))


@dataclass(frozen=True)
class Population:
    """Many points x = ±``size`` on a line with f(x) = x and margin γ = ``gamma``, the first ``l`` of them labelled.

    The share ``wrong`` of all points has an output of the wrong sign.
    """

    wrong: float
    size: float
    gamma: float
    l: int = 50_000
    u: int = 50_000

    def margins(self) -> Array:
        """y f(x) of all points, the labelled ones first, drawn at random."""
        n = self.l + self.u
        signs = np.where(np.arange(n) < self.wrong * n, -1.0, 1.0)
        return np.asarray(self.size * np.random.default_rng(0).permutation(signs))

    def bound(self, *, margin: float | None = None, printed: bool = False) -> float:
        """Corollary 4 with δ = 1/20, and D = ½ for w = 1."""
        l, u, gamma = self.l, self.u, self.gamma
        Q, S = (l + u) / (l * u), (l + u) / ((l + u - 0.5) * (1 - 0.5 / max(l, u)))
        xi = np.maximum(0, (gamma if margin is None else margin) - self.margins()[:l])
        complexity = 2 * np.sqrt(0.5 / (l * u) * (l + u) * self.size**2)
        size = np.sqrt(32 * np.log(4 * np.e) / 3) * Q * np.sqrt(min(l, u))
        confidence = np.sqrt((2 if printed else S / 2) * Q * np.log(20))
        return float(xi.sum() / (l * gamma) + complexity / gamma + size + confidence)


POPULATIONS = [
    Population(0.1, 2.0, 1.0),
    Population(0.4, 1.0, 1.0),
    Population(0.3, 0.001, 1e3),
    Population(0.0, 1.0, 0.5),
]


PAPER.states(
    "Corollary 4",
    r"P[y \ne \mathrm{sign} f(x)] \text{ on the unlabelled points}",
    r"\tfrac{1}{l\gamma}\sum_{i=1}^{l}\max(0, \gamma - y_i f(x_i)) + \tfrac{R}{\gamma} + c_0 Q\sqrt{\min(l,u)}"
    r" + \sqrt{\tfrac{S Q}{2}\ln\tfrac1\delta}",
    says="On 50 000 labelled and as many unlabelled points the error is below the bound, for few and many wrong "
    "labels.",
    relation="<=",
    rests_on=("Lemma 2",),
    quantities=lambda: POPULATIONS,
    computed=lambda q: float((q.margins()[q.l :] < 0).mean()),
    claimed=lambda q: q.bound(),
    printed=lambda q: q.bound(margin=1.0, printed=True),
    printed_tex=r"\tfrac{1}{n\gamma}\sum_{i=1}^{l}\max(0, 1 - y_i f(x_i)) + \dots",
    corrected_tex=r"\tfrac{1}{l\gamma}\sum_{i=1}^{l}\max(0, \gamma - y_i f(x_i)) + \dots",
    misprint="The ξ_i are those of margin γ, max(0, γ - y f): with γ > 1 those that are printed are too small, here"
    " with n = l. What n is the corollary does not say; it must be l.",
    faults={"without the margin errors": lambda q: q.bound(margin=-1e9)},
)
