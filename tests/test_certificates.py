"""Certificates: the corpus of forged ones is refused, honest ones are proven, trimmed and shown."""

import ast
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm import checker
from convex_tsvm.cli import main

HERE = Path(__file__).parent / "certificates"
HONEST = sorted((HERE / "honest").glob("*.npz"))
FORGED = sorted((HERE / "forged").glob("*.npz"))


#: What only exact arithmetic can tell from the truth: the fast check has a tolerance.
def name(path):
    return path.stem


def leaves(path):
    """The number of nodes that are closed."""
    with np.load(path) as file:
        return int((file["record_variable"] < 0).sum())


def test_the_corpus_is_there():
    assert len(HONEST) >= 12
    assert len(FORGED) >= 80


def test_the_checker_imports_nothing_of_the_package():
    """But its own files."""
    for path in Path(checker.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level < 2
                assert not (node.module or "").startswith("convex_tsvm")
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("convex_tsvm") for alias in node.names)


@pytest.mark.parametrize("path", HONEST, ids=name)
def test_honest_certificates_are_proven(path):
    verdict = ct.prove_certificate(path)
    assert verdict.holds, verdict.problem
    assert verdict.lower_bound <= verdict.upper_bound
    assert "PROVEN: no solution" in str(verdict)


@pytest.mark.parametrize("path", FORGED, ids=name)
def test_forged_certificates_are_refused_with_a_reason(path):
    verdict = ct.prove_certificate(path)
    assert not verdict.holds
    assert len(verdict.problem) > 10
    assert str(verdict).startswith("NOT PROVEN: ")


@pytest.mark.parametrize("path", FORGED, ids=name)
def test_forged_certificates_are_no_tracebacks(path, capsys):
    assert main(["verify", str(path)]) in (1, 2)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("path", HONEST, ids=name)
def test_trimmed_certificates_prove_the_same(path, tmp_path):
    out = tmp_path / "small.npz"
    trimmed = ct.exact.trim_certificate(path, out)
    before, after = ct.prove_certificate(path), ct.prove_certificate(out)
    assert after.holds, after.problem
    assert after.lower_bound == before.lower_bound
    assert trimmed.n_proofs_after <= trimmed.n_proofs_before
    assert after.n_nodes == trimmed.n_nodes_after
    assert "dropped" in str(trimmed)


def test_what_an_unfinished_search_left_open_is_trimmed(tmp_path):
    path, out = HERE / "honest" / "unfinished.npz", tmp_path / "small.npz"
    trimmed = ct.exact.trim_certificate(path, out)
    assert trimmed.n_nodes_after < trimmed.n_nodes_before
    assert ct.prove_certificate(out).n_open == 0


def test_no_search_goes_on_from_a_trimmed_certificate(tmp_path):
    out = tmp_path / "small.npz"
    ct.exact.trim_certificate(HERE / "honest" / "squared.npz", out)
    with np.load(out) as file:
        problem = ct.Problem(file["X"], file["y"], kernel=ct.RBF(sigma=0.7), C=2.0)
    with pytest.raises(ValueError, match="trimmed"):
        ct.exact_search(ct.s3vm(), problem, checkpoint=out)


def test_a_false_certificate_is_not_trimmed(tmp_path):
    with pytest.raises(ValueError, match="no certificate that holds"):
        ct.exact.trim_certificate(HERE / "forged" / "squared-leaf_removed.npz", tmp_path / "small.npz")
    assert not (tmp_path / "small.npz").exists()


@pytest.mark.parametrize("path", HONEST[:4], ids=name)
def test_the_page_shows_every_leaf(path, tmp_path):
    out = tmp_path / "certificate.html"
    found = ct.exact.certificate_page(path, out)
    text = out.read_text(encoding="utf-8")
    assert text.count('<b class="yes">proven</b>') == 1
    assert text.count("<b>closed</b>") == leaves(path)
    assert f"{found.lower_bound:.10g}" in text
    assert text.count("<details") == text.count("</details>")


