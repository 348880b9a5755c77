"""SVMs, transductive SVMs, with a universum, and machines that keep outputs compact (dai2010)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ..losses import (
    HARD_MARGIN,
    Loss,
    better_label,
    epsilon_insensitive,
    exponential,
    flat_newton,
    hinge,
    huber_hinge,
    relaxed_compact_hinge,
    relaxed_compact_symmetric_hinge,
    squared_hinge,
    symmetric_hinge,
    symmetric_ramp,
    symmetric_squared_hinge,
    tube,
)
from ..problem import Problem
from ..validation import finite
from .class_spread import ClassSpread
from .formulation import Formulation
from .groups import PointGroup
from .regularizers import OneNorm


def cccp_tsvm(s: float = -0.3, *, balance: str | None = "linear", fit_intercept: bool = True) -> Formulation:
    """The TSVM of collobert2006 eq. 3-4: hinge loss on labelled points, symmetric ramp loss on unlabelled ones.

    ½ ‖w‖² + C Σ H_1(y_i f_i) + C* Σ min(1 + s, max(0, 1 - |f_i|)); with U C* = L C (``C_unlabeled="balanced"``)
    and s = 0 it is the method of the paper's Table 2 with the same free parameters as an SVM.  The convex part of
    the unlabelled loss is H_1(t) + H_1(-t), and its tangents are β = C* where y f < s (eq. 9, 11), all found by
    splitting the loss.

    Parameters
    ----------
    s : float in (-1, 0], default -0.3
        Half the width of the plateau, negated.
    balance : {"linear", None}, default "linear"
        The constraint of eq. 4.

    Examples
    --------
    >>> model = ct.cccp_tsvm(s=-0.3)
    >>> model.unlabeled(0.0), model.unlabeled(2.0)
    (array(0.7), array(0.))
    """
    unlabeled = symmetric_ramp(s)
    return Formulation(hinge(), unlabeled, balance=balance, fit_intercept=fit_intercept, name="CCCP-TSVM")


def s3vm(unlabeled: Loss | None = None, *, balance: str | None = "linear", fit_intercept: bool = True) -> Formulation:
    """The S3VM of chapelle2008 eq. 5: squared hinge losses, max(0, 1 - |f|)² on unlabelled points.

    Its CCCP is the paper's Algorithm 4.

    Parameters
    ----------
    unlabeled : PLQ or DCLoss, default symmetric squared hinge
        Loss of unlabelled points, for instance :func:`~convex_tsvm.losses.flat_newton`.
    balance : {"linear", None}, default "linear"
        The constraint of eq. 12.

    Examples
    --------
    >>> model = ct.s3vm()
    >>> model.labeled.name, model.unlabeled.name
    ('squared_hinge', 'symmetric_squared_hinge')
    """
    loss = symmetric_squared_hinge() if unlabeled is None else unlabeled
    return Formulation(squared_hinge(), loss, balance=balance, fit_intercept=fit_intercept, name="S3VM")


def cs3vm(*, balance: str | None = None) -> Formulation:
    """CS³VM of Fung and Mangasarian (2001): ‖w‖₁ + C Σ ξ + C* Σ min(ξ, ξ*) (collobert2006 §3).

    The slacks are those of the hinge loss for both labels, so that unlabelled points pay max(0, 1 - |f|).  For the
    linear kernel and CVXPY; :func:`~convex_tsvm.linearization` minimizes it by linear programs.

    Parameters
    ----------
    balance : {"linear", None}, default None
        The paper has no balancing constraint.

    Examples
    --------
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> solution = ct.linearization(ct.cs3vm(), problem)
    >>> solution.labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    return Formulation(hinge(), symmetric_hinge(), balance=balance, regularizer=OneNorm(), name="CS³VM")


