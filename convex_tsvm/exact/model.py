"""What is searched: boxes of outputs, the bounds that hold in them, and the objective of a labelling."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..formulations import Formulation
from ..problem import Array, Problem
from ..relaxations.convexified import Convexified, Multipliers
from ..relaxations.cuts import Cuts
from ..relaxations.labelling import labelling
from ..relaxations.low_rank import solve_low_rank
from ..relaxations.outputs import OutputSpace, labels_of, settle
from ..relaxations.partial import Directions, PartialPoint, PartialSVM
from ..relaxations.safe import transduction_bound


@dataclass(frozen=True, eq=False)
class Box:
    """Ends of the outputs v; an end beyond -1 or 1 is a label.  Empty if an end is beyond the other."""

    low: Array
    high: Array

    @cached_property
    def labels(self) -> Array:
        """+1, -1, or 0 where both are possible."""
        return labels_of(self.low, self.high)

    @cached_property
    def unknown(self) -> np.ndarray:
        """Indices of the points without a label."""
        return np.flatnonzero(self.labels == 0)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return bool((self.low > self.high).any())

    @property
    def is_bounded(self) -> bool:
        """Whether all ends are finite."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def meet(self, low: Array, high: Array) -> Box:
        """What is in both, without the outputs in (-1, 1)."""
        return Box(*settle(np.maximum(self.low, low), np.minimum(self.high, high), np.zeros(len(low))))

    def with_label(self, i: int, sign: float) -> Box:
        """The half in which point i has a label."""
        low, high = self.low.copy(), self.high.copy()
        if sign > 0:
            low[i] = max(low[i], 1.0)
        else:
            high[i] = min(high[i], -1.0)
        return Box(low, high)

    @staticmethod
    def of_labels(y: Array) -> Box:
        """No ends but those that labels are."""
        return Box(np.where(y > 0, 1.0, -np.inf), np.where(y < 0, -1.0, np.inf))


# What is proven at a node, one step after the other: each makes a bound and a smaller box of a box.


@dataclass(frozen=True, eq=False)
class SVMProof:
    """γ of the SVM of the labels known (:class:`~convex_tsvm.relaxations.partial.PartialSVM`)."""

    gamma: np.ndarray


@dataclass(frozen=True, eq=False)
class DirectionsProof:
    """Multipliers of the ends of the outputs."""

    directions: Directions


@dataclass(frozen=True, eq=False)
class QuadraticProof:
    """Multipliers (by number, and the share of them that is taken) and the point whose tangent is the bound."""

    number: int
    share: float
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class MatrixProof:
    """α and λ of the relaxation in Γ (:func:`~convex_tsvm.relaxations.transduction_bound`)."""

    alpha: np.ndarray
    multipliers: np.ndarray


Proof = SVMProof | DirectionsProof | QuadraticProof | MatrixProof


def single(values: Array) -> np.ndarray:
    """Values as they are stored; what is proven is proven for the rounded ones."""
    return np.asarray(values, dtype=np.float32)


#: In the place of multipliers that a dive does not need.
NOTHING = Multipliers(np.zeros(0), np.zeros(0), Cuts.none(), np.zeros(0))


