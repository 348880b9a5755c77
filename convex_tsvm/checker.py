"""Proves what a certificate of exact search claims, from the file alone: nothing here is the rest of the package.

    python checker.py FILE           or           convex-tsvm verify FILE --rigorous

The file holds a problem, a search tree, and the numbers that prove a bound at each of its leaves; docs/certificate.rst
says what they are, which inequality each kind of proof rests on, and why it holds.  Here all claims are decided by
arithmetic that cannot err on the wrong side: what is done once (kernel values, centring, the inverse of a matrix) in
balls of 192 bits, by Arb through python-flint; what is done at every node in balls of double precision (:class:`Ball`).
So "proven" is a theorem about the numbers in the file: no labelling of the points has an objective below the bound, and
the labels in the file have one that is not above the value shown.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

PROBLEM = {"y", "cost", "balance_points", "X", "X_data", "X_indices", "X_indptr", "X_shape"}
KINDS = ("svm", "directions", "matrix", "signs")
COLUMNS = ("parent", "sign", "variable")
EACH = ("labels", "square", "unit", "upper", "lower", "arc", "arc_low", "arc_high", "count")
BITS = 192
FREELY_PACKED, MOST_PACKED = 2**26, 20  # bytes that any file may unpack to; bytes for each byte of a larger one
MOST_POINTS, MOST_ENTRIES = 1000, 2_500_000  # numbers in balls of 192 bits, of points, take about 100 bytes each
EPS = 2.0**-52  # twice the largest relative error of one operation
MORE = 1 + 1e-10  # covers the rounding of radii, which are short sums of products of numbers >= 0
TINY = 1e-300  # covers underflow
LIFT_OF_OUTPUTS = 3e-3  # what a proof's lift adds for outputs, relative to what it adds for signs
LIFT = 2.0**-30  # of a quadratic form before it is inverted, relative to its largest entry; any number > 0 is right


def named(**parts: str) -> set[str]:
    """Names of arrays: each prefix with each of its words."""
    return {f"{prefix}_{word}" for prefix, words in parts.items() for word in words.split()}


IN_EVERY_FILE = PROBLEM | {"header"} | named(record=" ".join(COLUMNS), proof="record cutoff", node="numbers")


class Refused(Exception):
    """The file does not prove what it claims."""


def demand(condition: Any, message: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise Refused(message)


class Ball:
    """An array of numbers, each within ``rad`` of ``mid``; the result of an operation holds every possible result.

    A sum of k products, in whatever order it is added, is within (k + 1) EPS/2 of the sum of their sizes, relatively.
    """

    __array_ufunc__ = None  # numpy leaves operators to this class

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid = np.asarray(mid, dtype=np.float64)
        self.rad = np.asarray(rad, dtype=np.float64) if np.ndim(mid) == np.ndim(rad) else np.full(np.shape(mid), rad)
        self.size = np.abs(self.mid) + self.rad

    @staticmethod
    def of(value: Any) -> Ball:
        """A ball as it is, and numbers as balls of radius 0."""
        return value if isinstance(value, Ball) else Ball(value)

    @staticmethod
    def rounded(mid: Any, rad: Any, size: Any) -> Ball:
        """A ball around a rounded result: ``rad`` comes from the operands, and ``size`` EPS covers the rounding."""
        return Ball(mid, (rad + EPS * size) * MORE + TINY)

    @staticmethod
    def exact(matrix: Any) -> Ball:
        """Balls that hold those of a matrix of Arb's; refused if numbers are not finite in double precision."""
        from flint import arb

        mid = np.array([float(x.mid()) for x in matrix.entries()])
        demand(np.isfinite(mid).all(), "numbers leave the range of double precision")
        rad = [float((x - arb(m)).abs_upper()) for x, m in zip(matrix.entries(), mid.tolist(), strict=True)]
        shape = (matrix.nrows(), -1) if matrix.ncols() > 1 else (-1,)
        return Ball(mid.reshape(shape), np.array(rad).reshape(shape) * MORE + TINY)

    def __add__(self, other: Any) -> Ball:
        other = Ball.of(other)
        mid = self.mid + other.mid
        return Ball.rounded(mid, self.rad + other.rad, np.abs(mid))

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __sub__(self, other: Any) -> Ball:
        return self + -Ball.of(other)

    def __rsub__(self, other: Any) -> Ball:
        return Ball.of(other) - self

    def __mul__(self, other: Any) -> Ball:
        other = Ball.of(other)
        mid = self.mid * other.mid
        return Ball.rounded(mid, self.size * other.rad + self.rad * np.abs(other.mid), np.abs(mid))

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other: Any) -> Ball:
        other, k = Ball.of(other), self.mid.shape[-1]
        rad = self.size @ other.rad if other.rad.any() else 0.0
        if self.rad.any():
            rad = rad + self.rad @ np.abs(other.mid)
        return Ball.rounded(self.mid @ other.mid, rad, (k + 4) * (self.size @ other.size))

    def __getitem__(self, where: Any) -> Ball:
        return Ball(self.mid[where], self.rad[where])

    def sum(self) -> Ball:
        """The sum of all entries."""
        size = float(np.abs(self.mid).sum())
        return Ball.rounded(math.fsum(self.mid.ravel().tolist()), float(self.rad.sum()), size)

    def per(self, index: Any, n: int, times: float) -> Ball:
        """For every index below n the sum of the entries that have it, which are ``times`` at most."""
        size = np.bincount(index, np.abs(self.mid), n)
        return Ball.rounded(np.bincount(index, self.mid, n), np.bincount(index, self.rad, n), times * size)

    @property
    def low(self) -> Any:
        """Lower ends: no number in the balls is below them."""
        return np.nextafter(self.mid - self.rad, -np.inf)

    @property
    def high(self) -> Any:
        """Upper ends: no number in the balls is above them."""
        return np.nextafter(self.mid + self.rad, np.inf)


def column(values: Any) -> Any:
    """Numbers as a column of Arb's balls."""
    from flint import arb_mat

    return arb_mat([[float(value)] for value in values])


