"""Gradients of functions of outputs with respect to all that a solution is made of, by one more linear system."""

from typing import Any

import numpy as np

from ..decision import DecisionFunctions
from ..kernels import RBF, Linear, Polynomial, Precomputed
from ..problem import Array, Problem
from ..validation import is_sparse
from .fixed_point import FixedPoint
from .parameters import Parameter


def backward(point: FixedPoint, gradient: Any, X: Any = None) -> dict[str, Any]:
    """Gradients of a function of outputs with respect to all data: see :meth:`Solution.backward`."""
    problem = point.problem
    g, points = _checked(problem, gradient, X)
    X = None if X is None else points
    dense = isinstance(problem.kernel, Linear | RBF | Polynomial) and not (is_sparse(problem.X) or is_sparse(points))
    # Where its values fit into memory the kernel is computed once for all.
    small = dense and not problem.is_linear and problem.n * len(points) <= 2**26
    K = problem.kernel(problem.X, points) if small else None
    if K is not None or X is None:
        u = problem.apply_kernel(g) if K is None else K @ g
    elif isinstance(problem.kernel, Precomputed):
        u = points.T @ g
    else:
        u = DecisionFunctions(problem.kernel, points, g[None], np.zeros(1), points.shape[1])(problem.X)[:, 0]
    p, q = point.system.solve(point.functionals(u), float(g.sum()))
    spread = point.spread(p)
    free = u - point.times(p) - q  # with respect to a point's dual variable, were it free
    found: dict[str, Any] = {"cost": -free * point.read[0]}
    ahead = g - spread if X is None else -spread
    if dense:
        found |= _of_points(point, ahead, K, g, X)
    for name, moving in point.parameters.items():
        if name not in found:
            found[name] = _of_number(point, moving, p, free, ahead, g, X)
    return found


def _checked(problem: Problem, gradient: Any, X: Any) -> tuple[Array, Any]:
    points: Any = problem.X if X is None else X if is_sparse(X) else np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != problem.X.shape[1]:
        raise ValueError(f"X has shape {points.shape}; it must be (m, {problem.X.shape[1]})")
    g = np.asarray(gradient, dtype=float)
    if g.shape != (points.shape[0],) or not np.isfinite(g).all():
        raise ValueError(f"gradient has shape {g.shape}; it must have ({points.shape[0]},) finite numbers, one a point")
    return g, points


def _of_number(point: FixedPoint, moving: Parameter, p: Array, free: Array, ahead: Array, g: Array, X: Any) -> float:
    """The gradient with respect to a parameter; NaN where that has no derivative."""
    try:
        moved = point.moved(moving)
    except ValueError:
        return np.nan
    own, rows = point.split(p)
    value = -free @ (moved.cost * point.read[0] + point.cost * moved.read[0]) + ahead @ moved.applied
    value += own @ np.where(point.held >= 0, moved.read[3], 0.0)
    value += rows @ np.where(point.side > 0, moved.ends[:, 1], moved.ends[:, 0])
    if X is not None and moved.applied.any():
        sides = [moving.at(moving.value + h)[1] for h in (moving.step, -moving.step)]
        first, second = (one.kernel(X, one.X) @ point.a for one in sides)
        value += g @ (first - second) / (2 * moving.step)
    return float(value)


def _of_points(point: FixedPoint, ahead: Array, K: Array | None, g: Array, X: Any) -> dict[str, Any]:
    """Gradients with respect to points, and of a Gaussian kernel's width, which only scales them."""
    problem, a = point.problem, point.a
    first, second = _of_expansions(problem.kernel, problem.X, problem.X, np.array([a, ahead]), K if X is None else None)
    found: dict[str, Any] = {"X": ahead[:, None] * first + a[:, None] * second}
    if X is not None:
        (of_new,) = _of_expansions(problem.kernel, X, problem.X, a[None], None if K is None else K.T)
        (of_old,) = _of_expansions(problem.kernel, problem.X, X, g[None], K)
        found = {"X": found["X"] + a[:, None] * of_old, "points": g[:, None] * of_new}
    if isinstance(problem.kernel, RBF):
        scaled = float(np.sum(found["X"] * problem.X)) + (0.0 if X is None else float(np.sum(found["points"] * X)))
        found |= {"sigma": -scaled / problem.kernel.sigma, "gamma": scaled / (2 * problem.kernel.gamma)}
    return found


def _of_expansions(kernel: Any, X: Array, Z: Array, coefficients: Array, K: Array | None = None) -> list[Array]:
    """Gradients of Σ_j c_j k(x, z_j) at the rows x of X, shape (n, d), for each row c of coefficients.

    ``K`` are the kernel's values, shape (n, m), if they are known.
    """
    if isinstance(kernel, Linear):
        return [np.tile(c @ Z, (len(X), 1)) for c in coefficients]
    found = [np.empty(X.shape) for _ in coefficients]
    size = max(1, 2**23 // max(len(Z), 1))  # rows that are computed at once
    for part in (slice(start, start + size) for start in range(0, len(X), size)):
        if isinstance(kernel, RBF):
            values = kernel(X[part], Z) if K is None else K[part]
        else:
            values = (kernel.gamma * (X[part] @ Z.T) + kernel.coef0) ** (kernel.degree - 1)
        for own, c in zip(found, coefficients, strict=True):
            own[part] = values @ (c[:, None] * Z)
            if isinstance(kernel, RBF):
                own[part] -= (values @ c)[:, None] * X[part]
            own[part] *= 2 * kernel.gamma if isinstance(kernel, RBF) else kernel.degree * kernel.gamma
    return found