class SearchModel:
    """A formulation on a problem, as exact search sees it.

    Parameters
    ----------
    formulation : Formulation
        With hinge or squared hinge, and the loss min(ℓ(f), ℓ(-f)) for unlabelled points.
    problem : Problem
    """

    def __init__(self, formulation: Formulation, problem: Problem) -> None:
        self.search = labelling(formulation, problem)
        self.svm = PartialSVM(self.search)
        self.multipliers: list[Multipliers] = []
        self._convexified: dict[tuple[int, float], Convexified] = {}

    @property
    def n(self) -> int:
        """Number of points."""
        return self.search.n

    @cached_property
    def space(self) -> OutputSpace:
        """The quadratic program in v, for the squared hinge."""
        return OutputSpace(self.search)

    def root(self) -> Box:
        """The box of the labels given."""
        return self.count(Box.of_labels(self.search.y))

    def count(self, box: Box) -> Box:
        """The box after the number of positive labels is taken into account.

        It may be given (chapelle2008 eq. 3); and where the sum of targets is, both labels must occur among them.
        """
        search = self.search
        if box.is_empty or (search.n_positive is None and search.target_sum is None):
            return box
        points = search.unknown if search.n_positive is not None else search.problem.balance_points
        most = len(points) - 1 if search.n_positive is None else search.n_positive
        least = 1 if search.n_positive is None else search.n_positive
        labels = box.labels[points]
        positive, negative = int((labels > 0).sum()), int((labels < 0).sum())
        if positive > most or len(points) - negative < least:
            return Box(np.full(self.n, np.inf), np.full(self.n, -np.inf))
        rest = points[labels == 0]
        if len(rest) == 0 or (least < len(points) - negative and positive < most):
            return box
        low, high = box.low.copy(), box.high.copy()
        if positive == most:
            high[rest] = np.minimum(high[rest], -1.0)
        else:
            low[rest] = np.maximum(low[rest], 1.0)
        return Box(low, high)

    def add(self, multipliers: Multipliers) -> int:
        """Keep multipliers, rounded as they are stored; their number."""
        rounded = Multipliers(
            diagonal=single(multipliers.diagonal).astype(float),
            chord=single(multipliers.chord).astype(float),
            cuts=multipliers.cuts,
            weights=single(multipliers.weights).astype(float),
        )
        self.multipliers.append(rounded)
        return len(self.multipliers) - 1

    def convexified(self, number: int, share: float) -> Convexified:
        """The convex quadratic of a share of kept multipliers."""
        key = (number, share)
        if key not in self._convexified:
            if len(self._convexified) > 64:
                self._convexified.clear()
            self._convexified[key] = Convexified(self.space, self.multipliers[number].scaled(share))
        return self._convexified[key]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_convexified": {}}

    def fork(self, number: int) -> SearchModel:
        """One for a dive beside others: they share what none of them changes, and have the multipliers of a node."""
        other = copy.copy(self)
        other.svm, other._convexified = copy.copy(self.svm), {}
        other.multipliers = [z if k == number else NOTHING for k, z in enumerate(self.multipliers)]
        return other

    def apply(self, proof: Proof, box: Box, cutoff: float) -> tuple[float, Box]:
        """The bound that a proof gives in a box, and the smaller box of all solutions below the cutoff.

        Arithmetic alone: this is what verification repeats.
        """
        y = box.labels
        if isinstance(proof, SVMProof):
            point = self.svm.point(y, proof.gamma.astype(float))
            return point.value, self.count(box.meet(*self.svm.consequences(y, point, cutoff)))
        if isinstance(proof, DirectionsProof):
            return -np.inf, self.count(box.meet(*self.svm.directional_box(y, proof.directions, cutoff)))
        if isinstance(proof, QuadraticProof):
            quadratic = self.convexified(proof.number, proof.share)
            v = np.clip(proof.v.astype(float), box.low, box.high)
            bound, low, high = quadratic.consequences(box.low, box.high, v, cutoff)
            return bound, self.count(box.meet(low, high))
        bound = transduction_bound(self.search.fixed(y), proof.alpha.astype(float), proof.multipliers.astype(float))
        return bound, box

    def admits(self, proof: Proof) -> bool:
        """Whether a proof is of a kind that holds for this search, with multipliers that are there."""
        if isinstance(proof, DirectionsProof):
            return self.has_quadratic and not self.svm.free_bias and bool((proof.directions.theta != 0).all())
        if isinstance(proof, QuadraticProof):
            return self.has_quadratic and 0 <= proof.number < len(self.multipliers) and proof.share >= 0
        return self.has_matrix if isinstance(proof, MatrixProof) else True

    def prove_by_svm(self, box: Box, gamma: Array | None) -> tuple[SVMProof, PartialPoint]:
        """The SVM of the labels known."""
        point = self.svm.solve(box.labels, gamma)
        return SVMProof(single(point.gamma)), point

    def prove_by_quadratic(self, box: Box, number: int, share: float, start: Array | None) -> QuadraticProof:
        """The minimum of a convex quadratic in the box."""
        v = self.convexified(number, share).minimize(box.low, box.high, start)
        return QuadraticProof(number, share, single(v))

    def prove_by_matrix(self, box: Box) -> tuple[MatrixProof, Array]:
        """The relaxation in Γ, and its labels before thresholding."""
        part = self.search.fixed(box.labels)
        point = solve_low_rank(part, tol=1e-3)
        scores = box.labels.copy()
        scores[part.unknown] = point.scores
        return MatrixProof(single(point.alpha), single(point.multipliers)), scores

    @property
    def has_quadratic(self) -> bool:
        """Whether bounds in v-space exist."""
        return self.svm.squared

    @property
    def has_matrix(self) -> bool:
        """Whether the relaxation in Γ exists."""
        search = self.search
        return not search.free_bias and search.target_sum is None and search.n_positive is None
