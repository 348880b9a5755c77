"""How the gallery's pictures are drawn: as SVG, with type that is read from the last row, in one set of colours."""

import matplotlib as mpl
from matplotlib.legend import Legend
from matplotlib.text import Text

from convex_tsvm.plot import CYCLE

#: Points; smaller type is an error.
LEAST_TYPE = 11

#: Inches; a wider picture would be shrunk, and its type with it, in a window of 1400 pixels.
WIDEST = 11.0


def style(config, name):
    """What Sphinx-Gallery calls before each example."""
    mpl.rcParams.update(
        {
            "font.size": 13.5,
            "axes.titlesize": 13.5,
            "legend.framealpha": 0.9,
            "lines.linewidth": 1.8,
            "axes.prop_cycle": mpl.cycler(color=CYCLE),
            "svg.fonttype": "path",
        }
    )


def scrape(block, block_vars, gallery_conf, **options):
    """Save the figures of a block as SVG, after a look at their type."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    try:
        for number in plt.get_fignums():
            check(plt.figure(number), block_vars["src_file"])
    except ValueError:
        plt.close("all")  # the next example would be blamed for them
        raise
    return matplotlib_scraper(block, block_vars, gallery_conf, format="svg", **options)


def check(figure, source):
    """ValueError if a figure is too wide, or has type that is too small."""
    width = figure.get_size_inches()[0]
    if width > WIDEST:
        raise ValueError(f"{source}: a figure is {width:g} inches wide; at most {WIDEST:g}")
    for axes in figure.axes:  # the labels of ticks are written as they are asked for
        axes.get_xticklabels(), axes.get_yticklabels()
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text.get_fontsize() < LEAST_TYPE:
            size = text.get_fontsize()
            raise ValueError(f"{source}: {text.get_text()!r} has type of {size:g} points; at least {LEAST_TYPE}")
    for _ in range(2):  # an axis of equal scales is shrunk by a drawing, after its labels were placed
        figure.canvas.draw()
    canvas, ticks = figure.bbox.padded(2), tick_labels(figure)
    for part in figure.findobj(lambda one: isinstance(one, (Text, Legend)) and one.get_visible()):
        name, box = part.get_text().strip() if isinstance(part, Text) else "a legend", part.get_window_extent()
        inside = canvas.contains(box.x0, box.y0) and canvas.contains(box.x1, box.y1)
        if name and box.width > 0 and not inside and part not in ticks:
            raise ValueError(f"{source}: {name!r} goes beyond the picture, and would be cut off")


def tick_labels(figure):
    """Labels of ticks: those outside the limits of an axis are there, but are not drawn."""
    axes = [axis for one in figure.axes for axis in (one.xaxis, one.yaxis)]
    ticks = [tick for axis in axes for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())]
    return {label for tick in ticks for label in (tick.label1, tick.label2)}
