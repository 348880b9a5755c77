"""dai2010, Proposition 1, at proven optima of the compact margin machine: spread of classes, and its bounds (1 min).

The paper replaces Σ ℓ_c, how far outputs are from the mean of their class beyond ε, by slacks
ζ with |f| <= (ε + ζ) / 2, which Proposition 1 shows to be no less.  The problems are those of exact_pieces.py, 20 + 40
digits 8 and 9.
"""

import numpy as np
from common import Results, compile_native
from exact_pieces import GAP, digits

import convex_tsvm as ct
from convex_tsvm.formulations.class_spread import class_spread

#: The machine's ε, as in exact_pieces.py.
EPSILON = 1.0


def main():
    """One table."""
    compile_native()
    results = Results("proposition_1", "dai2010, Proposition 1, at optima of the compact margin machine")
    results(f"To a gap of {GAP:g}; the spread of eq. 3 is taken with the labels that outputs have.", "")
    results.table(
        "draw",
        "solution",
        "objective",
        "spread Σ ℓ_c",
        "Proposition 1: Σ max(0, 2 abs(f) - ε)",
        "eq. 8: Σ max(0, abs(f) - ε)",
    )
    for seed in range(3):
        X, y = digits(seed)
        problem = ct.Problem(X, y, kernel=ct.RBF(sigma=7.0), C=10, C_unlabeled=1.0, balance="labeled")
        formulation = ct.compact_margin(EPSILON, 0.5, 0.5)
        for name, found in (
            ("CCCP", ct.cccp(formulation, problem)),
            ("optimum", ct.exact_search(formulation, problem, gap=GAP)),
        ):
            f = found.scores
            labels = np.where(y != 0, y, np.where(f >= 0, 1.0, -1.0))
            spread = class_spread(f, labels, EPSILON)
            bound = float(np.maximum(0, 2 * np.abs(f) - EPSILON).sum())
            assert spread <= bound
            paid = float(np.maximum(0, np.abs(f) - EPSILON).sum())
            results.row(seed, name, f"{found.objective:.5g}", f"{spread:.4g}", f"{bound:.4g}", f"{paid:.4g}")
    results.done()


if __name__ == "__main__":
    main()
