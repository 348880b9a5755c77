"""What the benchmarks share: data, splits, and results kept beside the code."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from document import Document
from scipy.stats import norm

import convex_tsvm as ct

HERE = Path(__file__).parent
DATA = Path(os.environ.get("CONVEX_TSVM_DATA", HERE / ".." / ".." / "shared" / "data"))

#: σ and C of chapelle2008 Table 5.
TABLE_5 = {"g50c": (38.0, 19.0), "text": (3.5, 31.0)}


@dataclass(frozen=True, eq=False)
class File:
    """Points, classes, and the other arrays of a file of the papers' data, by name."""

    X: Any
    y: np.ndarray
    rest: Mapping[str, np.ndarray]


@cache
def read(name):
    """A file of the papers' data."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        raise SystemExit(f"{path} is missing; set CONVEX_TSVM_DATA to the folder that has {name}.npz")
    file = np.load(path)
    if "X" in file:
        X = file["X"].astype(float)
    else:
        X = sp.csr_matrix((file["data"].astype(float), file["indices"], file["indptr"]), shape=tuple(file["shape"]))
    return File(X, file["y"].astype(float), file)


def load(name, splits="labeled"):
    """Points, true signs, and the original splits."""
    file = read(name)
    return file.X, file.y, file.rest[splits]


def hidden(truth, labeled):
    """Labels with 0 for the points not in ``labeled``."""
    y = np.zeros(len(truth))
    y[labeled] = truth[labeled]
    return y


def gaussians(n, seed=0):
    """Points like g50c's: two Gaussians in 50 dimensions whose Bayes error is 5 %, and their signs."""
    y = np.resize([1.0, -1.0], n)
    X = np.random.default_rng(seed).standard_normal((n, 50))
    return X + y[:, None] * norm.isf(0.05) / np.sqrt(50), y


def exponent(sizes, seconds):
    """Slope of the line of least squares in the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def moved(X, k):
    """Points nearly the same, of which nothing is known from fits before."""
    return X + 1e-4 * np.random.default_rng(k).standard_normal(X.shape)


def compile_native():
    """Everything the native path compiles, for both precisions and with and without a free bias."""
    X, truth = gaussians(1200)
    for n in (100, 1200):
        y = np.where(np.arange(n) < 50, truth[:n], 0.0)
        for cache_size in (200, 0.05):
            for formulation in (ct.cccp_tsvm(), ct.cccp_tsvm(balance=None)):
                ct.cccp(formulation, ct.Problem(X[:n], y, kernel=ct.RBF(17.0)), cache_size=cache_size)


def alone(program, threads=None):
    """What a program stores as ``found``, and the GB it took, from a process of its own with so many threads.

    It finds numpy, convex_tsvm, time and what is in this folder; warnings are off.
    """
    code = "import json, resource, sys, time, warnings\n"
    code += f"sys.path.insert(0, {str(HERE)!r})\nwarnings.simplefilter('ignore')\n"
    code += f"import numpy as np\nimport convex_tsvm as ct\n{program}\n"
    code += "print(json.dumps([found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))"
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def machine():
    """One line about where this ran."""
    versions = []
    for name in ("numpy", "scipy", "cvxpy", "clarabel", "numba", "sklearn"):
        module = __import__(name)
        versions.append(f"{name} {module.__version__}")
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {', '.join(versions)}"


class Results(Document):
    """A document that is printed as it grows, with the machine that it is made on."""

    def __init__(self, name, title, command=None):
        super().__init__(name, title)
        print(f"# {title}", flush=True)
        self(f"`python benchmarks/{command or f'{name}.py'}` on {machine()}")

    def __call__(self, *lines):
        """Print and keep lines of text, headings and links to pictures; an empty line ends a paragraph."""
        paragraph = []
        for line in [*lines, ""]:
            print(line, flush=True)
            if line and not line.startswith(("#", "![")):
                paragraph.append(line)
                continue
            if paragraph:
                self.text(*paragraph)
                paragraph = []
            if line.startswith("#"):
                marks, _, words = line.partition(" ")
                self.heading(words, len(marks))
            elif line:
                words, _, name = line.removeprefix("![").removesuffix(")").partition("](")
                self.picture(words, name)

    def table(self, *heads):
        """Head of a table."""
        print("| " + " | ".join(heads) + " |", flush=True)
        super().table(*heads)

    def row(self, *cells):
        """Row of a table; from the first on the files are kept up to date, so an interrupted run leaves what it has."""
        print("| " + " | ".join(str(getattr(cell, "shown", cell)) for cell in cells) + " |", flush=True)
        super().row(*cells)
        self.save()

    def done(self):
        """Last line."""
        self(f"Took {time.perf_counter() - self.began:.0f} s.")
        self.save()
