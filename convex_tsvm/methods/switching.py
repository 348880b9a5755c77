"""Label switching: S3VMlight of Joachims (1999) as chapelle2008 Algorithm 1 has it, with several pairs a round."""

from collections.abc import Sequence

import numpy as np

from ..validation import finite, integer, one_of
from .descents import function_of
from .exchanges import reheat, settle
from .run import Method, Run
from .settings import annealing_schedule, growing


class Switching(Method):
    """Minimize over labels by SVMs and exchanges of labels (chapelle2008 Algorithm 1, sindhwani2006 §1.3).

    The labels of the solution have the number of positive ones that was prescribed.

    Parameters
    ----------
    formulation, problem, solver, start, tol, callback, time_limit, **options
        As in :func:`~convex_tsvm.cccp`; a labelled point's loss is also that of an unlabelled one with a label.  With
        an exact balance, ("exact", r), labels are exchanged in pairs, and the SVMs have no other balance constraint.
    annealing : int or sequence of float, optional
        Factors on C*, as in :func:`~convex_tsvm.cccp`; by default from 10⁻⁵ on, each 1.5 times the one before.
    max_pairs : int, optional
        Pairs exchanged in a round: 1 is the method of Joachims (1999), None all that gain.
    reheats : int, default 0
        In the end C* is lowered and raised again from the best labels, up to so many times, and the best point is
        returned: to 30 % as long as that leads to a lower objective, then to 3 %.
    pairs : {"gain", "slacks"}, default "gain"
        Which pairs are exchanged: those that lower the objective at the outputs as they are (chapelle2008 eq. 6), or
        those with slacks ξ_i, ξ_j > 0 and ξ_i + ξ_j > 2, as in S3VMlight (collobert2006 §3), which for the hinge loss
        leaves some of the others out.
    loosened : float >= 1, default 1.0
        How many times the tolerance is larger at the first factor on C*; it falls to ``tol`` as the factor rises, as
        in S3VMlight (collobert2006 §3).
    max_iter : int, default 1000
        Limit on rounds for each factor.

    Examples
    --------
    >>> ct.switching(ct.tsvm("hinge"), problem.replace(balance=("exact", 0.5))).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name, best = "switching", False  # the last point, as in the paper
    loss = "hinge"
    keeps_number = True

    def __init__(
        self,
        annealing: int | Sequence[float] | None = None,
        max_pairs: int | None = None,
        reheats: int = 0,
        pairs: str = "gain",
        loosened: float = 1.0,
    ) -> None:
        # The paper's algorithm has these factors.
        self.scales = growing(first=1e-5, ratio=1.5) if annealing is None else annealing_schedule(annealing)
        self.max_pairs = None if max_pairs is None else integer("max_pairs", max_pairs, least=1)
        self.reheats = integer("reheats", reheats, least=0)
        self.best = self.reheats > 0
        self.by_slacks = one_of("pairs", pairs, ("gain", "slacks")) == "slacks"
        self.loosened = finite("loosened", loosened, least=1)

    def share(self, first: float, stage: float) -> float:
        """The share of the factors on C*, each of which takes about as long; reheats take a few more."""
        return float(np.searchsorted(self.scales, stage)) / (len(self.scales) + 2 * self.reheats)

    def descend(self, run: Run) -> str:
        """SVMs of all points' labels, and exchanges of labels, for every factor on C*."""
        run.instance.formulation.label_loss(compared=True)  # complains about a loss without labels
        outputs = run.envelope().outputs if run.start is None else run.start
        if self.by_slacks and run.instance.n_positive is None:
            raise ValueError(f"pairs='slacks' needs a prescribed number of positive labels, not {run.instance.balance}")
        labels, status = run.instance.best_labels(outputs), "converged"
        for scale in self.scales:
            # The tolerance falls to that of the last factor on C* as the factor rises.
            looseness = 1.0 if self.scales[0] == 1 else self.loosened ** (np.log(scale) / np.log(self.scales[0]))
            with run.tolerance(run.settings.tol * float(looseness)):
                status, labels = settle(run, labels, float(scale), self.max_pairs, self.by_slacks)
        return reheat(run, labels, self.reheats, self.max_pairs) if self.reheats else status


switching = function_of(Switching, max_iter=1000)
