"""The library's methods that find labels: relaxations, eigenvectors, safe labels.

Their value is that of the best function for their labels, which is trained inside the time that is measured.
"""

from benchmark_utils.own import OwnSolver, function_of_labels

import convex_tsvm as ct
from convex_tsvm.table import DESCENTS, METHODS


class Solver(OwnSolver):
    """A method of the table that is neither a descent nor exact search."""

    name = "labels"
    parameters = {"method": [name for name in METHODS if name not in (*DESCENTS, "exact")], "time_limit": [60.0]}

    def why_not(self, task):
        """Nothing is to be labelled where unlabelled points pay nothing."""
        if task.formulation == "svm":
            return "the convex problem has no labels to be found"
        if self.method in ("spectral", "subspace") and (task.problem().gram.sum(axis=1) <= 0).any():
            return "the similarities of a point to all others add up to less than 0"
        return None

    def solve(self, task):
        """Find labels, and train on them; methods without a bias find them without one."""
        entry, (formulation, problem) = METHODS[self.method], task.stated()
        if not entry.has_bias:
            formulation, problem = ct.tsvm(task.loss, balance=None, fit_intercept=False), task.problem(balance=None)
        solution = entry.load()(formulation, problem)
        bound = solution.lower_bound if entry.has_bias and solution.lower_bound is not None else None
        found = function_of_labels(task, solution.labels)
        return found if bound is None else {**found, "claimed_bound": bound}
