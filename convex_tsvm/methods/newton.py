"""Newton-S3VM: Levenberg-Marquardt steps on a loss with flat and straight parts (chapelle2008 §4.4, Algorithm 6)."""

from collections.abc import Sequence

from ..table import SMOOTH_SOLVERS
from .descents import function_of
from .gradient import follow
from .run import Method, Run
from .settings import annealing_schedule


class Newton(Method):
    """Minimize a formulation by Newton steps that are kept downhill: Newton-S3VM (chapelle2008 §4.4).

    For a kernel the variables are the coefficients of an expansion over the points, and a step costs O(n_sv³ + n²),
    where n_sv points are on a part of their loss that bends: with :func:`~convex_tsvm.losses.flat_newton` few are.
    For the linear kernel they are w, by SciPy's trust-region Newton method and products with the points.

    Parameters
    ----------
    formulation, problem, start, callback, time_limit
        As in :func:`~convex_tsvm.cccp`; the losses must have slopes and curvatures, kinks that open upwards are rounded
        over 0.01.  With an exact balance, ("exact", r), a mean output is searched that brings it (§4).
    annealing : int or sequence of float, optional
        Factors on C*, as in :func:`~convex_tsvm.cccp`; by default 10 of them, from 1/1000 to 1 (§5.4.4).
    tol
        As in :func:`~convex_tsvm.gradient`.
    max_iter : int, default 2000
        Limit on steps for each factor.

    Examples
    --------
    >>> ct.newton(ct.tsvm("flat"), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name, best = "newton", False  # the last point, as in the paper
    solvers = SMOOTH_SOLVERS
    loss = "flat"

    def __init__(self, annealing: int | Sequence[float] | None = None) -> None:
        self.scales = annealing_schedule(10 if annealing is None else annealing)

    def descend(self, run: Run) -> str:
        """Newton steps in the coefficients of an expansion, or in w for the linear kernel."""
        return follow(run, run.smooth.expansion(run.instance), run.smooth.newton, self.scales)


newton = function_of(Newton, max_iter=2000)
