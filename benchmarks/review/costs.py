"""What missing cells are expected to take, so that the cheapest are computed first."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

#: Of each data set: points, and classifiers that a cell learns (pairs of classes are counted the same: their problems
#: are smaller, and more).
SIZES = {
    "g50c": (550, 1), "text": (1946, 1), "uspst": (2007, 10), "uspst2": (2007, 1), "isolet": (1620, 9),
    "coil20": (1440, 20), "coil3": (216, 3), "2moons": (200, 1), "usps": (9298, 10), "news20": (8000, 1),
    "mnist8": (4100, 1),
}  # fmt: skip

#: Seconds of a cell whose method has not been run anywhere, for each classifier with 1000 points.
UNKNOWN = 10.0


def expected_seconds(known, kind):
    """A function from a cell to the seconds it is expected to take.

    They are the mean of those of the same method and setting on the same data set, or else of the same method on
    another set, times the ratio of the classifiers and of the squared numbers of points.

    Parameters
    ----------
    known : dict
        Figures of finished cells, by key.
    kind : type
        The dataclass of the cells.
    """
    place = {name: i for i, name in enumerate(kind.__dataclass_fields__)}
    spent, relative = defaultdict(list), defaultdict(list)
    for key, figures in known.items():
        data, method = key[place["data"]], key[place["method"]]
        setting = key[place["setting"]] if "setting" in place else ""
        spent[data, method, setting].append(figures["seconds"])
        relative[method].append(figures["seconds"] / _size(data))

    def expected(cell):
        same = spent.get((cell.data, cell.method, getattr(cell, "setting", "")))
        return float(np.mean(same or relative.get(cell.method, [UNKNOWN])) * (1 if same else _size(cell.data)))

    return expected


def _size(data):
    points, classifiers = SIZES[data.partition(", ")[0]]
    return classifiers * (points / 1000) ** 2
