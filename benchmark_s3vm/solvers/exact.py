"""Exact search, with a certificate that an independent checker proves before the bound counts."""

from benchmark_utils.folders import folder_of
from benchmark_utils.own import OwnSolver, function_of
from benchmark_utils.timed import UntilClosed, seconds_of

import convex_tsvm as ct

#: So many points it is asked for at most.
MOST = 600


class Solver(OwnSolver):
    """Branch and bound for time limits of 1/8, 1/4, 1/2, ... seconds, each from the beginning."""

    name = "exact"
    sampling_strategy = "iteration"
    stopping_criterion = UntilClosed()
    parameters = {"gap": [1e-4]}
    limit = 1.0

    def why_not(self, task):
        """Leave the convex problem to others."""
        if task.formulation == "svm":
            return "the convex problem needs no search"
        return f"{len(task.y)} points: their certificate takes too long to be proven" if len(task.y) > MOST else None

    def get_next(self, stop_val):
        """The next time limit's number."""
        return stop_val + 1

    def run(self, stop_val):
        """Search for the limit's seconds."""
        self.limit = seconds_of(stop_val)
        super().run(stop_val)

    def solve(self, task):
        """The best function so far, and the file that proves what is below it; there is none for exp(-s t²)."""
        path = None if task.loss == "exp" else str(folder_of(self) / "search.npz")
        found = ct.exact_search(*task.stated(), gap=self.gap, time_limit=self.limit, certificate=path)
        return {**function_of(found), "certificate": path, "claimed_bound": found.lower_bound}
