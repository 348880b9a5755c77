"""The best solution on the way to a bound: found by concave-convex steps from outputs that a relaxation has."""

import warnings
from typing import Any

import numpy as np

from ...deadline import share_of_time, time_is_up
from ...instance import ConvexStep, Instance, StepSolution, certify
from ...losses import PLQ
from ...problem import Array
from ...solution import Point
from ...solvers import NativeSolver
from .model import approximated

#: A solution may miss constraints by this, relative to 1 and its largest output.
MOST_MISSED = 1e-7


class BestSolution:
    """The best solution so far; every node's outputs are a restart, and no SVMs are solved."""

    n_solved = 0

    def __init__(self, instance: Instance, objective: float = np.inf, *, error: float = 1e-4) -> None:
        self.instance, self.objective = instance, objective  # infinite before there is a solution
        self._error = error  # of what convex losses have in their place while solutions are found
        self._uncounted = instance.replaced(approximated(instance.formulation, error))
        self.point: StepSolution | None = None
        # Tolerance of the convex problems that solutions are made of.
        self.solver = NativeSolver(instance.problem, tol=1e-8, precision="double")

    @property
    def labels(self) -> Array | None:
        """Labels given, and signs of the outputs; None before there is a solution."""
        if self.point is None:
            return None
        return self.instance.best_labels(self.point.outputs)

    def begin(self, idle: int = 0) -> float:
        """Find a first solution, if there is none, from no outputs at all; no bound comes of it."""
        if self.point is None and not np.isfinite(self.objective):
            # The first descent may take one part in so many of the time.
            with share_of_time(4):
                self.descend(None)
        return -np.inf

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Descend from outputs, shape (n,), and keep what is better than the best so far; whether it was kept."""
        before = self.objective
        self.descend(scores)
        return self.objective < before

    def descend(self, outputs: Array | None) -> None:
        """Concave-convex steps from outputs of all points, or from none; the best of their solutions is kept."""
        start, last = None, np.inf
        with warnings.catch_warnings():
            # The tolerance is nobody's wish: that it could not be met is nothing to tell.
            warnings.simplefilter("ignore", UserWarning)
            for _ in range(60):
                start = self.solver.solve(self._step(outputs), start)
                objective = self.offer_step(start)
                if time_is_up() or last - objective <= 1e-10 * abs(objective):
                    break
                outputs, last = start.outputs, objective

        if self.point is None and not np.isfinite(self.objective):
            # No multipliers at all: of the functions that meet the balance, if there is one, that of the least norm.
            step = self._uncounted.step()
            self.offer_step(certify(step, np.zeros(len(step.cost)), 0.0, 0.0))

    def _step(self, outputs: Array | None) -> ConvexStep:
        """The convex problem with tangents at outputs; where labels are counted the largest outputs are positive."""
        instance = self._uncounted
        if outputs is None or self.instance.n_positive is None:
            return instance.step(outputs)
        unlabeled = instance.problem.unlabeled
        positive = self.instance.best_labels(outputs)[unlabeled]
        sided = outputs.copy()
        sided[unlabeled] = np.where(positive > 0, np.maximum(outputs[unlabeled], 0), np.minimum(outputs[unlabeled], 0))
        step = instance.step(sided)
        convex = instance.formulation.parts[2][0]
        assert isinstance(convex, PLQ)
        halves = (convex.within(0, np.inf), convex.within(-np.inf, 0))
        kind = step.kind.copy()
        kind[unlabeled] = len(step.losses) + (positive < 0)
        return step.replace(losses=(*step.losses, *halves), kind=kind, names=(*step.names, "positive", "negative"))

    def _near(self, found: StepSolution) -> list[Array]:
        """Outputs that rounding may have made of a solution's: among ends and kinks each point has its costliest."""
        ends = found.outputs - found.output_doubt, found.outputs + found.output_doubt
        near = [found.outputs, *ends]
        # Where rounding may have changed outputs by more than this, beside a margin of 1, losses may have kinks in
        # between.
        if found.output_doubt > 1e-9:
            kinks = {abs(t) for loss in self.instance.formulation.losses for t in getattr(loss, "breaks", ())}
            near += [np.clip(t, *ends) for kink in sorted({0.0, *kinks}) for t in (kink, -kink)]
        return near

    def offer_step(self, found: StepSolution) -> float:
        """Take a solution of a step for one of the formulation, if it is the best so far; its objective, or more.

        The objective is raised by what rounding may have taken from it.  It is infinite where constraints are not met:
        such a point is no solution, however little is lacking to the solver.
        """
        room = MOST_MISSED * (1 + float(np.abs(found.outputs).max(initial=0.0)))
        instance, f = self.instance, found.outputs[self.instance.problem.unlabeled]
        count = instance.n_positive  # of outputs that are positive, where those within ``room`` of 0 have either label
        is_counted = count is None or (f > room).sum() <= count <= (f >= -room).sum()
        if found.primal_infeasibility > room or not is_counted:
            return np.inf
        losses = [instance.formulation.loss_values(instance.problem, outputs) for outputs in self._near(found)]
        objective = found.regularization + float(instance.cost @ np.max(losses, axis=0))
        # Of weights the square is a sum of squares; of an expansion terms may cancel.
        # What rounding may do, relatively, to a sum of terms that are not negative, and to what points pay.
        objective += found.doubt if found.weights is None else 1e-13 * abs(objective)
        if objective < self.objective:
            self.objective, self.point = objective, found
        return objective

    def restart(self, idle: int, seed: int = 0) -> None:
        """Nothing: every node's outputs are a restart."""

    def fork(self, builder: Any) -> "BestSolution":
        other = BestSolution(self.instance, self.objective, error=self._error)
        other.point = self.point
        return other

    @property
    def best(self) -> tuple[float, StepSolution | None]:
        return self.objective, self.point

    def take(self, best: tuple[float, StepSolution | None]) -> None:
        if best[0] < self.objective:
            self.objective, self.point = best

    def store(self) -> dict[str, Array]:
        """The solution as an expansion, from which its objective can be computed; none before there is one."""
        if self.point is None:
            return {"coefficients": np.zeros(0), "intercept": np.zeros(0)}
        return {"coefficients": self.point.coefficients, "intercept": np.array([self.point.bias])}

    def read(self, arrays: dict[str, Array], objective: float) -> None:
        """Go on from what is stored: concave-convex steps from it are at least as good."""
        if len(arrays["coefficients"]):
            self.descend(self.instance.problem.apply_kernel(arrays["coefficients"]) + arrays["intercept"])

    def solution(self, *, stopped: bool) -> tuple[Point, Array | None, float]:
        """The solution, its labels if they are counted, and its objective; KeyboardInterrupt if there is none yet."""
        if self.point is None:
            raise KeyboardInterrupt
        return self.point, self.labels if self.instance.n_positive is not None else None, self.objective
