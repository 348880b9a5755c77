"""Deterministic annealing, and then Newton's method in an expansion, on six points: §3.3 and §4.4 in steps."""

from __future__ import annotations

import itertools
from functools import cache, cached_property, partial
from typing import Any

import cvxpy as cp
import numpy as np

from . import PAPER


class Six:
    """Six points on a plane, of which the first two have labels: l = 2 and u = 4.

    Attributes
    ----------
    X : array, shape (6, 2)
        The points x_i, those with labels first.
    y : array, shape (2,)
        The known labels.
    C : float
        The cost of a point with a label.
    C_star : float
        The cost C* of a point without one.
    w : array, shape (2,)
        Weights at which the objective is looked at.
    b : float
        The bias.
    o : array, shape (6,)
        The outputs o_i = wᵀx_i + b.
    p : array, shape (4,)
        Probabilities that the labels of the last four points are 1.
    T : float
        The temperature.
    r : float
        The share of the points without labels that is to be positive.
    beta : array, shape (6,)
        Coefficients β that a Newton step begins at.
    t : array, shape (4,)
        The t_k of the loss ℓ_U, which begins or ends to bend at |o| = t_k.
    a : array, shape (4,)
        The factors a_k of the squares of which ℓ_U is made.
    lam : float
        λ, by which K is multiplied in the damped Hessian.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.y = np.array([1.0, -1.0])
        self.X = rng.normal(0, 0.6, (6, 2)) + np.outer([1, -1, 1, -1, 1, -1], [0.5, 0.3])
        self.w = rng.normal(0, 0.8, 2)
        self.C, self.C_star, self.b, self.T, self.r = 0.9, 0.2, 0.1, 0.6, 0.5
        self.o = self.X @ self.w + self.b
        self.p = np.array([0.35, 0.6, 0.45, 0.3])
        self.beta = rng.normal(0, 0.3, 6)
        self.t, self.a = np.array([0.25, 0.5, 0.75, 1.0]), np.array([-4.0, 4.0, 4.0, -4.0])
        self.lam = 2.0

    def V(self, y: Any, o: Any) -> Any:
        """The squared hinge loss of eq. 2: V(y, o) = max(0, 1 - y o)²."""
        return np.maximum(0, 1 - y * o) ** 2

    def I_y(self, y_u: Any) -> Any:
        """The objective I(w, b, y_u) of eq. 1 at w and b, for labels y_u of the last four points."""
        known = self.C * self.V(self.y, self.o[:2]).sum()
        unknown = self.C_star * self.V(np.array(y_u), self.o[2:]).sum()
        return 0.5 * self.w @ self.w + known + unknown

    def Pr(self, y_u: Any) -> Any:
        """The probability Pr(y_u) that y_u are the labels of the last four points, each drawn by itself."""
        return np.prod(np.where(np.array(y_u) == 1, self.p, 1 - self.p))

    def I_T(self, p: Any) -> Any:
        """The objective I'' of annealing at w and b for probabilities p: the mean of step 1, less T times H."""
        plus, minus = self.C_star * self.V(1, self.o[2:]), self.C_star * self.V(-1, self.o[2:])
        known = self.C * self.V(self.y, self.o[:2]).sum()
        entropy = -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p))
        return 0.5 * self.w @ self.w + known + p @ plus + (1 - p) @ minus - self.T * entropy

    @cached_property
    def g(self) -> Any:
        """g_i = C* [V(1, o_i) - V(-1, o_i)], the first term of step 3, for the last four points."""
        return self.C_star * (self.V(1, self.o[2:]) - self.V(-1, self.o[2:]))

    @cached_property
    def annealed(self) -> Any:
        """The least I'' over p under the balance Σ p_i = ur, with its p and its multiplier ν, by CVXPY."""
        p = cp.Variable(4)
        loss = p @ self.V(1, self.o[2:]) + (1 - p) @ self.V(-1, self.o[2:])
        entropy = cp.sum(cp.entr(p) + cp.entr(1 - p))
        balance = cp.sum(p) == 4 * self.r
        program = cp.Problem(cp.Minimize(self.C_star * loss - self.T * entropy), [balance])
        value = program.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        known = self.C * self.V(self.y, self.o[:2]).sum()
        return 0.5 * self.w @ self.w + known + value, p.value, -float(balance.dual_value)

    @cached_property
    def S(self) -> Any:
        """The least I'' over p under the balance, at w and b, by CVXPY."""
        return self.annealed[0]

    @cached_property
    def p_star(self) -> Any:
        """The probabilities p* at which I'' is least under the balance, by CVXPY."""
        return self.annealed[1]

    @cached_property
    def nu(self) -> Any:
        """The multiplier ν of the balance Σ p_i = ur, by CVXPY."""
        return self.annealed[2]

    def S_at(self, w: Any) -> Any:
        """S at weights w, by step 8 with the ν of step 6 at these weights."""
        o = self.X @ w + self.b
        plus, minus = self.C_star * self.V(1, o[2:]), self.C_star * self.V(-1, o[2:])
        nu = root(plus - minus, self.T, 4 * self.r)
        soft = np.log(np.exp((nu - plus) / self.T) + np.exp(-minus / self.T))
        known = self.C * self.V(self.y, o[:2]).sum()
        return 0.5 * w @ w + known + 4 * self.r * nu - self.T * soft.sum()

    @cached_property
    def balanced(self) -> Any:
        """All labels of the last four points with ur = 2 positive ones."""
        return [y_u for y_u in itertools.product([1, -1], repeat=4) if sum(y_u) == 0]

    @cached_property
    def Phi(self) -> Any:
        """The features φ(x_i) in rows: all products of two of the numbers 1, x_i1, x_i2."""
        return np.array([np.kron([1, *x], [1, *x]) for x in self.X])

    @cached_property
    def K(self) -> Any:
        """The kernel matrix, K_ij = (1 + x_iᵀx_j)²."""
        return (1 + self.X @ self.X.T) ** 2

    @cached_property
    def v(self) -> Any:
        """A vector that is orthogonal to all φ(x_i)."""
        start = np.linspace(0.5, 1.5, 9) ** 2
        return start - self.Phi.T @ np.linalg.lstsq(self.Phi.T, start, rcond=None)[0]

    def loss(self, f: Any) -> Any:
        """The losses ℓ_i of all points at outputs f: C max(0, 1 - y_i f_i)² with labels, and C* ℓ_U(f_i) without."""
        bends = np.maximum(0, np.abs(f[2:, None]) - self.t) ** 2
        return np.append(self.C * self.V(self.y, f[:2]), self.C_star * (1 + bends @ self.a))

    @cached_property
    def f(self) -> Any:
        """The outputs f_i = K_iᵀβ + b in the expansion."""
        return self.K @ self.beta + self.b

    def Omega(self, beta: Any) -> Any:
        """The objective Ω of eq. 15: ½ βᵀKβ and the losses at the outputs Kβ + b."""
        return 0.5 * beta @ self.K @ beta + self.loss(self.K @ beta + self.b).sum()

    def loss_slope(self, f: Any) -> Any:
        """The derivatives ℓ_i' of the losses at outputs f, by step 11."""
        known = -2 * self.C * self.y * np.maximum(0, 1 - self.y * f[:2])
        bends = np.maximum(0, np.abs(f[2:, None]) - self.t)
        return np.append(known, 2 * self.C_star * np.sign(f[2:]) * (bends @ self.a))

    @cached_property
    def slope(self) -> Any:
        """The derivatives ℓ_i'(f_i) of the losses at the outputs in the expansion."""
        return self.loss_slope(self.f)

    def gradient(self, beta: Any) -> Any:
        """The gradient of Ω at β, by step 12."""
        return self.K @ (beta + self.loss_slope(self.K @ beta + self.b))

    @cached_property
    def D(self) -> Any:
        """The second derivatives D_ii = ℓ_i''(f_i), as a vector, by step 13."""
        known = 2 * self.C * (self.y * self.f[:2] < 1)
        bends = np.abs(self.f[2:, None]) > self.t
        return np.append(known, 2 * self.C_star * (bends @ self.a))

    @cached_property
    def H(self) -> Any:
        """The Hessian H of Ω, of step 14."""
        return self.K + self.K @ np.diag(self.D) @ self.K

    @cached_property
    def h(self) -> Any:
        """h_i = β_i + ℓ_i'(f_i), for which the gradient of Ω is Kh; the paper calls it g."""
        return self.beta + self.slope

    @cached_property
    def M(self) -> Any:
        """The damped Hessian H + (λ - 1) K."""
        return self.H + (self.lam - 1) * self.K

    @cached_property
    def s(self) -> Any:
        """The damped Newton step s of step 15."""
        return np.linalg.solve(self.M, -self.K @ self.h)

    @cached_property
    def n(self) -> Any:
        """The Newton step n, which is that of step 15 with 1 in place of λ."""
        return np.linalg.solve(self.H, -self.K @ self.h)

    @cached_property
    def sv(self) -> Any:
        """Indices of the support vectors, the points with D_ii ≠ 0."""
        return np.flatnonzero(self.D != 0)

    @cached_property
    def nsv(self) -> Any:
        """Indices of the other points, with D_ii = 0."""
        return np.flatnonzero(self.D == 0)

    @cached_property
    def A(self) -> Any:
        """The Cholesky factor of K: AᵀA = K, with zeros below the diagonal."""
        return np.linalg.cholesky(self.K).T

    @cached_property
    def A_sv(self) -> Any:
        """The Cholesky factor of K_sv, the part of K for the support vectors."""
        return np.linalg.cholesky(self.K[np.ix_(self.sv, self.sv)]).T

    @cached_property
    def B(self) -> Any:
        """B = λI + A_sv D_sv A_svᵀ, of the size of K_sv."""
        return self.lam * np.eye(len(self.sv)) + self.A_sv @ np.diag(self.D[self.sv]) @ self.A_sv.T


