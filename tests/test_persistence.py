"""Saved models: arrays and JSON, complete or not there, and nothing that runs."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm import TransductiveSVC


@pytest.fixture
def data(moons):
    X, _, y = moons
    return X, np.where(y == 0, -1, (y > 0).astype(int))


@pytest.mark.parametrize(
    "options",
    [
        dict(sigma=0.5),
        dict(kernel="linear"),
        dict(kernel="poly", degree=2, coef0=1.0),
        dict(sigma=0.5, sparse=True),
        dict(kernel="precomputed"),
    ],
    ids=str,
)
def test_round_trip(options, data, tmp_path):
    X, y = data
    options = dict(options)
    X = sp.csr_matrix(X) if options.pop("sparse", False) else X @ X.T if "precomputed" in options.values() else X
    clf = TransductiveSVC(**options).fit(X, y)
    path = tmp_path / "model.npz"
    ct.save_model(clf, path)
    model = ct.load_model(path)
    np.testing.assert_array_equal(model.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), clf.predict(X))
    assert model.parameters["C"] == clf.C


def test_several_classes_with_names(tmp_path):
    from sklearn.datasets import load_iris

    X, truth = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)
    y = np.where(np.arange(150) % 5 == 0, names[truth], "?")
    clf = TransductiveSVC(unlabeled="?").fit(X, y)
    ct.save_model(clf, tmp_path / "iris.npz")
    np.testing.assert_array_equal(ct.load_model(tmp_path / "iris.npz").predict(X), clf.predict(X))


def test_one_norm_model(moons, tmp_path):
    X, _, y = moons
    model = ct.Formulation(ct.hinge(), ct.symmetric_hinge(), regularizer="l1")
    solution = ct.cccp(model, ct.Problem(X, y), solver="cvxpy")
    fitted = ct.persistence.FittedModel.from_solutions([solution], np.array(["a", "b"]))
    ct.save_model(fitted, tmp_path / "model.npz")
    np.testing.assert_allclose(ct.load_model(tmp_path / "model.npz").decision_function(X), solution.scores, atol=1e-9)


def test_nothing_in_the_file_is_pickled(data, tmp_path):
    X, y = data
    ct.save_model(TransductiveSVC().fit(X, y), tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_files_that_are_no_models(data, tmp_path):
    X, y = data
    good = tmp_path / "good.npz"
    ct.save_model(TransductiveSVC().fit(X, y), good)
    content = good.read_bytes()
    bad = tmp_path / "bad.npz"
    for damaged in (content[: len(content) // 2], b"", b"not a model", content[:-30]):
        bad.write_bytes(damaged)
        with pytest.raises(ValueError, match="is not a model saved by convex_tsvm"):
            ct.load_model(bad)
    np.savez(bad, X=X)
    with pytest.raises(ValueError, match="is not a model"):
        ct.load_model(bad)
    np.save(bad.with_suffix(".npy"), np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="is not a model"):
        ct.load_model(bad.with_suffix(".npy"))
    with np.load(good) as file:
        arrays = dict(file)
    np.savez(bad, **{**arrays, "intercept": np.zeros(3)})
    with pytest.raises(ValueError, match="do not fit together"):
        ct.load_model(bad)
    with pytest.raises(FileNotFoundError):
        ct.load_model(tmp_path / "missing.npz")


def test_a_failed_save_leaves_the_old_file(data, tmp_path, monkeypatch):
    X, y = data
    path = tmp_path / "model.npz"
    clf = TransductiveSVC().fit(X, y)
    ct.save_model(clf, path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        ct.save_model(clf, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


def test_what_cannot_be_saved(data, tmp_path):
    X, y = data
    with pytest.raises(ValueError, match="must be a fitted estimator"):
        ct.save_model(TransductiveSVC(), tmp_path / "model.npz")
    clf = TransductiveSVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ValueError, match="kernel is a callable"):
        ct.save_model(clf, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_new_points_must_fit(data, tmp_path):
    X, y = data
    model = TransductiveSVC().fit(X, y).model_
    with pytest.raises(ValueError, match="X has 3 features, but the model was fitted with 2"):
        model.decision_function(np.zeros((1, 3)))


def test_a_pipeline_is_told_what_can_be_saved(data, tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = data
    pipeline = make_pipeline(StandardScaler(), TransductiveSVC(C=10)).fit(X, y)
    with pytest.raises(ValueError, match=r"only the last step can be saved.*save_model\(pipeline\[-1\]"):
        ct.save_model(pipeline, tmp_path / "model.npz")
    ct.save_model(pipeline[-1], tmp_path / "model.npz")
    search = ct.TransductiveSearchCV(param_grid={"C": [1.0, 10.0]}, cv=2).fit(X, y)
    ct.save_model(search, tmp_path / "search.npz")
    np.testing.assert_array_equal(ct.load_model(tmp_path / "search.npz").predict(X), search.predict(X))


@pytest.fixture
def named(data, tmp_path):
    """A model of columns with names, the points as a DataFrame, and the estimator."""
    X, y = data
    frame = pd.DataFrame(X, columns=["length", "width"])
    clf = TransductiveSVC().fit(frame, y)
    ct.save_model(clf, tmp_path / "model.npz")
    return ct.load_model(tmp_path / "model.npz"), frame, clf


def test_a_saved_model_knows_the_names_of_its_features(named):
    model, frame, clf = named
    assert model.feature_names == ("length", "width")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(frame), clf.predict(frame))


@pytest.mark.parametrize(
    "columns", [["width", "length"], ["length", "height"], ["length", "width", "kind"], ["length"], list("abcdefgh")]
)
def test_other_names_are_complained_of_as_by_scikit_learn(columns, named):
    model, _frame, clf = named
    other = pd.DataFrame(np.zeros((3, len(columns))), columns=columns)
    with pytest.raises(ValueError, match="The feature names should match") as expected:
        clf.predict(other)
    for call in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="The feature names should match") as found:
            call(other)
        assert str(found.value) == str(expected.value)


def test_names_that_are_missing_are_warned_of_as_by_scikit_learn(named, data):
    model, frame, _ = named
    with pytest.warns(UserWarning, match="X does not have valid feature names, but FittedModel was fitted with"):
        model.predict(frame.to_numpy())
    X, y = data
    with pytest.warns(UserWarning, match="X has feature names, but FittedModel was fitted without"):
        TransductiveSVC().fit(X, y).model_.predict(frame)


def test_models_without_names_are_read_as_before(named, tmp_path):
    """Files of earlier versions have no such entries in their headers."""
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    for key in ("feature_names", "label_name"):
        del header[key]
    np.savez(tmp_path / "old.npz", **{**arrays, "header": np.array(json.dumps(header))})
    model = ct.load_model(tmp_path / "old.npz")
    assert model.feature_names is None
    assert model.label_name is None
    header["feature_names"] = ["length"]
    np.savez(tmp_path / "wrong.npz", **{**arrays, "header": np.array(json.dumps(header))})
    with pytest.raises(ValueError, match="it has 1 names of 2 features"):
        ct.load_model(tmp_path / "wrong.npz")


def test_a_search_saves_the_names_too(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["length", "width"])
    search = ct.TransductiveSearchCV(param_grid={"C": [1.0, 10.0]}, cv=2).fit(frame, y)
    ct.save_model(search, tmp_path / "search.npz")
    assert ct.load_model(tmp_path / "search.npz").feature_names == ("length", "width")
