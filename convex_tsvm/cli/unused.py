"""Options that a command would not look at: they are refused by name, in place of being ignored."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..data import BUNDLED
from ..files import kind_of
from ..table import METHODS, SOLVERS
from .tasks import Task, asked_solvers

#: Relaxations, and what stands for one if none is asked for, whose problems no solver but our own solves.
UNSOLVED = (None, "signs", "envelope", "curvature")


class _Use(NamedTuple):
    """Whether a task looks at an option, and what the option is for, in words."""

    by: Callable[[argparse.Namespace, Task], bool]
    what: str


def _formulations(*names: str) -> _Use:
    return _Use(lambda options, task: task.formulation in names, f"the formulations {', '.join(names)}")


def _kernels(*names: str) -> _Use:
    return _Use(lambda options, task: options.kernel in names, " or ".join(f"--kernel {name}" for name in names))


def _cached(options: argparse.Namespace, task: Task) -> bool:
    solvers = task.solvers_of(asked_solvers(options)) if hasattr(options, "solver") else []
    return task.formulation in ("lapsvm", "laptsvm") or any(
        name == "auto" or "cache_size" in SOLVERS[name].options for name in solvers if name == "auto" or name in SOLVERS
    )


def _by_cvxpy(options: argparse.Namespace, task: Task) -> bool:
    return "cvxpy_solver" in METHODS[task.method].options or "cvxpy" in task.solvers_of(asked_solvers(options))


def _on_device(options: argparse.Namespace, task: Task) -> bool:
    return not {"auto", "native"}.isdisjoint(task.solvers_of(asked_solvers(options)))


FOR_EXACT = _Use(lambda options, task: task.method == "exact", "--method exact")
FOR_DESCENTS = _Use(
    lambda options, task: METHODS[task.method].is_descent,
    f"the methods {', '.join(name for name, entry in METHODS.items() if entry.is_descent)}",
)
FOR_COMPACT = _formulations("cmm", "rmm")
FOR_NEIGHBORS = _formulations("lapsvm", "laptsvm")

#: Who looks at the options of a model and of methods; those that are not here everyone looks at.
LOOKED_AT_BY = {
    "sigma": _kernels("rbf"),
    "gamma": _kernels("rbf", "poly"),
    "degree": _kernels("poly"),
    "coef0": _kernels("poly"),
    "C_unlabeled": _Use(
        lambda options, task: (
            task.formulation not in ("svm", "lapsvm", "rmm")
            or (task.formulation == "rmm" and options.C_compact == math.inf)
        ),
        "formulations with a cost C* of unlabelled points (tsvm, cs3vm, cmm, laptsvm)",
    ),
    "loss": _formulations("tsvm", "laptsvm", "svm"),
    "s": _Use(
        lambda options, task: (
            task.formulation == "cmm" or (task.formulation in ("tsvm", "laptsvm") and task.loss(options.loss) == "ramp")
        ),
        "--loss ramp and the formulation cmm",
    ),
    "balance": _Use(
        lambda options, task: (
            task.formulation in ("svm", "tsvm", "laptsvm", "cmm", "rmm") and METHODS[task.method].has_bias
        ),
        "the formulations svm, tsvm, laptsvm, cmm, rmm by other methods than subspace",
    ),
    "epsilon": FOR_COMPACT,
    "C_compact": FOR_COMPACT,
    "C_manifold": FOR_NEIGHBORS,
    "n_neighbors": FOR_NEIGHBORS,
    "power": FOR_NEIGHBORS,
    "annealing": _Use(
        lambda options, task: task.formulation == "tsvm" and "annealing" in METHODS[task.method].options,
        "the formulation tsvm by the methods "
        + ", ".join(name for name, entry in METHODS.items() if "annealing" in entry.options),
    ),
    "tol": FOR_DESCENTS,
    "max_iter": FOR_DESCENTS,
    "cache_size": _Use(_cached, "--solver native and the formulations lapsvm, laptsvm"),
    "solver": FOR_DESCENTS,
    "device": _Use(_on_device, "--solver native"),
    "cvxpy_solver": _Use(_by_cvxpy, "--solver cvxpy and the method subspace"),
    **dict.fromkeys(("bounds", "strategy", "branching", "gap", "max_nodes", "n_jobs"), FOR_EXACT),
}


def refuse_unused(options: argparse.Namespace, tasks: Sequence[Task], never: Iterable[str] = ()) -> None:
    """Complain about an option that was given and that none of the tasks looks at.

    Parameters
    ----------
    never : iterable of str
        What the command looks at for no task.

    Raises
    ------
    ValueError
        Naming the option and what it is for.
    """
    names = ", ".join(dict.fromkeys(task.name for task in tasks))
    for name in options.told:
        if name in _unused_by_bound(options):
            what = "--relaxation sdp" if name == "solver" else "relaxations beyond sdp"
            raise _refused(options, name, what, f"--relaxation {options.relaxation or 'by default'}")
        if name in never:
            raise _refused(options, name, "solve and compare", "this command")
        if name in LOOKED_AT_BY and not any(LOOKED_AT_BY[name].by(options, task) for task in tasks):
            by_solver = name in ("device", "cvxpy_solver") and "solver" in options.told
            asked = f"--solver {','.join(asked_solvers(options))}" if by_solver else names
            raise _refused(options, name, LOOKED_AT_BY[name].what, asked)
    _refuse_unused_data(options)


def _unused_by_bound(options: argparse.Namespace) -> tuple[str, ...]:
    """The options of ``bound`` that its relaxation does not look at; none for another command."""
    if not hasattr(options, "relaxation"):
        return ()
    named = options.relaxation
    if named is None and options.loss in ("hinge", "squared_hinge", "hard_margin"):
        named = "sdp"
    return {"svm": ("solver", "rounds"), "sdp": ("rounds",)}.get(named or "", ("solver",) if named in UNSOLVED else ())


def refuse_all_but(options: argparse.Namespace, names: Sequence[str], what: str) -> None:
    """Complain about any other option than these that was given: the command does something else."""
    for name in options.told:
        if name not in (*names, "progress"):
            raise _refused(options, name, "data", what)


def refuse_of_other_files(options: argparse.Namespace) -> None:
    """Complain about what is said of a table or of svmlight text where the file is none."""
    kind = "bundled" if options.data in BUNDLED else kind_of(options.data)
    if options.label_column is not None and kind != ".csv":
        raise _refused(options, "label_column", ".csv files", f"DATA={options.data!r}")
    if options.zero_based is not None and kind not in ("svmlight text", "folder"):
        raise _refused(options, "zero_based", "svmlight files", f"DATA={options.data!r}")


def _refuse_unused_data(options: argparse.Namespace) -> None:
    refuse_of_other_files(options)
    bundled = options.data in BUNDLED
    rows = "files with rows of labelled points (.npz)"
    if "splits" in options.told and (bundled or kind_of(options.data) != ".npz"):
        raise _refused(options, "splits", rows, f"DATA={options.data!r}")
    if "split" in options.told and not (bundled or kind_of(options.data) == ".npz"):
        raise _refused(options, "split", rows, f"DATA={options.data!r}")
    if options.n_labeled is not None:
        for name in ("split", "splits"):
            if name in options.told:
                raise _refused(options, name, "the labels that a row shows", f"n_labeled={options.n_labeled}")
    elif "random_state" in options.told and getattr(options, "folds", 0) < 2:
        raise _refused(options, "random_state", "--n-labeled, and the folds of compare", "this command")


def _refused(options: argparse.Namespace, name: str, what: str, asked: str) -> ValueError:
    value = getattr(options, name)
    shown = ",".join(value) if isinstance(value, list) else value
    return ValueError(f"{name}={shown!r} ({options.told[name]}) is for {what}, not for {asked}")
