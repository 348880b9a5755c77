"""Formulations by the names of the table, stated for a problem: :func:`build`.

The command line, the estimators and the documentation ask for a formulation here, so that its options have the same
meaning and the same defaults for all of them.  Each function states one formulation that needs the problem for that; it
is an entry of ``table.FORMULATIONS``, as those are that :func:`~convex_tsvm.register` adds.
"""

import inspect
from typing import Any, NamedTuple

import numpy as np

from ..kernels import laplacian_kernel
from ..problem import Problem
from ..table import FORMULATIONS
from ..validation import finite, one_of
from .formulation import Formulation
from .tsvm import compact_margin, compactness_cost, compactness_weights, relative_margin, svm, tsvm


class Stated(NamedTuple):
    """A formulation, and the problem as it sees it.

    Attributes
    ----------
    problem : Problem
        The problem that was given, with another kernel, other costs or another balance where the formulation says so.
    """

    formulation: Formulation
    problem: Problem


def build(name: str, problem: Problem, **options: Any) -> Stated:
    """A formulation by its name, for a problem.

    Parameters
    ----------
    name : str
        What ``ct.table.FORMULATIONS`` lists.
    problem : Problem
        Points, labels, kernel, costs and balance.
    **options
        Those of the formulation, as the table lists them with their defaults.

    Returns
    -------
    Stated
        ``formulation, problem``, which any method takes.

    Examples
    --------
    >>> ct.cccp(*ct.build("cmm", problem, epsilon=2.0)).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    one_of("name", name, tuple(FORMULATIONS))
    entry = FORMULATIONS[name]
    for option, value in options.items():
        if option not in entry.options:
            taken = ", ".join(entry.options) or "none"
            raise ValueError(f"{option}={value!r} is no option of the formulation {name}, which takes {taken}")
    function, given = entry.load(), {**entry.defaults, **options}
    if "problem" in inspect.signature(function).parameters:
        given["problem"] = problem
    made = function(**given)
    formulation, problem = made if isinstance(made, tuple) and len(made) == 2 else (made, problem)
    if not isinstance(formulation, Formulation) or not isinstance(problem, Problem):
        raise ValueError(
            f"name={name!r}: its function returned {made!r}; it must return a Formulation, or it and a Problem"
        )
    return Stated(formulation.balanced_as(problem) if entry.is_balanced else formulation, problem)


def _supervised(problem: Problem, loss: str, s: float, fit_intercept: bool) -> Stated:
    """The supervised part of a TSVM, with the balance of the problem as a mean of the outputs."""
    return Stated(tsvm(loss, s=s, fit_intercept=fit_intercept).supervised(), problem.by_mean())


def _compact_margin(
    problem: Problem, epsilon: float, C_compact: float | str | None, s: float, fit_intercept: bool
) -> Formulation:
    weights = compactness_weights(problem, compactness_cost(problem, C_compact))
    return compact_margin(epsilon, *weights, s=s, fit_intercept=fit_intercept)


def _relative_margin(
    problem: Problem, epsilon: float, C_compact: float | str, semi_supervised: bool, fit_intercept: bool
) -> Stated:
    """``C_compact`` becomes the problem's C*; if it is infinite, |f| <= ε is a constraint on all points."""
    if isinstance(C_compact, str):
        if C_compact != "balanced":
            raise ValueError(f"C_compact={C_compact!r} must be a number > 0, inf or 'balanced'")
        problem = problem.replace(C_unlabeled="balanced") if problem.n_unlabeled else problem
        C_compact = compactness_cost(problem, None)
    elif C_compact != np.inf:
        C_compact = finite("C_compact", C_compact, above=0)
        problem = problem.replace(C_unlabeled=C_compact) if problem.n_unlabeled else problem
    weight, _ = compactness_weights(problem, C_compact)
    formulation = relative_margin(epsilon, weight, balance="linear", fit_intercept=fit_intercept)
    return Stated(formulation if semi_supervised else formulation.supervised(), problem)


def _laplacian(problem: Problem, fit_intercept: bool, **graph: Any) -> Stated:
    return Stated(svm(fit_intercept=fit_intercept), on_neighbor_graph(problem, **graph))


def _transductive_laplacian(problem: Problem, loss: str, s: float, fit_intercept: bool, **graph: Any) -> Stated:
    return Stated(tsvm(loss, s=s, fit_intercept=fit_intercept), on_neighbor_graph(problem, **graph))


def on_neighbor_graph(
    problem: Problem, *, C_manifold: float, n_neighbors: int, normalized: bool, power: int, cache_size: float | str
) -> Problem:
    """The problem in the feature space of a Laplacian SVM: its kernel is deformed by the graph of nearest neighbours.

    Parameters and errors are those of :func:`~convex_tsvm.kernels.laplacian_kernel`.
    """
    kernel = laplacian_kernel(
        problem.kernel, problem.X, C_manifold, n_neighbors, normalized=normalized, power=power, cache_size=cache_size
    )
    return problem.replace(kernel=kernel)
