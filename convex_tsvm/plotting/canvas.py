"""Where pictures are drawn: axes that are given or made, and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def axes_of(ax: Axes | None, size: tuple[float, float] = (5.6, 4.2)) -> Axes:
    """The axes that are given, or those of a new figure of pyplot, which notebooks and galleries show."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def check_picture(path: str | Path) -> None:
    """Raise ValueError unless the ending of ``path`` is a format that matplotlib writes."""
    formats = new_figure(1).canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(f"plot={str(path)!r} must end in one of {', '.join('.' + f for f in sorted(formats))}")


def save_figure(picture: Figure | Axes, path: str | Path) -> None:
    """Write a figure, or that of some axes; the ending of ``path`` chooses the format."""
    check_picture(path)
    figure: Any = picture if hasattr(picture, "savefig") else picture.get_figure()
    figure.savefig(path, dpi=120)


def new_figure(panels: int, rows: int = 1) -> Figure:
    """A figure for so many panels beside each other, in so many rows, that pyplot does not know."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8 * panels, 4.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
