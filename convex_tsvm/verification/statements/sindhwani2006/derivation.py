"""From the objective of the l2-SVM to CGLS, the line search and annealing, on six points: §1.2 and §1.4 in steps."""

from __future__ import annotations

import itertools
from functools import cache, cached_property, partial
from typing import Any

import cvxpy as cp
import numpy as np

from . import PAPER


class Six:
    """Six points with three features, and a w to step from.

    From step 14 on, only the first two labels are known, and the last four points are the x'_j of the paper.

    Attributes
    ----------
    X : array, shape (6, 3)
        The points; the last feature is 1, so that its weight is the bias.
    y : array, shape (6,)
        The labels y_i, 1 or -1.
    c : array, shape (6,)
        The costs c_i.
    lam : float
        λ, the weight of ½ ‖w‖².
    w : array, shape (3,)
        The weights w^k that a step begins at.
    p : array, shape (4,)
        Probabilities that the labels of the last four points are 1.
    lam_prime : float
        λ', the weight of the points without labels.
    T : float
        The temperature.
    r : float
        The share of the points without labels that is to be positive.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        points = rng.normal(0, 0.7, (6, 2)) + np.outer(self.y, [0.6, 0.3])
        self.X = np.column_stack([points, np.ones(6)])
        self.c = rng.uniform(0.5, 2.0, 6)
        self.w = rng.normal(0, 0.8, 3)
        self.lam, self.lam_prime, self.T, self.r = 0.7, 1.6, 1.9, 0.5
        self.p = np.array([0.35, 0.6, 0.45, 0.3])

    def f(self, w: Any) -> Any:
        """The objective of eq. 1.2 at w: ½ Σ c_i max(0, 1 - y_i wᵀx_i)² + ½ λ ‖w‖², over all points."""
        short = np.maximum(0, 1 - self.y * (self.X @ w))
        return 0.5 * self.c @ short**2 + 0.5 * self.lam * w @ w

    @cached_property
    def j(self) -> Any:
        """The active set ȷ at w, as a mask: which points have y_i wᵀx_i < 1."""
        return self.y * (self.X @ self.w) < 1

    @cached_property
    def X_j(self) -> Any:
        """X_ȷ, the rows of X of the active points."""
        return self.X[self.j]

    @cached_property
    def Y_j(self) -> Any:
        """Y_ȷ, the labels of the active points."""
        return self.y[self.j]

    @cached_property
    def C_j(self) -> Any:
        """C_ȷ, the diagonal matrix of the costs of the active points."""
        return np.diag(self.c[self.j])

    def gradient(self, w: Any) -> Any:
        """The gradient of f at w, by the formula of step 2 with the active set at this w."""
        error = np.where(self.y * (self.X @ w) < 1, self.X @ w - self.y, 0)
        return self.lam * w + self.X.T @ (self.c * error)

    @cached_property
    def H(self) -> Any:
        """The generalized Hessian H of f at w, of step 3."""
        return self.lam * np.eye(3) + self.X_j.T @ self.C_j @ self.X_j

    @cached_property
    def w_bar(self) -> Any:
        """The Newton point w̄, of step 4."""
        return self.w - np.linalg.solve(self.H, self.gradient(self.w))

    def F(self, w: Any) -> Any:
        """The objective at w with the active set held fixed at ȷ, a quadratic function of w."""
        error = self.X_j @ w - self.Y_j
        return 0.5 * error @ self.C_j @ error + 0.5 * self.lam * w @ w

    @cached_property
    def cgls(self) -> Any:
        """The run of CGLS on ȷ from w: its points w_k, residuals r_k, directions p_k and step lengths α_k."""
        X, C, w = self.X_j, self.C_j, self.w
        z = self.Y_j - X @ w
        r = X.T @ C @ z - self.lam * w
        p = r
        W, R, P, alpha = [w], [r], [p], []
        for _ in range(3):
            Xp = X @ p
            alpha += [r @ r / (Xp @ C @ Xp + self.lam * p @ p)]
            w = w + alpha[-1] * p
            z = z - alpha[-1] * Xp
            before, r = r, X.T @ C @ z - self.lam * w
            p = r + (r @ r) / (before @ before) * p
            W, R, P = [*W, w], [*R, r], [*P, p]
        return np.array(W), np.array(R), np.array(P[:3]), np.array(alpha)

    @cached_property
    def W(self) -> Any:
        """The points w_0 = w, w_1, w_2, w_3 of CGLS, in rows."""
        return self.cgls[0]

    @cached_property
    def R(self) -> Any:
        """The residuals r_0, …, r_3 of CGLS, which are -∇F at w_0, …, w_3, in rows."""
        return self.cgls[1]

    @cached_property
    def P(self) -> Any:
        """The directions p_0, p_1, p_2 of CGLS, in rows."""
        return self.cgls[2]

    @cached_property
    def alpha(self) -> Any:
        """The step lengths α_0, α_1, α_2 of CGLS."""
        return self.cgls[3]

    @cached_property
    def n(self) -> Any:
        """The Newton direction w̄ - w."""
        return self.w_bar - self.w

    @cached_property
    def o(self) -> Any:
        """The outputs wᵀx_i of all points at w."""
        return self.X @ self.w

    @cached_property
    def o_bar(self) -> Any:
        """The outputs of all points at w̄."""
        return self.X @ self.w_bar

    def phi(self, delta: Any) -> Any:
        """The objective on the ray: φ(δ) = f(w + δ (w̄ - w))."""
        return self.f(self.w + delta * self.n)

    @cached_property
    def w_star(self) -> Any:
        """The minimizer w* of f, by CVXPY."""
        w = cp.Variable(3)
        short = cp.pos(1 - cp.multiply(self.y, self.X @ w))
        goal = 0.5 * self.c @ cp.square(short) + 0.5 * self.lam * cp.sum_squares(w)
        cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
        return w.value

    def J(self, y_u: Any) -> Any:
        """The objective of §1.4 at w, if y_u are the labels of the last four points."""
        known = l2(self.y[:2] * self.o[:2]).sum() / (2 * 2)
        unknown = self.lam_prime * l2(np.array(y_u) * self.o[2:]).sum() / (2 * 4)
        return 0.5 * self.lam * self.w @ self.w + known + unknown

    def E(self, w: Any, p: Any) -> Any:
        """The mean of the objective of §1.4 over the labels, by the formula of step 14, for weights w and p."""
        o = self.X @ w
        known = l2(self.y[:2] * o[:2]).sum() / (2 * 2)
        unknown = self.lam_prime * (p @ l2(o[2:]) + (1 - p) @ l2(-o[2:])) / (2 * 4)
        return 0.5 * self.lam * w @ w + known + unknown

    def Pr(self, y_u: Any) -> Any:
        """The probability Pr(y') that y_u are the labels of the last four points, each drawn by itself."""
        return np.prod(np.where(np.array(y_u) == 1, self.p, 1 - self.p))

    def E_T(self, p: Any) -> Any:
        """The objective of eq. 1.6 at w: the mean objective, less T / 2u times the entropy of p (here u = 4)."""
        entropy = -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p))
        return self.E(self.w, p) - self.T / 8 * entropy

    @cached_property
    def g(self) -> Any:
        """The g_j of eq. 1.9: λ' times the loss of a point without a label as 1, less that as -1."""
        return self.lam_prime * (l2(self.o[2:]) - l2(-self.o[2:]))

    @cached_property
    def annealed(self) -> Any:
        """The minimizer p* of eq. 1.6 under the balance of eq. 1.7, and its multiplier ν, by CVXPY."""
        p = cp.Variable(4)
        entropy = cp.sum(cp.entr(p) + cp.entr(1 - p))
        loss = self.lam_prime * (p @ l2(self.o[2:]) + (1 - p) @ l2(-self.o[2:]))
        balance = cp.sum(p) / 4 == self.r
        program = cp.Problem(cp.Minimize((loss - self.T * entropy) / 8), [balance])
        program.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        return p.value, -float(balance.dual_value)

    @cached_property
    def p_star(self) -> Any:
        """The probabilities p* that minimize eq. 1.6 at w under the balance of eq. 1.7, by CVXPY."""
        return self.annealed[0]

    @cached_property
    def nu(self) -> Any:
        """The multiplier ν of the balance, by CVXPY."""
        return self.annealed[1]


