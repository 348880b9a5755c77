"""What the commands do."""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Data, load_data, load_points
from ..formulations import Formulation, compact_margin, compactness_weights, relative_margin, svm, tsvm
from ..kernels import laplacian_kernel, make_kernel
from ..methods import cccp
from ..persistence import FittedModel, load_model, save_model
from ..problem import Problem
from ..progress import status_line
from ..solution import Solution
from ..validation import new_file
from .parser import RELAXED

SOLVED = ("converged", "optimal")

#: In place of a solver's name, for methods that do not go by convex steps.
NO_SOLVER = "-"


def solve(options: argparse.Namespace) -> int:
    """Fit one method; print its figures."""
    files = {name: getattr(options, name) for name in ("certificate", "checkpoint")}
    for name, path in files.items():
        if path is not None and options.method != "exact":
            raise ValueError(f"{name}={path!r} is for --method exact, not --method {options.method}")
    _check_outputs(labels_out=options.labels_out, save=options.save, **files)
    data, problem = _given(options)
    solver = NO_SOLVER if options.method in RELAXED else options.solver
    solution = _fit(options, problem, options.method, solver)
    if options.labels_out:
        _write_labels(options.labels_out, solution.labels, solution.scores)
    if options.save:
        parameters = {"data": data.name, "method": options.method, "loss": options.loss, "s": options.s}
        save_model(FittedModel.from_solutions([solution], np.array(data.classes), parameters), options.save)
    result = _result(data, solution, options.method, solver)
    if options.json:
        print(json.dumps(result))
    else:
        print(_heading(data, problem))
        print(_table([result]))
        if options.method == "exact":
            print(f"no labelling has an objective below {solution.lower_bound:.8g}")
        else:
            print(solution.certificate())
    return 0 if solution.status in SOLVED else 1


def compare(options: argparse.Namespace) -> int:
    """Fit every method with every solver; print a table and draw a picture."""
    from ..plotting import check_picture, plot_comparison, save_figure

    _check_outputs(plot=options.plot)
    if options.plot:
        check_picture(options.plot)
    data, problem = _given(options)
    solutions: dict[tuple[str, str], Solution] = {}
    pairs = [(m, s) for m in options.methods for s in (options.solver if m not in RELAXED else [NO_SOLVER])]
    for method, solver in pairs:
        solutions[method, solver] = _fit(options, problem, method, solver)
        if solutions[method, solver].status == "interrupted":
            break  # Ctrl-C ends the comparison; what there is is shown
    results = [_result(data, solution, *key) for key, solution in solutions.items()]
    agreement = _agreement(options, solutions)
    if options.json:
        print(json.dumps({"data": data.name, "results": results, "agreement": agreement}))
    else:
        print(_heading(data, problem))
        print(_table(results))
        for line in agreement:
            print(
                f"{line['method']}: {' and '.join(line['solvers'])} agree on the objective to "
                f"{line['objective_difference']:.1e} and differ on {line['labels_different']} labels"
            )
    if options.plot:
        several = len(options.solver) > 1
        named = {f"{m} ({s})" if several else m: solution for (m, s), solution in solutions.items()}
        save_figure(plot_comparison(data, named), options.plot)
        if not options.json:
            print(f"picture: {options.plot}")
    return 0 if all(solution.status in SOLVED for solution in solutions.values()) else 1


def bound(options: argparse.Namespace) -> int:
    """Bound the optimum from below; print what every relaxation gives."""
    from ..relaxations import LowerBoundBuilder, Stage

    began = time.perf_counter()
    data, problem = _given(options)
    builder = LowerBoundBuilder(
        _formulation(options, "cccp"),
        problem,
        relaxation=options.relaxation,
        solver=options.solver,
        max_rounds=options.rounds,
    )
    if not options.json:
        print(_heading(data, problem))

    def show(stage: Stage) -> None:
        if not options.json:
            print(
                f"{stage.name:9s}  lower bound {stage.bound:.8g}, as the solver has it {stage.relaxed:.8g}, "
                f"{stage.n_cuts} cuts, {stage.n_fixed - problem.n_labeled} labels proven, "
                f"{stage.seconds:.2f} s, {stage.status}"
            )

    incumbent = _fit(options, problem, "cccp", "native")
    found = builder.bound(upper=incumbent.objective, upper_labels=incumbent.labels, callback=show)
    labels = incumbent.labels if found.labels is None else found.labels
    result = _figures(
        data,
        problem,
        labels,
        method="bound",
        relaxation=options.relaxation,
        solver=options.solver,
        objective=found.upper,
        lower_bound=found.value,
        gap=found.gap,
        iterations=len(found.stages),
        seconds=time.perf_counter() - began,
        status="converged" if found.status == "optimal" else found.status,
    )
    if options.json:
        print(json.dumps(result))
    else:
        print(f"best objective known {found.upper:.8g}, lower bound {found.value:.8g}, gap {found.gap:.2%}")
    return 0 if result["status"] in SOLVED else 1


