"""Labels that are proven one by one, and asking for those that are not (an hour, resumable).

    python benchmarks/proven_labels.py --minutes 60      goes on where it was
    python benchmarks/proven_labels.py --report          the tables, from what is finished

Nine instances of the published table (exact_instances.py), first seed, each with 20 % of the labels known: of every
label it is decided whether all labellings whose objective is within 0, 1 and 5 % of the best have it.  Then, on shared
sets cut to 60 points with six labels, ten labels are asked for: open ones by the rule of ``ProvenLabels.query`` with a
slack of 5 %, those nearest to the boundary, and random ones; the exact SVM is trained anew after each.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import HERE, Results, hidden, read
from exact_instances import FORMULATION, published
from store import Keyed, resume

import convex_tsvm as ct

#: Published sets with seeds, and the share of labels that are known.
INSTANCES = (
    ("art100", 0), ("art150", 0), ("heart", 0), ("2moons", 0), ("ionosphere", 0), ("powercons", 0), ("gunpoint", 0),
    ("art100", 1), ("2moons", 1),
)  # fmt: skip
SHARE = 0.2
SLACKS, GAP = (0.0, 0.01, 0.05), 1e-3
SETS = ("coil20", "exact_2moons", "exact_arrhythmia", "exact_art100", "exact_art150", "exact_connectionist",
        "exact_gunpoint", "exact_heart", "exact_ionosphere", "exact_powercons", "exact_wdbc", "g50c", "isolet",
        "ssl_digit1", "ssl_g241c", "usps")  # fmt: skip
RULES, QUERIES, SEEDS = ("open", "margin", "random"), 10, range(3)
FIGURES = (
    "search",
    "seconds",
    "nodes",
    "proven",
    "witnessed",
    "undecided",
    "checked",
    "checker",
    "first",
    "last",
    "mean",
)
PATH = HERE / "results" / "proven_labels.csv"


@dataclass(frozen=True)
class Cell(Keyed):
    """One slack on one instance, or one rule on one set."""

    task: str
    data: str
    seed: int
    how: str


def prove(cell):
    """Figures of an instance and a slack."""
    problem = published(cell.data, SHARE, cell.seed).problem
    solution = ct.exact_search(FORMULATION, problem, gap=GAP, time_limit=900)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proven.npz"
        found = solution.proven(float(cell.how), time_limit=900, certificate=path)
        began = time.perf_counter()
        verdict = ct.prove_certificate(path)
        checker = time.perf_counter() - began
    witnessed = int((found.witness >= 0).sum())
    return vars(cell) | {
        "search": solution.seconds, "seconds": found.seconds, "nodes": found.n_nodes, "witnessed": witnessed,
        "proven": int((found.labels != 0).sum()) - problem.n_labeled, "undecided": len(found.open) - witnessed,
        "checked": float(verdict.holds), "checker": checker,
    }  # fmt: skip


def points(name, seed):
    """Sixty points of a set, standardized, and their signs: the two most frequent classes where there are more."""
    file = read(name)
    X, y = (file.X.toarray() if sp.issparse(file.X) else file.X), file.y
    classes, counts = np.unique(y, return_counts=True)
    two = classes[np.argsort(-counts, kind="stable")[:2]]
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == one))[:30] for one in two])
    order = rng.permutation(len(rows))
    X, truth = X[rows][order], np.where(y[rows] == two[0], 1.0, -1.0)[order]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    return X / np.sqrt(X.shape[1]), truth


def ask(cell):
    """Errors at the start, after ten queries, and on average, in percent of the points without a label at first."""
    X, truth = points(cell.data, cell.seed)
    rng = np.random.default_rng(cell.seed)
    first = np.concatenate([np.flatnonzero(truth == sign)[:3] for sign in (1, -1)])
    rest, known, errors, began = np.setdiff1d(np.arange(len(X)), first), list(first), [], time.perf_counter()
    for _ in range(QUERIES + 1):
        problem = ct.Problem(X, hidden(truth, known), kernel=ct.RBF(gamma=1.0), C=10, C_unlabeled=1.0, balance=0.0)
        solution = ct.exact_search(ct.s3vm(), problem, gap=1e-2, time_limit=20)
        errors.append(100 * float((solution.labels != truth)[rest].mean()))
        left = problem.unlabeled
        chosen = int(rng.choice(left))
        if cell.how == "margin":
            chosen = int(left[np.abs(solution.scores[left]).argmin()])
        elif cell.how == "open":
            asked = solution.proven(0.05, time_limit=20).query()
            chosen = chosen if asked is None else asked
        known.append(chosen)
    return vars(cell) | {
        "first": errors[0], "last": errors[-1], "mean": float(np.mean(errors[1:])),
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def run(cell):
    """Figures of a cell."""
    return dict.fromkeys(FIGURES, np.nan) | (prove(cell) if cell.task == "prove" else ask(cell))


def cells():
    """All cells."""
    proofs = [Cell("prove", name, seed, str(slack)) for name, seed in INSTANCES for slack in SLACKS]
    return proofs + [Cell("ask", name, seed, rule) for seed in SEEDS for name in SETS for rule in RULES]


def report(done):
    """The tables, as far as they are known."""
    known = {one: done[one.key] for one in cells() if one.key in done}
    results = Results("proven_labels", "Labels that are proven one by one", "proven_labels.py --report")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    results("## Which labels are proven", "", "Seconds of the search for the optimum (gap 0.1 %), and of this one.", "")
    results.table("instance", "slack, %", "search, s", "s", "nodes", "proven", "witnessed", "undecided", "checker, s")
    for one, f in known.items():
        if one.task == "prove":
            numbers = [f"{f[name]:.0f}" for name in ("nodes", "proven", "witnessed", "undecided")]
            checker = f"{f['checker']:.1f}" if f["checked"] else "not proven"
            seconds = [f"{f[name]:.1f}" for name in ("search", "seconds")]
            results.row(f"{one.data}, seed {one.seed}", f"{100 * float(one.how):g}", *seconds, *numbers, checker)
    results("", "## Asking for labels", "", "Error in percent at first, and after ten labels (mean of all ten).", "")
    results.table("data", "draws", "at first", *RULES)
    for name in SETS:
        draws = [seed for seed in SEEDS if all(Cell("ask", name, seed, rule) in known for rule in RULES)]
        if draws:
            told = []
            for rule in RULES:
                own = [known[Cell("ask", name, seed, rule)] for seed in draws]
                told.append(" ({:.1f})".join([f"{np.mean([f['last'] for f in own]):.1f}", ""]).format(
                    np.mean([f["mean"] for f in own])))  # fmt: skip
            first = np.mean([known[Cell("ask", name, seed, "random")]["first"] for seed in draws])
            results.row(name, len(draws), f"{first:.1f}", *told)
    results.done()


def say(count, total, spent, found):
    """A line for a finished cell."""
    print(*(f"{name}={value:.4g}" if isinstance(value, float) else value for name, value in found.items()), flush=True)


if __name__ == "__main__":
    resume(__doc__, cells(), run, FIGURES, PATH, report, tell=say)
