"""Folds, scorers, probabilities, weights, searches and learning curves, with unlabelled points in y."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import convex_tsvm as ct
from convex_tsvm import (
    CalibratedTransduction,
    TransductiveSearchCV,
    TransductiveSVC,
)
from convex_tsvm.selection import LabeledKFold, WithUnlabeled, labeled_scorer


@pytest.mark.filterwarnings("ignore:y has no unlabelled point")
@parametrize_with_checks(
    [TransductiveSearchCV(param_grid={"C": [1, 10]}, cv=2), CalibratedTransduction(cv=2)],
    expected_failed_checks=lambda e: {
        "check_classifiers_classes": "the check fits labels {-1, +1}, of which -1 marks unlabelled points by default"
    },
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def labelled_iris():
    X, truth = load_iris(return_X_y=True)
    y = np.full(150, -1)
    shown = np.r_[0:8, 50:58, 100:108]
    y[shown] = truth[shown]
    return X, truth, y


@pytest.fixture
def iris():
    return labelled_iris()


@given(
    labels=st.lists(st.integers(-1, 2), min_size=8, max_size=40),
    n_splits=st.integers(2, 5),
    n_repeats=st.integers(1, 2),
)
@settings(deadline=None)
def test_unlabelled_points_are_always_trained_on(labels, n_splits, n_repeats):
    y = np.array(labels)
    known = np.flatnonzero(y >= 0)
    counts = np.bincount(y[known], minlength=3)
    folds = LabeledKFold(n_splits, n_repeats=n_repeats)
    if (counts > 0).sum() < 2 or counts.max() < n_splits:
        with pytest.raises(ValueError, match=r"two classes are needed|is more than the|no labelled point"):
            list(folds.split(y[:, None], y))
        return
    parts = list(folds.split(y[:, None], y))
    assert len(parts) == folds.get_n_splits() == n_splits * n_repeats
    tested = np.concatenate([test for _, test in parts])
    single = known[counts[y[known]] == 1]
    np.testing.assert_array_equal(np.sort(tested), np.sort(np.tile(np.setdiff1d(known, single), n_repeats)))
    for train, test in parts:
        assert not np.intersect1d(train, test).size
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
        assert (counts[np.unique(y[train][y[train] >= 0])] > 0).all()
        assert set(y[train][y[train] >= 0]) == set(y[known])


def test_scores_leave_unlabelled_points_out(iris):
    X, truth, y = iris
    clf = TransductiveSVC(C=10, balance="labeled").fit(X, y)
    known = y >= 0
    assert clf.score(X, y) == np.mean(clf.predict(X)[known] == truth[known])
    assert clf.score(X, truth) == np.mean(clf.predict(X) == truth)
    weights = np.arange(150.0)
    assert clf.score(X, y, weights) == np.average(clf.predict(X)[known] == truth[known], weights=weights[known])
    with pytest.raises(ValueError, match="no labelled point to score"):
        clf.score(X, np.full(150, -1))
    assert labeled_scorer()(clf, X, y) == clf.score(X, y)
    assert labeled_scorer("balanced_accuracy")(clf, X, y) <= 1
    with pytest.raises(ValueError, match="no labelled point to score"):
        labeled_scorer()(clf, X, np.full(150, -1))


@pytest.mark.parametrize("balance", ["labeled", pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize("cv", [3, LabeledKFold(3)])
def test_scikit_learns_searches_see_known_labels_only(iris, cv, balance):
    X, _, y = iris
    search = GridSearchCV(TransductiveSVC(balance=balance), {"C": [0.01, 10]}, cv=cv).fit(X, y)
    assert search.best_params_ == {"C": 10}
    assert search.best_score_ > 0.8
    clf = TransductiveSVC(C=10, balance=balance)
    scores = cross_val_score(clf, X, y, cv=cv, scoring=labeled_scorer("f1_macro"))
    assert scores.mean() > 0.8


def test_pipelines_and_outputs(iris):
    X, truth, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), TransductiveSVC(C=10, balance="labeled")).set_output(transform="pandas")
    scores = cross_val_score(pipeline, frame, y, cv=LabeledKFold(4))
    assert scores.mean() > 0.85
    assert pipeline.fit(frame, y).score(frame, truth) > 0.85
    assert pipeline.score(frame, y) > 0.9
    named = np.where(y < 0, None, np.array(["a", "b", "c"], dtype=object)[y])
    clf = TransductiveSVC(unlabeled=np.nan, balance="labeled")
    search = GridSearchCV(clf, {"C": [0.01, 10]}, cv=LabeledKFold(3, unlabeled=np.nan))
    assert search.fit(frame, named).best_params_ == {"C": 10}


def test_weights_are_routed(iris):
    X, _, y = iris
    weights = np.where(np.arange(150) % 3 == 0, 0.5, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = TransductiveSVC(C=10, balance="labeled")
        clf.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf)
        pipeline.fit(X, y, sample_weight=weights)
        scaled = StandardScaler().fit_transform(X)
        alone = TransductiveSVC(C=10, balance="labeled").fit(scaled, y, sample_weight=weights)
        np.testing.assert_allclose(pipeline[-1].transduction_scores_, alone.transduction_scores_)
        scores = cross_val_score(clf, X, y, cv=LabeledKFold(3), params={"sample_weight": weights})
        assert scores.shape == (3,)


def test_weights_are_costs(iris):
    X, _, y = iris
    weights = np.where(np.arange(150) % 3 == 0, 0.5, 2.0)
    clf = TransductiveSVC(C=10, C_unlabeled=0.3, sigma=1.0, balance="labeled").fit(X, y, sample_weight=weights)
    cost = weights * np.where(y >= 0, 10, 0.3)
    np.testing.assert_allclose(clf.solutions_[0].problem.cost, cost)
    # A C of its own for every point is the same.
    other = TransductiveSVC(C=10 * weights, C_unlabeled=0.3 * weights, sigma=1.0, balance=None).fit(X, y)
    same = TransductiveSVC(C=10, C_unlabeled=0.3, sigma=1.0, balance=None).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(other.transduction_scores_, same.transduction_scores_, atol=1e-9)
    listed = TransductiveSVC(C=tuple(np.full(150, 10.0)), C_unlabeled=0.3, balance="labeled")
    listed.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(listed.solutions_[0].problem.cost, cost)
    # All labelled points together cost what all unlabelled ones do.
    clf = TransductiveSVC(C=10, C_unlabeled="balanced", balance="labeled").fit(X, y, sample_weight=weights)
    problem = clf.solutions_[0].problem
    assert problem.cost[problem.labeled].sum() == pytest.approx(problem.cost[problem.unlabeled].sum())
    clf = TransductiveSVC(C=10, C_unlabeled="tenth", balance="labeled").fit(X, y, sample_weight=weights)
    problem = clf.solutions_[0].problem
    np.testing.assert_allclose(problem.cost, weights * np.where(y >= 0, 10, 1))


@pytest.mark.parametrize(
    "make",
    [lambda: TransductiveSVC(C=10, sigma=1.0), lambda: ct.LinearTransductiveSVC(C=10, tol=1e-8)],
    ids=["kernel", "linear"],
)
def test_a_weight_of_two_is_a_point_that_is_there_twice(iris, make):
    X, _, y = iris
    X, y = X[:100], y[:100]
    weights = np.where(np.arange(100) % 7 == 0, 2, 1)
    weighted = make().fit(X, y, sample_weight=weights)
    repeated = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    # The mean output that is asked for is over points, not weights.
    solution, other = weighted.solutions_[0], repeated.solutions_[0]
    np.testing.assert_allclose(solution.problem.cost.sum(), other.problem.cost.sum())
    if isinstance(weighted, TransductiveSVC):
        free = [clone(one).set_params(balance=None) for one in (weighted, repeated)]
        free[0].fit(X, y, sample_weight=weights)
        free[1].fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_allclose(free[0].decision_function(X), free[1].decision_function(X), atol=5e-3)


def test_a_weight_of_zero_is_a_point_that_is_not_there(iris):
    X, _, y = iris
    weights = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)
    clf = TransductiveSVC(C=10, sigma=1.0).fit(X, y, sample_weight=weights)
    without = TransductiveSVC(C=10, sigma=1.0).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(clf.decision_function(X), without.decision_function(X), atol=1e-2)
    np.testing.assert_array_equal(clf.transduction_[y >= 0], y[y >= 0])


METHODS = [
    TransductiveSVC(unlabeled=0, gamma=0.5, solver="cvxpy"),
    TransductiveSVC(unlabeled=0, gamma=0.5, method="gradient", loss="exp", balance="labeled", tol=1e-8),
    TransductiveSVC(unlabeled=0, gamma=0.5, method="newton", loss="flat", balance="labeled"),
    TransductiveSVC(unlabeled=0, gamma=0.5, method="continuation", loss="exp", balance="labeled", tol=1e-8),
    TransductiveSVC(unlabeled=0, gamma=0.5, method="switching", loss="hinge", balance="labeled"),
    TransductiveSVC(unlabeled=0, gamma=0.5, method="annealing", loss="squared_hinge", balance="labeled"),
    ct.LinearTransductiveSVC(unlabeled=0, positive_fraction="labeled"),  # a number of points counts those of weight 0
    ct.LinearTransductiveSVC(unlabeled=0, method="cccp"),
    ct.SDPTransduction(unlabeled=0, gamma=0.5),
    ct.SubspaceSDPTransduction(unlabeled=0, gamma=0.5),
]


@pytest.mark.parametrize("clf", METHODS, ids=lambda clf: " ".join(repr(clf).split()))
def test_every_method_leaves_points_of_weight_zero_out(clf):
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 2)) + np.repeat([[-1.0, 0], [1, 0]], 15, axis=0)
    y = np.zeros(30)
    y[[0, 1, 2, 15, 16, 17]] = [-1, -1, -1, 1, 1, 1]
    weights = np.ones(30)
    weights[[2, 17, 5, 20]] = 0
    own = clone(clf).fit(X, y, sample_weight=weights)
    without = clone(clf).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(own.decision_function(X), without.decision_function(X), atol=1e-4)


def test_weights_of_classes(iris):
    X, _, y = iris
    clf = TransductiveSVC(C=10, class_weight={0: 1, 1: 5, 2: 1}, balance="labeled").fit(X, y)
    cost = clf.solutions_[0].problem.cost
    np.testing.assert_allclose(cost[y == 1], 50)
    np.testing.assert_allclose(cost[y == 0], 10)
    shown = np.where(y == 0, np.where(np.arange(150) < 4, 0, -1), y)
    clf = TransductiveSVC(C=10, class_weight="balanced", balance="labeled").fit(X, shown)
    balanced = clf.solutions_[0].problem.cost
    sums = [balanced[shown == k].sum() for k in range(3)]
    np.testing.assert_allclose(sums, sums[0])
    for weight, message in (({3: 1}, "no label of y"), ({0: -1}, "must be a number > 0"), ("all", "'balanced'")):
        with pytest.raises(ValueError, match=message):
            TransductiveSVC(class_weight=weight).fit(X, y)
    for weights, message in ((np.ones(3), "expected"), (-np.ones(150), ">= 0"), (["a"] * 150, "150 numbers")):
        with pytest.raises(ValueError, match=message):
            TransductiveSVC().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_probabilities(iris, kind):
    X, truth, y = iris
    clf = ct.CalibratedTransduction(TransductiveSVC(C=10, balance="labeled"), cv=4).fit(kind(X), y)
    assert clf.classes_.tolist() == [0, 1, 2]
    probabilities = clf.predict_proba(kind(X))
    assert probabilities.shape == (150, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean(clf.predict(kind(X)) == truth) > 0.85
    # Those of scikit-learn itself, with the unlabelled points brought along.
    known = y >= 0
    own = CalibratedClassifierCV(WithUnlabeled(TransductiveSVC(C=10, balance="labeled"), kind(X[~known])), cv=4)
    own.fit(kind(X[known]), y[known])
    np.testing.assert_allclose(own.predict_proba(kind(X)), probabilities, atol=1e-6)


def test_probabilities_of_names(iris):
    X, _, y = iris
    names = np.where(y < 0, None, np.array(["a", "b", "c"], dtype=object)[y])
    plain = TransductiveSVC(C=10, unlabeled=np.nan, balance="labeled")
    clf = ct.CalibratedTransduction(plain, cv=4, unlabeled=np.nan).fit(X, names)
    assert clf.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="no labelled point"):
        ct.CalibratedTransduction(TransductiveSVC()).fit(X, np.full(150, -1))


def test_unlabelled_points_of_an_estimator(iris):
    X, _, y = iris
    known = y >= 0
    clf = WithUnlabeled(TransductiveSVC(C=10, balance="labeled"), X[~known]).fit(X[known], y[known])
    alone = TransductiveSVC(C=10, balance="labeled").fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), alone.decision_function(X), atol=1e-2)
    assert cross_val_score(clf, X[known], y[known], cv=4).mean() > 0.85


@pytest.fixture(scope="module")
def searched_by_scikit_learn():
    X, _, y = labelled_iris()
    grid = {"C": [0.01, 1.0, 100.0], "sigma": [0.5, 2.0], "C_unlabeled": ["balanced", 0.1]}
    plain = TransductiveSVC(
        balance="labeled", multi_class="ovr"
    )  # shares are inferred anew in every fold by GridSearchCV
    return GridSearchCV(plain, grid, cv=LabeledKFold(4)).fit(X, y)


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_search_chooses_what_scikit_learns_does(iris, searched_by_scikit_learn, prune, n_jobs):
    X, _, y = iris
    other = searched_by_scikit_learn
    plain, grid = other.estimator, other.param_grid
    own = TransductiveSearchCV(plain, grid, cv=4, tol=1e-3, warm_start=False, prune=prune, n_jobs=n_jobs)
    own.fit(X, y)
    assert own.best_params_ == other.best_params_
    assert own.best_score_ == pytest.approx(other.best_score_)
    results = own.cv_results_
    assert results["params"] == other.cv_results_["params"]
    seen = results["n_splits"] == 4
    np.testing.assert_allclose(results["mean_test_score"][seen], other.cv_results_["mean_test_score"][seen])
    assert seen.all() or prune
    assert (results["mean_test_score"][~seen] <= own.best_score_).all()
    best = clone(plain).set_params(**own.best_params_).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(own.transduction_, best.transduction_)
    assert own.score(X, y) == best.score(X, y)
    assert list(own.predict(X)) == list(best.predict(X))


def test_descents_that_follow_C_choose_the_same(iris):
    X, truth, y = iris
    grid = {"C": [100.0, 0.01, 1.0], "sigma": [0.5, 2.0]}
    own = TransductiveSearchCV(TransductiveSVC(balance="labeled"), grid, cv=4).fit(X, y)
    other = GridSearchCV(TransductiveSVC(balance="labeled"), grid, cv=LabeledKFold(4)).fit(X, y)
    assert own.best_score_ == pytest.approx(other.best_score_, abs=0.05)
    assert np.mean(own.transduction_ == truth) > 0.9
    # The chosen one is a minimum of its own objective, to its own tolerance.
    solution = own.best_estimator_.solutions_[0]
    assert solution.status == "converged"
    again = ct.cccp(solution.formulation, solution.problem, start=solution)
    assert again.objective == pytest.approx(solution.objective, rel=1e-3)
    plain = TransductiveSVC(balance="labeled")
    pruned, whole = (TransductiveSearchCV(plain, grid, cv=4, prune=prune).fit(X, y) for prune in (1, 0))
    assert pruned.best_params_ == whole.best_params_


def test_a_splitter_sees_the_labels_as_they_are(iris):
    X, _, y = iris
    names = np.where(y < 0, np.nan, y)
    own, plain = (
        TransductiveSearchCV(TransductiveSVC(unlabeled=np.nan, balance="labeled"), {"C": [1.0]}, cv=cv).fit(X, names)
        for cv in (LabeledKFold(4, unlabeled=np.nan), 4)
    )
    assert own.best_score_ == plain.best_score_ > 0.8


def test_the_search_has_a_grid_of_its_own(iris):
    X, truth, y = iris
    search = TransductiveSearchCV(cv=3).fit(X, y)
    assert np.mean(search.transduction_ == truth) > 0.9
    own = search.cv_results_["params"]
    assert {one["C_unlabeled"] for one in own} == {"auto", None}
    assert {one["C"] for one in own} == {1.0, 10.0, 100.0}
    assert len({one["sigma"] for one in own}) == 3
    np.testing.assert_allclose(search.best_estimator_.class_shares_, 1 / 3, atol=0.1)
    for make in (ct.CompactMarginClassifier(balance="labeled"), ct.RelativeMarginClassifier(), ct.LaplacianSVC()):
        found = TransductiveSearchCV(make, {"C": [1.0, 10.0]}, cv=3, warm_start=False).fit(X, y)
        other = GridSearchCV(clone(make), {"C": [1.0, 10.0]}, cv=LabeledKFold(3)).fit(X, y)
        if not isinstance(make, ct.LaplacianSVC):  # whose graph has the points that are left out
            assert found.best_params_ == other.best_params_
    sparse = TransductiveSearchCV(TransductiveSVC(kernel="linear"), cv=3).fit(sp.csr_matrix(X), y)
    assert sparse.best_score_ > 0.6


def test_of_equal_scores_the_one_that_agrees_most_with_the_others(iris):
    X, _, y = iris
    y = np.where(np.isin(np.arange(150), [0, 1, 50, 51, 100, 101]), y, -1)
    grid = {"sigma": [0.3, 1.0, 1.1, 1.2, 5.0], "C_unlabeled": ["tenth", None]}
    plain = TransductiveSVC(balance=None, multi_class="ovr")
    search = TransductiveSearchCV(plain, grid, prune=False).fit(X, y)
    tied = np.flatnonzero(search.cv_results_["rank_test_score"] == 1)
    assert len(tied) > 2
    labels = {i: clone(plain).set_params(**search.cv_results_["params"][i]).fit(X, y).transduction_ for i in tied}
    agreement = [np.mean([np.mean(labels[i][y < 0] == labels[j][y < 0]) for j in tied]) for i in tied]
    np.testing.assert_allclose(search.cv_results_["agreement"][tied], agreement, atol=0.01)
    assert search.best_index_ == tied[np.argmax(search.cv_results_["agreement"][tied])]
    first = TransductiveSearchCV(plain, grid, prune=False, ties="first").fit(X, y)
    assert first.best_index_ == tied[0]
    assert np.isnan(first.cv_results_["agreement"]).all()


def test_a_search_that_cannot_be(iris):
    X, _, y = iris
    for foreign in (StandardScaler(), make_pipeline(TransductiveSVC(), StandardScaler()), SVC()):
        for function in (TransductiveSearchCV(foreign).fit, partial(ct.selection.compare_supervised, foreign)):
            with pytest.raises(ValueError, match="must be a classifier of this package"):
                function(X, y)
    with pytest.raises(ValueError, match="y has 149 entries, X has 150 samples"):
        TransductiveSearchCV().fit(X, y[1:])
    with pytest.raises(ValueError, match="scoring='roc'"):
        TransductiveSearchCV(scoring="roc").fit(X, y)
    with pytest.raises(ValueError, match="tol=0"):
        TransductiveSearchCV(tol=0).fit(X, y)
    with pytest.raises(ValueError, match="ties='last' must be 'agreement' or 'first'"):
        TransductiveSearchCV(ties="last").fit(X, y)
    with pytest.raises(ValueError, match="C=-1"):
        TransductiveSearchCV(param_grid={"C": [-1.0]}).fit(X, y)


def test_a_learning_curve(iris):
    X, truth, _ = iris
    found = ct.selection.learning_curve(
        TransductiveSVC(C=10, balance="labeled"), X, truth, n_labeled=[6, 12, 30], n_draws=4
    )
    assert found.errors.shape == found.supervised_errors.shape == (3, 4)
    assert found.errors[2].mean() <= found.errors[0].mean() + 0.05
    assert len(str(found).splitlines()) == 4
    again = ct.selection.learning_curve(
        TransductiveSVC(C=10, balance="labeled"), X, truth, n_labeled=[6, 12, 30], n_draws=4, n_jobs=2
    )
    np.testing.assert_array_equal(again.errors, found.errors)
    # An error is that of one fit.
    per_class = ct.selection.learning_curve(
        TransductiveSVC(C=10, balance="labeled"), X, truth, n_labeled=[9], n_draws=1, per_class=True
    )
    assert 0 <= per_class.errors[0, 0] < 0.5
    names = np.array(["a", "b", "c"])[truth]
    other = ct.selection.learning_curve(
        TransductiveSVC(C=10, balance="labeled", unlabeled="?"), X, names, n_labeled=[6, 12, 30], n_draws=4
    )
    np.testing.assert_array_equal(other.errors, found.errors)
    searched = ct.TransductiveSearchCV(TransductiveSVC(balance="labeled"), {"C": [10]}, cv=2)
    assert ct.selection.learning_curve(searched, X, truth, n_labeled=[30], n_draws=1).errors.shape == (1, 1)
    for n in (2, 150):
        with pytest.raises(ValueError, match=f"n_labeled={n}"):
            ct.selection.learning_curve(TransductiveSVC(), X, truth, n_labeled=[n])


def test_the_supervised_svm_is_a_candidate(iris):
    X, _, y = iris
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = TransductiveSVC(C=10, sigma=1.0, C_unlabeled=None).fit(X, y)
    alone = ct.cccp(ct.svm(), clf.solutions_[0].problem)
    np.testing.assert_allclose(clf.transduction_scores_[:, 0], alone.scores, atol=1e-6)


def test_ctrl_c_says_that_nothing_is_kept(iris, monkeypatch):
    X, _, y = iris
    from convex_tsvm.methods.cccp import CCCP

    descend, calls = CCCP.descend, []

    def interrupted(self, run):
        calls.append(run)
        status = descend(self, run)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return status

    monkeypatch.setattr(CCCP, "descend", interrupted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(KeyboardInterrupt, match="1 of the 3 classes had been learned: nothing is kept"):
            TransductiveSVC(balance="labeled", multi_class="ovr").fit(X, y)


def test_the_default_search_leaves_the_defaults_only_for_what_is_surely_better():
    """Twelve labels in twenty dimensions: the best of eighteen candidates is so by chance."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 20)) + 0.3 * truth[:, None]
    y = np.where(np.arange(200) < 12, truth, -1)
    cautious, bold = TransductiveSearchCV().fit(X, y), TransductiveSearchCV(caution=0).fit(X, y)
    means = bold.cv_results_["mean_test_score"]
    assert bold.best_score_ == means[bold.best_index_] > means[0]
    assert cautious.best_index_ == 0
    assert cautious.best_params_ == cautious.cv_results_["params"][0]
    # It is what the estimator's own fit makes of these parameters.
    alone = TransductiveSVC(**cautious.best_params_).fit(X, y)
    np.testing.assert_allclose(cautious.best_estimator_.transduction_scores_, alone.transduction_scores_, atol=1e-9)
    # A grid of one's own is searched as in GridSearchCV.
    own = TransductiveSearchCV(param_grid={"C": [10.0, 0.01]}, ties="first", caution=3.0).fit(X, y)
    assert own.best_index_ == int(np.nanargmax(own.cv_results_["mean_test_score"]))


def test_the_default_search_leaves_bad_defaults():
    """Where a kernel half as wide is right at many more labels, it is taken."""
    rng = np.random.default_rng(1)
    t = rng.uniform(0, 6 * np.pi, 400)
    truth = (np.sin(t) > 0).astype(int)
    y = np.where(np.arange(400) < 120, truth, -1)
    search = TransductiveSearchCV().fit(t[:, None], y)
    assert search.best_index_ > 0
    scores = np.array([search.cv_results_[f"split{f}_test_score"] for f in range(5)]).T
    assert scores[search.best_index_].mean() > scores[0].mean() + 0.05
    with pytest.raises(ValueError, match="caution=-1"):
        TransductiveSearchCV(caution=-1).fit(t[:, None], y)
