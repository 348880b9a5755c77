"""What a command is asked to do: a class for each command, whose fields are its options.

A field says once what is typed for it, what it is for, and who looks at it; :mod:`.parser` makes arguments of the
fields, and everything behind the parser takes the request.
"""

from __future__ import annotations

import argparse
import json
import math
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

from .. import table
from ..formulations import FINITE_LOSSES, LOSSES
from ..table import DESCENTS, FORMULATIONS, METHODS, SOLVERS
from .tasks import Task, read_task, task_names

#: The parts of a command's help in their order, and their headings; parts with the same heading stand together.
HEADINGS = {
    "data": "data",
    "model": "model",
    "task": "method",
    "method": "method",
    "steps": "method",
    "solver": "method",
    "letters": "model, with SVMlin's letters",
    "bound": "bound",
    "derivation": "derivation",
    "search": "search (--method exact; over labels with --loss hinge or squared_hinge, else over intervals of outputs)",
    "written": "output",
    "told": "output",
    "files": "files of --method exact",
    "certificate": "for a certificate",
    "paper": "for a paper",
}


@dataclass(frozen=True)
class Use:
    """Which tasks look at an option, ``by(request, task)``, and what it is for, in words."""

    by: Callable[[Any, Task], bool]
    what: str


def _formulations(*names: str) -> Use:
    return Use(lambda request, task: task.formulation in names, f"the formulations {', '.join(names)}")


def _kernels(*names: str) -> Use:
    return Use(lambda request, task: request.kernel in names, " or ".join(f"--kernel {name}" for name in names))


def _is_cached(request: Any, task: Task) -> bool:
    solvers = task.solvers_of(request.solvers) if request.solvers else []
    return task.formulation in ("lapsvm", "laptsvm") or any(
        name == "auto" or (name in SOLVERS and "cache_size" in SOLVERS[name].options) for name in solvers
    )


FOR_EXACT = Use(lambda request, task: task.method == "exact", "--method exact")
FOR_DESCENTS = Use(lambda request, task: METHODS[task.method].is_descent, f"the methods {', '.join(DESCENTS)}")
FOR_COMPACT, FOR_NEIGHBORS = _formulations("cmm", "rmm"), _formulations("lapsvm", "laptsvm")
FOR_UNLABELED_COSTS = Use(
    lambda request, task: (
        request.C_compact == math.inf if task.formulation == "rmm" else task.formulation not in ("svm", "lapsvm")
    ),
    "formulations with a cost C* of unlabelled points (tsvm, cs3vm, cmm, laptsvm)",
)
FOR_RAMPS = Use(
    lambda request, task: (
        task.formulation == "cmm" or (task.formulation in ("tsvm", "laptsvm") and task.loss(request.loss) == "ramp")
    ),
    "--loss ramp and the formulation cmm",
)
_BALANCED = ("svm", "tsvm", "laptsvm", "cmm", "rmm")
FOR_BALANCES = Use(
    lambda request, task: task.formulation in _BALANCED and METHODS[task.method].has_bias,
    f"the formulations {', '.join(_BALANCED)} by other methods than subspace",
)
FOR_ANNEALING = Use(
    lambda request, task: task.formulation == "tsvm" and "annealing" in METHODS[task.method].options,
    "the formulation tsvm by the methods "
    + ", ".join(name for name, entry in METHODS.items() if "annealing" in entry.options),
)
FOR_CACHES = Use(_is_cached, "--solver native and the formulations lapsvm, laptsvm")
FOR_DEVICES = Use(
    lambda request, task: not {"auto", "native"}.isdisjoint(task.solvers_of(request.solvers)), "--solver native"
)
FOR_CVXPY = Use(
    lambda request, task: "cvxpy_solver" in METHODS[task.method].options or "cvxpy" in task.solvers_of(request.solvers),
    "--solver cvxpy and the method subspace",
)


