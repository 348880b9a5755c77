"""Upper bounds: labellings whose SVM is as good as can be found."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from ..deadline import time_is_up
from ..methods import cccp
from ..problem import Array
from ..relaxations.box import Box
from ..relaxations.model import BoundModel
from ..validation import InfeasibleError

#: Two-opt search tries to change the labels of this many points, and to exchange this many points of each class.
FLIPS, SWAPS = 30, 8

#: Relative distance from the best objective within which labels are worth being improved.
NEAR_BEST = 0.05

#: SVMs that may be solved to improve labels of nodes: so many at first, and so many more for every node's labels.
#: Improving labels takes some tens of them, and some nodes as much time as one.
ALLOWED, ALLOWED_PER_OFFER = 200, 4

#: Largest number of random labels that a labelling is grown from, and number of steps in which it grows.
MOST_SEEDS, GROWING_STEPS = 5, 20

#: Restarts without success after which the first search for labels is over.
FIRST_IDLE = 20


class Incumbent:
    """The best labelling so far, with its objective and the dual point ``gamma``, shape (n,), of its SVM.

    Labels and dual point are None before any labels were found.
    """

    def __init__(
        self, model: BoundModel, objective: float = np.inf, labels: Array | None = None, gamma: Array | None = None
    ) -> None:
        self.model, self.objective, self.labels, self.gamma = model, objective, labels, gamma
        self._tried: set[bytes] = set()
        self._allowed = ALLOWED

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Round scores to labels, improve these, and keep them if they are the best so far; whether they were kept.

        Labels are improved by changes of single ones, and by exchanges if ``thorough``; where the number of positive
        labels is given, by exchanges alone.  Those whose objective is far above the best are only if ``thorough``.
        """
        labels = self.model.rounded(scores)
        key = labels.tobytes()
        if key in self._tried:
            return False
        self._tried.add(key)
        labels, objective, gamma = self.follow(labels)
        if not np.isfinite(objective):
            return False  # the labels break the balance, or have no hard margin
        promising = objective <= self.objective + NEAR_BEST * abs(self.objective)
        self._allowed += ALLOWED_PER_OFFER
        if thorough or (promising and self._allowed > 0) or objective < self.objective:
            before = self.model.svm.n_solved
            labels, objective, gamma = self.two_opt(labels, objective, gamma, exchanges=thorough)
            if not thorough:
                self._allowed -= self.model.svm.n_solved - before
        if objective < self.objective - 1e-12 * abs(objective):
            self.objective, self.labels, self.gamma = objective, labels, gamma
            return True
        return False

    @classmethod
    def first(cls, model: BoundModel) -> Incumbent:
        """The labels that a search begins with."""
        point, found = model.svm.solve(model.search.y), cls(model)
        found.begin(point.outputs + point.bias)
        return found

    def begin(self, outputs: Array, idle: int = FIRST_IDLE) -> None:
        """Find first labels: from ``outputs`` (of the SVM of known labels), heuristics, growing, and restarts."""
        self.offer(outputs, thorough=True)
        for scores in _heuristics(self.model):
            self.offer(scores, thorough=True)
        grown = self.grow(self.model.search.y)
        if grown is not None:
            self.offer(grown, thorough=True)
        self.restart(idle)

    def grow(self, labels: Array) -> Array | None:
        """Extend labels to all points: in every step the SVM of the known ones labels the points it is surest of.

        None if no labelling meets the balance, or at a deadline.
        """
        svm, y, gamma = self.model.svm, labels, None
        per_step = -(-len(self.model.search.unknown) // GROWING_STEPS)
        while True:
            box = self.model.count(Box.of_labels(y))
            if box.is_empty or len(box.unknown) == 0:
                return None if box.is_empty else box.labels
            if time_is_up():
                return None
            y = box.labels.copy()
            point = svm.solve(y, gamma, tol=1e-3)
            gamma, margins = point.gamma, svm.margins(point) + point.bias
            surest = box.unknown[np.argsort(-np.abs(margins[box.unknown]), kind="stable")[:per_step]]
            y[surest] = np.where(margins[surest] >= 0, 1.0, -1.0)

    def restart(self, idle: int, seed: int = 0) -> None:
        """Grow labels from a part of the incumbent's, one of them changed, or from a few random ones; improve them.

        This ends after ``idle`` labellings in turn that were not better, or n of them if n is smaller.
        """
        search = self.model.search
        if self.labels is None or len(search.unknown) == 0:
            return
        idle = min(idle, self.model.n)
        rng, left, kept = np.random.default_rng(seed), idle, False
        while left > 0 and not time_is_up():
            y, kept = search.y.copy(), not kept
            third = max(1, len(search.unknown) // 3)
            size = rng.integers(1, 1 + (third if kept else min(third, MOST_SEEDS)))
            chosen = rng.choice(search.unknown, size=size, replace=False)
            y[chosen] = self.labels[chosen] if kept else rng.choice([-1.0, 1.0], size=len(chosen))
            if kept:
                y[rng.choice(chosen)] *= -1
            labels = self.grow(y)
            left = idle if labels is not None and self.offer(labels) else left - 1

    def evaluate(self, labels: Array, gamma: Array | None = None) -> tuple[float, Array]:
        """The objective of the SVM of labels, rounded up, and its γ; ∞ and zeros if the labels break the balance."""
        if self.model.count(Box.of_labels(labels)).is_empty:
            return np.inf, np.zeros(len(labels))
        point = self.model.svm.solve(labels, gamma, tol=1e-9)
        return self.model.svm.objective(labels, point), point.gamma

    def follow(self, labels: Array) -> tuple[Array, float, Array]:
        """Labels that their own SVM agrees with: each change of all wrong ones at once lowers the objective."""
        search, svm = self.model.search, self.model.svm
        objective, gamma = self.evaluate(labels)
        if svm.free_bias and search.n_positive is None:
            return labels, objective, gamma
        while np.isfinite(objective) and not time_is_up():
            changed = self.model.rounded(svm.margins(svm.point(labels, gamma)))
            if (changed == labels).all():
                break
            better, new_gamma = self.evaluate(changed, gamma)
            if better >= objective - 1e-12 * abs(objective):
                break
            labels, objective, gamma = changed, better, new_gamma
        return labels, objective, gamma

    def two_opt(self, labels: Array, objective: float, gamma: Array, *, exchanges: bool) -> tuple[Array, float, Array]:
        """Change the labels that cost most, one or (with ``exchanges``) one of each class, as long as that helps."""
        counted = self.model.search.n_positive is not None
        while True:
            for flipped in self._neighbours(labels, gamma, singles=not counted, pairs=exchanges or counted):
                if time_is_up():
                    return labels, objective, gamma
                changed = labels.copy()
                changed[list(flipped)] *= -1
                better, new_gamma = self.evaluate(changed, gamma)
                if better < objective - 1e-9 * abs(objective):
                    labels, objective, gamma = changed, better, new_gamma
                    break
            else:
                return labels, objective, gamma

    def _neighbours(self, labels: Array, gamma: Array, *, singles: bool, pairs: bool) -> list[tuple[int, ...]]:
        unknown = self.model.search.unknown
        cost = np.abs(gamma[unknown])
        order = unknown[np.argsort(-cost, kind="stable")]
        order = order[np.abs(gamma[order]) > 1e-9 * cost.max(initial=0.0)]
        found: list[tuple[int, ...]] = [(int(i),) for i in order[:FLIPS]] if singles else []
        if pairs:
            positive, negative = order[labels[order] > 0][:SWAPS], order[labels[order] < 0][:SWAPS]
            found += [(int(i), int(j)) for i in positive for j in negative]
        return found


def _heuristics(model: BoundModel) -> Iterator[Array]:
    """Outputs of the toolkit's heuristics: CCCP with and without annealing, which a hard margin has no tangents for."""
    if model.svm.hard:
        return
    try:
        instance = model.instance.by_mean()
    except InfeasibleError:
        return  # a mean output may be impossible to reach where a number of positive labels is possible
    formulation, problem = instance.formulation, instance.problem
    if instance.target is None and formulation.fit_intercept:
        return  # with a free bias and no balance CCCP would find all labels alike
    for annealing in (None, 10):
        if time_is_up():
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = cccp(formulation, problem, annealing=annealing)
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        yield solution.scores
