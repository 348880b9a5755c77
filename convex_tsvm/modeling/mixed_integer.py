"""A formulation as a mixed-integer program with CVXPY: a reference for exact search, and a thing to read.

A loss is convex on the stretches between the places where its slope falls.  A binary variable z_k says on which of them
an output is, and t_k is the output if it is that one, else zero:

    f = Σ t_k,    1 = Σ z_k,    l_k z_k <= t_k <= u_k z_k.

Under a hard margin the ends of its two stretches keep the output of an unlabelled point outside (-1, 1).

On a stretch the loss is a convex function p_k, and Σ p_k(t_k) - p_k(0) (1 - z_k) is paid; or, if p_k is polyhedral, its
perspective z_k p_k(t_k / z_k), which is linear in both, and without integrality the convex envelope of the loss.  For
the hinge of the better label z says which label a point has: with the 1-norm of w it is the program of Bennett and
Demiriz (1998), with ½ ‖w‖² the S3VM of chapelle2008 eq. 4.
"""

import itertools
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from ..formulations import Formulation
from ..instance import Instance
from ..kernels import kernel_factor
from ..kernels.functions import dense
from ..losses import PLQ, BetterLabel, squared_hinge
from ..problem import Array, Problem
from ..validation import finite, is_sparse
from .expressions import added_terms, loss_expression, rows_of, sizes_of, sum_of, written
from .printing import ReadableProblem


@dataclass(frozen=True, eq=False)
class _Kind:
    """The points that pay one loss: their name, the loss, and their places."""

    name: str
    loss: PLQ | BetterLabel
    where: NDArray[np.intp]

    @property
    def stretches(self) -> list[tuple[PLQ, float, float]]:
        """The loss on each of its convex stretches, going on as it ends there, and the ends of the stretch."""
        loss = self.loss
        if isinstance(loss, BetterLabel):
            return [one for of in (loss.loss.reflect(), loss.loss) for one in replace(self, loss=of).stretches]
        cuts = [-1, *np.flatnonzero(loss.slope_jumps() < 0).tolist(), len(loss.breaks)]
        edges = [loss.lower, *loss.breaks[cuts[1:-1]].tolist(), loss.upper]
        found = []
        for k, (first, last) in enumerate(itertools.pairwise(cuts)):
            piece = PLQ(loss.breaks[first + 1 : last], loss.pieces[first + 1 : last + 1], name=f"{loss.name}[{k}]")
            found.append((piece, edges[k], edges[k + 1]))
        return found

    @property
    def least(self) -> float:
        """The least that a point pays."""
        return (self.loss.loss if isinstance(self.loss, BetterLabel) else self.loss).minimizers()[0]