@cache
def problems() -> list[Six]:
    """Six points, and six others; with these seeds points enter and leave the active set along the Newton step."""
    return [Six(464), Six(293)]


step = partial(PAPER.step, quantities=problems)


def l2(z: Any) -> Any:
    """The loss of the l2-SVM: l₂(z) = max(0, 1 - z)²."""
    return np.maximum(0, 1 - z) ** 2


def differences(function: Any, x: Any) -> Any:
    """The derivatives of a function by the entries of x, from values on both sides of x."""
    steps = 1e-5 * np.eye(len(x))
    return np.array([(function(x + e) - function(x - e)) / 2e-5 for e in steps])


def squares(q: Any) -> Any:
    """The objective of least squares on the active set."""
    error = q.X[q.j] @ q.w - q.y[q.j]
    return 0.5 * q.c[q.j] @ error**2 + 0.5 * q.lam * q.w @ q.w


@step(
    r"f(w)",
    r"\tfrac12\sum_{i\in\jmath} c_i (w^\top x_i - y_i)^2 + \tfrac\lambda2\|w\|^2",
    claimed=squares,
    faults={
        "the sum over all points": lambda q: 0.5 * q.c @ (q.X @ q.w - q.y) ** 2 + 0.5 * q.lam * q.w @ q.w,
        "½ in front of the losses forgotten": lambda q: 2 * squares(q) - 0.5 * q.lam * q.w @ q.w,
        "½ in front of λ forgotten": lambda q: squares(q) + 0.5 * q.lam * q.w @ q.w,
    },
)
def step_1(q: Six) -> Any:
    """Only points of the active set ȷ pay, and they pay (1 - y_i wᵀx_i)², which is (wᵀx_i - y_i)² because y_i² = 1.

    The active set ȷ = ȷ(w) has the points with y_i wᵀx_i < 1. It is where the maximum in the loss is not 0.
    """
    return q.f(q.w)


