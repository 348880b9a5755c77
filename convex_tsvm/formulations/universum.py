"""The universum of Weston et al. (2006): points that belong to neither class, at which the function is to be near 0."""

from __future__ import annotations

from collections.abc import Sequence

from ..losses import Loss, epsilon_insensitive, hinge, symmetric_ramp
from .formulation import Formulation
from .groups import PointGroup


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
    >>> solution = ct.cccp(ct.universum_tsvm([6, 7], cost=5.0, balance=None), problem)
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
