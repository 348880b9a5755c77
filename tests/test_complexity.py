"""The bounds of dai2010 §4 against random signs, CVXPY and each other."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.kernels import kernel_factor
from convex_tsvm.verification.complexity import _residuals


def problem_of(seed, n=20):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 6, np.resize([1.0, -1.0], n), 0.0)
    X = rng.normal(size=(n, 3)) + np.resize([1.0, -1.0], n)[:, None]
    return ct.Problem(X, y, kernel=ct.RBF(1.5), balance=0.0)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), D=st.floats(0.1, 10), C_compact=st.floats(0, 20))
def test_the_bound_is_above_the_estimate_and_falls_with_compactness(seed, D, C_compact):
    problem = problem_of(seed)
    compact, plain = (ct.papers.rademacher_complexity(problem, D, c, n_draws=30) for c in (C_compact, 0.0))
    assert compact.bound <= plain.bound * (1 + 1e-9)
    for found in (compact, plain):
        assert found.estimate <= found.bound + 4 * found.error


def test_lemma_2():
    problem = problem_of(0)
    l, u, D = problem.n_labeled, problem.n_unlabeled, 3.0
    eigenvalues = np.linalg.eigvalsh(problem.gram)
    assert ct.papers.rademacher_complexity(problem, D).bound == pytest.approx(
        2 * np.sqrt(D * eigenvalues.sum() / (l * u))
    )


@pytest.mark.parametrize("seed", range(3))
def test_lemma_3_is_the_least_over_alpha(seed):
    """Corrected: 1/(l+u) Σ xᵀ A⁻¹ x + (l+u)/(lu) D Σ α with A = Σ α (I + C₃ z zᵀ), minimized by CVXPY over α."""
    problem, D, C_compact = problem_of(seed, 10), 2.0, 1.5
    Z, l, u = kernel_factor(problem.gram), problem.n_labeled, problem.n_unlabeled
    alpha = cp.Variable(problem.n, nonneg=True)
    A = cp.sum(alpha) * np.eye(Z.shape[1]) + C_compact * Z.T @ cp.diag(alpha) @ Z
    first = sum(cp.matrix_frac(x, A) for x in Z) / (l + u)
    value = cp.Problem(cp.Minimize(first + (l + u) / (l * u) * D * cp.sum(alpha))).solve(solver="CLARABEL")
    assert ct.papers.rademacher_complexity(problem, D, C_compact).bound == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_suprema_are_those_of_the_class(seed):
    """The suprema that an estimate averages, against the program over w itself."""
    problem, D, C_compact = problem_of(seed, 12), 2.0, 1.5
    Z = kernel_factor(problem.gram)
    signs = np.random.default_rng(seed).choice([1.0, -1.0, 0.0], problem.n)
    w = cp.Variable(Z.shape[1])
    inside = [0.5 * cp.sum_squares(w) + 0.5 * C_compact * cp.square(z @ w) <= D for z in Z]
    value = cp.Problem(cp.Maximize((Z.T @ signs) @ w), inside).solve(solver="CLARABEL")
    assert np.sqrt(2 * D) * _residuals(Z, signs[None] @ Z, C_compact)[0] == pytest.approx(value, rel=1e-5)


def test_the_error_bound_adds_up_and_holds():
    problem = problem_of(1, 60)
    truth = np.resize([1.0, -1.0], 60)
    solution = ct.cccp(ct.compact_margin(), problem)
    found = ct.papers.error_bound(solution, delta=0.1, margin=0.5, C_compact=1.0)
    parts = found.margin_error + found.complexity + found.slack + found.confidence
    assert found.value == pytest.approx(parts)
    assert found.value >= (solution.labels != truth)[problem.unlabeled].mean()
    # With 60 points the sum is above 1 whatever its terms are, so that each is computed here once more; that the bound
    # holds where it says something is Corollary 4 in test_statements.py.
    size, share = problem.n, 1 / problem.n_labeled + 1 / problem.n_unlabeled
    margins = problem.y[problem.labeled] * solution.scores[problem.labeled]
    assert found.margin_error == pytest.approx(np.clip(1 - margins / 0.5, 0, 1).mean())
    outputs = solution.scores - solution.bias
    radius = solution.regularization + 0.5 * (outputs**2).max()
    assert found.complexity == pytest.approx(
        ct.papers.rademacher_complexity(problem, radius, 1.0).bound / 0.5, rel=1e-6
    )
    assert found.slack == pytest.approx(
        5.04518 * share * np.sqrt(min(problem.n_labeled, problem.n_unlabeled)), rel=1e-4
    )
    factor = size / (size - 0.5) / (1 - 0.5 / max(problem.n_labeled, problem.n_unlabeled))
    assert found.confidence == pytest.approx(np.sqrt(factor * share * np.log(10) / 2))
    assert "error on the unlabelled points <=" in str(found)
    l, u = problem.n_labeled, problem.n_unlabeled
    # The last term as dai2010 prints it, √(2 Q ln(1/δ)), is larger, so that its corollary holds too.
    assert found.confidence <= np.sqrt(2 * (1 / l + 1 / u) * np.log(10))
    assert ct.papers.error_bound(solution, delta=0.01).confidence > found.confidence


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"D": 0}, "D=0"), ({"D": 1, "C_compact": -1}, "C_compact=-1"), ({"D": 1, "n_draws": 1}, "n_draws=1")],
)
def test_bad_arguments_are_named(arguments, said):
    with pytest.raises(ValueError, match=said):
        ct.papers.rademacher_complexity(problem_of(0), **arguments)


def test_bad_arguments_of_the_error_bound_are_named():
    solution = ct.cccp(ct.svm(), problem_of(0))
    with pytest.raises(ValueError, match="delta=1"):
        ct.papers.error_bound(solution, delta=1)
    with pytest.raises(ValueError, match="margin=0"):
        ct.papers.error_bound(solution, margin=0)
    known = ct.Problem(np.array([[1.0], [-1.0]]), [1, -1], C_unlabeled=None)
    with pytest.raises(ValueError, match="no unlabelled point"):
        ct.papers.rademacher_complexity(known, 1.0)
    with pytest.raises(ValueError, match="no unlabelled point"):
        ct.papers.error_bound(ct.cccp(ct.svm(), known))
