"""From the Compact Margin Machine to the dual of a step of its procedure, on six points: §2 and §3 of the paper."""

from __future__ import annotations

from functools import cache, cached_property, partial
from typing import Any

import cvxpy as cp
import numpy as np

from ..mistakes import altered
from . import PAPER

#: The points of both problems.
POINTS = (
    [[0.58, 1.63], [0.22, -2.04], [1.13, 0.33], [-1.32, -0.45], [-1.47, -0.36], [0.14, -0.17]],
    [[0.97, 0.15], [-0.49, -0.42], [1.17, -0.33], [-0.27, -1.95], [-0.92, 1.44], [-0.16, 0.92]],
)


class Six:
    """Six points on a plane, of which two have labels, and a function f(x) = w'x + b that a step begins at.

    Attributes
    ----------
    X : array, shape (6, 2)
        The points x_i as rows: two with labels, then the u = 4 others.
    y : array, shape (10,)
        Labels: the l = 2 known ones, then 1 for each other point, then -1 for a copy of each other point.
    copy_of : array, shape (10,)
        The row of X for each of these ten.
    d : array, shape (4,)
        A guess of the classes of the others: 0 for the positive class, 1 for the negative one.
    r : float
        The share of the others whose guess is the positive class.
    C_1 : float
        C₁, the cost of an error at a point with a label.
    C_2 : float
        C₂, the cost of an output between -1 and 1 at another point.
    C_3 : float
        C₃, the cost of an output above ε or below -ε.
    epsilon : float
        ε, by which an output may be off the mean of its class, or off zero, at no cost.
    delta : float
        δ, at most 0 and above -1: the loss of an unlabelled point is capped at 1 + δ.
    w : array, shape (2,)
        The w of θᵗ = (w, b).
    b : float
        The b of θᵗ.
    """

    def __init__(self, X: Any, epsilon: float, delta: float, costs: tuple[float, float, float]) -> None:
        self.X = np.array(X)
        self.y = np.array([1.0, -1.0] + [1.0] * 4 + [-1.0] * 4)
        self.copy_of = np.array([0, 1, 2, 3, 4, 5, 2, 3, 4, 5])
        self.d = np.array([0.0, 0.0, 1.0, 1.0])
        self.r = 0.5
        self.C_1, self.C_2, self.C_3 = costs
        self.epsilon, self.delta = epsilon, delta
        self.w, self.b = np.array([1.0, 0.5]), 0.1

    @cached_property
    def f(self) -> Any:
        """The outputs f(x_i) = w'x_i + b of the six points."""
        return self.X @ self.w + self.b

    @cached_property
    def eta(self) -> Any:
        """The least η_i >= 0 with y_i f(x_i) >= 1 - η_i, for the two points with labels."""
        eta = cp.Variable(2, nonneg=True)
        limit = [self.y[:2] * self.f[:2] >= 1 - eta]
        cp.Problem(cp.Minimize(cp.sum(eta)), limit).solve(solver="CLARABEL")
        return eta.value

    @cached_property
    def xi(self) -> Any:
        """The least ξ_i >= 0 with |f(x_i)| >= 1 - ξ_i, for the others."""
        xi = cp.Variable(4, nonneg=True)
        limit = [np.abs(self.f[2:]) >= 1 - xi]
        cp.Problem(cp.Minimize(cp.sum(xi)), limit).solve(solver="CLARABEL")
        return xi.value

    @cached_property
    def zeta(self) -> Any:
        """The least ζ_i >= 0 with |f(x_i)| <= ε + ζ_i, for all points."""
        zeta = cp.Variable(6, nonneg=True)
        limit = [np.abs(self.f) <= self.epsilon + zeta]
        cp.Problem(cp.Minimize(cp.sum(zeta)), limit).solve(solver="CLARABEL")
        return zeta.value

    @cached_property
    def p(self) -> Any:
        """p_j, 1 for points of the positive class and 0 for the others: (1 + y_j)/2 or 1 - d_j."""
        return np.append((1 + self.y[:2]) / 2, 1 - self.d)

    @cached_property
    def m(self) -> Any:
        """m̂_i, the mean output of the class of x_i."""
        positive, negative = self.p == 1, self.p == 0
        return np.where(positive, self.f[positive].mean(), self.f[negative].mean())

    @cached_property
    def zeta_01(self) -> Any:
        """The least slacks ζ_{0,i} + ζ_{1,i} >= 0 of (4)-(7): |f(x_i) - m̂_i| is at most ε and this slack."""
        zeta = cp.Variable(6, nonneg=True)
        limit = [np.abs(self.f - self.m) <= self.epsilon + zeta]
        cp.Problem(cp.Minimize(cp.sum(zeta)), limit).solve(solver="CLARABEL")
        return zeta.value

    @cached_property
    def c(self) -> Any:
        """The costs c_j of the ten copies: C₁ for points with labels, C₂ for the others."""
        return np.array([self.C_1] * 2 + [self.C_2] * 8)

    @cached_property
    def beta(self) -> Any:
        """β_j of Algorithm 1: C₂ for copies of the others with y_j f(x_j) < δ, and 0 for all else."""
        beyond = self.y * self.f[self.copy_of] < self.delta
        return np.where(beyond & (np.arange(10) >= 2), self.C_2, 0.0)

    @cached_property
    def program(self) -> Any:
        """The convex program of a step, solved with slacks: its value, w, b, and its constraints' multipliers."""
        w, b = cp.Variable(2), cp.Variable()
        xi, zeta = cp.Variable(10), cp.Variable(6)
        f = self.X @ w + b
        margins = cp.multiply(self.y, f[self.copy_of]) >= 1 - xi
        above, below = f <= self.epsilon + zeta, -f <= self.epsilon + zeta
        limits = [margins, above, below, xi >= 0, zeta >= 0]
        goal = cp.sum_squares(w) / 2 + self.c @ xi + self.C_3 * cp.sum(zeta)
        goal += (self.beta * self.y) @ f[self.copy_of]
        value = cp.Problem(cp.Minimize(goal), limits).solve(solver="CLARABEL")
        return value, w.value, float(b.value), [limit.dual_value for limit in limits]

    @cached_property
    def value(self) -> Any:
        """The least value of the convex program of a step."""
        return self.program[0]

    @cached_property
    def w_next(self) -> Any:
        """The w of θᵗ⁺¹."""
        return self.program[1]

    @cached_property
    def f_next(self) -> Any:
        """The outputs of the six points at θᵗ⁺¹, the solution of the convex program of a step."""
        return self.X @ self.program[1] + self.program[2]

    @cached_property
    def alpha(self) -> Any:
        """α, the multipliers of its constraints y_j f(x_j) >= 1 - ξ_j."""
        return self.program[3][0]

    @cached_property
    def gamma(self) -> Any:
        """γ, the multipliers of its constraints f(x_i) <= ε + ζ_i."""
        return self.program[3][1]

    @cached_property
    def gamma_hat(self) -> Any:
        """γ̂, the multipliers of its constraints -f(x_i) <= ε + ζ_i."""
        return self.program[3][2]

    @cached_property
    def rho(self) -> Any:
        """ρ, the multipliers of its constraints ξ_j >= 0."""
        return self.program[3][3]

    @cached_property
    def kappa(self) -> Any:
        """κ, the multipliers of its constraints ζ_i >= 0."""
        return self.program[3][4]

    @cached_property
    def K(self) -> Any:
        """The kernel matrix of the ten copies, with entries x_i'x_j."""
        return self.X[self.copy_of] @ self.X[self.copy_of].T

    @cached_property
    def v(self) -> Any:
        """v, as in step 14."""
        padded = np.append(self.gamma_hat - self.gamma, np.zeros(4))
        return self.y * (self.alpha - self.beta) + padded

    @cached_property
    def J_next(self) -> Any:
        """J(θᵗ⁺¹), the objective of step 8 after the step."""
        size = np.abs(self.f_next)
        loss = np.minimum(1 + self.delta, np.maximum(0, 1 - size[2:]))
        known = np.maximum(0, 1 - self.y[:2] * self.f_next[:2])
        far = np.maximum(0, size - self.epsilon)
        paid = self.C_1 * known.sum() + self.C_2 * loss.sum() + self.C_3 * far.sum()
        return self.w_next @ self.w_next / 2 + paid


