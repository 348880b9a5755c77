"""What fits cost is said before they begin, and in every estimator's docstring."""

import warnings

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.estimators.advice import warn_of_cost

ESTIMATORS = [
    ct.TransductiveSVC,
    ct.LinearTransductiveSVC,
    ct.LaplacianSVC,
    ct.CompactMarginClassifier,
    ct.RelativeMarginClassifier,
    ct.SafeTransductiveSVC,
    ct.ExactTransductiveSVC,
    ct.SDPTransduction,
    ct.SubspaceSDPTransduction,
    ct.SpectralTransduction,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_docstrings_say_how_time_grows(estimator):
    assert "Time grows" in estimator.__doc__.split("Parameters")[0]


@pytest.mark.parametrize(
    ("make", "n", "said"),
    [
        (ct.SDPTransduction, 900, "SDPTransduction: 896 unlabelled points take about"),
        (lambda: ct.TransductiveSVC(method="gradient"), 6000, "TransductiveSVC: 6000 points take about"),
        (lambda: ct.TransductiveSVC(C_manifold=1.0), 20000, "LaplacianSVC needs the rows of labelled points only"),
    ],
)
def test_a_fit_that_takes_minutes_says_so_before_it_begins(make, n, said, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), np.full(n, -1)
    y[:4] = [0, 1, 0, 1]
    clf = make()

    def begun(*_):
        raise RuntimeError("it has begun")

    monkeypatch.setattr(type(clf), "_solve", begun)
    with pytest.warns(UserWarning, match=said), pytest.raises(RuntimeError, match="it has begun"):
        clf.fit(X, y)
    # A tenth of the points is no matter.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="it has begun"):
            clf.fit(X[: n // 10], y[: n // 10])


def test_classes_count_and_hours_are_hours():
    measured = {"measured": 100, "seconds": 50.0, "power": 2.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_cost("Some", 100, "points", 2, "take fewer", **measured)
    with pytest.warns(UserWarning, match="100 points for each of 3 classes take about 2 minutes.*take fewer"):
        warn_of_cost("Some", 100, "points", 3, "take fewer", **measured)
    with pytest.warns(UserWarning, match="about 14 hours"):
        warn_of_cost("Some", 3200, "points", 1, "take fewer", **measured)
