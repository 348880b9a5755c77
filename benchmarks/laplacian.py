"""LaplacianSVC on more and more points: seconds, memory, exponents, and the dense way beside it.

    python benchmarks/laplacian.py

Gaussians like g50c's and two noisy moons, 100 labelled points, a graph of ten neighbours, default arguments; every fit
in a process of its own.  The dense way (all of the kernel's matrix, in n³ operations) is the same estimator with a
cache that has room for it, and the objectives of both are compared.
"""

import os

from common import Results, alone, exponent

SIZES = (2500, 5000, 10000, 20000)

#: The dense way is run up to this many points.
DENSE = 5000

FIT = """
from common import gaussians
from corners import DATA
X, truth = gaussians(300)
ct.LaplacianSVC().fit(X, np.where(np.arange(300) < 50, truth > 0, -1))  # what is compiled is compiled
X, truth = gaussians({n}) if {data!r} == "Gaussians" else DATA["moons"]({n}, 0.5, np.random.default_rng(0))
y = np.where(np.arange({n}) < 100, truth > 0, -1)
began = time.perf_counter()
clf = ct.LaplacianSVC(n_neighbors=10, cache_size={cache}).fit(X, y)
seconds = time.perf_counter() - began
found = [seconds, float(np.mean(clf.transduction_ != (truth > 0))), clf.objective_, clf.gap_]
"""


def fitted(data, n, cache=200):
    """Seconds, MB, error, objective and gap of one fit."""
    # The map of corners, whose data this takes, would have one thread.
    (seconds, *rest), memory = alone(FIT.format(data=data, n=n, cache=cache), threads=os.cpu_count())
    return seconds, 1024 * memory, *rest


def main():
    out = Results("laplacian", "Laplacian SVM, few of many points labelled")
    out("Targets: n = 20 000 in less than 120 s and 3000 MB, and an exponent below 2.2.", "")
    out.table("data", "n", "seconds", "MB", "error, %", "gap", "dense: seconds", "MB", "objective apart by")
    exponents = {}
    for data in ("Gaussians", "moons"):
        spent = []
        for n in SIZES:
            seconds, memory, error, objective, gap = fitted(data, n)
            spent.append(seconds)
            row = [data, n, f"{seconds:.1f}", f"{memory:.0f}", f"{100 * error:.1f}", f"{gap:.1e}"]
            if n <= DENSE:
                beside = fitted(data, n, 10**5)
                row += [f"{beside[0]:.1f}", f"{beside[1]:.0f}", f"{abs(objective / beside[3] - 1):.0e}"]
            else:
                row += ["–"] * 3
            out.row(*row)
        exponents[data] = exponent(SIZES[1:], spent[1:])
    out("", *(f"{data}: exponent {value:.2f} from n = {SIZES[1]} on." for data, value in exponents.items()))
    out.done()


if __name__ == "__main__":
    main()
