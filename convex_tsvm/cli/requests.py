"""What a command is asked to do: a class for each command, whose fields are its options.

A field says once what is typed for it, what it is for, and who looks at it; :mod:`.parser` makes arguments of the
fields, and everything behind the parser takes the request.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

from .. import table
from ..formulations import FINITE_LOSSES, LOSSES
from ..table import DESCENTS, FORMULATIONS, METHODS, SOLVERS
from .options import (
    For,
    flags_of,
    formulation_names,
    formulations,
    kernels,
    list_of,
    listed,
    listed_names,
    number_or,
    option,
    read_assignment,
    read_balance,
    read_task,
    task_names,
)

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
    text = f"whether the first column is 0 in svmlight text, not 1 (default: {default})"
    return _data(text, action=argparse.BooleanOptionalAction)


def _formulation(part: str) -> Any:
    return option(listed(FORMULATIONS, "default: tsvm"), part=part, choices=lambda: tuple(FORMULATIONS))


def _assignments(kind: str, part: str, entries: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The options of methods or formulations, each as NAME=VALUE."""
    taken = "; ".join(f"{name}: {', '.join(entries[name].options)}" for name in names if entries[name].options)
    return option(f"NAME=VALUE  of the {kind}: {taken}", (), part=part, type=read_assignment, action="append")


def _imported() -> Any:
    text = "FILE  a Python file that is run first, in which formulations of one's own are registered (ct.register)"
    return option(text, (), "--import", part="model", action="append")


def _time_limit(text: str, part: str = "task") -> Any:
    return option(f"SECONDS  stop {text} (default: none)", part=part)


def _points(**settings: Any) -> Any:
    text = "DATA  a .npz, .csv, .tsv or svmlight file, or two_moons, breast_cancer, digits, iris, wine"
    return _data(text, ..., **settings)


