"""Solutions along parameters: on a grid of their values, or exactly, from breakpoint to breakpoint."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..deadline import within
from ..derivatives import FixedPoint, TangentChangesError
from ..derivatives.parameters import Path, parameter, parameters_of
from ..formulations import Formulation
from ..instance import Instance
from ..problem import Array, Problem
from ..solution import Solution
from .cccp import cccp
from .descents import Descents
from .run import Method
from .settings import Settings


@dataclass(frozen=True, eq=False)
class Sweep:
    """Solutions on a grid.

    Attributes
    ----------
    values : dict of str to array
        The values of each parameter.
    solutions : array of Solution, with an axis for each parameter, in their order
        None for those that time or Ctrl-C left out; the last one before them says which, in its status.
    """

    values: dict[str, Array]
    solutions: Any

    def read(self, what: Callable[[Solution], float]) -> Array:
        """A number of each solution, in the grid's shape, such as ``lambda solution: solution.objective``; or NaN."""
        return np.vectorize(lambda one: np.nan if one is None else what(one), otypes=[float])(self.solutions)


def sweep(
    formulation: Formulation,
    problem: Problem,
    *,
    method: str | Method = "cccp",
    solver: Any = "auto",
    tol: float = 1e-3,
    time_limit: float | None = None,
    **values: Iterable[float],
) -> Sweep:
    """Solutions at all combinations of values of some parameters.

    Rows of the kernel are kept as long as it stays, and steps begin at the dual variables of those before.

    Parameters
    ----------
    method : str or Method, default "cccp"
        A descent, as for :func:`minimize`.
    solver, tol, time_limit
        As for :func:`cccp`; the time is that of all together.
    **values : sequence of float
        By the names of :meth:`Solution.derivative`: C, C_unlabeled, balance, sigma, gamma, coef0, s.

    Examples
    --------
    >>> found = ct.sweep(ct.cccp_tsvm(), problem, C=[1, 10, 100], s=[-0.5, 0.0])
    >>> found.read(lambda solution: solution.objective).shape
    (3, 2)
    """
    known = parameters_of(Instance(formulation, problem))
    grid = {name: np.atleast_1d(np.asarray(given, dtype=float)) for name, given in values.items()}
    for name, numbers in grid.items():
        parameter(known, name)
        if numbers.ndim != 1 or not len(numbers):
            raise ValueError(f"{name}={values[name]!r} must be a sequence of numbers")
    # What the kernel is made of is outermost.
    names = sorted(grid, key=lambda name: name not in ("sigma", "gamma", "coef0"))
    solutions = np.empty(tuple(map(len, grid.values())), dtype=object)
    inside = solutions.transpose([list(grid).index(name) for name in names])
    with within(time_limit):
        descents, steps = Descents(method, solver=solver, settings=Settings(tol), options={}), list[Any]()
        for place in np.ndindex(inside.shape):
            given = formulation, problem
            for name, k in zip(names, place, strict=True):
                given = parameter(parameters_of(Instance(*given)), name).at(float(grid[name][k]))
            solution, steps = descents.solve(*given, steps)
            inside[place] = solution
            if solution.status in ("interrupted", "time_limit"):
                break
    return Sweep(grid, solutions)


@dataclass(frozen=True, eq=False)
class SolutionPath:
    """How a solution moves with a parameter: outputs are linear between breakpoints.

    Attributes
    ----------
    values : array, shape (k,)
        The breakpoints, from where the path begins to where it ends; a value stands twice where the outputs jump.
    outputs, coefficients : array, shape (k, n)
    bias : array, shape (k,)
    jumps : tuple of int
        Places after which the next entry has the same value and other outputs: a tangent has changed.
    """

    values: Array
    outputs: Array
    coefficients: Array
    bias: Array
    jumps: tuple[int, ...]

    def at(self, value: float) -> Array:
        """Outputs of all points at a value on the way, shape (n,); ValueError elsewhere."""
        low, high = np.sort(self.values[[0, -1]])
        if not low <= value <= high:
            raise ValueError(f"value={value!r} must be in [{low:g}, {high:g}], where the path is")
        values, outputs = self.values, self.outputs
        way = 1 if values[0] <= values[-1] else -1
        k = int(np.clip(np.searchsorted(way * values, way * value, side="right") - 1, 0, len(values) - 2))
        share = (value - values[k]) / (values[k + 1] - values[k]) if values[k + 1] != values[k] else 0.0
        return np.asarray((1 - share) * outputs[k] + share * outputs[k + 1])