def above(A: Any, L: Any) -> float:
    """A lower bound of the eigenvalues of A: L Lᵀ has none below 0, and Gershgorin's circles bound those of A - L Lᵀ.

    The difference is in balls of Arb's; where L is nearly a Cholesky factor, it has little off its diagonal.
    """
    from flint import arb_mat

    factor = arb_mat(L.tolist())
    rest = Ball.exact(arb_mat(A.tolist()) - factor * factor.transpose())
    return float((np.diag(rest.low) - (rest.size.sum(axis=1) - np.diag(rest.size)) * MORE).min() - TINY)


def definite(K: Any, ball: Ball) -> bool:
    """Whether a matrix of Arb's is proven positive semidefinite; ``ball`` holds it in double precision.

    A Cholesky factor in double precision is wrong by a multiple of n EPS of the largest entry.  So the matrix is
    factored after a shift of that size, and where that proves nothing, as for a least eigenvalue below it, Z K Zᵀ is
    bounded in Arb's arithmetic: with the inverse Z of a factor it is near the identity.
    """
    from flint import arb_mat

    n, largest = len(ball.mid), float(np.diag(ball.mid).max())
    try:
        L = np.linalg.cholesky(ball.mid - (2 * norm(ball.rad) + 4 * n * EPS * largest) * np.eye(n))
        if above(ball.mid, L) >= norm(ball.rad):
            return True
        Z = arb_mat(np.linalg.inv(np.linalg.cholesky(ball.mid)).tolist())
    except np.linalg.LinAlgError:
        return False
    near = Ball.exact(Z * K * Z.transpose())
    return bool((np.diag(near.low) > (near.size.sum(axis=1) - np.diag(near.size)) * MORE).all())


def norm(off: Any) -> float:
    """An upper bound of the absolute eigenvalues of any symmetric matrix whose absolute entries are at most ``off``."""
    return float(off.sum(axis=1).max()) * MORE


def labels_of(low: Any, high: Any) -> Any:
    """The labels that ends of outputs leave: +1, -1, or 0 where both are possible."""
    return np.where(low >= 1, 1.0, np.where(high <= -1, -1.0, 0.0))