class MixedIntegerModel:
    r"""A mixed-integer program whose optimum is the formulation's.

    Parameters
    ----------
    formulation : Formulation
        With piecewise linear-quadratic losses without negative curvature, or a hard margin, constraints on outputs, and
        any balance; with the linear kernel any regularizer, and convex additions.  A number of positive labels
        needs a loss for unlabelled points that is that of the better label, and a sum of targets the squared hinge.
    upper : float
        An objective that is reached: outputs beyond what it allows are excluded.

    Attributes
    ----------
    problem : cvxpy.Problem
        It prints itself in symbols, and has ``latex()``.  SCIP solves it; HiGHS if losses and regularizer are
        polyhedral.
    outputs : cvxpy expression, shape (n,)
        Outputs f.
    low, high : array, shape (n,)
        No solution below ``upper`` has an output outside them.
    positive : cvxpy.Variable, shape (u,), or None
        1 where an unlabelled point is labelled +1, if the formulation is about labels.

    Examples
    --------
    >>> model = ct.modeling.MixedIntegerModel(ct.cccp_tsvm(s=-0.3), problem, upper=10.0)
    >>> model.problem.is_mixed_integer()
    True
    >>> print(str(model.problem).splitlines()[3])
                + C[unlabeled]ᵀ max(0, t⁰[unlabeled] + z⁰[unlabeled])
    """

    def __init__(self, formulation: Formulation, problem: Problem, upper: float) -> None:
        self.instance = instance = Instance(formulation, problem)
        self._shift = np.zeros(problem.n) if instance.shift is None else instance.shift
        finite("upper", upper)
        linear = bool(formulation.additions) or not formulation.regularizer.is_squared_norm
        if linear and not (problem.is_linear and (is_sparse(problem.X) or isinstance(problem.X, np.ndarray))):
            raise ValueError(
                f"kernel={problem.kernel!r}: a mixed-integer program with additions is for arrays of points and the "
                "linear kernel"
            )
        kinds = _kinds(instance)
        features = dense(problem.X) if linear else kernel_factor(problem.gram, 1e-12)
        w = cp.Variable(features.shape[1], name="w")
        b = cp.Variable(name="b") if formulation.fit_intercept else cp.Constant(0.0)
        self.outputs = f = cp.Variable(problem.n, name="f")
        objective, allowed = written(formulation.regularizer, w)
        terms, limits = added_terms(formulation.additions, w, b, f)
        constraints: list[cp.Constraint] = [
            f - (cp.Constant(features, name="X" if linear else "Z") @ w + b) == 0,
            *allowed,
            *limits,
        ]
        self.low, self.high = _ends(instance, kinds, features, upper)
        self.positive: cp.Variable | None = None
        if instance.target_sum is None:
            paid, more = self._of_pieces(kinds)
            constraints += rows_of(instance, f)
        else:
            paid, more = self._of_targets()
        parts = {kind.name: kind.where for kind in kinds}
        self.problem = ReadableProblem(cp.Minimize(sum_of([objective, *terms, *paid])), constraints + more, parts=parts)

    def _of_pieces(self, kinds: list[_Kind]) -> tuple[list[cp.Expression], list[cp.Constraint]]:
        """What all points pay, and what ties the pieces' outputs to theirs."""
        paid, constraints = [], []
        for kind in kinds:
            cost = cp.Constant(self.instance.cost[kind.where], name=f"cost_{kind.name}")
            f, shift = self.outputs[kind.where], self._shift[kind.where]
            if shift.any():
                f = f - cp.Constant(shift, name=f"target_{kind.name}")
            stretches = kind.stretches
            if not isinstance(kind.loss, BetterLabel) and len(stretches) == 1:
                value, domain = loss_expression(kind.loss, f)
                paid += [cost @ value] if kind.loss.pieces.any() else []  # a margin that must be met costs nothing
                constraints += domain
                continue
            size = len(kind.where)
            t = [cp.Variable(size, name=f"part_{kind.name}_{k}") for k in range(len(stretches))]
            z = [cp.Variable(size, boolean=True, name=f"on_{kind.name}_{k}") for k in range(len(stretches))]
            constraints += [f == sum_of(t), sum_of(z) == 1]
            for k, (piece, left, right) in enumerate(stretches):
                low, high = self.low[kind.where] - shift, self.high[kind.where] - shift
                if isinstance(kind.loss, BetterLabel):  # stretches end where the loss of a label is infinite
                    low, high = np.maximum(low, left), np.minimum(high, right)
                # Where the number of positive labels is given, a label may not be the sign of the output.
                elif self.instance.n_positive is None:
                    low, high = np.maximum(low, np.minimum(left, high)), np.minimum(high, np.maximum(right, low))
                constraints += [
                    cp.multiply(cp.Constant(low, name=f"low_{kind.name}_{k}"), z[k]) <= t[k],
                    t[k] <= cp.multiply(cp.Constant(high, name=f"high_{kind.name}_{k}"), z[k]),
                ]
                paid += [cost @ _on_or_off(piece, t[k], z[k])] if piece.pieces.any() else []
            if kind.name == "unlabeled" and len(stretches) == 2:
                self.positive = z[1]
        if self.instance.n_positive is not None:
            assert self.positive is not None
            constraints.append(cp.sum(self.positive) == self.instance.n_positive)
        return paid, constraints

    def _of_targets(self) -> tuple[list[cp.Expression], list[cp.Constraint]]:
        """The same for targets v = f + y ξ, whose sum is given (Bai and Yan 2016): v is outside (-1, 1)."""
        instance, problem = self.instance, self.instance.problem
        known, unknown = problem.labeled, problem.unlabeled
        v, d = cp.Variable(problem.n, name="v"), cp.Variable(len(unknown), boolean=True, name="on_unlabeled_1")
        self.positive = d
        constraints = [
            cp.multiply(problem.y[known], v[known]) >= 1,
            v[unknown] >= 1 - cp.multiply(1 - self.low[unknown], 1 - d),
            v[unknown] <= -1 + cp.multiply(1 + self.high[unknown], d),
            cp.sum(v[instance.members]) == instance.target_sum,
        ]
        return [instance.cost @ cp.square(v - self.outputs)], constraints

    @property
    def labels(self) -> Array:
        """+1 or -1 for every point, of the solution, shape (n,): the label that it has, or the sign of its output."""
        if self.positive is None:
            return self.instance.best_labels(np.asarray(self.outputs.value))
        labels = self.instance.problem.y.copy()
        labels[self.instance.problem.unlabeled] = np.where(np.asarray(self.positive.value) > 0.5, 1.0, -1.0)
        return labels

    @property
    def reach(self) -> Array:
        """The largest |f_i|, shape (n,)."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def _kinds(instance: Instance) -> list[_Kind]:
    """The kinds of points that pay, with their losses' pieces; ValueError if the program would not be theirs."""
    formulation = instance.formulation
    if formulation.subtracts:
        raise ValueError(f"additions={list(formulation.additions)!r}: a mixed-integer program takes no differences")
    about_labels = instance.n_positive is not None or instance.target_sum is not None
    if about_labels:
        of_labels, _ = formulation.label_loss()  # an error says which losses these are
        if instance.target_sum is not None and not of_labels.isclose(squared_hinge()):
            raise ValueError(f"labeled={formulation.labeled!r} must be squared_hinge() where targets are balanced")
    found = []
    for kind, where in instance.paying():
        loss = kind.of_output
        of_label = loss.loss if isinstance(loss, BetterLabel) else loss
        if not isinstance(loss, PLQ | BetterLabel) or not isinstance(of_label, PLQ):
            raise ValueError(f"{loss!r} is not piecewise linear-quadratic: it has no mixed-integer program")
        if (of_label.pieces[:, 0] < 0).any():
            raise ValueError(f"{loss!r} has no finite number of convex stretches: it has no mixed-integer program")
        found.append(_Kind(kind.name, loss, where))
    return found


