"""Shares of the classes among the unlabelled points are inferred: what is known of them, and what is made of it."""

import warnings
from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

import convex_tsvm as ct
from convex_tsvm.methods import shares
from convex_tsvm.methods.left_out import FewPoints, Inference, without_parts
from convex_tsvm.methods.several_shares import _posterior, calibration
from convex_tsvm.methods.shares import per_class_probability, spoilt
from convex_tsvm.solvers.dual.small import BalancedProblem, SmallProblems


def clusters(share, n=200, seed=0, d=5):
    """Two clusters, the positive one of which is such a share of the points, and their labels."""
    random = np.random.default_rng(seed)
    truth = np.where(np.arange(n) < round(share * n), 1.0, -1.0)
    return random.standard_normal((n, d)) + 1.5 * truth[:, None] / np.sqrt(d) * 2, truth


def shown(truth, positive, negative, seed=0):
    """Labels of so many points of each class, 0 elsewhere."""
    random, y = np.random.default_rng(seed), np.zeros(len(truth))
    for sign, count in ((1, positive), (-1, negative)):
        y[random.permutation(np.flatnonzero(truth == sign))[:count]] = sign
    return y


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_labels_drawn_per_class_do_not_say_how_large_classes_are(share):
    X, truth = clusters(share)
    y = shown(truth, 8, 8)
    found = ct.infer_share(ct.Problem(X, y, kernel=ct.RBF(gamma=0.2), C=10))
    assert found.counted == 0.5
    assert abs(found.share - np.mean(truth[y == 0] > 0)) < max(0.08, 2 * found.error)
    assert len(found.tried) <= Inference().most_tried
    assert (np.diff(found.tried) > 0).all()
    assert found.left_out.shape[1] == 3
    assert np.isin(found.left_out[:, 0], [-1, 1]).all()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_estimates_are_near_the_truth_and_their_errors_are_those_that_they_make(share):
    """Over many draws of points and labels: near, with little bias, and neither too sure nor too unsure."""
    off, error = np.empty(48), np.empty(48)
    for seed in range(48):
        X, truth = clusters(share, seed=seed)
        y = shown(truth, 8, 8, seed)
        found = ct.infer_share(ct.Problem(X, y, kernel=ct.RBF(gamma=0.2), C=10))
        off[seed], error[seed] = found.share - np.mean(truth[y == 0] > 0), found.error
    assert np.sqrt(np.mean(off**2)) < 0.06
    assert abs(off.mean()) < 0.035  # the prior of what supervised SVMs say is for equal shares
    assert error.max() < 0.12
    assert np.mean(np.abs(off) < 2 * error) > 0.93
    assert 0.3 < np.sqrt(np.mean((off / error) ** 2)) < 1.2


def test_many_labels_drawn_at_random_settle_it(monkeypatch):
    X, truth = clusters(0.2, n=2000)
    y = np.where(np.random.default_rng(0).random(2000) < 0.5, truth, 0)
    found = ct.infer_share(ct.Problem(X, y, kernel=ct.RBF(gamma=0.2)))
    assert len(found.tried) == 0  # nothing was fitted
    assert found.share == pytest.approx(np.mean(y[y != 0] > 0), abs=2e-3)
    assert found.error < Inference().known
    monkeypatch.setattr(FewPoints, "gram", property(lambda points: pytest.fail("no kernel matrix is needed")))
    problem = ct.Problem(X, y, kernel=ct.RBF(gamma=0.2))
    assert shares.infer_class_shares(problem, [y]).estimate.share == found.share


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.integers(1, 5))
def test_equal_counts_look_drawn_per_class_whatever_their_order(counts, each):
    probability = per_class_probability(np.array(counts))
    assert 0 <= probability <= 1
    assert probability == pytest.approx(per_class_probability(np.array(counts[::-1])))
    equal = np.full(len(counts), 10 * each)
    apart = equal.copy()
    apart[0] *= 4
    assert per_class_probability(equal) > 0.8
    assert per_class_probability(apart) < 0.5


