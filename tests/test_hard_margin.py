"""The S3VM without slacks: bounds and exact search beside enumeration with CVXPY, and what refuses it."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.kernels import kernel_factor


def random_case(seed):
    """A formulation and a problem with six to ten points: any balance, with and without a bias."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 11)), int(rng.integers(1, 4))
    X, y = rng.normal(size=(n, d)), np.zeros(n)
    y[:4] = [1, -1, *rng.choice([-1, 1], 2)]
    kernel = ct.RBF(float(rng.uniform(0.5, 2))) if rng.random() < 0.7 else "linear"
    balance = (None, float(rng.uniform(-0.4, 0.4)), ("exact", 0.5))[rng.integers(3)]
    problem = ct.Problem(X, y, kernel=kernel, balance=balance)
    model = ct.hard_margin_s3vm(balance=balance and "linear", fit_intercept=bool(rng.random() < 0.5))
    return model.balanced_as(problem), problem


def by_enumeration(model, problem):
    """The least ½ ‖w‖² over all labellings; infinite if none is separable."""
    features, least = kernel_factor(problem.gram, 1e-12), np.inf
    unknown = problem.unlabeled
    for signs in itertools.product((1, -1), repeat=len(unknown)):
        labels = problem.y.copy()
        labels[unknown] = signs
        if problem.positive_count is not None and (labels[unknown] > 0).sum() != problem.positive_count:
            continue
        w = cp.Variable(features.shape[1])
        f = features @ w + (cp.Variable() if model.fit_intercept else 0)
        constraints = [cp.multiply(labels, f) >= 1]
        if problem.positive_count is None and model.balance is not None:
            constraints.append(cp.sum(f[unknown]) == problem.balance_target * len(unknown))
        program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), constraints)
        try:
            program.solve(solver="CLARABEL")
        except cp.SolverError:
            continue
        if program.status == "optimal":
            least = min(least, program.value)
    return least


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 120))])
def test_optimum_is_that_of_enumeration(seed):
    model, problem = random_case(seed)
    least = by_enumeration(model, problem)
    if np.isinf(least):
        with pytest.raises(ct.InfeasibleError, match="hard margin"):
            ct.exact_search(model, problem)
        return
    solution = ct.exact_search(model, problem)
    assert solution.objective == pytest.approx(least, rel=1e-5)
    assert ct.brute_force(model, problem)[0] == pytest.approx(least, rel=1e-5)
    bound = ct.LowerBoundBuilder(model, problem).bound()
    assert bound.value <= least * (1 + 1e-6)


@pytest.mark.skipif("SCIP" not in cp.installed_solvers(), reason="pyscipopt is not installed")
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 60))])
def test_the_mixed_integer_program_has_the_same_optimum(seed):
    model, problem = random_case(seed)
    least = by_enumeration(model, problem)
    if np.isinf(least):
        return
    program = ct.modeling.MixedIntegerModel(model, problem, 1.2 * least)
    assert program.problem.solve(solver="SCIP") == pytest.approx(least, rel=1e-4)
    assert not str(program.problem.objective).count("C[")
    assert (program.labels * program.outputs.value).min() >= 1 - 1e-5
    assert np.array_equal(program.labels, ct.exact_search(model, problem).labels)


