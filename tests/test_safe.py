"""S4VM: the derivation, the integer program against every labelling, and what it promises."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import convex_tsvm as ct


@st.composite
def problems(draw, most=8):
    u, T = draw(st.integers(1, most)), draw(st.integers(1, 4))
    signs = st.sampled_from([-1.0, 1.0])
    separators = draw(st.lists(st.lists(signs, min_size=u, max_size=u), min_size=T, max_size=T))
    supervised = draw(st.lists(signs, min_size=u, max_size=u))
    return ct.formulations.SafeLabels(
        np.array(separators), np.array(supervised), draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    )


@given(problem=problems())
@settings(deadline=None, max_examples=40)
def test_no_labelling_is_better_in_the_worst_case(problem):
    def improvements(y):
        """J_t, counted point by point."""
        s = problem.supervised
        turns = [
            [1.0 if a == b != c else -problem.penalty if a != b == c else 0.0 for a, b, c in zip(y, t, s, strict=True)]
            for t in problem.separators
        ]
        return [sum(one) for one in turns]

    y = problem.solve()
    best = max(min(improvements(z)) for z in itertools.product([-1.0, 1.0], repeat=len(y)))
    assert problem.worst(y) == pytest.approx(min(improvements(y)), abs=1e-9)
    assert problem.worst(y) == pytest.approx(best, abs=1e-9)
    assert best >= problem.worst(problem.supervised) == 0


@given(problem=problems(), data=st.data())
@settings(deadline=None, max_examples=40)
def test_labels_are_no_worse_than_the_svm_if_a_separator_is_true(problem, data):
    """With a penalty of at least 1: the theorem of the paper (§3.2)."""
    problem = ct.formulations.SafeLabels(problem.separators, problem.supervised, max(problem.penalty, 1.0))
    truth = data.draw(st.sampled_from(list(problem.separators)))
    assert (problem.solve() == truth).sum() >= (problem.supervised == truth).sum()


def test_surer_points_are_turned_first():
    # Both separators differ from the SVM at two points each; turning one of a pair spoils nothing of the other's gain.
    problem = ct.formulations.SafeLabels(np.array([[-1.0, -1, 1, 1, 1], [1, 1, -1, -1, -1]]), np.ones(5), 1.0)
    y = problem.solve(confidence=np.array([0.1, 0.9, 0.5, 0.2, 0.3]))
    assert problem.worst(y) >= 0
    turned = np.flatnonzero(y < 0)
    assert set(turned) in ({1}, {2}, {1, 2}, set(), {0, 1, 2, 4}, {0, 1, 2, 3, 4}, {1, 2, 4})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_separators_and_labels(seed, loss):
    random = np.random.default_rng(seed)
    X = random.standard_normal((60, 2)) + np.repeat([[-1.0, 0.0], [1.0, 0.0]], 30, axis=0)
    y = np.zeros(60)
    y[[0, 1, 30, 31]] = [-1, -1, 1, 1]
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=10)
    formulation = ct.tsvm(loss)
    pool = ct.safe_transduction(formulation, problem, n_separators=4, n_starts=12, folds=0).separators
    assert 1 <= len(pool) <= 4
    assert len({tuple(one.labels) for one in pool}) == len(pool)
    assert [one.objective for one in pool] == sorted(one.objective for one in pool)
    solution = ct.safe_transduction(formulation, problem, separators=pool)
    unknown = problem.unlabeled
    assert solution.worst_improvement == solution.safe.worst(solution.labels[unknown]) >= 0
    np.testing.assert_array_equal(solution.labels[problem.labeled], y[problem.labeled])
    for one in pool:  # whichever is true
        truth = one.labels[unknown]
        assert (solution.labels[unknown] == truth).sum() >= (solution.safe.supervised == truth).sum()


def test_exact_search_may_be_a_separator(moons):
    X, _, y = moons
    problem = ct.Problem(X[:40], y[:40], kernel=ct.RBF(0.5), C=1)
    found = ct.exact_search(ct.s3vm(), problem, gap=1e-2)
    solution = ct.safe_transduction(ct.s3vm(), problem, separators=[found])
    assert solution.safe.separators.shape == (1, problem.n_unlabeled)


def test_the_supervised_svm_is_that_of_the_formulation(moons):
    X, _, y = moons
    problem = ct.Problem(X[:40] + 3, y[:40], kernel="linear", C=1)
    formulation = ct.tsvm("hinge", balance=None, fit_intercept=False)
    found = ct.safe_transduction(formulation, problem.replace(balance=None), n_starts=3)
    alone = ct.cccp(ct.svm(fit_intercept=False), problem.replace(balance=None))
    np.testing.assert_array_equal(found.safe.supervised, alone.labels[problem.unlabeled])


def test_the_estimator(moons):
    X, truth, y = moons
    clf = ct.SafeTransductiveSVC(sigma=0.5, C=10, unlabeled=0, n_starts=8).fit(X, y)
    assert clf.worst_improvement_ >= 0
    alone = ct.TransductiveSVC(sigma=0.5, C=10, unlabeled=0, C_unlabeled=None).fit(X, y)
    assert np.mean(clf.transduction_ == truth) >= np.mean(alone.transduction_ == truth) - 0.01
    np.testing.assert_array_equal(clf.transduction_[y != 0], y[y != 0])


def test_bad_input():
    with pytest.raises(ValueError, match="must be \\(T, u\\)"):
        ct.formulations.SafeLabels(np.ones((2, 3)), np.ones(4))
    with pytest.raises(ValueError, match="labels \\+1 and -1"):
        ct.formulations.SafeLabels(np.zeros((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match="penalty=-1"):
        ct.formulations.SafeLabels(np.ones((2, 3)), np.ones(3), -1)


def test_several_classes_with_as_many_labels_each_are_not_of_one_size():
    """Labels drawn per class, of classes of 60, 30 and 10 %: not worse than the supervised SVM, and no warning."""
    random, centers = np.random.default_rng(0), np.random.default_rng(1).standard_normal((3, 10))
    truth = random.choice(3, 300, p=(0.6, 0.3, 0.1))
    X = 2.5 * (centers / np.linalg.norm(centers, axis=1)[:, None])[truth] + random.standard_normal((300, 10))
    y = np.full(300, -1)
    for k in range(3):
        y[random.permutation(np.flatnonzero(truth == k))[:8]] = k
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        safe = ct.SafeTransductiveSVC().fit(X, y)
        alone = ct.TransductiveSVC(C=1, C_unlabeled=None).fit(X, y)
    assert np.abs(safe.class_shares_ - [0.6, 0.3, 0.1]).max() < 0.15
    hidden = y < 0
    errors = [np.mean(clf.transduction_[hidden] != truth[hidden]) for clf in (safe, alone)]
    assert errors[0] <= errors[1] + 0.01


def test_the_supervised_svms_decide_where_classes_do_not():
    """Iris: a point that one class takes is of that class; where none or several do, it is one of those by the SVMs."""
    X, truth = load_iris(return_X_y=True)
    y = np.where(np.isin(np.arange(150), [0, 1, 50, 51, 52, 100, 101]), truth, -1)
    clf = ct.SafeTransductiveSVC().fit(X, y)
    taken = np.column_stack([solution.labels > 0 for solution in clf.solutions_])
    one, hidden = taken.sum(axis=1) == 1, y < 0
    np.testing.assert_array_equal(clf.transduction_[one & hidden], taken[one & hidden].argmax(axis=1))
    alone = ct.TransductiveSVC(C=1, C_unlabeled=None, gamma=clf.model_.kernel.gamma).fit(X, y)
    none = ~taken.any(axis=1) & hidden
    np.testing.assert_array_equal(clf.transduction_[none], alone.transduction_[none])
    np.testing.assert_array_equal(clf.transduction_[~hidden], y[~hidden])