def hard_margin_s3vm(*, balance: str | None = "linear", fit_intercept: bool = True) -> Formulation:
    """The S3VM without slacks: y f >= 1 on labelled points, |f| >= 1 on unlabelled ones (debie2004 §2.1 with μ = 0).

    It is what the S3VM with hinge losses tends to as its costs grow, and does not depend on them.  For relaxations,
    exact search by labels and mixed-integer programs, since no tangent leads from one label to the other.  Margins are
    met up to 1e-6.

    Parameters
    ----------
    balance : {"linear", None}, default "linear"
        The mean output, or the number of labels, that the problem asks for.

    Examples
    --------
    >>> X = np.array([[-1.1], [-1.0], [-0.5], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> model = ct.hard_margin_s3vm(balance=None, fit_intercept=False)
    >>> solution = ct.exact_search(model, problem)
    >>> solution.labels, round(solution.objective, 4)  # w = 2 puts -0.5 on its margin
    (array([-1., -1., -1.,  1.,  1.,  1.]), 2.0)
    """
    loss = better_label(HARD_MARGIN)
    return Formulation(HARD_MARGIN, loss, balance=balance, fit_intercept=fit_intercept, name="Hard-margin S3VM")


#: The losses of unlabelled points that estimators and the command line know by name; the last one is a constraint.
FINITE_LOSSES = ("ramp", "hinge", "squared_hinge", "huber_hinge", "flat", "exp")
LOSSES = (*FINITE_LOSSES, "hard_margin")


def tsvm(
    loss: str = "ramp", *, s: float = -0.3, balance: str | None = "linear", fit_intercept: bool = True
) -> Formulation:
    """A transductive SVM by the name of its loss for unlabelled points.

    Parameters
    ----------
    loss : {"ramp", "hinge", "squared_hinge", "huber_hinge", "flat", "exp", "hard_margin"}, default "ramp"
        "ramp" and "hinge" (the ramp with s = 0) stand beside the hinge loss (:func:`cccp_tsvm`), the squared hinge,
        the flat loss and exp(-5 t²) beside the squared hinge (:func:`s3vm`).  "huber_hinge" is the hinge rounded by a
        parabola, of labelled points and of both labels of the others (sindhwani2006 §1.2.4).  "hard_margin" is the S3VM
        without slacks (:func:`hard_margin_s3vm`), for searches for labels.
    s : float in (-1, 0], default -0.3
        Plateau of the ramp; checked whatever the loss.
    balance, fit_intercept
        As in :func:`cccp_tsvm`.

    Examples
    --------
    >>> model = ct.tsvm("flat")
    >>> model.labeled.name, model.unlabeled(np.array([0.0, 2.0]))
    ('squared_hinge', array([1., 0.]))
    """
    made: dict[str, Callable[..., Formulation]] = {
        "ramp": partial(cccp_tsvm, s),
        "hinge": partial(cccp_tsvm, 0.0),
        "squared_hinge": s3vm,
        "huber_hinge": partial(Formulation, huber_hinge(), better_label(huber_hinge()), name="Huber-hinge S3VM"),
        "flat": partial(s3vm, flat_newton()),
        "exp": partial(s3vm, exponential()),
        "hard_margin": hard_margin_s3vm,
    }
    cccp_tsvm(s)  # which complains of another s, whatever the loss
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r} must be one of {', '.join(LOSSES)}, or a Formulation")
    return made[loss](balance=balance, fit_intercept=fit_intercept)


def universum_tsvm(
    points: Sequence[int],
    *,
    cost: float = 1.0,
    epsilon: float = 0.1,
    unlabeled: Loss | None = None,
    balance: str | None = "linear",
    fit_intercept: bool = True,
) -> Formulation:
    """A transductive SVM with a universum: ½ ‖w‖² + C Σ H₁(y f) + C* Σ R(f) + C_U Σ max(0, |f| - ε).

    Weston, Collobert, Sinz, Bottou and Vapnik (2006), eq. 4, beside the TSVM of collobert2006, as in UniverSVM.

    Parameters
    ----------
    points : sequence of int
        The points of the universum, whose label in the problem is 0.
    cost : float > 0, default 1.0
        C_U.
    epsilon : float >= 0, default 0.1
        ε, up to which outputs of the universum are free.
    unlabeled : Loss, optional
        Of the other unlabelled points; the symmetric ramp with s = -0.3 by default.
    balance : {"linear", None}, default "linear"
        Of the other unlabelled points.

    Examples
    --------
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1], [0.3], [0.4]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1, 0, 0], C=10, C_unlabeled=1, balance=None)
    >>> solution = ct.cccp(ct.formulations.universum_tsvm([6, 7], cost=5.0, balance=None), problem)
    >>> bool(np.abs(solution.scores[6:]).max() < 0.2)
    True
    """
    return Formulation(
        hinge(),
        symmetric_ramp(-0.3) if unlabeled is None else unlabeled,
        balance=balance,
        fit_intercept=fit_intercept,
        groups=(PointGroup(points, epsilon_insensitive(epsilon), cost, "universum"),),
        name="Universum TSVM",
    )


