"""One busy core: a TSVM as a user runs it, with and without another process that spins.

    python benchmarks/threads.py

Gaussians like g50c's, 50 labelled and 8000 unlabelled points; wall seconds, median of nine, of processes of their own:
with one thread and with the default number, alone and beside a process that keeps one core busy.
"""

import multiprocessing
import os
import subprocess
import sys

from common import Results

FIT = """
import sys, time
sys.path.insert(0, {here!r})
import numpy as np
import convex_tsvm as ct
from common import compile_native, gaussians
compile_native()
X, truth = gaussians(8050)
y = np.where(np.arange(8050) < 50, truth, 0.0)
spent = []
for _ in range(9):
    began = time.perf_counter()
    ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y, kernel=ct.RBF(17.0), C=10))
    spent.append(time.perf_counter() - began)
print(np.median(spent))
"""


def spin():
    """Keep a core busy."""
    while True:
        pass


def seconds(threads):
    """Of one fit in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    code = FIT.format(here=os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    out = Results("threads", "Threads beside another process")
    out("Wall seconds of a fit; the target is 1.3 times one thread's beside a busy process.", "")
    out.table("beside", "one thread, s", f"default ({os.cpu_count()} cores), s", "ratio")
    for beside in ("nothing", "a process that spins"):
        other = multiprocessing.Process(target=spin, daemon=True)
        if beside != "nothing":
            other.start()
        try:
            one, default = seconds(1), seconds(None)
        finally:
            if other.is_alive():
                other.terminate()
        out.row(beside, f"{one:.3f}", f"{default:.3f}", f"{default / one:.2f} ×")
    out.done()


if __name__ == "__main__":
    main()
