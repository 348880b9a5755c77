"""Smooth losses: closed forms against numerical integration, slopes and curvatures against finite differences."""

import itertools

import numpy as np
import pytest
import scipy.integrate
from hypothesis import given
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.losses import annealed, smoothed, without_convex_kinks

T = np.linspace(-2.3, 2.2, 37)

PLQS = {
    "squared hinge": ct.squared_hinge(),
    "hinge": ct.hinge(),
    "symmetric squared hinge": ct.losses.symmetric_squared_hinge(),
    "ramp": ct.symmetric_ramp(-0.3),
    "flat": ct.losses.flat_newton(),
}


def slopes_are_right(loss, t=T, tol=1e-5):
    h = 1e-6
    np.testing.assert_allclose(loss.derivative(t), (loss(t + h) - loss(t - h)) / (2 * h), atol=tol)
    bend = (loss.derivative(t + h) - loss.derivative(t - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(t), bend, atol=10 * tol)
    np.testing.assert_allclose(loss.reflect()(t), loss(-t), atol=1e-12)


def density(z, loss, width, t):
    return loss(t + width * z) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)


@pytest.mark.parametrize("width", [0.05, 0.4, 2.0])
@pytest.mark.parametrize("name", PLQS)
def test_smoothing_is_a_convolution(name, width):
    loss = PLQS[name]
    found = smoothed(loss, width)
    slopes_are_right(found)
    for t in (-1.7, -0.2, 0.0, 0.9):
        # By Gauss-Legendre rules on each piece of the integrand, whose pieces are analytic.
        ends = np.clip(np.concatenate([[-10], (loss.breaks - t) / width, [10]]), -10, 10)
        total = 0.0
        for a, b in itertools.pairwise(ends):
            for c in np.linspace(a, b, 9)[:-1]:
                total += scipy.integrate.fixed_quad(density, c, c + (b - a) / 8, (loss, width, t), n=12)[0]
        assert found(t) == pytest.approx(total, abs=1e-8)


@given(s=st.floats(0.1, 20), width=st.floats(0.01, 3), t=st.floats(-3, 3))
def test_the_smoothed_exponential_is_exponential(s, width, t):
    z = np.linspace(-12, 12, 20001)
    weights = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    assert smoothed(ct.losses.exponential(s), width)(t) == pytest.approx(
        float(weights @ ct.losses.exponential(s)(t + width * z))
    )


@given(first=st.floats(0.05, 1), second=st.floats(0.05, 1), t=st.floats(-2, 2))
def test_smoothing_twice_adds_variances(first, second, t):
    once = smoothed(ct.losses.exponential(), np.hypot(first, second))
    assert smoothed(smoothed(ct.losses.exponential(), first), second)(t) == pytest.approx(once(t), rel=1e-9)


def test_each_output_may_have_a_width_of_its_own():
    widths = np.linspace(0, 1, len(T))
    for loss in (ct.losses.exponential(), ct.squared_hinge(), ct.losses.flat_newton()):
        together = smoothed(loss, widths)
        slopes_are_right(smoothed(loss, np.maximum(widths, 0.05)))
        for k in (1, 17, 36):
            assert together(T)[k] == pytest.approx(smoothed(loss, widths[k])(T[k]))
        assert smoothed(loss, 0.0) is loss
    for bad in (-0.1, np.nan):
        with pytest.raises(ValueError, match="width"):
            smoothed(ct.hinge(), bad)
    with pytest.raises(ValueError, match="no closed form"):
        smoothed(ct.losses.logistic(), 0.1)


def test_exponential():
    slopes_are_right(ct.losses.exponential(5))
    slopes_are_right(ct.losses.exponential(3))
    convex, concave = ct.losses.exponential(5).split()
    np.testing.assert_allclose(convex(T) + concave(T), ct.losses.exponential(5)(T), atol=1e-12)
    assert (np.diff(concave.supergradient(np.linspace(-4, 4, 4001))) <= 1e-12).all()  # and no parabola less will do
    tighter = ct.losses.PLQ([], [(0.99 * convex.pieces[0, 0], 0, 0)])
    rest = ct.losses.exponential(5).derivative(np.linspace(0, 2, 4001)) - tighter.derivative(np.linspace(0, 2, 4001))
    assert (np.diff(rest) > 0).any()
    with pytest.raises(ValueError, match="s=-1"):
        ct.losses.exponential(-1)


@pytest.mark.parametrize("temperature", [0.05, 0.6, 10.0])
def test_annealing_is_a_minimum_over_probabilities(temperature):
    """chapelle2008 eq. 8 and 9: the closed form against a search over p; at temperature 0, the better label's loss."""
    loss = ct.squared_hinge()
    found = annealed(loss, temperature, 0.3)
    slopes_are_right(found, tol=1e-4)
    p = np.linspace(1e-9, 1 - 1e-9, 200001)
    entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
    for t in (-1.5, -0.1, 0.0, 0.7):
        values = p * loss(t) + (1 - p) * loss(-t) - 0.3 * p - temperature * entropy
        assert found(t) == pytest.approx(values.min(), abs=1e-6)
        assert found.probability(t) == pytest.approx(p[values.argmin()], abs=1e-4)
    cold = annealed(loss, 1e-6)
    np.testing.assert_allclose(cold(T), np.minimum(loss(T), loss(-T)), atol=1e-5)


@pytest.mark.parametrize("name", PLQS)
def test_rounding_leaves_no_kink_that_opens_upwards(name):
    loss = without_convex_kinks(PLQS[name], 0.01)
    assert (loss.slope_jumps() <= 0).all()
    np.testing.assert_allclose(loss(T), PLQS[name](T), atol=0.01)
