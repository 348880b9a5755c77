"""Relaxations: bounds that hold, forms that agree, cuts that cut off nothing, papers' claims."""

import dataclasses
import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.instance import SideInformation, labelling
from convex_tsvm.methods.spectral import spectral_sdp, spectral_subspace, tie
from convex_tsvm.methods.subspace import solve_subspace
from convex_tsvm.modeling.label_matrix import DualSDP, FullSDP, ReducedSDP
from convex_tsvm.relaxations import LowerBoundBuilder, OutputSpace, solve_low_rank
from convex_tsvm.relaxations.safe_bounds import (
    into_domain,
    least_eigenvalue,
    raised,
    stationary_multipliers,
    transduction_bound,
)

#: Label matrices are singular at the optimum: interior-point solvers stop a little early on some of them.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

HINGE, SQUARED = ct.cccp_tsvm(0.0, balance=None, fit_intercept=False), ct.s3vm(balance=None, fit_intercept=False)
BALANCED = {"hinge": ct.cccp_tsvm(0.0), "squared": ct.s3vm(), "no bias": ct.s3vm(fit_intercept=False)}


def instance(seed, n=9, squared=None):
    """A small random problem with a formulation that can be relaxed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 0] += rng.choice([-1, 1], n)
    y = np.zeros(n)
    known = rng.integers(2, 4)
    y[:known] = np.resize([1, -1], known)
    squared = bool(rng.integers(2)) if squared is None else squared
    balance = rng.choice(["linear", None])
    options = {"balance": balance, "fit_intercept": bool(balance and rng.integers(2))}
    formulation = ct.s3vm(**options) if squared else ct.cccp_tsvm(0.0, **options)
    problem = ct.Problem(
        X,
        y,
        kernel=ct.RBF(float(rng.uniform(0.5, 3))),
        C=float(rng.choice([0.3, 1, 10])),
        C_unlabeled=float(rng.choice([0.3, 1, 5])),
        balance=float(rng.uniform(-0.4, 0.4)),
    )
    return formulation, problem


def optimum(builder):
    """Brute force over all labellings."""
    y = builder.search.y
    unknown = np.flatnonzero(y == 0)
    best = np.inf
    for signs in itertools.product((-1.0, 1.0), repeat=len(unknown)):
        labels = y.copy()
        labels[unknown] = signs
        best = min(best, builder.evaluate(labels)[0])
    return best


def check_bounds(seed, relaxation, n, **options):
    formulation, problem = instance(seed, n, squared=True if relaxation not in ("svm", "sdp") else None)
    builder = LowerBoundBuilder(formulation, problem, relaxation=relaxation, **options)
    bound = builder.bound()
    least = optimum(builder)
    assert bound.value <= least + 1e-9 * (1 + least)
    assert bound.upper >= least - 1e-7 * (1 + least)
    stages = [stage.bound for stage in bound.stages]
    assert stages == sorted(stages)
    # What is said to be proven is so for every labelling better than the incumbent.
    if bound.upper > least * (1 + 1e-6):
        labels = np.where(bound.proven != 0, bound.proven, 0.0)
        fixed = LowerBoundBuilder(formulation, problem, relaxation="svm")
        fixed.model.search = fixed.search.fixed(labels)
        assert optimum(fixed) <= least * (1 + 1e-6)
    return bound, least


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 25))])
@pytest.mark.parametrize("relaxation", ["sdp", "signs"])
def test_bounds_hold_and_grow(relaxation, seed):
    check_bounds(seed, relaxation, 8)


@pytest.mark.slow
@pytest.mark.parametrize("relaxation", ["svm", "sdp", "signs"])
@pytest.mark.parametrize("block", range(4))
def test_bounds_hold_on_thousands_of_instances(relaxation, block):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check_bounds(seed, relaxation, 7)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(seed=st.integers(0, 200), noise=st.sampled_from([0.0, 0.01, 1.0, 100.0]))
def test_any_dual_point_gives_a_bound(seed, noise):
    """debie2004 §2: garbage for α and the multipliers costs tightness, never truth."""
    formulation, problem = instance(seed, 7)
    builder = LowerBoundBuilder(formulation, problem, relaxation="svm")
    search, rng = builder.search, np.random.default_rng(seed)
    point = solve_low_rank(search, max_iter=30)
    alpha = point.alpha + noise * rng.normal(size=search.n)
    multipliers = point.multipliers + noise * rng.normal(size=len(point.multipliers))
    least = optimum(builder)
    assert transduction_bound(search, alpha, multipliers) <= least + 1e-9 * (1 + least)
    if noise > 0:
        broken = np.full(search.n, np.nan)
        assert transduction_bound(search, broken, multipliers) <= least


@pytest.mark.parametrize("seed", range(6))
def test_all_forms_have_the_same_value(seed):
    """Full, reduced (Proposition 2.3), low rank, and for the squared hinge in v-space."""
    formulation, problem = instance(seed, 12)
    search = labelling(formulation, problem)
    reduced = ReducedSDP(search)
    value = reduced.problem.solve(solver="CLARABEL")
    point = solve_low_rank(search, tol=1e-6)
    assert point.bound == pytest.approx(value, rel=2e-4)
    assert point.bound <= value + 1e-5 * (1 + abs(value))
    full = FullSDP(search)
    full.problem.solve(solver="CLARABEL")
    assert full.problem.value == pytest.approx(value, rel=1e-3)
    dual = DualSDP(search)
    assert dual.problem.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-4)
    assert transduction_bound(search, dual.alpha.value, dual.multipliers.value) == pytest.approx(value, rel=1e-4)
    np.testing.assert_allclose(np.diag(dual.reduced()), 1, atol=1e-4)
    for model in (reduced, full):
        assert np.linalg.eigvalsh(model.reduced())[0] > -1e-4
        multipliers = stationary_multipliers(search, model.alpha, model.reduced())
        assert transduction_bound(search, model.alpha, multipliers) == pytest.approx(value, rel=1e-3)
    if search.loss.isclose(ct.squared_hinge()):
        # The same value as the relaxation in V, which stands for v vᵀ (Bai and Yan 2016).
        space, known = OutputSpace(search), np.flatnonzero(search.y)
        X = cp.Variable((1 + search.n, 1 + search.n), PSD=True)
        held = [X[0, 0] == 1, cp.diag(X)[1:] >= 1, cp.multiply(search.y[known], X[0, 1 + known]) >= 1]
        found = cp.Problem(cp.Minimize(cp.trace(space.C @ X)), held).solve(solver="CLARABEL")
        assert found + space.constant == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_a_share_of_positive_labels(seed):
    """The constraint on Γ of chapelle2008 §3.4 raises the bound, and not above the best labelling that meets it."""
    formulation, problem = instance(seed, 9)
    plain = dataclasses.replace(formulation, balance=None, fit_intercept=False)
    counted = dataclasses.replace(plain, balance="linear")
    builder = LowerBoundBuilder(plain, problem, relaxation="svm")
    search = builder.search
    unknown = search.unknown
    free = ReducedSDP(search).problem.solve(solver="CLARABEL")
    for count in (1, len(unknown) // 2):
        found = labelling(counted, problem.replace(balance=("exact", count / len(unknown))))
        values = [form(found).problem.solve(solver="CLARABEL") for form in (ReducedSDP, FullSDP)]
        assert values[0] == pytest.approx(values[1], rel=1e-3)
        least = np.inf
        for positive in itertools.combinations(unknown, count):
            labels = np.where(search.y != 0, search.y, -1.0)
            labels[list(positive)] = 1.0
            svm = builder.evaluate(labels)[1]
            least = min(least, svm.primal + search.loss_constant)
        assert free - 1e-5 * (1 + abs(free)) <= values[0] <= least + 1e-5 * (1 + abs(least))


def test_hard_margin():
    """debie2004 §2.1 with μ = 0: what the soft margin tends to, in every form."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y = np.zeros(12)
    y[:4] = [1, -1, 1, -1]
    problem = ct.Problem(X, y, kernel=ct.RBF(0.7), C=1e4, C_unlabeled=1e4, balance=None)
    soft = labelling(HINGE, problem)
    hard = labelling(ct.hard_margin_s3vm(balance=None, fit_intercept=False), problem)
    values = {form: form(hard).problem.solve(solver="CLARABEL") for form in (FullSDP, ReducedSDP, DualSDP)}
    value = values[ReducedSDP]
    assert values[FullSDP] == pytest.approx(value, rel=1e-3)
    assert values[DualSDP] == pytest.approx(value, rel=1e-3)
    assert ReducedSDP(soft).problem.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-3)
    point = solve_low_rank(hard, tol=1e-4)
    assert point.bound == pytest.approx(value, rel=1e-3)
    assert point.value == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("relaxation", ["sdp", "signs"])
