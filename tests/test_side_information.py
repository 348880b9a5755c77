"""Links between points as side information (debie2004, footnote 3): eigenvectors, label matrices, exact search."""

import dataclasses
import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.instance import SideInformation, labelling
from convex_tsvm.methods import spectral
from convex_tsvm.methods.spectral import spectral_subspace
from convex_tsvm.modeling.label_matrix import DualSDP, FullSDP, ReducedSDP
from convex_tsvm.relaxations import solve_low_rank


def link(i, j, sign):
    return (ct.must_link if sign > 0 else ct.cannot_link)(i, j)


@st.composite
def statements(draw):
    """Labels of up to six points, and links between them."""
    n = draw(st.integers(2, 6))
    y = draw(st.lists(st.sampled_from([0, 0, 0, 1, -1]), min_size=n, max_size=n))
    pairs = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    links = draw(st.lists(st.tuples(pairs, st.sampled_from([1, -1])), max_size=6))
    return np.array(y, dtype=float), [(i, j, sign) for (i, j), sign in links]


@given(statements())
def test_what_follows_from_links_is_what_all_labellings_that_meet_them_have(case):
    y, links = case
    allowed = [
        np.array(signs)
        for signs in itertools.product((1.0, -1.0), repeat=len(y))
        if all(signs[i] == y[i] for i in np.flatnonzero(y)) and all(signs[i] * signs[j] == s for i, j, s in links)
    ]
    if not allowed:
        with pytest.raises(ValueError, match="contradict each other"):
            SideInformation.of(y, [link(*one) for one in links])
        return
    found = SideInformation.of(y, [link(*one) for one in links])
    allowed = np.array(allowed)
    same = np.abs(allowed.sum(axis=0)) == len(allowed)
    np.testing.assert_array_equal(found.y, np.where(same, allowed[0], 0.0))
    assert len(allowed) == 2**found.n_groups
    # Every choice of the groups' labels gives one of them.
    made = {
        tuple(found.basis @ np.append(1.0, signs)) for signs in itertools.product((1.0, -1.0), repeat=found.n_groups)
    }
    assert made == {tuple(one) for one in allowed}
    np.testing.assert_array_equal(found.sign[found.first], 1.0)


def blobs(seed, n=14):
    rng = np.random.default_rng(seed)
    truth = np.repeat([-1.0, 1.0], n // 2)
    X = rng.normal(size=(n, 2)) + truth[:, None]
    return X, truth, np.where(np.arange(n) % (n // 2) < 2, truth, 0.0)


LINKS = (ct.must_link(2, 9), ct.cannot_link(9, 3), ct.cannot_link(4, 5), ct.must_link(12, 13))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("balance", "intercept"), [("linear", True), (None, False), ("linear", False)])
def test_label_matrices_with_links(loss, balance, intercept):
    """The full form has equations of rows, the reduced one fewer rows, and the dual fewer multipliers: one value."""
    X, _, y = blobs(0)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2, C_unlabeled=1, balance=None if balance is None else 0.1)
    free = ct.tsvm(loss, balance=balance, fit_intercept=intercept)
    model = dataclasses.replace(free, constraints=LINKS)
    search = labelling(model, problem)
    assert search.side.n_groups == 6
    assert search.basis.shape == (14, 7)
    forms = [form(search) for form in (FullSDP, ReducedSDP, DualSDP)]
    values = [form.problem.solve(solver="CLARABEL") for form in forms]
    np.testing.assert_allclose(values, values[1], rtol=1e-4)
    for form in forms:
        g = np.zeros(14)
        g[search.unknown] = form.scores
        np.testing.assert_allclose([g[2] - g[9], g[9] + g[3], g[4] + g[5], g[12] - g[13]], 0.0, atol=1e-3)
    bound = ct.LowerBoundBuilder(model, problem, relaxation="sdp").bound()
    exact = ct.exact_search(model, problem, gap=1e-5)
    assert exact.status == "optimal"
    assert bound.value == pytest.approx(values[1], rel=1e-4)
    assert bound.value <= exact.objective * (1 + 1e-5)
    assert bound.value > ct.LowerBoundBuilder(free, problem, relaxation="sdp").bound().value  # links say something
    solution = ct.sdp_transduction(model, problem)
    assert solution.labels[2] == solution.labels[9] == -solution.labels[3]
    assert solution.lower_bound <= exact.objective * (1 + 1e-5) <= solution.objective * (1 + 2e-5)


@pytest.mark.parametrize("relaxation", ["svm", "signs"])
def test_other_relaxations_leave_links_out_and_stay_below(relaxation):
    X, _, y = blobs(1, n=10)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2, C_unlabeled=1)
    model = dataclasses.replace(ct.s3vm(), constraints=(ct.must_link(2, 7), ct.cannot_link(3, 4)))
    bound = ct.LowerBoundBuilder(model, problem, relaxation=relaxation).bound()
    exact = ct.exact_search(model, problem, gap=1e-5)
    assert bound.value <= exact.objective * (1 + 1e-5)
    assert exact.objective <= bound.upper * (1 + 1e-5)  # the labels found are paid for under the links


