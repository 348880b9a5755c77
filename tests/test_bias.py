"""What becomes of the bias: the two ways of meeting a balance are one, by hand and by solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.instance.space import Bias


@pytest.mark.parametrize(
    ("fitted", "target", "way", "centred", "with_x0", "free"),
    [
        (True, None, "centring", False, False, True),
        (False, None, "centring", False, False, False),
        (True, 0.2, "centring", True, False, False),
        (True, 0.2, "x0", False, True, True),
        (False, 0.2, "centring", False, True, False),
        (False, 0.2, "x0", False, True, False),
    ],
)
def test_every_case(fitted, target, way, centred, with_x0, free):
    bias = Bias(fitted, target, np.array([1, 2]), way)
    assert (bias.centred, bias.with_x0, bias.free) == (centred, with_x0, free)
    assert bias.offset == (target if centred else 0.0)


@given(st.integers(0, 10_000), st.floats(-0.9, 0.9))
@settings(max_examples=50, deadline=None)
def test_centring_is_the_multiplier_of_the_mean(seed, target):
    """With γ₀ = -Σ γ outputs of the expansion are those of the centred kernel, and the bias makes the mean c."""
    rng = np.random.default_rng(seed)
    n, members = 9, rng.choice(9, 4, replace=bool(seed % 2))  # points of a balance may be there twice
    Z = rng.normal(size=(n, 3))
    gamma, K = rng.normal(size=n), Z @ Z.T
    bias = Bias(True, target, members)
    a = bias.spread(gamma, -float(gamma.sum()))
    assert a.sum() == pytest.approx(0, abs=1e-12)
    centred = Z - Z[members].mean(axis=0)
    outputs = K @ a
    b = bias.of_origin(outputs, np.nan)
    np.testing.assert_allclose(outputs + b, centred @ centred.T @ gamma + target, atol=1e-10)
    assert bias.mean(outputs + b) == pytest.approx(target)


def test_a_solvers_own_bias_is_kept_where_nothing_fixes_it():
    outputs = np.arange(4.0)
    assert Bias(True, None, np.array([0])).of_origin(outputs, 0.7) == 0.7
    assert Bias(False, None, np.array([0])).of_origin(outputs, 0.7) == 0.0
    assert Bias(False, 0.5, np.array([0])).of_origin(outputs, 0.7) == 0.0


def test_both_ways_have_the_same_solution():
    rng = np.random.default_rng(0)
    problem = ct.Problem(rng.normal(size=(30, 2)), np.resize([1, -1, 0, 0], 30), kernel=ct.RBF(1.0), C=3, balance=0.1)
    step = ct.cccp_tsvm().on(problem).step(rng.normal(size=30))
    found = [
        solver(problem, balance_by=way).solve(step)
        for way in ("centring", "x0")
        for solver in (
            ct.modeling.CvxpySolver,
            lambda p, balance_by: ct.solvers.NativeSolver(p, tol=1e-8, balance_by=balance_by),
        )
    ]
    for solution in found[1:]:
        assert solution.primal == pytest.approx(found[0].primal, rel=1e-5)
        np.testing.assert_allclose(solution.outputs, found[0].outputs, atol=1e-3)
