"""Figures of a result, results as a table, and files that commands write."""

import csv
import itertools
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from .. import plot
from ..data import Data
from ..problem import Problem
from ..solution import Solution
from ..validation import new_file
from .options import Task
from .requests import Request

SOLVED_STATUSES = ("converged", "optimal")


def stopped(results: list[dict[str, Any]]) -> list[str]:
    """A line about the methods that the time limit ended; none if it ended none."""
    names = [result["method"] for result in results if result["status"] == "time_limit"]
    return [f"{', '.join(names)}: ended by the time limit, with the best found so far"] if names else []


def compilation() -> list[str]:
    """A line about the loops that were compiled, which a second run does not do; none if none were."""
    from ..points.compilation import tell_of_compilation  # imports numba, which tables alone do not need

    seconds = tell_of_compilation().seconds
    return [f"{seconds:.1f} s more went into compiling loops, once on this machine"] if seconds >= 0.05 else []


def figures_of(error: float | None, problem: Problem, *, method: str, solver: str, **figures: Any) -> dict[str, Any]:
    """What is printed about labels found for a problem, as JSON or as a row of a table; by default without a bound."""
    return {
        "method": method,
        "solver": solver,
        "n_labeled": problem.n_labeled,
        "n_unlabeled": problem.n_unlabeled,
        "error_unlabeled": error,
        "lower_bound": None,
        "gap": None,
        **figures,
    }


def result_of(data: Data, solution: Solution, task: Task, solver: str) -> dict[str, Any]:
    """The figures of a solution."""
    certificate = solution.certificate() if solution.has_certificate else None
    return figures_of(
        data.error(solution.labels),
        solution.problem,
        method=task.name,
        formulation=task.formulation,
        solver=solution.solver if solver == "auto" else solver,
        loss=getattr(solution.formulation.unlabeled, "name", None),
        objective=solution.objective,
        lower_bound=solution.lower_bound,
        gap=solution.gap,
        iterations=solution.n_iter,
        seconds=solution.seconds,
        status=solution.status,
        step_duality_gap=None if certificate is None else certificate.gap,
        step_kkt=None if certificate is None else certificate.kkt,
    )


def failure_of(error: BaseException, problem: Problem, task: Task, solver: str, seconds: float) -> dict[str, Any]:
    """The figures of a method that ended in an error, or by Ctrl-C, without a result: none, and why."""
    nothing = dict.fromkeys(("loss", "objective", "iterations", "step_duality_gap", "step_kkt"))
    reason, status = " ".join(str(error).split()) or type(error).__name__, "failed"
    if isinstance(error, KeyboardInterrupt):
        reason, status = "Ctrl-C before there was a result", "interrupted"
    ended = {"seconds": seconds, "status": status, "reason": reason}
    return figures_of(None, problem, method=task.name, formulation=task.formulation, solver=solver, **nothing, **ended)


def print_table(results: list[dict[str, Any]], below: Sequence[str] = ()) -> None:
    """Results as a table on standard output, and lines below it: with rules and colours on a terminal only."""
    headings, rows = cells_of(results)
    if sys.stdout.isatty():
        _draw_table(headings, rows, results)
    else:
        print(text_of(headings, rows))
    for line in below:
        print(line)


def _draw_table(headings: list[str], rows: list[list[str]], results: list[dict[str, Any]]) -> None:
    from rich.console import Console

    # A dumb terminal has a width, too, which rich does not ask for.
    size = shutil.get_terminal_size()
    console = Console(width=size.columns, height=size.lines)
    styles = ["" if result.get("status") in SOLVED_STATUSES else "yellow" for result in results]
    table = _drawn([headings, *rows], styles, upright=True)
    if Console(width=10_000, height=console.height).measure(table).minimum <= console.width:
        console.print(table)
        return
    # Too many columns: they become rows, and as many methods stand beside each other as there is room for.
    widths = [max(map(len, row)) + 2 for row in rows]
    room = max(console.width - max(map(len, headings)) - 6, *widths)
    while rows:
        count = max(1, sum(total <= room for total in itertools.accumulate(widths)))
        console.print(_drawn([headings, *rows[:count]], styles[:count], upright=False))
        rows, styles, widths = rows[count:], styles[count:], widths[count:]


def _drawn(grid: list[list[str]], styles: list[str], upright: bool) -> Any:
    """Headings, and below or beside them results, each in its style; in an upright table only reasons are broken."""
    from rich import box
    from rich.table import Table

    table, lines = Table(box=box.SIMPLE_HEAD), grid if upright else list(zip(*grid, strict=True))
    for k, (heading, *cells) in enumerate(zip(*lines, strict=True)):
        is_status = upright and heading == "status"  # behind which a reason stands, which may take several lines
        table.add_column(
            "\n".join(textwrap.wrap(heading, 10, break_long_words=False)) if upright else heading,
            justify="left" if k == 0 or (upright and any(cell[:1].isalpha() for cell in cells)) else "right",
            no_wrap=k == 0 or (upright and not is_status),
            min_width=max(len(cell.partition(":")[0]) for cell in cells) if is_status else None,
            style="" if upright or k == 0 else styles[k - 1],
            overflow="fold",
        )
    for k, line in enumerate(lines[1:]):
        table.add_row(*line, style=styles[k] if upright else "")
    return table


