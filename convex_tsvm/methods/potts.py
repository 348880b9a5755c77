"""Deterministic annealing of several classes at once, with one Potts variable a point (sindhwani2006, footnote 6).

A point has one label k of K, and pays for it in all K functions: ℓ(f_k) in that of its class, ℓ(-f_j) in the others.
With probabilities p_ik in place of labels,

    Σ_k [½ ‖w_k‖² + Σ_labelled c ℓ(y_k f_k) + Σ_i c_i (p_ik ℓ(f_k) + (1 - p_ik) ℓ(-f_k))] + T Σ_i Σ_k p_ik log p_ik

is minimized over all f_k, for given p an SVM for each class, and over p, for given f in closed form, at falling
temperatures T.  One against the rest is the same without Σ_k p_ik = 1: a point may then be of several classes or none.
"""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import within
from ..formulations import Formulation
from ..instance import Instance, StepSolver
from ..instance.probabilities import PottsProbabilities
from ..problem import Array, Problem
from ..solution import Solution
from .annealing import Annealing
from .descents import Descents
from .settings import Settings, falling
from .together import Together


@dataclass(frozen=True)
class Temperature:
    """How the annealing stood at the end of a temperature.

    Attributes
    ----------
    temperature : float
        T, in the units of the objective.
    energy : float
        What is minimized at this temperature.
    objective : float
        That of the labels which are most probable, at the functions there.
    entropy : float
        Mean over the points of - Σ_k p log p, in natural units.
    """

    temperature: float
    energy: float
    objective: float
    entropy: float


@dataclass(frozen=True, eq=False)
class PottsSolution:
    """What :func:`potts_annealing` found.

    Attributes
    ----------
    solutions : tuple of Solution
        The function of each class, trained on the labels found.
    labels : int array, shape (n,)
        The class of each point, as a place among the problems.
    probabilities : array, shape (n_unlabeled, K)
        Those of the last temperature.
    objective : float
        Σ_k of the objectives with these labels.
    history : tuple of Temperature

    Examples
    --------
    >>> X = np.array([[-1.1], [-1.0], [-0.1], [0.0], [0.9], [1.0]])
    >>> y = [[1, 0, -1, 0, -1, 0], [-1, 0, 1, 0, -1, 0], [-1, 0, -1, 0, 1, 0]]
    >>> problems = [ct.Problem(X, one, kernel=ct.RBF(0.3), C=10, balance=-1 / 3) for one in y]
    >>> found = ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), problems)
    >>> found.labels, found.probabilities.sum(axis=1).round(9)
    (array([0, 0, 1, 1, 2, 2]), array([1., 1., 1.]))
    """

    solutions: tuple[Solution, ...]
    labels: NDArray[np.intp]
    probabilities: Array
    objective: float
    history: tuple[Temperature, ...]
    status: str
    seconds: float