def _labels_out() -> Any:
    return _written("FILE  write index, label and output of every point as CSV")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What every command is asked; ``told`` has the names of what was typed."""

    takes: ClassVar[str] = "DATA"
    example: ClassVar[str]

    told: Sequence[str] = ()
    json: bool = _told("print one JSON object", False)
    progress: str = _told(
        "how far it is, on standard error: one line on a terminal and nothing elsewhere, a JSON object a line for "
        "programs, or nothing",
        "auto",
        choices=("auto", "json", "none"),
    )

    def refused(self, name: str, what: str, asked: str) -> ValueError:
        """The error that says that an option is for ``what``, and not for what is asked for."""
        value = getattr(self, name)
        shown = ",".join(value) if isinstance(value, list) else value
        (flag, *_) = next(flags_of(one) for one in fields(self) if one.name == name)
        flag = flag.replace("--", "--no-") if value is False else flag
        return ValueError(f"{name}={shown!r} ({flag}) is for {what}, not for {asked}")


_OF_TSVM, _OF_CMM, _OF_GRAPH = (FORMULATIONS[name].defaults for name in ("tsvm", "cmm", "lapsvm"))


@dataclass(frozen=True, kw_only=True)
class OfProblem(Request):
    """Which points and labels there are, which problem is made of them, and what is minimized."""

    data: str = _points()
    split: int = _data("K  row of 'labeled'", 0)
    splits: str = _data("NAME  array of splits", "labeled")
    positive: Sequence[str] | None = _data(
        "A,B  classes that count as +1 (default: the second of two)", type=listed_names
    )
    label_column: str | None = _data("NAME  of a .csv file (default: the last)")
    unlabeled: str | None = _unlabeled()
    zero_based: bool | None = _zero_based("if there is an index 0")
    n_labeled: int | None = _data("N  show N labels drawn at random, in place of a split (default: those of the file)")
    random_state: int = _data("SEED  of that draw", 0)
    kernel: str = _model("precomputed: X is the kernel matrix", "rbf", choices=("rbf", "linear", "poly", "precomputed"))
    sigma: float | None = _model("RBF width (default: as --gamma says)", used_by=kernels("rbf"))
    gamma: float | None = _model("1 / (2 sigma²) (default: 1 / (d Var X))", used_by=kernels("rbf", "poly"))
    degree: int = _model("of the polynomial kernel", 3, used_by=kernels("poly"))
    coef0: float = _model("of the polynomial kernel", 0.0, used_by=kernels("poly"))
    C: float = _model("cost of labelled points", 10.0)
    C_unlabeled: float | str = _model(
        "COST  of unlabelled points: a number, balanced (C L/U), or tenth (C/10, default)",
        "tenth",
        type=number_or("balanced", "tenth", allowed="a number > 0, 'tenth' or 'balanced'"),
        used_by=For.costs,
    )
    loss: str | None = _model(
        "of unlabelled points (default: the method's, "
        + "; ".join(f"{entry.loss} for {name}" for name, entry in METHODS.items())
        + ")",
        choices=LOSSES,
        used_by=formulations("loss"),
    )
    s: float = _model("plateau of the ramp, in (-1, 0]", _OF_TSVM["s"], used_by=For.ramps)
    balance: str | float | tuple[str, float] | None = _model(
        "B  mean output of unlabelled points: auto (as the shares of the classes are inferred, default), labeled, "
        "none, a number in (-10, 10), or exact:R for a share R of positive labels",
        "auto",
        type=read_balance,
        used_by=For.balances,
    )
    epsilon: float = _model("E  cmm, rmm: outputs up to E cost nothing", _OF_CMM["epsilon"], used_by=For.compact)
    C_compact: float | None = _model(
        "COST  cmm, rmm: cost of larger ones; inf forbids them (default: a tenth of C-unlabeled for cmm, C L/U for "
        "rmm)",
        used_by=For.compact,
    )
    C_manifold: float = _model(
        "COST  lapsvm: cost of the graph of neighbours", _OF_GRAPH["C_manifold"], used_by=For.neighbors
    )
    n_neighbors: int = _model("K  lapsvm: in that graph", _OF_GRAPH["n_neighbors"], used_by=For.neighbors)
    power: int = _model("P  lapsvm: of the graph's Laplacian", _OF_GRAPH["power"], used_by=For.neighbors)
    formulation_option: Sequence[tuple[str, Any]] = _assignments("formulation", "model", FORMULATIONS, FORMULATIONS)
    imported: Sequence[str] = _imported()
    annealing: int | None = _model("STEPS  raise C* in so many steps (default: it stays)", used_by=For.annealing)
    tol: float = _model("tolerance of the native solver (default: 1e-3)", 1e-3, used_by=For.descents)
    max_iter: int = _model("limit on convex steps", 100, used_by=For.descents)
    cache_size: float | str = _model(
        "MB  memory for kernel rows (default: auto, a quarter of what is free)",
        "auto",
        type=number_or("auto", allowed="a number > 0 or 'auto'"),
        used_by=For.caches,
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
    method_option: Sequence[tuple[str, Any]] = _assignments("method", "task", METHODS, METHODS)
    time_limit: float | None = _time_limit("each method then, with the best found so far and exit status 1")
    solver: str | Sequence[str] = "auto"
    cvxpy_solver: str | None = _solver(
        "NAME  which of CVXPY's solvers, such as scs, osqp or clarabel (default: clarabel); asks for --solver cvxpy",
        used_by=For.cvxpy,
    )
    device: str | None = _solver(
        "LIBRARY:DEVICE  where the native solver's kernel rows are computed, by a library of the array API: "
        "torch:cuda, cupy (default: here, by NumPy)",
        used_by=For.devices,
    )
    bounds: str = _search(
        "the strongest bound",
        "auto",
        choices=("auto", *table.RELAXATIONS),
        type=partial(table.relaxation_named, "--bounds"),
        used_by=For.exact,
    )
    branch_on: str = _search("what nodes are about", "auto", choices=("auto", "weights", "points"), used_by=For.exact)
    strategy: str = _search("which node is next", "auto", choices=tuple(table.STRATEGIES), used_by=For.exact)
    branching: str = _search("which point is branched on", "auto", choices=tuple(table.BRANCHING), used_by=For.exact)
    gap: float = _search("relative gap to close (default: 1e-6)", 1e-6, used_by=For.exact)
    max_nodes: int | None = _search("N  stop after so many nodes (default: none)", used_by=For.exact)
    n_jobs: int | None = _search("N  processes (default: 1)", used_by=For.exact)
    certificate: str | None = None
    checkpoint: str | None = None

    @property
    def solvers(self) -> list[str]:
        """The solvers asked for; "cvxpy" in place of "auto" where one of CVXPY's solvers is named."""
        named = [self.solver] if isinstance(self.solver, str) else self.solver
        return ["cvxpy" if name == "auto" and self.cvxpy_solver is not None else name for name in named]


