"""Options of the command line: what is typed, what it is for, which tasks look at it; and tasks by their names."""

import argparse
import contextlib
import json
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any

from .. import table
from ..methods.settings import check_taken
from ..table import DESCENTS, FORMULATIONS, METHODS, SOLVERS


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
        first = self.solver_of("auto")
        found = [first if name == "auto" else name for name in asked if name in ("auto", *self.solvers)]
        return list(dict.fromkeys(found)) or [first]

    def solver_of(self, asked: str) -> str:
        """The solver asked for, or the only one that takes both, "-" without any; "auto" where the problem decides."""
        if not self.solvers:
            return "-"
        own = FORMULATIONS[self.formulation].solver
        if asked == "auto":
            return own if own in self.solvers else self.solvers[0] if len(self.solvers) == 1 else "auto"
        check_taken(self.solvers, asked, self.method)
        return asked

    def loss(self, asked: str | None) -> str:
        """The name of the loss of unlabelled points: the one asked for, or the method's own."""
        return METHODS[self.method].loss if asked is None else asked


def read_task(name: str, formulation: str | None = None) -> Task:
    """The task that a name is: a method, a formulation (by CCCP), or ``formulation:method``; else a ValueError."""
    first, colon, second = name.partition(":")
    given, method = (None, first) if first in METHODS and not colon else (first, second if colon else "cccp")
    if (given is not None and given not in FORMULATIONS) or method not in METHODS:
        raise ValueError(f"{name!r} must be one of {', '.join(task_names())}, or FORMULATION:METHOD, such as cmm:cccp")
    if given is not None and formulation is not None and given != formulation:
        raise ValueError(f"formulation={formulation!r} and method={name!r} are two formulations")
    return Task(name, given or formulation or "tsvm", method)


def formulation_names() -> tuple[str, ...]:
    """Names by which one can ask for formulations by CCCP: that of a TSVM is its method's."""
    return tuple(dict.fromkeys(["svm", "cccp", *(name for name in FORMULATIONS if name != "tsvm")]))


def task_names() -> tuple[str, ...]:
    """Names by which one can ask for something: formulations by CCCP, and methods."""
    return tuple(dict.fromkeys([*formulation_names(), *METHODS]))


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


def _those(true: Callable[[table.Formulation], bool]) -> str:
    """Names of formulations for which something is true."""
    return ", ".join(name for name, entry in FORMULATIONS.items() if true(entry))


def formulations(option: str) -> Use:
    """For an option of some formulations."""
    names = _those(lambda entry: option in entry.options)
    return Use(lambda request, task: option in FORMULATIONS[task.formulation].options, f"the formulations {names}")


def kernels(*names: str) -> Use:
    """For options of some kernels."""
    return Use(lambda request, task: request.kernel in names, " or ".join(f"--kernel {name}" for name in names))


def _is_cached(request: Any, task: Task) -> bool:
    solvers = task.solvers_of(request.solvers) if request.solvers else []
    return "cache_size" in FORMULATIONS[task.formulation].options or any(
        name == "auto" or (name in SOLVERS and "cache_size" in SOLVERS[name].options) for name in solvers
    )


def _has_cost(request: Any, task: Task) -> bool:
    entry = FORMULATIONS[task.formulation]
    return entry.has_cost or ("C_compact" in entry.options and request.C_compact == math.inf)


def _has_ramp(request: Any, task: Task) -> bool:
    entry = FORMULATIONS[task.formulation]
    is_ramp = "loss" not in entry.options or task.loss(request.loss) == "ramp"
    return entry.has_cost and "s" in entry.options and is_ramp


class For:
    """Which tasks look at which options."""

    exact = Use(lambda request, task: task.method == "exact", "--method exact")
    descents = Use(lambda request, task: METHODS[task.method].is_descent, f"the methods {', '.join(DESCENTS)}")
    compact = formulations("C_compact")
    neighbors = formulations("n_neighbors")
    costs = Use(_has_cost, f"formulations with a cost C* of unlabelled points ({_those(lambda entry: entry.has_cost)})")
    ramps = Use(
        _has_ramp, f"--loss ramp and the formulations {_those(lambda entry: {'s', 'loss'} & {*entry.options} == {'s'})}"
    )
    balances = Use(
        lambda request, task: FORMULATIONS[task.formulation].is_balanced and METHODS[task.method].has_bias,
        f"the formulations {_those(lambda entry: entry.is_balanced)} by other methods than "
        + ", ".join(name for name, entry in METHODS.items() if not entry.has_bias),
    )
    annealing = Use(
        lambda request, task: task.formulation == "tsvm" and "annealing" in METHODS[task.method].options,
        "the formulation tsvm by the methods "
        + ", ".join(name for name, entry in METHODS.items() if "annealing" in entry.options),
    )
    caches = Use(_is_cached, f"--solver native and {formulations('cache_size').what}")
    devices = Use(
        lambda request, task: not {"auto", "native"}.isdisjoint(task.solvers_of(request.solvers)), "--solver native"
    )
    cvxpy = Use(
        lambda request, task: (
            "cvxpy_solver" in METHODS[task.method].options or "cvxpy" in task.solvers_of(request.solvers)
        ),
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


def arguments_of(request: type[Any]) -> Iterator[tuple[str | None, tuple[str, ...], dict[str, Any]]]:
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
        made.update({"default": ""} if one.default is ... else {"dest": one.name})
        yield HEADINGS.get(one.metadata["part"]), flags_of(one), made


def flags_of(one: Field[Any]) -> tuple[str, ...]:
    """What is typed for a field of a request; an argument that is known by its place has its name here."""
    return (one.name,) if one.default is ... else one.metadata["flags"] or (f"--{one.name.replace('_', '-')}",)


def uses_of(request: type[Any]) -> dict[str, Use]:
    """Which tasks look at the options of a command, by the option's name, where not all do."""
    return {one.name: use for one in fields(request) if (use := one.metadata.get("used_by")) is not None}


def listed(entries: Mapping[str, table.Entry], default: str) -> str:
    """What can be asked for, for a help text."""
    return "; ".join(f"{name}: {entry.summary}" for name, entry in entries.items()) + f" ({default})"


def listed_names(text: str) -> list[str]:
    """The names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def list_of(allowed: str, known: Callable[[str], object]) -> Callable[[str], list[str]]:
    """What reads a comma-separated list of names, for each of which ``known`` must be true and raise no ValueError."""

    def read(text: str) -> list[str]:
        names = listed_names(text)
        with contextlib.suppress(ValueError):
            if names and all(map(known, names)):
                return list(dict.fromkeys(names))
        raise argparse.ArgumentTypeError(f"{text!r} must be a comma-separated list of {allowed}")

    return read


def number_or(*words: str, allowed: str) -> Callable[[str], float | str]:
    """What reads a number or one of some words; ``allowed`` says both."""

    def read(text: str) -> float | str:
        try:
            return text if text in words else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} must be {allowed}") from None

    return read


def read_balance(text: str) -> Any:
    """What is meant by a balance as it is typed."""
    if text in ("auto", "labeled", "none"):
        return None if text == "none" else text
    try:
        return ("exact", float(text[6:])) if text.startswith("exact:") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be auto, labeled, none, a number, or exact:R") from None


def read_assignment(text: str) -> tuple[str, Any]:
    """NAME=VALUE, where the value is JSON or a word."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
