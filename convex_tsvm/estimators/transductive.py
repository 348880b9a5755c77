"""The kernel S3VM as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..formulations import Formulation, tsvm
from ..kernels import make_kernel
from ..methods import cccp_path
from ..persistence import FittedModel
from ..problem import Problem
from ..progress import status_line
from ..solution import Iteration, Solution
from .labels import split_labels

METHODS = ("cccp",)


class TransductiveSVC(ClassifierMixin, BaseEstimator):
    """Semi-supervised (transductive) support vector classifier.

    Minimizes ½ ‖w‖² + C Σ ℓ(y f(x)) + C* Σ ℓ*(f(x)), the last sum over the unlabelled points, by the
    concave-convex procedure (Collobert et al. 2006; Chapelle et al. 2008).  Works as a transductive method
    (``transduction_``) and as an inductive one (``predict``).  More than two classes are learned one-vs-rest.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default "rbf"
        As in ``sklearn.svm.SVC``.
    gamma : float > 0, "scale" or "auto", optional
        Kernel coefficient; "scale" (1 / (d Var X)) by default, as in ``SVC``.
    sigma : float > 0, optional
        RBF width, γ = 1 / (2 σ²); instead of ``gamma``.
    degree, coef0 : int, float, default 3, 0.0
        Of the polynomial kernel.
    C : float > 0, default 1.0
        Cost of labelled points.
    C_unlabeled : float > 0 or "balanced", default "balanced"
        Cost C* of unlabelled points; "balanced" is C L / U.
    loss : {"ramp", "hinge", "squared_hinge", "flat"} or Formulation, default "ramp"
        Loss of the unlabelled points: symmetric ramp or symmetric hinge beside the hinge loss (Collobert et al.
        2006, eq. 3 and 1), symmetric squared hinge or the flat loss beside the squared hinge (Chapelle et al.
        2008, eq. 5 and Figure 7), or a formulation of your own.
    s : float in (-1, 0], default -0.3
        Plateau of the ramp loss.
    method : {"cccp"}, default "cccp"
        How the objective is minimized.
    solver : {"native", "cvxpy"}, default "native"
        What solves the convex steps; both give the same answer to the tolerance.
    balance : "labeled", float, ("exact", float) or None, default "labeled"
        Mean output over the unlabelled points: as among the labels, a number in (-1, 1), searched such that the
        given share of them is labelled positive, or not constrained.  With more than two classes a number is
        replaced by None or "labeled" per class, so only those two are allowed.
    fit_intercept : bool, default True
    annealing : int or sequence of float, optional
        Raise C* in so many steps (Chapelle et al. 2008, §5.4.4).
    unlabeled : object, default -1
        Marks unlabelled points in ``y``: -1 as in ``sklearn.semi_supervised``, 0, NaN, a string, or None for none.
    tol : float, default 1e-3
        Tolerance on the optimality conditions of the convex steps.
    max_iter : int, default 100
        Limit on convex steps.
    cache_size : float, default 200
        Memory for kernel rows in MB.
    n_jobs : int, optional
        Classes learned at the same time (joblib), each job with a cache of its own; a job's classes share it.
    verbose : int, default 0
        1 prints a line per step, and on a terminal shows how far the current step is.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    transduction_ : array, shape (n_samples,)
        A label for every training point; known ones are kept.
    transduction_scores_ : array, shape (n_samples,) or (n_samples, n_classes)
        Outputs at the training points.
    objective_ : float
        Objective; the mean over the classifiers if there are several (as in Chapelle et al. 2008, §5.2).
    lower_bound_, gap_ : float or None
        A lower bound of the optimum (from the labelled points alone) and the relative gap to it, for two classes.
    history_ : list of Iteration, or list of such lists
    n_iter_ : int
        Convex steps (the most of any classifier).
    solutions_ : list of Solution
        One per classifier, with certificates; not part of a saved model.
    dual_coef_ : array, shape (n_classifiers, n_samples)
        Coefficients of the kernel expansion.
    intercept_ : array, shape (n_classifiers,)
    coef_ : array, shape (n_classifiers, n_features)
        For a linear kernel.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from convex_tsvm import TransductiveSVC
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> clf = TransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1])
    >>> clf.transduction_
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
        C: float = 1.0,
        C_unlabeled: float | str = "balanced",
        loss: str | Formulation = "ramp",
        s: float = -0.3,
        method: str = "cccp",
        solver: str = "native",
        balance: Any = "labeled",
        fit_intercept: bool = True,
        annealing: Any = None,
        unlabeled: Any = -1,
        tol: float = 1e-3,
        max_iter: int = 100,
        cache_size: float = 200,
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
        self.s = s
        self.method = method
        self.solver = solver
        self.balance = balance
        self.fit_intercept = fit_intercept
        self.annealing = annealing
        self.unlabeled = unlabeled
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel in ("rbf", "linear", "poly")
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X: Any, y: ArrayLike) -> TransductiveSVC:
        """Fit to labelled and unlabelled points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n_samples, n_features)
            All points; for ``kernel="precomputed"`` their (n_samples, n_samples) kernel matrix.
        y : array, shape (n_samples,)
            Labels, with ``unlabeled`` where unknown.  If nothing is unlabelled the supervised SVM is fitted, with
            a warning.

        Returns
        -------
        self
        """
        classes, index, unlabeled = split_labels(y, self.unlabeled, type(self).__name__)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        if X.shape[0] != len(index):
            raise ValueError(f"y has {len(index)} entries, X has {X.shape[0]} samples; the numbers must be equal")
        formulation = self._formulation()
        if not unlabeled.any():
            warnings.warn("y has no unlabelled point: a supervised SVM is fitted", UserWarning, stacklevel=2)
            formulation = formulation.supervised()
        kernel = make_kernel(self.kernel, X, gamma=self.gamma, sigma=self.sigma, degree=self.degree, coef0=self.coef0)
        positives = [1] if len(classes) == 2 else list(range(len(classes)))
        if len(positives) > 1 and not (self.balance is None or isinstance(self.balance, str)):
            raise ValueError(f"balance={self.balance!r}: with {len(classes)} classes it must be 'labeled' or None")
        signs = [np.where(unlabeled, 0.0, np.where(index == k, 1.0, -1.0)) for k in positives]
        first = Problem(
            X,
            signs[0],
            kernel=kernel,
            C=self.C,
            C_unlabeled=self.C_unlabeled if unlabeled.any() else None,
            balance=self.balance,
        )
        problems = [first, *(first.replace(y=sign) for sign in signs[1:])]
        # Classes learned one after the other share kernel rows.
        shares = np.array_split(np.arange(len(positives)), min(effective_n_jobs(self.n_jobs), len(positives)))
        solved = Parallel(n_jobs=len(shares))(
            delayed(self._solve)(formulation, {str(classes[positives[k]]): problems[k] for k in share})
            for share in shares
        )
        self._store(classes, index, unlabeled, [solution for part in solved for solution in part])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Outputs f at points, old or new.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
            For a precomputed kernel, kernel values with the training points, shape (n, n_samples).

        Returns
        -------
        array, shape (n,) for two classes (positive for ``classes_[1]``), else (n, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.model_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each point, shape (n,)."""
        scores = self.decision_function(X)
        return self.model_.decide(scores)

    def _formulation(self) -> Formulation:
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r} must be one of {', '.join(METHODS)}")
        if isinstance(self.loss, Formulation):
            return self.loss
        balance = None if self.balance is None else "linear"
        return tsvm(self.loss, s=self.s, balance=balance, fit_intercept=self.fit_intercept)

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        """Solutions of the problems of some classes; an interrupted one raises unless it is the last."""
        current = ""

        def in_turn() -> Iterator[Problem]:
            nonlocal current
            for current, problem in problems.items():  # noqa: B007
                yield problem

        def report(iteration: Iteration) -> None:
            if self.verbose:
                print(
                    f"[TransductiveSVC] class {current}: objective {iteration.step_objective:.6g} "
                    f"(C* x {iteration.scale:g}), {iteration.changed} tangents changed, {iteration.seconds:.3f} s"
                )
            if progress is not None:
                progress.step(iteration)

        with status_line(lambda: f"class {current}") if self.verbose else nullcontext() as progress:
            solutions = cccp_path(
                formulation,
                in_turn(),
                solver=self.solver,
                annealing=self.annealing,
                tol=self.tol,
                max_iter=self.max_iter,
                cache_size=self.cache_size,
                callback=report if self.verbose else None,
                progress=None if progress is None else progress.inner,
            )
        if len(solutions) < len(problems):
            raise KeyboardInterrupt  # there is no classifier without all its classes
        return solutions

    def _store(
        self,
        classes: NDArray[Any],
        index: NDArray[np.intp],
        unlabeled: NDArray[np.bool_],
        solutions: list[Solution],
    ) -> None:
        self.classes_ = classes
        self.solutions_ = solutions
        self.dual_coef_ = np.array([solution.coefficients for solution in solutions])
        self.intercept_ = np.array([solution.bias for solution in solutions])
        self.model_ = FittedModel.from_solutions(solutions, classes, self.get_params(deep=False))
        if solutions[0].problem.is_linear:
            self.coef_ = self.model_.weights
        scores = np.column_stack([solution.scores for solution in solutions])
        self.transduction_scores_ = scores.ravel() if len(classes) == 2 else scores
        found = self.model_.decide(self.transduction_scores_)
        self.transduction_ = np.where(unlabeled, found, classes[np.maximum(index, 0)])
        self.objective_ = float(np.mean([solution.objective for solution in solutions]))
        histories = [list(solution.history) for solution in solutions]
        self.history_ = histories[0] if len(classes) == 2 else histories
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.lower_bound_ = solutions[0].lower_bound if len(classes) == 2 else None
        self.gap_ = solutions[0].gap if len(classes) == 2 else None
