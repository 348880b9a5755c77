"""Statements about the modified finite Newton method and the losses it serves (sindhwani2006 §1.2 and §1.4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..formulations import Formulation
from ..instance import Instance
from ..instance.convex_step import ConvexStep
from ..instance.probabilities import Probabilities
from ..problem import Array, Problem
from ..solvers import NativeSolver
from ..solvers.finite_newton import FiniteNewton
from ..solvers.finite_newton.newton import NewtonDescent
from .report import Check


def finite_newton_checks(formulation: Formulation, problem: Problem, tol: float) -> Iterator[Check]:
    """Checks for a linear problem whose labelled points have the squared hinge; none for another."""
    t = np.linspace(-3, 3, 25)
    if not (
        problem.is_linear and formulation.is_plain and np.allclose(formulation.labeled(t), np.maximum(1 - t, 0) ** 2)
    ):
        return
    instance, rng = Instance(formulation, problem), np.random.default_rng(0)
    if instance.target is not None and not formulation.fit_intercept:
        return  # the solver supports a constraint on the mean output only where there is a bias
    labels = np.where(problem.y == 0, rng.choice([-1.0, 1.0], problem.n), problem.y)
    step, solver = instance.svm(labels), FiniteNewton(problem, tol=1e-10)
    x = rng.normal(size=solver.directions(step).space.size)
    descent = NewtonDescent(solver, step, solver._check(step), x, solver.directions(step).space.outputs(x, step.target))
    yield from _steps(step, labels, descent, tol)
    found, other = solver.solve(step), NativeSolver(problem, tol=1e-10).solve(step)
    yield Check(
        "newton_optimum",
        "the Newton steps end, at the optimum that the dual has",
        "sindhwani2006 §1.2, Keerthi and DeCoste (2005)",
        abs(found.primal - other.dual) / max(1.0, abs(other.dual)),
        max(tol, 1e-8),
        f"{found.n_iter} steps, {found.primal:.10g}; dual {other.dual:.10g}",
    )
    if problem.n_unlabeled and problem.cost[problem.unlabeled].all():
        yield from _probabilities(instance, rng)


def _steps(step: ConvexStep, labels: Array, descent: NewtonDescent, tol: float) -> Iterator[Check]:
    """Objective, Newton point and line search at one x, written out as the paper has them, with C in place of 1 / λ."""
    space, cost, x, f = descent.space, step.problem.cost, descent.x, descent.f
    lacking = np.maximum(1 - labels * f, 0)
    active = lacking > 0
    penalty = 0.5 * float(x @ (space.ridge * x))
    gradient = descent._gradient()
    scale = max(1.0, penalty + descent.loss)
    yield Check(
        "eq_1_2",
        "the losses are those of the points in the active set, where y f < 1, alone",
        "sindhwani2006 eq. 1.1-1.2",
        abs(float((cost * lacking**2)[active].sum()) - step.loss_value(f)) / scale,
        1e-10,
        f"{active.sum()} of {len(f)} points are active",
    )
    p = descent.directions.newton(descent.h, gradient, 1e-12)
    outputs = f + space.change(p)
    # λ w + X_Aᵀ C (X_A w - y) = 0 in the variables of the space, where λ is 1 and C is twice the cost.
    missed = space.ridge * (x + p) + space.pull(np.where(active, 2 * cost * (outputs - labels), 0.0))
    yield Check(
        "eq_1_4",
        "the Newton point solves the regularized least squares of the active set",
        "sindhwani2006 eq. 1.3-1.4",
        float(np.abs(missed).max()) / max(1.0, float(np.abs(gradient).max())),
        max(tol, 1e-8),
    )
    change = space.change(p)
    length = descent._line_search(p, change, abs(float(gradient @ p)))

    def slope(t: float) -> float:
        short = np.maximum(1 - labels * (f + t * change), 0)
        return float((space.ridge * (x + t * p)) @ p) - 2 * float((cost * labels * short) @ change)

    # Line searches end once the slope along the step has fallen to this share of its first value.
    yield Check(
        "eq_1_5",
        "the line search ends where the derivative, which rises and is piecewise linear, is next to zero",
        "sindhwani2006 eq. 1.5",
        abs(slope(length)) / abs(slope(0.0)),
        1.1e-3,
        f"step length {length:.6g}",
    )


def _probabilities(instance: Instance, rng: np.random.Generator) -> Iterator[Check]:
    """The doubled data and the best probabilities of deterministic annealing."""
    problem, unknown = instance.problem, instance.problem.unlabeled
    f, positive = rng.normal(size=problem.n), (problem.y > 0).astype(float)
    positive[unknown] = rng.uniform(0.05, 0.95, len(unknown))
    doubled, expected = instance.weighted_svm(positive), instance.expected_objective(f, 0.0, positive)
    constant = instance.total(np.zeros(problem.n), problem.cost)
    yield Check(
        "eq_1_8",
        "the SVM of every unlabelled point twice, with costs p C* and (1 - p) C* of its labels, has the expected loss",
        "sindhwani2006 eq. 1.6 and 1.8",
        abs(doubled.loss_value(f) + constant - expected) / max(1.0, abs(expected)),
        1e-10,
        f"{len(doubled.kind)} terms for {problem.n} points",
    )
    losses = instance.label_losses(f)
    g = (problem.cost * (losses[0] - losses[1]))[unknown]
    T, wanted = float(np.abs(g).mean()) or 1.0, max(1, len(unknown) // 3)
    if len(unknown) < 2:
        return
    found = Probabilities.best(g, T, wanted)

    def energy(p: Array) -> float:
        certain = np.clip(p, 1e-300, 1), np.clip(1 - p, 1e-300, 1)
        return float(g @ p + T * sum(share @ np.log(share) for share in certain))

    rise = np.inf
    for _ in range(20):
        # The change is moved so that the sum of the probabilities stays the same.
        move = rng.normal(size=len(unknown)) * found.p * (1 - found.p)
        weight = found.p * (1 - found.p)
        move -= weight * (move.sum() / weight.sum())
        rise = min(rise, energy(np.clip(found.p + 0.01 * move, 0, 1)) - energy(found.p))
    yield Check(
        "eq_1_9",
        "the probabilities 1 / (1 + exp((g - 2ν) / T)) sum to r u, and no others with this sum have a lower energy",
        "sindhwani2006 eq. 1.6, 1.7 and 1.9",
        max(abs(float(found.p.sum()) - wanted) / len(unknown), max(0.0, -rise) / max(1.0, abs(energy(found.p)))),
        1e-9,
        f"r = {wanted / len(unknown):.3g}, T = {T:.4g}, 2ν = {found.nu:.6g}",
    )