class Problem:
    """min ½ ‖w‖² + Σ c ℓ(y f) over w, b and the labels that are 0 in y, under the constraint that the file states.

    Once the constraint is eliminated there are a kernel G, offsets o and a constant, with f = <w, φ_i> + o_i (+ b, if
    ``bias``).  For the squared hinge v = f + y ξ are the outputs with signed slacks, and M = G + Diag(1 / 2c).
    """

    def __init__(self, stated: Any, kernel: Any, arrays: Any) -> None:
        self.y, self.cost = (np.array(arrays[name], dtype=np.float64) for name in ("y", "cost"))
        n = self.n = len(self.y)
        demand(n and self.y.shape == (n,) and np.isin(self.y, (-1, 0, 1)).all(), "y must be labels +1, -1 or 0")
        demand(self.cost.shape == (n,) and np.isfinite(self.cost).all() and (self.cost > 0).all(), "a cost is not > 0")
        demand(stated["loss"] in ("hinge", "squared_hinge"), "the loss must be 'hinge' or 'squared_hinge'")
        self.squared, self.bias = stated["loss"] == "squared_hinge", stated["bias"] is True
        self.kind, self.value, self.unknown = stated["constraint"], stated["value"], np.flatnonzero(self.y == 0)
        self.members = np.array(arrays["balance_points"], dtype=np.int64)
        demand(self.kind in ("none", "mean", "count", "targets"), f"a constraint of kind {self.kind!r} is not covered")
        if self.kind != "none":
            distinct = len(self.members) and (np.diff(np.sort(self.members)) > 0).all()
            may = np.arange(n) if self.kind == "mean" else self.unknown
            demand(
                distinct and np.isin(self.members, may).all(), "balanced points repeat, or are labelled or no points"
            )
            demand(math.isfinite(self.value), f"the constraint asks for {self.value!r}; it must be a finite number")
        demand(self.kind != "targets" or (self.squared and not self.bias), "targets need the squared hinge and no bias")
        self.cap = np.full(n, np.inf) if self.squared else self.cost
        self.settle(kernel_matrix(kernel, stated, arrays, n))

    def settle(self, K: Any) -> None:
        """Eliminate a constraint on a mean, which changes kernel, offsets and constant.

        Where a bias stays free the kernel is centred; a number of labels stays a constraint.
        """
        from flint import arb, arb_mat

        n, share, one = self.n, np.zeros(self.n), arb(1)
        share[self.members] = 1.0
        ridge = arb_mat(n, n, [arb(0)] * n**2)
        for i in range(n if self.squared else 0):
            ridge[i, i] = one / (2 * arb(self.cost[i]))
        offset, constant, self.whole = column(np.zeros(n)), arb(0), K + ridge
        if self.kind == "mean" and self.bias:
            # chapelle2008 eq. 13: the origin is the mean of the members, and the bias is the mean output.
            K, offset, self.bias = centred(K, share), column(np.full(n, self.value)), False
        elif self.kind in ("mean", "targets"):
            # w has a fixed product with the mean of the members; for targets M takes the place of the kernel.
            scale = one / len(self.members) if self.kind == "mean" else one
            matrix = K if self.kind == "mean" else self.whole
            mean = matrix * column(share) * scale
            square = (column(share).transpose() * mean)[0, 0] * scale
            demand(square > 0, "the mean of the balanced points is zero")
            K, offset = matrix - mean * mean.transpose() * (one / square), mean * (arb(self.value) / square)
            constant = arb(self.value) * arb(self.value) / (2 * square)
            ridge = ridge if self.kind == "mean" else ridge * arb(0)
        elif self.bias:
            K = centred(K, np.ones(n))  # a free bias takes up what another origin adds to all outputs
        self.exact = (K, ridge, offset)
        self.G, self.o, self.ridge = Ball.exact(K), Ball.exact(offset), Ball.exact(ridge)[np.diag_indices(n)]
        self.constant = Ball.exact(arb_mat([[constant]]))[0]
        if self.squared and self.bias:
            # Squared distances in M, from above: as differences in double precision they would be lost far from 0.
            M = K + ridge
            apart = [[M[i, i] + M[k, k] - 2 * K[i, k] for k in range(n)] for i in range(n)]
            self.apart = Ball.exact(arb_mat(apart)).high.reshape(n, n)
        self.variance = (self.G[np.diag_indices(n)] + self.ridge).high

    def outputs(self, gamma: Any) -> Ball:
        """M γ + o."""
        return self.G @ gamma + self.ridge * gamma + self.o

    def square(self, gamma: Any) -> float:
        """A number that γᵀ M γ does not exceed."""
        found = (Ball(gamma) * (self.G @ gamma)).sum() + (self.ridge * gamma * gamma).sum()
        if found.rad > 1e-9 * abs(found.mid):
            # Too much cancels for double precision.
            K, ridge, _ = self.exact
            found = Ball.exact(column(gamma).transpose() * (K + ridge) * column(gamma))[0]
        return max(float(found.high), 0.0)

    def least(self, gamma: Any, moved: Any, y: Any, taken: Ball | float = 0.0) -> float:
        """γᵀ (y - o) - taken - ½ δᵀ M δ + constant for the δ that is ``moved``, or less."""
        return float(((Ball(gamma * y) - self.o * gamma).sum() + self.constant - taken - 0.5 * self.square(moved)).low)

    def most(self, y: Any, gamma: Any, mean: float) -> float:
        """½ ‖w‖² + Σ c ℓ(y f) for w = Σ γ_i φ_i and, where a bias is free, the bias that gives f a mean; or more."""
        from flint import arb, arb_mat

        (K, _, offset), w, total = self.exact, column(gamma), arb(0)
        f = K * w + offset
        for i in range(self.n):
            lacking = (1 - int(y[i]) * (f[i, 0] + arb(mean if self.bias else 0.0))).max(arb(0))
            total += arb(self.cost[i]) * (lacking * lacking if self.squared else lacking)
        total += (w.transpose() * K * w)[0, 0] / 2
        return float((Ball.exact(arb_mat([[total]]))[0] + self.constant).high)

    def most_of_targets(self, y: Any, v: Any) -> float:
        """½ vᵀ M⁻¹ v for targets v of the right signs, one of which is moved for them to have exactly the right sum."""
        from flint import arb, ctx

        exact, last = column(v), int(self.members[np.argmax(y[self.members] * v[self.members])])
        exact[last, 0] += arb(self.value) - sum((exact[int(i), 0] for i in self.members), arb(0))
        demand(exact[last, 0] * arb(y[last]) >= 1 and (y * v >= 1).all(), "a target times its label is below 1")
        with ctx.workprec(4 * BITS):  # a matrix that is nearly singular takes so many bits
            return float((exact.transpose() * self.whole.solve(exact))[0, 0].upper()) / 2 * (1 + EPS)

    def parts(self) -> tuple[Ball, Ball]:
        """How far the sum of targets is above and below the sums that their signs may have: whole numbers, 2 apart."""
        if self.kind != "targets":
            return Ball(0.0), Ball(0.0)
        count = len(self.members)
        below = 2 * math.floor((self.value + count) / 2) - count
        return Ball(self.value) - below, Ball(below + 2.0) - self.value

    # A box has a lower and an upper end for every output: a lower one >= 1 or an upper one <= -1 says the label.

    def meet(self, box: Any, low: Any, high: Any) -> Any:
        """The intersection of two boxes, without outputs in (-1, 1): no solution has such."""
        low, high = np.fmax(box[0], low), np.fmin(box[1], high)  # NaN says nothing
        positive, negative = low > -1, high < 1
        return self.count(
            np.where(positive, np.maximum(low, 1.0), low), np.where(negative, np.minimum(high, -1.0), high)
        )

    def count(self, low: Any, high: Any) -> Any:
        """The box with the labels that follow from how many are +1; one without a solution is empty.

        That is a given number, or for targets with a sum, at least one and not all.
        """
        unbalanced = self.kind == "targets" and not abs(self.value) < len(self.members)
        if self.kind not in ("count", "targets") or unbalanced or (low > high).any():
            return low, high
        points = self.unknown if self.kind == "count" else self.members
        fewest, most = (self.value, self.value) if self.kind == "count" else (1, len(points) - 1)
        y, low, high = labels_of(low, high)[points], low.copy(), high.copy()
        positive, possible, rest = (y > 0).sum(), len(points) - (y < 0).sum(), points[y == 0]
        if positive > most or possible < fewest:
            return np.full(self.n, np.inf), np.full(self.n, -np.inf)
        if positive == most:
            high[rest] = np.minimum(high[rest], -1.0)
        elif possible == fewest:
            low[rest] = np.maximum(low[rest], 1.0)
        return low, high


def kernel_matrix(kernel: Any, stated: Any, arrays: Any, n: int) -> Any:
    """Kernel values of the points in the file, in Arb's balls."""
    from flint import arb, arb_mat

    X = arrays.get("X")
    if X is None:
        X = sp.csr_matrix((arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]), tuple(arrays["X_shape"]))
        X = X.toarray()
    X, name = np.array(X, dtype=np.float64), kernel["name"]
    demand(X.ndim == 2 and len(X) == n and np.isfinite(X).all(), "the points are not n rows of finite numbers")
    if name == "precomputed":
        demand(X.shape == (n, n) and math.isfinite(stated["lift"]) and stated["lift"] >= 0, "wrong shape or lift of K")
        K = (arb_mat(X.tolist()) + arb_mat(X.T.tolist())) * arb(0.5)
        K = K + arb_mat((stated["lift"] * np.eye(n)).tolist())
        ball = Ball.exact(K)
        if not definite(K, ball):
            least, largest = float(np.linalg.eigvalsh(ball.mid)[0]), float(np.abs(ball.mid).max())
            told = "is negative" if least < -n * n * EPS * largest else "cannot be told from 0"
            raise Refused(
                f"the kernel matrix is not proven positive semidefinite: its least eigenvalue, {least:.2g}, {told} "
                f"beside entries of {largest:.2g}"
            )
        return K
    points = arb_mat(X.tolist())
    K = points * points.transpose()
    if name == "linear":
        return K
    gamma, each = arb(float(kernel["gamma"])), range(n)
    demand(gamma > 0 and name in ("rbf", "poly"), f"the kernel {name!r} with this gamma is not covered")
    if name == "rbf":
        return arb_mat([[(gamma * (2 * K[i, j] - K[i, i] - K[j, j])).exp() for j in each] for i in each])
    degree, coef0 = int(kernel["degree"]), arb(float(kernel["coef0"]))
    demand(degree >= 1 and coef0 >= 0, f"the polynomial kernel must have degree >= 1, not {degree}, and coef0 >= 0")
    return arb_mat([[math.prod([gamma * K[i, j] + coef0] * degree, start=arb(1)) for j in each] for i in each])