def _on_or_off(piece: PLQ, t: cp.Expression, z: cp.Expression) -> cp.Expression:
    """What a piece costs an output that is on it (t = f, z = 1), and nothing for one that is not (t = 0, z = 0)."""
    if (piece.pieces[:, 0] > 0).any():
        return loss_expression(piece, t)[0] - float(piece(0.0)) * (1 - z)
    return loss_expression(piece, t, z)[0]


def _ends(instance: Instance, kinds: list[_Kind], features: Array, upper: float) -> tuple[Array, Array]:
    """Between what outputs (or targets) a solution that is not above ``upper`` must be.

    The regularizer and every point's loss are each at most what is left when all others are as low as they can be.
    """
    problem, n = instance.problem, instance.problem.n
    least = np.zeros(n)
    for kind in kinds:
        least[kind.where] = instance.cost[kind.where] * kind.least
    if upper < float(least.sum()):
        raise ValueError(f"upper={upper} is below {least.sum():.6g}, which no solution is")
    room = (upper - float(least.sum())) * (1 + 1e-9)
    if instance.formulation.additions or not instance.formulation.regularizer.is_squared_norm:
        sizes, lowest = _reach(instance.formulation, features, room)
        reach, room = np.abs(features) @ sizes, room - lowest
    else:
        reach = np.sqrt(2 * room) * np.linalg.norm(features, axis=1)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for kind in kinds:
        for i in kind.where:
            ends = np.array(_level_set(kind.loss, kind.least + room / instance.cost[i]))
            low[i], high[i] = ends if instance.shift is None else ends + instance.shift[i]
    least_bias, most_bias = _ends_of_bias(instance, kinds, reach, low, high)
    low, high = np.maximum(low, least_bias - reach), np.minimum(high, most_bias + reach)
    if instance.target_sum is not None:
        # |v - f| is the root of what a point pays, beside its cost.
        slack = np.sqrt(room / problem.cost)
        low, high = least_bias - reach - slack, most_bias + reach + slack
    # Ends are wider by a hundredth of their size, for the rounding of solvers.
    wider = 0.01 * np.maximum(np.abs(low), np.abs(high)) + 1e-6
    return low - wider, high + wider


