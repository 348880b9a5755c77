"""The smooth primal of an instance: its objective as a differentiable function of w and b (chapelle2008 §4).

The linear balance constraint is gone: features are centred on its members and the bias is fixed (eq. 13).  A kernel's
feature space is entered by a factor Z of the kernel matrix, K = Z Zᵀ, whose rows are the points (the first way of §4),
or by coefficients β of an expansion over the points (the second, eq. 15).
"""

import copy
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray

from ..kernels import kernel_factor
from ..losses import Annealed, SmoothLoss, annealed, smoothed, without_convex_kinks
from ..points import LinearPoints, linear_points
from ..problem import Array
from .instance import Instance
from .probabilities import Probabilities
from .smooth_point import SmoothPoint
from .space import Space

#: Kinks of losses that open upwards are rounded over about this width of outputs.
KINK_WIDTH = 0.01


class SmoothPrimal:
    """½ ‖w‖² + Σ c_i ℓ_i(f_i) as a function of x, the coordinates of w and, if it is free, the bias.

    A ValueError says if the instance is not of that kind.

    Parameters
    ----------
    instance : Instance
        With losses that have slopes, ½ ‖w‖², and no constraint but a linear balance.
    features : LinearPoints, optional
        The points in the coordinates of w: :func:`features_of` the problem, which is made if it is not given.
    rounded : float > 0, default 0.01
        Kinks that open upwards become parabolas about as wide, in units of the output.

    Attributes
    ----------
    n_variables : int
        Length of x.
    cost : array, shape (n,)
        Costs c of the variables.
    """

    def __init__(
        self, instance: Instance, features: LinearPoints | None = None, *, rounded: float = KINK_WIDTH
    ) -> None:
        instance = instance.without_targets()
        formulation, problem = instance.formulation, instance.problem
        if not formulation.regularizer.is_squared_norm or instance.rows is not None:
            raise ValueError(
                "the smooth primal has ½ ‖w‖² and no constraints but a linear balance; cccp, switching, annealing and "
                "linearization take other regularizers and constraints on outputs, and so does Formulation.smooth"
            )
        instance.check_outputs()
        if formulation.additions:
            raise ValueError(
                f"additions={list(formulation.additions)!r}: methods on the smooth primal take none; those of convex "
                "steps do: cccp, switching, annealing, linearization; and so does Formulation.smooth"
            )
        if instance.n_positive is not None:
            raise ValueError(f"{instance.balance}: the smooth primal takes a linear balance (Instance.by_mean)")
        if instance.target is not None and not formulation.fit_intercept:
            raise ValueError("fit_intercept=False with a linear balance: the smooth primal has no bias to fix")
        self.instance, self.cost = instance, instance.cost
        self.free_bias = instance.bias.free
        self._enter(features)
        losses = formulation.losses
        for loss in losses:
            if not isinstance(loss, SmoothLoss) or not getattr(loss, "is_finite", True):
                raise ValueError(f"{loss!r} has no slope and curvature everywhere: the smooth primal needs such a loss")
        self._labels, self.losses = problem.y, [without_convex_kinks(loss, rounded) for loss in losses]
        self._group()

    def _enter(self, features: LinearPoints | None) -> None:
        """Choose the coordinates of w."""
        instance = self.instance
        features = features_of(instance) if features is None else features
        self.space = Space(features, instance.bias)
        self.n_variables = self.space.size

    def at(self, *, scale: float = 1.0, deviations: Array | None = None, smoothing: str = "gaussian") -> Self:
        """The same with C* times a factor, or with losses smoothed by deviations of each point's output, shape (n,)."""
        other = copy.copy(self)
        other.cost = self.instance.scaled_cost(scale)
        other._group(deviations, smoothing)
        return other

    def sharper(self, rounded: float) -> Self:
        """The same with kinks that are rounded over another width."""
        other = copy.copy(self)
        other.losses = [without_convex_kinks(loss, rounded) for loss in self.instance.formulation.losses]
        other._group()
        return other

    def with_points(self, points: LinearPoints) -> Self:
        """The same with points that were rounded to fewer digits."""
        other = copy.copy(self)
        other.space = copy.copy(self.space)
        other.space.points = points
        return other

    def outputs(self, x: Array) -> Array:
        """f of all points, shape (n,)."""
        return self.space.outputs(x, self.instance.target)

    def value(self, x: Array) -> float:
        """The objective."""
        return self.regularization(x) + self.loss_at(self.outputs(x))[0]

    def gradient(self, x: Array) -> Array:
        """Its gradient, shape (n_variables,)."""
        return self.value_and_gradient(x)[1]

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Both, for two products with the points."""
        loss, slopes = self.loss_at(self.outputs(x))
        return self.regularization(x) + loss, self.space.pull(slopes) + self.space.ridge * x

    def hessian_product(self, x: Array, direction: Array) -> Array:
        """Its Hessian times a direction; nothing is formed but products with the points."""
        return self.space.curved(self.curvatures_at(self.outputs(x)), direction) + self.space.ridge * direction

    def loss_at(self, f: Array) -> tuple[float, Array]:
        """Σ c_i ℓ_i(f_i) and its slopes c_i ℓ_i'(f_i), shape (n,)."""
        total, slopes = 0.0, np.zeros(len(f))
        for loss, sign, at, cost in self._groups:
            t = sign * f[at]
            total += float(cost @ loss(t))
            slopes[at] = sign * cost * loss.derivative(t)
        return total, slopes

    def curvatures_at(self, f: Array) -> Array:
        """c_i ℓ_i''(f_i), shape (n,)."""
        bend = np.zeros(len(f))
        for loss, sign, at, cost in self._groups:
            bend[at] = cost * loss.curvature(sign * f[at])
        return bend

    def nearest(self, f: Array) -> Array:
        """x whose outputs are near some given ones, at least squares with the mean cost and ½ ‖w‖²."""
        target = f - (self.instance.target or 0.0)
        operator = scipy.sparse.linalg.LinearOperator(
            (len(f), self.n_variables), matvec=lambda x: self.space.change(np.ravel(x)), rmatvec=self.space.pull
        )
        damping = 1 / np.sqrt(2 * max(float(self.cost.mean()), 1e-12))
        return np.asarray(scipy.sparse.linalg.lsqr(operator, target, damp=damping, atol=1e-4, btol=1e-4)[0])

    def point(self, x: Array, **report: Any) -> SmoothPoint:
        """The decision function at x, how far it is from stationary, and what a solver reports of the way there."""
        f, w, regularization = self.outputs(x), self.space.weights(x), self.regularization(x)
        loss, slopes = self.loss_at(f)
        gradient = self.space.pull(slopes) + self.space.ridge * x
        linear, points = self.instance.problem.is_linear, self.space.points
        # The columns of a factor are orthogonal: they give the coefficients of a w in its coordinates.
        expanded = self._dual(slopes) if linear else points.times(w / points.squares(np.ones(points.shape[0])))
        return SmoothPoint(
            primal_of=self,
            outputs=f,
            coefficients=expanded,
            bias=self.space.bias(x, self.instance.target),
            regularization=regularization,
            weights=w.copy() if linear else None,
            primal=regularization + loss,
            squared_slope=float(gradient @ gradient),
            variables=x.copy(),
            **report,
        )

    def slope_of(self, coefficients: Array, f: Array) -> float:
        """The squared length of the gradient at a function Σ a_i Φ(x_i) with outputs f, by the kernel alone."""
        slopes = self.loss_at(f)[1]
        apart = coefficients - self._dual(slopes)
        squared = float(apart @ self.instance.problem.apply_kernel(apart))
        return max(squared, 0.0) + (float(slopes.sum()) ** 2 if self.free_bias else 0.0)

    def _dual(self, slopes: Array) -> Array:
        """The coefficients of a stationary point with these slopes: -slopes, and γ₀ spread over the balance."""
        return self.instance.bias.spread(-slopes, 0.0 if self.instance.target is None else float(slopes.sum()))

    def regularization(self, x: Array) -> float:
        """½ ‖w‖²."""
        return 0.5 * float(x @ (self.space.ridge * x))

    def _group(self, deviations: Array | None = None, smoothing: str = "gaussian") -> None:
        """Losses of y f, the sign y, their points and costs."""
        formulation = self.instance.formulation
        smooth = dict(zip(map(id, formulation.losses), self.losses, strict=True))
        kinds = formulation.kinds(self.instance.problem)
        self._groups: list[tuple[SmoothLoss, float, NDArray[np.intp], Array]] = []
        for number, kind in enumerate(formulation.by_kind):
            where = np.flatnonzero(kinds == number)
            if kind.loss is not None and len(where):
                loss = smooth[id(kind.loss)]
                loss = loss if deviations is None else smoothed(loss, deviations[where], smoothing)
                self._groups.append((loss, kind.sign, where, self.cost[where]))


