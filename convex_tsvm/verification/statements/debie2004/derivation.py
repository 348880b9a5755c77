"""From the transductive SVM to a semidefinite program, on six points: §1 to §3 of the paper, a step at a time."""

from __future__ import annotations

import itertools
from functools import cache, cached_property, partial
from typing import Any

import cvxpy as cp
import numpy as np

from ..mistakes import altered
from . import PAPER


class Six:
    """Six points on a plane, of which three have labels.

    Attributes
    ----------
    X : array, shape (6, 2)
        The points x_i as rows, those with labels first.
    y_t : array, shape (3,)
        The known labels.
    y : array, shape (6,)
        A labelling: the known labels, and a guess of the other three.
    z : array, shape (6,)
        Another labelling.
    C : float
        The cost of an error.
    t_0 : float
        Any number, which stands for t.
    """

    def __init__(self, seed: int, C: float) -> None:
        rng = np.random.default_rng(seed)
        self.X = rng.normal(0, 0.7, (6, 2)) + np.outer([1, -1, 1, -1, 1, -1], [1.0, 0.5])
        self.y_t = np.array([1.0, -1.0, 1.0])
        self.y = np.append(self.y_t, [-1.0, 1.0, -1.0])
        self.z = np.append(self.y_t, [-1.0, -1.0, 1.0])
        self.C = C
        self.t_0 = 5.5

    @cached_property
    def svm(self) -> Any:
        """The SVM without bias for the labels y, solved: w, ξ, and the multipliers of both constraints."""
        w, xi = cp.Variable(2), cp.Variable(6)
        margins = cp.multiply(self.y, self.X @ w) >= 1 - xi
        slacks = xi >= 0
        goal = cp.sum_squares(w) / 2 + self.C * cp.sum(xi)
        cp.Problem(cp.Minimize(goal), [margins, slacks]).solve(solver="CLARABEL")
        return w.value, xi.value, margins.dual_value, slacks.dual_value

    @cached_property
    def w(self) -> Any:
        """The w of the SVM for the labels y."""
        return self.svm[0]

    @cached_property
    def xi(self) -> Any:
        """Its slacks ξ."""
        return self.svm[1]

    @cached_property
    def alpha(self) -> Any:
        """α, the multipliers of its constraints y_i w'x_i >= 1 - ξ_i."""
        return self.svm[2]

    @cached_property
    def rho(self) -> Any:
        """ρ, the multipliers of its constraints ξ_i >= 0."""
        return self.svm[3]

    @cached_property
    def K(self) -> Any:
        """The kernel matrix, with entries x_i'x_j."""
        return self.X @ self.X.T

    @cached_property
    def labelings(self) -> Any:
        """All eight labellings, as rows: the known labels, then 1 or -1 for each other point."""
        unknown = itertools.product([1, -1], repeat=3)
        return np.array([[*self.y_t, *signs] for signs in unknown])

    @cached_property
    def svm_values(self) -> Any:
        """The least ½‖w‖² + C Σ ξ_i of the SVM for each of these labellings."""
        values = []
        for y in self.labelings:
            w = cp.Variable(2)
            xi = cp.pos(1 - cp.multiply(y, self.X @ w))
            goal = cp.sum_squares(w) / 2 + self.C * cp.sum(xi)
            values.append(cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL"))
        return np.array(values)

    @cached_property
    def u(self) -> Any:
        """u, the eigenvector of length one of yy' whose eigenvalue is not zero."""
        return np.linalg.eigh(np.outer(self.y, self.y))[1][:, -1]

    @cached_property
    def Gamma(self) -> Any:
        """Γ, a mean of two label matrices: 0.7 yy' + 0.3 zz'."""
        return 0.7 * np.outer(self.y, self.y) + 0.3 * np.outer(self.z, self.z)

    @cached_property
    def V(self) -> Any:
        """V, an orthonormal basis of a subspace that the label vectors y and z lie in, as columns."""
        return np.linalg.qr(np.column_stack([self.y, self.z, self.X[:, 0]]))[0]

    @cached_property
    def M(self) -> Any:
        """M = V'ΓV."""
        return self.V.T @ self.Gamma @ self.V

    @cached_property
    def A(self) -> Any:
        """A, the matrix K ⊙ Γ."""
        return self.K * self.Gamma

    @cached_property
    def dual(self) -> Any:
        """The program of v(Γ), solved: its value, its α, and half of the multipliers of both bounds of α."""
        values, vectors = np.linalg.eigh(self.A)
        root = vectors * np.sqrt(np.maximum(values, 0))  # A = root @ root.T
        alpha = cp.Variable(6)
        lower, upper = alpha >= 0, alpha <= self.C
        goal = 2 * cp.sum(alpha) - cp.sum_squares(root.T @ alpha)
        value = cp.Problem(cp.Maximize(goal), [lower, upper]).solve(solver="CLARABEL")
        return value, alpha.value, lower.dual_value / 2, upper.dual_value / 2

    @cached_property
    def v(self) -> Any:
        """v(Γ), the same for this Γ."""
        return self.dual[0]

    @cached_property
    def v_y(self) -> Any:
        """v(yy'), the largest 2α'e - α'(K ⊙ yy')α with 0 <= α_i <= C."""
        return largest(self.K * np.outer(self.y, self.y), self.C)

    @cached_property
    def v_z(self) -> Any:
        """v(zz'), the same for zz'."""
        return largest(self.K * np.outer(self.z, self.z), self.C)

    @cached_property
    def alpha_G(self) -> Any:
        """α_Γ, the α at which v(Γ) is reached."""
        return self.dual[1]

    @cached_property
    def nu(self) -> Any:
        """ν, half of the multipliers of α_i >= 0 there."""
        return self.dual[2]

    @cached_property
    def mu(self) -> Any:
        """μ, half of the multipliers of α_i <= C there."""
        return self.dual[3]

    @cached_property
    def b(self) -> Any:
        """b, the right-hand side of step 10."""
        return 1 + self.nu - self.mu

    @cached_property
    def N(self) -> Any:
        """N, an orthonormal basis of the null space of A, as columns."""
        values, vectors = np.linalg.eigh(self.A)
        return vectors[:, np.abs(values) < 1e-9]

    @cached_property
    def A_pinv(self) -> Any:
        """A†, the pseudo-inverse of A."""
        return np.linalg.pinv(self.A, rcond=1e-9)

    @cached_property
    def a(self) -> Any:
        """a, another vector than α_Γ: the same, rounded to one decimal."""
        return np.round(self.alpha_G, 1)

    @cached_property
    def g(self) -> Any:
        """g, the row of step 15."""
        return self.y_t @ self.Gamma[:3, 3:] / 3

    @cached_property
    def sdp(self) -> Any:
        """The semidefinite program (9)-(10) over the small matrix of step 16, solved: its t, and that matrix."""
        small = cp.Variable((4, 4), PSD=True)
        nu, mu = cp.Variable((6, 1)), cp.Variable((6, 1))
        t = cp.Variable((1, 1))
        b = 1 + nu - mu
        A = cp.multiply(self.K, whole(self, small))
        block = cp.bmat([[A, b], [b.T, t - 2 * self.C * cp.sum(mu)]])
        limits = [block >> 0, cp.diag(small) == 1, nu >= 0, mu >= 0]
        cp.Problem(cp.Minimize(t), limits).solve(solver="CLARABEL")
        return t.value[0, 0], small.value

    @cached_property
    def t(self) -> Any:
        """The least t of the semidefinite program (9)-(10)."""
        return self.sdp[0]

    @cached_property
    def Gamma_small(self) -> Any:
        """The matrix Γ̃, of four rows, at which it is reached."""
        return self.sdp[1]


@cache
def problems() -> list[Six]:
    """The six points, and six others, so that no answer is right by chance."""
    return [Six(5, 1.7), Six(0, 0.6)]


step = partial(PAPER.step, quantities=problems)


@step(
    r"w",
    r"\textstyle\sum_i \alpha_i y_i x_i",
    claimed=lambda q: q.X.T @ (q.alpha * q.y),
    faults={"the labels left out": lambda q: q.X.T @ q.alpha, "the wrong sign": lambda q: -q.X.T @ (q.alpha * q.y)},
)
def step_1(q: Six) -> Any:
    """The w of the SVM is a sum of points, as the Lagrangian's derivative by w is zero at the solution.

    The Lagrangian is ½‖w‖² + C Σ ξ_i - Σ α_i (y_i w'x_i - 1 + ξ_i) - Σ ρ_i ξ_i. There is no bias.
    """
    return q.w


@step(
    r"\rho_i",
    r"C - \alpha_i",
    rests_on=("step 1",),
    claimed=lambda q: q.C - q.alpha,
    faults={"the wrong sign": lambda q: q.alpha - q.C, "α in place of what is left of C": lambda q: q.alpha},
)
def step_2(q: Six) -> Any:
    """The multipliers ρ follow from α, as the derivative of the same Lagrangian by ξ_i is zero as well.

    No multiplier is negative, so that no α_i is below 0 or above the cost of an error: these are the bounds (2).
    """
    return q.rho


@step(
    r"\|w\|^2",
    r"\alpha'(K \odot yy')\alpha",
    rests_on=("step 1",),
    claimed=lambda q: q.alpha @ (q.K * np.outer(q.y, q.y)) @ q.alpha,
    faults={
        "the kernel matrix without labels": lambda q: q.alpha @ q.K @ q.alpha,
        "half of it": lambda q: q.alpha @ (q.K * np.outer(q.y, q.y)) @ q.alpha / 2,
    },
)
def step_3(q: Six) -> Any:
    """The squared norm of w is a double sum over the points, since w is the sum of step 1.

    The labels enter only by their products y_i y_j, which are the entries of the label matrix Γ = yy' (3). ⊙ is the
    product entry by entry.
    """
    return q.w @ q.w


@step(
    r"\|w\|^2 + 2C\textstyle\sum_i \xi_i",
    r"2\alpha'e - \alpha'(K \odot yy')\alpha",
    rests_on=("step 1", "step 2", "step 3"),
    claimed=lambda q: 2 * q.alpha.sum() - q.alpha @ (q.K * np.outer(q.y, q.y)) @ q.alpha,
    faults={
        "Σ α once": lambda q: q.alpha.sum() - q.alpha @ (q.K * np.outer(q.y, q.y)) @ q.alpha,
        "a plus in place of the minus": lambda q: 2 * q.alpha.sum() + q.alpha @ (q.K * np.outer(q.y, q.y)) @ q.alpha,
    },
)
def step_4(q: Six) -> Any:
    """Twice the SVM's objective is a function of α alone, once steps 1 to 3 are put into twice the Lagrangian.

    Both are equal at the solution, because there each multiplier is zero or its constraint is tight. ξ drops out, as
    its factor in the Lagrangian is zero by step 2. The vector of ones is e.
    """
    return q.w @ q.w + 2 * q.C * q.xi.sum()


def largest(A: Any, C: float) -> Any:
    """The largest 2α'e - α'Aα with 0 <= α_i <= C."""
    values, vectors = np.linalg.eigh(A)
    root = vectors * np.sqrt(np.maximum(values, 0))  # A = root @ root.T
    alpha = cp.Variable(6)
    goal = 2 * cp.sum(alpha) - cp.sum_squares(root.T @ alpha)
    limits = [alpha >= 0, alpha <= C]
    return cp.Problem(cp.Maximize(goal), limits).solve(solver="CLARABEL")


def values_of(q: Six) -> Any:
    """That maximum for each of the eight label matrices."""
    return [largest(q.K * np.outer(y, y), q.C) for y in q.labelings]


@step(
    r"2 \min_y \min_{w,\xi}\ \tfrac12\|w\|^2 + C\textstyle\sum_i \xi_i",
    r"\min_{\Gamma = yy'}\ \max_{0 \le \alpha_i \le C}\ 2\alpha'e - \alpha'(K \odot \Gamma)\alpha",
    rests_on=("step 2", "step 4"),
    claimed=lambda q: min(values_of(q)),
    faults={
        "the largest over Γ": lambda q: max(values_of(q)),
        "half of it": lambda q: min(values_of(q)) / 2,
        "no upper bound of α": lambda q: min(values_of(altered(q, C=100.0))),
    },
)
def step_5(q: Six) -> Any:
    """The transductive SVM is a program over label matrices (1)-(4), as the α of step 4 is the best for each of them.

    It is the best, since for other α within the bounds (2) the function of step 4 is twice the least value of the
    Lagrangian over w and ξ, and so at most twice the objective (weak duality). The maximum is a small CVXPY program.
    """
    return 2 * min(q.svm_values)


@step(
    r"yy'",
    r"n\,uu'",
    rests_on=("step 5",),
    claimed=lambda q: len(q.u) * np.outer(q.u, q.u),
    faults={
        "the eigenvalue left out": lambda q: np.outer(q.u, q.u),
        "√n in place of n": lambda q: np.sqrt(len(q.u)) * np.outer(q.u, q.u),
    },
)
def step_6(q: Six) -> Any:
    """A symmetric matrix of rank one is its trace times uu', as the trace is the only eigenvalue that is not zero.

    With ones on the diagonal the trace is the number n of points, and each entry of √n u is 1 or -1. So every matrix
    of rank one (7) with these ones (6) and the known block (5) is a label matrix (3)-(4), as Proposition 2.1 says. Of
    (5)-(7) only the rank is not convex.
    """
    return np.outer(q.y, q.y)


@step(
    r"v(0.7\,yy' + 0.3\,zz')",
    r"0.7\,v(yy') + 0.3\,v(zz')",
    relation="<=",
    rests_on=("step 5",),
    claimed=lambda q: 0.7 * q.v_y + 0.3 * q.v_z,
    faults={
        "the squares of the weights": lambda q: 0.49 * q.v_y + 0.09 * q.v_z,
        "half of it, the value of the SVM": lambda q: 0.35 * q.v_y + 0.15 * q.v_z,
    },
)
def step_7(q: Six) -> Any:
    """The maximum over α is convex in Γ, as it is the largest of functions that are linear in Γ, one for each α.

    v(Γ) stands for this maximum from here on. Its convexity is Proposition 2.2, which leaves the constraints on Γ to
    be made convex.
    """
    return q.v


def product(q: Six) -> Any:
    """RR'."""
    R = np.column_stack([np.sqrt(0.7) * q.y, np.sqrt(0.3) * q.z])
    return R @ R.T


@step(
    r"\Gamma",
    r"RR',\quad R = (\sqrt{0.7}\,y,\ \sqrt{0.3}\,z)",
    rests_on=("step 6", "step 7"),
    claimed=product,
    faults={
        "the weights without their roots": lambda q: product(altered(q, y=np.sqrt(0.7) * q.y, z=np.sqrt(0.3) * q.z)),
        "the weights exchanged": lambda q: product(altered(q, y=q.z, z=q.y)),
    },
)
def step_8(q: Six) -> Any:
    """A mean of label matrices is positive semidefinite, since it is RR' with multiples of y and z as columns of R.

    So Γ satisfies (5), (6) and Γ ⪰ 0 (8), but has rank two. With (8) in place of the rank (7) more matrices are
    allowed than label matrices, and the least v(Γ) over them is a lower bound of step 5.
    """
    return q.Gamma


@step(
    r"\lambda_{\min}\begin{pmatrix} \Gamma_{ii} & \Gamma_{ij}\\ \Gamma_{ij} & \Gamma_{jj} \end{pmatrix}",
    r"1 - |\Gamma_{ij}|",
    rests_on=("step 8",),
    claimed=lambda q: 1 - np.abs(q.Gamma[np.triu_indices(6, 1)]),
    faults={
        "without the absolute value": lambda q: 1 - q.Gamma[np.triu_indices(6, 1)],
        "the determinant": lambda q: 1 - q.Gamma[np.triu_indices(6, 1)] ** 2,
    },
)
def step_9(q: Six) -> Any:
    """With ones on the diagonal the smaller eigenvalue for two points i and j depends on their entry of Γ alone.

    It is not negative, as principal submatrices of Γ ⪰ 0 are ⪰ 0 (Lemma 2.1), so that no entry of Γ is above 1 or
    below -1, as Corollary 2.1 says. Pairs i < j are in the order of np.triu_indices(6, 1).
    """
    pairs = np.transpose(np.triu_indices(6, 1))
    blocks = [q.Gamma[np.ix_(pair, pair)] for pair in pairs]
    return [np.linalg.eigvalsh(block)[0] for block in blocks]


@step(
    r"(K \odot \Gamma)\,\alpha_\Gamma",
    r"e + \nu - \mu",
    rests_on=("step 7",),
    claimed=lambda q: 1 + q.nu - q.mu,
    faults={"ν and μ exchanged": lambda q: 1 - q.nu + q.mu, "2ν and 2μ": lambda q: 1 + 2 * q.nu - 2 * q.mu},
)
def step_10(q: Six) -> Any:
    """At α_Γ the derivative of the Lagrangian by α is zero, which gives (K ⊙ Γ)α_Γ from the multipliers.

    The Lagrangian is 2α'e - α'(K ⊙ Γ)α + 2ν'α + 2μ'(Ce - α), with 2ν for α_i >= 0 and 2μ for α_i <= C.
    """
    return q.A @ q.alpha_G


@step(
    r"N'(e + \nu)",
    r"N'\mu",
    rests_on=("step 10",),
    claimed=lambda q: q.N.T @ q.mu,
    faults={"the wrong sign": lambda q: -q.N.T @ q.mu, "zero": lambda q: np.zeros(q.N.shape[1])},
)
def step_11(q: Six) -> Any:
    """The right-hand side b of step 10 is orthogonal to the null space of A = K ⊙ Γ, as b = Aα_Γ and N'A = 0.

    Otherwise the Lagrangian would have no upper bound over α.
    """
    return q.N.T @ (1 + q.nu)


@step(
    r"v(\Gamma)",
    r"b'A^\dagger b + 2C\mu'e",
    rests_on=("step 10", "step 11"),
    claimed=lambda q: q.b @ q.A_pinv @ q.b + 2 * q.C * q.mu.sum(),
    faults={
        "Cμ'e once": lambda q: q.b @ q.A_pinv @ q.b + q.C * q.mu.sum(),
        "the term of μ left out": lambda q: q.b @ q.A_pinv @ q.b,
        "A† left out": lambda q: q.b @ q.b + 2 * q.C * q.mu.sum(),
    },
)
def step_12(q: Six) -> Any:
    """Without bounds on α the Lagrangian is largest at α = A†b, which solves step 10, and its value there is v(Γ).

    It is v(Γ), because at the solution each multiplier is zero or its bound is tight. The Lagrangian has the same value
    at all α with Aα = b.
    """
    return q.v


def upper_bound(q: Six) -> Any:
    """Step 12 for other multipliers."""
    b = q.A @ q.a
    mu = np.maximum(0, 1 - b)
    return q.a @ b + 2 * q.C * mu.sum()


@step(
    r"v(\Gamma)",
    r"a'Aa + 2C\textstyle\sum_i \max(0, 1 - (Aa)_i)",
    relation="<=",
    rests_on=("step 12",),
    claimed=upper_bound,
    faults={
        "C in place of 2C": lambda q: upper_bound(altered(q, C=q.C / 2)),
        "the term of μ left out": lambda q: q.a @ q.A @ q.a,
    },
)
def step_13(q: Six) -> Any:
    """Other multipliers in step 12 give no less, since the Lagrangian is never below what is maximized in v(Γ).

    Here ν and μ are the smallest with which step 10 holds for a vector a in place of α_Γ: the parts of Aa - e above and
    below zero. So v(Γ) is the minimum of step 12 over ν and μ. For Γ = yy' the right-hand side is twice the SVM's
    objective again.
    """
    return q.v


def congruent(q: Six) -> Any:
    """S'DS."""
    S = np.eye(7)
    S[:6, 6] = q.A_pinv @ q.b
    D = np.zeros((7, 7))
    D[:6, :6] = q.A
    D[6, 6] = q.t_0 - 2 * q.C * q.mu.sum() - q.b @ q.A_pinv @ q.b
    return S.T @ D @ S


@step(
    r"\begin{pmatrix} A & b\\ b' & t - 2C\mu'e \end{pmatrix}",
    r"S'\begin{pmatrix} A & 0\\ 0 & t - 2C\mu'e - b'A^\dagger b \end{pmatrix}S,"
    r"\quad S = \begin{pmatrix} I & A^\dagger b\\ 0 & 1 \end{pmatrix}",
    rests_on=("step 11", "step 13"),
    claimed=congruent,
    faults={
        "a plus before b'A†b": lambda q: congruent(q) + np.diag([0.0] * 6 + [2 * q.b @ q.A_pinv @ q.b]),
        "without b'A†b": lambda q: congruent(q) + np.diag([0.0] * 6 + [q.b @ q.A_pinv @ q.b]),
        "S with the wrong sign of A†b": lambda q: congruent(altered(q, b=-q.b)),
    },
)
def step_14(q: Six) -> Any:
    """The block matrix is S'DS, with D block-diagonal and S an identity but for A†b, as b = AA†b by step 11.

    A†b stands in the last column of S. S is invertible, so that the matrix on the left is ⪰ 0 exactly if A ⪰ 0 and the
    corner of D, a Schur complement, is not negative (Lemma 2.2): t is then at least what step 12 has. As b in a matrix
    ⪰ 0 is orthogonal to the null space of A, step 11 need not be asked for. The least t over ν and μ is v(Γ) by step
    13, and the matrix on the left makes the constraint (10).
    """
    corner = q.t_0 - 2 * q.C * q.mu.sum()
    column = q.b[:, None]
    return np.block([[q.A, column], [column.T, corner]])


@step(
    r"\Gamma^c",
    r"y^t g',\quad g = \Gamma^{c\prime} y^t / n_t",
    rests_on=("step 8",),
    claimed=lambda q: np.outer(q.y_t, q.y_t @ q.Gamma[:3, 3:]) / 3,
    faults={
        "the known labels once": lambda q: np.outer(np.ones(3), q.y_t @ q.Gamma[:3, 3:]) / 3,
        "not divided by n_t": lambda q: np.outer(q.y_t, q.y_t @ q.Gamma[:3, 3:]),
    },
)
def step_15(q: Six) -> Any:
    """The entries of Γ between known and other points are a single row g, times the known label of each row.

    For x orthogonal to y^t the known block gives (x, 0)'Γ(x, 0) = 0, so that Γ(x, 0) = 0, as Γ ⪰ 0. Each column of Γ^c
    is therefore orthogonal to x, which leaves a multiple of y^t. Γ^c is the upper right block of Γ, and n_t the number
    of known labels.
    """
    return q.Gamma[:3, 3:]


def whole(q: Six, small: Any) -> Any:
    """T times a matrix of four rows times T'."""
    T = np.zeros((6, 4))
    T[:3, 0] = q.y_t
    T[3:, 1:] = np.eye(3)
    return T @ small @ T.T


def small_matrix(q: Six) -> Any:
    """Γ̃."""
    small = np.eye(4)
    small[0, 1:] = q.g
    small[1:, 0] = q.g
    small[1:, 1:] = q.Gamma[3:, 3:]
    return small


@step(
    r"\Gamma",
    r"T\begin{pmatrix} 1 & g'\\ g & \Gamma^w \end{pmatrix}T',"
    r"\quad T = \begin{pmatrix} y^t & 0\\ 0 & I \end{pmatrix}",
    rests_on=("step 15",),
    claimed=lambda q: whole(q, small_matrix(q)),
    faults={
        "g with the wrong sign": lambda q: whole(q, small_matrix(altered(q, g=-q.g))),
        "g left out": lambda q: whole(q, small_matrix(altered(q, g=0 * q.g))),
        "the known labels left out of T": lambda q: whole(altered(q, y_t=np.ones(3)), small_matrix(q)),
    },
)
def step_16(q: Six) -> Any:
    """Γ is TΓ̃T' for a matrix Γ̃ with one row for all known points, as their rows of Γ differ by their labels only.

    T repeats the first row of Γ̃ with the known labels, and keeps the other three, which have Γ^w, the lower right block
    of Γ. It has full column rank, so that Γ ⪰ 0 exactly if Γ̃ ⪰ 0, as Proposition 2.3 says.
    """
    return q.Gamma


@step(
    r"\min_{\tilde\Gamma \succeq 0,\ \nu \ge 0,\ \mu \ge 0,\ t}\ t",
    r"\max_{0 \le \alpha_i \le C}\ 2\alpha'e - \alpha'(K \odot T\tilde\Gamma T')\alpha",
    tolerance=1e-5,
    rests_on=("step 13", "step 14", "step 16"),
    claimed=lambda q: largest(q.K * whole(q, q.Gamma_small), q.C),
    faults={
        "one label for all points": lambda q: largest(q.K, q.C),
        "half of it": lambda q: largest(q.K * whole(q, q.Gamma_small), q.C) / 2,
        "no upper bound of α": lambda q: largest(q.K * whole(q, q.Gamma_small), 100.0),
    },
)
def step_17(q: Six) -> Any:
    """The semidefinite program (9)-(10) minimizes v, since by step 14 its t is v(Γ) for the Γ that it finds.

    The program has t under the constraint (10) of step 14, with Γ as in step 16 and ones on the diagonal of Γ̃. Γ need
    not be a label matrix any more. In exchange no labellings have to be gone through.
    """
    return q.t


def bounds(q: Six) -> Any:
    """The least value over labellings, and that of the signs of g."""
    signs = np.sign(q.Gamma_small[0, 1:])
    k = np.argmax(q.labelings[:, 3:] @ signs)
    return [2 * min(q.svm_values), 2 * q.svm_values[k]]


@step(
    r"\left(\min\ t,\ \min_y v(yy')\right)",
    r"\left(\min_y v(yy'),\ v(\hat y\hat y')\right),\quad \hat y = (y^t, \mathrm{sign}\,g)",
    relation="<=",
    tolerance=1e-5,
    rests_on=("step 5", "step 8", "step 17"),
    claimed=bounds,
    faults={"half of them, the values of the SVM": lambda q: [value / 2 for value in bounds(q)]},
)
def step_18(q: Six) -> Any:
    """The program's t is at most the least value over labellings, and that is at most the value of the signs of g.

    The first holds as every label matrix is allowed in step 17, and the second as these signs are one of the eight
    guesses. g is the first row of the Γ̃ of step 17, after its one: the program gives a bound, and a labelling.
    """
    return [q.t, 2 * min(q.svm_values)]


@step(
    r"\Gamma",
    r"VMV',\quad M = V'\Gamma V",
    rests_on=("step 8",),
    claimed=lambda q: q.V @ q.V.T @ q.Gamma @ q.V @ q.V.T,
    faults={
        "M = V'V": lambda q: q.V @ q.V.T @ q.V @ q.V.T,
        "the second column of V left out": lambda q: q.V[:, ::2] @ q.V[:, ::2].T @ q.Gamma,
    },
)
def step_19(q: Six) -> Any:
    """If the label vectors lie in a subspace, Γ is given by a matrix M of its dimension (§3).

    The columns of Γ are multiples and sums of label vectors, so that VV' leaves them as they are. Γ ⪰ 0 if and only if
    M ⪰ 0, and rank one of Γ is rank one of M: the paper prints M ≻ 0, which no label matrix satisfies for d > 1. Here
    d = 3 in place of the four rows of step 16. Label vectors outside of the subspace are left out, so that the least
    value over M is no lower bound any more.
    """
    return q.Gamma


@step(
    r"\alpha'(K \odot VMV')\alpha",
    r"\operatorname{tr}\, M\,V'\operatorname{diag}(\alpha)\,K\operatorname{diag}(\alpha)\,V",
    rests_on=("step 19",),
    claimed=lambda q: np.trace(q.M @ q.V.T @ np.diag(q.alpha_G) @ q.K @ np.diag(q.alpha_G) @ q.V),
    faults={
        "α on one side only": lambda q: np.trace(q.M @ q.V.T @ np.diag(q.alpha_G) @ q.K @ q.V),
        "M and V left out": lambda q: np.trace(np.diag(q.alpha_G) @ q.K @ np.diag(q.alpha_G)),
    },
)
def step_20(q: Six) -> Any:
    """What is maximized over α is linear in M, so that the program over M is a semidefinite one as that over Γ is.

    With the Γ of step 19 the constraint (10) has K ⊙ VMV' in place of K ⊙ Γ, and d (d + 1) / 2 numbers for Γ, however
    many points there are.
    """
    return q.alpha_G @ (q.K * (q.V @ q.M @ q.V.T)) @ q.alpha_G
