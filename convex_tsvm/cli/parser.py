"""Options of the command line, spelled as everywhere else."""

from __future__ import annotations

import argparse
import functools
import json
import shutil
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ..formulations import FINITE_LOSSES, LOSSES
from ..table import (
    BRANCHING,
    DESCENTS,
    FORMULATIONS,
    METHODS,
    RELAXATIONS,
    SDP_SOLVERS,
    SOLVERS,
    STRATEGIES,
    Entry,
    relaxation_named,
)
from . import commands, comparison, linear
from .tasks import read_task, task_names

#: Formulations whose derivation can be checked.
STEPPED = ("svm", "cccp", "cmm", "rmm", "lapsvm")
BOUNDS = ("auto", *RELAXATIONS)
_OF_TSVM, _OF_CMM, _OF_GRAPH = (FORMULATIONS[name].defaults for name in ("tsvm", "cmm", "lapsvm"))


#: What is completed by the names of files.
FILE_METAVARS = ("DATA", "FILE", "MODEL", "SOURCE", "TARGET")


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


class _ToldFlag(argparse.BooleanOptionalAction):
    """The same for an option without a value, which ``--no-`` in front of it turns round."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        super().__call__(parser, namespace, values, option)
        namespace.told = {**getattr(namespace, "told", {}), self.dest: option}


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as is read with ease; the example below it stands as it is written."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns, 110) - 2, max_help_position=32)


class _Parser(argparse.ArgumentParser):
    def __init__(self, example: str = "", **settings: Any) -> None:
        if example:
            settings["epilog"] = f"example:\n  {example}"
            settings["usage"] = f"%(prog)s {settings.pop('takes')} [OPTIONS]"
        super().__init__(formatter_class=_Help, **settings)
        self.register("action", None, _Told)
        self.set_defaults(told={})

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage: a bad input is one line."""
        raise BadUsage(f"{message} (see {self.prog} --help)")


