"""Convex pieces of losses, and envelopes of their least: against grids."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import CATALOGUE, plq, quarters

import convex_tsvm as ct

T = np.linspace(-30, 30, 12_001)
NEAR = np.abs(T) <= 6


@st.composite
def falling_slopes(draw):
    """A convex PLQ function less some kinks: no negative curvature, slopes that fall here and there."""
    f = draw(plq(convex=True, finite=True))
    for _ in range(draw(st.integers(0, 3))):
        f = f - draw(quarters(1, 3)) * ct.hinge().shift(draw(quarters(-4, 4)))
    return f


def hull(t, y):
    """The convex hull of points from below, at the points."""
    corners = []
    for point in zip(t.tolist(), y.tolist(), strict=True):
        while len(corners) > 1 and (corners[-1][1] - corners[-2][1]) * (point[0] - corners[-2][0]) >= (
            point[1] - corners[-2][1]
        ) * (corners[-1][0] - corners[-2][0]):
            corners.pop()
        corners.append(point)
    return np.interp(t, *zip(*corners, strict=True))


def pieces_of(f):
    try:
        return ct.losses.convex_pieces(f)
    except ValueError:
        assume(False)


@given(falling_slopes())
@settings(max_examples=100, deadline=None)
def test_the_least_of_the_pieces_is_the_loss(f):
    pieces = pieces_of(f)
    assert all(piece.is_convex and piece.is_finite for piece in pieces)
    least = np.min([piece(T) for piece in pieces], axis=0)
    np.testing.assert_allclose(least, f(T), atol=1e-7, rtol=1e-7)


@given(falling_slopes(), st.data())
@settings(max_examples=60, deadline=None)
def test_an_envelope_is_the_hull_of_some_pieces(f, data):
    pieces = pieces_of(f)
    some = data.draw(st.sets(st.sampled_from(range(len(pieces))), min_size=1))
    chosen = [pieces[k] for k in sorted(some)]
    try:
        envelope = ct.losses.envelope_of(chosen)
    except ValueError:
        assume(False)
    least = np.min([piece(T) for piece in chosen], axis=0)
    assert envelope.is_convex
    assert (envelope(T) <= least + 1e-7 * (1 + np.abs(least))).all()
    # On a window the hull can only be above, since the function goes on outside; where it is cut off far out it is the
    # same but for what the ends of the window and the grid bring.
    from_grid = hull(T, least)
    assert (envelope(T) <= from_grid + 1e-6 * (1 + np.abs(from_grid))).all()
    if np.abs(envelope(T[[0, -1]]) - least[[0, -1]]).max() < 1e-9:
        np.testing.assert_allclose(envelope(T[NEAR]), from_grid[NEAR], atol=2e-2)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "flat_newton"])
def test_every_catalogue_loss_has_pieces(name):
    loss = CATALOGUE[name]
    pieces = ct.losses.convex_pieces(loss)
    np.testing.assert_allclose(np.min([piece(T) for piece in pieces], axis=0), loss(T), atol=1e-9)
    assert (len(pieces) == 1) == loss.is_convex
    for size in range(1, len(pieces) + 1):
        for some in itertools.combinations(pieces, size):
            assert (ct.losses.envelope_of(some)(T) <= np.min([piece(T) for piece in some], axis=0) + 1e-9).all()


def test_what_has_no_pieces_says_why():
    with pytest.raises(ValueError, match="negative curvature"):
        ct.losses.convex_pieces(ct.losses.flat_newton())
    with pytest.raises(ValueError, match="finite everywhere"):
        ct.losses.convex_pieces(ct.losses.indicator(-1, 1))
    rising, falling = ct.losses.PLQ([], [(0, 1, 0)]), ct.losses.PLQ([], [(0, -1, 0)])
    with pytest.raises(ValueError, match="no line is below it"):
        ct.losses.envelope_of([rising, falling])
