"""Certificates of searches over intervals: honest ones are proven, forged ones refused, others' problems told apart."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_interval_search import FORMULATIONS, case

import convex_tsvm as ct
from convex_tsvm import checker
from convex_tsvm.cli import main

pytest.importorskip("flint")


def read(path):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(str(arrays["header"])), arrays


def write(path, header, arrays):
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})
    return path


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A certificate with a tree and narrowed boxes: the ramp on two moons."""
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 24)
    X = rng.normal(size=(24, 4)) + 0.5 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(24) < 4, truth, 0.0), kernel=ct.RBF(2.0), C=10, C_unlabeled=5)
    problem = problem.replace(balance=None)
    formulation = ct.tsvm("ramp", balance=None)
    path = tmp_path_factory.mktemp("honest") / "optimum.npz"
    solution = ct.exact_search(formulation, problem, gap=1e-4, certificate=path)
    assert solution.status == "optimal"
    assert solution.n_nodes > 5
    return path, formulation, problem


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize(
    "seed",
    [*range(4), 15, 111, *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 350) if k not in (15, 111))],
)
def test_honest_certificates_are_proven(name, seed, tmp_path):
    formulation, problem = case(name, seed)
    solution = ct.exact_search(formulation, problem, certificate=tmp_path / "c.npz")
    assert solution.status == "optimal"
    found = ct.prove_certificate(tmp_path / "c.npz", formulation, problem)
    assert found.holds, found.problem
    assert found.lower_bound == solution.lower_bound
    assert found.upper_bound == pytest.approx(solution.objective, rel=1e-6, abs=1e-9)


def redigested(header, arrays):
    """As the writer of another problem would do it."""
    header["digest"] = checker.digest(arrays)


def change(name, function):
    def forge(header, arrays):
        arrays[name] = function(arrays[name].copy())
        redigested(header, arrays)

    return forge


def raise_bound(header, arrays):
    header["lower_bound"] += 1e-3 * header["lower_bound"]


def lower_objective(header, arrays):
    header["objective"] *= 0.999


def no_last_record(header, arrays):
    for name in ("parent", "sign", "variable", "place"):
        arrays[f"record_{name}"] = arrays[f"record_{name}"][:-1]
    arrays["record_bound"] = arrays["record_bound"][:-1]
    take_proofs(arrays, int((arrays["proof_record"] < len(arrays["record_parent"])).sum()))


def take_proofs(arrays, count):
    """Keep only the first proofs."""
    for name in ("record", "kind", "number", "cutoff", "share", "lift", "vector_end"):
        arrays[f"proof_{name}"] = arrays[f"proof_{name}"][:count]
    arrays["proof_vector"] = arrays["proof_vector"][: arrays["proof_vector_end"][-1] if count else 0]


def no_proofs(header, arrays):
    take_proofs(arrays, 0)


def ends_of(arrays, k):
    """γ, the lower and the upper ends of a proof that narrows a box, as parts of the file's array."""
    start = int(arrays["proof_vector_end"][k - 1]) if k else 0
    return np.split(arrays["proof_vector"][start : int(arrays["proof_vector_end"][k])], 3)


def a_leaf_for_a_tree(header, arrays):
    arrays["record_variable"][0] = -1


def narrower_proof(header, arrays):
    _, low, high = ends_of(arrays, int(np.flatnonzero(np.isfinite(arrays["proof_cutoff"]))[0]))
    high -= 0.5 * (high - low)


def empty_proof(header, arrays):
    _, low, high = ends_of(arrays, int(np.flatnonzero(np.isfinite(arrays["proof_cutoff"]))[0]))
    low[0] = high[0] + 1


def piece_left_out(header, arrays):
    """Without its plateau the ramp is a loss that is +inf there, whose optimum is higher."""
    arrays["loss_unlabeled"] = np.delete(arrays["loss_unlabeled"], 2, axis=0)


def loss_swapped(header, arrays):
    """A lower plateau: the loss of another s, whose optimum is lower."""
    loss = ct.symmetric_ramp(-0.05)
    arrays["loss_unlabeled"] = np.array([(left, right, *piece) for piece, left, right in loss.spans()])
    arrays["loss_unlabeled"][:, 4] -= 0.1


def set_header(**values):
    def forge(header, arrays):
        header["statement"].update(values)

    return forge


def other_format(header, arrays):
    header["format"] = "convex_tsvm certificate 0"


def cutoff_below_the_bound(header, arrays):
    arrays["proof_cutoff"][np.isfinite(arrays["proof_cutoff"])] = header["lower_bound"] - 0.01


