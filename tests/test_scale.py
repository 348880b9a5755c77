"""The native solver where the matrix is not held: single precision, byte budgets, sparse and linear points."""

import functools
import math
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs
from strategies import CATALOGUE, LABELED, UNLABELED

import convex_tsvm as ct
from convex_tsvm.kernels import LinearRows
from convex_tsvm.solvers.dual.working_sets import Effort


@pytest.fixture(scope="module")
def blobs():
    """Two overlapping clouds of 1200 points, 60 of them labelled."""
    X, k = make_blobs(1200, centers=2, n_features=10, cluster_std=4.0, random_state=0)
    y = np.where(k == 0, -1.0, 1.0)
    y[60:] = 0
    return X, y


def made(blobs, **options):
    X, y = blobs
    return ct.Problem(X, y, **{"kernel": ct.RBF(12.0), "C": 5, "C_unlabeled": 0.2, **options})


@pytest.fixture(scope="module")
def problem(blobs):
    return made(blobs)


def steps(problem, formulation=None):
    """A step at tangents that leave nothing regular."""
    formulation = ct.cccp_tsvm() if formulation is None else formulation
    return formulation.on(problem).step(np.random.default_rng(0).normal(0, 1, problem.n))


@pytest.mark.parametrize("unlabeled", UNLABELED)
def test_default_tolerance_and_precision_for_every_loss(unlabeled, problem):
    """Within 1e-3 of the optimum, and the same labels on 99.9 % of the points."""
    labeled = LABELED[UNLABELED.index(unlabeled) % len(LABELED)]
    step = steps(problem, ct.Formulation(CATALOGUE[labeled], CATALOGUE[unlabeled]))
    default = ct.solvers.NativeSolver(problem)
    assert default._held.single
    solution, exact = default.solve(step), ct.solvers.NativeSolver(problem, tol=1e-7, precision="double").solve(step)
    assert solution.status == exact.status == "optimal"
    assert solution.primal == pytest.approx(exact.primal, rel=1e-3)
    assert np.mean((solution.outputs >= 0) != (exact.outputs >= 0)) <= 1e-3


@pytest.mark.parametrize("precision", ["single", "double"])
def test_what_is_said_holds_for_the_kernel(precision, problem):
    """Violation and value, recomputed from the dual variables with the kernel function itself."""
    solution = ct.solvers.NativeSolver(problem, precision=precision).solve(steps(problem))
    again = ct.instance.certify(solution.step, solution.gamma, solution.gamma0, solution.bias)
    assert again.kkt <= solution.kkt + 1e-4
    assert again.primal == pytest.approx(solution.primal, rel=1e-6)
    assert again.dual <= again.primal


