"""A search for labels: what is stated, its boxes, and the proofs by the SVM of known labels and by label matrices."""

import math
from typing import Any

import numpy as np

from .balls import BITS, EPS, MORE, TINY, Ball, column, counted, demand, halved, norm, placed
from .kernels import centred, kernel_matrix


def labels_of(low: Any, high: Any) -> Any:
    """The labels that ends of outputs leave: +1, -1, or 0 where both are possible."""
    return np.where(low >= 1, 1.0, np.where(high <= -1, -1.0, 0.0))


class Labels:
    """min ½ ‖w‖² + Σ c ℓ(y f) over w, b and the labels that are 0 in y, under the constraint that the file states.

    A hard margin is the hinge with infinite costs.  With a ``spread`` (ε, C₃) every point also pays
    C₃ max(0, |f - mean of f in its class| - ε).

    Once the constraint is eliminated there are a kernel G, offsets o and a constant, with f = <w, φ_i> + o_i (+ b, if
    ``bias``).  For the squared hinge v = f + y ξ are the outputs with signed slacks, and M = G + Diag(1 / 2c).
    """

    def __init__(self, stated: Any, kernel: Any, arrays: Any) -> None:
        self.y, self.cost = (np.array(arrays[name], dtype=np.float64) for name in ("y", "cost"))
        self.made: dict[Any, Any] = {}
        self.quadratic: Any = None  # that of proofs by signs
        n = self.n = len(self.y)
        demand(stated["constant"] == 0, "losses that add a constant to every objective are not covered")
        demand(n and self.y.shape == (n,) and np.isin(self.y, (-1, 0, 1)).all(), "y must be labels +1, -1 or 0")
        demand(self.cost.shape == (n,) and np.isfinite(self.cost).all() and (self.cost > 0).all(), "a cost is not > 0")
        demand(stated["loss"] in ("hinge", "squared_hinge", "hard_margin"), f"a loss {stated['loss']!r} is not covered")
        self.squared, self.hard = (stated["loss"] == name for name in ("squared_hinge", "hard_margin"))
        self.bias = stated["bias"] is True
        self.kind, self.value, self.unknown = stated["constraint"], stated["value"], np.flatnonzero(self.y == 0)
        self.members = np.array(arrays["balance_points"], dtype=np.int64)
        demand(self.kind in ("none", "mean", "count", "targets"), f"a constraint of kind {self.kind!r} is not covered")
        if self.kind != "none":
            distinct = len(self.members) and (np.diff(np.sort(self.members)) > 0).all()
            may = np.arange(n) if self.kind == "mean" else self.unknown
            right = distinct and np.isin(self.members, may).all()
            demand(right, "balanced points repeat, or are labelled or no points")
            demand(math.isfinite(self.value), f"the constraint asks for {self.value!r}; it must be a finite number")
        demand(self.kind != "targets" or (self.squared and not self.bias), "targets need the squared hinge and no bias")
        self.cap = np.full(n, np.inf) if self.squared or self.hard else self.cost
        self.epsilon, self.compact = map(float, stated.get("spread", (0.0, 0.0)))
        self.spreads = "spread" in stated
        finite = 0 <= self.epsilon < math.inf and 0 <= self.compact < math.inf
        demand(finite, f"a spread of {(self.epsilon, self.compact)!r}; it must be two finite numbers >= 0")
        counts = self.kind == "count" and stated["loss"] == "hinge"
        demand(counts or not self.spreads, "a spread of classes needs a number of labels +1, and the hinge")
        self.settle(kernel_matrix(kernel, stated, arrays, n))

    def settle(self, K: Any) -> None:
        """Eliminate a constraint on a mean, which changes kernel (centred for a free bias), offsets and constant."""
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

    def weights(self, y: Any, gamma: Any, g: Any) -> tuple[Ball, float]:
        """Balls of the weights γ + g - (mean of g over the known points of the class), and a price for g, or more."""
        g = np.where(y != 0, np.clip(g, -self.compact, self.compact), 0.0)
        weights, paid = Ball(gamma) + g, float(np.abs(g).sum())
        for sign, more in ((1.0, self.value), (-1.0, len(self.unknown) - self.value)):
            own, size = y == sign, (self.y == sign).sum() + more
            k = max(int(own.sum()), 1)
            mean = Ball(g[own]).sum() * Ball(1 / k, EPS)
            weights = weights - mean * own
            paid += float(max(size - own.sum(), 0) * mean.size)
        return weights, self.epsilon * paid * MORE

    def square(self, gamma: Any) -> float:
        """A number that γᵀ M γ does not exceed, for any of some balls."""
        if isinstance(gamma, Ball):
            moved = float(gamma.rad @ np.sqrt(self.variance)) * MORE
            return (math.sqrt(self.square(gamma.mid)) + moved) ** 2 * MORE
        found = (Ball(gamma) * (self.G @ gamma)).sum() + (self.ridge * gamma * gamma).sum()
        if found.rad > 1e-9 * abs(found.mid):
            # Too much cancels for double precision.
            K, ridge, _ = self.exact
            found = Ball.exact(column(gamma).transpose() * (K + ridge) * column(gamma))[0]
        return max(float(found.high), 0.0)

    def least(self, gamma: Any, y: Any, square: float) -> float:
        """γᵀ (y - o) - ½ ``square`` + constant, or less."""
        return float(((Ball(gamma * y) - self.o * gamma).sum() + self.constant - 0.5 * square).low)

    def most(self, y: Any, gamma: Any, mean: float) -> float:
        """The objective of w = Σ γ_i φ_i and, where a bias is free, the bias that gives f a mean; or more."""
        from flint import arb, arb_mat

        (K, _, offset), w, total, longer = self.exact, column(gamma), arb(0), arb(1)
        f = K * w + offset
        if self.hard:
            # w and the bias are made so long that all margins are met.
            bias, labels = arb(mean if self.bias else 0.0), [int(label) for label in y]
            each = [(1 - s * offset[i, 0], s * (f[i, 0] - offset[i, 0] + bias)) for i, s in enumerate(labels)]
            longer = arb(max((float((a / m).upper()) for a, m in each if m > 0), default=0.0) * MORE)
            if not all(longer * m >= a for a, m in each):
                return math.inf
        for i in () if self.hard else range(self.n):
            lacking = (1 - int(y[i]) * (f[i, 0] + arb(mean if self.bias else 0.0))).max(arb(0))
            total += arb(self.cost[i]) * (lacking * lacking if self.squared else lacking)
        for sign in (1, -1) if self.spreads else ():
            own = [f[i, 0] for i in np.flatnonzero(y == sign).tolist()]
            far = [abs(value - sum(own, arb(0)) / len(own)) - arb(self.epsilon) for value in own]
            total += arb(self.compact) * sum((one.max(arb(0)) for one in far), arb(0))
        total += longer * longer * (w.transpose() * K * w)[0, 0] / 2
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

    def upper_bound(self, arrays: Any) -> float:
        """The value of a solution with the labels in the file, or more; infinite if there are no labels."""
        y = arrays["labels"].astype(np.float64)
        if len(y) == 0:
            return math.inf
        demand(y.shape == (self.n,) and np.isin(y, (-1, 1)).all(), f"the file must have {self.n} labels, +1 or -1")
        demand((y[self.y != 0] == self.y[self.y != 0]).all(), "the labels in the file contradict given ones")
        low, high = self.count(np.where(y > 0, 1.0, -np.inf), np.where(y < 0, -1.0, np.inf))
        demand((low <= high).all(), "the number of labels +1 in the file is not one that the constraint allows")
        witness = arrays["targets" if self.kind == "targets" else "gamma"].astype(np.float64)
        demand(witness.shape == y.shape and np.isfinite(witness).all(), "no finite numbers show the labels' objective")
        if self.kind == "targets":
            return self.most_of_targets(y, witness)
        return self.most(y, witness, float(arrays["mean"][0]))

    # A box has a lower and an upper end for every output: a lower one >= 1 or an upper one <= -1 says the label.

    def root(self, arrays: Any, bound: float) -> Any:
        """The box of the labels given."""
        return self.count(np.where(self.y > 0, 1.0, -np.inf), np.where(self.y < 0, -1.0, np.inf))

    def half(self, box: Any, i: int, place: float, sign: int) -> Any:
        """The half of a box in which point i has the label ``sign``."""
        demand(place == 0, f"labels are on both sides of 0, not of {place}")
        return self.count(*halved(box, i, float(sign), sign, "label"))

    @property
    def nothing(self) -> float:
        """A bound that holds without any proof."""
        zero = np.zeros(self.n)
        return self.least(zero, self.y, 0.0)

    def labels(self, box: Any) -> Any:
        """What labels a box leaves, 0 for both."""
        return labels_of(*box)

    def told(self, i: int, place: float, sign: int) -> str:
        """What a half is, in words."""
        return f"point {i} is {sign:+d}"

    def known(self, box: Any) -> str:
        """What is known in a box, in words."""
        labels = np.count_nonzero(labels_of(*box)) - np.count_nonzero(self.y)
        return f"{labels} of {len(self.unknown)} labels known"

    def meet(self, box: Any, low: Any, high: Any) -> Any:
        """The intersection of two boxes, without outputs in (-1, 1): no solution has such."""
        low, high = np.fmax(box[0], low), np.fmin(box[1], high)  # NaN says nothing
        positive, negative = low > -1, high < 1
        return self.count(
            np.where(positive, np.maximum(low, 1.0), low), np.where(negative, np.minimum(high, -1.0), high)
        )

    def count(self, low: Any, high: Any) -> Any:
        """The box with the labels that follow from how many are +1; for targets with a sum at least one and not all."""
        unbalanced = self.kind == "targets" and not abs(self.value) < len(self.members)
        if self.kind not in ("count", "targets") or unbalanced or (low > high).any():
            return low, high
        points = self.unknown if self.kind == "count" else self.members
        fewest, most = (self.value, self.value) if self.kind == "count" else (1, len(points) - 1)
        return counted(low, high, points, labels_of(low, high)[points], fewest, most, 1.0)


