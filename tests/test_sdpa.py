"""SDPA in a process of its own: answers, replacement, crashes, interruption."""

import os
import signal
import threading

import numpy as np
import pytest

from convex_tsvm.relaxations.output_space.cuts import chord_rows, diagonal_rows, unit_row
from convex_tsvm.solvers.sdp import sdpa, solve_sdp
from convex_tsvm.solvers.sdp.sparse_matrices import SparseMatrices

pytest.importorskip("sdpap")


@pytest.fixture(autouse=True)
def no_process_left():
    yield
    sdpa.end()


def solve(n=6, solver="sdpa"):
    """min Σ i V_ii with V_ii >= 1: its value is n (n + 1) / 2."""
    chords = chord_rows(np.full(n, -2.0), np.full(n, 2.0))
    rows = SparseMatrices.stack([unit_row(), diagonal_rows(np.arange(n)), chords])
    return solve_sdp(np.diag(np.arange(n + 1.0)), rows, solver=solver, tol=1e-7)


def test_a_process_is_kept_and_then_replaced(monkeypatch):
    sdpa.end()
    monkeypatch.setattr(sdpa, "CALLS", 2)
    processes = []
    for _ in range(4):
        assert solve().value == pytest.approx(21, rel=1e-5)
        processes.append(sdpa._pool().submit(os.getpid).result())
    assert len(set(processes)) > 1


def test_a_process_that_dies_at_work_is_a_failure_and_no_error(monkeypatch):
    monkeypatch.setattr(sdpa, "_solve", os._exit)
    monkeypatch.setattr(sdpa._pool().__class__, "submit", dies(sdpa._pool().__class__.submit))
    assert solve().status == "failed"
    monkeypatch.undo()
    assert solve().value == pytest.approx(21, rel=1e-5)


def dies(submit):
    return lambda pool, function, *arguments: submit(pool, os._exit, 1)


def test_ctrl_c_ends_a_call_at_once(monkeypatch):
    """The process sleeps: only the interruption can end it."""
    import time

    pool = sdpa._pool()
    own = pool.submit(os.getpid).result()
    submit = pool.__class__.submit

    def sleeps(pool, function, *arguments):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return submit(pool, time.sleep, 100)

    monkeypatch.setattr(pool.__class__, "submit", sleeps)
    began = time.perf_counter()
    # Whoever runs the tests in the background may have told Python to ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            solve()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - began < 50
    for _ in range(100):
        try:
            os.kill(own, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the process is still there")
