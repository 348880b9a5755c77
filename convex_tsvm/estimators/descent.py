"""What classifiers share that minimize a formulation by a descent: method, solver, progress, classes in turn."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ..formulations import Formulation
from ..methods.annealing import Annealing
from ..methods.cccp import CCCP
from ..methods.descents import Descents, asked
from ..methods.potts import Potts, Temperature
from ..methods.run import Method
from ..methods.self_training import SelfTraining, SeveralClasses
from ..methods.settings import Settings
from ..problem import Problem
from ..solution import Iteration, Solution
from ..validation import one_of
from .advice import announce, expected_seconds, may_be_long
from .base import Transduction
from .labels import Labels
from .parameters import estimator, fixed


@estimator
class Descent(Transduction):
    """Base of classifiers that minimize a formulation by a method that is a descent."""

    fit_intercept: bool = True
    tol: float = 1e-3
    max_iter: int = 100
    time_limit: float | None = None

    multi_class, method, method_options, annealing = fixed("ovr"), fixed("cccp"), fixed(None), fixed(None)
    solver, cvxpy_solver, device = fixed("auto"), fixed(None), fixed(None)
    cache_size, warm_start = fixed("auto"), fixed(False)

    #: Options of methods in place of their own defaults.
    _own_defaults: ClassVar[dict[str, dict[str, Any]]] = {}

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        """Solutions of the problems in their order, each with the kernel rows that the ones before have computed."""
        if self._is_joint and formulation.unlabeled is not None and len(problems) > 1:
            return self._solve_together(formulation, problems)
        current = ""

        def in_turn() -> Iterator[Problem]:
            nonlocal current
            for current, problem in problems.items():  # noqa: B007
                yield problem

        def report(iteration: Iteration) -> None:
            print(
                f"[{type(self).__name__}] class {current}: objective {iteration.step_objective:.6g} "
                f"(stage {iteration.stage:g}), {iteration.changed} points changed, {iteration.seconds:.3f} s"
            )
            if progress is not None:
                progress.step(iteration)

        with self._status(lambda: f"class {current}", self._method(formulation).share) as progress:
            inner = None if progress is None else progress.inner
            descents = self._descents(formulation, report if self.verbose else None, inner)
            return descents.solve_all(formulation, in_turn(), len(problems), self._starts(problems))

    @property
    def _is_joint(self) -> bool:
        """Whether several classes are learned together; a ValueError for bad words."""
        if one_of("multi_class", self.multi_class, ("auto", "ovr", "potts")) == "potts":
            if not isinstance(self._asked_method(), Annealing):
                raise ValueError(f"multi_class='potts' needs method='annealing', not {self.method!r}")
            return True
        return self.multi_class == "auto" and isinstance(self._asked_method(), SelfTraining)

    def _solve_together(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        """Solutions of the problems of all classes, in which each point has one label."""

        def report(stage: Temperature) -> None:
            print(
                f"[{type(self).__name__}] T = {stage.temperature:.4g}: energy {stage.energy:.6g}, objective "
                f"{stage.objective:.6g}, entropy {stage.entropy:.4f}"
            )

        method: Any = self._asked_method()
        names, parts = itertools.cycle(problems), list(problems.values())

        def told(iteration: Iteration) -> None:
            # Classes are recorded in turn.
            print(
                f"[{type(self).__name__}] class {next(names)}: objective {iteration.objective:.6g}, "
                f"{iteration.stage:.0%} of the points have labels, {iteration.seconds:.3f} s"
            )

        descents = self._descents(formulation, told if self.verbose and self.multi_class != "potts" else None)
        if self.multi_class == "potts":
            return list(Potts(method, formulation, parts, descents, report if self.verbose else None).run().solutions)
        return list(SeveralClasses(method, formulation, parts, descents, starts=self._starts(problems)).solved())

    def _parts(self, first: Problem, labels: Labels, formulation: Formulation) -> list[dict[str, Problem]]:
        parts = super()._parts(first, labels, formulation)
        if not self._is_joint or formulation.unlabeled is None:
            return parts
        if len(labels.classes) == 2 and self.multi_class == "potts":
            raise ValueError("multi_class='potts' is for more than two classes; y has two")
        return [{name: problem for part in parts for name, problem in part.items()}]

    def _decided(self, scores: NDArray[np.float64], solutions: list[Solution]) -> NDArray[Any]:
        if not self._is_joint or solutions[0].formulation.unlabeled is None:
            return super()._decided(scores, solutions)
        return np.asarray(self.classes_[np.argmax([solution.labels for solution in solutions], axis=0)])

    def _announce(self, first: Problem, labels: Labels) -> None:
        def solve(part: Problem) -> None:
            formulation = self._formulation(part)
            formulation = formulation if labels.unlabeled.any() else formulation.supervised()
            self._descents(formulation).solve(formulation, part)

        n_fits = len(labels.positives)
        n_fits = -(-n_fits // min(effective_n_jobs(self.n_jobs), n_fits))
        if may_be_long(first, n_fits):
            problem = self._other_class(first, labels, labels.positives[0])
            announce(type(self).__name__, expected_seconds(problem, solve), n_fits, self._faster(problem))

    def _faster(self, problem: Problem) -> str:
        """The part of a warning that says what is faster than this classifier on many points."""
        if problem.is_linear:
            return "LinearTransductiveSVC takes linear functions of many points"
        return (
            "LinearTransductiveSVC(kernel_approximation='nystroem') learns with nearly the same kernel, and without an "
            "approximation linear functions, which do for texts and the like"
        )

    def _starts(self, problems: dict[str, Problem]) -> list[Solution | None] | None:
        """Solutions of the previous fit to start from, where names and shapes fit; None without ``warm_start``."""
        if not self.warm_start or not hasattr(self, "solutions_"):
            return None
        positives = [self.classes_[1]] if len(self.classes_) == 2 else self.classes_
        before = dict(zip(map(str, positives), self.solutions_, strict=True))
        found = [(before.get(name), problem.X.shape) for name, problem in problems.items()]
        return [one if one is not None and one.problem.X.shape == shape else None for one, shape in found]

    def _descents(
        self,
        formulation: Formulation,
        callback: Callable[[Iteration], None] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> Descents:
        """The method with its solver and settings, which solves any number of problems on the same points."""
        method = self._method(formulation)
        return Descents(
            method,
            solver=self._asked_solver(method, formulation),
            settings=Settings(self.tol, self.max_iter, callback),
            options={name: value for name in ("cvxpy_solver", "device") if (value := getattr(self, name)) is not None},
            offered={"cache_size": self.cache_size, "progress": progress},
        )

    def _asked_solver(self, method: Method, formulation: Formulation) -> Any:
        """The user's solver; "auto" without unlabelled points, if the method used then does not take that."""
        fits = formulation.unlabeled is not None or not isinstance(self.solver, str) or self.solver in method.solvers
        return self.solver if fits else "auto"

    def _method(self, formulation: Formulation) -> Method:
        """The descent; a formulation without unlabelled points is solved at once."""
        return CCCP() if formulation.unlabeled is None else self._asked_method()

    def _asked_method(self) -> Method:
        return asked(self.method, self._method_options, self._own_defaults)

    @property
    def _method_options(self) -> dict[str, Any]:
        annealing = {} if self.annealing is None else {"annealing": self.annealing}
        return {**(self.method_options or {}), **annealing}
