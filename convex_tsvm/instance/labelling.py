"""What is relaxed: an S3VM as a search for labels.

min over y_u in {-1, 1}^u and w of  ½ ‖w‖² + Σ c_i ℓ(y_i f_i),  f_i = <w, φ(x_i)> + o_i,  with ‖w‖² = aᵀ G a.

A formulation is of this kind if its loss for unlabelled points is the better of the two losses that a label would give
them, ℓ*(f) = min(ℓ(f), ℓ(-f)).  A balance constraint is gone before anything is relaxed: it moves the origin (G is the
centred kernel, chapelle2008 eq. 13) and fixes the offsets o.
"""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ..formulations import Formulation
from ..formulations.class_spread import ClassSpread
from ..formulations.constraints import Link, OutputConstraint
from ..kernels import AccurateGram, NoMeanError, centred_gram, plain_gram, projected_gram, shifted_gram
from ..kernels.distances import EPS
from ..losses import HARD_MARGIN, PLQ, hinge, squared_hinge
from ..problem import Array, Problem
from ..ties import falling
from ..validation import InfeasibleError
from .convex_step import ConvexStep
from .first_guess import principal_components
from .instance import Instance
from .step_solution import StepSolution


@dataclass(frozen=True, eq=False)
class SideInformation:
    """Labels that follow from links, and groups of points whose labels are unknown but tied to each other."""

    # Shape (n,): +1 and -1 for labels that were given or that follow from links to points with a given label, else 0.
    y: Array
    # Shape (n,): the number of the group of every point whose label is unknown, in the order of their first points; -1
    # for the others.
    group: NDArray[np.intp]
    # Shape (n,): +1 for points with the label of the first point of their group, -1 for those with the opposite one.
    sign: Array

    @classmethod
    def of(cls, y: Array, constraints: Iterable[OutputConstraint] = ()) -> "SideInformation":
        """What labels, shape (n,), and the exact links among constraints say; other constraints say nothing.

        A ValueError says if a point would be of both classes, or a link has an index that is none of a point.
        """
        y = np.asarray(y, dtype=float)
        links = [one for one in constraints if isinstance(one, Link) and one.is_exact]
        n = len(y)
        for one in links:
            for index in (one.i, one.j):
                one.check_index(index, n)
        # Nodes 0 to n - 1 say that the label of a point is +1, node n is what is true; nodes from n + 1 on say the
        # opposite.  Two nodes are joined if they say the same.
        known = np.flatnonzero(y)
        first = np.concatenate([known, np.array([one.i for one in links], dtype=np.intp)])
        second = np.concatenate([np.full(len(known), n), np.array([one.j for one in links], dtype=np.intp)])
        opposite = np.concatenate([y[known], np.array([one.sign for one in links])]) < 0
        rows = np.concatenate([first, first + n + 1])
        columns = np.concatenate(
            [np.where(opposite, second + n + 1, second), np.where(opposite, second, second + n + 1)]
        )
        graph = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * n + 2, 2 * n + 2))
        _, part = connected_components(graph, directed=False)
        positive, negative, true, false = part[:n], part[n + 1 : -1], part[n], part[-1]
        both = np.flatnonzero(positive == negative)
        if len(both):
            raise ValueError(f"the links and labels contradict each other: point {both[0]} would be of both classes")
        labels = (positive == true).astype(float) - (positive == false)
        unknown = np.flatnonzero(labels == 0)
        _, where, number = np.unique(np.minimum(positive, negative)[unknown], return_index=True, return_inverse=True)
        group, sign = np.full(n, -1), np.ones(n)
        group[unknown] = np.argsort(np.argsort(where))[number]
        sign[unknown] = np.where(positive[unknown] == positive[unknown[where[number]]], 1.0, -1.0)
        return cls(labels, group.astype(np.intp), sign)

    @cached_property
    def n_groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The first point of every group."""
        unknown = np.flatnonzero(self.group >= 0)
        return np.asarray(unknown[np.unique(self.group[unknown], return_index=True)[1]])

    @cached_property
    def basis(self) -> Array:
        """B with Γ = B Γ̃ Bᵀ, shape (n, 1 + m): a column for the known labels, one for each of m groups (§2.2)."""
        B = np.zeros((len(self.y), 1 + self.n_groups))
        B[:, 0] = self.y
        unknown = np.flatnonzero(self.group >= 0)
        B[unknown, 1 + self.group[unknown]] = self.sign[unknown]
        return B


@dataclass(frozen=True, eq=False)
class Labelling:
    """An S3VM as a search for labels.

    Attributes
    ----------
    loss : PLQ
        ℓ, convex and nowhere increasing.
    gram : AccurateGram
        G, with a bound on its rounding errors.
    offset, offset_error : array, shape (n,)
        o, and how far rounding may have moved it.
    y : array, shape (n,)
        +1, -1, or 0 for the labels that are searched for.
    cost : array, shape (n,)
        Costs c_i.
    constant : float
        What is to be added to the objective for it to be that of the formulation.
    loss_constant : float
        The part of it that comes from the losses: what is to be added to the objective of :meth:`svm`.
    free_bias : bool
        Whether a bias is free.
    target_sum : float or None
        What the targets v = f + y ξ of the unlabelled points must sum to, if they are balanced instead of the outputs.
    n_positive : int or None
        Number of unlabelled points to be labelled +1, where that is prescribed.
    spread : ClassSpread or None
        What is paid for outputs far from the mean of their class, the sizes of which are then prescribed.
    constant_error : float
        How far rounding may have moved the constant.
    """

    instance: Instance
    loss: PLQ
    gram: AccurateGram
    offset: Array
    offset_error: Array
    y: Array
    cost: Array
    constant: float = 0.0
    loss_constant: float = 0.0
    free_bias: bool = False
    target_sum: float | None = None
    n_positive: int | None = None
    spread: ClassSpread | None = None
    constant_error: float = 0.0

    @property
    def kernel(self) -> Array:
        """G, shape (n, n)."""
        return self.gram.matrix

    @property
    def formulation(self) -> Formulation:
        """The formulation whose labels are searched for."""
        return self.instance.formulation

    @property
    def problem(self) -> Problem:
        """The problem that it is on."""
        return self.instance.problem

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.y)

    @property
    def unknown(self) -> np.ndarray:
        """Indices of the points whose labels are searched for."""
        return np.flatnonzero(self.y == 0)

    @property
    def summed(self) -> Array:
        """1 for the points whose targets are balanced, 0 for the others, shape (n,)."""
        weights = np.zeros(self.n)
        weights[self.instance.members] = 1.0
        return weights

    def fixed(self, labels: Array) -> "Labelling":
        """The same search with more labels known.

        A ValueError says if a label is none of these, or contradicts a known one.

        Parameters
        ----------
        labels : array, shape (n,)
            +1, -1, or 0 for unknown; labels known before must be the same.
        """
        labels = np.asarray(labels, dtype=float)
        if labels.shape != self.y.shape or not np.isin(labels, (-1.0, 0.0, 1.0)).all():
            raise ValueError(f"labels has shape {labels.shape}; it must hold +1, -1 or 0 for each of {self.n} points")
        changed = np.flatnonzero((self.y != 0) & (labels != self.y))
        if len(changed):
            raise ValueError(f"labels[{changed[0]}]={labels[changed[0]]:g} contradicts the known label")
        return dataclasses.replace(self, y=labels)

    @cached_property
    def side(self) -> SideInformation:
        """Which of the labels that are searched for are tied to each other by links."""
        return SideInformation.of(self.y, self.formulation.constraints)

    @property
    def has_ties(self) -> bool:
        """Whether links tie labels that are searched for."""
        return self.side.n_groups < len(self.unknown)

    @property
    def basis(self) -> Array:
        """B with Γ = B Γ̃ Bᵀ, shape (n, 1 + m): y_i for a known label, ±1 for one of m groups (debie2004 §2.2)."""
        return self.side.basis

    @property
    def unknown_sum(self) -> int | None:
        """What the labels that are searched for sum to, if the number of positive ones is prescribed."""
        if self.n_positive is None:
            return None
        found = int((self.y[self.instance.problem.unlabeled] > 0).sum())
        return 2 * (self.n_positive - found) - len(self.unknown)

    def svm(self, labels: Array) -> ConvexStep:
        """The SVM for given labels of the points; those with label 0 pay nothing."""
        return self.instance.svm(labels)

    def objective(self, solution: StepSolution) -> float:
        """The formulation's objective at the outputs of an SVM: an upper bound of the optimum."""
        return self.instance.objective(solution.outputs, solution.regularization)