def test_the_posterior_is_that_of_a_grid_without_likelihood():
    """Where no label can be left out it is the prior's mean, which SciPy's beta distributions have in closed form."""
    X = np.array([[-1.0], [-0.9], [0.9], [1.0]])
    found = ct.infer_share(ct.Problem(X, [-1, 0, 0, 1], kernel=ct.RBF(gamma=1.0)))
    assert found.share == pytest.approx(0.5, abs=1e-3)


def test_scale_and_place_of_points_do_not_matter():
    X, truth = clusters(0.25)
    y = shown(truth, 8, 8)
    found = [
        ct.infer_share(ct.Problem(points, y, kernel="linear", C=C)).share
        for points, C in ((X, 1.0), (1000 * X, 1.0), (X + 100, 50.0), (X + 1e9, 1.0))
    ]
    np.testing.assert_allclose(found, found[0], atol=5e-3)
    # Rounding has spoilt inner products: nothing is said but what counts say.
    spoilt_kernel = ct.Problem((X + 1e9) @ (X + 1e9).T, y, kernel="precomputed")
    assert len(ct.infer_share(spoilt_kernel).tried) == 0


def test_every_space_is_taken():
    X, truth = clusters(0.25, n=80)
    y = shown(truth, 8, 8)
    rbf = ct.RBF(gamma=0.2)
    plain = ct.infer_share(ct.Problem(X, y, kernel=rbf)).share
    assert ct.infer_share(ct.Problem(rbf(X, X), y, kernel="precomputed")).share == pytest.approx(plain, abs=1e-3)
    graph = ct.Problem(X, y, kernel=ct.kernels.laplacian_kernel(rbf, X, 1.0, 5))
    assert ct.infer_share(graph).share == pytest.approx(plain, abs=1e-3)
    with pytest.raises(ValueError, match="no unlabelled point"):
        ct.infer_share(ct.Problem(X, truth, C_unlabeled=None))


@pytest.mark.parametrize(("n", "n_draws"), [(2000, 12), pytest.param(3000, 12, marks=pytest.mark.slow)])
def test_one_percent_and_as_many_labels_of_both_classes(n, n_draws):
    """Ten and nine labels of classes of 99 and 1 %: hardly behind the SVM; the labels' balance errs on half.

    From draw to draw the difference of both errors varies by 0.05, so that its mean says something over a dozen only.
    """
    X, truth = make_classification(n, 20, n_informative=6, weights=[0.99], class_sep=1.5, flip_y=0, random_state=3)
    methods = {
        "alone": ct.TransductiveSVC(C_unlabeled=None),
        "inferred": ct.TransductiveSVC(),
        "counted": ct.TransductiveSVC(balance="labeled"),
        "linear": ct.LinearTransductiveSVC(),
    }
    errors = {name: [] for name in methods}
    for seed in range(n_draws):
        y = np.where(shown(2 * truth - 1, 9, 10, seed) == 0, -1, truth)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, clf in methods.items():
                if seed < 4 or name in ("alone", "inferred"):
                    errors[name].append(np.mean(clf.fit(X, y).transduction_[y < 0] != truth[y < 0]))
    mean = {name: np.mean(found) for name, found in errors.items()}
    assert mean["inferred"] < mean["alone"] + 0.03
    assert mean["counted"] > 0.4
    assert mean["linear"] < 0.2


@pytest.mark.parametrize("far", [1e4, 1e6])
def test_points_far_from_the_origin(far):
    """Shares are those of the points: a linear kernel of far points has lost its digits, but they have not."""
    rng = np.random.default_rng(26)
    truth = (rng.random(229) < 0.1).astype(int)
    X = rng.normal(size=(229, 4)) + 1.2 * truth[:, None]
    y = np.full(229, -1)
    y[np.r_[np.flatnonzero(truth == 0)[:4], np.flatnonzero(truth == 1)[:5]]] = np.r_[np.zeros(4), np.ones(5)]
    for estimator in (ct.LinearTransductiveSVC(), ct.TransductiveSVC(kernel="linear")):
        near, away = (clone(estimator).fit(points, y).class_shares_ for points in (X, X + far))
        np.testing.assert_allclose(away, near, atol=1e-2)


