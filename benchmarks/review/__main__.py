"""The comparisons of two papers, one command each: runs what is missing, writes every cell down, and makes the report.

    python benchmarks/review                          chapelle2008: all tables on all data sets (many hours)
    python benchmarks/review --paper collobert2006
    python benchmarks/review --sets g50c,text         some data sets
    python benchmarks/review --tables "table 8"       some tables
    python benchmarks/review --methods CCCP,DA        some methods
    python benchmarks/review --minutes 120            what is missing of both papers, the cheapest first,
                                                      for two hours on one core at low priority
    python benchmarks/review --report                 the report of what there is, and nothing else

Finished cells are in results/review.csv or results/collobert2006.csv, one a line, and are never computed again; Ctrl-C
loses those under way only.
"""

import argparse
import os
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"

if __name__ == "__main__":
    # Jobs are processes with one thread of BLAS each: set before anything loads it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1]))  # what all benchmarks share

import collobert  # noqa: E402
import collobert_report  # noqa: E402
import report  # noqa: E402
import tasks  # noqa: E402
from costs import expected_seconds  # noqa: E402
from store import compute, finished  # noqa: E402

#: Of each paper: what is run, the kind of cell, the report, and the file of results.
PAPERS = {
    "chapelle2008": (tasks, tasks.Cell, report, RESULTS / "review.csv"),
    "collobert2006": (collobert, collobert.Trial, collobert_report, RESULTS / "collobert2006.csv"),
}

#: Tables with many hyperparameters, which come last where time is short.
LAST = ("table 9",)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paper", choices=PAPERS, help="default: chapelle2008; with --minutes, both")
    parser.add_argument("--tables", help="comma-separated (default: all)")
    parser.add_argument("--sets", help="comma-separated data sets (default: all)")
    parser.add_argument("--methods", help="comma-separated (default: all)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one a core)")
    parser.add_argument("--minutes", type=float, help="the cheapest cells first, one core, low priority, for so long")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    options = parser.parse_args()
    deadline = None
    if options.minutes is not None:
        if not options.minutes > 0:
            parser.error(f"--minutes {options.minutes:g} must be positive")
        os.nice(15)
        deadline = time.monotonic() + 60 * options.minutes
    several = options.minutes is not None or options.report
    papers = [options.paper] if options.paper else list(PAPERS) if several else ["chapelle2008"]
    _check_names(options, papers, parser)
    if not options.report:
        work = []
        for name in papers:
            work += _missing(name, options)
        if deadline is None:
            _compute(work, options.jobs)
        else:
            _compute_cheapest(work, deadline)
    for name in papers:
        _, kind, reporting, path = PAPERS[name]
        reporting.write_report(finished(kind, path), RESULTS)


def _names(paper):
    """What the options may name, by option."""
    module = PAPERS[paper][0]
    return {"tables": tuple(module.TABLES), "sets": module.SETS, "methods": tuple(module.EVERY)}


def _check_names(options, papers, parser):
    for option in ("tables", "sets", "methods"):
        known = list(dict.fromkeys(name for paper in papers for name in _names(paper)[option]))
        for one in (getattr(options, option) or ",".join(known)).split(","):
            if one not in known:
                parser.error(f"--{option} {one!r} must be of {', '.join(known)}")


def _missing(paper, options):
    """The cells that are asked for and not known, each with its paper."""
    module, kind, _, path = PAPERS[paper]
    asked = {}
    for option, known in _names(paper).items():
        given = getattr(options, option)
        asked[option] = [name for name in known if given is None or name in given.split(",")]
    known = finished(kind, path)
    wanted = [cell for cell in module.cells(asked["tables"], asked["sets"]) if cell.method in asked["methods"]]
    return [(paper, cell) for cell in wanted if cell.key not in known]


def _compute(work, jobs):
    for paper, (module, _, _, path) in PAPERS.items():
        cells = [cell for name, cell in work if name == paper]
        if cells:
            compute(module.run, cells, module.FIGURES, jobs, path)


def _compute_cheapest(work, deadline):
    """One cell after the other, the cheapest of the first paper first, and those of ``LAST`` after all others.

    A cell that is not expected to end in time is not begun.
    """
    expected = {paper: expected_seconds(finished(kind, path), kind) for paper, (_, kind, _, path) in PAPERS.items()}
    seconds = {one: expected[one[0]](one[1]) for one in work}
    late = set(tasks.cells(LAST)) - set(tasks.cells([table for table in tasks.TABLES if table not in LAST]))
    work = sorted(work, key=lambda one: (one[1] in late, list(PAPERS).index(one[0]), seconds[one]))
    print(f"{len(work)} cells are missing, about {sum(seconds.values()) / 3600:.1f} hours of one core", flush=True)
    left = len(work)
    for paper, cell in work:
        if time.monotonic() + seconds[paper, cell] < deadline:
            left -= 1
            module, _, _, path = PAPERS[paper]
            compute(module.run, [cell], module.FIGURES, 1, path, lambda _1, _2, _3, found, left=left: _say(found, left))


def _say(found, left):
    print(f"{found['data']} {found['split']} {found['method']}: {found['error']:.2f} % in {found['seconds']:.1f} s, "
          f"{left} cells are missing", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
