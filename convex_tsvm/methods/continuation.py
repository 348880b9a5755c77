"""cS3VM: descents on the smoothed objective, by a density that narrows (chapelle2008 §4.3, Algorithm 5)."""

import copy

import numpy as np

from ..instance import SmoothPrimal, has_mirror_image
from ..losses import smoothed
from ..losses.smoothing import SMOOTHINGS
from ..problem import Array
from ..table import SMOOTH_SOLVERS
from ..validation import integer, one_of
from .descents import function_of
from .gradient import goal, sharpened
from .run import Method, Run


class Continuation(Method):
    """Minimize a formulation by continuation: cS3VM (chapelle2008 §4.3 and Algorithm 5).

    The objective is convolved with a Gaussian in w, which for each point's loss is a Gaussian of its output: a closed
    form for the exponential and for piecewise linear-quadratic losses.  ("Other smoothing functions can also be used":
    they are of each point's output, with the same deviation.)  The first width makes the objective convex, so
    that its minimum is found; while the width shrinks the minimum is tracked.

    Parameters
    ----------
    formulation, problem, start, callback, time_limit
        As in :func:`~convex_tsvm.cccp`; the losses must be smooth ones or piecewise linear-quadratic.  With an exact
        balance, ("exact", r), a mean output is searched that brings it (§4).
    widths : int >= 1, default 10
        Number of widths before the last, which is zero.
    smoothing : {"gaussian", "logistic", "student", "uniform"}, default "gaussian"
        See :func:`convex_tsvm.losses.smoothed`.
    tol, max_iter
        As in :func:`~convex_tsvm.gradient`.

    Examples
    --------
    >>> ct.continuation(ct.tsvm("exp"), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name, best = "continuation", False  # the last point, as in the paper
    solvers = SMOOTH_SOLVERS
    loss = "exp"
    # How widths are found.
    last_width = 0.05  # the last width that is not zero smooths no output by more than this standard deviation
    # Curvatures of losses are looked at for outputs up to this size; beyond it no loss of the papers bends downwards.
    curved_up_to = 3.0
    # The first width is found by so many trials at most, each wider by this factor, with steps of the power method.
    wider = 1.6
    trials = 25
    power = 4

    def __init__(self, widths: int = 10, smoothing: str = "gaussian") -> None:
        self.n_widths = integer("widths", widths, least=1)
        self.smoothing = one_of("smoothing", smoothing, tuple(SMOOTHINGS))

    def descend(self, run: Run) -> str:
        """A descent for every width, the last one zero, from where the one before ended."""
        primal = run.smooth.primal(run.instance)
        norms = np.sqrt(primal.space.squared_norms())
        smooth = np.where(run.instance.problem.y == 0, norms, 0.0)
        x, lean = run.begin(primal), np.zeros(primal.n_variables)
        if has_mirror_image(run.instance):
            # Mirror images part at f = 0, a saddle; descents begin beside it, so that rounding does not choose.
            lean = 1e-3 * primal.nearest(-1 / np.arange(1.0, run.instance.problem.n + 1))
        for width in self.widths(primal, norms):
            stage = primal.at(deviations=width * smooth, smoothing=self.smoothing)
            point = run.smooth.descend(stage, x + lean, goal(run, width == 0))
            x = point.variables
            run.record(run.checked(point), stage=float(width), step_objective=point.primal, objective=run.value(point))
        return sharpened(run, primal, point, run.smooth.descend)

    def nearby(self) -> Method:
        """The last descent alone, which smooths nothing."""
        found = copy.copy(self)
        found.n_widths = 0
        return found

    def widths(self, primal: SmoothPrimal, norms: Array) -> Array:
        """Standard deviations of w: from where the objective is convex, geometrically, to nearly none, and 0.

        Smoothing w by a deviation σ smooths the output of a point x by σ ‖x‖.
        """
        if self.n_widths == 0:
            return np.zeros(1)
        last = self.last_width / max(float(norms.max()), 1e-300)
        first, vector = last, np.random.default_rng(0).standard_normal(primal.n_variables)
        for _ in range(self.trials):
            down = self._downward(primal, first * norms)
            if not down.any():
                break
            for _ in range(self.power):
                vector = primal.space.curved(down, vector / np.linalg.norm(vector))
            if np.linalg.norm(vector) <= 1:
                break
            first *= self.wider
        return np.append(np.geomspace(first, last, self.n_widths) if first > last else [last], 0.0)

    def _downward(self, primal: SmoothPrimal, deviations: Array) -> Array:
        """By how much the smoothed loss of each point may bend downwards, times its cost, shape (n,)."""
        instance, most = primal.instance, np.zeros(len(deviations))
        formulation, end = instance.formulation, self.curved_up_to
        points = [] if formulation.unlabeled is None else [instance.ungrouped]
        points += [group.where for group in formulation.groups]
        for loss, where in zip(primal.losses[1:], points, strict=True):
            # A narrow density sees a kink at the kink alone.
            places = np.union1d(np.linspace(-end, end, 31), getattr(loss, "breaks", []))
            grid = places[:, None] * np.ones(len(where))
            # The deviation is 0 where an output does not depend on w.  Any small one will do there, as what its loss
            # adds to the curvature in w is 0.
            wide = np.maximum(deviations[where], 1e-6)
            bend = smoothed(loss, wide, self.smoothing).curvature(grid)
            most[where] = primal.cost[where] * np.maximum(-bend.min(axis=0), 0.0)
        return most


continuation = function_of(Continuation, max_iter=2000)
