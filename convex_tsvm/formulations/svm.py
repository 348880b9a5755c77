"""The supervised SVM, with the objective conventions of everything else: the baseline."""

from __future__ import annotations

from ..losses import Loss, hinge
from .formulation import Formulation


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
