"""The sizes of the papers' data sets, from the files.

python benchmarks/data_sets.py
"""

import sys
from pathlib import Path

import numpy as np
from common import Results

sys.path.append(str(Path(__file__).parent / "review"))

from datasets import load


def main():
    """All of chapelle2008's."""
    out = Results("data_sets", "The papers' data sets")
    out.table("set", "classes", "dims", "points", "labelled")
    for name in ("g50c", "text", "uspst", "isolet", "coil20", "coil3", "2moons"):
        data = load(name, 0)
        out.row(name, len(np.unique(data.y)), data.X.shape[1], len(data.y), len(data.labeled))
    out.done()


if __name__ == "__main__":
    main()
