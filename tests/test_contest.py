"""The tree with cheap bounds and the root with strong ones: who gets time, and what is kept of a stopped search."""

import types
import warnings
from itertools import pairwise

import numpy as np
import pytest
from strategies import searches
from test_exact import moons

import convex_tsvm as ct
from convex_tsvm.exact.contest import Choice, Schedule
from convex_tsvm.exact.tree import claimed
from convex_tsvm.relaxations.region import Rules


def of(tree_seconds, root_seconds, root_bound):
    """A contest at some time, with an incumbent of 1."""
    found = Choice(types.SimpleNamespace(rules=Rules(gap=0.0), incumbent=types.SimpleNamespace(objective=1.0)))
    found.head_start, found.tree_seconds, found.root_seconds = 2.0, tree_seconds, root_seconds
    if root_bound is not None:
        found.work = types.SimpleNamespace(bound=root_bound, open=True, unfinished=True)
    return found


@pytest.fixture
def sliced(monkeypatch):
    """A formulation and a problem whose root competes from the start, in slices of one round each."""
    monkeypatch.setattr(Choice, "schedule", Schedule(head_start=0.0, head_start_a_point=0.0, least_slice=1e-6))
    formulation, problem, _ = moons(60, noise=0.3)
    return formulation, problem


def run_silently(search):
    """Run a search that is going to be interrupted, which it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.run()


def test_the_tree_has_a_head_start():
    assert not of(1.9, 0.0, None).root_is_next(0.5)
    assert of(2.1, 0.0, None).root_is_next(0.5)


def test_equal_gaps_get_equal_times_and_one_that_is_far_behind_a_tenth():
    assert not of(11.0, 10.0, 0.5).root_is_next(0.5)
    assert of(12.1, 10.0, 0.5).root_is_next(0.5)
    assert not of(11.0, 10.0, 0.2).root_is_next(0.5)  # the root is behind: it does not get more than the tree
    assert of(7.1, 10.0, 0.75).root_is_next(0.5)
    assert not of(2.9, 10.0, 0.9999).root_is_next(0.5)
    assert of(3.1, 10.0, 0.9999).root_is_next(0.5)


@pytest.mark.parametrize("head_start", [0.0, 1e9])
@pytest.mark.parametrize("seed", range(4))
def test_whoever_wins_finds_the_optimum(head_start, seed, monkeypatch):
    monkeypatch.setattr(Choice, "schedule", Schedule(head_start=head_start, head_start_a_point=0.0, least_slice=1e-3))
    formulation, problem = searches(seed, n_unlabeled=8, squared=True, balance="linear")
    found = ct.exact_search(formulation, problem)
    least, _ = ct.brute_force(formulation, problem)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(least, rel=2e-6)


def test_a_root_that_goes_on_proves_what_it_does_in_one_piece(sliced, tmp_path):
    """In slices of one round each, and with a certificate: the proofs of all slices are kept."""
    formulation, problem = sliced
    path = tmp_path / "certificate.npz"
    search = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, checkpoint=path).run()
    assert search.status == "optimal"
    assert search.choice.root_seconds > 0
    assert ct.prove_certificate(path).holds


def test_a_search_that_is_stopped_keeps_the_better_bound(sliced, tmp_path):
    formulation, problem = sliced
    seen, path = {}, tmp_path / "checkpoint.npz"

    def stop(progress):
        work = search.choice.work
        if not seen and work is not None and work.open:
            seen["root"], seen["tree"] = work.bound, progress.lower_bound
            raise KeyboardInterrupt

    search = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, callback=stop, checkpoint=path)
    run_silently(search)
    assert search.status == "interrupted"
    assert np.isfinite(search.state.objective)
    assert search.lower_bound >= claimed([max(seen["root"], seen["tree"])], search.state.objective)
    # It goes on from there, though points of nodes are kept without their signs.
    again = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, checkpoint=path).run()
    assert again.status == "optimal"
    assert again.lower_bound >= search.lower_bound


def test_what_the_root_has_proven_is_in_the_checkpoints_of_a_search_that_goes_on(sliced, tmp_path):
    """One that is killed loses no more than the time since the last of them; writing them changes nothing."""
    formulation, problem = sliced
    path, copies = tmp_path / "checkpoint.npz", []

    def keep(progress):
        if path.exists() and search.choice.work is not None:
            copies.append((path.read_bytes(), search.choice.work.bound, progress.lower_bound))

    search = ct.exact.BranchAndBound(
        formulation, problem, gap=1e-3, callback=keep, checkpoint=path, checkpoint_every=1e-6
    )
    search.run()
    assert search.status == "optimal"
    assert ct.prove_certificate(path).holds
    # The file is written after a callback, at times: a new one has what was proven when that was called.
    written = [(after[0], *before[1:]) for before, after in pairwise(copies) if after[0] != before[0]]
    content, root = next((one, root) for one, root, tree in reversed(written) if root > tree)
    left = tmp_path / "left.npz"
    left.write_bytes(content)
    report = ct.prove_certificate(left)
    assert report.holds
    assert report.lower_bound >= root * (1 - 1e-6)
    again = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, checkpoint=left).run()
    assert again.status == "optimal"
    assert again.state.objective == pytest.approx(search.state.objective, rel=1e-3)


def test_a_root_that_a_limit_has_stopped_goes_on_in_the_next_run(sliced, tmp_path):
    """In pieces of a round or so, each from the checkpoint of the one before, and the certificate is of all of them."""
    formulation, problem = sliced
    path, bounds = tmp_path / "checkpoint.npz", [-np.inf, -np.inf]

    def stop(progress):
        work = search.choice.work
        if work is not None and work.bound > max(progress.lower_bound, *bounds):
            raise KeyboardInterrupt

    for _ in range(5):
        search = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, callback=stop, checkpoint=path)
        run_silently(search)
        bounds.append(search.lower_bound)
        assert ct.prove_certificate(path).holds
        if search.status == "optimal" or not search.state.unfinished:
            break
        assert len(search.state.records) == 1
    assert len(bounds) > 4
    assert (np.diff(bounds[2:]) >= 0).all()
    assert bounds[-1] > bounds[2]
    assert ct.exact.BranchAndBound(formulation, problem, gap=1e-3, checkpoint=path).run().status == "optimal"
    assert ct.prove_certificate(path).holds


def test_a_root_that_is_behind_when_a_limit_comes_begins_again_later(sliced, tmp_path):
    formulation, problem = sliced
    path = tmp_path / "checkpoint.npz"

    def stop(progress):
        if search.choice.work is not None:
            search.choice.work.bound = -np.inf
            raise KeyboardInterrupt

    search = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, callback=stop, checkpoint=path)
    run_silently(search)
    assert search.status == "interrupted"
    assert not search.state.settled
    again = ct.exact.BranchAndBound(formulation, problem, gap=1e-3, checkpoint=path).run()
    assert again.status == "optimal"
    assert again.choice.root_seconds > 0
    assert ct.prove_certificate(path).holds
