"""The smooth primal of ∇DA: unlabelled points pay for probable labels (chapelle2008 §3.3)."""

from __future__ import annotations

import copy

import numpy as np

from ..losses import Annealed, annealed, without_convex_kinks
from ..points import LinearPoints
from ..problem import Array
from .instance import Instance
from .primal import KINK_WIDTH, SmoothPrimal
from .probabilities import Probabilities


class AnnealedPrimal(SmoothPrimal):
    """S(w, b) of chapelle2008 eq. 9: unlabelled points pay for probable labels, the best ones, less their entropy.

    Parameters
    ----------
    instance : Instance
        Whose unlabelled points pay for the better label.  A prescribed number of positive labels is kept by the
        probabilities, which sum to it; the bias is free then.
    features
        As in :class:`SmoothPrimal`.
    """

    def __init__(
        self, instance: Instance, features: LinearPoints | None = None, *, rounded: float = KINK_WIDTH
    ) -> None:
        loss, constant = instance.formulation.label_loss()
        super().__init__(instance.replaced(instance.formulation), features, rounded=rounded)
        self.n_positive, self._loss = instance.n_positive, without_convex_kinks(loss, rounded)
        self._constant = constant
        self.temperature, self.nu = np.inf, 0.0

    def cooled(self, temperature: float) -> AnnealedPrimal:
        """The same at a temperature, in units of the objective."""
        other = copy.copy(self)
        other.temperature = temperature
        return other

    def probabilities_at(self, f: Array) -> Probabilities:
        """The best probabilities (eq. 8); with a number of positive labels, those that sum to it."""
        unknown = self.instance.problem.unlabeled
        t = f[unknown]
        g = self.cost[unknown] * (self._loss(t) - self._loss(-t))
        found = Probabilities.best(g, self.temperature, self.n_positive, self.nu)
        self.nu = found.nu
        return found

    def loss_at(self, f: Array) -> tuple[float, Array]:
        known, unknown = self.instance.problem.labeled, self.instance.problem.unlabeled
        labels, t, cost = self._labels[known], f[unknown], self.cost[unknown]
        slopes, found = np.zeros(len(f)), self.probabilities_at(f)
        total = float(self.cost[known] @ self._losses[0](labels * f[known]))
        slopes[known] = labels * self.cost[known] * self._losses[0].derivative(labels * f[known])
        total += float(cost @ (found.p * self._loss(t) + (1 - found.p) * self._loss(-t) + self._constant))
        slopes[unknown] = cost * (found.p * self._loss.derivative(t) - (1 - found.p) * self._loss.derivative(-t))
        return total - self.temperature * len(unknown) * found.entropy(), slopes

    def curvatures_at(self, f: Array) -> Array:
        """With the multiplier of the balance held where it is."""
        bend, unknown = np.zeros(len(f)), self.instance.problem.unlabeled
        for loss, sign, at, cost in self._groups[:2]:
            bend[at] = cost * loss.curvature(sign * f[at])
        for scale in np.unique(self.cost[unknown]):
            at = unknown[self.cost[unknown] == scale]
            pays: Annealed = annealed(self._loss, self.temperature / scale, self.nu / scale)
            bend[at] = scale * pays.curvature(f[at])
        return bend
