"""Which labels are shown, and where files are."""

import os
from pathlib import Path

import numpy as np

#: The folder of the papers' data, as everywhere in the repository.
DATA = Path(os.environ.get("CONVEX_TSVM_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))


def hidden(truth, n_labeled, rng):
    """Labels with 0 for all points but ``n_labeled`` that are drawn, the same number of each class, at least one."""
    y = np.zeros(len(truth))
    for sign, count in ((1.0, n_labeled - n_labeled // 2), (-1.0, n_labeled // 2)):
        shown = rng.choice(np.flatnonzero(truth == sign), max(1, count), replace=False)
        y[shown] = sign
    return y


def read(name):
    """The arrays of a file of the papers' data, or what to do where it is missing."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        return f"{path} is missing; set CONVEX_TSVM_DATA to the folder that has {name}.npz"
    return np.load(path)


def names(start):
    """What follows ``start`` in the names of the files that are there."""
    return sorted(path.stem.removeprefix(start) for path in DATA.glob(f"{start}*.npz"))
