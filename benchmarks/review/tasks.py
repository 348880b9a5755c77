"""What is run: methods, settings, and the cells that tables are made of; a cell is one method on one split.

The protocol is that of chapelle2008 §5.2: C* = C, one against the rest, the share of positive labels known and reached
exactly, and objectives evaluated anew by an SVM on the labels that were predicted.
"""

from __future__ import annotations

import itertools
import time
import warnings
from dataclasses import asdict, dataclass

import numpy as np
from datasets import SPLITS, load
from store import Keyed

import convex_tsvm as ct
from convex_tsvm.kernels import laplacian_kernel
from convex_tsvm.methods.annealing import Annealing
from convex_tsvm.methods.cccp import CCCP
from convex_tsvm.methods.continuation import Continuation
from convex_tsvm.methods.descents import Descents
from convex_tsvm.methods.gradient import Gradient
from convex_tsvm.methods.newton import Newton
from convex_tsvm.methods.settings import Settings
from convex_tsvm.methods.switching import Switching

#: Name in the paper: how the method is made for a number of annealing steps (None: the paper's), and its loss.
METHODS = {
    "∇S3VM": (Gradient, "exp"),
    "cS3VM": (lambda steps: Continuation(10 if steps is None else steps), "exp"),
    "CCCP": (lambda steps: CCCP(10 if steps is None else steps), "squared_hinge"),
    "S3VMlight": (lambda steps: Switching(None if steps is None else factors(1e-5, steps)), "squared_hinge"),
    "∇DA": (lambda steps: Gradient(cooling=rate(steps)), "squared_hinge"),
    "Newton": (Newton, "flat"),
    "DA": (lambda steps: Annealing(cooling=rate(steps)), "squared_hinge"),
    "quadratic Newton": (Newton, "squared_hinge"),
    "SVM": (lambda steps: CCCP(), "squared_hinge"),
}

#: SVMs that know the true labels of a share of the unlabelled points: the solutions of low error of Table 6 (§5.3).
INFORMED = {"SVM+10%": 0.1, "SVM+20%": 0.2, "SVM+30%": 0.3}

EVERY = (*METHODS, "SVM-5cv", *INFORMED)

#: What a run adds to its cell.
FIGURES = ("error", "objective", "missed", "seconds")

#: The six columns of most tables.
SIX = ("∇S3VM", "cS3VM", "CCCP", "S3VMlight", "∇DA", "Newton")

#: From the first temperature to one where labels are certain; Figure 9 divides this range into steps.
RANGE = 1.5**14

#: Methods that keep a number of positive labels themselves; the others have a constraint on the mean output (eq. 12).
COUNTING = ("S3VMlight", "∇DA", "DA")

#: Graphs of Table 15: σ, neighbours, power of the Laplacian, its weight, C.  The review does not print its own, which
#: it takes from Sindhwani, Niyogi and Belkin (2005); the last two are ours, of few that were tried.
GRAPHS = {
    "g50c": (17.5, 50, 5, 1e4, 1e4),
    "text": (2.7, 50, 5, 1e4, 1e4),
    "uspst": (9.4, 10, 2, 1e4, 1e4),
    "isolet": (15.0, 10, 2, 1e2, 1e4),
    "coil20": (2900.0 / 255, 2, 1, 1e4, 1e4),
    "coil3": (3000.0 / 255, 2, 1, 1e4, 1e4),
    "2moons": (0.5, 6, 1, 1e4, 1e4),
}


def factors(first, steps):
    """Factors on C*, from ``first`` to 1."""
    return list(np.geomspace(first, 1, steps)) if steps > 1 else [1.0]


def rate(steps):
    """R for a number of temperatures; the paper's 1.5 if none is given."""
    return 1.5 if steps is None else RANGE ** (1 / max(steps - 1, 1e-9)) if steps > 1 else 1e30


@dataclass(frozen=True)
class Cell(Keyed):
    """One method on one split of one data set, in one setting.

    Attributes
    ----------
    data, split, method
    setting : str
        "rest" (one against the rest, or the two classes), "pairs" (all pairs of classes), "graph" (the kernel of
        LapSVM).
    share : {"exact", "estimated"}
        Whether the share of positive labels is known and reached, or estimated from the labels (Table 13).
    sigma, C, C_unlabeled : float
        Factors on the hyperparameters of Table 5; C_unlabeled is one on C.
    steps : int
        Annealing steps; 0 stands for the paper's number.
    """

    data: str
    split: int
    method: str
    setting: str = "rest"
    share: str = "exact"
    sigma: float = 1.0
    C: float = 1.0
    C_unlabeled: float = 1.0
    steps: int = 0


