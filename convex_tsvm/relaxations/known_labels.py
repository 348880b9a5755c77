"""The relaxation in which points without a label pay nothing (chapelle2008 §3.1)."""

from __future__ import annotations

from ..deadline import time_is_up
from .model import BoundModel
from .proofs import SVMProof, single
from .relaxation import Relaxation, Work


class KnownLabels(Relaxation):
    """Train the SVM of the known labels, and train it again as long as it settles further labels."""

    @staticmethod
    def why_not(model: BoundModel) -> str | None:
        return None

    def tighten(self, work: Work) -> None:
        value = settle_labels(work)
        work.record("svm", value)


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