def centred(K: Any, share: Any) -> Any:
    """The kernel with its origin at the mean of the points with share 1."""
    from flint import arb

    scale, ones = arb(1) / int(share.sum()), column(np.ones(len(share)))
    mean = K * column(share) * scale
    middle = (column(share).transpose() * mean)[0, 0] * scale
    return K - mean * ones.transpose() - ones * mean.transpose() + ones * ones.transpose() * middle


# Proofs: each gives a bound that no solution in a box is below, and a smaller box that has all those below a cutoff.


def by_svm(given: Problem, box: Any, gamma: Any, cutoff: float) -> Any:
    """A bound by weak duality for the SVM of the known labels, and ends of outputs by strong convexity."""
    y = labels_of(*box)
    gamma = np.where(y > 0, np.clip(gamma, 0, given.cap), np.where(y < 0, np.clip(gamma, -given.cap, 0), 0.0))
    if given.bias and math.fsum(gamma.tolist()) != 0:
        return -math.inf, box
    bound, f = given.least(gamma, gamma, y), given.outputs(gamma)
    slack = max(cutoff - bound, 0.0) * MORE + TINY
    low, high = np.full(given.n, -np.inf), np.full(given.n, np.inf)
    if given.squared and not given.bias:
        reach = np.sqrt(2 * slack * given.variance) * MORE
        low, high = (f - reach).low, (f + reach).high
    elif given.squared:
        for k in np.flatnonzero(y).tolist():
            # The bias is the same for both: only differences of outputs are bounded.
            reach = np.sqrt(2 * slack * np.maximum(given.apart[:, k], 0)) * MORE
            reach[k] = 0.0
            ahead = f - f[k] + y[k]
            if y[k] > 0:
                low = np.maximum(low, (ahead - reach).low)
            else:
                high = np.minimum(high, (ahead + reach).high)
    elif not given.bias:
        for sign, end in ((1.0, high), (-1.0, low)):
            # A label is excluded if it would raise the bound above the cutoff when its multiplier, now 0, is raised.
            room = np.maximum((1 - sign * f).low, 0.0)
            step = np.minimum(room / np.maximum(given.variance, TINY), given.cap)
            gained = Ball(step) * room - Ball(0.5 * given.variance) * step * step
            end[(gamma == 0) & (gained.low > slack)] = -sign
    return bound, given.meet(box, low, high)


def by_directions(given: Problem, box: Any, index: Any, theta: Any, gammas: Any, cutoff: float) -> Any:
    """Ends of single outputs, by weak duality for q(v) - θ v_i; they give no bound."""
    demand(given.squared and not given.bias, "proofs of ends hold for the squared hinge without a free bias only")
    y, low, high = labels_of(*box), np.full(given.n, -np.inf), np.full(given.n, np.inf)
    gammas = np.where(y > 0, np.maximum(gammas, 0), np.where(y < 0, np.minimum(gammas, 0), 0.0)).astype(np.float64)
    for i, t, gamma in zip(index.tolist(), theta.tolist(), gammas, strict=True):
        demand(0 <= i < given.n and t != 0 and math.isfinite(t), f"a direction has index {i} and factor {t}")
        gamma[i] = 0.0  # θ takes its place, so that their sum is not rounded
        moved = gamma.copy()
        moved[i] = t
        lacking = Ball(cutoff) - given.least(gamma, moved, y, given.o[i] * t)
        end = lacking.high / t
        if t > 0:
            high[i] = min(high[i], np.nextafter(end, np.inf))
        else:
            low[i] = max(low[i], np.nextafter(end, -np.inf))
    return -math.inf, given.meet(box, low, high)


def by_matrix(given: Problem, box: Any, alpha: Any, multipliers: Any) -> Any:
    """A bound by weak duality for the relaxation in label matrices (debie2004 §2); the box stays as it is."""
    demand(not given.bias and given.kind in ("none", "mean"), "label matrices take no free bias, no count, no targets")
    y, free = labels_of(*box), np.flatnonzero(~np.isnan(multipliers[1:]))
    # Points that the proof takes as unknown may be known by now; those it takes as known must be.
    demand((np.delete(y, free) != 0).all(), "a proof takes a label as known that is not")
    y[free] = 0
    lam, alpha = np.append(multipliers[0], multipliers[1:][free]), np.clip(np.nan_to_num(alpha), 0, given.cap)
    B = np.zeros((given.n, 1 + len(free)))
    B[:, 0], B[free, 1 + np.arange(len(free))] = y * alpha, alpha[free]
    N, linear = Ball(B.T) @ (given.G @ B), given.o[free] * alpha[free]
    edge = np.zeros_like(N.mid), np.zeros_like(N.mid)
    for part, values in zip(edge, (linear.mid, linear.rad), strict=True):
        part[0, 1:] = part[1:, 0] = values
    N = N + Ball(*edge)
    # A Cholesky factorization that ends proves S ⪰ -(n + 2) EPS trace(S) (Higham 2002, Theorem 10.3).
    S, off = np.diag(lam) - (N.mid + N.mid.T) / 2, norm(N.rad + N.rad.T) + 2 * EPS * norm(np.abs(N.mid) + np.diag(lam))
    try:
        np.linalg.cholesky(S - ((len(S) + 3) * EPS * float(np.diag(S).sum()) + off) * np.eye(len(S)))
    except np.linalg.LinAlgError:
        return -math.inf, box
    total = Ball(lam).sum()
    value = (Ball(alpha) - given.o * (y * alpha)).sum() + given.constant - 0.5 * total
    if given.squared:
        value = value - (given.ridge * alpha * alpha).sum() * 0.5
    return float(value.low), box