@cache
def problems() -> list[Six]:
    """Six points, and six others; with these seeds a loss bends downwards, and the Newton step passes no bend."""
    return [Six(42663), Six(49128)]


step = partial(PAPER.step, quantities=problems)


def differences(function: Any, x: Any) -> Any:
    """The derivatives of a function by the entries of x, from values on both sides of x."""
    steps = 1e-5 * np.eye(len(x))
    return np.array([(function(x + e) - function(x - e)) / 2e-5 for e in steps])


def expected(q: Any) -> Any:
    """Eq. 7 written out."""
    known = q.C * q.V(q.y, q.o[:2]).sum()
    unknown = q.p @ q.V(1, q.o[2:]) + (1 - q.p) @ q.V(-1, q.o[2:])
    return 0.5 * q.w @ q.w + known + q.C_star * unknown


@step(
    r"\mathbb E_{y_u\sim p_u}\,\mathcal I(w, b, y_u)",
    r"\tfrac12\|w\|^2 + C\sum_{i\le l}V(y_i, o_i) + C^*\sum_{i>l} p_i V(1, o_i) + (1-p_i) V(-1, o_i)",
    claimed=expected,
    faults={
        "p and 1 - p exchanged": lambda q: expected(q) + q.g @ (1 - 2 * q.p),
        "the loss of the likelier label alone": lambda q: expected(q) + q.g @ (np.round(q.p) - q.p),
        "½ forgotten": lambda q: expected(q) + 0.5 * q.w @ q.w,
    },
)
def step_1(q: Six) -> Any:
    """If labels are drawn with probabilities p_i, the mean of a sum of losses is the sum of their means (eq. 7).

    The first l = 2 points have labels, and the other u = 4 have none; on the left is the mean of eq. 1 over all 16 ways
    to label them. The outputs are o_i = wᵀx_i + b, and V(y, o) = max(0, 1 - y o)² is the loss. The mean is called I'.
    """
    total = 0
    for y_u in itertools.product([1, -1], repeat=4):
        chance = np.prod(np.where(np.array(y_u) == 1, q.p, 1 - q.p))
        total += chance * q.I_y(y_u)
    return total