def test_the_command_line_proves_trims_and_shows(tmp_path, capsys):
    path = str(HERE / "honest" / "count.npz")
    assert main(["verify", path, "--rigorous"]) == 0
    assert "PROVEN" in capsys.readouterr().out
    page, small = tmp_path / "page.html", tmp_path / "small.npz"
    assert main(["verify", path, "--rigorous", "--json", "--html", str(page), "--trim", str(small)]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True
    assert page.stat().st_size > 1000
    assert small.stat().st_size < Path(path).stat().st_size
    assert main(["verify", "two_moons", "--rigorous"]) == 2
    assert "rigorous" in capsys.readouterr().err


def test_the_rigorous_check_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("convex_tsvm.exact.prove.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="python-flint"):
        ct.prove_certificate(HONEST[0])
    assert main(["verify", str(HONEST[0]), "--rigorous"]) == 2
    assert "pip install" in capsys.readouterr().err


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        ct.prove_certificate(tmp_path / "none.npz")


@pytest.mark.parametrize("seed", range(6))
def test_no_certificate_with_random_bytes_changed_is_proven_wrongly(seed, tmp_path):
    """Numbers of the arrays are changed at random: what is proven then is true of the bound that is claimed."""
    rng = np.random.default_rng(seed)
    path = HONEST[seed % len(HONEST)]
    true = ct.prove_certificate(path).upper_bound
    arrays = dict(np.load(path))
    header = json.loads(str(arrays["header"]))
    header["lower_bound"] = true * (1 + 1e-6) + 1e-9
    header["objective"] = header["objective"] * (1 + 1e-3)
    for _ in range(10):
        changed = {key: value.copy() for key, value in arrays.items()}
        for key in ("proof_vector", "proof_cutoff", "multiplier_square", "multiplier_arc", "multiplier_weights"):
            values = changed[key].ravel() if key in changed else ()
            if len(values):
                where = rng.integers(len(values), size=3)
                values[where] *= 10.0 ** rng.uniform(-3, 6, 3)
        changed["header"] = np.array(json.dumps(header))
        np.savez(tmp_path / "changed.npz", **changed)
        assert not ct.prove_certificate(tmp_path / "changed.npz").holds


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_searches_of_twenty_points_are_proven(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 3)), np.zeros(20)
    y[:6] = 1, -1, 1, -1, 1, -1
    formulation = [ct.s3vm(), ct.cccp_tsvm(0.0), ct.s3vm(balance="targets", fit_intercept=False),
                   ct.s3vm(fit_intercept=False), ct.cccp_tsvm(0.0, fit_intercept=False)][seed % 5]  # fmt: skip
    kernel = ["linear", ct.RBF(sigma=1.0), ct.kernels.Polynomial(2, 0.5, 1.0)][seed % 3]
    problem = ct.Problem(X, y, kernel=kernel, C=float(10.0 ** rng.uniform(-1, 1)), balance=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ct.exact_search(formulation, problem, certificate=tmp_path / "c.npz", patience=[0, None][seed % 2])
    verdict = ct.prove_certificate(tmp_path / "c.npz")
    assert verdict.holds, verdict.problem
    assert found.status == "optimal"


def test_a_stopped_search_claims_a_little_less_than_it_has_proven():
    """The rigorous check loses some 10⁻⁹ of the objective to its own rounding, which a claim must leave it."""
    from convex_tsvm.exact.tree import claimed

    assert claimed([], 3.0) == np.inf
    assert claimed([2.0, 1.0], 3.0) == pytest.approx(1.0 - 3e-7, abs=1e-12)
    assert claimed([-5.0, 1.0], np.inf) == pytest.approx(-5.0 - 5e-7, abs=1e-12)
    assert claimed([-np.inf], 1.0) == -np.inf


@pytest.mark.parametrize("balance", [None, "labeled"])
def test_the_certificate_of_a_stopped_search_is_proven(balance, tmp_path):
    pytest.importorskip("flint")
    random, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 40)
    X = random.standard_normal((40, 10)) + truth[:, None] * 0.5
    problem = ct.Problem(X, np.where(np.arange(40) < 10, truth, 0), C=1.0, balance=balance)
    formulation = ct.tsvm("hinge", balance=None if balance is None else "linear")
    path = tmp_path / "stopped.npz"
    found = ct.exact_search(formulation, problem, max_nodes=7, certificate=path)
    assert found.status == "node_limit"
    verdict = ct.prove_certificate(path, formulation, problem)
    assert verdict.holds, verdict.problem
    assert verdict.lower_bound == found.lower_bound


@pytest.mark.parametrize("seed", range(5))
def test_a_tangent_leaves_in_the_box_what_is_below_the_cutoff(seed):
    """Of v'Av around its minimum, which is an ellipsoid: its farthest points are exactly known."""
    from convex_tsvm.checker.balls import Ball
    from convex_tsvm.checker.signs import Signs

    root = np.random.default_rng(seed).normal(size=(3, 3))
    A, cutoff, far = root @ root.T + 0.1 * np.eye(3), 2.0, np.full(3, 1e3)
    signs = object.__new__(Signs)
    signs.A = Ball(A)
    signs.invert()
    bound, low, high = signs.tangent(-far, far, Ball(np.zeros(3)), Ball(0.0), np.zeros(3), cutoff)
    farthest = np.sqrt(cutoff * np.diag(np.linalg.inv(A)))
    assert bound <= 0
    assert (low <= -farthest).all()
    assert (high >= farthest).all()