@step(
    r"\nabla f(w)",
    r"\lambda w + X_\jmath^\top C_\jmath (X_\jmath w - Y_\jmath)",
    tolerance=1e-5,
    rests_on=("step 1",),
    claimed=lambda q: q.lam * q.w + q.X_j.T @ q.C_j @ (q.X_j @ q.w - q.Y_j),
    faults={
        "a factor 2, though ½ cancels it": lambda q: q.lam * q.w + 2 * q.X_j.T @ q.C_j @ (q.X_j @ q.w - q.Y_j),
        "λ w forgotten": lambda q: q.X_j.T @ q.C_j @ (q.X_j @ q.w - q.Y_j),
        "all points in place of the active ones": lambda q: q.lam * q.w + q.X.T @ (q.c * (q.X @ q.w - q.y)),
    },
)
def step_2(q: Six) -> Any:
    """The gradient is that of the least squares of step 1, because a small change of w leaves ȷ as it is.

    At a w where a point enters or leaves ȷ, its loss and the slope of its loss are both 0, so that f has a gradient
    there too.
    """
    return differences(q.f, q.w)


@step(
    r"\nabla^2 f(w)",
    r"\lambda I + X_\jmath^\top C_\jmath X_\jmath",
    tolerance=1e-5,
    rests_on=("step 2",),
    claimed=lambda q: q.lam * np.eye(3) + q.X_j.T @ q.C_j @ q.X_j,
    faults={
        "all points in place of the active ones": lambda q: q.lam * np.eye(3) + q.X.T @ np.diag(q.c) @ q.X,
        "λ I forgotten": lambda q: q.X_j.T @ q.C_j @ q.X_j,
        "the costs squared": lambda q: q.lam * np.eye(3) + q.X_j.T @ q.C_j @ q.C_j @ q.X_j,
    },
)
def step_3(q: Six) -> Any:
    """The second derivatives follow from step 2 by one more derivative with ȷ held fixed.

    Where some y_i wᵀx_i is 1 they do not exist; the formula is used there too, and is called a generalized Hessian. It
    is the matrix H from here on.
    """
    return differences(q.gradient, q.w)


def newton_point(q: Any) -> Any:
    """The solution of eq. 1.4."""
    A = q.lam * np.eye(3) + q.X_j.T @ q.C_j @ q.X_j
    return np.linalg.solve(A, q.X_j.T @ q.C_j @ q.Y_j)


@step(
    r"w - H^{-1}\,\nabla f(w)",
    r"(\lambda I + X_\jmath^\top C_\jmath X_\jmath)^{-1} X_\jmath^\top C_\jmath Y_\jmath",
    rests_on=("step 2", "step 3"),
    claimed=newton_point,
    faults={
        "a minus in front of Y": lambda q: -newton_point(q),
        "w added, as if this were the direction": lambda q: q.w + newton_point(q),
        "all points in place of the active ones": lambda q: normal_equations(q, q.j | ~q.j),
    },
)
def step_4(q: Six) -> Any:
    """The Newton point solves eq. 1.4, because the gradient is H times w, less a vector that w is not in.

    So the Newton point depends on w through the active set alone. It is called w̄ from here on.
    """
    return q.w - np.linalg.solve(q.H, q.gradient(q.w))


