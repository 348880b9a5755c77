"""Options of the command line, spelled as everywhere else."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ..formulations import FINITE_LOSSES, LOSSES
from ..table import (
    BRANCHING,
    DESCENTS,
    FORMULATIONS,
    INTERVAL_RELAXATIONS,
    METHODS,
    RELAXATIONS,
    SDP_SOLVERS,
    SOLVERS,
    STRATEGIES,
    Entry,
)
from . import commands, comparison, linear
from .tasks import read_task, task_names

#: Formulations whose derivation can be checked.
STEPPED = ("svm", "cccp", "cmm", "rmm", "lapsvm")
BOUNDS = ("auto", *RELAXATIONS)
_OF_TSVM, _OF_CMM, _OF_GRAPH = (FORMULATIONS[name].defaults for name in ("tsvm", "cmm", "lapsvm"))


class BadUsage(Exception):
    """An option that does not parse."""


class _Told(argparse.Action):
    """Store the value, and that the user gave it: one that a command does not look at is refused, a default is not."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        setattr(namespace, self.dest, values)
        if option is not None:
            namespace.told = {**getattr(namespace, "told", {}), self.dest: option}


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, _Told)
        self.set_defaults(told={})

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage: a bad input is one line."""
        raise BadUsage(f"{message} (see {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets ``run`` to a function of the options."""
    from .. import __version__

    parser = _Parser(prog="convex-tsvm", description="Semi-supervised support vector machines by convex optimization.")
    parser.add_argument("--version", action="version", version=f"convex-tsvm {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    for add in (
        _add_solve_command,
        _add_compare_command,
        _add_linear_command,
        _add_convert_command,
        _add_bound_command,
        _add_verify_command,
        _add_predict_command,
    ):
        add(subparsers)
    return parser


def _add_solve_command(subparsers: Any) -> None:
    solve = subparsers.add_parser("solve", help="fit one method to data")
    _add_data(solve)
    _add_model(solve)
    _add_task(solve)
    solve.add_argument("--method", choices=task_names(), default="cccp", help=_listed(METHODS, "default: cccp"))
    solve.add_argument("--solver", choices=("auto", *SOLVERS), default="auto",
                       help=_listed(SOLVERS, "default: auto, the fastest that the method takes"))  # fmt: skip
    _add_cvxpy_solver(solve)
    solve.add_argument("--labels-out", metavar="FILE", help="write index, label and output of every point as CSV")
    solve.add_argument("--save", metavar="MODEL", help="write the fitted model (arrays and JSON)")
    solve.add_argument(
        "--plot", metavar="FILE", help="draw boundaries (2-d data) or iterations; the tree of exact search"
    )
    solve.add_argument("--json", action="store_true", help="print one JSON object")
    _add_search(solve)
    files = solve.add_argument_group("files of --method exact")
    files.add_argument("--certificate", metavar="FILE", help="write what proves the bound; verify FILE checks it")
    files.add_argument("--checkpoint", metavar="FILE", help="save the search there, and go on from it if it is there")
    solve.set_defaults(run=commands.solve)


def _add_cvxpy_solver(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cvxpy-solver", metavar="NAME",
                        help="which of CVXPY's solvers, such as scs, osqp or clarabel (default: clarabel); asks for "
                        "--solver cvxpy")  # fmt: skip


