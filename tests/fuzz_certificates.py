"""Certificates of kernel matrices that are nearly singular, and of files that were forged or damaged.

    python tests/fuzz_certificates.py --kernels 500 --files 300 [--seed 0]

A certificate of a positive definite matrix is proven, or refused with the reason, of which a warning tells when it is
written.  A file that was changed is never accepted for a claim that is false, never ends in another error than one
that says that it is damaged, and takes no more memory than an honest one of its size may.
"""

import argparse
import contextlib
import json
import resource
import shutil
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

import convex_tsvm as ct
from convex_tsvm.checker import digest
from convex_tsvm.cli import main as command
from convex_tsvm.exact.files import read_search

HONEST = sorted((Path(__file__).parent / "certificates" / "honest").glob("*.npz"))

#: Kinds of matrices, and the decades of the least eigenvalue, as a share of the largest entry.
MATRICES, DECADES = ("rbf", "laplacian", "deformed", "low rank"), (3, 12)


def matrix(kind, n, decade, rng):
    """A kernel matrix whose least eigenvalue is about 10^-decade of its largest entry."""
    X = rng.normal(size=(n, 2)) + np.resize([1.0, -1.0], n)[:, None]
    if kind == "low rank":
        Z = rng.normal(size=(n, 3))
        K = Z @ Z.T + 10.0**-decade * np.square(Z).sum(axis=1).max() * np.eye(n)
        return (K + K.T) / 2
    near = np.abs(X[:, None] - X).sum(axis=2) if kind == "laplacian" else np.square(X[:, None] - X).sum(axis=2)
    low, high = -9.0, 6.0  # of the logarithm of γ: the wider the kernel, the nearer to singular
    for _ in range(30):
        middle = (low + high) / 2
        K = np.exp(-(10**middle) * near)
        low, high = (low, middle) if np.linalg.eigvalsh(K)[0] > 10.0**-decade else (middle, high)
    if kind == "deformed":
        W = np.exp(-4 * near)
        L = np.diag(W.sum(axis=1)) - W
        K = K - K @ np.linalg.solve(np.eye(n) + 0.1 * L @ K, 0.1 * L @ K)
    return (K + K.T) / 2


def kernels(number, seed, progress=False):
    """Outcomes of so many matrices, and failures."""
    outcomes, failures = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.npz"
        for k in range(number):
            rng = np.random.default_rng([seed, k])
            kind, decade, n = MATRICES[k % 4], float(rng.uniform(*DECADES)), int(rng.integers(10, 60))
            y = np.where(np.arange(n) < n - 6, np.resize([1.0, -1.0], n), 0)
            problem = ct.Problem(matrix(kind, n, decade, rng), y, kernel="precomputed", C=5, C_unlabeled=0.5)
            model = [ct.tsvm("hinge"), ct.s3vm(), ct.cccp_tsvm(-0.3)][k // 4 % 3]
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = ct.exact_search(model, problem, gap=1e-3, max_nodes=15, certificate=path)
            verdict = ct.prove_certificate(path, model, problem)
            outcomes[f"{kind} {'proven' if verdict.holds else 'refused'}"] += 1
            silent = not any("does not prove its claim" in str(one.message) for one in told)
            if not verdict.holds and (silent or found.status == "optimal"):
                failures.append((k, f"written in silence: {verdict.problem}"))
            if not verdict.holds and progress:
                print(
                    f"matrix {seed}/{k} ({kind}, 10^-{decade:.1f}, n = {n}) is refused: {verdict.problem}", flush=True
                )
    return outcomes, failures


def honest_files(folder):
    """The corpus of searches for labels, and a few searches over intervals."""
    files = [shutil.copy(path, folder) for path in HONEST]
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 2))
    y = np.r_[1.0, -1, 1, -1, np.zeros(5)]
    for name, model in {
        "ramp": ct.cccp_tsvm(-0.3), "free": ct.cccp_tsvm(-0.3, balance=None), "margin": ct.compact_margin(),
        "falls": ct.Formulation(
            ct.hinge(), ct.losses.PLQ([0], [(0, 1, 0), (0, -1, 0)]), fit_intercept=False, balance=None
        ),
    }.items():  # fmt: skip
        balance = "labeled" if model.balance else None
        path = Path(folder) / f"intervals_{name}.npz"
        problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2.0, C_unlabeled=0.5, balance=balance)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ct.exact_search(model, problem, gap=1e-4, certificate=path)
        files.append(str(path))
    return [Path(file) for file in files]