def _reach(formulation: Formulation, X: Array, room: float) -> tuple[Array, float]:
    """Sizes that no weight exceeds where regularizer and additions are at most ``room``, and the least these are."""
    w, b = cp.Variable(X.shape[1]), cp.Variable() if formulation.fit_intercept else cp.Constant(0.0)
    charged, allowed = written(formulation.regularizer, w)
    terms, limits = added_terms(formulation.additions, w, b, X @ w + b)
    charged, direction = sum_of([charged, *terms]), cp.Parameter(X.shape[1])
    least = cp.Problem(cp.Minimize(charged), allowed + limits).solve(solver=cp.CLARABEL)
    extent = cp.Problem(cp.Maximize(direction @ w), [charged <= room + 1e-6 * abs(room), *allowed, *limits])
    sizes = sizes_of(extent, direction)
    if not np.isfinite([*sizes, least]).all():
        raise ValueError(f"additions={list(formulation.additions)!r}: a mixed-integer program needs bounded weights")
    return sizes * (1 + 1e-4), least - 1e-6 * abs(least)


def _level_set(loss: PLQ | BetterLabel, level: float) -> tuple[float, float]:
    """The ends of the smallest interval with all t where a loss is not above a level."""
    if isinstance(loss, BetterLabel):
        low, high = _level_set(loss.loss, level)
        return min(low, -high), max(high, -low)
    found = []
    for (a, b, c), left, right in loss.spans():
        roots = np.roots([a, b, c - level] if a else [b, c - level]) if a or b else np.zeros(0)
        inside = [float(t.real) for t in roots if abs(t.imag) < 1e-9 and left <= t.real <= right]
        ends = [t for t in (left, right) if np.isfinite(t) and (a * t + b) * t + c <= level]
        outward = ((left, -1.0), (right, 1.0))
        falls = [end for end, sign in outward if np.isinf(end) and (a < 0 or (a == 0 and b * sign < 0))]
        flat = [end for end, _ in outward if np.isinf(end) and a == b == 0 and c <= level]
        found += inside + ends + falls + flat
    return min(found), max(found)


def _ends_of_bias(instance: Instance, kinds: list[_Kind], reach: Array, low: Array, high: Array) -> tuple[float, float]:
    """Between what a bias must be, where outputs without it are within reach and with it between two ends."""
    if not instance.formulation.fit_intercept:
        return 0.0, 0.0
    ends = []
    rows = [] if instance.target_sum is not None else list(instance.dense_rows())
    for sign, end in ((1.0, high), (-1.0, -low)):
        most = float((end + reach).min())
        for row, least, largest in rows:
            total = sign * float(row.sum())
            if abs(total) > 1e-9 * np.abs(row).sum():
                bound = (largest if total > 0 else -least) + float(np.abs(row) @ reach)
                most = min(most, bound / abs(total))
        if not np.isfinite(most):
            if instance.formulation.additions:
                raise ValueError(f"additions={list(instance.formulation.additions)!r}: no loss bounds the bias")
            # Beyond this every point's loss is constant, or it would bound the bias itself.
            places = np.array([x for kind in kinds for one, *ends in kind.stretches for x in (*one.breaks, *ends)])
            moved = 0.0 if instance.shift is None else float(np.abs(instance.shift).max())
            most = float(np.abs(places[np.isfinite(places)]).max(initial=0.0) + moved + reach.max())
        ends.append(sign * most)
    return ends[1], ends[0]
