"""The losses of a formulation: their values near their domains, their envelopes, and whether they are about labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import PLQ, BetterLabel, Loss
from ..problem import Array

#: How far an output may be outside the domain of a loss, which is a constraint, and still count as inside.
DOMAIN_TOLERANCE = 1e-6


def envelope(loss: Loss) -> Loss | None:
    """The convex envelope of a loss; None if it is not known."""
    if getattr(loss, "is_convex", False):
        return loss
    if not isinstance(loss, PLQ) or np.isinf(loss.minimizers()[0]):
        return None
    return loss.envelope()


def value(loss: Loss, t: Array) -> Array:
    """A loss at some outputs; just outside its domain it is that at the end."""
    if isinstance(loss, BetterLabel):
        return np.minimum(value(loss.loss, t), value(loss.loss, -t))
    # This is asked for every point of a descent, where a check against a protocol would take longer than the values.
    split = getattr(loss, "split", None)
    convex = None if split is None else split()[0]
    if convex is None or convex.is_finite:
        return loss(t)
    inside = np.clip(t, *convex.domain)
    return loss(np.where(np.abs(t - inside) <= DOMAIN_TOLERANCE, inside, t))


def _never_increases(loss: PLQ) -> bool:
    a, b, _ = loss.pieces[-1]
    return bool(a == 0 and b <= 0 if np.isinf(loss.upper) else 2 * a * loss.upper + b <= 0)


def label_loss(formulation: Any, compared: bool) -> tuple[PLQ, float]:
    """See :meth:`Formulation.label_loss`."""
    labeled, unlabeled = formulation.labeled, formulation.unlabeled
    if formulation.groups:
        raise ValueError(
            f"groups={list(formulation.groups)!r}: searches for labels know no other points than unlabelled ones"
        )
    if unlabeled is None:
        raise ValueError(
            "the formulation has no loss for unlabelled points; there is nothing to relax, and no label to be found"
        )
    name = getattr(unlabeled, "name", "") or repr(unlabeled)
    if not (isinstance(labeled, PLQ) and labeled.is_convex and _never_increases(labeled)):
        raise ValueError(f"labeled={labeled!r}: labels are searched for with a convex PLQ loss that never increases")
    if isinstance(unlabeled, BetterLabel) and unlabeled.loss.isclose(labeled):
        if compared:
            raise ValueError(
                f"labeled={labeled.name or labeled!r} is infinite for one label of each point, so that labels "
                "cannot be compared at given outputs; relaxations and exact search take it"
            )
        return labeled, 0.0
    better = labeled.minimum(labeled.reflect()) if labeled.is_finite else None
    wrong = "is no finite PLQ loss"
    if isinstance(unlabeled, PLQ) and better is not None:
        constant = float(unlabeled(0.0) - better(0.0))
        if unlabeled.isclose(better + constant):
            return labeled, constant
        wrong = "is not the loss min(ℓ(f), ℓ(-f)) of a point with a label to be found"
    raise ValueError(
        f"unlabeled={name} {wrong}; searches for labels (relaxations, exact search, switching, annealing) are for "
        "symmetric_hinge beside hinge (loss='hinge'), symmetric_squared_hinge beside squared_hinge "
        "(loss='squared_hinge'), better_label(indicator(1, inf)) beside indicator(1, inf) (loss='hard_margin'), "
        "and the like"
    )
