"""Fits as functions of tensors that PyTorch and JAX differentiate, where these are installed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problem import Array


class _Fits:
    """Fits at training points, numbers and other points; the last one is kept for its gradients."""

    def __init__(self, fit: Callable[..., Any]) -> None:
        self.fit = fit
        self._last: tuple[tuple[bytes, ...], Any] = ((), None)

    def solution(self, X: Array, numbers: dict[str, float]) -> Any:
        key = (X.tobytes(), repr(sorted(numbers.items())).encode())
        if self._last[0] != key:
            self._last = key, self.fit(X, **numbers)
        return self._last[1]

    def outputs(self, X: Array, points: Array, numbers: dict[str, float]) -> Array:
        """Outputs of the points."""
        return np.asarray(self.solution(X, numbers).decision_function(points))

    def gradients(self, gradient: Array, X: Array, points: Array, numbers: dict[str, float]) -> tuple[Any, ...]:
        """Of the training points, the other ones, and the numbers in their order."""
        found = self.solution(X, numbers).backward(gradient, points)
        return found["X"], found["points"], *(np.float64(found[name]) for name in numbers)


def torch_function(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that PyTorch differentiates: outputs of points by a fit at training points.

    Parameters
    ----------
    fit : callable
        Called as ``fit(X, **numbers)`` with an array and floats; it returns a solution of a problem on the points X,
        for a linear, Gaussian or polynomial kernel.

    Returns
    -------
    callable
        Called as ``function(X, points, **numbers)`` with tensors of shapes (n, d), (m, d) and (); returns outputs, a
        tensor of shape (m,).  The numbers have the names of :meth:`Solution.backward`'s gradients.
    """
    import torch

    fits = _Fits(fit)

    class Outputs(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, names: tuple[str, ...], X: Any, points: Any, *numbers: Any) -> Any:
            ctx.given = _arrays(names, X, points, *numbers)
            return X.new_tensor(fits.outputs(*ctx.given))

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            found = fits.gradients(_array(gradient), *ctx.given)
            return None, *(gradient.new_tensor(one) for one in found)

    def function(X: Any, points: Any, **numbers: Any) -> Any:
        return Outputs.apply(tuple(numbers), X, points, *numbers.values())

    return function


def jax_function(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that JAX differentiates, also where it compiles (see :func:`torch_function`).

    Parameters
    ----------
    fit
        As there.
    """
    import jax

    fits = _Fits(fit)

    def function(X: Any, points: Any, **numbers: Any) -> Any:
        names = tuple(numbers)

        @jax.custom_vjp
        def outputs(*given: Any) -> Any:
            shape = jax.ShapeDtypeStruct(given[1].shape[:1], given[1].dtype)

            def called(*given: Any) -> Any:
                return fits.outputs(*_arrays(names, *given)).astype(shape.dtype)

            return jax.pure_callback(called, shape, *given)

        def forward(*given: Any) -> Any:
            return outputs(*given), given

        def backward(given: Any, gradient: Any) -> Any:
            shapes = tuple(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in given)

            def called(gradient: Any, *given: Any) -> Any:
                found = fits.gradients(_array(gradient), *_arrays(names, *given))
                return tuple(np.asarray(one, dtype=own.dtype) for one, own in zip(found, shapes, strict=True))

            return jax.pure_callback(called, shapes, gradient, *given)

        outputs.defvjp(forward, backward)
        return outputs(X, points, *(jax.numpy.asarray(one, dtype=X.dtype) for one in numbers.values()))

    return function


def _arrays(names: tuple[str, ...], X: Any, points: Any, *numbers: Any) -> tuple[Array, Array, dict[str, float]]:
    """What a fit is given, as arrays and floats."""
    return _array(X), _array(points), dict(zip(names, map(float, numbers), strict=True))


def _array(tensor: Any) -> Array:
    """A tensor as an array of float64."""
    detached = tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else tensor
    return np.asarray(detached, dtype=np.float64)