def by_svm(given: Labels, box: Any, proof: Any, cutoff: float) -> Any:
    """A bound by weak duality for the SVM of the known labels, and ends of outputs by strong convexity."""
    y, size = labels_of(*box), (1 + given.spreads) * given.n
    demand(proof.vector.shape == (size,) and np.isfinite(proof.vector).all(), f"a proof needs {size} finite numbers")
    gamma, g = proof.vector[: given.n], proof.vector[given.n :]
    gamma = np.where(y > 0, np.clip(gamma, 0, given.cap), np.where(y < 0, np.clip(gamma, -given.cap, 0), 0.0))
    if given.bias and math.fsum(gamma.tolist()) != 0:
        return -math.inf, box
    weights, paid = given.weights(y, gamma, g) if given.spreads else (gamma, 0.0)
    bound, f = given.least(gamma, y, given.square(weights)) - paid, given.outputs(weights)
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


def by_matrix(given: Labels, box: Any, proof: Any, cutoff: float) -> Any:
    """A bound by weak duality for the relaxation in label matrices (debie2004 §2); the box stays as it is."""
    demand(not given.bias and given.kind in ("none", "mean"), "label matrices take no free bias, no count, no targets")
    n = given.n
    demand(proof.vector.shape == (2 * n + 1,), f"a proof by label matrices must have {2 * n + 1} numbers")
    alpha, multipliers = proof.vector[:n], proof.vector[n:]
    y, free = labels_of(*box), np.flatnonzero(~np.isnan(multipliers[1:]))
    # Points that the proof takes as unknown may be known by now; those it takes as known must be.
    demand((np.delete(y, free) != 0).all(), "a proof takes a label as known that is not")
    y[free] = 0
    lam, alpha = np.append(multipliers[0], multipliers[1:][free]), np.clip(np.nan_to_num(alpha), 0, given.cap)
    B = np.zeros((n, 1 + len(free)))
    B[:, 0], B[free, 1 + np.arange(len(free))] = y * alpha, alpha[free]
    N, linear = Ball(B.T) @ (given.G @ B), given.o[free] * alpha[free]
    rest = slice(1, None)
    N = N + placed(N.mid.shape, ((0, rest), linear), ((rest, 0), linear))
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
