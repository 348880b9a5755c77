"""The catalogue against the papers' formulas, and the splits they print."""

import numpy as np
import pytest
from strategies import CATALOGUE

import convex_tsvm as ct

T = np.linspace(-3, 3, 601)
pos = lambda t: np.maximum(0, t)  # noqa: E731

FORMULAS = [
    (ct.hinge(), pos(1 - T)),
    (ct.hinge(-0.3), pos(-0.3 - T)),
    (ct.squared_hinge(), pos(1 - T) ** 2),
    (ct.losses.epsilon_insensitive(0.5), pos(np.abs(T) - 0.5)),
    (ct.losses.epsilon_insensitive(0), np.abs(T)),
    (ct.ramp(-0.3), np.minimum(1.3, pos(1 - T))),
    (ct.symmetric_hinge(), pos(1 - np.abs(T))),
    (ct.symmetric_ramp(-0.3), np.minimum(0.7, pos(1 - np.abs(T)))),
    (ct.losses.symmetric_squared_hinge(), pos(1 - np.abs(T)) ** 2),
    (ct.losses.two_slope_symmetric_ramp(-0.3, 0), np.minimum(0.7, pos(1 - np.abs(T)))),
    (ct.losses.two_slope_symmetric_ramp(-0.3, 1), pos(1 - np.abs(T))),
    (
        ct.losses.two_slope_symmetric_ramp(-0.4, 0.25),
        np.where(np.abs(T) < 0.4, 0.6 + 0.25 * (0.4 - np.abs(T)), pos(1 - np.abs(T))),
    ),
    (ct.losses.relaxed_compact_hinge(1.5, 0.3), pos(1 - T) + 0.3 * pos(np.abs(T) - 1.5)),
    (ct.losses.relaxed_compact_symmetric_hinge(1.5, 0.3), pos(1 - np.abs(T)) + 0.3 * pos(np.abs(T) - 1.5)),
    (
        ct.losses.relaxed_compact_symmetric_hinge(1.5, 0.3, -0.2),
        np.minimum(0.8, pos(1 - np.abs(T))) + 0.3 * pos(np.abs(T) - 1.5),
    ),
    (ct.losses.huber_hinge(0.5), np.where(T < 0.5, 0.75 - T, pos(1 - T) ** 2)),
]


@pytest.mark.parametrize(("loss", "values"), FORMULAS, ids=lambda x: getattr(x, "name", ""))
def test_formula(loss, values):
    np.testing.assert_allclose(loss(T), values, atol=1e-14)


def test_ramp_splits_as_printed_in_collobert2006_equation_8():
    for s in (-0.9, -0.3, 0.0):
        convex, concave = ct.ramp(s).split()
        assert convex.isclose(ct.hinge())
        assert concave.isclose(-ct.hinge(s))


def test_both_ramps_of_a_point_split_as_in_collobert2006_equation_9():
    for s in (-0.9, -0.3, 0.0):
        convex, concave = (ct.ramp(s) + ct.ramp(s).reflect()).split()
        assert convex.isclose(ct.hinge() + ct.hinge().reflect())
        assert concave.isclose(-(ct.hinge(s) + ct.hinge(s).reflect()))


def test_symmetric_ramp_is_both_ramps_without_a_constant():
    for s in (-0.9, -0.3, 0.0):
        assert (ct.symmetric_ramp(s) + (1 - s)).isclose(ct.ramp(s) + ct.ramp(s).reflect())


def test_tangents_are_beta_of_collobert2006_equation_11():
    s, cost = -0.3, 2.0
    _, concave = ct.symmetric_ramp(s).split()
    for t in (-2.0, -0.31, -0.3, 0.0, 0.3, 0.31, 2.0):
        beta = {y: cost if y * t < s else 0.0 for y in (1, -1)}
        assert cost * concave.supergradient(t) == pytest.approx(beta[1] - beta[-1])


def test_squared_loss_splits_as_printed_in_chapelle2008_section_4_1():
    convex, concave = ct.losses.symmetric_squared_hinge().split()
    np.testing.assert_allclose(convex(T), pos(1 - np.abs(T)) ** 2 + 2 * np.abs(T), atol=1e-14)
    np.testing.assert_allclose(concave(T), -2 * np.abs(T), atol=1e-14)


