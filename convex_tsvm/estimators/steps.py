"""What the classifiers share that go by convex steps: progress, and one step for a convex formulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from ..formulations import Formulation
from ..methods import cccp_path
from ..problem import Problem
from ..progress import status_line
from ..solution import Iteration, Solution
from .base import KernelTransduction


class StepTransduction(KernelTransduction):
    """A formulation minimized by the concave-convex procedure.

    A subclass has the parameters ``solver``, ``tol``, ``max_iter``, ``cache_size``, ``verbose``, and ``annealing`` if
    its formulation is not convex.
    """

    annealing: Any = None

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        """Solutions of the problems of some classes; an interrupted one raises unless it is the last."""
        current = ""

        def in_turn() -> Iterator[Problem]:
            nonlocal current
            for current, problem in problems.items():  # noqa: B007
                yield problem

        def report(iteration: Iteration) -> None:
            if self.verbose:
                print(
                    f"[{type(self).__name__}] class {current}: objective {iteration.step_objective:.6g} "
                    f"(C* x {iteration.scale:g}), {iteration.changed} tangents changed, {iteration.seconds:.3f} s"
                )
            if progress is not None:
                progress.step(iteration)

        with status_line(lambda: f"class {current}") if self.verbose else nullcontext() as progress:
            solutions = cccp_path(
                formulation,
                in_turn(),
                solver=self.solver,
                annealing=self.annealing,
                tol=self.tol,
                max_iter=self.max_iter,
                cache_size=self.cache_size,
                callback=report if self.verbose else None,
                progress=None if progress is None else progress.inner,
            )
        if len(solutions) < len(problems):
            raise KeyboardInterrupt  # there is no classifier without all its classes
        return solutions
