"""Maximum-margin clustering: a formulation without a labelled point, from several first guesses (Xu et al. 2005)."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..deadline import share_of_time, time_is_up, within
from ..formulations import Formulation, tsvm
from ..instance import Instance, StepSolver, labels_of, principal_components
from ..kernels import Precomputed, neighbor_graph
from ..problem import Array, Problem
from ..solution import Solution
from ..ties import EQUAL
from ..validation import integer, is_sparse
from .continuation import Continuation
from .descents import Descents, asked, first_negative
from .run import Method
from .settings import Settings
from .spectral import spectral_subspace


def max_margin_clustering(
    formulation: Formulation,
    problem: Problem,
    *,
    method: str | Method = "cccp",
    n_init: int = 4,
    solver: str | StepSolver = "auto",
    tol: float = 1e-3,
    max_iter: int = 100,
    time_limit: float | None = None,
    **options: Any,
) -> Solution:
    """Divide points into two clusters such that a function with a large margin tells them apart.

    The formulation is minimized from several guesses, and the point with the lowest objective is returned.  They are
    the first principal component of the points in the feature space, the smooth S3VM by continuation (for up to 2000
    points), the cut of the graph of neighbours, and further components.  The labels +1 and -1 are the clusters; that of
    the first point is -1, unless the balance or a constraint tells the clusters apart.

    Parameters
    ----------
    formulation : Formulation
        With a balance, or a constraint such as :func:`~convex_tsvm.mean_output`: without one all points are best put
        into one cluster.
    problem : Problem
        With a number for a balance, or an exact share; usually without labels.  C* is the cost of every point.
    method : str or Method
        How the objective is minimized from each guess.
    n_init : int >= 1, default 4
        Number of guesses.
    solver, tol, max_iter, **options
        As in :func:`~convex_tsvm.cccp`.
    time_limit : float > 0, optional
        Seconds for all guesses together; those that no time is left for are left out.

    Examples
    --------
    >>> problem = ct.Problem(X, np.zeros(6), kernel=ct.RBF(1.0), C_unlabeled=1, balance=0.0)
    >>> ct.max_margin_clustering(ct.tsvm("hinge"), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    began, n_init, method = time.perf_counter(), integer("n_init", n_init, least=1), asked(method)
    instance, best = Instance(formulation, problem), None
    with within(time_limit):
        descents = Descents(method.from_guess(), solver=solver, settings=Settings(tol, max_iter), options=options)
        rest = guesses(instance, n_init)
        for k in range(n_init):
            with share_of_time(n_init - k):
                guess = next(rest, None)
                if guess is None:
                    break
                found = descents.solve(formulation, instance.problem, (), guess)[0]
            if best is None or found.objective < best.objective - EQUAL * abs(best.objective):
                best = found
            if found.status == "interrupted" or time_is_up():
                best = replace(best, status=found.status)
                break
        assert best is not None
    return replace(first_negative(best), seconds=time.perf_counter() - began)


def guesses(instance: Instance, n: int) -> Iterator[Array]:
    """Labels to begin with, each of shape (n,) and another than those before it, at most so many."""
    problem = instance.problem
    components = principal_components(problem, n)
    scores: list[Callable[[], Array]] = [lambda: components[:, 0]]
    # Continuation begins with the coarse structure; it factors the kernel matrix, which takes long for more points.
    if problem.n <= 2000 and instance.formulation.regularizer.is_squared_norm:
        smooth = Descents(Continuation(), solver="auto", settings=Settings(), options={})
        scores.append(lambda: smooth.solve(tsvm("exp"), problem.by_mean())[0].scores)
    X = problem.X
    has_points = not isinstance(problem.kernel, Precomputed) and (is_sparse(X) or isinstance(X, np.ndarray))
    if has_points and problem.n > 2:
        graph = neighbor_graph(X, min(6, problem.n - 1))
        scores.append(lambda: spectral_subspace(graph, np.zeros(problem.n), 2, constrained=False)[0][:, 1])
    scores += [partial(components.__getitem__, (slice(None), k)) for k in range(1, components.shape[1])]
    seen: set[bytes] = set()
    for score in scores[:n]:
        labels = labels_of(instance, score())
        if labels.tobytes() not in seen:
            seen.add(labels.tobytes())
            yield labels
