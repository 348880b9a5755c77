"""Exact class balance by a search on the linear one (chapelle2008 §4)."""

import dataclasses
from collections.abc import Callable

import numpy as np

from ..instance import Instance
from ..instance.instance import largest
from ..notice import warn
from ..problem import MOST_MEAN, Array
from ..solution import Solution

#: What a descent may begin at: the outputs of an SVM, or nothing.
Descend = Callable[[Instance, Array | None], Solution]

#: From labels of all points to the outputs of their SVM; None where there is none.
Train = Callable[[Array], Array | None]


class _Bracket:
    """Two balances c of which one has too few positive labels and the other too many, and the next c between them.

    A solution's *excess* is the output that divides the number of positives wanted from the other points: the points
    would be divided there if the bias were lower by it, and c with it.  It is negative where positives are too few.
    """

    # The balance c is searched in ± this, which is far beyond the outputs of points that pay little.
    most = MOST_MEAN * (1 - 1e-9)
    # The first step of c is at most this many times what the labels that are missed change the mean label by.
    most_step = 4.0
    # The bracket is over where it is narrower than this over the number of points: one or two change sides in it.
    least_width = 0.5

    def __init__(self, n_unlabeled: int, start: float) -> None:
        self._n_unlabeled, self.low, self.high, self.c = n_unlabeled, -self.most, self.most, start
        self._few: float | None = None
        self._many: float | None = None
        self._step, self._before, self._evaluated = 0.0, 0.0, 0

    @property
    def is_narrow(self) -> bool:
        return self.high - self.low < self.least_width / max(self._n_unlabeled, 1000)

    def narrow(self, miss: float, excess: float) -> None:
        """Let c, which misses by so many labels, be an end, and propose the next one."""
        # Where the same end stays, what is known of it counts for less each time, so that it moves as well.
        same = miss * self._before > 0
        if miss < 0:
            self.low, self._few = self.c, min(excess, 0.0)
            self._many = self._many if self._many is None or not same else 0.5 * self._many
        else:
            self.high, self._many = self.c, max(excess, 0.0)
            self._few = self._few if self._few is None or not same else 0.5 * self._few
        self._before, self._evaluated = miss, self._evaluated + 1
        if self._few is None or self._many is None:
            # As many labels as are missed change the mean of all labels by this; outputs may need more, or less.
            labels = 2 * abs(miss) / self._n_unlabeled
            step = max(float(np.clip(abs(excess), labels, self.most_step * labels)), self._step)
            self._step = 2 * step
            self.c -= float(np.sign(miss)) * step
            if self.low < self.c < self.high:
                return
            self.c = 0.5 * (self.low + self.high)
            return
        # Every third time the bracket is halved, whatever the outputs say: they may jump.
        span = self._many - self._few
        share = 0.5 if self._evaluated % 3 == 0 or span <= 0 else -self._few / span
        self.c = self.low + (self.high - self.low) * min(max(share, 0.05), 0.95)


