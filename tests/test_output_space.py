"""The quadratic program in v: its value, its cuts, the bounds and boxes that multipliers prove."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import searches, value_in

import convex_tsvm as ct
from convex_tsvm.instance import labelling
from convex_tsvm.relaxations import OutputSpace
from convex_tsvm.relaxations.box import labels_of, settle
from convex_tsvm.relaxations.svm.partial_svm import PartialSVM

outside = st.floats(1, 4).flatmap(lambda size: st.sampled_from([size, -size]))


def search_of(seed, squared=None):
    formulation, problem = searches(seed, squared=squared)
    return labelling(formulation, problem)


def drawn_labels(search, seed):
    """Labels of all points, with both among the unlabelled ones."""
    labels = np.where(search.y != 0, search.y, np.random.default_rng(seed).choice([-1.0, 1.0], search.n))
    labels[search.unknown[:2]] = 1.0, -1.0
    return labels


def best_v(search, labels):
    """v and value of the program for given labels, by CVXPY in v, b and μ themselves."""
    return least_value(search, lambda v: [cp.multiply(labels, v) >= 1])


def least_value(search, constraints):
    """v and value of the program under constraints on v."""
    v, b = cp.Variable(search.n), cp.Variable()
    inverse = np.linalg.inv(search.kernel + np.diag(1 / (2 * search.cost)))
    shift = v - search.offset - (b if search.free_bias else 0)
    constraints = constraints(v)
    if search.target_sum is not None:
        constraints.append(search.summed @ v == search.target_sum)
    value = 0.5 * cp.quad_form(shift, cp.psd_wrap((inverse + inverse.T) / 2))
    found = cp.Problem(cp.Minimize(value), constraints).solve(solver="CLARABEL")
    return v.value, found + search.constant


@pytest.mark.parametrize("seed", range(24))
def test_the_program_in_v_is_the_svm(seed):
    """For given labels: q at the best v, the partial SVM's dual and primal, and for sums of losses the SVM itself."""
    search = search_of(seed, squared=True)
    labels = drawn_labels(search, seed)
    v, least = best_v(search, labels)
    space, svm = OutputSpace(search), PartialSVM(search)
    assert value_in(space, v) == pytest.approx(least, rel=1e-5)
    point = svm.solve(labels, tol=1e-9)
    assert point.value == pytest.approx(least, rel=1e-5)
    assert svm.objective(labels, point) == pytest.approx(least, rel=1e-5)
    if not search.free_bias:
        np.testing.assert_allclose(point.outputs, v, atol=1e-3)


@pytest.mark.parametrize("seed", range(24))
def test_the_partial_svm_is_the_svm(seed):
    """Against the step of the formulation, solved by CVXPY, for the hinge and the squared hinge."""
    search = search_of(seed)
    if search.target_sum is not None or search.n_positive is not None:
        return
    labels = np.where(np.arange(search.n) % 3 == 0, search.y, drawn_labels(search, seed))
    step = ct.modeling.CvxpySolver(search.problem).solve(search.svm(labels))
    point = PartialSVM(search).solve(labels, tol=1e-9)
    assert point.value == pytest.approx(step.primal + search.loss_constant, rel=1e-5)


@pytest.mark.parametrize("seed", range(24))
def test_rates_say_how_the_bound_rises_with_an_output(seed):
    """Against CVXPY: the points that are on their margins held there, and one output moved."""
    search = search_of(seed, squared=True)
    svm, labels = PartialSVM(search), drawn_labels(search, seed)
    partial = np.where(np.random.default_rng(seed).random(search.n) < 0.5, labels, search.y)
    unknown = np.flatnonzero(partial == 0)
    if search.target_sum is not None and len(unknown) == 1:
        return  # the sum of outputs says what it is
    point = svm.solve(partial, tol=1e-10)
    held = np.flatnonzero(point.gamma)
    rates = svm.rates(point.gamma, unknown)
    for i, rate in list(zip(unknown, rates, strict=True))[:3]:
        for change in (0.7, -2.0):
            output = point.outputs[i] + point.bias + change
            _, value = least_value(search, lambda v, i=i, t=output: [v[held] == partial[held], v[i] == t])
            assert value - point.value == pytest.approx(rate * change**2, rel=1e-4, abs=1e-5 * abs(point.value))


@given(seed=st.integers(0, 500), noise=st.sampled_from([0.0, 0.1, 10.0]))
def test_any_gamma_gives_a_bound(seed, noise):
    search = search_of(seed)
    svm, rng = PartialSVM(search), np.random.default_rng(seed)
    labels = drawn_labels(search, seed)
    least = svm.solve(labels, tol=1e-9).value
    partial = np.where(rng.random(search.n) < 0.5, labels, search.y)
    gamma = svm.solve(partial).gamma + noise * rng.normal(size=search.n)
    assert svm.point(partial, gamma).value <= least + 1e-8 * (1 + abs(least))


@given(seed=st.integers(0, 500), noise=st.sampled_from([0.0, 0.1]), slack=st.sampled_from([1e-6, 0.1, 1.0]))
def test_what_a_partial_svm_excludes_is_not_a_better_solution(seed, noise, slack):
    """The outputs of a labelling lie in every box that is proven for solutions up to its value."""
    search = search_of(seed)
    svm, rng = PartialSVM(search), np.random.default_rng(seed)
    labels = drawn_labels(search, seed)
    solution = svm.solve(labels, tol=1e-9)
    cutoff = solution.value * (1 + slack)
    partial = np.where(rng.random(search.n) < 0.5, labels, search.y)
    point = svm.solve(partial)
    boxes = [svm.consequences(partial, svm.point(partial, point.gamma + noise * rng.normal(size=search.n)), cutoff)]
    if search.free_bias:
        v = best_v(search, labels)[0] if svm.squared else labels
    else:
        v = solution.outputs if svm.squared else labels
    for low, high in boxes:
        assert (v >= low - 1e-4).all()
        assert (v <= high + 1e-4).all()


def test_settled_labels():
    low, high = settle(np.array([-2.0, -0.5, -3, -3]), np.array([2.0, 4, 0.5, 3]), np.array([0.0, 0, 0, 1]))
    assert low.tolist() == [-2, 1, -3, 1]
    assert high.tolist() == [2, 4, -1, 3]
    assert labels_of(low, high).tolist() == [0, 1, -1, 1]


def test_sums_of_targets_need_the_squared_hinge_and_no_bias():
    problem = ct.Problem(np.eye(4), [1, -1, 0, 0])
    with pytest.raises(ValueError, match="balance='targets' is for the squared hinge"):
        labelling(ct.cccp_tsvm(0.0, balance="targets", fit_intercept=False), problem)
    with pytest.raises(ValueError, match="needs fit_intercept=False"):
        labelling(ct.s3vm(balance="targets"), problem)
    with pytest.raises(ValueError, match="takes a number or 'labeled'"):
        labelling(ct.s3vm(balance="targets", fit_intercept=False), problem.replace(balance=("exact", 0.5)))
    with pytest.raises(ValueError, match="convex steps know 'linear'"):
        ct.s3vm(balance="targets", fit_intercept=False).on(problem).step()
