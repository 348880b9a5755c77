"""The first compilation says that it compiles, once, and where nobody looks it is silent."""

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np, convex_tsvm as ct
for _ in range(2):
    ct.cccp(ct.tsvm("ramp"), ct.Problem(np.array([[-1.0], [0.9], [1.0]]), [-1, 0, 1]))
"""


@pytest.mark.slow
def test_the_first_compilation_is_told_once(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in (1, 0):  # the second time loops come from the cache
        ours, theirs = pty.openpty()
        subprocess.run([sys.executable, "-c", PROGRAM], env=environment, stderr=theirs, check=True, timeout=300)
        os.close(theirs)
        told = b""
        while True:
            try:
                part = os.read(ours, 1000)
            except OSError:
                break
            if not part:
                break
            told += part
        os.close(ours)
        assert told.count(b"compiling its loops") == expected
    fresh = {**environment, "NUMBA_CACHE_DIR": str(tmp_path / "b")}
    silent = subprocess.run([sys.executable, "-c", PROGRAM], env=fresh, capture_output=True, check=True, timeout=300)
    assert silent.stderr == b""
