"""The smooth primal of an instance: its objective as a differentiable function of w and b (chapelle2008 §4).

The linear balance constraint is gone: features are centred on its members and the bias is fixed (eq. 13).  A kernel's
feature space is entered by a factor Z of the kernel matrix, K = Z Zᵀ, whose rows are the points: the first of the two
ways of §4.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel_factor
from ..losses import SmoothLoss
from ..problem import Array
from .instance import Instance


class SmoothPrimal:
    """½ ‖w‖² + Σ c_i ℓ_i(f_i) as a function of x, the coordinates of w and, if it is free, the bias.

    Parameters
    ----------
    instance : Instance
        With smooth losses, ½ ‖w‖², and no constraint but a linear balance.

    Attributes
    ----------
    n_variables : int
        Length of x.

    Raises
    ------
    ValueError
        If the instance is not of that kind.
    """

    def __init__(self, instance: Instance) -> None:
        formulation, problem = instance.formulation, instance.problem
        if formulation.regularizer != "l2" or instance.rows is not None:
            raise ValueError("the smooth primal has ½ ‖w‖² and no constraints but a linear balance")
        if instance.n_positive is not None:
            raise ValueError(f"{instance.balance}: the smooth primal takes a linear balance (Instance.by_mean)")
        if instance.target is not None and not formulation.fit_intercept:
            raise ValueError("fit_intercept=False with a linear balance: the smooth primal has no bias to fix")
        self.instance, self.points = instance, problem.X if problem.is_linear else kernel_factor(problem.gram)
        self.free_bias = formulation.fit_intercept and instance.target is None
        self.n_variables = self.points.shape[1] + self.free_bias
        labels, cost = problem.y, instance.cost
        groups = [(formulation.labeled, 1.0, labels > 0), (formulation.labeled, -1.0, labels < 0)]
        if formulation.unlabeled is not None:
            groups.append((formulation.unlabeled, 1.0, labels == 0))
        #: Losses of y f, the sign y, their points and costs.
        self._groups: list[tuple[SmoothLoss, float, NDArray[np.intp], Array]] = []
        for loss, sign, where in groups:
            if not isinstance(loss, SmoothLoss) or not getattr(loss, "is_smooth", True):
                raise ValueError(
                    f"{loss!r} has kinks, or no slope and curvature: the smooth primal needs a smooth loss"
                )
            if where.any():
                self._groups.append((loss, sign, np.flatnonzero(where), cost[where]))

    def outputs(self, x: Array) -> Array:
        """f of all points, shape (n,)."""
        w, fixed = self._split(x)
        return self._times(w) + fixed

    def value(self, x: Array) -> float:
        """The objective."""
        w, _ = self._split(x)
        f = self.outputs(x)
        return 0.5 * float(w @ w) + sum(float(c @ loss(sign * f[at])) for loss, sign, at, c in self._groups)

    def gradient(self, x: Array) -> Array:
        """Its gradient, shape (n_variables,)."""
        f, slopes = self.outputs(x), np.zeros(self.instance.problem.n)
        for loss, sign, at, cost in self._groups:
            slopes[at] = sign * cost * loss.derivative(sign * f[at])
        return self._back(slopes, x)

    def hessian_product(self, x: Array, direction: Array) -> Array:
        """Its Hessian times a direction; nothing is formed but products with the points."""
        f, bend = self.outputs(x), np.zeros(self.instance.problem.n)
        for loss, sign, at, cost in self._groups:
            bend[at] = cost * loss.curvature(sign * f[at])
        d = direction[: len(x) - self.free_bias]
        change = self._times(d) + (float(direction[-1]) if self.free_bias else 0.0)
        return self._back(bend * change, direction)

    def _split(self, x: Array) -> tuple[Array, float]:
        """w, and the bias in the outputs of centred points."""
        if self.free_bias:
            return x[:-1], float(x[-1])
        return x, float(self.instance.target or 0.0)

    def _back(self, per_output: Array, x: Array) -> Array:
        """What changes of the outputs mean for x, with w's own part."""
        inner = self._transposed(per_output) + x[: len(x) - self.free_bias]
        return np.append(inner, per_output.sum()) if self.free_bias else inner

    @cached_property
    def _mean(self) -> Array | None:
        """The mean of the members of the balance, the origin of the features; None if there is no balance."""
        if self.instance.target is None:
            return None
        return np.asarray(self.points[self.instance.members].mean(axis=0)).ravel()

    def _times(self, w: Array) -> Array:
        product: Any = self.points @ w
        return np.asarray(product) - (0.0 if self._mean is None else float(self._mean @ w))

    def _transposed(self, values: Array) -> Array:
        product = np.asarray(self.points.T @ values)
        return product if self._mean is None else product - values.sum() * self._mean
