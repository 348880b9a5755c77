"""Classifiers that find labels, by a relaxation, exactly or safely, and train an SVM on them."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..exact import BranchAndBound, ExactSolution, exact_search
from ..formulations import LOSSES, Formulation
from ..methods import cccp_path
from ..methods.cccp import supervised_svms
from ..methods.safe import SafeSolution, safe_transduction
from ..methods.sdp import sdp_transduction
from ..methods.spectral import spectral_transduction
from ..methods.subspace import subspace_transduction
from ..problem import Problem
from ..solution import Solution
from ..validation import one_of
from .advice import warn_of_cost
from .base import KernelExpansion, Transduction
from .labels import Labels
from .parameters import estimator, stated, taken


@estimator
class LabellingTransduction(KernelExpansion, Transduction):
    """Base of classifiers that find labels of the unlabelled points; the SVM trained on them classifies new points."""

    C_unlabeled: float | str = "tenth"
    loss: str | Formulation = "hinge"

    #: The function of a formulation and a problem that finds labels.
    _transduce: ClassVar[Callable[..., Solution]]

    #: What says in its docstring what parameters are that neither the class nor the table does.
    _explained_by: ClassVar[Any] = None

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        """The solution of the problem of the class called ``name``, with labels of all points."""
        return self._transduce(formulation, problem, **taken(self, self._transduce))

    def _formulation(self, problem: Problem) -> Formulation:
        relaxed = ("hinge", "squared_hinge", "hard_margin")  # the losses whose choice of labels has relaxations
        return stated(self.loss, problem, relaxed, fit_intercept=self.fit_intercept)

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if formulation.unlabeled is None:
            return cccp_path(formulation, problems.values())
        return self._one_by_one(problems, partial(self._label, formulation))


@estimator
class SDPTransduction(LabellingTransduction):
    """Transduction by semidefinite relaxation, with a proven lower bound (De Bie and Cristianini 2004, §2).

    The labels of the unlabelled points are those of the relaxation, thresholded; on new points it predicts by the SVM
    trained on them.  For some hundred unlabelled points.  Time grows like their number to the power of 2.7 (300 take
    half a minute, 1000 a quarter of an hour), memory like its square.  ``balance=None`` needs ``fit_intercept=False``,
    which is the paper's setting.

    Parameters
    ----------
    relaxation : {"sdp", "signs"}
        How tight the relaxation is; "signs" for the squared hinge only (:class:`~convex_tsvm.LowerBoundBuilder`).
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}
        For "sdp".
    labels_from : {"column", "eigenvector"}
        Of the label matrix, the vector that is thresholded (:func:`~convex_tsvm.sdp_transduction`); for "sdp".
    tol : float
        Relative accuracy of the relaxation.

    Attributes
    ----------
    objective_ : float
        Of the SVM trained on the labels found: an upper bound of the optimum.
    lower_bound_, gap_ : float or None
        Proven lower bound of the optimum, whatever the solver did, and the relative gap; for two classes.
    transduction_scores_ : array, shape (n_samples,) or (n_samples, n_classes)
        The labels before thresholding (known ones as given), in [-1, 1].

    Examples
    --------
    >>> clf = ct.SDPTransduction(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1])
    >>> clf.transduction_, bool(clf.lower_bound_ <= clf.objective_)
    (array([0, 0, 0, 1, 1, 1]), True)
    """

    _transduce = staticmethod(sdp_transduction)

    balance: Any = "auto"
    fit_intercept: bool = True
    relaxation: str = "sdp"
    solver: str = "auto"
    labels_from: str = "column"
    tol: float = 1e-4
    time_limit: float | None = None

    def _announce(self, first: Problem, labels: Labels) -> None:
        counted = type(self).__name__, first.n_unlabeled, "unlabelled points", len(labels.positives)
        instead = "for more than some hundred, TransductiveSVC has no such limit"
        warn_of_cost(*counted, instead, measured=300, seconds=40.0, power=2.7)


@estimator
class SubspaceSDPTransduction(LabellingTransduction):
    """Transduction by the SDP on a subspace of eigenvectors (De Bie and Cristianini 2004, §3).

    For some thousand points.  The SVM has no bias and no balance, as in the paper; a formulation as ``loss`` has none
    either.

    Time grows with the edges of the graph of neighbours, of which some eigenvectors are computed: 10 000 points take
    seconds.  A kernel matrix is formed only if the kernel is what joins points, or the SVM of the labels needs it.

    Parameters
    ----------
    tol : float
        Relative accuracy of the subspace SDP.
    cvxpy_solver : str
        Which of CVXPY's solvers is used, such as "SCS".

    Attributes
    ----------
    lower_bound_, gap_ : None
        The subspace leaves label vectors out, so its SDP bounds nothing.

    Examples
    --------
    >>> ct.SubspaceSDPTransduction(sigma=1.0, n_components=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    _transduce = _explained_by = staticmethod(subspace_transduction)
    balance = None
    fit_intercept = False

    n_components: int = 4
    outliers: float = 0.05
    tol: float = 1e-4
    cvxpy_solver: str = "CLARABEL"
    time_limit: float | None = None


@estimator
class SpectralTransduction(LabellingTransduction):
    """Constrained spectral transduction (De Bie and Cristianini 2004, §4).

    Time grows with the edges of the graph of neighbours, of which some eigenvectors are computed: 10 000 points take
    seconds.

    Parameters
    ----------
    constrained : bool
        False is plain spectral clustering.

    Attributes
    ----------
    lower_bound_, gap_ : None
        An eigenvector bounds nothing.

    Examples
    --------
    >>> ct.SpectralTransduction(sigma=1.0, n_components=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    _transduce = _explained_by = staticmethod(spectral_transduction)

    balance: Any = "auto"
    fit_intercept: bool = True
    n_components: int = 4
    affinity: str = "kernel"
    n_neighbors: int = 10
    constrained: bool = True
    outliers: float = 0.0
    random_state: int = 0


@estimator
class ExactTransductiveSVC(LabellingTransduction):
    """Transductive SVM whose labels are optimal, by branch and bound (Chapelle et al. 2008, §3.1).

    For some hundred points, and as long as it takes; limits on time or nodes and Ctrl-C leave the best labels found and
    a bound that holds.

    Time grows exponentially in the worst case.  What counts is how much the classes overlap, not the number of points:
    two moons of 200 points take seconds, and as many points of heart disease more than ten minutes.

    ``balance=("exact", r)`` is the constraint on labels itself (eq. 3).

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "hard_margin", "ramp", "flat", "exp"} or Formulation
        The last three and other formulations are searched over intervals of outputs
        (:func:`~convex_tsvm.exact_search`), for some forty to eighty points.
    balance_of : {"outputs", "targets"}
        What a mean is fixed of: f, or v = f + y ξ, the outputs with their slacks (Bai and Yan 2016; squared hinge,
        ``fit_intercept=False``).
    max_nodes : int
        The number of nodes after which it ends.
    solver : str
        What solves semidefinite relaxations, as in :class:`~convex_tsvm.exact.BranchAndBound`.
    checkpoint : path
        The file that the search is saved to while it runs, and goes on from; for two classes.
    certificate : path
        The file that what proves the bound is written to; for two classes.
    slack : float >= 0 or None
        With a number, ``proven_`` says which labels are the same in every labelling whose objective is within this
        share of the best (:meth:`~convex_tsvm.exact.ExactSolution.proven`); for two classes, and one more search.
    n_jobs : int
        Classes learned at the same time (joblib); for two classes, so many dives into the tree.

    Attributes
    ----------
    status_ : {"converged", "inaccurate", "node_limit", "time_limit", "interrupted"}
        "converged": the gap asked for is proven.
    objective_ : float
        Of the best labels found.
    lower_bound_, gap_ : float or None
        No labels have an objective below it, and the relative gap; for two classes.
    n_iter_ : int
        Nodes.
    history_ : list of Progress
    proven_ : bool array, shape (n,)
        Whether a point's class in ``transduction_`` is proven, or given; with ``slack``.

    Examples
    --------
    >>> clf = ct.ExactTransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1])
    >>> clf.transduction_, bool(clf.gap_ <= 1e-6)
    (array([0, 0, 0, 1, 1, 1]), True)
    """

    _explained_by = BranchAndBound

    loss: str | Formulation = "squared_hinge"
    s: float = -0.3
    balance: Any = "auto"
    balance_of: str = "outputs"
    fit_intercept: bool = True
    bounds: str = "auto"
    branch_on: str = "auto"
    strategy: str = "auto"
    branching: str = "auto"
    gap: float = 1e-6
    max_nodes: int | None = None
    time_limit: float | None = None
    solver: str = "auto"
    slack: float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    certificate: str | os.PathLike[str] | None = None

    def _formulation(self, problem: Problem) -> Formulation:
        formulation = stated(self.loss, problem, LOSSES, s=self.s, fit_intercept=self.fit_intercept)
        one_of("balance_of", self.balance_of, ("outputs", "targets"))
        return formulation.balancing_targets() if self.balance_of == "targets" else formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if len(problems) > 1 and (self.checkpoint is not None or self.certificate is not None):
            raise ValueError(f"checkpoint and certificate are for two classes; there are {len(problems)} to learn")
        return super()._solve(formulation, problems)

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> ExactSolution:
        with self._status(lambda: f"class {name}") as progress:
            tell = None if progress is None else lambda reached: progress.tell(str(reached))
            return exact_search(formulation, problem, **taken(self, BranchAndBound), callback=tell)

    def _store(self, labels: Labels, solutions: list[Solution]) -> None:
        super()._store(labels, solutions)
        if len(labels.classes) == 2 and isinstance(solutions[0], ExactSolution):
            self.history_: Any = list(solutions[0].progress)
            if self.slack is not None:
                proven = solutions[0].proven(self.slack, time_limit=self.time_limit, n_jobs=self.n_jobs)
                self.proven_ = proven.labels != 0


@estimator
class SafeTransductiveSVC(LabellingTransduction):
    """Safe semi-supervised SVM (S4VM; Li and Zhou 2015): unlabelled points are used where that does not hurt.

    Of several different low-density separators none is known to be right.  The labels are those that improve most on
    the supervised SVM in the worst case, if one of the separators is the true one; they are the SVM's own where nothing
    is sure, and where labels that are left out speak against those found.  More than two classes are learned
    one-vs-rest: a point is of the class that takes it, and where none does, or several, the supervised SVMs decide.

    Time grows like that of ``n_starts`` fits of :class:`~convex_tsvm.TransductiveSVC`, which share kernel values.
    ``C`` and ``C_unlabeled`` are smaller by default than there: what larger ones gain on average is not worth what they
    lose on some data.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        Loss of all points.
    n_separators : int >= 1
        Separators, of which any may be the true one.
    n_starts : int >= 1
        Descents from different starts, among which separators are chosen.

    Attributes
    ----------
    worst_improvement_ : float or list of float
        By how many labels, those that are spoilt counted λ times, the result is better than the supervised SVM, if one
        of the separators has the true labels: a bound under that assumption, which nothing proves.  One per
        classifier if there are several.
    left_out_errors_ : (int, int), None, or list of such
        Errors at labels that were left out, of the labels found and of the supervised SVM's.
    given_up_ : bool or list of bool
        Whether the labels are the supervised SVM's since the former errors are more than chance explains.
    lower_bound_, gap_ : None
        Labels that are safe are not those with the least objective.

    Examples
    --------
    >>> ct.SafeTransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    _explained_by = safe_transduction

    C: float = 1.0
    C_unlabeled: float | str = "balanced"
    balance: Any = "auto"
    class_weight: Any = None
    fit_intercept: bool = True
    n_separators: int = 10
    n_starts: int = 30
    penalty: float = 3.0
    folds: int = 5
    random_state: int = 0
    time_limit: float | None = None

    def _with_shares(self, first: Problem, labels: Labels) -> Labels:
        labels = super()._with_shares(first, labels)
        self._range = {}
        for k in labels.positives:
            if labels.inferred is None:
                break
            # Separators may have other shares than the inferred ones, by so many standard deviations and some more.
            share, room = labels.inferred.shares[k], 2.0 * labels.inferred.errors[k] + 0.1
            self._range[str(labels.classes[k])] = (share - room, share + room)
        return labels

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> SafeSolution:
        with self._status(lambda: f"class {name}") as progress:
            tell = None if progress is None else lambda k: progress.tell(f"{k} of {self.n_starts} starts")
            shares = self._range.get(name, (0.0, 1.0))
            own = taken(self, safe_transduction)
            return safe_transduction(formulation, problem, **own, share_range=shares, callback=tell)

    def _store(self, labels: Labels, solutions: list[Solution]) -> None:
        super()._store(labels, solutions)
        if len(self.classes_) > 2 and labels.unlabeled.any():
            self.transduction_ = np.where(labels.unlabeled, self.classes_[_agreed(solutions)], self.transduction_)
        for name in ("worst_improvement", "left_out_errors", "given_up"):
            found = [getattr(one, name) for one in self.solutions_ if isinstance(one, SafeSolution)]
            setattr(self, f"{name}_", found[0] if len(found) == 1 else found)


def _agreed(solutions: list[Solution]) -> NDArray[np.intp]:
    """The class of every point, shape (n,), as a place in the solutions.

    It is the one of largest supervised output among those whose solution labels the point +1, or of all if none does.
    """
    taken = np.column_stack([solution.labels > 0 for solution in solutions])
    alone = supervised_svms(solutions[0].formulation, [solution.problem for solution in solutions])
    outputs = np.column_stack([one.scores for one in alone])
    open_to = taken | ~taken.any(axis=1, keepdims=True)
    return np.asarray(np.where(open_to, outputs, -np.inf).argmax(axis=1))
