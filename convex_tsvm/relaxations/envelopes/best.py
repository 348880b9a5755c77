"""The best solution on the way to a bound: found by concave-convex steps from outputs that a relaxation has."""

from __future__ import annotations

import warnings

import numpy as np

from ...deadline import share_of_time, time_is_up
from ...instance import Instance, StepSolution, certify
from ...problem import Array
from ...solvers import NativeSolver

#: Tolerance of the convex problems that solutions are made of.
STEP_TOL = 1e-8

#: A solution may miss constraints by this, relative to 1 and its largest output.
MOST_MISSED = 1e-7

#: What rounding may do, relatively, to a sum of terms that are not negative, and to what points pay.
ROUNDING_OF_SUMS = 1e-13

#: A descent ends when it gains less than this share of the objective, or after so many steps.
LEAST_GAIN, DESCENT_STEPS = 1e-10, 60

#: The first descent may take one part in so many of the time.
FIRST_DESCENT = 4

#: Where rounding may have changed outputs by more than this, beside a margin of 1, losses may have kinks in between.
LITTLE_DOUBT = 1e-9


class BestSolution:
    """The best solution so far."""

    def __init__(self, instance: Instance, objective: float = np.inf) -> None:
        self.instance, self.objective = instance, objective  # infinite before there is a solution
        self.point: StepSolution | None = None
        self.solver = NativeSolver(instance.problem, tol=STEP_TOL, precision="double")

    @property
    def labels(self) -> Array | None:
        """Labels given, and signs of the outputs; None before there is a solution."""
        if self.point is None:
            return None
        y = self.instance.problem.y
        return np.where(y != 0, y, np.where(self.point.outputs >= 0, 1.0, -1.0))

    def begin(self, idle: int = 0) -> float:
        """Find a first solution, if there is none, from no outputs at all; no bound comes of it."""
        if self.point is None and not np.isfinite(self.objective):
            with share_of_time(FIRST_DESCENT):
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
            for _ in range(DESCENT_STEPS):
                start = self.solver.solve(self.instance.step(outputs), start)
                objective = self.offer_step(start)
                if time_is_up() or last - objective <= LEAST_GAIN * abs(objective):
                    break
                outputs, last = start.outputs, objective

        if self.point is None and not np.isfinite(self.objective):
            # No multipliers at all: of the functions that meet the balance, if there is one, that of the least norm.
            step = self.instance.step()
            self.offer_step(certify(step, np.zeros(len(step.cost)), 0.0, 0.0))

    def _near(self, found: StepSolution) -> list[Array]:
        """Outputs among which each point has the one that costs it most, of all that rounding may have made of its own.

        Losses are highest at the ends of an interval, or at a kink in it.
        """
        ends = found.outputs - found.output_doubt, found.outputs + found.output_doubt
        near = [found.outputs, *ends]
        if found.output_doubt > LITTLE_DOUBT:
            kinks = {abs(t) for loss in self.instance.formulation.losses for t in getattr(loss, "breaks", ())}
            near += [np.clip(t, *ends) for kink in sorted({0.0, *kinks}) for t in (kink, -kink)]
        return near

    def offer_step(self, found: StepSolution) -> float:
        """Take a solution of a step for one of the formulation, if it is the best so far; its objective, or more.

        The objective is raised by what rounding may have taken from it.  It is infinite where constraints are not met:
        such a point is no solution, however little is lacking to the solver.
        """
        if found.primal_infeasibility > MOST_MISSED * (1 + float(np.abs(found.outputs).max(initial=0.0))):
            return np.inf
        instance = self.instance
        losses = [instance.formulation.loss_values(instance.problem, outputs) for outputs in self._near(found)]
        objective = found.regularization + float(instance.cost @ np.max(losses, axis=0))
        # Of weights the square is a sum of squares; of an expansion terms may cancel.
        objective += found.doubt if found.weights is None else ROUNDING_OF_SUMS * abs(objective)
        if objective < self.objective:
            self.objective, self.point = objective, found
        return objective
