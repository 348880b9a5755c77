"""De Bie and Cristianini's (2004) transduction as scikit-learn classifiers."""

from __future__ import annotations

from typing import Any

from ..formulations import Formulation
from ..methods.sdp import sdp_transduction
from ..methods.spectral import spectral_transduction
from ..methods.subspace import subspace_transduction
from ..problem import Problem
from ..solution import Solution
from .by_labels import LabellingTransduction
from .costs import LABEL_MATRICES, Cost


class SDPTransduction(LabellingTransduction):
    """Transduction by semidefinite relaxation, with a proven lower bound (De Bie and Cristianini 2004, §2).

    The labels of the unlabelled points are those of the relaxation, thresholded; on new points it predicts by the SVM
    trained on them.  For some hundred unlabelled points.  Time grows like their number to the power of 2.7 (300 take
    half a minute, 1000 a quarter of an hour), memory like its square.

    Parameters
    ----------
    kernel, gamma, sigma, degree, coef0, C, C_unlabeled, unlabeled, n_jobs
        As in :class:`~convex_tsvm.TransductiveSVC`.
    loss : {"hinge", "squared_hinge", "hard_margin"} or Formulation, default "hinge"
        Or a formulation of your own, for instance with links between points (:func:`~convex_tsvm.must_link`).
    balance : "auto", "labeled", float or None, default "auto"
        Mean output over the unlabelled points; None needs ``fit_intercept=False``, which is the paper's setting.
    fit_intercept : bool, default True
    relaxation : {"sdp", "signs"}, default "sdp"
        How tight the relaxation is; "signs" for the squared hinge only (:class:`~convex_tsvm.LowerBoundBuilder`).
    solver : {"auto", "native", "sdpa", "scs", "clarabel"}, default "auto"
        For "sdp".
    tol : float, default 1e-4
        Relative accuracy of the relaxation.
    time_limit : float > 0, optional
        As in :class:`~convex_tsvm.TransductiveSVC`.
    verbose : int, default 0

    Attributes
    ----------
    classes_, transduction_, transduction_scores_, solutions_, dual_coef_, intercept_, coef_, status_
        As in :class:`~convex_tsvm.TransductiveSVC`; the scores are the labels before thresholding (known ones as
        given), in [-1, 1].
    objective_ : float
        Of the SVM trained on the labels found: an upper bound of the optimum.
    lower_bound_, gap_ : float or None
        Proven lower bound of the optimum, whatever the solver did, and the relative gap; for two classes.

    Examples
    --------
    >>> from convex_tsvm import SDPTransduction
    >>> clf = SDPTransduction(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1])
    >>> clf.transduction_
    array([0, 0, 0, 1, 1, 1])
    >>> bool(clf.lower_bound_ <= clf.objective_)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        sigma: float | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 10.0,
        C_unlabeled: float | str = "tenth",
        loss: str | Formulation = "hinge",
        balance: Any = "auto",
        fit_intercept: bool = True,
        relaxation: str = "sdp",
        solver: str = "auto",
        unlabeled: Any = -1,
        tol: float = 1e-4,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.loss = loss
        self.balance = balance
        self.fit_intercept = fit_intercept
        self.relaxation = relaxation
        self.solver = solver
        self.unlabeled = unlabeled
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _costly(self, problem: Problem) -> tuple[Cost, int]:
        return LABEL_MATRICES, problem.n_unlabeled

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        return sdp_transduction(formulation, problem, relaxation=self.relaxation, solver=self.solver, tol=self.tol)


class SubspaceSDPTransduction(LabellingTransduction):
    """Transduction by the SDP on a subspace of eigenvectors (De Bie and Cristianini 2004, §3).

    For some thousand points.  The SVM has no bias, as in the paper.

    Time grows with the edges of the graph of neighbours, of which some eigenvectors are computed: 10 000 points take
    seconds.  A kernel matrix is formed only if the kernel is what joins points, or the SVM of the labels needs it.

    Parameters
    ----------
    kernel, gamma, sigma, degree, coef0, C, C_unlabeled, unlabeled, n_jobs
        As in :class:`~convex_tsvm.TransductiveSVC`.
    loss : {"hinge", "squared_hinge", "hard_margin"} or Formulation, default "hinge"
        A formulation, as in :class:`SDPTransduction`, is without bias and balance.
    n_components : int, default 4
        d, the dimension of the subspace.
    outliers : float in [0, 1), default 0.05
        Share of the entries of the eigenvectors that are cut down (footnote 4).
    tol : float, default 1e-4
        Relative accuracy of the subspace SDP.
    cvxpy_solver : str, default "CLARABEL"
        Which of CVXPY's solvers is used, such as "SCS".
    time_limit : float > 0, optional
        As in :class:`~convex_tsvm.TransductiveSVC`.
    verbose : int, default 0

    Attributes
    ----------
    classes_, transduction_, transduction_scores_, solutions_, dual_coef_, intercept_, coef_, status_, objective_
        As in :class:`SDPTransduction`.
    lower_bound_, gap_ : None
        The subspace leaves label vectors out, so its SDP bounds nothing.

    Examples
    --------
    >>> from convex_tsvm import SubspaceSDPTransduction
    >>> SubspaceSDPTransduction(sigma=1.0, n_components=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    balance = None
    fit_intercept = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        sigma: float | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 10.0,
        C_unlabeled: float | str = "tenth",
        loss: str | Formulation = "hinge",
        n_components: int = 4,
        outliers: float = 0.05,
        unlabeled: Any = -1,
        tol: float = 1e-4,
        cvxpy_solver: str = "CLARABEL",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.loss = loss
        self.n_components = n_components
        self.outliers = outliers
        self.unlabeled = unlabeled
        self.tol = tol
        self.cvxpy_solver = cvxpy_solver
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        return subspace_transduction(
            formulation,
            problem,
            n_components=self.n_components,
            outliers=self.outliers,
            tol=self.tol,
            cvxpy_solver=self.cvxpy_solver,
        )


class SpectralTransduction(LabellingTransduction):
    """Constrained spectral transduction (De Bie and Cristianini 2004, §4).

    Time grows with the edges of the graph of neighbours, of which some eigenvectors are computed: 10 000 points take
    seconds.

    Parameters
    ----------
    kernel, gamma, sigma, degree, coef0, C, C_unlabeled, unlabeled, n_jobs
        As in :class:`~convex_tsvm.TransductiveSVC`, for the SVM trained on the labels found.
    loss, balance, fit_intercept
        As in :class:`SDPTransduction`.
    n_components : int, default 4
        Eigenvectors looked at.
    affinity : {"kernel", "nearest_neighbors"}, default "kernel"
        Similarities: the kernel matrix, or a sparse graph, with which 10 000 points take seconds.
    n_neighbors : int, default 10
        Neighbours in the graph.
    constrained : bool, default True
        False is plain spectral clustering.
    outliers : float in [0, 1), default 0
        Share of the entries of the eigenvectors that are cut down (footnote 4).
    random_state : int, default 0
        Of the start of Lanczos iterations.
    verbose : int, default 0

    Attributes
    ----------
    classes_, transduction_, transduction_scores_, solutions_, dual_coef_, intercept_, coef_, status_, objective_
        As in :class:`SDPTransduction`.
    lower_bound_, gap_ : None

    Examples
    --------
    >>> from convex_tsvm import SpectralTransduction
    >>> SpectralTransduction(sigma=1.0, n_components=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        sigma: float | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 10.0,
        C_unlabeled: float | str = "tenth",
        loss: str | Formulation = "hinge",
        balance: Any = "auto",
        fit_intercept: bool = True,
        n_components: int = 4,
        affinity: str = "kernel",
        n_neighbors: int = 10,
        constrained: bool = True,
        outliers: float = 0.0,
        unlabeled: Any = -1,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.loss = loss
        self.balance = balance
        self.fit_intercept = fit_intercept
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.constrained = constrained
        self.outliers = outliers
        self.unlabeled = unlabeled
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _label(self, formulation: Formulation, name: str, problem: Problem) -> Solution:
        return spectral_transduction(
            formulation,
            problem,
            n_components=self.n_components,
            affinity=self.affinity,
            n_neighbors=self.n_neighbors,
            constrained=self.constrained,
            outliers=self.outliers,
            random_state=self.random_state,
        )
