"""What is proven about a box, one step after the other: each proof makes a bound and a smaller box of a box.

A proof is applied by arithmetic alone: this is what a check repeats.  What is proven is proven for its numbers as they
are stored; those that need no more are in single precision.  docs/certificate.rst says what each kind claims.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..problem import Array


def single(values: Array) -> np.ndarray:
    """Values in single precision, as they are stored; those too large for it become the largest that it has."""
    most = float(np.finfo(np.float32).max)
    return np.clip(values, -most, most).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Stored:
    """A proof as numbers: a vector; the number of the multipliers that it uses, or of a point; a share; a lift."""

    vector: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    number: int = -1
    share: float = 0.0
    lift: float = 0.0


class Proof(ABC):
    """One step of what is proven about a box; reports and files call its kind by its ``name``.

    A class of one's own works in a search like ours.  It has a part in files if it has :meth:`store` and :meth:`read`;
    the checker passes over kinds that it has no part for, and says so.
    """

    name: ClassVar[str]

    #: Every kind that there is, by its name.
    kinds: ClassVar[dict[str, type[Proof]]] = {}

    #: Whether it may make the box smaller; one that does not is needed where its ``bound`` is the best one.
    narrows: ClassVar[bool] = True

    #: Whether ``number`` is that of multipliers.
    has_multipliers: ClassVar[bool] = False
    number: int
    bound: float

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in cls.__dict__:
            Proof.kinds[cls.name] = cls

    @abstractmethod
    def apply(self, model: Any, box: Any, cutoff: float) -> tuple[float, Any]:
        """A bound for a box of a :class:`BoundModel`, and the smaller box of all its solutions below the cutoff."""

    def store(self) -> Stored:
        """The numbers from which :meth:`read` makes the proof again; none, for a kind that no file has."""
        return Stored()

    @staticmethod
    def read(stored: Stored) -> Proof:
        """The proof from its stored numbers."""
        raise ValueError("this kind of proof is not stored")

    def renumbered(self, first: int, shift: int) -> Proof:
        """The same proof after the multipliers with numbers from ``first`` on were renumbered by ``shift``."""
        if not self.has_multipliers or self.number < first:
            return self
        return replace(self, number=self.number + shift)  # type: ignore[type-var]
