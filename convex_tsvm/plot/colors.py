"""The colours of things, the same in every picture, and told apart by the colour-blind.

They are those of Okabe and Ito (2008), and three of Paul Tol's muted scheme.
"""

from __future__ import annotations

from typing import Any

#: Colours that differ for everybody, in the order in which lines take them.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#999933")

#: The colour of each thing that is drawn.
COLORS = {
    "positive": "#D55E00",
    "negative": "#0072B2",
    "objective": "black",
    "lower bound": "#0072B2",
    "convex part": "#56B4E9",
    "concave part": "#E69F00",
    "surrogate": "#009E73",
    "conjugate": "#CC79A7",
    "supervised": "#777777",
    "semi-supervised": "#117733",
    "error": "#882255",
}


def label_map() -> Any:
    """A colour map for relaxed labels, from that of -1 by white to that of +1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("labels", [COLORS["negative"], "#F4F4F4", COLORS["positive"]])


def shades(count: int) -> list[tuple[float, ...]]:
    """Colours of the steps of one thing, from light to dark green."""
    import matplotlib as mpl
    import numpy as np

    return [tuple(one) for one in mpl.colormaps["summer_r"](np.linspace(0.35, 1.0, count))]