@cache
def problems() -> list[Six]:
    """The six points, and six others, so that no answer is right by chance."""
    return [Six(POINTS[0], 0.8, -0.1, (1.5, 0.9, 0.6)), Six(POINTS[1], 1.2, -0.25, (2.0, 0.7, 0.5))]


step = partial(PAPER.step, quantities=problems)


def losses(q: Six) -> Any:
    """C₁ Σ ℓ₁ + C₂ Σ ℓ₂."""
    known = np.maximum(0, 1 - q.y[:2] * q.f[:2])
    others = np.maximum(0, 1 - np.abs(q.f[2:]))
    return q.C_1 * known.sum() + q.C_2 * others.sum()


@step(
    r"\tfrac12\|w\|^2 + C_1\textstyle\sum_i \eta_i + C_2\sum_i \xi_i",
    r"\tfrac12\|w\|^2 + C_1\textstyle\sum_{i\le l}\max(0, 1 - y_i f(x_i)) + C_2\sum_{i>l}\max(0, 1 - |f(x_i)|)",
    claimed=lambda q: q.w @ q.w / 2 + losses(q),
    printed=lambda q: np.sqrt(q.w @ q.w) + losses(q),
    printed_tex=r"\|f\|_{\mathcal H} + C_1\sum_{i=1}^{l}\ell_1(x_i, y_i; f) + C_2\sum_{i=l+1}^{l+u}\ell_2(x_i; f)",
    corrected_tex=(
        r"\tfrac12\|f\|^2_{\mathcal H} + C_1\sum_{i=1}^{l}\ell_1(x_i, y_i; f) +"
        r" C_2\sum_{i=l+1}^{l+u}\ell_2(x_i; f)"
    ),
    misprint="Eq. 1 has the norm neither squared nor halved, as it is in eq. 2.",
    faults={"½ left out": lambda q: q.w @ q.w + losses(q), "the losses alone": lambda q: losses(q)},
)
def step_1(q: Six) -> Any:
    """The slacks of the S3VM (2) are the losses of (1), as the least slack is zero or makes its constraint tight.

    ℓ₁ is the hinge loss, and ℓ₂ the symmetric hinge loss, for which the better of both labels counts.
    """
    return q.w @ q.w / 2 + q.C_1 * q.eta.sum() + q.C_2 * q.xi.sum()