def normal_equations(q: Any, on: Any) -> Any:
    """The solution of eq. 1.4 for some of the points."""
    X, C, y = q.X[on], np.diag(q.c[on]), q.y[on]
    return np.linalg.solve(q.lam * np.eye(3) + X.T @ C @ X, X.T @ C @ y)


def stacked(q: Any) -> Any:
    """The solution of the least squares problem."""
    root = np.sqrt(np.diag(q.c[q.j]))
    A = np.vstack([root @ q.X_j, np.sqrt(q.lam) * np.eye(3)])
    z = np.concatenate([root @ q.Y_j, np.zeros(3)])
    return np.linalg.lstsq(A, z, rcond=None)[0]


def stacked_wrongly(q: Any, C: Any, root_lam: Any) -> Any:
    """The same with another matrix in place of √C_ȷ, and another number for √λ."""
    A = np.vstack([C @ q.X_j, root_lam * np.eye(3)])
    return np.linalg.lstsq(A, np.concatenate([C @ q.Y_j, np.zeros(3)]), rcond=None)[0]


@step(
    r"\bar w",
    r"\arg\min_v \Big\|\begin{pmatrix}\sqrt{C_\jmath}\,X_\jmath\\ \sqrt{\lambda}\,I\end{pmatrix} v -"
    r" \begin{pmatrix}\sqrt{C_\jmath}\,Y_\jmath\\ 0\end{pmatrix}\Big\|^2",
    rests_on=("step 4",),
    claimed=stacked,
    faults={
        "the costs without the root": lambda q: stacked_wrongly(q, q.C_j, np.sqrt(q.lam)),
        "λ without the root": lambda q: stacked_wrongly(q, np.sqrt(q.C_j), q.lam),
        "the rows of the unit matrix forgotten": lambda q: stacked_wrongly(q, np.sqrt(q.C_j), 0),
    },
)
def step_5(q: Six) -> Any:
    """The Newton point is a least squares solution, because step 4 has the normal equations, with d more rows for λ.

    With A and z for the matrix and the vector of the problem, they are AᵀA v = Aᵀz. CGLS solves them by products with A
    and its transpose, and never forms AᵀA.
    """
    return q.w_bar


@step(
    r"\arg\min_\alpha F(w_k + \alpha p_k)",
    r"\frac{\|r_k\|^2}{p_k^\top Hp_k}",
    rests_on=("step 3",),
    claimed=lambda q: [q.R[k] @ q.R[k] / (q.P[k] @ q.H @ q.P[k]) for k in range(3)],
    faults={
        "the matrix without λ I": lambda q: [
            q.R[k] @ q.R[k] / (q.P[k] @ (q.H - q.lam * np.eye(3)) @ q.P[k]) for k in range(3)
        ],
        "a factor ½": lambda q: [0.5 * (q.R[k] @ q.R[k]) / (q.P[k] @ q.H @ q.P[k]) for k in range(3)],
        "p in place of r": lambda q: [q.P[k] @ q.P[k] / (q.P[k] @ q.H @ q.P[k]) for k in range(3)],
    },
)
def step_6(q: Six) -> Any:
    """On a line F is a parabola with slope -r_kᵀp_k = -‖r_k‖² at w_k, and it is lowest after a step of this length.

    F is f with ȷ held fixed, and r_k = -∇F(w_k). CGLS begins with p_0 = r_0. Later p_k is r_k plus a multiple of the
    direction before, to which r_k is orthogonal after a step to the lowest point there; so r_kᵀp_k = ‖r_k‖² still. The
    length is called α_k, and here are those for k = 0, 1, 2.
    """
    return [vertex(q.F, q.W[k], q.P[k]) for k in range(3)]


def vertex(F: Any, w: Any, p: Any) -> Any:
    """The α at which the parabola F(w + α p) is lowest, from three of its values."""
    before, here, after = F(w - p), F(w), F(w + p)
    return (before - after) / (2 * (before - 2 * here + after))


