"""Numbers of labels that may be missed at a price: beside every labelling."""

import numpy as np
import pytest

import convex_tsvm as ct


def instance(seed, n=11):
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.6, 1.0, -1.0)
    truth[:4] = [1, -1, 1, 1]
    X = rng.normal(size=(n, 2)) + 0.8 * truth[:, None]
    return ct.Problem(X, np.where(np.arange(n) < 4, truth, 0.0), kernel=ct.RBF(1.5), C=2.0, C_unlabeled=1.0)


@pytest.mark.parametrize("price", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_number_is_the_best_of_all(seed, price):
    problem, share = instance(seed), [0.3, 0.7, 0.97][seed % 3]
    model, u = [ct.tsvm("hinge"), ct.s3vm()][seed // 3], problem.n_unlabeled
    every = [
        ct.brute_force(model, problem.replace(balance=("exact", min(max(k / u, 1e-9), 1 - 1e-9))))[0]
        + price * abs(k - round(share * u))
        for k in range(u + 1)
    ]
    found = ct.exact.soft_count(model, problem, share, price, method="exact", gap=1e-6)
    assert found.objective == pytest.approx(min(every), rel=1e-5)
    assert found.lower_bound <= found.objective
    assert found.lower_bound == pytest.approx(min(every), rel=1e-4) or found.lower_bound <= min(every)
    assert (found.solution.labels[problem.unlabeled] > 0).sum() == found.n_positive
    quick = ct.exact.soft_count(model, problem, share, price)
    assert quick.objective >= min(every) - 1e-6
    assert quick.lower_bound <= min(every) + 1e-9
    if price == 5.0:
        assert found.n_positive == round(share * u)


def test_errors():
    problem = instance(0)
    with pytest.raises(ValueError, match="price=0 must be a finite number > 0"):
        ct.exact.soft_count(ct.s3vm(), problem, 0.5, 0)
    with pytest.raises(ValueError, match=r"share=1.5 must be a finite number > 0 and < 1"):
        ct.exact.soft_count(ct.s3vm(), problem, 1.5, 1.0)
