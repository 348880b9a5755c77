"""What the commands do."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Data, SeveralClasses, class_names, load_new, same_class
from ..deadline import time_left, until
from ..decision import chosen_classes
from ..formulations import Formulation
from ..persistence import FittedModel, load_model, save_model
from ..problem import Problem
from ..progress import status_line
from ..solution import Solution
from .classes import solve_classes
from .files import print_json, write_class_labels, write_labels, write_plot
from .given import given, of_data
from .table import SOLVED_STATUSES, figures_of, print_table, result_of, stopped
from .tasks import asked_solvers, check_method_options, formulated, given_problem, limited, read_task, solved
from .unused import refuse_all_but, refuse_of_other_files, refuse_unused

if TYPE_CHECKING:
    from ..exact.incumbent import BestLabels
    from ..relaxations import Bound, LowerBoundBuilder, Stage

#: Seconds at most that ``bound`` searches for labels, and the relative gap to their objective at which it is done.
SECONDS_FOR_LABELS, CLOSED_GAP = 10.0, 1e-6


def solve(options: argparse.Namespace) -> int:
    """Fit one method; print its figures."""
    task = read_task(options.method, options.formulation)
    check_method_options(options, [task])
    refuse_unused(options, [task])
    files = {name: getattr(options, name) for name in ("certificate", "checkpoint")}
    for name, path in files.items():
        if path is not None and task.method != "exact":
            raise ValueError(f"{name}={path!r} is for --method exact, not --method {options.method}")
    files["plot"] = options.plot
    try:
        data, problem, heading = given(options)
    except SeveralClasses:
        for name, path in files.items():
            if path is not None:
                raise ValueError(f"{name}={path!r} is for two classes; say which count as +1 with positive") from None
        return solve_classes(options, task)
    solver = task.solver_of(*asked_solvers(options))
    solution = solved(options, task, problem, solver)
    result = {**result_of(data, solution, task, solver), "classes": data.known}
    if options.json:
        print_json(result)
    else:
        print(heading)
        print_table([result])
        if line := stopped([result]):
            print(line)
        if task.method == "exact":
            proven = f"no solution has an objective below {solution.lower_bound:.8g}, proven in {solution.n_iter} nodes"
            if solution.lower_bound == -np.inf:
                proven = "nothing was proven yet when the search ended"
            print(f"objective: of the solution found; lower bound: {proven}")
        else:
            print(solution.certificate())
    # Files come last: if one cannot be written after all, the result has been printed.
    write_plot(lambda: _picture(data, solution), options.plot, options.json)
    if options.labels_out:
        write_labels(options.labels_out, solution.labels, solution.scores, data.classes)
    if options.save:
        parameters = {
            "data": data.name,
            "method": task.name,
            "formulation": task.formulation,
            "loss": task.loss(options.loss),
            "s": options.s,
        }
        fitted = FittedModel.from_solutions([solution], np.array(data.classes), parameters)
        save_model(replace(fitted, **of_data(data)), options.save)
    return 0 if solution.status in SOLVED_STATUSES else 1


def _picture(data: Data, solution: Solution) -> Any:
    """The tree of an exact search that has one, else boundaries or iterations."""
    from ..exact import ExactSolution
    from ..plotting import plot_comparison, plot_search

    if isinstance(solution, ExactSolution):
        return plot_search(solution)
    return plot_comparison(data, {solution.formulation.name or "solution": solution})


def bound(options: argparse.Namespace) -> int:
    """Bound the optimum from below; print what every relaxation gives."""
    from ..exact.contest import SHARE_FOR_LABELS
    from ..exact.incumbent import BestLabels
    from ..relaxations import LowerBoundBuilder

    began, task = time.perf_counter(), read_task("cccp", options.formulation)
    refuse_unused(options, [task], never=("tol", "max_iter", "annealing", "cache_size"))
    data, problem, heading = given(options)
    builder = LowerBoundBuilder(
        formulated(options, task, problem)[0],
        problem,
        relaxation=options.relaxation,
        solver=options.solver,
        gap=CLOSED_GAP,
        max_rounds=options.rounds,
    )
    if not options.json:
        print(heading)

    incumbent = None
    with limited(options):
        if builder.is_about_labels:
            with until(time.time() + min(SECONDS_FOR_LABELS, SHARE_FOR_LABELS * time_left())):
                incumbent = BestLabels(builder.model)
                incumbent.begin()
        found = _bounded(options, builder, incumbent)
    result = figures_of(
        data.error(problem.y if found.labels is None else found.labels),
        problem,
        method="bound",
        relaxation=builder.relaxation,
        solver=options.solver,
        objective=found.upper,
        lower_bound=found.value,
        gap=found.gap,
        iterations=len(found.stages),
        seconds=time.perf_counter() - began,
        status="converged" if found.status == "optimal" else found.status,
        classes=data.known,
    )
    if options.json:
        print_json(result)
    else:
        print(f"best objective known {found.upper:.8g}, lower bound {found.value:.8g}, gap {found.gap:.2%}")
        print(
            "(lower bound: no solution has a lower objective, whatever rounding has done; as the solver has it: "
            "the value that the solver reports, to its tolerance)"
        )
    write_plot(lambda: _staircase(found), options.plot, options.json)
    return 0 if result["status"] in SOLVED_STATUSES else 1


def _bounded(options: argparse.Namespace, builder: LowerBoundBuilder, incumbent: BestLabels | None) -> Bound:
    """The bound, with a line for every relaxation when it is done."""
    n_labeled = builder.instance.problem.n_labeled
    with status_line(lambda: "bound") as progress:

        def tell(stage: Stage) -> None:
            text = (
                f"{stage.name:9s}  lower bound {stage.bound:.8g}, as the solver has it {stage.relaxed:.8g}, "
                f"{stage.n_cuts} cuts, {stage.n_fixed - n_labeled} labels proven, {stage.seconds:.2f} s, {stage.status}"
            )
            if not options.json:
                print(text)
            if progress is not None:
                progress.tell(f"{stage.name}: lower bound {stage.bound:.8g} after {stage.seconds:.2f} s")

        return builder.bound(incumbent=incumbent, callback=tell)


def _staircase(found: Any) -> Any:
    from ..plotting import plot_gaps

    return plot_gaps(found)


def verify(options: argparse.Namespace) -> int:
    """Check the derivation on the data, a certificate, or the statements of a paper."""
    from ..exact.files import is_search

    written = _verify_written(options)
    if written is not None:
        return written
    if options.data is None:
        raise ValueError("DATA is missing: a data set, a certificate, or --paper NAME")
    if Path(options.data).is_file() and is_search(options.data):
        if options.plot:
            raise ValueError(f"plot={options.plot!r} is for a derivation; --html shows a certificate")
        return _verify_certificate(options)
    _refuse_what_is_for_certificates(options)
    from ..verification import verify as check

    task = read_task(options.method, options.formulation)
    # Rows of kernels are kept for the graph of neighbours only.
    kept = () if task.formulation in ("lapsvm", "laptsvm") else ("cache_size",)
    refuse_unused(options, [task], never=("tol", "max_iter", "annealing", *kept))
    data, problem, _ = given(options)
    if options.points < problem.n_labeled + 1:
        raise ValueError(f"points={options.points} must exceed the {problem.n_labeled} labelled points")
    keep = np.sort(np.concatenate([problem.labeled, problem.unlabeled[: options.points - problem.n_labeled]]))
    if len(keep) < problem.n:
        small = replace(data, X=data.X[keep], y=data.y[keep], truth=data.truth[keep])
        problem = given_problem(options, small)
    formulation, problem = formulated(options, task, problem)
    report = check(formulation, problem)
    _say(options, report, report.to_dict())
    write_plot(lambda: _loss(formulation), options.plot, options.json)
    return 0 if report.passed else 1


def _refuse_what_is_for_certificates(options: argparse.Namespace) -> None:
    """Complain about an option for certificates, where the data are none."""
    for name, dest in (("rigorous", "rigorous"), ("html", "html"), ("trim", "trim"), ("data", "of_data")):
        if getattr(options, dest):
            missing = Path(options.data).suffix == ".npz" and not Path(options.data).exists()
            why = "there is no such file" if missing else "it is none, or damaged"
            raise ValueError(f"{name} is for certificates; DATA={options.data!r}: {why}")


def _verify_written(options: argparse.Namespace) -> int | None:
    """Whatever is of a paper or a lesson, and not of data; None if nothing is."""
    if options.lesson is not None:
        return _verify_lesson(options)
    if options.paper is not None:
        return _verify_paper(options)
    for name in ("derivation", "exercise"):
        if getattr(options, name):
            told = f"{name}={getattr(options, name)!r}"
            raise ValueError(f"{told} is of a paper or a lesson; say which with --paper or --lesson")
    return None


def _verify_lesson(options: argparse.Namespace) -> int:
    """Write the sheet of a lesson, and the key to it."""
    from ..verification.statements.course import lesson

    if options.data is not None or options.paper:
        raise ValueError("--lesson has papers and problems of its own")
    refuse_all_but(options, ("lesson", "derivation", "exercise"), "--lesson")
    made = lesson(options.lesson)
    if not (options.derivation or options.exercise):
        raise ValueError("--lesson: say where the sheet goes with --exercise FILE, and the key with --derivation FILE")
    return _write_sheets(options, lambda exercise: made.sheet(exercise=exercise))


def _write_sheets(options: argparse.Namespace, contents: Callable[[bool], dict[str, Any]]) -> int:
    """Write the notebooks that are asked for: with the right-hand sides, and without."""
    from ..verification.statements.notebook import write_notebook

    files = {name: getattr(options, name) for name in ("derivation", "exercise")}
    for name, path in files.items():
        if path:
            write_notebook(contents(name == "exercise"), path)
    return 0


def _verify_paper(options: argparse.Namespace) -> int:
    """Run the statements of a paper, or of all; or write its derivation."""
    from ..verification.statements import PAPERS, paper

    if options.data is not None:
        raise ValueError(f"DATA={options.data!r}: --paper has problems of its own")
    if options.rigorous:
        raise ValueError("rigorous is for certificates, not for --paper")
    refuse_all_but(options, ("paper", "derivation", "exercise"), f"--paper {options.paper}")
    names = PAPERS if options.paper == "all" else (options.paper,)
    papers = [paper(name) for name in names]
    if options.derivation or options.exercise:
        from ..verification.statements.notebook import notebook

        if len(papers) > 1:
            raise ValueError("paper='all': a notebook is of one paper")
        return _write_sheets(options, lambda exercise: notebook(papers[0], exercise=exercise))
    reports = [made.run() for made in papers]
    if options.json:
        found = [report.to_dict() for report in reports]
        print_json(found if options.paper == "all" else found[0])
    else:
        print("\n\n".join(str(report) for report in reports))
    return 0 if all(report.passed for report in reports) else 1


def _loss(formulation: Formulation) -> Any:
    """The loss of unlabelled points, or of labelled ones where the others pay nothing, with a surrogate at f = 0.5."""
    from ..losses import SplitLoss
    from ..plotting import plot_loss

    loss = formulation.labeled if formulation.unlabeled is None else formulation.unlabeled
    return plot_loss(loss, at=0.5 if isinstance(loss, SplitLoss) else None)


def _verify_certificate(options: argparse.Namespace) -> int:
    from ..exact import certificate_page, check_certificate, trim_certificate
    from ..exact.files import read_search

    mine: tuple[Formulation, Problem] | tuple[()] = ()
    if options.of_data is None:
        refuse_all_but(options, ("html", "trim"), f"the certificate {options.data!r}")
    else:
        mine = _problem_of(options)
    try:
        read_search(options.data)  # raises ValueError for what is no certificate at all
        verdict = check_certificate(options.data, *mine)
        if options.html:
            certificate_page(options.data, options.html)
        _say(options, verdict, {**asdict(verdict), "gap": verdict.gap})
        if options.trim:
            trimmed = trim_certificate(options.data, options.trim)
            if not options.json:
                print(trimmed)
    except ImportError as error:
        raise ValueError(str(error)) from None
    return 0 if verdict.holds else 1


def _say(options: argparse.Namespace, found: Any, figures: dict[str, Any]) -> None:
    """Print what a check has found, or its figures as JSON if that is asked for."""
    if options.json:
        print_json(figures)
    else:
        print(found)


def _problem_of(options: argparse.Namespace) -> tuple[Formulation, Problem]:
    """The formulation and the problem that ``solve --method exact`` would make of the data and the options."""
    named = argparse.Namespace(**{**vars(options), "data": options.of_data})
    if "balance" not in options.told:
        named.balance = "auto"
    _, problem, _ = given(named)
    stated = formulated(named, read_task("exact", options.formulation), problem)
    return stated.formulation, stated.problem


def predict(options: argparse.Namespace) -> int:
    """Label points with a saved model."""
    model = load_model(options.model)
    refuse_of_other_files(options)
    names, two = class_names(model.classes), len(model.classes) == 2
    if options.positive and not two:
        raise ValueError(f"positive={','.join(options.positive)!r} is for models of two classes")
    # A name may be that of several classes; other names than the model's are those of --positive and any others.
    each = [list(dict.fromkeys([name, *name.split(",")])) if two else [name] for name in names]
    X, said = load_new(
        options.data,
        model,
        classes=[] if options.positive else [name for part in each for name in part],
        label_column=options.label_column,
        unlabeled=options.unlabeled,
        zero_based=options.zero_based,
    )
    scores = model(X)
    chosen = chosen_classes(scores)
    labels, truth = np.array(names)[chosen], said
    if two:
        is_positive = same_class(said, options.positive or each[1])
        truth = np.where(said == "", "", np.where(is_positive, names[1], names[0]))
    if options.labels_out and two:
        write_labels(options.labels_out, 2 * chosen - 1, scores.ravel(), names)
    elif options.labels_out:
        write_class_labels(options.labels_out, labels, scores.max(axis=1))
    known = truth != ""
    error = float(np.mean(labels[known] != truth[known])) if known.any() else None
    counts = {name: int((labels == name).sum()) for name in names}
    if options.json:
        found = {"n_positive": counts[names[1]]} if two else {"classes": counts}
        print_json({"n": len(labels), **found, "error": error})
    else:
        shown = ", ".join(f"{count} {name}" for name, count in counts.items())
        shown = f", {counts[names[1]]} of them positive" if two else f": {shown}"
        print(f"{len(labels)} points{shown}" + ("" if error is None else f", error {error:.4f}"))
    return 0
