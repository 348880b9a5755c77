"""Bounds and kernels against arithmetic of 300 bits, where rounding in double precision matters.

Each instance is made so that the same numbers without the room that is left for rounding would be wrong.
"""

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.instance import Instance
from convex_tsvm.instance.step_solution import certify
from convex_tsvm.kernels import plain_gram
from convex_tsvm.relaxations.envelopes.bound import Curved
from convex_tsvm.relaxations.envelopes.model import OutputModel

flint = pytest.importorskip("flint")


@pytest.fixture(autouse=True)
def many_bits():
    """Arithmetic of 300 bits, in which all that follows is as good as exact."""
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


def matrix(values):
    """Numbers as a matrix of Arb's, a vector as a column."""
    values = np.asarray(values, dtype=float)
    return flint.arb_mat((values if values.ndim == 2 else values[:, None]).tolist())


def number(values):
    """The only entry of a matrix."""
    return values[0, 0]


def exact_square(curved, gamma):
    """γᵀ L B⁻¹ Lᵀ γ with B = I - Lᵀ D L (without the 1 of a free bias)."""
    model = curved.model
    L, D, metric = matrix(model.factor), matrix(np.diag(curved.curvature)), matrix(np.diag(model.metric))
    p = L.transpose() * matrix(gamma)
    return number(p.transpose() * (metric - L.transpose() * D * L).solve(p))


def exact_least(model, curvature, gamma, low, high):
    """Σ min over t in [low_j, high_j] of φ_j(t) + ½ d_j t² + γ_j t."""
    total, losses = flint.arb(0), model.losses
    for j in range(model.n):
        values = []
        for k in range(losses.a.shape[1]):
            left, right = max(low[j], losses.low[j, k]), min(high[j], losses.high[j, k])
            if left > right:
                continue
            a = flint.arb(losses.a[j, k]) + flint.arb(curvature[j]) / 2
            b, c = flint.arb(losses.b[j, k]) + flint.arb(gamma[j]), flint.arb(losses.c[j, k])
            places = [flint.arb(left), flint.arb(right)]
            if a > 0 and left < -b / (2 * a) < right:
                places.append(-b / (2 * a))
            values += [(a * t + b) * t + c for t in places]
        total += min(values, key=lambda value: float(value.mid()))
    return total


def envelope_instance(seed, points, far):
    """A model of ramp losses, curvatures that it can lend, a box, and multipliers as large as the costs.

    Points are small, so that the terms of the losses in the box are far larger than their sum with the square.
    """
    rng = np.random.default_rng(seed)
    X = points * rng.normal(size=(10, 3))
    cost = 10 ** rng.uniform(0, 3, size=10)
    problem = ct.Problem(X, np.r_[1.0, -1.0, np.zeros(8)], C=cost, C_unlabeled=cost, balance=None)
    model = OutputModel(Instance(ct.tsvm("ramp", balance=None, fit_intercept=False), problem))
    lent = rng.uniform(0, 1, size=model.n)
    lent /= np.linalg.eigvalsh(model.factor.T @ (lent[:, None] * model.factor))[-1]
    low, high = -far * rng.uniform(0.1, 1, size=(2, model.n)) * [[1], [-1]]
    return model, lent, low, high, rng


@pytest.mark.parametrize(("points", "far", "share"), [(1e-4, 1e2, 0.0), (1.0, 3.0, 0.999), (1e-2, 30.0, 0.5)])
def test_no_bound_by_envelopes_is_above_the_exact_one(points, far, share):
    """Of a box and multipliers: the bound is below what they prove in exact arithmetic, and not by much."""
    above = 0
    for seed in range(20):
        model, lent, low, high, rng = envelope_instance(seed, points, far)
        curved = Curved(model, share * lent)
        for scale in (1.0, 0.1):
            gamma = scale * rng.normal(size=model.n) * 10 ** rng.uniform(0, 3, size=model.n)
            found, square = curved.point(low, high, gamma), exact_square(curved, gamma)
            exact = exact_least(model, curved.curvature, gamma, low, high) - square / 2
            size = float(np.abs(found.least).sum() + square.mid() / 2)
            assert flint.arb(curved._most_square(gamma)) * (1 + 1e-10) >= square
            assert flint.arb(found.value) <= exact
            assert float((exact - found.value).mid()) < 1e-8 * size
            above += bool(flint.arb(float(found.least.sum()) - 0.5 * float(gamma @ curved.M @ gamma)) > exact)
    assert above > 3, "without room for rounding the bound would be above in some instances"


