"""What the commands do."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plot
from ..data import Data, SeveralClasses, load_classes, load_new
from ..deadline import time_left, until, within
from ..decision import chosen_classes
from ..files import as_text
from ..formulations import Formulation, build, tsvm
from ..persistence import load_model
from ..problem import Problem
from ..progress import status_line
from ..solution import Solution
from ..table import FORMULATIONS
from ..text import one_spelling
from . import solving, table
from .options import Task, read_task
from .requests import Bound, Derive, Predict, Solve, Verify

if TYPE_CHECKING:
    from ..exact.incumbent import BestLabels
    from ..relaxations import Bound as LowerBound
    from ..relaxations import LowerBoundBuilder, Stage
    from ..verification import Grade


def solve(request: Solve) -> int:
    """Fit one method; print its figures."""
    task = read_task(request.method, request.formulation)
    solving.refuse_unused(request, [task])
    files = {"certificate": request.certificate, "checkpoint": request.checkpoint, "plot": request.plot}
    for name, path in files.items():
        if path is not None and name != "plot" and task.method != "exact":
            raise ValueError(f"{name}={path!r} is for --method exact, not --method {request.method}")
    try:
        data, problem, heading = solving.given(request)
    except SeveralClasses:
        for name, path in files.items():
            if path is not None:
                raise ValueError(f"{name}={path!r} is for two classes; say which count as +1 with positive") from None
        return solve_classes(request, task)
    solver = task.solver_of(*request.solvers)
    solution = solving.solved(request, task, problem, solver)
    result = {**table.result_of(data, solution, task, solver), "classes": data.known}
    if request.json:
        table.print_json(result)
    else:
        print(heading)
        proven = str(solution.certificate()) if task.method != "exact" else _proven(solution)
        table.print_table([result], [*table.stopped([result]), proven])
    # Files come last: if one cannot be written after all, the result has been printed.
    table.write_plot(lambda: _picture(data, solution), request.plot, request.json)
    if request.labels_out:
        table.write_labels(request.labels_out, solution.labels, solution.scores, data.classes)
    if request.save:
        solving.save(request.save, data, task, [solution], loss=task.loss(request.loss), s=request.s)
    return 0 if solution.status in table.SOLVED_STATUSES else 1


def _proven(solution: Solution) -> str:
    """What an exact search has proven."""
    proven = f"no solution has an objective below {solution.lower_bound:.8g}, proven in {solution.n_iter} nodes"
    if solution.lower_bound == -np.inf:
        proven = "nothing was proven yet when the search ended"
    return f"objective: of the solution found; lower bound: {proven}"


def _picture(data: Data, solution: Solution) -> Any:
    """The tree of an exact search that has one, else boundaries or iterations."""
    from ..exact import ExactSolution

    if isinstance(solution, ExactSolution):
        return plot.search(solution)
    return plot.comparison(data, {solution.formulation.name or "solution": solution})


def bound(request: Bound) -> int:
    """Bound the optimum from below; print what every relaxation gives."""
    from ..exact.contest import Schedule
    from ..exact.incumbent import BestLabels
    from ..relaxations import LowerBoundBuilder

    began, task = time.perf_counter(), read_task("cccp", request.formulation)
    solving.refuse_unused(request, [task], never=("tol", "max_iter", "annealing", "cache_size"))
    data, problem, heading = solving.given(request)
    builder = LowerBoundBuilder(
        solving.formulated(request, task, problem)[0],
        problem,
        relaxation=request.relaxation,
        solver=request.solver,
        gap=1e-6,  # relative to the objective of the labels that were found: the bound is tight then
        max_rounds=request.rounds,
    )
    if not request.json:
        print(heading)

    incumbent, seconds_for_labels = None, 10.0
    with within(request.time_limit):
        if builder.is_about_labels:
            with until(time.time() + min(seconds_for_labels, Schedule().share_for_labels * time_left())):
                incumbent = BestLabels(builder.model)
                incumbent.begin()
        found = _bounded(request, builder, incumbent)
    result = table.figures_of(
        data.error(problem.y if found.labels is None else found.labels),
        problem,
        method="bound",
        relaxation=builder.relaxation,
        solver=request.solver,
        objective=found.upper,
        lower_bound=found.value,
        gap=found.gap,
        iterations=len(found.stages),
        seconds=time.perf_counter() - began,
        status="converged" if found.status == "optimal" else found.status,
        classes=data.known,
    )
    told = (
        f"best objective known {found.upper:.8g}, lower bound {found.value:.8g}, gap {found.gap:.2%}\n"
        "(lower bound: no solution has a lower objective, whatever rounding has done; as the solver has it: "
        "the value that the solver reports, to its tolerance)"
    )
    table.say(request, told, result)
    table.write_plot(lambda: plot.gaps(found), request.plot, request.json)
    return 0 if result["status"] in table.SOLVED_STATUSES else 1


def _bounded(request: Bound, builder: LowerBoundBuilder, incumbent: BestLabels | None) -> LowerBound:
    """The bound, with a line for every relaxation when it is done."""
    n_labeled = builder.instance.problem.n_labeled
    with status_line(lambda: "bound") as progress:

        def tell(stage: Stage) -> None:
            text = (
                f"{stage.name:9s}  lower bound {stage.bound:.8g}, as the solver has it {stage.relaxed:.8g}, "
                f"{stage.n_cuts} cuts, {stage.n_fixed - n_labeled} labels proven, {stage.seconds:.2f} s, {stage.status}"
            )
            if not request.json:
                print(text)
            if progress is not None:
                progress.tell(f"{stage.name}: lower bound {stage.bound:.8g} after {stage.seconds:.2f} s")

        return builder.bound(incumbent=incumbent, callback=tell)


def verify(request: Verify) -> int:
    """Check the derivation on the data, a certificate, or the statements of a paper."""
    from ..exact.files import is_search

    if request.lesson is not None:
        return _verify_lesson(request, request.lesson)
    if request.paper is not None:
        return _verify_paper(request, request.paper)
    for name in ("derivation", "exercise", "grade", "seed"):
        if name in request.told:
            given = f"{name}={getattr(request, name)!r}"
            raise ValueError(f"{given} is of a paper or a lesson; say which with --paper or --lesson")
    if not request.data:
        raise ValueError("DATA is missing: a data set, a certificate, or --paper NAME")
    if Path(request.data).is_file() and is_search(request.data):
        if request.plot:
            raise ValueError(f"plot={request.plot!r} is for a derivation; --html shows a certificate")
        return _verify_certificate(request)
    for name in ("rigorous", "html", "trim", "of_data"):
        if getattr(request, name):
            missing = Path(request.data).suffix == ".npz" and not Path(request.data).exists()
            why = "there is no such file" if missing else "it is none, or damaged"
            raise ValueError(f"{name.removeprefix('of_')} is for certificates; DATA={request.data!r}: {why}")
    return _verify_derivation(request)


def _verify_derivation(request: Verify) -> int:
    """Check the derivation of a formulation on the labelled points and some of the others."""
    from ..losses import SplitLoss
    from ..verification import verify as check

    task = read_task(request.method, request.formulation)
    # Rows of kernels are kept for the graph of neighbours only.
    kept = () if "cache_size" in FORMULATIONS[task.formulation].options else ("cache_size",)
    solving.refuse_unused(request, [task], never=("tol", "max_iter", "annealing", *kept))
    if "balance" not in request.told:
        request = replace(request, balance="labeled")  # a derivation holds for any balance
    data, problem, _ = solving.given(request)
    if request.points < problem.n_labeled + 1:
        raise ValueError(f"points={request.points} must exceed the {problem.n_labeled} labelled points")
    keep = np.sort(np.concatenate([problem.labeled, problem.unlabeled[: request.points - problem.n_labeled]]))
    if len(keep) < problem.n:
        problem = solving.given_problem(request, replace(data, X=data.X[keep], y=data.y[keep], truth=data.truth[keep]))
    formulation, problem = solving.formulated(request, task, problem)
    report = check(formulation, problem)
    table.say(request, report, report.to_dict())
    loss: Any = formulation.labeled if formulation.unlabeled is None else formulation.unlabeled
    surrogate_at = 0.5 if isinstance(loss, SplitLoss) else None
    table.write_plot(lambda: plot.loss(loss, at=surrogate_at), request.plot, request.json)
    return 0 if report.passed else 1


def _verify_lesson(request: Verify, number: int) -> int:
    """Write the sheet of a lesson, and the key to it; or grade sheets."""
    from ..verification.statements.course import lesson

    if request.data or request.paper:
        raise ValueError("--lesson has papers and problems of its own")
    solving.refuse_all_but(request, ("lesson", "derivation", "exercise", "grade", "seed"), "--lesson")
    made = lesson(number)
    if request.grade:
        solving.refuse_all_but(request, ("lesson", "grade", "seed"), "--lesson with --grade")
        return _grade(request, {path: made.marks(path, request.seed) for path in request.grade})
    if request.seed is not None:
        raise ValueError(f"seed={request.seed} is for the problems of --grade")
    if not (request.derivation or request.exercise):
        raise ValueError(
            "--lesson: say where the sheet goes with --exercise FILE, and the key with --derivation FILE, "
            "or which sheets to grade with --grade FILE"
        )
    return _write_sheets(request.derivation, request.exercise, lambda exercise: made.sheet(exercise=exercise))


def _grade(request: Verify, marks: dict[str, list[tuple[str, Grade]]]) -> int:
    """Say what is right in filled-in sheets, by file."""
    lines, figures = [], []
    for path, graded in marks.items():
        right = sum(grade.right for _, grade in graded)
        lines += [f"{path}: {right} of {len(graded)} right"]
        lines += [f"  {name}: {grade.reason}" for name, grade in graded if not grade]
        answers = [{"of": name, "right": grade.right, "reason": grade.reason} for name, grade in graded]
        figures.append({"file": path, "right": right, "answers": answers})
    table.say(request, "\n".join(lines), figures)
    return 0


def _write_sheets(whole: str | None, exercise: str | None, cells: Callable[[bool], list[dict[str, Any]]]) -> int:
    """Write the notebooks that are asked for: with the right-hand sides, and without."""
    from ..verification.report import write_notebook

    for path, is_exercise in ((whole, False), (exercise, True)):
        if path:
            write_notebook(cells(is_exercise), path)
    return 0


def _verify_paper(request: Verify, name: str) -> int:
    """Run the statements of a paper, or of all; or write its derivation."""
    from ..verification.statements import PAPERS, paper

    if request.data:
        raise ValueError(f"DATA={request.data!r}: --paper has problems of its own")
    if request.rigorous:
        raise ValueError("rigorous is for certificates, not for --paper")
    solving.refuse_all_but(request, ("paper", "derivation", "exercise"), f"--paper {name}")
    papers = [paper(one) for one in (PAPERS if name == "all" else (name,))]
    if request.derivation or request.exercise:
        if len(papers) > 1:
            raise ValueError("paper='all': a notebook is of one paper")
        return _write_sheets(request.derivation, request.exercise, lambda exercise: papers[0].cells(exercise=exercise))
    reports = [made.run() for made in papers]
    found = [report.to_dict() for report in reports]
    table.say(request, "\n\n".join(map(str, reports)), found if name == "all" else found[0])
    return 0 if all(report.passed for report in reports) else 1


def _verify_certificate(request: Verify) -> int:
    from ..exact import certificate_page, prove_certificate, trim_certificate
    from ..exact.files import read_search

    mine: tuple[Formulation, Problem] | tuple[()] = ()
    if request.of_data is None:
        solving.refuse_all_but(request, ("html", "trim"), f"the certificate {request.data!r}")
    else:  # what ``solve --method exact`` would make of the data and the options
        own = replace(request, data=request.of_data)
        stated = solving.formulated(own, read_task("exact", own.formulation), solving.given(own)[1])
        mine = (stated.formulation, stated.problem)
    try:
        read_search(request.data)  # raises ValueError for what is no certificate at all
        verdict = prove_certificate(request.data, *mine)
        if request.html:
            certificate_page(request.data, request.html)
        table.say(request, verdict, {**asdict(verdict), "gap": verdict.gap})
        if request.trim:
            trimmed = trim_certificate(request.data, request.trim)
            if not request.json:
                print(trimmed)
    except ImportError as error:
        raise ValueError(str(error)) from None
    return 0 if verdict.holds else 1


def predict(request: Predict) -> int:
    """Label points with a saved model."""
    model = load_model(request.model)
    solving.refuse_of_other_files(request)
    names, two = as_text(model.classes).tolist(), len(model.classes) == 2
    if request.positive and not two:
        raise ValueError(f"positive={','.join(request.positive)!r} is for models of two classes")
    # A name may be that of several classes; other names than the model's are those of --positive and any others.
    each = [list(dict.fromkeys([name, *name.split(",")])) if two else [name] for name in names]
    known = [] if request.positive else [name for part in each for name in part]
    shown = {name: getattr(request, name) for name in ("label_column", "unlabeled", "zero_based")}
    X, said = load_new(request.data, model, classes=known, **shown)
    scores = model(X)
    chosen = chosen_classes(scores)
    labels, truth = np.array(names)[chosen], said
    if two:
        positive = list(request.positive or each[1])
        is_positive = np.isin(one_spelling(said, positive)[0], positive)  # as text or as numbers
        truth = np.where(said == "", "", np.where(is_positive, names[1], names[0]))
    if request.labels_out and two:
        table.write_labels(request.labels_out, 2 * chosen - 1, scores.ravel(), names)
    elif request.labels_out:
        table.write_class_labels(request.labels_out, labels, scores.max(axis=1))
    labeled = truth != ""
    error = float(np.mean(labels[labeled] != truth[labeled])) if labeled.any() else None
    counts = {name: int((labels == name).sum()) for name in names}
    each_count = ", ".join(f"{count} {name}" for name, count in counts.items())
    told = f"{len(labels)} points" + (f", {counts[names[1]]} of them positive" if two else f": {each_count}")
    told += "" if error is None else f", error {error:.4f}"
    found = {"n_positive": counts[names[1]]} if two else {"classes": counts}
    table.say(request, told, {"n": len(labels), **found, "error": error})
    return 0


def solve_classes(request: Solve, task: Task) -> int:
    """Fit one method to every class against the rest; print a row for each, and the error of all together."""
    data = load_classes(request.data, **request.shown)
    tsvm(task.loss(request.loss), s=request.s)
    if not (request.balance is None or isinstance(request.balance, str)):
        raise ValueError(
            f"balance={request.balance!r}: with {len(data.classes)} classes it must be 'auto', 'labeled' or none"
        )
    first = solving.given_problem(request, data.against_the_rest(0))
    solver = task.solver_of(*request.solvers)
    solutions, rows = [], []
    parts = [data.against_the_rest(k) for k in range(len(data.classes))]
    with within(request.time_limit):  # of all classes together
        problems, told = solving.with_shares(request, data.classes, [first.replace(y=part.y) for part in parts])
        for name, part, problem in zip(data.classes, parts, problems, strict=True):
            solution = solving.solved(request, task, problem, solver)
            solutions.append(solution)
            rows.append({**table.result_of(part, solution, task, solver), "method": f"{task.name}: {name}"})
            if solution.status == "interrupted":
                raise KeyboardInterrupt(f"class {name} was not learned: nothing is kept")
    scores = np.column_stack([solution.scores for solution in solutions])
    labels = np.where(data.labels == "", np.array(data.classes)[chosen_classes(scores)], data.labels)
    error = data.error(labels)
    unsolved = [row for row in rows if row["status"] not in table.SOLVED_STATUSES]
    if request.json:
        together = table.figures_of(
            error,
            first,
            method=task.name,
            formulation=task.formulation,
            solver=rows[0]["solver"],
            objective=float(np.mean([row["objective"] for row in rows])),
            iterations=max(row["iterations"] for row in rows),
            seconds=sum(row["seconds"] for row in rows),
            status=[*unsolved, *rows][0]["status"],
            classes=rows,
        )
        table.print_json(together)
    else:
        print(
            f"{data.name}: {first.n_labeled} labelled and {first.n_unlabeled} unlabelled points, "
            f"{len(data.classes)} classes, each against the rest, {first.kernel}\n{data.counts}{told}"
        )
        total = "" if error is None else f"error of all classes together {error:.2%}"
        table.print_table(rows, [*table.stopped(rows), total])
    if request.labels_out:
        table.write_class_labels(request.labels_out, labels, scores.max(axis=1))
    if request.save:
        solving.save(request.save, data, task, solutions)
    return 0 if not unsolved else 1


def derive(request: Derive) -> int:
    """Print a derivation, and prove it."""
    from ..verification import derive as derived

    options = dict(request.formulation_option)
    # Costs and points have no influence on a derivation, which is for all of them.
    problem = Problem([[-1.0], [-0.5], [0.5], [1.0]], [-1, 0, 0, 1], C=1.0)
    made = derived(build(request.formulation, problem, **options).formulation, request.of)
    report = made.prove()
    lines = [str(made.first), *(str(one.after) for one in made)]
    figures = {"title": made.title, "proven": report.proven, "lines": lines, "how": [step.how for step in report.steps]}
    table.say(request, f"{made}\n\n{report}", figures)
    for path, text in ((request.latex, made.latex), (request.html, made.html)):
        if path is not None:
            Path(path).write_text(text() + "\n", encoding="utf-8")
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    code = f"ct.build({request.formulation!r}, ct.Problem([[-1.0], [-0.5], [0.5], [1.0]], [-1, 0, 0, 1], C=1.0){given})"
    code = f"ct.derive({code}.formulation, {request.of!r})"
    _write_sheets(request.notebook, request.exercise, lambda exercise: made.cells(code, exercise=exercise))
    return 0 if report.passed else 1
