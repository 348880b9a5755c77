"""What the command line is asked to do: names of the table turned into a formulation on a problem and a method."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ..data import Data
from ..deadline import time_is_up, until
from ..formulations import Formulation, Stated, build
from ..kernels import make_kernel
from ..methods.frame import Method, Settings, minimize
from ..methods.solvers import check_taken
from ..problem import Problem
from ..progress import status_line
from ..solution import Solution
from ..table import FORMULATIONS, METHODS
from ..validation import finite

#: In place of a solver's name, for methods that bring their own.
NO_SOLVER = "-"


@dataclass(frozen=True)
class Task:
    """A formulation and a method, and what the user called them."""

    name: str
    formulation: str
    method: str

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers that the user may choose from."""
        return METHODS[self.method].solvers

    def solvers_of(self, asked: Sequence[str]) -> list[str]:
        """Those asked for that solve the method's problems, or "auto"; methods without one have "-"."""
        if not self.solvers:
            return [NO_SOLVER]
        first = self.solver_of("auto")
        return list(
            dict.fromkeys(first if name == "auto" else name for name in asked if name in ("auto", *self.solvers))
        ) or [first]

    def solver_of(self, asked: str) -> str:
        """The solver asked for, or the only one that takes both; a ValueError if it is none of the method's.

        "auto" stays where the problem decides, whose kernel is not known here.
        """
        if not self.solvers:
            return NO_SOLVER
        own = FORMULATIONS[self.formulation].solver
        if asked == "auto":
            only = own if own in self.solvers else self.solvers[0]
            return only if own in self.solvers or len(self.solvers) == 1 else "auto"
        check_taken(self.solvers, asked, self.method)
        return asked

    def loss(self, asked: str | None) -> str:
        """The name of the loss of unlabelled points: the one asked for, or the method's own."""
        return METHODS[self.method].loss if asked is None else asked


def read_task(name: str, formulation: str | None = None) -> Task:
    """The task that a name is: a method, a formulation (minimized by CCCP), or ``formulation:method``.

    Raises
    ------
    ValueError
        If there is no such thing, or ``formulation`` says something else.
    """
    first, colon, second = name.partition(":")
    if colon:
        given, method = first, second
    elif first in METHODS:
        given, method = None, first
    else:
        given, method = first, "cccp"
    if (given is not None and given not in FORMULATIONS) or method not in METHODS:
        raise ValueError(f"{name!r} must be one of {', '.join(task_names())}, or FORMULATION:METHOD, such as cmm:cccp")
    if given is not None and formulation is not None and given != formulation:
        raise ValueError(f"formulation={formulation!r} and method={name!r} are two formulations")
    return Task(name, given or formulation or "tsvm", method)


def task_names() -> tuple[str, ...]:
    """Names by which one can ask for something: formulations by CCCP, and methods."""
    return tuple(dict.fromkeys(["svm", "cccp", *(name for name in FORMULATIONS if name != "tsvm"), *METHODS]))


def given_problem(options: argparse.Namespace, data: Data) -> Problem:
    """The problem of the options; a ValueError if all labels of the data are known."""
    if data.y.all():
        raise ValueError(
            f"y has no unlabelled point: DATA={options.data!r} has the labels {', '.join(data.classes)[:200]}; say "
            "with --unlabeled which of them marks unknown ones, or hide some with --n-labeled"
        )
    # The kernel comes second, so that a NaN among the points is not blamed on its gamma.
    balance = "labeled" if options.balance == "auto" else options.balance  # until shares have been inferred
    plain = Problem(data.X, data.y, C=options.C, C_unlabeled=options.C_unlabeled, balance=balance)
    parameters = {"gamma": options.gamma, "sigma": options.sigma, "degree": options.degree, "coef0": options.coef0}
    return plain.replace(kernel=make_kernel(options.kernel, plain.X, **parameters))


def formulated(options: argparse.Namespace, task: Task, problem: Problem) -> Stated:
    """What a task minimizes, and the problem as it sees it."""
    given = {**vars(options), "loss": task.loss(options.loss)}
    if not METHODS[task.method].has_bias:
        given["fit_intercept"], problem = False, problem.replace(balance=None)
    taken = FORMULATIONS[task.formulation].options
    own = {name: given[name] for name in taken if given.get(name) is not None}
    return build(task.formulation, problem, **own)


def asked_solvers(options: argparse.Namespace) -> list[str]:
    """The solvers asked for; "cvxpy" in place of "auto" where one of CVXPY's solvers is named."""
    named = [options.solver] if isinstance(options.solver, str) else options.solver
    by_cvxpy = getattr(options, "cvxpy_solver", None) is not None
    return ["cvxpy" if name == "auto" and by_cvxpy else name for name in named]


@contextmanager
def limited(options: argparse.Namespace) -> Iterator[None]:
    """Work inside ends at the time limit of the options, if they have one."""
    limit = getattr(options, "time_limit", None)
    with nullcontext() if limit is None else until(time.time() + finite("time_limit", limit, above=0)):
        yield


def solved(options: argparse.Namespace, task: Task, problem: Problem, solver: str) -> Solution:
    """The solution of a task, or what there is of it at the time limit."""
    with limited(options):
        return _solved(options, task, problem, solver)


def _solved(options: argparse.Namespace, task: Task, problem: Problem, solver: str) -> Solution:
    formulation, problem = formulated(options, task, problem)
    entry = METHODS[task.method]
    if task.method == "exact":
        return _search(options, formulation, problem)
    own = method_options(options, task)
    if "cvxpy_solver" in entry.options and options.cvxpy_solver is not None:
        own["cvxpy_solver"] = options.cvxpy_solver
    if not entry.is_descent:
        found: Solution = entry.load()(formulation, problem, **own)
        # These methods end when the time is up, but do not all say that it was the reason.
        return replace(found, status="time_limit") if time_is_up() else found
    if options.annealing is not None and task.formulation == "tsvm" and "annealing" in entry.options:
        own["annealing"] = options.annealing
    method: Method = entry.load()(**own)
    with status_line(lambda: f"{task.name} ({solver})", method.share) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore" if options.json else "default")
        warnings.filterwarnings("ignore", "time_limit: ")  # the command says so in a line of its own
        inner = {"cache_size": options.cache_size, "progress": None if progress is None else progress.inner}
        asked = {"cvxpy": ("cvxpy_solver",), "native": ("device",), "auto": ("device",)}.get(solver, ())
        own = {name: value for name in asked if (value := getattr(options, name)) is not None}
        return minimize(
            method,
            formulation,
            problem,
            solver=solver,
            settings=Settings(options.tol, options.max_iter, None if progress is None else progress.step),
            options=own,
            offered=inner,
        )


def method_options(options: argparse.Namespace, task: Task) -> dict[str, Any]:
    """Options of the method, of those given for any: a comparison has several methods."""
    entry = METHODS[task.method]
    return {name: value for name, value in options.method_option if name in entry.options}


def check_method_options(options: argparse.Namespace, tasks: list[Task]) -> None:
    """Raise ValueError for an option that none of the methods takes."""
    for name, value in options.method_option:
        if not any(name in METHODS[task.method].options for task in tasks):
            taken = [f"{task.method}: {', '.join(METHODS[task.method].options) or 'none'}" for task in tasks]
            raise ValueError(f"method_option={name}={value} is no option of the methods asked for ({'; '.join(taken)})")


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
