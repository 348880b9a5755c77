"""Pictures of losses, their convex and concave parts, and their conjugates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..losses import PLQ, Loss, SplitLoss
from .canvas import COLORS, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def loss(
    loss: Loss, *, at: float | None = None, ax: Axes | None = None, span: tuple[float, float] = (-2.5, 2.5)
) -> Axes:
    """Draw a loss, its convex and its concave part, and what CCCP puts in its place.

    Parameters
    ----------
    loss : Loss
        Any loss; one that does not split is drawn alone.
    at : float, optional
        Where the tangent of the concave part is taken: draws it, and convex part plus tangent, the surrogate, which
        touches the loss there and is nowhere below it.
    span : (float, float), default (-2.5, 2.5)
        Ends of the axis of outputs.

    Raises
    ------
    ValueError
        If ``at`` is given for a loss that has no concave part.

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
    ax.set(xlabel="output f", ylabel="loss", xlim=span)
    ax.legend(fontsize="small")
    return ax


def conjugate(loss: PLQ, *, ax: Axes | None = None) -> Axes:
    """Draw the conjugate of a convex loss, ℓ*(s) = max over t of s t - ℓ(t): what its points have in the dual.

    Parameters
    ----------
    loss : PLQ
        Convex; the convex part of another (``loss.split()[0]``).

    Raises
    ------
    ValueError
        If the loss is not convex.

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
    ax.set(xlabel="slope s", ylabel="conjugate", xlim=(low - 0.2, high + 0.2))
    ax.legend(fontsize="small")
    return ax


def _finite(values: Any) -> Any:
    """Values, with gaps in place of infinite ones."""
    return np.where(np.isfinite(values), values, np.nan)
