"""Statements about labels and their probabilities (chapelle2008 §3.2 and §3.3), checked with numbers on a problem."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..formulations import Formulation
from ..instance import Instance
from ..instance.probabilities import Probabilities
from ..methods.exchanges import exchanges
from ..problem import Problem
from ..solvers import NativeSolver
from .report import Check


def label_checks(formulation: Formulation, problem: Problem, tol: float, labellings: int = 5) -> Iterator[Check]:
    """Checks for a formulation in which unlabelled points pay for their better label; none for another.

    Pairs are exchanged from so many random ``labellings``.
    """
    try:
        formulation.label_loss()
    except ValueError:
        return
    if not formulation.regularizer.is_squared_norm or formulation.additions:
        return
    rng = np.random.default_rng(0)
    prescribed = problem.replace(balance=("exact", 0.5)) if problem.n_unlabeled > 1 else problem
    instance = Instance(formulation.balanced_as(prescribed), prescribed)
    solver = NativeSolver(problem, tol=1e-8)
    rise, promised, exchanged = 0.0, 0.0, 0
    for _ in range(labellings):
        labels = instance.best_labels(rng.normal(size=problem.n))
        point = solver.solve(instance.svm(labels))
        before = instance.labelled_objective(point.outputs, point.regularization, labels)
        changed = exchanges(instance, point.outputs, labels, problem.cost)
        exchanged += len(changed) // 2
        labels[changed] *= -1
        fixed = instance.labelled_objective(point.outputs, point.regularization, labels)
        again = solver.solve(instance.svm(labels))
        after = instance.labelled_objective(again.outputs, again.regularization, labels)
        promised = max(promised, (fixed - before) / max(1.0, before))
        rise = max(rise, (after - fixed) / max(1.0, before))
    yield Check(
        "eq_6",
        "exchanging labels that satisfy eq. 6 lowers the losses at fixed outputs, and retraining lowers them further",
        "chapelle2008 §3.2, eq. 6",
        max(rise, promised),
        tol,
        f"{exchanged} pairs exchanged in {labellings} labellings",
    )
    positive, negative = instance.label_losses(rng.normal(size=problem.n))
    unknown = problem.unlabeled
    g = (problem.cost * (positive - negative))[unknown]
    T, count = float(np.abs(g).mean()) or 1.0, instance.n_positive
    known = Probabilities.best(g, T, count)
    p = known.p
    inside = (p > 1e-12) & (p < 1 - 1e-12)
    # Where eq. 7 plus the entropy is stationary, g + T log(p / (1 - p)) is the multiplier ν for all points.
    nu = g[inside] + T * np.log(p[inside] / (1 - p[inside]))
    miss = abs(p.sum() - count) / len(p) if count is not None else 0.0
    yield Check(
        "eq_8",
        "the probabilities of eq. 8 make the expected objective less T times the entropy stationary under the balance",
        "chapelle2008 §3.3, eq. 7-8",
        max(float(np.ptp(nu)) / T if len(nu) else 0.0, miss),
        1e-6,
        f"mean entropy {known.entropy():.4g} at T = {T:.4g}, ν = {nu.mean() if len(nu) else 0.0:.8g}",
    )
