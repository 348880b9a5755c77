"""How much memory the checker of exact searches over boxes of weights takes, beside the arrays in the file (Linux).

    python benchmarks/checker_memory.py

Two spherical Gaussians of a million points in the plane, 20 labelled, as in exact_weights.py.  What the checker takes
is the largest size of a process that has checked a small file before, so that its loops are compiled, less its size
then.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from exact_weights import GAP, Cell, stated

import convex_tsvm as ct

CODE = """
import re, sys
from convex_tsvm.checker.walk import check
def megabytes(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1000
check(sys.argv[1])
before = megabytes("VmRSS")
print(check(sys.argv[2]).holds, before, megabytes("VmHWM") - before)
"""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for n in (1000, 1_000_000):
            paths.append(Path(folder) / f"{n}.npz")
            formulation, problem, _ = stated(Cell("large", n, 2, "hinge", "light"))
            ct.exact_search(formulation, problem, branch_on="weights", gap=GAP, certificate=paths[-1])
        with np.load(paths[-1]) as file:
            arrays = sum(file[name].nbytes for name in file.files) / 1e6
        output = subprocess.run([sys.executable, "-c", CODE, *paths], capture_output=True, text=True, check=True).stdout
    holds, before, more = output.split()
    print(f"proven: {holds}; points {problem.X.nbytes / 1e6:.0f} MB, arrays in the file {arrays:.0f} MB, the checker "
          f"{float(more):.0f} MB beside {float(before):.0f} MB of itself")  # fmt: skip