def verify(options: argparse.Namespace) -> int:
    """Check the derivation on the data, or a certificate."""
    from ..exact.files import is_search

    if Path(options.data).is_file() and is_search(options.data):
        return _verify_certificate(options)
    from ..verification import verify as check

    data, problem = _given(options)
    if options.points < problem.n_labeled + 1:
        raise ValueError(f"points={options.points} must exceed the {problem.n_labeled} labelled points")
    keep = np.sort(np.concatenate([problem.labeled, problem.unlabeled[: options.points - problem.n_labeled]]))
    if len(keep) < problem.n:
        small = Data(data.name, data.X[keep], data.y[keep], data.truth[keep], data.classes)
        problem = _problem(options, small)
    report = check(*_task(options, options.method, problem))
    print(json.dumps(report.to_dict()) if options.json else report)
    return 0 if report.passed else 1


def _verify_certificate(options: argparse.Namespace) -> int:
    from ..exact import verify_certificate

    found = verify_certificate(options.data)
    print(json.dumps({**asdict(found), "gap": found.gap}) if options.json else found)
    return 0 if found.holds else 1


def predict(options: argparse.Namespace) -> int:
    """Label points with a saved model."""
    model = load_model(options.model)
    if len(model.classes) != 2:
        raise ValueError(f"MODEL={options.model!r} tells {len(model.classes)} classes apart; predict takes two")
    _check_outputs(labels_out=options.labels_out)
    positive = options.positive or str(model.classes[1]).split(",")
    X, truth = load_points(options.data, model.n_features, positive=positive, label_column=options.label_column)
    scores = model.decision_function(X)
    labels = np.where(scores >= 0, 1.0, -1.0)
    if options.labels_out:
        _write_labels(options.labels_out, labels, scores)
    known = truth != 0
    error = float(np.mean(labels[known] != truth[known])) if known.any() else None
    n_positive = int((labels > 0).sum())
    if options.json:
        print(json.dumps({"n": len(labels), "n_positive": n_positive, "error": error}))
    else:
        print(
            f"{len(labels)} points, {n_positive} of them positive" + ("" if error is None else f", error {error:.4f}")
        )
    return 0


def _given(options: argparse.Namespace) -> tuple[Data, Problem]:
    data = load_data(
        options.data,
        split=options.split,
        splits=options.splits,
        positive=options.positive,
        label_column=options.label_column,
        n_labeled=options.n_labeled,
        random_state=options.random_state,
    )
    _formulation(options, "cccp")  # options that do not fit are reported before any work is done
    return data, _problem(options, data)


def _problem(options: argparse.Namespace, data: Data) -> Problem:
    # The kernel comes second, so that a NaN among the points is not blamed on its gamma.
    plain = Problem(data.X, data.y, C=options.C, C_unlabeled=options.C_unlabeled, balance=options.balance)
    parameters = {"gamma": options.gamma, "sigma": options.sigma, "degree": options.degree, "coef0": options.coef0}
    return plain.replace(kernel=make_kernel(options.kernel, plain.X, **parameters))


def _task(options: argparse.Namespace, method: str, problem: Problem) -> tuple[Formulation, Problem]:
    """What a method minimizes, and the problem as it sees it."""
    if method in ("cmm", "rmm"):
        balance = None if options.balance is None else "linear"
        cost = float(problem.cost[problem.unlabeled[0]]) if options.C_compact is None else options.C_compact
        weights = compactness_weights(problem, cost)
        if method == "cmm":
            return compact_margin(options.epsilon, *weights, s=options.s, balance=balance), problem
        if np.isfinite(cost):
            problem = problem.replace(C_unlabeled=cost)
        return relative_margin(options.epsilon, weights[0], balance=balance), problem
    if method == "lapsvm":
        kernel = laplacian_kernel(problem.kernel, problem.X, options.C_manifold, options.n_neighbors)
        return svm(), problem.replace(kernel=kernel)
    if method == "svm" and problem.positive_count is not None:
        problem = problem.replace(balance=problem.balance_target)
    return _formulation(options, method), problem


def _formulation(options: argparse.Namespace, method: str) -> Formulation:
    balance = None if options.balance is None else "linear"
    if method == "subspace":
        # The paper's setting; the others have a bias.
        return tsvm(options.loss, s=options.s, balance=None, fit_intercept=False)
    formulation = tsvm(options.loss, s=options.s, balance=balance)
    return formulation.supervised() if method == "svm" else formulation