@step(
    r"-\sum_{y_u} \Pr(y_u)\log \Pr(y_u)",
    r"-\sum_{i>l} p_i\log p_i + (1-p_i)\log(1-p_i)",
    claimed=lambda q: -np.sum(q.p * np.log(q.p) + (1 - q.p) * np.log(1 - q.p)),
    faults={
        "without the terms of 1 - p": lambda q: -np.sum(q.p * np.log(q.p)),
        "logarithms to the base 2": lambda q: -np.sum(q.p * np.log2(q.p) + (1 - q.p) * np.log2(1 - q.p)),
        "the sign": lambda q: np.sum(q.p * np.log(q.p) + (1 - q.p) * np.log(1 - q.p)),
    },
)
def step_2(q: Six) -> Any:
    """The entropy of all labels is the sum of the entropies of each, because the logarithm of a product is a sum.

    Pr(y_u) is the product of the probabilities of the single labels. The entropy is called H(p_u) from here on.
    """
    P = np.array([q.Pr(y_u) for y_u in itertools.product([1, -1], repeat=4)])
    return -np.sum(P * np.log(P))


@step(
    r"\partial\,\mathcal I'' / \partial p_i",
    r"C^*[V(1, o_i) - V(-1, o_i)] + T\log\frac{p_i}{1-p_i}",
    tolerance=1e-5,
    rests_on=("step 1", "step 2"),
    claimed=lambda q: q.C_star * (q.V(1, q.o[2:]) - q.V(-1, q.o[2:])) + q.T * np.log(q.p / (1 - q.p)),
    faults={
        "the entropy with the wrong sign": lambda q: q.g - q.T * np.log(q.p / (1 - q.p)),
        "T forgotten": lambda q: q.g + np.log(q.p / (1 - q.p)),
        "without the losses of the label -1": lambda q: q.C_star * q.V(1, q.o[2:]) + q.T * np.log(q.p / (1 - q.p)),
    },
)
def step_3(q: Six) -> Any:
    """The mean I' of step 1 is linear in every p_i, and every p_i is in one term of the entropy H.

    The objective of annealing is I'' = I' - T H(p_u): at a temperature T > 0 it rewards uncertain labels. It is convex
    in p_u.
    """
    return differences(q.I_T, q.p)


