"""Axes and figures that pictures are drawn in, and files that they are written to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def axes_of(ax: Axes | None, size: tuple[float, float] = (5.6, 4.2)) -> Axes:
    """The axes that are given, or new ones in a figure of pyplot, which notebooks and galleries show by themselves."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


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

    Raises
    ------
    ValueError
        If matplotlib knows no format of that name.

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