FORGERIES = {
    "bound raised": raise_bound,
    "objective lowered": lower_objective,
    "leaf removed": no_last_record,
    "no proofs": no_proofs,
    "root made a leaf": a_leaf_for_a_tree,
    "interval narrowed": narrower_proof,
    "interval emptied": empty_proof,
    "piece left out": piece_left_out,
    "loss swapped": loss_swapped,
    "bias removed": set_header(bias="none"),
    "bias unknown": set_header(bias="some"),
    "value not finite": set_header(value=float("inf")),
    "format": other_format,
    "cutoffs": cutoff_below_the_bound,
    "costs halved": change("cost", lambda a: a / 2),
    "a label turned": change("y", lambda a: np.where(np.arange(len(a)) == 0, -a, a)),
    "a label hidden": change("y", lambda a: np.where(np.arange(len(a)) == 0, 0, a)),
    "points moved": change("X", lambda a: a * 1.1),
    "cost negative": change("cost", lambda a: -a),
    "cost not a number": change("cost", lambda a: a * np.nan),
    "curvatures too large": change("multiplier_curvature", lambda a: np.abs(a) * 10 + 1),
    "curvatures not numbers": change("multiplier_curvature", lambda a: a * np.nan),
    "vectors not numbers": change("proof_vector", lambda a: a * np.nan),
    "vectors zero": change("proof_vector", lambda a: a * 0),
    "vectors elsewhere": change("proof_vector_end", lambda a: a + 1),
    "kinds of others": change("proof_kind", lambda a: a + 1),
    "root of a smaller kernel": change("root", lambda a: 0.9 * a),
    "root of the kernel cut": change("root", lambda a: a[:-1]),
    "root narrowed": change("root_high", lambda a: 0.5 * a),
    "root infinite": change("root_high", lambda a: a * np.inf),
    "root empty": change("root_high", lambda a: a - 100),
    "root cutoff low": change("root_cutoff", lambda a: a - 5),
    "places moved in one half": change("record_place", lambda a: a * np.nan),
    "splits elsewhere": change("record_variable", lambda a: np.where(a >= 0, 1000, a)),
    "parents after children": change("record_parent", lambda a: a[::-1]),
    "both halves low": change("record_sign", lambda a: -np.abs(a)),
    "curvature not there": change("proof_number", lambda a: a + 1000),
    "proofs of nodes not there": change("proof_record", lambda a: a + 1000),
    "solution zero": change("coefficients", lambda a: 0 * a),
    "solution not a number": change("coefficients", lambda a: np.nan * a),
    "bias of the solution": change("intercept", lambda a: a + 0.5),
    "a loss of no numbers": change("loss_labeled", lambda a: a * np.nan),
    "no loss for labelled points": change("loss_labeled", lambda a: a[:0]),
    "a constraint more": change("rows", lambda a: np.ones((1, a.shape[1]))),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_refused(name, honest, tmp_path, capsys):
    header, arrays = read(honest[0])
    before = json.dumps(header), {key: hashlib.sha256(value.tobytes()).digest() for key, value in arrays.items()}
    FORGERIES[name](header, arrays)
    after = json.dumps(header), {key: hashlib.sha256(value.tobytes()).digest() for key, value in arrays.items()}
    assert before != after, "the forgery changes nothing"
    path = write(tmp_path / "forged.npz", header, arrays)
    found = ct.prove_certificate(path)
    assert not found.holds
    assert found.problem
    status = main(["verify", str(path), "--rigorous"])
    assert status in (1, 2)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["header", "y", "root", "proof_vector", "multiplier_curvature", "loss_labeled", "rows"]
)
def test_files_without_an_array_are_refused(name, honest, tmp_path):
    header, arrays = read(honest[0])
    path = write(tmp_path / "cut.npz", header, arrays)
    with np.load(path) as file:
        left = {key: file[key] for key in file.files if key != name}
    np.savez(path, **left)
    assert not ct.prove_certificate(path).holds


def test_a_proof_of_another_problem_is_none_of_this(honest):
    path, formulation, problem = honest
    assert ct.prove_certificate(path, formulation, problem).holds
    for other, at, said in (
        (formulation, problem.replace(C=11), "cost is another"),
        (formulation, problem.replace(kernel=ct.RBF(2.1)), "its kernel is"),
        (ct.cccp_tsvm(-0.2, balance=None), problem, "loss_unlabeled is another"),
        (ct.tsvm("hinge", balance=None), problem, "loss_unlabeled is another"),
        (ct.tsvm("ramp", balance=None, fit_intercept=False), problem, "its bias is 'free', not 'none'"),
    ):
        found = ct.prove_certificate(path, other, at)
        assert not found.holds
        assert said in found.problem
    with pytest.raises(ValueError, match="given together"):
        ct.prove_certificate(path, formulation)


def test_an_open_search_certifies_what_is_left(honest, tmp_path):
    _, formulation, problem = honest
    few = ct.exact_search(formulation, problem, gap=1e-6, max_nodes=4, certificate=tmp_path / "open.npz")
    assert few.status == "node_limit"
    found = ct.prove_certificate(tmp_path / "open.npz")
    assert found.holds, found.problem
    assert found.lower_bound == few.lower_bound < few.objective


def test_the_checker_is_one_folder(honest, tmp_path):
    """It runs alone, copied elsewhere under any name."""
    shutil.copytree(Path(checker.__file__).parent, tmp_path / "proves", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "proves", honest[0]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PROVEN: no solution has an objective below")


def test_the_command_line_proves_it_for_ones_own_data(tmp_path, capsys, moons):
    X, truth, y = moons
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:12]]
    data = tmp_path / "some.npz"
    np.savez(data, X=X[keep], y=truth[keep].astype(int), labeled=np.flatnonzero(y[keep])[None])
    for own in ([], ["--formulation", "cmm"], ["--loss", "squared_hinge", "--balance", "labeled"]):
        options = ["--sigma", "0.5", *own]
        file = str(tmp_path / "c.npz")
        asked = ["solve", str(data), *options, "--method", "exact", "--gap", "1e-4", "--certificate", file]
        assert main([*asked, "--json"]) == 0
        capsys.readouterr()
        assert main(["verify", file, "--data", str(data), *options]) == 0, capsys.readouterr()
        assert "PROVEN: no solution has an objective below" in capsys.readouterr().out
        assert main(["verify", file, "--data", str(data), *options, "--C", "7"]) == 1
        assert "NOT PROVEN: it is about another problem: cost is another" in capsys.readouterr().out
    assert main(["verify", str(data), "--data", str(data)]) == 2
    assert "data is for certificates" in capsys.readouterr().err
