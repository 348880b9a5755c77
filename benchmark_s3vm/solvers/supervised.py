"""The SVM of the labelled points, by the library: the convex problem's own solver, and a baseline of the S3VM."""

from benchmark_utils.own import OwnSolver, function_of

import convex_tsvm as ct


class Solver(OwnSolver):
    """The supervised part of the objective under the same balance, by one of the library's solvers."""

    name = "supervised"
    parameters = {"solver": ["auto"], "tol": [1e-3], "time_limit": [60.0]}

    def solve(self, task):
        """Solve one convex problem; its dual variables prove a bound."""
        formulation, problem = task.stated()
        solution = ct.cccp(formulation.supervised(), problem, solver=self.solver, tol=self.tol)
        return {**function_of(solution), "dual": solution.step.gamma}
