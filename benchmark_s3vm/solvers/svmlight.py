"""SVMlight: label switching (Joachims 1999), where its program svm_learn is there."""

import numpy as np
from benchmark_utils.programs import ProgramSolver, write_points


class Solver(ProgramSolver):
    """``svm_learn`` on points whose label is 0 where it is unknown.

    It has one C for labelled points and raises that of unlabelled ones to the same, so it minimizes the objective with
    C* = C, whatever C* is; it keeps a share of positive labels in place of the mean output.
    """

    name = "SVMlight"
    program, variable, source = "svm_learn", "SVMLIGHT", "https://www.cs.cornell.edu/people/tj/svm_light/"

    def why_not(self, task):
        """It has the hinge loss only."""
        if task.loss != "hinge":
            return "it has the hinge loss only"
        return None

    def write(self, task, folder):
        """One file; the labelled points alone for the convex problem."""
        shown = task.labeled if task.formulation == "svm" else np.arange(len(task.y))
        write_points(folder / "train", task.X[shown], task.y[shown])
        kernel = ["-t", 0] if task.sigma is None else ["-t", 2, "-g", repr(task.kernel_width)]
        share = [] if task.formulation == "svm" else ["-p", repr(task.positive_share)]
        return ["-v", 0, "-c", repr(task.C), *kernel, *share, "-a", "alphas", "train", "model"]

    def read(self, task, folder):
        """y α of every point in order, and the threshold, which it subtracts."""
        shown = task.labeled if task.formulation == "svm" else np.arange(len(task.y))
        a = np.zeros(len(task.y))
        a[shown] = np.loadtxt(folder / "alphas", ndmin=1)
        lines = (folder / "model").read_text().splitlines()
        threshold = next(line for line in lines if "threshold b" in line)
        return {"coefficients": a, "bias": -float(threshold.split()[0])}
