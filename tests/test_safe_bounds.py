"""Bounds of the relaxation in label matrices: below what they are made of, in spite of rounding, and not far below."""

import dataclasses

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.instance.labelling import labelling
from convex_tsvm.modeling.label_matrix import solve_dual
from convex_tsvm.relaxations.safe_bounds import coupling, dominating, into_domain, transduction_bound

HINGE = ct.tsvm("hinge", fit_intercept=False)


def search_of(seed, n=10, balance=0.3, C=2.0, points=1.0):
    """A search for labels with offsets, as its outputs have a mean."""
    rng = np.random.default_rng(seed)
    X, cost = points * (rng.normal(size=(n, 3)) + 1.0), C * 10 ** rng.uniform(0, 1, size=n)
    y = np.r_[1.0, -1.0, np.zeros(n - 2)]
    problem = ct.Problem(
        X, y, kernel=ct.RBF(1.0) if points == 1.0 else "linear", C=cost, C_unlabeled=cost, balance=balance
    )
    return labelling(HINGE, problem), rng


@pytest.mark.parametrize("seed", range(8))
def test_multipliers_dominate_for_every_kernel_that_there_may_be(seed):
    """The kernel is known to a share of 10⁻⁶: the matrix is dominated for those that are larger by as much, too."""
    search, rng = search_of(seed)
    alpha = search.cost * rng.uniform(0, 1, size=search.n)
    scale = search.gram.scale
    known = dataclasses.replace(search, gram=dataclasses.replace(search.gram, error=1e-6))
    larger = dataclasses.replace(search.gram, matrix=search.kernel + 1e-6 * np.outer(scale, scale))
    exact = coupling(dataclasses.replace(search, gram=larger), alpha)
    for multipliers in (np.zeros(1 + len(search.unknown)), np.abs(coupling(search, alpha)).sum(axis=1)):
        found = dominating(known, alpha, multipliers)
        assert np.linalg.eigvalsh(np.diag(found) - exact)[0] >= -1e-12 * np.abs(exact).max()


def test_a_bound_is_below_the_sum_that_it_is():
    """Σ α - Σ α y o - ½ Σ λ + constant for the hinge loss, added up in exact arithmetic; rounding would be above it."""
    flint = pytest.importorskip("flint")
    arb, above = flint.arb, 0
    for seed in range(60):
        search, rng = search_of(seed, n=14, C=100.0, balance=1e-6, points=1e-5)
        alpha, value, _ = into_domain(search, search.cost * rng.uniform(0, 1, size=search.n))
        multipliers = np.zeros(1 + len(search.unknown))
        found = dominating(search, alpha, multipliers)
        bound, taken = transduction_bound(search, alpha, multipliers), alpha * search.y * search.offset
        with flint.ctx.workprec(300):
            terms = zip(alpha, search.y, search.offset, strict=True)
            total = sum((arb(a) - arb(a) * arb(y) * arb(o) for a, y, o in terms), arb(search.constant))
            total -= sum(map(arb, found), arb(0)) / 2
            assert arb(bound) <= total
            assert float(total) - bound < 1e-6 * value
            above += bool(arb(value - float(taken.sum()) - 0.5 * float(found.sum()) + search.constant) > total)
    assert above > 5


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_number_of_labels_costs_a_bound_nothing(share):
    """The direction that it gives is taken off, so that the bound of an optimal point is its value."""
    search, _ = search_of(1, balance=("exact", share))
    assert search.unknown_sum is not None
    point = solve_dual(search, "clarabel")
    bound = transduction_bound(search, point.alpha, point.multipliers)
    assert bound == pytest.approx(point.value, rel=1e-3)
    assert bound <= point.value * (1 + 1e-6)
