"""Inequalities for outputs and signs are those of their formulas: as strong as they say, and no stronger."""

import numpy as np
import pytest
from strategies import cuts_of

import convex_tsvm as ct
from convex_tsvm.instance.labelling import labelling
from convex_tsvm.relaxations import OutputSpace
from convex_tsvm.relaxations.signs.cuts import Layout, SignCuts
from convex_tsvm.relaxations.signs.quadratic import SignMultipliers, SignQuadratic

#: Outputs outside (-1, 1), and labels that are known for two of them.
V = np.array([1.4, -2.5, -1.0, 3.2, 1.0, -1.7])
LABELS = np.array([0.0, -1.0, 0.0, 1.0, 0.0, 0.0])
LOW, HIGH = np.array([-1.5, -4.0, -1.2, -2.0, -3.0, -2.2]), np.array([2.0, 1.5, 1.0, 4.0, 1.1, 3.0])
B = np.sign(V)


@pytest.fixture
def layout():
    return Layout(LABELS)


def slack(layout, rows):
    """By how much the products of 1, outputs and signs meet each row."""
    x = np.concatenate([[1.0], V, B[layout.open]])
    return rows.values_of_factor(x[:, None]) - rows.b


def test_ends_times_signs(layout):
    v, b, low, high = (values[layout.open] for values in (V, B, LOW, HIGH))
    arcs = np.where(b > 0, (high - v) * (v - 1), (v - low) * (-1 - v))
    assert slack(layout, layout.arcs(LOW, HIGH)) == pytest.approx(arcs)


def test_margins_times_signs(layout):
    """Index 0 is the constant, whose sign is 1."""
    signs = np.append(1.0, B)
    rows = [(i, j, s) for i in range(6) for j in range(7) for s in (1, -1) if j != i + 1]
    i, j, s = np.array(rows).T
    expected = (np.abs(V[i]) - 1) * (1 + s * B[i] * signs[j])
    assert slack(layout, layout.rows(cuts_of([], rows))) == pytest.approx(expected)


def test_triangles(layout):
    signs = np.append(1.0, B)
    rows = [
        (i, j, k, s, t)
        for i in range(5)
        for j in range(i + 1, 6)
        for k in range(j + 1, 7)
        for s in (1, -1)
        for t in (1, -1)
    ]
    i, j, k, s, t = np.array(rows).T
    expected = s * signs[i] * signs[j] + t * signs[i] * signs[k] + s * t * signs[j] * signs[k] + 1
    assert slack(layout, layout.rows(cuts_of(rows, []))) == pytest.approx(expected)


def multipliers(labels, arc, arc_low, arc_high):
    zero = np.zeros(len(labels))
    return SignMultipliers(labels, zero, zero, arc, arc_low, arc_high, SignCuts.none(), np.zeros(0))


def test_multipliers_hold_in_the_boxes_that_they_were_made_for():
    """Known labels must be those of the box, and the ends of a chord that is used must not be inside of it."""
    found = multipliers(np.array([1.0, 0.0]), np.array([0.0, 2.0]), np.array([-9.0, -3.0]), np.array([9.0, 2.0]))
    inside = np.array([1.0, -3.0]), np.array([5.0, 2.0])
    assert found.hold_in(*inside)
    assert found.hold_in(inside[0] + [1.0, 0.5], inside[1] - [1.0, 0.5])
    for end, point, value in ((0, 0, -1.0), (0, 1, -3.1), (1, 1, 2.1)):
        low, high = inside[0].copy(), inside[1].copy()
        (low, high)[end][point] = value
        assert not found.hold_in(low, high)
    assert not found.hold_in(np.array([-5.0, -3.0]), np.array([-1.0, 2.0]))
    # A chord without a multiplier is not used.
    assert multipliers(found.labels, np.zeros(2), found.arc_low, found.arc_high).hold_in(
        inside[0], inside[1] + [0, 5.0]
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_quadratic_with_signs_is_the_objective_less_what_multipliers_take(seed):
    """At any outputs and their signs, also where multipliers leave the form indefinite and have to be lifted."""
    rng = np.random.default_rng(seed)
    y = np.r_[1.0, -1.0, np.zeros(4)]
    problem = ct.Problem(rng.normal(size=(6, 2)), y, kernel=ct.RBF(1.0), C=2.0, balance=0.1)
    space = OutputSpace(labelling(ct.s3vm(), problem))
    labels = np.r_[1.0, -1.0, np.zeros(4)]
    is_open = labels == 0
    square = rng.uniform(0, 0.3, 6)
    given = SignMultipliers(
        labels, square, np.where(is_open, -5.0, 0.0), np.zeros(6), -np.ones(6), np.ones(6), SignCuts.none(), np.zeros(0)
    )  # fmt: skip
    made = SignQuadratic(space, given)
    z = made.multipliers
    assert (z.unit > given.unit)[is_open].all()
    b = np.where(is_open, rng.choice([-1.0, 1.0], 6), labels)
    v = b * rng.uniform(1, 3, 6)
    low, high = np.minimum(v - 0.5, -1.0), np.maximum(v + 0.7, 1.0)
    low, high = np.where(labels > 0, np.minimum(v, 1.0), low), np.where(labels < 0, np.maximum(v, -1.0), high)
    linear, constant = made.terms(low, high)
    x, one = np.append(v, b[is_open]), np.append(1.0, v)
    found = x @ made.A @ x + 2 * linear @ x + constant
    taken = z.square * (high - v) * (v - low)
    assert found == pytest.approx(one @ space.C @ one + space.constant - taken.sum(), rel=1e-9)