class Outputs:
    """q(v) = ½ (v - o)ᵀ M⁻¹ (v - o) + constant = vᵀ H v + 2 bᵀ v + c, the best bias minimized out.

    Where targets must have a sum, a multiple of the square of its error is added, which is zero for all solutions.
    """

    def __init__(self, given: Problem) -> None:
        from flint import arb, arb_mat

        (K, ridge, offset), n, share = given.exact, given.n, np.zeros(given.n)
        targets = given.kind == "targets"
        half, offset = (given.whole if targets else K + ridge).inv() * arb(0.5), offset * arb(0 if targets else 1)
        if given.bias:
            sums = half * column(np.ones(n))
            half = half - sums * sums.transpose() * (1 / sum(sums.entries(), arb(0)))
        linear = half * offset * arb(-1)
        self.c = Ball.exact(offset.transpose() * half * offset)[0] + (0.0 if targets else given.constant)
        if targets:
            share[given.members], value = 1.0, arb(given.value)
            weight = arb(sum(float(half[i, i].mid()) for i in range(n)) / n)
            half, linear = half + column(share) * column(share).transpose() * weight, column(share) * (-weight * value)
            self.c = Ball.exact(arb_mat([[weight * value * value]]))[0]
        self.H, self.b = Ball.exact(half), Ball.exact(linear)


class Convex:
    """A convex quadratic xᵀ A x + 2 bᵀ x + c: its least value in a box, and the ellipsoid of what is below a cutoff."""

    A: Ball
    spread: Any
    lift: float

    def invert(self) -> None:
        """The diagonal of (A + lift)⁻¹ is what a unit of bound lets a variable move, squared: from R ≈ (A + lift)⁻¹."""
        n = len(self.A.mid)
        self.lift = LIFT * float(np.abs(np.diag(self.A.mid)).max())
        lifted = self.A + self.lift * np.eye(n)
        R = np.linalg.inv(lifted.mid)
        error = float(np.linalg.norm((np.eye(n) - Ball(R) @ lifted).size)) * MORE
        spread = np.maximum(np.diag(R), 0) + error / (1 - error) * np.linalg.norm(R, axis=1)
        self.spread = spread * MORE if error < 1 else np.full(n, np.inf)

    def tangent(self, low: Any, high: Any, b: Ball, c: Any, x: Any, cutoff: float) -> Any:
        """The bound by the tangent at x, which is below the quadratic, and ends of what is below a cutoff."""
        image = self.A @ x
        slope = 2 * (image + b)
        below, beyond = slope * (Ball(low) - x), slope * (Ball(high) - x)
        least = Ball(np.minimum(below.low, beyond.low)).sum()
        value = c + (Ball(x) * image).sum() + (2 * b * x).sum() + least
        bound, far = float(value.low), np.maximum(np.abs(low - x), np.abs(high - x))
        radius = (max(cutoff - bound, 0.0) + self.lift * float(far @ far)) * MORE + TINY
        reach = np.sqrt(radius * self.spread) * MORE
        return bound, (Ball(x) - reach).low, (Ball(x) + reach).high