@step(
    r"X_\jmath^\top C_\jmath (Y_\jmath - X_\jmath w_{k+1}) - \lambda w_{k+1}",
    r"r_k - \alpha_k\,Hp_k",
    rests_on=("step 2", "step 6"),
    claimed=lambda q: [q.R[k] - q.alpha[k] * q.H @ q.P[k] for k in range(3)],
    faults={
        "a plus": lambda q: [q.R[k] + q.alpha[k] * q.H @ q.P[k] for k in range(3)],
        "λ I forgotten": lambda q: [q.R[k] - q.alpha[k] * (q.H - q.lam * np.eye(3)) @ q.P[k] for k in range(3)],
        "α forgotten": lambda q: [q.R[k] - q.H @ q.P[k] for k in range(3)],
    },
)
def step_7(q: Six) -> Any:
    """The next residual follows from r_k by a product with H, because the gradient of F is linear in w.

    The next point is w_k + α_k p_k. An iteration needs X_ȷ p_k and one product by the transpose of X_ȷ, and the rest of
    it is cheap. Here k = 0, 1, 2.
    """
    error = [q.X_j @ w - q.Y_j for w in q.W]
    return [-q.X_j.T @ q.C_j @ error[k + 1] - q.lam * q.W[k + 1] for k in range(3)]


@step(
    r"-\frac{r_{k+1}^\top Hp_k}"
    r"{p_k^\top Hp_k}",
    r"\frac{\|r_{k+1}\|^2}{\|r_k\|^2}",
    rests_on=("step 6", "step 7"),
    claimed=lambda q: [q.R[k + 1] @ q.R[k + 1] / (q.R[k] @ q.R[k]) for k in range(2)],
    faults={
        "upside down": lambda q: [q.R[k] @ q.R[k] / (q.R[k + 1] @ q.R[k + 1]) for k in range(2)],
        "norms that are not squared": lambda q: [np.linalg.norm(q.R[k + 1]) / np.linalg.norm(q.R[k]) for k in range(2)],
        "a minus": lambda q: [-q.R[k + 1] @ q.R[k + 1] / (q.R[k] @ q.R[k]) for k in range(2)],
    },
)
def step_8(q: Six) -> Any:
    """The next direction is the next residual plus this multiple of p_k, to be conjugate to it; it needs no matrix.

    By step 7 the vector α_k Hp_k is the difference of two residuals, which are orthogonal, and by step 6 the product
    below is ‖r_k‖² / α_k. Here k = 0, 1.
    """
    top = [q.R[k + 1] @ q.H @ q.P[k] for k in range(2)]
    return [-top[k] / (q.P[k] @ q.H @ q.P[k]) for k in range(2)]


def conjugate(q: Any) -> Any:
    """A diagonal matrix."""
    squares = [q.R[k] @ q.R[k] for k in range(3)]
    return np.diag(squares / q.alpha)


@step(
    r"p_i^\top Hp_k",
    r"\begin{cases} \|r_k\|^2 / \alpha_k & \text{if } i = k \\ 0 & \text{if } i \ne k \end{cases}",
    rests_on=("step 6", "step 8"),
    claimed=conjugate,
    faults={
        "times α": lambda q: conjugate(q) * q.alpha**2,
        "the squared norms of the directions": lambda q: np.diag([q.P[k] @ q.P[k] for k in range(3)]),
        "the squared norms of the residuals": lambda q: np.diag([q.R[k] @ q.R[k] for k in range(3)]),
    },
)
def step_9(q: Six) -> Any:
    """All directions are conjugate, also those that step 8 does not pair, and step 6 gives the products for i = k.

    A residual is orthogonal to all directions before it, and by step 7 the vector α_k Hp_k is a difference of
    residuals. Both sides are matrices, with a row for each i and a column for each k = 0, 1, 2.
    """
    return q.P @ q.H @ q.P.T


@step(
    r"\bar w",
    r"w + \sum_{k=0}^{d-1} \alpha_k p_k",
    rests_on=("step 5", "step 9"),
    claimed=lambda q: q.w + q.alpha @ q.P,
    faults={
        "one direction too few": lambda q: q.w + q.alpha[:2] @ q.P[:2],
        "the start forgotten": lambda q: q.alpha @ q.P,
        "residuals in place of directions": lambda q: q.w + q.alpha @ q.R[:3],
    },
)
def step_10(q: Six) -> Any:
    """CGLS is exact after d = 3 steps, because a step along a conjugate direction leaves the others at their best.

    The paper says that r steps are needed, with r the rank of X_ȷ. That is so from w = 0. From a start that is not a
    combination of the rows of X_ȷ, as seeding may give it, r + 1 steps may be needed if r < d.
    """
    return q.w_bar


def slope(q: Any, delta: Any) -> Any:
    """The slope of φ at δ."""
    change = q.o_bar - q.o
    error = q.o + delta * change - q.y
    on = q.y * error < 0
    return q.lam * (q.w + delta * q.n) @ q.n + q.c[on] * error[on] @ change[on]


