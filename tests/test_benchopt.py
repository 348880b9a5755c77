"""The benchmark for benchopt: its rule, its data sets, and every solver that is there, in this process."""

import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC

import convex_tsvm as ct
from convex_tsvm.table import METHODS

pytest.importorskip("benchopt")

from benchopt.benchmark import Benchmark
from benchopt.utils.parametrized_name_mixin import product_param
from benchopt.utils.run_context import RunContext

FOLDER = Path(__file__).parents[1] / "benchmark_s3vm"
BENCHMARK = Benchmark(FOLDER)
DATASETS = {one.name: one for one in BENCHMARK.get_datasets()}
SOLVERS = {one.name: one for one in BENCHMARK.get_solvers()}
LOSSES = {
    "hinge": (lambda t: np.maximum(0, 1 - t), lambda f: np.maximum(0, 1 - np.abs(f))),
    "ramp": (lambda t: np.maximum(0, 1 - t), lambda f: np.minimum(0.7, np.maximum(0, 1 - np.abs(f)))),
    "squared_hinge": (lambda t: np.maximum(0, 1 - t) ** 2, lambda f: np.maximum(0, 1 - np.abs(f)) ** 2),
}


def made(dataset="gaussians", **parameters):
    """The objective on a data set's first configuration for tests."""
    given = {"sigma": "scale", **parameters}
    data = DATASETS[dataset].get_instance(**next(product_param(DATASETS[dataset].test_parameters)))
    objective = BENCHMARK.get_benchmark_objective().get_instance(**given)
    RunContext().set_run_context(objective, data, "none", repetition=0, base_seed=0)
    skip, reason = objective._set_dataset(data)
    if skip:
        pytest.skip(reason)
    return objective


def judged(objective, name, **parameters):
    """What the judge says of a solver, or the reason why it is not asked."""
    solver = SOLVERS[name].get_instance(**parameters)
    RunContext().set_run_context(objective, objective._dataset, solver, repetition=0, base_seed=0)
    skip, reason = solver._set_objective(objective)
    if skip:
        assert reason
        return reason
    solver.run_once(2 if solver._solver_strategy == "iteration" else 1)
    (found,) = objective(solver.get_result())
    return {key.removeprefix("objective_"): value for key, value in found.items()}


@pytest.fixture(scope="module")
def optimum():
    """Proven optima of the small problem, by loss, to 1e-4."""
    pytest.importorskip("flint")
    found = {}
    for loss in LOSSES:
        objective = made(loss=loss)
        task = objective.task
        best = ct.exact_search(*task.stated(), gap=1e-4)
        assert best.status == "optimal"
        found[loss] = (objective, best)
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sigma", ["linear", "scale"])
def test_value_is_that_of_the_formula_at_the_mean_that_is_asked_for(loss, sigma):
    objective = made(loss=loss, sigma=sigma, C=2.0)
    task, rng = objective.task, np.random.default_rng(0)
    if sigma == "linear":
        w, K = rng.normal(size=task.X.shape[1]), None
        free, norm, result = task.X @ w, w @ w, {"weights": w}
    else:
        a = rng.normal(size=len(task.y))
        K = np.exp(-((task.X[:, None] - task.X[None]) ** 2).sum(axis=2) / (2 * task.sigma**2))
        free, norm, result = K @ a, a @ K @ a, {"coefficients": a}
    labeled, unlabeled = LOSSES[loss]
    known, unknown = task.y != 0, task.y == 0
    f = free - free[unknown].mean() + task.y[known].mean()
    expected = (
        norm / 2
        + 2.0 * labeled(task.y[known] * f[known]).sum()
        + 2.0 * known.sum() / unknown.sum() * unlabeled(f[unknown]).sum()
    )
    for bias in (-3.0, 0.0, 0.5):
        found = objective.evaluate_result(**result, bias=bias)
        assert found["value"] == pytest.approx(expected, rel=1e-9)
        off = free[unknown].mean() + bias - task.y[known].mean()
        assert found["violation"] == pytest.approx(abs(off), abs=1e-12)