def test_every_way_takes_the_same_links():
    X, _, y = blobs(2, n=12)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2, C_unlabeled=1)
    model = dataclasses.replace(ct.tsvm("hinge"), constraints=(ct.must_link(2, 8), ct.cannot_link(3, 4)))
    exact = ct.exact_search(model, problem, gap=1e-6)
    ways = {
        "cccp": ct.cccp(model, problem),
        "sdp": ct.sdp_transduction(model, problem),
        "spectral": ct.spectral_transduction(model, problem, n_components=2),
        "exact": exact,
    }
    for name, solution in ways.items():
        f = solution.point.outputs
        assert f[2] == pytest.approx(f[8], abs=1e-4), name
        assert f[3] == pytest.approx(-f[4], abs=1e-4), name
        assert solution.objective >= exact.lower_bound * (1 - 1e-6), name


@pytest.mark.parametrize("most_dense", [0, 400])
@pytest.mark.parametrize("n_components", [1, 3])
def test_all_pairs_of_a_labelled_set_say_what_its_labels_say(moons, monkeypatch, most_dense, n_components):
    monkeypatch.setattr(spectral, "_dominant", partial(spectral._dominant, most_dense=most_dense))
    X, truth, _ = moons
    K = ct.RBF(0.4)(X, X)
    some = np.random.default_rng(0).choice(len(X), 14, replace=False)
    assert len(np.unique(truth[some])) == 2
    y = np.zeros(len(X))
    y[some] = truth[some]
    pairs = [link(i, j, truth[i] * truth[j]) for i, j in itertools.combinations(some.tolist(), 2)]
    labelled, values = spectral_subspace(K, y, n_components)
    linked, others = spectral_subspace(K, np.zeros(len(X)), n_components, links=pairs)
    np.testing.assert_allclose(others, values, atol=1e-10)
    signs = np.sign(np.sum(labelled * linked, axis=0))
    np.testing.assert_allclose(linked * signs, labelled, atol=1e-8)


@given(seed=st.integers(0, 10**6))
def test_eigenvectors_respect_links(seed):
    rng = np.random.default_rng(seed)
    n = 12
    X, hidden = rng.normal(size=(n, 2)), rng.choice([1.0, -1.0], n)
    pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(5)]
    assume(any(hidden[i] != hidden[j] for i, j in pairs))
    links = [link(i, j, hidden[i] * hidden[j]) for i, j in pairs]
    V, values = spectral_subspace(ct.RBF(1.0)(X, X), np.zeros(n), 2, links=links)
    for i, j in pairs:
        np.testing.assert_allclose(V[i], hidden[i] * hidden[j] * V[j], atol=1e-12)
    assert (np.diff(values) <= 1e-12).all()
    # What a restriction leaves is no more than what there is without it.
    free = np.linalg.eigvalsh((K := ct.RBF(1.0)(X, X)) / np.sqrt(np.outer(K.sum(0), K.sum(1))))[::-1]
    assert (values <= free[:2] + 1e-10).all()


