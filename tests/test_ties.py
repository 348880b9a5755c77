"""Discrete results do not hang on rounding: what is equal is chosen among by rules."""

import warnings

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.kernels import neighbor_graph
from convex_tsvm.methods.spectral import spectral_subspace
from convex_tsvm.ties import eigenvectors, falling, rounded

LINE = np.array([[-1.2], [-1.1], [-0.9], [0.9], [1.0], [1.2]])
SQUARE = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1], [1.2, 1.2], [1.2, -1.2], [-1.2, 1.2], [-1.2, -1.2]])
GRID = np.array([[i, j] for i in range(4) for j in range(4)], dtype=float)


def nearly(X):
    """An array and others that differ from it by rounding."""
    signs = np.random.default_rng(0).choice([-1, 1], (4, *np.shape(X)))
    return [X, X + 1e-14, *(X * (1 + 1e-14 * one) for one in signs)]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "ramp"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("X", "turned"), [(LINE, False), (LINE, True), (SQUARE, False), (SQUARE, True)])
def test_the_first_point_is_in_cluster_0(X, turned, kernel, loss, nudged):
    X = nudged(X[::-1] if turned else X)
    found = {
        tuple(ct.MaxMarginClustering(kernel=kernel, sigma=1.0 if kernel == "rbf" else None, loss=loss).fit(Z).labels_)
        for Z in nearly(X)
    }
    assert len(found) == 1
    assert next(iter(found))[0] == 0


@pytest.mark.parametrize("method", ["cccp", "switching", "annealing", "linearization", "gradient"])
@pytest.mark.parametrize("balance", [0.0, ("exact", 0.5)])
def test_without_labels_every_method_has_the_first_point_in_class_0(method, balance, nudged):
    y = np.full(6, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for X in nearly(nudged(LINE)):
            clf = ct.TransductiveSVC(kernel="linear", method=method, balance=balance).fit(X, y)
            assert clf.transduction_.tolist() == [0, 0, 0, 1, 1, 1]
        clf = ct.SpectralTransduction(balance=balance, sigma=1.0, n_components=2).fit(nudged(LINE), y)
    assert clf.transduction_.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_balance_that_tells_clusters_apart_says_which_is_which(nudged):
    X = np.concatenate([np.linspace(2, 3, 3), np.linspace(-3, -2, 9)])[:, None]
    for share, labels in ((0.25, [1] * 3 + [0] * 9), (0.75, [0] * 3 + [1] * 9)):
        found = ct.MaxMarginClustering(sigma=2.0, balance=("exact", share)).fit(nudged(X))
        assert found.labels_.tolist() == labels


@pytest.mark.parametrize("X", [SQUARE, GRID, np.eye(5)], ids=["square", "grid", "simplex"])
def test_eigenvectors_of_equal_eigenvalues_are_those_of_a_rule(X):
    K = ct.RBF(1.0)(X, X)
    values, vectors = np.linalg.eigh(K)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(len(K), len(K))))[0]
    again, others = np.linalg.eigh(turned @ K @ turned.T)
    one = eigenvectors(values, vectors, 4)
    other = eigenvectors(again, turned.T @ others, 4)
    np.testing.assert_allclose(one[0], other[0], atol=1e-9)
    np.testing.assert_allclose(one[1], other[1], atol=1e-6)
    np.testing.assert_allclose(K @ one[1], one[1] * one[0], atol=1e-9)
    np.testing.assert_allclose(one[1].T @ one[1], np.eye(4), atol=1e-9)


def test_of_equally_distant_neighbours_the_first_are_taken(nudged):
    for X in nearly(nudged(GRID)):
        assert [np.flatnonzero(row).tolist() for row in neighbor_graph(X, 1).toarray()[:4]] == [
            [1, 4],
            [0, 2, 5],
            [1, 3, 6],
            [2, 7],
        ]
        np.testing.assert_array_equal(neighbor_graph(X, 3).toarray(), neighbor_graph(GRID, 3).toarray())
    assert np.array_equal(np.flatnonzero(neighbor_graph(np.zeros((6, 1)), 2).toarray()[5]), [0, 1])


def test_spectral_subspaces_of_symmetric_points_do_not_turn(nudged):
    expected = spectral_subspace(ct.RBF(1.0)(SQUARE, SQUARE), np.zeros(8), 3)[0]
    for X in nearly(nudged(SQUARE)):
        np.testing.assert_allclose(spectral_subspace(ct.RBF(1.0)(X, X), np.zeros(8), 3)[0], expected, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_equal_numbers_keep_their_order_and_outliers_hide_nothing(scale):
    values = scale * np.array([1.0, 3.0, 1.0 + 1e-14, 2.0, 3.0 - 1e-14, 1e9, 0.0, 1e-16, -1e-16])
    assert falling(values).tolist() == [5, 1, 4, 3, 0, 2, 6, 7, 8]
    assert falling([1.0, -np.inf, np.inf, 1.0]).tolist() == [2, 0, 3, 1]
    assert rounded([]).shape == rounded(np.zeros(0)).shape == (0,)
    assert falling(np.zeros(3)).tolist() == [0, 1, 2]


def test_a_point_on_the_boundary_is_of_the_second_class_and_a_tie_of_the_first(nudged):
    """The middle of mirror images has the output 0, up to rounding."""
    X = np.array([[-1.0], [0.0], [1.0], [-0.1], [0.1]])
    y = np.array([0, -1, 1, -1, -1])
    for Z in nearly(nudged(X)):
        clf = ct.TransductiveSVC(kernel="linear", balance=None, method="cccp").fit(Z, y)
        assert clf.transduction_.tolist() == [0, 1, 1, 0, 1]
    assert ct.decision.chosen_classes(np.array([[0.3, 0.1 + 0.2, -1], [0.1 + 0.2, 0.3, 1]])).tolist() == [0, 2]
    assert ct.decision.chosen_classes(np.array([[0.1 + 0.2, 0.3, 0]])).tolist() == [0]


def test_candidates_with_equal_scores_are_taken_in_their_order(nudged):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    X = rng.normal(4 * truth[:, None] - 2, 1, (40, 2))
    y = np.where(np.arange(40) % 4 == 0, truth, -1)
    for Z in nearly(nudged(X)):
        search = ct.TransductiveSearchCV(param_grid={"C": [3.0, 1.0, 10.0], "sigma": [2.0, 1.0]}, cv=3, ties="first")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(Z, y)
        assert search.best_params_ == {"C": 3.0, "sigma": 2.0}