def class_means(q: Six) -> Any:
    """Sums of outputs by the numbers of points in both classes."""
    known = (1 + q.y[:2]) / 2
    positive = 4 * q.r + known.sum()
    negative = 4 * (1 - q.r) + (1 - known).sum()
    return [q.p @ q.f / positive, (1 - q.p) @ q.f / negative]


@step(
    r"(w'm_{+1} + b,\ w'm_{-1} + b)",
    r"\left(\frac{\sum_j p_j f(x_j)}{ur + \sum_{j\le l}\frac{1+y_j}{2}},"
    r"\ \frac{\sum_j (1-p_j) f(x_j)}{u(1-r) + \sum_{j\le l}\frac{1-y_j}{2}}\right)",
    claimed=class_means,
    printed=lambda q: [q.p @ q.f / (8 * (1 - q.r) + 1), (1 - q.p) @ q.f / (4 * (2 * q.r - 1) + 1)],
    printed_tex=(
        r"\frac{\dots}{2u(1-r) + \sum_{j\le l}\frac{1+y_j}{2}},"
        r"\ \frac{\dots}{u(2r-1) + \sum_{j\le l}\frac{1-y_j}{2}}"
    ),
    corrected_tex=(
        r"\frac{\dots}{ur + \sum_{j\le l}\frac{1+y_j}{2}},\ \frac{\dots}{u(1-r) + \sum_{j\le l}\frac{1-y_j}{2}}"
    ),
    misprint="The denominators of eq. 4-7 are not the sizes of the classes: the balance Σ d_i / u = 2r - 1 is that of"
    " labels ±1, and with d_i in {0, 1} it is 1 - r.",
    faults={
        "divided by the number of all points": lambda q: [q.p @ q.f / 6, (1 - q.p) @ q.f / 6],
        "the points with labels not counted": lambda q: [q.p @ q.f / (4 * q.r), (1 - q.p) @ q.f / (4 - 4 * q.r)],
    },
)
def step_2(q: Six) -> Any:
    """The output at the mean m of a class is the mean of the outputs of its points, since f is linear but for b.

    These are the class means of (4)-(7), whose denominators are the numbers of points in each class: ur of the others
    and the known positive points, and u(1 - r) of the others and the known negative points.
    """
    positive, negative = q.X[q.p == 1], q.X[q.p == 0]
    return [positive.mean(axis=0) @ q.w + q.b, negative.mean(axis=0) @ q.w + q.b]