def test_effective_loss_of_chapelle2008_section_4_1():
    convex, concave = ct.losses.symmetric_squared_hinge().split()
    effective = np.where(T >= 1, 0, np.where(np.abs(T) < 1, (1 - T) ** 2, -4 * T))
    np.testing.assert_allclose(convex(T) + concave.supergradient(0.7) * T, effective, atol=1e-13)


def test_flat_loss_has_the_shape_of_chapelle2008_figure_7():
    for plateau, bend in [(0.25, 0.25), (0.2, 0.4), (0.0, 0.5), (0.5, 0.1)]:
        loss = ct.losses.flat_newton(plateau, bend)
        assert loss.isclose(loss.reflect())
        assert np.allclose(loss(np.array([0.0, plateau])), 1)
        assert np.allclose(loss(np.array([1.0, 2.0])), 0)
        left, right = loss.derivatives(loss.breaks)
        np.testing.assert_allclose(left, right, atol=1e-12)  # continuously differentiable
        slope = 1 / (1 - plateau - bend)
        ramped = slope * np.clip(np.minimum(np.abs(T) - plateau, 1 - np.abs(T)) / bend, 0, 1) * np.sign(T)
        np.testing.assert_allclose(loss.derivatives(T)[0], -ramped, atol=1e-9)


@pytest.mark.parametrize("name", CATALOGUE)
def test_names_say_what_they_are(name):
    assert CATALOGUE[name].name.startswith(name)


@pytest.mark.parametrize("loss", [ct.ramp(-0.3), ct.symmetric_ramp(-0.3), ct.losses.symmetric_squared_hinge()])
def test_tangent_at_a_kink_leaves_the_point_alone(loss):
    _, concave = loss.split()
    for t in concave.breaks:
        left, right = concave.derivatives(t)
        nearest_to_zero = 0 if left * right <= 0 else min(left, right, key=abs)
        assert concave.supergradient(t) == nearest_to_zero


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ct.symmetric_ramp(-1), r"s=-1 must be in \(-1, 0\]|s=-1.0"),
        (lambda: ct.symmetric_ramp(0.1), "s=0.1"),
        (lambda: ct.symmetric_ramp(np.nan), "s=nan"),
        (lambda: ct.ramp(1), "s=1"),
        (lambda: ct.ramp("a"), "s='a'"),
        (lambda: ct.losses.epsilon_insensitive(-1), "epsilon=-1"),
        (lambda: ct.losses.two_slope_symmetric_ramp(-0.3, 2), "slope=2"),
        (lambda: ct.losses.flat_newton(1), "plateau=1"),
        (lambda: ct.losses.flat_newton(0.5, 0.3), "bend=0.3"),
        (lambda: ct.losses.relaxed_compact_hinge(1, -1), "weight=-1"),
    ],
)
def test_parameters_out_of_range_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_dc_loss_of_a_smooth_function_is_checked():
    concave = ct.losses.SmoothConcave(lambda t: -(t**2), lambda t: -2 * t)
    loss = ct.losses.DCLoss(ct.squared_hinge(), concave)
    np.testing.assert_allclose(loss(T), pos(1 - T) ** 2 - T**2)
    np.testing.assert_allclose(loss.reflect()(T), loss(-T))
    assert loss.split() == (loss.convex, concave)
    with pytest.raises(ValueError, match="must not increase"):
        ct.losses.DCLoss(ct.hinge(), ct.losses.SmoothConcave(lambda t: t**2, lambda t: 2 * t))
    with pytest.raises(ValueError, match="convex=ramp"):
        ct.losses.DCLoss(ct.ramp(0), concave)
    with pytest.raises(ValueError, match="concave=hinge"):
        ct.losses.DCLoss(ct.hinge(), ct.hinge())


def test_a_loss_may_be_capped_by_a_number():
    t = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(ct.hinge().minimum(0.5)(t), np.minimum(np.maximum(0, 1 - t), 0.5))
    np.testing.assert_allclose(ct.hinge().maximum(0.5)(t), np.maximum(np.maximum(0, 1 - t), 0.5))
    for other in ("0.5", None, np.inf):
        with pytest.raises(ValueError, match="must be a PLQ function or a finite number"):
            ct.hinge().minimum(other)
