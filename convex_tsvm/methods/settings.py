"""What users set, whatever the method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
