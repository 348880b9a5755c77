"""The search for a balance that gives a number of positive labels, on descents whose outputs are written down."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.instance import Instance
from convex_tsvm.methods.balance import _Nearest, search_balance

#: Unlabelled points, after one labelled point of each class.
N = 100


@dataclass(frozen=True)
class Found:
    """As much of a solution as the search reads."""

    scores: np.ndarray
    labels: np.ndarray
    seconds: float = 1.0
    status: str = "converged"
    lower_bound: float | None = 0.0
    n_positive: int | None = None


class Descents:
    """Descents whose outputs at unlabelled points are a function of the mean c that is asked for."""

    def __init__(self, share, outputs):
        X = np.arange(N + 2.0)[:, None]
        problem = ct.Problem(X, np.r_[1.0, -1.0, np.zeros(N)], balance=("exact", share))
        self.instance, self.outputs, self.means, self.starts = Instance(ct.cccp_tsvm(), problem), outputs, [], []
        self.trained_on = []

    def descend(self, instance, start):
        self.means.append(instance.target)
        self.starts.append(start)
        scores = np.r_[1.0, -1.0, self.outputs(instance.target)]
        return Found(scores, np.where(scores > 0, 1.0, -1.0))

    def train(self, labels):
        """No SVM."""
        self.trained_on.append(labels)

    def search(self):
        return search_balance(self.descend, self.train, self.instance)


def positives(found):
    return int((found.labels[2:] > 0).sum())


@pytest.mark.parametrize("share", [0.2, 0.4, 0.7])
def test_outputs_that_move_with_the_mean_need_two_descents(share):
    """The output that divides the number wanted from the other points says how far the mean is off."""
    descents = Descents(share, lambda c: c + 0.337 + np.linspace(-2, 2, N))
    found = descents.search()
    assert positives(found) == round(share * N)
    assert len(descents.means) == 2
    assert found.seconds == 2
    # What a descent has proven is about its own mean.
    assert found.lower_bound is None


def test_an_svm_has_the_labels_that_are_given():
    """Also of labelled points on the wrong side."""
    places = np.linspace(-2, 2, N)
    places[49:51] = 0.0  # these two turn positive at once, and one of them is wanted
    descents = Descents(0.5, lambda c: c + places)
    right = descents.descend

    def wrong(instance, start):
        found = right(instance, start)
        found.scores[:2], found.labels[:2] = [-1.0, 1.0], [-1.0, 1.0]
        return found

    descents.descend = wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        descents.search()
    assert descents.trained_on
    for labels in descents.trained_on:
        assert labels[:2].tolist() == [1.0, -1.0]


@pytest.mark.parametrize(("power", "most"), [(3, 8), (0.3, 8)], ids=["slowly, then fast", "fast, then slowly"])
def test_a_bracket_is_closed_by_false_position_and_halving(power, most):
    """Outputs move with a power of the mean, so that the first steps are much too short or much too long."""
    descents = Descents(0.9, lambda c: 3 * np.sign(c) * np.abs(c) ** power + np.linspace(-1, 1, N) ** 3)
    found = descents.search()
    assert positives(found) == 90
    assert len(descents.means) <= most


def test_the_nearest_is_taken_where_the_number_jumps():
    """From c = 0.1 on thirty points more are positive; the number wanted is in the gap, and nearer to its lower end."""

    def outputs(c):
        return np.where(np.arange(N) < (75 if c > 0.1 else 45), 1.0, -1.0)

    descents = Descents(0.5, outputs)
    with pytest.warns(UserWarning, match="no balance c gives 50 positive labels; the nearest misses by 5"):
        found = descents.search()
    assert positives(found) == 45
    # The ends come together at the jump.
    assert min(abs(c - 0.1) for c in descents.means) < 0.01


def test_svms_are_trained_on_the_number_wanted_and_descents_begin_there():
    """The points with the largest outputs are positive; the next mean is that of the SVM's outputs."""

    def outputs(c):
        return (50 if c == 0.25 else 49 if c <= 0 else 52) - np.arange(N) - 0.5

    descents = Descents(0.5, outputs)

    def train(labels):
        descents.trained_on.append(labels)
        return np.r_[1.0, -1.0, np.full(N, 0.25)]

    descents.train = train
    found = descents.search()
    assert positives(found) == 50
    np.testing.assert_array_equal(descents.trained_on[0][2:], np.where(np.arange(N) < 50, 1.0, -1.0))
    assert descents.means[1] == 0.25
    np.testing.assert_array_equal(descents.starts[1], np.r_[1.0, -1.0, np.full(N, 0.25)])
    assert descents.starts[0] is None


@pytest.mark.parametrize("r", [0.28, 0.294, 0.296, 0.3])
def test_a_share_is_rounded_to_the_nearest_number(r):
    problem = ct.Problem(np.arange(102.0)[:, None], np.r_[1.0, -1.0, np.zeros(N)], balance=("exact", r))
    assert problem.positive_count == round(r * N)


def test_the_number_of_descents_is_limited(monkeypatch):
    monkeypatch.setattr(_Nearest, "most_descents", 3)
    descents = Descents(0.5, lambda c: np.full(N, 1.0 if c > 0.123 else -1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        descents.search()
    assert len(descents.means) == 3
