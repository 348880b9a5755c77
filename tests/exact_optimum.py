"""The optimum of a tiny S3VM for every labelling, in rigorous arithmetic: the reference that bounds are held to.

Upper ends come from the definition alone: a function f = Σ a_i k(x_i, ·) + b that meets the constraint exactly, and
what it costs.  Which function that is, is found by solving the dual's optimality conditions for guesses of which
multipliers are at which end, in balls of 320 bits; nothing rests on the guess being right.  Lower ends are dual values
of the same points, moved into the dual's domain.
"""

import itertools

import numpy as np
from flint import arb, arb_mat, ctx

BITS = 320


class Reference:
    """One problem.

    Parameters
    ----------
    X, y, cost : array
    kernel : dict
        As ``Kernel.to_dict`` has it.
    squared, bias : bool
    constraint : {"none", "mean", "count", "targets"}
    value : float
        The mean, the number, or the sum.
    members : int array
        Points whose outputs or targets are balanced.
    """

    def __init__(self, X, y, cost, kernel, *, squared, bias, constraint, value, members):
        ctx.prec = BITS
        self.X, self.y, self.n = np.asarray(X, dtype=float), np.asarray(y, dtype=float), len(y)
        self.cost = [arb(float(c)) for c in cost]
        self.squared, self.bias, self.constraint = squared, bias, constraint
        self.value, self.members = value, [int(i) for i in members]
        self.K = self.kernel_matrix(kernel)
        self.unknown = np.flatnonzero(self.y == 0)

    def kernel_matrix(self, kernel):
        """Kernel values from differences and products of exact numbers."""
        rows = [[arb(float(value)) for value in row] for row in self.X]
        gamma = arb(float(kernel.get("gamma", 1.0)))
        if kernel["name"] == "precomputed":
            return [[(rows[i][j] + rows[j][i]) / 2 for j in range(self.n)] for i in range(self.n)]

        def value(a, b):
            if kernel["name"] == "rbf":
                return (-gamma * sum((squared(s - t) for s, t in zip(a, b, strict=True)), arb(0))).exp()
            product = sum((s * t for s, t in zip(a, b, strict=True)), arb(0))
            if kernel["name"] == "linear":
                return product
            power = arb(1)
            for _ in range(int(kernel["degree"])):
                power *= gamma * product + arb(float(kernel["coef0"]))
            return power

        return [[value(a, b) for b in rows] for a in rows]

    def labellings(self):
        """All labels that the constraint allows."""
        for signs in itertools.product((1.0, -1.0), repeat=len(self.unknown)):
            labels = self.y.copy()
            labels[self.unknown] = signs
            if self.constraint == "count" and (labels[self.unknown] > 0).sum() != self.value:
                continue
            if self.constraint == "targets" and abs(labels[self.members].sum()) == len(self.members):
                continue
            yield labels

    def optimum(self, labels):
        """(lower, upper) between which the SVM's optimum for labels of all points is, as balls' ends."""
        ctx.prec = BITS
        best = (arb("-inf"), arb("inf"))
        for gamma, extra in self.candidates(labels):
            upper, lower = self.primal(labels, gamma, extra), self.dual(labels, gamma, extra)
            if upper is not None and upper < best[1]:
                best = (best[0], upper)
            if lower is not None and lower > best[0]:
                best = (lower, best[1])
            if best[1] - best[0] < abs(best[1]) * arb(2) ** -60:
                break
        return best

    # --- candidates: γ, and what the constraint's multiplier or the bias comes to ---

    def candidates(self, labels):
        """Solutions of the optimality conditions for every guess of the multipliers' ends."""
        n, states = self.n, (0, 1) if self.squared else (0, 1, 2)
        one = {"mean": self.bias is False, "targets": True}.get(self.constraint, False)
        for guess in sorted(itertools.product(states, repeat=n), key=lambda g: sum(s != 1 for s in g)):
            free = [i for i in range(n) if guess[i] == 1]
            fixed = [self.cost[i] * int(labels[i]) if guess[i] == 2 else arb(0) for i in range(n)]
            yield from self.solved(labels, free, fixed, one)

    def solved(self, labels, free, fixed, constrained):
        """γ of the free points with outputs on the margin, and the multiplier β of a constraint or the bias."""
        k = len(free)
        extra = 1 if constrained or self.bias else 0
        if k + extra == 0:
            yield fixed, arb(0)
            return
        A, rhs = arb_mat(k + extra, k + extra), arb_mat(k + extra, 1)
        share, target = self.share()
        for a, i in enumerate(free):
            for b, j in enumerate(free):
                A[a, b] = self.K[i][j] + (1 / (2 * self.cost[i]) if self.squared and i == j else arb(0))
            known = sum((self.K[i][j] * fixed[j] for j in range(self.n)), arb(0))
            rhs[a, 0] = arb(int(labels[i])) - known
            if extra:
                A[a, k] = self.row(share, i)
        if extra:
            if constrained:
                for b, j in enumerate(free):
                    A[k, b] = self.row(share, j)
                A[k, k] = self.quadratic(share)
                rhs[k, 0] = target - sum((self.row(share, j) * fixed[j] for j in range(self.n)), arb(0))
            elif self.constraint == "mean":
                # b = c - mean(K γ̂) with γ̂ = γ - (Σ γ) share: the centred kernel, in one equation.
                for b, j in enumerate(free):
                    A[k, b] = self.row(share, j)
                A[k, k] = arb(1)
                rhs[k, 0] = target - sum((self.row(share, j) * fixed[j] for j in range(self.n)), arb(0))
            else:
                for b in range(k):
                    A[k, b] = arb(1)
                rhs[k, 0] = -sum(fixed, arb(0))
                for a in range(k):
                    A[a, k] = arb(1)
        if self.constraint == "mean" and self.bias:
            self.centre(A, rhs, free, fixed, share, labels)
        try:
            found = A.solve(rhs)
        except (ZeroDivisionError, ValueError):
            return
        gamma = list(fixed)
        for a, i in enumerate(free):
            gamma[i] = found[a, 0].mid()
        yield gamma, found[k, 0].mid() if extra else arb(0)

    def centre(self, A, rhs, free, fixed, share, labels):
        """The same conditions for the kernel with its origin at the mean, and outputs with mean c."""
        mean = [self.row(share, i) for i in range(self.n)]
        middle, k = self.quadratic(share), len(free)
        G = lambda i, j: self.K[i][j] - mean[i] - mean[j] + middle  # noqa: E731
        target = self.share()[1]
        for a, i in enumerate(free):
            for b, j in enumerate(free):
                A[a, b] = G(i, j) + (1 / (2 * self.cost[i]) if self.squared and i == j else arb(0))
            rhs[a, 0] = arb(int(labels[i])) - target - sum((G(i, j) * fixed[j] for j in range(self.n)), arb(0))
            A[a, k], A[k, a] = arb(0), arb(0)
        A[k, k], rhs[k, 0] = arb(1), arb(0)

    def share(self):
        """Weights of the constraint and what the weighted sum must be."""
        weight = arb(1) / len(self.members) if self.constraint == "mean" else arb(1)
        weights = [weight if i in self.members else arb(0) for i in range(self.n)]
        return weights, arb(float(self.value)) if self.constraint in ("mean", "targets") else arb(0)

    def row(self, share, i):
        """What the constraint's point has as kernel value with point i; for targets with their slacks."""
        value = sum((self.K[i][j] * share[j] for j in range(self.n)), arb(0))
        return value + (share[i] / (2 * self.cost[i]) if self.constraint == "targets" else arb(0))

    def quadratic(self, share):
        """The same with itself."""
        return sum((share[i] * self.row(share, i) for i in range(self.n)), arb(0))

    # --- values by definition ---

    def primal(self, labels, gamma, extra):
        """What the function of a candidate costs, after it is made to meet the constraint; None if it cannot."""
        n, (share, target) = self.n, self.share()
        a, b = list(gamma), arb(0)
        if self.constraint == "mean" and self.bias:
            total = sum(gamma, arb(0))
            a = [gamma[i] - total * share[i] for i in range(n)]
        elif self.constraint in ("mean", "targets"):
            a = [gamma[i] + extra * share[i] for i in range(n)]
        elif self.bias:
            b = extra
        f = [sum((self.K[i][j] * a[j] for j in range(n)), arb(0)) + b for i in range(n)]
        if self.constraint == "mean" and self.bias:
            mean = sum((share[i] * f[i] for i in range(n)), arb(0))
            b = target - mean
            f = [value + b for value in f]
        elif self.constraint == "mean":
            # Stretch the part along the mean until the mean is right.
            mean, square = sum((share[i] * f[i] for i in range(n)), arb(0)), self.quadratic(share)
            if not square > 0:
                return None
            step = (target - mean) / square
            a = [a[i] + step * share[i] for i in range(n)]
            f = [sum((self.K[i][j] * a[j] for j in range(n)), arb(0)) for i in range(n)]
        length = sum((a[i] * self.K[i][j] * a[j] for i in range(n) for j in range(n)), arb(0))
        if self.constraint == "targets":
            return self.primal_of_targets(labels, a, f, length)
        losses = arb(0)
        for i in range(n):
            lacking = positive(1 - int(labels[i]) * f[i])
            losses += self.cost[i] * (squared(lacking) if self.squared else lacking)
        return (length / 2 + losses).upper()

    def primal_of_targets(self, labels, a, f, length):
        """Targets v = f + a / 2c, moved to be right of ±1 and to have their sum."""
        v = []
        for i in range(self.n):
            wanted = (f[i] + a[i] / (2 * self.cost[i])).mid() * int(labels[i])
            v.append((wanted if wanted > 1 else arb(1)) * int(labels[i]))
        excess = sum((v[i] for i in self.members), arb(0)) - arb(float(self.value))
        sign = -1 if excess > 0 else 1
        movable = [i for i in self.members if int(labels[i]) == sign]
        if not movable:
            return None
        for i in movable:
            v[i] = v[i] - excess / len(movable)
        losses = sum((self.cost[i] * squared(v[i] - f[i]) for i in range(self.n)), arb(0))
        return (length / 2 + losses).upper()

    def dual(self, labels, gamma, extra):
        """The dual value at γ moved to the right signs and caps; None where an equation is not met exactly."""
        n, (share, target) = self.n, self.share()
        moved = []
        for i in range(n):
            alpha = gamma[i].mid() * int(labels[i])
            alpha = alpha if alpha > 0 else arb(0)
            if not self.squared and not alpha <= self.cost[i]:
                alpha = self.cost[i]
            moved.append(alpha * int(labels[i]))
        total = sum(moved, arb(0))
        a, value = list(moved), sum((moved[i] * int(labels[i]) for i in range(n)), arb(0))
        if self.constraint == "mean" and self.bias:
            a = [moved[i] - total * share[i] for i in range(n)]
            value -= total * target
        elif self.constraint in ("mean", "targets"):
            a = [moved[i] + extra * share[i] for i in range(n)]
            value += extra * target
        elif self.bias and total != 0:
            i = max(range(n), key=lambda i: float(abs(moved[i])) * (int(labels[i]) == (1 if total > 0 else -1)))
            moved[i] = moved[i] - total
            if not moved[i] * int(labels[i]) >= 0:
                return None
            a, value = list(moved), sum((moved[i] * int(labels[i]) for i in range(n)), arb(0))
        length = sum((a[i] * self.K[i][j] * a[j] for i in range(n) for j in range(n)), arb(0))
        slack = arb(0)
        if self.squared:
            own = a if self.constraint == "targets" else moved
            slack = sum((squared(own[i]) / (4 * self.cost[i]) for i in range(n)), arb(0))
        return (value - length / 2 - slack).lower()


def squared(ball):
    """A ball times itself: as a power it would be none, if it holds 0."""
    return ball * ball


def positive(ball):
    """max(0, ·) of a ball."""
    return ball.max(arb(0))


def reference(formulation, problem):
    """The reference of an instance, without the balls' precision of anything else."""
    from convex_tsvm.relaxations import LabelModel

    stated, _ = LabelModel(formulation, problem).statement()
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    return Reference(
        X, problem.y, problem.cost, problem.kernel.to_dict(), squared=stated["loss"] == "squared_hinge",
        bias=stated["bias"], constraint=stated["constraint"], value=stated["value"], members=problem.balance_points,
    )  # fmt: skip
