"""Exact search over boxes of weights: how far it scales, and what heuristics miss on real data (hours, resumable).

    python benchmarks/exact_weights.py --minutes 60      goes on where it was
    python benchmarks/exact_weights.py --report          the tables, from what is finished

Drawn points are two spherical Gaussians with means 2 or 5 apart (large and small overlap), of which 20 are labelled;
C = 1, and all C* together are as much as all C ("light"), or ten times as much ("heavy"), without a balance.  Real data
are the first principal axes of the shared sets, with a linear balance.  Every search has one core and a gap of 0.1 %.
"""

import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import DATA, HERE, Results, hidden, read
from store import Keyed, resume

import convex_tsvm as ct
from convex_tsvm.exact.files import save_search
from convex_tsvm.exact.solve import solution_of

GAP, LIMIT, LABELED = 1e-3, 600.0, 20
LOSSES = {
    "hinge": (ct.hinge(), ct.symmetric_hinge()),
    "squared hinge": (ct.squared_hinge(), ct.losses.symmetric_squared_hinge()),
    "ramp": (ct.hinge(), ct.symmetric_ramp(-0.3)),
}
DISTANCES, FACTORS = {"large": 2.0, "small": 5.0}, {"light": 1.0, "heavy": 10.0}
SIZES, AXES = (1000, 10_000, 100_000, 1_000_000), (1, 2, 3, 4, 5)
#: Real data, and how many of the principal axes.
SETS = {"mnist": 3, "kdd99": 3, "secstr": 3}
FIGURES = ("objective", "gap", "nodes", "seconds", "checked", "checker", "kilobytes", "error", "missed", "errors")
PATH = HERE / "results" / "exact_weights.csv"


@dataclass(frozen=True)
class Cell(Keyed):
    """One search; a drawn problem has its overlap and ``n`` points, a real one the name of its data."""

    data: str
    n: int
    d: int
    loss: str
    weight: str


def drawn(overlap, n, d):
    """Points, and their true signs."""
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, 0] += 0.5 * DISTANCES[overlap] * truth
    return X, truth


def axes(name, d):
    """The first principal axes of a set, the first of them with unit variance, and signs: even digits, and as given."""
    if name == "secstr":
        file = np.load(DATA / "ssl_secstr.npz")
        X, truth = (file["T"][:, :, None] == np.arange(file["T"].max() + 1)).reshape(len(file["T"]), -1), file["y"]
    else:
        file = read(name)
        X, truth = file.X, np.where(file.y % 2 == 0, 1.0, -1.0) if name == "mnist" else file.y
    X = (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float32)
    X -= X.mean(axis=0)
    _, vectors = np.linalg.eigh((X.T @ X).astype(float))
    found = (X @ vectors[:, ::-1][:, :d]).astype(float)
    return found / found[:, 0].std(), truth.astype(float)


def stated(cell):
    """A formulation, a problem, and the true signs."""
    real = cell.data in SETS
    X, truth = axes(cell.data, cell.d) if real else drawn(cell.data, cell.n, cell.d)
    rng = np.random.default_rng(0)
    labeled = rng.permutation(len(X))[:LABELED] if real else np.arange(LABELED)
    y = hidden(truth, labeled)
    costs = {"C": 1.0, "C_unlabeled": FACTORS[cell.weight] * LABELED / (len(X) - LABELED)}
    problem = ct.Problem(X, y, balance=float(truth[y == 0].mean()) if real else None, **costs)
    return ct.Formulation(*LOSSES[cell.loss], balance="linear" if real else None), problem, truth


def heuristics(formulation, problem):
    """What concave-convex steps, also with annealing, and deterministic annealing and switching find."""
    methods = [lambda: ct.cccp(formulation, problem), lambda: ct.cccp(formulation, problem, annealing=10)]
    if formulation.is_about_labels:
        methods += [lambda: ct.annealing(formulation, problem), lambda: ct.switching(formulation, problem)]
    return [method() for method in methods]


