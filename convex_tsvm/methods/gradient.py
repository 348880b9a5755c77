"""Gradient descent: ∇S3VM, whose unlabelled loss is smooth (chapelle2008 §4.2, eq. 14), and ∇DA (§3.3, eq. 9)."""

from collections.abc import Callable, Sequence
from typing import Any

from ..instance import AnnealedPrimal, ExpansionPrimal, Instance, SmoothPoint
from ..losses import PLQ
from ..notice import warn
from ..problem import Array
from ..table import SMOOTH_SOLVERS
from ..validation import finite
from .annealing import Annealing
from .descents import function_of
from .run import Method, Run
from .settings import annealing_schedule, doubling, falling


def goal(run: Run, last: bool) -> float:
    """The relative gap at which a descent ends: those before the last are only passed through."""
    return run.settings.tol * (0.1 if last else 1.0)


def follow(run: Run, primal: Any, descend: Callable[[Any, Array, float], SmoothPoint], scales: Array) -> str:
    """A descent for every factor on C*, from where the one before ended."""
    x = run.begin(primal)
    for scale in scales:
        point = descend(primal.at(scale=float(scale)), x, goal(run, scale == 1))
        x = point.variables
        run.record(run.checked(point), stage=float(scale), step_objective=point.primal, objective=run.value(point))
    return sharpened(run, primal, point, descend)


def sharpened(run: Run, primal: Any, point: SmoothPoint, descend: Callable[[Any, Array, float], SmoothPoint]) -> str:
    """Descents in which kinks are rounded over ever smaller widths, until that costs or gains little; the status."""
    for width in (1e-3, 1e-4, 1e-5, 1e-6):
        objective = run.value(point)
        room = run.settings.tol * abs(objective)
        if abs(objective - point.primal) <= room:
            return "converged"
        sharper = run.checked(descend(primal.sharper(width), point.variables, goal(run, True)))
        if sharper.status != "optimal" and not isinstance(primal, ExpansionPrimal):
            # Of curvatures as large as these L-BFGS finds more than steps that trust them.
            sharper = run.checked(run.smooth.descend(primal.sharper(width), sharper.variables, goal(run, True)))
        gained = objective - run.value(sharper)
        holds = sharper.recomputed().judged(run.settings.tol).status == "optimal"
        # Where kinks are so sharp that a gap computed again is another one, a gain of a few tolerances is left.
        if gained > 5 * room or (gained > room and holds):
            run.record(sharper, step_objective=sharper.primal, objective=run.value(sharper))
            point = sharper
        else:
            return "converged"
    warn(
        f"kinks of losses, which hold points, were rounded over a width of {width:g}, and less still lowers the "
        "objective; cccp takes kinks as they are"
    )
    return "inaccurate"


class Gradient(Method):
    """Minimize a formulation by gradient descent on w and b: ∇S3VM, or ∇DA.

    The loss decides which of the two.  A smooth one, such as :func:`~convex_tsvm.losses.exponential`, is
    descended while C* doubles (∇S3VM, chapelle2008 §4.2; with the hinge loss and exp(-3 t²), ∇TSVM of Chapelle and Zien
    2005).  One that is the lesser of two labels' losses has a kink in the middle, which a temperature smooths, and that
    is lowered (∇DA, §3.3).  Other kinks that open upwards are rounded over 0.01.  A ValueError says if the formulation
    has other than ½ ‖w‖², constraints on outputs, or losses without slopes.  The certificate of the solution recomputes
    the value and the gradient.

    Parameters
    ----------
    formulation, problem, start, callback, time_limit
        As in :func:`~convex_tsvm.cccp`.  With an exact balance, ("exact", r), ∇DA keeps the number of positive labels,
        and for ∇S3VM a mean output is searched that brings it (§4).
    annealing : int or sequence of float, optional
        Factors on C*, as in :func:`~convex_tsvm.cccp`; by default 2⁻⁹, 2⁻⁸, …, 1 (§4.2).
    cooling : float > 1, default 1.5
        R: each temperature is the last one divided by R, from 10 C* on (∇DA only).
    certain : float > 0, default 1e-6
        Mean entropy below which probabilities count as labels (∇DA only).
    tol : float, default 1e-3
        Relative gap of the convex problem that is tangent at a point, half the squared length of the gradient, at which
        the point counts as stationary; descents end at a tenth of it.
    max_iter : int, default 2000
        Limit on steps of each descent.

    Examples
    --------
    >>> ct.gradient(ct.tsvm("exp"), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name, best = "gradient", False  # the last point, as in the paper
    solvers = SMOOTH_SOLVERS
    loss = "exp"

    def __init__(
        self, annealing: int | Sequence[float] | None = None, cooling: float = 1.5, certain: float = 1e-6
    ) -> None:
        self.scales = doubling() if annealing is None else annealing_schedule(annealing)
        self.annealed = GradientAnnealing(cooling, certain)

    def suited(self, instance: Instance) -> Method:
        """∇DA if unlabelled points pay for the better of two labels, which annealing makes smooth; otherwise itself."""
        unlabeled = instance.formulation.unlabeled
        if not isinstance(unlabeled, PLQ) or unlabeled.is_smooth or unlabeled.is_convex:
            return self
        try:
            instance.formulation.label_loss()
        except ValueError:
            return self  # such as a ramp, whose kinks are rounded
        return self.annealed

    def descend(self, run: Run) -> str:
        """Descents in the coordinates of w."""
        return follow(run, run.smooth.primal(run.instance), run.smooth.descend, self.scales)


class GradientAnnealing(Annealing):
    """∇DA: descent in w with the best probabilities at every w, cooled as in DA."""

    name = "gradient annealing"

    def __init__(self, cooling: float = 1.5, certain: float = 1e-6) -> None:
        self.cooling, self.certain = finite("cooling", cooling, above=1), finite("certain", certain, above=0)

    def descend(self, run: Run) -> str:
        """Descents at falling temperatures, until probabilities are labels (Algorithm 2)."""
        instance = run.instance
        primal = run.smooth.primal(instance, AnnealedPrimal)
        first, x = Annealing.hot * float(instance.cost[instance.problem.unlabeled].mean()), run.begin(primal)
        for temperature in falling(first, self.cooling):
            stage = primal.cooled(temperature)
            # In w itself, long directions of the features come first when the minimum splits; where all are alike it
            # splits in others, and on uspst ends at twice the objective.
            point = run.smooth.descend(stage, x, goal(run, last=False), precondition=False)
            x = point.variables
            labels = instance.best_labels(point.outputs)
            objective = run.value(point, labels)
            run.record(
                run.checked(point), stage=temperature, labels=labels, step_objective=point.primal, objective=objective
            )
            if stage.probabilities_at(point.outputs).entropy() < self.certain:
                break
        return "converged"


gradient = function_of(Gradient, max_iter=2000)
