"""SVMlin: multi-switch TSVM and deterministic annealing (Sindhwani and Keerthi 2006), where its program is there."""

import numpy as np
from benchmark_utils.programs import ProgramSolver, write_points


class Solver(ProgramSolver):
    """``svmlin`` with λ and λ' that make its objective the one here, but for the bias, which it regularizes.

    Its objective is λ/2 ‖w‖² + 1/(2l) Σ ℓ² + λ'/(2u) Σ ℓ²; it keeps a share of positive labels in place of the mean.
    """

    name = "SVMlin"
    program, variable, source = "svmlin", "SVMLIN", "http://vikas.sindhwani.org/svmlin.html"
    parameters = {"method": ["switching", "annealing"], "time_limit": [60.0]}

    def why_not(self, task):
        """It has the squared hinge loss and the linear kernel."""
        if task.sigma is not None:
            return "it takes the linear kernel only"
        return None if task.loss == "squared_hinge" else "it has the squared hinge loss only"

    def write(self, task, folder):
        """Points without labels in one file, labels in another."""
        known, unknown = task.labeled, task.unlabeled
        shown = known if task.formulation == "svm" else np.arange(len(task.y))
        write_points(folder / "points", task.X[shown], np.zeros(len(shown)))
        lines = (folder / "points").read_text().splitlines()
        # Its points have no label before them.
        (folder / "points").write_text("\n".join(line.partition(" ")[2] for line in lines) + "\n")
        np.savetxt(folder / "labels", task.y[shown], fmt="%d")
        lambda_ = 1 / (2 * len(known) * task.C)
        if task.formulation == "svm":
            return ["-A", 1, "-W", repr(lambda_), "points", "labels"]
        weight = 2 * len(unknown) * lambda_ * task.C_unlabeled
        algorithm = {"switching": 2, "annealing": 3}[self.method]
        share = ["-R", repr(task.positive_share)]
        return ["-A", algorithm, "-W", repr(lambda_), "-U", repr(weight), *share, "points", "labels"]

    def read(self, task, folder):
        """The weights, the last of which is the bias; trailing features that are nowhere have none."""
        found = np.loadtxt(folder / "points.weights", ndmin=1)
        w = np.zeros(task.X.shape[1])
        w[: len(found) - 1] = found[:-1]
        return {"weights": w, "bias": float(found[-1])}
