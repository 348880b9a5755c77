"""A formulation: what is minimized, written once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import PairKernel
from ..losses import PLQ, BetterLabel, ConcavePart, Convex, Loss, SplitLoss, zero
from ..problem import Array, Problem
from .class_spread import ClassSpread
from .constraints import OutputConstraint
from .groups import Addition, PointGroup, check_groups
from .regularizers import SQUARED_NORM, Regularizer, as_regularizer
from .terms import as_latex, as_text, envelope, label_loss, value

if TYPE_CHECKING:
    import cvxpy as cp

    from ..instance import Instance


class Kind(NamedTuple):
    """What the points of one kind pay: a loss of 1.0 or -1.0 times their outputs."""

    name: str  # what CVXPY problems call them
    field: str  # the argument that says what they pay, for messages
    loss: Loss | None  # None if they pay nothing
    sign: float

    @property
    def of_output(self) -> Loss | None:
        """The loss as a function of the output."""
        return self.loss if self.loss is None or self.sign > 0 else self.loss.reflect()


@dataclass(frozen=True)
class Formulation:
    """½ ‖w‖² + Σ_labeled C_i ℓ(y_i f(x_i)) + Σ_unlabeled C*_i ℓ*(f(x_i)), under constraints on outputs.

    Parameters
    ----------
    labeled : PLQ, DCLoss or ConvexLoss
        Loss ℓ of y f(x) for labelled points.
    unlabeled : PLQ, DCLoss, ConvexLoss or None
        Loss ℓ* of f(x) for unlabelled points; None charges them nothing, which is a supervised SVM.
    balance : {"linear", "targets", None}, default "linear"
        "linear": the mean of f over the unlabelled points is the problem's ``balance_target``.  "targets": the mean of
        v = f + y ξ is, the outputs with their slacks (Bai and Yan 2016), for the squared hinge without a bias; known to
        relaxations and to exact search only, since a sum over slacks is no sum of losses.
    fit_intercept : bool, default True
        Whether f has a bias.
    regularizer : {"l2", "l1"} or Regularizer, default "l2"
        What w costs: ½ ‖w‖², ‖w‖₁, or an object such as :class:`~convex_tsvm.formulations.GroupLasso`; other
        than ½ ‖w‖² for the linear space, through CVXPY.
    constraints : sequence of OutputConstraint, default ()
        Linear constraints on outputs besides the balance: :func:`~convex_tsvm.mean_output`,
        :func:`~convex_tsvm.must_link`, :func:`~convex_tsvm.cannot_link`, :func:`~convex_tsvm.output_constraint`.
    groups : sequence of PointGroup, default ()
        Points that pay a loss of their own, and not that of labelled or unlabelled ones.
    additions : sequence of Addition, default ()
        Convex terms and constraints written in CVXPY (:func:`~convex_tsvm.formulations.addition`).
    name : str
        Shown in reports.

    Examples
    --------
    >>> problem = ct.Problem(np.array([[-1.0], [-0.8], [0.9], [1.0]]), [-1, 0, 0, 1], C=10)
    >>> model = ct.Formulation(labeled=ct.hinge(), unlabeled=ct.symmetric_ramp(s=-0.3))
    >>> model.dual(problem).is_dcp(dpp=True)
    True
    """

    labeled: Loss
    unlabeled: Loss | None = None
    balance: str | None = "linear"
    fit_intercept: bool = True
    regularizer: Regularizer = SQUARED_NORM
    name: str = ""
    constraints: tuple[OutputConstraint, ...] = ()
    additions: tuple[Addition, ...] = ()
    groups: tuple[PointGroup, ...] = ()

    def __post_init__(self) -> None:
        for field in ("labeled", "unlabeled"):
            loss = getattr(self, field)
            if not isinstance(loss, PLQ | Loss) and not (field == "unlabeled" and loss is None):
                raise ValueError(f"{field}={loss!r} must be a PLQ, DCLoss or ConvexLoss")
        if self.balance not in ("linear", "targets", None):
            raise ValueError(f"balance={self.balance!r} must be 'linear', 'targets' or None")
        object.__setattr__(self, "regularizer", as_regularizer(self.regularizer))
        several: dict[str, tuple[type[Any], str]] = {
            "constraints": (OutputConstraint, ""),
            "groups": (PointGroup, ""),
            "additions": (Addition, "; addition(function) makes one"),
        }
        for field, (kind, hint) in several.items():
            given = getattr(self, field)
            found = (given,) if isinstance(given, kind) else tuple(given)
            for one in found:
                if not isinstance(one, kind):
                    raise ValueError(f"{field} contains {one!r}, which is no {kind.__name__}{hint}")
            object.__setattr__(self, field, found)

    def __str__(self) -> str:
        return as_text(self)

    def latex(self) -> str:
        """What is minimized, as LaTeX, an ``aligned`` environment without dollars."""
        return as_latex(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def is_convex(self) -> bool:
        """Whether every loss is convex, so that one step solves the problem."""
        return not self.subtracts and all(getattr(loss, "is_convex", False) for loss in self.losses)

    @property
    def class_spread(self) -> ClassSpread | None:
        """What is paid for outputs far from the mean of their class."""
        return next((one for one in self.additions if isinstance(one, ClassSpread)), None)

    @property
    def subtracts(self) -> bool:
        """Whether an addition is a difference of convex terms."""
        return any(one.minus is not None for one in self.additions)

    def subtracted(self, outputs: Array) -> tuple[float, Array | float]:
        """What additions subtract at some outputs, and a subgradient of it there, shape (n,)."""
        found = [one.subtracted(outputs) for one in self.additions if one.minus is not None]
        return sum(value for value, _ in found), sum(slope for _, slope in found)

    @cached_property
    def losses(self) -> list[Loss]:
        """The losses of labelled points, of unlabelled ones if they have one, and of the groups."""
        unlabeled = [] if self.unlabeled is None else [self.unlabeled]
        return [self.labeled, *unlabeled, *(group.loss for group in self.groups)]

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is losses, ½ ‖w‖² and a balance, and nothing else: the form that the papers have."""
        return self.regularizer.is_squared_norm and not (self.constraints or self.additions or self.groups)

    @property
    def constrains_outputs(self) -> bool:
        """Whether it has constraints on outputs other than a mean of f that the bias meets."""
        balance = None if self.fit_intercept and self.balance == "linear" else self.balance
        return bool(self.constraints) or balance is not None

    @cached_property
    def has_finitely_many_tangents(self) -> bool:
        """Whether every concave part is piecewise linear: CCCP then stops after finitely many steps."""
        return not self.subtracts and all(getattr(concave, "is_piecewise_linear", False) for _, concave in self.parts)

    def supervised(self) -> Formulation:
        """The same formulation without the unlabelled points' losses, and so without a balance of their targets.

        Groups whose losses are not convex are left out, too.
        """
        balance = None if self.balance == "targets" else self.balance
        name = f"supervised part of {self.name}" if self.name else ""
        groups = tuple(group for group in self.groups if getattr(group.loss, "is_convex", False))
        return replace(self, unlabeled=None, balance=balance, name=name, groups=groups)

    def envelope(self) -> Formulation | None:
        """A convex formulation that is nowhere above this one: unlabelled points pay the convex envelope of their loss.

        For a TSVM that is a constant, which leaves the SVM of the labelled points.  None if the loss of the labelled
        points is not convex, or that of the unlabelled ones not piecewise linear-quadratic and bounded below.
        """
        return self._below

    @cached_property
    def _below(self) -> Formulation | None:
        if self.is_convex:
            return self
        if self.subtracts or not getattr(self.labeled, "is_convex", False):
            return None
        below = [found for found in map(envelope, self.losses[1:]) if found is not None]
        if len(below) < len(self.losses) - 1:
            return None
        unlabeled = None if self.unlabeled is None else below.pop(0)
        groups = tuple(replace(group, loss=loss) for group, loss in zip(self.groups, below, strict=True))
        name = f"convex envelope of {self.name}" if self.name else ""
        return replace(self, unlabeled=unlabeled, groups=groups, name=name)

    @property
    def is_about_labels(self) -> bool:
        """Whether unlabelled points pay the lesser loss of a label to be found."""
        try:
            self.label_loss()
        except ValueError:
            return False
        return True

    def label_loss(self, *, compared: bool = False) -> tuple[PLQ, float]:
        """ℓ with ℓ*(t) = min(ℓ(t), ℓ(-t)) + a constant, and that constant: unlabelled points pay for the better label.

        A ValueError says if the loss of unlabelled points is another one, or that of labelled ones is not convex or
        increases.

        Parameters
        ----------
        compared : bool, default False
            Whether what both labels of a point cost at one output is to be compared, which needs a finite loss.
        """
        return label_loss(self, compared)

    def check(self, problem: Problem) -> None:
        """Raise ValueError if ``problem`` lacks something that the formulation needs."""
        if self.unlabeled is not None:
            if problem.n_unlabeled == 0:
                raise ValueError("y has no unlabelled point, but the formulation has a loss for unlabelled points")
            if not problem.cost[problem.unlabeled].any():
                raise ValueError("C_unlabeled=None, but the formulation has a loss for unlabelled points")
        if self.balance is not None and problem.n_unlabeled and problem.balance_target is None:
            raise ValueError(
                f"balance=None in the problem, but the formulation has balance={self.balance!r}; "
                "give the problem a balance or the formulation balance=None"
            )
        # The outputs that a loss of labels allows are on both sides of zero, so that any mean can be reached.
        by_labels = isinstance(self.unlabeled, BetterLabel)
        least, most = (-np.inf, np.inf) if by_labels else self.parts[2][0].domain
        if self.balance == "linear" and problem.n_unlabeled and not least <= (problem.balance_target or 0.0) <= most:
            raise ValueError(
                f"balance: the mean output {problem.balance_target:g} of the unlabelled points is not in "
                f"[{least:g}, {most:g}], where their loss keeps every output; there is no solution"
            )
        check_groups(self.placed(problem).groups, problem)
        if self.groups and self.balance is not None and problem.positive_count is not None:
            raise ValueError(
                f"balance={problem.balance!r}: a number of labels would count points of groups; use a mean output, "
                f"such as {problem.balance_target:g}"
            )
        if not self.regularizer.is_squared_norm:
            if not problem.is_linear:
                raise ValueError(f"regularizer={self.regularizer!r} needs kernel='linear'")
            self.regularizer.check(problem.X.shape[1])

    def check_classes(self, problem: Problem) -> None:
        """Raise ValueError if a class has no labelled point, and a free bias may put all points into the other class.

        Something must be said of the unlabelled points together, or their loss must tell the classes apart.
        """
        if self.fit_intercept and isinstance(problem.kernel, PairKernel):
            raise ValueError("fit_intercept=True: outputs of pairs are differences, which have no bias")
        if not (problem.n_labeled or self.unlabeled is not None or self.groups or self.additions):
            raise ValueError("y has no labelled point, and the formulation has a loss for no others")
        if self.is_balanced or not self.is_plain or self.unlabeled is None or not self.fit_intercept:
            return
        if isinstance(self.unlabeled, PLQ) and not self.unlabeled.reflect().isclose(self.unlabeled):
            return
        for sign in (1, -1):
            if not (problem.y == sign).any():
                raise ValueError(
                    f"balance={self.balance!r} in the formulation: no point is labelled {sign:+d}, and nothing says "
                    "how large this class is; use balance='linear', or fit_intercept=False"
                )

    @property
    def is_balanced(self) -> bool:
        """Whether it asks something of the unlabelled points together: a mean output, or a number of labels."""
        return self.balance is not None

    @property
    def fixes_bias(self) -> bool:
        """Whether a mean output that is asked for sets the bias."""
        return self.balance == "linear" and self.fit_intercept

    @property
    def balances_targets(self) -> bool:
        """Whether what is balanced are targets v = f + y ξ, and not outputs."""
        return self.balance == "targets"

    def balanced_as(self, problem: Problem) -> Formulation:
        """The same, without its balance constraint if the problem has none."""
        return self if problem.balance is not None else replace(self, balance=None)

    def balancing_targets(self) -> Formulation:
        """The same with the targets v = f + y ξ balanced in place of the outputs, if anything is."""
        return self if self.balance is None else replace(self, balance="targets")

    def on(self, problem: Problem) -> Instance:
        """The formulation bound to a problem: what methods work on."""
        from ..instance import Instance

        return Instance(self, problem)

    def loss_values(self, problem: Problem, outputs: Array) -> Array:
        """Unscaled loss of every point at given outputs, shape (n,).

        An output outside the domain of a loss (a constraint) by no more than ``DOMAIN_TOLERANCE`` counts as at its
        end, since no solver meets a constraint exactly.
        """
        values = np.zeros(problem.n)
        known, unknown = problem.labeled, problem.unlabeled
        values[known] = value(self.labeled, problem.y[known] * outputs[known])
        if self.unlabeled is not None:
            values[unknown] = value(self.unlabeled, outputs[unknown])
        for group in self.placed(problem).groups:
            points = group.where
            values[points] = value(group.loss, group.signs(problem) * (outputs[points] - np.asarray(group.target)))
        return values

    def shift(self, problem: Problem) -> Array | None:
        """The target of every point of a group, 0 for others, shape (n,); None if there are none."""
        if not any(group.has_targets for group in self.groups):
            return None
        shift = np.zeros(problem.n)
        for group in self.placed(problem).groups:
            shift[group.where] = group.target
        return shift

    def without_targets(self, problem: Problem) -> Formulation:
        """The same with targets in losses: groups of points with one target each, whose losses are functions of f.

        A ValueError says if a loss cannot be moved to a target, as it is not piecewise linear-quadratic.
        """
        if not any(group.has_targets for group in self.groups):
            return self
        groups = [part for group in self.placed(problem).groups for part in group.by_target(problem)]
        return replace(self, groups=tuple(groups))

    def placed(self, problem: Problem) -> Formulation:
        """The formulation with the row numbers of constraints and groups as they are in a problem.

        It is itself unless the problem is a part of the one that they were made for.  A ValueError says if row numbers
        are of other points, or of points that are not in the part.
        """
        if self.is_plain:
            return self
        groups = tuple(group.placed(problem) for group in self.groups)
        constraints = tuple(one.placed(problem) for one in self.constraints)
        for addition in self.additions:
            addition.placed(problem)
        if groups == self.groups and constraints == self.constraints:
            return self
        return replace(self, groups=groups, constraints=constraints)

    def costs(self, problem: Problem) -> Array:
        """The cost of every point, shape (n,), as a new array: the problem's, or that of its group."""
        cost = problem.cost.copy()
        for group in self.placed(problem).groups:
            cost[group.where] = group.cost
        return cost

    @cached_property
    def by_kind(self) -> list[Kind]:
        """What the points of each kind pay, numbered as :meth:`kinds` numbers them."""
        found = [
            Kind("positive", "labeled", self.labeled, 1.0),
            Kind("negative", "labeled", self.labeled, -1.0),
            Kind("unlabeled", "unlabeled", self.unlabeled, 1.0),
        ]
        for group in self.groups:
            field = f"group {group.name!r}: loss"
            found += [Kind(group.name, field, group.loss, 1.0), Kind(f"{group.name} of -1", field, group.loss, -1.0)]
        return found

    def kinds(self, problem: Problem) -> NDArray[np.intp]:
        """Which of :attr:`by_kind` each point is, shape (n,): 0 and 1 for labels +1 and -1, 2 for none, then groups."""
        y = problem.y
        kinds = np.where(y > 0, 0, np.where(y < 0, 1, 2)).astype(np.intp)
        for number, group in enumerate(self.placed(problem).groups):
            kinds[group.where] = 3 + 2 * number + (group.signs(problem) < 0)
        return kinds

    def ungrouped(self, problem: Problem) -> Problem:
        """The problem with a balance that does not count the points of groups."""
        grouped = np.concatenate([np.zeros(0, np.intp), *(group.where for group in self.placed(problem).groups)])
        rest = np.setdiff1d(problem.balance_points, grouped)
        if len(rest) == len(problem.balance_points) or self.balance is None or problem.balance is None:
            return problem
        if len(rest) == 0:
            raise ValueError("balance: all unlabelled points are in groups, which a balance does not count; use None")
        return problem.replace(balance_sample=rest)

    def objective(self, problem: Problem, outputs: Array, regularization: float, cost: Array | None = None) -> float:
        """The formulation's own, non-convex objective at outputs, shape (n,), and R(w), by default at its costs."""
        if cost is None:
            cost = self.costs(problem) if self.groups else problem.cost
        return regularization + float(cost @ self.loss_values(problem, outputs)) - self.subtracted(outputs)[0]

    def primal(self, problem: Problem, outputs: Array | None = None) -> cp.Problem:
        """The convex step as a ``cvxpy.Problem`` in w (or its expansion a), b and the outputs f.

        Without ``outputs``, shape (n,), it is the convex part of the formulation; with them the tangents at those
        outputs are added, with their constant: the problem then is a surrogate, nowhere below the objective, which it
        touches there.  Costs, tangents and the balance are parameters, named so.  ``print`` shows it in symbols,
        ``latex()`` has them as LaTeX, and a notebook draws them.
        """
        return self.on(problem).primal(outputs)

    def dual(self, problem: Problem, outputs: Array | None = None, *, balance_by: str = "centring") -> cp.Problem:
        """The dual of :meth:`primal` as a ``cvxpy.Problem`` in γ; both have the same value.

        ``balance_by`` is "centring" (chapelle2008 eq. 13) or "x0" (collobert2006 eq. 27).
        """
        return self.on(problem).dual(outputs, balance_by)

    def derive(self, of: str = "dual") -> Any:
        """Derive its "dual", "primal", "cccp", "balance", "sdp" or "bound" in proven steps: see ``ct.derive``."""
        from importlib import import_module

        return import_module("convex_tsvm").derive(self, of)  # which stands above formulations

    def smooth(self, problem: Problem, outputs: Array | None = None) -> cp.Problem:
        """The formulation itself, nonconvex, as a smooth ``cvxpy.Problem``: ``.solve(nlp=True)`` of CVXPY 1.9 takes it.

        For convex and smooth losses: :func:`~convex_tsvm.losses.exponential`, :class:`~convex_tsvm.losses.DCLoss` whose
        concave part has an expression.  Additions need not be convex.  A solver of smooth problems must be installed,
        such as Uno (``pip install unopy``, ``solver="UNO"``) or IPOPT.  A ValueError says if a loss has no smooth
        expression.  The problem is in w (of the linear space, else in coordinates of a factor of the kernel matrix), b
        and the outputs f.

        Parameters
        ----------
        outputs : array, shape (n,), optional
            The solver begins at the function whose outputs are nearest to these; at zero by default.

        Examples
        --------
        >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
        >>> print(str(ct.tsvm("exp").smooth(problem)).splitlines()[3])
                    + C[unlabeled]ᵀ exp(-5 f[unlabeled]²)
        """
        return self.on(problem).smooth(outputs)

    @cached_property
    def parts(self) -> list[tuple[Convex, ConcavePart]]:
        """(convex, concave) of the loss of f, for each of :attr:`by_kind`; a ValueError if a loss does not split."""
        found: list[tuple[Convex, ConcavePart]] = []
        for kind in self.by_kind:
            loss = zero() if kind.loss is None else kind.loss
            if not isinstance(loss, PLQ | SplitLoss):
                others = "; relaxations and exact search take it" if isinstance(loss, BetterLabel) else ""
                raise ValueError(
                    f"{kind.field}={loss!r} has no convex and concave part (split()), which convex steps need{others}"
                )
            convex, concave = loss.split()
            found.append((convex, concave) if kind.sign > 0 else (convex.reflect(), concave.reflect()))
        return found
