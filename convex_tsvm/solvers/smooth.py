"""Descent on smooth primals: SciPy's L-BFGS in the coordinates of w (chapelle2008 §4, the first way)."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from scipy import sparse

from ..deadline import time_is_up
from ..instance import ExpansionPrimal, Instance, SmoothPoint, SmoothPrimal, features_of
from ..instance.primal import centred_kernel
from ..instance.smooth_point import scale_of
from ..kernels.functions import dense
from ..points import DensePoints, LinearPoints, SinglePoints
from ..problem import Array, Problem
from ..validation import finite, integer, is_sparse
from .levenberg_marquardt import levenberg_marquardt


class Identity:
    """The variables themselves, u = x."""

    def variables(self, u: Array) -> Array:
        return u

    gradient = scaled = variables


class Preconditioner:
    """T in x = T u, for a primal in the coordinates of w around a point x: in u it is curved about the same all over.

    The Hessian of ½ ‖w‖² + Σ c_i ℓ_i(f_i) is I + Σ h_i z_i z_iᵀ with h_i = c_i ℓ_i''(f_i).  Of a kernel matrix the
    first coordinates of the features z_i are hundreds of times as long as the last, and the few labelled points have by
    far the largest h_i, so in w itself a descent zigzags.  Here T Tᵀ is the inverse of a near Hessian: of the diagonal,
    without the points with the largest h_i ‖z_i‖², and of these points exactly (by the Woodbury formula).  Losses that
    bend downwards count as straight, so T is defined wherever it is made.

    At most ``points`` points are taken exactly, and at most this ``share`` of all: with few points steps cost less.
    """

    points, share = 100, 0.05

    def __init__(self, primal: SmoothPrimal, x: Array) -> None:
        space, h = primal.space, np.maximum(primal.curvatures_at(primal.outputs(x)), 0.0)
        sizes = h * (space.squared_norms() + space.free_bias)
        largest = np.argsort(-sizes, kind="stable")[: min(self.points, math.ceil(self.share * len(sizes)))]
        largest = np.sort(largest[sizes[largest] > 0])
        others = h.copy()
        others[largest] = 0.0
        diagonal = space.ridge + space.diagonal(others)
        if space.free_bias:
            diagonal[-1] = max(diagonal[-1], float(h.sum())) or 1.0  # nothing else holds the bias, which has no ridge
        self._scale = 1 / np.sqrt(diagonal)
        # V = Diag(√h) Z Diag(scale) for the points taken exactly; the Hessian in scaled variables is near I + Vᵀ V,
        # and with V Vᵀ = Q Diag(e) Qᵀ its root's inverse is I + Vᵀ Q Diag(((1 + e)^-½ - 1) / e) Qᵀ V.
        self._points, self._root = space.points.take(largest), np.sqrt(h[largest])
        self._space = space.of(self._points)
        values, basis = np.linalg.eigh(self._gram())
        values = np.maximum(values, 0.0)
        near_zero = values < 1e-12
        safe = np.where(near_zero, 1.0, values)
        self._inner = (basis * np.where(near_zero, -0.5, (1 / np.sqrt(1 + safe) - 1) / safe)) @ basis.T
        self._outer = (basis * np.where(near_zero, 0.5, (np.sqrt(1 + safe) - 1) / safe)) @ basis.T

    def variables(self, u: Array) -> Array:
        """x = T u."""
        return self._scale * self._changed(u, self._inner)

    def gradient(self, gradient: Array) -> Array:
        """Tᵀ g, the gradient with respect to u."""
        return self._changed(self._scale * gradient, self._inner)

    def scaled(self, x: Array) -> Array:
        """u = T⁻¹ x."""
        return self._changed(x / self._scale, self._outer)

    def _changed(self, u: Array, inner: Array) -> Array:
        return u + self._transposed(inner @ self._times(u))

    def _times(self, u: Array) -> Array:
        """V u."""
        return self._root * self._space.change(self._scale * u)

    def _transposed(self, q: Array) -> Array:
        """Vᵀ q."""
        return self._scale * self._space.pull(self._root * q)

    def _gram(self) -> Array:
        """V Vᵀ."""
        space, rows, squared = self._space, self._points, self._scale**2
        weights = space.weights(squared)
        scaled: Any = rows @ sparse.diags_array(weights) if is_sparse(rows) else rows * weights
        gram = dense(scaled @ rows.T)
        if space.free_bias:
            gram = gram + squared[-1]
        elif space.mean is not None:
            across = np.asarray(scaled @ space.mean)
            gram = gram - across[:, None] - across + float(space.mean @ (squared * space.mean))
        return self._root[:, None] * gram * self._root


class SmoothSolver:
    """Descent on the smooth primals of one problem, whose features are made once.

    Parameters
    ----------
    problem : Problem
    tol : float > 0, default 1e-3
        Half the squared length of the gradient, relative to the value, at which a descent ends: what the duality gap
        of the tangent convex problem is there.
    max_iter : int, default 2000
        Limit on steps of a descent.
    progress : callable, optional
        Called as ``progress(n_iter, gap)`` after every step.
    """

    name = "smooth"
    takes = "losses with slopes, and curvatures for Newton steps; ½ ‖w‖²; a linear balance with a bias"

    # Products with features of so many entries, which come from memory, not from the processor's cache, are made with
    # 32-bit numbers, unless a descent ends at a gap below the goal.
    many_entries, single_goal = 500_000, 1e-6

    def __init__(
        self,
        problem: Problem,
        *,
        tol: float = 1e-3,
        max_iter: int = 2000,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.problem, self.progress = problem, progress
        self.tol, self.max_iter = finite("tol", tol, above=0), integer("max_iter", max_iter, least=1)
        self._features: LinearPoints | None = None
        self._single: SinglePoints | None = None
        self._kernel: tuple[Array, Array] | None = None
        self._centre: tuple[int, ...] = ()

    def primal(self, instance: Instance, kind: type[SmoothPrimal] = SmoothPrimal) -> Any:
        """The smooth primal of an instance, or the annealed one, in features that are kept."""
        self._check(instance)
        if self._features is None:
            self._features = features_of(instance)
        return kind(instance, self._features)

    def expansion(self, instance: Instance) -> SmoothPrimal:
        """The smooth primal in which Newton steps are made: of an expansion, or for the linear kernel of w itself."""
        if instance.problem.is_linear:
            return self.primal(instance)
        self._check(instance)
        # Which points the features are centred on, if on any, is all that the kernel depends on.
        centre = tuple(() if instance.target is None else instance.members.tolist())
        if self._kernel is None or self._centre != centre:
            self._kernel, self._centre = centred_kernel(instance), centre
        return ExpansionPrimal(instance, self._kernel)

    def newton(self, primal: SmoothPrimal, x: Array, goal: float | None = None) -> SmoothPoint:
        """A stationary point below x by Newton steps; arguments and result are those of :meth:`descend`."""
        if not isinstance(primal, ExpansionPrimal):
            return self.descend(primal, x, goal, method="trust-ncg")
        goal = self.tol if goal is None else goal
        return levenberg_marquardt(primal, x, goal=goal, max_iter=self.max_iter, progress=self.progress)

    def descend(
        self,
        primal: SmoothPrimal,
        x: Array,
        goal: float | None = None,
        method: str = "L-BFGS-B",
        *,
        precondition: bool = True,
    ) -> SmoothPoint:
        """A stationary point below x, by "L-BFGS-B" or "trust-ncg" of ``scipy.optimize.minimize``.

        ``goal`` takes the place of ``tol``; with ``precondition`` L-BFGS goes on variables in which the start is curved
        the same everywhere, rather than on w.  The status is "max_iter" where the limit came first, "inaccurate" where
        rounding did, and "interrupted" or "time_limit" if Ctrl-C or a deadline ended the descent.
        """
        began, goal, descent = time.perf_counter(), self.tol if goal is None else goal, None
        try:
            descent = _Descent(primal, x, goal, self.progress, precondition)
            if method == "L-BFGS-B":
                single = self._in_single(primal, goal)
                if single is not None:
                    descent.lower(single, self.max_iter)
                descent.lower(primal, self.max_iter)
            elif descent.gap > goal:  # by a method that multiplies by the Hessian
                descent.minimize(method, {"maxiter": self.max_iter, "gtol": 0.0}, hessp=primal.hessian_product)
            status = descent.status(self.max_iter)
        except KeyboardInterrupt:
            status = "interrupted"
        best, n_iter = (x, 0) if descent is None else (descent.best, descent.n_iter)
        point = primal.point(best, status=status, n_iter=n_iter, seconds=time.perf_counter() - began)
        return point.judged(goal)

    def _in_single(self, primal: SmoothPrimal, goal: float) -> SmoothPrimal | None:
        """The primal whose products with the features are of 32-bit numbers, or None if it is of no use."""
        features = self._features
        if features is None or primal.space.points is not features or goal < self.single_goal:
            return None
        if self._single is None:
            if not isinstance(features, DensePoints) or features.n_entries < self.many_entries:
                return None
            self._single = SinglePoints(features.X)
        return primal.with_points(self._single)

    def _check(self, instance: Instance) -> None:
        """Raise a ValueError if an instance has other points or another kernel than the solver's problem.

        Labels and balance may be others, since the features do not depend on them.
        """
        problem = instance.problem
        if problem is not self.problem and not (problem.X is self.problem.X and problem.kernel == self.problem.kernel):
            raise ValueError(f"the solver was made for {self.problem!r}, not for {problem!r}")


class _Descent:
    """A descent, from x to where the gap is at most ``goal``."""

    def __init__(
        self,
        primal: SmoothPrimal,
        x: Array,
        goal: float,
        progress: Callable[[int, float], None] | None,
        precondition: bool,
    ) -> None:
        self._exact, self.primal, self.best, self.n_iter = primal, primal, x, 0
        self.goal, self.progress, self._precondition = goal, progress, precondition
        self._near: Preconditioner | Identity = Identity()
        self._time_is_up = False
        self._evaluate(x)
        self.gap = self._gap_at(x)  # half the squared length of the gradient there, relative to the value

    def lower(self, primal: SmoothPrimal, most: int) -> None:
        """Make steps by L-BFGS on a primal, which may be less exact than the one before, until ``most`` in all."""
        if primal is not self.primal:
            self.primal = primal
            self._evaluate(self.best)
            self.gap = self._gap_at(self.best)
        if self.gap > self.goal and self.n_iter < most and not self._time_is_up:
            steps = most - self.n_iter
            if self._precondition:
                self._near = Preconditioner(self._exact, self.best)
            options = {"maxiter": steps, "gtol": 0.0, "maxcor": 20, "maxfun": 20 * steps, "ftol": 0.0}
            self.minimize("L-BFGS-B", options, hessp=None)

    def status(self, most: int) -> str:
        """How the descent ended.  Where no step lowers the value any more, ``judged`` decides by the gradient."""
        if self._time_is_up:
            return "time_limit"
        return "max_iter" if self.gap > self.goal and self.n_iter >= most else "optimal"

    def minimize(self, method: str, options: dict[str, Any], hessp: Any) -> None:
        """Make steps by one of SciPy's methods."""
        how = {"jac": True, "hessp": hessp, "method": method, "callback": self._after, "options": options}
        scipy.optimize.minimize(self._function, self._near.scaled(self.best), **how)

    def _function(self, u: Array) -> tuple[float, Array]:
        self._evaluate(self._near.variables(u))
        return self._value, self._near.gradient(self._gradient)

    def _evaluate(self, x: Array) -> None:
        self._value, self._gradient = self.primal.value_and_gradient(x)

    def _gap_at(self, x: Array) -> float:
        """The gap at the variables that were evaluated last."""
        regularization = 0.5 * float(x @ (self.primal.space.ridge * x))
        return 0.5 * float(self._gradient @ self._gradient) / scale_of(self.primal, self._value, regularization)

    def _after(self, intermediate_result: Any) -> None:
        self.best, self.n_iter = self._near.variables(intermediate_result.x), self.n_iter + 1
        self.gap = self._gap_at(self.best)
        if self.progress is not None:
            self.progress(self.n_iter, self.gap)
        if self.gap <= self.goal:
            raise StopIteration
        if time_is_up():
            self._time_is_up = True
            raise StopIteration
