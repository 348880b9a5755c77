"""What the tables and figures of the five papers come to here, by the results that benchmarks have kept.

    python benchmarks/papers                 writes results/papers.json and results/papers.md
    python benchmarks/papers --minutes 60    before that computes what is missing, one core, at low priority

Without it nothing is computed but verdicts; each file of results says which command has computed it.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from document import Document  # noqa: E402
from verdicts import PAPERS, totals, verdicts  # noqa: E402

#: What computes the papers' figures, those that need least for what is missing first; each takes up where it was.
SCRIPTS = (
    "sindhwani2006_large.py", "collobert2006_claims.py", "compact_margin.py", "potts.py", "transductive.py", "review",
)  # fmt: skip


def compute(minutes):
    """Run the scripts one after the other; what one leaves of its share the others have."""
    os.nice(15)
    os.environ["OMP_NUM_THREADS"] = "1"
    folder, until = Path(__file__).parents[1], time.monotonic() + 60 * minutes
    for k, name in enumerate(SCRIPTS):
        own = (until - time.monotonic()) / 60 / (len(SCRIPTS) - k)
        if own > 0:
            command = [sys.executable, str(folder / name), "--minutes", f"{own:.2f}"]
            subprocess.run(
                command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, preexec_fn=lambda: os.nice(15)
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=0.0, help="compute what is missing for so long")
    minutes = parser.parse_args().minutes
    if minutes > 0:
        compute(minutes)
    out = Document("papers", "Tables and figures of the papers")
    out.text("`python benchmarks/papers`, from the other files of results.")
    compared, printed = totals()
    out.text(f"{compared} of {printed} printed figures are compared, on samples as large as the paper's.")
    out.facts["compared"], out.facts["printed"] = compared, printed
    for paper in PAPERS:
        found = verdicts(paper)
        out.facts[paper] = found
        out.heading(paper)
        out.table("item", "verdict", "what is claimed", "what was found")
        for one in found:
            out.row(one["number"], one["verdict"], one["says"], one["detail"])
    print(out.save())


if __name__ == "__main__":
    main()
