"""The classifiers of the Compact Margin Machine's family, and the Laplacian SVM."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import convex_tsvm as ct
from convex_tsvm import CompactMarginClassifier, LaplacianSVC, RelativeMarginClassifier
from convex_tsvm.cli import main

ESTIMATORS = [CompactMarginClassifier, RelativeMarginClassifier, LaplacianSVC]


@pytest.mark.filterwarnings("ignore:y has no unlabelled point")
@parametrize_with_checks(
    [*(make() for make in ESTIMATORS), *(make(unlabeled=None) for make in ESTIMATORS)],
    expected_failed_checks=lambda e: (
        (
            {"check_classifiers_classes": "labels {-1, +1}, of which -1 marks unlabelled points"}
            if e.unlabeled == -1
            else {}
        )
        | (
            {
                f"check_sample_weight_equivalence_on_{kind}_data": "a point of weight 0 is still one of the graph"
                for kind in ("dense", "sparse")
            }
            if isinstance(e, LaplacianSVC)
            else {}
        )
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(moons):
    X, truth, y = moons
    return X, (truth > 0).astype(int), np.where(y == 0, -1, (y > 0).astype(int)), y


@pytest.mark.parametrize("make", ESTIMATORS)
def test_transduction_and_induction(make, data, tmp_path):
    X, truth, y, _ = data
    clf = make(sigma=0.5, C=10).fit(X, y)
    assert clf.score(X, truth) > 0.85
    np.testing.assert_allclose(clf.decision_function(X), clf.transduction_scores_, atol=1e-6)
    assert clone(clf).get_params() == clf.get_params()
    assert clf.lower_bound_ <= clf.objective_
    # A saved model predicts the same: that of the Laplacian SVM without its graph.
    ct.save_model(clf, tmp_path / "model.npz")
    np.testing.assert_allclose(ct.load_model(tmp_path / "model.npz").decision_function(X), clf.decision_function(X))


def test_the_compact_margin_classifier_minimizes_eq_8(data):
    X, _, y, signs = data
    problem = ct.Problem(X, signs, kernel=ct.RBF(0.5), C=10, C_unlabeled=2)
    for C_compact, cost in ((0.0, 0.0), (1.0, 1.0), ("tenth", 0.2), (None, 2.0), (np.inf, np.inf)):
        clf = CompactMarginClassifier(
            sigma=0.5, C=10, C_unlabeled=2, C_compact=C_compact, epsilon=1.1, s=0.0, balance="labeled"
        )
        clf.fit(X, y)
        weights = ct.formulations.compactness_weights(problem, cost)
        solution = ct.cccp(ct.compact_margin(1.1, *weights), problem)
        assert clf.objective_ == pytest.approx(solution.objective)
    assert np.abs(clf.transduction_scores_).max() <= 1.1 + 1e-2
    # Without compactness it is the TSVM with the symmetric hinge.
    tsvm = ct.TransductiveSVC(sigma=0.5, C=10, C_unlabeled=2, loss="hinge", method="cccp").fit(X, y)
    none = CompactMarginClassifier(sigma=0.5, C=10, C_unlabeled=2, C_compact=0.0, s=0.0).fit(X, y)
    assert none.objective_ == pytest.approx(tsvm.objective_)
    with pytest.raises(ValueError, match="C_compact='fifth' must be a number >= 0, inf, 'tenth' or None"):
        CompactMarginClassifier(C_compact="fifth").fit(X, y)


def test_the_relative_margin_classifier_minimizes_eq_9(data):
    X, _, y, signs = data
    for C_compact in (2.0, "balanced", np.inf):
        clf = RelativeMarginClassifier(sigma=0.5, C=10, C_compact=C_compact, epsilon=1.1, tol=1e-6).fit(X, y)
        problem = ct.Problem(X, signs, kernel=ct.RBF(0.5), C=10, C_unlabeled="balanced" if C_compact != 2 else 2)
        cost = {2.0: 2.0, "balanced": 10 * 8 / 72}.get(C_compact, np.inf)
        solution = ct.cccp(ct.relative_margin(1.1, cost / 10), problem, solver="cvxpy")
        assert clf.objective_ == pytest.approx(solution.objective, rel=1e-4)
        assert clf.n_iter_ == 1
        assert clf.gap_ == pytest.approx(0, abs=1e-4)
    known = y >= 0
    alone = RelativeMarginClassifier(sigma=0.5, C=10, C_compact=np.inf, epsilon=1.1, semi_supervised=False, tol=1e-6)
    scores = alone.fit(X, y).transduction_scores_
    assert np.abs(scores[known]).max() <= 1.1 + 1e-3
    with pytest.warns(UserWarning, match="no unlabelled point"):
        few = clone(alone).fit(X[known], y[known])
    np.testing.assert_allclose(few.decision_function(X), scores, atol=1e-3)


def test_the_laplacian_svm_sees_the_graph(data):
    X, truth, y, _ = data
    with_graph = LaplacianSVC(sigma=0.3, C=10, C_manifold=10).fit(X, y)
    without = LaplacianSVC(sigma=0.3, C=10, C_manifold=0).fit(X, y)
    assert with_graph.score(X, truth) > without.score(X, truth)
    linear = LaplacianSVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(X @ linear.coef_.ravel() + linear.intercept_, linear.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_three_classes(make):
    X, k = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 5 == 0, k, -1)
    clf = make(gamma=0.5, C=5).fit(X, y)
    assert clf.transduction_scores_.shape == (150, 3)
    assert clf.score(X, k) > 0.85


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (CompactMarginClassifier(epsilon=-1), "epsilon=-1"),
        (CompactMarginClassifier(C_compact=-1), "C_compact=-1"),
        (CompactMarginClassifier(C_compact="much"), "C_compact='much'"),
        (CompactMarginClassifier(C_compact=np.inf, epsilon=0), "epsilon=0"),
        (CompactMarginClassifier(C_compact=np.inf, epsilon=0.2, balance=0.5), r"mean output 0.5 .* \[-0.2, 0.2\]"),
        (CompactMarginClassifier(s=1), "s=1"),
        (RelativeMarginClassifier(C_compact=-1), "C_compact=-1"),
        (RelativeMarginClassifier(C_compact="much"), "C_compact='much'"),
        (RelativeMarginClassifier(epsilon=float("nan")), "epsilon=nan"),
        (LaplacianSVC(C_manifold=-1), "C_manifold=-1"),
        (LaplacianSVC(n_neighbors=0), "n_neighbors=0"),
        (LaplacianSVC(kernel="precomputed"), "cannot be deformed"),
    ],
)
def test_bad_parameters_are_named(estimator, said, data):
    X, _, y, _ = data
    with pytest.raises(ValueError, match=said):
        estimator.fit(np.eye(len(X)) if estimator.kernel == "precomputed" else X, y)


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_they_are_compared_on_the_command_line(capsys, tmp_path):
    options, margin, graph = ["--sigma", "0.3", "--C", "10"], ["--epsilon", "1.2"], ["--n-neighbors", "5"]
    status, out, _ = run(
        capsys, "compare", "two_moons", *options, *margin, *graph, "--methods", "svm,cccp,cmm,rmm,lapsvm",
        "--solver", "native,cvxpy", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert status == 0
    assert [line["method"] for line in found["agreement"]] == ["svm", "cccp", "cmm", "rmm", "lapsvm"]
    assert all(line["objective_difference"] < 1e-3 for line in found["agreement"])
    errors = {r["method"]: r["error_unlabeled"] for r in found["results"] if r["solver"] == "native"}
    assert errors["cmm"] < errors["svm"]
    model = tmp_path / "model.npz"
    status, out, _ = run(capsys, "solve", "two_moons", *options, *graph, "--method", "lapsvm", "--save", model)
    assert (status, model.exists()) == (0, True)
    assert run(capsys, "verify", "two_moons", *options, *margin, "--method", "cmm", "--points", "60")[0] == 0


def test_bad_options_are_one_line(capsys):
    for options, said in [
        (["--method", "cmm", "--epsilon", "-1"], "epsilon=-1.0"),
        (["--method", "rmm", "--C-compact", "-2"], "C_compact=-2.0"),
        (["--method", "lapsvm", "--C-manifold", "-2"], "C_manifold=-2.0"),
        (["--method", "cmm", "--C-compact", "inf", "--epsilon", "0.01"], "mean output"),
    ]:
        more = ["--balance", "0.5"] if "inf" in options else []
        status, _, err = run(capsys, "solve", "two_moons", *options, *more)
        assert status == 2
        assert said in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("C_compact", ["tenth", np.inf])
def test_the_compact_margin_classifier_exactly(C_compact):
    rng, truth = np.random.default_rng(0), np.resize([1, 0], 20)
    X = rng.normal(size=(20, 3)) + (2 * truth - 1)[:, None] * 0.6
    y = np.where(np.arange(20) < 6, truth, -1)
    own = {"C_compact": C_compact, "epsilon": 1.2, "sigma": 2.0}
    exact = CompactMarginClassifier(method="exact", gap=1e-4, **own).fit(X, y)
    cccp = CompactMarginClassifier(**own).fit(X, y)
    assert exact.status_ == "converged"
    assert exact.gap_ <= 1e-4
    assert exact.lower_bound_ <= exact.objective_ <= cccp.objective_ + 1e-6
    assert cccp.objective_ >= exact.lower_bound_
    if C_compact == np.inf:
        assert np.abs(exact.transduction_scores_).max() <= 1.2 + 1e-6
    np.testing.assert_array_equal(exact.predict(X), (exact.decision_function(X) > 0).astype(int))
    # Without unlabelled points both are one convex problem.
    both = [CompactMarginClassifier(method=method, **own).fit(X, truth) for method in ("exact", "cccp")]
    assert both[0].objective_ == pytest.approx(both[1].objective_, rel=1e-6)
    with pytest.raises(ValueError, match="method='best' must be 'cccp' or 'exact'"):
        CompactMarginClassifier(method="best").fit(X, y)