class Signs(Convex):
    """A convex quadratic in v and the signs b of the points without a label, that is below q wherever b = sign v.

    It is q less multipliers times what holds for v outside (-1, 1) in a box.  A multiplier of 1 - b² = 0 may have
    either sign; the others are >= 0: of (high - v)(v - low), (high - v)(1 + b) and (v - low)(1 - b); of an arc, which
    is (h - v)(v - 1) for b = 1 and (v - l)(-1 - v) for b = -1; of triangles s b_i b_j + t b_i b_k + s t b_j b_k + 1,
    and margins (|v_i| - 1)(1 + s b_i b_j) = v_i b_i + s v_i b_j - 1 - s b_i b_j.  An index 0 is the constant 1 there, j
    is point j - 1; a known label takes the place of its sign.  Where targets have a sum, which is p above and q below
    the sums that their signs may have: p Σ (|v| - 1)(1 - b) / 2 + q Σ (|v| - 1)(1 + b) / 2 - p q.
    """

    def __init__(
        self, given: Problem, space: Outputs, each: Any, triangles: Any, margins: Any, w: Any, u: Any, lift: float
    ) -> None:
        n, self.each, labels = len(space.b.mid), each, each["labels"]
        signed = [each[name] for name in ("square", "upper", "lower", "arc", "count")] + [w, u]
        demand(all((x >= 0).all() for x in signed) and lift >= 0, "multipliers must be >= 0")
        demand(all(np.isfinite(x).all() for x in [*each.values(), w, u]), "multipliers must be finite")
        demand(np.isin(labels, (-1, 0, 1)).all(), "labels of multipliers must be +1, -1 or 0")
        demand((each["arc_low"] <= -1).all() and (each["arc_high"] >= 1).all(), "an arc's ends are on one side")
        demand(len(triangles) == len(w) and len(margins) == len(u), "there must be one multiplier for each cut")
        demand(((triangles[:, :3] >= 0) & (triangles[:, :3] <= n)).all(), f"indices of a triangle must be 0 to {n}")
        demand(((margins[:, :2] >= 0) & (margins[:, :2] <= [n - 1, n])).all(), "a margin's indices are not there")
        demand(np.isin(triangles[:, 3:], (-1, 1)).all() and np.isin(margins[:, 2], (-1, 1)).all(), "bad signs")
        self.open = np.flatnonzero(labels == 0)
        W, constant = self.subtracted(given, triangles, margins, w, u)
        N, own = len(W.mid), 1 + self.open
        sign = 1 + n + np.arange(len(self.open))
        self.constant = space.c + constant
        unit = Ball(each["unit"][self.open]) + lift
        self.constant = self.constant - unit.sum()
        self.square = Ball(each["square"]) + LIFT_OF_OUTPUTS * lift
        self.upper, self.lower = (Ball(each[name][self.open]) for name in ("upper", "lower"))
        linear, form = (np.zeros(N - 1), np.zeros(N - 1)), (np.zeros((N - 1, N - 1)), np.zeros((N - 1, N - 1)))
        cross = (self.upper + self.lower) * 0.5
        for part, to, H in zip(("mid", "rad"), linear, form, strict=True):
            to[:n], H[:n, :n] = getattr(space.b, part), getattr(space.H, part)
        edge = np.zeros((N - 1, N - 1)), np.zeros((N - 1, N - 1))
        for part, more in zip(("mid", "rad"), edge, strict=True):
            more[np.diag_indices(n)] = getattr(self.square, part)
            more[sign - 1, sign - 1] = getattr(unit, part)
            more[own - 1, sign - 1] = more[sign - 1, own - 1] = getattr(cross, part)
        self.linear, self.A = Ball(*linear) - W[0, 1:], Ball(*form) - W[1:, 1:] + Ball(*edge)
        largest = float(np.abs(np.diag(self.A.mid)).max())
        # L Lᵀ is in balls of double precision, which are as wide as this for matrices of N rows.
        safe = 2 * norm(self.A.rad) + 2 * N * (N + 8) * EPS * largest + TINY
        L = np.linalg.cholesky(self.A.mid - safe * np.eye(N - 1))
        rest = Ball(self.A.mid) - Ball(L) @ L.T
        off = (rest.size.sum(axis=1) - np.diag(rest.size)) * MORE
        demand((np.diag(rest.low) - off).min() >= norm(self.A.rad), "a form with signs is not positive semidefinite")
        self.invert()

    def subtracted(self, given: Problem, triangles: Any, margins: Any, w: Any, u: Any) -> tuple[Ball, Ball]:
        """What triangles, margins and arcs take from [1; v; b] [1; v; b]ᵀ, and what they add to the constant."""
        labels, n = self.each["labels"], len(self.each["labels"])
        row, factor = np.zeros(1 + n, dtype=np.int64), np.append(1.0, np.where(labels == 0, 1.0, labels))
        row[1 + self.open] = 1 + n + np.arange(len(self.open))
        N, own, sign, zero = 1 + n + len(self.open), 1 + self.open, row[1 + self.open], np.zeros_like(self.open)
        i, j, k, s, t = triangles.T
        parts = [
            (row[i], row[j], Ball(s * factor[i] * factor[j] * w)),
            (row[i], row[k], Ball(t * factor[i] * factor[k] * w)),
        ]
        parts.append((row[j], row[k], Ball(s * t * factor[j] * factor[k] * w)))
        i, j, s = margins.T
        parts += [(1 + i, row[1 + i], Ball(factor[1 + i] * u)), (1 + i, row[j], Ball(s * factor[j] * u))]
        parts.append((row[1 + i], row[j], Ball(-s * factor[1 + i] * factor[j] * u)))
        z, low, high = (Ball(self.each[name][self.open]) for name in ("arc", "arc_low", "arc_high"))
        middle = z * (high + low) * 0.5
        parts += [(zero, own, middle), (zero, sign, -middle), (own, sign, z * (high - low + 2) * 0.5), (own, own, -z)]
        p, q, count = *given.parts(), self.each["count"] * np.ones(len(given.members))
        if p.low > 0 and q.low > 0:
            i, turn = given.members, Ball(count) * (q - p) * 0.5
            parts += [
                (0 * i, 1 + i, turn),
                (0 * i, row[1 + i], -turn * factor[1 + i]),
                (1 + i, row[1 + i], Ball(factor[1 + i] * count)),
            ]
        else:
            demand((count == 0).all(), "a multiplier is of what does not follow")
        # What is subtracted from a product goes half to an entry of [1; v; b] [1; v; b]ᵀ and half to its mirror image.
        place = np.concatenate([p * N + q for a, b, _ in parts for p, q in ((a, b), (b, a))])
        mid, rad = (
            np.concatenate([getattr(x, part) / 2 for *_, x in parts for _ in (0, 1)]) for part in ("mid", "rad")
        )
        often = float(np.bincount(place, minlength=1).max(initial=1))
        W = Ball(mid, rad).per(place, N * N, often)
        W = Ball(W.mid.reshape(N, N), W.rad.reshape(N, N))
        total = Ball(count).sum() + p * q * self.each["count"]
        return W, Ball(u).sum() - Ball(w).sum() + (z * (high - low) * 0.5).sum() + total - W[0, 0]

    def prove(self, given: Problem, box: Any, x: Any, cutoff: float) -> Any:
        """What the tangent at x, outputs and signs, proves in a box; nothing in one for which it was not made."""
        (low, high), n, each = box, given.n, self.each
        demand(np.isfinite(low).all() and np.isfinite(high).all(), "signs are used in a box with infinite ends")
        y, known, arcs = labels_of(low, high), each["labels"] != 0, each["arc"] > 0
        inside = (each["arc_low"] <= low)[arcs].all() and (each["arc_high"] >= high)[arcs].all()
        if not (inside and (y[known] == each["labels"][known]).all()):
            return -math.inf, box
        demand(x.shape == (n + len(self.open),) and np.isfinite(x).all(), "a proof has not one number per variable")
        ours_low, ours_high, labels = low[self.open], high[self.open], y[self.open]
        b, c, turn = self.linear, self.constant, np.arange(n + len(self.open))
        outputs = self.square * (Ball(low) + high) * -0.5
        half = (self.upper - self.lower) * 0.5
        signs = (self.upper * ours_high + self.lower * ours_low) * -0.5
        for part, index in ((outputs, np.arange(n)), (half, self.open), (signs, turn[n:])):
            b = b + part.per(index, len(turn), 1)
        c = c + (self.square * low * high).sum() + (self.lower * ours_low).sum() - (self.upper * ours_high).sum()
        least = np.append(low, np.where(labels > 0, 1.0, -1.0))
        most = np.append(high, np.where(labels < 0, -1.0, 1.0))
        bound, nearest, farthest = self.tangent(least, most, b, c, x, cutoff)
        low, high = nearest[:n], farthest[:n]
        low[self.open[nearest[n:] > -1]] = np.maximum(low[self.open[nearest[n:] > -1]], 1.0)
        high[self.open[farthest[n:] < 1]] = np.minimum(high[self.open[farthest[n:] < 1]], -1.0)
        return bound, given.meet(box, low, high)


