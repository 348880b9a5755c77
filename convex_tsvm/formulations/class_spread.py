"""What points pay for outputs far from the mean output of their class (dai2010 §3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..problem import Array, Problem
from ..validation import finite
from .groups import Addition


@dataclass(frozen=True, eq=False, repr=False)
class ClassSpread(Addition):
    """C₃ Σ_i max(0, |f_i - mean of f over i's class| - ε), for labels that are searched for.

    The means are over labels to be found, so that there is no expression of it in w, b and f.

    Attributes
    ----------
    epsilon, cost : float
        ε and C₃.
    """

    epsilon: float = 0.0
    cost: float = 1.0

    @staticmethod
    def of(epsilon: float, cost: float) -> ClassSpread:
        """The addition for ε and C₃, both >= 0; a ValueError says if they are not."""
        epsilon, cost = finite("epsilon", epsilon, least=0), finite("C_compact", cost, least=0)
        name = f"{cost:g} Σ max(0, |f - mean of f in its class| - {epsilon:g})"
        latex = rf"{cost:g} \sum_i \max(0, |f_i - \bar f_{{y_i}}| - {epsilon:g})"
        return ClassSpread(partial(_refuse, name), name, latex, epsilon=epsilon, cost=cost)

    def placed(self, problem: Problem) -> Addition:
        return self

    def of_labels(self, outputs: Array, labels: Array, error: float = 0.0) -> float:
        """What it is at outputs and labels, or if an ``error`` lowers ε; arrays have shape (n,)."""
        return self.cost * class_spread(outputs, labels, self.epsilon - error)


def _refuse(name: str, *_: Any) -> Any:
    """Say who takes a spread of classes, in the place of an expression."""
    raise ValueError(
        f"additions=[addition({name!r})]: means of classes whose labels are to be found are for exact_search, "
        "brute_force and LowerBoundBuilder (relaxation='svm'), and for the mixed-integer program "
        "modeling.UnrelaxedCompactMargin; compact_margin() is the relaxed machine, which methods take"
    )


def class_spread(outputs: Array, labels: Array, epsilon: float) -> float:
    """Σ_i max(0, |f_i - mean of f over i's class| - ε), the paper's Σ ℓ_c (dai2010 §3)."""
    return float(class_spreads(outputs, labels, epsilon).sum())


def class_spreads(outputs: Array, labels: Array, epsilon: float) -> Array:
    """The terms of :func:`class_spread`, shape (n,)."""
    found = np.zeros(len(outputs))
    for own in (labels > 0, labels < 0):
        if own.any():
            found[own] = np.maximum(0, np.abs(outputs[own] - outputs[own].mean()) - epsilon)
    return found
