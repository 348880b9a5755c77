"""Deterministic annealing: labels as probabilities, cooled (chapelle2008 §3.3 and Algorithm 2, sindhwani2006 §1.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import entr, expit, rel_entr

from ..formulations import Formulation
from ..instance import StepSolver
from ..problem import Array, Problem
from ..solution import Solution
from ..validation import finite
from .frame import Callback, Method, Run, Settings, minimize

#: The first temperature, in units of C*.
HOT = 10.0

#: The last temperature, in units of the first: probabilities that are no labels there belong to points that tie.
COLD = 1e-9

#: Probabilities count as labels below this mean entropy.
CERTAIN = 1e-6


class Annealing(Method):
    """The procedure with its settings (see :func:`annealing`)."""

    name = "annealing"
    keeps_number = True

    def __init__(self, cooling: float = 1.5, settled: float = 1e-6, best: bool = False) -> None:
        self.cooling, self.best = finite("cooling", cooling, above=1), bool(best)
        self.settled = finite("settled", settled, above=0)

    def descend(self, run: Run) -> str:
        """Alternate between the SVM and the probabilities, at falling temperatures, until these are labels."""
        run.instance.formulation.label_loss()  # complains about a loss without labels
        instance, status = run.instance, "converged"
        unknown, share = instance.problem.unlabeled, instance.positive_share
        temperature = HOT * float(instance.cost[unknown].mean())
        run.envelope()
        p = np.where(instance.problem.y == 0, share, (instance.problem.y > 0).astype(float))
        if run.start is not None:
            p[unknown] = self.probabilities(run, run.start, temperature)
        last = COLD * temperature
        while entropy(p[unknown]) >= CERTAIN and temperature > last:
            status, p = self.stage(run, p, temperature)
            temperature /= self.cooling
        # At temperature 0 probabilities are labels; of points that cost the same as each other, some of either sign.
        labels = instance.best_labels(run.latest.outputs)
        run.record(run.solve(instance.svm(labels)), stage=0.0, labels=labels)
        return status

    def stage(self, run: Run, p: Array, temperature: float) -> tuple[str, Array]:
        """Alternate at one temperature until the probabilities settle."""
        instance, unknown, moved = run.instance, run.instance.problem.unlabeled, 0
        for _ in range(run.settings.max_iter):
            point = run.solve(instance.weighted_svm(p))
            energy = instance.expected_objective(point.outputs, point.regularization, p)
            energy -= temperature * len(unknown) * entropy(p[unknown])
            labels = instance.best_labels(point.outputs)
            run.record(point, stage=temperature, changed=moved, step_objective=energy, labels=labels)
            before, p = p, p.copy()
            p[unknown] = self.probabilities(run, point.outputs, temperature)
            moved = int((np.abs(p - before) > run.settings.tol).sum())
            if divergence(before[unknown], p[unknown]) < self.settled:
                return "converged", p
        return "max_iter", p

    def probabilities(self, run: Run, outputs: Array, temperature: float) -> Array:
        """The best probabilities at fixed outputs (chapelle2008 eq. 8)."""
        instance, unknown = run.instance, run.instance.problem.unlabeled
        positive, negative = instance.label_losses(outputs)
        g = instance.cost[unknown] * (positive - negative)[unknown]
        return label_probabilities(g, temperature, instance.n_positive)


def label_probabilities(g: Array, temperature: float, n_positive: int | None = None) -> Array:
    """p_i = 1 / (1 + exp((g_i - ν) / T)), with the ν for which they sum to ``n_positive``, or ν = 0 (eq. 8).

    g, shape (u,), is by how much more each point costs with the label +1.
    """
    if n_positive is None:
        return expit(-g / temperature)
    if n_positive in (0, len(g)):
        return np.full(len(g), float(n_positive > 0))
    # At these ends each p_i is on one side of the mean that is asked for; the sum rises with ν in between.
    shift = temperature * np.log(n_positive / (len(g) - n_positive))
    low, high = float(g.min()) + shift, float(g.max()) + shift
    if high - low <= 1e-14 * max(abs(low), abs(high)):
        return np.full(len(g), n_positive / len(g))
    nu = brentq(lambda nu: expit((nu - g) / temperature).sum() - n_positive, low, high, xtol=1e-13 * (high - low))
    return np.asarray(expit((nu - g) / temperature))


def entropy(p: Array) -> float:
    """Mean of -p log p - (1 - p) log(1 - p)."""
    return float((entr(p) + entr(1 - p)).mean())


def divergence(p: Array, q: Array) -> float:
    """Mean of the Kullback-Leibler divergences of q from p (sindhwani2006 eq. 1.17)."""
    return float((rel_entr(p, q) + rel_entr(1 - p, 1 - q)).mean())


def annealing(
    formulation: Formulation,
    problem: Problem,
    *,
    solver: str | StepSolver = "native",
    start: ArrayLike | Solution | None = None,
    cooling: float = 1.5,
    settled: float = 1e-6,
    best: bool = False,
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
    **options: Any,
) -> Solution:
    """Minimize over label probabilities at falling temperatures (chapelle2008 Algorithm 2).

    Parameters
    ----------
    formulation, problem, solver, start, tol, callback, **options
        As in :func:`~convex_tsvm.cccp`; an unlabelled point pays the labelled points' loss of both labels.  With an
        exact balance, ("exact", r), the probabilities sum to the number of positive labels that is asked for.
    cooling : float > 1, default 1.5
        R: each temperature is that before divided by it, from 10 C* on.
    settled : float > 0, default 1e-6
        Mean divergence from the probabilities before at which a temperature is done.  10⁻⁴ takes a third of the steps
        and does no harm on g50c; on text with the squared hinge the objective is then a fifth higher.
    best : bool, default False
        Return the best point of the path (sindhwani2006) and not the last (chapelle2008).
    max_iter : int, default 100
        Limit on SVMs for each temperature.

    Returns
    -------
    Solution
    """
    settings, method = Settings(tol, max_iter, callback), Annealing(cooling, settled, best)
    return minimize(method, formulation, problem, solver=solver, start=start, settings=settings, options=options)