@step(
    r"\varphi'(\delta)",
    r"\lambda (w + \delta n)^\top n + \sum_{i\in\jmath(w + \delta n)} c_i (o_i + \delta\Delta_i - y_i)\,\Delta_i",
    tolerance=1e-5,
    rests_on=("step 2",),
    claimed=lambda q: [slope(q, delta) for delta in (0.3, 0.7, 1.1)],
    faults={
        "the active set of δ = 0": lambda q: [slope(q, 0) + delta * q.n @ q.H @ q.n for delta in (0.3, 0.7, 1.1)],
        "λ δ ‖n‖² forgotten": lambda q: [slope(q, delta) - q.lam * delta * q.n @ q.n for delta in (0.3, 0.7, 1.1)],
        "the slope at δ = 0": lambda q: [slope(q, 0) for delta in (0.3, 0.7, 1.1)],
    },
)
def step_11(q: Six) -> Any:
    """The slope of φ(δ) = f(w + δn) along the Newton direction n = w̄ - w is the gradient of step 2 there, times n.

    The outputs o_i = wᵀx_i change by δΔ_i with Δ_i = nᵀx_i, and a point counts if it is active at w + δn. Here
    δ = 0.3, 0.7 and 1.1.
    """
    return [(q.phi(delta + 1e-5) - q.phi(delta - 1e-5)) / 2e-5 for delta in (0.3, 0.7, 1.1)]


def break_points(q: Any) -> Any:
    """The neighbouring break points between which φ' changes its sign; 1000 is beyond all of them."""
    breaks = (q.y - q.o) / (q.o_bar - q.o)
    places = [0, *np.sort(breaks[breaks > 0]), 1000]
    k = next(k for k, place in enumerate(places) if slope(q, place) > 0)
    return places[k - 1], places[k]


def root_of_slope(q: Any) -> Any:
    """The root of φ', on the piece where its sign changes."""
    a, b = break_points(q)
    return a - slope(q, a) * (b - a) / (slope(q, b) - slope(q, a))


@step(
    r"\arg\min_{\delta\ge0} \varphi(\delta)",
    r"a - \varphi'(a)\,\frac{b - a}{\varphi'(b) - \varphi'(a)}",
    tolerance=1e-5,
    rests_on=("step 11",),
    claimed=root_of_slope,
    faults={
        "the root of the first piece": lambda q: -slope(q, 0) / (q.n @ q.H @ q.n),
        "the break point before the root": lambda q: break_points(q)[0],
        "the break point after the root": lambda q: break_points(q)[1],
    },
)
def step_12(q: Six) -> Any:
    """The slope φ' grows and is linear between break points, so that its root is on the piece where its sign changes.

    A break point is a δ > 0 at which a point comes to its margin, where its output is its label: δ = (y_i - o_i) / Δ_i.
    Of 0 and the sorted break points, b is the first with φ'(b) > 0, and a is the one before.
    """
    delta = cp.Variable(nonneg=True)
    v = q.w + delta * q.n
    short = cp.pos(1 - cp.multiply(q.y, q.X @ v))
    goal = 0.5 * q.c @ cp.square(short) + 0.5 * q.lam * cp.sum_squares(v)
    cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    return float(delta.value)


@step(
    r"\arg\min_w f(w)",
    r"(\lambda I + X_*^\top C_* X_*)^{-1} X_*^\top C_* Y_*",
    tolerance=1e-5,
    rests_on=("step 4", "step 12"),
    claimed=lambda q: normal_equations(q, q.y * (q.X @ q.w_star) < 1),
    faults={
        "the active set at w": lambda q: normal_equations(q, q.y * (q.X @ q.w) < 1),
        "the active set at the Newton point": lambda q: normal_equations(q, q.y * (q.X @ q.w_bar) < 1),
        "the points that are not active": lambda q: normal_equations(q, q.y * (q.X @ q.w_star) > 1),
    },
)
def step_13(q: Six) -> Any:
    """The minimizer w* is the Newton point of its own active set, because the gradient is 0 there.

    X_*, Y_* and C_* have the points, labels and costs of the active set at w*. There are finitely many active sets, and
    every line search makes f less, so that the method comes to the one of w* after finitely many steps.
    """
    return q.w_star


def expected(q: Any) -> Any:
    """Eq. 1.6 without its entropy."""
    known = l2(q.y[:2] * q.o[:2]).sum() / (2 * 2)
    unknown = q.p @ l2(q.o[2:]) + (1 - q.p) @ l2(-q.o[2:])
    return 0.5 * q.lam * q.w @ q.w + known + q.lam_prime * unknown / (2 * 4)


