"""Exact solutions of the instances of Piccialli, Schwiddessen and Sudoso (2024), by open solvers.

    python benchmarks/exact.py [--protocol published|equal] [--limit SECONDS] [--piece SECONDS] [--only NAME ...]

There are two protocols (exact_instances.py).  "published" is that of the published tables: C* = C l / (n - l), kernel
and C by cross-validated accuracy, three seeds.  "equal" has C* = C, the kernel by alignment, one seed, and is harder.

An instance gets up to an hour (--limit), in pieces of a minute (--piece) at first: each goes on from its checkpoint
(in --work), those that have had least time first, so that a table of long runs is made whenever there is time, and may
be stopped at any time.  What is done is kept in benchmarks/results/exact_PROTOCOL_runs.json and not done again.
"""

import argparse
import json
import statistics
from pathlib import Path

from common import HERE, Results
from exact_instances import BOTH_KERNELS, FORMULATION, GAP, SEEDS, SETS, SHARES, equal, published

import convex_tsvm as ct

#: Mean seconds of the published runs by share (30, 20, 10 %), or what they left after an hour (slides of 2024; hardware
#: not stated; Mosek and Gurobi), and what Gurobi left or took on the mixed-integer program.
PUBLISHED = {
    "art100": (("37", "13", "26"), ("2401", "2467", "7.4 % left")),
    "art150": (("2.4", "1.9", "61"), ("2629", "1450", "8.4 % left")),
    "heart": (("16", "64", "39"), ("11 % left", "10 % left", "14 % left")),
    "2moons": (("22", "22", "16"), ("2", "1024", "6.5 % left")),
    "connectionist": (("248", "105", "0.88 % left, 1 of 3"), ("13 % left", "11 % left", "17 % left")),
    "ionosphere": (("128, 221, 57", "108, 182, 44", "529, 493, 50"), ("-",) * 3),
    "powercons": (("130, 110, 170", "101, 31, 376", "140, 45, 534"), ("-",) * 3),
}


def tasks(protocol):
    """Keys of all runs, with what makes the instance."""
    if protocol == "published":
        return {
            f"{name} {share} seed {seed}": (published, (name, share, seed))
            for seed in SEEDS
            for name in SETS[protocol]
            for share in SHARES
        }
    found = {f"{name} {share}": (equal, (name, share, False)) for name in SETS[protocol] for share in SHARES}
    return found | {f"{name} {share} other": (equal, (name, share, True)) for name in BOTH_KERNELS for share in SHARES}


def solve(make, arguments, seconds, path, n_jobs):
    """A run up to ``seconds``, those before its checkpoint included: its row."""
    made = make(*arguments)
    problem = made.problem
    found = ct.exact_search(FORMULATION, problem, gap=GAP, time_limit=seconds, n_jobs=n_jobs, checkpoint=path)
    objective = found.objective
    return {
        "n": problem.n,
        "labelled": problem.n_labeled,
        "kernel": made.kind,
        "C": made.C,
        "objective": objective,
        "svm_gap": 1 - found.svm_bound / objective,
        "root_gap": 1 - found.root_bound / objective,
        "gap": found.gap,
        "nodes": found.n_nodes,
        "open": found.n_open,
        "seconds": found.seconds,
        "error": (found.labels != made.truth)[problem.unlabeled].mean(),
        "status": found.status,
    }


def is_closed(row):
    """Whether the gap that was asked for is proven."""
    return row["gap"] <= GAP * (1 + 1e-6)


def report(protocol, rows):
    """The tables."""
    title = {"published": "by the published protocol", "equal": "with C* = C, which is harder"}[protocol]
    results = Results(f"exact_{protocol}", f"Exact solutions {title}, with open solvers, up to an hour",
                      command=f"exact.py --protocol {protocol}")  # fmt: skip
    make = {"published": published, "equal": equal}[protocol]
    results(" ".join(make.__doc__.split()), "")
    if protocol == "published":
        results("## Beside the published figures")
        summarize(results, rows)
    results("## Runs")
    results.table("instance", "labelled", "kernel", "C", "SVM gap, %", "root gap, %", "final gap, %", "nodes", "s",
                  "error, %")  # fmt: skip
    for key, row in rows.items():
        name, share, *rest = key.split()
        seed = "" if protocol == "equal" else f", seed {rest[-1]}"
        results.row(
            f"{name}, n = {row['n']}{seed}", f"{float(share):.0%}", row["kernel"], f"{row['C']:.3g}",
            *(f"{100 * row[part]:.3g}" for part in ("svm_gap", "root_gap", "gap")), row["nodes"],
            f"{row['seconds']:.0f}", f"{100 * row['error']:.1f}",
        )  # fmt: skip
    results("", f"{sum(map(is_closed, rows.values()))} of {len(rows)} instances closed to {GAP:.1%}.")
    results.done()


def summarize(results, rows):
    """Means of the seeds beside the published figures."""
    results(
        "Means of the seeds: seconds of the closed runs (ours on one core), and the gaps of the others.  The published "
        "solver's hardware is not stated, so seconds are no comparison of programs; what is closed is.",
        "",
    )
    results.table("set", "labelled", "closed", "s, mean", "gap left, %", "published, s", "published, MIQP by Gurobi")
    for name, (theirs, gurobi) in PUBLISHED.items():
        for share, published_one, by_gurobi in zip(SHARES, theirs, gurobi, strict=True):
            own = [row for key, row in rows.items() if key.startswith(f"{name} {share} ")]
            if own:
                closed = [row for row in own if is_closed(row)]
                left = ", ".join(f"{100 * row['gap']:.2g}" for row in own if not is_closed(row))
                mean = f"{statistics.mean(row['seconds'] for row in closed):.1f}" if closed else "-"
                shown = (f"{len(closed)} of {len(own)}", mean, left or "-", published_one, by_gurobi)
                results.row(name, f"{share:.0%}", *shown)
    results("")


def main():
    """Pieces of all runs that are not done yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protocol", choices=tuple(SETS), default="published")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds an instance (default: 3600)")
    parser.add_argument("--piece", type=float, default=60.0, help="seconds of the first piece (default: 60)")
    parser.add_argument("--only", nargs="*", help="some of the sets")
    parser.add_argument("--jobs", type=int, default=2, help="dives side by side (default: 2)")
    parser.add_argument("--work", default=str(HERE / ".exact"), help="folder for checkpoints")
    options = parser.parse_args()
    Path(options.work).mkdir(exist_ok=True)
    store = HERE / "results" / f"exact_{options.protocol}_runs.json"
    todo, piece = tasks(options.protocol), options.piece
    wanted = [key for key in todo if not options.only or key.split()[0] in options.only]

    def kept():
        return json.loads(store.read_text()) if store.exists() else {}

    while True:
        piece = min(piece, options.limit)
        for key in wanted:
            row = kept().get(key)
            if row is not None and (is_closed(row) or row["seconds"] >= 0.99 * piece):
                continue
            path = Path(options.work) / f"{options.protocol}-{key.replace(' ', '-')}.npz"
            row = solve(*todo[key], piece, path, options.jobs)
            if is_closed(row):
                path.unlink(missing_ok=True)
            print(key, {name: row[name] for name in ("gap", "root_gap", "nodes", "seconds")}, flush=True)
            rows = {**kept(), key: row}
            store.write_text(json.dumps({one: rows[one] for one in todo if one in rows}, indent=1) + "\n")
        if piece >= options.limit:
            break
        piece *= 3
    if store.exists():
        report(options.protocol, kept())


if __name__ == "__main__":
    main()