def run(cell):
    """Figures of a cell."""
    formulation, problem, truth = stated(cell)
    options = {"branch_on": "weights", "gap": GAP, "time_limit": LIMIT}
    ct.exact_search(formulation, problem, branch_on="weights", max_nodes=2)  # compiled
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "certificate.npz"
        search = ct.exact.BranchAndBound(formulation, problem, **options).run()
        save_search(path, search)
        began = time.perf_counter()
        verdict = ct.prove_certificate(path)
        found = {"checker": time.perf_counter() - began}
        with np.load(path) as file:
            tree = [file[name].nbytes for name in file.files if name.startswith(("record_", "proof_"))]
        found["kilobytes"] = sum(tree) / 1000
        solution = solution_of(search)
    unknown = problem.unlabeled

    def error(one):
        return 100 * float((one.labels != truth)[unknown].mean())

    found |= {"missed": np.nan, "errors": np.nan}
    if cell.data in SETS:
        best = min(heuristics(formulation, problem), key=lambda one: one.objective)
        found |= {"missed": 100 * (best.objective / solution.objective - 1), "errors": error(best)}
    return vars(cell) | found | {
        "objective": solution.objective, "gap": max(100 * solution.gap, 0.0), "nodes": solution.n_nodes,
        "seconds": solution.seconds, "checked": float(verdict.holds), "error": error(solution),
    }  # fmt: skip


def cells():
    """All cells, those first that are done first."""
    real = [Cell(name, 0, d, loss, weight) for name, d in SETS.items() for loss in LOSSES for weight in FACTORS]
    first = [(100_000, 3), (10_000, 4), (1_000_000, 2), (1_000_000, 3)]
    others = [(n, d) for d in AXES for n in SIZES if (n, d) not in first]
    grid = [
        Cell(overlap, n, d, loss, weight)
        for loss in LOSSES
        for n, d in [*first, *others]
        for overlap in DISTANCES
        for weight in FACTORS
    ]
    return [*grid[:12], *real, *grid[12:]]


def report(done):
    """The tables, as far as they are known."""
    results = Results("exact_weights", "Exact search over boxes of weights and bias", "exact_weights.py --report")
    results(*__doc__.split("\n\n")[2].split("\n"), "")
    results("## Drawn points", "", "Seconds (of the checker) with nodes, or the gap left after 600 s.", "")
    corners = [(overlap, weight) for overlap in DISTANCES for weight in FACTORS]
    results.table("loss", "points", "dimensions", *(", ".join(corner) for corner in corners))
    known = {one: done[one.key] for one in cells() if one.key in done}
    for loss in LOSSES:
        for n in SIZES:
            for d in AXES:
                row = [known.get(Cell(o, n, d, loss, weight)) for o, weight in corners]
                if any(row):
                    results.row(loss, n, d, *map(told, row))
    results("", "## Real data", "", "The least of what heuristics reach, and the optimum.", "")
    results.table("data", "loss", "C*", "search", "missed, %", "error of heuristics, %", "error of the optimum, %")
    for one, f in known.items():
        if one.data in SETS:
            own = [f"{f[name]:.2f}" for name in ("missed", "errors", "error")]
            results.row(f"{one.data}, {one.d} axes", one.loss, one.weight, told(f), *own)
    results("", f"{int(sum(f['checked'] for f in known.values()))} of {len(known)} certificates are proven; trees and "
            f"proofs take up to {max((f['kilobytes'] for f in known.values()), default=0):.0f} kB.")  # fmt: skip
    results.done()


def told(f):
    """A search as a cell of a table."""
    if f is None:
        return ""
    closed = f"{f['seconds']:.1f} s ({f['checker']:.1f})" if f["gap"] <= 100 * GAP * 1.001 else f"{f['gap']:.2g} % left"
    return f"{closed}, {f['nodes']:.0f}"


def say(count, total, spent, found):
    """A line for a finished cell."""
    print(*(found[name] for name in ("data", "n", "d", "loss", "weight")), told(found), found["checked"], flush=True)


if __name__ == "__main__":
    resume(__doc__, cells(), run, FIGURES, PATH, report, tell=say)
