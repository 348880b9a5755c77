"""What all classifiers share: labels, one-vs-rest, decision functions of new points."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..deadline import Carried, share_of_time, within
from ..formulations import Formulation, svm
from ..kernels import Kernel, Linear, make_kernel
from ..methods.shares import infer_class_shares
from ..notice import warn
from ..persistence import FittedModel
from ..problem import Problem
from ..progress import status_line
from ..solution import Solution
from ..validation import canonical, is_sparse
from .advice import advise, check_links, warn_of_unused_share
from .labels import Labels, ScoresLabeled
from .parameters import estimator, fixed


class Decides:
    """What an estimator has that decides by the outputs of its ``model_``."""

    model_: FittedModel
    _checked: Callable[[Any, bool], Any]

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
        array, shape (n,) for two classes (positive for ``classes_[1]``) or clusters, else (n, n_classes)
        """
        check_is_fitted(self)
        return self.model_.decision_function(self._checked(X, False))


@estimator
class Transduction(Decides, ScoresLabeled, ClassifierMixin, BaseEstimator):
    """Base of the classifiers: a subclass says what the problem is, what is solved and how."""

    C: float = 10.0
    unlabeled: Any = -1
    n_jobs: int | None = None
    verbose: int = 0

    class_weight, time_limit = fixed(None), fixed(None)
    #: The parameter that says which share of the unlabelled points is in which class.
    _share_parameter = "balance"
    #: The numbers of classes and of labelled points that were read last.
    _sizes = (2, 0)

    @abstractmethod
    def _checked(self, X: Any, reset: bool) -> Any:
        """Points as the problem takes them; with ``reset`` they are those of a fit, otherwise new ones."""

    @abstractmethod
    def _problem(self, X: Any, labels: Labels, k: int) -> Problem:
        """The problem of class k, the first that is learned, against the rest; a ValueError names a bad parameter."""

    @abstractmethod
    def _given(self, labels: Labels, k: int) -> dict[str, Any]:
        """The arguments of the problem of class k against the rest, without points and kernel."""

    def _other_class(self, first: Problem, labels: Labels, k: int) -> Problem:
        """The problem of class k against the rest, with the points and kernel of ``first``."""
        return first.replace(**self._given(labels, k))

    @abstractmethod
    def _formulation(self, problem: Problem) -> Formulation:
        """The formulation that is solved for every class; a ValueError names a bad parameter."""

    @abstractmethod
    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        """Solutions of problems by the names of their classes, in this order; none after one that was interrupted."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to labelled and unlabelled points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n_samples, n_features)
            All points; for ``kernel="precomputed"`` their (n_samples, n_samples) kernel matrix.
        y : array, shape (n_samples,)
            Labels, with ``unlabeled`` where unknown.  If nothing is unlabelled the supervised SVM is fitted, with
            a warning.  If nothing is labelled two clusters are found, called 0 and 1, if their sizes are given by a
            number (maximum-margin clustering); a class without a labelled point needs a size and a name, such as
            ``{"yes": 0.3, "no": 0.7}``.
        sample_weight : array, shape (n_samples,), optional
            Factors >= 0 on the cost of every point, C of the labelled ones and C* of the others.  The mean output that
            ``balance`` constrains has every unlabelled point of weight > 0 once; with "labeled" it is the weighted mean
            of the labels.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C came.  If all classes have a solution by then, the estimator holds the best that it has found, as
            ``status_`` says, and can be used; the exception ends whatever loop the fit is in.
        """
        X, labels = self._read(X, y, sample_weight)
        positives = labels.positives
        with within(self.time_limit):
            first = self._problem(X, labels, positives[0])
            formulation = self._formulation(first)
            check_links(formulation, len(labels.classes))
            if not labels.unlabeled.any():
                warn("y has no unlabelled point: a supervised SVM is fitted")
                formulation = formulation.supervised()
            warn_of_unused_share(self._share_parameter, getattr(self, self._share_parameter), formulation)
            labels = self._with_shares(first, labels)
            self._announce(first, labels)
            if self._falls_back(first, labels, formulation):
                formulation = svm(formulation.labeled, fit_intercept=formulation.fit_intercept)
            parts = self._parts(first, labels, formulation)
            if len(parts) == 1:
                solutions = self._solve(formulation, parts[0])
            else:  # at the same time
                solve = delayed(Carried(self._solve))
                solved = Parallel(n_jobs=len(parts))(solve(formulation, part) for part in parts)
                solutions = [solution for part in solved for solution in part]
            self._finish(labels, solutions)
        advise(labels, self.solutions_, self._asked_balance())
        return self

    def _one_by_one(self, problems: dict[str, Problem], solve: Callable[[str, Problem], Solution]) -> list[Solution]:
        """Solutions of the problems of classes, each with its share of the time; after an interrupted one no more."""
        solutions: list[Solution] = []
        for name, problem in problems.items():
            with share_of_time(len(problems) - len(solutions)):
                solutions.append(solve(name, problem))
            last = solutions[-1]
            if self.verbose:
                bound = "" if last.lower_bound is None else f", lower bound {last.lower_bound:.6g}, gap {last.gap:.2e}"
                ended = f"objective {last.objective:.6g}{bound}, {last.seconds:.3f} s, {last.status}"
                print(f"[{type(self).__name__}] class {name}: {ended}")
            if last.status == "interrupted":
                break
        return solutions

    def _parts(self, first: Problem, labels: Labels, formulation: Formulation) -> list[dict[str, Problem]]:
        """The problems of ``labels.positives`` by class name, one part a job; those of a part can share kernel rows."""
        positives = labels.positives
        problems = [self._other_class(first, labels, k) for k in positives]
        if formulation.unlabeled is None and first.n_unlabeled:
            problems = [problem.replace(balance=None, balance_sample=None) for problem in problems]
        shares = np.array_split(np.arange(len(positives)), min(effective_n_jobs(self.n_jobs), len(positives)))
        return [{str(labels.classes[positives[k]]): problems[k] for k in share} for share in shares]

    def _finish(self, labels: Labels, solutions: list[Solution]) -> None:
        """Store the solutions of all classes, or none; then raise KeyboardInterrupt if Ctrl-C came."""
        interrupted, name = any(one.status == "interrupted" for one in solutions), type(self).__name__
        if len(solutions) < len(labels.positives):
            raise KeyboardInterrupt(
                f"{len(solutions) - interrupted} of the {len(labels.positives)} classes had been learned: nothing is "
                "kept, as there is no classifier without all its classes"
            )
        self._store(labels, solutions)
        if interrupted:
            raise KeyboardInterrupt(f"the {name} holds the best that it has found, and can be used as after a fit")

    def _read(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[Any, Labels]:
        """Points to be fitted and their labels, both checked; a ValueError if their numbers differ."""
        name, sizes = type(self).__name__, getattr(self, self._share_parameter)
        if getattr(self, "C_unlabeled", 1.0) is None or getattr(self, "safe", False):
            sizes = None  # without labelled points there is nothing to learn, or to leave out
        labels = Labels.read(y, self.unlabeled, name, sample_weight, self.class_weight, sizes)
        known = ~labels.unlabeled if labels.weights is None else ~labels.unlabeled & (labels.weights > 0)
        X, self._sizes = self._checked(X, True), (len(labels.classes), int(known.sum()))
        if X.shape[0] != len(labels.index):
            raise ValueError(f"y has {len(labels.index)} entries, X has {X.shape[0]} samples; they must be equal")
        return X, labels

    def _falls_back(self, first: Problem, labels: Labels, formulation: Formulation) -> bool:
        """Whether to learn the supervised SVM in place of ``formulation``."""
        return False

    def _announce(self, first: Problem, labels: Labels) -> None:
        """Warn of how long the fits of all classes are going to take, if a subclass can tell; here nothing is said."""

    def _with_shares(self, first: Problem, labels: Labels) -> Labels:
        """The labels with the shares of their classes among the unlabelled points, if these are to be inferred."""
        asked = self._asked_balance()
        if not (isinstance(asked, str) and asked == "auto" and labels.unlabeled.any()):
            return labels
        signs = [labels.signs(k) for k in labels.positives]
        return replace(labels, inferred=infer_class_shares(first, signs, fit_intercept=bool(self.fit_intercept)))

    def _asked_balance(self) -> Any:
        """Where the shares of the classes are from: "auto" if they are inferred, "labeled" if they are the labels'."""
        return self.balance

    def _status(self, name: Callable[[], str], share: Callable[[float, float], float] | None = None) -> Any:
        """A context manager that shows how far the work is, if ``verbose``; if not it does nothing, and gives None."""
        return status_line(name, share, lines=True) if self.verbose else nullcontext()

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each point, shape (n,)."""
        scores = self.decision_function(X)  # which first sees whether there has been a fit
        return self.model_.decide(scores)

    def _store(self, labels: Labels, solutions: list[Solution]) -> None:
        self.classes_ = classes = labels.classes
        if labels.inferred is not None:
            self.class_shares_, self.class_shares_error_ = labels.inferred.shares, labels.inferred.errors
        self.solutions_ = solutions
        self.model_ = FittedModel.from_solutions(solutions, classes, self.get_params(deep=False))
        self.intercept_ = self.model_.intercept
        if isinstance(self.model_.kernel, Linear):
            self.coef_ = self.model_.weights
        scores = np.column_stack([solution.scores for solution in solutions])
        self.transduction_scores_ = scores.ravel() if len(classes) == 2 else scores
        # With a number of positive labels asked for, an output may have another sign than its label.
        two = (solutions[0].labels > 0).astype(int)
        found = classes[two] if len(classes) == 2 else self._decided(scores, solutions)
        self.transduction_ = np.where(labels.unlabeled, found, classes[np.maximum(labels.index, 0)])
        # The worst of the statuses, which are here from the worst to the best but one.
        worst_first = ("interrupted", "time_limit", "node_limit", "max_iter", "failed", "inaccurate")
        ended = {solution.status for solution in solutions}
        self.status_ = next((status for status in worst_first if status in ended), "converged")
        self.objective_ = float(np.mean([solution.objective for solution in solutions]))
        histories = [list(solution.history) for solution in solutions]
        self.history_ = histories[0] if len(classes) == 2 else histories
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.lower_bound_ = solutions[0].lower_bound if len(classes) == 2 else None
        self.gap_ = solutions[0].gap if len(classes) == 2 else None

    def _decided(self, scores: NDArray[np.float64], solutions: list[Solution]) -> NDArray[Any]:
        """The classes of the training points, more than two of them: those with the largest outputs."""
        return self.model_.decide(scores)


@estimator
class KernelExpansion:
    """What estimators have that learn a kernel expansion: the parameters of the kernel, and problems with it."""

    kernel: Any = "rbf"
    gamma: float | str | None = None
    sigma: float | None = None
    degree: int = 3
    coef0: float = 0.0

    def _checked(self, X: Any, reset: bool) -> Any:
        least = 2 if reset else 1
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset, ensure_min_samples=least)
        return canonical(X)

    def _kernel(self, X: Any, weights: NDArray[np.float64] | None = None) -> Kernel:
        """The kernel that is named, with its parameters, for points X with these weights."""
        gamma = self.gamma
        if weights is not None and (gamma == "scale" or (gamma is None and self.sigma is None)):
            gamma = _weighted_scale(X, weights)
        return make_kernel(self.kernel, X, gamma=gamma, sigma=self.sigma, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel in ("rbf", "linear", "poly")
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _unlabeled_cost(self: Any, labels: Labels) -> Any:
        return self.C_unlabeled

    def _problem(self, X: Any, labels: Labels, k: int) -> Problem:
        return Problem(X, kernel=self._kernel(X, labels.weights), **self._given(labels, k))

    def _given(self: Any, labels: Labels, k: int) -> dict[str, Any]:
        C, C_unlabeled = labels.costs(self.C, self._unlabeled_cost(labels) if labels.unlabeled.any() else None)
        return {
            "y": labels.signs(k),
            "C": C,
            "C_unlabeled": C_unlabeled,
            "balance": None if C_unlabeled is None else labels.balance(self.balance, k),
            "balance_sample": labels.counted,
        }

    def _store(self: Any, labels: Labels, solutions: list[Solution]) -> None:
        super()._store(labels, solutions)  # type: ignore[misc]
        self.dual_coef_ = np.array([solution.coefficients for solution in self.solutions_])


def _weighted_scale(X: Any, weights: NDArray[np.float64]) -> float | str:
    """γ of gamma="scale" as if every point were repeated as often as it weighs; the word itself without variance."""
    total = weights.sum() * X.shape[1]
    mean = float((X.T @ weights).sum()) / total
    if is_sparse(X):
        variance = float((X.multiply(X).T @ weights).sum()) / total - mean**2
    else:
        variance = float((weights @ (X - mean) ** 2).sum()) / total
    return 1 / (X.shape[1] * variance) if variance > 0 else "scale"
