"""Smooth losses: closed forms against numerical integration, slopes and curvatures against finite differences."""

import itertools

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
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


DENSITIES = {
    "gaussian": scipy.stats.norm(),
    "logistic": scipy.stats.logistic(scale=np.sqrt(3) / np.pi),
    "student": scipy.stats.t(4, scale=np.sqrt(0.5)),
    "uniform": scipy.stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
}


def mean_around(loss, breaks, width, density, t):
    """E ℓ(t + width · z), by Gauss-Legendre rules over quantiles of z between which the integrand is analytic."""
    ends = np.concatenate(
        [density.cdf((breaks - t) / width), np.geomspace(1e-15, 0.5, 60), 1 - np.geomspace(1e-15, 0.5, 60)]
    )
    ends = np.unique(np.clip(ends, 1e-15, 1 - 1e-15))

    def at(u):
        return loss(t + width * density.ppf(u))

    return sum(scipy.integrate.fixed_quad(at, a, b, n=12)[0] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize("smoothing", DENSITIES)
@pytest.mark.parametrize("width", [0.05, 0.4, 2.0])
@pytest.mark.parametrize("name", PLQS)
def test_smoothing_is_a_convolution(name, width, smoothing):
    loss, density = PLQS[name], DENSITIES[smoothing]
    found = smoothed(loss, width, smoothing)
    # The uniform density ends at ± √3, where slopes have kinks.
    t = T if smoothing != "uniform" else T[np.abs((T[:, None] - loss.breaks) ** 2 - 3 * width**2).min(axis=1) > 1e-3]
    slopes_are_right(found, t)
    for t in (-1.7, -0.2, 0.0, 0.9):
        assert found(t) == pytest.approx(mean_around(loss, loss.breaks, width, density, t), abs=1e-6)


@pytest.mark.parametrize("smoothing", DENSITIES)
def test_densities_have_mean_0_and_variance_1(smoothing):
    """A parabola rises by the variance and a straight line stays; | t | takes the distribution in."""
    parabola = smoothed(ct.losses.PLQ([], [(1.0, 0.5, 0.0)]), 0.7, smoothing)
    np.testing.assert_allclose(parabola(T), T**2 + 0.5 * T + 0.49, atol=1e-9)
    size = smoothed(ct.losses.PLQ([0.0], [(0, -1, 0), (0, 1, 0)]), 0.7, smoothing)
    np.testing.assert_allclose(size.derivative(T), 2 * DENSITIES[smoothing].cdf(T / 0.7) - 1, atol=1e-12)
    np.testing.assert_allclose(size.curvature(T), 2 * DENSITIES[smoothing].pdf(T / 0.7) / 0.7, atol=1e-12)


@pytest.mark.parametrize("smoothing", ["logistic", "student", "uniform"])
@pytest.mark.parametrize("width", [0.05, 0.5, 0.95, 6.0, 300.0])
def test_the_exponential_by_quadrature(smoothing, width):
    loss = ct.losses.exponential()
    found = smoothed(loss, width, smoothing)
    slopes_are_right(found)
    for t in (-1.7, 0.0, 0.9):
        around = np.linspace(-2, 2, 81)
        assert found(t) == pytest.approx(mean_around(loss, around, width, DENSITIES[smoothing], t), abs=1e-7)


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
    with pytest.raises(ValueError, match="smoothing='box'"):
        smoothed(ct.hinge(), 0.1, "box")
    with pytest.raises(ValueError, match="cannot be smoothed"):
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