def test_bounds_of_nodes(relaxation):
    """Labels known besides: bounds grow along a branch, and one of two branches holds the optimum."""
    for seed in range(6):
        formulation, problem = instance(seed, 8, squared=True)
        builder = LowerBoundBuilder(formulation, problem, relaxation=relaxation)
        least, root = optimum(builder), builder.bound()
        assert root.duals
        k = builder.search.unknown[0]
        children = []
        for sign in (1.0, -1.0):
            labels = builder.search.y.copy()
            labels[k] = sign
            children.append(builder.bound(labels, upper=root.upper, upper_labels=root.labels))
            assert children[-1].value >= root.value - 1e-3 * abs(root.value)
            assert children[-1].proven[k] == sign
        assert min(child.value for child in children) <= least + 1e-9 * (1 + least)


def test_full_label_matrix_follows_from_the_reduced_one():
    """Proposition 2.3: Γ = B Γ̃ Bᵀ is positive semidefinite with the known block, and its columns agree up to sign."""
    formulation, problem = instance(3, 10)
    search = labelling(formulation, problem)
    model = ReducedSDP(search)
    model.problem.solve(solver="CLARABEL")
    basis = search.basis
    gamma = basis @ model.reduced() @ basis.T
    known = np.flatnonzero(search.y)
    assert np.linalg.eigvalsh(gamma)[0] > -1e-4
    np.testing.assert_allclose(gamma[np.ix_(known, known)], np.outer(search.y[known], search.y[known]), atol=1e-4)
    assert np.abs(gamma).max() <= 1 + 1e-4  # Corollary 2.1