def test_links_help_where_labels_are_few(moons):
    """Two labels that say little, and pairs: the spectral method and the subspace SDP have fewer errors with links."""
    X, truth, _ = moons
    rng = np.random.default_rng(3)
    y = np.zeros(len(X))
    for sign in (1, -1):
        y[rng.choice(np.flatnonzero(truth == sign))] = sign
    pairs = [tuple(rng.choice(len(X), 2, replace=False).tolist()) for _ in range(60)]
    links = tuple(link(i, j, truth[i] * truth[j]) for i, j in pairs)
    problem = ct.Problem(X, y, kernel=ct.RBF(0.6), C=10, balance=None)
    free = ct.tsvm("hinge", balance=None, fit_intercept=False)
    linked = dataclasses.replace(free, constraints=links)
    for method in (ct.spectral_transduction, ct.subspace_transduction):
        wrong = [np.mean(np.sign(method(model, problem).relaxed) != truth) for model in (free, linked)]
        assert wrong[1] < wrong[0], method.__name__
    sdp = ct.subspace_sdp(linked, problem, n_components=2)
    assert sdp.V.shape == (len(X), 2)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ((ct.must_link(2, 3, within=0.1),), "within=0"),
        ((ct.mean_output(-0.1, 0.1),), "within=0"),
        ((ct.must_link(0, 3),), "point 3 is linked to a labelled point; give it its label instead"),
        ((ct.must_link(2, 3), ct.cannot_link(2, 3)), "contradict each other"),
        ((ct.must_link(2, 99),), "99 is not the index of a point, from 0 to 13"),
    ],
)
def test_links_that_label_matrices_do_not_take(constraints, message):
    X, _, y = blobs(0)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2)
    model = dataclasses.replace(ct.s3vm(), constraints=constraints)
    with pytest.raises(ValueError, match=message):
        labelling(model, problem)


def test_searches_for_labels_and_their_files_do_not_take_links(tmp_path):
    X, _, y = blobs(0)
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2)
    linked = dataclasses.replace(ct.s3vm(), constraints=(ct.must_link(2, 3),))
    with pytest.raises(ValueError, match="balance only"):
        ct.brute_force(linked, problem)
    with pytest.raises(ValueError, match="balance only; those about outputs take constraints"):
        ct.exact.BranchAndBound(linked, problem, bounds="svm")
    assert ct.exact.BranchAndBound(linked, problem).builder.about == "outputs"
    with pytest.raises(ValueError, match="takes no links"):
        solve_low_rank(labelling(linked, problem))
    for constrained in ({"balance": ("exact", 0.5)}, {}):
        model = ct.hard_margin_s3vm() if not constrained else ct.s3vm(fit_intercept=False)
        with pytest.raises(ValueError, match="no links beside"):
            labelling(dataclasses.replace(model, constraints=linked.constraints), problem.replace(**constrained))
    path = tmp_path / "search.npz"
    ct.exact_search(ct.s3vm(), problem, certificate=path)
    pytest.importorskip("flint")
    assert ct.prove_certificate(path, ct.s3vm(), problem).holds
    assert not ct.prove_certificate(path, linked, problem).holds


@pytest.mark.parametrize(
    "estimator", [ct.SDPTransduction, ct.SpectralTransduction, ct.TransductiveSVC, ct.ExactTransductiveSVC]
)
def test_estimators_take_links_in_a_formulation(estimator):
    X, _, y = blobs(4, n=12)
    model = dataclasses.replace(ct.tsvm("hinge"), constraints=(ct.must_link(2, 8), ct.cannot_link(3, 4)))
    clf = estimator(loss=model, sigma=1.0, balance=0.0, unlabeled=0).fit(X, y)
    assert clf.transduction_[2] == clf.transduction_[8]
    assert clf.transduction_[3] != clf.transduction_[4]
    f = clf.decision_function(X)
    np.testing.assert_allclose([f[2] - f[8], f[3] + f[4]], 0.0, atol=1e-3)
    with pytest.raises(ValueError, match=r"f\(3\) \+ f\(4\) = 0: cannot_link\(\) is for two classes, and y has 3"):
        estimator(loss=model, sigma=1.0, unlabeled=0).fit(X, np.where(y > 0, np.arange(12) % 2 + 1, y))


def test_the_subspace_sdp_estimator_takes_links():
    X, _, y = blobs(5, n=12)
    model = ct.Formulation(
        ct.hinge(), ct.symmetric_hinge(), balance=None, fit_intercept=False, constraints=[ct.cannot_link(2, 8)]
    )
    clf = ct.SubspaceSDPTransduction(loss=model, sigma=1.0, n_components=2, unlabeled=0).fit(X, y)
    assert clf.transduction_[2] != clf.transduction_[8]
