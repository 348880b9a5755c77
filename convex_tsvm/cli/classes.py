"""More than two classes: each against the rest, and for every point the class with the largest output."""

from __future__ import annotations

import numpy as np

from ..data import load_classes
from ..decision import chosen_classes
from ..formulations import tsvm
from .files import print_json, write_class_labels
from .requests import Solve
from .solving import given_problem, limited, save, solved, with_shares
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
        together = figures_of(
            error,
            first,
            method=task.name,
            formulation=task.formulation,
            solver=rows[0]["solver"],
            objective=float(np.mean([row["objective"] for row in rows])),
            iterations=max(row["iterations"] for row in rows),
            seconds=sum(row["seconds"] for row in rows),
            status=status,
            classes=rows,
        )
        print_json(together)
    else:
        print(
            f"{data.name}: {first.n_labeled} labelled and {first.n_unlabeled} unlabelled points, "
            f"{len(data.classes)} classes, each against the rest, {first.kernel}\n{data.counts}{told}"
        )
        total = "" if error is None else f"error of all classes together {error:.2%}"
        print_table(rows, [*stopped(rows), total])
    if request.labels_out:
        write_class_labels(request.labels_out, labels, scores.max(axis=1))
    if request.save:
        save(request.save, data, task, solutions)
    return 0 if not unsolved else 1