def option(text: str, default: Any = None, *flags: str, part: str, used_by: Use | None = None, **settings: Any) -> Any:
    """A field of a request that is typed as an option: ``--`` and the field's name, or ``flags``.

    ``text`` is what the help says: what stands for the value, two spaces, and what the option is; a default is added
    that it does not name.  The default ``...`` is for an argument that is known by its place.  ``part`` is one of
    ``HEADINGS`` or "", and ``used_by`` are the tasks that look at the option, if not all do.  ``settings`` are those of
    ``argparse`` that the field's type does not say.
    """
    metavar, spaces, said = text.partition("  ")
    if spaces:
        text, settings["metavar"] = said, metavar
    if isinstance(default, (str, int, float)) and default is not False and "default" not in text:
        text += f" (default: {default:g})" if isinstance(default, float) else f" (default: {default})"
    typed = {"flags": flags, "part": part, "used_by": used_by, "settings": {"help": text, **settings}}
    return field(default=default, metadata=typed)


def arguments_of(request: type[Request]) -> Iterator[tuple[str | None, tuple[str, ...], dict[str, Any]]]:
    """Heading, flags and settings of every option of a command, in the order of its help."""
    parts, hints = ["", *HEADINGS], typing.get_type_hints(request)
    options = [one for one in fields(request) if one.metadata]
    for one in sorted(options, key=lambda one: parts.index(one.metadata["part"])):
        hint = hints[one.name]
        kind = typing.get_args(hint)[0] if isinstance(hint, types.UnionType) else hint
        made: dict[str, Any] = (
            {"type": kind} if kind in (int, float) else {"action": "store_true"} if hint is bool else {}
        )
        made.update(one.metadata["settings"])
        if callable(made.get("choices")):
            made["choices"] = made["choices"]()  # the table may have got entries since
        flags = one.metadata["flags"] or (f"--{one.name.replace('_', '-')}",)
        default: Any = one.default
        if default is ...:
            flags, default = (one.name,), ""
        else:
            made["dest"] = one.name
        made["default"] = list(default) if isinstance(default, tuple) else default
        yield HEADINGS.get(one.metadata["part"]), flags, made


def uses_of(request: type[Request]) -> dict[str, Use]:
    """Which tasks look at the options of a command, by the option's name, where not all do."""
    return {one.name: use for one in fields(request) if (use := one.metadata.get("used_by")) is not None}


def _listed(entries: Mapping[str, table.Entry], default: str) -> str:
    """What can be asked for, for a help text."""
    return "; ".join(f"{name}: {entry.summary}" for name, entry in entries.items()) + f" ({default})"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _list_of(allowed: str, known: Callable[[str], object]) -> Callable[[str], list[str]]:
    """What reads a comma-separated list of names, for each of which ``known`` must be true and raise no ValueError."""

    def read(text: str) -> list[str]:
        names = _names(text)
        try:
            if names and all(map(known, names)):
                return list(dict.fromkeys(names))
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"{text!r} must be a comma-separated list of {allowed}")

    return read


def _number_or(*words: str, allowed: str) -> Callable[[str], float | str]:
    """What reads a number or one of some words; ``allowed`` says both."""

    def read(text: str) -> float | str:
        try:
            return text if text in words else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} must be {allowed}") from None

    return read


def _balance(text: str) -> Any:
    if text in ("auto", "labeled", "none"):
        return None if text == "none" else text
    try:
        return ("exact", float(text[6:])) if text.startswith("exact:") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be auto, labeled, none, a number, or exact:R") from None


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


_data, _model, _search, _letters, _paper, _solver, _told = (
    partial(option, part=part) for part in ("data", "model", "search", "letters", "paper", "solver", "told")
)
_bound, _derivation, _certificate, _written = (
    partial(option, part=part) for part in ("bound", "derivation", "certificate", "written")
)


def _unlabeled(default: str = "missing ones; other labels that can be read in two ways are asked about") -> Any:
    text = f"the label of points whose class is unknown, nan for missing ones (default: {default})"
    return _data("VALUE  " + text)


def _zero_based(default: str) -> Any:
    return _data(f"whether the first column is 0 in svmlight text, not 1 (default: {default})", action="told_flag")


def _formulation(part: str) -> Any:
    return option(_listed(FORMULATIONS, "default: tsvm"), part=part, choices=tuple(FORMULATIONS))