@dataclass(frozen=True, kw_only=True)
class Solve(Fitting):
    """Fit one method to data."""

    example = "convex-tsvm solve two_moons --sigma 0.3 --method switching --loss hinge --save model.npz"

    method: str = option(listed(METHODS, "default: cccp"), "cccp", part="method", choices=task_names)
    solver: str = option(
        listed(SOLVERS, "default: auto, the fastest that the method takes"),
        "auto",
        part="steps",
        choices=("auto", *SOLVERS),
        used_by=For.descents,
    )
    labels_out: str | None = _labels_out()
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
        type=list_of(f"{', '.join(task_names())}, or FORMULATION:METHOD", read_task),
    )
    solver: Sequence[str] = option(
        f"LIST  comma-separated, of {', '.join(SOLVERS)} (default: auto); a method skips those that are not for it",
        ("auto",),
        part="steps",
        type=list_of(", ".join(("auto", *SOLVERS)), ("auto", *SOLVERS).__contains__),
        used_by=For.descents,
    )
    folds: int = _solver("K  of the cross-validation on labelled points, beside the supervised SVM; 0: none", 5)
    plot: str | None = _written("FILE  draw boundaries (2-d data) or iterations")


@dataclass(frozen=True, kw_only=True)
class Bound(OfProblem):
    """A lower bound of the optimum."""

    example = "convex-tsvm bound two_moons --sigma 0.3 --loss squared_hinge --relaxation signs --time-limit 60"

    formulation: str | None = _formulation("bound")
    relaxation: str | None = _bound(
        listed(table.RELAXATIONS, "auto: the strongest; default: sdp, else curvature"),
        choices=lambda: ("auto", *table.RELAXATIONS),
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

    data: str = _points(nargs="?")
    method: str = _derivation("whose derivation", "cccp", choices=formulation_names)
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
    grade: Sequence[str] = _paper("FILE  run filled-in sheets of the lesson, and say what is right", (), nargs="+")
    seed: int | None = _paper("N  draws the problems that --grade tries answers on (default: those of the sheets)")


@dataclass(frozen=True, kw_only=True)
class Derive(Request):
    """Derive the dual of a formulation, or its problem, CCCP, balance, relaxation or bound, in proven steps."""

    takes = "FORMULATION"
    example = "convex-tsvm derive tsvm --of dual --formulation-option s=-0.3 --exercise sheet.ipynb"

    formulation: str = option("its name", ..., part="model", choices=lambda: tuple(FORMULATIONS))
    of: str = option(
        "what is derived", "dual", part="model", choices=lambda: import_module("convex_tsvm.verification.derive").KINDS
    )
    formulation_option: Sequence[tuple[str, Any]] = option(
        "NAME=VALUE  an option of the formulation, such as loss=squared_hinge or fit_intercept=false", (), part="model",
        type=read_assignment, action="append",
    )  # fmt: skip
    imported: Sequence[str] = _imported()
    latex: str | None = option("FILE  write it as LaTeX", part="written")
    html: str | None = option("FILE  write it as HTML, with formulas for MathJax", part="written")
    notebook: str | None = option("FILE  write it as a notebook (.ipynb), a step a cell", part="written")
    exercise: str | None = option("FILE  the same with the lines left out, to be filled in and graded", part="written")


@dataclass(frozen=True, kw_only=True)
class Linear(Request):
    """Fit a linear function to many points, by SVMlin's methods."""

    example = "convex-tsvm linear train.svm -W 0.001 -R 0.5 --save model.npz --labels-out labels.csv"

    data: str = _data("DATA  an svmlight file with labels +1, -1 and 0 (unknown), or a folder that convert wrote", ...)
    labels: str | None = _data("FILE  labels in place of those in DATA, one a line")
    unlabeled: str | None = _unlabeled("0, as in SVMlin")
    zero_based: bool = _data("the first column is 0 in the file, not 1", False)
    method: str = option(
        listed({name: METHODS[name] for name in DESCENTS}, "default: switching"),
        "switching",
        part="task",
        choices=DESCENTS,
    )
    method_option: Sequence[tuple[str, Any]] = _assignments("method", "task", METHODS, DESCENTS)
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
    labels_out: str | None = _labels_out()
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
class Predict(Request):
    """Label the points of a file with a saved model."""

    takes = "MODEL DATA"
    example = "convex-tsvm predict model.npz new.csv --labels-out labels.csv"

    model: str = option("MODEL  written by solve --save", ..., part="")
    data: str = _data("DATA  as for solve; its labels are only used to report the error", ...)
    positive: Sequence[str] | None = _data("A,B  classes that count as +1 (default: the model's)", type=listed_names)
    label_column: str | None = _data("NAME  of a .csv file (default: the model's; the last, if it has no names)")
    unlabeled: str | None = _unlabeled()
    zero_based: bool | None = _zero_based("as in the file of the model")
    labels_out: str | None = _labels_out()
