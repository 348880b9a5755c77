"""What is known of an optimum: a lower bound that holds, the best solution on the way, and what proves both."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..problem import Array
from ..solution import relative_gap
from .proof import Proof
from .region import Stage


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound of an S3VM's optimum, and what was found on the way.

    Attributes
    ----------
    value : float
        A proven lower bound of the formulation's optimum over all labellings that agree with the labels given; or, if
        ``upper`` was given and is smaller, of that.
    relaxed : float
        The value of the last relaxation as its solver left it: no bound.
    upper : float
        The least objective known.
    labels : array, shape (n,), or None
        Labels whose SVM has that objective.
    scores : array, shape (n,)
        Labels before thresholding, as the last relaxation has them.
    proven : array, shape (n,)
        Labels that every solution better than ``upper`` must have; 0 where that is not known.
    duals : dict of arrays
        The dual variables behind the last relaxation's bound: "gamma" of the SVM; "alpha" and "multipliers" of the SDP
        (:func:`~convex_tsvm.relaxations.transduction_bound`); "diagonal", "chord" and "weights" (of the cuts) of a
        relaxation in v-space, and the "A" ⪰ 0 of the convex quadratic that they make of the objective.  "gamma" and
        "curvature" of a relaxation by envelopes, with the ends "low" and "high" of the outputs that it is for.
    stages : tuple of Stage
    status : {"optimal", "inaccurate", "failed", "time_limit", "interrupted"}
        The worst of the solvers' ("optimal" also if the gap is closed); the bound holds whatever it is.
    proofs : tuple of (Proof, float)
        What proves the value, one step after the other, each with the cutoff that it was made for: a certificate of
        exact search stores the same.

    Examples
    --------
    >>> bound = ct.LowerBoundBuilder(ct.s3vm(), problem).bound()
    >>> bound.status, bool(bound.value <= bound.upper)
    ('optimal', True)
    >>> bound.gap < 0.01
    True
    >>> print(str(bound).splitlines()[2])
    6 of 6 labels are known or proven
    """

    value: float
    relaxed: float
    upper: float
    labels: Array | None
    scores: Array
    proven: Array
    duals: dict[str, Array] = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    status: str = "optimal"
    proofs: tuple[tuple[Proof, float], ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """(upper - value) / upper."""
        return relative_gap(self.upper, self.value)

    def __repr__(self) -> str:
        return f"Bound(value={self.value:.8g}, upper={self.upper:.8g}, gap={self.gap:.2g}, status={self.status!r})"

    def __str__(self) -> str:
        proven = int((self.proven != 0).sum())
        lines = [
            f"no solution is below {self.value:.8g}",
            f"the best one known has {self.upper:.8g} (gap {100 * self.gap:.2f} %)",
            f"{proven} of {len(self.proven)} labels are known or proven",
        ]
        lines += [
            f"{stage.name}: {stage.bound:.8g} after {stage.seconds:.2g} s ({stage.status})" for stage in self.stages
        ]
        return "\n".join(lines)
