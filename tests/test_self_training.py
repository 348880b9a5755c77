"""Self-training of all classes together: its steps by another solver, its multipliers by their equation."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.datasets import load_iris, load_wine

import convex_tsvm as ct
from convex_tsvm.methods.self_training import SelfTraining

HINGE = ct.tsvm("hinge")


def iris(each=4, seed=0):
    """Points, classes, and labels of a few of them, -1 for the others."""
    X, truth = load_iris(return_X_y=True)
    rng, y = np.random.default_rng(seed), np.full(len(X), -1)
    for k in range(3):
        y[rng.choice(np.flatnonzero(truth == k), each, replace=False)] = k
    return X, truth, y


def by_hand(problem, rounds):
    """The labels of two classes, and the objective of each round; CVXPY solves the SVMs, under the mean output."""
    instance, solver = HINGE.on(problem), ct.modeling.CvxpySolver(problem)
    unknown, share = problem.unlabeled, (problem.balance_target + 1) / 2
    shares, least, labels = np.array([1 - share, share]), np.inf, problem.y.copy()
    pays, before, values = problem.y != 0, labels, []
    for number in range(1, 100):
        point = solver.solve(instance.svm(np.where(pays, labels, 0.0)))
        f = point.outputs
        value = instance.labelled_objective(f, point.regularization, np.where(labels == 0, -1.0, labels))
        if number > rounds:
            if not value < least * (1 - 1e-9):
                return before, values
            least = value
        values.append(value)
        before = labels.copy()
        outputs = np.column_stack([-f, f])[unknown]
        ahead = outputs + SelfTraining()._multipliers(outputs, shares)
        labels[unknown] = np.where(ahead[:, 1] > ahead[:, 0], 1.0, -1.0)
        if number > rounds and np.array_equal(labels, before):
            return labels, values
        lead = np.abs(ahead[:, 1] - ahead[:, 0])
        pays[unknown] = False
        pays[unknown[np.argsort(-lead, kind="stable")[: int(np.ceil(min(number / rounds, 1) * len(unknown)))]]] = True
    return labels, values


@pytest.mark.parametrize("kernel", ["linear", ct.RBF(1.5)], ids=["linear", "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_are_a_loop_by_hand(seed, kernel):
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0, -1.0], 60)
    X, y = rng.normal(size=(60, 2)) + 1.3 * truth[:, None], np.where(np.arange(60) < 9, truth, 0.0)
    problem = ct.Problem(X, y, kernel=kernel, C=3.0, C_unlabeled=3.0, balance=-0.3)
    found = ct.methods.self_training(HINGE, problem, rounds=4, tol=1e-6)
    labels, values = by_hand(problem, 4)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_allclose([one.objective for one in found.history], values, rtol=1e-4)
    np.testing.assert_array_equal(found.labels[:9], y[:9])
    assert found.status == "converged"
    full = [one.objective for one in found.history if one.stage == 1]
    assert all(np.diff(full) < 0)
    certificate = found.certificate()
    assert certificate.gap < 1e-5
    # From its own labels it stays there; and without a balance labels are signs.
    again = ct.methods.self_training(HINGE, problem, start=found, rounds=4, tol=1e-6)
    np.testing.assert_array_equal(again.labels, found.labels)
    assert len(again.history) == 1
    free = problem.replace(balance=None)
    unbalanced = ct.methods.self_training(HINGE.balanced_as(free), free, tol=1e-6)
    np.testing.assert_array_equal(unbalanced.labels[9:], np.where(unbalanced.scores[9:] > 0, 1, -1))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_multipliers_meet_their_equation(seed, k):
    """ν_k = strength (1 - n_k / s_k), with n the shares of probabilities at the temperature."""
    rng = np.random.default_rng(seed)
    outputs, shares = rng.normal(size=(50, k)) * rng.uniform(0.1, 3), rng.dirichlet(np.full(k, 3.0)) + 0.02
    shares /= shares.sum()
    method = SelfTraining(strength=float(rng.uniform(0.1, 1)))
    nu = method._multipliers(outputs, shares)
    temperature = min(method.temperature, method.deviations * outputs.std())
    sizes = softmax((outputs + nu) / temperature, axis=1).mean(axis=0)
    np.testing.assert_allclose(nu, method.strength * (1 - sizes / shares), atol=5e-3)


@pytest.mark.parametrize("balance", ["auto", "labeled", None])
def test_classifiers_learn_several_classes_together(balance):
    X, truth, y = iris()
    clf = ct.TransductiveSVC(balance=balance).fit(X, y)
    assert clf.status_ == "converged"
    assert clf.solutions_[0].history[-1].stage == 1
    assert np.mean(clf.transduction_[y < 0] != truth[y < 0]) < 0.12
    np.testing.assert_array_equal(clf.transduction_[y >= 0], y[y >= 0])
    # One label a point: the signs that the three functions were trained on.
    signs = np.array([one.labels for one in clf.solutions_])
    np.testing.assert_array_equal((signs > 0).sum(axis=0), 1)
    np.testing.assert_array_equal(signs.argmax(axis=0), clf.transduction_)
    # The order of points and the names of classes make no difference.
    order = np.random.default_rng(1).permutation(len(y))
    names = np.array(["c", "b", "a"])
    other = ct.TransductiveSVC(balance="labeled", unlabeled="?").fit(X[order], np.where(y < 0, "?", names[y])[order])
    if balance == "labeled":
        assert np.mean(other.transduction_ == names[clf.transduction_][order]) > 0.98
    by_cvxpy = ct.TransductiveSVC(balance=balance, cvxpy_solver="CLARABEL", solver="cvxpy").fit(X, y)
    assert np.mean(by_cvxpy.transduction_ == clf.transduction_) > 0.98


def test_what_the_default_method_is():
    X, _, few = iris()
    _, _, many = iris(20)
    two_few, two_many = (np.where(y == 2, 1, y) for y in (few, many))
    exact = ("exact", [0.3, 0.3, 0.4])
    for labels, options, method, cost in (
        (few, {}, "self_training", 10.0),
        (many, {}, "self_training", 10.0),
        (two_few, {}, "self_training", 10.0),
        (two_many, {}, "CCCP", 1.0),
        (few, {"multi_class": "ovr"}, "CCCP", 1.0),
        (few, {"loss": "ramp"}, "CCCP", 1.0),
        (few, {"annealing": 3}, "CCCP", 1.0),
        (few, {"balance": exact}, "CCCP", 1.0),
        (two_many, {"method": "self_training"}, "self_training", 10.0),
        (few, {"C_unlabeled": 2.0}, "self_training", 2.0),
    ):
        clf = ct.TransductiveSVC(**options).fit(X, labels)
        assert clf._asked_method().name == method, options
        np.testing.assert_allclose(clf.solutions_[0].problem.cost[labels < 0], cost)


def test_it_refuses_numbers_of_labels_and_other_losses():
    X, _, y = iris()
    with pytest.raises(ValueError, match="self-training takes mean outputs, not numbers of labels"):
        ct.TransductiveSVC(method="self_training", balance=("exact", [0.3, 0.3, 0.4])).fit(X, y)
    with pytest.raises(ValueError, match="is not the loss min"):
        ct.TransductiveSVC(method="self_training", loss="ramp").fit(X, y)
    for options in ({"rounds": 0}, {"strength": 0.0}):
        name = next(iter(options))
        with pytest.raises(ValueError, match=f"{name}="):
            ct.TransductiveSVC(method="self_training", method_options=options).fit(X, y)


def test_a_fit_begins_at_the_one_before():
    X, _, y = iris()
    clf = ct.TransductiveSVC(warm_start=True).fit(X, y)
    before = clf.transduction_
    clf.fit(X, y)
    np.testing.assert_array_equal(clf.transduction_, before)
    assert clf.n_iter_ == 1


def test_a_time_limit_leaves_the_best_so_far():
    X, truth = load_wine(return_X_y=True)
    y = np.where(np.arange(len(X)) % 9 == 0, truth, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = ct.TransductiveSVC(time_limit=1e-9, balance="labeled").fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.predict(X).shape == truth.shape


def test_searches_learn_classes_together():
    X, truth, y = iris(6)
    search = ct.TransductiveSearchCV(param_grid={"C": [1.0, 10.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.solutions_[0].history[-1].stage == 1
    own = ct.TransductiveSVC(**search.best_params_).fit(X, y)
    assert np.mean(own.transduction_ == search.transduction_) > 0.97
    assert np.mean(search.transduction_ != truth) < 0.1


def test_costs_of_an_array_are_those_of_labelled_points():
    X, _, y = iris()
    C = np.where(y < 0, 1e-6, 5.0)
    clf = ct.TransductiveSVC(C=C, balance="labeled").fit(X, y)
    np.testing.assert_allclose(clf.solutions_[0].problem.cost, 5.0)
    with pytest.raises(ValueError, match="C="):
        ct.TransductiveSVC(C=np.where(y < 0, 1.0, np.nan), balance="labeled").fit(X, y)


def test_verbose_tells_of_every_round(capsys):
    X, _, y = iris()
    ct.TransductiveSVC(balance="labeled", verbose=1).fit(X, y)
    told = [line for line in capsys.readouterr().out.splitlines() if "of the points have labels" in line]
    assert len(told) >= 3 * 9
    assert "class 0" in told[0]
    assert "class 1" in told[1]
