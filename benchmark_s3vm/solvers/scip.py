"""SCIP on the mixed-integer program that the library writes (Bennett and Demiriz 1998; chapelle2008 eq. 4)."""

import warnings

import cvxpy as cp
import numpy as np
import pyscipopt  # noqa: F401  # CVXPY calls it
from benchmark_utils.timed import UntilClosed, seconds_of
from benchopt import BaseSolver

import convex_tsvm as ct


class Solver(BaseSolver):
    """SCIP for time limits of 1/8, 1/4, 1/2, ... seconds, told the supervised SVM's value as one that is reached.

    The program is written before the clock starts, as the files of other programs are.  Where SCIP has found nothing
    better, the result is the supervised SVM.
    """

    name = "SCIP"
    requirements = ["pip::pyscipopt", "pip::convex_tsvm"]
    sampling_strategy = "iteration"
    stopping_criterion = UntilClosed()
    parameters = {"gap": [1e-4]}

    def skip(self, task):
        """Say no to what has no mixed-integer program, or one that is too large to be written."""
        if task.formulation == "svm":
            return True, "the convex problem has no integers"
        if task.loss in ("flat", "exp"):
            return True, f"loss={task.loss!r} has no finite number of convex stretches"
        if len(task.y) > 600:
            return True, f"{len(task.y)} points: the program holds the whole kernel matrix"
        return False, None

    def set_objective(self, task):
        """Take the task, write its program, and have CVXPY compile it, which it then keeps."""
        formulation, self.problem = task.stated()
        start = ct.cccp(formulation.supervised(), self.problem)
        self.start = {"coefficients": start.coefficients, "bias": start.bias}
        self.upper = ct.Instance(formulation, self.problem).objective(start.scores, start.regularization)
        self.model = ct.modeling.MixedIntegerModel(formulation, self.problem, self.upper * (1 + 1e-6))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.problem.get_problem_data("SCIP")

    def warm_up(self):
        """Run once, so that what is loaded or compiled late is there."""
        self.run_once()

    def get_next(self, stop_val):
        """The next time limit's number."""
        return stop_val + 1

    def run(self, stop_val):
        """Solve the program."""
        self.result, model = dict(self.start), self.model
        parameters = {"limits/time": seconds_of(stop_val), "limits/gap": self.gap}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = model.problem.solve(solver="SCIP", scip_params=parameters)
            except cp.error.SolverError:  # SCIP has no point at the limit
                return
        if value is None or not np.isfinite(value):
            return
        scip = model.problem.solver_stats.extra_stats["model"]
        # CVXPY gives SCIP an objective without its constant; the distance of the two bounds has none.
        self.result["claimed_bound"] = value - (scip.getPrimalbound() - scip.getDualbound())
        if value < self.upper:
            self.result.update(self._function())

    def _function(self):
        """The function with the least norm among those with the program's outputs."""
        bias = next(float(v.value) for v in self.model.problem.variables() if v.name() == "b")
        free = np.asarray(self.model.outputs.value) - bias
        return {"coefficients": np.linalg.lstsq(self.problem.gram, free, rcond=1e-12)[0], "bias": bias}

    def get_result(self):
        """The function, and the bound that SCIP claims and nobody has proven."""
        return self.result
