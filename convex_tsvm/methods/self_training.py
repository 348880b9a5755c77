"""Self-training of all classes together: SVMs learn from the points that they are surest of, and then from the others.

It is coordinate descent of the S3VM with the hinge loss and one label a point, in which points have costs of their own
that rise from 0: in each round those count whose labels are clearest (self-paced learning, Kumar, Packer and Koller
2010).  Labels may be taken back, as they may not be in the self-training of Yarowsky (1995).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..decision import chosen_classes, of_each_class
from ..instance import Instance
from ..problem import Array
from ..solution import Solution
from ..ties import rounded
from ..validation import finite, integer
from .descents import function_of
from .run import Method, Run
from .together import Together


class SelfTraining(Method):
    """Minimize over labels by SVMs that learn from the points that they are surest of, and then from the others.

    In each round every unlabelled point is given the class k with the largest f_k + ν_k, where ν moves the sizes of the
    classes towards those that the balance asks for.  Those whose best class is furthest ahead of the second pay for
    their labels, in round r the share r / ``rounds`` of them, and the SVM is solved for these labels.  When all pay,
    rounds go on as long as that lowers the objective.  Estimators learn more than two classes together in this way.

    Parameters
    ----------
    formulation, problem, solver, tol, callback, time_limit, **options
        As in :func:`~convex_tsvm.cccp`; a labelled point's loss is also that of an unlabelled one with a label.  A
        balance is a mean output, or none.
    start : array, shape (n,), or Solution, optional
        Outputs whose labels all points pay for from the first round on; a solution gives dual variables as well.
    rounds : int, default 9
        Rounds until all points pay.
    strength : float > 0, default 0.3
        ν_k is ``strength`` (1 - n_k / s_k), with n_k the share of points of class k, and s_k that which is asked for.
    max_iter : int, default 100
        Limit on rounds in which all points pay.

    Raises
    ------
    ValueError
        If the loss of unlabelled points is not that of a label to be found, or a number of labels is asked for.

    Examples
    --------
    >>> ct.methods.self_training(ct.tsvm("hinge"), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name, loss, best = "self_training", "hinge", False

    #: For ν labels are probabilities at this temperature, or at so many standard deviations of outputs if that is less.
    temperature, deviations = 0.3, 0.6

    def __init__(self, rounds: int = 9, strength: float = 0.3) -> None:
        self.rounds, self.strength = integer("rounds", rounds, least=1), finite("strength", strength, above=0)

    def descend(self, run: Run) -> str:
        """Self-training of two classes, of which the run is that of the positive one."""
        run.instance.formulation.label_loss(compared=True)  # complains about a loss without labels
        known = run.instance.problem.y if run.start is None else run.instance.best_labels(run.start)
        return self.learn([run], (known > 0).astype(np.intp), shares_of([run.instance]), run.start is not None)

    def learn(self, runs: Sequence[Run], labels: NDArray[np.intp], shares: Array | None, begun: bool = False) -> str:
        """Steps of the runs of the classes, or of the second of two; ``labels``, shape (n,), become those of points.

        ``shares`` of the unlabelled points are those of the classes, None if nothing is said of them.  ``begun``: all
        points have labels to begin with, and pay for them.
        """
        problem, least, number = runs[0].instance.problem, np.inf, self.rounds if begun else 0
        unknown, counting, before = problem.unlabeled, (problem.y != 0) | begun, labels
        # Points without a cost get labels like the others, and say nothing.
        paying = problem.cost[unknown] > 0
        while number < self.rounds + runs[0].settings.max_iter:
            points, values, stage = [], [], min(number / self.rounds, 1.0)
            signs = [np.where(labels == k, 1.0, -1.0) for k in ([1] if len(runs) == 1 else range(len(runs)))]
            for run, one in zip(runs, signs, strict=True):
                if number == 0:
                    points.append(run.begun(run.solve(run.envelope_step())))
                else:
                    points.append(run.solve(run.instance.svm(np.where(counting, one, 0.0))))
                values.append(run.value(points[-1], one))
            if not sum(values) < least * (1 - 1e-9):
                labels[:] = before
                return "converged"
            least = sum(values) if stage == 1 else np.inf
            for run, point, one, value in zip(runs, points, signs, values, strict=True):
                run.record(point, stage=stage, labels=one, objective=value)
            outputs = of_each_class(np.column_stack([point.outputs[unknown] for point in points]))
            ahead = outputs if shares is None else outputs + self._multipliers(outputs[paying], shares)
            before = labels.copy()
            labels[unknown] = chosen_classes(ahead[:, 1] - ahead[:, 0] if len(runs) == 1 else ahead)
            if stage == 1 and np.array_equal(labels, before):
                return "converged"
            number += 1
            clear, ordered = unknown[paying], np.sort(ahead[paying], axis=1)
            count = int(np.ceil(min(number / self.rounds, 1.0) * len(clear)))
            counting[unknown] = False
            # Points that are as sure as the last of these come with it, so that their order makes no difference.
            lead = rounded(ordered[:, -1] - ordered[:, -2])
            counting[clear] = lead >= np.sort(lead)[::-1][count - 1 : count].min(initial=np.inf)
        return "max_iter"

    def _multipliers(self, outputs: Array, shares: Array) -> Array:
        """ν: at its value ν_k is ``strength`` (1 - n_k / s_k), with n_k the share of points of class k by f + ν."""
        temperature = min(self.temperature, self.deviations * float(outputs.std())) or 1.0

        def dual(nu: Array) -> tuple[float, Array]:
            scaled = (outputs + nu) / temperature
            sums = logsumexp(scaled, axis=1)
            found = np.exp(scaled - sums[:, None]).mean(axis=0)
            pull = shares * nu / self.strength
            return temperature * float(sums.mean()) - float(shares @ nu - 0.5 * pull @ nu), found - shares + pull

        return np.asarray(scipy.optimize.minimize(dual, np.zeros(len(shares)), jac=True, method="L-BFGS-B").x)


class SeveralClasses(Together):
    """Self-training of more than two classes."""

    method: SelfTraining

    def __init__(self, *given: Any, starts: Sequence[Solution | None] | None = None) -> None:
        super().__init__(*given)
        before = [one for one in starts or () if one is not None]
        #: Whether solutions of nearly the same problems say what labels to begin with.
        self.begun = len(before) == len(self.runs)
        if self.begun:
            best = np.argmax([one.scores for one in before], axis=0)
            self.labels[self.unknown] = best[self.unknown]

    def descend(self) -> str:
        """The rounds of the method, for all classes."""
        return self.method.learn(self.runs, self.labels, shares_of(self.instances), self.begun)


def shares_of(instances: Sequence[Instance]) -> Array | None:
    """The shares of the classes among the unlabelled points, as the mean outputs of the balances have them."""
    if any(instance.asks_for_a_number for instance in instances):
        shown = ", ".join(instance.balance for instance in instances)
        raise ValueError(f"balance: self-training takes mean outputs, not numbers of labels: {shown}")
    means = [instance.target for instance in instances if instance.target is not None]
    if len(means) < len(instances):
        return None
    shares = (np.array(means) + 1) / 2
    shares = np.clip([1 - shares[0], shares[0]] if len(shares) == 1 else shares, 1e-3, None)
    return np.asarray(shares / shares.sum())


self_training = function_of(SelfTraining)