@step(
    r"\nu",
    r"g_i + T\log\frac{p_i^*}{1-p_i^*}",
    tolerance=1e-5,
    rests_on=("step 3",),
    claimed=lambda q: q.g + q.T * np.log(q.p_star / (1 - q.p_star)),
    faults={
        "p and 1 - p exchanged": lambda q: q.g - q.T * np.log(q.p_star / (1 - q.p_star)),
        "1 - p forgotten": lambda q: q.g + q.T * np.log(q.p_star),
        "the loss forgotten": lambda q: q.T * np.log(q.p_star / (1 - q.p_star)),
    },
)
def step_4(q: Six) -> Any:
    """At the best p under the balance, the derivatives of step 3 are all equal to one number ν, its multiplier.

    The balance is Σ p_i = ur, and g_i is the first term of step 3. The Lagrangian is I'' - ν (Σ p_i - ur), and its
    derivatives are 0. The bounds 0 <= p_i <= 1 need no multipliers, because the logarithm is infinite there.
    """
    return [q.nu, q.nu, q.nu, q.nu]


@step(
    r"p_i^*",
    r"\frac{1}{1 + e^{(g_i - \nu)/T}}",
    tolerance=1e-5,
    rests_on=("step 4",),
    claimed=lambda q: 1 / (1 + np.exp((q.g - q.nu) / q.T)),
    faults={
        "the sign of the exponent": lambda q: 1 / (1 + np.exp((q.nu - q.g) / q.T)),
        "T forgotten": lambda q: 1 / (1 + np.exp(q.g - q.nu)),
        "ν forgotten": lambda q: 1 / (1 + np.exp(q.g / q.T)),
    },
)
def step_5(q: Six) -> Any:
    """The equation of step 4 for a point has only its own p_i besides ν, and is solved for it (eq. 8).

    A point is more likely positive than negative if g_i < ν, so that ν is a threshold.
    """
    return q.p_star


def root(g: Any, T: Any, count: Any) -> Any:
    """The ν for which the sum of the p_i is a count, by halving an interval."""
    low, high = np.min(g) - 20 * T, np.max(g) + 20 * T
    for _ in range(60):
        nu = (low + high) / 2
        total = np.sum(1 / (1 + np.exp((g - nu) / T)))
        low, high = (nu, high) if total < count else (low, nu)
    return nu


@step(
    r"\nu",
    r"\text{the root of } \nu \mapsto \sum_{i>l} \frac{1}{1 + e^{(g_i - \nu)/T}} - ur",
    tolerance=1e-5,
    rests_on=("step 5",),
    claimed=lambda q: root(q.g, q.T, 4 * q.r),
    faults={
        "r in place of ur": lambda q: root(q.g, q.T, q.r),
        "T forgotten": lambda q: root(q.g, 1, 4 * q.r),
        "the mean of the g": lambda q: np.mean(q.g),
    },
)
def step_6(q: Six) -> Any:
    """The probabilities of step 5 must add up to ur, and that decides ν, because every p_i grows with ν.

    There is no formula for the root, and halving an interval finds it. The ν on the left comes from a solver.
    """
    return q.nu


