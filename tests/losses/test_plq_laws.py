"""Every law of the loss algebra, on random PLQ functions."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import outputs, plq, quarters

import convex_tsvm as ct

T = np.linspace(-8, 8, 129)


def close(f, g, tol=1e-9):
    both = np.isfinite(f) & np.isfinite(g)
    assert (np.isfinite(f) == np.isfinite(g)).all()
    assert np.all(np.abs(f[both] - g[both]) <= tol * (1 + np.abs(f[both]) + np.abs(g[both])))


@given(plq(), plq())
def test_sum_is_pointwise(f, g):
    assume(max(f.lower, g.lower) <= min(f.upper, g.upper))
    close((f + g)(T), f(T) + g(T))


@given(plq(), quarters(0, 4))
def test_scaling_is_pointwise(f, factor):
    assume(factor > 0)
    close((factor * f)(T), factor * f(T))


@given(plq(), plq(finite=True), quarters(-3, 3))
def test_reflection_and_shift(f, g, distance):
    close(f.reflect()(T), f(-T))
    close(f.shift(distance)(T), f(T - distance))
    close((-g)(T), -g(T))
    assert f.reflect().reflect().isclose(f)
    assert f.shift(distance).shift(-distance).isclose(f)


@given(plq(), plq())
def test_maximum_is_pointwise(f, g):
    assume(max(f.lower, g.lower) <= min(f.upper, g.upper))
    close(f.maximum(g)(T), np.maximum(f(T), g(T)))


@given(plq(finite=True), plq(finite=True))
def test_minimum_is_pointwise(f, g):
    close(f.minimum(g)(T), np.minimum(f(T), g(T)))


def test_minimum_refuses_different_domains():
    with pytest.raises(ValueError, match="domains"):
        ct.hinge().minimum(ct.losses.indicator(0, 1))


@given(plq(finite=True), outputs)
def test_derivatives_are_limits_of_difference_quotients(f, t):
    left, right = f.derivatives(t)
    h = 1e-6
    gap = np.abs(f.breaks - t)
    assume(not ((gap > 0) & (gap < 2 * h)).any())
    assert np.isclose((f(t) - f(t - h)) / h, left, atol=1e-4, rtol=1e-4)
    assert np.isclose((f(t + h) - f(t)) / h, right, atol=1e-4, rtol=1e-4)


@given(plq())
def test_minimizers_attain_the_least_value(f):
    value, first, last = f.minimizers()
    if np.isnan(first):
        far = f(np.array([-1e6, 1e6]))
        assert far[np.isfinite(far)].min() < f(T)[np.isfinite(f(T))].min()
        return
    assert np.all(f(T) >= value - 1e-9 * (1 + abs(value)))
    for t in (first, last):
        if np.isfinite(t):
            assert np.isclose(float(f(t)), value, rtol=1e-9, atol=1e-9)


@given(plq())
def test_split_is_exact_convex_and_concave(f):
    convex, concave = f.split()
    assert convex.is_convex
    assert concave.is_concave
    assert convex.domain == f.domain
    close(convex(T) + concave(T), f(T), 1e-8)


@given(plq(convex=True))
def test_split_leaves_convex_functions_alone(f):
    convex, concave = f.split()
    assert convex is f
    assert not concave(T).any()


@given(plq(finite=True))
def test_split_takes_no_more_than_it_must(f):
    """A kink or curvature is never in both parts."""
    convex, concave = f.split()
    for t in f.breaks:
        bends = [np.subtract(*part.derivatives(t)[::-1]) for part in (convex, concave)]
        assert min(abs(bends[0]), abs(bends[1])) <= 1e-8 * (1 + abs(bends[0]) + abs(bends[1]))


@given(plq(), outputs)
def test_tangent_step_majorizes_and_touches(f, t):
    assume(f.lower <= t <= f.upper)
    convex, concave = f.split()
    surrogate = convex(T) + concave(t) + concave.supergradient(t) * (T - t)
    inside = np.isfinite(f(T))
    assert np.all(surrogate[inside] >= f(T)[inside] - 1e-8 * (1 + np.abs(surrogate[inside])))
    assert np.isclose(convex(t) + concave(t), f(t), rtol=1e-9, atol=1e-8)


@given(plq(convex=True))
def test_biconjugate_is_the_function(f):
    assert f.conjugate().is_convex
    assert f.conjugate().conjugate().isclose(f, 1e-7)


@given(plq(convex=True), outputs, outputs)
def test_fenchel_young_inequality(f, t, s):
    assert f(t) + f.conjugate()(s) >= s * t - 1e-8 * (1 + abs(s * t))


@given(plq(convex=True), outputs, st.floats(0, 1))
def test_fenchel_young_equality_on_the_subdifferential(f, t, weight):
    assume(f.lower <= t <= f.upper)
    left, right = (np.clip(d, -20, 20) for d in f.derivatives(t))
    s = weight * left + (1 - weight) * right
    assume(f.derivatives(t)[0] <= s <= f.derivatives(t)[1])
    conjugate = f.conjugate()
    s = np.clip(s, conjugate.lower, conjugate.upper)  # rounding at the end of the domain
    assert np.isclose(f(t) + conjugate(s), s * t, rtol=1e-8, atol=1e-7)


@given(plq(convex=True), quarters(-3, 3), quarters(1, 4))
def test_conjugate_rules_for_shift_and_scaling(f, distance, factor):
    s, conjugate = T / 4, f.conjugate()
    close(f.shift(distance).conjugate()(s), conjugate(s) + distance * s, 1e-7)
    inside = np.isfinite((factor * f).conjugate()(factor * s)) & np.isfinite(conjugate(s))
    close((factor * f).conjugate()(factor * s)[inside], factor * conjugate(s)[inside], 1e-7)
    close(f.reflect().conjugate()(s), conjugate(-s), 1e-7)


#: One whose Moreau envelope has pieces that differ little, which a prox by the envelope's slope took for one.
NEARLY_EQUAL = ct.losses.PLQ(
    [-2, -1, 1.75, 2.25, 4.75],
    [(0, 1.25, 1), (2, 10.25, 11), (0, 6.75, 9.5), (0.25, 5.875, 10.265625), (2, -1.5, 18), (1.25, 6.125, -1.296875)],
)


@given(plq(convex=True), outputs, quarters(1, 4))
@example(NEARLY_EQUAL, 5.011009999617912, 3.75)
def test_prox_is_the_resolvent(f, v, step):
    t = float(f.prox(v, step))
    left, right = f.derivatives(t)
    slope = (v - t) / step
    assert f.lower <= t <= f.upper
    assert left - 1e-7 <= slope <= right + 1e-7


@given(plq(convex=True), outputs)
def test_moreau_decomposition(f, v):
    assert np.isclose(f.prox(v) + f.conjugate().prox(v), v, atol=1e-8)


@given(plq(convex=True))
def test_prox_does_not_expand(f):
    moved = f.prox(T)
    assert np.all(np.diff(moved) >= -1e-9)
    assert np.all(np.diff(moved) <= np.diff(T) + 1e-9)


@given(plq())
def test_latex_and_repr_show_every_piece(f):
    assert f.latex().count("&") == (0 if len(f.pieces) == 1 and f.is_finite else len(f.pieces))
    assert repr(f).count(" on ") == len(f.pieces)


@given(plq())
def test_breakpoints_mean_something(f):
    assert all(not np.array_equal(a, b) for a, b in zip(f.pieces[:-1], f.pieces[1:], strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [(0, 0, 0)] * 3), "increase"),
        (([0], [(0, 0, 0)]), "shape"),
        (([0], [(0, 0, 0), (0, 0, 1)]), "do not meet"),
        (([], [(0, np.nan, 0)]), "finite"),
        (([], [(0, 0, 0)], (1, 0)), "empty"),
        (([3], [(0, 0, 0), (0, 1, -3)], (0, 2)), "inside the domain"),
    ],
)
def test_bad_functions_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ct.losses.PLQ(*arguments)


@pytest.mark.parametrize("operation", [lambda f: f.conjugate(), lambda f: f.prox(0.0)], ids=["conjugate", "prox"])
def test_convex_operations_refuse_non_convex_functions(operation):
    with pytest.raises(ValueError, match="not convex"):
        operation(ct.ramp(0))


def test_prox_refuses_a_bad_step():
    with pytest.raises(ValueError, match="step"):
        ct.hinge().prox(0.0, step=0)


@given(plq())
def test_the_envelope_is_convex_and_below_and_as_low(f):
    least, first, _ = f.minimizers()
    below_lines = f.pieces[0, 0] >= 0 or np.isfinite(f.lower), f.pieces[-1, 0] >= 0 or np.isfinite(f.upper)
    slopes = [2 * a * 1e9 + b for a, b, _ in (f.pieces[0] * [-1, 1, 1], f.pieces[-1])]
    if not all(below_lines) or (not np.isfinite(f.lower) and not np.isfinite(f.upper) and slopes[0] > slopes[1]):
        with pytest.raises(ValueError, match="not bounded below by a line"):
            f.envelope()
        return
    envelope = f.envelope()
    assert envelope.is_convex
    inside = np.isfinite(f(T))
    assert (envelope(T)[inside] <= f(T)[inside] + 1e-9 * (1 + np.abs(f(T)[inside]))).all()
    if not np.isnan(first):
        assert envelope.minimizers()[0] == pytest.approx(least, abs=1e-9)


def test_an_envelope_touches_a_parabola_whose_line_is_another_piece():
    """A line with the slope of the first piece touches the parabola and the end: what is between is rounding."""
    f = ct.losses.PLQ([2.25, 3.25], [(0, 0.5, 0), (1.25, -6.375, 9.140625), (0, 0.25, 0.8125)], (-np.inf, 4.5))
    t = np.linspace(-3, 4.5, 76)
    assert np.allclose(f.envelope()(t), 0.5 * t - 0.3125, atol=1e-12)


@given(plq(convex=True))
def test_a_convex_function_is_its_own_envelope(f):
    assume(not np.isnan(f.minimizers()[1]))
    assert f.envelope().isclose(f)


@given(plq(convex=True, finite=True), quarters(-3, 3))
def test_the_envelope_of_the_better_of_two_labels(f, distance):
    """min(f, f reflected) for a loss that falls and then rises: the hull of its graph, found from points of it."""
    assume(not np.isnan(f.minimizers()[1]))
    f = f.shift(distance)
    g = f.minimum(f.reflect())
    _, first, last = g.minimizers()
    assume(np.isfinite(first) and np.isfinite(last))
    far = 3 + np.abs([*g.breaks, first, last]).max()
    t = np.unique(np.concatenate([np.linspace(-far, far, 641), [first, last], g.breaks]))
    values, envelope = g(t), g.envelope()(t)
    sides = (t <= first, t >= last)
    # A concave kink where pieces curve more between two points than it bends is not seen by chords.
    assume((g.slope_jumps()[(g.breaks <= first) | (g.breaks >= last)] >= 0).all())
    for side in sides:
        slopes = np.diff(values[side]) / np.diff(t[side])
        assume((np.diff(slopes) >= -1e-9).all())
    for side in sides:
        np.testing.assert_allclose(envelope[side], values[side], atol=1e-7)
    np.testing.assert_allclose(envelope[(t > first) & (t < last)], values.min(), atol=1e-7)