def triangle(q: Six) -> Any:
    """The size of each output and its mean over the class, less ε."""
    size = np.abs(q.f)
    same = np.equal.outer(q.p, q.p)
    mean = same @ size / same.sum(axis=1)
    return np.maximum(0, size + mean - q.epsilon)


@step(
    r"\zeta_{0,i} + \zeta_{1,i}",
    r"\max\!\left(0,\ |f(x_i)| + \tfrac{1}{n_i}\textstyle\sum_{j \in \mathcal C_i} |f(x_j)| - \varepsilon\right)",
    relation="<=",
    rests_on=("step 2",),
    claimed=triangle,
    faults={
        "a minus before the mean": lambda q: np.maximum(0, np.abs(q.f) - np.abs(q.m) - q.epsilon),
        "without the mean": lambda q: np.maximum(0, np.abs(q.f) - q.epsilon),
    },
)
def step_3(q: Six) -> Any:
    """A slack of (4)-(7) is at most the output's size plus the mean size in its class, less ε (triangle inequality).

    An output is no farther from the mean of its class than both sizes together, and the size of a mean is no larger
    than the mean of the sizes. 𝒞_i is the class of x_i by p, and n_i the number of its points.
    """
    return q.zeta_01


@step(
    r"\textstyle\sum_i \zeta_{0,i} + \zeta_{1,i}",
    r"\textstyle\sum_i \max(0,\ 2|f(x_i)| - \varepsilon)",
    relation="<=",
    rests_on=("step 3",),
    claimed=lambda q: np.maximum(0, 2 * np.abs(q.f) - q.epsilon).sum(),
    printed=lambda q: np.maximum(0, np.abs(q.f) - q.epsilon).sum(),
    printed_tex=r"|w^\top x_i + b| \le \varepsilon + \zeta_i",
    corrected_tex=r"|w^\top x_i + b| \le \tfrac12(\varepsilon + \zeta_i)",
    misprint="Eq. 8 has |f(x_i)| <= ε + ζ_i in place of (ε + ζ_i)/2, and such ζ_i may add up to less.",
    faults={"2ε in place of ε, and half of the sum": lambda q: np.maximum(0, np.abs(q.f) - q.epsilon).sum() / 2},
)
def step_4(q: Six) -> Any:
    """The slacks of |f(x_i)| <= (ε + ζ_i)/2 add up to no less than those of (4)-(7), as step 3 holds for each point.

    With them step 3 is at most half of ζ_i and half of the mean of ζ over the class, and both halves have the same sum
    over the class. This is Proposition 1.
    """
    return q.zeta_01.sum()


@step(
    r"\tfrac12\textstyle\sum_i \max(0,\ |f(x_i) - \hat m_i| - 2\varepsilon)",
    r"\textstyle\sum_i \max(0,\ |f(x_i)| - \varepsilon)",
    relation="<=",
    rests_on=("step 4",),
    claimed=lambda q: np.maximum(0, np.abs(q.f) - q.epsilon).sum(),
    faults={"2ε in place of ε": lambda q: np.maximum(0, np.abs(q.f) - 2 * q.epsilon).sum()},
)
def step_5(q: Six) -> Any:
    """The slacks of |f(x_i)| <= ε + ζ_i add up to no less than half the spread beyond 2ε, by step 4 for 2ε and ζ_i.

    In step 4 ε is any number, so that 2ε takes its place and 2ζ_i that of its ζ_i. (8), the relaxed machine, has these
    constraints in place of (4)-(7), and no class means.
    """
    return np.maximum(0, np.abs(q.f - q.m) - 2 * q.epsilon).sum() / 2


