"""What classifiers share that first find labels, by a relaxation or exact search, and then train an SVM on them."""

from __future__ import annotations

from abc import abstractmethod

from ..deadline import share_of_time
from ..formulations import Formulation, build
from ..methods import cccp_path
from ..problem import Problem
from ..solution import Solution
from ..validation import one_of
from .base import KernelTransduction

#: Losses for which there are relaxations of the choice of labels.
RELAXABLE_LOSSES = ("hinge", "squared_hinge")


class LabellingTransduction(KernelTransduction):
    """Base of classifiers that find labels of the unlabelled points; the SVM trained on them classifies new points."""

    @abstractmethod
    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        """The solution of the problem of the class called ``name``, with labels of all points."""

    def _formulation(self, problem: Problem) -> Formulation:
        one_of("loss", self.loss, RELAXABLE_LOSSES)
        return build("tsvm", problem, loss=self.loss, fit_intercept=self.fit_intercept).formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if formulation.unlabeled is None:
            return cccp_path(formulation, problems.values())
        solutions: list[Solution] = []
        for name, problem in problems.items():
            with share_of_time(len(problems) - len(solutions)):
                solutions.append(self._label(formulation, name, problem))
            if self.verbose:
                last = solutions[-1]
                bound = "" if last.lower_bound is None else f", lower bound {last.lower_bound:.6g}, gap {last.gap:.2e}"
                print(
                    f"[{type(self).__name__}] class {name}: objective {last.objective:.6g}{bound}, "
                    f"{last.seconds:.3f} s, {last.status}"
                )
            if solutions[-1].status == "interrupted":
                break
        return solutions
