"""Regularizers of the weights w: what a formulation charges a function for itself.

One is a convex function R with its conjugate R*(v) = sup over w of v·w - R(w), both as numbers and as CVXPY
expressions.  From these follow the primal and dual problems, certificates and the checks of
:func:`~convex_tsvm.verify`: the dual of a convex step has R* at v = Σ a_i x_i, and w is where v is a subgradient of R.
A regularizer of one's own is a subclass of :class:`Regularizer`, which needs R alone.
"""

import contextlib
import operator
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Array
from ..validation import finite


class Regularizer(ABC):
    """A convex function R of the weights w, shape (d,), for the linear space, through CVXPY.

    A subclass writes R as a number and as a CVXPY expression.  That is enough for the primal problem, methods of convex
    steps, predictions and certificates, for which R* is found by a small CVXPY problem.  The dual problem needs R* as
    an expression (:meth:`conjugate_expression`); :meth:`weights` and :meth:`conjugate` make certificates faster and
    more exact.  It should be comparable and hashable, as a frozen dataclass is, since compiled problems are kept for
    each regularizer.

    Examples
    --------
    >>> class MaximumNorm(ct.formulations.Regularizer):
    ...     '''½ ‖w‖² + the largest |w_j|.'''
    ...
    ...     def value(self, w):
    ...         return 0.5 * float(w @ w) + float(np.abs(w).max())
    ...
    ...     def expression(self, cvxpy, w):
    ...         return 0.5 * cvxpy.sum_squares(w) + cvxpy.norm_inf(w), []
    >>> X = np.array([[-1.1, 0.2], [-1.0, 0.1], [0.9, 0.3], [1.0, -0.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 1], C=10)
    >>> model = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), regularizer=MaximumNorm())
    >>> solution = ct.cccp(model, problem, solver="cvxpy")
    >>> solution.status, solution.certificate().gap < 1e-6
    ('converged', True)
    """

    #: Whether R is ½ ‖w‖², which is known in every feature space and to every solver.
    is_squared_norm: bool = False

    @abstractmethod
    def value(self, w: Array) -> float:
        """R(w), infinite where w is not allowed: outside by more than a solver's tolerance, such as 1e-7."""

    @abstractmethod
    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        """R(w) as a convex CVXPY expression of a w of shape (d,), and a list of the constraints on w.

        Parameters
        ----------
        cvxpy : module
            Whose atoms the expression is made of.
        w : cvxpy.Expression
        """

    @property
    def has_dual(self) -> bool:
        """Whether R* is there as a CVXPY expression."""
        return type(self).conjugate_expression is not Regularizer.conjugate_expression

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        """R*(v) as a convex CVXPY expression, and a list of the constraints that keep v, shape (d,), in its domain.

        By default a ValueError says that there is none.

        Parameters
        ----------
        cvxpy, v
            As in :meth:`expression`.
        """
        raise ValueError(
            f"the regularizer {type(self).__name__} has no conjugate_expression, which the dual problem is made of; "
            "the primal problem, methods of convex steps by solver='cvxpy', certificates and predictions do without"
        )

    def weights(self, v: Array) -> Array | None:
        """The w at which v is a subgradient of R, where R*(v) is reached, shape (d,).

        None, as by default, if there may be several or it is not known: then the solver's w is taken.
        """
        return None

    def conjugate(self, v: Array) -> float:
        """R*(v), infinite outside its domain; by default v·w - R(w) at the :meth:`weights`, or the :meth:`supremum`."""
        w = self.weights(v)
        return self.supremum(v)[0] if w is None else float(v @ w) - self.value(w)

    def into_domain(self, v: Array) -> Array:
        """The v of R*'s domain that is nearest, or near, shape (d,); by default v itself if R* is finite there."""
        if np.isfinite(self.conjugate(v)):
            return v
        # By Moreau's decomposition v is a w and a slope of R there, which R* is finite at.
        return np.asarray((v - self.supremum(v, curvature=1.0)[1]) * (1 - 1e-8))

    def supremum(self, v: Array, curvature: float = 0.0) -> tuple[float, Array]:
        """The largest v·w - R(w) - ½ curvature ‖w‖², found by CVXPY, and a w where it is reached, if there is one.

        It is rounded up by more than the solver's tolerance, so that dual values that are made of it are lower bounds.
        """
        import cvxpy

        w = cvxpy.Variable(len(v))
        charged, allowed = self.expression(cvxpy, w)
        problem = cvxpy.Problem(cvxpy.Maximize(v @ w - charged - 0.5 * curvature * cvxpy.sum_squares(w)), allowed)
        value, tolerances = np.inf, ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        # At the end of the domain a solver may come to no end, or to one that is less fine.
        for tol in (1e-12, 1e-8):
            with warnings.catch_warnings(), contextlib.suppress(cvxpy.SolverError):
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                value = float(problem.solve("CLARABEL", **dict.fromkeys(tolerances, tol)))
                if problem.status != cvxpy.OPTIMAL_INACCURATE:
                    break
        value += (1e-4 if problem.status == cvxpy.OPTIMAL_INACCURATE else max(1e-8, 10 * tol)) * (1 + abs(value))
        return value, np.zeros(len(v)) if w.value is None else w.value

    def separable(self, n_features: int) -> tuple[Array, Array] | None:
        """λ and μ, each (d,), if R is Σ_j ½ λ_j w_j² + μ_j |w_j| and none of its terms is zero; None by default."""
        return None

    def latex(self) -> str:
        """R(w) as LaTeX, without dollars."""
        return rf"\text{{{type(self).__name__}}}(w)"

    def __str__(self) -> str:
        return f"{type(self).__name__}(w)"

    def check(self, n_features: int) -> None:  # noqa: B027
        """Raise ValueError if it is not for so many weights; by default it is for any number."""