def changed(path, out, rng):
    """Write a file after one random change; the name of the change."""
    arrays = dict(np.load(path))
    header = json.loads(str(arrays["header"]))
    names = sorted(set(arrays) - {"header"})
    name = str(rng.choice(names))
    change = str(rng.choice([
        "bound", "entry", "entry of the problem", "nan", "row", "shape", "type", "tree", "member", "large", "size",
        "bytes", "cut", "words", "missing", "cutoff",
    ]))  # fmt: skip
    if change == "bound":
        header["lower_bound"] = header["lower_bound"] + abs(header["objective"]) * float(rng.choice([1e-9, 1e-3, 1.0]))
    elif change in ("entry", "nan", "entry of the problem"):
        if change == "entry of the problem":
            name = str(rng.choice(["y", "cost", "X"])) if "X" in arrays else "cost"
        array = arrays[name].astype(float) if change == "nan" else arrays[name].copy()
        if array.size:
            place = int(rng.integers(array.size))
            array.flat[place] = np.nan if change == "nan" else rng.choice([-1, 0, 1, 2, 1e3, array.flat[place] * 2])
        arrays[name] = array
        if change == "entry of the problem":
            header["digest"] = digest(arrays)
    elif change == "row" and arrays[name].ndim and len(arrays[name]):
        arrays[name] = np.delete(arrays[name], int(rng.integers(len(arrays[name]))), axis=0)
    elif change == "shape":
        arrays[name] = arrays[name].reshape(-1, 1) if rng.random() < 0.5 else arrays[name][None]
    elif change == "type":
        kind = rng.choice(["f2", "i1", "U8", "c16"])
        arrays[name] = np.array(arrays[name]).astype(kind)
    elif change == "tree":
        name = str(rng.choice(["record_parent", "record_sign", "record_variable"]))
        array = arrays[name].copy()
        array.flat[int(rng.integers(array.size))] = int(rng.integers(-3, 12))
        arrays[name] = array
    elif change == "member":
        arrays["unknown"] = np.zeros(3)
    elif change == "size":
        if "X_shape" in arrays:
            arrays["X_shape"] = np.array([len(arrays["y"]), 10**9])
        arrays["y"], arrays["cost"] = np.zeros(10**6), np.ones(10**6)
        header["digest"] = digest(arrays)
    elif change == "cutoff":
        arrays["proof_cutoff"] = arrays["proof_cutoff"] * float(rng.choice([0.5, 2.0]))
    elif change == "missing":
        del arrays[name]
    elif change == "words":
        key = str(rng.choice(sorted(header)))
        header[key] = [None, "x", [], {}, -1, 1e300, float("inf")][rng.integers(7)]
    arrays["header"] = np.array(json.dumps(header))
    np.savez_compressed(out, **arrays)
    if change == "large":
        # 400 MB of zeros take some hundred kilobytes; under a name that is read, or one that is not.
        with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as file:
            member = (
                f"{rng.choice(['unused', 'curvatures', 'proof_vectors'])}_again.npy"
                if rng.random() < 0.5
                else "unused.npy"
            )
            with file.open(member, "w", force_zip64=True) as inside:
                shape = {"descr": "<f8", "fortran_order": False, "shape": (50_000_000,)}
                np.lib.format.write_array_header_1_0(inside, shape)
                for _ in range(50):
                    inside.write(bytes(8_000_000))
    elif change in ("bytes", "cut"):
        data = bytearray(out.read_bytes())
        if change == "cut":
            data = data[: int(rng.integers(len(data)))]
        else:
            for _ in range(4):
                data[int(rng.integers(len(data)))] = int(rng.integers(256))
        out.write_bytes(data)
    return f"{change} of {name}" if change in ("entry", "nan", "row", "shape", "type", "missing") else change