def _method_option(methods: Iterable[str]) -> Any:
    taken = {name: METHODS[name].options for name in methods}
    text = "of the method: " + "; ".join(f"{name}: {', '.join(names)}" for name, names in taken.items() if names)
    return option("NAME=VALUE  " + text, (), part="task", type=_assignment, action="append")


def _time_limit(text: str, part: str = "task") -> Any:
    return option(f"SECONDS  stop {text} (default: none)", part=part)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What every command is asked.

    ``told`` has the names of the options that were typed, and how: one that a command does not look at is refused, a
    default is not.
    """

    takes: ClassVar[str] = "DATA"
    example: ClassVar[str]

    told: Mapping[str, str] = field(default_factory=dict)
    json: bool = False
    progress: str = "auto"

    def refused(self, name: str, what: str, asked: str) -> ValueError:
        """The error that says that an option is for ``what``, and not for what is asked for."""
        value = getattr(self, name)
        shown = ",".join(value) if isinstance(value, list) else value
        return ValueError(f"{name}={shown!r} ({self.told[name]}) is for {what}, not for {asked}")


@dataclass(frozen=True, kw_only=True)
class Reporting(Request):
    """What is asked of commands that print figures."""

    json: bool = _told("print one JSON object", False)
    progress: str = _told(
        "how far it is, on standard error: one line on a terminal and nothing elsewhere, a JSON object a line for "
        "programs, or nothing",
        "auto",
        choices=("auto", "json", "none"),
    )


_DATA = "DATA  a .npz, .csv, .tsv or svmlight file, or two_moons, breast_cancer, digits, iris, wine"
_OWN_LOSSES = "; ".join(f"{entry.loss} for {name}" for name, entry in METHODS.items())
_OF_TSVM, _OF_CMM, _OF_GRAPH = (FORMULATIONS[name].defaults for name in ("tsvm", "cmm", "lapsvm"))


@dataclass(frozen=True, kw_only=True)
class OfProblem(Reporting):
    """Which points and labels there are, which problem is made of them, and what is minimized."""

    data: str = _data(_DATA, ...)
    split: int = _data("K  row of 'labeled'", 0)
    splits: str = _data("NAME  array of splits", "labeled")
    positive: Sequence[str] | None = _data("A,B  classes that count as +1 (default: the second of two)", type=_names)
    label_column: str | None = _data("NAME  of a .csv file (default: the last)")
    unlabeled: str | None = _unlabeled()
    zero_based: bool | None = _zero_based("if there is an index 0")
    n_labeled: int | None = _data("N  show N labels drawn at random, in place of a split (default: those of the file)")
    random_state: int = _data("SEED  of that draw", 0)
    kernel: str = _model("precomputed: X is the kernel matrix", "rbf", choices=("rbf", "linear", "poly", "precomputed"))
    sigma: float | None = _model("RBF width (default: as --gamma says)", used_by=_kernels("rbf"))
    gamma: float | None = _model("1 / (2 sigma²) (default: 1 / (d Var X))", used_by=_kernels("rbf", "poly"))
    degree: int = _model("of the polynomial kernel", 3, used_by=_kernels("poly"))
    coef0: float = _model("of the polynomial kernel", 0.0, used_by=_kernels("poly"))
    C: float = _model("cost of labelled points", 10.0)
    C_unlabeled: float | str = _model(
        "COST  of unlabelled points: a number, balanced (C L/U), or tenth (C/10, default)",
        "tenth",
        type=_number_or("balanced", "tenth", allowed="a number > 0, 'tenth' or 'balanced'"),
        used_by=FOR_UNLABELED_COSTS,
    )
    loss: str | None = _model(
        f"of unlabelled points (default: the method's, {_OWN_LOSSES})",
        choices=LOSSES,
        used_by=_formulations("tsvm", "laptsvm", "svm"),
    )
    s: float = _model("plateau of the ramp, in (-1, 0]", _OF_TSVM["s"], used_by=FOR_RAMPS)
    balance: str | float | tuple[str, float] | None = _model(
        "B  mean output of unlabelled points: auto (as the shares of the classes are inferred, default), labeled, "
        "none, a number in (-10, 10), or exact:R for a share R of positive labels",
        "auto",
        type=_balance,
        used_by=FOR_BALANCES,
    )
    epsilon: float = _model("E  cmm, rmm: outputs up to E cost nothing", _OF_CMM["epsilon"], used_by=FOR_COMPACT)
    C_compact: float | None = _model(
        "COST  cmm, rmm: cost of larger ones; inf forbids them (default: a tenth of C-unlabeled for cmm, C L/U for "
        "rmm)",
        used_by=FOR_COMPACT,
    )
    C_manifold: float = _model(
        "COST  lapsvm: cost of the graph of neighbours", _OF_GRAPH["C_manifold"], used_by=FOR_NEIGHBORS
    )
    n_neighbors: int = _model("K  lapsvm: in that graph", _OF_GRAPH["n_neighbors"], used_by=FOR_NEIGHBORS)
    power: int = _model("P  lapsvm: of the graph's Laplacian", _OF_GRAPH["power"], used_by=FOR_NEIGHBORS)
    annealing: int | None = _model("STEPS  raise C* in so many steps (default: it stays)", used_by=FOR_ANNEALING)
    tol: float = _model("tolerance of the native solver (default: 1e-3)", 1e-3, used_by=FOR_DESCENTS)
    max_iter: int = _model("limit on convex steps", 100, used_by=FOR_DESCENTS)
    cache_size: float | str = _model(
        "MB  memory for kernel rows (default: auto, a quarter of what is free)",
        "auto",
        type=_number_or("auto", allowed="a number > 0 or 'auto'"),
        used_by=FOR_CACHES,
    )

    @property
    def shown(self) -> dict[str, Any]:
        """What says which labels of a file are shown, as its readers take it."""
        names = ("split", "splits", "label_column", "n_labeled", "random_state", "unlabeled", "zero_based")
        return {name: getattr(self, name) for name in names}

    @property
    def solvers(self) -> list[str]:
        """The solvers of convex steps that are asked for; none by commands that make no such steps."""
        return []


@dataclass(frozen=True, kw_only=True)
class Fitting(OfProblem):
    """What is asked of the commands that fit methods."""

    formulation: str | None = _formulation("task")
    method_option: Sequence[tuple[str, Any]] = _method_option(METHODS)
    time_limit: float | None = _time_limit("each method then, with the best found so far and exit status 1")
    solver: str | Sequence[str] = "auto"
    cvxpy_solver: str | None = _solver(
        "NAME  which of CVXPY's solvers, such as scs, osqp or clarabel (default: clarabel); asks for --solver cvxpy",
        used_by=FOR_CVXPY,
    )
    device: str | None = _solver(
        "LIBRARY:DEVICE  where the native solver's kernel rows are computed, by a library of the array API: "
        "torch:cuda, cupy (default: here, by NumPy)",
        used_by=FOR_DEVICES,
    )
    bounds: str = _search(
        "the strongest bound",
        "auto",
        choices=("auto", *table.RELAXATIONS),
        type=partial(table.relaxation_named, "--bounds"),
        used_by=FOR_EXACT,
    )
    strategy: str = _search("which node is next", "auto", choices=tuple(table.STRATEGIES), used_by=FOR_EXACT)
    branching: str = _search("which point is branched on", "auto", choices=tuple(table.BRANCHING), used_by=FOR_EXACT)
    gap: float = _search("relative gap to close (default: 1e-6)", 1e-6, used_by=FOR_EXACT)
    max_nodes: int | None = _search("N  stop after so many nodes (default: none)", used_by=FOR_EXACT)
    n_jobs: int | None = _search("N  processes (default: 1)", used_by=FOR_EXACT)
    certificate: str | None = None
    checkpoint: str | None = None

    @property
    def solvers(self) -> list[str]:
        """The solvers asked for; "cvxpy" in place of "auto" where one of CVXPY's solvers is named."""
        named = [self.solver] if isinstance(self.solver, str) else self.solver
        return ["cvxpy" if name == "auto" and self.cvxpy_solver is not None else name for name in named]


