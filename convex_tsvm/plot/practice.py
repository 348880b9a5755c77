"""Pictures for the choice of parameters: shares of classes, searches, learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import COLORS, CYCLE, axes_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..selection.comparison import LearningCurve
    from ..selection.paths import SharePath
    from ..selection.search import TransductiveSearchCV


def share_path(path: SharePath) -> Figure:
    """What shares are chosen by, and the objective, along a path of them, a column a class; the choice is dashed.

    Examples
    --------
    >>> path = ct.selection.share_path(ct.TransductiveSVC(), points, few, shares=(0.3, 0.5, 0.7), cv=2)
    >>> figure = ct.plot.share_path(path)
    >>> len(figure.axes) >= 1
    True
    """
    shown, name = path.left_out_error, "error at labels left out"
    if shown is None:
        shown, name = path.labeled_loss, "loss of the labelled points"
    figure = new_figure(len(path.positives), 2, (3.6, 2.6))
    for row, k in enumerate(path.positives):
        above = figure.add_subplot(2, len(path.positives), row + 1)
        below = figure.add_subplot(2, len(path.positives), len(path.positives) + row + 1, sharex=above)
        above.plot(path.tried, shown[row], "o-", markersize=4, color=COLORS["error"])
        below.plot(path.tried, path.objective[row], "o-", markersize=4, color=COLORS["objective"])
        for axes in (above, below):
            axes.axvline(path.chosen[row], linestyle="--", color="gray")
        above.set(title=f"class {path.classes[k]}")
        below.set(xlabel="share asked for")
        if row == 0:
            above.set(ylabel=name.replace(" at ", "\nat ").replace(" of ", "\nof "))
            below.set(ylabel="objective")
    return figure


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

    Raises
    ------
    ValueError
        If the parameter was not searched.

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
