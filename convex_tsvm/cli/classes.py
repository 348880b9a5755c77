"""More than two classes: each against the rest, and for every point the class with the largest output."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import load_classes
from ..decision import chosen_classes
from ..formulations import tsvm
from ..persistence import FittedModel, save_model
from ..problem import Problem
from .files import print_json, write_class_labels
from .requests import Solve
from .solving import given_problem, limited, of_data, solved, with_shares
from .table import SOLVED_STATUSES, figures_of, print_table, result_of, stopped
from .tasks import Task


def solve_classes(request: Solve, task: Task) -> int:
    """Fit one method to every class against the rest; print a row for each, and the error of all together."""
    data = load_classes(request.data, **request.shown)
    tsvm(task.loss(request.loss), s=request.s)
    if not (request.balance is None or isinstance(request.balance, str)):
        raise ValueError(
            f"balance={request.balance!r}: with {len(data.classes)} classes it must be 'auto', 'labeled' or none"
        )
    first = given_problem(request, data.against_the_rest(0))
    solver = task.solver_of(*request.solvers)
    solutions, rows = [], []
    parts = [data.against_the_rest(k) for k in range(len(data.classes))]
    with limited(request.time_limit):  # of all classes together
        problems, told = with_shares(request, data.classes, [first.replace(y=part.y) for part in parts])
        for name, part, problem in zip(data.classes, parts, problems, strict=True):
            solution = solved(request, task, problem, solver)
            solutions.append(solution)
            rows.append({**result_of(part, solution, task, solver), "method": f"{task.name}: {name}"})
            if solution.status == "interrupted":
                raise KeyboardInterrupt(f"class {name} was not learned: nothing is kept")
    scores = np.column_stack([solution.scores for solution in solutions])
    labels = np.where(data.labels == "", np.array(data.classes)[chosen_classes(scores)], data.labels)
    error = data.error(labels)
    unsolved = [row["status"] for row in rows if row["status"] not in SOLVED_STATUSES]
    status = unsolved[0] if unsolved else str(rows[0]["status"])
    if request.json:
        print_json(_together(task, rows[0]["solver"], first, rows, error, status))
    else:
        print(
            f"{data.name}: {first.n_labeled} labelled and {first.n_unlabeled} unlabelled points, "
            f"{len(data.classes)} classes, each against the rest, {first.kernel}\n{data.counts}{told}"
        )
        print_table(rows)
        if line := stopped(rows):
            print(line)
        print("" if error is None else f"error of all classes together {error:.2%}")
    if request.labels_out:
        write_class_labels(request.labels_out, labels, scores.max(axis=1))
    if request.save:
        parameters = {"data": data.name, "method": task.name, "formulation": task.formulation}
        fitted = FittedModel.from_solutions(solutions, np.array(data.classes), parameters)
        save_model(replace(fitted, **of_data(data)), request.save)
    return 0 if not unsolved else 1


def _together(
    task: Task, solver: str, problem: Problem, rows: list[dict[str, Any]], error: float | None, status: str
) -> dict[str, Any]:
    """The figures of all classes together, with those of each."""
    return figures_of(
        error,
        problem,
        method=task.name,
        formulation=task.formulation,
        solver=solver,
        objective=float(np.mean([row["objective"] for row in rows])),
        lower_bound=None,
        gap=None,
        iterations=max(row["iterations"] for row in rows),
        seconds=sum(row["seconds"] for row in rows),
        status=status,
        classes=rows,
    )
