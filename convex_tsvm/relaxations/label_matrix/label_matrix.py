"""The relaxation in Γ as bounds of boxes, and what proves it."""

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...deadline import time_is_up
from ...instance.labelling import Labelling, why_not_relaxable
from ...table import SDP_SOLVERS
from ...validation import one_of
from ..box import LabelBox
from ..label_model import LabelModel
from ..proof import Proof, Stored, single
from ..region import Relaxation, Work
from ..safe_bounds import dominating, into_domain, transduction_bound
from .low_rank import LowRankPoint, solve_low_rank

if TYPE_CHECKING:
    from ...modeling.label_matrix import ConicPoint


@dataclass(frozen=True, eq=False)
class MatrixProof(Proof):
    """α and λ of the relaxation in Γ (:func:`~convex_tsvm.relaxations.transduction_bound`).

    λ is that of all known labels and of every point, NaN where the label was known; of tied points the first one has
    it.
    """

    name = "label matrices"
    alpha: np.ndarray
    multipliers: np.ndarray

    def apply(self, model: LabelModel, box: LabelBox, cutoff: float) -> tuple[float, LabelBox]:
        free = ~np.isnan(self.multipliers[1:])
        labels = np.where(free, 0.0, box.labels)
        if (labels[~free] == 0).any():
            return -np.inf, box
        search = model.search.fixed(labels)
        lam = self.multipliers[np.append(0, 1 + search.side.first)]
        return transduction_bound(search, self.alpha.astype(float), lam.astype(float)), box

    def store(self) -> Stored:
        return Stored(np.concatenate([self.alpha, self.multipliers]))

    @staticmethod
    def read(stored: Stored) -> "MatrixProof":
        return MatrixProof(*np.split(stored.vector, [len(stored.vector) // 2]))


class LabelMatrix(Relaxation):
    """The relaxation of debie2004 §2, with vectors in place of labels."""

    takes = ("solver",)

    @staticmethod
    def why_not(model: LabelModel) -> str | None:
        return why_not_relaxable(model.search)

    def tighten(self, work: Work) -> None:
        at_root = work.region.depth == 0
        # With fewer unlabelled points than this, below the root, branching is faster than the relaxation.
        # Factor on the tolerance below the root, where the relaxation is solved many times.
        least, tol = (1, self.tol) if at_root else (5, 10 * self.tol)
        if len(work.box.unknown) < least or time_is_up():
            return
        part = work.model.search.fixed(work.box.labels)
        point = self._solved(part, tol)
        scores = work.box.labels.copy()
        scores[part.unknown] = point.scores
        alpha, multipliers = single(point.alpha), np.full(1 + part.n, np.nan)
        multipliers[1 + part.unknown] = 0.0
        multipliers[np.append(0, 1 + part.side.first)] = dominating(
            part, into_domain(part, alpha.astype(float))[0], point.multipliers
        )
        work.prove(MatrixProof(alpha, multipliers))
        vectors = part.basis @ point.vectors
        work.duals = {"alpha": point.alpha, "multipliers": point.multipliers, "vectors": vectors}
        work.outputs = scores
        if work.open:
            work.offer(scores)
        work.record("sdp", point.value, status="optimal" if point.status == "optimal" else "inaccurate")

    def _solved(self, part: Labelling, tol: float) -> "LowRankPoint | ConicPoint":
        """A solution by our own low-rank method, or by a conic solver: if asked for, or for counted or tied labels."""
        if self.solver in ("auto", "native") and part.unknown_sum is None and not part.has_ties:
            return solve_low_rank(part, tol=tol)
        from ...modeling.label_matrix import solve_dual

        return solve_dual(part, "clarabel" if self.solver in ("auto", "native") else self.solver)


def check_solver(solver: str) -> str:
    """The name of a solver of the relaxation in label matrices; a ValueError if there is none, or it is not there."""
    one_of("solver", solver, ("auto", *SDP_SOLVERS))
    packages = {"sdpa": "sdpap", "scs": "scs", "clarabel": "clarabel"}
    if solver in packages and importlib.util.find_spec(packages[solver]) is None:
        raise ValueError(f"solver={solver!r} is not installed; solver='native' is always there")
    return solver
