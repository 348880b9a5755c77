"""What becomes of the bias where outputs have one, and where a balance fixes the mean of some of them.

A balance, mean of f over the members = c, can be met in two ways that have the same solutions.  *Centring* moves the
origin of the feature space to the members' mean m, which fixes the bias: f = w·(Φ(x) - m) + c (chapelle2008 eq. 13).
The extra point *x₀* is that mean, with an output that must be c and a multiplier γ₀ of its own, beside a bias that is
still free (collobert2006 eq. 10).  Without a bias to be fixed there is only the second way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..problem import Array, Problem


def members_of(problem: Problem) -> NDArray[np.intp]:
    """The points whose mean output a balance on a problem would fix."""
    return problem.balance_points


@dataclass(frozen=True, eq=False)
class Bias:
    """How outputs get their bias."""

    fitted: bool  # whether f has a bias at all
    target: float | None  # c, the mean that the outputs of the members must have; None without a balance
    members: NDArray[np.intp]  # the points of the balance, some perhaps several times
    way: str = "centring"  # or "x0": how a balance is met, if there is one and the bias is fitted

    @cached_property
    def centred(self) -> bool:
        """Whether the origin is the members' mean, and the bias is c from there."""
        return self.fitted and self.target is not None and self.way == "centring"

    @property
    def with_x0(self) -> bool:
        """Whether the members' mean is an extra point, with a multiplier γ₀."""
        return self.target is not None and not self.centred

    @property
    def free(self) -> bool:
        """Whether the bias is a variable, whose equation in the dual is Σ a = 0."""
        return self.fitted and not self.centred

    @property
    def offset(self) -> float:
        """What is added to w·(Φ(x) - origin) where the bias is not free."""
        return float(self.target or 0.0) if self.centred else 0.0

    def gamma0(self, total: float) -> float:
        """The multiplier of the balance that centring stands for, of dual variables of this sum: Σ a = 0 with it."""
        return -total

    def spread(self, coefficients: Array, gamma0: float) -> Array:
        """Coefficients over the points, with those of the members' mean spread over the members."""
        found = coefficients.copy()
        if gamma0:
            np.add.at(found, self.members, gamma0 / len(self.members))
        return found

    def of_origin(self, outputs: Array, free: float) -> float:
        """b in f = w·Φ(x) + b, from the outputs w·Φ(x): what the balance asks for, or the free bias of a solver."""
        if not self.fitted:
            return 0.0
        return free if self.target is None else self.target - self.mean(outputs)

    def mean(self, outputs: Array) -> float:
        """The mean that a balance fixes."""
        return float(outputs[self.members].mean())