class _Weighted(Regularizer):
    """A sum over weights, Σ_j ½ λ_j w_j² + μ_j |w_j|, with factors for every feature, or none."""

    feature_weights: tuple[float, ...] | None

    @abstractmethod
    def _terms(self, w: Any) -> tuple[Array, Array]:
        """λ and μ, each (d,), for a w or v of shape (d,)."""

    def value(self, w: Array) -> float:
        curved, kinked = self._terms(w)
        return 0.5 * float(curved @ w**2) + float(kinked @ np.abs(w))

    def weights(self, v: Array) -> Array | None:
        curved, kinked = self._terms(v)
        return np.sign(v) * np.maximum(np.abs(v) - kinked, 0.0) / curved if curved.all() else None

    def separable(self, n_features: int) -> tuple[Array, Array] | None:
        curved, kinked = self._terms(np.empty(n_features))
        return (curved, kinked) if (curved + kinked).all() else None

    def check(self, n_features: int) -> None:
        given = self.feature_weights
        if given is not None and len(given) != n_features:
            raise ValueError(f"feature_weights has {len(given)} entries; the points have {n_features} features")

    def _keep_weights(self, **limits: float) -> None:
        """Make the weights of the features a tuple of numbers within limits."""
        given: ArrayLike | None = self.feature_weights
        if given is not None:
            kept = tuple(finite("feature_weights", weight, **limits) for weight in np.ravel(given).tolist())
            object.__setattr__(self, "feature_weights", kept)

    def _factors(self, w: Any) -> Array:
        return np.ones(w.shape[0]) if self.feature_weights is None else np.array(self.feature_weights)

    def _norm1(self, cvxpy: Any, w: Any) -> Any:
        """Σ λ_j |w_j| as a CVXPY expression, which is printed with λ."""
        factors = self.feature_weights
        return cvxpy.norm1(w if factors is None else cvxpy.multiply(cvxpy.Constant(factors, name="feature_weights"), w))

    def _shown(self) -> str:
        return f"feature_weights=<{len(self.feature_weights or ())} numbers>"


@dataclass(frozen=True)
class SquaredNorm(_Weighted):
    """½ ‖w‖², or ½ Σ λ_j w_j² with a weight for every feature (``regularizer="l2"`` is the former).

    Parameters
    ----------
    feature_weights : sequence of float > 0, optional
        λ; with them it is for the linear space, through CVXPY.

    Examples
    --------
    >>> ct.formulations.SquaredNorm([1.0, 4.0]).value(np.array([2.0, 1.0]))
    4.0
    """

    feature_weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self._keep_weights(above=0)

    @property
    def is_squared_norm(self) -> bool:  # type: ignore[override]
        """Whether no feature has a weight."""
        return self.feature_weights is None

    def _terms(self, w: Any) -> tuple[Array, Array]:
        return self._factors(w), np.zeros(w.shape[0])

    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        if self.is_squared_norm:
            return 0.5 * cvxpy.sum_squares(w), []
        return 0.5 * (cvxpy.Constant(self._factors(w), name="feature_weights") @ cvxpy.square(w)), []

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        return 0.5 * cvxpy.sum_squares(cvxpy.multiply(1 / np.sqrt(self._factors(v)), v)), []

    def latex(self) -> str:
        return r"\tfrac12 \lVert w \rVert^2" if self.is_squared_norm else r"\tfrac12 \sum_j \lambda_j w_j^2"

    def __str__(self) -> str:
        return "½ ‖w‖²" if self.is_squared_norm else "½ Σ λ_j w_j²"

    def __repr__(self) -> str:
        return "'l2'" if self.is_squared_norm else f"SquaredNorm({self._shown()})"


