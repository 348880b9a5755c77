"""Programs that a user builds: where they are, and their files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

import numpy as np
from benchopt import BaseSolver
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.metrics import pairwise_distances_argmin

from .folders import folder_of


def path_of(program: str, variable: str) -> str | None:
    """A program by the variable of the environment that names it, or by its name on the PATH; None if there is none."""
    return shutil.which(os.environ.get(variable, program))


class ProgramSolver(BaseSolver):
    """A program that reads and writes files.

    A subclass names the ``program``, the ``variable`` that may say where it is, and where it comes from; it says no to
    tasks in ``why_not(task)``, has ``write(task, folder)``, which writes the files and returns the arguments, and
    ``read(task, folder)``, which returns the function.  The clock runs from the start of the program to its end: files
    are written before and read after.
    """

    requirements = ["pip::scikit-learn"]
    sampling_strategy = "run_once"
    program = variable = source = ""
    #: Seconds after which a program is stopped, and its run fails.
    parameters = {"time_limit": [60.0]}

    @classmethod
    def missing(cls):
        """What to do where the program is not there, or None where it is."""
        if path_of(cls.program, cls.variable):
            return None
        return f"{cls.program} is not on the PATH: build it ({cls.source}), or name it in {cls.variable}"

    def skip(self, task):
        """Say no where the program is not there, and to tasks that it does not take."""
        reason = self.missing() or self.why_not(task)
        return reason is not None, reason

    def why_not(self, task):
        """A reason not to be asked, or None."""

    def set_objective(self, task):
        """Take the task and write its files."""
        self.task, self.folder = task, folder_of(self)
        self.arguments = [path_of(self.program, self.variable), *map(str, self.write(task, self.folder))]

    def run(self, _):
        """Run the program; what it prints is shown if it fails."""
        options = {"cwd": self.folder, "capture_output": True, "text": True, "timeout": self.time_limit}
        done = subprocess.run(self.arguments, **options, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(self.arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def get_result(self):
        """The function that the program has written."""
        return self.read(self.task, self.folder)


def write_points(path, X, y):
    """Points in svmlight's format, with indices from 1 and labels as integers."""
    dump_svmlight_file(X, np.asarray(y, dtype=int), str(path), zero_based=False)


def read_vectors(lines, task):
    """Coefficients over all points from lines of a model file, each a coefficient and the point that it belongs to.

    Programs leave out the index of a point, so it is the nearest one; of equal points any will do.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
        file.write("\n".join(" ".join(line.split("#")[0].split()) for line in lines) + "\n")
        file.flush()
        vectors, values = load_svmlight_file(file.name, n_features=task.X.shape[1], zero_based=False)
    a, kept = np.zeros(len(task.y)), values != 0
    if kept.any():
        np.add.at(a, pairwise_distances_argmin(vectors[kept].toarray(), task.dense), values[kept])
    return a
