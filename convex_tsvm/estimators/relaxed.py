"""Classifiers that find labels by a relaxation, and train an SVM on them (De Bie and Cristianini 2004)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..deadline import share_of_time
from ..formulations import Formulation, build
from ..methods import cccp_path
from ..methods.sdp import sdp_transduction
from ..methods.spectral import spectral_transduction
from ..methods.subspace import subspace_transduction
from ..problem import Problem
from ..solution import Solution
from ..validation import one_of
from .base import KernelExpansion, Transduction
from .parameters import estimator, taken
from .pilot import Cost


@estimator
class LabellingTransduction(KernelExpansion, Transduction):
    """Base of classifiers that find labels of the unlabelled points; the SVM trained on them classifies new points."""

    C_unlabeled: float | str = "tenth"
    loss: str | Formulation = "hinge"

    @abstractmethod
    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        """The solution of the problem of the class called ``name``, with labels of all points."""

    def _formulation(self, problem: Problem) -> Formulation:
        if isinstance(self.loss, Formulation):
            return self.loss
        one_of("loss", self.loss, ("hinge", "squared_hinge", "hard_margin"))  # whose choice of labels has relaxations
        return build("tsvm", problem, loss=self.loss, fit_intercept=self.fit_intercept).formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if formulation.unlabeled is None:
            return cccp_path(formulation, problems.values())
        label = partial(self._label, formulation)
        return one_by_one(type(self).__name__, problems, label, verbose=bool(self.verbose))


def one_by_one(
    owner: str, problems: Mapping[str, Problem], solve: Callable[[str, Problem], Solution], *, verbose: bool
) -> list[Solution]:
    """Solutions of the problems of classes, by name, each with its share of the time; after an interrupted one no more.

    ``owner`` is the name of the estimator, for what is told if ``verbose``.
    """
    solutions: list[Solution] = []
    for name, problem in problems.items():
        with share_of_time(len(problems) - len(solutions)):
            solutions.append(solve(name, problem))
        if verbose:
            last = solutions[-1]
            bound = "" if last.lower_bound is None else f", lower bound {last.lower_bound:.6g}, gap {last.gap:.2e}"
            print(f"[{owner}] class {name}: objective {last.objective:.6g}{bound}, {last.seconds:.3f} s, {last.status}")
        if solutions[-1].status == "interrupted":
            break
    return solutions


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

    balance: Any = "auto"
    fit_intercept: bool = True
    relaxation: str = "sdp"
    solver: str = "auto"
    tol: float = 1e-4
    time_limit: float | None = None

    def _costly(self, problem: Problem) -> Cost:
        instead = "for more than some hundred, TransductiveSVC has no such limit"
        return Cost(problem.n_unlabeled, "unlabelled points", 300, 40.0, 2.7, instead)

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        return sdp_transduction(formulation, problem, **taken(self, sdp_transduction))


@estimator
class SubspaceSDPTransduction(LabellingTransduction):
    """Transduction by the SDP on a subspace of eigenvectors (De Bie and Cristianini 2004, §3).

    For some thousand points.  The SVM has no bias and no balance, as in the paper; a formulation as ``loss`` has none
    either.

    Time grows with the edges of the graph of neighbours, of which some eigenvectors are computed: 10 000 points take
    seconds.  A kernel matrix is formed only if the kernel is what joins points, or the SVM of the labels needs it.

    Parameters
    ----------
    n_components : int
        d, the dimension of the subspace.
    outliers : float in [0, 1)
        Share of the entries of the eigenvectors that are cut down (footnote 4).
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

    balance = None
    fit_intercept = False

    n_components: int = 4
    outliers: float = 0.05
    tol: float = 1e-4
    cvxpy_solver: str = "CLARABEL"
    time_limit: float | None = None

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        return subspace_transduction(formulation, problem, **taken(self, subspace_transduction))


@estimator
class SpectralTransduction(LabellingTransduction):
    """Constrained spectral transduction (De Bie and Cristianini 2004, §4).

    Time grows with the edges of the graph of neighbours, of which some eigenvectors are computed: 10 000 points take
    seconds.

    Parameters
    ----------
    n_components : int
        Eigenvectors looked at.
    affinity : {"kernel", "nearest_neighbors"}
        Similarities: the kernel matrix, or a sparse graph, with which 10 000 points take seconds.
    n_neighbors : int
        Neighbours in the graph.
    constrained : bool
        False is plain spectral clustering.
    outliers : float in [0, 1)
        Share of the entries of the eigenvectors that are cut down (footnote 4).

    Attributes
    ----------
    lower_bound_, gap_ : None
        An eigenvector bounds nothing.

    Examples
    --------
    >>> ct.SpectralTransduction(sigma=1.0, n_components=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    balance: Any = "auto"
    fit_intercept: bool = True
    n_components: int = 4
    affinity: str = "kernel"
    n_neighbors: int = 10
    constrained: bool = True
    outliers: float = 0.0
    random_state: int = 0

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        return spectral_transduction(formulation, problem, **taken(self, spectral_transduction))