@given(n=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_raised_multipliers_dominate(n, seed):
    rng = np.random.default_rng(seed)
    N = rng.normal(size=(n, n))
    N = (N + N.T) / 2
    multipliers = rng.normal(size=n) + rng.choice([0, 3])
    sum_needed = cp.Variable(n)
    exact = cp.Problem(cp.Minimize(cp.sum(sum_needed)), [cp.diag(sum_needed) - N >> 0]).solve(solver="CLARABEL")
    found = raised(N, multipliers)
    assert np.linalg.eigvalsh(np.diag(found) - N)[0] >= 0
    assert found.sum() >= exact - 1e-6 * (1 + abs(exact))


def test_least_eigenvalue_is_not_above():
    rng = np.random.default_rng(0)
    for scale in (1e-8, 1.0, 1e8):
        Q, _ = np.linalg.qr(rng.normal(size=(30, 30)))
        values = np.linspace(0, scale, 30)
        least = least_eigenvalue((Q * values) @ Q.T)
        assert -1e-11 * scale < least <= 0


def test_constrained_eigenvectors():
    """Proposition 4.1: the best vector that is constant on known points; Lanczos finds what a dense solver finds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    y = np.zeros(40)
    y[:3], y[3:5] = 1, -1
    degree = K.sum(axis=1)
    scaled = K / np.sqrt(np.outer(degree, degree))
    L = tie(SideInformation.of(y)).toarray()
    np.testing.assert_allclose(L.T @ L, np.eye(L.shape[1]), atol=1e-12)
    values, vectors = np.linalg.eigh(L.T @ scaled @ L)
    for similarity in (K, sp.csr_array(K), scipy.sparse.linalg.aslinearoperator(K)):
        V, found = spectral_subspace(similarity, y, 3)
        np.testing.assert_allclose(found, values[::-1][:3], atol=1e-8)
        for k in range(3):
            own = L @ vectors[:, -1 - k]
            assert np.ptp(V[:3, k]) < 1e-8
            assert V[0, k] == pytest.approx(-V[3, k], abs=1e-8)  # centred (§4.2)
            spread = V[:, k] - V[:, k].mean()
            assert abs(spread @ (own - own.mean())) == pytest.approx(
                np.linalg.norm(spread) * np.linalg.norm(own - own.mean()), rel=1e-6
            )
    cut, _ = spectral_subspace(K, y, 3, outliers=0.1)
    most = np.sort(np.abs(V), axis=0)[-5]  # 4 of 40 entries are larger
    np.testing.assert_allclose(cut, np.clip(V, -most, most), atol=1e-8)
    plain, found = spectral_subspace(K, y, 2, constrained=False)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(scaled)[::-1][:2], atol=1e-10)
    assert np.ptp(plain[:3, 1]) > 1e-3


def subspace_textbook(search, V):
    """Eq. (9)-(10) with Γ = V M Vᵀ, diag(Γ) <= e, M ⪰ 0, as one SDP."""
    n, d = V.shape
    M, t, tau = cp.Variable((d, d), PSD=True), cp.Variable(n), cp.Variable()
    gamma = V @ M @ V.T
    column = cp.reshape(t, (n, 1), order="C")
    matrix = cp.bmat([[cp.multiply(search.kernel, gamma), column], [column.T, cp.reshape(tau, (1, 1), order="C")]])
    losses = cp.pos(1 - t) if search.loss.isclose(ct.hinge()) else cp.square(cp.pos(1 - t))
    problem = cp.Problem(cp.Minimize(0.5 * tau + search.cost @ losses), [matrix >> 0, cp.diag(gamma) <= 1])
    return problem.solve(solver="CLARABEL"), gamma.value


@pytest.mark.parametrize("formulation", [HINGE, SQUARED], ids=["hinge", "squared"])
def test_subspace_by_planes_is_the_textbook_sdp(formulation):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 2)) + np.repeat([[1.5, 0], [-1.5, 0]], 12, axis=0)
    y = np.zeros(24)
    y[[0, 1, 12, 13]] = [1, 1, -1, -1]
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=3, C_unlabeled=1, balance=None)
    search = labelling(formulation, problem)
    V, _ = spectral_subspace(problem.gram, y, 3)
    value, gamma = subspace_textbook(search, V)
    point = solve_subspace(search, V, tol=1e-6)
    assert point.status == "optimal"
    assert point.value == pytest.approx(value, rel=1e-4)
    assert point.bound <= value * (1 + 1e-5)
    np.testing.assert_allclose(V @ point.M @ V.T, gamma, atol=0.02)
    assert (np.sign(point.scores) == np.repeat([1, -1], 12)).mean() > 0.9


def test_what_cannot_be_relaxed_says_why():
    _, problem = instance(0)
    with pytest.raises(ValueError, match="free bias"):
        solve_low_rank(labelling(ct.cccp_tsvm(0.0, balance=None), problem))
    with pytest.raises(ValueError, match="symmetric_hinge"):
        labelling(ct.cccp_tsvm(-0.3), problem)
    with pytest.raises(ValueError, match="nothing to relax"):
        labelling(ct.svm(), problem)
    with pytest.raises(ValueError, match=r"relaxation='sdp': balance='targets'.*There are 'svm' and 'signs'"):
        LowerBoundBuilder(ct.s3vm(balance="targets", fit_intercept=False), problem, relaxation="sdp")
    with pytest.raises(ValueError, match="squared hinge"):
        LowerBoundBuilder(ct.cccp_tsvm(0.0), problem, relaxation="signs")
    builder = LowerBoundBuilder(ct.cccp_tsvm(0.0), problem)
    with pytest.raises(ValueError, match="contradicts"):
        builder.bound(-builder.search.y)
    with pytest.raises(ValueError, match="0 for each"):
        builder.bound(np.full(problem.n, 0.5))
    V = np.ones((problem.n, 1))
    with pytest.raises(ValueError, match="zero bias"):
        solve_subspace(labelling(ct.s3vm(), problem), V)
    with pytest.raises(ValueError, match="independent"):
        solve_subspace(labelling(SQUARED, problem), np.ones((problem.n, 2)))
    with pytest.raises(ValueError, match="n_components=99"):
        spectral_subspace(problem.gram, problem.y, 99)
    with pytest.raises(ValueError, match="solver"):
        LowerBoundBuilder(ct.s3vm(), problem, relaxation="sdp", solver="mosek").bound()


def test_a_free_bias_makes_relaxations_useless():
    """Why that is refused: the relaxation of a nearly free bias falls to the SVM on the labelled points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 2))
    y = np.resize([1.0, -1.0, 0, 0, 0], 10)
    values = []
    for bias in (0.0, 10.0, 100.0, 1000.0):
        problem = ct.Problem(
            np.exp(-((X[:, None] - X) ** 2).sum(-1)) + bias, y, kernel="precomputed", C=1, balance=None
        )
        search = labelling(SQUARED, problem)
        svm = LowerBoundBuilder(SQUARED, problem, relaxation="svm").bound().value
        values.append(ReducedSDP(search).problem.solve(solver="CLARABEL") - svm)
    assert values[0] > 0.1
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.02 * values[0]