@step(
    r"\zeta_i",
    r"\max(0,\ f(x_i) - \varepsilon) + \max(0,\ -f(x_i) - \varepsilon)",
    rests_on=("step 5",),
    claimed=lambda q: np.maximum(0, q.f - q.epsilon) + np.maximum(0, -q.f - q.epsilon),
    faults={
        "one side only": lambda q: np.maximum(0, q.f - q.epsilon),
        "the margin in place of ε": lambda q: np.maximum(0, q.f - 1) + np.maximum(0, -q.f - 1),
    },
)
def step_6(q: Six) -> Any:
    """The slacks of |f(x_i)| <= ε + ζ_i are two hinge losses, as not both f and -f can be above ε.

    Both are convex, and become the constraints f(x_i) <= ε + ζ_i and -f(x_i) <= ε + ζ_i.
    """
    return q.zeta


def H(s: float, t: Any) -> Any:
    """The hinge loss that begins at s."""
    return np.maximum(0, s - t)


def both_labels(q: Six) -> Any:
    """H_1 less H_δ for the labels 1 and -1."""
    f = q.f[2:]
    return H(1, f) + H(1, -f) - H(q.delta, f) - H(q.delta, -f)


@step(
    r"\min(\xi_i,\ 1 + \delta) + 1 - \delta",
    r"H_1(f(x_i)) + H_1(-f(x_i)) - H_\delta(f(x_i)) - H_\delta(-f(x_i))",
    rests_on=("step 1",),
    claimed=both_labels,
    faults={
        "H_1 alone": lambda q: H(1, q.f[2:]) + H(1, -q.f[2:]),
        "δ with the wrong sign": lambda q: both_labels(altered(q, delta=-q.delta)),
    },
)
def step_7(q: Six) -> Any:
    """Capped at 1 + δ, an unlabelled point's loss is H_1 less H_δ for both labels, but for a constant.

    H_s(t) = max(0, s - t) is a hinge loss. Both sides are linear between the outputs -1, δ, -δ and 1, equal at these,
    and constant beyond. The cap and the constant 1 - δ are not in the paper. With δ = 0 nothing is capped.
    """
    return np.minimum(q.xi, 1 + q.delta) + 1 - q.delta


def parts(q: Six) -> Any:
    """J_vex + J_cav at θᵗ."""
    margins = q.y * q.f[q.copy_of]
    far = np.maximum(0, np.abs(q.f) - q.epsilon)
    convex = q.w @ q.w / 2 + q.c @ H(1, margins) + q.C_3 * far.sum()
    concave = -q.C_2 * H(q.delta, margins)[2:].sum()
    return convex + concave


@step(
    r"J(\theta^t) + C_2 u (1 - \delta)",
    r"\tfrac12\|w\|^2 + \textstyle\sum_j c_j H_1(y_j f(x_j)) + C_3\sum_i \max(0, |f(x_i)| - \varepsilon)"
    r" - C_2\sum_{j>l} H_\delta(y_j f(x_j))",
    rests_on=("step 6", "step 7"),
    claimed=parts,
    printed=lambda q: parts(q) + q.C_3 * np.maximum(0, np.abs(q.f[2:]) - q.epsilon).sum(),
    printed_tex=r"C_3\sum_{i=1}^{l+2u}\max(0, |f(x_i)| - \varepsilon)",
    corrected_tex=r"C_3\sum_{i=1}^{l+u}\max(0, |f(x_i)| - \varepsilon)",
    misprint="The compactness term of J_vex runs over l + 2u copies, which counts unlabelled points twice; eq. 8 counts"
    " them once.",
    faults={
        "C₁ for all copies": lambda q: parts(altered(q, c=np.full(10, q.C_1))),
        "J_cav with a plus": lambda q: parts(q) + 2 * q.C_2 * H(q.delta, q.y * q.f[q.copy_of])[2:].sum(),
    },
)
def step_8(q: Six) -> Any:
    """The objective J of (8) is a convex part and a concave part but for a constant, by steps 6 and 7 for each point.

    In J the slacks ξ_i are capped as in step 7. J_vex has ½‖w‖², the losses H_1 of all ten copies with their costs, and
    the slacks of step 6 of the six points. J_cav has the losses H_δ of the eight copies that have no known label. i
    counts points, and j copies.
    """
    value = q.w @ q.w / 2 + q.C_1 * q.eta.sum() + q.C_3 * q.zeta.sum()
    value += q.C_2 * np.minimum(q.xi, 1 + q.delta).sum()
    return value + q.C_2 * 4 * (1 - q.delta)


