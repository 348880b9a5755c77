"""The library's descents: every method of ``convex_tsvm.table.DESCENTS``, with its defaults."""

from benchmark_utils.own import OwnSolver, function_of

from convex_tsvm.methods.descents import minimize
from convex_tsvm.methods.settings import Settings
from convex_tsvm.table import DESCENTS, METHODS


class Solver(OwnSolver):
    """A method by its name in the table, so that a new one comes by itself; CCCP also with C* raised in ten steps."""

    name = "descent"
    parameters = {
        "method, annealing": [*((name, None) for name in DESCENTS), ("cccp", 10)],
        "solver": ["auto"],
        "tol": [1e-3],
        "time_limit": [60.0],
    }
    test_config = {"objective": {"formulation": "s3vm", "balance": "labeled"}}

    def why_not(self, task):
        """Leave the convex problem to its own solver."""
        return "the convex problem has a solver of its own, supervised" if task.formulation == "svm" else None

    def solve(self, task):
        """Minimize the objective from the method's own start."""
        options = {} if self.annealing is None else {"annealing": self.annealing}
        method = METHODS[self.method].load()(**options)
        solution = minimize(method, *task.stated(), solver=self.solver, settings=Settings(tol=self.tol))
        bound = {} if solution.lower_bound is None else {"claimed_bound": solution.lower_bound}
        return {**function_of(solution), **bound}
