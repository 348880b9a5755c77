"""What bounds are computed with: the SVM of known labels, the quadratic program in v, and multipliers that are kept."""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np

from ..formulations import Formulation
from ..instance.labelling import labelling, why_not_relaxable
from ..problem import Array, Problem
from .box import Box
from .partial_svm import PartialSVM, is_partial
from .plain_svm import PlainSVM
from .quadratic_program import OutputSpace
from .rounding import EPS
from .signs.quadratic import SignMultipliers, SignQuadratic

#: Most quadratics that are kept, as many boxes use the same one.
KEPT_QUADRATICS = 64


class BoundModel:
    """A formulation on a problem, with what proofs of its bounds are made and evaluated with.

    ``known`` is the SVM of the known labels; ``multipliers`` are those that are kept, to which proofs refer by their
    places in the list; ``links`` says whether the formulation may have links.  Bounds that leave them out hold, but a
    search would not end with them.
    """

    def __init__(self, formulation: Formulation, problem: Problem, *, links: bool = False) -> None:
        if formulation.constraints and not links:
            raise ValueError(
                f"constraints={formulation.constraints!r}: exact searches for labels know the balance only"
            )
        formulation.check_classes(problem)
        self.search = labelling(formulation, problem)
        self.instance = self.search.instance
        self.known: PartialSVM | PlainSVM = (PartialSVM if is_partial(self.search) else PlainSVM)(self.search)
        self.multipliers: list[SignMultipliers | None] = []  # None where a dive does not need them
        self._quadratics: dict[tuple[int, float, float], SignQuadratic] = {}

    @property
    def svm(self) -> PartialSVM:
        """The SVM of known labels; ValueError if the loss is neither hinge nor squared hinge, or a point has no cost.

        For these alone exact search knows what a bound says about single labels and outputs.
        """
        if isinstance(self.known, PartialSVM):
            return self.known
        if not (self.search.cost > 0).all():
            raise ValueError("exact search needs a cost > 0 for every point")
        raise ValueError(f"labeled={self.search.loss!r}: exact search is for hinge() and squared_hinge()")

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
        # The labels that were just forced may contradict the count, which the next round finds.
        return self.count(Box(low, high))

    def rounded(self, scores: Array) -> Array:
        """Labels of scores: their signs, or the largest ones where the number of positive labels is given."""
        search = self.search
        labels = np.where(search.y != 0, search.y, np.where(scores >= 0, 1.0, -1.0))
        if search.n_positive is not None:
            unknown = search.unknown
            order = unknown[np.argsort(-scores[unknown], kind="stable")]
            labels[order[: search.n_positive]], labels[order[search.n_positive :]] = 1.0, -1.0
        if search.target_sum is not None:
            balanced = np.flatnonzero(search.summed)
            if abs(labels[balanced].sum()) == len(balanced):
                # Both labels must occur.
                sign = labels[balanced[0]]
                labels[balanced[np.argmin(sign * scores[balanced])]] = -sign
        return np.asarray(labels)

    def add_signs(self, multipliers: SignMultipliers) -> int:
        """Keep multipliers with signs, lifted so that they make the objective convex with some room: their number.

        The room is what the balls of double precision take in which the checker has a form of N rows.
        """
        made = SignQuadratic(self.space, multipliers.without_zeros())
        N = len(made.A) + 1
        spare = 4 * N * (N + 8) * EPS * float(np.abs(np.diag(made.A)).max(initial=0.0))
        self.multipliers.append(made.multipliers.lifted(spare, outputs=1.0))
        return len(self.multipliers) - 1

    def multipliers_of(self, number: int) -> SignMultipliers:
        """Those with a number that are at hand."""
        found = self.multipliers[number]
        assert found is not None
        return found

    def forget(self, n_kept: int) -> None:
        """Keep only the first multipliers."""
        del self.multipliers[n_kept:]
        self._quadratics = {key: made for key, made in self._quadratics.items() if key[0] < n_kept}

    def sign_quadratic(self, number: int, share: float, lift: float) -> SignQuadratic:
        """The convex quadratic of a share of kept multipliers with signs, with ``lift`` added to its form."""
        key = (number, share, lift)
        if key not in self._quadratics:
            if len(self._quadratics) > KEPT_QUADRATICS:
                self._quadratics.clear()
            self._quadratics[key] = SignQuadratic(self.space, self.multipliers_of(number).scaled(share).lifted(lift))
        return self._quadratics[key]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_quadratics": {}}

    def fork(self, number: int) -> BoundModel:
        """A copy for a dive that runs beside others, with the multipliers of that number alone.

        Copies share everything that dives do not change.
        """
        other = copy.copy(self)
        other.known, other._quadratics = copy.copy(self.known), {}
        other.multipliers = [z if k == number else None for k, z in enumerate(self.multipliers)]
        return other

    @property
    def has_quadratic(self) -> bool:
        """Whether bounds in v-space exist."""
        return self.known.squared and bool(np.isfinite(self.space.doubt))

    @property
    def has_matrix(self) -> bool:
        """Whether the relaxation in Γ exists."""
        return why_not_relaxable(self.search) is None