def claim(path):
    """What of a file its claim is: the problem, the statement, and the bound."""
    arrays = dict(np.load(path))
    header = json.loads(str(arrays["header"]))
    losses = [arrays[name].tobytes() for name in sorted(arrays) if name.startswith(("loss_", "row"))]
    return digest(arrays), header["statement"], header["problem"]["kernel"], losses, header["lower_bound"]


def files(number, seed, progress=False):
    """Outcomes of so many changed files, and failures."""
    outcomes, failures = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        honest = honest_files(folder)
        bounds = {path: claim(path) for path in honest}
        for path in honest:
            if not ct.prove_certificate(path).holds:
                failures.append((path.name, "an honest file is refused"))
        out = Path(folder) / "changed.npz"
        for k in range(number):
            rng = np.random.default_rng([seed, k])
            path = honest[int(rng.integers(len(honest)))]
            change = changed(path, out, rng)
            wrong = judged(out, bounds[path], outcomes, folder)
            if wrong:
                failures.append((k, f"{path.name}, {change}: {wrong}"))
                if progress:
                    print(f"file {seed}/{k}: {failures[-1][1]}", flush=True)
    return outcomes, failures


def problem_of(header, arrays):
    """Formulation and problem that a file says it is about."""
    problem, stated = ct.Problem.from_arrays(arrays, header["problem"]), header["statement"]
    if header["about"] == "outputs":
        losses = [
            ct.losses.PLQ(table[1:, 0], table[:, 2:]) for table in (arrays["loss_labeled"], arrays["loss_unlabeled"])
        ]
        balance = "linear" if stated["bias"] == "centred" else None
        return ct.Formulation(*losses, balance=balance, fit_intercept=stated["bias"] != "none"), problem
    squared = stated["loss"] == "squared_hinge"
    losses = (
        (ct.squared_hinge(), ct.losses.symmetric_squared_hinge()) if squared else (ct.hinge(), ct.symmetric_hinge())
    )
    balance = {"none": None, "targets": "targets"}.get(stated["constraint"], "linear")
    return ct.Formulation(*losses, balance=balance, fit_intercept=stated["bias"]), problem


def judged(out, before, outcomes, folder):
    """What is false of how a changed file is taken, or None."""
    try:
        verdict = ct.prove_certificate(out)
        for look in (ct.prove_certificate, lambda file: ct.exact.certificate_page(file, Path(folder) / "page.html")):
            with contextlib.suppress(ValueError):
                look(out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if command(["verify", str(out), "--json"]) not in (0, 1, 2):
                return "the command line has another status"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    outcomes["accepted" if verdict.holds else "refused"] += 1
    if not verdict.holds:
        return None
    after = claim(out)
    if after[:4] == before[:4]:
        return None if after[4] <= before[4] else "accepted for a higher bound"
    # The file is an honest one of another problem, perhaps: that is solved anew.
    try:
        formulation, problem = problem_of(*read_search(out))
        best = ct.exact_search(formulation, problem, time_limit=20.0).objective
    except ValueError as error:
        return f"accepted for a problem that is none: {error}"
    return None if after[4] <= best * (1 + 1e-9) else f"accepted for a bound of {after[4]!r}, where {best!r} is reached"


def main():
    """The command line; exit status 1 if something is false."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=500)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began, failures = time.time(), []
    for function, number in ((kernels, options.kernels), (files, options.files)):
        outcomes, wrong = function(number, options.seed, progress=True)
        failures += wrong
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{function.__name__}: {dict(outcomes)}, {len(wrong)} failures, {peak} MB, {time.time() - began:.0f} s")
    return int(bool(failures))


if __name__ == "__main__":
    raise SystemExit(main())
