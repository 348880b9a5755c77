"""The relaxation in which points without a label pay nothing (chapelle2008 §3.1), and what proves it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...deadline import time_is_up
from ..box import LabelBox
from ..label_model import LabelModel
from ..proof import Proof, Stored, single
from ..region import Relaxation, Work


@dataclass(frozen=True, eq=False)
class SVMProof(Proof):
    """γ of the SVM of the labels known (:class:`~convex_tsvm.relaxations.svm.partial_svm.PartialSVM`)."""

    name = "SVM of the known labels"
    gamma: np.ndarray

    def apply(self, model: LabelModel, box: LabelBox, cutoff: float) -> tuple[float, LabelBox]:
        point = model.known.point(box.labels, self.gamma.astype(float))
        return point.value, model.count(box.meet(*model.known.consequences(box.labels, point, cutoff)))

    def store(self) -> Stored:
        return Stored(self.gamma)

    @staticmethod
    def read(stored: Stored) -> "SVMProof":
        return SVMProof(stored.vector)


class KnownLabels(Relaxation):
    """Train the SVM of the known labels, and train it again as long as it settles further labels."""

    closes = True

    @staticmethod
    def why_not(model: Any) -> str | None:
        return None

    def tighten(self, work: Work) -> None:
        work.record("svm", settle_labels(work))

    def finish(self, work: Work) -> None:
        """Where all labels are known it has their objective."""
        settle_labels(work)


def settle_labels(work: Work) -> float:
    """Add proofs by the SVM of the known labels until it settles no further label, and return its last bound."""
    svm = work.model.known
    while True:
        point = svm.solve(work.box.labels, work.gamma)
        # With a free bias the entries of γ add up to exactly zero, which single precision would spoil.
        proof = SVMProof(point.gamma if svm.free_bias else single(point.gamma))
        work.gamma, work.outputs = point.gamma, point.outputs + point.bias
        if len(work.box.unknown) == 0:
            work.offer(work.box.labels, always=True)
        settled = work.prove(proof)
        if not (settled and work.open) or time_is_up():
            break
    work.duals = {"gamma": point.gamma}
    if work.open:
        work.rates = lambda: work.model.svm.rates(point.gamma, work.box.unknown)
        work.offer(work.outputs)
    return point.value
