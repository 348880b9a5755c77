"""The best weights and bias on the way to a bound."""

from typing import Any

import numpy as np
import scipy.optimize

from ...deadline import time_is_up
from ...problem import Array
from ...solution import Point
from .model import WeightModel


class BestWeights:
    """The best weights and bias so far, ``at``, None before there are some, with their objective."""

    n_solved = 0
    starts, sample = 12, 20_000  # first descents, and the points that stand for all in them, if there are more

    def __init__(self, model: WeightModel, objective: float = np.inf, at: Array | None = None) -> None:
        self.model, self.objective, self.at = model, objective, at

    def offer(self, scores: Array, *, thorough: bool = False) -> bool:
        """Nothing: outputs say no weights; False."""
        return False

    def consider(self, at: Array) -> None:
        """Keep weights and bias if they are the best so far, and what a descent from them finds."""
        if self._keep(at):
            self._keep(self.descend(at, self.model.points))

    def _keep(self, at: Array) -> bool:
        objective = self.model.objective(at)
        if objective >= self.objective:
            return False
        self.objective, self.at = objective, at.copy()
        return True

    def begin(self, idle: int = 0) -> float:
        """Find first weights, by descents from zero, from what labelled points ask for, and random ones."""
        model, rng = self.model, np.random.default_rng(0)
        self._keep(np.zeros(model.n))
        labelled = np.intersect1d(model.points, model.instance.problem.labeled).astype(np.int32)
        points = model.points
        if len(points) > self.sample:
            unlabelled = np.setdiff1d(points, labelled)
            drawn = rng.choice(unlabelled, min(self.sample, len(unlabelled)), replace=False)
            points = np.sort(np.concatenate([labelled, drawn])).astype(np.int32)
        size = np.sqrt(2 * max(self.objective, 1e-300) / np.maximum(model.bend, 1e-3))
        # Additions take as long for one point as losses of thousands.
        for k in range(self.starts if model.others is None else self.starts // 3):
            if time_is_up():
                break
            start = np.zeros(model.n) if k == 0 else rng.normal(size=model.n) * size / np.sqrt(model.n)
            if k == 1 and len(labelled):
                start = self.descend(np.zeros(model.n), labelled)
            self._keep(self.descend(start, points))
        if self.at is not None and len(points) < len(model.points):
            self._keep(self.descend(self.at, model.points))
        return -np.inf

    def descend(self, start: Array, points: Any) -> Array:
        """A local minimum for some of the points near a start, whose unlabelled ones stand for all of them."""
        model = self.model
        unlabelled = model.instance.problem.y == 0
        stands = max(1.0, unlabelled[model.points].sum() / max(unlabelled[points].sum(), 1))
        cost = np.where(unlabelled, stands, 1.0) * model.cost if stands > 1 else model.cost

        # In units in which outputs and the objective are about 1.
        unit = 1 / np.where(model.largest > 0, model.largest, 1.0)
        scale = max(abs(model.value(start, points, cost)[0]), 1e-300)

        def function(at: Array) -> tuple[float, Array]:
            value, slopes, _ = model.value(at * unit, points, cost)
            return value / scale, slopes * unit / scale

        found = scipy.optimize.minimize(
            function, start / unit, jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": 1e-12, "gtol": 1e-9}
        )
        return np.asarray(found.x * unit if np.isfinite(found.fun) else start)

    def restart(self, idle: int, seed: int = 0) -> None:
        """Nothing: every box's point is a restart."""

    def fork(self, builder: Any) -> "BestWeights":
        return BestWeights(self.model, self.objective, self.at)

    @property
    def labels(self) -> Array | None:
        """Labels given, and signs of the outputs; None before there are weights."""
        if self.at is None:
            return None
        return self.model.instance.best_labels(self.model.expansion(self.at).outputs)

    @property
    def best(self) -> tuple[float, Array | None]:
        return self.objective, self.at

    def take(self, best: tuple[float, Array | None]) -> None:
        if best[0] < self.objective:
            self.objective, self.at = best

    def store(self) -> dict[str, Array]:
        """Weights and bias, from which their objective can be computed; none before there are some."""
        return {"coefficients": np.zeros(0) if self.at is None else self.at}

    def read(self, arrays: dict[str, Array], objective: float) -> None:
        if len(arrays["coefficients"]):
            self.consider(arrays["coefficients"])

    def solution(self, *, stopped: bool) -> tuple[Point, Array | None, float]:
        """The decision function, labels that are not just signs, and objective; KeyboardInterrupt if none is known."""
        if self.at is None:
            raise KeyboardInterrupt
        labels = None if self.model.n_positive is None else self.labels
        return self.model.expansion(self.at), labels, self.objective