def cold(q: Any) -> Any:
    """Step 5 and step 6 at a very low temperature."""
    T = 0.005
    nu = root(q.g, T, 4 * q.r)
    return 1 / (1 + np.exp((q.g - nu) / T))


@step(
    r"\arg\min_{y_u} \mathcal I(w, b, y_u)",
    r"\lim_{T\to0} \frac{1}{1 + e^{(g_i - \nu)/T}}",
    rests_on=("step 5", "step 6"),
    claimed=cold,
    faults={
        "the points of the largest g": lambda q: 1 - cold(q),
        "ν forgotten": lambda q: (q.g < 0).astype(float),
        "the temperature is not lowered": lambda q: q.p_star,
    },
)
def step_7(q: Six) -> Any:
    """As T goes to 0 the probabilities become labels, and these are the best ones, as the smallest g_i become positive.

    On the left are the labels with the least objective of all that have ur = 2 positive ones, written as 1 and 0. The
    limit on the right is taken with the ν of step 6 at each T; T = 0.005 is low enough. For T to infinity all p_i go to
    r.
    """
    y_u = min(q.balanced, key=q.I_y)
    return (1 + np.array(y_u)) / 2


def soft_minimum(q: Any) -> Any:
    """The losses of the points without labels, with p eliminated."""
    plus, minus = q.C_star * q.V(1, q.o[2:]), q.C_star * q.V(-1, q.o[2:])
    soft = np.log(np.exp((q.nu - plus) / q.T) + np.exp(-minus / q.T))
    return 4 * q.r * q.nu - q.T * soft.sum()


@step(
    r"\mathcal S(w, b) - \tfrac12\|w\|^2 - C\sum_{i\le l}V(y_i, o_i)",
    r"ur\nu - T\sum_{i>l}\log\left(e^{(\nu - C^*V(1,o_i))/T} + e^{-C^*V(-1,o_i)/T}\right)",
    tolerance=1e-5,
    rests_on=("step 1", "step 2", "step 5"),
    claimed=soft_minimum,
    faults={
        "the term urν forgotten": lambda q: soft_minimum(q) - 4 * q.r * q.nu,
        "a mean of the two powers of e": lambda q: soft_minimum(q) + 4 * q.T * np.log(2),
        "T in front of the sum forgotten": lambda q: 4 * q.r * q.nu + (soft_minimum(q) - 4 * q.r * q.nu) / q.T,
    },
)
def step_8(q: Six) -> Any:
    """The least I'' over p is S (eq. 9), and it has a soft minimum of the two losses in place of each unknown label.

    With step 5 put in, p_i (g_i - ν) less T times the entropy of p_i is -T log(1 + exp((ν - g_i) / T)), and the rest is
    C* V(-1, o_i) for every i, and urν. Without the balance ν is 0, and a point has the loss of Figure 4.
    """
    return q.S - 0.5 * q.w @ q.w - q.C * q.V(q.y, q.o[:2]).sum()


def dV(y: Any, o: Any) -> Any:
    """The derivative of the loss V(y, o) by o."""
    return -2 * y * np.maximum(0, 1 - y * o)


def gradient_at_fixed_p(q: Any) -> Any:
    """The gradient of step 1 by w, at p*."""
    known = q.C * dV(q.y, q.o[:2])
    unknown = q.p_star * dV(1, q.o[2:]) + (1 - q.p_star) * dV(-1, q.o[2:])
    return q.w + q.X[:2].T @ known + q.C_star * q.X[2:].T @ unknown


@step(
    r"\nabla_w\,\mathcal S(w, b)",
    r"w + C\sum_{i\le l}V'(y_i, o_i)\,x_i + C^*\sum_{i>l}[p_i^* V'(1, o_i) + (1-p_i^*) V'(-1, o_i)]\,x_i",
    tolerance=1e-5,
    rests_on=("step 1", "step 8"),
    claimed=gradient_at_fixed_p,
    faults={
        "the sign of V'(-1, o)": lambda q: (
            gradient_at_fixed_p(q) - 2 * q.C_star * q.X[2:].T @ ((1 - q.p_star) * dV(-1, q.o[2:]))
        ),
        "w forgotten": lambda q: gradient_at_fixed_p(q) - q.w,
        "p and 1 - p exchanged": lambda q: (
            gradient_at_fixed_p(q) + q.C_star * q.X[2:].T @ ((1 - 2 * q.p_star) * (dV(1, q.o[2:]) - dV(-1, q.o[2:])))
        ),
    },
)
def step_9(q: Six) -> Any:
    """The gradient of S is that of the mean I' with p held fixed at p*, because p* is the best p at this w.

    V'(y, o) = -2 y max(0, 1 - y o) is the derivative of V by o. Without the balance the derivative of I'' by every
    p_j is 0 at p*, and under it ν, by step 4. The sum of ν ∂p_j/∂w is 0 all the same, because the p_j add up to ur at
    every w.
    """
    return differences(q.S_at, q.w)