class _Completion(argparse.Action):
    """Print a script for a shell, written by shtab from the parser itself, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: str | None = None) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("print_completion needs shtab: pip install 'convex_tsvm[completion]'")
        for each in (parser, *_commands_of(parser)):
            for action in each._actions:
                if action.metavar in FILE_METAVARS:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, shell=values))
        parser.exit()


def _commands_of(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parsers of the commands."""
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return list(commands.choices.values())


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets ``run`` to a function of the options."""
    from .. import __version__

    parser = _Parser(prog="convex-tsvm", description="Semi-supervised support vector machines by convex optimization.")
    parser.add_argument("--version", action="version", version=f"convex-tsvm {__version__}")
    parser.add_argument("--print-completion", action=_Completion, choices=("bash", "zsh", "tcsh"), metavar="SHELL",
                        help="print what makes bash, zsh or tcsh complete the rest of a command, and exit (needs "
                        "convex_tsvm[completion])")  # fmt: skip
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser, title="commands")
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
    solve = subparsers.add_parser(
        "solve",
        takes="DATA",
        help="fit one method to data",
        example="convex-tsvm solve two_moons --sigma 0.3 --method switching --loss hinge --save model.npz",
    )
    _add_data(solve)
    _add_model(solve)
    method = _add_task(solve)
    method.add_argument("--method", choices=task_names(), default="cccp", help=_listed(METHODS, "default: cccp"))
    method.add_argument("--solver", choices=("auto", *SOLVERS), default="auto",
                        help=_listed(SOLVERS, "default: auto, the fastest that the method takes"))  # fmt: skip
    _add_solver_options(method)
    _add_search(solve)
    _add_output(
        solve,
        labels_out="write index, label and output of every point as CSV",
        save="write the fitted model (arrays and JSON)",
        plot="draw boundaries (2-d data) or iterations; the tree of exact search",
    )
    files = solve.add_argument_group("files of --method exact")
    files.add_argument("--certificate", metavar="FILE", help="write what proves the bound; verify FILE checks it")
    files.add_argument("--checkpoint", metavar="FILE", help="save the search there, and go on from it if it is there")
    solve.set_defaults(run=commands.solve)


def _add_solver_options(parser: Any) -> None:
    parser.add_argument("--cvxpy-solver", metavar="NAME",
                        help="which of CVXPY's solvers, such as scs, osqp or clarabel (default: clarabel); asks for "
                        "--solver cvxpy")  # fmt: skip
    parser.add_argument("--device", metavar="LIBRARY:DEVICE",
                        help="where the native solver's kernel rows are computed, by a library of the array API: "
                        "torch:cuda, cupy (default: here, by NumPy)")  # fmt: skip


def _add_compare_command(subparsers: Any) -> None:
    compare = subparsers.add_parser(
        "compare",
        takes="DATA",
        help="several methods and solvers side by side",
        example="convex-tsvm compare breast_cancer --sigma 10 --methods svm,cccp,annealing --solver native,cvxpy",
    )
    _add_data(compare)
    _add_model(compare)
    method = _add_task(compare)
    method.add_argument("--methods", "--method", type=_tasks, default=["svm", "cccp"], metavar="LIST",
                        help=f"comma-separated, of {', '.join(task_names())}, or FORMULATION:METHOD "
                        "(default: svm,cccp)")  # fmt: skip
    method.add_argument("--solver", type=_choices(("auto", *SOLVERS)), default=["auto"], metavar="LIST",
                        help=f"comma-separated, of {', '.join(SOLVERS)} (default: auto); a method skips those "
                        "that are not for it")  # fmt: skip
    _add_solver_options(method)
    method.add_argument("--folds", type=int, default=5, metavar="K",
                        help="of the cross-validation on labelled points, beside the supervised SVM; 0: none "
                        "(default: 5)")  # fmt: skip
    _add_search(compare)
    _add_output(compare, plot="draw boundaries (2-d data) or iterations")
    compare.set_defaults(run=comparison.compare, checkpoint=None, certificate=None)


def _add_linear_command(subparsers: Any) -> None:
    many = subparsers.add_parser(
        "linear",
        takes="DATA",
        help="fit a linear function to many points, by SVMlin's methods",
        example="convex-tsvm linear train.svm -W 0.001 -R 0.5 --save model.npz --labels-out labels.csv",
    )
    _add_linear(many)
    many.set_defaults(run=linear.linear)


def _add_convert_command(subparsers: Any) -> None:
    convert = subparsers.add_parser(
        "convert",
        takes="SOURCE TARGET",
        help="an svmlight file to a folder of points, which is mapped, not read",
        example="convex-tsvm convert large.svm large.points",
    )
    convert.add_argument("source", metavar="SOURCE", help="an svmlight file")
    convert.add_argument("target", metavar="TARGET", help="the folder; it must not be there yet")
    convert.add_argument("--n-features", type=int, metavar="D", help="columns (default: as many as there are)")
    convert.add_argument("--zero-based", action="store_true", help="the first column is 0 in the file, not 1")
    convert.add_argument("--dtype", choices=("float32", "float64"), default="float32",
                         help="of the values that are kept (default: float32)")  # fmt: skip
    convert.set_defaults(run=linear.convert)


def _add_bound_command(subparsers: Any) -> None:
    bound = subparsers.add_parser(
        "bound",
        takes="DATA",
        help="a lower bound of the optimum",
        example="convex-tsvm bound two_moons --sigma 0.3 --loss squared_hinge --relaxation signs --time-limit 60",
    )
    _add_data(bound)
    _add_model(bound)
    group = bound.add_argument_group("bound")
    group.add_argument("--formulation", choices=tuple(FORMULATIONS), help=_listed(FORMULATIONS, "default: tsvm"))
    group.add_argument("--relaxation", choices=BOUNDS, default=None,
                       type=functools.partial(relaxation_named, "--relaxation"),
                       help="svm to signs are about labels, and each contains those before it (signs for "
                       "--loss squared_hinge); envelope and curvature are for any piecewise linear-quadratic losses; "
                       "auto: the strongest (default: sdp, else curvature)")  # fmt: skip
    group.add_argument("--solver", choices=("auto", *SDP_SOLVERS), default="auto",
                       help="for --relaxation sdp (default: auto)")  # fmt: skip
    group.add_argument("--rounds", type=int, default=30, metavar="N", help="of cuts (default: 30)")
    group.add_argument("--time-limit", type=float, metavar="SECONDS",
                       help="stop then, with the largest bound so far, which holds, and exit status 1 "
                       "(default: none)")  # fmt: skip
    _add_output(bound, plot="draw the bounds of the relaxations, one after the other")
    bound.set_defaults(run=commands.bound, method_option=[])


def _add_verify_command(subparsers: Any) -> None:
    verify = subparsers.add_parser(
        "verify",
        takes="[DATA]",
        help="check the derivation of a formulation on data, line by line, or a certificate of solve",
        example="convex-tsvm verify two_moons --sigma 0.3 --loss squared_hinge",
    )
    _add_data(verify, optional=True)
    _add_model(verify)
    group = verify.add_argument_group("derivation")
    group.add_argument("--method", choices=STEPPED, default="cccp", help="whose derivation (default: cccp)")
    group.add_argument("--formulation", choices=tuple(FORMULATIONS), help=_listed(FORMULATIONS, "default: tsvm"))
    group.add_argument("--points", type=int, default=300, metavar="N",
                       help="use all labelled and the first unlabelled points up to N (default: 300)")  # fmt: skip
    _add_output(verify, plot="draw the loss of unlabelled points, its parts and a surrogate")
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
    predict = subparsers.add_parser(
        "predict",
        takes="MODEL DATA",
        help="label the points of a file with a saved model",
        example="convex-tsvm predict model.npz new.csv --labels-out labels.csv",
    )
    predict.add_argument("model", metavar="MODEL", help="written by solve --save")
    group = predict.add_argument_group("data")
    group.add_argument("data", metavar="DATA", help="as for solve; its labels are only used to report the error")
    group.add_argument("--positive", type=_names, metavar="A,B", help="classes that count as +1 (default: the model's)")
    group.add_argument("--label-column", metavar="NAME",
                       help="of a .csv file (default: the model's; the last, if it has no names)")  # fmt: skip
    _add_unlabeled(group)
    _add_zero_based(group, "as in the file of the model")
    _add_output(predict, labels_out="write index, label and output of every point as CSV")
    predict.set_defaults(run=commands.predict)


def _add_task(parser: argparse.ArgumentParser) -> Any:
    """The group of what is minimized and how, begun."""
    group = parser.add_argument_group("method")
    group.add_argument("--formulation", choices=tuple(FORMULATIONS), help=_listed(FORMULATIONS, "default: tsvm"))
    _add_method_options(group, METHODS)
    _add_time_limit(group, "each method")
    return group


def _add_time_limit(parser: Any, whose: str) -> None:
    parser.add_argument("--time-limit", type=float, metavar="SECONDS",
                        help=f"stop {whose} then, with the best found so far and exit status 1 "
                        "(default: none)")  # fmt: skip


def _add_method_options(parser: Any, methods: Iterable[str]) -> None:
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


def _add_output(parser: argparse.ArgumentParser, **files: str) -> Any:
    """The group of what a command writes: files, by option and help, and the choice between a table and JSON."""
    group = parser.add_argument_group("output")
    for name, written in files.items():
        metavar = "MODEL" if name == "save" else "FILE"
        group.add_argument("--" + name.replace("_", "-"), metavar=metavar, help=written)
    group.add_argument("--json", action="store_true", help="print one JSON object")
    group.add_argument("--progress", choices=("auto", "json", "none"), default="auto",
                       help="how far it is, on standard error: one line on a terminal and nothing elsewhere, a JSON "
                       "object a line for programs, or nothing (default: auto)")  # fmt: skip
    return group


def _add_data(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("data", metavar="DATA", nargs="?" if optional else None,
                       help="a .npz, .csv, .tsv or svmlight file, or two_moons, breast_cancer, digits, iris, "
                       "wine")  # fmt: skip
    group.add_argument("--split", type=int, default=0, metavar="K", help="row of 'labeled' (default: 0)")
    group.add_argument("--splits", default="labeled", metavar="NAME", help="array of splits (default: labeled)")
    group.add_argument(
        "--positive", type=_names, metavar="A,B", help="classes that count as +1 (default: the second of two)"
    )
    group.add_argument("--label-column", metavar="NAME", help="of a .csv file (default: the last)")
    _add_unlabeled(group)
    _add_zero_based(group, "if there is an index 0")
    group.add_argument("--n-labeled", type=int, metavar="N", help="show N labels drawn at random, in place of a split "
                       "(default: those of the file)")  # fmt: skip
    group.add_argument("--random-state", type=int, default=0, metavar="SEED", help="of that draw (default: 0)")


def _add_unlabeled(
    parser: Any, default: str = "missing ones; other labels that can be read in two ways are asked about"
) -> None:
    parser.add_argument("--unlabeled", metavar="VALUE",
                        help="the label of points whose class is unknown, nan for missing ones "
                        f"(default: {default})")  # fmt: skip


def _add_zero_based(parser: Any, default: str) -> None:
    parser.add_argument("--zero-based", action=_ToldFlag,
                        help=f"whether the first column is 0 in svmlight text, not 1 (default: {default})")  # fmt: skip


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--kernel", choices=("rbf", "linear", "poly", "precomputed"), default="rbf",
                       help="precomputed: X is the kernel matrix (default: rbf)")  # fmt: skip
    group.add_argument("--sigma", type=float, help="RBF width (default: as --gamma says)")
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
    group.add_argument("--annealing", type=int, metavar="STEPS", help="raise C* in so many steps (default: it stays)")
    group.add_argument("--tol", type=float, default=1e-3, help="tolerance of the native solver (default: 1e-3)")
    group.add_argument("--max-iter", type=int, default=100, help="limit on convex steps (default: 100)")
    group.add_argument("--cache-size", type=_megabytes, default="auto", metavar="MB",
                       help="memory for kernel rows (default: auto, a quarter of what is free)")  # fmt: skip


def _add_linear(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("data")
    data.add_argument("data", metavar="DATA", help="an svmlight file with labels +1, -1 and 0 (unknown), or a folder "
                      "that convert wrote")  # fmt: skip
    data.add_argument("--labels", metavar="FILE", help="labels in place of those in DATA, one a line")
    _add_unlabeled(data, "0, as in SVMlin")
    data.add_argument("--zero-based", action="store_true", help="the first column is 0 in the file, not 1")
    method = parser.add_argument_group("method")
    method.add_argument("--method", choices=DESCENTS, default="switching",
                        help=_listed({name: METHODS[name] for name in DESCENTS}, "default: switching"))  # fmt: skip
    _add_method_options(method, DESCENTS)
    _add_time_limit(method, "the fit")
    method.add_argument("--tol", type=float, default=1e-4, help="relative duality gap of the last step (default: 1e-4)")
    method.add_argument("--max-iter", type=int, default=1000, help="limit on steps of a stage (default: 1000)")
    _add_linear_model(parser.add_argument_group("model, with SVMlin's letters"))
    _add_output(
        parser,
        labels_out="write index, label and output of every point as CSV",
        save="write the fitted model; predict MODEL DATA takes it",
    )


def _add_linear_model(group: Any) -> None:
    group.add_argument("--loss", choices=FINITE_LOSSES, default="squared_hinge",
                       help="of unlabelled points (default: squared_hinge)")  # fmt: skip
    group.add_argument("--lambda", "-W", dest="lambda_", type=float, default=1e-3, metavar="L",
                       help="weight of the regularizer, SVMlin's -W (default: 0.001)")  # fmt: skip
    group.add_argument("--lambda-unlabeled", "-U", type=float, default=1.0, metavar="L",
                       help="weight of the unlabelled points, SVMlin's -U (default: 1)")  # fmt: skip
    group.add_argument("--positive-fraction", "-R", type=float, metavar="R",
                       help="share of positive unlabelled points, SVMlin's -R (default: inferred)")  # fmt: skip
    group.add_argument("--max-pairs", "-S", type=int, metavar="S",
                       help="switching: pairs exchanged in a round, SVMlin's -S (default: all that gain)")  # fmt: skip
    group.add_argument("--no-intercept", action="store_true", help="without the feature that is 1 for all points")


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "search (--method exact; over labels with --loss hinge or squared_hinge, else over intervals of outputs)"
    )
    group.add_argument(
        "--bounds",
        choices=BOUNDS,
        default="auto",
        type=functools.partial(relaxation_named, "--bounds"),
        help="the strongest bound (default: auto)",
    )
    group.add_argument("--strategy", choices=tuple(STRATEGIES), default="hybrid",
                       help="which node is next (default: hybrid)")  # fmt: skip
    group.add_argument("--branching", choices=tuple(BRANCHING), default="auto",
                       help="which point is branched on (default: auto)")  # fmt: skip
    group.add_argument("--gap", type=float, default=1e-6, help="relative gap to close (default: 1e-6)")
    group.add_argument("--max-nodes", type=int, metavar="N", help="stop after so many nodes (default: none)")
    group.add_argument("--n-jobs", type=int, metavar="N", help="processes (default: 1)")


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