def _add_compare_command(subparsers: Any) -> None:
    compare = subparsers.add_parser("compare", help="several methods and solvers side by side")
    _add_data(compare)
    _add_model(compare)
    _add_task(compare)
    compare.add_argument("--methods", "--method", type=_tasks, default=["svm", "cccp"], metavar="LIST",
                         help=f"comma-separated, of {', '.join(task_names())}, or FORMULATION:METHOD "
                         "(default: svm,cccp)")  # fmt: skip
    compare.add_argument("--solver", type=_choices(("auto", *SOLVERS)), default=["auto"], metavar="LIST",
                         help=f"comma-separated, of {', '.join(SOLVERS)} (default: auto); a method skips those "
                         "that are not for it")  # fmt: skip
    _add_cvxpy_solver(compare)
    compare.add_argument("--folds", type=int, default=5, metavar="K",
                         help="of the cross-validation on labelled points, beside the supervised SVM; 0: none "
                         "(default: 5)")  # fmt: skip
    compare.add_argument("--plot", metavar="FILE", help="draw boundaries (2-d data) or iterations")
    compare.add_argument("--json", action="store_true", help="print one JSON object")
    _add_search(compare)
    compare.set_defaults(run=comparison.compare, checkpoint=None, certificate=None)


def _add_linear_command(subparsers: Any) -> None:
    many = subparsers.add_parser("linear", help="fit a linear function to many points, by SVMlin's methods")
    _add_linear(many)
    many.set_defaults(run=linear.linear)


def _add_convert_command(subparsers: Any) -> None:
    convert = subparsers.add_parser("convert", help="an svmlight file to a folder of points, which is mapped, not read")
    convert.add_argument("source", metavar="SOURCE", help="an svmlight file")
    convert.add_argument("target", metavar="TARGET", help="the folder; it must not be there yet")
    convert.add_argument("--n-features", type=int, metavar="D", help="columns (default: as many as there are)")
    convert.add_argument("--zero-based", action="store_true", help="the first column is 0 in the file, not 1")
    convert.add_argument("--dtype", choices=("float32", "float64"), default="float32",
                         help="of the values that are kept (default: float32)")  # fmt: skip
    convert.set_defaults(run=linear.convert)


def _add_bound_command(subparsers: Any) -> None:
    bound = subparsers.add_parser("bound", help="a lower bound of the optimum")
    _add_data(bound)
    _add_model(bound)
    bound.add_argument("--formulation", choices=tuple(FORMULATIONS), help=_listed(FORMULATIONS, "default: tsvm"))
    bound.add_argument("--relaxation", choices=(*BOUNDS, *INTERVAL_RELAXATIONS), default=None,
                       help="svm to signs are about labels, and each contains those before it (beyond sdp for "
                       "--loss squared_hinge); envelope and curvature are for any piecewise linear-quadratic losses; "
                       "auto: the strongest (default: sdp, else curvature)")  # fmt: skip
    bound.add_argument("--solver", choices=("auto", *SDP_SOLVERS), default="auto",
                       help="for relaxations from sdp to triangles")  # fmt: skip
    bound.add_argument("--rounds", type=int, default=30, metavar="N", help="of cuts (default: 30)")
    bound.add_argument("--plot", metavar="FILE", help="draw the bounds of the relaxations, one after the other")
    bound.add_argument("--json", action="store_true", help="print one JSON object")
    bound.set_defaults(run=commands.bound, method_option=[])


