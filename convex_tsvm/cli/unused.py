"""Options that a command would not look at: they are refused by name, in place of being ignored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..data import BUNDLED
from ..files import kind_of
from ..table import FORMULATIONS, METHODS, RELAXATIONS
from .options import uses_of
from .requests import Bound, Compare, OfProblem, Predict, Request
from .tasks import Task


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
        if name not in (*names, "progress"):
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
