"""The smooth primal in the coefficients of an expansion over the points (chapelle2008 §4, the second way)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ..points import LinearPoints
from ..problem import Array
from .instance import Instance
from .primal import KINK_WIDTH, SmoothPrimal
from .smooth_point import SmoothPoint


class ExpansionPrimal(SmoothPrimal):
    """The same function of x = (β, and the bias if it is free), w = Σ β_i Φ(x_i) (chapelle2008 eq. 15-17).

    The features Φ(x_i) are centred on the members of the balance, if there is one (eq. 13).

    Parameters
    ----------
    instance : Instance
        As in :class:`SmoothPrimal`.
    centred : (array, shape (n, n), array, shape (n,)), optional
        What :func:`centred_kernel` gives, which is made if it is not given.
    """

    def __init__(
        self, instance: Instance, centred: tuple[Array, Array] | None = None, *, rounded: float = KINK_WIDTH
    ) -> None:
        self.kernel, self._mean = centred_kernel(instance) if centred is None else centred
        super().__init__(instance, rounded=rounded)

    def _enter(self, features: LinearPoints | None) -> None:
        self.n_variables = len(self.kernel) + self.free_bias

    def split(self, x: Array) -> tuple[Array, float]:
        """β, and the bias in the outputs of centred points."""
        if self.free_bias:
            return x[:-1], float(x[-1])
        return x, float(self.instance.target or 0.0)

    def outputs(self, x: Array) -> Array:
        beta, bias = self.split(x)
        return self.kernel @ beta + bias

    def regularization(self, x: Array) -> float:
        beta, _ = self.split(x)
        return 0.5 * float(beta @ (self.kernel @ beta))

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """The gradient is K g with g_i = β_i + c_i ℓ_i'(f_i) (eq. 16)."""
        beta, bias = self.split(x)
        applied = self.kernel @ beta
        loss, slopes = self.loss_at(applied + bias)
        gradient = applied + self.kernel @ slopes
        return 0.5 * float(beta @ applied) + loss, self._with_bias(gradient, float(slopes.sum()))

    def hessian_product(self, x: Array, direction: Array) -> Array:
        """The Hessian is K + K D K (eq. 17)."""
        d, shift = direction[: len(self.kernel)], float(direction[-1]) if self.free_bias else 0.0
        applied = self.kernel @ d
        bent = self.curvatures_at(self.outputs(x)) * (applied + shift)
        return self._with_bias(applied + self.kernel @ bent, float(bent.sum()))

    def nearest(self, f: Array) -> Array:
        target = f - (float(f.mean()) if self.free_bias else float(self.instance.target or 0.0))
        ridge = 0.5 / max(float(self.cost.mean()), 1e-12)
        beta = scipy.linalg.solve(self.kernel + ridge * np.eye(len(f)), target, assume_a="pos", check_finite=False)
        return self._with_bias(beta, float(f.mean()))

    def point(self, x: Array, **report: Any) -> SmoothPoint:
        beta, shift = self.split(x)
        applied = self.kernel @ beta
        loss, slopes = self.loss_at(applied + shift)
        g, regularization = beta + slopes, 0.5 * float(beta @ applied)
        # Centring is undone: the members' mean is a point of the expansion, and w·mean part of the bias.
        coefficients, bias = beta, shift
        if self.instance.target is not None:
            rule = self.instance.bias
            coefficients = rule.spread(beta, rule.gamma0(float(beta.sum())))
            bias = shift - float(coefficients @ self._mean)
        return SmoothPoint(
            primal_of=self,
            outputs=applied + shift,
            coefficients=coefficients,
            bias=bias,
            regularization=regularization,
            weights=None,
            primal=regularization + loss,
            squared_slope=max(float(g @ (self.kernel @ g)), 0.0) + self.free_bias * float(slopes.sum()) ** 2,
            variables=x.copy(),
            **report,
        )

    def _with_bias(self, per_point: Array, bias: float) -> Array:
        return np.append(per_point, bias) if self.free_bias else per_point


def centred_kernel(instance: Instance) -> tuple[Array, Array]:
    """The kernel matrix of features centred on the members of the balance (chapelle2008 eq. 13), and k(x_i, mean).

    Without a balance the matrix is the kernel's own, and the mean is the origin.
    """
    kernel = instance.problem.gram
    if instance.target is None:
        return kernel, np.zeros(len(kernel))
    mean = kernel[:, instance.members].mean(axis=1)
    return kernel - mean[:, None] - mean + float(mean[instance.members].mean()), mean
