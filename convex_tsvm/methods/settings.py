"""What users set, whatever the method; schedules of a parameter; and the solver that a method's problems get."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulations import Formulation
from ..instance import Instance, StepSolver
from ..problem import Array, Problem
from ..solution import Iteration
from ..table import SOLVERS, STEP_SOLVERS
from ..validation import finite, integer

Callback = Callable[[Iteration], None]


@dataclass(frozen=True)
class Settings:
    """What users set, whatever the method.

    Parameters
    ----------
    tol : float, default 1e-3
        Tolerance of the solver, and of what the method compares.
    max_iter : int, default 100
        Limit on the steps of a stage.
    callback : callable, optional
        Called with every :class:`~convex_tsvm.solution.Iteration`.
    time_limit : float > 0, optional
        Seconds, after which the best point so far is returned.

    Examples
    --------
    >>> ct.methods.Settings(tol=1e-6).max_iter
    100
    """

    tol: float = 1e-3
    max_iter: int = 100
    callback: Callback | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        finite("tol", self.tol, above=0)
        integer("max_iter", self.max_iter, least=1)


def annealing_schedule(annealing: int | Sequence[float] | None) -> Array:
    """Increasing factors on C*, the last one 1.

    An int m gives m factors spaced geometrically from 1/1000 (chapelle2008 §5.4.4), None the factor 1 alone; a sequence
    of such factors is taken as it is.  Anything else is a ValueError.
    """
    if annealing is None:
        return np.ones(1)
    if isinstance(annealing, (int, np.integer)) and not isinstance(annealing, bool):
        if annealing >= 1:
            return np.geomspace(1e-3, 1, int(annealing)) if annealing > 1 else np.ones(1)
    else:
        try:
            scales = np.asarray(annealing, dtype=float)
        except (TypeError, ValueError):
            scales = np.zeros(0)
        if scales.ndim == 1 and len(scales) and (scales > 0).all() and (np.diff(scales) > 0).all() and scales[-1] == 1:
            return scales
    raise ValueError(f"annealing={annealing!r} must be None, an integer >= 1, or increasing factors > 0 ending in 1")


def doubling() -> Array:
    """2^(i - 10) for i = 1 ... 10, the factors on C* of ∇S3VM (chapelle2008 §4.2).

    The paper's Table 12 and §5.4.4 say that this schedule starts at 1/1000; its formula starts at 1/512.
    """
    return np.asarray(2.0 ** (np.arange(1, 11) - 10), dtype=float)


def growing(first: float, ratio: float) -> Array:
    """Factors from ``first`` on, each ``ratio`` times the one before, up to 1 (chapelle2008 Algorithm 1)."""
    count = int(np.ceil(np.log(1 / first) / np.log(ratio) - 1e-9))
    return np.append(first * ratio ** np.arange(count), 1.0)


def falling(first: float, cooling: float) -> Iterator[float]:
    """Temperatures from ``first`` on, each that before divided by ``cooling`` (chapelle2008 Algorithm 2).

    The last is a billionth of the first.  Where probabilities are not 0 or 1 by then, both labels cost the same.
    """
    temperature = first
    while temperature > 1e-9 * first:
        yield temperature
        temperature /= cooling


def cooled(first: float, stage: float) -> float:
    """About which share of the temperatures is done at the one of a stage.

    On most data labels are certain at about a thousandth of the first.
    """
    return float(np.log(first / stage) / np.log(1e3)) if 0 < stage < first else float(stage == 0)


def solver_of(
    takes: Sequence[str], solver: Any, formulation: Formulation, problem: Problem, options: Mapping[str, Any], name: str
) -> Any:
    """The name of the solver for a method, or ``solver`` if that is an object; a ValueError if they do not fit.

    "auto" is the first of those that the method ``takes`` which takes the formulation on the problem, and the options
    that it is to be made with.  ``name`` is what the method is called in messages.
    """
    if isinstance(solver, str) and solver == "auto":
        if len(takes) == 1:
            return takes[0]
        first = None
        for one in takes:  # one after the other, since CVXPY, the last, takes a second to import
            if why_not_solver(one, formulation, problem) is None:
                first = first or one
                if set(options) <= set(SOLVERS[one].options):
                    return one
        return first or takes[0]
    check_taken(takes, solver, name)
    return solver


def check_taken(takes: Sequence[str], solver: Any, name: str) -> None:
    """Raise ValueError if a solver of the table is none of those that a method takes."""
    if isinstance(solver, str) and solver in SOLVERS and solver not in takes:
        names = ", ".join(repr(one) for one in ("auto", *takes))
        raise ValueError(f"solver={solver!r} is none of method={name!r}, which takes {names}")


def why_not_solver(name: str, formulation: Formulation, problem: Problem) -> str | None:
    """What of a formulation on a problem a solver of convex steps does not take, or None if it takes all."""
    why: str | None = SOLVERS[name].load().takes.why_not(formulation, problem)
    return why


def make_solver(solver: str | StepSolver, problem: Problem, tol: float, options: dict[str, Any]) -> StepSolver:
    """The solver of a name in ``SOLVERS``, made for a problem, or ``solver`` itself if it has ``solve(step, start)``.

    ``tol`` is for solvers that take a tolerance.  A ValueError if there is no such solver, or it does not take one of
    the options; an object takes none.
    """
    if isinstance(solver, str) and solver in SOLVERS:
        entry = SOLVERS[solver]
        unknown = sorted(set(options) - set(entry.options))
        if unknown:
            raise ValueError(
                f"{unknown[0]}={options[unknown[0]]!r} is no option of solver={solver!r}, "
                f"which takes {', '.join(entry.options)}"
            )
        given = {"tol": tol, **options} if "tol" in entry.options else options
        return entry.load()(problem, **given)
    if not isinstance(solver, str) and callable(getattr(solver, "solve", None)):
        if options:
            name, value = next(iter(options.items()))
            raise ValueError(f"{name}={value!r} is for solvers given by name; this one was made with its own options")
        return solver
    names = ", ".join(repr(name) for name in ("auto", *SOLVERS))
    raise ValueError(f"solver={solver!r} must be {names}, or an object with solve(step, start)")


def step_solver(solver: Any, instance: Instance, tol: float) -> Any:
    """A solver of convex steps: the one of the method, if it is one, or that which takes the problem."""
    if hasattr(solver, "solve"):
        return solver
    name = solver_of(STEP_SOLVERS, "auto", instance.formulation, instance.problem, {}, "")
    return make_solver(name, instance.problem, tol, {})