@step(
    r"\tfrac12\|w\|^2 + \sum_i \ell_i(w^\top\varphi(x_i) + b)",
    r"\tfrac12\beta^\top K\beta + \tfrac12\|v\|^2 + \sum_i \ell_i(K_i^\top\beta + b)",
    claimed=lambda q: 0.5 * q.beta @ q.K @ q.beta + 0.5 * q.v @ q.v + q.loss(q.K @ q.beta + q.b).sum(),
    faults={
        "the norm of β in place of its form in K": lambda q: (
            0.5 * q.beta @ q.beta + 0.5 * q.v @ q.v + q.loss(q.K @ q.beta + q.b).sum()
        ),
        "v forgotten": lambda q: 0.5 * q.beta @ q.K @ q.beta + q.loss(q.K @ q.beta + q.b).sum(),
        "b forgotten": lambda q: 0.5 * q.beta @ q.K @ q.beta + 0.5 * q.v @ q.v + q.loss(q.K @ q.beta).sum(),
    },
)
def step_10(q: Six) -> Any:
    """A part v of w that is orthogonal to all points costs ½ ‖v‖² and changes no output, so that the best v is 0.

    Here begins Newton's method of §4.4. It has w = Σ β_j φ(x_j) + v in a space of features φ, and K_i is column i of K.
    The loss ℓ_i(o) of a point is C max(0, 1 - y_i o)² if it has a label, and C* ℓ_U(o) if not, with
    ℓ_U(o) = 1 + Σ a_k max(0, |o| - t_k)², which is flat, bent and straight by turns like that of Figure 7. With v = 0
    the right side is the objective Ω(β) of eq. 15.
    """
    w = q.Phi.T @ q.beta + q.v
    return 0.5 * w @ w + q.loss(q.Phi @ w + q.b).sum()


def loss_slopes(q: Any) -> Any:
    """The derivatives of the losses."""
    known = -2 * q.C * q.y * np.maximum(0, 1 - q.y * q.f[:2])
    bends = np.maximum(0, np.abs(q.f[2:, None]) - q.t) @ q.a
    return np.append(known, 2 * q.C_star * np.sign(q.f[2:]) * bends)


@step(
    r"\ell_i'(f_i)",
    r"\begin{cases} -2Cy_i\max(0, 1 - y_i f_i) & i \le l \\"
    r" 2C^*\operatorname{sign}(f_i)\sum_k a_k\max(0, |f_i| - t_k) & i > l \end{cases}",
    tolerance=1e-5,
    rests_on=("step 10",),
    claimed=loss_slopes,
    faults={
        "y forgotten": lambda q: np.append(loss_slopes(q)[:2] * q.y, loss_slopes(q)[2:]),
        "the sign of f forgotten": lambda q: np.append(loss_slopes(q)[:2], loss_slopes(q)[2:] * np.sign(q.f[2:])),
        "the factor 2 forgotten": lambda q: loss_slopes(q) / 2,
    },
)
def step_11(q: Six) -> Any:
    """The losses are made of squares of max(0, ·), which have these derivatives, at the outputs f_i = K_iᵀβ + b.

    The slope of such a square is 0 where it begins, so that the losses have no kinks.
    """
    return (q.loss(q.f + 1e-5) - q.loss(q.f - 1e-5)) / 2e-5


@step(
    r"\nabla\Omega(\beta)",
    r"Kh,\quad h_i = \beta_i + \ell_i'(f_i)",
    tolerance=1e-5,
    rests_on=("step 10", "step 11"),
    claimed=lambda q: q.K @ (q.beta + q.slope),
    faults={
        "K left out": lambda q: q.beta + q.slope,
        "K at the losses only": lambda q: q.beta + q.K @ q.slope,
        "the factor 2 of a form without its ½": lambda q: q.K @ (2 * q.beta + q.slope),
    },
)
def step_12(q: Six) -> Any:
    """By the chain rule the derivative of a loss by β is its slope times K_i, so that K comes out in front (eq. 16).

    The paper has the letter g for h.
    """
    return differences(q.Omega, q.beta)