class _Nearest:
    """The solution so far that misses the number of positive labels wanted by least."""

    # After so many descents from nothing, the SVM of the labels wanted says what c is next where a solution misses at
    # most the share of the number wanted: nearer labels are better, but some methods jump over all that is near.
    near_after = ((1, 0.02), (3, 0.04), (5, 0.08), (7, np.inf))
    # At most so many descents in a row begin at SVMs, each of which is nearer than the one before.
    most_trained = 3
    most_descents = 30  # from nothing, in all
    # Where SVMs did not lead there, so many descents from nothing are enough for a miss of at most this share.
    most_anew, near_a_jump = 8, 0.05
    # A miss of at most this share of the number wanted is near enough after an SVM, or after so many descents.
    near_enough, patient = 0.01, 4

    def __init__(self, instance: Instance, wanted: int) -> None:
        self.unlabeled, self.given, self.wanted = instance.problem.unlabeled, instance.problem.y, wanted
        self.solution: Solution | None = None
        # By how many labels, and why the search has to end before its time: "interrupted", "time_limit", or "".
        self.misses_by, self.stopped, self._seconds, self.is_new = instance.problem.n + 1, "", 0.0, False
        self.is_trained = False

    def excess(self, solution: Solution) -> float:
        """The output in the middle between the last point that is to be positive and the first that is not."""
        ordered = np.sort(solution.scores[self.unlabeled])[::-1]
        last, first = ordered[max(self.wanted - 1, 0)], ordered[min(self.wanted, len(ordered) - 1)]
        return float(0.5 * (last + first))

    def take(self, solution: Solution) -> float:
        """By how many labels a solution misses, with the sign."""
        self._seconds += solution.seconds
        miss = float((solution.labels[self.unlabeled] > 0).sum() - self.wanted)
        if abs(miss) < self.misses_by:
            self.solution, self.misses_by, self.is_new = solution, int(abs(miss)), True
        self.stopped = solution.status if solution.status in ("interrupted", "time_limit") else ""
        return miss

    @property
    def is_over(self) -> bool:
        """Whether it misses by none, or the search has to end."""
        return self.misses_by == 0 or bool(self.stopped)

    def is_near_enough(self, count: int) -> bool:
        """Whether what is missed is worth no further descents, after so many from nothing."""
        near = self.share <= self.near_enough and (self.is_trained or count >= self.patient)
        return near or (self.is_trained and count >= self.most_anew and self.share <= self.near_a_jump)

    def may_begin_an_svm(self, count: int) -> bool:
        """Whether it is near enough for an SVM of the labels wanted, after so many descents from nothing."""
        return self.is_new and self.share <= max(share for least, share in self.near_after if count >= least)

    @property
    def share(self) -> float:
        """The miss as a share of the number wanted, or of the other points if they are fewer."""
        return self.misses_by / max(min(self.wanted, len(self.unlabeled) - self.wanted), 1)

    def labels_wanted(self) -> Array:
        """The labels given, and the number wanted of others: the points with the largest scores are positive."""
        assert self.solution is not None
        labels = np.where(self.given != 0, self.given, self.solution.labels)
        labels[self.unlabeled] = largest(self.solution.scores[self.unlabeled], self.wanted)
        return labels

    def result(self) -> Solution:
        """The solution, with the seconds of all, and a warning if it is not what was wanted.

        It has no lower bound: what its descent proved is about one mean output, and others give as many positives.
        """
        assert self.solution is not None
        status = self.stopped or self.solution.status
        if self.stopped:
            warn(f"{self.stopped}: the best balance so far is returned")
        elif self.misses_by:
            warn(f"no balance c gives {self.wanted} positive labels; the nearest misses by {self.misses_by}")
        own = {"seconds": self._seconds, "status": status, "lower_bound": None, "n_positive": self.wanted}
        return dataclasses.replace(self.solution, **own)  # type: ignore[arg-type]


def search_balance(descend: Descend, train: Train, instance: Instance) -> Solution:
    """Search for the c whose solution labels the wanted number of unlabelled points +1 (chapelle2008 §4).

    The mean output c of the linear balance constraint is not the mean label, and may well be beyond ±1; but more points
    turn positive as it rises, so a c is bracketed for which chapelle2008 eq. 3 holds.  Steps come from the output that
    divides the number wanted from the other points, which is to be 0: by as much c is changed at first, and once there
    is a bracket, by false position and by halving.

    Solutions keep most labels while c changes by little, so that the number jumps.  Once a solution is near, the points
    with the largest outputs get the label +1, as many as are wanted, and an SVM is trained on these labels.  The next c
    is the mean of its outputs, and the descent begins there: where the SVM gives its points their labels, they stay.
    Where the number of positives jumps over the one wanted all the same, the nearest solution is returned, with a
    warning.

    ``descend`` solves an instance with a linear balance, and begins at the outputs of an SVM if it is given them;
    ``train`` is from labels, shape (n,), to the outputs of the SVM trained on them, or None if there is no such SVM.
    """
    problem, wanted, c = instance.problem, instance.n_positive, instance.target
    if wanted is None or c is None:
        raise ValueError(f"{instance.balance} must be ('exact', r) for a search")
    nearest, bracket = _Nearest(instance, wanted), _Bracket(problem.n_unlabeled, c)
    try:
        for count in range(1, _Nearest.most_descents + 1):
            solution = descend(instance.with_mean(bracket.c), None)
            miss = nearest.take(solution)
            if nearest.is_over:
                break
            bracket.narrow(miss, nearest.excess(solution))
            if nearest.may_begin_an_svm(count):
                _go_on_from_svms(descend, train, instance, nearest)
            # Going on from SVMs may have ended it.
            if nearest.is_over or bracket.is_narrow or nearest.is_near_enough(count):  # type: ignore[redundant-expr]
                break
    except KeyboardInterrupt:
        if nearest.solution is None:
            raise
        nearest.stopped = "interrupted"
    return nearest.result()


def _go_on_from_svms(descend: Descend, train: Train, instance: Instance, nearest: _Nearest) -> None:
    """Descents that begin at SVMs with the number of positive labels wanted, as long as they are nearer to it."""
    for _ in range(nearest.most_trained):
        nearest.is_new = False
        outputs = train(nearest.labels_wanted())
        if outputs is None:
            return
        nearest.is_trained = True
        mean, before = float(outputs[nearest.unlabeled].mean()), nearest.misses_by
        nearest.take(descend(instance.with_mean(float(np.clip(mean, -_Bracket.most, _Bracket.most))), outputs))
        if nearest.is_over or nearest.misses_by >= before:
            return
