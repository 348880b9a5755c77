"""Options that a command would not look at: they are refused by name, in place of being ignored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..data import BUNDLED
from ..files import kind_of
from .options import uses_of
from .requests import Bound, Compare, OfProblem, Predict, Request
from .tasks import Task


def refuse_unused(request: OfProblem, tasks: Sequence[Task], never: Iterable[str] = ()) -> None:
    """Raise a ValueError for an option that was given and that none of the tasks looks at, or one of ``never``."""
    uses = uses_of(type(request))
    for name in request.told:
        if isinstance(request, Bound) and name in _unused_by_bound(request):
            what = "--relaxation sdp" if name == "solver" else "relaxations beyond sdp"
            raise request.refused(name, what, f"--relaxation {request.relaxation or 'by default'}")
        if name in never:
            raise request.refused(name, "solve and compare", "this command")
        if name in uses and not any(uses[name].by(request, task) for task in tasks):
            by_solver = name in ("device", "cvxpy_solver") and "solver" in request.told
            names = ", ".join(dict.fromkeys(task.name for task in tasks))
            asked = f"--solver {','.join(request.solvers)}" if by_solver else names
            raise request.refused(name, uses[name].what, asked)
    _refuse_unused_data(request)


def _unused_by_bound(request: Bound) -> tuple[str, ...]:
    """The options of ``bound`` that its relaxation does not look at."""
    named = request.relaxation
    if named is None and request.loss in ("hinge", "squared_hinge", "hard_margin"):
        named = "sdp"
    # No solver but our own solves the others, and what stands for one of them if none is asked for.
    unsolved = (None, "signs", "envelope", "curvature")
    return {"svm": ("solver", "rounds"), "sdp": ("rounds",)}.get(named or "", ("solver",) if named in unsolved else ())


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