def curvatures(q: Any) -> Any:
    """The second derivatives of the losses."""
    known = 2 * q.C * (q.y * q.f[:2] < 1)
    bends = (np.abs(q.f[2:, None]) > q.t) @ q.a
    return np.append(known, 2 * q.C_star * bends)


@step(
    r"\ell_i''(f_i)",
    r"\begin{cases} 2C\,[y_i f_i < 1] & i \le l \\ 2C^*\sum_k a_k\,[|f_i| > t_k] & i > l \end{cases}",
    tolerance=1e-5,
    rests_on=("step 11",),
    claimed=curvatures,
    faults={
        "the factor 2 forgotten": lambda q: curvatures(q) / 2,
        "as if the loss without a label were convex": lambda q: np.abs(curvatures(q)),
        "labelled points beyond the margin": lambda q: np.append(2 * q.C * (q.y * q.f[:2] > 1), curvatures(q)[2:]),
    },
)
def step_13(q: Six) -> Any:
    """One more derivative of step 11 leaves 0 where a loss is flat or straight, and a constant where it bends.

    A bracket [·] is 1 if what is in it is true, and 0 if not. These are the D_ii of eq. 17, and they are negative where
    the loss of a point without a label bends downwards.
    """
    return (q.loss_slope(q.f + 1e-5) - q.loss_slope(q.f - 1e-5)) / 2e-5


@step(
    r"\nabla^2\Omega(\beta)",
    r"K + KDK",
    tolerance=1e-5,
    rests_on=("step 12", "step 13"),
    claimed=lambda q: q.K + q.K @ np.diag(q.D) @ q.K,
    faults={
        "K + D": lambda q: q.K + np.diag(q.D),
        "K + DK": lambda q: q.K + np.diag(q.D) @ q.K,
        "the first K forgotten": lambda q: q.K @ np.diag(q.D) @ q.K,
    },
)
def step_14(q: Six) -> Any:
    """The derivative of Kh by β has K once more for the slopes ℓ_i', because the outputs are Kβ + b (eq. 17).

    D is the diagonal matrix of the numbers of step 13, and H is the Hessian. Points with D_ii = 0 leave no trace of D.
    """
    return differences(q.gradient, q.beta)


@step(
    r"-(H + (\lambda - 1)K)^{-1}\,\nabla\Omega(\beta)",
    r"-(\lambda I + DK)^{-1} h",
    rests_on=("step 12", "step 14"),
    claimed=lambda q: -np.linalg.solve(q.lam * np.eye(6) + np.diag(q.D) @ q.K, q.h),
    faults={
        "K on the wrong side of D": lambda q: -np.linalg.solve(q.lam * np.eye(6) + q.K @ np.diag(q.D), q.h),
        "upwards": lambda q: np.linalg.solve(q.lam * np.eye(6) + np.diag(q.D) @ q.K, q.h),
        "1 in place of λ": lambda q: -np.linalg.solve(np.eye(6) + np.diag(q.D) @ q.K, q.h),
    },
)
def step_15(q: Six) -> Any:
    """The damped Newton step has a factor K on the left of the matrix and of the gradient, which cancels.

    It has λK in place of the first K of the Hessian H. With λ = 1 it is the Newton step, and a larger λ is for an H
    that is not positive definite, as negative D_ii can make it. K is invertible, as the paper takes it to be.
    """
    return np.linalg.solve(q.M, -q.gradient(q.beta))


def eigenvalues(q: Any) -> Any:
    """The eigenvalues of B, and λ for each point that is no support vector, sorted."""
    B = q.lam * np.eye(len(q.sv)) + q.A_sv @ np.diag(q.D[q.sv]) @ q.A_sv.T
    return np.sort([*np.linalg.eigvalsh(B), *(q.lam for i in q.nsv)])


