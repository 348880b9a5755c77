"""What becomes of the bias; the variables of a linear function, and outputs and derivatives in terms of them."""

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..points import LinearPoints
from ..points.memory import unchecked
from ..problem import Array, Problem


def members_of(problem: Problem) -> NDArray[np.intp]:
    """The points whose mean output a balance on a problem would fix."""
    return problem.balance_points


@dataclass(frozen=True, eq=False)
class Bias:
    """How outputs get their bias, where they have one.

    A balance, mean of f over the members = c, can be met in two ways that have the same solutions.  *Centring* moves
    the origin of the feature space to the members' mean m, which fixes the bias: f = w·(Φ(x) - m) + c (chapelle2008
    eq. 13).  The extra point *x₀* is that mean, with an output that must be c and a multiplier γ₀ of its own, beside a
    bias that is still free (collobert2006 eq. 10).  Without a bias to be fixed there is only the second way.
    """

    fitted: bool  # whether f has a bias at all
    target: float | None  # c, the mean that the outputs of the members must have; None without a balance
    members: NDArray[np.intp]  # the points of the balance, some perhaps several times
    way: str = "centring"  # or "x0": how a balance is met, if there is one and the bias is fitted

    @cached_property
    def centred(self) -> bool:
        """Whether the origin is the members' mean, and the bias is c from there."""
        return self.fitted and self.target is not None and self.way == "centring"

    @property
    def with_x0(self) -> bool:
        """Whether the members' mean is an extra point, with a multiplier γ₀."""
        return self.target is not None and not self.centred

    @property
    def free(self) -> bool:
        """Whether the bias is a variable, whose equation in the dual is Σ a = 0."""
        return self.fitted and not self.centred

    @property
    def offset(self) -> float:
        """What is added to w·(Φ(x) - origin) where the bias is not free."""
        return float(self.target or 0.0) if self.centred else 0.0

    def spread(self, coefficients: Array, gamma0: float) -> Array:
        """Coefficients over the points, with those of the members' mean spread over the members."""
        found = coefficients.copy()
        if gamma0:
            np.add.at(found, self.members, gamma0 / len(self.members))
        return found

    def of_origin(self, outputs: Array, free: float) -> float:
        """b in f = w·Φ(x) + b, from the outputs w·Φ(x): what the balance asks for, or the free bias of a solver."""
        if not self.fitted:
            return 0.0
        return free if self.target is None else self.target - self.mean(outputs)

    def mean(self, outputs: Array) -> float:
        """The mean that a balance fixes."""
        return float(outputs[self.members].mean())


class Space:
    """x = w, or (w, b) where the bias is free; f = X w + b.

    With a balance the origin of the points is moved to the members' mean m (:class:`Bias`),
    f = (X - 1 mᵀ) w + c; here this is also so where there is no bias to be fixed.
    """

    def __init__(self, points: LinearPoints, bias: Bias) -> None:
        d = points.shape[1]
        self.points, self.free_bias = points, bias.free  # for a kernel, points are rows of a factor of its matrix
        self.mean = None if bias.target is None else points.mean(bias.members)
        # The length of x, and 1 for its entries that are regularized, 0 for a free bias.
        self.size, self.ridge = d + self.free_bias, np.ones(d + self.free_bias)
        if self.free_bias:
            self.ridge[-1] = 0.0

    def serves(self, bias: Bias) -> bool:
        """Whether another balance of the same members, and a bias or none, has the same variables."""
        return (bias.target is None) == (self.mean is None) and self.free_bias == bias.free

    def of(self, rows: Any) -> "Space":
        """The same variables and origin for some points, as ``take`` gives them."""
        found = copy.copy(self)
        found.points = unchecked(rows)
        return found

    def outputs(self, x: Array, target: float | None) -> Array:
        """f, shape (n,)."""
        found = self.change(x)
        if target is not None:
            found += target
        return found

    def change(self, x: Array) -> Array:
        """By how much the outputs change with x, shape (n,)."""
        w, shift = self._split(x)
        found = self.points.times(w)
        if shift:
            found += shift
        return found

    def pull(self, q: Array) -> Array:
        """What slopes q of the outputs, shape (n,), are as a gradient."""
        return self._back(self.points.transposed(q), float(q.sum()))

    def curved(self, h: Array, x: Array) -> Array:
        """The losses' Hessian times x, for curvatures h of the outputs."""
        w, shift = self._split(x)
        return self._back(*self.points.curved(h, w, shift))

    def hessian(self, h: Array) -> Array:
        """The losses' Hessian itself."""
        gram = self.points.gram(h)
        if self.mean is None and not self.free_bias:
            return gram
        sums, total = self.points.transposed(h), float(h.sum())
        if self.mean is not None:
            half = np.outer(self.mean, sums - 0.5 * total * self.mean)
            return gram - half - half.T
        return np.block([[gram, sums[:, None]], [sums, np.array([[total]])]])

    def diagonal(self, h: Array) -> Array:
        found = self.points.squares(h)
        if self.mean is None and not self.free_bias:
            return found
        total = float(h.sum())
        if self.mean is None:
            return np.append(found, total)
        found += self.mean * (total * self.mean - 2 * self.points.transposed(h))
        return np.maximum(found, 0.0)

    def squared_norms(self) -> Array:
        """‖x_i‖² of the points, from their own origin, shape (n,)."""
        found = self.points.squared_norms()
        if self.mean is not None:
            found = np.maximum(found - 2 * self.points.times(self.mean) + float(self.mean @ self.mean), 0.0)
        return found

    def weights(self, x: Array) -> Array:
        return x[: self.points.shape[1]]

    def bias(self, x: Array, target: float | None) -> float:
        if self.mean is not None:
            return float(target or 0.0) - float(self.mean @ x)
        return float(x[-1]) if self.free_bias else 0.0

    def _split(self, x: Array) -> tuple[Array, float]:
        if self.free_bias:
            return x[:-1], float(x[-1])
        return x, 0.0 if self.mean is None else -float(self.mean @ x)

    def _back(self, image: Array, total: float) -> Array:
        if self.free_bias:
            return np.append(image, total)
        return image if self.mean is None else image - total * self.mean
