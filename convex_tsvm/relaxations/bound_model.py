"""What bounds are computed with: a formulation on a problem, its boxes, and the multipliers that proofs refer to."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..instance import Instance
from ..problem import Array

Made = TypeVar("Made")


class BoundModel(ABC):
    """What bounds about an instance are computed with; proofs refer to ``multipliers`` by their places."""

    about: ClassVar[str]
    instance: Instance
    n: int

    def __init__(self) -> None:
        self.multipliers: list[Any] = []
        self._made: dict[tuple[Any, ...], Any] = {}
        #: The first box of a search that is not about labels, and its cutoff.
        self.first: tuple[Array, Array, float] | None = None

    @abstractmethod
    def root(self, cutoff: float) -> Any:
        """The box of all solutions with an objective below a cutoff."""

    @abstractmethod
    def halves(self, box: Any, i: int, place: float) -> tuple[Any, Any]:
        """The parts of a box in which output i is below and above a place."""

    @abstractmethod
    def scores(self, box: Any, outputs: Array) -> Array:
        """Outputs of a relaxation as scores of all points of the problem, with what is known in a box."""

    @abstractmethod
    def proven(self, box: Any) -> Array:
        """Labels that every solution in a box has, of all points of the problem; 0 where both are possible."""

    @abstractmethod
    def statement(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What a search is about beside its problem: plain values and arrays; docs/certificate.rst explains them."""

    def stored(self) -> dict[str, Array]:
        """What a search made for itself, which is in its file and which it goes on with."""
        if self.first is None:
            return {}
        low, high, cutoff = self.first
        return {"root_low": low, "root_high": high, "root_cutoff": np.array([cutoff])}

    def read(self, arrays: dict[str, Array]) -> None:
        """Go on with what is stored."""
        if "root_low" in arrays:
            self.first = arrays["root_low"], arrays["root_high"], float(arrays["root_cutoff"][0])

    def why_no_file(self) -> str | None:
        """Why a search is not written to a file, or None if it is."""
        return None

    def keep(self, multipliers: Any) -> int:
        """Keep multipliers, and return their number."""
        self.multipliers.append(multipliers)
        return len(self.multipliers) - 1

    def forget(self, n_kept: int) -> None:
        del self.multipliers[n_kept:]
        self._made = {key: made for key, made in self._made.items() if key[0] < n_kept}

    def made(self, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """What was made before of multipliers, whose number is the key's first entry, or is made now."""
        found: Made = self._made.pop(key) if key in self._made else make()
        self._made[key] = found
        # As many boxes use the same multipliers, what is made of some is kept, up to so many numbers in matrices.
        while len(self._made) > max(1, min(64, 20_000_000 // (3 * self.n**2))):
            del self._made[next(iter(self._made))]
        return found

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_made": {}}

    def fork(self, number: int) -> Any:
        """A copy for a dive beside others, with the multipliers of that number alone, which shares what dives keep."""
        other = copy.copy(self)
        other._made = {}
        other.multipliers = [z if k == number else None for k, z in enumerate(self.multipliers)]
        return other
