"""The comparisons of two papers, one command each: runs what is missing, writes every cell down, and makes the report.

    python benchmarks/review                          chapelle2008: all tables on all data sets (many hours)
    python benchmarks/review --paper collobert2006
    python benchmarks/review --sets g50c,text         some data sets
    python benchmarks/review --tables "table 8"       some tables
    python benchmarks/review --methods CCCP,DA        some methods
    python benchmarks/review --report                 the report of what there is, and nothing else

Finished cells are in results/review.csv or results/collobert2006.csv, one a line, and are never computed again; Ctrl-C
loses those under way only.
"""

import argparse
import os
import sys
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
from store import compute, finished  # noqa: E402

#: Of each paper: what is run, the kind of cell, and the report.
PAPERS = {"chapelle2008": (tasks, tasks.Cell, report), "collobert2006": (collobert, collobert.Trial, collobert_report)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paper", default="chapelle2008", choices=PAPERS)
    parser.add_argument("--tables", help="comma-separated (default: all)")
    parser.add_argument("--sets", help="comma-separated data sets (default: all)")
    parser.add_argument("--methods", help="comma-separated (default: all)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one a core)")
    parser.add_argument("--report", action="store_true", help="compute nothing")
    options = parser.parse_args()
    module, kind, reporting = PAPERS[options.paper]
    asked = {}
    for name, known in (("tables", tuple(module.TABLES)), ("sets", module.SETS), ("methods", tuple(module.EVERY))):
        given = getattr(options, name)
        asked[name] = known if given is None else given.split(",")
        for one in asked[name]:
            if one not in known:
                parser.error(f"--{name} {one!r} must be of {', '.join(known)}")
    path = RESULTS / ("review.csv" if kind is tasks.Cell else "collobert2006.csv")
    if not options.report:
        known = finished(kind, path)
        wanted = [cell for cell in module.cells(asked["tables"], asked["sets"]) if cell.method in asked["methods"]]
        missing = [cell for cell in wanted if cell.key not in known]
        if missing:
            compute(module.run, missing, module.FIGURES, options.jobs, path)
    reporting.write_report(finished(kind, path), RESULTS)


if __name__ == "__main__":
    main()
