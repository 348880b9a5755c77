"""Solvers that are driven by time: a curve of value and bound has a point for each limit."""

from __future__ import annotations

from benchopt.stopping_criterion import StoppingCriterion

#: The first time limit, in seconds; each is twice the one before.
FIRST = 0.125


def seconds_of(stop_val: int) -> float:
    """The time limit of a point of the curve."""
    return FIRST * 2**stop_val


class UntilClosed(StoppingCriterion):
    """Stop when the gap that a solver claims is closed, or at ``max_runs``."""

    def check_convergence(self, objective_list):
        """Whether the last result's gap is closed.

        Parameters
        ----------
        objective_list : list of dict
            The points of the curve so far.
        """
        gap = objective_list[-1]["objective_claimed_gap"]
        return bool(gap <= 2e-4), 0.0
