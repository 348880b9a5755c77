"""What all classifiers share: labels, one-vs-rest, decision functions of new points."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..formulations import Formulation
from ..kernels import Linear, make_kernel
from ..persistence import FittedModel
from ..problem import Problem
from ..solution import Solution
from .labels import split_labels


class Transduction(ClassifierMixin, BaseEstimator):
    """Base of the classifiers that learn from labelled and unlabelled points.

    A subclass has the parameters ``unlabeled`` and ``n_jobs``, and says what the problem is, what is solved and how.
    """

    @abstractmethod
    def _checked(self, X: Any, reset: bool) -> Any:
        """Points as the problem takes them: those that are fitted (``reset``), or new ones."""

    @abstractmethod
    def _problem(self, X: Any, y: NDArray[np.float64], n_classes: int) -> Problem:
        """The problem of the first class, for signs ``y``; complains about parameters."""

    def _other_class(self, first: Problem, y: NDArray[np.float64]) -> Problem:
        """The problem of another class than the first."""
        return first.replace(y=y)

    @abstractmethod
    def _formulation(self, problem: Problem) -> Formulation:
        """What is solved for a problem (of any of the classes); complains about parameters."""

    @abstractmethod
    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        """Solutions of the problems of some classes, by the classes' names."""

    def fit(self, X: Any, y: ArrayLike) -> Self:
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
        X = self._checked(X, True)
        if X.shape[0] != len(index):
            raise ValueError(f"y has {len(index)} entries, X has {X.shape[0]} samples; the numbers must be equal")
        positives = [1] if len(classes) == 2 else list(range(len(classes)))
        signs = [np.where(unlabeled, 0.0, np.where(index == k, 1.0, -1.0)) for k in positives]
        first = self._problem(X, signs[0], len(classes))
        formulation = self._formulation(first)
        if not unlabeled.any():
            warnings.warn("y has no unlabelled point: a supervised SVM is fitted", UserWarning, stacklevel=2)
            formulation = formulation.supervised()
        problems = [first, *(self._other_class(first, sign) for sign in signs[1:])]
        # Classes learned one after the other share kernel rows.
        shares = np.array_split(np.arange(len(positives)), min(effective_n_jobs(self.n_jobs), len(positives)))
        solved = Parallel(n_jobs=len(shares))(
            delayed(self._solve)(formulation, {str(classes[positives[k]]): problems[k] for k in share})
            for share in shares
        )
        self._store(classes, index, unlabeled, [solution for part in solved for solution in part])
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

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
        return self.model_.decision_function(self._checked(X, False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each point, shape (n,)."""
        scores = self.decision_function(X)
        return self.model_.decide(scores)

    def _store(
        self,
        classes: NDArray[Any],
        index: NDArray[np.intp],
        unlabeled: NDArray[np.bool_],
        solutions: list[Solution],
    ) -> None:
        self.classes_ = classes
        self.solutions_ = solutions
        self.model_ = FittedModel.from_solutions(solutions, classes, self.get_params(deep=False))
        self.intercept_ = self.model_.intercept
        if isinstance(self.model_.kernel, Linear):
            self.coef_ = self.model_.weights
        scores = np.column_stack([solution.scores for solution in solutions])
        self.transduction_scores_ = scores.ravel() if len(classes) == 2 else scores
        # With a number of positive labels asked for, an output may have another sign than its label.
        two = (solutions[0].labels > 0).astype(int)
        found = classes[two] if len(classes) == 2 else self.model_.decide(scores)
        self.transduction_ = np.where(unlabeled, found, classes[np.maximum(index, 0)])
        self.objective_ = float(np.mean([solution.objective for solution in solutions]))
        histories = [list(solution.history) for solution in solutions]
        self.history_ = histories[0] if len(classes) == 2 else histories
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.lower_bound_ = solutions[0].lower_bound if len(classes) == 2 else None
        self.gap_ = solutions[0].gap if len(classes) == 2 else None


class KernelTransduction(Transduction):
    """Base of the classifiers that learn a kernel expansion.

    A subclass has besides the parameters of a :class:`~convex_tsvm.Problem`: ``kernel``, ``gamma``, ``sigma``,
    ``degree``, ``coef0``, ``C``, ``C_unlabeled``, ``balance``.
    """

    def _unlabeled_cost(self) -> Any:
        """C* of a problem with unlabelled points."""
        return self.C_unlabeled

    def _in_feature_space(self, problem: Problem) -> Problem:
        """The problem in the feature space that is used, if it is not that of ``kernel``."""
        return problem

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel in ("rbf", "linear", "poly")
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        least = 2 if reset else 1
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset, ensure_min_samples=least)

    def _problem(self, X: Any, y: NDArray[np.float64], n_classes: int) -> Problem:
        kernel = make_kernel(self.kernel, X, gamma=self.gamma, sigma=self.sigma, degree=self.degree, coef0=self.coef0)
        if n_classes > 2 and not (self.balance is None or isinstance(self.balance, str)):
            raise ValueError(f"balance={self.balance!r}: with {n_classes} classes it must be 'labeled' or None")
        cost = self._unlabeled_cost() if (y == 0).any() else None
        return self._in_feature_space(Problem(X, y, kernel=kernel, C=self.C, C_unlabeled=cost, balance=self.balance))

    def _store(self, *found: Any) -> None:
        super()._store(*found)
        self.dual_coef_ = np.array([solution.coefficients for solution in self.solutions_])
