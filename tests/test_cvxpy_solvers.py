"""Every estimator and command whose convex problems CVXPY may solve, with SCS and with Clarabel."""

import json

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.modeling.solver import solve_by


@pytest.fixture(scope="module")
def points():
    rng, truth = np.random.default_rng(0), np.resize([1, 0], 30)
    X = rng.normal(size=(30, 2)) + 3.2 * truth[:, None] - 1.6
    return X, np.where(np.arange(30) < 8, truth, -1), truth


#: Estimators with what they are asked for besides.
ESTIMATORS = {
    "TransductiveSVC": lambda solver: ct.TransductiveSVC(balance=0.0, cvxpy_solver=solver),
    "switching": lambda solver: ct.TransductiveSVC(balance=0.0, method="switching", cvxpy_solver=solver),
    "linear": lambda solver: ct.TransductiveSVC(kernel="linear", balance=0.0, cvxpy_solver=solver),
    "CompactMarginClassifier": lambda solver: ct.CompactMarginClassifier(balance=0.0, cvxpy_solver=solver),
    "RelativeMarginClassifier": lambda solver: ct.RelativeMarginClassifier(cvxpy_solver=solver),
    "LaplacianSVC": lambda solver: ct.LaplacianSVC(cvxpy_solver=solver),
    "SDPTransduction": lambda solver: ct.SDPTransduction(balance=0.0, solver=solver),
    "ExactTransductiveSVC": lambda solver: ct.ExactTransductiveSVC(balance=0.0, bounds="sdp", solver=solver, gap=1e-3),
    "SubspaceSDPTransduction": lambda solver: ct.SubspaceSDPTransduction(cvxpy_solver=solver),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name, points):
    pytest.importorskip("scs")
    X, y, truth = points
    fitted = [ESTIMATORS[name](solver).fit(X, y) for solver in ("scs", "clarabel")]
    assert fitted[0].objective_ == pytest.approx(fitted[1].objective_, rel=1e-4)
    for one, solver in zip(fitted, ("SCS", "CLARABEL"), strict=True):
        assert (one.transduction_ == truth).mean() > 0.9
        assert one.status_ == "converged"
        if not name.endswith(("SDPTransduction", "ExactTransductiveSVC")):
            assert one.solutions_[0].solver == f"cvxpy ({solver})"


#: Commands whose convex problems CVXPY may solve.
COMMANDS = {
    "cccp": ["solve", "--method", "cccp", "--cvxpy-solver"],
    "cs3vm": ["solve", "--formulation", "cs3vm", "--kernel", "linear", "--cvxpy-solver"],
    "cmm": ["solve", "--formulation", "cmm", "--cvxpy-solver"],
    "switching": ["solve", "--method", "switching", "--solver", "cvxpy", "--cvxpy-solver"],
    "subspace": ["solve", "--method", "subspace", "--cvxpy-solver"],
    "compare": ["compare", "--methods", "svm,cccp", "--folds", "0", "--cvxpy-solver"],
    "bound": ["bound", "--loss", "hinge", "--relaxation", "sdp", "--solver"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name, points, tmp_path, capsys):
    pytest.importorskip("scs")
    X, y, _ = points
    file = tmp_path / "points.npz"
    np.savez(file, X=X, y=np.where(y == -1, 0, 2 * y - 1))
    command, *more = COMMANDS[name]
    balance = ["--unlabeled", "0"] if name in ("cs3vm", "subspace") else ["--unlabeled", "0", "--balance", "0"]
    found = []
    for solver in ("scs", "clarabel"):
        assert main([command, str(file), *more, solver, *balance, "--json"]) in (0, 1)
        result = json.loads(capsys.readouterr().out)
        found.append(result["results"][-1] if "results" in result else result)
    key = "lower_bound" if name == "bound" else "objective"
    assert found[0][key] == pytest.approx(found[1][key], rel=1e-3)


def test_a_solver_that_is_not_installed_is_named(points, tmp_path, capsys):
    X, y, _ = points
    with pytest.raises(ValueError, match="cvxpy_solver='magic' is not installed; CVXPY has "):
        ct.TransductiveSVC(balance=0.0, cvxpy_solver="magic").fit(X, y)
    with pytest.raises(ValueError, match="cvxpy_solver='magic' is not installed"):
        ct.SubspaceSDPTransduction(cvxpy_solver="magic").fit(X, y)
    file = tmp_path / "points.npz"
    np.savez(file, X=X, y=np.where(y == -1, 0, 2 * y - 1))
    assert main(["solve", str(file), "--unlabeled", "0", "--cvxpy-solver", "magic"]) == 2
    assert "cvxpy_solver='magic'" in capsys.readouterr().err
    assert main(["solve", str(file), "--unlabeled", "0", "--method", "subspace", "--cvxpy-solver", "osqp"]) == 2
    assert "cvxpy_solver='OSQP' cannot solve a problem of this kind" in capsys.readouterr().err
    assert main(["solve", str(file), "--unlabeled", "0", "--method", "gradient", "--cvxpy-solver", "scs"]) == 2
    assert "cvxpy-solver" in capsys.readouterr().err.replace("_", "-")


class Failing:
    """A problem that a solver solves only if it takes shorter steps, or never."""

    def __init__(self, never=False):
        self.never, self.asked = never, []

    def solve(self, **options):
        self.asked.append(options)
        if self.never or "max_step_fraction" not in options:
            raise cp.SolverError("Solver 'CLARABEL' failed.")


def test_an_interior_point_method_that_rounding_fails_takes_shorter_steps():
    problem = Failing()
    solve_by(problem, "CLARABEL", verbose=False)
    assert [one.get("max_step_fraction") for one in problem.asked] == [None, 0.9]
    for problem, solver, own in (
        (Failing(never=True), "CLARABEL", {}),
        (Failing(), "SCS", {}),
        (Failing(never=True), "CLARABEL", {"max_step_fraction": 0.5}),
    ):
        with pytest.raises(RuntimeError, match=f"cvxpy_solver='{solver}' failed"):
            solve_by(problem, solver, **own)
