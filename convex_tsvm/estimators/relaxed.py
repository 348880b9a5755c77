"""Classifiers that find labels by a relaxation, and train an SVM on them (De Bie and Cristianini 2004)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from ..formulations import Formulation
from ..methods import cccp_path
from ..methods.sdp import sdp_transduction
from ..methods.spectral import spectral_transduction
from ..methods.subspace import subspace_transduction
from ..problem import Problem
from ..solution import Solution
from ..validation import one_of
from .base import KernelExpansion, Transduction
from .parameters import estimator, stated, taken
from .pilot import Cost


@estimator
class LabellingTransduction(KernelExpansion, Transduction):
    """Base of classifiers that find labels of the unlabelled points; the SVM trained on them classifies new points."""

    C_unlabeled: float | str = "tenth"
    loss: str | Formulation = "hinge"

    #: The function of a formulation and a problem that finds labels.
    _transduce: ClassVar[Callable[..., Solution]]

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        """The solution of the problem of the class called ``name``, with labels of all points."""
        return self._transduce(formulation, problem, **taken(self, self._transduce))

    def _formulation(self, problem: Problem) -> Formulation:
        if not isinstance(self.loss, Formulation):  # else it is a loss whose choice of labels has relaxations
            one_of("loss", self.loss, ("hinge", "squared_hinge", "hard_margin"))
        return stated(self.loss, problem, fit_intercept=self.fit_intercept)

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
    tol: float = 1e-4
    time_limit: float | None = None

    def _costly(self, problem: Problem) -> Cost:
        instead = "for more than some hundred, TransductiveSVC has no such limit"
        return Cost(problem.n_unlabeled, "unlabelled points", 300, 40.0, 2.7, instead)


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

    _transduce = staticmethod(subspace_transduction)
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
    n_components : int
        Eigenvectors looked at.
    affinity : {"kernel", "nearest_neighbors"}
        Similarities: the kernel matrix, or a sparse graph, with which 10 000 points take seconds.
    n_neighbors : int
        Neighbours in the graph.
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

    _transduce = staticmethod(spectral_transduction)

    balance: Any = "auto"
    fit_intercept: bool = True
    n_components: int = 4
    affinity: str = "kernel"
    n_neighbors: int = 10
    constrained: bool = True
    outliers: float = 0.0
    random_state: int = 0
