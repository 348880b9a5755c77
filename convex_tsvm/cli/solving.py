"""The problem of a request, its solution by a method, and options that are refused as nothing looks at them."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data import BUNDLED, Classes, Data, load_data
from ..deadline import time_is_up, within
from ..files import kind_of
from ..formulations import Formulation, Stated, build, tsvm
from ..kernels import make_kernel
from ..methods.descents import minimize
from ..methods.run import Method
from ..methods.settings import Settings
from ..methods.shares import infer_class_shares
from ..persistence import FittedModel, save_model
from ..problem import Problem
from ..progress import status_line
from ..solution import Solution
from ..table import FORMULATIONS, METHODS, RELAXATIONS
from .options import Task, uses_of
from .requests import Bound, Compare, Fitting, OfProblem, Predict, Request


def refuse_unused(request: OfProblem, tasks: Sequence[Task], never: Iterable[str] = ()) -> None:
    """Raise a ValueError for an option that was given and that none of the tasks looks at, or one of ``never``."""
    uses = uses_of(type(request))
    _refuse_unused_assignments(request, tasks)
    if isinstance(request, Bound):
        _refuse_unused_by_bound(request)
    for name in request.told:
        if name in never:
            raise request.refused(name, "solve and compare", "this command")
        if name in uses and not any(uses[name].by(request, task) for task in tasks):
            by_solver = name in ("device", "cvxpy_solver") and "solver" in request.told
            names = ", ".join(dict.fromkeys(task.name for task in tasks))
            names += f" with --formulation {tasks[0].formulation}" if "formulation" in request.told else ""
            asked = f"--solver {','.join(request.solvers)}" if by_solver else names
            raise request.refused(name, uses[name].what, asked)
    _refuse_unused_data(request)


def _refuse_unused_assignments(request: OfProblem, tasks: Sequence[Task]) -> None:
    """Raise a ValueError for NAME=VALUE that none of the methods, or of the formulations, takes."""
    for kind, entries in (("method", METHODS), ("formulation", FORMULATIONS)):
        taken = {name: entries[name].options for name in (getattr(task, kind) for task in tasks)}
        for name, value in getattr(request, f"{kind}_option", ()):
            if not any(name in options for options in taken.values()):
                each = "; ".join(f"{of}: {', '.join(options) or 'none'}" for of, options in taken.items())
                raise ValueError(f"{kind}_option={name}={value} is no option of the {kind}s asked for ({each})")


def _refuse_unused_by_bound(request: Bound) -> None:
    """Raise a ValueError for an option of ``bound`` that its relaxation does not look at."""
    by_default = "sdp" if request.loss in ("hinge", "squared_hinge", "hard_margin") else "curvature"
    for name, option in (("solver", "solver"), ("rounds", "max_rounds")):
        takers = [] if name not in request.told else [k for k, one in RELAXATIONS.items() if option in one.load().takes]
        if takers and (request.relaxation or by_default) not in ("auto", *takers):
            what = f"--relaxation {' or '.join(takers)}"
            raise request.refused(name, what, f"--relaxation {request.relaxation or 'by default'}")


def refuse_all_but(request: Request, names: Sequence[str], what: str) -> None:
    """Raise a ValueError for any other option than these that was given: the command does something else."""
    for name in request.told:
        if name not in (*names, "data", "progress", "json", "rigorous", "formulation_option"):
            raise request.refused(name, "data", what)


def refuse_of_other_files(request: OfProblem | Predict) -> None:
    """Raise a ValueError for what is said of a table or of svmlight text where the file is none."""
    kind = "bundled" if request.data in BUNDLED else kind_of(request.data)
    if request.label_column is not None and kind != ".csv":
        raise request.refused("label_column", ".csv files", f"DATA={request.data!r}")
    if request.zero_based is not None and kind not in ("svmlight text", "folder"):
        raise request.refused("zero_based", "svmlight files", f"DATA={request.data!r}")


def _refuse_unused_data(request: OfProblem) -> None:
    refuse_of_other_files(request)
    bundled = request.data in BUNDLED
    has_rows = kind_of(request.data) == ".npz"
    for name, has_any in (("splits", has_rows and not bundled), ("split", has_rows or bundled)):
        if name in request.told and not has_any:
            raise request.refused(name, "files with rows of labelled points (.npz)", f"DATA={request.data!r}")
    if request.n_labeled is not None:
        for name in ("split", "splits"):
            if name in request.told:
                raise request.refused(name, "the labels that a row shows", f"n_labeled={request.n_labeled}")
    elif "random_state" in request.told and not (isinstance(request, Compare) and request.folds > 1):
        raise request.refused("random_state", "--n-labeled, and the folds of compare", "this command")


def given(request: OfProblem) -> tuple[Data, Problem, str]:
    """The data that a command is about, the problem that is made of two classes of it, and a heading."""
    data = load_data(request.data, positive=request.positive, **request.shown)
    tsvm(request.loss or "ramp", s=request.s)  # options that do not fit are reported before any work is done
    (problem,), told = with_shares(request, data.classes, [given_problem(request, data)])
    negative, positive = data.classes
    heading = (
        f"{data.name}: {problem.n_labeled} labelled and {problem.n_unlabeled} unlabelled points, "
        f"+1 = {positive}, -1 = {negative}, {problem.kernel}\n{data.counts}{told}"
    )
    return data, problem, heading


def given_problem(request: OfProblem, data: Data) -> Problem:
    """The problem that a request makes of data; a ValueError if all their labels are known."""
    if data.y.all():
        raise ValueError(
            f"y has no unlabelled point: DATA={request.data!r} has the labels {', '.join(data.classes)[:200]}; say "
            "with --unlabeled which of them marks unknown ones, or hide some with --n-labeled"
        )
    # The kernel comes second, so that a NaN among the points is not blamed on its gamma.
    balance = "labeled" if request.balance == "auto" else request.balance  # until shares have been inferred
    plain = Problem(data.X, data.y, C=request.C, C_unlabeled=request.C_unlabeled, balance=balance)
    parameters = {name: getattr(request, name) for name in ("gamma", "sigma", "degree", "coef0")}
    return plain.replace(kernel=make_kernel(request.kernel, plain.X, **parameters))


def with_shares(request: OfProblem, classes: Sequence[str], problems: list[Problem]) -> tuple[list[Problem], str]:
    """The problems of the second of two classes, or of all, balanced as the shares of ``classes`` are inferred to be.

    With them comes a line that says what the shares are, if they have been inferred.
    """
    if request.balance != "auto" or problems[0].n_unlabeled == 0:
        return problems, ""
    with status_line(lambda: "shares of the classes", keeps=False) as progress:
        tell = None if progress is None else lambda tried: progress.tell(f"{tried} shares tried")
        found = infer_class_shares(problems[0], [problem.y for problem in problems], callback=tell)
    named = zip(classes, found.shares, found.errors, strict=True)
    told = ", ".join(f"{name} {share:.3f} ± {error:.3f}" for name, share, error in named)
    own = found.shares.tolist()[-len(problems) :]  # the second of two classes, or all
    balanced = [problem.replace(balance=2 * share - 1) for problem, share in zip(problems, own, strict=True)]
    return balanced, f"\nshares of the classes among the unlabelled points, inferred: {told}"


def save(path: str, data: Data | Classes, task: Task, solutions: list[Solution], **parameters: Any) -> None:
    """Write a model with what it must know of the file that it was learned from; parameters are for people."""
    told = {"data": data.name, "method": task.name, "formulation": task.formulation, **parameters}
    fitted = FittedModel.from_solutions(solutions, np.array(data.classes), told)
    of_file = {name: getattr(data, name) for name in ("feature_names", "label_name", "zero_based")}
    save_model(replace(fitted, **of_file), path)


def formulated(request: OfProblem, task: Task, problem: Problem) -> Stated:
    """What a task minimizes, and the problem as it sees it."""
    options = dict(request.formulation_option)
    if not METHODS[task.method].has_bias:
        options["fit_intercept"], problem = False, problem.replace(balance=None)
    given = {**vars(request), "loss": task.loss(request.loss), **options}
    entry = FORMULATIONS[task.formulation]
    # Those of the package have the defaults of the command line; one that was registered has its own.
    asked = {k: v for k, v in given.items() if entry.function is None or k in (*request.told, *options)}
    return build(task.formulation, problem, **{k: asked[k] for k in entry.options if asked.get(k) is not None})


def solved(request: Fitting, task: Task, problem: Problem, solver: str) -> Solution:
    """The solution of a task, or what there is of it at the time limit."""
    entry = METHODS[task.method]
    # A comparison has several methods: of the options given for any a method has its own.
    own = {name: value for name, value in request.method_option if name in entry.options}
    if "cvxpy_solver" in entry.options and request.cvxpy_solver is not None:
        own["cvxpy_solver"] = request.cvxpy_solver
    if request.annealing is not None and task.formulation == "tsvm" and "annealing" in entry.options:
        own["annealing"] = request.annealing
    with within(request.time_limit):
        formulation, problem = formulated(request, task, problem)
        if task.method == "exact":
            return _search(request, formulation, problem)
        if not entry.is_descent:
            found: Solution = entry.load()(formulation, problem, **own)
            # These methods end when the time is up, but do not all say that it was the reason.
            return replace(found, status="time_limit") if time_is_up() else found
        method: Method = entry.load()(**own)
        with status_line(lambda: f"{task.name} ({solver})", method.share) as progress, warnings.catch_warnings():
            warnings.simplefilter("ignore" if request.json else "default")
            warnings.filterwarnings("ignore", "time_limit: ")  # the command says so in a line of its own
            asked = {"cvxpy": "cvxpy_solver", "native": "device", "auto": "device"}.get(solver)
            value = None if asked is None else getattr(request, asked)
            return minimize(
                method,
                formulation,
                problem,
                solver=solver,
                settings=Settings(request.tol, request.max_iter, None if progress is None else progress.step),
                options={} if asked is None or value is None else {asked: value},
                offered={"cache_size": request.cache_size, "progress": None if progress is None else progress.inner},
            )


def _search(request: Fitting, formulation: Formulation, problem: Problem) -> Solution:
    from ..exact import exact_search

    bounding = ("bounds", "branch_on", "strategy", "branching")
    names = (*bounding, "gap", "max_nodes", "time_limit", "n_jobs", "checkpoint", "certificate")
    with status_line(lambda: "exact") as progress:
        return exact_search(
            formulation,
            problem,
            **{name: getattr(request, name) for name in names},
            callback=None if progress is None else lambda reached: progress.tell(str(reached)),
        )
