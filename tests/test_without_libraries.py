"""What is said, and what still runs, without optional libraries, without the package, and without time."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm.exact import page
from convex_tsvm.relaxations.label_matrix.label_matrix import check_solver

HONEST_TREE = Path(__file__).parent / "certificates" / "honest" / "count.npz"


def test_solvers_that_are_not_installed(monkeypatch):
    """Asking for one says which is always there."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in ("sdpap", "scs") else object())
    with pytest.raises(ValueError, match="solver='scs' is not installed; solver='native' is always there"):
        check_solver("scs")
    assert check_solver("auto") == "auto"


def test_array_libraries_that_are_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ValueError, match="device='cupy:1': there is no library 'cupy' here; it must be one of the arr"):
        ct.TransductiveSVC(device="cupy:1").fit([[0.0], [0.5], [1.0]], [0, -1, 1])


def test_points_in_parts_need_dask(monkeypatch):
    from convex_tsvm.points.partitioned import DaskPoints

    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"Dask, which is not installed: pip install convex_tsvm\[distributed\]"):
        DaskPoints([sp.csr_array(np.eye(3))])


def test_a_page_of_a_certificate_without_the_rigorous_check(tmp_path, monkeypatch):
    """It is not made, and the error says what is needed."""
    monkeypatch.setattr("convex_tsvm.exact.prove.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'convex_tsvm\[rigorous\]'"):
        ct.exact.certificate_page(HONEST_TREE, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_page_of_a_long_certificate_is_cut(tmp_path, monkeypatch):
    """It shows the first nodes, says so, and closes all folds that it has opened."""
    monkeypatch.setattr(page, "NODES_SHOWN", 2)
    found = ct.exact.certificate_page(HONEST_TREE, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert found.n_nodes > 2
    assert f"The first 2 of {found.n_nodes} nodes are shown." in text
    assert text.count("<summary>") + text.count('<div class="leaf">') == 2
    assert text.count("<details") == text.count("</details>")


@pytest.mark.parametrize(("file", "said"), [(HONEST_TREE, "PROVEN: "), (Path(__file__), "NOT PROVEN: ")])
def test_the_checker_is_a_program_of_its_own(file, said, monkeypatch, capsys):
    """Its exit status says what it found."""
    pytest.importorskip("flint")
    monkeypatch.setattr(sys, "argv", ["checker", str(file)])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("convex_tsvm.checker", run_name="__main__")
    assert bool(end.value.code) == said.startswith("NOT")
    assert capsys.readouterr().out.startswith(said)


def fits():
    """Outputs of small fits by every kind of compiled loop."""
    rng = np.random.default_rng(0)
    truth = np.resize([1.0, -1.0], 40)
    X = rng.normal(size=(40, 30)) + 0.5 * truth[:, None]
    y = np.where(np.arange(40) < 10, truth, 0.0)
    found = []
    for points in (X, sp.csr_array(np.where(X > 0.5, X, 0.0))):
        for kernel in ("linear", ct.RBF(6.0)):
            problem = ct.Problem(points, y, kernel=kernel, C=1, C_unlabeled=0.2, balance=0.0)
            own = ("native", "coordinates", "finite_newton") if kernel == "linear" else ("native",)
            found += [ct.cccp(ct.tsvm("ramp"), problem, solver=solver, tol=1e-8).scores for solver in own]
            found.append(ct.annealing(ct.s3vm(), problem, tol=1e-8).scores)
    few = problem.replace(X=X[:16, :3], y=y[:16], kernel=ct.RBF(2.0), balance=None)
    return [*map(np.asarray, found), np.asarray(ct.exact_search(ct.s3vm(balance=None), few).objective)]


def test_fits_without_compiled_loops_are_the_same(tmp_path):
    """In a process without numba, psutil, SCS and HiGHS."""
    code = f"import numpy as np; from test_without_libraries import fits; np.savez({str(tmp_path / 'bare')!r}, *fits())"
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tests / "bare", tests)))}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True, timeout=300)
    with np.load(tmp_path / "bare.npz") as bare:
        for one, other in zip(fits(), bare.values(), strict=True):
            np.testing.assert_allclose(other, one, atol=1e-5)
