"""A fixed part of the fuzzing, and that it would notice what it looks for."""

import warnings

import numpy as np
import pytest
from fuzz import Case, Failure, Tally, checked, drawn, fails, fuzz, limited, shrunk

import convex_tsvm as ct
from convex_tsvm.relaxations.svm.partial_svm import PartialSVM


def test_nothing_is_found_in_a_dozen_instances():
    tally = fuzz(instances=12, seed=2)
    assert not tally.failures, tally
    assert tally.bounds > 300
    assert tally.searches > 8


@pytest.mark.slow
def test_nothing_is_found_in_thirty_instances():
    tally = fuzz(instances=30, seed=1)
    assert not tally.failures, tally
    assert tally.bounds > 500
    assert tally.searches > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_nothing_is_found_in_hundreds_of_instances(seed):
    tally = fuzz(instances=250, seed=seed)
    assert not tally.failures, tally


def test_a_bound_that_is_a_little_too_high_is_found(monkeypatch):
    """By 10⁻⁸ of the bound: the room that is left is less than that."""
    right = PartialSVM._least
    monkeypatch.setattr(PartialSVM, "_least", lambda self, *given: right(self, *given) * (1 + 1e-8))
    assert any(why.startswith("bound:") for _, why in fuzz(instances=4, seed=1).failures)


def test_rounding_that_is_not_taken_off_is_found(monkeypatch, tmp_path):
    """Far from the origin an unsafe bound is above the optimum."""
    from convex_tsvm.kernels import accurate

    def careless(X, Z, scale):
        squares = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T
        return scale * np.maximum(squares, 0)

    monkeypatch.setattr(accurate, "scaled_differences", careless)
    X = 1.7e9 + np.array([[0.1], [10.3], [20.2], [30.7]])
    case = Case(X, np.array([1.0, -1, 0, 0]), kernel="rbf", gamma=0.5, fit_intercept=False)
    assert fails(case, tmp_path) is not None


def test_failures_are_shrunk_and_saved(monkeypatch, tmp_path):
    right = ct.exact_search

    def wrong(formulation, problem, **options):
        import dataclasses

        found = right(formulation, problem, **options)
        return dataclasses.replace(found, lower_bound=found.objective * 1.01)

    monkeypatch.setattr(ct, "exact_search", wrong)
    case = drawn(np.random.default_rng(5))
    why = fails(case, tmp_path)
    assert why.startswith("bound:")
    small, why = shrunk(case, why, tmp_path)
    assert why.startswith("bound:")
    assert small.X.size <= case.X.size
    small.save(tmp_path / "case.npz", why)
    again = Case.load(tmp_path / "case.npz")
    np.testing.assert_array_equal(again.X, small.X)
    assert fails(again, tmp_path).startswith("bound:")
    monkeypatch.undo()
    assert fails(again, tmp_path) is None


def test_an_instance_that_is_refused_is_counted(tmp_path):
    tally = Tally()
    checked(Case(np.full((3, 1), 1e200), np.array([1.0, -1, 0])), tally, tmp_path)
    assert tally.refused == 1


#: Numbers of instances at which something false was found while this was made.
FOUND = [
    1000000038, 1000000120, 2000000006, 2000000017, 2000000074, 2000000338, 3000000112, 3000000156, 3000000253,
    5000000042, 21000000840, 22000000354, 42000001768, 42000002213, 51000001546, 32000000957, 71000002090,
    2301000014223, 2302000003374, 2304000001474, 2305000017611, 2307000001082,
]  # fmt: skip


#: Those of them that take two seconds and more.
LONG = {3000000112, 22000000354, 42000001768, 2302000003374, 1000000038, 2301000014223}


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=pytest.mark.slow if number in LONG else ()) for number in FOUND]
)
def test_what_was_found_once_stays_mended(number, tmp_path):
    assert fails(drawn(np.random.default_rng(number)), tmp_path) is None


def test_work_without_an_end_is_found():
    def work():
        while True:
            pass

    with pytest.raises(Failure, match="no end after 0 s"), limited(0.2):
        work()


def test_a_search_that_is_stopped_before_its_first_node_claims_nothing(monkeypatch, tmp_path):
    """Without labels it claimed the root's bound, which no certificate without nodes can prove."""
    case = drawn(np.random.default_rng(81000013126))
    monkeypatch.setattr("convex_tsvm.exact.search.BranchAndBound.limit", lambda self, deadline: "time_limit")
    monkeypatch.setattr("convex_tsvm.exact.incumbent.BestLabels.begin", lambda self, idle: -np.inf)
    path = tmp_path / "certificate.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ct.exact_search(case.formulation(), case.problem(), certificate=path)
    assert (found.n_nodes, found.lower_bound) == (0, -np.inf)
    assert ct.prove_certificate(path).holds
