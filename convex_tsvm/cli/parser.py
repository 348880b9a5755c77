"""The parser of the command line, made of the classes of requests."""

import argparse
import runpy
import shutil
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from . import commands, comparison, linear
from .options import arguments_of
from .requests import Bound, Compare, Convert, Derive, Linear, Predict, Request, Solve, Verify


class BadUsage(Exception):
    """An option that does not parse."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        # Help is as wide as is read with ease; the example below it stands as it is written.
        width = min(shutil.get_terminal_size().columns, 110) - 2
        shown = partial(argparse.RawDescriptionHelpFormatter, width=width, max_help_position=32)
        # What is not typed has the default of the request's field.
        super().__init__(formatter_class=shown, argument_default=argparse.SUPPRESS, **settings)

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
        [subparsers] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        for each in (parser, *subparsers.choices.values()):
            for action in each._actions:
                if action.metavar in ("DATA", "FILE", "MODEL", "SOURCE", "TARGET"):
                    action.complete = shtab.FILE
        print(shtab.complete(parser, shell=values))
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; it sets ``request`` to the class of the request and ``run`` to what takes one."""
    from .. import __version__

    parser = _Parser(prog="convex-tsvm", description="Semi-supervised support vector machines by convex optimization.")
    parser.add_argument("--version", action="version", version=f"convex-tsvm {__version__}")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "tcsh"),
        metavar="SHELL",
        help="print what makes bash, zsh or tcsh complete the rest of a command, and exit (needs "
        "convex_tsvm[completion])",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser, title="commands")
    runs: tuple[tuple[type[Request], Any], ...] = (
        (Solve, commands.solve),
        (Compare, comparison.compare),
        (Linear, linear.linear),
        (Convert, linear.convert),
        (Bound, commands.bound),
        (Verify, commands.verify),
        (Derive, commands.derive),
        (Predict, commands.predict),
    )
    for request, run in runs:
        name, summary = request.__name__.lower(), (request.__doc__ or "").rstrip(".")
        command = subparsers.add_parser(
            name,
            help=summary[:1].lower() + summary[1:],
            usage=f"%(prog)s {request.takes} [OPTIONS]",
            epilog=f"example:\n  {request.example}",
        )
        command.set_defaults(run=run, request=request)
        groups: dict[str | None, Any] = {None: command}
        for heading, flags, settings in arguments_of(request):
            if heading not in groups:
                groups[heading] = command.add_argument_group(heading)
            groups[heading].add_argument(*flags, **settings)
    return parser


def read_request(arguments: Sequence[str] | None) -> tuple[Request, Any]:
    """What the arguments of the command line ask for, and the function that does it."""
    first = _Parser(prog="convex-tsvm", add_help=False)
    first.add_argument("--import", dest="files", action="append", default=[])
    # What these files register is among the choices of the parser.
    for path in first.parse_known_args(arguments)[0].files:
        try:
            runpy.run_path(path, run_name=path)
        except Exception as error:
            raise BadUsage(f"import={path!r} does not run: {type(error).__name__}: {error}") from error
    typed = vars(build_parser().parse_args(arguments))
    run, request = typed.pop("run"), typed.pop("request")
    return request(**typed, told=tuple(typed)), run