@step(
    r"J_{cav}(\theta^t) = -C_2\textstyle\sum_{j>l} H_\delta(y_j f(x_j))",
    r"\textstyle\sum_j \beta_j\,(y_j f(x_j) - \delta)",
    rests_on=("step 8",),
    claimed=lambda q: q.beta @ (q.y * q.f[q.copy_of] - q.delta),
    faults={
        "the wrong sign": lambda q: q.beta @ (q.delta - q.y * q.f[q.copy_of]),
        "δ left out": lambda q: q.beta @ (q.y * q.f[q.copy_of]),
        "the labels left out": lambda q: q.beta @ (q.f[q.copy_of] - q.delta),
    },
)
def step_9(q: Six) -> Any:
    """The concave part is linear in f with slopes β_j y_j around θᵗ, as β_j is C₂ exactly where H_δ is not zero."""
    below = q.delta - q.y * q.f[q.copy_of]
    return -q.C_2 * np.maximum(0, below)[2:].sum()


@step(
    r"J_{cav}(\theta^{t+1})",
    r"\textstyle\sum_j \beta_j\,(y_j f^{t+1}(x_j) - \delta)",
    relation="<=",
    rests_on=("step 9",),
    claimed=lambda q: q.beta @ (q.y * q.f_next[q.copy_of] - q.delta),
    faults={
        "β counted twice": lambda q: 2 * q.beta @ (q.y * q.f_next[q.copy_of] - q.delta),
        "δ left out": lambda q: q.beta @ (q.y * q.f_next[q.copy_of]),
    },
)
def step_10(q: Six) -> Any:
    """The same linear function is above the concave part everywhere, and here after the step, as it is a tangent.

    A step of the procedure therefore minimizes J_vex + Σ β_j y_j f(x_j), a convex function. But for constants it is
    equal to J at θᵗ and nowhere below J. Its solution is θᵗ⁺¹ with the outputs f^{t+1}(x_j).
    """
    below = q.delta - q.y * q.f_next[q.copy_of]
    return -q.C_2 * np.maximum(0, below)[2:].sum()


def expansion(q: Six) -> Any:
    """Σ (α_j - β_j) y_j x_j - Σ (γ_i - γ̂_i) x_i."""
    copies = q.X[q.copy_of].T @ (q.y * (q.alpha - q.beta))
    return copies - q.X.T @ (q.gamma - q.gamma_hat)


@step(
    r"w^{t+1}",
    r"\textstyle\sum_j (\alpha_j - \beta_j) y_j x_j - \sum_i (\gamma_i - \hat\gamma_i) x_i",
    rests_on=("step 8", "step 10"),
    claimed=expansion,
    faults={
        "γ and γ̂ exchanged": lambda q: expansion(altered(q, gamma=q.gamma_hat, gamma_hat=q.gamma)),
        "β left out": lambda q: expansion(altered(q, beta=0 * q.beta)),
    },
)
def step_11(q: Six) -> Any:
    """The w of the next function is a sum of points, as the Lagrangian's derivative by w is zero at the solution.

    The Lagrangian is ½‖w‖² + Σ c_j ξ_j + C₃ Σ ζ_i + Σ β_j y_j f(x_j) - Σ α_j (y_j f(x_j) - 1 + ξ_j) + Σ γ_i (f(x_i) - ε
    - ζ_i) + Σ γ̂_i (-f(x_i) - ε - ζ_i) - Σ ρ_j ξ_j - Σ κ_i ζ_i, with f(x) = w'x + b.
    """
    return q.w_next


@step(
    r"\textstyle\sum_j (\alpha_j - \beta_j)\,y_j",
    r"\textstyle\sum_i \gamma_i - \hat\gamma_i",
    rests_on=("step 11",),
    claimed=lambda q: (q.gamma - q.gamma_hat).sum(),
    faults={"the wrong sign": lambda q: (q.gamma_hat - q.gamma).sum(), "zero, as in the SVM": lambda q: 0.0},
)
def step_12(q: Six) -> Any:
    """The same derivative by the bias b is zero as well, which makes the weights of step 11 add up to zero."""
    return q.y @ (q.alpha - q.beta)