_LABELS_OUT = "FILE  write index, label and output of every point as CSV"


@dataclass(frozen=True, kw_only=True)
class Solve(Fitting):
    """Fit one method to data."""

    example = "convex-tsvm solve two_moons --sigma 0.3 --method switching --loss hinge --save model.npz"

    method: str = option(_listed(METHODS, "default: cccp"), "cccp", part="method", choices=task_names)
    solver: str = option(
        _listed(SOLVERS, "default: auto, the fastest that the method takes"),
        "auto",
        part="steps",
        choices=("auto", *SOLVERS),
        used_by=FOR_DESCENTS,
    )
    labels_out: str | None = _written(_LABELS_OUT)
    save: str | None = _written("MODEL  write the fitted model (arrays and JSON)")
    plot: str | None = _written("FILE  draw boundaries (2-d data) or iterations; the tree of exact search")
    certificate: str | None = option("FILE  write what proves the bound; verify FILE checks it", part="files")
    checkpoint: str | None = option("FILE  save the search there, and go on from it if it is there", part="files")


@dataclass(frozen=True, kw_only=True)
class Compare(Fitting):
    """Several methods and solvers side by side."""

    example = "convex-tsvm compare breast_cancer --sigma 10 --methods svm,cccp,annealing --solver native,cvxpy"

    methods: Sequence[str] = option(
        f"LIST  comma-separated, of {', '.join(task_names())}, or FORMULATION:METHOD (default: svm,cccp)",
        ("svm", "cccp"),
        "--methods",
        "--method",
        part="method",
        type=_list_of(f"{', '.join(task_names())}, or FORMULATION:METHOD", read_task),
    )
    solver: Sequence[str] = option(
        f"LIST  comma-separated, of {', '.join(SOLVERS)} (default: auto); a method skips those that are not for it",
        ("auto",),
        part="steps",
        type=_list_of(", ".join(("auto", *SOLVERS)), ("auto", *SOLVERS).__contains__),
        used_by=FOR_DESCENTS,
    )
    folds: int = _solver("K  of the cross-validation on labelled points, beside the supervised SVM; 0: none", 5)
    plot: str | None = _written("FILE  draw boundaries (2-d data) or iterations")


