"""UniverSVM: CCCP for the ramp loss (Collobert et al. 2006), where its program is there."""

import numpy as np
from benchmark_utils.programs import ProgramSolver, read_vectors, write_points

#: The label that marks unlabelled points.
UNLABELED = -3


class Solver(ProgramSolver):
    """``universvm`` with s = -0.3 for the loss "ramp" and s = 0 for "hinge"; its balance is the one asked for."""

    name = "UniverSVM"
    program, variable, source = "universvm", "UNIVERSVM", "https://github.com/fabiansinz/UniverSVM"

    def why_not(self, task):
        """It has the hinge and the ramp loss."""
        return None if task.loss in ("hinge", "ramp") else "it has the hinge and the ramp loss only"

    def write(self, task, folder):
        """The labelled points in one file, the unlabelled ones in another."""
        known, unknown = task.labeled, task.unlabeled
        write_points(folder / "train", task.X[known], task.y[known])
        kernel = ["-t", 0] if task.sigma is None else ["-t", 2, "-g", repr(task.kernel_width)]
        common = ["-c", repr(task.C), *kernel]
        if task.formulation == "svm":
            return [*common, "-o", 0, "train", "model"]
        write_points(folder / "unlabeled", task.X[unknown], np.full(len(unknown), UNLABELED))
        balance = ["-a", 0] if task.target is None else ["-w", repr(task.target)]
        s = -0.3 if task.loss == "ramp" else 0
        return [*common, *balance, "-z", repr(task.C_unlabeled), "-S", s, "-u", "unlabeled", "train", "model"]

    def read(self, task, folder):
        """The coefficients of support vectors; that of the balance is spread over the unlabelled points."""
        lines = (folder / "model").read_text().splitlines()
        start = lines.index("SV")
        header = dict(line.split(maxsplit=1) for line in lines[:start])
        a = read_vectors([line for line in lines[start + 1 :] if line.strip()], task)
        if "alpha0" in header:
            a[task.unlabeled] += float(header["alpha0"]) / len(task.unlabeled)
        return {"coefficients": a, "bias": float(header["b0"])}
