"""How a solution moves with its data: derivatives of a stationary point, from its active set, by one linear system.

At a stationary point every point that pays a loss is at a kink of it, where its output is held while its dual variable
may move, or its dual variable is -cost times the slope of the loss at its output.  As long as none changes sides, the
outputs f = K a + b are smooth functions of costs, losses, kernel, points and constraints.  Where concave parts have
kinks, their tangents stay as they are, and so it is for all fixed points of concave-convex steps.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations import Formulation
from ..instance import Instance, StepSolution
from ..kernels import Precomputed
from ..losses import PLQ, DCLoss
from ..points import LinearPoints
from ..problem import Array, Problem
from ..solvers import LinearSolver, NativeSolver
from ..validation import is_sparse
from .parameters import Derivative, Parameter, Path, parameter, parameters_of
from .system import System


@dataclass(frozen=True, eq=False)
class Moved:
    """Derivatives of data with respect to a parameter: costs, what is read of losses, K a, and ends of constraints."""

    cost: Array
    read: Array
    applied: Array
    ends: Array


class TangentChangesError(ValueError):
    """An output goes over a concave kink: the fixed point of concave-convex steps jumps."""


class FixedPoint:
    """A stationary point with its active set, made exact; a ValueError says if there is none, or none is known.

    Its unknowns are the multipliers x of functionals E of the outputs, and b: outputs that are held at a kink, or have
    a curved loss, and constraints that are active.  With D = 1 / (cost · curvature), or 0 where held,

        (Eᵀ K E + D) x + b Eᵀ 1 = v - Eᵀ K a₀,    (Eᵀ 1)ᵀ x = -1ᵀ a₀,

    where a₀ are the coefficients of the points on linear pieces, and v where the outputs would be at x = 0.
    """

    little, near = 1e-9, 1e-7  # what is beyond an end, and what is about to be, relative to what moves
    far = 1e300  # the ends of what may move anywhere

    def __init__(self, formulation: Formulation, problem: Problem, point: Any) -> None:
        self._given = formulation, problem, point
        self._take(Instance(formulation, problem))
        self._check()
        self.kinds = self.formulation.kinds(self.problem)
        pays = (self.cost > 0) & np.array([loss is not None for loss in self.losses])[self.kinds]
        self.where = [np.flatnonzero(pays & (self.kinds == k)) for k in range(len(self.losses))]
        self.A = np.array([row for row, *_ in self.instance.dense_rows()]).reshape(-1, self.problem.n)
        self.free = self.formulation.fit_intercept
        given = np.array(point.outputs, dtype=float)
        settled = self._settle(point) or ((again := self._solved_again(point)) is not None and self._settle(again))
        if not settled or float(np.abs(self.f - given).max()) > 0.05 * (1 + float(np.abs(given).max())):
            raise ValueError("the solution is at no stationary point, or not near enough: fit it with a smaller tol")

    def _take(self, instance: Instance) -> None:
        """Be about an instance, whose numbers alone may be others than those of the one before."""
        self.instance, self.formulation, self.problem = instance, instance.formulation, instance.problem
        self.cost, self.ends = instance.cost, _ends(instance)
        self.losses = [kind.of_output for kind in self.formulation.by_kind]

    def __reduce__(self) -> Any:
        return FixedPoint, self._given

    def _check(self) -> None:
        formulation, instance, why = self.formulation, self.instance, None
        if not formulation.regularizer.is_squared_norm:
            why = f"regularizer={formulation.regularizer!r}"
        elif formulation.additions:
            why = f"additions={formulation.additions!r}"
        elif instance.target_sum is not None or instance.n_positive is not None:
            why = f"{instance.balance} as a sum of targets or a number of labels"
        elif isinstance(self.problem.X, LinearPoints):
            why = f"X={self.problem.X!r}"
        for kind in formulation.by_kind:
            if kind.loss is not None and not (isinstance(kind.loss, PLQ) or _is_smooth(kind.loss)):
                why = f"{kind.field}={kind.loss!r}, which is not piecewise quadratic, and not smooth"
        if why is not None:
            raise ValueError(f"derivatives are for ½ ‖w‖², losses and linear constraints on outputs, not {why}")

    # --- the active set ---------------------------------------------------------------------------------------------

    def _classify(self, point: Any) -> None:
        """Pieces of losses at the outputs, and points that are rather held at a kink, by their dual variables."""
        n, f = self.problem.n, np.array(point.outputs, dtype=float)
        self.f = f
        known = isinstance(point, StepSolution) and len(point.gamma) == n
        self.piece, self.held = np.zeros(n, dtype=np.intp), np.full(n, -1)
        seen = f if self.instance.shift is None else f - self.instance.shift
        for loss, where in zip(self.losses, self.where, strict=True):
            if not isinstance(loss, PLQ):
                continue
            self.piece[where] = np.searchsorted(loss.breaks, seen[where], side="right")
            kinks = np.flatnonzero(loss.slope_jumps() > 0)
            if len(kinks) and len(where):
                at = kinks[np.abs(seen[where, None] - loss.breaks[kinks]).argmin(axis=1)]
                left, right = loss.derivatives(loss.breaks[at])
                pull = -point.gamma[where] / self.cost[where] if known else 0.5 * (left + right)
                inside = np.minimum(pull - left, right - pull) if known else 1e-6
                away = np.abs(seen[where] - loss.breaks[at])
                self.held[where] = np.where(away < inside, at, -1)
                # At a kink, and not held, a point is on the side that its dual variable says.
                on = (away < 1e-9) & known
                self.piece[where[on]] = at[on] + (2 * pull > left + right)[on]
        sums, multipliers = self.A @ f, np.zeros(len(self.A))
        self.known: tuple[Array, Array, Array] | None = None
        if known:
            multipliers = np.r_[np.full(len(self.A) - len(point.multipliers), point.gamma0), point.multipliers]
            self.known = f - point.bias, point.coefficients - self.A.T @ multipliers, multipliers
        self.dual = point.gamma if known else np.zeros(n), multipliers
        close = np.abs(sums[:, None] - self.ends).min(axis=1) < np.abs(multipliers)
        self.side = np.where(close, np.where(sums < self.ends.mean(axis=1), -1, 1), 0)
        self.side[np.ptp(self.ends, axis=1) == 0] = 2  # both ends at once

    def _solved_again(self, point: Any) -> StepSolution | None:
        """The convex step at the solution's tangents, solved to the last digits; None if no solver takes it."""
        found, outputs = point if isinstance(point, StepSolution) else None, point.outputs
        kinds = (LinearSolver, NativeSolver)
        taken = [kind for kind in kinds if kind.takes.why_not(self.formulation, self.problem) is None]
        solver: Any = taken[0](self.problem, tol=1e-9) if taken else None
        for _ in range(50 if taken else 0):  # tangents may change on the way
            found = solver.solve(self.instance.step(outputs), found)
            before, outputs = self.instance.tangents(outputs, self.cost), found.outputs
            if np.array_equal(before, self.instance.tangents(outputs, self.cost)):
                break
        return found if taken else None

    def _settle(self, point: Any) -> bool:
        """Find the active set near a point that agrees with its stationary point; whether there is one."""
        self._classify(point)
        for turn in range(50):
            # In the linear space no more outputs than dimensions are held, but for points that are equal.
            if self.problem.is_linear and np.sum(self.held >= 0) > self.problem.X.shape[1] + 100:
                break
            self._factor()
            change = self._solve()
            q, low, high, size = self._bounds()
            beyond = np.maximum(low - q, q - high) > self.little * size
            if change <= self.little * (1 + float(np.abs(self.f).max())) and not beyond.any():
                return True
            # All at once, and later one at a time, so that it does not go around.
            moving = np.flatnonzero(beyond) if turn < 10 else np.flatnonzero(beyond)[:1]
            self._move(moving, np.where(q > high, 1, -1)[moving])
        return False

    def _read(self, instance: Instance) -> Array:
        """Slope, curvature and value of each point's loss, where it is held, and ends of what may move, shape (6, n).

        An output may move on its piece, and for one that is held the slope between those beside its kink.
        """
        found = np.zeros((6, self.problem.n))
        found[4:] = [[-self.far], [self.far]]
        shift = np.zeros(self.problem.n) if instance.shift is None else instance.shift
        for kind, own, where in zip(instance.formulation.by_kind, self.losses, self.where, strict=True):
            loss, f = kind.of_output, self.f[where] - shift[where]
            if isinstance(loss, PLQ) and isinstance(own, PLQ):
                if len(loss.pieces) != len(own.pieces):
                    raise ValueError(f"{kind.field}={own!r} has another number of pieces at once when it is moved")
                a, b, c = loss.pieces[self.piece[where]].T
                edges = np.clip(loss.edges, -self.far, self.far)
                found[:3, where] = 2 * a * f + b, 2 * a, (a * f + b) * f + c
                found[4:, where] = edges[self.piece[where]] + shift[where], edges[self.piece[where] + 1] + shift[where]
                held = where[self.held[where] >= 0]
                t = loss.breaks[self.held[held]]
                found[:, held] = [0 * t, 0 * t, loss(t), t + shift[held], *loss.derivatives(t)]
            elif loss is not None and len(where):
                smooth: Any = loss
                found[:3, where] = smooth.derivative(f), smooth.curvature(f), smooth(f)
        return found

    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        """What may move, its ends, and its size, for points and constraints, each of shape (n + k,).

        They are outputs and sums; and in place of what is held dual variables with the other sign, and multipliers.
        """
        held, active = self.held >= 0, self.side != 0
        gamma, multipliers = self.split(self.x)
        q = np.r_[np.where(held, -gamma, self.f), np.where(active, multipliers, self.A @ self.f)]
        return q, *self._limits(), np.abs(q) + np.r_[np.where(held, self.cost, 1.0), np.ones(len(active))]

    def _limits(self) -> tuple[Array, Array]:
        """The ends of what may move."""
        factor, active = np.where(self.held >= 0, self.cost, 1.0), self.side != 0
        low, high = np.r_[factor * self.read[4], self.ends[:, 0]], np.r_[factor * self.read[5], self.ends[:, 1]]
        low[self.problem.n :][active] = np.where(self.side == -1, 0.0, -self.far)[active]
        high[self.problem.n :][active] = np.where(self.side == 1, 0.0, self.far)[active]
        return low, high

    def _move(self, moving: NDArray[np.intp], direction: NDArray[np.intp]) -> None:
        """Let what is held go to the piece in a direction, and others to the kink there, or the piece, or the end."""
        self.piece, self.held, self.side = self.piece.copy(), self.held.copy(), self.side.copy()
        n = self.problem.n
        for i, way in zip(moving.tolist(), direction.tolist(), strict=True):
            if i >= n:
                self.side[i - n] = way if self.side[i - n] == 0 else 0
            elif self.held[i] >= 0:
                self.piece[i], self.held[i] = self.held[i] + (way > 0), -1
            elif self._jump(i, way) > 0:
                self.held[i] = self.piece[i] - (way < 0)
            else:
                self.piece[i] += way

    def _jump(self, i: int, way: int) -> float:
        """The jump of the slope at the breakpoint that an output comes to in a direction."""
        loss: Any = self.losses[self.kinds[i]]
        return float(loss.slope_jumps()[self.piece[i] - (way < 0)])

    def _exchange(self, before: "FixedPoint", i: int) -> None:
        """Where what is held now is more than outputs can meet, let one go for the one that has just come.

        Multipliers move so that no output does, until the first of them is at an end: so far those of others can give
        way to that of the new one, which begins at its end.
        """
        null = self.system.null
        order = np.r_[self.S, self.problem.n + self.T]
        if null is None or i not in order or abs(null[order == i][0]) <= 1e-9 * np.abs(null).max():
            return
        gamma, multipliers = before.split(before.x)
        q = np.r_[-(before.fixed + gamma), multipliers][order]
        ends = np.column_stack(self._limits())[order]
        direction = np.where(order < self.problem.n, -null, null)
        new = int(np.flatnonzero(order == i)[0])
        inward = 1.0 if q[new] - ends[new, 0] < ends[new, 1] - q[new] else -1.0
        direction *= inward * np.sign(direction[new])
        moves = np.abs(direction) > 1e-9 * np.abs(direction).max()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            room = np.maximum(np.where(direction > 0, ends[:, 1] - q, q - ends[:, 0]), 0.0) / np.abs(direction)
        first = int(np.where(moves, room, np.inf).argmin())
        self._move(order[[first]], np.array([1 if direction[first] > 0 else -1]))
        self._factor()

    # --- the linear system ------------------------------------------------------------------------------------------

    def _factor(self) -> None:
        """What the active set makes of the linear system."""
        problem = self.problem
        self.read = self._read(self.instance)
        slope, bend = self.read[:2]
        curved = self.cost * np.abs(bend) > 1e-12  # a curvature that changes nothing is none
        self.S, self.T = np.flatnonzero((self.held >= 0) | curved), np.flatnonzero(self.side)
        self.fixed = np.where(curved, 0.0, -self.cost * slope)
        self.D = np.zeros(len(self.S) + len(self.T))
        self.D[np.flatnonzero(curved[self.S])] = 1 / (self.cost * bend)[curved]
        ones = np.r_[np.ones(len(self.S)), self.A[self.T].sum(axis=1)]
        if self.free and not ones.any():
            raise ValueError("b may move without any change: no output is at a kink, on a curved piece, or in a sum")
        self.applied = self._applied(self.fixed)
        if problem.is_linear:
            points = problem.X[self.S]
            sums = (problem.combination(row) for row in self.A[self.T])
            self.Z = np.vstack([points.toarray() if is_sparse(points) else points, *sums])
            self.system = System(self.D, ones, self.free, Z=self.Z)
            return
        columns = np.zeros((problem.n, 0))
        if len(self.S):
            precomputed = isinstance(problem.kernel, Precomputed)
            columns = problem.X[:, self.S] if precomputed else problem.kernel(problem.X, problem.X[self.S])
        self.K = np.column_stack([columns, self.sums[:, self.T]])
        gram = np.vstack([self.K[self.S], self.A[self.T] @ self.K])
        self.system = System(self.D, ones, self.free, gram=gram)

    @cached_property
    def sums(self) -> Array:
        """K Aᵀ, shape (n, number of constraints)."""
        return self.problem.apply_kernel(self.A.T) if len(self.A) else self.A.T

    def _applied(self, coefficients: Array) -> Array:
        """K times coefficients near those of the solution, from what it has of them already, if it has."""
        if self.known is None or self.problem.is_linear:
            return self.problem.apply_kernel(coefficients)
        # What constraints add is in K Aᵀ; the rest differs at few points.
        outputs, own, multipliers = self.known
        other = coefficients - own
        other[np.abs(other) <= 1e-12 * self.cost] = 0.0
        change = self.problem.apply_kernel(other) if other.any() else 0.0
        return np.asarray(outputs - self.sums @ multipliers + change)

    def _solve(self) -> float:
        """Set multipliers, bias, coefficients and outputs of the active set; how far the outputs have moved."""
        n_S = len(self.S)
        v = np.where(self.held >= 0, self.read[3], self.f)[self.S] - (self.cost * self.read[0])[self.S] * self.D[:n_S]
        ends = self.ends[self.T, (self.side[self.T] > 0).astype(int)]
        self.x, self.b = self.system.solve(np.r_[v, ends] - self.functionals(self.applied), -float(self.fixed.sum()))
        if self.system.null is not None:
            # Of multipliers that do the same those nearest to the solver's are within their ends.
            null, near = self.system.null, np.r_[self.dual[0][self.S], self.dual[1][self.T]]
            self.x = self.x + null * (null @ (near - self.x)) / (null @ null)
        self.a = self.fixed + self.spread(self.x)
        f = self.applied + self.times(self.x) + self.b
        change, self.f = float(np.abs(f - self.f).max()), f
        self.read = self._read(self.instance)
        return change

    def functionals(self, outputs: Array) -> Array:
        """Eᵀ f."""
        return np.r_[outputs[self.S], self.A[self.T] @ outputs]

    def split(self, x: Array) -> tuple[Array, Array]:
        """Multipliers of points, shape (n,), and of all constraints."""
        points, rows = np.zeros(self.problem.n), np.zeros(len(self.A))
        points[self.S], rows[self.T] = x[: len(self.S)], x[len(self.S) :]
        return points, rows

    def spread(self, x: Array) -> Array:
        """E x, shape (n,)."""
        points, rows = self.split(x)
        return np.asarray(points + self.A.T @ rows)

    def times(self, x: Array) -> Array:
        """K E x, shape (n,)."""
        return self.problem.linear_outputs(self.Z.T @ x) if self.problem.is_linear else np.asarray(self.K @ x)

    # --- parameters -------------------------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """What may be moved, by name."""
        return parameters_of(self.instance)

    def moved(self, moving: Parameter) -> Moved:
        """Derivatives of data with respect to a parameter, by central differences: exact, but of kernels to 1e-9."""

        def beside(h: float) -> tuple[Instance, float]:
            try:
                return Instance(*moving.at(moving.value + h)), h
            except ValueError:  # on one side it may not be allowed
                return Instance(*moving.at(moving.value)), 0.0

        (first, up), (second, down) = beside(moving.step), beside(-moving.step)
        width = up - down
        if not width:
            Instance(*moving.at(moving.value + moving.step))  # which says why it is not
        same = first.problem.X is second.problem.X and first.problem.kernel == second.problem.kernel
        applied = [np.zeros(self.problem.n) if same else one.problem.apply_kernel(self.a) for one in (first, second)]
        return Moved(
            (first.cost - second.cost) / width,
            (self._read(first) - self._read(second)) / width,
            (applied[0] - applied[1]) / width,
            (_ends(first) - _ends(second)) / width,
        )

    # --- derivatives ------------------------------------------------------------------------------------------------

    def derivative(self, name: str | Path, side: int = 1) -> Derivative:
        """How all moves with a parameter: see :meth:`Solution.derivative`."""
        return self.onward(parameter(self.parameters, name), side)[1]

    def onward(self, moving: Parameter, side: int) -> tuple["FixedPoint", Derivative]:
        """The point with the active set that it has on one side of a parameter, and its derivative there.

        A :class:`TangentChangesError` says if an output goes over a concave kink there.
        """
        state = self
        for _ in range(2 * self.problem.n):
            moved = state.moved(moving)
            x, coefficients, outputs, bias = state.speeds(moved)
            steps, leaving = state._leaving(moved, x, outputs, side)
            points = np.flatnonzero(leaving.any(axis=1))
            if not len(points):
                break
            i, way = int(points[0]), 1 if leaving[points[0], 1] else -1
            if i < self.problem.n and state.held[i] < 0 and state._jump(i, way) < 0:
                raise TangentChangesError(f"on that side point {i} goes over a concave kink, where its tangent changes")
            before, state = state, state._copied()
            state._move(np.array([i]), np.array([way]))
            state._factor()
            state._exchange(before, i)
            state._solve()
        else:
            raise ValueError("so many outputs leave kinks or reach them at once that no active set was found for them")
        gamma, multipliers = state.split(state.x)
        ends = np.where(state.side > 0, moved.ends[:, 1], moved.ends[:, 0])
        objective = -0.5 * state.a @ moved.applied + moved.cost @ state.read[2] + state.cost @ moved.read[2]
        objective += gamma @ np.where(state.held >= 0, moved.read[3], 0.0) + multipliers @ ends
        w = self.problem.combination(coefficients) if self.problem.is_linear else None
        return state, Derivative(outputs, coefficients, bias, w, float(objective), steps)

    def _copied(self) -> "FixedPoint":
        found = FixedPoint.__new__(FixedPoint)
        found.__dict__.update(self.__dict__)
        return found

    def at(self, formulation: Formulation, problem: Problem) -> "FixedPoint":
        """The point with the same active set of a formulation and a problem whose numbers are others."""
        found = self._copied()
        found._take(Instance(formulation, problem))
        found.known = None
        found.__dict__.pop("parameters", None)
        if problem.X is not self.problem.X or problem.kernel != self.problem.kernel:
            found.__dict__.pop("sums", None)
        found._factor()
        found._solve()
        return found

    def speeds(self, moved: Moved) -> tuple[Array, Array, Array, float]:
        """How multipliers, coefficients, outputs and the bias move while the active set stays."""
        push = moved.cost * self.read[0] + self.cost * moved.read[0]
        held, curved = self.held >= 0, np.zeros(self.problem.n, dtype=bool)
        curved[self.S] = ~held[self.S]
        fixed = np.where(held | curved, 0.0, -push)
        applied = moved.applied + (self.problem.apply_kernel(fixed) if fixed.any() else 0.0)
        v = np.where(held[self.S], moved.read[3, self.S], -push[self.S] * self.D[: len(self.S)])
        ends = moved.ends[self.T, (self.side[self.T] > 0).astype(int)]
        x, b = self.system.solve(np.r_[v, ends] - self.functionals(applied), -float(fixed.sum()))
        return x, fixed + self.spread(x), applied + self.times(x) + b, b

    def _leaving(
        self, moved: Moved, x: Array, outputs: Array, side: int
    ) -> tuple[tuple[float, float], NDArray[np.bool_]]:
        """How far the parameter may go until one of what may move is at an end, and what leaves its ends at once."""
        (gamma, multipliers), held, active = self.split(x), self.held >= 0, self.side != 0
        q, low, high, size = self._bounds()
        speed = np.r_[np.where(held, -gamma, outputs), np.where(active, multipliers, self.A @ outputs)]
        ends = moved.read[4:] * np.where(held, self.cost, 1.0) + np.where(held, moved.cost * self.read[4:], 0.0)
        by_ends = np.r_[ends.T, np.where(active[:, None], 0.0, moved.ends)]
        room = np.maximum(np.column_stack([q - low, high - q]), 0.0)
        closing = (by_ends - speed[:, None]) * [1.0, -1.0]  # by which the room to each end shrinks
        moves = side * closing > self.little * (size[:, None] + np.abs(speed).max())
        leaving = (room <= self.near * size[:, None]) & moves
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = np.where(closing != 0, room / closing, np.inf)
        return (float(steps[closing < 0].max(initial=-np.inf)), float(steps[closing > 0].min(initial=np.inf))), leaving


def _ends(instance: Instance) -> Array:
    """Ends of sums of outputs, shape (k, 2)."""
    ends = np.array([ends for _, *ends in instance.dense_rows()], dtype=float).reshape(-1, 2)
    return np.clip(ends, -FixedPoint.far, FixedPoint.far)


def _is_smooth(loss: Any) -> bool:
    """Whether a loss has no kink, and a curvature."""
    if isinstance(loss, DCLoss):
        return getattr(loss.convex, "is_smooth", False) and hasattr(loss.concave, "curvature")
    return bool(getattr(loss, "is_smooth", False)) and hasattr(loss, "curvature")