def solution_path(solution: Solution, name: str | Path, to: float, *, most: int = 100_000) -> SolutionPath:
    """Follow a solution along C, C*, the mean output of its balance or another direction of costs, exactly.

    Between breakpoints, where an output reaches a kink of its loss or leaves one, the outputs are linear (Hastie et al.
    2004 for the SVM).  Here so are the fixed points of concave-convex steps; where an output goes over a concave kink
    the steps begin anew from there, and the outputs jump.

    Parameters
    ----------
    solution : Solution
        Of a formulation with piecewise linear losses; see :meth:`Solution.derivative` for what else it may have.
    name : str or callable
        "C", "C_unlabeled" or "balance", or a function of h along which costs, the balance or ends of constraints are
        linear.
    to : float
        Where the path ends: above or below the parameter's value (0 for a function).
    most : int, default 100 000
        Breakpoints after which it ends before.

    Raises
    ------
    ValueError
        If a loss is curved, or the parameter is one of the kernel or of a loss.

    Examples
    --------
    >>> solution = ct.cccp(ct.cccp_tsvm(), problem)
    >>> path = ct.methods.solution_path(solution, "C", 20.0)
    >>> float(path.values[-1]), path.at(15.0).shape
    (20.0, (6,))
    """
    point = solution.fixed_point
    moving = parameter(point.parameters, name)
    if not all(getattr(loss, "is_piecewise_linear", False) for loss in solution.formulation.losses):
        raise ValueError("the path of a solution is for piecewise linear losses: those of others are curved")
    if isinstance(name, str) and name not in ("C", "C_unlabeled", "balance"):
        raise ValueError(f"name={name!r} must be 'C', 'C_unlabeled', 'balance' or a function: only these are lines")
    value, side = moving.value, 1 if to > moving.value else -1
    found, jumps, idle = [(value, point)], [], 0
    while side * (to - value) > 0 and len(found) < most:
        if idle > solution.problem.n:
            raise ValueError(f"at {value!r} the path does not go on: fit it with a smaller tol")
        try:
            point, derivative = point.onward(moving, side)
        except TangentChangesError:
            before, point, idle = point, _beyond(point, moving, value, side), idle + 1
            if np.abs(point.f - before.f).max() > 1e-9 * (1 + np.abs(point.f).max()):
                jumps.append(len(found) - 1)
                found.append((value, point))
            continue
        step = derivative.interval[side > 0]
        last, value = value, to if side * (to - value) <= side * step else value + step
        idle = idle + 1 if value == last else 0
        if idle:
            # So small a step leaves a kink that rounding has put there.
            value += side * 1e-14 * max(abs(last), 1e-3)
        point = point.at(*moving.at(value))
        found.append((value, point))
        moving = moving._replace(value=value)
    points = [point for _, point in found]
    return SolutionPath(
        np.array([value for value, _ in found]),
        np.array([point.f for point in points]),
        np.array([point.a for point in points]),
        np.array([point.b for point in points]),
        tuple(jumps),
    )


def _beyond(point: FixedPoint, moving: Any, value: float, side: int) -> FixedPoint:
    """The fixed point that the steps find from outputs that are just beyond a concave kink."""
    speeds = point.speeds(point.moved(moving))[2]
    outputs = point.f + side * 1e-7 * (1 + np.abs(point.f).max()) * np.sign(speeds)
    return cccp(*moving.at(value), start=outputs, tol=1e-9).fixed_point
