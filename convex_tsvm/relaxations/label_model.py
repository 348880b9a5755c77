"""What bounds about labels are computed with: the SVM of known labels, and the quadratic program in v."""

import copy
from functools import cached_property
from typing import Any

import numpy as np

from ..formulations import Formulation
from ..instance import StepSolution
from ..instance.labelling import Labelling, labelling
from ..problem import Array, Problem
from ..solvers import NativeSolver
from .bound_model import BoundModel
from .box import LabelBox, counted
from .envelopes.best import MOST_MISSED
from .quadratic_program import OutputSpace
from .svm.partial_svm import PartialSVM, PlainSVM, is_partial
from .svm.spread import SpreadSVM


class LabelModel(BoundModel):
    """A formulation on a problem as a search for labels; ValueError for other formulations.

    ``known`` is the SVM of the known labels. Only with ``links`` may there be any: bounds that leave them out hold, but
    a search would not end with them.
    """

    about = "labels"

    def __init__(self, formulation: Formulation, problem: Problem, *, links: bool = False) -> None:
        super().__init__()
        if formulation.constraints and not links:
            raise ValueError(
                f"constraints={formulation.constraints!r}: exact searches for labels know the balance only"
            )
        formulation.check_classes(problem)
        self.search = labelling(formulation, problem)
        self.instance = self.search.instance
        self.n = self.search.n
        self.known: PartialSVM | PlainSVM = known_labels(self.search)

    @property
    def svm(self) -> PartialSVM:
        """The SVM of known labels; ValueError for losses of which no bound says anything about single labels."""
        if isinstance(self.known, PartialSVM):
            return self.known
        if not (self.search.cost > 0).all():
            raise ValueError("exact search needs a cost > 0 for every point")
        raise ValueError(f"labeled={self.search.loss!r}: exact search is for hinge() and squared_hinge()")

    @cached_property
    def space(self) -> OutputSpace:
        """The quadratic program in v, for the squared hinge."""
        return OutputSpace(self.search)

    def root(self, cutoff: float = np.inf) -> LabelBox:
        return self.count(LabelBox.of_labels(self.search.y))

    def halves(self, box: LabelBox, i: int, place: float) -> tuple[LabelBox, LabelBox]:
        return self.count(box.with_label(i, -1)), self.count(box.with_label(i, 1))

    def scores(self, box: LabelBox, outputs: Array) -> Array:
        return np.where(box.labels != 0, box.labels, outputs)

    def proven(self, box: LabelBox) -> Array:
        return np.where(box.low > box.high, self.search.y, box.labels)

    def statement(self) -> tuple[dict[str, Any], dict[str, Array]]:
        search = self.search
        constraint, value = "none", 0.0
        if search.target_sum is not None:
            constraint, value = "targets", float(search.target_sum)
        elif search.n_positive is not None:
            constraint, value = "count", int(search.n_positive)
        elif self.instance.target is not None:
            constraint, value = "mean", float(self.instance.target)
        return {
            "loss": "hard_margin" if self.known.hard else "squared_hinge" if self.known.squared else "hinge",
            "bias": bool(self.instance.formulation.fit_intercept),
            "constraint": constraint,
            "value": value,
            "constant": float(search.loss_constant),
            "lift": search.gram.lift,
            **({} if search.spread is None else {"spread": [search.spread.epsilon, search.spread.cost]}),
        }, {}

    def why_no_file(self) -> str | None:
        if self.svm.hard and np.abs(self.search.offset).max(initial=0.0) >= 1:
            return "outputs have a mean of 1 or more in size, and no longer w mends a margin that is missed by rounding"
        return super().why_no_file()

    def count(self, box: LabelBox) -> LabelBox:
        """The box after positive labels are counted: a number (chapelle2008 eq. 3), or both labels for a sum of
        targets.
        """
        search = self.search
        if box.is_empty or (search.n_positive is None and search.target_sum is None):
            return box
        points = search.unknown if search.n_positive is not None else np.flatnonzero(search.summed)
        most = len(points) - 1 if search.n_positive is None else search.n_positive
        least = 1 if search.n_positive is None else search.n_positive
        found: LabelBox = counted(box, points, box.labels[points], least, most, 1.0)
        # The labels that were just forced may contradict the count, which the next round finds.
        return found if found is box else self.count(found)

    def rounded(self, scores: Array) -> Array:
        """Labels of scores: their signs, or the largest ones where the number of positive labels is given."""
        search, labels = self.search, self.instance.best_labels(scores)
        if search.target_sum is not None:
            balanced = np.flatnonzero(search.summed)
            if abs(labels[balanced].sum()) == len(balanced):
                # Both labels must occur.
                sign = labels[balanced[0]]
                labels[balanced[np.argmin(sign * scores[balanced])]] = -sign
        return np.asarray(labels)

    def evaluate(self, labels: Array) -> tuple[float, StepSolution]:
        """The objective of the SVM for labels of all points, and that SVM."""
        solution = self._solver.solve(self.search.svm(labels))
        return self.search.objective(solution), solution

    @cached_property
    def _solver(self) -> NativeSolver:
        return NativeSolver(self.search.problem, tol=1e-8, precision="double")

    def fork(self, number: int) -> "LabelModel":
        other: LabelModel = super().fork(number)
        other.known = copy.copy(self.known)
        return other


def known_labels(search: Labelling) -> PartialSVM | PlainSVM:
    """The SVM of the known labels of a search."""
    if not is_partial(search):
        return PlainSVM(search)
    return PartialSVM(search) if search.spread is None else SpreadSVM(search, search.spread)


class RoundedLabels:
    """The best labels that were made by rounding scores, with the known labels ``y``; None before any were found."""

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
            labels = model.instance.best_labels(outputs)
        if objective >= self.objective:
            return False
        self.objective, self.labels = objective, labels
        return True
