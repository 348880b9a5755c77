"""The SVM of the labelled points alone, with which solutions that use unlabelled points are compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ..deadline import unlimited
from ..formulations import Formulation, svm
from ..problem import Problem
from ..solution import Solution
from .cccp import cccp_path
from .run import unless_interrupted


def supervised_svms(formulation: Formulation, problems: Iterable[Problem]) -> list[Solution]:
    """The SVMs of one or more problems with the same points, with the labelled loss of a formulation and no balance.

    Deadlines do not end them.  Ctrl-C raises KeyboardInterrupt, as a comparison with unfinished SVMs would be wrong.
    """
    given = [problem.replace(balance=None, balance_sample=None) for problem in problems]
    # No deadline ends this: callers cannot do without the supervised SVM.
    with warnings.catch_warnings(), unlimited():
        warnings.simplefilter("ignore")
        found = cccp_path(svm(formulation.labeled, fit_intercept=formulation.fit_intercept), given)
    return list(unless_interrupted(found))
