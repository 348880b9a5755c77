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
    """One step of what is proven about a box; reports and files call its kind by its ``name``, which no other has.

    A class of one's own works in a search like ours.  Files have its numbers if it has :meth:`store`, and a proof again
    if it has :meth:`read`; the checker passes over kinds that it has no part for, and says so.
    """

    name: ClassVar[str]

    #: Every kind that there is, by its name.
    kinds: ClassVar[dict[str, type[Proof]]] = {}

    #: Whether ``number`` is that of multipliers.
    has_multipliers: ClassVar[bool] = False
    number: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "apply" in cls.__dict__ and not isinstance(cls.__dict__.get("name"), str):
            raise TypeError(f"{cls.__name__} needs a name of its own, a string, as files call this kind of proof by it")
        if "name" in cls.__dict__:
            other = Proof.kinds.setdefault(cls.name, cls)
            # The same class again, of a cell or a module that is run once more, takes the place of the former.
            if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                raise TypeError(f"{cls.__name__}: name={cls.name!r} is that of {other.__module__}.{other.__qualname__}")
            Proof.kinds[cls.name] = cls

    @abstractmethod
    def apply(self, model: Any, box: Any, cutoff: float) -> tuple[float, Any]:
        """A bound for a box of a :class:`BoundModel`, and the smaller box of all its solutions below the cutoff.

        Where there is no solution the box is empty or the bound is inf; it is -inf where nothing is known.
        """

    def store(self) -> Stored:
        """The numbers from which :meth:`read` makes the proof again; none, unless a class has some."""
        return Stored()

    @staticmethod
    def read(stored: Stored) -> Proof:
        """The proof from its stored numbers; without this method a search that goes on keeps the numbers alone."""
        return Unread(stored)

    def renumbered(self, first: int, shift: int) -> Proof:
        """The same proof after the multipliers with numbers from ``first`` on were renumbered by ``shift``."""
        if not self.has_multipliers or self.number < first:
            return self
        return replace(self, number=self.number + shift)  # type: ignore[type-var]


class Unread(Proof):
    """What a file has of a proof whose class reads none: its kind and its numbers, which are written again."""

    name = "unread"

    def __init__(self, stored: Stored, kind: str = name) -> None:
        self.stored, self.name = stored, kind  # type: ignore[misc]

    def apply(self, model: Any, box: Any, cutoff: float) -> tuple[float, Any]:
        return -np.inf, box

    def store(self) -> Stored:
        return self.stored