def labelling(formulation: Formulation, problem: Problem) -> Labelling:
    """A formulation on a problem as a search for labels; a ValueError if the formulation is not of that kind."""
    loss, constant = formulation.label_loss()
    if problem.n_labeled == 0:
        problem = with_one_label(formulation, problem)
    instance = Instance(formulation, problem)
    if not formulation.regularizer.is_squared_norm:
        raise ValueError(f"regularizer={formulation.regularizer!r}: searches for labels are for 'l2'")
    _check_links(formulation, problem, loss)
    if formulation.additions and not (formulation.class_spread and len(formulation.additions) == 1):
        raise ValueError(f"additions={list(formulation.additions)!r}: searches for labels know a class spread only")
    if formulation.class_spread is not None:
        if not loss.isclose(hinge()):
            raise ValueError(f"labeled={loss!r}: a class spread is for hinge()")
        prescribed(instance)
    loss_constant = constant * float(problem.cost[problem.unlabeled].sum())
    search = Labelling(
        instance=instance,
        loss=loss,
        y=problem.y.copy(),
        cost=problem.cost.copy(),
        loss_constant=loss_constant,
        target_sum=instance.target_sum,
        n_positive=instance.n_positive,
        spread=formulation.class_spread,
        **_space(instance, loss_constant),
    )
    return search if search.target_sum is None else _checked_targets(search)


