"""Certificates of closed instances, checked in rigorous arithmetic.

    python benchmarks/certificates.py [--limit SECONDS] [--only NAME ...]

Instances of ``exact.py`` that a search closes within the limit, and S3VMs of other kinds (hinge and squared hinge, with
a mean, a number of labels or a free bias) on two moons.  For each: the size of the certificate, before and after it is
trimmed, and the seconds of the search and of the check.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
from common import Results
from exact_instances import GAP, equal

import convex_tsvm as ct

#: Rows of exact.py that close within a few minutes: name, share of labels, whether with the kernel not chosen there.
ROWS = [("art100", 0.3, False), ("art100", 0.2, False), ("art100", 0.1, False), ("art150", 0.2, False),
        ("art150", 0.1, False), ("2moons", 0.3, True), ("2moons", 0.2, True), ("2moons", 0.1, True),
        ("wdbc", 0.3, False)]  # fmt: skip

#: Certificates of more nodes than this are not trimmed here: it takes minutes.
TRIMMED = 10_000


def others():
    """Name, formulation and problem of small S3VMs of every other kind."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 24)
    side = np.where(np.arange(24) < 12, 1.0, -1.0)
    X = np.column_stack([np.cos(angle) * side + 0.5 * (side < 0), np.sin(angle) * side - 0.25 * side])
    X += 0.1 * rng.normal(size=X.shape)
    y = np.where(np.arange(24) % 4 == 0, side, 0.0)
    hinge, squared = ct.cccp_tsvm(0.0), ct.s3vm()
    for name, formulation, balance in (
        ("hinge, mean", hinge, "labeled"),
        ("squared hinge, mean", squared, "labeled"),
        ("hinge, number", hinge, ("exact", 0.5)),
        ("squared hinge, number", squared, ("exact", 0.5)),
        ("hinge, free bias", ct.cccp_tsvm(0.0, balance=None), None),
        ("squared hinge, free bias", ct.s3vm(balance=None), None),
        ("hinge, no bias", ct.cccp_tsvm(0.0, balance=None, fit_intercept=False), None),
        ("squared hinge, no bias", ct.s3vm(balance=None, fit_intercept=False), None),
        ("hinge, mean, no bias", ct.cccp_tsvm(0.0, fit_intercept=False), 0.1),
        ("squared hinge, mean, no bias", ct.s3vm(fit_intercept=False), 0.1),
    ):
        yield name, formulation, ct.Problem(X, y, kernel=ct.RBF(sigma=0.5), C=3.0, balance=balance), 1e-6
    yield "squared hinge, mean, linear kernel", squared, ct.Problem(X, y, C=3.0), 1e-6


def papers():
    """Name, formulation and problem of the rows of exact.py."""
    for name, share, other in ROWS:
        made = equal(name, share, other)
        kind, problem = made.kind, made.problem
        formulation = ct.s3vm(balance="targets", fit_intercept=False)
        yield f"{name} {share:.0%} {kind}", formulation, problem, GAP


def measured(formulation, problem, gap, limit, path):
    """One search and the checks of its certificate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ct.exact_search(formulation, problem, gap=gap, time_limit=limit, certificate=path, n_jobs=2)
    verdict = ct.prove_certificate(path)
    small, size = path.with_suffix(".small.npz"), path.stat().st_size / 1e6
    if verdict.n_nodes > TRIMMED:
        return found, verdict, size, ("-", "-", "-")
    trimmed = ct.exact.trim_certificate(path, small)
    again = ct.prove_certificate(small)
    kept = f"{trimmed.n_proofs_after} of {trimmed.n_proofs_before}"
    after = f"{small.stat().st_size / 1e6:.2f}", kept, "proven" if again.holds else again.problem
    return found, verdict, size, after


def main():
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=300.0, help="seconds a search (default: 300)")
    parser.add_argument("--only", nargs="*", help="names that contain one of these")
    options = parser.parse_args()
    results = Results("certificates", "Certificates of exact search, checked")
    results(__doc__.split("\n\n")[2].strip(), "")
    results.table("instance", "status", "nodes", "proofs", "search, s", "check, s", "", "MB", "MB trimmed",
                  "proofs kept", "trimmed")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name, formulation, problem, gap in (*others(), *papers()):
            if options.only and not any(word in name for word in options.only):
                continue
            path = Path(folder) / "certificate.npz"
            found, verdict, size, after = measured(formulation, problem, gap, options.limit, path)
            results.row(
                name, found.status, verdict.n_nodes, verdict.n_proofs, f"{found.seconds:.1f}",
                f"{verdict.seconds:.2f}", "proven" if verdict.holds else verdict.problem, f"{size:.2f}", *after,
            )  # fmt: skip
    results.done()


if __name__ == "__main__":
    main()