@dataclass(frozen=True)
class OneNorm(_Weighted):
    """‖w‖₁, or Σ λ_j |w_j| with a weight for every feature (``regularizer="l1"`` is the former).

    Its conjugate is 0 where |v_j| <= λ_j, and infinite elsewhere, so that a solver's w is needed to know w.

    Parameters
    ----------
    feature_weights : sequence of float >= 0, optional
        λ; all 1 by default.

    Examples
    --------
    >>> ct.formulations.OneNorm().value(np.array([2.0, -1.0]))
    3.0
    """

    feature_weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self._keep_weights(least=0)

    def _terms(self, w: Any) -> tuple[Array, Array]:
        return np.zeros(w.shape[0]), self._factors(w)

    def conjugate(self, v: Array) -> float:
        return 0.0 if (np.abs(v) <= self._factors(v)).all() else np.inf

    def into_domain(self, v: Array) -> Array:
        return np.clip(v, -self._factors(v), self._factors(v))

    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        return self._norm1(cvxpy, w), []

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        most = self._factors(v)
        return cvxpy.Constant(0.0), [v <= most, -v <= most]

    def latex(self) -> str:
        return r"\lVert w \rVert_1" if self.feature_weights is None else r"\sum_j \lambda_j \lvert w_j \rvert"

    def __str__(self) -> str:
        return "‖w‖₁" if self.feature_weights is None else "Σ λ_j |w_j|"

    def __repr__(self) -> str:
        return "'l1'" if self.feature_weights is None else f"OneNorm({self._shown()})"


@dataclass(frozen=True)
class ElasticNet(_Weighted):
    """½ ‖w‖² + ``l1`` Σ λ_j |w_j| (Zou and Hastie 2005).

    Parameters
    ----------
    l1 : float >= 0
        Weight of the 1-norm.
    feature_weights : sequence of float >= 0, optional
        λ; all 1 by default.

    Examples
    --------
    >>> ct.Formulation(ct.hinge(), regularizer=ct.formulations.ElasticNet(0.5)).regularizer
    ElasticNet(l1=0.5)
    """

    l1: float
    feature_weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        finite("l1", self.l1, least=0)
        self._keep_weights(least=0)

    def _terms(self, w: Any) -> tuple[Array, Array]:
        return np.ones(w.shape[0]), self.l1 * self._factors(w)

    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        return 0.5 * cvxpy.sum_squares(w) + self.l1 * self._norm1(cvxpy, w), []

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        return 0.5 * cvxpy.sum_squares(cvxpy.pos(cvxpy.abs(v) - self._terms(v)[1])), []

    def latex(self) -> str:
        return rf"\tfrac12 \lVert w \rVert^2 + {self.l1:g} {OneNorm(self.feature_weights).latex()}"

    def __str__(self) -> str:
        return f"½ ‖w‖² + {self.l1:g} {OneNorm(self.feature_weights)}"

    def __repr__(self) -> str:
        more = "" if self.feature_weights is None else f", {self._shown()}"
        return f"ElasticNet(l1={self.l1!r}{more})"


