"""S4VM (Li and Zhou 2015) as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations import Formulation
from ..methods.cccp import supervised_svms
from ..methods.safe import SafeSolution, safe_transduction
from ..problem import Problem
from ..solution import Solution
from .labels import Labels
from .parameters import estimator, taken
from .relaxed import LabellingTransduction


@estimator
class SafeTransductiveSVC(LabellingTransduction):
    """Safe semi-supervised SVM (S4VM; Li and Zhou 2015): unlabelled points are used where that does not hurt.

    Of several different low-density separators none is known to be right.  The labels are those that improve most on
    the supervised SVM in the worst case, if one of the separators is the true one; they are the SVM's own where nothing
    is sure, and where labels that are left out speak against those found.  More than two classes are learned
    one-vs-rest: a point is of the class that takes it, and where none does, or several, the supervised SVMs decide.

    Time grows like that of ``n_starts`` fits of :class:`~convex_tsvm.TransductiveSVC`, which share kernel values.
    ``C`` and ``C_unlabeled`` are smaller by default than there: what larger ones gain on average is not worth what they
    lose on some data.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        Loss of all points.
    n_separators : int >= 1
        Separators, of which any may be the true one.
    n_starts : int >= 1
        Descents from different starts, among which separators are chosen.
    penalty : float >= 0
        λ: what a label of the SVM that is spoilt costs, in labels that are corrected.
    folds : int >= 2, or 0
        Parts of the labelled points that are left out to see whether the labels found are as good as the supervised
        SVM's; 0 leaves none out, and takes half the time.

    Attributes
    ----------
    worst_improvement_ : float or list of float
        By how many labels, those that are spoilt counted λ times, the result is better than the supervised SVM, if one
        of the separators has the true labels: a bound under that assumption, which nothing proves.  One per
        classifier if there are several.
    left_out_errors_ : (int, int), None, or list of such
        Errors at labels that were left out, of the labels found and of the supervised SVM's.
    given_up_ : bool or list of bool
        Whether the labels are the supervised SVM's since the former errors are more than chance explains.
    lower_bound_, gap_ : None
        Labels that are safe are not those with the least objective.

    Examples
    --------
    >>> ct.SafeTransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    C: float = 1.0
    C_unlabeled: float | str = "balanced"
    balance: Any = "auto"
    class_weight: Any = None
    fit_intercept: bool = True
    n_separators: int = 10
    n_starts: int = 30
    penalty: float = 3.0
    folds: int = 5
    random_state: int = 0
    time_limit: float | None = None

    def _with_shares(self, first: Problem, labels: Labels) -> Labels:
        labels = super()._with_shares(first, labels)
        self._range = {}
        for k in labels.positives:
            if labels.inferred is None:
                break
            # Separators may have other shares than the inferred ones, by so many standard deviations and some more.
            share, room = labels.inferred.shares[k], 2.0 * labels.inferred.errors[k] + 0.1
            self._range[str(labels.classes[k])] = (share - room, share + room)
        return labels

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> SafeSolution:
        with self._status(lambda: f"class {name}") as progress:
            tell = None if progress is None else lambda k: progress.tell(f"{k} of {self.n_starts} starts")
            shares = self._range.get(name, (0.0, 1.0))
            own = taken(self, safe_transduction)
            return safe_transduction(formulation, problem, **own, share_range=shares, callback=tell)

    def _store(self, labels: Labels, solutions: list[Solution]) -> None:
        super()._store(labels, solutions)
        if len(self.classes_) > 2 and labels.unlabeled.any():
            self.transduction_ = np.where(labels.unlabeled, self.classes_[_agreed(solutions)], self.transduction_)
        for name in ("worst_improvement", "left_out_errors", "given_up"):
            found = [getattr(one, name) for one in self.solutions_ if isinstance(one, SafeSolution)]
            setattr(self, f"{name}_", found[0] if len(found) == 1 else found)


def _agreed(solutions: list[Solution]) -> NDArray[np.intp]:
    """The class of every point, shape (n,), as a place in the solutions.

    It is the one of largest supervised output among those whose solution labels the point +1, or of all if none does.
    """
    taken = np.column_stack([solution.labels > 0 for solution in solutions])
    alone = supervised_svms(solutions[0].formulation, [solution.problem for solution in solutions])
    outputs = np.column_stack([one.scores for one in alone])
    open_to = taken | ~taken.any(axis=1, keepdims=True)
    return np.asarray(np.where(open_to, outputs, -np.inf).argmax(axis=1))