def _add_verify_command(subparsers: Any) -> None:
    verify = subparsers.add_parser(
        "verify", help="check the derivation of a formulation on data, line by line, or a certificate of solve"
    )
    _add_data(verify, optional=True)
    _add_model(verify)
    verify.add_argument("--method", choices=STEPPED, default="cccp",
                        help="whose derivation (default: cccp)")  # fmt: skip
    verify.add_argument("--formulation", choices=tuple(FORMULATIONS), help=_listed(FORMULATIONS, "default: tsvm"))
    verify.add_argument("--points", type=int, default=300, metavar="N",
                        help="use all labelled and the first unlabelled points up to N (default: 300)")  # fmt: skip
    verify.add_argument("--plot", metavar="FILE", help="draw the loss of unlabelled points, its parts and a surrogate")
    verify.add_argument("--json", action="store_true", help="print one JSON object")
    files = verify.add_argument_group("for a certificate")
    files.add_argument("--rigorous", action="store_true",
                       help="prove its claim by arithmetic and code that the search does not share "
                       "(needs convex_tsvm[rigorous])")  # fmt: skip
    files.add_argument("--data", dest="of_data", metavar="DATA",
                       help="prove it (--rigorous) for the problem that this file and the options of solve make: a "
                       "proof of another problem does not count")  # fmt: skip
    files.add_argument("--html", metavar="FILE", help="write it as a page: problem, tree, what closes each leaf")
    files.add_argument("--trim", metavar="FILE", help="write what of it the proof needs (needs convex_tsvm[rigorous])")
    papers = verify.add_argument_group("for a paper")
    papers.add_argument("--paper", metavar="NAME", help="run the numbered statements of a paper: collobert2006, "
                        "chapelle2008, sindhwani2006, debie2004, dai2010, or all")  # fmt: skip
    papers.add_argument("--lesson", type=int, metavar="NUMBER", help="a lesson of the course, 1 to 8: writes its sheet")
    papers.add_argument("--derivation", metavar="FILE", help="write the paper's main derivation as a notebook "
                        "(.ipynb), or the key to the lesson's sheet")  # fmt: skip
    papers.add_argument("--exercise", metavar="FILE", help="the same with right-hand sides left out, to be graded")
    verify.set_defaults(run=commands.verify, balance="labeled")  # a derivation holds for any balance


def _add_predict_command(subparsers: Any) -> None:
    predict = subparsers.add_parser("predict", help="label the points of a file with a saved model")
    predict.add_argument("model", metavar="MODEL", help="written by solve --save")
    predict.add_argument("data", metavar="DATA", help="as for solve; its labels are only used to report the error")
    predict.add_argument(
        "--positive", type=_names, metavar="A,B", help="classes that count as +1 (default: the model's)"
    )
    predict.add_argument("--label-column", metavar="NAME",
                         help="of a .csv file (default: the model's; the last, if it has no names)")  # fmt: skip
    _add_unlabeled(predict)
    predict.add_argument("--labels-out", metavar="FILE", help="write index, label and output of every point as CSV")
    predict.add_argument("--json", action="store_true", help="print one JSON object")
    predict.set_defaults(run=commands.predict)


def _add_task(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--formulation", choices=tuple(FORMULATIONS), help=_listed(FORMULATIONS, "default: tsvm"))
    _add_method_options(parser, METHODS)
    _add_time_limit(parser, "each method")


def _add_time_limit(parser: argparse.ArgumentParser, whose: str) -> None:
    parser.add_argument("--time-limit", type=float, metavar="SECONDS",
                        help=f"stop {whose} then, with the best found so far and exit status 1")  # fmt: skip


def _add_method_options(parser: argparse.ArgumentParser, methods: Iterable[str]) -> None:
    taken = {name: METHODS[name].options for name in methods}
    parser.add_argument(
        "--method-option", type=_assignment, action="append", default=[], metavar="NAME=VALUE",
        help="of the method: " + "; ".join(f"{name}: {', '.join(names)}" for name, names in taken.items() if names),
    )  # fmt: skip


def _listed(entries: Mapping[str, Entry], default: str) -> str:
    """What can be asked for, for a help text."""
    return "; ".join(f"{name}: {entry.summary}" for name, entry in entries.items()) + f" ({default})"


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def _tasks(text: str) -> list[str]:
    names = _names(text)
    try:
        for name in names:
            read_task(name)
    except ValueError:
        names = []
    if not names:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a comma-separated list of {', '.join(task_names())}, or FORMULATION:METHOD"
        )
    return list(dict.fromkeys(names))


