"""Methods and solvers beside each other, and beside the supervised SVM."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import plotting
from ..data import Data
from ..instance import Instance
from ..methods.supervised import supervised_svms
from ..notice import warn
from ..problem import Problem
from ..solution import Solution
from ..table import METHODS
from .files import print_json, write_plot
from .requests import Compare
from .solving import check_method_options, formulated, given, limited, solved
from .table import SOLVED_STATUSES, compilation, failure_of, figures_of, print_table, result_of, stopped
from .tasks import Task, read_task
from .unused import refuse_unused

#: What the row of the supervised SVM is called.
SUPERVISED = "supervised SVM"


def compare(request: Compare) -> int:
    """Fit every method with every solver; print a table and draw a picture."""
    tasks = [read_task(name, request.formulation) for name in request.methods]
    check_method_options(request, tasks)
    refuse_unused(request, tasks)
    if request.folds < 0 or request.folds == 1:
        raise ValueError(f"folds={request.folds} must be 0, or an integer >= 2")
    data, problem, heading = given(request)
    solutions, results = _solved(request, tasks, data, problem)
    agreement, supervised = _agreement(request, tasks, solutions), None
    done = [result for result in results if result["status"] != "failed"]
    interrupted = any(result["status"] == "interrupted" for result in done)
    if not interrupted:
        try:
            supervised = _beside_supervised(request, data, problem, solutions, done)
        except KeyboardInterrupt:
            interrupted = True
            warn("interrupted: without the supervised SVM beside")
        except Exception as error:  # whatever it is, what the methods have found is shown
            warn(f"the supervised SVM beside: {str(error) or type(error).__name__}")
    if request.json:
        found = {"data": data.name, "classes": data.known, "results": results, "agreement": agreement}
        print_json({**found, "supervised": supervised})
    else:
        print(heading)
        below = _below(tasks, results, supervised, agreement)
        print_table(results if supervised is None else [*results, supervised], below)
    write_plot(lambda: _picture(data, tasks, solutions), request.plot, request.json)
    return 0 if supervised is not None and all(result["status"] in SOLVED_STATUSES for result in results) else 1


def _below(
    tasks: list[Task],
    results: list[dict[str, Any]],
    supervised: dict[str, Any] | None,
    agreement: list[dict[str, Any]],
) -> list[str]:
    """What is said of a table below it."""
    lines = stopped(results)
    if supervised is not None and any(task.formulation == "svm" for task in tasks):
        lines.append(f"svm is fitted with the balance asked for, as all methods are; the {SUPERVISED} has none")
    return (
        lines
        + compilation()
        + [
            f"{line['method']}: {' and '.join(line['solvers'])} agree on the objective to "
            f"{line['objective_difference']:.1e} and differ on {line['labels_different']} labels"
            for line in agreement
        ]
    )


def _solved(
    request: Compare, tasks: list[Task], data: Data, problem: Problem
) -> tuple[dict[tuple[Task, str], Solution], list[dict[str, Any]]]:
    """Solutions by method and solver, and a row for each pair; what fails has a row that says why.

    Ctrl-C ends the comparison with what there is; where there is nothing, the first error or Ctrl-C is raised.
    """
    solutions: dict[tuple[Task, str], Solution] = {}
    results: list[dict[str, Any]] = []
    first: BaseException | None = None
    for task in tasks:
        for solver in task.solvers_of(request.solvers):
            began = time.perf_counter()
            try:
                solution = solved(request, task, problem, solver)
                results.append(result_of(data, solution, task, solver))
                solutions[task, solver] = solution
            except (Exception, KeyboardInterrupt) as error:  # whatever it is, the other methods are shown
                first = first or error
                results.append(failure_of(error, problem, task, solver, time.perf_counter() - began))
            if results[-1]["status"] == "interrupted":
                return solutions, results
    if first is not None and not solutions:
        raise first
    return solutions, results


def _agreement(
    request: Compare, tasks: list[Task], solutions: dict[tuple[Task, str], Solution]
) -> list[dict[str, Any]]:
    """How far several solvers of one method are apart."""
    lines = []
    for task in tasks:
        solvers = [solver for solver in task.solvers_of(request.solvers) if (task, solver) in solutions]
        found = [solutions[task, solver] for solver in solvers]
        if len(found) < 2:
            continue
        objectives = np.array([solution.objective for solution in found])
        lines.append(
            {
                "method": task.name,
                "solvers": [one.solver if name == "auto" else name for name, one in zip(solvers, found, strict=True)],
                "objective_difference": float(np.ptp(objectives) / max(1.0, abs(objectives[0]))),
                "labels_different": int((found[0].labels != found[1].labels).sum()),
            }
        )
    return lines


def _picture(data: Data, tasks: list[Task], solutions: dict[tuple[Task, str], Solution]) -> Any:
    """All solutions, with their solvers in their names where a method has several."""
    several = len(solutions) > len(tasks)
    return plotting.plot_comparison(
        data, {f"{m.name} ({s})" if several else m.name: one for (m, s), one in solutions.items()}
    )


def _beside_supervised(
    request: Compare,
    data: Data,
    problem: Problem,
    solutions: dict[tuple[Task, str], Solution],
    results: list[dict[str, Any]],
) -> dict[str, Any]:
    """The row of the SVM that has the labelled points only; results are told how much they agree with it.

    Both get their error at labelled points that were left out (cross-validation).
    """
    first = next((task for task, _ in solutions if task.formulation != "svm"), next(iter(solutions))[0])
    formulation, formulated_problem = formulated(request, first, problem)
    alone = supervised_svms(formulation, [formulated_problem])[0]
    folds = _folds(request, problem)
    errors: dict[Task, float | None] = {}
    for (task, solver), solution, result in zip(solutions, solutions.values(), results, strict=True):
        if task not in errors:
            one = partial(solved, request, task, solver=solver)
            with limited(request.time_limit):
                errors[task] = _left_out_error(one, problem, folds) if METHODS[task.method].is_descent else None
        result["agreement"] = _share_alike(problem, solution.labels, alone.labels)
        result["left_out_error"] = errors[task]
    return figures_of(
        data.error(alone.labels),
        problem,
        method=SUPERVISED,
        solver=alone.solver,
        objective=_objective(request, solutions, formulation, formulated_problem, alone),
        iterations=alone.n_iter,
        seconds=alone.seconds,
        status=alone.status,
        step_duality_gap=None,
        agreement=1.0,
        left_out_error=_left_out_error(lambda part: supervised_svms(formulation, [part])[0], formulated_problem, folds),
    )


def _objective(
    request: Compare,
    solutions: dict[tuple[Task, str], Solution],
    formulation: Any,
    problem: Problem,
    alone: Solution,
) -> float | None:
    """What the others minimize, at the supervised SVM, if they all minimize the same."""
    kinds = {(task.formulation, task.loss(request.loss)) for task, _ in solutions if task.formulation != "svm"}
    if len(kinds) != 1:
        return None
    return float(Instance(formulation, problem).objective(alone.scores, alone.regularization))


def _folds(request: Compare, problem: Problem) -> list[NDArray[np.intp]]:
    """Labelled points that are left out together; none if there are too few."""
    from ..selection.splits import LabeledKFold  # which loads scikit-learn, and that takes a second

    y = problem.y
    if request.folds < 2 or min((y > 0).sum(), (y < 0).sum()) < 2:
        return []
    splitter = LabeledKFold.at_most(request.folds, y[y != 0], random_state=request.random_state, unlabeled=0)
    return [test for _, test in splitter.split(y, y)]


def _left_out_error(
    solution_of: Callable[[Problem], Solution], problem: Problem, folds: list[NDArray[np.intp]]
) -> float | None:
    """Error at labelled points that count as unlabelled ones, in [0, 1]; None without folds, or without the time."""
    if not folds:
        return None
    wrong = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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


def _share_alike(problem: Problem, labels: NDArray[np.float64], others: NDArray[np.float64]) -> float | None:
    """The share of the unlabelled points with the same labels."""
    unlabeled = problem.unlabeled
    return float((labels[unlabeled] == others[unlabeled]).mean()) if len(unlabeled) else None
