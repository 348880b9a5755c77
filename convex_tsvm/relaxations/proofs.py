"""What is proven about a box, one step after the other: each proof makes a bound and a smaller box of a box.

A proof is applied by arithmetic alone: this is what verification repeats.  What is proven is proven for its numbers as
they are stored; those that need no more are in single precision.  docs/certificate.rst says what each kind claims.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..problem import Array
from .box import Box
from .partial_svm import Directions
from .safe_bounds import transduction_bound

if TYPE_CHECKING:
    from .model import BoundModel


def single(values: Array) -> np.ndarray:
    """Values in single precision, as they are stored; those too large for it become the largest that it has."""
    most = float(np.finfo(np.float32).max)
    return np.clip(values, -most, most).astype(np.float32)


NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class Stored:
    """A proof as numbers: a vector; for quadratics the multipliers' number, share and lift; or ends of outputs."""

    vector: np.ndarray
    number: int = -1
    share: float = 0.0
    directions: Directions | None = None
    lift: float = 0.0


class Proof(ABC):
    """One step of what is proven about a box; reports call it by its ``name``."""

    name: str

    @abstractmethod
    def apply(self, model: BoundModel, box: Box, cutoff: float) -> tuple[float, Box]:
        """A bound for a box, and the smaller box of all its solutions below the cutoff."""

    def store(self) -> Stored:
        """The numbers from which :meth:`read` makes the proof again; a proof that no file has needs none."""
        raise NotImplementedError(f"{type(self).__name__} is not stored")

    @staticmethod
    def read(stored: Stored, n: int) -> Proof:
        """The proof from its stored numbers, for n points."""
        raise NotImplementedError("this kind of proof is not stored")

    def holds_for(self, model: BoundModel) -> bool:
        """Whether this kind of proof is valid for the model's formulation, and the multipliers it uses exist."""
        return True

    def renumbered(self, first: int, shift: int) -> Proof:
        """The same proof after the multipliers with numbers from ``first`` on were renumbered by ``shift``."""
        return self


@dataclass(frozen=True, eq=False)
class SVMProof(Proof):
    """γ of the SVM of the labels known (:class:`~convex_tsvm.relaxations.partial_svm.PartialSVM`)."""

    name = "SVM of the known labels"
    gamma: np.ndarray

    def apply(self, model: BoundModel, box: Box, cutoff: float) -> tuple[float, Box]:
        point = model.known.point(box.labels, self.gamma.astype(float))
        return point.value, model.count(box.meet(*model.known.consequences(box.labels, point, cutoff)))

    def store(self) -> Stored:
        return Stored(self.gamma)

    @staticmethod
    def read(stored: Stored, n: int) -> SVMProof:
        return SVMProof(stored.vector)


@dataclass(frozen=True, eq=False)
class DirectionsProof(Proof):
    """Multipliers of the ends of the outputs."""

    name = "ends of outputs"
    directions: Directions

    def apply(self, model: BoundModel, box: Box, cutoff: float) -> tuple[float, Box]:
        return -np.inf, model.count(box.meet(*model.svm.directional_box(box.labels, self.directions, cutoff)))

    def store(self) -> Stored:
        return Stored(NO_VECTOR, directions=self.directions)

    @staticmethod
    def read(stored: Stored, n: int) -> DirectionsProof:
        if stored.directions is None:
            raise ValueError("a stored proof of ends of outputs has no directions")
        return DirectionsProof(stored.directions)

    def holds_for(self, model: BoundModel) -> bool:
        return model.has_quadratic and not model.svm.free_bias and bool((self.directions.theta != 0).all())


@dataclass(frozen=True, eq=False)
class SignsProof(Proof):
    """Kept multipliers (by number), a convex quadratic that is made of them, and the point whose tangent is the bound.

    ``share`` is the share of the multipliers that is taken; ``lift`` is added to the diagonal of the form for signs,
    and a share of it for outputs: the bound is lower by it, and the ellipsoid of what is below the cutoff is narrower.
    ``x`` has the outputs, and then the signs (:class:`~convex_tsvm.relaxations.signs.quadratic.SignQuadratic`).
    """

    name = "signs"
    number: int
    share: float
    x: np.ndarray
    lift: float = 0.0

    def apply(self, model: BoundModel, box: Box, cutoff: float) -> tuple[float, Box]:
        if not model.multipliers_of(self.number).hold_in(box.low, box.high):
            return -np.inf, box
        quadratic = model.sign_quadratic(self.number, self.share, self.lift)
        bound, low, high = quadratic.consequences(box.low, box.high, self.x.astype(float), cutoff)
        return bound, model.count(box.meet(low, high))

    def store(self) -> Stored:
        return Stored(self.x, self.number, self.share, lift=self.lift)

    @staticmethod
    def read(stored: Stored, n: int) -> SignsProof:
        return SignsProof(stored.number, stored.share, stored.vector, stored.lift)

    def holds_for(self, model: BoundModel) -> bool:
        there = 0 <= self.number < len(model.multipliers)
        return model.has_quadratic and there and self.share >= 0 and self.lift >= 0

    def renumbered(self, first: int, shift: int) -> Proof:
        return dataclasses.replace(self, number=self.number + shift) if self.number >= first else self


@dataclass(frozen=True, eq=False)
class MatrixProof(Proof):
    """α and λ of the relaxation in Γ (:func:`~convex_tsvm.relaxations.transduction_bound`).

    λ is that of all known labels and of every point, NaN for those whose label was known; of points whose labels are
    tied the first one has it.
    """

    name = "label matrices"
    alpha: np.ndarray
    multipliers: np.ndarray

    def apply(self, model: BoundModel, box: Box, cutoff: float) -> tuple[float, Box]:
        free = ~np.isnan(self.multipliers[1:])
        labels = np.where(free, 0.0, box.labels)
        if (labels[~free] == 0).any():
            return -np.inf, box
        search = model.search.fixed(labels)
        lam = self.multipliers[np.append(0, 1 + search.side.first)]
        return transduction_bound(search, self.alpha.astype(float), lam.astype(float)), box

    def store(self) -> Stored:
        return Stored(np.concatenate([self.alpha, self.multipliers]))

    @staticmethod
    def read(stored: Stored, n: int) -> MatrixProof:
        return MatrixProof(stored.vector[:n], stored.vector[n:])

    def holds_for(self, model: BoundModel) -> bool:
        return model.has_matrix


#: The kinds of proofs; a file names them by their place here.
KINDS: tuple[type[Proof], ...] = (SVMProof, DirectionsProof, MatrixProof, SignsProof)