@pytest.mark.parametrize("seed", range(6))
def test_a_free_bias_with_a_number_of_labels(seed):
    """All forms agree; the bound is below every labelling and above the labelled SVM, and holds for any dual point."""
    rng = np.random.default_rng(seed)
    y = np.array([1, -1, 1, -1, *np.zeros(7)])
    X = rng.normal(size=(11, 2)) + np.where(np.arange(11) % 2, -0.8, 0.8)[:, None]
    costs = {"C": 2.0, "C_unlabeled": rng.uniform(0.3, 2, 7)}
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), balance=("exact", (0.5, 0.25, 0.7)[seed % 3]), **costs)
    model = ct.tsvm(("hinge", "squared_hinge", "hard_margin")[seed // 2])
    search, least = labelling(model, problem), ct.brute_force(model, problem)[0]
    reduced, dual = ReducedSDP(search), DualSDP(search)
    value = dual.problem.solve(solver="CLARABEL")
    assert reduced.problem.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-4)
    builder = LowerBoundBuilder(model, problem, relaxation="sdp")
    bound, known = builder.bound(), builder.model.known.solve(search.y).value
    assert max(value * (1 - 1e-3), 1.05 * known) <= bound.value <= least * (1 + 1e-9)
    assert transduction_bound(search, reduced.alpha, dual.multipliers.value) == pytest.approx(value, rel=1e-3)
    for size in (0.1, 1.0, 1e3):
        alpha, lam = size * rng.normal(size=search.n), size * rng.normal(size=1 + len(search.unknown))
        assert transduction_bound(search, alpha, lam) <= least
        a, known = into_domain(search, alpha)[0], search.y != 0
        assert search.y @ a == pytest.approx(-search.unknown_sum * a[~known].max(), abs=1e-12 * a.max())
        assert np.ptp(a[~known]) <= 1e-15 * a.max()
    assert bound.value <= ct.sdp_transduction(model, problem).objective
    # With all labels but one known, the last one follows, and the relaxation is the SVM.
    best = ct.exact_search(model, problem).labels.copy()
    whole = search.fixed(best * (np.arange(11) < 10))
    assert DualSDP(whole).problem.solve(solver="CLARABEL") == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("solver", ["scs", "clarabel", "sdpa"])
def test_a_conic_solver_is_obeyed_at_sdp(solver):
    """It solves the dual with CVXPY; its bound is that of our own method to what either leaves."""
    if solver != "clarabel":
        pytest.importorskip({"sdpa": "sdpap", "scs": "scs"}[solver])
    formulation, problem = instance(0)
    own = LowerBoundBuilder(formulation, problem, relaxation="sdp").bound()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("convex_tsvm.relaxations.label_matrix.label_matrix.solve_low_rank", None)
        conic = LowerBoundBuilder(formulation, problem, relaxation="sdp", solver=solver).bound()
    assert conic.value == pytest.approx(own.value, rel=2e-3)
    assert conic.value <= conic.upper
    with pytest.raises(ValueError, match="solver='nonsense' must be"):
        LowerBoundBuilder(formulation, problem, solver="nonsense")


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(1, 8))
def test_class_balance(squared, seed):
    """For every number of labels: between the SVM's bound and the best labelling with it, by every solver and form."""
    rng, n = np.random.default_rng(seed), 12
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 3)) + 0.4 * truth[:, None]
    y = np.where(np.arange(n) < 4, truth, 0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(2.0), C=5, balance=("exact", seed / 8))
    formulation = ct.s3vm(fit_intercept=False) if squared else ct.tsvm("hinge", fit_intercept=False)
    search = labelling(formulation, problem)
    count = search.n_positive
    best = ct.exact_search(formulation, problem, gap=1e-8).objective
    least = LowerBoundBuilder(formulation, problem, relaxation="svm").bound(upper=best).value
    found = LowerBoundBuilder(formulation, problem).bound(upper=best)
    assert found.stages[-1].name == "sdp" or found.gap < 1e-4
    assert least - 1e-9 <= found.value <= best + 1e-9
    values = [found.value]
    pytest.importorskip("scs")
    for solver in ("scs", "clarabel"):
        values.append(LowerBoundBuilder(formulation, problem, relaxation="sdp", solver=solver).bound(upper=best).value)
    assert values == pytest.approx([found.value] * 3, rel=5e-3)
    solution = ct.sdp_transduction(formulation, problem)
    assert (solution.labels[y == 0] > 0).sum() == count
    assert found.value - 1e-4 * best <= solution.lower_bound <= solution.objective
    assert solution.objective >= best - 1e-6 * best
    if 0 < count < 8:
        written = [form(search).problem.solve(solver="CLARABEL") for form in (ReducedSDP, DualSDP)]
        assert written == pytest.approx([written[0]] * 2, rel=1e-3)
        assert found.value <= written[0] + 1e-4 * best


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6])
def test_labels_are_those_of_a_column_or_of_the_largest_eigenvector(seed):
    """Chapelle et al. (2008, §3.4), of the label matrix that the relaxation ends with."""
    formulation, problem = instance(seed)
    builder = LowerBoundBuilder(formulation, problem, relaxation="sdp", tol=1e-7)
    vectors = builder.bound().duals["vectors"]
    gamma, known = vectors @ vectors.T, np.flatnonzero(problem.y)
    np.testing.assert_allclose(np.diag(gamma), 1, atol=1e-6)
    np.testing.assert_allclose(gamma[np.ix_(known, known)], np.outer(problem.y[known], problem.y[known]), atol=1e-6)
    vector = np.linalg.eigh(gamma)[1][:, -1]
    vector /= (problem.y[known] * vector[known]).mean()
    own = ct.sdp_transduction(formulation, problem, labels_from="eigenvector", tol=1e-7)
    np.testing.assert_allclose(own.relaxed, np.where(problem.y != 0, problem.y, vector), atol=1e-6)
    column = ct.sdp_transduction(formulation, problem, tol=1e-7)
    np.testing.assert_allclose(
        column.relaxed[problem.unlabeled], gamma[problem.unlabeled, known[0]] * problem.y[known[0]], atol=1e-6
    )
    assert column.lower_bound == own.lower_bound


