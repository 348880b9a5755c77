"""Methods on the smooth primal round kinks that open upwards: what that costs is within the tolerance, or is said."""

import warnings

import numpy as np
import pytest

import convex_tsvm as ct

METHODS = [ct.newton, ct.gradient, ct.continuation]


def convex_case(seed):
    """A convex formulation whose groups pay losses with kinks at which most of their points are, and its problem."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 40))
    truth = np.resize([1.0, -1.0], n)
    X, y = rng.normal(size=(n, 2)) + truth[:, None], np.where(np.arange(n) < n // 3, truth, 0)
    C = 10 ** rng.uniform(-1, 2.5)
    kernel = [ct.Linear(), ct.RBF(1.0), ct.RBF(0.2)][seed % 3]
    problem = ct.Problem(X, y, kernel=kernel, C=C, C_unlabeled=0.1 * C)
    loss = [ct.losses.epsilon_insensitive(0.0), ct.losses.epsilon_insensitive(0.1), ct.hinge()][seed // 3 % 3]
    group = ct.PointGroup(list(range(n - n // 3, n)), loss, 10 ** rng.uniform(-1, 2.5))
    return ct.Formulation(ct.hinge(), None, groups=[group]), problem


@pytest.mark.parametrize("method", METHODS)
def test_what_is_called_converged_is_near_the_optimum(method):
    n_converged = 0
    for seed in range(18):
        model, problem = convex_case(seed)
        optimum = ct.cccp(model, problem, tol=1e-7).objective
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = method(model, problem)
        if found.status == "converged":
            n_converged += 1
            assert found.objective <= optimum * 1.005
            assert found.history[-1].objective == pytest.approx(found.objective, rel=1e-12)
        else:
            assert any("gap" in str(one.message) or "kinks" in str(one.message) for one in told)
        assert found.objective >= optimum * (1 - 1e-6)
    assert n_converged >= 12
