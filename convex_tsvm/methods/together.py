"""Several classes at once: a run for each on the same points, and one label for every point."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..deadline import TimeIsUp
from ..formulations import Formulation
from ..instance import Instance, same_points
from ..notice import warn
from ..problem import Problem
from ..solution import Solution
from ..validation import is_sparse
from .descents import Descents
from .run import Interrupted, Method, Run


class Together(ABC):
    """Problems of several classes, each against the rest, on the same points.

    A subclass descends (:meth:`descend`): it has steps of :attr:`runs`, one a problem, solved and recorded, and keeps
    in :attr:`labels` the class of each point, as a place among the problems.
    """

    def __init__(
        self, method: Method, formulation: Formulation, problems: Sequence[Problem], descents: Descents
    ) -> None:
        problems = _on_the_same_points(problems)
        formulation.label_loss(compared=True)  # complains about a loss without labels
        self.method, self.began, self.problems = method, time.perf_counter(), problems
        self.instances = [Instance(formulation, problem) for problem in problems]
        first = self.instances[0].problem
        self.unknown, self.cost, self.settings = first.unlabeled, first.cost, descents.settings
        inner = descents.made(formulation, first)
        self.runs = [Run(instance, inner, descents.settings) for instance in self.instances]
        #: Whose label each point has, from the outputs of the last step; known ones as they are.
        self.labels: NDArray[np.intp] = np.argmax([problem.y for problem in problems], axis=0)

    @abstractmethod
    def descend(self) -> str:
        """Solve steps and record them; "converged" or "max_iter"."""

    def solved(self) -> tuple[Solution, ...]:
        """Descend, and the function of each class; what is best when that is ended is kept, as for a single class."""
        try:
            status = self.descend()
        except (Interrupted, TimeIsUp, KeyboardInterrupt) as stop:
            status = "time_limit" if isinstance(stop, TimeIsUp) else "interrupted"
            if isinstance(stop, Interrupted):
                status = stop.point.status
            for run in self.runs:
                if run.current is None and status == "interrupted":
                    raise KeyboardInterrupt("no class had been learned: nothing is kept") from None
                if not run.history:
                    run.fall_back()
            warn(f"{status}: the best point so far is returned")
        for run in self.runs:
            run.status = status
        return tuple(run.solution(self.method) for run in self.runs)

    def signs(self, k: int) -> NDArray[np.float64]:
        """The labels +1 of class k and -1 of the others, shape (n,)."""
        return np.where(self.labels == k, 1.0, -1.0)


def _on_the_same_points(problems: Sequence[Problem]) -> list[Problem]:
    """Problems of several classes, each against the rest, with one array of points; a ValueError if they are not."""
    if len(problems) < 2:
        raise ValueError(f"problems: there are {len(problems)}; several classes have one each, at least two")
    first, found = problems[0], []
    for k, problem in enumerate(problems):
        if not (_have_equal_points(first, problem) and np.array_equal(problem.cost, first.cost)):
            raise ValueError(f"problems: number {k} has other points, costs or another kernel than number 0")
        own = {name: getattr(problem, name) for name in ("y", "balance", "balance_sample")}
        found.append(problem if same_points(first, problem) else first.replace(**own))
    known = np.array([problem.y for problem in problems])
    one_class = (known != 0).all(axis=0) & ((known > 0).sum(axis=0) == 1)
    wrong = np.flatnonzero(~(one_class | (known == 0).all(axis=0)))
    if len(wrong):
        raise ValueError(
            f"problems: point {wrong[0]} must be labelled +1 in one of them and -1 in the others, or 0 in all"
        )
    return found


def _have_equal_points(one: Problem, other: Problem) -> bool:
    if same_points(one, other):
        return True
    if one.n != other.n or repr(one.kernel) != repr(other.kernel) or type(one.X) is not type(other.X):
        return False
    if isinstance(one.X, np.ndarray):
        return np.array_equal(one.X, other.X)
    return is_sparse(one.X) and one.X.shape == other.X.shape and (one.X != other.X).nnz == 0
