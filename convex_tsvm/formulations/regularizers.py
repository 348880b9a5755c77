"""Regularizers of the weights: ½ ‖w‖², ‖w‖₁, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Array
from ..validation import finite


@dataclass(frozen=True)
class ElasticNet:
    """½ ‖w‖² + ``l1`` ‖w‖₁, for the linear space, through CVXPY.

    Parameters
    ----------
    l1 : float >= 0
        Weight of the 1-norm.

    Examples
    --------
    >>> import convex_tsvm as ct
    >>> ct.Formulation(ct.hinge(), regularizer=ct.ElasticNet(0.5)).regularizer
    ElasticNet(l1=0.5)
    """

    l1: float

    def __post_init__(self) -> None:
        finite("l1", self.l1, least=0)

    def value(self, w: Array) -> float:
        """½ ‖w‖² + l1 ‖w‖₁.

        Parameters
        ----------
        w : array, shape (d,)

        Returns
        -------
        float
        """
        return 0.5 * float(w @ w) + self.l1 * float(np.abs(w).sum())

    def weights(self, v: Array) -> Array:
        """The w at which v is a subgradient: v with its entries shrunk by l1.

        Parameters
        ----------
        v : array, shape (d,)

        Returns
        -------
        array, shape (d,)
        """
        return np.sign(v) * np.maximum(np.abs(v) - self.l1, 0.0)

    def conjugate(self, v: Array) -> float:
        """Half the squared norm of the shrunk v.

        Parameters
        ----------
        v : array, shape (d,)

        Returns
        -------
        float
        """
        w = self.weights(v)
        return 0.5 * float(w @ w)


#: "l2" is ½ ‖w‖² in any space, "l1" is ‖w‖₁ in the linear one.
Regularizer = str | ElasticNet


def check_regularizer(value: Any) -> Regularizer:
    """The regularizer, if it is one; otherwise an error that says what is allowed."""
    if isinstance(value, ElasticNet) or (isinstance(value, str) and value in ("l2", "l1")):
        return value
    raise ValueError(f"regularizer={value!r} must be 'l2', 'l1' or an ElasticNet")
