"""What estimators and wrappers take for labels, markers, weights and points, in whatever form, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

import convex_tsvm as ct
from convex_tsvm.estimators.labels import marker_of

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1], 20)
X = RNG.normal(2 * TRUTH[:, None], 1, (40, 2))
KNOWN = np.arange(40) % 4 == 0
Y = np.where(KNOWN, TRUTH, -1)
WORDS = np.array(["egg", "ham"], dtype=object)[TRUTH]
DATES = np.array(["2021-01-01", "2022-01-01"], dtype="datetime64[D]")[TRUTH]
SVM = ct.TransductiveSVC(balance=None)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: A marker, and labels with it where they are unknown.
MARKED = {
    "word": ("?", np.where(KNOWN, WORDS, "?")),
    "array of strings": ("?", np.where(KNOWN, WORDS, "?").astype(str)),
    "zero": (0, np.where(KNOWN, TRUTH + 1, 0)),
    "NaN among numbers": (np.nan, np.where(KNOWN, TRUTH, np.nan)),
    "NaN among words": (np.nan, np.where(KNOWN, WORDS, np.nan)),
    "None among words": (np.nan, np.where(KNOWN, WORDS, None)),
    "NaN as text": (np.nan, np.where(KNOWN, WORDS, "nan").astype(str)),
    "-1.0 as text": (-1, np.where(KNOWN, WORDS, "-1.0").astype(str)),
    "missing date": (np.nan, np.where(KNOWN, DATES, np.datetime64("NaT"))),
    "missing date of pandas": (np.nan, pd.Series(pd.to_datetime(DATES)).where(KNOWN)),
    "dates as objects": (np.nan, pd.Series(pd.to_datetime(DATES)).where(KNOWN).astype(object)),
    "NA among integers": (np.nan, pd.Series(TRUTH).astype("Int64").where(KNOWN)),
    "NA among strings": (pd.NA, pd.Series(WORDS).astype("string").where(KNOWN)),
    "missing category": (np.nan, pd.Series(WORDS).where(KNOWN).astype("category")),
    "truth values": (-1, np.where(KNOWN, (TRUTH > 0).astype(object), -1)),
}

#: What takes an estimator, a marker, and labels with it; the classes or errors that it finds.
WRAPPERS = {
    "itself": lambda own, _, y: own.fit(X, y).classes_,
    "calibration": lambda own, _, y: ct.CalibratedTransduction(own, cv=2).fit(X, y).classes_,
    "calibration by default": lambda _, marker, y: ct.CalibratedTransduction(unlabeled=marker, cv=2).fit(X, y).classes_,
    "clone": lambda own, _, y: clone(ct.CalibratedTransduction(clone(own), cv=2)).fit(X, y).classes_,
    "pipeline": lambda own, _, y: (
        ct.CalibratedTransduction(make_pipeline(StandardScaler(), own), cv=2).fit(X, y).classes_
    ),
    "grid": lambda own, marker, y: (
        ct.CalibratedTransduction(
            GridSearchCV(own, {"C": [1]}, cv=ct.selection.LabeledKFold(2, unlabeled=marker)), cv=2
        )
        .fit(X, y)
        .classes_
    ),
    "search": lambda own, _, y: ct.TransductiveSearchCV(own, {"C": [1, 10]}, cv=2).fit(X, y).classes_,
    "points that come along": lambda own, _, y: (
        ct.selection.WithUnlabeled(own, X[~KNOWN]).fit(X[KNOWN], np.asarray(y)[KNOWN]).classes_
    ),
    "score": lambda own, _, y: [1 - ct.CalibratedTransduction(own, cv=2).fit(X, y).score(X, y)],
    "scorer": lambda own, marker, y: (
        1
        - cross_val_score(
            own,
            X,
            np.asarray(y),
            cv=ct.selection.LabeledKFold(2, unlabeled=marker),
            scoring=ct.selection.labeled_scorer(),
            error_score="raise",
        )
    ),
    "comparison": lambda own, _, y: [ct.selection.compare_supervised(own, X, y, cv=2).error],
    "learning curve": lambda own, _, y: ct.selection.learning_curve(own, X, y, n_labeled=(4,), n_draws=1).errors[0],
    "cost path": lambda own, _, y: ct.selection.cost_path(
        clone(own).set_params(balance=0.0), X, y, cv=2
    ).left_out_error[:1],
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("name", MARKED)
def test_the_marker_of_the_estimator_is_that_of_what_is_around_it(name, wrapper):
    marker, y = MARKED[name]
    found = np.asarray(WRAPPERS[wrapper](clone(SVM).set_params(unlabeled=marker), marker, y))
    if wrapper in ("score", "scorer", "comparison", "learning curve", "cost path"):
        assert (found <= 0.3).all()
    else:
        expected = np.unique(np.asarray(y, dtype=object)[KNOWN].astype(str))
        assert len(found) == 2
        if found.dtype.kind in "USO":
            assert found.astype(str).tolist() == expected.tolist()


REFUSED = {
    "calibration": lambda: ct.CalibratedTransduction(SVM, unlabeled="?").fit(X, Y),
    "calibration of a pipeline": lambda: ct.CalibratedTransduction(make_pipeline(SVM), unlabeled=0).fit(X, Y),
    "points that come along": lambda: ct.selection.WithUnlabeled(SVM, X, unlabeled=np.nan).fit(X[KNOWN], Y[KNOWN]),
    "none": lambda: ct.selection.WithUnlabeled(ct.TransductiveSVC(unlabeled=None), X).fit(X[KNOWN], Y[KNOWN]),
    "curve": lambda: ct.selection.learning_curve(ct.TransductiveSVC(unlabeled=None), X, TRUTH, n_labeled=(4,)),
    "scorer": lambda: ct.selection.labeled_scorer(unlabeled="?")(clone(SVM).fit(X, Y), X, Y),
    "no marker": lambda: ct.selection.labeled_scorer()(SVC().fit(X, TRUTH), X, Y),
    "wrapper in a wrapper": lambda: marker_of(ct.CalibratedTransduction(SVM, unlabeled="?")),
    "folds": lambda: list(ct.selection.LabeledKFold(2).split(X, np.where(KNOWN, TRUTH, np.nan))),
    "search": lambda: ct.TransductiveSearchCV(SVM, {"C": [1]}, cv=[(np.arange(20), np.arange(20, 40))]).fit(X, Y),
    "None as text": lambda: ct.TransductiveSVC(unlabeled=np.nan).fit(X, np.where(KNOWN, WORDS, "None").astype(str)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_another_marker_than_the_estimators_is_refused(name):
    with pytest.raises(ValueError, match="unlabeled"):
        REFUSED[name]()


def test_markers_that_nobody_said():
    assert marker_of(LabelSpreading()) == -1
    assert marker_of(SVC(), "?") == "?"
    assert ct.selection.labeled_scorer(unlabeled=-1)(SVC().fit(X, TRUTH), X, Y) > 0.8
    with pytest.warns(UserWarning, match="no point of y is marked by unlabeled=-1"):
        list(ct.selection.LabeledKFold(2).split(X, TRUTH))


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        (np.array(["1", "2"]), {"1": 1, "2": 3}),
        (np.array(["01", "1"]), {"1": 3}),
        (np.array([1, 2]), {np.int64(1): 1, np.int8(2): 3}),
        (np.array([1, 2]), {1.0: 1, 2.0: np.float32(3)}),
        (np.array([0, 1]), {False: 1, True: 3}),
        (np.array([False, True]), {False: 1, np.True_: 3}),
        (np.array(["2021-01-01", "2022-01-01"], dtype="datetime64[D]"), {np.datetime64("2022-01-01"): 3}),
    ],
)
def test_class_weight_has_labels_as_they_are(labels, weights):
    y = np.array([labels[t] if k else None for t, k in zip(TRUTH, KNOWN, strict=True)], dtype=object)
    clf = clone(SVM).set_params(unlabeled=np.nan, class_weight=weights).fit(X, y)
    np.testing.assert_allclose(clf.solutions_[0].problem.cost[KNOWN], np.where(TRUTH[KNOWN], 30, 10))
    with pytest.raises(ValueError, match="class_weight has 'three', which is no label of y; the classes are"):
        clf.set_params(class_weight={**weights, "three": 1}).fit(X, y)


def at(place, value):
    weights = np.ones(40)
    weights[place] = value
    return weights


WEIGHTS = {
    "labelled points": ((~KNOWN).astype(float), "0 at all labelled points"),
    "a class": ((Y != 1).astype(float), "0 at all labels of class 1"),
    "unlabelled points": (KNOWN.astype(float), "0 at all unlabelled points"),
    "everywhere": (np.zeros(40), "0 everywhere"),
    "negative": (at(3, -1.0), "it has -1"),
    "NaN": (at(3, np.nan), "it has nan"),
    "infinite": (at(3, np.inf), "it has inf"),
    "too few": (np.ones(39), r"expected \(40,\)"),
    "two columns": (np.ones((40, 2)), r"expected \(40,\)"),
    "words": (["a"] * 40, "must be 40 numbers"),
}


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize(
    "estimator",
    [
        ct.TransductiveSVC(),
        ct.TransductiveSVC(balance="labeled", C_unlabeled="balanced"),
        ct.LinearTransductiveSVC(),
        ct.LaplacianSVC(),
        ct.SafeTransductiveSVC(),
        ct.SpectralTransduction(),
        ct.SDPTransduction(),
        ct.SubspaceSDPTransduction(),
        ct.ExactTransductiveSVC(),
        ct.CalibratedTransduction(cv=2),
        ct.TransductiveSearchCV(param_grid={"C": [1, 10]}, cv=2),
    ],
    ids=lambda one: " ".join(str(one).split()),
)
def test_weights_that_make_no_problem_are_refused_by_name(estimator, name):
    weights, said = WEIGHTS[name]
    if name == "unlabelled points" and isinstance(estimator, (ct.LaplacianSVC, ct.CalibratedTransduction)):
        pytest.skip("the weights of unlabelled points are not used")
    with pytest.raises(ValueError, match=f"sample_weight.*{said}"):
        clone(estimator).fit(X, Y, sample_weight=weights)
    if name not in ("a class", "unlabelled points"):
        with pytest.raises(ValueError, match="sample_weight"):
            clone(SVM).fit(X, Y).score(X, Y, sample_weight=weights)


@pytest.mark.parametrize("weights", [1.0 + TRUTH, np.where(KNOWN & (TRUTH > 0), 5.0, 1.0)])
def test_the_mean_of_the_labels_is_weighted_as_they_are(weights):
    """By the costs of a problem and by the weights of a fit, and not by those of classes, which are about errors."""
    signs = 2.0 * TRUTH[KNOWN] - 1
    mean = np.average(signs, weights=weights[KNOWN])
    problem = ct.Problem(X, np.where(KNOWN, 2 * TRUTH - 1, 0), C=weights, C_unlabeled=1)
    assert problem.balance_target == pytest.approx(mean)
    plain = ct.TransductiveSVC(balance="labeled")
    for clf in (clone(plain), clone(plain).set_params(C=10 * weights), clone(plain).set_params(class_weight={1: 3.0})):
        clf.fit(X, Y, **({} if np.ndim(clf.C) else {"sample_weight": weights}))
        assert clf.solutions_[0].problem.balance_target == pytest.approx(mean)
    clf = clone(plain).set_params(class_weight={1: 3.0}).fit(X, Y)
    assert clf.solutions_[0].problem.balance_target == pytest.approx(signs.mean())


def doubled(A):
    parts = (np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), A.indptr * 2)
    return sp.csr_matrix(parts, shape=A.shape)


def unsorted(A):
    B = A.copy()
    for first, last in zip(A.indptr, A.indptr[1:], strict=False):
        B.data[first:last], B.indices[first:last] = A.data[first:last][::-1], A.indices[first:last][::-1]
    B.has_sorted_indices = B.has_canonical_format = False
    return B


def with_zeros(A):
    C = A.tocoo()
    rows = np.arange(0, A.shape[0], 3)
    parts = (np.append(C.data, 0 * rows), (np.append(C.row, rows), np.append(C.col, np.full(len(rows), 1))))
    return sp.csr_matrix(parts, shape=A.shape)


def cancelling(A):
    return sp.csr_matrix(
        (np.repeat(A.data, 2) * np.tile([2, -1], A.nnz), np.repeat(A.indices, 2), A.indptr * 2), A.shape
    )


@pytest.mark.parametrize("spelt", [doubled, unsorted, with_zeros, cancelling])
@pytest.mark.parametrize(
    "estimator",
    [
        SVM,
        ct.TransductiveSVC(kernel="poly", balance=None),
        ct.LinearTransductiveSVC(),
        ct.LinearTransductiveSVC(kernel_approximation="nystroem", n_components=10),
        ct.LaplacianSVC(),
        ct.MaxMarginClustering(),
    ],
    ids=lambda one: " ".join(str(one).split()),
)
def test_a_sparse_matrix_is_what_it_stands_for(estimator, spelt):
    dense = np.where(np.abs(X) < 0.4, 0.0, X.round(1)) * 8
    A = sp.csr_matrix(dense)
    B = spelt(A)
    before = [one.copy() for one in (B.data, B.indices, B.indptr)]
    one, other = (clone(estimator).fit(points, Y) for points in (A, B))
    np.testing.assert_allclose(other.decision_function(B), one.decision_function(A), atol=1e-9)
    np.testing.assert_allclose(other.decision_function(dense), one.decision_function(A), atol=1e-6)
    for part, unchanged in zip((B.data, B.indices, B.indptr), before, strict=True):
        np.testing.assert_array_equal(part, unchanged)
    for function in (
        ct.kernels.density_kernel,
        lambda Z: ct.kernels.bagged_cluster_kernel(Z, n_clusters=3, n_runs=3),
        ct.RBF(9.0).diag,
    ):
        np.testing.assert_allclose(function(B), function(A), atol=1e-9)
    if isinstance(estimator, ct.TransductiveSVC):
        weighted = [clone(estimator).fit(Z, Y, sample_weight=1.0 + TRUTH).decision_function(A) for Z in (A, B)]
        np.testing.assert_allclose(*weighted, atol=1e-9)


def requesting(estimator, request=True):
    return clone(estimator).set_fit_request(sample_weight=request)


ROUTED = {
    "calibration": lambda own: ct.CalibratedTransduction(own, cv=2),
    "calibration of a pipeline": lambda own: ct.CalibratedTransduction(
        make_pipeline(StandardScaler().set_fit_request(sample_weight=False), own), cv=2
    ),
    "calibration of a search": lambda own: ct.CalibratedTransduction(
        ct.TransductiveSearchCV(own, {"C": [1, 10]}, cv=2), cv=2
    ),
    "search": lambda own: ct.TransductiveSearchCV(own, {"C": [1, 10]}, cv=2),
    "search in pipelines": lambda own: ct.TransductiveSearchCV(
        make_pipeline(StandardScaler().set_fit_request(sample_weight=False), own), {"transductivesvc__C": [1, 10]}, cv=2
    ),
}


@pytest.mark.parametrize("name", ROUTED)
def test_weights_go_where_they_are_requested(name):
    weights = np.where(TRUTH, 9.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        found = ROUTED[name](requesting(SVM)).fit(X, Y, sample_weight=weights)
        without = ROUTED[name](requesting(SVM)).fit(X, Y)
        outputs = [
            getattr(one, "predict_proba", getattr(one, "decision_function", None))(X) for one in (found, without)
        ]
        assert np.abs(outputs[0] - outputs[1]).max() > 1e-4
        if name.startswith("calibration"):
            deaf = ROUTED[name](requesting(SVM, False)).fit(X, Y, sample_weight=weights)
            assert np.abs(found.predict_proba(X) - deaf.predict_proba(X)).max() > 1e-4
        if name != "search in pipelines":  # whose transformer is fitted apart
            with pytest.raises(Exception, match="not explicitly set as requested"):
                ROUTED[name](SVM).fit(X, Y, sample_weight=weights)
    if name == "calibration":
        plain = ROUTED[name](SVM).fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(found.predict_proba(X), plain.predict_proba(X), atol=1e-9)


def test_routing_of_defaults_and_scorers():
    weights = np.where(TRUTH, 9.0, 1.0)
    scorer, deaf = make_scorer(accuracy_score), make_scorer(accuracy_score)
    with sklearn.config_context(enable_metadata_routing=True):
        assert ct.CalibratedTransduction(cv=2).fit(X, Y, sample_weight=weights).classes_.tolist() == [0, 1]
        deaf.set_score_request(sample_weight=False)
        scorer = ct.selection.labeled_scorer(scorer.set_score_request(sample_weight=True))
        grid = GridSearchCV(requesting(SVM), {"C": [1]}, cv=ct.selection.LabeledKFold(2), scoring=scorer)
        assert grid.fit(X, Y, sample_weight=weights).best_score_ > 0.6
        pool = GridSearchCV(
            ct.selection.WithUnlabeled(requesting(SVM), X[~KNOWN]), {"estimator__C": [1]}, cv=2, scoring=deaf
        )
        assert pool.fit(X[KNOWN], TRUTH[KNOWN], sample_weight=weights[KNOWN]).best_score_ > 0.6
    with pytest.raises(ValueError, match=r"sample_weight: estimator=CompactMarginClassifier.* takes no weights"):
        ct.selection.WithUnlabeled(ct.CompactMarginClassifier(), X[~KNOWN]).fit(X[KNOWN], TRUTH[KNOWN], weights[KNOWN])


@pytest.mark.parametrize("C", [1e8, 1e9])
@pytest.mark.parametrize("solver", ["CLARABEL", "OSQP"])
def test_a_solver_that_fails_is_said_to(C, solver):
    """A supervised SVM has a solution, whatever its cost, so that no balance is missing."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(120, 2))
    labels = (Z[:, 0] + rng.normal(size=120) > 0).astype(int)
    with pytest.raises(ValueError, match=rf"fails at costs up to C=1e\+0{np.log10(C):.0f}.*a smaller C") as told:
        ct.TransductiveSVC(C=C, gamma=0.5, unlabeled=None, cvxpy_solver=solver).fit(Z, labels)
    assert "balance" not in str(told.value)
