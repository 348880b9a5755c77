"""One busy core: a TSVM as a user runs it, with and without another process that spins.

    python benchmarks/threads.py

Gaussians like g50c's, 50 labelled and 8000 unlabelled points; wall seconds, median of nine, of processes of their own:
with one thread and with the default number, alone and beside a process that keeps one core busy.
"""

import multiprocessing
import os

from common import Results, alone

FIT = """
from common import compile_native, gaussians
compile_native()
X, truth = gaussians(8050)
y = np.where(np.arange(8050) < 50, truth, 0.0)
spent = []
for _ in range(9):
    began = time.perf_counter()
    ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y, kernel=ct.RBF(17.0), C=10))
    spent.append(time.perf_counter() - began)
found = float(np.median(spent))
"""


def spin():
    """Keep a core busy."""
    while True:
        pass


def main():
    out = Results("threads", "Threads beside another process")
    out("Wall seconds of a fit; the target is 1.3 times one thread's beside a busy process.", "")
    out.table("beside", "one thread, s", f"default ({os.cpu_count()} cores), s", "ratio")
    for beside in ("nothing", "a process that spins"):
        other = multiprocessing.Process(target=spin, daemon=True)
        if beside != "nothing":
            other.start()
        try:
            (one, _), (default, _) = alone(FIT, threads=1), alone(FIT)
        finally:
            if other.is_alive():
                other.terminate()
        out.row(beside, f"{one:.3f}", f"{default:.3f}", f"{default / one:.2f} ×")
    out.done()


if __name__ == "__main__":
    main()