@pytest.mark.parametrize("way", ["centred", "x0", "plain"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_one_percent_of_the_matrix_gives_the_same_solution(way, precision, problem):
    step = steps(problem, ct.cccp_tsvm(balance=None) if way == "plain" else None)
    options = {"balance_by": "x0"} if way == "x0" else {}
    matrix = problem.n**2 * (4 if precision == "single" else 8) / 2**20
    whole = ct.solvers.NativeSolver(problem, precision="double", tol=1e-6, **options).solve(step)
    solver = ct.solvers.NativeSolver(problem, precision=precision, cache_size=0.01 * matrix, tol=1e-4, **options)
    parts = solver.solve(step)
    assert parts.status == "optimal"
    assert parts.n_iter > 10
    assert parts.primal == pytest.approx(whole.primal, rel=1e-4)
    np.testing.assert_allclose(parts.outputs, whole.outputs, atol=1e-2)


def peak_memory(cache_size):
    """Peak resident memory in MB of a fit in a process of its own, above what it had before the fit."""
    script = f"""
    import resource
    import numpy as np
    import convex_tsvm as ct

    def fit(n, cache_size):
        rng = np.random.default_rng(0)
        y = np.resize([1.0, -1.0], n)
        X = rng.standard_normal((n, 20)) + 0.3 * y[:, None]
        problem = ct.Problem(X, y, kernel=ct.RBF(gamma=0.1), C=1.0, C_unlabeled=None)
        return ct.cccp(ct.svm(), problem, cache_size=cache_size)

    fit(2500, 1)  # libraries, compiled code and threads are in memory now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    solution = fit(6000, {cache_size})
    assert solution.status == "converged"
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, solution.objective)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    return [float(word) for word in run.stdout.split()]


def test_memory_follows_the_budget():
    """The matrix would take 144 MB in single precision; a hundredth of it is enough."""
    little, much = peak_memory(1.4), peak_memory(100)
    assert little[1] == pytest.approx(much[1], rel=1e-3)
    assert little[0] < 60  # parts of rows that are summed up, the points, and the budget itself
    assert much[0] < 100 + 60


def test_sparse_points_equal_dense_ones(blobs):
    X, y = blobs
    X = np.where(np.abs(X) > 5, X, 0.0)
    for kernel in (ct.RBF(12.0), ct.Linear(), ct.Polynomial(2, 0.01, 1.0)):
        dense, sparse = made((X, y), kernel=kernel), made((sp.csr_array(X), y), kernel=kernel)
        step = steps(dense)
        solution = ct.solvers.NativeSolver(dense, tol=1e-4).solve(step)
        again = ct.solvers.NativeSolver(sparse, tol=1e-4).solve(step.replace(problem=sparse))
        assert solution.status == again.status == "optimal"
        assert again.primal == pytest.approx(solution.primal, rel=1e-4)
        assert again.primal <= solution.primal + 1e-4 * abs(solution.primal)


def test_a_linear_kernel_never_builds_its_matrix(blobs, monkeypatch):
    """Rows are asked for in parts of the budget, and sums of rows go through w."""
    problem = made(blobs, kernel=ct.Linear())
    largest = 0
    rows, block = LinearRows.rows, LinearRows.block

    def watched(self, indices, columns=None):
        nonlocal largest
        found = rows(self, indices) if columns is None else block(self, indices, columns)
        largest = max(largest, found.size)
        return found

    monkeypatch.setattr(LinearRows, "rows", watched)
    monkeypatch.setattr(LinearRows, "block", watched)
    solution = ct.cccp(ct.cccp_tsvm(), problem, cache_size=1)
    assert solution.status == "converged"
    assert "gram" not in problem.__dict__
    assert 8 * largest <= 2**20


def test_points_far_from_each_other_are_left_in_double():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 3)) + 1e4 * np.resize([1, -1], 1100)[:, None]
    problem = ct.Problem(X, np.resize([1.0, -1.0], 1100), kernel=ct.RBF(1.0), C_unlabeled=None)
    solver = ct.solvers.NativeSolver(problem)
    assert not solver._held.single
    assert solver.solve(ct.svm().on(problem).step()).status == "optimal"


def test_rounding_that_matters_ends_single_precision(blobs):
    """Asked for single precision and a tolerance it cannot serve, the solver finishes in double."""
    problem = made(blobs, kernel=ct.Polynomial(3, 0.01, 1.0), C=0.1, C_unlabeled=0.01)
    solver = ct.solvers.NativeSolver(problem, precision="single", tol=1e-6)
    solution = solver.solve(steps(problem))
    again = ct.instance.certify(solution.step, solution.gamma, solution.gamma0, solution.bias)
    assert solution.status != "optimal" or again.kkt <= 2e-6
    assert not solver._held.single


def test_classes_share_one_solver(blobs, monkeypatch):
    """One-vs-rest: kernel values are computed once, and every class gets the solution it gets alone."""
    X, _ = blobs
    classes = np.arange(len(X)) // 400
    y = np.where(np.arange(len(X)) % 20 == 0, classes, -1)
    y[0] = -1  # as many labels of every class would be looked at once more
    made_solvers = []
    native = ct.solvers.NativeSolver.__init__

    @functools.wraps(native)
    def made(self, *arguments, **options):
        made_solvers.append(native(self, *arguments, **options))

    monkeypatch.setattr(ct.solvers.NativeSolver, "__init__", made)
    options = {"gamma": 0.01, "C": 5, "tol": 1e-6, "balance": "labeled"}
    together = ct.TransductiveSVC(**options).fit(X, y)
    assert len(made_solvers) == 1
    apart = ct.TransductiveSVC(**options, n_jobs=3).fit(X, y)
    np.testing.assert_allclose(together.transduction_scores_, apart.transduction_scores_, atol=1e-4)


def test_the_tolerance_holds_for_the_duality_gap(monkeypatch):
    """Violations within tol of very many points at their bounds can add up to more than tol."""
    X, digit = load_digits(return_X_y=True)
    y = np.where(digit == 8, 1.0, -1.0)
    y[100:] = 0
    problem = ct.Problem(X / 16, y, kernel=ct.RBF(gamma=0.05), C=1000, C_unlabeled=1)
    step = ct.cccp_tsvm(-0.1).on(problem).step(ct.cccp(ct.svm(), problem).scores)
    solution = ct.solvers.NativeSolver(problem).solve(step)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-3
    # Coordinate steps alone end just below the tolerance; Newton steps may end far below it.
    solver = ct.solvers.NativeSolver(problem)
    solver.gap_rounds, solver.strategy.effort = 1, Effort(least_steps=10**9)
    with pytest.warns(UserWarning, match="relative duality gap"):
        first = solver.solve(step)
    assert first.status == "inaccurate"
    assert first.kkt <= 1e-3 < first.gap


def test_few_points_that_pay_are_solved_exactly():
    """The supervised SVM that CCCP starts from: accuracy is cheap, whatever the number of unlabelled points."""
    X = sp.random(1500, 400, density=0.02, random_state=0, format="csr")
    y = np.zeros(1500)
    y[:40] = np.resize([1, -1], 40)
    problem = ct.Problem(X, y, C=10)
    for kernel, accuracy in (("linear", 1e-8), (ct.RBF(gamma=0.5), 2e-4)):
        problem = problem.replace(kernel=kernel)
        solution, exact = ct.cccp(ct.svm(), problem), ct.cccp(ct.svm(), problem, tol=1e-9)
        assert solution.objective == pytest.approx(exact.objective, rel=accuracy)
    _ = problem.gram  # looking at it changes nothing
    assert ct.cccp(ct.svm(), problem).objective == solution.objective


@pytest.mark.parametrize("with_gram", [False, True])
def test_progress_and_interrupt_inside_a_step(problem, with_gram):
    """Violations are told before every working set; Ctrl-C gives the point reached, so marked."""
    seen, problem = [], problem.replace(X=problem.X)
    if with_gram:
        _ = problem.gram

    def progress(n_iter, violation):
        seen.append((n_iter, violation))
        if stop and n_iter == 3:
            raise KeyboardInterrupt

    solver = ct.solvers.NativeSolver(problem, cache_size=1, progress=progress)
    stop = False
    whole = solver.solve(steps(problem))
    assert [n_iter for n_iter, _ in seen] == list(range(whole.n_iter + 1))
    assert seen[-1][1] <= solver.tol < seen[0][1]
    stop = True
    part = solver.solve(steps(problem))
    assert part.status == "interrupted"
    assert part.n_iter == 3
    assert part.kkt > solver.tol
    assert part.dual <= whole.primal


def test_running_out_of_working_sets_is_said(problem):
    with pytest.warns(UserWarning, match="violation .* > tol"):
        solution = ct.solvers.NativeSolver(problem, cache_size=1, max_iter=2).solve(steps(problem))
    assert solution.status == "max_iter"
    assert solution.kkt > 1e-3


def test_long_sparse_rows_are_not_made_dense(monkeypatch):
    """Documents of a thousand words: high and low digits apart keep them all, without differences of coordinates."""
    from convex_tsvm.kernels import distances

    X = sp.random_array((12, 20_000), density=0.05, random_state=0, format="csr")
    X = sp.csr_matrix(sp.diags_array(1 / sp.linalg.norm(X, axis=1)) @ X)
    dense = X.toarray()
    expected = np.array([[0.5 * math.fsum((a - b) ** 2) for b in dense] for a in dense])

    def slow(*args):
        raise AssertionError("differences of all coordinates")

    monkeypatch.setattr(distances, "scaled_differences", slow)
    for moved in (1.0, 2.0**-300, 2.0**300):
        found = distances.squared_distances(moved * X, moved * X, 0.5 / moved**2)
        assert np.abs(found - expected).max() < 1e-15