@dataclass(frozen=True, kw_only=True)
class Bound(OfProblem):
    """A lower bound of the optimum."""

    example = "convex-tsvm bound two_moons --sigma 0.3 --loss squared_hinge --relaxation signs --time-limit 60"

    formulation: str | None = _formulation("bound")
    relaxation: str | None = _bound(
        "svm to signs are about labels, and each contains those before it (signs for --loss squared_hinge); "
        "envelope and curvature are for any piecewise linear-quadratic losses; auto: the strongest (default: sdp, else "
        "curvature)",
        choices=("auto", *table.RELAXATIONS),
        type=partial(table.relaxation_named, "--relaxation"),
    )
    solver: str = _bound("for --relaxation sdp", "auto", choices=("auto", *table.SDP_SOLVERS))
    rounds: int = _bound("N  of cuts", 30)
    time_limit: float | None = _time_limit(
        "then, with the largest bound so far, which holds, and exit status 1", "bound"
    )
    plot: str | None = _written("FILE  draw the bounds of the relaxations, one after the other")


@dataclass(frozen=True, kw_only=True)
class Verify(OfProblem):
    """Check the derivation of a formulation on data, line by line, or a certificate of solve."""

    takes = "[DATA]"
    example = "convex-tsvm verify two_moons --sigma 0.3 --loss squared_hinge"

    data: str = _data(_DATA, ..., nargs="?")
    #: Those methods are offered whose derivation can be checked.
    method: str = _derivation("whose derivation", "cccp", choices=("svm", "cccp", "cmm", "rmm", "lapsvm"))
    formulation: str | None = _formulation("derivation")
    points: int = _derivation("N  use all labelled and the first unlabelled points up to N", 300)
    plot: str | None = _written("FILE  draw the loss of unlabelled points, its parts and a surrogate")
    rigorous: bool = _certificate(
        "as it always is now: its claim is proven by arithmetic and code that the search does not share (needs "
        "convex_tsvm[rigorous])",
        False,
    )
    of_data: str | None = _certificate(
        "DATA  prove it for the problem that this file and the options of solve make: a proof of another "
        "problem does not count",
        None,
        "--data",
    )
    html: str | None = _certificate("FILE  write it as a page: problem, tree, what closes each leaf")
    trim: str | None = _certificate("FILE  write what of it the proof needs (needs convex_tsvm[rigorous])")
    paper: str | None = _paper(
        "NAME  run the numbered statements of a paper: collobert2006, chapelle2008, sindhwani2006, debie2004, dai2010, "
        "or all"
    )
    lesson: int | None = _paper("NUMBER  a lesson of the course, 1 to 8: writes its sheet")
    derivation: str | None = _paper(
        "FILE  write the paper's main derivation as a notebook (.ipynb), or the key to the lesson's sheet"
    )
    exercise: str | None = _paper("FILE  the same with right-hand sides left out, to be graded")


