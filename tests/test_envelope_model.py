"""What envelopes are made of: outputs, losses with their offsets, a root of the kernel, and how far outputs may be."""

import dataclasses

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.instance import Instance
from convex_tsvm.kernels import plain_gram
from convex_tsvm.relaxations.envelopes import model as rooms
from convex_tsvm.relaxations.envelopes.model import Minorant, OutputModel
from convex_tsvm.relaxations.envelopes.quadratics import Quadratics

#: Straight and curved pieces, concave ones, and kinks of both kinds.
LOSSES = {
    "ramp": ct.symmetric_ramp(-0.3),
    "squared": ct.losses.symmetric_squared_hinge(),
    "flat": ct.losses.flat_newton(0.25, 0.25),
    "two slopes": ct.losses.two_slope_symmetric_ramp(-0.4, 0.3),
}


def problem_of(balance=0.4):
    rng = np.random.default_rng(0)
    y = np.r_[1.0, -1.0, np.zeros(7)]
    cost = rng.uniform(0.5, 3, size=9)
    return ct.Problem(rng.normal(size=(9, 3)), y, kernel=ct.RBF(1.0), C=cost, C_unlabeled=cost, balance=balance)


@pytest.mark.parametrize("labeled", [ct.hinge(), ct.squared_hinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", LOSSES)
def test_outputs_pay_what_their_points_pay(name, labeled):
    """With a mean output, outputs are less than those of points by an offset, and losses are moved by as much."""
    formulation, problem = ct.Formulation(labeled, LOSSES[name], balance="linear"), problem_of()
    model = OutputModel(Instance(formulation, problem))
    assert np.abs(model.offset).min() > 0.1
    for seed in range(5):
        g = np.random.default_rng(seed).normal(scale=2, size=model.n)
        f = model.scores(None, g)
        paid = np.where(problem.y == 0, LOSSES[name](f), labeled(np.where(problem.y == 0, 1, problem.y) * f))
        np.testing.assert_allclose(model.losses.at(g), problem.cost * paid, rtol=1e-12)


def test_the_root_is_one_of_every_kernel_that_there_may_be(monkeypatch):
    """A kernel that is known to a share of 10⁻⁵ may be larger by as much."""
    found = plain_gram(ct.RBF(1.0), problem_of().X)
    known = dataclasses.replace(found, error=1e-5)
    monkeypatch.setattr(rooms, "plain_gram", lambda *given: known)
    formulation = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=None, fit_intercept=False)
    root = OutputModel(Instance(formulation, problem_of(None))).kernel_root
    for signs in (np.ones(9), np.resize([1.0, -1.0], 9)):
        largest = found.matrix + 1e-5 * np.outer(signs * found.scale, signs * found.scale)
        assert np.linalg.eigvalsh(root @ root.T - largest)[0] >= -1e-12


@pytest.mark.parametrize("fall", [0.0, 3.0])
def test_how_far_outputs_may_be(fall):
    """No norm and bias with held ‖w‖² - fall ‖w‖ + bias |b| + Σ least <= cutoff has an output that is farther."""
    reach, tied = np.array([0.5, 2.0]), np.array([1.0, 0.0])
    found = Minorant(np.array([-1.0, -0.5]), fall, 0.4, 0.7, reach, tied).farthest(2.0)
    norm, bias = np.meshgrid(np.linspace(0, 20, 801), np.linspace(0, 20, 801))
    allowed = 0.4 * norm**2 - fall * norm + 0.7 * bias - 1.5 <= 2.0
    for k in range(2):
        farthest = (reach[k] * norm + tied[k] * bias)[allowed].max()
        assert farthest <= found[k]
    # Without a bias it is reached.
    assert found[1] == pytest.approx(farthest, rel=0.02)


@pytest.mark.parametrize("name", LOSSES)
def test_intervals_are_cut_where_a_loss_is_not_convex(name):
    """After a piece, where the slope falls or a concave piece begins or ends."""
    loss = LOSSES[name]
    spans = loss.spans()
    ends = np.array([[[left, right] for _, left, right in spans]])
    numbers = np.array([[piece for piece, _, _ in spans]])
    found = Quadratics(ends[:, :, 0], ends[:, :, 1], *(numbers[:, :, k] for k in range(3)))
    places, is_cut = found.cuts()
    concave = loss.pieces[:, 0] < 0
    np.testing.assert_array_equal(places[0], loss.breaks)
    np.testing.assert_array_equal(is_cut[0], (loss.slope_jumps() < 0) | concave[:-1] | concave[1:])
    assert is_cut.any()


def test_least_values_and_levels_are_those_of_a_fine_grid():
    """Of quadratics on neighbouring intervals: the least value, and ends of where a function is below a level."""
    t = np.linspace(-3, 3, 600_001)
    for name, loss in LOSSES.items():
        spans = loss.within(-3, 3).spans()
        ends = np.array([[[left, right] for _, left, right in spans]])
        numbers = np.array([[piece for piece, _, _ in spans]])
        found = Quadratics(ends[:, :, 0], ends[:, :, 1], *(numbers[:, :, k] for k in range(3)))
        for slope in (-0.4, 0.0, 0.7):
            moved = found.plus(np.array([0.05]), np.array([slope]), np.array([0.1]))
            values = loss(t) + 0.05 * t**2 + slope * t + 0.1
            assert moved.least()[0].min() == pytest.approx(values.min(), abs=1e-9), name
            low, high = moved.below(np.array([values.min() + 0.3]))
            inside = t[values <= values.min() + 0.3]
            # Nothing below the level is left out; of a ramp nothing else is taken in.
            assert low[0] <= inside[0] + 2e-5, name
            assert high[0] >= inside[-1] - 2e-5, name
            if name == "ramp":
                assert (low[0], high[0]) == pytest.approx((inside[0], inside[-1]), abs=2e-5)
