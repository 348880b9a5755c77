"""Methods and solvers beside each other, and beside the supervised SVM."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import plot
from ..data import Data
from ..deadline import within
from ..instance import Instance
from ..methods.cccp import supervised_svms
from ..notice import warn
from ..problem import Problem
from ..solution import Solution
from ..table import METHODS
from . import table
from .options import Task, read_task
from .requests import Compare
from .solving import formulated, given, refuse_unused, solved


def compare(request: Compare) -> int:
    """Fit every method with every solver; print a table and draw a picture."""
    tasks = [read_task(name, request.formulation) for name in request.methods]
    refuse_unused(request, tasks)
    if request.folds < 0 or request.folds == 1:
        raise ValueError(f"folds={request.folds} must be 0, or an integer >= 2")
    data, problem, heading = given(request)
    found = _Comparison(request, tasks, data, problem)
    found.solve()
    supervised = None
    if all(row["status"] != "interrupted" for row in found.rows):
        try:
            supervised = found.beside_supervised()
        except KeyboardInterrupt:
            warn("interrupted: without the supervised SVM beside")
        except Exception as error:  # whatever it is, what the methods have found is shown
            warn(f"the supervised SVM beside: {str(error) or type(error).__name__}")
    if request.json:
        figures = {"data": data.name, "classes": data.known, "results": found.rows, "agreement": found.agreement()}
        table.print_json({**figures, "supervised": supervised})
    else:
        print(heading)
        table.print_table(found.rows if supervised is None else [*found.rows, supervised], found.below(supervised))
    table.write_plot(found.picture, request.plot, request.json)
    return 0 if supervised is not None and all(row["status"] in table.SOLVED_STATUSES for row in found.rows) else 1


@dataclass
class _Comparison:
    """Tasks on the same problem, their solutions by task and solver, and a row of figures for each of these pairs."""

    request: Compare
    tasks: list[Task]
    data: Data
    problem: Problem
    solutions: dict[tuple[Task, str], Solution] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def solve(self) -> None:
        """Solve every task by every solver; what fails has a row that says why.

        Ctrl-C ends the comparison with what there is; where there is nothing, the first error or Ctrl-C is raised.
        """
        first: BaseException | None = None
        for task, solver in [(one, name) for one in self.tasks for name in one.solvers_of(self.request.solvers)]:
            began = time.perf_counter()
            try:
                solution = solved(self.request, task, self.problem, solver)
                self.rows.append(table.result_of(self.data, solution, task, solver))
                self.solutions[task, solver] = solution
            except (Exception, KeyboardInterrupt) as error:  # whatever it is, the other methods are shown
                first = first or error
                self.rows.append(table.failure_of(error, self.problem, task, solver, time.perf_counter() - began))
            if self.rows[-1]["status"] == "interrupted":
                return
        if first is not None and not self.solutions:
            raise first

    def agreement(self) -> list[dict[str, Any]]:
        """How far several solvers of one method are apart."""
        lines = []
        for task in self.tasks:
            found = {solver: solution for (own, solver), solution in self.solutions.items() if own == task}
            if len(found) > 1:
                objectives = np.array([solution.objective for solution in found.values()])
                first, second, *_ = found.values()
                solvers = [solution.solver if name == "auto" else name for name, solution in found.items()]
                difference = float(np.ptp(objectives) / max(1.0, abs(objectives[0])))
                labels = int((first.labels != second.labels).sum())
                apart = {"objective_difference": difference, "labels_different": labels}
                lines.append({"method": task.name, "solvers": solvers, **apart})
        return lines

    def below(self, supervised: dict[str, Any] | None) -> list[str]:
        """What is said of the table below it."""
        lines = table.stopped(self.rows)
        if supervised is not None and any(task.formulation == "svm" for task in self.tasks):
            lines.append("svm is fitted with the balance asked for, as all methods are; the supervised SVM has none")
        text = (
            "{method}: {names} agree on the objective to {objective_difference:.1e} and differ on {labels_different} "
            "labels"
        )
        agreement = [text.format(names=" and ".join(line["solvers"]), **line) for line in self.agreement()]
        return [*lines, *table.compilation(), *agreement]

    def picture(self) -> Any:
        """All solutions, with their solvers in their names where a method has several."""
        several = len(self.solutions) > len(self.tasks)
        named = {f"{t.name} ({s})" if several else t.name: one for (t, s), one in self.solutions.items()}
        return plot.comparison(self.data, named)

    def beside_supervised(self) -> dict[str, Any]:
        """The row of the supervised SVM; others get their agreement with it, and all their error at labels left out."""
        first = next((task for task, _ in self.solutions if task.formulation != "svm"), next(iter(self.solutions))[0])
        formulation, problem = formulated(self.request, first, self.problem)
        alone = supervised_svms(formulation, [problem])[0]
        unlabeled, folds = self.problem.unlabeled, self._folds()
        errors: dict[Task, float | None] = {}
        done = [row for row in self.rows if row["status"] != "failed"]
        for (task, solver), row in zip(self.solutions, done, strict=True):
            if task not in errors:
                one = partial(solved, self.request, task, solver=solver)
                own_folds = folds if METHODS[task.method].is_descent else []
                with within(self.request.time_limit):
                    errors[task] = _left_out_error(one, self.problem, own_folds)
            alike = self.solutions[task, solver].labels[unlabeled] == alone.labels[unlabeled]
            row["agreement"] = float(alike.mean()) if len(alike) else None
            row["left_out_error"] = errors[task]
        # What the others minimize, at the supervised SVM, if they all minimize the same.
        kinds = {(t.formulation, t.loss(self.request.loss)) for t, _ in self.solutions if t.formulation != "svm"}
        value = Instance(formulation, problem).objective(alone.scores, alone.regularization)
        return table.figures_of(
            self.data.error(alone.labels),
            self.problem,
            method="supervised SVM",
            solver=alone.solver,
            objective=value if len(kinds) == 1 else None,
            iterations=alone.n_iter,
            seconds=alone.seconds,
            status=alone.status,
            step_duality_gap=None,
            agreement=1.0,
            left_out_error=_left_out_error(lambda part: supervised_svms(formulation, [part])[0], problem, folds),
        )

    def _folds(self) -> list[NDArray[np.intp]]:
        """Labelled points that are left out together; none if there are too few."""
        from ..selection.splits import LabeledKFold  # which loads scikit-learn, and that takes a second

        y, n_folds = self.problem.y, self.request.folds
        if n_folds < 2 or min((y > 0).sum(), (y < 0).sum()) < 2:
            return []
        splitter = LabeledKFold.at_most(n_folds, y[y != 0], random_state=self.request.random_state, unlabeled=0)
        return [test for _, test in splitter.split(y, y)]


def _left_out_error(
    solution_of: Callable[[Problem], Solution], problem: Problem, folds: list[NDArray[np.intp]]
) -> float | None:
    """Error at labelled points that count as unlabelled ones, in [0, 1]; None without folds, or without the time."""
    if not folds:
        return None
    wrong = 0
    with warnings.catch_warnings(action="ignore"):
        for test in folds:
            y = problem.y.copy()
            y[test] = 0
            solution = solution_of(problem.replace(y=y))
            if solution.status == "interrupted":
                raise KeyboardInterrupt
            if solution.status == "time_limit":
                return None
            wrong += int((solution.labels[test] != problem.y[test]).sum())
    return wrong / sum(len(test) for test in folds)