def run(cell: Cell) -> dict:
    """The figures of a cell: errors in % of the unlabelled points, objective, seconds, positives missed."""
    began, data = time.perf_counter(), load(cell.data, cell.split)
    if cell.setting == "pairs":
        classes = np.unique(data.y)
        parts = [data.pair(a, b) for a, b in itertools.combinations(classes, 2)]
        # A pair that lacks labels of one class is no problem to be solved.
        parts = [part for part in parts if len(np.unique(part.y[part.labeled])) == 2]
    else:
        parts = [data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [solved(cell, part) for part in parts]
    figures = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    return {**asdict(cell), **figures, "seconds": time.perf_counter() - began}


def solved(cell, data):
    """Errors and the mean objective of the classifiers of one data set."""
    if cell.method == "SVM-5cv":
        return {"error": _cross_validated(cell, data), "objective": np.nan, "missed": 0.0, "test_error": np.nan}
    if cell.method in INFORMED:
        return _informed(cell, data)
    X, kernel, C = data.X, ct.RBF(cell.sigma * data.sigma), cell.C * data.C
    if cell.setting == "graph":
        sigma, neighbours, power, weight, C = GRAPHS[cell.data]
        X, kernel = _graph_matrix(cell.data, cell.split, sigma, neighbours, power, weight), "precomputed"
    problems, unknown = [], data.unlabeled
    for positive in data.positives:
        truth = data.signs(positive)
        y = data.hidden(truth)
        known = float((truth[unknown] > 0).mean()) if cell.share == "exact" else float((y[data.labeled] > 0).mean())
        counts = cell.share == "exact" or cell.method in COUNTING
        balance = ("exact", known) if counts else 2 * known - 1
        given = {"y": y, "C": C, "C_unlabeled": cell.C_unlabeled * C, "balance": balance}
        problems.append(problems[0].replace(**given) if problems else ct.Problem(X, kernel=kernel, **given))
    make, loss = METHODS[cell.method]
    formulation = ct.tsvm(loss)
    if cell.method == "SVM":
        formulation = formulation.supervised()
    method = make(cell.steps or None)
    solver = "smooth" if isinstance(method, (Gradient, Continuation, Newton)) else "native"
    settings = Settings(1e-3, 2000)
    descents = Descents(method, solver=solver, settings=settings, options={})
    solutions = descents.solve_all(formulation, problems, len(problems))
    if len(data.positives) == 1:
        wrong = solutions[0].labels[unknown] != data.signs(data.positives[0])[unknown]
    else:
        scores = np.column_stack([solution.scores for solution in solutions])[unknown]
        wrong = data.positives[scores.argmax(axis=1)] != data.y[unknown]
    missed = [abs((s.labels[unknown] > 0).sum() - p.positive_count) for s, p in zip(solutions, problems, strict=True)
              if p.positive_count is not None]  # fmt: skip
    objectives = [_objective(solution, problem) for solution, problem in zip(solutions, problems, strict=True)]
    return {
        "error": 100 * float(wrong.mean()),
        "objective": float(np.mean(objectives)),
        "missed": float(np.mean(missed)) if missed else 0.0,
    }


def _informed(cell, data):
    """An SVM that knows some unlabelled points' labels; those of the others are thresholded to the right share."""
    rng, unknown = np.random.default_rng(cell.split), data.unlabeled
    told = rng.choice(unknown, round(INFORMED[cell.method] * len(unknown)), replace=False)
    left = np.setdiff1d(unknown, told)
    outputs, objectives, problem = [], [], None
    for positive in data.positives:
        truth = data.signs(positive)
        y = truth.copy()
        y[left] = 0
        share = float((truth[unknown] > 0).mean())
        given = {"y": y, "C": data.C, "C_unlabeled": data.C, "balance": ("exact", min(max(share, 1e-6), 1 - 1e-6))}
        problem = problem.replace(**given) if problem else ct.Problem(data.X, kernel=ct.RBF(data.sigma), **given)
        scores = ct.cccp(ct.svm(ct.squared_hinge()), problem.replace(balance=None)).scores
        labels = truth.copy()
        n_positive = round(share * len(unknown)) - int((truth[told] > 0).sum())
        labels[left] = -1
        labels[left[np.argsort(-scores[left])[: max(0, n_positive)]]] = 1
        again = problem.replace(y=labels, C=problem.cost, C_unlabeled=None, balance=None)
        objectives.append(ct.cccp(ct.svm(ct.squared_hinge()), again).objective)
        outputs.append(labels if len(data.positives) == 1 else scores)
    if len(outputs) == 1:
        wrong = np.count_nonzero(outputs[0][left] != data.signs(data.positives[0])[left])
    else:
        wrong = np.count_nonzero(data.positives[np.argmax(outputs, axis=0)][left] != data.y[left])
    return {"error": 100 * wrong / len(unknown), "objective": float(np.mean(objectives)), "missed": 0.0}


def _objective(solution, problem):
    """The objective of the SVM on the predicted labels: squared hinge, C and C* (§5.2)."""
    labelled = problem.replace(y=solution.labels, C=problem.cost, C_unlabeled=None, balance=None)
    return ct.cccp(ct.svm(ct.squared_hinge()), labelled).objective


def _cross_validated(cell, data):
    """The error of SVMs on four fifths of all true labels."""
    from sklearn.model_selection import StratifiedKFold

    y = data.y
    predicted = np.full(len(y), np.nan)
    for _, test in StratifiedKFold(5, shuffle=True, random_state=cell.split).split(y, y):
        scores = []
        for positive in data.positives:
            hidden = data.signs(positive)
            hidden[test] = 0
            problem = ct.Problem(data.X, hidden, kernel=ct.RBF(data.sigma), C=data.C, balance=None)
            scores.append(ct.cccp(ct.svm(ct.squared_hinge()), problem).scores[test])
        classes = np.unique(y)
        if len(scores) == 1:
            predicted[test] = np.where(scores[0] >= 0, classes[1], classes[0])
        else:
            predicted[test] = data.positives[np.argmax(scores, axis=0)]
    return 100 * float((predicted != y).mean())


_matrices: dict = {}


def _graph_matrix(name, split, sigma, neighbours, power, weight):
    """The kernel matrix of LapSVM, the same for all splits of a set but 2moons."""
    key = (name, split if name == "2moons" else 0)
    if key not in _matrices:
        X = load(name, split).X
        kernel = laplacian_kernel(ct.RBF(sigma), X, weight, neighbours, power=power)
        _matrices.clear()
        K = kernel(X, X)
        _matrices[key] = (K + K.T) / 2
    return _matrices[key]


# --- which cells a table needs ----------------------------------------------------------------------------------------

SETS = ("g50c", "text", "uspst", "isolet", "coil20", "coil3", "2moons")


def cells(tables, sets=SETS):
    """The cells of some tables and figures, the quick ones first."""
    found = []
    for table in tables:
        for name in sets:
            found += TABLES[table](name)
    return list(dict.fromkeys(found))


def _each(name, methods, **setting):
    return [Cell(name, split, method, **setting) for method in methods for split in range(SPLITS)]


def _grid(name):
    factors = itertools.product((0.5, 1.0, 2.0), (0.1, 1.0, 10.0), (0.01, 0.1, 1.0))
    return [Cell(name, 0, m, sigma=s, C=c, C_unlabeled=u) for s, c, u in factors for m in SIX]


#: The cells of a table on one data set; several tables share cells, and none is computed twice.
TABLES = {
    "table 8": lambda name: _each(name, (*SIX, "SVM", "SVM-5cv")),
    "table 6": lambda name: _each(name, (*SIX, "SVM", *INFORMED)),
    "table 13": lambda name: _each(name, (*SIX, "SVM"), share="estimated"),
    "table 11": lambda name: _each(name, SIX, C_unlabeled=0.01),
    "table 2": lambda name: _each(name, ("DA", "∇DA")) + _each(name, ("DA", "∇DA"), C_unlabeled=0.01),
    "table 3": lambda name: _each(name, ("Newton", "quadratic Newton")),
    "table 12": lambda name: _each(name, ("CCCP",), steps=1) + _each(name, ("CCCP",)),
    "table 14": lambda name: (
        _each(name, (*SIX, "SVM", "SVM-5cv"), setting="pairs") if name in ("uspst", "isolet", "coil20", "coil3") else []
    ) + (_each("uspst2", (*SIX, "SVM", "SVM-5cv")) if name == "uspst" else []),
    "table 15": lambda name: _each(name, ("SVM", "S3VMlight"), setting="graph")
    + _each(name, ("S3VMlight",), setting="graph", share="estimated"),
    "table 9": _grid,
    "draws": lambda name: (
        _each(f"{name}, any", (*SIX, "SVM")) + _each(f"{name}, any", ("S3VMlight", "SVM"), share="estimated")
        if name in ("isolet", "2moons") else []
    ),
    "figure 9": lambda name: (
        [Cell(name, 0, m, steps=steps) for m in (*SIX, "DA") for steps in (1, 2, 4, 8, 16, 32)]
        if name == "text"
        else []
    ),
}  # fmt: skip
