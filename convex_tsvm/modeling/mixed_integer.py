"""The S3VM as a mixed-integer program (Bennett and Demiriz 1998), with CVXPY: a reference for exact search.

A binary variable d_j for every unlabelled point says which of its two losses is paid:

    ξ_j >= 1 - f_j - M (1 - d_j),   ξ_j >= 1 + f_j - M d_j,   ξ_j >= 0.

With the 1-norm of w and the hinge this is the paper's linear program with integers; with ½ ‖w‖² and either loss it is
the S3VM of chapelle2008 eq. 4.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from ..formulations import Formulation
from ..instance import Instance
from ..kernels import kernel_factor
from ..losses import PLQ, hinge, squared_hinge
from ..problem import Array, Problem
from ..validation import finite


class MixedIntegerModel:
    """A mixed-integer program whose optimum is the S3VM's.

    Parameters
    ----------
    formulation : Formulation
        With hinge or squared hinge for labelled points, whatever its loss for unlabelled ones (that of the better
        label); any balance; the 1-norm with the hinge.
    problem : Problem
    upper : float
        An objective that is reached: outputs beyond what it allows are excluded, which makes M small.

    Attributes
    ----------
    problem : cvxpy.Problem
    positive : cvxpy.Variable, shape (u,)
        d.
    outputs : cvxpy expression, shape (n,)
        f.
    reach : array, shape (n,)
        No solution below ``upper`` has a larger |f_i| (or |v_i|); M is 1 more.

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> model = ct.MixedIntegerModel(ct.cccp_tsvm(s=0.0, balance=None), problem, upper=10.0)
    >>> model.problem.is_mixed_integer()
    True
    """

    def __init__(self, formulation: Formulation, problem: Problem, upper: float) -> None:
        loss = formulation.labeled
        squared = isinstance(loss, PLQ) and loss.isclose(squared_hinge())
        if not (squared or (isinstance(loss, PLQ) and loss.isclose(hinge()))):
            raise ValueError(f"labeled={loss!r} must be hinge() or squared_hinge()")
        if formulation.regularizer == "l1" and squared:
            raise ValueError("regularizer='l1' goes with the hinge")
        finite("upper", upper, above=0)
        instance = Instance(formulation, problem)
        known, unknown = problem.labeled, problem.unlabeled
        features = np.asarray(problem.X) if formulation.regularizer == "l1" else kernel_factor(problem.gram, 1e-12)
        w, b = cp.Variable(features.shape[1], name="w"), cp.Variable(name="b")
        self.outputs = features @ w + b
        self.positive = cp.Variable(len(unknown), boolean=True, name="d")
        slack = cp.Variable(problem.n, nonneg=True, name="xi")
        self.reach = _reach(formulation, problem, features, upper, squared, instance.target_sum is not None)
        f, d, M = self.outputs[unknown], self.positive, 1 + self.reach[unknown]
        constraints = []
        if not formulation.fit_intercept:
            constraints.append(b == 0)
        if instance.target_sum is not None:
            # Slacks on both sides, since a sum of targets may need them.
            v = cp.Variable(problem.n, name="v")
            constraints += [
                cp.multiply(problem.y[known], v[known]) >= 1,
                slack >= v - self.outputs,
                slack >= self.outputs - v,
                v[unknown] >= 1 - cp.multiply(M, 1 - d),
                v[unknown] <= -1 + cp.multiply(M, d),
                cp.sum(v[instance.members]) == instance.target_sum,
            ]
        else:
            constraints += [
                slack[known] >= 1 - cp.multiply(problem.y[known], self.outputs[known]),
                slack[unknown] >= 1 - f - cp.multiply(M, 1 - d),
                slack[unknown] >= 1 + f - cp.multiply(M, d),
            ]
            if instance.n_positive is not None:
                constraints.append(cp.sum(d) == instance.n_positive)
            for row, low, high in instance.dense_rows():
                constraints += [row @ self.outputs >= low, row @ self.outputs <= high]
        regularization = cp.norm1(w) if formulation.regularizer == "l1" else 0.5 * cp.sum_squares(w)
        paid = cp.square(slack) if squared else slack
        self.problem = cp.Problem(cp.Minimize(regularization + problem.cost @ paid), constraints)
        self._given, self._unknown = problem.y, unknown

    @property
    def labels(self) -> Array:
        """+1 or -1 for every point, of the solution, shape (n,)."""
        labels = self._given.copy()
        labels[self._unknown] = np.where(np.asarray(self.positive.value) > 0.5, 1.0, -1.0)
        return labels


def _reach(
    formulation: Formulation, problem: Problem, features: Array, upper: float, squared: bool, with_targets: bool
) -> Array:
    """The largest |f_i| (or |v_i|) of a solution that is not above ``upper``."""
    if formulation.regularizer == "l1":
        free = upper * np.abs(features).max(axis=1)
    else:
        free = np.sqrt(2 * upper) * np.linalg.norm(features, axis=1)
    slack = np.sqrt(upper / problem.cost) if squared else upper / problem.cost
    if with_targets:
        free = free + slack
    if formulation.fit_intercept:
        # Known points of both classes keep the bias in its place.
        far = [float((slack + free)[problem.y == sign].min()) - 1 for sign in (1, -1)]
        free = free + max(0.0, *far)
    return np.asarray(1.01 * free)