def features_of(instance: Instance) -> LinearPoints:
    """The points in the coordinates of w: themselves in the linear space, or rows of a factor of the kernel matrix."""
    problem = instance.problem
    return linear_points(problem.X if problem.is_linear else kernel_factor(problem.gram))


class AnnealedPrimal(SmoothPrimal):
    """S(w, b) of chapelle2008 eq. 9: unlabelled points pay for probable labels, the best ones, less their entropy.

    Parameters
    ----------
    instance : Instance
        Whose unlabelled points pay for the better label.  A prescribed number of positive labels is kept by the
        probabilities, which sum to it; the bias is free then.
    features
        As in :class:`SmoothPrimal`.
    """

    def __init__(
        self, instance: Instance, features: LinearPoints | None = None, *, rounded: float = KINK_WIDTH
    ) -> None:
        loss, constant = instance.formulation.label_loss()
        super().__init__(instance.replaced(instance.formulation), features, rounded=rounded)
        self.n_positive, self._loss = instance.n_positive, without_convex_kinks(loss, rounded)
        self._constant = constant
        self.temperature, self.nu = np.inf, 0.0

    def cooled(self, temperature: float) -> "AnnealedPrimal":
        """The same at a temperature, in units of the objective."""
        other = copy.copy(self)
        other.temperature = temperature
        return other

    def probabilities_at(self, f: Array) -> Probabilities:
        """The best probabilities (eq. 8); with a number of positive labels, those that sum to it."""
        unknown = self.instance.problem.unlabeled
        t = f[unknown]
        g = self.cost[unknown] * (self._loss(t) - self._loss(-t))
        found = Probabilities.best(g, self.temperature, self.n_positive, self.nu)
        self.nu = found.nu
        return found

    def loss_at(self, f: Array) -> tuple[float, Array]:
        known, unknown = self.instance.problem.labeled, self.instance.problem.unlabeled
        labels, t, cost = self._labels[known], f[unknown], self.cost[unknown]
        slopes, found = np.zeros(len(f)), self.probabilities_at(f)
        total = float(self.cost[known] @ self.losses[0](labels * f[known]))
        slopes[known] = labels * self.cost[known] * self.losses[0].derivative(labels * f[known])
        total += float(cost @ (found.p * self._loss(t) + (1 - found.p) * self._loss(-t) + self._constant))
        slopes[unknown] = cost * (found.p * self._loss.derivative(t) - (1 - found.p) * self._loss.derivative(-t))
        return total - self.temperature * len(unknown) * found.entropy(), slopes

    def curvatures_at(self, f: Array) -> Array:
        """With the multiplier of the balance held where it is."""
        bend, unknown = np.zeros(len(f)), self.instance.problem.unlabeled
        for loss, sign, at, cost in self._groups[:2]:
            bend[at] = cost * loss.curvature(sign * f[at])
        for scale in np.unique(self.cost[unknown]):
            at = unknown[self.cost[unknown] == scale]
            pays: Annealed = annealed(self._loss, self.temperature / scale, self.nu / scale)
            bend[at] = scale * pays.curvature(f[at])
        return bend


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
            coefficients = self.instance.bias.spread(beta, -float(beta.sum()))
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
