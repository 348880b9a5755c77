"""Results, one finished cell a line: nothing is computed twice, and Ctrl-C loses only what is under way."""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import asdict, fields

from joblib import Parallel, delayed


class Keyed:
    """What is run once: a dataclass whose fields tell it from others."""

    @property
    def key(self):
        """What tells it from others, as the results file has it."""
        return tuple(str(value) for value in asdict(self).values())


def finished(kind, path):
    """Figures that are known, by the keys of cells of a kind."""
    if not path.exists():
        return {}
    names = [field.name for field in fields(kind)]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        tuple(row[name] for name in names): {f: float(row[f]) for f in row if f not in names} for row in rows
    }  # fmt: skip


def say(count, total, spent, found):
    """A line for a finished cell, after so many minutes."""
    print(
        f"{count} of {total}, {spent:.1f} min, about {spent / count * (total - count):.0f} left: {found['data']} "
        f"{found['split']} {found['method']}: {found['error']:.2f} % in {found['seconds']:.1f} s",
        flush=True,
    )


def compute(run, missing, figures, jobs, path, tell=say):
    """Run cells in parallel and write each down when it is done; ``figures`` are the columns that a run adds."""
    began, names = time.perf_counter(), [*(field.name for field in fields(missing[0])), *figures]
    if not path.exists():
        path.write_text(",".join(names) + "\n")
    results = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(delayed(run)(c) for c in missing)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        for count, found in enumerate(results, 1):
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) and k in figures else v for k, v in found.items()})
            file.flush()
            tell(count, len(missing), (time.perf_counter() - began) / 60, found)


def resume(doc, missing, run, figures, path, report, tell=say):
    """The command line of a benchmark whose runs are kept: what is missing, for so many minutes, then the report."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--report", action="store_true", help="no runs")
    options = parser.parse_args()
    kind, until = type(missing[0]), time.time() + 60 * options.minutes
    done = finished(kind, path)
    for one in missing:
        if not options.report and one.key not in done and time.time() < until:
            compute(run, [one], figures, 1, path, tell)
    report(finished(kind, path))