@dataclass
class Verdict:
    """Whether the claim is proven, what is wrong if it is not, and how many nodes and proofs were checked."""

    holds: bool
    problem: str
    lower_bound: float = math.nan
    upper_bound: float = math.nan
    n_nodes: int = 0
    n_proofs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        if not self.holds:
            return f"NOT PROVEN: {self.problem}"
        if self.lower_bound == -math.inf:
            return f"NOTHING IS CLAIMED: the search had no bound yet; its solution has {self.upper_bound!r} at most"
        return (
            f"PROVEN: no solution has an objective below {self.lower_bound!r}; that in the file has one of at most "
            f"{self.upper_bound!r}\n{self.n_nodes} nodes, {self.n_proofs} proofs, {self.seconds:.1f} s"
        )


def members(path: Any, known: Any) -> dict[str, Any]:
    """The arrays of an .npz file, all of which must be known; no more memory is taken than a file of its size may."""
    with open(path, "rb") as opened:
        demand(zipfile.is_zipfile(opened), "it is no .npz file, or a damaged one")
        with zipfile.ZipFile(opened) as file:
            sizes = {entry.filename: entry.file_size for entry in file.infolist()}
            demand(len(sizes) == len(file.infolist()), "two members of the file have one name")
        other, total = sorted(set(sizes) - {f"{name}.npy" for name in known}), sum(sizes.values())
        demand(not other, f"the file has members that are not known: {', '.join(other[:5])}")
        size = opened.seek(0, 2)
        demand(total <= max(FREELY_PACKED, MOST_PACKED * size), f"a file of {size} bytes unpacks to {total}")
        opened.seek(0)
        with np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}


