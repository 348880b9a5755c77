"""The relaxed Compact Margin Machine of dai2010 §3: outputs with a large margin, and not too far out.

    ½ ‖w‖² + C₁ Σ_L max(0, 1 - y f) + C₂ Σ_U max(0, 1 - |f|) + C₃ Σ_{L ∪ U} max(0, |f| - ε)          (8)

A labelled point pays C₁ times the relaxed compact ε-hinge loss with weight C₃ / C₁, an unlabelled one C₂ times the
relaxed compact ε-symmetric hinge loss with weight C₃ / C₂.  C₁ and C₂ are the problem's C and C*.
"""

from __future__ import annotations

import numpy as np

from ..losses import relaxed_compact_hinge, relaxed_compact_symmetric_hinge, tube
from ..problem import Problem
from ..validation import finite
from .formulation import Formulation


def compact_margin(
    epsilon: float = 1.0,
    weight: float = 1.0,
    weight_unlabeled: float = 1.0,
    *,
    s: float = 0.0,
    balance: str | None = "linear",
    fit_intercept: bool = True,
) -> Formulation:
    """The relaxed Compact Margin Machine (dai2010 eq. 8).

    Its CCCP is the paper's Algorithm 1, with every point's compactness counted once.

    Parameters
    ----------
    epsilon : float >= 0 (> 0 in the hard form), default 1.0
        ε: outputs up to ±ε are free.
    weight, weight_unlabeled : float >= 0 or inf, default 1.0
        C₃ / C₁ and C₃ / C₂ (:func:`compactness_weights` has them from C₃); inf is the hard form |f| <= ε.
    s : float in (-1, 0], default 0
        δ of Algorithm 1.  Below 0 the symmetric hinge is clipped as in the symmetric ramp, which eq. 8 does not say.
    balance : {"linear", None}, default "linear"
        The paper has a balance in eq. 3 and none in eq. 8.

    Raises
    ------
    ValueError
        If a parameter is not as stated.

    Examples
    --------
    >>> model = ct.compact_margin(2.0, *ct.formulations.compactness_weights(problem, C_compact=1.0))
    >>> ct.cccp(model, problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    labeled = relaxed_compact_hinge(epsilon, weight)
    unlabeled = relaxed_compact_symmetric_hinge(epsilon, weight_unlabeled, s)
    return Formulation(labeled, unlabeled, balance=balance, fit_intercept=fit_intercept, name="CMM")


def relative_margin(
    epsilon: float = 1.0, weight: float = 1.0, *, balance: str | None = None, fit_intercept: bool = True
) -> Formulation:
    """The semi-supervised Relative Margin Machine (dai2010 eq. 9), one convex problem.

    ½ ‖w‖² + C₁ Σ_L max(0, 1 - y f) + C₂ Σ_{L ∪ U} max(0, |f| - ε); unlabelled points only limit the range of outputs.
    Its :meth:`~Formulation.supervised` part, with an infinite weight, is the Relative Margin Machine of Shivaswamy and
    Jebara (2008), |f| <= ε on the labelled points.

    Parameters
    ----------
    epsilon : float >= 0 (> 0 in the hard form), default 1.0
        ε (B in Shivaswamy and Jebara, where it is at least 1).
    weight : float >= 0 or inf, default 1.0
        C₂ / C₁; inf is the hard form |f| <= ε, for all points.
    balance : {"linear", None}, default None

    Raises
    ------
    ValueError
        If a parameter is not as stated.

    Examples
    --------
    >>> ct.cccp(ct.relative_margin(2.0, 0.1), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    labeled = relaxed_compact_hinge(epsilon, weight)
    unlabeled = tube(epsilon, np.inf if weight == np.inf else 1.0)
    return Formulation(labeled, unlabeled, balance=balance, fit_intercept=fit_intercept, name="RMM")


def compactness_cost(problem: Problem, C_compact: float | str | None) -> float:
    """C₃ as a number: as given, None for C* (C where nothing is unlabelled), or "tenth" for a tenth of that.

    Another word is a ValueError.
    """
    if isinstance(C_compact, str) and C_compact != "tenth":
        raise ValueError(f"C_compact={C_compact!r} must be a number >= 0, inf, 'tenth' or None")
    if C_compact is not None and not isinstance(C_compact, str):
        return C_compact
    cost = float(problem.cost[problem.unlabeled if problem.n_unlabeled else problem.labeled].max())
    return cost if C_compact is None else 0.1 * cost


def compactness_weights(problem: Problem, C_compact: float) -> tuple[float, float]:
    """C₃ / C₁ and C₃ / C₂ for a problem's C and C*; the second is 0 if it has no cost C*.

    Parameters
    ----------
    problem : Problem
        With one C for all labelled points and one C* for all unlabelled ones: a loss has one weight.
    C_compact : float >= 0 or inf
        C₃.

    Raises
    ------
    ValueError
        If C₃ is negative, or costs differ.

    Examples
    --------
    >>> weights = ct.formulations.compactness_weights(problem.replace(C_unlabeled=2.0), C_compact=1.0)
    >>> [float(weight) for weight in weights]
    [0.1, 0.5]
    """
    if C_compact != np.inf:
        C_compact = finite("C_compact", C_compact, least=0)
    weights = []
    for name, where in (("C", problem.labeled), ("C_unlabeled", problem.unlabeled)):
        cost = problem.cost[where][problem.cost[where] > 0]  # points of cost 0 pay nothing, whatever the weight
        if len(cost) and np.ptp(cost) > 0:
            raise ValueError(
                f"{name} is from {cost.min():g} to {cost.max():g}; with C_compact it must be one number, as "
                "C_compact / C is the weight of a term in a loss that all points share"
            )
        weights.append(C_compact / cost[0] if len(cost) else 0.0)
    return weights[0], weights[1]
