"""Pictures of several solutions: boundaries side by side, and what happens along the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Data
from ..solution import Solution
from ..validation import is_sparse
from .canvas import new_figure
from .planes import boundary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison(data: Data, solutions: Mapping[str, Solution]) -> Figure:
    """One picture of several solutions: boundaries where the points are two-dimensional, else iterations."""
    plane = data.X.shape[1] == 2 and not is_sparse(data.X)
    return boundaries(data, solutions) if plane else iterations(data, solutions)


def boundaries(data: Data, solutions: Mapping[str, Solution], figure: Any = None) -> Any:
    """Decision boundary (solid) and margins (dashed) of each solution, one panel each, in a figure or part of one.

    Parameters
    ----------
    data : Data
        Of two features.
    solutions : mapping of str to Solution
    figure : matplotlib figure or subfigure, optional
        A new one by default.

    Examples
    --------
    >>> from convex_tsvm.data import load_data
    >>> data = load_data("two_moons")
    >>> problem = ct.Problem(data.X, data.y, kernel=ct.RBF(0.3), C=10)
    >>> solutions = {"SVM": ct.cccp(ct.svm(), problem), "TSVM": ct.cccp(ct.cccp_tsvm(), problem)}
    >>> figure = ct.plot.boundaries(data, solutions)
    >>> [axes.get_title() for axes in figure.axes]
    ['SVM: 1.0 % error', 'TSVM: 0.5 % error']
    """
    rows = -(-len(solutions) // 3)  # of at most so many panels
    columns = -(-len(solutions) // rows)  # rows are filled evenly: four panels are two by two, not three and one
    figure = new_figure(columns, rows) if figure is None else figure
    for place, (name, solution) in enumerate(solutions.items()):
        axes = boundary(solution, data, ax=figure.add_subplot(rows, columns, place + 1))
        error = data.error(solution.labels)
        axes.set_title(name if error is None else f"{name}: {100 * error:.1f} % error")
        axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
        legend = axes.get_legend()
        if place and legend is not None:
            legend.remove()
    return figure


def iterations(data: Data, solutions: Mapping[str, Solution]) -> Figure:
    """Objective and error on the unlabelled points along the steps (collobert2006 Figure 4)."""
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(2)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    styles = ["-", "--", ":", "-."]
    for place, (name, solution) in enumerate(solutions.items()):
        # Solutions that agree draw the same line, so hollow markers of growing size keep each of them visible.
        marker = {"marker": "o", "markersize": 4 + 4 * (place % 4), "markerfacecolor": "none"}
        style: dict[str, Any] = {"linestyle": styles[place % 4], "label": name, **marker}
        if len(solution.history) > 1:
            steps = range(1, len(solution.history) + 1)
            style["markevery"] = max(1, len(steps) // 12)  # on a long path a marker at every step would hide the line
            left.plot(steps, [iteration.objective for iteration in solution.history], **style)
            outputs = [iteration.outputs for iteration in solution.history if iteration.outputs is not None]
            errors = [data.error(np.where(f >= 0, 1.0, -1.0)) for f in outputs]
            if errors and errors[0] is not None:
                right.plot(steps, [100 * (error or 0.0) for error in errors], **style)
        else:
            # A convex problem takes one step, so its error is drawn as a horizontal line.
            error = data.error(solution.labels)
            if error is not None:
                right.axhline(100 * error, color="0.4", linestyle=styles[place % 4], label=name)
    left.set(xlabel="step", ylabel="objective")
    right.set(xlabel="step", ylabel="error on unlabelled points, %")
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    figure.suptitle(data.name)
    return figure