def svm(loss: Loss | None = None, *, balance: str | None = None, fit_intercept: bool = True) -> Formulation:
    """Support vector machine: ½ ‖w‖² + C Σ ℓ(y_i f(x_i)) over the labelled points.

    Parameters
    ----------
    loss : PLQ or DCLoss, default hinge
        ℓ.
    balance : {"linear", None}, default None
        "linear" asks for the balance over the unlabelled points all the same: the start of CCCP, and the "SVM" of
        chapelle2008 Table 13.

    Examples
    --------
    >>> solution = ct.cccp(ct.svm(), problem)
    >>> len(solution.history)  # convex: one step
    1
    """
    loss = hinge() if loss is None else loss
    return Formulation(labeled=loss, unlabeled=None, balance=balance, fit_intercept=fit_intercept, name="SVM")


def compact_margin(
    epsilon: float = 1.0,
    weight: float = 1.0,
    weight_unlabeled: float = 1.0,
    *,
    s: float = 0.0,
    balance: str | None = "linear",
    fit_intercept: bool = True,
) -> Formulation:
    """The relaxed Compact Margin Machine (dai2010 eq. 8): outputs with a large margin, and not too far out.

        ½ ‖w‖² + C₁ Σ_L max(0, 1 - y f) + C₂ Σ_U max(0, 1 - |f|) + C₃ Σ_{L ∪ U} max(0, |f| - ε)

    C₁ and C₂ are the problem's C and C*.  Its CCCP is the paper's Algorithm 1, with every point's compactness counted
    once.

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

    Examples
    --------
    >>> model = ct.compact_margin(2.0, *ct.formulations.compactness_weights(problem, C_compact=1.0))
    >>> ct.cccp(model, problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    labeled = relaxed_compact_hinge(epsilon, weight)
    unlabeled = relaxed_compact_symmetric_hinge(epsilon, weight_unlabeled, s)
    return Formulation(labeled, unlabeled, balance=balance, fit_intercept=fit_intercept, name="CMM")


def unrelaxed_compact_margin(
    epsilon: float = 1.0, C_compact: float = 1.0, *, fit_intercept: bool = True
) -> Formulation:
    """The Compact Margin Machine before its relaxation (dai2010 eq. 3-7): outputs near the mean of their class.

        ½ ‖w‖² + C₁ Σ_L max(0, 1 - y f) + C₂ Σ_U max(0, 1 - d f) + C₃ Σ_{L ∪ U} max(0, |f - mean of its class| - ε)

    The labels d of unlabelled points are searched for, as many of them +1 as the problem's balance says, which must be
    ("exact", r).  For :func:`~convex_tsvm.exact_search` with its certificate, :func:`~convex_tsvm.brute_force` and
    :class:`~convex_tsvm.LowerBoundBuilder`.

    Parameters
    ----------
    epsilon, C_compact : float >= 0, default 1.0
        ε and C₃.

    Examples
    --------
    >>> model = ct.formulations.unrelaxed_compact_margin(epsilon=0.5, C_compact=1.0)
    >>> solution = ct.exact_search(model, problem.replace(balance=("exact", 0.5)))
    >>> solution.status, solution.labels
    ('optimal', array([-1., -1., -1.,  1.,  1.,  1.]))
    """
    spread = ClassSpread.of(epsilon, C_compact)
    loss = symmetric_hinge()
    return Formulation(hinge(), loss, fit_intercept=fit_intercept, additions=(spread,), name="unrelaxed CMM")


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
