"""Pictures of losses and of descents: surrogates in one dimension, and objectives along steps and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formulations import Formulation
from ..instance import Instance
from ..losses import PLQ, Loss, SplitLoss
from ..problem import Problem
from ..solution import Solution
from ..validation import integer
from .canvas import COLORS, axes_of, finished, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def loss(
    loss: Loss, *, at: float | None = None, ax: Axes | None = None, span: tuple[float, float] = (-2.5, 2.5)
) -> Axes:
    """Draw a loss, its convex and its concave part, and what CCCP puts in its place.

    A ValueError says if ``at`` is given for a loss that has no concave part.

    Parameters
    ----------
    loss : Loss
        Any loss; one that does not split is drawn alone.
    at : float, optional
        Where the tangent of the concave part is taken: draws it, and convex part plus tangent, the surrogate, which
        touches the loss there and is nowhere below it.
    span : (float, float), default (-2.5, 2.5)
        Ends of the axis of outputs.

    Examples
    --------
    >>> axes = ct.plot.loss(ct.symmetric_ramp(s=-0.3), at=0.6)
    >>> axes.get_xlabel()
    'output f'
    """
    ax = axes_of(ax)
    t = np.linspace(*span, 801)
    ax.plot(t, _finite(loss(t)), color=COLORS["objective"], linewidth=2.5, label=getattr(loss, "name", "") or "loss")
    if isinstance(loss, SplitLoss):
        convex, concave = loss.split()
        if not getattr(loss, "is_convex", False):
            ax.plot(t, _finite(convex(t)), color=COLORS["convex part"], label="convex part")
            ax.plot(t, _finite(concave(t)), color=COLORS["concave part"], label="concave part")
        if at is not None:
            slope, value = float(concave.supergradient(np.array([at]))[0]), float(concave(at))
            tangent = value + slope * (t - at)
            ax.plot(t, tangent, ":", color=COLORS["concave part"], label=f"tangent at {at:g}")
            ax.plot(t, _finite(convex(t)) + tangent, "--", color=COLORS["surrogate"], label="surrogate")
            ax.plot([at], [float(loss(at))], "o", color=COLORS["surrogate"])
    elif at is not None:
        raise ValueError(f"at={at:g}: {loss!r} has no concave part, of which there would be a tangent")
    ax.axhline(0, color="gray", linewidth=0.6)
    return finished(ax, xlabel="output f", ylabel="loss", xlim=span)


def conjugate(loss: PLQ, *, ax: Axes | None = None) -> Axes:
    """Draw the conjugate of a convex loss, ℓ*(s) = max over t of s t - ℓ(t): what its points have in the dual.

    Parameters
    ----------
    loss : PLQ
        Convex; the convex part of another (``loss.split()[0]``).

    Examples
    --------
    >>> axes = ct.plot.conjugate(ct.hinge())
    >>> axes.get_xlabel()
    'slope s'
    """
    if not loss.is_convex:
        raise ValueError(f"{loss!r} is not convex; its convex part has a conjugate, loss.split()[0]")
    ax, conjugate = axes_of(ax), loss.conjugate()
    low, high = max(conjugate.lower, -3.0), min(conjugate.upper, 3.0)
    s = np.linspace(low, high, 401)
    ax.plot(s, conjugate(s), color=COLORS["conjugate"], linewidth=2, label=f"conjugate of {loss.name or 'the loss'}")
    for end in (conjugate.lower, conjugate.upper):
        if np.isfinite(end):
            ax.axvline(end, color="gray", linestyle=":", linewidth=0.8)
    return finished(ax, xlabel="slope s", ylabel="conjugate", xlim=(low - 0.2, high + 0.2))


def _finite(values: Any) -> Any:
    """Values, with gaps in place of infinite ones."""
    return np.where(np.isfinite(values), values, np.nan)


def surrogates(
    formulation: Formulation,
    problem: Problem,
    *,
    start: float,
    n_steps: int = 3,
    span: tuple[float, float] = (-3.0, 3.0),
    ax: Axes | None = None,
) -> Axes:
    """Draw an objective of one weight w, and the surrogates of CCCP one after the other.

    Each surrogate touches the objective at a point (a disc with its number), is nowhere below it, and has its minimum
    where the next one touches; a star is where the last has its minimum.  A ValueError says if there is more to be
    found than one weight.

    Parameters
    ----------
    formulation : Formulation
        Without bias and balance: f(x) = w x.
    problem : Problem
        Points of one feature, with a linear kernel.
    start : float
        The w where the first tangents are taken.
    span : (float, float), default (-3.0, 3.0)
        Ends of the axis of w.

    Examples
    --------
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10, balance=None)
    >>> model = ct.cccp_tsvm(balance=None, fit_intercept=False)
    >>> axes = ct.plot.surrogates(model, problem, start=-0.5)
    >>> axes.get_xlabel()
    'w'
    """
    if problem.X.shape[1] != 1 or not problem.is_linear or formulation.fit_intercept:
        raise ValueError("problem must have one feature and a linear kernel, and formulation fit_intercept=False")
    instance = Instance(formulation, problem)
    if instance.target is not None or not formulation.regularizer.is_squared_norm:
        raise ValueError("formulation must have no balance (balance=None) and the regularizer 'l2'")
    ax, w = axes_of(ax, (9.6, 4.6)), np.linspace(*span, 2001)
    X = np.asarray(problem.X, dtype=float).ravel()
    objective = np.array([instance.objective(X * one, 0.5 * one**2) for one in w])
    ax.plot(w, objective, color=COLORS["objective"], linewidth=3, label="objective")
    current, top = float(start), objective.max()
    for number, color in enumerate(shades(integer("n_steps", n_steps, least=1))):
        step = instance.step(X * current)
        constant = instance.tangents_at_zero(X * current, problem.cost)
        values = np.array([0.5 * one**2 + step.loss_value(X * one) + constant for one in w])
        ax.plot(w, values, color=color, linewidth=1.8, label=f"surrogate {number + 1},\nfrom w = {current:.2f}")
        touched = instance.objective(X * current, 0.5 * current**2)
        ax.plot([current], [touched], "o", color=color, markeredgecolor="black", zorder=4)
        ax.annotate(f"{number + 1}", (current, touched), xytext=(0, 8), textcoords="offset points", ha="center")
        current = float(w[values.argmin()])
    ended = instance.objective(X * current, 0.5 * current**2)
    ax.plot([current], [ended], "*", color="black", markersize=14, zorder=5)
    low = objective.min()
    ax.set(xlabel="w", ylabel="objective", xlim=span, ylim=(low - 0.05 * (top - low), top + 0.1 * (top - low)))
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))  # beside: the curves are everywhere
    return ax


def path(
    solutions: Any, *, along: Sequence[float] | None = None, parameter: str = "C*", ax: Axes | None = None
) -> Axes:
    """Draw objectives along the steps of methods, or along a parameter.

    Parameters
    ----------
    solutions : Solution, fitted estimator, mapping of str to either, sequence of Solution, or SolutionPath
        A sequence is drawn along ``along``; of a :class:`~convex_tsvm.methods.paths.SolutionPath` the outputs of all
        points are, along the parameter; all others along their steps.
    along : sequence of float, optional
        The value of the parameter for each solution of a sequence.
    parameter : str, default "C*"
        Its name, for the axis.

    Examples
    --------
    >>> solution = ct.cccp(ct.cccp_tsvm(), problem, annealing=5)
    >>> axes = ct.plot.path(solution)
    >>> axes.get_ylabel()
    'objective'
    """
    ax = axes_of(ax)
    if hasattr(solutions, "jumps"):
        ax.plot(solutions.values, solutions.outputs, color="0.3", linewidth=0.6)
        ax.set(xlabel=parameter, ylabel="output f")
        return ax
    if along is not None:
        if isinstance(solutions, Mapping) or len(along) != len(solutions):
            raise ValueError(f"along has {len(along)} values; there must be a sequence of as many solutions")
        ax.plot(along, [one.objective for one in solutions], "o-", color=COLORS["objective"], label="objective")
        bounds = [one.lower_bound for one in solutions]
        if all(bound is not None for bound in bounds):
            ax.plot(along, bounds, "o--", color=COLORS["lower bound"], label="lower bound")
        if min(along) > 0 and max(along) > 20 * min(along):
            ax.set_xscale("log")
        return finished(ax, xlabel=parameter, ylabel="objective")
    named = dict(solutions) if isinstance(solutions, Mapping) else {"": solutions}
    for name, one in named.items():
        solution: Solution = one if isinstance(one, Solution) else one.solutions_[0]
        label = name or solution.formulation.name or "objective"
        steps = np.arange(1, len(solution.history) + 1)
        ax.plot(steps, [iteration.objective for iteration in solution.history], "o-", markersize=4, label=label)
    return finished(ax, xlabel="step", ylabel="objective")
