"""Sums of losses with weights that differ from point to point, against the PLQ algebra one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import plq

import convex_tsvm as ct
from convex_tsvm.losses import WeightedSums


@settings(max_examples=150)
@given(st.lists(plq(convex=True), min_size=2, max_size=3), st.integers(0, 10**6))
def test_weighted_sums_are_the_sums_of_plq_functions(losses, seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0, 2, (12, len(losses)))
    weights[:3, 0] = 0.0  # a loss that a point does not pay
    lower, upper = max(f.lower for f in losses), min(f.upper for f in losses)
    if lower >= upper:
        with pytest.raises(ValueError, match="no interval in common"):
            WeightedSums(losses, weights)
        return
    sums = WeightedSums(losses, weights)
    each = []
    for row in weights:
        total = row[0] * losses[0]
        for weight, loss in zip(row[1:], losses[1:], strict=True):
            total = total + weight * loss
        each.append(total)
    t = np.clip(rng.normal(0, 3, 12), lower, upper)
    np.testing.assert_allclose(sums(t), [f(x) for f, x in zip(each, t, strict=True)], rtol=1e-9, atol=1e-9)
    v = rng.normal(0, 5, 12)
    np.testing.assert_allclose(sums.prox(v), [f.prox(x) for f, x in zip(each, v, strict=True)], rtol=1e-8, atol=1e-8)
    conjugate = sums.conjugate()
    ends = np.array([f.conjugate().domain for f in each])
    np.testing.assert_allclose(np.column_stack(conjugate.domain), ends, rtol=1e-9, atol=1e-9)
    # Inside the domains, where rounding cannot leave them.
    least = np.maximum(ends[:, 0], -9)
    s = np.clip(rng.normal(0, 2, 12), least, np.minimum(ends[:, 1], np.maximum(9, least)))
    values = np.array([f.conjugate()(np.clip(x, *f.conjugate().domain)) for f, x in zip(each, s, strict=True)])
    np.testing.assert_allclose(conjugate(s), values, rtol=1e-7, atol=1e-7)


@given(plq(convex=True), plq(convex=True))
def test_fenchel_young(one, other):
    lower, upper = max(one.lower, other.lower), min(one.upper, other.upper)
    if lower >= upper:
        return
    sums = WeightedSums([one, other], np.array([[0.5, 1.5]] * 41))
    t = np.linspace(max(lower, -6), min(upper, 6), 41)
    low, high = sums.conjugate().domain
    middle = np.clip(np.zeros(41), low, high)
    for s in (np.where(np.isfinite(low), low, middle), np.where(np.isfinite(high), high, middle), middle):
        assert (sums(t) + sums.conjugate()(s) - s * t >= -1e-7).all()


def test_what_is_no_weighted_sum():
    with pytest.raises(ValueError, match="convex"):
        WeightedSums([ct.ramp(0)], [[1.0]])
    with pytest.raises(ValueError, match="weights has shape"):
        WeightedSums([ct.hinge()], [[-1.0]])