@step(
    r"\mathbb E_{y'\sim p}\,J(y')",
    r"\tfrac\lambda2\|w\|^2 + \tfrac1{2l}\sum_i l_2(y_i o_i)"
    r" + \tfrac{\lambda'}{2u}\sum_j p_j\, l_2(o'_j) + (1-p_j)\, l_2(-o'_j)",
    claimed=expected,
    faults={
        "p and 1 - p exchanged": lambda q: expected(q) + q.g @ (1 - 2 * q.p) / 8,
        "the loss of the likelier label alone": lambda q: expected(q) + q.g @ (np.round(q.p) - q.p) / 8,
        "λ' / u in place of λ' / 2u": lambda q: expected(q) + (q.p @ q.g + q.lam_prime * l2(-q.o[2:]).sum()) / 8,
    },
    printed=lambda q: expected(q) + (l2(q.o[:2]) - l2(q.y[:2] * q.o[:2])).sum() / 4,
    printed_tex=r"\tfrac1{2l}\sum_i l_2(w^\top x_i)",
    corrected_tex=r"\tfrac1{2l}\sum_i l_2(y_i w^\top x_i)",
    misprint="The first display of §1.4 has l₂(wᵀx_i), without the label y_i; eq. 1.6 has it.",
)
def step_14(q: Six) -> Any:
    """If labels are drawn with probabilities p, the mean of a sum of losses is the sum of their means.

    From here on only the first l = 2 points have labels, and the other u = 4 are the x'_j. J(y') is the objective if
    these have the labels y', and the left side is its mean over all 16 ways to label them. The outputs are o_i = wᵀx_i
    and o'_j = wᵀx'_j, and the loss is l₂(z) = max(0, 1 - z)².
    """
    labels = itertools.product([1, -1], repeat=4)
    return sum(q.Pr(y) * q.J(y) for y in labels)


def doubled(q: Any) -> Any:
    """Eq. 1.2 for the points with labels and both copies of the others."""
    X = np.vstack([q.X[:2], q.X[2:], q.X[2:]])
    y = np.concatenate([q.y[:2], np.ones(4), -np.ones(4)])
    c = np.concatenate([[1 / 2, 1 / 2], q.lam_prime * q.p / 4, q.lam_prime * (1 - q.p) / 4])
    return 0.5 * c @ l2(y * (X @ q.w)) + 0.5 * q.lam * q.w @ q.w


@step(
    r"\mathbb E_{y'\sim p}\,J(y')",
    r"\tfrac12\sum_{i=1}^{l+2u} \hat c_i\, l_2(\hat y_i w^\top \hat x_i) + \tfrac\lambda2\|w\|^2",
    rests_on=("step 1", "step 14"),
    claimed=doubled,
    faults={
        "p and 1 - p exchanged": lambda q: doubled(q) + q.g @ (1 - 2 * q.p) / 8,
        "one copy only, with label 1": lambda q: doubled(q) - q.lam_prime * (1 - q.p) @ l2(-q.o[2:]) / 8,
        "½ in front of the losses forgotten": lambda q: 2 * doubled(q) - 0.5 * q.lam * q.w @ q.w,
    },
)
def step_15(q: Six) -> Any:
    """For fixed p this is eq. 1.2 again, with every point without a label taken twice, as 1 and as -1 (eq. 1.8).

    The points x̂_i are those with labels, then the others with labels ŷ_i = 1, then the others with ŷ_i = -1; the costs
    ĉ_i are 1/l, then λ'p_j/u, then λ'(1 - p_j)/u. So steps 1 to 13 find the best w for these p.
    """
    return q.E(q.w, q.p)


@step(
    r"-\sum_{y'} \Pr(y')\log \Pr(y')",
    r"-\sum_{j=1}^{u} p_j\log p_j + (1-p_j)\log(1-p_j)",
    claimed=lambda q: -np.sum(q.p * np.log(q.p) + (1 - q.p) * np.log(1 - q.p)),
    faults={
        "without the terms of 1 - p": lambda q: -np.sum(q.p * np.log(q.p)),
        "logarithms to the base 2": lambda q: -np.sum(q.p * np.log2(q.p) + (1 - q.p) * np.log2(1 - q.p)),
        "the sign": lambda q: np.sum(q.p * np.log(q.p) + (1 - q.p) * np.log(1 - q.p)),
    },
    printed=lambda q: -np.sum(q.p[1:] * np.log(q.p[1:]) + (1 - q.p[1:]) * np.log(1 - q.p[1:])),
    printed_tex=r"-\sum_{j=l}^{u} p_j\log p_j + (1-p_j)\log(1-p_j)",
    corrected_tex=r"-\sum_{j=1}^{u} p_j\log p_j + (1-p_j)\log(1-p_j)",
    misprint="In §1.4.3 the sum begins at j = l, the number of points with labels, in place of j = 1.",
)
def step_16(q: Six) -> Any:
    """The entropy of all labels is the sum of the entropies of each, because the logarithm of a product is a sum.

    Pr(y') is the product of the probabilities of the single labels. The entropy is called H(p) from here on.
    """
    P = np.array([q.Pr(y) for y in itertools.product([1, -1], repeat=4)])
    return -np.sum(P * np.log(P))


