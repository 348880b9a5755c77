"""What users set, whatever the method, and schedules: the values that a parameter takes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..problem import Array
from ..solution import Iteration
from ..validation import finite, integer

Callback = Callable[[Iteration], None]


@dataclass(frozen=True)
class Settings:
    """What users set, whatever the method.

    Parameters
    ----------
    tol : float, default 1e-3
        Tolerance of the solver, and of what the method compares.
    max_iter : int, default 100
        Limit on the steps of a stage.
    callback : callable, optional
        Called with every :class:`~convex_tsvm.solution.Iteration`.
    time_limit : float > 0, optional
        Seconds, after which the best point so far is returned.

    Examples
    --------
    >>> ct.methods.Settings(tol=1e-6).max_iter
    100
    """

    tol: float = 1e-3
    max_iter: int = 100
    callback: Callback | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        finite("tol", self.tol, above=0)
        integer("max_iter", self.max_iter, least=1)


def annealing_schedule(annealing: int | Sequence[float] | None) -> Array:
    """Increasing factors on C*, the last one 1.

    An int m gives m factors spaced geometrically from 1/1000 (chapelle2008 §5.4.4), None the factor 1 alone; a sequence
    of such factors is taken as it is.  Anything else is a ValueError.
    """
    if annealing is None:
        return np.ones(1)
    if isinstance(annealing, (int, np.integer)) and not isinstance(annealing, bool):
        if annealing >= 1:
            return np.geomspace(1e-3, 1, int(annealing)) if annealing > 1 else np.ones(1)
    else:
        try:
            scales = np.asarray(annealing, dtype=float)
        except (TypeError, ValueError):
            scales = np.zeros(0)
        if scales.ndim == 1 and len(scales) and (scales > 0).all() and (np.diff(scales) > 0).all() and scales[-1] == 1:
            return scales
    raise ValueError(f"annealing={annealing!r} must be None, an integer >= 1, or increasing factors > 0 ending in 1")


def doubling() -> Array:
    """2^(i - 10) for i = 1 ... 10, the factors on C* of ∇S3VM (chapelle2008 §4.2).

    The paper's Table 12 and §5.4.4 say that this schedule starts at 1/1000; its formula starts at 1/512.
    """
    return np.asarray(2.0 ** (np.arange(1, 11) - 10), dtype=float)


def growing(first: float, ratio: float) -> Array:
    """Factors from ``first`` on, each ``ratio`` times the one before, up to 1 (chapelle2008 Algorithm 1)."""
    count = int(np.ceil(np.log(1 / first) / np.log(ratio) - 1e-9))
    return np.append(first * ratio ** np.arange(count), 1.0)


def falling(first: float, cooling: float) -> Iterator[float]:
    """Temperatures from ``first`` on, each that before divided by ``cooling`` (chapelle2008 Algorithm 2).

    The last is a billionth of the first.  Where probabilities are not 0 or 1 by then, both labels cost the same.
    """
    temperature = first
    while temperature > 1e-9 * first:
        yield temperature
        temperature /= cooling


def cooled(first: float, stage: float) -> float:
    """About which share of the temperatures is done at the one of a stage.

    On most data labels are certain at about a thousandth of the first.
    """
    return float(np.log(first / stage) / np.log(1e3)) if 0 < stage < first else float(stage == 0)