def potts_annealing(
    formulation: Formulation,
    problems: Sequence[Problem] | Mapping[Any, Problem],
    *,
    solver: str | StepSolver = "auto",
    cooling: float = 1.5,
    settled: float = 1e-6,
    certain: float = 1e-6,
    temperature: float | None = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callable[[Temperature], None] | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> PottsSolution:
    """Minimize over the probabilities of several classes together, at falling temperatures (sindhwani2006, footnote 6).

    Parameters
    ----------
    formulation : Formulation
        As for :func:`~convex_tsvm.annealing`.
    problems : sequence or mapping of Problem
        One for each of at least two classes against the rest, on the same points and with the same costs: a point is
        labelled +1 in that of its class.  With exact balances, ("exact", r), so many points are of each class, as near
        as whole numbers are; the shares sum to 1.
    solver, tol, time_limit, **options
        As in :func:`~convex_tsvm.cccp`.
    cooling, settled, certain, temperature
        As in :func:`~convex_tsvm.annealing`.
    max_iter : int, default 100
        Limit on SVMs of each class for each temperature.
    callback : callable, optional
        Called with every :class:`Temperature`.

    Examples
    --------
    >>> X = np.array([[-1.1], [-1.0], [-0.1], [0.0], [0.9], [1.0]])
    >>> y = [[1, 0, -1, 0, -1, 0], [-1, 0, 1, 0, -1, 0], [-1, 0, -1, 0, 1, 0]]
    >>> problems = [ct.Problem(X, one, kernel=ct.RBF(0.3), C=10, balance=("exact", 1 / 3)) for one in y]
    >>> ct.methods.potts.potts_annealing(ct.tsvm("squared_hinge"), problems).labels
    array([0, 0, 1, 1, 2, 2])
    """
    method = Annealing(cooling, settled, certain, temperature=temperature)
    settings = Settings(tol, max_iter, None, time_limit)
    parts = list(problems.values()) if isinstance(problems, Mapping) else list(problems)
    with within(time_limit):
        descents = Descents(method, solver=solver, settings=settings, options=options)
        return Potts(method, formulation, parts, descents, callback).run()


class Potts(Together):
    """The procedure on the problems of all classes, with a run for each."""

    method: Annealing

    def __init__(
        self,
        method: Annealing,
        formulation: Formulation,
        problems: Sequence[Problem],
        descents: Descents,
        callback: Callable[[Temperature], None] | None = None,
    ) -> None:
        method = copy.copy(method)
        method.best = False  # the best point of one class is not that of all together
        super().__init__(method, formulation, problems, descents)
        self.callback, self.counts = callback, _counts(self.instances)
        self.history: list[Temperature] = []
        shares = np.array([instance.positive_share for instance in self.instances])
        if self.counts is None:
            shares = np.clip([((instance.target or 0.0) + 1) / 2 for instance in self.instances], 1e-3, None)
        self.known = PottsProbabilities(
            np.log(np.maximum(np.tile(shares / shares.sum(), (len(self.unknown), 1)), 1e-300)), np.zeros(len(shares))
        )

    def run(self) -> PottsSolution:
        """Descend, and return what was found."""
        solutions = self.solved()
        return PottsSolution(
            solutions=solutions,
            # After an interruption these are the labels that the functions were trained on.
            labels=np.argmax([one.labels for one in solutions], axis=0),
            probabilities=self.known.p,
            objective=float(sum(one.objective for one in solutions)),
            history=tuple(self.history),
            status=next((one.status for one in solutions if one.status != "converged"), "converged"),
            seconds=time.perf_counter() - self.began,
        )

    def descend(self) -> str:
        """Alternate between the SVMs and the probabilities, at falling temperatures, then train on the labels."""
        status = "converged"
        for run in self.runs:
            run.envelope()
        first = (self.method.temperature or self.method.hot) * float(self.cost[self.unknown].mean())
        for temperature in [first] if self.method.temperature else falling(first, self.method.cooling):
            if self.known.entropy() < self.method.certain:
                break
            status = self.stage(temperature)
        self.settle()
        return status

    def stage(self, temperature: float) -> str:
        """Alternate at one temperature until the probabilities settle."""
        status = "max_iter"
        for _ in range(self.settings.max_iter):
            g, energy, objective = self.functions(temperature)
            before = self.known
            self.known = PottsProbabilities.best(g, temperature, self.counts, before.nu)
            if before.divergence(self.known) < self.method.settled:
                status = "converged"
                break
        self.history.append(Temperature(temperature, energy, objective, self.known.entropy()))
        if self.callback is not None:
            self.callback(self.history[-1])
        return status

    def functions(self, temperature: float) -> tuple[Array, float, float]:
        """The SVMs of all classes for the probabilities: g, shape (u, K), the energy, and the labels' objective."""
        shares = [(problem.y > 0).astype(float) for problem in self.problems]
        points = []
        for k, (run, p) in enumerate(zip(self.runs, shares, strict=True)):
            p[self.unknown] = self.known.p[:, k]
            points.append(run.improve(run.instance.weighted_svm(p)))
        losses = self.label_losses([point.outputs for point in points])
        g = self.costs_of_labels(losses)
        self.labels[self.unknown] = np.argmin(g - self.known.nu, axis=1)
        energy, objective = -temperature * len(self.unknown) * self.known.entropy(), 0.0
        for k, (run, point, p, (plus, minus)) in enumerate(zip(self.runs, points, shares, losses, strict=True)):
            labels = self.signs(k)
            expected = point.regularization + run.instance.total(p * plus + (1 - p) * minus, self.cost)
            full = run.value(point, labels)
            run.record(point, stage=temperature, labels=labels, step_objective=expected, objective=full)
            energy, objective = energy + expected, objective + full
        return g, energy, objective

    def settle(self) -> None:
        """SVMs of labels, and better labels at their outputs, as long as that lowers the objective."""
        nearly, least, best = self.known, np.inf, self.labels
        g = self.costs_of_labels(self.label_losses([run.latest.outputs for run in self.runs]))
        for _ in range(self.settings.max_iter):
            self.labels[self.unknown] = nearly.labels(g, self.counts)
            if np.isfinite(least) and np.array_equal(self.labels, best):
                break
            signs = [self.signs(k) for k in range(len(self.runs))]
            points = [run.solve(run.instance.svm(one)) for run, one in zip(self.runs, signs, strict=True)]
            values = [run.value(point, one) for run, point, one in zip(self.runs, points, signs, strict=True)]
            if not sum(values) < least * (1 - 1e-9):
                break
            least, best = sum(values), self.labels.copy()
            for run, point, one, value in zip(self.runs, points, signs, values, strict=True):
                run.record(point, stage=0.0, labels=one, objective=value)
            g = self.costs_of_labels(self.label_losses([point.outputs for point in points]))
            # Probabilities are taken for labels at a millionth of the range of costs.
            nearly = PottsProbabilities.best(g, 1e-6 * max(float(np.ptp(g)), 1e-300), self.counts, self.known.nu)
        self.labels = best

    def label_losses(self, outputs: Sequence[Array]) -> list[tuple[Array, Array]]:
        """What every point would pay in each function for being of its class, and for not being."""
        return [instance.label_losses(f) for instance, f in zip(self.instances, outputs, strict=True)]

    def costs_of_labels(self, losses: Sequence[tuple[Array, Array]]) -> Array:
        """g, shape (u, K): by how much more the unlabelled points cost with each label than without it."""
        return np.asarray(self.cost[self.unknown, None] * np.stack([a - b for a, b in losses], axis=1)[self.unknown])


def _counts(instances: Sequence[Instance]) -> NDArray[np.intp] | None:
    """How many unlabelled points are of each class, or None if that is free; a ValueError if shares do not sum to 1."""
    wanted = [instance.n_positive for instance in instances]
    if all(one is None for one in wanted):
        return None
    u = instances[0].problem.n_unlabeled
    if any(one is None for one in wanted) or abs(sum(one or 0 for one in wanted) - u) > len(wanted):
        shown = ", ".join(instance.balance for instance in instances)
        raise ValueError(f"problems: the shares of all classes must be exact and sum to 1, not {shown}")
    counts = np.array(wanted, dtype=np.intp)
    # Each number was rounded by itself: the largest ones give or take what is too much.
    for k in np.argsort(-counts, kind="stable")[: abs(u - int(counts.sum()))]:
        counts[k] += np.sign(u - int(counts.sum()))
    return counts
