"""The memory that kernel rows may take."""

import numpy as np
import pytest
from joblib import Parallel, delayed

import convex_tsvm as ct
from convex_tsvm import memory


@pytest.mark.parametrize(
    ("free", "n", "expected"),
    [
        (8000, 40_000, 2000),  # a quarter of what is free
        (100, 40_000, 200),  # what a store may take in any case
        (10**6, 10_000, 8 * 10_000**2 / 2**20 + 256),  # all rows, and the work beside them
        (10**6, 0, 200),
    ],
)
def test_auto_is_a_quarter_of_free_memory_between_two_bounds(free, n, expected, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: free * 2**20)
    assert memory.cache_megabytes("auto", n) == pytest.approx(expected)


def test_workers_share_the_free_memory(monkeypatch):
    """Each asks for its own part: a quarter of what is free, divided by the cores."""
    alone = memory.cache_megabytes("auto", 10**6)
    both = Parallel(n_jobs=2)(delayed(memory.cache_megabytes)("auto", 10**6) for _ in range(2))
    cores = memory.joblib.cpu_count()
    assert max(both) <= max(memory.USUAL, 1.5 * alone / cores)


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    limit, used = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(memory, "LIMITS", ((str(limit), str(used)),))
    whole = memory.free_bytes()
    limit.write_text("5000000\n")
    used.write_text("2000000\n")
    assert memory.free_bytes() == 3_000_000
    limit.write_text("max\n")
    assert memory.free_bytes() > 0.5 * whole


@pytest.mark.parametrize("wrong", ["much", 0, -1.0, None, np.nan])
def test_what_is_no_budget_is_refused(wrong):
    X, y = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]]), [-1, 0, 0, 0, 0, 1]
    for make in (
        lambda: ct.solvers.NativeSolver(ct.Problem(X, y), cache_size=wrong),
        lambda: ct.kernels.laplacian_kernel(ct.RBF(1.0), X, 1.0, 2, cache_size=wrong),
        lambda: ct.TransductiveSVC(unlabeled=0, cache_size=wrong).fit(X, y),
    ):
        with pytest.raises(ValueError, match="cache_size="):
            make()
