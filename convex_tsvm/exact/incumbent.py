"""Upper bounds: labellings whose SVM is as good as can be found, and solutions of any other formulation."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..deadline import time_is_up
from ..kernels import Precomputed, neighbor_graph
from ..methods.spectral import spectral_scores
from ..points import LinearPoints
from ..problem import Array
from ..relaxations import LabelModel, LowerBoundBuilder
from ..relaxations.box import LabelBox
from ..solution import Expansion, Point
from ..solvers import NativeSolver


@dataclass(frozen=True)
class Improving:
    """How labels are improved, as ``benchmarks/exact.py`` was fastest."""

    flips: int = 30  # points whose labels two-opt search tries to change
    swaps: int = 8  # points of each class that it tries to exchange
    near_best: float = 0.05  # relative distance from the best objective within which labels are worth being improved
    # SVMs that may be solved to improve labels of nodes: so many at first, and so many more for every node's labels.
    # Improving labels takes some tens of them, and some nodes as much time as one.
    allowed: int = 200
    allowed_per_offer: int = 4
    most_seeds: int = 5  # random labels that a labelling is grown from
    growing_steps: int = 20  # in which it grows
    # Numbers of neighbours in the graphs whose eigenvectors are rounded to labels: few find curved clusters in many
    # dimensions (of 20 draws of two moons in 102 dimensions 3 neighbours all, 5 17, 10 9, 20 4), many wide ones.
    neighbors: tuple[int, ...] = (3, 5, 10, 20)


class BestLabels:
    """The best labelling so far, or None, with its objective and the dual point ``gamma``, shape (n,), of its SVM."""

    improving = Improving()

    def __init__(
        self, model: LabelModel, objective: float = np.inf, labels: Array | None = None, gamma: Array | None = None
    ) -> None:
        self.model, self.objective, self.labels, self.gamma = model, objective, labels, gamma
        self._tried: set[bytes] = set()
        self._allowed = self.improving.allowed

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Round scores to labels, improve these, and keep them if they are the best so far; whether they were kept.

        Single labels are changed, or one of each class is exchanged, if ``thorough`` or where the number of positive
        ones is given. Labels far above the best are improved only if ``thorough``.
        """
        labels = self.model.rounded(scores)
        key = labels.tobytes()
        if key in self._tried:
            return False
        self._tried.add(key)
        labels, objective, gamma = self.follow(labels)
        if not np.isfinite(objective):
            return False  # the labels break the balance, or have no hard margin
        promising = objective <= self.objective + self.improving.near_best * abs(self.objective)
        self._allowed += self.improving.allowed_per_offer
        if thorough or (promising and self._allowed > 0) or objective < self.objective:
            before = self.model.svm.n_solved
            labels, objective, gamma = self.two_opt(labels, objective, gamma, exchanges=thorough)
            if not thorough:
                self._allowed -= self.model.svm.n_solved - before
        if objective < self.objective - 1e-12 * abs(objective):
            self.objective, self.labels, self.gamma = objective, labels, gamma
            return True
        return False

    def begin(self, idle: int = 20) -> float:
        """Find first labels: from the SVM of known labels, graphs, growing, and restarts; that SVM's bound."""
        point = self.model.svm.solve(self.model.search.y)
        self.offer(point.outputs + point.bias, thorough=True)
        for scores in self._of_neighbors():
            self.offer(scores)
        grown = self.grow(self.model.search.y)
        if grown is not None:
            self.offer(grown, thorough=True)
        self.restart(idle)
        return point.value

    def _of_neighbors(self) -> Iterator[Array]:
        """Scores by eigenvectors of graphs of neighbours, which find clusters that no SVM of few labels sees."""
        instance = self.model.instance
        formulation, problem = instance.formulation, instance.problem
        if isinstance(problem.kernel, Precomputed) or isinstance(problem.X, LinearPoints) or formulation.constraints:
            return  # there are no points to find neighbours of, or points whose labels are the same
        if len(self.model.search.unknown) < self.improving.growing_steps:
            return  # others find labels of so few
        for k in self.improving.neighbors:
            if k < problem.n and not time_is_up():
                yield spectral_scores(formulation, problem, neighbor_graph(problem.X, k))

    @property
    def n_solved(self) -> int:
        """SVMs that were solved so far."""
        return self.model.svm.n_solved

    def fork(self, builder: LowerBoundBuilder) -> "BestLabels":
        """One for a dive beside others."""
        return BestLabels(builder.model, self.objective, self.labels, self.gamma)

    @property
    def best(self) -> tuple[float, Array | None, Array | None]:
        """What :meth:`take` takes."""
        return self.objective, self.labels, self.gamma

    def take(self, best: tuple[float, Array | None, Array | None]) -> None:
        """Take what another has found, if it is better."""
        if best[0] < self.objective:
            self.objective, self.labels, self.gamma = best

    def store(self) -> dict[str, Array]:
        """Labels and what proves their objective: γ, the mean output, and targets where their sum is given."""
        none = np.zeros(0)
        if self.labels is None or self.gamma is None:
            return {"labels": none, "gamma": none, "mean": none, "targets": none}
        found = self.model.svm.witness(self.labels, self.model.svm.point(self.labels, self.gamma))
        targets = none if found.targets is None else found.targets
        return {"labels": self.labels, "gamma": found.gamma, "mean": np.array([found.mean]), "targets": targets}

    def read(self, arrays: dict[str, Array], objective: float) -> None:
        """Go on from what is stored."""
        if len(arrays["labels"]):
            self.objective, self.labels, self.gamma = objective, arrays["labels"], arrays["gamma"]
            if self.model.search.spread is not None:  # of which the file has the weights alone
                self.gamma = self.evaluate(self.labels)[1]

    def solution(self, *, stopped: bool) -> tuple[Point, Array | None, float]:
        """The SVM for the labels, accurate unless ``stopped``, the labels (any, if there are none), the objective."""
        model, labels, objective = self.model, self.labels, self.objective
        if labels is None:
            labels = model.rounded(np.zeros(model.n))
            objective = self.evaluate(labels)[0]
        svm, problem = model.svm, model.instance.problem
        if model.search.target_sum is None and model.search.spread is None:
            solver = NativeSolver(problem, tol=1e-3 if stopped else 1e-7, precision="double")
            return solver.solve(model.instance.svm(labels)), labels, objective
        found = svm.solve(labels, tol=1e-9)
        shown = svm.witness(labels, found)
        # The function of the targets v: ridge regression of v with costs c, whose coefficients solve (K + D) a = v.
        a = shown.gamma if model.search.target_sum is None else svm.coefficients_of_targets(found.gamma)
        outputs = problem.apply_kernel(a)
        bias = shown.mean - float(outputs.mean()) if svm.free_bias else 0.0
        return Expansion(outputs + bias, a, bias=bias, regularization=0.5 * float(a @ outputs)), labels, objective

    def grow(self, labels: Array) -> Array | None:
        """Extend labels, in steps those that the SVM is surest of; None at a deadline, or if none are balanced."""
        svm, y, gamma = self.model.svm, labels, None
        per_step = -(-len(self.model.search.unknown) // self.improving.growing_steps)
        while True:
            box = self.model.count(LabelBox.of_labels(y))
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
        """Grow labels from a part of the best, one of them changed, or random ones, until ``idle`` were no better."""
        search = self.model.search
        if self.labels is None or len(search.unknown) == 0:
            return
        idle = min(idle, self.model.n)
        rng, left, kept = np.random.default_rng(seed), idle, False
        while left > 0 and not time_is_up():
            y, kept = search.y.copy(), not kept
            third = max(1, len(search.unknown) // 3)
            size = rng.integers(1, 1 + (third if kept else min(third, self.improving.most_seeds)))
            chosen = rng.choice(search.unknown, size=size, replace=False)
            y[chosen] = self.labels[chosen] if kept else rng.choice([-1.0, 1.0], size=len(chosen))
            if kept:
                y[rng.choice(chosen)] *= -1
            labels = self.grow(y)
            left = idle if labels is not None and self.offer(labels) else left - 1

    def evaluate(self, labels: Array, gamma: Array | None = None) -> tuple[float, Array]:
        """The objective of the SVM of labels, rounded up, and its γ; ∞ and zeros if the labels break the balance."""
        if self.model.count(LabelBox.of_labels(labels)).is_empty:
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
        found: list[tuple[int, ...]] = [(int(i),) for i in order[: self.improving.flips]] if singles else []
        if pairs:
            chosen = (order[labels[order] == sign][: self.improving.swaps].tolist() for sign in (1, -1))
            found += itertools.product(*chosen)
        return found