def _fit(options: argparse.Namespace, problem: Problem, method: str, solver: str) -> Solution:
    formulation, problem = _task(options, method, problem)
    if method == "exact":
        return _search(options, formulation, problem)
    if method in RELAXED:
        from ..methods import relaxed

        return getattr(relaxed, f"{method}_transduction")(formulation, problem)
    with status_line(lambda: f"{method} ({solver})") as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore" if options.json else "default")
        return cccp(
            formulation,
            problem,
            solver=solver,
            annealing=options.annealing if method == "cccp" else None,
            tol=options.tol,
            max_iter=options.max_iter,
            cache_size=options.cache_size,
            callback=None if progress is None else progress.step,
            progress=None if progress is None else progress.inner,
        )


def _search(options: argparse.Namespace, formulation: Formulation, problem: Problem) -> Solution:
    from ..exact import exact_search

    with status_line(lambda: "exact") as progress:
        return exact_search(
            formulation,
            problem,
            bounds=options.bounds,
            strategy=options.strategy,
            branching=options.branching,
            gap=options.gap,
            max_nodes=options.max_nodes,
            time_limit=options.time_limit,
            n_jobs=options.n_jobs,
            checkpoint=options.checkpoint,
            certificate=options.certificate,
            callback=None if progress is None else lambda reached: progress.tell(str(reached)),
        )


def _result(data: Data, solution: Solution, method: str, solver: str) -> dict[str, Any]:
    certificate = solution.certificate()
    return _figures(
        data,
        solution.problem,
        solution.labels,
        method=method,
        solver=solver,
        objective=solution.objective,
        lower_bound=solution.lower_bound,
        gap=solution.gap,
        iterations=solution.n_iter,
        seconds=solution.seconds,
        status=solution.status,
        step_duality_gap=certificate.gap,
        step_kkt=certificate.kkt,
    )


def _figures(data: Data, problem: Problem, labels: Any, *, method: str, solver: str, **figures: Any) -> dict[str, Any]:
    """What is printed about labels found for a problem, as JSON or as a row of a table."""
    return {
        "method": method,
        "solver": solver,
        "n_labeled": problem.n_labeled,
        "n_unlabeled": problem.n_unlabeled,
        "error_unlabeled": data.error(labels),
        **figures,
    }


def _agreement(options: argparse.Namespace, solutions: dict[tuple[str, str], Solution]) -> list[dict[str, Any]]:
    """How far several solvers of one method are apart."""
    lines = []
    for method in options.methods:
        found = [solutions[method, solver] for solver in options.solver if (method, solver) in solutions]
        if len(found) < 2:
            continue
        objectives = np.array([solution.objective for solution in found])
        lines.append(
            {
                "method": method,
                "solvers": list(options.solver),
                "objective_difference": float(np.ptp(objectives) / max(1.0, abs(objectives[0]))),
                "labels_different": int((found[0].labels != found[1].labels).sum()),
            }
        )
    return lines


def _heading(data: Data, problem: Problem) -> str:
    negative, positive = data.classes
    return (
        f"{data.name}: {problem.n_labeled} labelled and {problem.n_unlabeled} unlabelled points, "
        f"+1 = {positive}, -1 = {negative}, {problem.kernel}"
    )


#: Columns of the table: heading, key of a result, format.
COLUMNS = (
    ("method", "method", "{}"),
    ("solver", "solver", "{}"),
    ("objective", "objective", "{:.8g}"),
    ("lower bound", "lower_bound", "{:.6g}"),
    ("gap", "gap", "{:.1%}"),
    ("duality gap of the last step", "step_duality_gap", "{:.0e}"),
    ("error", "error_unlabeled", "{:.2%}"),
    ("steps", "iterations", "{}"),
    ("seconds", "seconds", "{:.3f}"),
    ("status", "status", "{}"),
)


def _table(results: list[dict[str, Any]]) -> str:
    rows = [[heading for heading, _, _ in COLUMNS]]
    for result in results:
        rows.append(["-" if result[key] is None else form.format(result[key]) for _, key, form in COLUMNS])
    widths = [max(len(row[k]) for row in rows) for k in range(len(COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _check_outputs(**paths: str | None) -> None:
    """Complain about a file that cannot be written before the work is done, not after it."""
    for name, path in paths.items():
        if path is not None:
            new_file(name, path)


def _write_labels(path: str, labels: Any, scores: Any) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["index", "label", "output"])
        for index, (label, score) in enumerate(zip(labels, scores, strict=True)):
            writer.writerow([index, f"{label:+g}", repr(float(score))])