def cells_of(results: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of words; a column that no result has is left out, and a reason stands after a status."""
    columns = _columns(results)
    rows = []
    for result in results:
        values = [(result.get(key), form) for _, key, form in columns]
        rows.append(["-" if value in (None, math.inf, -math.inf) else form.format(value) for value, form in values])
        if "reason" in result:
            rows[-1][-1] += f": {result['reason']}"
    return [heading for heading, _, _ in columns], rows


def text_of(headings: list[str], rows: list[list[str]]) -> str:
    """A table as lines of text; the last column may be of any width."""
    widths = [max(len(row[k]) for row in [headings, *rows]) for k in range(len(headings) - 1)]
    widths.append(max(len(row[-1].partition(":")[0]) for row in [headings, *rows]))
    ruled = [headings, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in ruled)


def _columns(results: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Heading, key of a result and format of the columns that some result has."""
    known = [
        ("method", "method", "{}"),
        ("solver", "solver", "{}"),
        ("loss", "loss", "{}"),
        ("objective", "objective", "{:.8g}"),
        ("lower bound", "lower_bound", "{:.6g}"),
        ("gap", "gap", "{:.1%}"),
        ("duality gap of the last step", "step_duality_gap", "{:.0e}"),
        ("error", "error_unlabeled", "{:.2%}"),
        ("left-out error", "left_out_error", "{:.1%}"),
        ("labels as SVM's", "agreement", "{:.1%}"),
        ("steps", "iterations", "{}"),
        ("seconds", "seconds", "{:.3f}"),
        ("status", "status", "{}"),
    ]
    return [column for column in known if any(column[1] in result for result in results)]


def print_json(found: Any) -> None:
    """Print plain values as one line of JSON, which has no infinite numbers: they are null there."""
    print(json.dumps(json.loads(json.dumps(found), parse_constant=lambda name: None)))


def say(request: Request, text: object, figures: Any) -> None:
    """Print what there is to say, or the figures as JSON if that is asked for."""
    if request.json:
        print_json(figures)
    else:
        print(text)


def check_outputs(request: Request) -> None:
    """Complain about what cannot be written before the work is done, and what is read or written by another name."""
    given = {name: path for name, path in vars(request).items() if path is not None}
    others: list[tuple[str, Any]] = [
        (name, given[name]) for name in ("data", "of_data", "source", "model", "labels") if name in given
    ]
    written = "save labels_out certificate checkpoint plot html trim derivation exercise target"
    for name in (name for name in written.split() if name in given):
        path = given[name]
        if path == "-":
            raise ValueError(f"{name}='-' must be the name of a file")
        for other, place in [] if os.path.realpath(path).startswith("/dev/") else others:
            if _is_same(path, place) or (os.path.isdir(place) and _is_same(os.path.dirname(path) or ".", place)):
                where = "the same file as" if _is_same(path, place) else "in the folder"
                raise ValueError(f"{name}={path!r} is {where} {'DATA' if other == 'data' else other}")
        if name != "target":
            new_file(name, path)
        if name == "plot":
            plot.check_picture(path)
        others.append((name, path))


def _is_same(path: str, other: str) -> bool:
    """Whether two names are of one file: by links, or, of files that are not there yet, but for capitals."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path).casefold() == os.path.realpath(other).casefold()


def write_plot(draw: Callable[[], Any], path: str | None, quiet: bool) -> None:
    """Draw a picture into a file, if one was asked for, and say so."""
    if path is not None:
        plot.save(draw(), path)
        if not quiet:
            print(f"picture: {path}")


def write_labels(path: str, labels: Any, scores: Any, classes: Sequence[str]) -> None:
    """Index, label and output of every point, as CSV, with the data's own names for -1 and +1."""
    # Signs keep theirs: a file of labels -1 and 1 says +1 as it always has.
    names = ("-1", "+1") if tuple(classes) == ("-1", "1") else tuple(classes)
    write_class_labels(path, [names[int(label > 0)] for label in labels], scores)


def write_class_labels(path: str, labels: Any, scores: Any) -> None:
    """The same for names of classes, shape (n,), and the output of each point's own class."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = zip(range(len(labels)), labels, map(float, scores), strict=True)
        csv.writer(file).writerows([("index", "label", "output"), *rows])
