"""A regularizer's value, conjugate, weights and CVXPY expressions, held to each other."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from ..formulations.regularizers import Regularizer
from ..problem import Array
from .report import Check


def regularizer_checks(regularizer: Regularizer, n_features: int) -> Iterator[Check]:
    """Checks of a regularizer on random weights; none for ½ ‖w‖², which nothing has to be derived from."""
    if regularizer.is_squared_norm:
        return
    rng = np.random.default_rng(0)
    sizes = np.geomspace(0.3, 10, 6)[:, None]
    solved_tol = 1e-5  # relative, where a conic solver's value is compared
    slopes = [regularizer.into_domain(v) for v in sizes * rng.normal(size=(len(sizes), n_features))]
    reached = [_supremum(regularizer, v) for v in slopes]
    yield _values(regularizer, [w for _, w in reached])
    conjugates = np.array([regularizer.conjugate(v) for v in slopes])
    yield Check(
        "regularizer_conjugate",
        "the regularizer's conjugate is the largest value of v·w - R(w), found by CVXPY",
        "Fenchel",
        _apart(conjugates, np.array([value for value, _ in reached])),
        solved_tol,
    )
    written = np.array([_written_conjugate(regularizer, v) for v in slopes])
    yield Check(
        "regularizer_dual",
        "the conjugate as a CVXPY expression has the same values",
        "",
        _apart(written, conjugates),
        solved_tol,
    )
    found = [(v, regularizer.weights(v), conjugate) for v, conjugate in zip(slopes, conjugates, strict=True)]
    gaps = np.array([regularizer.value(w) + conjugate - v @ w for v, w, conjugate in found if w is not None])
    scale = np.array([1 + abs(conjugate) for _, w, conjugate in found if w is not None])
    yield Check(
        "regularizer_weights",
        "R(w) + R*(v) = v·w at the weights that belong to v" if len(gaps) else "v does not determine the weights",
        "Fenchel-Young",
        float(np.abs(gaps / scale).max(initial=0.0)),
        1e-8,
    )


def _values(regularizer: Regularizer, weights: list[Array]) -> Check:
    """R(w) as a number and as an expression."""
    # What a solver found may be outside the domain of R by its tolerance, where the value is infinite.
    weights = [w for w in weights if np.isfinite(regularizer.value(w))] or [np.zeros(len(weights[0]))]
    written = []
    for w in weights:
        objective, constraints = regularizer.expression(cp, cp.Constant(w))
        written.append(float(cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")))
    return Check(
        "regularizer_value",
        "the regularizer's value is that of its CVXPY expression",
        "",
        _apart(np.array(written), np.array([regularizer.value(w) for w in weights])),
        1e-5,
    )


def _supremum(regularizer: Regularizer, v: Array) -> tuple[float, Array]:
    """The largest v·w - R(w), and a w where it is reached."""
    w = cp.Variable(len(v))
    objective, constraints = regularizer.expression(cp, w)
    value = cp.Problem(cp.Maximize(v @ w - objective), constraints).solve(solver="CLARABEL")
    return float(value), np.zeros(len(v)) if w.value is None else np.asarray(w.value)


def _written_conjugate(regularizer: Regularizer, v: Array) -> float:
    """R*(v) by its expression, which may have variables of its own."""
    objective, constraints = regularizer.conjugate_expression(cp, cp.Constant(v))
    return float(cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL"))


def _apart(one: Array, other: Array) -> float:
    """The largest relative difference; infinite where one of them is infinite."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(one - other) / (1 + np.abs(other))
    return float(np.nan_to_num(apart, nan=np.inf).max())