# --- kernel matrices --------------------------------------------------------------------------------------------------


def exact_gram(kernel, X):
    """The kernel matrix of the points as they are given."""
    points = matrix(X)
    K, n = points * points.transpose(), len(X)
    if isinstance(kernel, ct.Linear):
        return K
    gamma = flint.arb(kernel.gamma)
    if isinstance(kernel, ct.RBF):
        return flint.arb_mat([[(gamma * (2 * K[i, j] - K[i, i] - K[j, j])).exp() for j in range(n)] for i in range(n)])
    entries = [[gamma * K[i, j] + flint.arb(kernel.coef0) for j in range(n)] for i in range(n)]
    return flint.arb_mat([[one**kernel.degree for one in row] for row in entries])


KERNELS = {"linear": ct.Linear(), "rbf": ct.RBF(1.3), "poly": ct.Polynomial(3, 0.7, 0.3)}


def drawn(seed, n=9):
    """Points of which some are nearly equal, and coefficients under which nearly all of a square cancels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * 10 ** rng.uniform(-1, 1)
    X[n // 2 :] = X[: n - n // 2] * (1 + 1e-7 * rng.normal(size=(n - n // 2, 3)))
    gamma = rng.normal(size=n)
    gamma[n // 2 :] = -gamma[: n - n // 2]
    return X, gamma * 10 ** rng.uniform(0, 3)


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_values_are_as_near_as_is_said(name):
    """Each value, the square of a combination, and its products with all points."""
    kernel, off = KERNELS[name], 0
    below, beside = 0, 0
    for seed in range(15):
        X, gamma = drawn(seed)
        n, found, exact = len(X), plain_gram(kernel, X), exact_gram(kernel, X)
        for i in range(n):
            for j in range(n):
                size = flint.arb(found.scale[i]) * flint.arb(found.scale[j])
                assert abs(exact[i, j] - flint.arb(found.matrix[i, j])) <= flint.arb(found.error) * size
                assert abs(exact[i, j]) <= size
                off += bool(exact[i, j] != flint.arb(found.matrix[i, j]))
        square = number(matrix(gamma).transpose() * exact * matrix(gamma))
        assert flint.arb(found.most_square(gamma)) >= square
        below += bool(flint.arb(float(gamma @ found.matrix @ gamma)) < square)
        image, away = found.image(gamma)
        products = exact * matrix(gamma)
        assert all(abs(products[i, 0] - flint.arb(image[i])) <= flint.arb(away[i]) for i in range(n))
        beside += sum(bool(products[i, 0] != flint.arb(image[i])) for i in range(n))
    # Rounding has changed most of what is compared.
    assert min(off / 81, below, beside / 9) > 3


# --- convex steps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_no_lower_bound_of_a_step_is_above_its_dual(name):
    """Σ |γ| - ½ γᵀ K γ for hinge losses without a bias, exactly; what is computed is above it at times."""
    kernel, above = KERNELS[name], 0
    for seed in range(20):
        X, gamma = drawn(seed)
        y = np.sign(gamma)
        problem = ct.Problem(X, y, kernel=kernel, C=1e9, C_unlabeled=None, balance=None)
        step = ct.Instance(ct.svm(fit_intercept=False), problem).step()
        found, K = certify(step, gamma, 0.0, 0.0), exact_gram(kernel, X)
        square = number(matrix(gamma).transpose() * K * matrix(gamma))
        exact = sum((flint.arb(abs(one)) for one in gamma), flint.arb(0)) - square / 2
        assert flint.arb(found.dual) - flint.arb(found.doubt) <= exact
        assert found.doubt < 1e-6 * float(square.mid())
        above += bool(flint.arb(found.dual) > exact)
    assert above > 3