@step(
    r"(\rho_j,\ \kappa_i)",
    r"(c_j - \alpha_j,\ C_3 - \gamma_i - \hat\gamma_i)",
    rests_on=("step 11",),
    claimed=lambda q: np.append(q.c - q.alpha, q.C_3 - q.gamma - q.gamma_hat),
    faults={
        "the wrong signs of α, γ and γ̂": lambda q: np.append(q.c + q.alpha, q.C_3 + q.gamma + q.gamma_hat),
        "C₁ for all copies": lambda q: np.append(q.C_1 - q.alpha, q.C_3 - q.gamma - q.gamma_hat),
        "γ̂ left out": lambda q: np.append(q.c - q.alpha, q.C_3 - q.gamma),
    },
)
def step_13(q: Six) -> Any:
    """The derivatives by the slacks ξ_j and ζ_i are zero too, which gives the multipliers ρ and κ from the others.

    As no multiplier is negative, these are the bounds of Algorithm 1: α_j at most C₁ or C₂, and γ + γ̂ at most C₃. The
    answer is one array, with ρ before κ.
    """
    return np.append(q.rho, q.kappa)


def quadratic(q: Six) -> Any:
    """v'Kv."""
    v = q.y * (q.alpha - q.beta)
    v[:6] += q.gamma_hat - q.gamma
    return v @ q.K @ v


@step(
    r"\|w^{t+1}\|^2",
    r"v'\mathbb K v,\quad v = (\alpha - \beta) \odot y - \gamma + \hat\gamma",
    rests_on=("step 11",),
    claimed=quadratic,
    faults={
        "γ and γ̂ exchanged": lambda q: quadratic(altered(q, gamma=q.gamma_hat, gamma_hat=q.gamma)),
        "β left out": lambda q: quadratic(altered(q, beta=0 * q.beta)),
        "half of it": lambda q: quadratic(q) / 2,
    },
)
def step_14(q: Six) -> Any:
    """The squared norm of w is a quadratic form in the weights v of step 11, since 𝕂 has the products of the points.

    v has an entry for each of the ten copies. γ and γ̂ have entries for the six points, and count as zero for the other
    copies. ⊙ is the product entry by entry.
    """
    return q.w_next @ q.w_next


def dual_value(q: Six) -> Any:
    """-½ v'Kv + α'1 - ε γ'1 - ε γ̂'1."""
    paid = q.epsilon * q.gamma.sum() + q.epsilon * q.gamma_hat.sum()
    return -q.v @ q.K @ q.v / 2 + q.alpha.sum() - paid


@step(
    r"\min_{w,b}\ J_{vex}(w, b) + \textstyle\sum_j \beta_j y_j f(x_j)",
    r"-\tfrac12 v'\mathbb K v + \alpha'1 - \varepsilon\,\gamma'1 - \varepsilon\,\hat\gamma'1",
    rests_on=("step 12", "step 13", "step 14"),
    claimed=dual_value,
    printed=lambda q: dual_value(altered(q, gamma=q.gamma_hat)),
    printed_tex=r"\dots - \alpha^\top 1 + \varepsilon\hat\gamma^\top 1 + \varepsilon\hat\gamma^\top 1",
    corrected_tex=r"\dots - \alpha^\top 1 + \varepsilon\gamma^\top 1 + \varepsilon\hat\gamma^\top 1",
    misprint="Algorithm 1 has ε γ̂'1 twice, in place of ε γ'1 + ε γ̂'1.",
    faults={
        "1 in place of ε": lambda q: dual_value(altered(q, epsilon=1.0)),
        "γ and γ̂ left out": lambda q: dual_value(altered(q, epsilon=0.0)),
        "½ left out": lambda q: dual_value(q) - q.v @ q.K @ q.v / 2,
    },
)
def step_15(q: Six) -> Any:
    """The least value of the step is a function of the multipliers, once steps 11 to 14 are put into the Lagrangian.

    At the solution each multiplier is zero or its constraint is tight, so that the Lagrangian has the value of the
    program. b and the slacks drop out by steps 12 and 13. It is minus what Algorithm 1 minimizes.
    """
    return q.value


