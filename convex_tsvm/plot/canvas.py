"""What pictures have in common: axes and figures, files that they are written to, and the colours of things.

The colour-blind tell the colours apart: they are those of Okabe and Ito (2008), and three of Paul Tol's muted scheme.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def axes_of(ax: Axes | None, size: tuple[float, float] = (5.6, 4.2)) -> Axes:
    """The axes that are given, or new ones in a figure of pyplot, which notebooks and galleries show by themselves."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def finished(ax: Axes, **labels: Any) -> Axes:
    """Axes with their labels and a small legend."""
    ax.set(**labels)
    ax.legend(fontsize="small")
    return ax


def check_picture(path: str | Path) -> None:
    """Raise ValueError unless the ending of ``path`` is a format that matplotlib writes."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(f"plot={str(path)!r} must end in one of {', '.join('.' + f for f in sorted(formats))}")


def save(picture: Figure | Axes, path: str | Path | None) -> None:
    """Write a figure to a file.

    Parameters
    ----------
    picture : matplotlib figure or axes
        Axes stand for their figure.
    path : path or None
        Its ending chooses the format; None leaves the figure to pyplot, which notebooks and galleries show.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ct.plot.save(ct.plot.loss(ct.hinge()), pathlib.Path(folder, "hinge.png"))
    """
    if path is None:
        return
    check_picture(path)
    figure: Any = picture if hasattr(picture, "savefig") else picture.get_figure()
    figure.savefig(path, dpi=120)


def new_figure(panels: int, rows: int = 1, size: tuple[float, float] = (4.8, 4.2)) -> Figure:
    """A new figure of pyplot for ``panels`` columns and ``rows`` rows; ``size`` is that of a panel in inches."""
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(size[0] * panels, size[1] * rows), layout="constrained")


def label_map() -> Any:
    """A colour map for relaxed labels, from that of -1 by white to that of +1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("labels", [COLORS["negative"], "#F4F4F4", COLORS["positive"]])


def shades(count: int) -> list[tuple[float, ...]]:
    """Colours of the steps of one thing, from light to dark green."""
    import matplotlib as mpl
    import numpy as np

    return [tuple(one) for one in mpl.colormaps["summer_r"](np.linspace(0.35, 1.0, count))]
