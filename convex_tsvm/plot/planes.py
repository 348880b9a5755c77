"""The decision boundary of a classifier among points of two dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data import Data
from ..kernels.functions import dense
from ..solution import Solution
from .canvas import COLORS, CYCLE, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Raises
    ------
    ValueError
        If there are no points, they have not two features, or ``proven`` is not of as many.

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
            size, name = (12, "proven") if full else (36, "open")
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