@dataclass(frozen=True, kw_only=True)
class Linear(Reporting):
    """Fit a linear function to many points, by SVMlin's methods."""

    example = "convex-tsvm linear train.svm -W 0.001 -R 0.5 --save model.npz --labels-out labels.csv"

    data: str = _data("DATA  an svmlight file with labels +1, -1 and 0 (unknown), or a folder that convert wrote", ...)
    labels: str | None = _data("FILE  labels in place of those in DATA, one a line")
    unlabeled: str | None = _unlabeled("0, as in SVMlin")
    zero_based: bool = _data("the first column is 0 in the file, not 1", False)
    method: str = option(
        _listed({name: METHODS[name] for name in DESCENTS}, "default: switching"),
        "switching",
        part="task",
        choices=DESCENTS,
    )
    method_option: Sequence[tuple[str, Any]] = _method_option(DESCENTS)
    time_limit: float | None = _time_limit("the fit then, with the best found so far and exit status 1")
    tol: float = option("relative duality gap of the last step (default: 1e-4)", 1e-4, part="task")
    max_iter: int = option("limit on steps of a stage", 1000, part="task")
    loss: str = _letters("of unlabelled points", "squared_hinge", choices=FINITE_LOSSES)
    lambda_: float = _letters("L  weight of the regularizer, SVMlin's -W", 1e-3, "--lambda", "-W")
    lambda_unlabeled: float = _letters(
        "L  weight of the unlabelled points, SVMlin's -U", 1.0, "--lambda-unlabeled", "-U"
    )
    positive_fraction: float | None = _letters(
        "R  share of positive unlabelled points, SVMlin's -R (default: inferred)", None, "--positive-fraction", "-R"
    )
    max_pairs: int | None = _letters(
        "S  switching: pairs exchanged in a round, SVMlin's -S (default: all that gain)", None, "--max-pairs", "-S"
    )
    no_intercept: bool = _letters("without the feature that is 1 for all points", False)
    labels_out: str | None = _written(_LABELS_OUT)
    save: str | None = _written("MODEL  write the fitted model; predict MODEL DATA takes it")


@dataclass(frozen=True, kw_only=True)
class Convert(Request):
    """An svmlight file to a folder of points, which is mapped, not read."""

    takes = "SOURCE TARGET"
    example = "convex-tsvm convert large.svm large.points"

    source: str = option("SOURCE  an svmlight file", ..., part="")
    target: str = option("TARGET  the folder; it must not be there yet", ..., part="")
    n_features: int | None = option("D  columns (default: as many as there are)", part="")
    zero_based: bool = option("the first column is 0 in the file, not 1", False, part="")
    dtype: str = option("of the values that are kept", "float32", part="", choices=("float32", "float64"))


@dataclass(frozen=True, kw_only=True)
class Predict(Reporting):
    """Label the points of a file with a saved model."""

    takes = "MODEL DATA"
    example = "convex-tsvm predict model.npz new.csv --labels-out labels.csv"

    model: str = option("MODEL  written by solve --save", ..., part="")
    data: str = _data("DATA  as for solve; its labels are only used to report the error", ...)
    positive: Sequence[str] | None = _data("A,B  classes that count as +1 (default: the model's)", type=_names)
    label_column: str | None = _data("NAME  of a .csv file (default: the model's; the last, if it has no names)")
    unlabeled: str | None = _unlabeled()
    zero_based: bool | None = _zero_based("as in the file of the model")
    labels_out: str | None = _written(_LABELS_OUT)