def with_one_label(formulation: Formulation, problem: Problem, point: int | None = None) -> Problem:
    """The same search for labels where no point has one: one point is labelled +1, and pays what it paid before.

    All labels may be changed for their opposites at the same objective if the balance does not tell the classes apart;
    so one label of one point is free, and with it half of all labellings are left out.  It is by default the point that
    is furthest out in the direction of the first principal component.  A ValueError says if the balance tells the
    classes apart, or the loss has a constant, which a labelled point does not pay.
    """
    if formulation.label_loss()[1] != 0:
        raise ValueError(
            f"y has no labelled point, and unlabeled={formulation.unlabeled!r} is the loss of the better label and a "
            "constant; leave the constant out, as tsvm('hinge') does"
        )
    if formulation.balances_targets:
        raise ValueError("y has no labelled point; balance='targets' needs one")
    instance, n = Instance(formulation, problem), problem.n
    changes: dict[str, Any] = {}
    if instance.asks_for_a_number:
        alike = 2 * (problem.positive_count or 0) == n
    else:
        alike = problem.balance is None or problem.balance_target == 0 or formulation.balance is None
    if not alike:
        raise ValueError(
            f"y has no labelled point, and {instance.balance} tells the classes apart; use balance=0.0 or "
            "('exact', 0.5), with which one label of one point is free, or label one point +1 and then -1"
        )
    if instance.asks_for_a_number:
        changes["balance"] = ("exact", (n // 2 - 1) / (n - 1)) if n > 2 else None
    elif problem.balance is not None:
        changes["balance_sample"] = problem.balance_points
    y = problem.y.copy()
    y[falling(principal_components(problem, 1)[:, 0])[0] if point is None else point] = 1.0
    return problem.replace(y=y, C=problem.cost, C_unlabeled=problem.cost, **changes)


def prescribed(instance: Instance) -> int:
    """The number of positive labels; a ValueError if it is not prescribed, as means of classes need it."""
    if instance.n_positive is None:
        raise ValueError(f"{instance.balance} must be ('exact', r): class means need the number of their points")
    return instance.n_positive


def _check_links(formulation: Formulation, problem: Problem, loss: PLQ) -> None:
    """Raise ValueError if a constraint is none that ties labels which are searched for."""
    if not formulation.constraints:
        return
    for one in formulation.constraints:
        if not (isinstance(one, Link) and one.is_exact):
            raise ValueError(
                f"constraints={formulation.constraints!r}: searches for labels know the balance, and must_link() and "
                "cannot_link() with within=0"
            )
    if problem.positive_count is not None or loss.isclose(HARD_MARGIN):
        what = "a prescribed number of positive labels" if problem.positive_count is not None else "a hard margin"
        raise ValueError(f"constraints={formulation.constraints!r}: searches for labels know no links beside {what}")
    # A labelled point pays for an output on the wrong side, and the output of a point linked to it is there as well.
    followed = np.flatnonzero(SideInformation.of(problem.y, formulation.constraints).y != problem.y)
    if len(followed):
        raise ValueError(
            f"constraints={formulation.constraints!r}: point {followed[0]} is linked to a labelled point; give it its "
            "label instead"
        )


def _space(instance: Instance, loss_constant: float) -> dict[str, Any]:
    """The kernel, offsets and bias that a balance constraint leaves, and the constant that it adds."""
    problem, bias = instance.problem, instance.bias
    points, rounding = (problem.kernel, problem.X), 8 * EPS * abs(loss_constant)
    found: dict[str, Any] = {
        "offset": np.zeros(problem.n),
        "offset_error": np.zeros(problem.n),
        "constant": loss_constant,
        "constant_error": rounding,
        "free_bias": bias.fitted,
    }
    if bias.target is None or instance.n_positive is not None:
        # A free bias takes up whatever the origin of a linear space adds to all outputs.
        anywhere = bias.fitted and instance.target_sum is None
        return {**found, "gram": (shifted_gram if anywhere else plain_gram)(*points)}
    if bias.centred:
        gram = centred_gram(*points, bias.members)
        return {**found, "gram": gram, "offset": np.full(problem.n, bias.offset), "free_bias": False}
    try:
        projected = projected_gram(*points, bias.members, bias.target)
    except NoMeanError as error:
        raise InfeasibleError(f"{instance.balance} cannot be met: {error}, and there is no bias") from None
    return {
        **found,
        "gram": projected.gram,
        "offset": projected.offset,
        "offset_error": projected.offset_error,
        "constant": loss_constant + 0.5 * projected.square,
        "constant_error": rounding + projected.square_error + 4 * EPS * projected.square,
    }


def why_not_relaxable(search: Labelling) -> str | None:
    """Why there is no relaxation in label matrices (debie2004 §2), or None if there is.

    With a free bias and no balance constraint it is no better than the SVM of the labelled points, since label matrices
    may contain a multiple of the matrix of ones that the bias pays for.
    """
    if search.spread is not None:
        return f"additions=[{search.spread!r}]: relaxations in label matrices know none"
    if search.target_sum is not None:
        return "balance='targets': relaxations in label matrices take balance='linear' or None"
    if search.free_bias and search.n_positive is None:
        return (
            "fit_intercept=True without a balance constraint: a relaxation of a free bias is no better than the "
            "SVM on the labelled points; use balance='linear' or fit_intercept=False"
        )
    return None


def balanced_direction(search: Labelling) -> Array:
    """(-q, 1, ..., 1): Γ̃ times it is zero where the unknown labels sum to q, as Γ̃ ⪰ 0 (chapelle2008 §3.4).

    The sum counts every point, so that the entry of labels that are tied is the sum of their signs.
    """
    assert search.unknown_sum is not None
    return np.append(-float(search.unknown_sum), search.basis[search.unknown, 1:].sum(axis=0))


def check_relaxable(search: Labelling) -> None:
    """Raise ValueError if there is no relaxation in label matrices."""
    why = why_not_relaxable(search)
    if why is not None:
        raise ValueError(why)


def _checked_targets(search: Labelling) -> Labelling:
    if not search.loss.isclose(squared_hinge()):
        raise ValueError(f"balance='targets' is for the squared hinge, not labeled={search.loss!r}")
    if search.free_bias:
        raise ValueError("balance='targets' needs fit_intercept=False: it takes the place of a bias")
    if search.instance.asks_for_a_number:
        raise ValueError(f"{search.instance.balance}: balance='targets' takes a number or 'labeled'")
    return search