@pytest.mark.parametrize("d", [1, 2])
def test_the_spectral_relaxation_is_an_sdp(d):
    """Its value is the sum of the dominant eigenvalues, and its matrix their projection (debie2004 §4.1)."""
    formulation, problem = instance(1)
    sdp = spectral_sdp(formulation, problem, n_components=d)
    value = sdp.problem.solve(solver="CLARABEL")
    _, eigenvalues = spectral_subspace(problem.gram, problem.y, d)
    assert value == pytest.approx(eigenvalues.sum(), abs=1e-6)
    gamma, known = sdp.gamma, [np.flatnonzero(problem.y == sign) for sign in (1, -1)]
    assert np.linalg.eigvalsh(gamma)[-d:] == pytest.approx(np.ones(d), abs=1e-4)
    for own in known:
        np.testing.assert_allclose(gamma[own], gamma[own[:1]].repeat(len(own), axis=0), atol=1e-6)
    assert str(sdp.problem).startswith("maximize    Σ S ∘ H\nsubject to  I - H ⪰ 0")
    assert r"\max_{H}\quad & \sum_{ij} S \circ H" in sdp.problem.latex()


def test_another_vector_is_of_a_matrix_and_has_a_name():
    formulation, problem = instance(0, squared=True)
    with pytest.raises(ValueError, match="labels_from='row' must be 'column' or 'eigenvector'"):
        ct.sdp_transduction(formulation, problem, labels_from="row")
    with pytest.raises(ValueError, match="needs relaxation='sdp', not 'signs'"):
        ct.sdp_transduction(formulation, problem, labels_from="eigenvector", relaxation="signs")


def test_searches_take_no_class_balance_in_label_matrices():
    formulation, problem = ct.tsvm("hinge", fit_intercept=False), instance(0)[1].replace(balance=("exact", 0.5))
    assert LowerBoundBuilder(formulation, problem).relaxation == "sdp"
    others = "There are 'svm' and 'envelope' and 'curvature'"
    with pytest.raises(ValueError, match=f"bounds='sdp': .* searches take a linear balance.*{others}$"):
        ct.exact_search(formulation, problem, bounds="sdp")
    assert ct.exact_search(formulation, problem).status == "optimal"
    assert LowerBoundBuilder(ct.tsvm("hinge"), problem).relaxation == "curvature"
    assert LowerBoundBuilder(ct.tsvm("hinge"), problem, relaxation="auto").relaxation == "sdp"
    with pytest.raises(ValueError, match="takes no number of labels"):
        solve_low_rank(labelling(formulation, problem))
