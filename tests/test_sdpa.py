"""SDPA in processes of its own: answers, replacement, crashes, interruption, threads."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from convex_tsvm.relaxations.output_space.cuts import chord_rows, diagonal_rows, unit_row
from convex_tsvm.solvers.sdp import sdpa, solve_sdp
from convex_tsvm.solvers.sdp.sparse_matrices import SparseMatrices

pytest.importorskip("sdpap")


@pytest.fixture(autouse=True)
def no_idle_process(monkeypatch):
    """Begin and end without processes."""
    monkeypatch.setattr(sdpa, "_idle", [])
    yield
    while sdpa._idle:
        sdpa._idle.pop().end()


def solve(n=6, solver="sdpa"):
    """min Σ i V_ii with V_ii >= 1: its value is n (n + 1) / 2."""
    rows = SparseMatrices.stack(
        [unit_row(), diagonal_rows(np.arange(n)), chord_rows(np.full(n, -2.0), np.full(n, 2.0))]
    )
    return solve_sdp(np.diag(np.arange(n + 1.0)), rows, solver=solver, tol=1e-7)


def test_a_process_is_kept_and_then_replaced(monkeypatch):
    assert solve().value == pytest.approx(21, rel=1e-5)
    (first,) = sdpa._idle
    solve()
    assert sdpa._idle == [first]
    monkeypatch.setattr(sdpa, "LIFETIME", 0.0)
    assert solve().value == pytest.approx(21, rel=1e-5)
    assert sdpa._idle == []
    assert first.process.poll() is not None


def test_a_process_that_has_died_is_replaced():
    solve()
    os.kill(sdpa._idle[0].process.pid, signal.SIGKILL)
    sdpa._idle[0].process.wait()
    assert solve().value == pytest.approx(21, rel=1e-5)


def test_a_process_that_dies_at_work_is_a_failure_and_no_error(monkeypatch):
    monkeypatch.setattr(sdpa, "_PROGRAM", sdpa._PROGRAM.with_name("none.py"))
    assert solve().status == "failed"
    assert solve(solver="auto").value == pytest.approx(21, rel=1e-3)
    assert sdpa._idle == []


def test_ctrl_c_ends_a_call_at_once(monkeypatch, tmp_path):
    """The program sleeps: only the interruption can end it."""
    program = tmp_path / "sleep.py"
    program.write_text("import time; time.sleep(100)")
    monkeypatch.setattr(sdpa, "_PROGRAM", program)
    started = []
    call = sdpa._Process.call

    def interrupted(self, *arguments):
        started.append(self.process)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return call(self, *arguments)

    monkeypatch.setattr(sdpa._Process, "call", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve()
    assert started[0].poll() == -signal.SIGKILL
    assert sdpa._idle == []


def test_threads_have_processes_of_their_own():
    with ThreadPoolExecutor(3) as pool:
        values = list(pool.map(lambda n: solve(n).value, range(3, 12)))
    np.testing.assert_allclose(values, [n * (n + 1) / 2 for n in range(3, 12)], rtol=1e-5)
    assert 1 <= len(sdpa._idle) <= 3
