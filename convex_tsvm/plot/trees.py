"""Pictures of exact search, of relaxations, and of what is chosen with few labels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exact import ExactSolution
from .canvas import COLORS, CYCLE, axes_of, finished, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..relaxations import Bound
    from ..selection.comparison import LearningCurve
    from ..selection.search import TransductiveSearchCV


def search(solution: ExactSolution) -> Figure:
    """Objective and lower bound along an exact search, and its tree where it is small, side by side.

    Examples
    --------
    >>> figure = ct.plot.search(ct.exact_search(ct.s3vm(), problem))
    >>> len(figure.axes) >= 1
    True
    """
    small = 0 < len(solution.tree) <= 200
    figure = new_figure(2 if small else 1)
    progress(solution, ax=figure.add_subplot(1, 2 if small else 1, 1))
    if small:
        tree(solution, ax=figure.add_subplot(1, 2, 2))
    return figure


def progress(solution: ExactSolution, *, ax: Axes | None = None) -> Axes:
    """Objective of the best labelling and lower bound over the nodes of an exact search, from the root on.

    Examples
    --------
    >>> axes = ct.plot.progress(ct.exact_search(ct.s3vm(), problem))
    >>> axes.get_xlabel()
    'nodes'
    """
    ax = axes_of(ax)
    nodes = [0, *(progress.n_nodes for progress in solution.progress)]
    best = [progress.objective for progress in solution.progress] or [solution.objective]
    bounds = [solution.root_bound, *(progress.lower_bound for progress in solution.progress)]
    ax.step(nodes, [best[0], *best][: len(nodes)], where="post", color=COLORS["objective"], label="best objective")
    finite = np.where(np.isfinite(bounds), bounds, np.nan)
    ax.step(nodes, finite, where="post", color=COLORS["lower bound"], label="lower bound")
    return finished(ax, xlabel="nodes", ylabel="objective", title=f"gap {solution.gap or 0.0:.2e}")


def gaps(bounds: Bound | Mapping[str, float], objective: float | None = None, *, ax: Axes | None = None) -> Axes:
    """Lower bounds of one relaxation after the other, as a staircase towards the best objective known.

    Parameters
    ----------
    bounds : Bound or mapping of str to float
        What a :class:`~convex_tsvm.LowerBoundBuilder` found, or bounds by the names of relaxations, the weakest first.
    objective : float, optional
        The best objective known; that of the ``Bound`` by default.

    Examples
    --------
    >>> axes = ct.plot.gaps(ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="signs").bound())
    >>> axes.get_ylabel()
    'objective'
    """
    if isinstance(bounds, Mapping):
        names, values = list(bounds), [float(value) for value in bounds.values()]
    else:
        names, values = [stage.name for stage in bounds.stages], [stage.bound for stage in bounds.stages]
        objective = bounds.upper if objective is None else objective
    if not names:
        raise ValueError("bounds is empty; there is nothing to draw")
    # A relaxation that is made anew in every round has several bounds; each name has the same width nevertheless.
    ax, runs = axes_of(ax, (7.2, 4.4)), [(name, len(list(own))) for name, own in itertools.groupby(names)]
    widths = [1 / count for _, count in runs for _ in range(count)]
    edges = np.cumsum([0.0, *widths])
    look: dict[str, Any] = {"color": COLORS["lower bound"], "linewidth": 2}
    ax.stairs(values, edges, baseline=None, label="lower bound", **look)
    if objective is not None and np.isfinite(objective):
        ax.axhline(objective, color=COLORS["objective"], linestyle="--", label="best objective known")
        for end in np.cumsum([count for _, count in runs]):
            value = values[end - 1]
            gap = (objective - value) / max(abs(objective), 1e-300)
            side = {"va": "bottom"} if gap > 0.1 else {"va": "top", "xytext": (0, -3), "textcoords": "offset points"}
            at = (edges[end - 1] + edges[end]) / 2  # of the last round, whose step is free below
            ax.annotate(f"{gap:.1%}", (at, value), ha="center", **side)
    shown = [f"{name}\n{count} rounds" if count > 1 else name for name, count in runs]
    ax.set_xticks(np.arange(len(runs)) + 0.5, shown)
    ax.set(xlabel="relaxation", ylabel="objective")
    ax.legend(fontsize="small", loc="lower right")
    return ax


def tree(solution: ExactSolution, *, ax: Axes | None = None) -> Axes:
    """The tree of an exact search: an edge is the label of a point, orange-red for +1, blue for -1; squares are closed.

    Leaves are side by side, their parents above the middle of them; where there is room, a node has the name of its
    variable, the label of the point that is branched on: y7 is that of the point with index 7.

    Parameters
    ----------
    solution : ExactSolution
        Of up to some hundred nodes.

    Examples
    --------
    >>> own = ct.Problem([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]], [-1, 0, 0, 0, 0, 1], balance=None)
    >>> solution = ct.exact_search(ct.s3vm(balance=None), own, bounds="svm")
    >>> axes = ct.plot.tree(solution)
    >>> len(axes.lines) == len(solution.tree) - 1  # an edge to every node but the root
    True
    """
    if not solution.tree:
        raise ValueError("the search ended without a tree: there is nothing to draw")
    ax = axes_of(ax, (6.4, 4.4))
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
            ax.plot(place[ends], -depth[ends], color=COLORS["positive" if record.sign > 0 else "negative"])
    bounds = np.array([min(record.bound, solution.objective) for record in tree])
    closed = np.array([record.variable < 0 for record in tree])
    for where, marker in ((closed, "s"), (~closed, "o")):
        drawn = ax.scatter(place[where], -depth[where], c=bounds[where], marker=marker, s=22, zorder=3,
                             vmin=bounds.min(), vmax=solution.objective)  # fmt: skip
    if len(tree) <= 60:  # in a larger tree the names of points would lie over each other
        for k in np.flatnonzero(~closed).tolist():
            ax.annotate(f"y{tree[k].variable}", (place[k], -depth[k]), xytext=(4, 4), textcoords="offset points",
                        fontsize="small")  # fmt: skip
    figure: Any = ax.get_figure()
    figure.colorbar(drawn, ax=ax, label="lower bound")
    ax.set(xticks=[], yticks=[], ylabel="labels that are fixed, from the root down",
           title="orange-red +1, blue -1, squares closed")  # fmt: skip
    return ax


def learning_curve(curve: LearningCurve, *, ax: Axes | None = None) -> Axes:
    """Errors over the number of labels, mean and standard error over the draws, of both classifiers.

    Examples
    --------
    >>> curve = ct.selection.learning_curve(ct.TransductiveSVC(), points, truth, n_labeled=(4, 8), n_draws=2)
    >>> axes = ct.plot.learning_curve(curve)
    >>> axes.get_xlabel()
    'labels'
    """
    axes = axes_of(ax)
    for errors, name in ((curve.supervised_errors, "supervised"), (curve.errors, "semi-supervised")):
        spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]) if errors.shape[1] > 1 else None
        look: dict[str, Any] = {"marker": "o", "capsize": 3, "label": name, "color": COLORS[name]}
        axes.errorbar(curve.n_labeled, 100 * errors.mean(axis=1), None if spread is None else 100 * spread, **look)
    axes.set(xlabel="labels", ylabel="error on the other points, %", xscale="log", ylim=(0, None))
    axes.set_xticks(curve.n_labeled, [str(n) for n in curve.n_labeled])
    axes.minorticks_off()
    axes.legend()
    return axes


def candidates(search: TransductiveSearchCV, parameter: str = "C", *, ax: Axes | None = None) -> Axes:
    """Scores of a search over one parameter, a line for each combination of the others; hollow where dropped.

    Parameters
    ----------
    search : TransductiveSearchCV
        Fitted.
    parameter : str, default "C"
        One of those searched, a number.

    Examples
    --------
    >>> grid = {"C": [1, 10], "sigma": [1.0, 2.0]}
    >>> search = ct.TransductiveSearchCV(param_grid=grid, cv=2).fit(points, few)
    >>> axes = ct.plot.candidates(search, "C")
    >>> axes.get_xlabel()
    'C'
    """
    axes = axes_of(ax, (9.6, 4.2))
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
    drawn: dict[tuple[Any, ...], list[str]] = {}  # what is drawn, by the names of the lines that coincide
    for name, members in lines.items():
        members.sort(key=lambda i: float(results[f"param_{parameter}"][i]))
        x, y = results[f"param_{parameter}"][members].astype(float), results["mean_test_score"][members]
        whole = results["n_splits"][members] == results["n_splits"].max()
        drawn.setdefault((tuple(x), tuple(y), tuple(whole)), []).append(name)
    for place, ((x, y, whole), names) in enumerate(drawn.items()):
        color, line = CYCLE[place % len(CYCLE)], ("-", "--", ":", "-.")[place // len(CYCLE) % 4]
        axes.plot(x, y, color=color, linestyle=line, label=",\nand ".join(names))
        axes.scatter(x, y, s=25, color=color, facecolors=[color if w else "white" for w in whole], zorder=3)
    axes.axhline(search.best_score_, linestyle="--", color="gray", linewidth=0.8)
    axes.set(xlabel=parameter, ylabel="share right among\nlabels left out")
    if (results[f"param_{parameter}"].astype(float) > 0).all():
        axes.set_xscale("log")
    if any(name for names in drawn.values() for name in names):
        # Beside the axes, as there may be many lines.
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.02, 0.5))
    return axes