def test_violation_does_not_win(optimum):
    objective, best = optimum["hinge"]
    # All unlabelled points far on one side pay nothing, and no labelling that meets the balance is so cheap.
    unfair = objective.evaluate_result(coefficients=np.zeros(len(objective.task.y)), bias=9.0)
    assert unfair["violation"] > 8
    assert unfair["value"] > best.objective * (1 + 1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_solver_is_judged_by_what_it_returns(optimum, loss):
    objective, best = optimum[loss]
    ran = set()
    for name, solver in SOLVERS.items():
        if name == "labels":  # the safe ones take seconds, and are asked below
            continue
        for parameters in product_param(solver.parameters):
            found = judged(objective, name, **parameters)
            if isinstance(found, str):
                continue
            ran.add(name)
            assert found["value"] >= best.lower_bound - 1e-9 * best.objective, name
            assert not found["lower_bound"] > min(best.objective, found["value"]) * (1 + 1e-9), name
            assert 0 <= found["error"] <= 1
    assert {"descent", "supervised", "exact"} <= ran


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("exact", "safe")])
def test_values_are_the_library_s_own(method):
    objective = made(loss="hinge", sigma="scale")
    kind = "descent" if METHODS[method].is_descent else "labels"
    options = {"annealing": None} if kind == "descent" else {}
    found = judged(objective, kind, method=method, **options)
    entry, (formulation, problem) = METHODS[method], objective.task.stated()
    if not entry.has_bias:
        return assert_at_least_the_best_label_s(objective, found)
    own = entry.load()(formulation, problem) if kind == "labels" else ct.minimize(entry.load()(), formulation, problem)
    assert found["value"] == pytest.approx(own.objective, abs=1e-6)
    assert found["violation"] < 1e-9
    signs = np.where(own.point.outputs >= 0, 1.0, -1.0)
    assert found["error"] == pytest.approx(np.mean((signs != objective.judge.truth)[problem.unlabeled]))


def assert_at_least_the_best_label_s(objective, found):
    """A method without a bias finds labels; its value is that of the SVM for them, so that it obeys the balance."""
    assert found["violation"] < 1e-9
    assert np.isfinite(found["value"])
    assert np.isnan(found["claimed_bound"])


def test_bounds_count_only_where_they_are_proven(optimum, tmp_path):
    objective, best = optimum["hinge"]
    task, zero = objective.task, {"coefficients": np.zeros(len(objective.task.y)), "bias": 0.0}
    assert np.isnan(objective.evaluate_result(**zero, claimed_bound=1e9)["lower_bound"])
    rng = np.random.default_rng(0)
    for _ in range(5):  # any numbers at all prove something, and never too much
        found = objective.evaluate_result(**zero, dual=rng.normal(size=len(task.y)))
        assert not found["lower_bound"] > best.objective
    path = tmp_path / "search.npz"
    ct.exact_search(*task.stated(), gap=1e-4, certificate=path)
    found = objective.evaluate_result(**zero, certificate=str(path))
    assert best.objective * (1 - 2e-4) < found["lower_bound"] <= best.objective
    other = made(loss="hinge", C=3.0)
    assert np.isnan(other.evaluate_result(**zero, certificate=str(path))["lower_bound"])


def test_convex_problem_has_one_value():
    objective = made(formulation="svm", balance="none", sigma="linear")
    found = {name: judged(objective, name) for name in ("supervised", "libsvm", "liblinear")}
    best = found["supervised"]
    assert 0 <= best["gap"] < 1e-6
    assert best["value"] == pytest.approx(found["libsvm"]["value"], rel=1e-2)
    for name, one in found.items():
        assert one["value"] >= best["lower_bound"] * (1 - 1e-9), name
    assert found["libsvm"]["lower_bound"] <= best["value"] * (1 + 1e-9)


def test_solver_of_the_page_is_judged():
    page = (FOLDER.parent / "docs" / "benchopt.rst").read_text(encoding="utf-8")
    named = {}
    exec(dedent(re.search(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page).group(1)), named)
    objective = made(formulation="svm", balance="none", sigma="linear")
    solver = named["Solver"].get_instance()
    assert not solver._set_objective(objective)[0]
    solver.run_once()
    (found,) = objective(solver.get_result())
    assert found["objective_value"] >= judged(objective, "supervised")["lower_bound"]
    assert solver._set_objective(made(sigma="scale"))[0]


def test_tables_of_the_page_are_those_of_the_kept_results(monkeypatch):
    pd = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(FOLDER))
    import figure

    kept = pd.read_csv(FOLDER / "results" / "results.csv")
    assert figure.tables(kept) == (FOLDER / "results" / "tables.rst").read_text(encoding="utf-8")


def test_no_method_is_left_out():
    asked = {one["method"] for name in ("descent", "labels") for one in product_param(SOLVERS[name].parameters)}
    assert asked | {"exact"} == set(METHODS)


