"""What a solver of convex steps takes, said once: choices, errors and the documentation's table are made of it."""

from dataclasses import dataclass

import numpy as np

from ..formulations import Formulation
from ..formulations.bags import bags_of
from ..losses import PLQ
from ..points import LinearPoints
from ..problem import Problem
from .convex_step import ConvexStep


@dataclass(frozen=True)
class Takes:
    """What a solver of convex steps takes."""

    # "PLQ", convex piecewise linear-quadratic losses; "finite PLQ", those that are finite everywhere; or "convex", all.
    losses: str = "PLQ"
    regularizers: bool = False  # whether other than ½ ‖w‖², and additions
    constraints: bool = True  # whether on outputs, other than a balance with a bias
    kernels: bool = True  # whether other than the linear one
    products: bool = True  # whether points that are known by their products only
    targets: bool = True  # whether points with targets
    bags: bool = (
        False  # whether, among additions, losses of bags whose points pay nothing else, and are in one bag each
    )

    def why_not(self, asked: Formulation | ConvexStep, problem: Problem) -> str | None:
        """What of a formulation or of one of its convex steps is not taken, and what is; None if all of it is."""
        if not self.regularizers:
            if asked.additions and not (self.bags and _has_plain_bags(asked, problem)):
                bags = "losses of bags only, whose points pay nothing else and are in one bag"
                return f"additions={list(asked.additions)!r}: {bags if self.bags else 'none'}"
            if not asked.regularizer.is_squared_norm:
                return f"regularizer={asked.regularizer!r}: 'l2' only"
        if not self.constraints and asked.constrains_outputs:
            return "constraints on outputs: a balance with a bias only"
        shift = asked.shift if isinstance(asked, ConvexStep) else asked.shift(problem)
        if not self.targets and shift is not None:
            return "groups of points with targets: none"
        return self._why_not_losses(asked) or self.why_not_points(problem)

    def why_not_points(self, problem: Problem) -> str | None:
        """The same of a problem's points and kernel."""
        if not self.kernels and not problem.is_linear:
            return f"kernel={problem.kernel!r}: kernel='linear' only"
        if not self.products and isinstance(problem.X, LinearPoints):
            return f"X={problem.X!r}: points in memory only"
        return None

    def _why_not_losses(self, asked: Formulation | ConvexStep) -> str | None:
        for loss in asked.losses if self.losses != "convex" else ():
            convex = loss if isinstance(asked, ConvexStep) or not hasattr(loss, "split") else loss.split()[0]
            if not isinstance(convex, PLQ):
                return f"{loss!r}: convex parts that are piecewise linear-quadratic (PLQ)"
            if self.losses == "finite PLQ" and not convex.is_finite:
                return f"{loss!r}: losses that are finite everywhere"
        return None

    def check(self, step: ConvexStep, solver: str) -> tuple[PLQ, ...]:
        """The losses of a step, if they are PLQ; a ValueError, with the name of the solver, if it is not taken."""
        _raise(self.why_not(step, step.problem), solver)
        return tuple(loss for loss in step.losses if isinstance(loss, PLQ))

    def check_points(self, problem: Problem, solver: str) -> None:
        """Raise a ValueError, with the name of the solver, if a problem's points or kernel are not taken."""
        _raise(self.why_not_points(problem), solver)

    def __str__(self) -> str:
        words = {
            "PLQ": "convex PLQ losses",
            "finite PLQ": "convex PLQ losses, finite everywhere",
            "convex": "convex losses with a CVXPY expression",
        }
        limits = [
            "½ ‖w‖²" if not self.regularizers else "all regularizers and additions",
            "losses of bags" if self.bags else "",
            "a balance with a bias" if not self.constraints else "",
            "the linear kernel" if not self.kernels else "",
            "points in memory" if not self.products else "",
            "no targets" if not self.targets else "",
        ]
        return "; ".join([words[self.losses], *filter(None, limits)])


def _has_plain_bags(asked: Formulation | ConvexStep, problem: Problem) -> bool:
    """Whether all additions are losses of bags, with every point in one bag at most, and paying nothing else there."""
    bags = bags_of(asked.additions)
    if bags is None:
        return False
    cost = asked.point_cost if isinstance(asked, ConvexStep) else asked.costs(problem)
    if isinstance(asked, Formulation) and asked.unlabeled is None:
        cost = np.where(asked.kinds(problem) == 2, 0.0, cost)
    return not cost[np.concatenate(bags.points)].any() and (not isinstance(asked, ConvexStep) or asked.point is None)


def _raise(why: str | None, solver: str) -> None:
    if why is not None:
        subject, _, taken = why.rpartition(": ")
        raise ValueError(f"{subject}: solver={solver!r} takes {taken}; use solver='cvxpy'")
