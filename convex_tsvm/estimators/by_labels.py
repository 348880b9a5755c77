"""What classifiers share that first find labels, by a relaxation or exact search, and then train an SVM on them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial

from ..deadline import share_of_time
from ..formulations import Formulation, build
from ..methods import cccp_path
from ..problem import Problem
from ..solution import Solution
from ..validation import one_of
from .base import KernelTransduction
from .parameters import estimator


@estimator
class LabellingTransduction(KernelTransduction):
    """Base of classifiers that find labels of the unlabelled points; the SVM trained on them classifies new points."""

    C_unlabeled: float | str = "tenth"
    loss: str | Formulation = "hinge"

    @abstractmethod
    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        """The solution of the problem of the class called ``name``, with labels of all points."""

    def _formulation(self, problem: Problem) -> Formulation:
        if isinstance(self.loss, Formulation):
            return self.loss
        one_of("loss", self.loss, ("hinge", "squared_hinge", "hard_margin"))  # whose choice of labels has relaxations
        return build("tsvm", problem, loss=self.loss, fit_intercept=self.fit_intercept).formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if formulation.unlabeled is None:
            return cccp_path(formulation, problems.values())
        label = partial(self._label, formulation)
        return one_by_one(type(self).__name__, problems, label, verbose=bool(self.verbose))


def one_by_one(
    owner: str, problems: Mapping[str, Problem], solve: Callable[[str, Problem], Solution], *, verbose: bool
) -> list[Solution]:
    """Solutions of the problems of classes, by name, each with its share of the time; after an interrupted one no more.

    ``owner`` is the name of the estimator, for what is told if ``verbose``.
    """
    solutions: list[Solution] = []
    for name, problem in problems.items():
        with share_of_time(len(problems) - len(solutions)):
            solutions.append(solve(name, problem))
        if verbose:
            last = solutions[-1]
            bound = "" if last.lower_bound is None else f", lower bound {last.lower_bound:.6g}, gap {last.gap:.2e}"
            print(f"[{owner}] class {name}: objective {last.objective:.6g}{bound}, {last.seconds:.3f} s, {last.status}")
        if solutions[-1].status == "interrupted":
            break
    return solutions
