"""One decision function for new points, from solutions, models and estimators."""

import numpy as np
import pytest
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm.decision import DecisionFunctions
from convex_tsvm.persistence import FittedModel


def test_a_linear_solution_predicts_a_million_sparse_rows_without_a_kernel_matrix(monkeypatch):
    """A kernel value between new points and training points is an error here; their matrix would have 10⁹ entries."""
    rng = np.random.default_rng(0)
    X = sp.random(1000, 500, density=0.02, random_state=0, format="csr")
    problem = ct.Problem(X, np.where(np.arange(1000) < 40, np.resize([1, -1], 1000), 0))
    solution = ct.cccp(ct.cccp_tsvm(), problem)

    def forbidden(*args):
        raise AssertionError("a kernel matrix was asked for")

    monkeypatch.setattr(ct.Linear, "__call__", forbidden)
    columns = rng.integers(0, 500, 3 * 10**6)
    new = sp.csr_matrix((np.ones(3 * 10**6), columns, np.arange(0, 3 * 10**6 + 1, 3)), shape=(10**6, 500))
    outputs = solution.decision_function(new)
    assert outputs.shape == (10**6,)
    sample = rng.integers(0, 10**6, 20)
    np.testing.assert_allclose(outputs[sample], new[sample] @ solution.weights + solution.bias)
    np.testing.assert_allclose(solution.decision_function(X), solution.scores, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed", "callable", "deformed"])
def test_solution_model_and_estimator_say_the_same(kernel, moons):
    X, _, y = moons
    points = X @ X.T if kernel == "precomputed" else X
    given = {"callable": lambda A, B: A @ B.T + 1, "deformed": ct.kernels.laplacian_kernel(ct.RBF(0.5), X, 1.0)}.get(
        kernel, kernel
    )
    problem = ct.Problem(points, y, kernel=given, C=3)
    solution = ct.cccp(ct.cccp_tsvm(), problem)
    model = FittedModel.from_solutions([solution], np.array([-1, 1]))
    new = points[::3]
    np.testing.assert_allclose(solution.decision_function(new), solution.scores[::3], atol=1e-6)
    np.testing.assert_array_equal(model.decision_function(new), solution.decision_function(new))
    np.testing.assert_array_equal(model.predict(new), solution.predict(new))


def test_new_points_come_in_parts(monkeypatch, moons):
    """However many new points there are, the kernel values of a few are held at a time."""
    X, _, y = moons
    solution = ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y, kernel=ct.RBF(0.5)))
    whole = solution.decision_function(X)
    monkeypatch.setattr("convex_tsvm.decision.OUTPUT_BYTES_AT_ONCE", 8 * len(X) * 7)
    sizes = []
    original = DecisionFunctions._outputs
    monkeypatch.setattr(
        DecisionFunctions, "_outputs", lambda self, part: sizes.append(part.shape[0]) or original(self, part)
    )
    np.testing.assert_allclose(solution.decision_function(X), whole)
    assert len(sizes) > 5
    assert solution.decision_function(X[:0]).shape == (0,)


def test_points_that_do_not_fit(moons):
    X, _, y = moons
    solution = ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y, kernel=ct.RBF(0.5)))
    with pytest.raises(ValueError, match="X has 3 features, but the model was fitted with 2"):
        solution.decision_function(np.zeros((1, 3)))
    with pytest.raises(ValueError, match=r"X has shape \(2,\); it must be 2-dimensional"):
        solution.decision_function(X[0])
