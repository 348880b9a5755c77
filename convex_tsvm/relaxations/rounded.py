"""The incumbent of a bound about labels: rounded scores, and their SVM."""

from __future__ import annotations

import numpy as np

from ..problem import Array
from .envelopes.best import MOST_MISSED
from .label_model import LabelModel


class RoundedLabels:
    """Keeps the best labels that were made by rounding scores; ``labels`` is None before any were found.

    ``y`` are the labels that are known.
    """

    def __init__(self, model: LabelModel, y: Array, objective: float = np.inf, labels: Array | None = None) -> None:
        self.model, self.y, self.objective, self.labels = model, y, objective, labels

    def begin(self) -> float:
        """First labels: those of the SVM of the known ones, whose bound is returned."""
        point = self.model.known.solve(self.y)
        self.offer(np.where(self.y != 0, self.y, point.outputs + point.bias))
        return float(point.value)

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Round scores to labels and keep them if their SVM is the best so far; whether they were kept."""
        model = self.model
        search, labels = model.search, model.rounded(scores)
        if search.formulation.constraints or not (search.cost > 0).all():
            # The SVM that bounds leaves out what links say about outputs, and is for points that cost something.
            objective, solution = model.evaluate(labels)
            missed = solution.primal_infeasibility > MOST_MISSED * (1 + float(np.abs(solution.outputs).max()))
            objective, outputs = np.inf if missed else objective, solution.outputs
        else:
            point = model.svm.solve(labels, tol=1e-9)
            objective, outputs = model.svm.objective(labels, point), model.svm.margins(point) + point.bias
        if not (model.known.hard or search.n_positive is not None or search.target_sum is not None):
            # The signs of the outputs may be other labels than those the SVM was trained with, and better ones.
            labels = np.where(search.y != 0, search.y, np.where(outputs >= 0, 1.0, -1.0))
        if objective >= self.objective:
            return False
        self.objective, self.labels = objective, labels
        return True
