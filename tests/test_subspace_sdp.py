"""The subspace SDP as one CVXPY problem, beside cutting planes; programs with slacks of their own print in symbols."""

import warnings

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.instance import labelling
from convex_tsvm.methods.spectral import spectral_subspace
from convex_tsvm.methods.subspace import solve_subspace
from convex_tsvm.modeling.solver import ACCURATELY

FORMULATIONS = {
    "hinge": ct.tsvm("hinge", balance=None, fit_intercept=False),
    "squared hinge": ct.s3vm(balance=None, fit_intercept=False),
    "hard margin": ct.hard_margin_s3vm(balance=None, fit_intercept=False),
}


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(14, 22))
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + 1.3 * truth[:, None]
    costs = {"C": float(rng.choice([1, 5])), "C_unlabeled": float(rng.choice([0.3, 1]))}
    return ct.Problem(X, np.where(np.arange(n) < 4, truth, 0.0), kernel=ct.RBF(1.0), balance=None, **costs), truth


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 10))])
def test_by_clarabel_and_scs_it_is_the_fast_path(name, seed):
    pytest.importorskip("scs")
    formulation, (problem, _) = FORMULATIONS[name], random_problem(seed)
    V, _ = spectral_subspace(problem.gram, problem.y, 3, outliers=0.05)
    fast = solve_subspace(labelling(formulation, problem), V, tol=1e-6)
    for solver in ("CLARABEL", "SCS"):
        sdp = ct.subspace_sdp(formulation, problem, n_components=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = sdp.problem.solve(solver=solver, **ACCURATELY.get(solver, {}))
        if name == "hard margin" and solver == "SCS" and sdp.problem.status != "optimal":
            continue  # a first-order method may say that it has not got there
        assert value == pytest.approx(fast.value, rel=1e-4)
        signs = np.sign(sdp.scores)
        far = np.abs(sdp.scores) > 0.05
        assert (signs == np.sign(fast.scores[problem.unlabeled]))[far].all()
        gamma = sdp.V @ sdp.reduced() @ sdp.V.T
        assert np.diag(gamma).max() <= 1 + 1e-4


def test_it_prints_as_the_paper_has_it():
    formulation, (problem, _) = FORMULATIONS["hinge"], random_problem(0)
    sdp = ct.subspace_sdp(formulation, problem, n_components=3)
    assert "diag(V M Vᵀ) <= 1" in str(sdp.problem)
    assert "[K ∘ (V M Vᵀ), t; tᵀ, τ] ⪰ 0" in str(sdp.problem)
    assert r"V\,M\,V^\top" in sdp.problem.latex()
    with pytest.raises(ValueError, match="zero bias"):
        ct.subspace_sdp(ct.tsvm("hinge"), problem.replace(balance=0.2))


def test_programs_with_slacks_print_in_symbols():
    problem = random_problem(0)[0].replace(balance=("exact", 0.5))
    compact = ct.modeling.UnrelaxedCompactMargin(problem, epsilon=1.0, C_compact=1.0, upper=50.0).problem
    assert "+ Σ ζ" in str(compact)
    assert "ζ: how far outputs are from their class's mean" in str(compact)
    assert r"\zeta" in compact.latex()