class Certificate:
    """A file with a certificate, whose search tree is checked from the root down."""

    form = "convex_tsvm search 3"
    known = (
        IN_EVERY_FILE
        | named(
            record="bound",
            proof="kind number share lift end vectors",
            direction="end index theta gamma",
            node="low high gamma v bounds",
            sign="sizes triangles margins weights " + " ".join(EACH),
        )
        | {"labels", "gamma", "mean", "targets"}
    )

    def __init__(self, path: Any) -> None:
        a = self.arrays = members(path, self.known)
        n, d = len(a["y"]), int(a["X"].shape[1] if "X" in a else a["X_shape"][1])
        demand(n <= MOST_POINTS and n * d <= MOST_ENTRIES, f"{n} points of {d} features are more than is checked")
        header, self.after = json.loads(str(a["header"])), list[Any]()
        demand(header["format"] == self.form, f"the format is {header['format']!r}, not {self.form!r}")
        demand(digest(a) == header["digest"], "the problem is not the one that was searched: its digest is another")
        self.bound, self.objective = header["lower_bound"], header["objective"]
        demand(isinstance(self.bound, float) and not math.isnan(self.bound), f"{self.bound!r} is no number for a bound")
        self.state(header["statement"], header["problem"]["kernel"])
        self.parents, self.signs, self.variables = (a[f"record_{name}"].tolist() for name in COLUMNS)
        self.proofs: list[list[int]] = [[] for _ in self.parents]
        for p, record in enumerate(a["proof_record"].tolist()):
            demand(0 <= record < len(self.parents), f"proof {p} is for node {record}, which is not there")
            self.proofs[record].append(p)

    def state(self, stated: Any, kernel: Any) -> None:
        """Read the problem."""
        demand(stated["constant"] == 0, "losses that add a constant to every objective are not covered")
        self.given = Problem(stated, kernel, self.arrays)
        self.n, zero = self.given.n, np.zeros(self.given.n)
        self.nothing = self.given.least(zero, zero, self.given.y)  # a bound that holds without any proof
        self.space: Outputs | None = None
        self.forms: dict[tuple[int, float, float], Signs] = {}

    def check(self) -> Verdict:
        """Check every bound, that every labelling is in a leaf, and that the labels have their objective.

        ``after`` then has the box and the bound after the proofs of each node, and ``steps`` the bound of each proof.
        """
        a, after, self.steps = self.arrays, self.after, dict[int, float]()
        opened = [(int(row[1]), int(row[2])) for row in a["node_numbers"].tolist()]
        self.check_shape(opened)
        for k, parent in enumerate(self.parents):
            box, bound = self.begin(k, after[parent] if parent >= 0 else None)
            for p in self.proofs[k]:
                if (box[0] > box[1]).any():
                    break
                cutoff = float(a["proof_cutoff"][p])
                demand(cutoff >= self.bound, f"node {k}: a proof leaves out solutions below the bound")
                proven, box = self.apply(p, box, cutoff)
                bound, self.steps[p] = max(bound, proven), proven
            after.append((box, bound))
            closed = self.variables[k] >= 0 or (box[0] > box[1]).any() or bound >= self.bound
            demand(closed, f"node {k} is closed, but what is proven there is {bound!r}")
        for parent, _ in opened:
            proven = after[parent][1] if parent >= 0 else self.nothing
            demand(proven >= self.bound, f"an open node below node {parent} has a bound of {proven!r} only")
        upper = self.upper_bound()
        right = upper <= self.objective + 1e-6 * abs(self.objective)
        demand(right, f"the labels in the file have an objective of {upper!r}, as far as is known")
        return Verdict(True, "", self.bound, upper, len(self.parents), len(a["proof_record"]))

    def begin(self, k: int, over: Any) -> Any:
        """Box and bound before the proofs of node k, from those after the proofs of the node over it, if it has one."""
        low, high = np.where(self.given.y > 0, 1.0, -np.inf), np.where(self.given.y < 0, -1.0, np.inf)
        bound = -math.inf
        if over is not None:
            (low, high), bound = over
            branched = np.arange(self.given.n) == self.variables[self.parents[k]]
            low = np.where(branched & (self.signs[k] > 0), np.maximum(low, 1.0), low)
            high = np.where(branched & (self.signs[k] < 0), np.minimum(high, -1.0), high)
        return self.given.count(low, high), bound

    def apply(self, p: int, box: Any, cutoff: float) -> Any:
        """The bound that proof p gives in a box, and the box that it leaves for solutions below the cutoff."""
        a, given, kind = self.arrays, self.given, KINDS[int(a_kind := self.arrays["proof_kind"][p])]
        start = int(a["proof_end"][p - 1]) if p else 0
        vector = a["proof_vectors"][start : int(a["proof_end"][p])].astype(np.float64)
        if kind == "directions":
            which = int((a["proof_kind"][:p] == a_kind).sum())
            block = slice(int(a["direction_end"][which - 1]) if which else 0, int(a["direction_end"][which]))
            index, theta, gamma = (a[f"direction_{name}"][block] for name in ("index", "theta", "gamma"))
            return by_directions(given, box, index, theta, gamma, cutoff)
        if kind == "matrix":
            demand(vector.shape == (2 * given.n + 1,), f"proof {p} must have a vector of {2 * given.n + 1} numbers")
            return by_matrix(given, box, vector[: given.n], vector[given.n :])
        if kind == "signs":
            demand(given.squared, f"proof {p} is by signs, which holds for the squared hinge only")
            share, lift = float(a["proof_share"][p]), float(a["proof_lift"][p])
            return self.sign_quadratic(int(a["proof_number"][p]), share, lift).prove(given, box, vector, cutoff)
        demand(vector.shape == (given.n,) and np.isfinite(vector).all(), f"proof {p} needs {given.n} finite numbers")
        return by_svm(given, box, vector, cutoff)

    def sign_quadratic(self, number: int, share: float, lift: float) -> Signs:
        """The quadratic with signs of a share of the multipliers with this number, and a lift; a few are kept."""
        if (number, share, lift) not in self.forms:
            a, sizes = self.arrays, self.arrays["sign_sizes"]
            k = number
            demand(0 <= k < len(sizes) and 0 <= share <= 1, f"there is no share {share} of multipliers {k} with signs")
            (p, q), (m, r) = sizes[:k].sum(axis=0).tolist(), sizes[k].tolist()
            cuts = (a["sign_triangles"][p : p + m].astype(np.int64), a["sign_margins"][q : q + r].astype(np.int64))
            weights = share * a["sign_weights"][p + q : p + q + m + r].astype(np.float64)
            each = {name: a[f"sign_{name}"][k].astype(np.float64) for name in EACH}
            each |= {name: share * each[name] for name in ("square", "unit", "upper", "lower", "arc", "count")}
            self.space = self.space or Outputs(self.given)
            if len(self.forms) > 8:
                self.forms.clear()
            self.forms[number, share, lift] = Signs(self.given, self.space, each, *cuts, weights[:m], weights[m:], lift)
        return self.forms[number, share, lift]

    def check_shape(self, opened: Any) -> None:
        """Check that there is one root, and below every node that is not closed both halves of its labellings, once."""
        parents, nodes = self.parents, [*zip(self.parents, self.signs, strict=True), *opened]
        demand(sum(parent < 0 for parent, _ in nodes) == 1, "the tree must have exactly one root")
        children: dict[int, list[int]] = {k: [] for k in range(len(parents))}
        for k, (parent, sign) in enumerate(nodes):
            demand(parent < min(k, len(parents)), f"node {k} is below node {parent}, which is no earlier one")
            if parent >= 0:
                children[parent].append(sign)
        for k, variable in enumerate(self.variables):
            wanted = [] if variable < 0 else [-1, 1]
            demand(variable < self.n and sorted(children[k]) == wanted, f"node {k} lacks a half, or has more")

    def upper_bound(self) -> float:
        """The value of a solution with the labels in the file, or more; infinite if there are no labels."""
        given, y = self.given, self.arrays["labels"].astype(np.float64)
        if len(y) == 0:
            return math.inf
        demand(y.shape == (given.n,) and np.isin(y, (-1, 1)).all(), f"the file must have {given.n} labels, +1 or -1")
        demand((y[given.y != 0] == given.y[given.y != 0]).all(), "the labels in the file contradict given ones")
        low, high = given.count(np.where(y > 0, 1.0, -np.inf), np.where(y < 0, -1.0, np.inf))
        demand((low <= high).all(), "the number of labels +1 in the file is not one that the constraint allows")
        witness = self.arrays["targets" if given.kind == "targets" else "gamma"].astype(np.float64)
        demand(witness.shape == y.shape and np.isfinite(witness).all(), "no finite numbers show the labels' objective")
        if given.kind == "targets":
            return given.most_of_targets(y, witness)
        return given.most(y, witness, float(self.arrays["mean"][0]))


def digest(arrays: Any) -> str:
    """SHA-256 of the arrays that are the problem."""
    found = hashlib.sha256()
    for name in sorted(set(arrays) & PROBLEM):
        found.update(f"{name} {arrays[name].shape} {arrays[name].dtype.str} ".encode())
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def check(path: Any, kind: Any = Certificate) -> Verdict:
    """Check a certificate of a kind; FileNotFoundError if there is none, ImportError without python-flint."""
    return walked(path, kind)[0]


def walked(path: Any, kind: Any) -> tuple[Verdict, Any]:
    """The same, and the certificate with what was found at its nodes, as far as it can be read."""
    import flint

    began, bits, flint.ctx.prec, certificate = time.perf_counter(), flint.ctx.prec, BITS, None
    try:
        with np.errstate(all="ignore"):
            certificate = kind(path)
            found = certificate.check()
    except (FileNotFoundError, KeyboardInterrupt):
        raise
    except np.linalg.LinAlgError:
        found = Verdict(False, "a matrix that must be positive semidefinite is not")
    except Exception as error:  # whatever a damaged file leads to, it is no proof
        found = Verdict(False, str(error) if isinstance(error, Refused) else f"the file is damaged: {error!r}")
    finally:
        flint.ctx.prec = bits
    found.seconds = time.perf_counter() - began
    return found, certificate


if __name__ == "__main__":
    verdict = check(sys.argv[1])
    print(verdict)
    sys.exit(not verdict.holds)