def algorithm_1(q: Six) -> Any:
    """The least value of Algorithm 1's quadratic program."""
    alpha = cp.Variable(10, nonneg=True)
    gamma, gamma_hat = cp.Variable(6, nonneg=True), cp.Variable(6, nonneg=True)
    v = cp.multiply(q.y, alpha - q.beta) + np.eye(10, 6) @ (gamma_hat - gamma)
    norm = cp.sum_squares(q.X[q.copy_of].T @ v)  # v'Kv
    goal = norm / 2 - cp.sum(alpha) + q.epsilon * cp.sum(gamma + gamma_hat)
    limits = [cp.sum(v) == 0, alpha <= q.c, gamma + gamma_hat <= q.C_3]
    return cp.Problem(cp.Minimize(goal), limits).solve(solver="CLARABEL")


@step(
    r"\min_{w,b}\ J_{vex}(w, b) + \textstyle\sum_j \beta_j y_j f(x_j)",
    r"-\min_{\alpha,\gamma,\hat\gamma\ge0}\ \tfrac12 v'\mathbb K v - \alpha'1 + \varepsilon(\gamma + \hat\gamma)'1"
    r" \text{ s.t. } v'1 = 0,\ \alpha \le c,\ \gamma + \hat\gamma \le C_3",
    rests_on=("step 12", "step 13", "step 15"),
    claimed=lambda q: -algorithm_1(q),
    faults={
        "the minus in front left out": lambda q: algorithm_1(q),
        "C₁ for all copies": lambda q: -algorithm_1(altered(q, c=np.full(10, q.C_1))),
        "γ and γ̂ left out": lambda q: -algorithm_1(altered(q, C_3=0.0)),
    },
)
def step_16(q: Six) -> Any:
    """No other multipliers within their bounds give more, so that Algorithm 1's program has minus the step's value.

    Within the bounds of steps 12 and 13 the function of step 15 is the least value of the Lagrangian over w, b and the
    slacks, which is at most the value of the program (weak duality). CVXPY solves Algorithm 1's program.
    """
    return q.value


def outputs(q: Six) -> Any:
    """Outputs from v, with b from the copy whose multiplier is farthest inside its bounds."""
    k = np.argmax(np.minimum(q.alpha, q.c - q.alpha))
    b = q.y[k] - q.K[k] @ q.v
    return (q.K @ q.v)[:6] + b


@step(
    r"f^{t+1}(x_i)",
    r"(\mathbb K v)_i + b^{t+1},\quad b^{t+1} = y_k - (\mathbb K v)_k,\ 0 < \alpha_k < c_k",
    rests_on=("step 11", "step 13"),
    claimed=outputs,
    faults={
        "b left out": lambda q: (q.K @ q.v)[:6],
        "1 in place of the label y_k": lambda q: outputs(altered(q, y=np.ones(10))),
    },
)
def step_17(q: Six) -> Any:
    """The dual gives the outputs by step 11, and the bias by a copy k whose multiplier is inside its bounds.

    Neither α_k nor ρ_k of step 13 is zero then, so that y_k f(x_k) = 1 - ξ_k and ξ_k = 0. The answer has the outputs of
    the six points.
    """
    return q.f_next


def objective(q: Six) -> Any:
    """J(θᵗ)."""
    size = np.abs(q.f)
    others = np.minimum(H(1, size[2:]), 1 + q.delta)
    loss = q.C_1 * H(1, q.y[:2] * q.f[:2]).sum() + q.C_2 * others.sum()
    return q.w @ q.w / 2 + loss + q.C_3 * np.maximum(0, size - q.epsilon).sum()


@step(
    r"J(\theta^{t+1})",
    r"\tfrac12\|w\|^2 + \textstyle\sum_{i\le l} C_1 H_1(y_i f(x_i)) + \sum_{i>l} C_2 \min(H_1(|f(x_i)|), 1 + \delta)"
    r" + C_3 \sum_i \max(0, |f(x_i)| - \varepsilon)",
    relation="<=",
    rests_on=("step 8", "step 10", "step 16"),
    claimed=objective,
    faults={
        "without ½‖w‖² and the loss of unlabelled points": lambda q: objective(altered(q, C_2=0.0)) - q.w @ q.w / 2,
        "half of it": lambda q: objective(q) / 2,
    },
)
def step_18(q: Six) -> Any:
    """A step never raises J of step 8 above J(θᵗ), as it minimizes a function above J that is equal to J at θᵗ.

    This is why the procedure ends: β has finitely many values, and none comes back after the objective has become
    smaller.
    """
    return q.J_next