@step(
    r"\operatorname{eig}(\lambda I + ADA^\top)",
    r"\operatorname{eig}(\lambda I + A_{sv}D_{sv}A_{sv}^\top) \cup \{\lambda, \dots, \lambda\}",
    rests_on=("step 14",),
    claimed=eigenvalues,
    faults={
        "0 for the other points": lambda q: np.sort([*np.linalg.eigvalsh(q.B), *(0.0 for i in q.nsv)]),
        "λ left out of B": lambda q: np.sort([*(np.linalg.eigvalsh(q.B) - q.lam), *(q.lam for i in q.nsv)]),
        "K in place of its factor": lambda q: np.linalg.eigvalsh(q.lam * np.eye(6) + q.K @ np.diag(q.D) @ q.K),
    },
)
def step_16(q: Six) -> Any:
    """Only points with D_ii ≠ 0 decide whether the damped Hessian is positive definite, as the others leave λ alone.

    With AᵀA = K it is Aᵀ(λI + ADAᵀ)A, which is positive definite if the eigenvalues on the left are positive, and only
    then. The points with D_ii ≠ 0 are the support vectors, sv, and the matrix on the right is called B. A_sv is for
    their part K_sv of K what A is for K. Eigenvalues are sorted.
    """
    return np.linalg.eigvalsh(q.lam * np.eye(6) + q.A @ np.diag(q.D) @ q.A.T)


@step(
    r"s_{nsv}",
    r"-\tfrac1\lambda h_{nsv}",
    rests_on=("step 15",),
    claimed=lambda q: -q.h[q.nsv] / q.lam,
    faults={"λ forgotten": lambda q: -q.h[q.nsv], "β in place of h": lambda q: -q.beta[q.nsv] / q.lam},
    printed=lambda q: q.h[q.nsv] / q.lam,
    printed_tex=r"s_{nsv} = \tfrac1\lambda g_{nsv}",
    corrected_tex=r"s_{nsv} = -\tfrac1\lambda g_{nsv}",
    misprint="The second line of eq. 18 lacks the minus sign; the g of the paper is h here.",
)
def step_17(q: Six) -> Any:
    """Where D_ii = 0, row i of the system (λI + DK) s = -h of step 15 has λ s_i on its left and nothing else.

    The step is called s, and the points with D_ii = 0 are called nsv. Their part of the step costs nothing.
    """
    return q.s[q.nsv]


def without_the_others(q: Any) -> Any:
    """The right side of the rows of support vectors, after step 17 is put in."""
    K = q.K[np.ix_(q.sv, q.nsv)]
    return q.h[q.sv] - q.D[q.sv] * (K @ q.h[q.nsv]) / q.lam


def step_of_support_vectors(q: Any) -> Any:
    """The first line of eq. 18."""
    e = q.A_sv @ without_the_others(q)
    return -np.linalg.solve(q.A_sv, np.linalg.solve(q.B, e))


@step(
    r"s_{sv}",
    r"-A_{sv}^{-1} B^{-1} A_{sv} (h_{sv} - \tfrac1\lambda D_{sv} K_{sv,nsv} h_{nsv})",
    rests_on=("step 15", "step 16", "step 17"),
    claimed=step_of_support_vectors,
    faults={
        "without the other points": lambda q: -np.linalg.solve(q.A_sv, np.linalg.solve(q.B, q.A_sv @ q.h[q.sv])),
        "B without the factors around it": lambda q: -np.linalg.solve(q.B, without_the_others(q)),
        "upwards": lambda q: -step_of_support_vectors(q),
    },
)
def step_18(q: Six) -> Any:
    """With step 17 put in, the rows of support vectors are a system with the matrix A_sv⁻¹ B A_sv alone (eq. 18).

    The matrix is λI + D_sv K_sv, and K_sv = A_svᵀ A_sv. The time to solve it grows with the cube of the number of
    support vectors, however many other points there are.
    """
    return q.s[q.sv]


@step(
    r"\Omega(\beta + n)",
    r"\Omega(\beta) + \tfrac12 n^\top K h",
    rests_on=("step 12", "step 14", "step 15"),
    claimed=lambda q: q.Omega(q.beta) + 0.5 * q.n @ q.K @ q.h,
    faults={
        "½ forgotten": lambda q: q.Omega(q.beta) + q.n @ q.K @ q.h,
        "upwards": lambda q: q.Omega(q.beta) - 0.5 * q.n @ q.K @ q.h,
        "K forgotten": lambda q: q.Omega(q.beta) + 0.5 * q.n @ q.h,
    },
)
def step_19(q: Six) -> Any:
    """While no output passes a bend, Ω is a parabola along the Newton step n, and n ends where its slope is 0.

    The step n is that of step 15 with λ = 1. A parabola with the slope nᵀKh where it begins and 0 where it ends changes
    by half of that slope. H is positive definite here, so that β + n is the lowest point of the quadratic piece.
    """
    return q.Omega(q.beta + q.n)
