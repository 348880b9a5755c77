"""A number of positive labels that may be missed at a price (Burgard, Pinheiro and Schmidt 2024)."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulations import Formulation
from ..methods import minimize
from ..problem import Problem
from ..relaxations import LowerBoundBuilder
from ..relaxations.envelopes.model import trivial_bound
from ..solution import Solution
from ..validation import finite
from .solve import exact_search


@dataclass(frozen=True)
class SoftCount:
    """The best solution with a number of positive labels that may be missed at a price.

    Attributes
    ----------
    solution : Solution
    n_positive : int
        Its positive labels among the unlabelled points.
    objective : float
        That of the solution, and the price times the labels that are too many or too few.
    lower_bound : float
        What no solution is below, whatever its number of labels is.
    """

    solution: Solution
    n_positive: int
    objective: float
    lower_bound: float


def soft_count(
    formulation: Formulation, problem: Problem, share: float, price: float, *, method: str = "annealing", **options: Any
) -> SoftCount:
    """Minimize a formulation plus a price for every positive label that is missing, or too much, for a share.

    Numbers of labels are tried from that of the share outwards, each as the balance ``("exact", r)``, as long as the
    price of the next one and a bound without any balance are below the best objective; for other methods than exact
    search no longer than until three numbers in a row, on both sides, have not been better.

    Parameters
    ----------
    formulation : Formulation
        One with a balance, whose unlabelled points pay for the better label.
    problem : Problem
        Its own balance is not used.
    share : float in (0, 1)
        Of positive labels among the unlabelled points.
    price : float > 0
        Of each label, in units of the objective.
    method : str, default "annealing"
        A method that takes an exact balance, or "exact", which is exact search.
    **options
        Of that method.

    Examples
    --------
    >>> found = ct.exact.soft_count(ct.tsvm("hinge"), problem, 0.25, 0.5, method="exact")
    >>> found.n_positive, found.solution.labels, bool(found.objective <= 1.001 * found.lower_bound)
    (2, array([-1., -1., -1.,  1.,  1.,  1.]), True)
    """
    finite("price", price, above=0)
    patience = 3  # numbers in a row, on both sides, that are not better, after which no more are tried
    u, bounds, best, waited = problem.n_unlabeled, [np.inf], None, 0
    wanted = round(finite("share", share, above=0, below=1) * u)
    below = _bound_of_all(formulation, problem)
    for missed in range(max(wanted, u - wanted) + 1):
        if best is not None and (
            missed * price + below >= best.objective or (waited == patience and method != "exact")
        ):
            bounds.append(missed * price + below)  # of all that are not tried
            break
        waited += 1
        for count in sorted({wanted - missed, wanted + missed} & set(range(u + 1))):
            # The share of a number that is none, or all, is just beside 0 or 1.
            counted = problem.replace(balance=("exact", float(np.clip(count / u, 1e-9, 1 - 1e-9))))
            if method == "exact":
                solution: Solution = exact_search(formulation, counted, **options)
            else:
                solution = minimize(method, formulation, counted, **options)
            bound = below if solution.lower_bound is None else max(below, solution.lower_bound)
            bounds.append(missed * price + bound)
            found = int((solution.labels[problem.unlabeled] > 0).sum())  # some methods miss a number themselves
            objective = solution.objective + abs(found - wanted) * price
            if best is None or objective < best.objective:
                best, waited = SoftCount(solution, found, objective, -np.inf), 0
    assert best is not None
    return dataclasses.replace(best, lower_bound=float(min(bounds)))


def _bound_of_all(formulation: Formulation, problem: Problem) -> float:
    """What no solution is below, whatever its number of labels is."""
    free, problem = dataclasses.replace(formulation, balance=None), problem.replace(balance=None)
    try:
        return LowerBoundBuilder(free, problem).bound().value
    except ValueError:  # without a balance there may be no relaxation, or no minimum
        return trivial_bound(free.on(problem))