def test_241_gaussian_features_are_safe():
    """Of Gaussians, whose separators are many and mostly wrong, safe labels are not worse than the supervised SVM's."""
    apart = []
    for seed in range(2):
        random = np.random.default_rng(seed)
        truth = random.integers(0, 2, 400)
        centre = random.standard_normal(241)
        X = random.standard_normal((400, 241)) + 1.3 * np.outer(2 * truth - 1, centre / np.linalg.norm(centre))
        y = np.where(np.arange(400) < 100, truth, -1)
        hidden = y < 0
        safe = ct.SafeTransductiveSVC(n_starts=10).fit(X, y)
        alone = ct.TransductiveSVC(C=1, C_unlabeled=None).fit(X, y)
        apart.append(np.mean(safe.transduction_[hidden] != truth[hidden]))
        apart[-1] -= np.mean(alone.transduction_[hidden] != truth[hidden])
        given_errors = [np.mean(clf.predict(X[:100]) != truth[:100]) for clf in (safe, alone)]
        assert given_errors[0] <= given_errors[1]
        for separator in safe.solutions_[0].separators:
            assert 0 < np.mean(separator.labels[hidden] > 0) < 1
    assert np.mean(apart) < 0.01


def test_what_labels_left_out_say():
    """Errors that only one of the two makes are compared: a coin has as many heads as tails."""
    left_out = np.array([[1, -1.0, 1.0]] * 6 + [[1, 1.0, -1.0]] * 2 + [[-1, -1.0, -1.0]] * 10)
    assert spoilt(left_out, 1.0) == (6, 2)
    assert spoilt(left_out, 2.0) is None
    assert spoilt(left_out[:, [0, 2, 1]], 0.0) is None


def test_safe_is_the_supervised_svm_where_labels_left_out_speak_for_it(monkeypatch):
    X, truth = clusters(0.5, n=80)
    y = np.where(shown(truth, 10, 6) == 0, -1, (truth > 0).astype(int))
    plain = ct.TransductiveSVC(safe=True).fit(X, y)
    assert not plain.fell_back_
    assert plain.class_shares_.sum() == pytest.approx(1)
    bad = np.array([[1, -1.0, 1.0]] * 9)
    monkeypatch.setattr("convex_tsvm.estimators.transductive.leave_labels_out", lambda *_, **__: bad)
    for balance in ("labeled", None):
        clf = ct.TransductiveSVC(safe=True, balance=balance).fit(X, y)
        assert clf.fell_back_
        alone = ct.TransductiveSVC(C_unlabeled=None).fit(X, y)
        np.testing.assert_allclose(clf.decision_function(X), alone.decision_function(X), atol=1e-6)


def test_labels_that_contradict_the_points_are_told_of(monkeypatch):
    """Nine of ten labels are of a class that seems to be half of the points: they were not drawn at random."""
    X, truth = clusters(0.5, n=100)
    y = np.where(shown(truth, 18, 2) == 0, -1, (truth > 0).astype(int))
    half = ct.methods.shares.ShareEstimate(0.5, 0.05, 0.9, np.empty(0), np.empty((0, 3)))
    monkeypatch.setattr(shares, "_kept", deque())
    monkeypatch.setattr(shares, "_inferred", lambda *_: half)
    with pytest.warns(UserWarning, match=r"labels have the shares \{0: 0\.10, 1: 0\.90\}, but .* balance='labeled'"):
        clf = ct.TransductiveSVC().fit(X, y)
    np.testing.assert_array_equal(clf.class_shares_, [0.5, 0.5])
    np.testing.assert_array_equal(clf.class_shares_error_, [0.05, 0.05])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ct.TransductiveSVC().fit(X, np.where(shown(truth, 10, 10) == 0, -1, (truth > 0).astype(int)))


