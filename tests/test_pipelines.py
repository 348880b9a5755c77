"""Pipelines, linear classifiers and scorers in searches, comparisons, share paths and learning curves."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import convex_tsvm as ct
from convex_tsvm import LinearTransductiveSVC, TransductiveSearchCV, TransductiveSVC
from convex_tsvm.selection import LabeledKFold


@pytest.fixture
def iris():
    X, truth = load_iris(return_X_y=True)
    y = np.full(150, -1)
    shown = np.r_[0:8, 50:58, 100:108]
    y[shown] = truth[shown]
    return X * [1, 10, 100, 1000], truth, y


def scaled(classifier):
    return Pipeline([("scale", StandardScaler()), ("svc", classifier)])


@pytest.mark.parametrize(
    "classifier",
    [TransductiveSVC(balance="labeled"), LinearTransductiveSVC(method="cccp", positive_fraction="labeled")],
    ids=str,
)
def test_a_comparison_takes_pipelines(iris, classifier):
    X, _, y = iris
    found = ct.selection.compare_supervised(scaled(classifier), X, y, cv=4, scoring="f1_macro")
    # The scaler sees all points, labelled or not, and so it is that of the whole in each fold's place.
    alone = ct.selection.compare_supervised(classifier, StandardScaler().fit_transform(X), y, cv=4, scoring="f1_macro")
    assert found.agreement == alone.agreement
    assert found.objective == pytest.approx(alone.objective)
    assert found.error == pytest.approx(alone.error, abs=0.1)
    assert found.score == pytest.approx(1 - found.error, abs=0.1)
    assert found.supervised_score == pytest.approx(1 - found.supervised_error, abs=0.1)
    fitted = scaled(classifier).fit(X, y)
    assert ct.selection.compare_supervised(fitted, X, y, cv=4).objective == found.objective
    assert ct.selection.compare_supervised(fitted, X, y, cv=4).score is None


def test_the_supervised_svm_of_a_pipeline_has_the_scaling_of_all_points(iris):
    X, _, y = iris
    seen = []
    watch = FunctionTransformer(lambda X: seen.append(len(X)) or X)
    ct.selection.compare_supervised(make_pipeline(watch, TransductiveSVC(balance="labeled")), X, y, cv=4)
    assert not {18, 24} & set(seen)


def test_one_label_per_class_cannot_be_left_out(iris):
    X, truth, _ = iris
    y = np.full(150, -1)
    y[[0, 50, 100]] = truth[[0, 50, 100]]
    with pytest.warns(UserWarning, match="every class has a single label"):
        found = ct.selection.compare_supervised(scaled(TransductiveSVC()), X, y)
    assert np.isnan([found.error, found.supervised_error, found.standard_error]).all()
    assert 0 <= found.agreement <= 1
    assert "nan" in str(found)
    with pytest.warns(UserWarning, match="every class has a single label"):
        search = TransductiveSearchCV(scaled(TransductiveSVC()), {"svc__C": [0.01, 10.0, 20.0]}).fit(X, y)
    assert search.best_params_ == search.cv_results_["params"][int(np.argmax(search.cv_results_["agreement"]))]
    assert np.isnan(search.best_score_)
    assert search.predict(X).shape == (150,)


def test_a_learning_curve_takes_pipelines_and_scorers(iris):
    X, truth, _ = iris
    options = {"n_labeled": [6, 30], "n_draws": 2}
    clf = TransductiveSVC(balance="labeled")
    found = ct.selection.learning_curve(scaled(clf), X, truth, scoring="balanced_accuracy", **options)
    alone = ct.selection.learning_curve(clf, StandardScaler().fit_transform(X), truth, **options)
    np.testing.assert_array_equal(found.errors, alone.errors)
    np.testing.assert_array_equal(found.supervised_errors, alone.supervised_errors)
    assert alone.scores is None
    np.testing.assert_allclose(found.scores, 1 - found.errors, atol=0.1)
    assert found.supervised_scores.shape == (2, 2)
    with pytest.raises(ValueError, match="scoring='roc' must be a name"):
        ct.selection.learning_curve(TransductiveSVC(), X, truth, scoring="roc", **options)


def test_a_search_over_a_pipelines_classifier_shares_kernels(iris):
    X, truth, y = iris
    grid = {"svc__C": [0.01, 1.0, 100.0], "svc__sigma": [0.5, 2.0]}
    options = {"cv": 4, "tol": 1e-3, "warm_start": False}
    clf = TransductiveSVC(balance="labeled")
    search = TransductiveSearchCV(scaled(clf), grid, **options).fit(X, y)
    alone = TransductiveSearchCV(clf, {name[5:]: values for name, values in grid.items()}, **options).fit(
        StandardScaler().fit_transform(X), y
    )
    assert search.best_params_ == {f"svc__{name}": value for name, value in alone.best_params_.items()}
    assert search.best_score_ == alone.best_score_
    assert isinstance(search.best_estimator_, Pipeline)
    np.testing.assert_array_equal(search.transduction_, alone.transduction_)
    np.testing.assert_array_equal(search.predict(X), alone.predict(StandardScaler().fit_transform(X)))
    assert "param_svc__C" in search.cv_results_
    assert search.n_features_in_ == 4
    kept = scaled(clf).set_params(verbose=True)
    assert TransductiveSearchCV(kept, {"svc__C": [1.0]}, cv=2).fit(X, y).best_estimator_.verbose
    default = TransductiveSearchCV(scaled(TransductiveSVC()), cv=2).fit(X[:100], y[:100])
    assert set(default.best_params_) >= {"svc__C", "svc__sigma", "svc__C_unlabeled"}
    assert default.score(X[:100], truth[:100]) > 0.8


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_what_cannot_be_shared_is_fitted_one_by_one(iris, n_jobs):
    X, _, y = iris
    grid = {"scale__with_std": [True, False], "svc__C": [1.0, 10.0]}
    clf = scaled(TransductiveSVC(balance="labeled"))
    search = TransductiveSearchCV(clf, grid, cv=4, prune=False, n_jobs=n_jobs).fit(X, y)
    other = GridSearchCV(clf, grid, cv=LabeledKFold(4)).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert search.best_score_ == other.best_score_
    assert search.best_estimator_[0].with_std == search.best_params_["scale__with_std"]


@pytest.mark.parametrize(
    "classifier",
    [
        LinearTransductiveSVC(positive_fraction="labeled"),
        ct.SpectralTransduction(sigma=1.0, balance="labeled"),
        ct.SafeTransductiveSVC(n_starts=3, balance="labeled"),
        *(
            pytest.param(inferred, marks=pytest.mark.slow)
            for inferred in (
                LinearTransductiveSVC(),
                ct.SpectralTransduction(sigma=1.0),
                ct.SafeTransductiveSVC(n_starts=3),
            )
        ),
    ],
    ids=str,
)
def test_a_search_takes_every_classifier(iris, classifier):
    X, truth, y = iris
    weights = np.where(np.arange(150) % 3 == 0, 0.5, 1.0)
    search = TransductiveSearchCV(classifier, cv=2).fit(StandardScaler().fit_transform(X), y, weights)
    assert sorted(search.cv_results_["param_C"]) == sorted(classifier.C * np.array([0.1, 1, 10]))
    assert np.mean(search.transduction_ == truth) > 0.7


def test_texts_are_points_of_a_pipeline():
    texts = ["ham egg", "egg toast", "ham toast", "egg milk", "wheel car", "car road", "wheel road", "road fuel"] * 4
    y = np.full(32, -1)
    y[[0, 1, 2, 3, 4, 5, 6, 7]] = [0, 0, 0, 0, 1, 1, 1, 1]
    pipeline = make_pipeline(TfidfVectorizer(), LinearTransductiveSVC(C=10))
    assert TransductiveSearchCV(pipeline, cv=2).fit(texts, y).best_score_ > 0.7
    assert ct.selection.compare_supervised(pipeline, texts, y, cv=2).error <= 0.5
    kernel = make_pipeline(TfidfVectorizer(), TransductiveSVC(kernel="linear", balance="labeled"))
    assert TransductiveSearchCV(kernel, {"transductivesvc__C": [1, 10]}, cv=2).fit(texts, y).best_score_ > 0.7


@pytest.mark.parametrize(
    "scoring",
    ["f1", "roc_auc", "average_precision", "neg_brier_score_of_labels", make_scorer(f1_score), f1_score],
    ids=["f1", "roc_auc", "average_precision", "neg_brier_score_of_labels", "scorer", "function"],
)
def test_every_scorer_of_scikit_learn_judges_the_search(iris, scoring):
    X, _, y = iris
    X, y = StandardScaler().fit_transform(X)[30:130], np.where(y == 0, -1, y)[30:130]
    rng = np.random.default_rng(0)
    shown = rng.choice(100, 30, replace=False)
    y[shown] = (shown >= 70) + 1
    if scoring == "neg_brier_score_of_labels":
        scoring = make_scorer(lambda truth, found: np.mean((truth - found) ** 2), greater_is_better=False)
    grid, y = {"C": [0.01, 1.0, 100.0], "C_unlabeled": [None]}, np.where(y < 0, -1, y - 1)
    search = TransductiveSearchCV(
        TransductiveSVC(sigma=1.0), grid, cv=4, scoring=scoring, tol=1e-3, warm_start=False, prune=False
    ).fit(X, y)
    own = make_scorer(scoring) if scoring is f1_score else scoring
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = GridSearchCV(TransductiveSVC(sigma=1.0), grid, cv=LabeledKFold(4), scoring=own).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert search.best_score_ == other.best_score_


def test_scores_that_are_never_positive_drop_no_candidate(iris):
    """A loss is a negative score: what is still to come could not make a candidate the best, whatever is assumed."""
    X, _, y = iris
    scorer = make_scorer(lambda truth, found: -5.0 * np.mean(truth != found))
    search = TransductiveSearchCV(
        scaled(TransductiveSVC()), {"svc__C": [0.001, 10.0]}, cv=4, scoring=scorer, ties="first"
    ).fit(X, y)
    assert (search.cv_results_["n_splits"] == 4).all()
    assert search.best_params_ == {"svc__C": 10.0}
