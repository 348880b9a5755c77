"""A fixed part of the fuzzing of formulations and certificates, and that it would notice what it looks for."""

import dataclasses
import json

import fuzz_certificates
import fuzz_formulations
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.relaxations.envelopes import model


def test_no_claim_about_random_formulations_is_false():
    counts, failures = fuzz_formulations.fuzz(25, seed=5)
    assert not failures
    assert counts["held"] >= 9
    assert counts["refused"] >= 2


def test_a_box_that_leaves_out_solutions_is_found(monkeypatch):
    """As it was for losses that are unbounded below."""
    right = model.Minorant.farthest
    monkeypatch.setattr(model.Minorant, "farthest", lambda self, cutoff: 0.01 * right(self, cutoff))
    assert fuzz_formulations.fuzz(30, seed=5)[1]


def test_an_optimum_that_is_none_is_found(monkeypatch):
    right = ct.exact_search
    monkeypatch.setattr(
        ct, "exact_search", lambda *a, **k: dataclasses.replace((s := right(*a, **k)), objective=s.objective + 0.1)
    )
    assert fuzz_formulations.fuzz(8, seed=5)[1]


def test_certificates_of_nearly_singular_matrices_are_proven():
    outcomes, failures = fuzz_certificates.kernels(16, seed=1)
    assert not failures
    assert sum(number for what, number in outcomes.items() if "proven" in what) >= 15


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_no_changed_file_is_accepted_for_what_is_false(capsys):
    outcomes, failures = fuzz_certificates.files(40, seed=2)
    assert not failures
    assert outcomes["refused"] >= 20


def test_a_checker_that_looks_away_is_found(monkeypatch):
    for name in ("walk", "labels", "signs", "envelopes"):
        monkeypatch.setattr(f"convex_tsvm.checker.{name}.demand", lambda condition, message: None)
    assert fuzz_certificates.files(8, seed=2)[1]


#: Matrices that are indefinite by what a problem takes for rounding, and the last by enough that it is seen.
INDEFINITE = {
    "a little": lambda K: K - 5e-8 * np.eye(len(K)),
    "by noise": lambda K: K + 1e-8 * np.sin(np.add.outer(7.0 * np.arange(len(K)), 7.0 * np.arange(len(K))) ** 2),
    "of low rank": lambda K: np.outer(K[0], K[0]) - 1e-8 * np.diag(K[0]),
}


@pytest.mark.parametrize("kind", INDEFINITE)
def test_an_indefinite_matrix_is_lifted_or_refused_with_the_reason(kind, tmp_path):
    """A search adds what is lacking to the diagonal, and states it; without that the checker says what lacks."""
    K = INDEFINITE[kind](fuzz_certificates.matrix("rbf", 20, 10.0, np.random.default_rng(0)))
    problem = ct.Problem(K, np.where(np.arange(20) < 14, np.resize([1, -1], 20), 0), kernel="precomputed", C=2)
    path = tmp_path / "c.npz"
    ct.exact_search(ct.tsvm("hinge"), problem, certificate=path)
    assert ct.prove_certificate(path).holds
    arrays = dict(np.load(path))
    header = json.loads(str(arrays["header"]))
    assert header["statement"]["lift"] > 0
    header["statement"]["lift"] = 0.0
    np.savez(path, **(arrays | {"header": np.array(json.dumps(header))}))
    assert "is negative" in ct.prove_certificate(path).problem
