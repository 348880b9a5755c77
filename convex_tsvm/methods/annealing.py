"""Deterministic annealing: labels as probabilities, cooled (chapelle2008 §3.3 and Algorithm 2, sindhwani2006 §1.4)."""

import copy

import numpy as np
from scipy.special import logit

from ..instance.probabilities import Probabilities
from ..problem import Array
from ..validation import finite
from .descents import function_of
from .exchanges import settle
from .run import Method, Run
from .settings import cooled, falling


class Annealing(Method):
    """Minimize over label probabilities at falling temperatures (chapelle2008 Algorithm 2).

    Parameters
    ----------
    formulation, problem, solver, start, tol, callback, time_limit, **options
        As in :func:`~convex_tsvm.cccp`; an unlabelled point pays the labelled points' loss of both labels.  With an
        exact balance, ("exact", r), the probabilities sum to the number of positive labels that is asked for.
    cooling : float > 1, default 1.5
        R: each temperature is the last one divided by R, from 10 C* on.
    settled : float > 0, default 1e-6
        Mean divergence from the probabilities before at which a temperature is done.  10⁻⁴ takes a third of the steps
        and does no harm on g50c; on text with the squared hinge the objective is then a fifth higher.
    certain : float > 0, default 1e-6
        Mean entropy below which probabilities count as labels, and cooling ends.  With ``best`` a hundredth will do:
        exchanges of labels do the rest.
    best : bool, default False
        Return the best point of the path (sindhwani2006), with labels exchanged as long as that gains, and not the last
        (chapelle2008).
    temperature : float > 0, optional
        Work at this one temperature only, in units of the mean C* (T of sindhwani2006 §1.5 where λ' = 1).
    max_iter : int, default 100
        Limit on SVMs for each temperature.

    Examples
    --------
    >>> solution = ct.annealing(ct.tsvm("squared_hinge"), problem)
    >>> solution.labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name = "annealing"
    loss = "squared_hinge"
    keeps_number = True
    share = staticmethod(cooled)
    hot = 10.0  # the first temperature, in units of C*

    def __init__(
        self,
        cooling: float = 1.5,
        settled: float = 1e-6,
        certain: float = 1e-6,
        best: bool = False,
        temperature: float | None = None,
    ) -> None:
        self.cooling, self.best = finite("cooling", cooling, above=1), bool(best)
        self.temperature = None if temperature is None else finite("temperature", temperature, above=0)
        self.settled, self.certain = finite("settled", settled, above=0), finite("certain", certain, above=0)

    def from_guess(self) -> "Annealing":
        """The method as it begins at a guess of labels, which a higher temperature would forget."""
        found = copy.copy(self)
        found.hot = 1.0
        return found

    def descend(self, run: Run) -> str:
        """Alternate between the SVM and the probabilities, at falling temperatures, until these are labels."""
        run.instance.formulation.label_loss(compared=True)  # complains about a loss without labels
        instance, status = run.instance, "converged"
        unknown, share = instance.problem.unlabeled, instance.positive_share
        first = (self.temperature or self.hot) * float(instance.cost[unknown].mean())
        run.envelope()
        known = Probabilities(np.full(len(unknown), logit(share)))
        if run.start is not None:
            known = self.probabilities(run, instance.label_losses(run.start), first, known)
        for temperature in [first] if self.temperature else falling(first, self.cooling):
            if known.entropy() < self.certain:
                break
            status, known = self.stage(run, known, temperature)
        # At temperature 0 probabilities are labels; of points with equal costs some may be positive and some negative.
        labels = instance.best_labels(run.latest.outputs)
        run.record(run.solve(instance.svm(labels)), stage=0.0, labels=labels)
        if self.best and run.best_labels is not None:
            settle(run, run.best_labels.copy())
        return status

    def stage(self, run: Run, known: Probabilities, temperature: float) -> tuple[str, Probabilities]:
        """Alternate at one temperature until the probabilities settle."""
        instance, moved, p = run.instance, 0, (run.instance.problem.y > 0).astype(float)
        unknown, cost = instance.problem.unlabeled, instance.problem.cost
        for _ in range(run.settings.max_iter):
            p[unknown] = known.p
            point = run.improve(instance.weighted_svm(p))
            losses, labels = instance.label_losses(point.outputs), instance.best_labels(point.outputs)
            energy = point.regularization + instance.total(p * losses[0] + (1 - p) * losses[1], cost)
            energy -= temperature * len(unknown) * known.entropy()
            full = run.value(point, labels)
            run.record(point, stage=temperature, changed=moved, labels=labels, step_objective=energy, objective=full)
            before, known = known, self.probabilities(run, losses, temperature, known)
            moved = int((np.abs(known.p - before.p) > run.settings.tol).sum())
            if before.divergence(known) < self.settled:
                return "converged", known
        return "max_iter", known

    def probabilities(
        self, run: Run, losses: tuple[Array, Array], temperature: float, before: Probabilities
    ) -> Probabilities:
        """The best probabilities for the losses of both labels (chapelle2008 eq. 8)."""
        instance, unknown = run.instance, run.instance.problem.unlabeled
        g = instance.problem.cost[unknown] * (losses[0] - losses[1])[unknown]
        return Probabilities.best(g, temperature, instance.n_positive, before.nu)


annealing = function_of(Annealing)