@dataclass(frozen=True)
class GroupLasso(Regularizer):
    """½ ‖w‖² + Σ_g λ_g ‖w_g‖: blocks of features that are used together or not at all (Yuan and Lin 2006).

    Parameters
    ----------
    groups : sequence of sequences of int
        The features of each block; those in none pay ½ w_j² alone.
    group_weights : sequence of float >= 0, or float, default 1.0
        λ_g; a number is that of every block, times the root of its size.

    Examples
    --------
    >>> lasso = ct.formulations.GroupLasso([[0, 1], [2, 3]], group_weights=[1.0, 5.0])
    >>> lasso.weights(np.array([3.0, 4.0, 3.0, 4.0]))  # the second block is zero up to a norm of 5
    array([2.4, 3.2, 0. , 0. ])
    """

    groups: tuple[tuple[int, ...], ...]
    group_weights: tuple[float, ...] | float = 1.0

    def __post_init__(self) -> None:
        try:
            groups = tuple(tuple(operator.index(j) for j in group) for group in self.groups)
        except TypeError:
            raise ValueError(f"groups={self.groups!r} must be sequences of integers") from None
        flat = [j for group in groups for j in group]
        if not flat or min(flat) < 0 or len(set(flat)) < len(flat) or not all(groups):
            raise ValueError(f"groups={self.groups!r} must be disjoint and not empty, of features counted from 0")
        given: Any = self.group_weights
        if np.ndim(given) == 0:
            scale = finite("group_weights", given, least=0)
            weights = tuple(scale * float(np.sqrt(len(group))) for group in groups)
        else:
            weights = tuple(finite("group_weights", weight, least=0) for weight in given)
        if len(weights) != len(groups):
            raise ValueError(f"group_weights has {len(weights)} entries; there are {len(groups)} groups")
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "group_weights", weights)

    def value(self, w: Array) -> float:
        return 0.5 * float(w @ w) + sum(weight * float(np.linalg.norm(w[group])) for weight, group in self._blocks())

    def weights(self, v: Array) -> Array:
        w = np.array(v, dtype=float)
        for weight, group in self._blocks():
            norm = float(np.linalg.norm(v[group]))
            w[group] *= max(norm - weight, 0.0) / max(norm, 1e-300)
        return w

    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        total = 0.5 * cvxpy.sum_squares(w)
        for weight, group in self._blocks():
            total = total + weight * cvxpy.norm(w[group])
        return total, []

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        parts = [cvxpy.square(cvxpy.pos(cvxpy.norm(v[group]) - weight)) for weight, group in self._blocks()]
        rest = np.setdiff1d(np.arange(v.shape[0]), np.concatenate([group for _, group in self._blocks()]))
        if len(rest):
            parts.append(cvxpy.sum_squares(v[rest]))
        return 0.5 * sum(parts[1:], parts[0]), []

    def latex(self) -> str:
        return r"\tfrac12 \lVert w \rVert^2 + \sum_g \lambda_g \lVert w_g \rVert"

    def __str__(self) -> str:
        return "½ ‖w‖² + Σ_g λ_g ‖w_g‖"

    def check(self, n_features: int) -> None:
        largest = max(j for group in self.groups for j in group)
        if largest >= n_features:
            raise ValueError(f"groups contains feature {largest}; the points have {n_features}, counted from 0")

    def _blocks(self) -> Iterable[tuple[float, list[int]]]:
        weights: Any = self.group_weights
        return zip(weights, map(list, self.groups), strict=True)


@dataclass(frozen=True)
class NonnegativeNorm(Regularizer):
    """½ ‖w‖² with w >= 0: a function that rises in every feature.

    Examples
    --------
    >>> ct.formulations.NonnegativeNorm().weights(np.array([2.0, -1.0]))
    array([2., 0.])
    """

    def value(self, w: Array) -> float:
        return 0.5 * float(w @ w) if (w >= 0).all() else np.inf

    def weights(self, v: Array) -> Array:
        return np.maximum(v, 0.0)

    def expression(self, cvxpy: Any, w: Any) -> tuple[Any, list[Any]]:
        return 0.5 * cvxpy.sum_squares(w), [w >= 0]

    def conjugate_expression(self, cvxpy: Any, v: Any) -> tuple[Any, list[Any]]:
        return 0.5 * cvxpy.sum_squares(cvxpy.pos(v)), []

    def latex(self) -> str:
        return r"\tfrac12 \lVert w \rVert^2 + [w \ge 0]"

    def __str__(self) -> str:
        return "½ ‖w‖² with w >= 0"


def as_regularizer(value: Regularizer | Literal["l2", "l1"] | Any) -> Regularizer:
    """The regularizer that is meant, by name or as an object; otherwise an error that says what is allowed."""
    if isinstance(value, Regularizer):
        return value
    if isinstance(value, str) and value in ("l2", "l1"):
        return SQUARED_NORM if value == "l2" else OneNorm()
    raise ValueError(
        f"regularizer={value!r} must be 'l2', 'l1' or a Regularizer, such as ElasticNet(0.5) or GroupLasso(groups)"
    )


#: ½ ‖w‖².
SQUARED_NORM = SquaredNorm()