def _add_data(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("data", metavar="DATA", nargs="?" if optional else None,
                       help="a .npz, .csv or svmlight file, or two_moons, breast_cancer, digits, iris, "
                       "wine")  # fmt: skip
    group.add_argument("--split", type=int, default=0, metavar="K", help="row of 'labeled' (default: 0)")
    group.add_argument("--splits", default="labeled", metavar="NAME", help="array of splits (default: labeled)")
    group.add_argument("--positive", type=_names, metavar="A,B", help="classes that count as +1")
    group.add_argument("--label-column", metavar="NAME", help="of a .csv file (default: the last)")
    _add_unlabeled(group)
    group.add_argument("--n-labeled", type=int, metavar="N", help="show N labels drawn at random, in place of a split")
    group.add_argument("--random-state", type=int, default=0, metavar="SEED", help="of that draw (default: 0)")


def _add_unlabeled(
    parser: Any, default: str = "missing ones; other labels that can be read in two ways are asked about"
) -> None:
    parser.add_argument("--unlabeled", metavar="VALUE",
                        help="the label of points whose class is unknown, nan for missing ones "
                        f"(default: {default})")  # fmt: skip


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--kernel", choices=("rbf", "linear", "poly", "precomputed"), default="rbf",
                       help="precomputed: X is the kernel matrix (default: rbf)")  # fmt: skip
    group.add_argument("--sigma", type=float, help="RBF width")
    group.add_argument("--gamma", type=float, help="1 / (2 sigma²) (default: 1 / (d Var X))")
    group.add_argument("--degree", type=int, default=3, help="of the polynomial kernel (default: 3)")
    group.add_argument("--coef0", type=float, default=0.0, help="of the polynomial kernel (default: 0)")
    group.add_argument("--C", type=float, default=10.0, help="cost of labelled points (default: 10)")
    group.add_argument("--C-unlabeled", type=_cost, default="tenth", metavar="COST",
                       help="of unlabelled points: a number, balanced (C L/U), or tenth (C/10, default)")  # fmt: skip
    own = "; ".join(f"{entry.loss} for {name}" for name, entry in METHODS.items())
    group.add_argument("--loss", choices=LOSSES, help=f"of unlabelled points (default: the method's, {own})")
    group.add_argument("--s", type=float, default=_OF_TSVM["s"],
                       help=f"plateau of the ramp, in (-1, 0] (default: {_OF_TSVM['s']:g})")  # fmt: skip
    group.add_argument("--balance", type=_balance, default="auto", metavar="B",
                       help="mean output of unlabelled points: auto (as the shares of the classes are inferred, "
                       "default), labeled, none, a number in (-10, 10), or exact:R for a share R of positive "
                       "labels")  # fmt: skip
    group.add_argument("--epsilon", type=float, default=_OF_CMM["epsilon"], metavar="E",
                       help=f"cmm, rmm: outputs up to E cost nothing (default: {_OF_CMM['epsilon']:g})")  # fmt: skip
    group.add_argument("--C-compact", type=float, metavar="COST",
                       help="cmm, rmm: cost of larger ones; inf forbids them (default: a tenth of C-unlabeled for "
                       "cmm, C L/U for rmm)")  # fmt: skip
    group.add_argument("--C-manifold", type=float, default=_OF_GRAPH["C_manifold"], metavar="COST",
                       help="lapsvm: cost of the graph of neighbours "
                       f"(default: {_OF_GRAPH['C_manifold']:g})")  # fmt: skip
    group.add_argument("--n-neighbors", type=int, default=_OF_GRAPH["n_neighbors"], metavar="K",
                       help=f"lapsvm: in that graph (default: {_OF_GRAPH['n_neighbors']})")  # fmt: skip
    group.add_argument("--power", type=int, default=_OF_GRAPH["power"], metavar="P",
                       help=f"lapsvm: of the graph's Laplacian (default: {_OF_GRAPH['power']})")  # fmt: skip
    group.add_argument("--annealing", type=int, metavar="STEPS", help="raise C* in so many steps")
    group.add_argument("--tol", type=float, default=1e-3, help="tolerance of the native solver (default: 1e-3)")
    group.add_argument("--max-iter", type=int, default=100, help="limit on convex steps (default: 100)")
    group.add_argument("--cache-size", type=_megabytes, default="auto", metavar="MB",
                       help="memory for kernel rows (default: auto, a quarter of what is free)")  # fmt: skip


