"""Pictures of decision boundaries among points of two dimensions, of several solutions, and of label matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data import Data
from ..kernels.functions import dense
from ..solution import Solution
from ..validation import is_sparse
from .canvas import COLORS, CYCLE, axes_of, label_map, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def boundary(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    margins: bool = True,
    proven: Any = None,
) -> Axes:
    """Draw where a classifier decides for which class, with the points that it learned from.

    Parameters
    ----------
    model : Solution or fitted estimator
        For two features; an estimator of several classes has no margins.
    X : array, shape (n, 2), or Data, optional
        Points to draw; those of a solution by default.
    y : array, shape (n,), optional
        Their labels, with the model's marker where unknown (0 for a solution).  Without it all points are drawn as
        unlabelled ones.
    margins : bool, default True
        Whether to draw the lines where the output is -1 and +1, dashed.
    proven : ProvenLabels or bool array, shape (n,), optional
        Points without a label are filled where theirs is proven (:meth:`~convex_tsvm.exact.ExactSolution.proven`, or
        ``proven_`` of an estimator), and hollow elsewhere.

    Examples
    --------
    >>> axes = ct.plot.boundary(ct.TransductiveSVC().fit(points, few), points, few)
    >>> len(axes.collections) > 0
    True
    """
    classes = np.array([-1.0, 1.0]) if isinstance(model, Solution) else np.asarray(model.classes_)
    points, labels = _points(model, classes, X, y)
    ax = axes_of(ax)
    two = (COLORS["negative"], COLORS["positive"])
    colors = [two[k] if len(classes) == 2 else CYCLE[k % len(CYCLE)] for k in range(len(classes))]
    low, high = points.min(axis=0), points.max(axis=0)
    margin, shape = 0.15 * (high - low), (200, 200)
    first, second = (np.linspace(low[k] - margin[k], high[k] + margin[k], shape[k]) for k in (0, 1))
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    outputs = np.asarray(model.decision_function(grid))
    if outputs.ndim == 1:
        values = outputs.reshape(shape)
        ax.contourf(first, second, values, levels=[-np.inf, 0, np.inf], colors=colors, alpha=0.12)
        levels, styles = ([-1, 0, 1], ["--", "-", "--"]) if margins else ([0], ["-"])
        ax.contour(first, second, values, levels=levels, colors="black", linestyles=styles)
    else:
        decided = outputs.argmax(axis=1).reshape(shape)
        ax.contourf(first, second, decided, levels=np.arange(len(classes) + 1) - 0.5, colors=colors, alpha=0.15)
        ax.contour(first, second, decided, levels=np.arange(len(classes) - 1) + 0.5, colors="black")
    unknown = labels < 0
    found = np.searchsorted(classes, model.predict(points[unknown])) if unknown.any() else np.zeros(0, dtype=int)
    _unlabelled(ax, points, unknown, np.array([colors[k] for k in found], dtype=object), proven)
    markers = "s^oDvP*X"
    for k, name in enumerate(classes):
        known = points[labels == k]
        told = f"labelled {name:+g}" if isinstance(model, Solution) else f"labelled {name}"
        if len(known):
            look: dict[str, Any] = {"color": colors[k], "marker": markers[k % len(markers)], "edgecolors": "black"}
            ax.scatter(known[:, 0], known[:, 1], s=90, zorder=3, label=told, **look)
    ax.set(xlabel="feature 1", ylabel="feature 2")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")
    return ax


def _unlabelled(ax: Axes, points: Any, unknown: NDArray[np.bool_], shown: NDArray[Any], proven: Any) -> None:
    """Draw points without a label in their colours, filled or, where they are not proven, hollow."""
    settled = np.ones(len(points), dtype=bool)
    if proven is not None:
        settled = np.asarray(getattr(proven, "labels", proven)) != 0
        if settled.shape != (len(points),):
            raise ValueError(f"proven has shape {settled.shape}; it must be {(len(points),)}, one entry a point")
    for full in (True, False):
        own = unknown & (settled == full)
        if own.any():
            color = shown[settled[unknown] == full].tolist()
            # In square points: few points are larger, many do not hide each other.
            size, name = (np.clip(600 / len(points), 12, 48), "proven") if full else (36, "open")
            look: dict[str, Any] = {"c": color, "alpha": 0.6} if full else {"facecolors": "none", "edgecolors": color}
            ax.scatter(points[own, 0], points[own, 1], s=size, label=name if proven is not None else None, **look)


def _points(
    model: Any, classes: NDArray[Any], X: Any, y: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Points to draw, and the indices of their labels among the classes, -1 where a label is not among them."""
    if isinstance(X, Data):
        X, y = X.X, X.y
    elif X is None and isinstance(model, Solution):
        X, y = model.problem.X, model.problem.y
    if X is None:
        raise ValueError("X=None: an estimator does not keep its points; pass them, and y")
    points = dense(X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X has shape {points.shape}; a boundary is drawn for points of two features")
    if y is None:
        return points, np.full(len(points), -1)
    given = np.asarray(y)
    if given.shape != (len(points),):
        raise ValueError(f"y has shape {given.shape}; it must be {(len(points),)}, one label a point")
    same = given[:, None] == classes
    return points, np.where(same.any(axis=1), same.argmax(axis=1), -1)


def label_matrix(matrix: ArrayLike, labels: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a label matrix Γ, in labellings Γ = y yᵀ: red where two points have the same label, blue where not.

    Parameters
    ----------
    matrix : array, shape (n, n), or (n,)
        Entries in [-1, 1]; a vector of labels stands for y yᵀ.
    labels : array, shape (n,), optional
        By which points are sorted; by default the entries of the eigenvector with the largest eigenvalue.

    Examples
    --------
    >>> labels = np.array([1.0, -1.0, 1.0])
    >>> axes = ct.plot.label_matrix(np.outer(labels, labels), labels)
    >>> len(axes.images)
    1
    """
    values = np.asarray(matrix, dtype=float)
    values = np.outer(values, values) if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"matrix has shape {values.shape}; it must be square, or a vector")
    keys = np.linalg.eigh((values + values.T) / 2)[1][:, -1] if labels is None else np.asarray(labels, dtype=float)
    if keys.shape != (len(values),):
        raise ValueError(f"labels has shape {keys.shape}; it must be {(len(values),)}")
    order = np.argsort(keys, kind="stable")
    ax = axes_of(ax, (5.0, 4.2))
    drawn = ax.imshow(values[np.ix_(order, order)], cmap=label_map(), vmin=-1, vmax=1, interpolation="nearest")
    figure: Any = ax.get_figure()
    figure.colorbar(drawn, ax=ax, label="entry of Γ")
    ax.set(xlabel="points, sorted", ylabel="points, sorted")
    return ax


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