def slope_in_p(q: Any) -> Any:
    """The derivatives of eq. 1.6 by p."""
    gain = q.lam_prime * (l2(q.o[2:]) - l2(-q.o[2:]))
    return (gain + q.T * np.log(q.p / (1 - q.p))) / (2 * 4)


@step(
    r"\tfrac{\partial}{\partial p_j} \left(\mathbb E_{y'\sim p}\,J(y') - \tfrac T{2u} H(p)\right)",
    r"\tfrac1{2u}\left(\lambda'[l_2(o'_j) - l_2(-o'_j)] + T\log\tfrac{p_j}{1-p_j}\right)",
    tolerance=1e-5,
    rests_on=("step 14", "step 16"),
    claimed=slope_in_p,
    faults={
        "the entropy with the wrong sign": lambda q: slope_in_p(q) - q.T * np.log(q.p / (1 - q.p)) / 4,
        "T forgotten": lambda q: slope_in_p(q) + (1 - q.T) * np.log(q.p / (1 - q.p)) / 8,
        "1 / 2u forgotten": lambda q: 8 * slope_in_p(q),
    },
)
def step_17(q: Six) -> Any:
    """The mean of step 14 is linear in every p_j, and every p_j is in one term of the entropy H.

    The bracket on the left is the objective of eq. 1.6 at w, in which T rewards uncertain labels. It is convex in p.
    """
    return differences(q.E_T, q.p)


@step(
    r"p^*_j",
    r"\frac{1}{1 + e^{(g_j - 2\nu)/T}}",
    tolerance=1e-5,
    rests_on=("step 17",),
    claimed=lambda q: 1 / (1 + np.exp((q.g - 2 * q.nu) / q.T)),
    faults={
        "ν in place of 2ν": lambda q: 1 / (1 + np.exp((q.g - q.nu) / q.T)),
        "the sign of the exponent": lambda q: 1 / (1 + np.exp((2 * q.nu - q.g) / q.T)),
        "T forgotten": lambda q: 1 / (1 + np.exp(q.g - 2 * q.nu)),
    },
)
def step_18(q: Six) -> Any:
    """At the best p whose mean is r, the derivatives of step 17 are all ν/u, and this is solved for p_j (eq. 1.9).

    The Lagrangian is eq. 1.6 with the term -ν (Σ p_j / u - r), and g_j is the first term in the bracket of step 17. The
    bounds 0 <= p_j <= 1 need no multipliers, because the logarithm is infinite there.
    """
    return q.p_star


def root_of_balance(q: Any) -> Any:
    """The ν for which the mean of p is r, by halving an interval."""
    low, high = np.min(q.g) - 20 * q.T, np.max(q.g) + 20 * q.T
    for _ in range(60):
        middle = (low + high) / 2
        share = np.mean(1 / (1 + np.exp((q.g - middle) / q.T)))
        low, high = (middle, high) if share < q.r else (low, middle)
    return middle / 2


@step(
    r"\nu",
    r"\text{the root of } \nu \mapsto \tfrac1u\sum_{j=1}^{u} \frac{1}{1 + e^{(g_j - 2\nu)/T}} - r",
    tolerance=1e-5,
    rests_on=("step 18",),
    claimed=root_of_balance,
    faults={
        "2ν in place of ν": lambda q: 2 * root_of_balance(q),
        "the mean of the g": lambda q: np.mean(q.g) / 2,
        "no balance": lambda q: 0.0,
    },
)
def step_19(q: Six) -> Any:
    """The mean of p must be r (eq. 1.7), and that decides ν, because every p_j grows with ν.

    Halving an interval finds it. Steps 1 to 15 find the best w for given p, and steps 18 and 19 the best p for given w.
    Annealing goes on with both in turn, and lowers T.
    """
    return q.nu