def test_unlabelled_points_that_do_not_help_are_told_of(monkeypatch):
    X, truth = clusters(0.5, n=100)
    y = np.where(shown(truth, 10, 10) == 0, -1, (truth > 0).astype(int))
    bad = ct.methods.shares.ShareEstimate(0.5, 0.05, 0.5, np.array([0.5]), np.array([[1, -1.0, 1.0]] * 9))
    monkeypatch.setattr(shares, "_kept", deque())
    monkeypatch.setattr(shares, "_inferred", lambda *_: bad)
    with pytest.warns(
        UserWarning, match="of 9 labels left out a transductive SVM has 9 wrong and the supervised SVM 0"
    ):
        ct.TransductiveSVC().fit(X, y)
    assert ct.TransductiveSVC(safe=True).fit(X, y).fell_back_


def test_a_search_does_not_take_one_class_for_everything():
    random = np.random.default_rng(0)
    X = (random.integers(0, 5, (150, 8))[:, :, None] == np.arange(5)).reshape(150, -1).astype(float)
    y = np.full(150, -1)
    y[:6] = [0, 0, 0, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = ct.TransductiveSearchCV(cv=3).fit(X, y)
    assert len(np.unique(search.transduction_)) == 2
    with pytest.raises(NotFittedError):
        ct.TransductiveSearchCV().predict(X)


def test_fits_to_many_points_are_announced(monkeypatch):
    from convex_tsvm.estimators import advice

    X, truth = clusters(0.5, n=4200)
    y = np.where(shown(truth, 20, 20) == 0, -1, (truth > 0).astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ct.TransductiveSVC().fit(X, y)  # some tenths of a second
    monkeypatch.setattr(advice, "PILOT", replace(advice.PILOT, announced=1e-3))
    with pytest.warns(UserWarning, match=r"going to take about .*kernel_approximation='nystroem'"):
        ct.TransductiveSVC().fit(X, y)


def test_labels_that_were_drawn_as_parts_are_do_not_matter(monkeypatch):
    """Whatever permutation chose the labels, parts of the points have labels and unlabelled points."""
    from convex_tsvm.estimators import advice

    monkeypatch.setattr(advice, "PILOT", replace(advice.PILOT, announced=1e-3))
    X, truth = clusters(0.5, n=4000)
    for seed in (0, [0, 4000]):
        visible = np.zeros(4000, dtype=bool)
        visible[np.random.default_rng(seed).permutation(4000)[:600]] = True
        with pytest.warns(UserWarning, match="going to take about"):
            ct.TransductiveSVC(balance="labeled").fit(X, np.where(visible, truth > 0, -1))


def test_times_are_continued_by_their_own_power(monkeypatch):
    from convex_tsvm.estimators import advice

    monkeypatch.setattr(advice, "seconds_a_product", lambda: 5e-11)
    X, truth = clusters(0.5, n=8000)
    problem = ct.Problem(X, shown(truth, 20, 20), kernel=ct.RBF(gamma=0.2))
    sizes = []
    advice.expected_seconds(problem, lambda part: sizes.append(part.n))
    assert all(two <= 2 * one + 2 for one, two in zip(sizes, sizes[1:], strict=False))
    assert max(sizes) <= advice.PILOT.most_of_all * 8000 + 2
    assert advice._continued([500.0, 1000.0], [0.1, 0.4], 8000) == pytest.approx(0.4 * 64)
    assert not advice.may_be_long(problem.part(np.arange(0, 8000, 8)), 10)
    assert advice.may_be_long(problem, 10**4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["ramp", "hinge", "squared_hinge", "flat"]))
def test_small_descents_are_those_of_cccp(seed, fit_intercept, loss):
    """Compiled loops alone end at the same outputs as the public path, which certifies every step."""
    random = np.random.default_rng(seed)
    X, truth = clusters(0.4, n=40, seed=seed, d=2)
    y, mean = shown(truth, 5, 5, seed), random.uniform(-0.6, 0.6)
    model = ct.tsvm(loss, fit_intercept=fit_intercept)
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=3.0, C_unlabeled="tenth", balance=mean)
    small = SmallProblems(problem.gram, model.parts, fit_intercept=fit_intercept, tol=1e-8, max_iter=100)
    small.max_sweeps = 10**5
    found, alone = BalancedProblem(small, y, problem.cost).outputs(mean), small.svm(y, problem.cost)
    public = ct.cccp(model, problem, tol=1e-7)
    np.testing.assert_allclose(found[y == 0].mean(), mean, atol=1e-6)
    np.testing.assert_allclose(found, public.scores, atol=1e-3)
    plain = ct.svm(model.labeled, fit_intercept=fit_intercept)
    np.testing.assert_allclose(alone, ct.cccp(plain, problem.replace(balance=None), tol=1e-7).scores, atol=1e-3)