def _add_linear(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", help="an svmlight file with labels +1, -1 and 0 (unknown), or a folder "
                        "that convert wrote")  # fmt: skip
    parser.add_argument("--labels", metavar="FILE", help="labels in place of those in DATA, one a line")
    _add_unlabeled(parser, "0, as in SVMlin")
    parser.add_argument("--zero-based", action="store_true", help="the first column is 0 in the file, not 1")
    parser.add_argument("--method", choices=DESCENTS, default="switching",
                        help=_listed({name: METHODS[name] for name in DESCENTS}, "default: switching"))  # fmt: skip
    parser.add_argument("--loss", choices=FINITE_LOSSES, default="squared_hinge",
                        help="of unlabelled points (default: squared_hinge)")  # fmt: skip
    parser.add_argument("--lambda", "-W", dest="lambda_", type=float, default=1e-3, metavar="L",
                        help="weight of the regularizer, SVMlin's -W (default: 0.001)")  # fmt: skip
    parser.add_argument("--lambda-unlabeled", "-U", type=float, default=1.0, metavar="L",
                        help="weight of the unlabelled points, SVMlin's -U (default: 1)")  # fmt: skip
    parser.add_argument("--positive-fraction", "-R", type=float, metavar="R",
                        help="share of positive unlabelled points, SVMlin's -R (default: inferred)")  # fmt: skip
    parser.add_argument("--max-pairs", "-S", type=int, metavar="S",
                        help="switching: pairs exchanged in a round, SVMlin's -S (default: all that gain)")  # fmt: skip
    parser.add_argument("--no-intercept", action="store_true", help="without the feature that is 1 for all points")
    _add_method_options(parser, DESCENTS)
    _add_time_limit(parser, "the fit")
    parser.add_argument("--tol", type=float, default=1e-4, help="relative duality gap of the last step (default: 1e-4)")
    parser.add_argument("--max-iter", type=int, default=1000, help="limit on steps of a stage (default: 1000)")
    parser.add_argument("--labels-out", metavar="FILE", help="write index, label and output of every point as CSV")
    parser.add_argument("--save", metavar="MODEL", help="write the fitted model; predict MODEL DATA takes it")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "search (--method exact; over labels with --loss hinge or squared_hinge, else over intervals of outputs)"
    )
    group.add_argument("--bounds", choices=BOUNDS, default="auto", help="the strongest bound (default: auto)")
    group.add_argument("--strategy", choices=tuple(STRATEGIES), default="hybrid",
                       help="which node is next (default: hybrid)")  # fmt: skip
    group.add_argument("--branching", choices=tuple(BRANCHING), default="auto",
                       help="which point is branched on (default: auto)")  # fmt: skip
    group.add_argument("--gap", type=float, default=1e-6, help="relative gap to close (default: 1e-6)")
    group.add_argument("--max-nodes", type=int, metavar="N", help="stop after so many nodes")
    group.add_argument("--n-jobs", type=int, metavar="N", help="processes")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _choices(allowed: tuple[str, ...]) -> Any:
    def convert(text: str) -> list[str]:
        names = _names(text)
        wrong = [name for name in names if name not in allowed]
        if wrong or not names:
            raise argparse.ArgumentTypeError(f"{text!r} must be a comma-separated list of {', '.join(allowed)}")
        return list(dict.fromkeys(names))

    return convert


def _cost(text: str) -> float | str:
    if text in ("balanced", "tenth"):
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number > 0, 'tenth' or 'balanced'") from None


def _megabytes(text: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number > 0 or 'auto'") from None


def _balance(text: str) -> Any:
    if text in ("auto", "labeled", "none"):
        return None if text == "none" else text
    try:
        return ("exact", float(text[6:])) if text.startswith("exact:") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be auto, labeled, none, a number, or exact:R") from None
