"""What the solvers of the library share."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from benchopt import BaseSolver

import convex_tsvm as ct
from convex_tsvm.deadline import within
from convex_tsvm.solvers import NativeSolver

from .task import probe


def function_of(solution: Any) -> dict[str, Any]:
    """The decision function of a solution or a convex step, as the judge takes it."""
    if getattr(solution, "weights", None) is not None:
        return {"weights": solution.weights, "bias": solution.bias}
    return {"coefficients": solution.coefficients, "bias": solution.bias}


def function_of_labels(task: Any, labels: Any) -> dict[str, Any]:
    """The best function for labels of all points: the SVM of the labelled points' loss, under the same balance."""
    formulation, problem = task.stated()
    return function_of(NativeSolver(problem).solve(ct.Instance(formulation, problem).svm(labels)))


class OwnSolver(BaseSolver):
    """A solver of the library: it compiles before the clock starts, and says by itself which tasks it does not take.

    A subclass has ``solve(task)``, which returns a result, and may have ``why_not(task)``, which returns a reason not
    to be asked, or None.  Whether a method takes losses is not written down here: it is asked to solve six points.
    """

    requirements = ["pip::convex_tsvm"]
    sampling_strategy = "run_once"
    time_limit = None

    def skip(self, task):
        """Leave a task to others, with the reason."""
        reason = self.why_not(task) or self._refusal(task)
        return reason is not None, reason

    def why_not(self, task):
        """A reason not to be asked, or None."""

    def _refusal(self, task):
        """What the library says about six points with the same losses, kernel and balance, or None."""
        key = (task.formulation, task.loss, task.sigma is None, task.target is None)
        return _said(type(self), tuple(sorted(self._parameters.items(), key=str)), key, _Quiet(self, probe(task)))

    def set_objective(self, task):
        """Take the task."""
        self.task = task

    def warm_up(self):
        """Run once, so that what has to be compiled is."""
        self.run_once()

    def run(self, _):
        """Solve the task, or return what there is at the time limit."""
        with warnings.catch_warnings(), within(self.time_limit):
            warnings.simplefilter("ignore")
            self.result = self.solve(self.task)

    def get_result(self):
        """The function, as the judge takes it."""
        return self.result


class _Quiet:
    """A call that is not part of a cache's key."""

    def __init__(self, solver: Any, task: Any) -> None:
        self.solver, self.task = solver, task

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Quiet)

    def __hash__(self) -> int:
        return 0


@cache
def _said(kind: type, parameters: Any, key: Any, call: _Quiet) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call.solver.solve(call.task)
        except (ValueError, AttributeError) as error:
            return str(error).partition(";")[0]
    return None
