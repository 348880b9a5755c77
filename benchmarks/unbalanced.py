"""Sparse binary points, 3 % of them positive, with a balance: the corner where most variables are between breakpoints.

    python benchmarks/unbalanced.py [--sizes 4000,50000]

300 features, 2000 labelled points, RBF γ = 0.05, C = 8, C* = C L / U, the balance of the labels; CCCP with a ramp, as
multiples of libsvm's time for the SVM of all points with all labels.  Sparse and, up to 4000 points, dense input of the
same points; one thread, processor seconds, every fit in a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys

from common import HERE, Results

#: Dense input is run beside sparse one up to this many points.
DENSE = 4000

FIT = """
import json, resource, sys, time, warnings
sys.path.insert(0, {here!r})
warnings.simplefilter("ignore")
import numpy as np
from sklearn.svm import SVC
import convex_tsvm as ct
from common import compile_native
from corners import DATA, compile_all
compile_native()
compile_all()
rng = np.random.default_rng(1)
X, truth = DATA["sparse binary"]({n}, 0.03, rng)
y, labeled = np.zeros({n}), rng.permutation({n})[:2000]
y[labeled] = truth[labeled]
X = X.toarray() if {dense} else X
began = time.process_time()
SVC(C=8, gamma=0.05, cache_size=1000).fit(X, truth)
libsvm = time.process_time() - began
problem = ct.Problem(X, y, kernel=ct.RBF(gamma=0.05), C=8, C_unlabeled="balanced", balance="labeled")
began = time.process_time()
found = ct.cccp(ct.tsvm("ramp", s=-0.3, balance="linear"), problem, cache_size=1000)
seconds = time.process_time() - began
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps([libsvm, seconds, memory, len(found.history), found.objective, found.status]))
"""


def fitted(n, dense):
    """Seconds of libsvm and of ours, GB, steps, objective and status."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    code = FIT.format(here=str(HERE), n=n, dense=dense)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="4000,50000", help="comma-separated (default: 4000,50000)")
    options = parser.parse_args()
    out = Results("unbalanced", "Sparse binary points, 3 % positive, with a balance")
    out("Targets: 30 times libsvm at most; sparse input 1.3 times dense at most; 50 000 points in less than 3 GB.", "")
    out.table("n", "input", "libsvm on the same input, s", "ours, s", "ratio", "GB", "steps", "objective", "status")
    for n in (int(size) for size in options.sizes.split(",")):
        for dense in (False, True) if n <= DENSE else (False,):
            libsvm, seconds, memory, steps, objective, status = fitted(n, dense)
            row = (f"{libsvm:.2f}", f"{seconds:.1f}", f"{seconds / libsvm:.1f}", f"{memory:.1f}")
            out.row(n, "dense" if dense else "sparse", *row, steps, f"{objective:.6g}", status)
    out.done()


if __name__ == "__main__":
    main()
