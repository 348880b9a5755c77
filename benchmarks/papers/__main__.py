"""What the tables and figures of the five papers come to here, by the results that benchmarks have kept.

    python benchmarks/papers          writes results/papers.json and results/papers.md

Nothing is computed but verdicts; each file of results says which command has computed it.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from document import Document  # noqa: E402
from verdicts import PAPERS, verdicts  # noqa: E402


def main():
    out = Document("papers", "Tables and figures of the papers")
    out.text("`python benchmarks/papers`, from the other files of results.")
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
