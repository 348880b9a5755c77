"""Descent on smooth primals: SciPy's L-BFGS in the coordinates of w (chapelle2008 §4, the first way)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

from ..deadline import time_is_up
from ..instance import ExpansionPrimal, Instance, SmoothPoint, SmoothPrimal, features_of
from ..instance.expansion import centred_kernel
from ..instance.smooth_point import scale_of
from ..points import LinearPoints
from ..problem import Array, Problem
from ..validation import finite, integer
from .levenberg_marquardt import levenberg_marquardt

#: The number of pairs of steps and gradient changes that L-BFGS estimates the curvature from.
MEMORY = 20


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
        self, primal: SmoothPrimal, x: Array, goal: float | None = None, method: str = "L-BFGS-B"
    ) -> SmoothPoint:
        """A stationary point below x.

        Parameters
        ----------
        primal : SmoothPrimal
        x : array
            Variables to start from.
        goal : float, optional
            In place of ``tol``.
        method : {"L-BFGS-B", "trust-ncg"}, default "L-BFGS-B"
            Of ``scipy.optimize.minimize``.

        Returns
        -------
        SmoothPoint
            Its status is "max_iter" where the limit came first, "inaccurate" where rounding did, and "interrupted" or
            "time_limit" if Ctrl-C or a deadline ended the descent.
        """
        began, goal, status = time.perf_counter(), self.tol if goal is None else goal, "optimal"
        best, n_iter, gap = x, 0, np.inf
        own: dict[str, Any] = {}
        if method == "L-BFGS-B":
            own = {"maxcor": MEMORY, "maxfun": 20 * self.max_iter, "ftol": 0.0}

        value, gradient = primal.value_and_gradient(x)

        def function(x: Array) -> tuple[float, Array]:
            nonlocal value, gradient
            value, gradient = primal.value_and_gradient(x)
            return value, gradient

        def after(intermediate_result: Any) -> None:
            nonlocal best, n_iter, gap, status
            best, n_iter = intermediate_result.x.copy(), n_iter + 1
            regularization = 0.5 * float(best @ (primal.space.ridge * best))
            gap = 0.5 * float(gradient @ gradient) / scale_of(primal, value, regularization)
            if self.progress is not None:
                self.progress(n_iter, gap)
            if gap <= goal:
                raise StopIteration
            if time_is_up():
                status = "time_limit"
                raise StopIteration

        at_start = 0.5 * float(gradient @ gradient)
        try:
            if at_start > goal * scale_of(primal, value, 0.5 * float(x @ (primal.space.ridge * x))):
                found = scipy.optimize.minimize(  # type: ignore[call-overload]
                    function,
                    x,
                    jac=True,
                    hessp=primal.hessian_product if method == "trust-ncg" else None,
                    method=method,
                    callback=after,
                    options={"maxiter": self.max_iter, "gtol": 0.0, **own},
                )
                if status == "optimal" and gap > goal:
                    # Where no step lowers the value any more, ``judged`` decides by the gradient.
                    status = "max_iter" if found.status == 1 else "optimal"
        except KeyboardInterrupt:
            status = "interrupted"
        point = primal.point(best, status=status, n_iter=n_iter, seconds=time.perf_counter() - began)
        return point.judged(goal)

    def _check(self, instance: Instance) -> None:
        """Raise a ValueError if an instance has other points or another kernel than the solver's problem.

        Labels and balance may be others, since the features do not depend on them.
        """
        problem = instance.problem
        if problem is not self.problem and not (problem.X is self.problem.X and problem.kernel == self.problem.kernel):
            raise ValueError(f"the solver was made for {self.problem!r}, not for {problem!r}")
