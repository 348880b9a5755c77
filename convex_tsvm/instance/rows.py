"""Linear constraints on outputs as rows of a matrix, and what they add to a convex step and its dual."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from ..formulations.constraints import OutputConstraint
from ..kernels import RowsWithSums
from ..problem import Array, Problem
from ..validation import InfeasibleError


@dataclass(frozen=True, eq=False)
class OutputRows:
    """lower <= A f <= upper, for k rows of A, shape (k, n)."""

    A: sp.csr_array
    lower: Array
    upper: Array
    names: tuple[str, ...]

    @staticmethod
    def of(constraints: Sequence[OutputConstraint], problem: Problem) -> "OutputRows":
        dense = np.array([constraint.on(problem) for constraint in constraints]).reshape(-1, problem.n)
        return OutputRows(
            sp.csr_array(dense),
            np.array([float(constraint.lower) for constraint in constraints]),
            np.array([float(constraint.upper) for constraint in constraints]),
            tuple(constraint.name for constraint in constraints),
        )

    def __len__(self) -> int:
        return len(self.lower)

    @cached_property
    def key(self) -> tuple[bytes, ...]:
        """What rows that say the same have in common."""
        parts = (self.A.indptr, self.A.indices, self.A.data, self.lower, self.upper)
        return tuple(np.ascontiguousarray(part).tobytes() for part in parts)

    @cached_property
    def bias(self) -> Array:
        """By how much a bias of 1 raises each sum: Σ_i a_i, which is 1 for a mean and 0 for a difference."""
        sums = np.asarray(self.A.sum(axis=1), dtype=float).ravel()
        sizes = np.asarray(abs(self.A).sum(axis=1), dtype=float).ravel()
        # A sum that is this small beside the sizes of its terms is a rounding error of 0.
        return np.where(np.abs(sums) <= 1e-12 * sizes, 0.0, sums)

    @cached_property
    def unit(self) -> "OutputRows":
        """The same constraints, divided so that every bias coefficient is 0 or 1: equal rows of the dual's equation."""
        scale = self.scale
        ends = np.sort(np.column_stack([self.lower / scale, self.upper / scale]), axis=1)
        return OutputRows(sp.csr_array(sp.diags_array(1 / scale) @ self.A), ends[:, 0], ends[:, 1], self.names)

    @property
    def scale(self) -> Array:
        """What :attr:`unit` divided the rows by; its multipliers are these times the multipliers here."""
        return np.where(self.bias == 0, 1.0, self.bias)

    def spread(self, multipliers: Array) -> Array:
        """Aᵀ μ, what multipliers μ add to the coefficients of w, shape (n,)."""
        return np.asarray(self.A.T @ multipliers, dtype=float)

    def clip(self, multipliers: Array) -> Array:
        """μ moved into the domain of the dual: an end that is infinite pulls nowhere."""
        return np.clip(
            multipliers, np.where(np.isinf(self.upper), 0, -np.inf), np.where(np.isinf(self.lower), 0, np.inf)
        )

    def conjugate_value(self, multipliers: Array) -> float:
        """Σ_k max(-μ_k lower_k, -μ_k upper_k), for μ inside its domain."""
        up, down = np.maximum(multipliers, 0), np.maximum(-multipliers, 0)
        pulls = np.where(up > 0, -up * np.where(up > 0, self.lower, 0.0), down * np.where(down > 0, self.upper, 0.0))
        return float(pulls.sum())

    def violation(self, multipliers: Array, outputs: Array) -> Array:
        """How far each (sum, μ) is from optimal, in units of the sum, shape (k,)."""
        sums = self.A @ outputs
        return np.asarray(np.abs(sums - np.clip(sums - multipliers, self.lower, self.upper)))

    def infeasibility(self, outputs: Array) -> Array:
        """By how much each sum is outside its interval, shape (k,)."""
        sums = self.A @ outputs
        return np.asarray(np.maximum(np.maximum(self.lower - sums, sums - self.upper), 0.0))

    def _met_by_a_constant(self) -> bool:
        fixed, moved = self.bias == 0, self.bias != 0
        ends = np.sort(np.array([self.lower, self.upper])[:, moved] / self.bias[moved], axis=0)
        free = bool(((self.lower <= 0) & (self.upper >= 0))[fixed].all())
        return free and bool(ends[0].max(initial=-np.inf) <= ends[1].min(initial=np.inf))

    def check_feasible(self, problem: Problem, fit_intercept: bool) -> None:
        """Raise InfeasibleError unless some function of the space meets all constraints.

        The sums that functions w·Φ + b reach are (A K Aᵀ) v + b A1: a linear program in k + 1 variables.
        """
        if len(self) == 0 or (fit_intercept and self._met_by_a_constant()):
            return
        extended = RowsWithSums(problem.rows(), self.A)
        sums = extended.sums_with_sums
        # The scale of the kernel is no matter here: v is free.
        columns = np.column_stack([sums / max(float(np.abs(sums).max()), 1e-300), self.bias * fit_intercept])
        size = 1 + np.max(np.abs([self.lower, self.upper]), where=np.isfinite([self.lower, self.upper]), initial=0.0)
        above, below = np.isfinite(self.upper), np.isfinite(self.lower)
        matrix = np.vstack([columns[above], -columns[below]])
        ends = np.concatenate([self.upper[above], -self.lower[below]])
        # The least t >= 0 by which every end must give way.
        found = scipy.optimize.linprog(
            c=np.append(np.zeros(columns.shape[1]), 1.0),
            A_ub=np.column_stack([matrix, -np.ones(len(ends))]),
            b_ub=ends,
            bounds=[(None, None)] * columns.shape[1] + [(0, None)],
        )
        if found.status == 0 and found.fun > 1e-6 * size:  # Outputs that meet constraints may miss them by less.
            shown = "; ".join(
                f"{low:g} <= {name} <= {high:g}"
                for name, low, high in zip(self.names, self.lower, self.upper, strict=True)
            )
            raise InfeasibleError(
                f"constraints: no function of this space meets them all, whatever the data cost; the best misses by "
                f"{found.fun:.3g}: {shown}"
            )