def test_without_a_bias_a_mean_may_not_be_met():
    gram = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    small = SmallProblems(gram, ct.tsvm().parts, fit_intercept=False, tol=0.1, max_iter=10)
    with pytest.raises(ValueError, match="without a bias"):
        BalancedProblem(small, np.array([0.0, 0.0, 1.0]), np.ones(3))


def test_what_was_inferred_is_asked_once(monkeypatch):
    """A sweep over costs infers once; other labels, points, kernels or weights are other questions."""
    X, truth = clusters(0.3, n=60)
    y = shown(truth, 5, 5)
    asked = []
    infer = shares._inferred
    monkeypatch.setattr(shares, "_kept", deque(maxlen=4))
    monkeypatch.setattr(shares, "_inferred", lambda *given: asked.append(1) or infer(*given))
    problem = ct.Problem(X, y, kernel=ct.RBF(0.2), C=1.0)
    first = shares.infer_class_shares(problem, [y])
    for C in (2.0, 5.0):
        assert shares.infer_class_shares(problem.replace(C=C), [y]) is first
    assert len(asked) == 1
    other, weights = y.copy(), np.ones(60)
    other[np.flatnonzero(y)[0]], weights[np.flatnonzero(y)[0]] = 0.0, 0.5
    shares.infer_class_shares(problem.replace(y=other), [other])
    shares.infer_class_shares(ct.Problem(X + 1e-3 * X**2, y, kernel=ct.RBF(0.2)), [y])
    shares.infer_class_shares(ct.Problem(X, y, kernel=ct.RBF(0.3)), [y])
    shares.infer_class_shares(ct.Problem(X, y, kernel=ct.RBF(0.2), C=weights), [y])
    assert len(asked) == 5


def test_a_label_that_is_left_out_costs_what_unlabelled_points_cost():
    cost, y = np.array([10.0, 10.0, 30.0, 1.0, 3.0]), np.array([1.0, -1.0, 1.0, 0.0, 0.0])
    # Without the part 1 there is one class only.
    ((part, fewer, found),) = without_parts(y, cost, np.array([-1, 1, 0, -1, -1]))
    assert part == 0
    np.testing.assert_array_equal(fewer, [1, -1, 0, 0, 0])
    np.testing.assert_array_equal(found, [10, 10, 2, 1, 3])
    np.testing.assert_array_equal(cost, [10, 10, 30, 1, 3])


