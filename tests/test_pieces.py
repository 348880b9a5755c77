"""Exact search over the convex pieces of losses, against every choice of pieces."""

import itertools
import warnings

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.exact.pieces import PieceSearch


def case(seed):
    """A formulation and a problem of eight points, three of them labelled."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], 8)
    X = rng.normal(size=(8, 2)) + truth[:, None] * rng.uniform(0, 1)
    y = np.where(np.arange(8) < 3, truth, 0.0)
    balance = [None, "labeled", 0.2][seed % 3]
    kernel = [ct.RBF(1.0), "linear"][seed % 2]
    costs = {"C": float(rng.choice([0.5, 5])), "C_unlabeled": float(rng.choice([0.3, 3]))}
    problem = ct.Problem(X, y, kernel=kernel, balance=balance, **costs)
    s, linear = -float(rng.choice([0.0, 0.2, 0.5, 0.9])), None if balance is None else "linear"
    formulation = [
        ct.cccp_tsvm(s, balance=linear),
        ct.Formulation(ct.hinge(), ct.two_slope_symmetric_ramp(-0.3, 0.3), balance=linear),
        ct.compact_margin(1.3, 0.5, 0.5, s=s, balance=linear),
        ct.Formulation(ct.ramp(-0.4), ct.symmetric_ramp(-0.3), balance=linear, fit_intercept=bool(seed % 5)),
        ct.s3vm(balance=linear),
        ct.Formulation(
            ct.hinge(), ct.symmetric_ramp(s), balance=linear, constraints=[ct.must_link(4, 6), ct.cannot_link(3, 5)]
        ),
    ][seed % 6]
    return formulation, problem


def least_of_all_pieces(search):
    """The least objective over every choice of one piece for each point."""
    pieces, best = search.pieces, np.inf
    solver = ct.NativeSolver(search.instance.problem, tol=1e-8)
    for chosen in itertools.product(*(range(len(pieces.of_kind[kind])) for kind in pieces.kind)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = min(best, solver.solve(pieces.step(np.array([1 << k for k in chosen]))).primal)
    return best


@pytest.mark.parametrize("seed", [*range(18), *(pytest.param(k, marks=pytest.mark.slow) for k in range(18, 300))])
def test_search_finds_what_all_pieces_have(seed):
    search = PieceSearch(*case(seed), gap=1e-7)
    solution = search.run()
    best = least_of_all_pieces(search)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(best, rel=1e-5, abs=1e-6)
    assert solution.lower_bound <= best + 1e-6 * max(1.0, abs(best))
    assert solution.gap <= 2e-7
    # The objective is the formulation's own, at the outputs of the solution.
    assert search.instance.objective(solution.scores, solution.regularization) == pytest.approx(solution.objective)


def test_labels_and_pieces_have_the_same_optimum(moons):
    X, _, y = moons
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:16]]
    problem = ct.Problem(X[keep], y[keep], kernel=ct.RBF(0.5), C=1, C_unlabeled=1)
    for formulation in (ct.tsvm("hinge"), ct.tsvm("squared_hinge")):
        by_labels = ct.exact_search(formulation, problem, gap=1e-5)
        by_pieces = PieceSearch(formulation, problem, gap=1e-5).run()
        assert by_pieces.objective == pytest.approx(by_labels.objective, rel=2e-5)
        assert by_pieces.lower_bound <= by_labels.objective + 1e-9


def test_limits_leave_a_bound_that_holds():
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 30)
    X = rng.normal(size=(30, 10)) + 0.4 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(30) < 8, truth, 0.0), kernel=ct.RBF(3.0), C=10, C_unlabeled=1)
    told = []
    few = ct.exact_search(ct.tsvm("ramp"), problem, max_nodes=150, callback=told.append)
    assert few.status == "node_limit"
    assert few.n_nodes >= 150
    assert few.n_open > 0
    more = ct.exact_search(ct.tsvm("ramp"), problem, max_nodes=600)
    assert few.lower_bound <= more.lower_bound <= more.objective <= few.objective
    assert [reached.n_nodes for reached in told][:2] == [1, 100]
    assert ct.exact_search(ct.tsvm("ramp"), problem, time_limit=0.3).status == "time_limit"
    assert more.objective <= ct.cccp(ct.tsvm("ramp"), problem).objective + 1e-9


def test_what_it_does_not_take_is_named(moons):
    X, _, y = moons
    problem = ct.Problem(X[:20], y[:20], kernel=ct.RBF(0.5))
    for options, said in (
        ({"bounds": "sdp"}, "bounds='sdp' is for searches for labels"),
        ({"certificate": "x.npz"}, "certificate='x.npz' is for searches for labels"),
        ({"n_jobs": 2}, "n_jobs=2 is for searches for labels"),
    ):
        with pytest.raises(ValueError, match=said):
            ct.exact_search(ct.tsvm("ramp"), problem, **options)
    with pytest.raises(ValueError, match="takes a mean output, or None"):
        ct.exact_search(ct.tsvm("ramp"), problem.replace(balance=("exact", 0.5)))
    with pytest.raises(ValueError, match="negative curvature"):
        ct.exact_search(ct.tsvm("flat"), problem)
    with pytest.raises(ValueError, match="piecewise linear-quadratic"):
        ct.exact_search(ct.tsvm("exp"), problem)


def test_estimator_and_command_line(moons, tmp_path, capsys):
    X, truth, y = moons
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:10]]
    marked = np.where(y[keep] == 0, -1, (y[keep] > 0).astype(int))
    clf = ct.ExactTransductiveSVC(loss="ramp", sigma=0.5, balance="labeled", gap=1e-4).fit(X[keep], marked)
    assert clf.status_ == "converged"
    assert clf.gap_ <= 1e-4
    heuristic = ct.TransductiveSVC(sigma=0.5, balance="labeled").fit(X[keep], marked)
    assert clf.lower_bound_ <= clf.objective_ <= heuristic.objective_ + 1e-6
    np.savez(tmp_path / "some.npz", X=X[keep], y=truth[keep].astype(int), labeled=np.flatnonzero(y[keep])[None])
    arguments = [str(tmp_path / "some.npz"), "--sigma", "0.5", "--balance", "labeled", "--gap", "1e-4", "--json"]
    for own in (["--loss", "ramp"], ["--formulation", "cmm"]):
        assert main(["solve", *arguments, "--method", "exact", *own]) == 0
    assert '"status": "optimal"' in capsys.readouterr().out
