"""Levenberg-Marquardt steps on the expansion of a smooth primal (chapelle2008 §4.4, eq. 16-18 and Algorithm 6).

A step costs O(n_sv³ + n²), n_sv the number of points where the losses bend: no other point is in the linear system.
Two misprints are mended.  Eq. 18 gives the step with the wrong sign: where D is 0 it is -g/λ.  And Algorithm 6 lowers
λ to min(1, λ/2), where the text wants λ >= 1: here it is max(1, λ/2), so that far from convexity λ grows, and Newton's
own step (λ = 1) comes back.

The paper factors K_sv = AᵀA and B = λ I + A D Aᵀ, and B must be positive definite.  Here the one matrix λ D⁻¹ + K_sv is
factored, symmetric and indefinite, at an eighth of the work: by Sylvester's law of inertia, applied to both Schur
complements of [[λ I, A], [Aᵀ, -D⁻¹]], B is positive definite exactly where λ D⁻¹ + K_sv has as many negative
eigenvalues as D.  It is factored as λ sign(D) + |D|^½ K_sv |D|^½, which is better scaled, and with 32-bit numbers
unless the goal is close: what they err by, some 10⁻⁵ of a step, costs no step more.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..deadline import time_is_up
from ..instance import ExpansionPrimal, SmoothPoint
from ..instance.smooth_point import scale_of
from ..problem import Array


def levenberg_marquardt(
    primal: ExpansionPrimal,
    x: Array,
    *,
    goal: float,
    max_iter: int,
    progress: Callable[[int, float], None] | None = None,
) -> SmoothPoint:
    """A stationary point below x, which holds β, shape (n,), and one more entry for the bias if that is free.

    Steps end where half the squared length of the gradient, relative to the value, is at most ``goal``, and after
    ``max_iter`` of them.  ``progress(n_iter, gap)`` is called at every point that steps lead to.  The result is as that
    of :meth:`SmoothSolver.descend`.
    """
    began, K = time.perf_counter(), primal.kernel
    beta, bias = primal.split(x)
    applied, damping, n_iter, status = K @ beta, 1.0, 0, "max_iter"
    loss, slopes = primal.loss_at(applied + bias)
    regularization, solvable = 0.5 * float(beta @ applied), None
    # Small matrices are not worth 32-bit numbers, and close goals need more digits.
    rounded: NDArray[Any] = K.astype(np.float32) if goal >= 1e-6 and len(K) >= 200 else K
    try:
        while n_iter < max_iter:
            if solvable is None:
                g, Kg = beta + slopes, applied + K @ slopes
                tilt = float(slopes.sum()) if primal.free_bias else 0.0
                solvable = _Bending(K, primal.curvatures_at(applied + bias), g, tilt, primal.free_bias, rounded)
                gap = 0.5 * (float(g @ Kg) + tilt**2) / scale_of(primal, regularization + loss, regularization)
                if progress is not None:
                    progress(n_iter, gap)
                if gap <= goal:
                    status = "optimal"
                    break
            if time_is_up():
                status = "time_limit"
                break
            if damping > 1e12:
                # Steps are too short to lower more than rounding; the gap decides below whether that is enough.
                status = "optimal"
                break
            n_iter += 1
            found = solvable.step(damping)
            if found is None:
                damping *= 4
                continue
            d, shift, change = found
            expected = float(g @ (change - shift)) + tilt * shift + 0.5 * solvable.quadratic(d, shift, change)
            new_beta, new_applied = beta + d, applied + change - shift
            new_regularization = 0.5 * float(new_beta @ new_applied)
            new_loss, new_slopes = primal.loss_at(new_applied + bias + shift)
            gained = new_regularization + new_loss - regularization - loss
            agreement = gained / expected if expected < 0 else -1.0
            if agreement > 0:
                beta, bias, applied, regularization = new_beta, bias + shift, new_applied, new_regularization
                loss, slopes, solvable = new_loss, new_slopes, None
            damping = _adapted(damping, agreement)
    except KeyboardInterrupt:
        status = "interrupted"
    x = np.append(beta, bias) if primal.free_bias else beta
    point = primal.point(x, status=status, n_iter=n_iter, seconds=time.perf_counter() - began)
    return point.judged(goal)


def _adapted(damping: float, agreement: float) -> float:
    """λ after a step that has lowered the objective by ``agreement`` times what the quadratic model said."""
    if agreement < 0.25:
        return 4 * damping
    return max(1.0, damping / 2) if agreement > 0.75 else damping


class _Bending:
    """The quadratic model of an objective around a point, and its minimizer with a ridge of λ - 1 times K.

    K is the kernel matrix, D holds the curvatures of the losses and g is β plus their slopes, both of shape (n,), and
    ``tilt`` is the derivative with respect to the bias.  ``rounded`` is K with as many digits as shall be factored.
    """

    def __init__(
        self, K: Array, D: Array, g: Array, tilt: float, free_bias: bool, rounded: NDArray[Any] | None = None
    ) -> None:
        bends = np.abs(D) > 1e-9 * np.abs(D).max(initial=0.0)  # less than this share of the largest counts as 0
        self.K, self.D, self.g, self.tilt, self.free_bias = K, np.where(bends, D, 0.0), g, tilt, free_bias
        self.bent: NDArray[np.intp] = np.flatnonzero(bends)
        self.straight = np.flatnonzero(~bends)
        self.root, self.sign = np.sqrt(np.abs(D[self.bent])), np.sign(D[self.bent])
        self.n_down = int((self.sign < 0).sum())
        self.K_rest = K @ np.where(bends, 0.0, g)
        inner = (K if rounded is None else rounded)[self.bent[:, None], self.bent]
        root = self.root.astype(inner.dtype)
        inner *= root
        inner *= root[:, None]
        self.inner = inner

    def step(self, damping: float) -> tuple[Array, float, Array] | None:
        """(change of β, of the bias, of the outputs), or None where the model has no least point at this λ."""
        bent, d, shift = self.bent, np.zeros(len(self.g)), 0.0
        d[self.straight] = -self.g[self.straight] / damping
        if len(bent):
            D = self.D[bent]
            S = self.inner.T.copy(order="F")  # symmetric, and in memory already in this order
            S[np.diag_indices_from(S)] += damping * self.sign
            lapack: Any = scipy.linalg.lapack
            single = S.dtype == np.float32
            factorize, solve = (lapack.ssytrf, lapack.ssytrs) if single else (lapack.dsytrf, lapack.dsytrs)
            # Without a large workspace LAPACK goes column by column, which is slow.
            factor, pivots, info = factorize(S, lower=1, lwork=64 * len(bent), overwrite_a=1)
            # Negative eigenvalues by the Bunch-Kaufman factor, in which a block of two pivots has one of either sign.
            n_negative = int((factor.diagonal()[pivots > 0] < 0).sum()) + int((pivots <= 0).sum()) // 2
            if info != 0 or n_negative != self.n_down:
                return None

            def solved(right: Array) -> Array:
                return self.root * np.asarray(solve(factor, pivots, self.sign * right / self.root, lower=1)[0])

            d[bent] = -solved(self.g[bent] - D * self.K_rest[bent] / damping)
            if self.free_bias:
                # The bias makes the sum of the slopes 0 in the model: Σ D δ = -tilt, where D δ = -g - λ d.
                per_unit = -solved(D)
                lack = damping * float(d[bent].sum()) + float(self.g[bent].sum()) - self.tilt
                if per_unit.sum() == 0:
                    return None
                shift = -lack / (damping * float(per_unit.sum()))
                d[bent] += shift * per_unit
        return d, shift, self.K @ d + shift

    def quadratic(self, d: Array, shift: float, change: Array) -> float:
        """dᵀ (K + K D K) d, with what the bias adds."""
        return float(d @ (change - shift)) + float(self.D @ change**2)