def forged(path, **changes):
    """The file with other arrays, and what the checker says of it."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    np.savez(path.with_name("forged.npz"), **arrays)
    return ct.prove_certificate(path.with_name("forged.npz"))


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 120))])
def test_the_certificate_is_proven(seed, tmp_path):
    pytest.importorskip("flint")
    (model, problem), path = random_case(seed), tmp_path / "proof.npz"
    if np.isinf(by_enumeration(model, problem)):
        return
    solution = ct.exact_search(model, problem, certificate=path)
    verdict = ct.prove_certificate(path, model, problem)
    assert solution.status == "optimal"
    assert verdict.holds, verdict.problem
    assert verdict.upper_bound == pytest.approx(solution.objective, rel=1e-6)


@pytest.mark.parametrize("balance", [None, ("exact", 0.5), 0.2])
def test_the_checker_measures_solutions_with_all_margins_met(balance, tmp_path):
    """A w that is too short is made longer; one that has a point on the wrong side is no solution."""
    pytest.importorskip("flint")
    problem, path = classes_apart(14).replace(balance=balance), tmp_path / "proof.npz"
    model = ct.hard_margin_s3vm(balance=balance and "linear")
    objective = ct.exact_search(model, problem, certificate=path).objective
    for share in (0.25, 4.0):
        short = forged(
            path, gamma=lambda gamma, share=share: share * gamma, mean=lambda mean, share=share: share * mean
        )
        if balance != 0.2:  # then the bias is fixed
            assert short.holds, short.problem
            assert short.upper_bound == pytest.approx(objective, rel=1e-6)
    wrong = forged(path, gamma=lambda gamma: -gamma)
    assert not wrong.holds
    assert "has an objective of inf" in wrong.problem
    loose = forged(path, header=lambda text: np.array(str(text).replace('"hard_margin"', '"hinge"')))
    assert not loose.holds


def classes_apart(n=40):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(1.5, 1, (n // 2, 2)), rng.normal(-1.5, 1, (n // 2, 2))])
    y = np.zeros(n)
    y[[0, 1, n // 2, n // 2 + 1]] = [1, 1, -1, -1]
    return ct.Problem(X, y, kernel=ct.RBF(1.0), balance=0.0)


def test_labels_and_bound_of_the_sdp():
    """By our own method and by Clarabel; the hinge with a large cost has the same relaxation."""
    model, problem = ct.hard_margin_s3vm(), classes_apart(20)
    own = ct.sdp_transduction(model, problem)
    clarabel = ct.sdp_transduction(model, problem, solver="clarabel")
    soft = ct.LowerBoundBuilder(
        ct.tsvm("hinge"), problem.replace(C=1e5, C_unlabeled=1e5), relaxation="sdp", solver="clarabel"
    ).bound()
    assert own.lower_bound == pytest.approx(clarabel.lower_bound, rel=1e-3)
    assert own.lower_bound == pytest.approx(soft.value, rel=1e-3)
    assert own.lower_bound <= ct.exact_search(model, problem).objective <= own.objective + 1e-6
    program = ct.LowerBoundBuilder(model, problem, relaxation="sdp").primal()
    # The written relaxation knows the given labels only, and not those that the SVM has settled before.
    assert program.solve(solver="CLARABEL") <= own.lower_bound * (1 + 1e-3)
    assert str(program).startswith("minimize    ½ τ\n")


def test_it_is_the_limit_of_large_costs():
    problem = classes_apart()
    hard = ct.exact_search(ct.hard_margin_s3vm(), problem)
    soft = ct.exact_search(ct.tsvm("hinge"), problem.replace(C=1e4, C_unlabeled=1e4))
    assert hard.status == soft.status == "optimal"
    assert hard.objective == pytest.approx(soft.objective, rel=1e-4)
    assert np.array_equal(hard.labels, soft.labels)
    assert (hard.labels * hard.scores).min() >= 1 - 1e-6


def test_estimators_and_command_line(tmp_path, capsys):
    from convex_tsvm.cli import main

    problem = classes_apart(20)
    y = np.where(problem.y == 0, -1, (problem.y + 1) / 2).astype(int)
    sdp = ct.SDPTransduction(loss="hard_margin").fit(problem.X, y)
    exact = ct.ExactTransductiveSVC(loss="hard_margin").fit(problem.X, y)
    assert exact.status_ == "converged"
    assert sdp.lower_bound_ <= exact.objective_ * (1 + 1e-9)
    file = tmp_path / "points.npz"
    np.savez(file, X=problem.X, y=np.where(np.arange(20) < 10, 1, -1), labeled=[[0, 1, 10, 11]])
    for more in (["solve", str(file), "--method", "exact"], ["solve", str(file), "--method", "sdp"]):
        assert main([*more, "--loss", "hard_margin", "--kernel", "rbf", "--split", "0"]) == 0
    assert main(["bound", str(file), "--loss", "hard_margin", "--kernel", "rbf", "--split", "0"]) == 0
    assert "lower bound" in capsys.readouterr().out


def test_what_refuses_it_says_what_takes_it():
    model, problem = ct.hard_margin_s3vm(), classes_apart(20)
    for method in (ct.cccp, ct.switching, ct.annealing, ct.safe_transduction):
        with pytest.raises(ValueError, match="relaxations and exact search take it"):
            method(model, problem)
    with pytest.raises(ValueError, match=r"C=inf must be a finite number > 0; a hard margin is a loss"):
        ct.Problem(problem.X, problem.y, C=np.inf)


def test_the_loss_of_the_better_label():
    t = np.linspace(-3, 3, 61)
    for loss in (ct.hinge(), ct.squared_hinge(), ct.losses.indicator(1, np.inf)):
        np.testing.assert_allclose(ct.losses.better_label(loss)(t), np.minimum(loss(t), loss(-t)))
    assert ct.losses.better_label(ct.losses.indicator(1, np.inf)).reflect()(0.5) == np.inf
    assert "min(ℓ(t), ℓ(-t))" in str(ct.hard_margin_s3vm())
    assert r"\min(\ell(t), \ell(-t))" in ct.hard_margin_s3vm().latex()
