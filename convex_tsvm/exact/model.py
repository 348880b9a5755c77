"""What is searched: the bounds that hold in a box of outputs, and the objective of a labelling."""

from __future__ import annotations

import copy
import dataclasses
from functools import cached_property

import numpy as np

from ..formulations import Formulation
from ..instance.labelling import labelling
from ..problem import Array, Problem
from ..relaxations.label_matrix import solve_low_rank
from ..relaxations.output_space.convexified import Convexified, Multipliers
from ..relaxations.output_space.cuts import Cuts
from ..relaxations.output_space.quadratic_program import OutputSpace
from ..relaxations.partial_svm import PartialPoint, PartialSVM
from ..relaxations.safe_bounds import dominating, into_domain
from .box import Box
from .proofs import MatrixProof, QuadraticProof, SVMProof, single

#: How far from the border the quadratic form of kept multipliers is, relative to its largest entry.
SPARE = 1e-12

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
        self.instance = self.search.instance
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
        points = search.unknown if search.n_positive is not None else np.flatnonzero(search.summed)
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
        # What is forced may be one too many.
        return self.count(Box(low, high))

    def add(self, multipliers: Multipliers) -> int:
        """Keep multipliers that make the objective convex, with something to spare; their number."""
        made = Convexified(self.space, multipliers)
        z, spare = made.multipliers, SPARE * float(np.abs(np.diag(made.A)).max(initial=0.0))
        self.multipliers.append(dataclasses.replace(z, chord=z.chord + spare))
        return len(self.multipliers) - 1

    def forget(self, n_kept: int) -> None:
        """Keep only the first multipliers."""
        del self.multipliers[n_kept:]
        self._convexified = {key: made for key, made in self._convexified.items() if key[0] < n_kept}

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

    def prove_by_svm(self, box: Box, gamma: Array | None) -> tuple[SVMProof, PartialPoint]:
        """The SVM of the labels known."""
        point = self.svm.solve(box.labels, gamma)
        # With a free bias the sum of γ is zero, exactly.
        return SVMProof(point.gamma if self.svm.free_bias else single(point.gamma)), point

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
        alpha, lam = single(point.alpha), np.full(1 + self.n, np.nan)
        lam[np.append(0, 1 + part.unknown)] = dominating(
            part, into_domain(part, alpha.astype(float))[0], point.multipliers
        )
        return MatrixProof(alpha, lam), scores

    @property
    def has_quadratic(self) -> bool:
        """Whether bounds in v-space exist."""
        return self.svm.squared and bool(np.isfinite(self.space.doubt))

    @property
    def has_matrix(self) -> bool:
        """Whether the relaxation in Γ exists."""
        search = self.search
        return not search.free_bias and search.target_sum is None and search.n_positive is None
