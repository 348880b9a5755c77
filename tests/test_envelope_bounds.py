"""Convex envelopes on intervals, and the bounds that are made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_interval_search import FORMULATIONS, case, random_loss

import convex_tsvm as ct
from convex_tsvm.deadline import within
from convex_tsvm.instance import Instance
from convex_tsvm.losses import Exponential
from convex_tsvm.relaxations import OutputModel
from convex_tsvm.relaxations.envelopes.best import BestSolution
from convex_tsvm.relaxations.envelopes.bound import Curved, invertible
from convex_tsvm.relaxations.envelopes.curvature import lend
from convex_tsvm.relaxations.envelopes.model import trivial_bound
from convex_tsvm.relaxations.envelopes.quadratics import Quadratics

seeds = st.integers(0, 2**32 - 1)


def hull(t, values):
    """The lower convex hull of points with rising t, at every t."""
    kept = []
    for k in range(len(t)):
        while len(kept) > 1:
            i, j = kept[-2:]
            if (values[j] - values[i]) * (t[k] - t[i]) < (values[k] - values[i]) * (t[j] - t[i]):
                break
            kept.pop()
        kept.append(k)
    return np.interp(t, t[kept], values[kept])


@given(seeds, st.floats(-3, 1), st.floats(0.01, 4))
def test_the_envelope_on_an_interval_is_the_hull_of_its_graph(seed, lower, width):
    f, upper = random_loss(np.random.default_rng(seed), concave=True), lower + width
    envelope = f.envelope(lower, upper)
    inside = f.breaks[(f.breaks > lower) & (f.breaks < upper)]
    t = np.unique(np.concatenate([np.linspace(lower, upper, 1501), inside]))
    room = 1e-9 * (1 + np.abs(f(t)).max())
    assert envelope.domain == (lower, upper)
    assert envelope.is_convex
    assert (envelope(t) <= f(t) + room).all()
    assert envelope([lower, upper]) == pytest.approx(f([lower, upper]), abs=room)
    # The hull of some points of the graph is above the hull of all, by no more than a convex piece bends between them.
    bend = max(0.0, 0.25 * float(f.pieces[:, 0].max()) * (width / 1500) ** 2)
    assert hull(t, f(t)) == pytest.approx(envelope(t), abs=bend + 10 * room)


@given(st.floats(0.1, 20), st.floats(0.1, 5), st.floats(1e-6, 0.5))
def test_a_minorant_of_a_smooth_loss(s, height, error):
    loss = Exponential(s, height)
    below, t = loss.minorant(error), np.linspace(-8, 8, 20_001) / np.sqrt(s)
    missed = loss(t) - below(t)
    assert missed.min() >= 0
    assert missed.max() <= error
    for sign in (1, -1):
        assert below(sign * 1e6) == pytest.approx(-error / 2)


def test_a_minorant_is_of_one_loss():
    with pytest.raises(ValueError, match="several losses"):
        Exponential(np.array([1.0, 2.0])).minorant(0.1)
    with pytest.raises(ValueError, match="error=0"):
        ct.losses.exponential().minorant(0)


@given(seeds, st.floats(-3, 1), st.floats(0, 4))
def test_a_function_within_an_interval(seed, lower, width):
    f = random_loss(np.random.default_rng(seed), concave=True)
    part, t = f.within(lower, lower + width), np.linspace(-4, 6, 401)
    inside = (t >= lower) & (t <= lower + width)
    assert part(t[inside]) == pytest.approx(f(t[inside]), abs=1e-12)
    assert np.isinf(part(t[~inside])).all()
    assert part.envelope().isclose(f.envelope(lower, lower + width))


def test_intervals_without_a_point_are_named():
    with pytest.raises(ValueError, match=r"interval \[2.0, 1.0\] has no point"):
        ct.hinge().within(2, 1)
    with pytest.raises(ValueError, match="no point of the domain"):
        ct.hinge().within(0, 1).envelope(2, 3)
    with pytest.raises(ValueError, match="not bounded below by a line"):
        (-1 * ct.squared_hinge()).envelope()


@given(seeds, st.floats(-3, 1), st.floats(0.01, 4), st.integers(-10, 40), st.floats(-3, 3))
def test_derivatives_of_conjugates(seed, lower, width, a, b):
    """Those of the compiled loop, beside the conjugate of the envelope that the loss algebra makes."""
    f = random_loss(np.random.default_rng(seed), concave=True)
    part = f.within(lower, lower + width) + ct.losses.PLQ([], [(a / 20, b, 0)])
    spans = part.spans()
    low, high = (np.array([[span[k] for span in spans]]) for k in (1, 2))
    numbers = np.array([span[0] for span in spans])
    found = Quadratics(low, high, *(numbers[None, :, k] for k in range(3))).conjugates()
    conjugate, s = part.envelope().conjugate(), np.linspace(-20, 20, 801)
    ends = found.ends[0, : found.count[0] + 1]
    piece = np.clip(np.searchsorted(ends, s) - 1, 0, found.count[0] - 1)
    # At a kink, which rounding may have moved, every slope between those on either side is one.
    left, right = conjugate.derivatives(s - 1e-7)[0], conjugate.derivatives(s + 1e-7)[1]
    derivative = found.offset[0, piece] + found.rate[0, piece] * s
    assert (derivative >= left - 1e-7).all()
    assert (derivative <= right + 1e-7).all()


def model_and_solution(formulation, problem):
    """What bounds about outputs are computed with, and a solution."""
    best = BestSolution(Instance(formulation, problem))
    best.descend(None)
    return OutputModel(best.instance), best


@pytest.mark.parametrize("name", FORMULATIONS)
@given(seeds)
@settings(max_examples=8)
def test_bounds_and_what_follows_from_them(name, seed):
    """For random curvatures, multipliers and boxes, no bound is above a solution in the box, and no box loses it."""
    formulation, problem = case(name, seed)
    rng = np.random.default_rng(seed)
    try:
        model, best = model_and_solution(formulation, problem)
    except ct.InfeasibleError:
        return
    f = best.point.outputs
    g = np.zeros(model.n)
    g[: model.n_points] = f[model.points] - model.offset[: model.n_points]
    cutoff = best.objective + 1e-6 * abs(best.objective)
    low, high = model.box(cutoff)
    assert (low[: model.n_points] <= g[: model.n_points] + 1e-5).all()
    assert (g[: model.n_points] <= high[: model.n_points] + 1e-5).all()
    d, gamma = lend(model, low, high)
    for share, noise in ((1.0, 0.0), (1.0, 0.3), (0.5, 0.1), (0.0, 1.0)):
        # A free bias has no curvature of its own, so that it must take some.
        curved = Curved(model, invertible(np.where(d < 0, d, share * d)))
        for point in (
            curved.point(low, high, gamma + noise * rng.normal(size=model.n)),
            curved.solve(low, high),
        ):
            assert point.value <= best.objective + 1e-9 * (1 + abs(best.objective))
            least, most = curved.consequences(point, cutoff)
            assert (least[: model.n_points] <= g[: model.n_points] + 1e-5).all()
            assert (g[: model.n_points] <= most[: model.n_points] + 1e-5).all()


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("seed", range(3))
def test_the_lower_bound_builder(name, seed):
    """Both relaxations are below the optimum, and leave it the interval that it is in."""
    formulation, problem = case(name, seed)
    best = ct.exact_search(formulation, problem, bounds="curvature", gap=1e-6)
    room = 1e-6 * (1 + abs(best.objective))
    for relaxation in ("envelope", "curvature"):
        bound = ct.LowerBoundBuilder(formulation, problem, relaxation=relaxation, gap=1e-6).bound(
            upper=best.objective + room
        )
        assert bound.status == "optimal"
        assert bound.value <= best.objective + room
        values = [stage.bound for stage in bound.stages]
        assert values == sorted(values)
        assert {stage.name for stage in bound.stages} == {relaxation}
        if np.isfinite(bound.relaxed) and bound.gap > 1e-4:
            paid = np.flatnonzero(Instance(formulation, problem).cost > 0)
            ends = bound.duals["low"][: len(paid)], bound.duals["high"][: len(paid)]
            assert (ends[0] <= best.scores[paid] + 1e-5).all()
            assert (best.scores[paid] <= ends[1] + 1e-5).all()
    # Without an objective it finds a solution itself.
    own = ct.LowerBoundBuilder(formulation, problem, relaxation="curvature").bound()
    assert own.value <= best.objective + room
    assert own.upper >= best.objective - room
    assert own.labels.shape == (problem.n,)


def test_which_relaxation_is_the_default(moons):
    X, _, y = moons
    problem = ct.Problem(X[:20], y[:20], kernel=ct.RBF(0.5), balance=0.0)
    for formulation, at, expected in (
        (ct.tsvm("hinge"), problem, "sdp"),
        (ct.tsvm("ramp"), problem, "curvature"),
        (ct.tsvm("hinge", balance=None), problem.replace(balance=None), "curvature"),
        (ct.s3vm(), problem.replace(balance=("exact", 0.5)), "curvature"),
    ):
        assert ct.LowerBoundBuilder(formulation, at).relaxation == expected
    told = []
    bound = ct.LowerBoundBuilder(ct.tsvm("ramp"), problem).bound(callback=told.append)
    assert tuple(told) == bound.stages
    assert "no solution is below" in str(bound)
    builder = ct.LowerBoundBuilder(ct.tsvm("ramp"), problem)
    with pytest.raises(ValueError, match="not about labels; only upper"):
        builder.bound(labels=y[:20])
    with pytest.raises(ValueError, match="must be 'sdp' to be written"):
        builder.primal()
    added = ct.formulations.addition(lambda w, b, f: b**2, name="small bias")
    with pytest.raises(ValueError, match=r"no relaxation: not by labels, since .*; nor by envelopes, since"):
        ct.LowerBoundBuilder(ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), additions=[added]), problem)


def test_lent_curvatures_raise_the_bound(moons):
    X, _, y = moons
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:16]]
    problem = ct.Problem(X[keep], y[keep], kernel=ct.RBF(0.5), C=10, C_unlabeled=5)
    model, best = model_and_solution(ct.tsvm("ramp"), problem)
    low, high = model.box(best.objective)
    plain = Curved(model, np.zeros(model.n)).solve(low, high).value
    d, gamma = lend(model, low, high)
    lent = Curved(model, invertible(d)).point(low, high, gamma).value
    assert plain < lent - 0.1 * (best.objective - plain)
    assert lent <= best.objective


def test_a_bound_that_time_has_ended_says_so_and_is_not_below_what_no_loss_is_below():
    rng = np.random.default_rng(0)
    problem = ct.Problem(rng.normal(size=(20, 2)), np.resize([1.0, -1.0] + [0.0] * 8, 20), C=10)
    builder = ct.LowerBoundBuilder(ct.cccp_tsvm(), problem, relaxation="curvature")
    with within(1e-9):
        bound = builder.bound()
    assert (bound.status, bound.value) == ("time_limit", 0.0)
    assert [stage.status for stage in bound.stages] == ["time_limit"]
    assert trivial_bound(Instance(ct.cccp_tsvm(), problem)) == 0
    negative = ct.Formulation(ct.hinge(), ct.losses.PLQ([], [(0, 0, -1)]), balance="linear")
    assert trivial_bound(Instance(negative, problem)) == -np.inf