def _soft_labels(shares, counts, n, sure, seed):
    """Probabilities of classes of n points that are nearly right, of shares and counts as given."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(shares), n, p=shares)
    prior = (counts + 0.5) / (counts + 0.5).sum()
    likelihood = np.exp(sure * (np.eye(len(shares))[truth] + 0.3 * rng.standard_normal((n, len(shares)))))
    return prior, [likelihood], np.bincount(truth, minlength=len(shares)) / n


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_shares_of_several_classes_are_found_by_turns(seed, k):
    """With likelihoods that tell classes apart and many points the shares are theirs, whatever labels were counted."""
    shares = np.random.default_rng(seed).dirichlet(np.ones(k))
    prior, likelihoods, truth = _soft_labels(shares, np.arange(1.0, k + 1), 4000, 12.0, seed)
    found, errors = _posterior(prior, np.zeros(k), likelihoods, 4000.0, Inference())
    assert found.sum() == pytest.approx(1)
    assert (found > 0).all()
    np.testing.assert_allclose(found, truth, atol=0.01)  # the largest difference in 2000 draws is 0.007
    assert (errors > 0).all()
    # Nothing but counts: the mean of a Dirichlet posterior, between the counts' shares and equal ones.
    counts = np.random.default_rng(seed).integers(0, 30, k).astype(float)
    alone, _ = _posterior(prior, counts, [], 0.0, Inference())
    counted = counts / max(counts.sum(), 1)
    assert (np.abs(alone - 1 / k) <= np.abs(counted - 1 / k) + 1e-9).all()
    # The order of classes makes no difference.
    turned, _ = _posterior(prior[::-1], np.zeros(k), [likelihoods[0][:, ::-1]], 4000.0, Inference())
    np.testing.assert_allclose(turned[::-1], found, atol=1e-6)


def test_the_calibration_is_the_most_likely_one():
    """Its slopes by its parameters vanish, by differences of the likelihood written out here."""
    rng, how = np.random.default_rng(0), Inference()
    index = rng.integers(0, 3, 60)
    outputs = 1.5 * np.eye(3)[index] + rng.standard_normal((60, 3))
    scale, offsets = calibration(outputs, index, how)

    def value(parameters):
        scaled = np.exp(parameters[0]) * outputs + parameters[1:]
        likely = scaled[np.arange(60), index] - logsumexp(scaled, axis=1)
        penalty = how.sure_of_offsets * parameters[1:] @ parameters[1:] + how.sure_of_scale * (parameters[0] - 1) ** 2
        return -likely.sum() + penalty / 2

    best = np.append(np.log(scale), offsets)
    for direction in np.eye(4):
        assert abs(value(best + 1e-4 * direction) - value(best - 1e-4 * direction)) / 2e-4 < 1e-2


def test_unequal_classes_of_equally_many_labels():
    """Labels drawn per class of three classes of 60, 30 and 10 %: their shares are found, if not to the last point."""
    centers, off = np.random.default_rng(1).standard_normal((3, 10)), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.choice(3, 300, p=(0.6, 0.3, 0.1))
        X = 2.5 * (centers / np.linalg.norm(centers, axis=1)[:, None])[truth] + rng.standard_normal((300, 10))
        y = np.full(300, -1)
        for k in range(3):
            y[rng.permutation(np.flatnonzero(truth == k))[:8]] = k
        found = ct.TransductiveSVC().fit(X, y).class_shares_
        off.append(np.abs(found - np.bincount(truth[y < 0]) / (y < 0).sum()).max())
    assert np.mean(off) < 0.1


def test_many_labels_of_several_classes_are_counted():
    """Half of the labels of 6000 points, drawn at random: their counts are known better than anything else."""
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 6000, p=(0.6, 0.3, 0.1))
    X = rng.standard_normal((6000, 2)) + np.array([[0.0, 0], [2, 0], [0, 2]])[truth]
    y = np.where(rng.random(6000) < 0.5, truth, -1)
    signs = [np.where(y < 0, 0.0, np.where(y == k, 1.0, -1.0)) for k in range(3)]
    problem = ct.Problem(X, signs[0], kernel=ct.RBF(1.0), balance=None)
    found = shares.infer_class_shares(problem, signs)
    counted = np.bincount(truth[y >= 0]) / (y >= 0).sum()
    np.testing.assert_allclose(found.shares, counted, atol=2e-3)
    assert found.errors.max() < 0.02


def test_moments_are_a_mean_and_a_standard_deviation():
    """Of two shares that are equally probable, and of one that is certain."""
    assert shares._moments(np.array([0.2, 0.6]), np.array([3.0, 3.0])) == pytest.approx((0.4, 0.2))
    assert shares._moments(np.array([0.2, 0.6]), np.array([0.0, 5.0])) == pytest.approx((0.6, 0.0))