@pytest.mark.parametrize("name", DATASETS)
def test_data(name):
    for parameters in product_param(DATASETS[name].test_parameters):
        data = DATASETS[name].get_instance(**parameters)
        RunContext().set_run_context("none", data, "none", repetition=0, base_seed=0)
        found = data._get_data()
        if "missing" in found:
            pytest.skip(found["missing"])
        y, truth = found["y"], found["truth"]
        assert found["X"].shape[0] == len(y) == len(truth)
        assert set(np.unique(y)) == {-1.0, 0.0, 1.0}
        assert np.array_equal(y[y != 0], truth[y != 0])


def test_missing_data_is_a_reason(monkeypatch, tmp_path):
    from benchmark_utils import hiding

    monkeypatch.setattr(hiding, "DATA", tmp_path)
    found = hiding.read("text")
    assert "CONVEX_TSVM_DATA" in found
    objective = BENCHMARK.get_benchmark_objective().get_instance()
    assert objective.skip(X=None, y=None, truth=None, missing=found) == (True, found)


def svm_learn(options, folder, train, model):
    """What SVMlight reads and writes, by libsvm."""
    X, y = load_svmlight_file(str(folder / train), zero_based=False)
    svc = SVC(C=float(options["-c"]), gamma=float(options["-g"]), tol=1e-6).fit(X.toarray(), y)
    np.savetxt(folder / options["-a"], expanded(svc, len(y)))
    (folder / model).write_text(f"SVM-light Version V6\n{-svc.intercept_[0]:.8g} # threshold b, each following\n")


def universvm(options, folder, train, model):
    """What UniverSVM reads and writes, by libsvm."""
    X, y = load_svmlight_file(str(folder / train), zero_based=False)
    svc = SVC(C=float(options["-c"]), gamma=float(options["-g"]), tol=1e-6).fit(X.toarray(), y)
    pairs = zip(expanded(svc, len(y)), X.toarray(), strict=True)
    lines = [f"{a:.15g} " + " ".join(f" {j + 1}:{x:.15g}" for j, x in enumerate(row)) for a, row in pairs if a]
    (folder / model).write_text("\n".join([f"b0 {svc.intercept_[0]:g}", "kernel_type rbf", "SV", *lines]) + "\n")


def svmlin(options, folder, points, labels):
    """What SVMlin reads and writes, by liblinear."""
    lines = (folder / points).read_text().splitlines()
    X = np.array([[float(pair.partition(":")[2]) for pair in line.split()] for line in lines])
    y = np.loadtxt(folder / labels)
    C = 1 / (2 * len(y) * float(options["-W"]))
    svc = LinearSVC(C=C, loss="squared_hinge", tol=1e-8, dual=False).fit(X, y)
    np.savetxt(folder / f"{points}.weights", [*svc.coef_[0], svc.intercept_[0]])


def expanded(svc, n):
    """The coefficients of all points."""
    a = np.zeros(n)
    a[svc.support_] = svc.dual_coef_[0]
    return a


@pytest.mark.parametrize(
    ("solver", "program", "peer", "loss", "sigma"),
    [
        ("SVMlight", svm_learn, "libsvm", "hinge", "scale"),
        ("UniverSVM", universvm, "libsvm", "hinge", "scale"),
        ("SVMlin", svmlin, "liblinear", "squared_hinge", "linear"),
    ],
)
def test_files_of_programs(monkeypatch, solver, program, peer, loss, sigma):
    """The clock's part is replaced by a function that reads and writes the files of the real program."""

    def run(arguments, cwd, **_):
        program(dict(pairwise(arguments)), cwd, *arguments[-2:])
        return SimpleNamespace(returncode=0)

    monkeypatch.setenv(SOLVERS[solver].variable, sys.executable)
    monkeypatch.setattr("benchmark_utils.programs.subprocess.run", run)
    objective = made(formulation="svm", balance="none", loss=loss, sigma=sigma, C=0.7)
    found, expected = judged(objective, solver), judged(objective, peer, tol=1e-6)
    assert found["value"] == pytest.approx(expected["value"], rel=1e-3)


@pytest.mark.parametrize("solver", ["SVMlight", "UniverSVM", "SVMlin"])
def test_missing_program_is_a_reason(monkeypatch, solver):
    monkeypatch.setenv(SOLVERS[solver].variable, os.devnull)
    assert SOLVERS[solver].variable in judged(made(formulation="svm", balance="none"), solver)
