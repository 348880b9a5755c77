"""Badly scaled, far from the origin, infeasible, out of time: the right number, or a status or error that says so."""

import dataclasses
import itertools
import json
import os
import stat
import time
import warnings

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.checker import Verdict
from convex_tsvm.cli import main
from convex_tsvm.deadline import time_is_up, until
from convex_tsvm.kernels import CentredRows, GramRows, centred_gram, plain_gram, projected_gram, shifted_gram
from convex_tsvm.relaxations.envelopes.best import BestSolution
from convex_tsvm.relaxations.rounding import zero_sum

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


# --- kernels that are right to the last digits ------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e3, 1.7e9, -1e12])
@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_rbf_kernel_is_right_wherever_the_points_are(offset, sigma, sparse):
    import scipy.sparse as sp

    steps = np.random.default_rng(0).integers(-1000, 1000, size=(8, 3)) / 1024  # exact beside the offset, but for 1e12
    X = np.round(steps * 1024) / (1024 if abs(offset) < 1e10 else 1.0) + offset
    near = X - offset
    expected = np.exp(-((near[:, None] - near[None]) ** 2).sum(axis=2) / (2 * sigma**2))
    kernel = ct.RBF(sigma=sigma)
    points = sp.csr_array(X) if sparse else X
    np.testing.assert_allclose(kernel(points, points), expected, rtol=1e-11, atol=1e-13)
    assert (np.diag(ct.Problem(X, [1, -1] + 6 * [0], kernel=kernel).gram) == 1).all()


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("make", ["shifted", "centred", "projected"])
def test_what_is_said_of_a_matrix_s_errors_holds(offset, make):
    """Against 200 bits, for every kind of kernel."""
    from fractions import Fraction

    rng = np.random.default_rng(1)
    X, members, n = rng.integers(-8, 8, size=(6, 2)) / 4 + offset, np.array([2, 3, 5]), 6
    exact = [[Fraction(float(v)) for v in row] for row in X]

    def product(i, j):
        return sum((a * b for a, b in zip(exact[i], exact[j], strict=True)), Fraction(0))

    K = [[product(i, j) for j in range(n)] for i in range(n)]
    mean = [sum((K[i][int(k)] for k in members), Fraction(0)) / len(members) for i in range(n)]
    middle = sum((mean[int(k)] for k in members), Fraction(0)) / len(members)
    if make == "projected":
        gram = projected_gram(ct.Linear(), X, members, 0.5).gram
        right = [[K[i][j] - mean[i] * mean[j] / middle for j in range(n)] for i in range(n)]
    else:
        gram = centred_gram(ct.Linear(), X, members)
        right = [[K[i][j] - mean[i] - mean[j] + middle for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(n):
            off = abs(Fraction(float(gram.matrix[i, j])) - right[i][j])
            assert off <= Fraction(gram.error) * Fraction(float(gram.scale[i])) * Fraction(float(gram.scale[j]))
    for gamma in rng.normal(size=(5, n)):
        g = [Fraction(float(v)) for v in gamma]
        square = sum(g[i] * right[i][j] * g[j] for i in range(n) for j in range(n))
        assert Fraction(gram.most_square(gamma)) >= square
        image, error = gram.image(gamma)
        for i in range(n):
            exactly = sum(right[i][j] * g[j] for j in range(n))
            assert abs(Fraction(float(image[i])) - exactly) <= Fraction(float(error[i]))
    if make == "shifted":
        gamma = zero_sum(rng.normal(size=n), np.full(n, -np.inf), np.full(n, np.inf))
        g = [Fraction(float(v)) for v in gamma]
        assert sum(g) == 0
        plain = sum(g[i] * K[i][j] * g[j] for i in range(n) for j in range(n))
        assert Fraction(shifted_gram(ct.Linear(), X).most_square(gamma)) >= plain


def test_centring_keeps_the_digits_of_points_that_are_close():
    """1 - k is all there is of them: a matrix of ones has lost it."""
    X = 1e-9 * np.random.default_rng(0).normal(size=(6, 2))
    members = np.arange(2, 6)
    gram = centred_gram(ct.RBF(sigma=1.0), X, members)
    linear = centred_gram(ct.Linear(), X, members).matrix  # to first order
    np.testing.assert_allclose(gram.matrix, linear, rtol=1e-6, atol=1e-30)
    lost = CentredRows(GramRows(plain_gram(ct.RBF(sigma=1.0), X).matrix), members).full()
    assert not np.allclose(lost, linear, rtol=0.1, atol=0)


def test_a_kernel_that_overflows_is_refused():
    for kernel in ("linear", "poly"):
        with pytest.raises(ValueError, match="overflows at these points; scale them"):
            ct.Problem(1e200 * np.eye(4), [1, -1, 0, 0], kernel=kernel)


def test_gamma_scale_is_right_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(30, 3))
    one, other = (ct.Problem(X + off, [1, -1] + 28 * [0], kernel="rbf").kernel.gamma for off in (0.0, 1e8))
    assert other == pytest.approx(one, rel=1e-6)


# --- the reproducers --------------------------------------------------------------------------------------------------


def test_bounds_of_points_at_unix_times(tmp_path):
    x, f = np.array([[0.1], [10.3], [20.2], [30.7]]), ct.s3vm(balance=None, fit_intercept=False)

    def make(offset):
        kernel = ct.RBF(sigma=1.0)
        return ct.Problem(offset + x, [1, -1, 0, 0], kernel=kernel, C=1, C_unlabeled=1, balance=None)

    found = ct.exact_search(f, make(1.7e9), certificate=tmp_path / "c.npz")
    optimum = ct.brute_force(f, make(0.0))[0]
    assert found.lower_bound <= optimum
    assert found.status == "optimal"
    assert found.objective == pytest.approx(4 / 3, rel=1e-6)
    assert ct.prove_certificate(tmp_path / "c.npz").holds


def test_bounds_of_a_linear_kernel_at_a_million(tmp_path):
    X = 1e6 * np.array([[1.3], [-0.7], [0.9], [0.31], [2.1]])
    problem = ct.Problem(X, [1, -1, 0, 0, 0], C=1, C_unlabeled=1, balance=0.57)
    w = 0.57 / X[2:].mean()
    o = X.ravel() * w
    optimum = 0.5 * w * w + np.maximum(1 - o[:2] * [1, -1], 0).sum() + np.maximum(1 - abs(o[2:]), 0).sum()
    found = ct.exact_search(ct.cccp_tsvm(0.0, fit_intercept=False), problem, certificate=tmp_path / "c.npz")
    assert found.lower_bound <= optimum
    assert found.gap <= 1e-5
    assert ct.prove_certificate(tmp_path / "c.npz").holds


def test_cccp_on_unscaled_features_ends_where_scaled_ones_do():
    r = np.random.default_rng(0)
    X = r.normal(size=(53, 7)) * (r.random((53, 7)) < 0.6)
    y = np.zeros(53)
    y[:37] = r.choice([-1, 1], 37)
    y[:2] = 1, -1
    found = {s: ct.cccp(ct.cccp_tsvm(-0.3), ct.Problem(s * X, y, C=1.0, C_unlabeled=1.0)) for s in (1e2, 1e3, 1e4)}
    assert {solution.status for solution in found.values()} == {"converged"}
    assert max(s.objective for s in found.values()) < 1.001 * min(s.objective for s in found.values())
    assert max(len(solution.history) for solution in found.values()) < 50


def test_a_search_with_values_of_a_hundred_thousand_keeps_its_time():
    X = [[-271583.0], [136742.0], [421991.0], [61891.0], [-130846.0], [-59298.0]]
    problem = ct.Problem(X, [-1, 1, -1, 0, -1, -1], C=1.1, C_unlabeled=0.32, balance=None)
    found = ct.exact_search(ct.cccp_tsvm(0.0, balance=None), problem, time_limit=4)
    assert found.status in ("optimal", "inaccurate", "time_limit")
    assert found.lower_bound <= 2.2 <= found.objective  # 2.2 is the optimum of the same problem, scaled


def test_a_balance_that_cannot_be_met_is_named():
    problem = ct.Problem([[1.0, 0], [-1.0, 0.5], [0, 0], [0, 0]], [1, -1, 0, 0], balance=0.3)
    for call in (ct.cccp, ct.annealing, ct.exact_search):
        with pytest.raises(ct.InfeasibleError, match=r"0\.3"):
            call(ct.cccp_tsvm(0.0, fit_intercept=False), problem)
    with pytest.raises(ct.InfeasibleError, match="mean output"):
        ct.cccp(ct.cccp_tsvm(fit_intercept=False), problem, solver="cvxpy")


@pytest.mark.parametrize("C", [1.0, 1e-6])
def test_a_sum_of_targets_that_one_point_cannot_have(C):
    problem = ct.Problem([[-1.0], [1.0], [0.1]], [-1, 1, 0], kernel="rbf", C=C, C_unlabeled=1.0, balance=0.5)
    with pytest.raises(ct.InfeasibleError, match=r"balance=0\.5 cannot be met"):
        ct.exact_search(ct.s3vm(balance="targets", fit_intercept=False), problem, time_limit=5)
    search = ct.exact.BranchAndBound(ct.s3vm(balance="targets", fit_intercept=False), problem, time_limit=5).run()
    assert search.status == "infeasible"


def test_the_command_line_says_infeasible(tmp_path, capsys):
    import json

    from convex_tsvm.cli import main

    np.savez(tmp_path / "d.npz", X=np.array([[1.0], [-1.0], [0.5], [-0.5]]), y=np.array([1, -1, 0, 0]))
    constant = tmp_path / "c.npz"
    np.savez(constant, X=np.zeros((4, 2)), y=np.array([1, -1, 0, 0]))
    assert main(["solve", str(constant), "--kernel", "linear", "--unlabeled", "0", "--json"]) in (0, 1)
    capsys.readouterr()
    formulation = ct.cccp_tsvm(fit_intercept=False)
    with pytest.raises(ValueError, match="no function of this space"):
        ct.cccp(formulation, ct.Problem(np.zeros((4, 2)), [1, -1, 0, 0], balance=0.3))
    from convex_tsvm import cli, validation

    def refuse(options):
        raise validation.InfeasibleError("balance=0.5 cannot be met")

    from convex_tsvm.cli import commands

    original, commands.solve = commands.solve, refuse
    try:
        assert cli.main(["solve", str(tmp_path / "d.npz"), "--json"]) == 1
    finally:
        commands.solve = original
    out = capsys.readouterr()
    assert json.loads(out.out)["status"] == "infeasible"
    assert "infeasible: balance=0.5" in out.err


@pytest.mark.parametrize("scale", [1.0, 3e3, 1e4, 1e5, 1e6])
def test_cvxpy_is_converged_only_if_its_certificate_says_so(scale):
    r = np.random.default_rng(0)
    X, y = r.normal(size=(50, 5)), r.choice([-1.0, 1.0], 50)
    problem = ct.Problem(scale * X, y, C_unlabeled=None)
    native, cvxpy = (ct.cccp(ct.svm(), problem, solver=solver) for solver in ("native", "cvxpy"))
    for solution in (native, cvxpy):
        assert (solution.status == "converged") <= (solution.certificate().gap <= 1e-3)
    if cvxpy.status == "converged":
        assert cvxpy.objective <= native.objective * (1 + 2e-3)
    else:
        assert cvxpy.status == "inaccurate"


def test_a_certificate_without_a_bound_does_not_hold(tmp_path):
    import json

    r = np.random.default_rng(2)
    problem = ct.Problem(r.normal(size=(10, 3)), [1, -1] + 8 * [0], C=2.0, C_unlabeled=1.0, kernel="rbf", balance=0.1)
    path = tmp_path / "c.npz"
    ct.exact_search(ct.cccp_tsvm(0.0), problem, bounds="svm", certificate=path)
    arrays = dict(np.load(path))
    header = json.loads(str(arrays["header"]))
    header["lower_bound"] = float("nan")
    arrays["header"] = np.array(json.dumps(header))
    for key in arrays:
        if key.startswith(("proof_", "direction_")):
            arrays[key] = arrays[key][:0]
    np.savez(path, **arrays)
    assert not ct.prove_certificate(path).holds
    assert not ct.prove_certificate(path).holds


@pytest.mark.parametrize("tol", [-1, 0, np.nan, np.inf])
def test_tolerances_of_the_subspace_sdp_are_checked(tol):
    X = np.random.default_rng(0).normal(size=(36, 3))
    with pytest.raises(ValueError, match="tol="):
        ct.SubspaceSDPTransduction(tol=tol).fit(X, np.r_[0, 1, 0, 1, -np.ones(32, int)])


@pytest.mark.parametrize("sigma", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
def test_a_kernel_of_width_next_to_nothing_is_the_identity(sigma):
    X = np.random.default_rng(0).normal(size=(6, 5))
    found = ct.exact_search(ct.s3vm(), ct.Problem(X, [1, -1, 0, 0, 0, 0], kernel=ct.RBF(sigma=sigma)))
    assert found.lower_bound <= 5 / 3
    assert found.lower_bound == pytest.approx(5 / 3, rel=2e-6)
    assert found.status == "optimal"


@pytest.mark.parametrize(("scale", "C"), [(1e3, 1e6), (1e4, 1e6)])
def test_an_objective_is_one_that_can_be_reached(scale, C, tmp_path):
    problem = ct.Problem(scale * np.ones((4, 1)), [1, -1, 0, 0], C=C, C_unlabeled=C, balance=None)
    found = ct.exact_search(ct.s3vm(balance=None), problem, certificate=tmp_path / "c.npz")
    assert found.objective >= 3 * C
    assert found.lower_bound <= 3 * C
    assert found.objective == pytest.approx(3 * C, rel=1e-6)
    assert ct.prove_certificate(tmp_path / "c.npz").holds


def test_an_honest_certificate_of_large_values_is_accepted(tmp_path):
    problem = ct.Problem(1e4 * np.ones((3, 1)), [1, -1, 0], C=100.0, C_unlabeled=100.0, balance=None)
    found = ct.exact_search(ct.s3vm(balance=None, fit_intercept=False), problem, certificate=tmp_path / "c.npz")
    assert np.isfinite(found.objective)
    assert found.status == ("optimal" if found.gap <= 1e-6 * (1 + 1e-5) else "inaccurate")
    assert ct.prove_certificate(tmp_path / "c.npz").holds
    assert ct.prove_certificate(tmp_path / "c.npz").holds


# --- statuses, deadlines, files ---------------------------------------------------------------------------------------


def test_a_gap_that_arithmetic_cannot_support_is_inaccurate_and_says_scale():
    X = 1e8 * np.random.default_rng(0).normal(size=(3, 1))
    problem = ct.Problem(X, [1, -1, 0], C=1e4, kernel=ct.kernels.Polynomial(2, 1.0, 1.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ct.exact_search(ct.s3vm(), problem)
    assert found.status == "inaccurate"
    assert any("scale the points" in str(one.message) for one in caught)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-4])
def test_optimal_means_that_the_gap_is_proven(gap):
    X = np.random.default_rng(0).normal(size=(9, 2))
    found = ct.exact_search(ct.s3vm(), ct.Problem(X, [1, -1] + 7 * [0], kernel="rbf"), gap=gap)
    assert found.status == "optimal"
    assert found.gap <= max(gap, 1e-8) * (1 + 1e-5)


def test_a_solver_that_overstates_itself_is_not_believed():
    class Careless:
        def __init__(self, problem):
            self.inner = ct.solvers.NativeSolver(problem, tol=0.5)

        def solve(self, step, start=None):
            import dataclasses

            rough = self.inner.solve(step, start)
            return dataclasses.replace(rough, status="optimal", kkt=0.5)

    X = np.random.default_rng(0).normal(size=(40, 3))
    problem = ct.Problem(X, np.r_[np.ones(4), -np.ones(4), np.zeros(32)], kernel="rbf", C=10)
    assert ct.cccp(ct.cccp_tsvm(), problem, solver=Careless(problem)).status == "inaccurate"


def test_deadlines_nest_and_end():
    assert not time_is_up()
    with until(time.time() - 1):
        assert time_is_up()
        with until(time.time() + 100):
            assert time_is_up()
    assert not time_is_up()


def test_a_method_inside_a_deadline_gives_the_best_so_far():
    X = np.random.default_rng(0).normal(size=(400, 5))
    problem = ct.Problem(X, np.r_[np.ones(20), -np.ones(20), np.zeros(360)], kernel="rbf", C=100)
    with until(time.time() - 1):
        found = ct.cccp(ct.cccp_tsvm(), problem)
    assert found.status == "time_limit"
    assert np.isfinite(found.scores).all()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n", [200, 400, 600, 800, 1200])
def test_large_searches_keep_their_time(n, loss):
    """Ten instances on which one relaxation takes longer than the limit; what is measured is in the benchmarks."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 20)), np.zeros(n)
    y[:20] = np.where(X[:20, 0] > 0, 1, -1)
    y[:2] = 1, -1
    formulation = ct.s3vm() if loss == "squared_hinge" else ct.cccp_tsvm(0.0)
    began = time.perf_counter()
    found = ct.exact_search(formulation, ct.Problem(X, y, kernel="rbf", C=10, balance=0.0), time_limit=10, patience=0)
    assert found.status == "time_limit"
    assert time.perf_counter() - began < 60  # the promise is 12 seconds; machines are shared


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_a_full_disk_does_not_cost_the_result(tmp_path):
    X = np.random.default_rng(0).normal(size=(8, 2))
    problem = ct.Problem(X, [1, -1] + 6 * [0], kernel="rbf")
    with pytest.warns(UserWarning, match="could not be written"):
        found = ct.exact_search(ct.s3vm(), problem, certificate="/dev/full")
    assert found.status == "optimal"


def test_a_file_that_cannot_be_written_is_found_out_before_the_work(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(ct.exact.BranchAndBound, "run", lambda self: called.append(1))
    problem = ct.Problem(np.eye(4), [1, -1, 0, 0], kernel="rbf")
    for path in (tmp_path / "nowhere" / "c.npz", tmp_path):
        with pytest.raises(OSError, match="certificate="):
            ct.exact_search(ct.s3vm(), problem, certificate=path)
    if os.getuid():
        sealed = tmp_path / "sealed"
        sealed.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
        with pytest.raises(OSError, match="cannot be written"):
            ct.exact_search(ct.s3vm(), problem, certificate=sealed / "c.npz")
    assert not called


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no such device here")
def test_a_device_is_written_to_and_not_replaced(tmp_path):
    problem = ct.Problem(np.random.default_rng(0).normal(size=(6, 2)), [1, -1, 0, 0, 0, 0], kernel="rbf")
    ct.exact_search(ct.s3vm(), problem, certificate="/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# --- losses that fall without end -------------------------------------------------------------------------------------

SIX = np.array([[-2.0], [-1.0], [0.3], [1.0], [2.0], [0.5]])

#: Unlabelled losses that are unbounded below.
FALLING = {
    "both ways": ct.losses.PLQ([0], [(0, 1, 0), (0, -1, 0)]),
    "one way": ct.losses.PLQ([0, 1], [(0, -0.5, 0), (0, 0.25, 0), (0, -0.2, 0.45)]),
    "faster and faster": ct.losses.PLQ([], [(-0.02, 0, 0)]),
    "as in learning from positive points": ct.hinge().reflect(),
}


@pytest.mark.parametrize("name", FALLING)
@pytest.mark.parametrize("balance", [None, 0.1])
def test_losses_that_fall_without_end_are_bounded_by_the_norm(name, balance, tmp_path):
    labeled = ct.losses.PLQ([], [(0, -0.3, 0)]) if "positive" in name else ct.hinge()
    y = [1, 0, 0, 0, 1, 0] if "positive" in name else [-1, 0, 0, 0, 1, 0]
    kind = None if balance is None else "linear"
    model = ct.Formulation(labeled, FALLING[name], balance=kind, fit_intercept=balance is not None)
    problem = ct.Problem(SIX, y, kernel=ct.RBF(1.0), C=1, C_unlabeled=0.6, balance=balance)
    starts = np.random.default_rng(0).normal(size=(20, 6))
    reached = min(ct.cccp(model, problem, start=start).objective for start in starts)
    found = ct.exact_search(model, problem, certificate=tmp_path / "c.npz")
    assert found.status == "optimal"
    assert found.lower_bound <= reached + 1e-9
    assert found.objective <= reached + 1e-5
    assert ct.prove_certificate(tmp_path / "c.npz", model, problem).holds
    for relaxation in ("envelope", "curvature"):
        assert ct.LowerBoundBuilder(model, problem, relaxation=relaxation).bound().value <= reached + 1e-9


@pytest.mark.parametrize(
    ("labeled", "unlabeled", "said"),
    [
        (ct.hinge(), FALLING["both ways"] * 5.0, r"balance, the others as the bias goes to [+-]∞"),
        (ct.losses.PLQ([], [(0, -1, 0)]), ct.symmetric_ramp(-0.3), r"balance, the others as the bias goes to [+-]∞"),
        (ct.hinge(), FALLING["faster and faster"], "or along a free bias"),
    ],
    ids=["unlabelled ones outweigh", "labelled ones are in balance", "concave"],
)
def test_what_a_bias_lets_fall_is_refused(labeled, unlabeled, said):
    model = ct.Formulation(labeled, unlabeled, balance=None)
    problem = ct.Problem(SIX, [-1, 0, 0, 0, 1, 0], C=1, balance=None)
    for call in (ct.exact_search, lambda m, p: ct.LowerBoundBuilder(m, p, relaxation="envelope")):
        with pytest.raises(ValueError, match=said):
            call(model, problem)
    steep = ct.Formulation(ct.hinge(), ct.losses.PLQ([], [(-50.0, 0, 0)]), balance=None, fit_intercept=False)
    with pytest.raises(ValueError, match="fall faster than ½ ‖w‖² rises"):
        ct.exact_search(steep, problem)


# --- bounds and objectives of what was asked --------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("descent", [ct.cccp, ct.gradient, ct.linearization])
def test_no_descent_has_the_bound_of_another_balance(share, descent):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = ct.Problem(rng.normal(size=(8, 2)), [1, -1, 1, -1, 0, 0, 0, 0], C=1, balance=("exact", share))
        found = descent(ct.s3vm(), problem)
        best = ct.exact_search(ct.s3vm(), problem).objective
        assert found.lower_bound is None or found.lower_bound <= best * (1 + 1e-6)


@pytest.mark.parametrize("scale", [1e4, 1e6, 1e7])
@pytest.mark.parametrize("target", ["labeled", 0.4])
def test_what_is_called_reached_meets_the_balance_without_a_bias(scale, target):
    """In one dimension the mean of outputs fixes w, and so the optimum."""
    x = scale * np.array([-1.2, 3.15, 3.0, -1.31, 3.54, 4.15, -1.25, 1.18])
    y = np.array([1.0, -1, 0, 0, 0, 0, 0, 0])
    problem = ct.Problem(x[:, None], y, C=3.6, C_unlabeled="balanced", balance=target)
    w = problem.balance_target / x[2:].mean()
    model = ct.cccp_tsvm(0.0, fit_intercept=False)
    best = 0.5 * w * w + float(problem.cost @ np.maximum(0, 1 - np.where(y == 0, np.abs(x * w), y * x * w)))
    for relaxation in ("svm", "sdp", "envelope", "curvature"):
        bound = ct.LowerBoundBuilder(model, problem, relaxation=relaxation).bound()
        assert bound.value <= best * (1 + 1e-9)
        assert bound.upper >= best * (1 - 1e-9)
    for searched in (model, ct.cccp_tsvm(-0.3, fit_intercept=False)):
        # Of the ramp nothing is told here in double precision but that a solution is reached.
        found = ct.exact_search(searched, problem, time_limit=0.3)
        for outputs in (found.scores, found.decision_function(x[:, None])):
            assert outputs[2:].mean() == pytest.approx(problem.balance_target, abs=1e-7)


# --- certificates as pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ramp", "compact margin", "constraint", "free bias"])
def test_every_certificate_has_a_page(kind, tmp_path):
    loss = {"labeled": ct.hinge(), "unlabeled": ct.symmetric_ramp(-0.3)}
    model = {
        "ramp": ct.cccp_tsvm(-0.3),
        "compact margin": ct.compact_margin(),
        "constraint": ct.Formulation(**loss, constraints=[ct.must_link(1, 3, within=0.2)]),
        "free bias": ct.Formulation(**loss, balance=None),
    }[kind]
    problem = ct.Problem(SIX, [-1, 0, 0, 0, 1, 0], kernel=ct.RBF(1.0), C=3, C_unlabeled=2)
    ct.exact_search(model, problem, certificate=tmp_path / "c.npz", gap=1e-8)
    found = ct.exact.certificate_page(tmp_path / "c.npz", tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert found.holds
    assert page.count("closed</b>") == int((np.load(tmp_path / "c.npz")["record_variable"] < 0).sum())
    assert "the output of point" in page or found.n_nodes == 1


@pytest.mark.parametrize("value", ["x", None, [], {"constraint": "none"}])
def test_a_damaged_statement_is_no_traceback(value, tmp_path, capsys):
    for model in (ct.s3vm(), ct.cccp_tsvm(-0.3)):
        ct.exact_search(model, ct.Problem(SIX, [-1, 0, 0, 0, 1, 0]), certificate=tmp_path / "a.npz")
        arrays = dict(np.load(tmp_path / "a.npz"))
        header = json.loads(str(arrays["header"])) | {"statement": value}
        np.savez(tmp_path / "b.npz", **(arrays | {"header": np.array(json.dumps(header))}))
        assert main(["verify", str(tmp_path / "b.npz"), "--html", str(tmp_path / "b.html")]) in (1, 2)
        assert not ct.prove_certificate(tmp_path / "b.npz").holds


def test_a_certificate_that_the_checker_refuses_is_told_of(tmp_path, monkeypatch):
    """And "optimal" does not stand beside it."""
    problem = ct.Problem(SIX, [-1, 0, 0, 0, 1, 0])
    monkeypatch.setattr("convex_tsvm.exact.solve.prove_certificate", lambda path: Verdict(False, "it is not so"))
    for model in (ct.s3vm(), ct.cccp_tsvm(-0.3)):
        with pytest.warns(ct.TSVMWarning, match="does not prove its claim: it is not so"):
            assert ct.exact_search(model, problem, certificate=tmp_path / "a.npz").status == "inaccurate"


# --- labels of one class ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("make", [ct.s3vm, lambda **o: ct.cccp_tsvm(0.0, **o)], ids=["squared", "hinge"])
def test_labels_of_one_class_without_a_bias(sign, kernel, make):
    model = make(balance=None, fit_intercept=False)
    problem = ct.Problem(SIX, sign * np.array([1, 0, 0, 0, 1, 0]), kernel=kernel, C=1, C_unlabeled=0.3, balance=None)
    best = ct.brute_force(model, problem)[0]
    assert ct.exact_search(model, problem).objective == pytest.approx(best, rel=1e-6)
    for descent in (ct.cccp, ct.switching, ct.annealing, ct.gradient, ct.continuation):
        assert descent(model, problem).objective >= best * (1 - 1e-3)
    with pytest.raises(ValueError, match="or fit_intercept=False"):
        ct.cccp(make(balance=None), problem)


def test_a_damaged_directory_of_an_archive_is_no_traceback(tmp_path, capsys):
    """The list of members at the end of the file, which says where they are and how they are packed."""
    ct.exact_search(ct.s3vm(), ct.Problem(SIX, [-1, 0, 0, 0, 1, 0]), certificate=tmp_path / "a.npz")
    honest = (tmp_path / "a.npz").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        data = bytearray(honest)
        for place in rng.integers(len(data) - 400, len(data), 3):
            data[place] = rng.integers(256)
        (tmp_path / "b.npz").write_bytes(data)
        assert main(["verify", str(tmp_path / "b.npz")]) in (0, 1, 2)
        ct.prove_certificate(tmp_path / "b.npz")


@pytest.mark.parametrize("loss", ["ramp", "hinge", "squared_hinge"])
def test_what_is_reached_counts_the_rounding_of_each_output_on_its_own(loss):
    """Outputs may be off in different directions, and past a kink: what is called reached is above all of that."""
    X = np.array([[-1.0], [-0.2], [0.3], [1.0]])
    instance = ct.Instance(ct.tsvm(loss), ct.Problem(X, [-1, 0, 0, 1], kernel=ct.RBF(1.0), C=2.0, balance=0.1))
    best = BestSolution(instance)
    point = best.solver.solve(instance.step())
    for off in (0.2, 0.8, 5.0):
        found = best.offer_step(dataclasses.replace(point, output_doubt=off))
        moves = itertools.product(np.linspace(-off, off, 9), repeat=4)
        worst = max(instance.objective(point.outputs + np.array(move), point.regularization) for move in moves)
        assert found >= worst - 1e-9
