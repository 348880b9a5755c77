"""The Compact Margin Machine before its relaxation (dai2010 eq. 3-7), as a mixed-integer program with CVXPY.

The outputs of each class stay within ε of their own mean, or pay.  The means depend on the labels d, and are quotients;
with the number of positive labels prescribed, which is what the paper's balance does, the denominators are constants,
and d_i f_i is linear in f_i and one more variable.
"""

import cvxpy as cp
import numpy as np

from ..formulations import Formulation
from ..formulations.class_spread import class_spread
from ..formulations.regularizers import as_regularizer
from ..instance import Instance
from ..instance.labelling import prescribed
from ..losses import hinge, symmetric_hinge
from ..problem import Array, Problem
from ..validation import finite
from .mixed_integer import MixedIntegerModel
from .printing import ReadableProblem


class UnrelaxedCompactMargin:
    """min ½ ‖w‖² + Σ C_i ξ_i + C₃ Σ_i max(0, |f_i - mean of its class| - ε) over w, b and the labels (dai2010 eq. 3).

    A point pays the hinge loss of the label it has; in the paper the label d_i and the sign of f_i (in
    |f_i| >= 1 - ξ_i) are not tied to each other.

    Parameters
    ----------
    problem : Problem
        With an exact balance, ("exact", r): r is the share of unlabelled points labelled +1.
    epsilon, C_compact : float >= 0
        ε and C₃.
    upper : float
        An objective that is reached, as in :class:`MixedIntegerModel`.
    regularizer : {"l2", "l1"}, default "l2"
        ½ ‖w‖² for SCIP; ‖w‖₁ (linear kernel) for solvers of mixed-integer *linear* programs, such as HiGHS.

    Attributes
    ----------
    positive : cvxpy.Variable, shape (u,)
        1 where an unlabelled point is labelled +1: the paper's 1 - d.
    outputs : cvxpy expression, shape (n,)

    Examples
    --------
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10, balance=("exact", 0.5))
    >>> model = ct.modeling.UnrelaxedCompactMargin(problem, epsilon=1.0, C_compact=1.0, upper=10.0)
    >>> model.problem.is_mixed_integer()
    True
    """

    def __init__(
        self,
        problem: Problem,
        epsilon: float,
        C_compact: float,
        upper: float,
        *,
        regularizer: str = "l2",
        fit_intercept: bool = True,
    ) -> None:
        epsilon = finite("epsilon", epsilon, least=0)
        C_compact = finite("C_compact", C_compact, least=0)
        s3vm = Formulation(
            hinge(), symmetric_hinge(), regularizer=as_regularizer(regularizer), fit_intercept=fit_intercept
        )
        instance = Instance(s3vm.balanced_as(problem), problem)
        n_positive = prescribed(instance)
        self._model = model = MixedIntegerModel(s3vm, problem, upper)
        assert model.positive is not None
        self.positive, self.outputs = model.positive, model.outputs
        unknown, reach = problem.unlabeled, model.reach
        f, far = self.outputs[unknown], reach[unknown]
        # What an unlabelled point adds to the sum over the positive class: f_i or nothing.
        part = cp.Variable(len(unknown), name="part")
        constraints = [
            cp.abs(part) <= cp.multiply(cp.Constant(far, name="reach"), self.positive),
            cp.abs(f - part) <= cp.multiply(cp.Constant(far, name="reach"), 1 - self.positive),
        ]
        spread = cp.Variable(problem.n, nonneg=True, name="zeta")
        for sign, count, own in (
            (1, n_positive, part),
            (-1, problem.n_unlabeled - n_positive, f - part),
        ):
            known = np.flatnonzero(problem.y == sign)
            mean = (cp.sum(self.outputs[known]) + cp.sum(own)) / (len(known) + count)
            elsewhere = 1 - self.positive if sign > 0 else self.positive
            room = cp.multiply(cp.Constant(far + reach.max(), name="room"), elsewhere)
            constraints += [
                cp.abs(self.outputs[known] - mean) <= epsilon + spread[known],
                cp.abs(f - mean) <= epsilon + spread[unknown] + room,
            ]
        objective = model.problem.objective.args[0] + C_compact * cp.sum(spread)
        parts = {"positive": np.flatnonzero(problem.y > 0), "negative": np.flatnonzero(problem.y < 0)}
        parts["unlabeled"] = unknown
        everything = [*model.problem.constraints, *constraints]
        self.problem = ReadableProblem(cp.Minimize(objective), everything, parts=parts)

    @property
    def labels(self) -> Array:
        """+1 or -1 for every point, of the solution, shape (n,)."""
        return self._model.labels


def unrelaxed_objective(
    problem: Problem, outputs: Array, labels: Array, regularization: float, epsilon: float, C_compact: float
) -> float:
    """Objective of dai2010 eq. 3 at given outputs, labels and ½ ‖w‖² (or ‖w‖₁)."""
    paid = float(problem.cost @ np.maximum(0, 1 - labels * outputs))
    return regularization + paid + C_compact * class_spread(outputs, labels, epsilon)
