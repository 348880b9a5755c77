"""Runs of the library that the documents show and no benchmark keeps: ten minutes, on sets that scikit-learn has.

    python paper/runs.py [NAME ...]     writes errata.json, search.json and bounds.json, or those named, in paper/runs

Everything else in both documents is read from benchmarks/results.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import tomllib
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

import convex_tsvm as ct

KEPT = Path(__file__).parent / "runs"

#: Relaxations from the weakest to the strongest, of the squared hinge.
RELAXATIONS = ("svm", "sdp", "box", "rlt", "triangles", "signs")

#: Data sets, and the class that is positive in each.
SETS = {"wine": (load_wine, 1), "breast cancer": (load_breast_cancer, 1)}

#: The papers whose statements are run.
PAPERS = ("collobert2006", "chapelle2008", "debie2004", "dai2010", "sindhwani2006")

#: Seconds that a search may take.
LIMIT = 120.0


def drawn(name: str, n: int, n_labeled: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardized points, labels of as many points of each class, 0 for the others, and the truth."""
    load, positive = SETS[name]
    found = load()
    X, truth = StandardScaler().fit_transform(found.data), np.where(found.target == positive, 1.0, -1.0)
    order = np.random.default_rng(seed).permutation(len(truth))[:n]
    X, truth = X[order], truth[order]
    y = np.zeros(n)
    for sign in (1, -1):
        y[np.flatnonzero(truth == sign)[: n_labeled // 2]] = sign
    return X, y, truth


def bounds() -> dict:
    """Bounds of the relaxations, and the best objective that any of the runs has reached."""
    rows = []
    for name in SETS:
        for C, n_labeled in ((1.0, 10), (10.0, 20)):
            for seed in range(5):
                X, y, _ = drawn(name, 100, n_labeled, seed)
                problem = ct.Problem(X, y, kernel=ct.RBF(gamma=1 / X.shape[1]), C=C, C_unlabeled="balanced")
                model = ct.s3vm(balance=None, fit_intercept=False)
                for relaxation in RELAXATIONS:
                    began = time.perf_counter()
                    bound = ct.LowerBoundBuilder(model, problem, relaxation=relaxation, gap=1e-4).bound()
                    seconds = time.perf_counter() - began
                    rows.append(
                        {"set": name, "C": C, "labeled": n_labeled, "seed": seed, "relaxation": relaxation,
                         "bound": bound.value, "upper": bound.upper, "seconds": round(seconds, 2)}
                    )  # fmt: skip
    return {"points": 100, "rows": rows}


def searched(model: ct.Formulation, problem: ct.Problem, truth: np.ndarray, **options) -> dict:
    """A search, its course, CCCP's objective, and the verdict on its certificate."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "optimum.npz")
        found = ct.exact_search(model, problem, gap=1e-3, time_limit=LIMIT, certificate=file, **options)
        verdict, size = ct.prove_certificate(file, model, problem), file.stat().st_size
    unknown = problem.y == 0
    steps = [[one.seconds, one.n_nodes, one.lower_bound, one.objective] for one in found.progress]
    return {
        "status": found.status, "objective": found.objective, "bound": found.lower_bound, "nodes": found.n_nodes,
        "seconds": round(found.seconds, 1), "progress": steps, "cccp": ct.cccp(model, problem).objective,
        "error": float(np.mean(found.labels[unknown] != truth[unknown])) if hasattr(found, "labels") else None,
        "proven": verdict.holds, "proven_bound": verdict.lower_bound, "proofs": verdict.n_proofs,
        "check_seconds": round(verdict.seconds, 1), "kilobytes": round(size / 1024),
    }  # fmt: skip


def search() -> dict:
    """Searches over labels, with two bounds, and over intervals."""
    X, y, truth = drawn("wine", 178, 10, 0)
    problem = ct.Problem(X, y, kernel=ct.RBF(sigma=4), C=10, C_unlabeled="balanced")
    found = {"all": searched(ct.s3vm(), problem, truth), "svm": searched(ct.s3vm(), problem, truth, bounds="svm")}
    X, y, truth = drawn("wine", 60, 10, 0)
    problem = ct.Problem(X, y, kernel=ct.RBF(sigma=4), C=3, C_unlabeled="balanced")
    found["ramp"] = searched(ct.cccp_tsvm(), problem, truth)
    return found


def errata() -> dict:
    """Every statement of the five papers, run, and the findings that are false; the others hold, but for notation."""
    read = tomllib.loads((Path(__file__).parents[1] / "docs" / "findings.toml").read_text(encoding="utf-8"))["finding"]
    papers = {}
    for name in PAPERS:
        found = ct.papers.paper(name)
        outcomes = {one.number: one.run() for one in found}
        false = [found[one["statement"]] for one in read if (one["paper"], one["kind"]) == (name, "false")]
        assert all(outcome.passed for outcome in outcomes.values())
        papers[name] = {
            "title": found.title,
            "statements": len(outcomes),
            "holds": len(outcomes) - len(false),
            "false": [
                {"place": one.number, "printed": one.printed_tex, "corrected": one.corrected_tex,
                 "says": one.misprint, "printed_off": outcomes[one.number].printed_off, "off": outcomes[one.number].off,
                 "counterexample": str(one.counterexample())}
                for one in false
            ],
        }  # fmt: skip
    return papers


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    chosen = sys.argv[1:] or ["errata", "search", "bounds"]
    for name in chosen:
        found = {"errata": errata, "search": search, "bounds": bounds}[name]()
        (KEPT / f"{name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
