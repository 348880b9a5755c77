"""The optimization problem as plain numbers, which every solver is given, and as the library states it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

import convex_tsvm as ct


@dataclass(frozen=True, eq=False)
class Task:
    """Minimize ½ ‖w‖² + Σ C_i ℓ_i(f(x_i)) over f(x) = <w, Φ(x)> + b under a mean output.

    Attributes
    ----------
    X : array or CSR matrix, shape (n, d)
    y : array, shape (n,)
        +1, -1, or 0 where the label is not shown.
    formulation : {"s3vm", "svm"}
        Whether unlabelled points pay; "svm" is the convex problem of the labelled points.
    loss : {"hinge", "ramp", "squared_hinge", "flat", "exp"}
        What :func:`convex_tsvm.tsvm` calls the pair of losses.
    C, C_unlabeled : float
    sigma : float or None
        Width of k(x, y) = exp(-‖x - y‖² / 2σ²); None for the linear kernel.
    target : float or None
        The mean output over the unlabelled points; None where it is free.
    """

    X: Any
    y: np.ndarray
    formulation: str
    loss: str
    C: float
    C_unlabeled: float
    sigma: float | None
    target: float | None

    @property
    def labeled(self) -> np.ndarray:
        """Indices of the points whose labels are shown."""
        return np.flatnonzero(self.y)

    @property
    def unlabeled(self) -> np.ndarray:
        """Indices of the other points."""
        return np.flatnonzero(self.y == 0)

    @property
    def squared(self) -> bool:
        """Whether labelled points pay the square of the hinge loss."""
        return self.loss not in ("hinge", "ramp")

    @property
    def kernel_width(self) -> float | None:
        """γ of exp(-γ ‖x - y‖²), as most programs want it; None for the linear kernel."""
        return None if self.sigma is None else 1 / (2 * self.sigma**2)

    @property
    def positive_share(self) -> float:
        """The share of positive labels that programs are told, which know no mean output."""
        mean = self.target if self.target is not None else float(self.y[self.labeled].mean())
        return (1 + mean) / 2

    @property
    def dense(self) -> np.ndarray:
        """The points as an array."""
        return self.X.toarray() if sp.issparse(self.X) else self.X

    def problem(self, **changes: Any) -> ct.Problem:
        """The library's problem, made anew, so that nothing that one solver has computed serves another."""
        given = {
            "kernel": ct.Linear() if self.sigma is None else ct.RBF(self.sigma),
            "C": self.C,
            "C_unlabeled": self.C_unlabeled,
            "balance": self.target,
            **changes,
        }
        return ct.Problem(self.X, self.y, **given)

    def stated(self) -> tuple[ct.Formulation, ct.Problem]:
        """The library's formulation and problem."""
        problem = self.problem()
        formulation = ct.tsvm(self.loss).balanced_as(problem)
        return (formulation if self.formulation == "s3vm" else formulation.supervised()), problem


def probe(task: Task) -> Task:
    """Six points with the same losses, kernel and balance, on which it is quickly seen whether a method takes them."""
    X = np.array([[0.3], [0.5], [0.8], [2.3], [2.5], [2.6]])
    sigma, target = None if task.sigma is None else 1.0, None if task.target is None else 0.0
    return replace(task, X=X, y=np.array([-1.0, 0, 0, 0, 0, 1]), sigma=sigma, target=target)
