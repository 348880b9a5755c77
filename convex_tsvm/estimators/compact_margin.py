"""The Compact Margin Machine and its relative-margin variant (dai2010) as scikit-learn classifiers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..exact import exact_search
from ..formulations import Formulation, build
from ..methods.cccp import CCCP
from ..methods.run import Method
from ..problem import Problem
from ..solution import Solution
from ..validation import finite, one_of
from .base import KernelExpansion
from .descent import Descent
from .labels import Labels
from .parameters import estimator


@estimator
class _OneCost(KernelExpansion, Descent):
    """Base of classifiers whose losses depend on C and C*: there is one of each, so that ``fit`` takes no weights."""

    epsilon: float = 2.0
    solver: Any = "auto"
    cvxpy_solver: str | None = None
    cache_size: float | str = "auto"
    device: str | None = None
    warm_start: bool = False

    def fit(self, X: Any, y: ArrayLike) -> Self:  # type: ignore[override]
        """Fit to points X, shape (n_samples, n_features), or their kernel matrix if that is precomputed.

        ``y``, shape (n_samples,), has the labels, with ``unlabeled`` where unknown.
        """
        return super().fit(X, y)


@estimator
class CompactMarginClassifier(_OneCost):
    """Relaxed Compact Margin Machine (Dai and Niu 2010, eq. 8).

    A transductive SVM whose outputs are also kept from being large: every point, labelled or not, pays
    ``C_compact`` · max(0, |f| - ``epsilon``).  Solved by the concave-convex procedure (the paper's Algorithm 1), or
    exactly.  C and C_unlabeled are the paper's C₁ and C₂.

    Time grows and memory is bounded as for :class:`~convex_tsvm.TransductiveSVC`.  After an exact search attributes are
    as in :class:`~convex_tsvm.ExactTransductiveSVC`; it takes no other parameters of how to solve than
    ``fit_intercept``, ``time_limit`` and ``verbose``.

    Parameters
    ----------
    C_compact : float >= 0, inf, "tenth" or None
        C₃; inf is the hard form |f| <= ε, "tenth" is C* / 10, None the same as C*.
    epsilon : float >= 0
        ε: outputs up to ±ε are free.
    s : float in (-1, 0]
        δ of Algorithm 1; below 0 the symmetric hinge is clipped.
    method : {"cccp", "exact"}
        "exact" searches the best solution of all (:func:`~convex_tsvm.exact_search`), for some eighty points.
    gap : float >= 0
        Relative gap between it and what no solution is below, at which an exact search ends.

    Examples
    --------
    >>> ct.CompactMarginClassifier(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    C_unlabeled: float | str = "tenth"
    C_compact: float | str | None = "tenth"
    s: float = -0.3
    method: str = "cccp"
    gap: float = 1e-4
    balance: Any = "auto"
    annealing: Any = None

    def _formulation(self, problem: Problem) -> Formulation:
        own = {"epsilon": self.epsilon, "C_compact": self.C_compact, "s": self.s}
        return build("cmm", problem, **own, fit_intercept=self.fit_intercept).formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if one_of("method", self.method, ("cccp", "exact")) == "cccp" or formulation.unlabeled is None:
            return super()._solve(formulation, problems)
        return self._one_by_one(problems, lambda name, problem: exact_search(formulation, problem, gap=self.gap))

    def _announce(self, first: Problem, labels: Labels, n_fits: int) -> None:
        if self.method == "cccp":
            super()._announce(first, labels, n_fits)

    def _method(self, formulation: Formulation) -> Method:
        """The concave-convex procedure, which is also what solves a problem without unlabelled points at once."""
        return CCCP(annealing=self.annealing)


@estimator
class RelativeMarginClassifier(_OneCost):
    """Semi-supervised Relative Margin Machine (Dai and Niu 2010, eq. 9), one convex problem.

    A supervised SVM in which all points, labelled or not, pay ``C_compact`` · max(0, |f| - ``epsilon``).

    Time grows and memory is bounded as for one step of :class:`~convex_tsvm.TransductiveSVC`.  The gap is that of the
    convex problem.

    Parameters
    ----------
    C_compact : float > 0, inf or "balanced"
        C₂ of eq. 9; "balanced" is C L / U, and inf the hard form |f| <= ε.
    epsilon : float >= 0
        ε; B in Shivaswamy and Jebara (2008).
    semi_supervised : bool
        False leaves the unlabelled points out; with an infinite ``C_compact`` that is the Relative Margin Machine of
        Shivaswamy and Jebara (2008).

    Examples
    --------
    >>> ct.RelativeMarginClassifier(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    C_compact: float | str = "balanced"
    semi_supervised: bool = True
    balance: Any = None

    def _unlabeled_cost(self) -> Any:
        if isinstance(self.C_compact, float) and self.C_compact == np.inf:
            return self.C  # any number does: it only says that unlabelled points have a cost
        return self.C_compact if self.C_compact == "balanced" else finite("C_compact", self.C_compact, above=0)

    def _formulation(self, problem: Problem) -> Formulation:
        own = {"epsilon": self.epsilon, "C_compact": self.C_compact, "semi_supervised": self.semi_supervised}
        return build("rmm", problem, **own, fit_intercept=self.fit_intercept).formulation
