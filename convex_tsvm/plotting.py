"""Pictures: decision boundaries of two-dimensional data, and what happens along the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .data import Data
from .exact import ExactSolution
from .solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .selection.curves import LearningCurve
    from .selection.search import TransductiveSearchCV
    from .selection.shares import SharePath

#: Trees of up to so many nodes are drawn.
SMALL_TREE = 200

LABELED = {1.0: ("tab:red", "^"), -1.0: ("tab:blue", "s")}


def plot_comparison(data: Data, solutions: Mapping[str, Solution]) -> Figure:
    """One picture of several solutions: boundaries where the points are two-dimensional, else iterations."""
    if data.X.shape[1] == 2 and not sp.issparse(data.X):
        figure: Figure = plot_boundaries(data, solutions)
        return figure
    return plot_iterations(data, solutions)


def plot_boundaries(data: Data, solutions: Mapping[str, Solution], figure: Any = None) -> Any:
    """Decision boundary (solid) and margins (dashed) of each solution, one panel each, in a figure or part of one."""
    figure = _figure(len(solutions)) if figure is None else figure
    low, high = data.X.min(axis=0), data.X.max(axis=0)
    margin = 0.15 * (high - low)
    axes_x, axes_y = (np.linspace(low[k] - margin[k], high[k] + margin[k], 150) for k in (0, 1))
    grid = np.stack(np.meshgrid(axes_x, axes_y), axis=-1)
    for place, (name, solution) in enumerate(solutions.items()):
        axes = figure.add_subplot(1, len(solutions), place + 1)
        outputs = solution.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        axes.contourf(axes_x, axes_y, outputs, levels=[-np.inf, 0, np.inf], colors=["tab:blue", "tab:red"], alpha=0.12)
        axes.contour(axes_x, axes_y, outputs, levels=[-1, 0, 1], colors="black", linestyles=["--", "-", "--"])
        unlabeled = data.y == 0
        colors = np.where(solution.labels[unlabeled] > 0, "tab:red", "tab:blue")
        axes.scatter(data.X[unlabeled, 0], data.X[unlabeled, 1], c=colors, s=12, alpha=0.6)
        for sign, (color, marker) in LABELED.items():
            points = data.X[data.y == sign]
            axes.scatter(points[:, 0], points[:, 1], c=color, marker=marker, s=90, edgecolors="black", zorder=3)
        error = data.error(solution.labels)
        axes.set_title(name if error is None else f"{name}: {100 * error:.1f} % error")
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def plot_iterations(data: Data, solutions: Mapping[str, Solution]) -> Figure:
    """Objective and error on the unlabelled points along the steps (collobert2006 Figure 4)."""
    from matplotlib.ticker import MaxNLocator

    figure = _figure(2)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    styles = ["-", "--", ":", "-."]
    for place, (name, solution) in enumerate(solutions.items()):
        # Solvers that agree draw the same line: growing hollow markers keep each of them visible.
        marker = {"marker": "o", "markersize": 4 + 4 * (place % 4), "markerfacecolor": "none"}
        style: dict[str, Any] = {"linestyle": styles[place % 4], "label": name, **marker}
        if len(solution.history) > 1:
            steps = range(1, len(solution.history) + 1)
            style["markevery"] = max(1, len(steps) // 12)  # of a long path the markers would be all that is seen
            left.plot(steps, [iteration.objective for iteration in solution.history], **style)
            outputs = [iteration.outputs for iteration in solution.history if iteration.outputs is not None]
            errors = [data.error(np.where(f >= 0, 1.0, -1.0)) for f in outputs]
            if errors and errors[0] is not None:
                right.plot(steps, [100 * (error or 0.0) for error in errors], **style)
        else:
            # A convex problem takes one step: its error is a level to compare with.
            error = data.error(solution.labels)
            if error is not None:
                right.axhline(100 * error, color="gray", linestyle=styles[place % 4], label=name)
    left.set(xlabel="step", ylabel="objective")
    right.set(xlabel="step", ylabel="error on unlabelled points, %")
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    figure.suptitle(data.name)
    return figure


def plot_share_path(path: SharePath) -> Figure:
    """What shares are chosen by, and the objective, along a path of them, one panel a class; the choice is dashed."""
    shown, name = path.left_out_error, "error at labels left out"
    if shown is None:
        shown, name = path.labeled_loss, "loss of the labelled points"
    figure = _figure(len(path.positives))
    for row, k in enumerate(path.positives):
        axes = figure.add_subplot(1, len(path.positives), row + 1)
        axes.plot(path.tried, shown[row], "o-", markersize=3, label=name)
        axes.axvline(path.chosen[row], linestyle="--", color="gray")
        other = axes.twinx()
        other.plot(path.tried, path.objective[row], color="tab:orange", label="objective")
        axes.set(xlabel="share asked for", title=f"class {path.classes[k]}")
        if row == 0:
            axes.set(ylabel=f"{name} (blue)")
        if row == len(path.positives) - 1:
            other.set(ylabel="objective (orange)")
    return figure


def plot_learning_curve(curve: LearningCurve) -> Figure:
    """Errors over the number of labels, mean and standard error over the draws, of both classifiers."""
    figure = _figure(1)
    axes = figure.add_subplot(1, 1, 1)
    for errors, name in ((curve.supervised_errors, "supervised"), (curve.errors, "semi-supervised")):
        spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]) if errors.shape[1] > 1 else None
        axes.errorbar(curve.n_labeled, 100 * errors.mean(axis=1), None if spread is None else 100 * spread,
                      marker="o", capsize=3, label=name)  # fmt: skip
    axes.set(xlabel="labels", ylabel="error on the other points, %", xscale="log", ylim=(0, None))
    axes.set_xticks(curve.n_labeled, [str(n) for n in curve.n_labeled])
    axes.minorticks_off()
    axes.legend()
    return figure


def plot_candidates(search: TransductiveSearchCV, parameter: str = "C") -> Figure:
    """Scores of a search over one parameter, a line for each combination of the others; hollow where dropped."""
    figure = _figure(2)
    axes = figure.add_subplot(1, 1, 1)
    results = search.cv_results_
    if f"param_{parameter}" not in results:
        names = [name.removeprefix("param_") for name in results if name.startswith("param_")]
        raise ValueError(f"parameter={parameter!r} must be one of those searched, {', '.join(names)}")
    others_searched = {name for own in results["params"] for name in own if name != parameter}
    varying = {name for name in others_searched if len({repr(own.get(name)) for own in results["params"]}) > 1}
    lines: dict[str, list[int]] = {}
    for i, own in enumerate(results["params"]):
        others = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in own.items() if k in varying}
        lines.setdefault(", ".join(f"{k} = {v}" for k, v in others.items()), []).append(i)
    for place, (name, members) in enumerate(lines.items()):
        members.sort(key=lambda i: float(results[f"param_{parameter}"][i]))
        x, y = results[f"param_{parameter}"][members].astype(float), results["mean_test_score"][members]
        whole = results["n_splits"][members] == results["n_splits"].max()
        color = f"C{place % 10}"
        axes.plot(x, y, color=color, label=name)
        axes.scatter(x, y, s=25, color=color, facecolors=[color if w else "white" for w in whole], zorder=3)
    axes.axhline(search.best_score_, linestyle="--", color="gray", linewidth=0.8)
    axes.set(xlabel=parameter, ylabel="share of labelled points left out that are right")
    if (results[f"param_{parameter}"].astype(float) > 0).all():
        axes.set_xscale("log")
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.02, 0.5))  # beside: there may be many lines
    return figure


def plot_search(solution: ExactSolution) -> Figure:
    """Objective and lower bound along an exact search, and its tree where it is small: nodes at their bounds."""
    small = 0 < len(solution.tree) <= SMALL_TREE
    figure = _figure(2 if small else 1)
    axes = figure.add_subplot(1, 2 if small else 1, 1)
    nodes = [progress.n_nodes for progress in solution.progress]
    axes.step(nodes, [progress.objective for progress in solution.progress], where="post", label="objective")
    axes.step(nodes, [progress.lower_bound for progress in solution.progress], where="post", label="lower bound")
    axes.set(xlabel="nodes", ylabel="objective", title=f"gap {solution.gap or 0.0:.2e}")
    axes.legend()
    if small:
        _draw_tree(figure.add_subplot(1, 2, 2), solution)
    return figure


def _draw_tree(axes: Any, solution: ExactSolution) -> None:
    """Leaves side by side, their parents above the middle of them; a node is as high as it is near to the root."""
    tree = solution.tree
    below: dict[int, list[int]] = {}
    depth = np.zeros(len(tree), dtype=int)
    for k, record in enumerate(tree):
        below.setdefault(record.parent, []).append(k)
        depth[k] = 0 if record.parent < 0 else depth[record.parent] + 1
    place, n_leaves, order = np.zeros(len(tree)), 0, []
    stack = [k for k, record in enumerate(tree) if record.parent < 0]
    while stack:
        k = stack.pop()
        order.append(k)
        stack.extend(sorted(below.get(k, []), key=lambda child: tree[child].sign))
    for k in order:
        if k not in below:
            place[k], n_leaves = n_leaves, n_leaves + 1
    for k in reversed(order):
        if k in below:
            place[k] = place[below[k]].mean()
    for k, record in enumerate(tree):
        if record.parent >= 0:
            ends = [record.parent, k]
            axes.plot(place[ends], -depth[ends], color="tab:red" if record.sign > 0 else "tab:blue", linewidth=0.8)
    bounds = np.array([min(record.bound, solution.objective) for record in tree])
    closed = np.array([record.variable < 0 for record in tree])
    for where, marker in ((closed, "s"), (~closed, "o")):
        drawn = axes.scatter(place[where], -depth[where], c=bounds[where], marker=marker, s=22, zorder=3,
                             vmin=bounds.min(), vmax=solution.objective)  # fmt: skip
    axes.figure.colorbar(drawn, ax=axes, label="lower bound")
    axes.set(xticks=[], yticks=[], title="the tree: red +1, blue -1, squares closed")


def check_picture(path: str | Path) -> None:
    """Raise ValueError unless the ending of ``path`` is a format that matplotlib writes."""
    formats = _figure(1).canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in formats:
        raise ValueError(f"plot={str(path)!r} must end in one of {', '.join('.' + f for f in sorted(formats))}")


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure; the ending of ``path`` chooses the format."""
    check_picture(path)
    figure.savefig(path, dpi=120)


def _figure(panels: int) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8 * panels, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
