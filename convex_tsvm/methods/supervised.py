"""The SVM of the labelled points alone: what unlabelled points are compared with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ..deadline import unlimited
from ..formulations import Formulation, svm
from ..points import LinearPoints
from ..problem import Problem
from ..solution import Solution
from .cccp import cccp_path
from .frame import unless_interrupted


def supervised_svms(formulation: Formulation, problems: Iterable[Problem]) -> list[Solution]:
    """The SVMs of problems with the same points, with the labelled loss of a formulation and no balance.

    Parameters
    ----------
    formulation : Formulation
    problems : iterable of Problem
        At least one.

    Returns
    -------
    list of Solution
        One for each problem.

    Raises
    ------
    KeyboardInterrupt
        If it came while solving: whoever compares with these is interrupted as well.
    """
    given = [problem.replace(balance=None, balance_sample=None) for problem in problems]
    solver = "finite_newton" if isinstance(given[0].X, LinearPoints) else "native"
    # No deadline ends it: it is the least that there must be.
    with warnings.catch_warnings(), unlimited():
        warnings.simplefilter("ignore")
        found = cccp_path(svm(formulation.labeled, fit_intercept=formulation.fit_intercept), given, solver=solver)
    return list(unless_interrupted(found))
