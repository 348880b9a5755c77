"""The kernel S3VM as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..formulations import Formulation, build, on_neighbor_graph
from ..methods.frame import Method
from ..methods.shares import leave_labels_out, spoilt
from ..problem import Problem
from ..validation import finite
from .costs import DEFORMED, FACTORED, Cost
from .descent import DescentTransduction
from .labels import Labels

#: ``safe=True`` falls back if the errors at labels left out exceed those of the supervised SVM by more than this number
#: of standard deviations of chance.
FALL_BACK_DEVIATIONS = 1.0


class TransductiveSVC(DescentTransduction):
    """Semi-supervised (transductive) support vector classifier.

    Minimizes ½ ‖w‖² + C Σ ℓ(y f(x)) + C* Σ ℓ*(f(x)), the last sum over the unlabelled points (Collobert et al. 2006;
    Chapelle et al. 2008).  Works as a transductive method (``transduction_``) and as an inductive one (``predict``).
    More than two classes are learned one-vs-rest, or together.

    Time grows with n^1.3 to n² in the number of points n where few of them have a say (support vectors), and faster
    where many do; memory is the points and ``cache_size``.  The methods "gradient", "continuation" and "newton" factor
    the kernel matrix: n³ once, and 16 n² bytes.

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
    C : float > 0 or array, shape (n_samples,), default 10.0
        Cost of labelled points, or of each of them.  With few labels 1, the default of ``SVC``, is often too little.
    C_unlabeled : float > 0, "tenth", "balanced" or None, default "tenth"
        Cost C* of unlabelled points; "tenth" is C / 10, "balanced" C L / U (collobert2006 §4.3), and None the
        supervised SVM, without any balance.  The guide says what these defaults were chosen among.
    loss : {"auto", "ramp", "hinge", "squared_hinge", "huber_hinge", "flat", "exp"} or Formulation, default "auto"
        Loss of the unlabelled points: symmetric ramp or symmetric hinge beside the hinge loss (Collobert et al.
        2006, eq. 3 and 1), symmetric squared hinge, the flat loss or exp(-5 t²) beside the squared hinge (Chapelle et
        al. 2008, eq. 5, Figure 7 and eq. 14), or a formulation of your own.  "auto" is the loss that the method is
        known by: "ramp" for cccp, "hinge" for switching and linearization, "squared_hinge" for annealing, "exp" for
        gradient and continuation, "flat" for newton.
    s : float in (-1, 0], default -0.3
        Plateau of the ramp loss.
    method : {"cccp", "switching", "annealing", "linearization", "gradient", "continuation", "newton"} or Method
        How the objective is minimized: tangents of the concave part (Collobert et al. 2006), exchanges of labels
        (S3VMlight, Joachims 1999; with ``loss="hinge"`` or ``"squared_hinge"``), deterministic annealing (Sindhwani
        and Keerthi 2006; the same losses); gradient descent (∇S3VM with ``loss="exp"``, ∇DA with ``"hinge"`` or
        ``"squared_hinge"``), continuation (cS3VM, with ``"exp"``), or Newton steps (with ``"flat"``), all as in
        Chapelle et al. 2008.  The guide says which to take.  "cccp" by default; a :class:`~convex_tsvm.Method` of your
        own is taken as well.
    method_options : dict, optional
        Further options of the method: see the function of its name, such as :func:`~convex_tsvm.switching`.
    solver : str or StepSolver, default "auto"
        What solves the convex steps: "linear", "native", "finite_newton", "coordinates" or "cvxpy", which give the same
        answer to the tolerance, or an object; "auto" is "linear" with the linear kernel, else "native", or "cvxpy" for
        formulations that only that takes.  Or what descends: "smooth", for the methods gradient, continuation and
        newton, which take no other.
    cvxpy_solver : str, optional
        One of CVXPY's solvers, such as "SCS", with which it is CVXPY that solves the convex steps; "CLARABEL" if
        ``solver="cvxpy"`` and nothing is said.
    device : str, optional
        Where kernel rows are computed, by a library of the array API: ``"torch:cuda"``, ``"cupy"``, ``"torch"`` (its
        processor).  For the native solver, dense points, and the kernels "rbf" and "poly"; the rest of the work stays
        where it is, so that a device pays where points have many features (see "Limits and costs" in the guide).
    balance : "auto", "labeled", dict of class to float, float, ("exact", shares) or None, default "auto"
        Mean output over the unlabelled points.  "auto" infers the shares of the classes from the counts of labels,
        which say little if they were drawn per class, and from how well labels are found that are left out
        (:func:`~convex_tsvm.infer_share`): some thirty fits to at most 600 points for each class, none where the
        counts settle it.  Otherwise the mean is that among the labels, or as the given shares of the classes have it
        (2 r - 1 for a share r, each class against the rest), a number in (-1, 1), searched such that the given share of
        them is labelled positive, or not constrained.  A number or a single share is for two classes.
    safe : bool, default False
        Whether to fall back on the supervised SVM (``fell_back_``) where labels that are left out are found by it and
        not by the transductive one, more than chance explains.  It is the ramp loss that is asked, whatever ``loss``.
    class_weight : dict of class to float, "balanced" or None, default None
        Factors on the cost of labelled points by their class, as in ``sklearn.svm.SVC``; unlabelled points have none.
    fit_intercept : bool, default True
    C_manifold : float >= 0, default 0.0
        Weight of a graph of nearest neighbours in the kernel: any method on the kernel of a Laplacian SVM (Chapelle et
        al. 2008, §5.6.2); 0 is no graph.  See :class:`~convex_tsvm.LaplacianSVC`.  All of that kernel is computed, in
        n³ operations and 24 n² bytes (8000 points: 1.5 GB), whatever ``cache_size`` says.
    n_neighbors : int >= 1, default 6
        In that graph.
    power : int >= 1, default 1
        Of the graph's Laplacian; Chapelle et al. (2008, Table 15) have 5.
    annealing : int or sequence of float, optional
        Raise C* in so many steps (Chapelle et al. 2008, §5.4.4), for all methods but annealing and continuation.
    multi_class : {"ovr", "potts"}, default "ovr"
        More than two classes are learned one against the rest, or, with ``method="annealing"``, together: the
        probabilities of the classes of a point sum to 1 (:func:`~convex_tsvm.potts_annealing`).
    probability : {"calibrated"} or False, default False
        Whether there is ``predict_proba``: sigmoids of the outputs (Platt 1999), found at labelled points that are left
        out of a fit, in five folds, or fewer if a class has fewer labels.  It takes as many more fits, and is no part
        of a saved model.  :class:`~convex_tsvm.CalibratedTransduction` has more options.
    unlabeled : object, default -1
        Marks unlabelled points in ``y``: -1 as in ``sklearn.semi_supervised``, 0, NaN, a string, or None for none.
    tol : float, default 1e-3
        Tolerance on the optimality conditions of the convex steps.
    max_iter : int, default 100
        Limit on convex steps.
    cache_size : float or "auto", default "auto"
        Memory for kernel rows in MB; "auto" is a quarter of what is free, but 200 at least and no more than all rows
        take.
    warm_start : bool, default False
        Whether ``fit`` starts at the solutions of the fit before, at the full costs, as ``solutions_`` has them, where
        points and features are as many and a class has the same name; there is no ``lower_bound_`` then.
    time_limit : float > 0, optional
        Seconds for all classes together, after which the best so far is kept, with a warning and ``status_``
        "time_limit".  The supervised SVM is the least that is learned, however long it takes.
    n_jobs : int, optional
        Classes learned at the same time (joblib), each job with a cache of its own; a job's classes share it.
    verbose : int, default 0
        1 prints a line per step, and shows how far the current step is: on a terminal always, else every ten seconds.

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
    fell_back_ : bool
        Whether the supervised SVM was fitted, with ``safe=True``.
    class_shares_, class_shares_error_ : array, shape (n_classes,)
        With ``balance="auto"`` the inferred shares of ``classes_`` among the unlabelled points, and their standard
        deviations.
    history_ : list of Iteration, or list of such lists
    status_ : {"converged", "inaccurate", "max_iter", "time_limit", "interrupted"}
        How the fit ended: the worst of the classifiers' statuses, in this order.
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
    >>> from convex_tsvm import TransductiveSVC
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
        C: float = 10.0,
        C_unlabeled: float | str | None = "tenth",
        loss: str | Formulation = "auto",
        s: float = -0.3,
        method: str | Method = "cccp",
        method_options: Mapping[str, Any] | None = None,
        solver: Any = "auto",
        cvxpy_solver: str | None = None,
        device: str | None = None,
        balance: Any = "auto",
        class_weight: Any = None,
        fit_intercept: bool = True,
        safe: bool = False,
        C_manifold: float = 0.0,
        n_neighbors: int = 6,
        power: int = 1,
        annealing: Any = None,
        multi_class: str = "ovr",
        probability: str | bool = False,
        unlabeled: Any = -1,
        tol: float = 1e-3,
        max_iter: int = 100,
        cache_size: float | str = "auto",
        warm_start: bool = False,
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
        self.s = s
        self.method = method
        self.method_options = method_options
        self.solver = solver
        self.cvxpy_solver = cvxpy_solver
        self.device = device
        self.balance = balance
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.safe = safe
        self.C_manifold = C_manifold
        self.n_neighbors = n_neighbors
        self.power = power
        self.annealing = annealing
        self.multi_class = multi_class
        self.probability = probability
        self.unlabeled = unlabeled
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _asked_balance(self) -> Any:
        # The supervised SVM has no balance, and there is nothing to warn of.
        unbalanced = isinstance(self.loss, Formulation) and not self.loss.is_balanced
        return None if self.C_unlabeled is None or unbalanced else self.balance

    def _in_feature_space(self, problem: Problem) -> Problem:
        if finite("C_manifold", self.C_manifold, least=0) == 0:
            return problem
        return on_neighbor_graph(
            problem,
            C_manifold=self.C_manifold,
            n_neighbors=self.n_neighbors,
            normalized=True,
            power=self.power,
            cache_size=self.cache_size,
        )

    def _costly(self, problem: Problem) -> tuple[Cost, int] | None:
        if "smooth" in self._asked_method().solvers:
            return FACTORED, problem.n
        return (DEFORMED, problem.n) if self.C_manifold else None

    def _falls_back(self, first: Problem, labels: Labels, formulation: Formulation) -> bool:
        self.fell_back_ = False
        if not self.safe or formulation.unlabeled is None or not labels.unlabeled.any():
            return False
        estimates = () if labels.inferred is None else labels.inferred.estimates
        parts = [estimate.left_out for estimate in estimates if len(estimate.left_out)]
        if len(parts) < len(labels.positives):
            problems = [self._other_class(first, labels, k) for k in labels.positives]
            parts = [
                leave_labels_out(problem, _share_of(labels, k), fit_intercept=formulation.fit_intercept)
                for k, problem in zip(labels.positives, problems, strict=True)
            ]
        self.fell_back_ = spoilt(np.concatenate(parts), FALL_BACK_DEVIATIONS) is not None
        return self.fell_back_

    def _formulation(self, problem: Problem) -> Formulation:
        method = self._asked_method()  # what does not fit is reported before any work is done
        if isinstance(self.loss, Formulation):
            formulation = self.loss
        else:
            loss = method.loss if self.loss == "auto" else self.loss
            formulation = build("tsvm", problem, loss=loss, s=self.s, fit_intercept=self.fit_intercept).formulation
        if self.C_unlabeled is None:
            return replace(formulation.supervised(), balance=None)
        return formulation


def _share_of(labels: Labels, k: int) -> float:
    """The inferred share of class k among the unlabelled points, or its share among the labels if none was inferred."""
    known = labels.index[~labels.unlabeled]
    return float(labels.inferred.shares[k] if labels.inferred is not None else (known == k).mean())
