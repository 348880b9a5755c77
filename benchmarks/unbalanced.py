"""Sparse binary points, 3 % of them positive, with a balance: the corner where most variables are between breakpoints.

    python benchmarks/unbalanced.py [--sizes 4000,50000]

300 features, 2000 labelled points, RBF γ = 0.05, C = 8, C* = C L / U, the balance of the labels; CCCP with a ramp, as
multiples of libsvm's time for the SVM of all points with all labels.  Sparse and, up to 4000 points, dense input of the
same points; one thread, processor seconds, every fit in a process of its own.
"""

import argparse

from common import Results, alone

#: Dense input is run beside sparse one up to this many points.
DENSE = 4000

FIT = """
from sklearn.svm import SVC
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
solution = ct.cccp(ct.tsvm("ramp", s=-0.3, balance="linear"), problem, cache_size=1000)
seconds = time.process_time() - began
found = [libsvm, seconds, len(solution.history), solution.objective, solution.status]
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="4000,50000", help="comma-separated (default: 4000,50000)")
    options = parser.parse_args()
    out = Results("unbalanced", "Sparse binary points, 3 % positive, with a balance")
    out("Targets: 30 times libsvm at most; sparse input 1.3 times dense at most; 50 000 points in less than 3 GB.", "")
    out.table("n", "input", "libsvm on the same input, s", "ours, s", "ratio", "GB", "steps", "objective", "status")
    for n in (int(size) for size in options.sizes.split(",")):
        for dense in (False, True) if n <= DENSE else (False,):
            found, memory = alone(FIT.format(n=n, dense=dense), threads=1)
            libsvm, seconds, steps, objective, status = found
            row = (f"{libsvm:.2f}", f"{seconds:.1f}", f"{seconds / libsvm:.1f}", f"{memory:.1f}")
            out.row(n, "dense" if dense else "sparse", *row, steps, f"{objective:.6g}", status)
    out.done()


if __name__ == "__main__":
    main()
