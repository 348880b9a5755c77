"""The kernel S3VM, the Laplacian SVM and the Compact Margin Machine as scikit-learn classifiers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..exact import exact_search
from ..formulations import Formulation, build, on_neighbor_graph, svm
from ..kernels import DeformedKernel
from ..methods.cccp import CCCP
from ..methods.descents import asked
from ..methods.run import Method
from ..methods.self_training import SelfTraining
from ..methods.shares import leave_labels_out, spoilt
from ..problem import Problem
from ..progress import share_line
from ..solution import Solution
from ..validation import finite, one_of
from .advice import warn_of_cost
from .base import KernelExpansion
from .descent import Descent
from .labels import Balance, Labels
from .parameters import estimator, stated, taken


@estimator
class TransductiveSVC(KernelExpansion, Descent):
    """Semi-supervised (transductive) support vector classifier.

    Minimizes ½ ‖w‖² + C Σ ℓ(y f(x)) + C* Σ ℓ*(f(x)), the last sum over the unlabelled points (Collobert et al. 2006;
    Chapelle et al. 2008).  Works as a transductive method (``transduction_``) and as an inductive one (``predict``).
    More than two classes are learned one-vs-rest, or together.  With few labels C = 1, the default of ``SVC``, is often
    too little.

    Time grows with n^1.3 to n² in the number of points n where few of them have a say (support vectors), and faster
    where many do; memory is the points and ``cache_size``.  The methods "gradient", "continuation" and "newton" factor
    the kernel matrix: n³ once, and 16 n² bytes.

    Parameters
    ----------
    C_unlabeled : float > 0, "auto", "tenth", "balanced" or None
        Cost C* of unlabelled points; "tenth" is C / 10, "balanced" C L / U (collobert2006 §4.3), and None the
        supervised SVM, without any balance.  "auto" is C for self-training, and otherwise C / 10.  The guide says what
        these defaults were chosen among.
    loss : {"auto", "ramp", "hinge", "squared_hinge", "huber_hinge", "flat", "exp"} or Formulation
        Loss of the unlabelled points: symmetric ramp or symmetric hinge beside the hinge loss (Collobert et al.
        2006, eq. 3 and 1), symmetric squared hinge, the flat loss or exp(-5 t²) beside the squared hinge (Chapelle et
        al. 2008, eq. 5, Figure 7 and eq. 14), or a formulation of your own, or its name if it was registered
        (:func:`~convex_tsvm.register`).  "auto" is the loss that the method is known by, such as "ramp" for cccp.
    method : str or Method
        How the objective is minimized: a descent of ``ct.table.METHODS``, or a :class:`~convex_tsvm.Method` of your
        own.  "cccp" takes tangents of the concave part (Collobert et al. 2006), "self_training" learns from the labels
        that it is surest of first; "auto" is the latter for more than two classes or fewer than 50 labels of weight
        > 0, unless ``multi_class``, ``loss``, ``s``, ``annealing`` or a number of labels as ``balance`` ask for the
        former; a cross-validation by others counts the labels of each fit anew.  "switching" (S3VMlight, Joachims
        1999) and "annealing" (Sindhwani and Keerthi 2006) are for ``loss="hinge"`` and ``"squared_hinge"``; as in
        Chapelle et al. 2008 are "gradient" (∇S3VM with ``"exp"``, ∇DA with those two), "continuation" (``"exp"``) and
        "newton" (``"flat"``).  The guide says which to take.
    method_options : dict
        Further options of the method: see the function of its name, such as :func:`~convex_tsvm.switching`.
    safe : bool
        Whether to fall back on the supervised SVM (``fell_back_``) where labels that are left out are found by it and
        not by the transductive one, more than chance explains.  It is the ramp loss that is asked, whatever ``loss``.
    C_manifold : float >= 0
        Weight of a graph of nearest neighbours in the kernel: any method on the kernel of a Laplacian SVM (Chapelle et
        al. 2008, §5.6.2); 0 is no graph.  See :class:`~convex_tsvm.LaplacianSVC`.  All of that kernel is computed, in
        n³ operations and 24 n² bytes (8000 points: 1.5 GB), whatever ``cache_size`` says.
    n_neighbors : int >= 1
        In that graph.
    power : int >= 1
        Of the graph's Laplacian; Chapelle et al. (2008, Table 15) have 5.

    Attributes
    ----------
    fell_back_ : bool
        Whether the supervised SVM was fitted, with ``safe=True``.

    Examples
    --------
    >>> ct.TransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    C_unlabeled: float | str | None = "auto"
    loss: str | Formulation = "auto"
    s: float = -0.3
    method: str | Method = "auto"
    method_options: Mapping[str, Any] | None = None
    solver: Any = "auto"
    cvxpy_solver: str | None = None
    cache_size: float | str = "auto"
    device: str | None = None
    balance: Any = "auto"
    class_weight: Any = None
    safe: bool = False
    C_manifold: float = 0.0
    n_neighbors: int = 6
    power: int = 1
    annealing: Any = None
    multi_class: str = "auto"
    warm_start: bool = False

    #: Two classes are learned by self-training by default where there are fewer labels than this.
    _few_labels = 50

    def _asked_method(self) -> Method:
        if not isinstance(self.method, str) or self.method != "auto":
            return super()._asked_method()
        return asked("self_training" if self._trains_itself else "cccp", self._method_options)

    @property
    def _trains_itself(self) -> bool:
        """Whether method="auto" is self-training: of several classes, or from few labels, if nothing else is asked."""
        classes, labels = self._sizes
        plain = self.multi_class == "auto" and self.loss in ("auto", "hinge") and self.s == type(self).s
        plain = plain and self.annealing is None and Balance.read(self.balance).word is None
        return plain and (classes > 2 or 0 < labels < self._few_labels)

    def _unlabeled_cost(self, labels: Labels) -> Any:
        if not isinstance(self.C_unlabeled, str) or self.C_unlabeled != "auto":
            return self.C_unlabeled
        C = self.C
        if not isinstance(self._asked_method(), SelfTraining):
            return "tenth"
        if np.ndim(C) == 0:
            return finite("C", C, above=0)
        # Entries of unlabelled points say nothing; what is wrong with the others is said where C is checked.
        own = np.asarray(C)[~labels.unlabeled] if np.shape(C) == labels.index.shape else np.asarray(C)
        is_good = own.dtype.kind in "biuf" and bool(np.isfinite(own).all()) and own.sum() > 0
        return float(own.mean()) if is_good else "tenth"

    def _asked_balance(self) -> Any:
        # The supervised SVM has no balance, and there is nothing to warn of.
        unbalanced = isinstance(self.loss, Formulation) and not self.loss.is_balanced
        return None if self.C_unlabeled is None or unbalanced else self.balance

    def _problem(self, X: Any, labels: Labels, k: int) -> Problem:
        problem = super()._problem(X, labels, k)
        if finite("C_manifold", self.C_manifold, least=0) == 0:
            return problem
        return on_neighbor_graph(problem, normalized=True, **taken(self, on_neighbor_graph))

    def _announce(self, first: Problem, labels: Labels) -> None:
        counted = type(self).__name__, first.n, "points", len(labels.positives)
        if labels.unlabeled.any() and "smooth" in self._asked_method().solvers:
            # The kernel matrix is factored, and every step takes n² then.
            instead = "method='cccp' does not factor the kernel matrix"
            warn_of_cost(*counted, instead, measured=1500, seconds=15.0, power=2.0)
        elif self.C_manifold:  # takes the whole matrix of a kernel that a graph deforms
            instead = "LaplacianSVC needs the rows of labelled points only"
            warn_of_cost(*counted, instead, measured=5000, seconds=6.0, power=3.0)
        else:
            super()._announce(first, labels)

    def _falls_back(self, first: Problem, labels: Labels, formulation: Formulation) -> bool:
        self.fell_back_ = False
        if not self.safe or formulation.unlabeled is None or not labels.unlabeled.any():
            return False
        found = None if labels.inferred is None else labels.inferred.estimate
        parts = [found.left_out] if found is not None and len(found.left_out) else []
        if not parts:
            known = labels.index[~labels.unlabeled]
            counted = np.array([(known == k).mean() for k in range(len(labels.classes))])
            shares = counted if labels.inferred is None else labels.inferred.shares
            parts = [
                leave_labels_out(
                    self._other_class(first, labels, k), float(shares[k]), fit_intercept=formulation.fit_intercept
                )
                for k in labels.positives
            ]
        # By so many deviations of chance the errors must exceed those of the supervised SVM.
        self.fell_back_ = spoilt(np.concatenate(parts), 1.0) is not None
        return self.fell_back_

    def _formulation(self, problem: Problem) -> Formulation:
        method = self._asked_method()  # what does not fit is reported before any work is done
        loss = method.loss if isinstance(self.loss, str) and self.loss == "auto" else self.loss
        formulation = stated(loss, problem, s=self.s, fit_intercept=self.fit_intercept)
        return formulation if self.C_unlabeled is not None else replace(formulation.supervised(), balance=None)


@estimator
class LaplacianSVC(KernelExpansion, Descent):
    """Laplacian SVM (Belkin, Niyogi and Sindhwani 2006; chapelle2008 §5.6.2).

    ½ ‖w‖² + C Σ max(0, 1 - y f) + ½ ``C_manifold`` fᵀ L f, with L the Laplacian of the graph of nearest neighbours of
    all points: an SVM on the labelled points, with another kernel (:class:`~convex_tsvm.kernels.DeformedKernel`,
    which any other formulation takes too).  The gap is that of the convex problem, and the coefficients are for the
    deformed kernel.  ``kernel`` is not "precomputed", as the graph needs points.

    If less than a tenth of the n points is labelled, and the matrix of all points does not fit into ``cache_size``,
    only the kernel's rows of the labelled points are computed.  Time grows like n² then, and memory is ``cache_size``
    and 8 bytes for each labelled point and each point (20 000 points of 50 features, 100 labelled: a minute on two
    cores, 0.6 GB).  Otherwise it takes n³ operations and 24 n² bytes (8000 points: 1.5 GB), whatever ``time_limit`` is.

    Parameters
    ----------
    C_manifold : float >= 0
        Weight of the graph; γ_I / (γ_A (l + u)²) of Belkin et al.
    n_neighbors : int >= 1
        All others, if there are fewer.
    normalized : bool
        Whether the Laplacian is normalized.
    power : int >= 1
        Of the Laplacian.

    Examples
    --------
    >>> ct.LaplacianSVC(n_neighbors=2).fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    balance = None

    solver: Any = "auto"
    cvxpy_solver: str | None = None
    cache_size: float | str = "auto"
    C_manifold: float = 1.0
    n_neighbors: int = 6
    normalized: bool = True
    power: int = 1

    def _unlabeled_cost(self, labels: Labels) -> Any:
        return None

    def _problem(self, X: Any, labels: Labels, k: int) -> Problem:
        deformed = on_neighbor_graph(super()._problem(X, labels, k), **taken(self, on_neighbor_graph))
        with share_line(f"kernel of the graph, {deformed.n_labeled} of {deformed.n} rows") as progress:
            if isinstance(deformed.kernel, DeformedKernel):
                deformed.kernel.prepare(deformed.labeled, progress)
        return deformed

    def _formulation(self, problem: Problem) -> Formulation:
        return svm(fit_intercept=self.fit_intercept)


@estimator
class _OneCost(KernelExpansion, Descent):
    """Base of classifiers whose losses depend on C and C*: there is one of each, so that ``fit`` takes no weights."""

    epsilon: float = 2.0
    solver: Any = "auto"
    cvxpy_solver: str | None = None
    cache_size: float | str = "auto"
    device: str | None = None
    warm_start: bool = False

    def fit(self, X: Any, y: ArrayLike) -> Self:  # type: ignore[override]
        """Fit to points X, shape (n_samples, n_features), or their kernel matrix if that is precomputed.

        ``y``, shape (n_samples,), has the labels, with ``unlabeled`` where unknown.
        """
        return super().fit(X, y)


@estimator
class CompactMarginClassifier(_OneCost):
    """Relaxed Compact Margin Machine (Dai and Niu 2010, eq. 8).

    A transductive SVM whose outputs are also kept from being large: every point, labelled or not, pays
    ``C_compact`` · max(0, |f| - ``epsilon``).  Solved by the concave-convex procedure (the paper's Algorithm 1), or
    exactly.  C and C_unlabeled are the paper's C₁ and C₂.

    Time grows and memory is bounded as for :class:`~convex_tsvm.TransductiveSVC`.  After an exact search attributes are
    as in :class:`~convex_tsvm.ExactTransductiveSVC`; it takes no other parameters of how to solve than
    ``fit_intercept``, ``time_limit`` and ``verbose``.

    Parameters
    ----------
    C_compact : float >= 0, inf, "tenth" or None
        C₃; inf is the hard form |f| <= ε, "tenth" is C* / 10, None the same as C*.
    epsilon : float >= 0
        ε: outputs up to ±ε are free.
    s : float in (-1, 0]
        δ of Algorithm 1; below 0 the symmetric hinge is clipped.
    method : {"cccp", "exact"}
        "exact" searches the best solution of all (:func:`~convex_tsvm.exact_search`), for some eighty points.
    gap : float >= 0
        Relative gap between it and what no solution is below, at which an exact search ends.

    Examples
    --------
    >>> ct.CompactMarginClassifier(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    C_unlabeled: float | str = "tenth"
    C_compact: float | str | None = "tenth"
    s: float = -0.3
    method: str = "cccp"
    gap: float = 1e-4
    balance: Any = "auto"
    annealing: Any = None

    def _formulation(self, problem: Problem) -> Formulation:
        own = {"epsilon": self.epsilon, "C_compact": self.C_compact, "s": self.s}
        return build("cmm", problem, **own, fit_intercept=self.fit_intercept).formulation

    def _solve(self, formulation: Formulation, problems: dict[str, Problem]) -> list[Solution]:
        if one_of("method", self.method, ("cccp", "exact")) == "cccp" or formulation.unlabeled is None:
            return super()._solve(formulation, problems)
        return self._one_by_one(problems, lambda name, problem: exact_search(formulation, problem, gap=self.gap))

    def _announce(self, first: Problem, labels: Labels) -> None:
        if self.method == "cccp":
            super()._announce(first, labels)

    def _method(self, formulation: Formulation) -> Method:
        """The concave-convex procedure, which is also what solves a problem without unlabelled points at once."""
        return CCCP(annealing=self.annealing)


@estimator
class RelativeMarginClassifier(_OneCost):
    """Semi-supervised Relative Margin Machine (Dai and Niu 2010, eq. 9), one convex problem.

    A supervised SVM in which all points, labelled or not, pay ``C_compact`` · max(0, |f| - ``epsilon``).

    Time grows and memory is bounded as for one step of :class:`~convex_tsvm.TransductiveSVC`.  The gap is that of the
    convex problem.

    Parameters
    ----------
    C_compact : float > 0, inf or "balanced"
        C₂ of eq. 9; "balanced" is C L / U, and inf the hard form |f| <= ε.
    epsilon : float >= 0
        ε; B in Shivaswamy and Jebara (2008).
    semi_supervised : bool
        False leaves the unlabelled points out; with an infinite ``C_compact`` that is the Relative Margin Machine of
        Shivaswamy and Jebara (2008).

    Examples
    --------
    >>> ct.RelativeMarginClassifier(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    C_compact: float | str = "balanced"
    semi_supervised: bool = True
    balance: Any = None

    def _unlabeled_cost(self, labels: Labels) -> Any:
        if isinstance(self.C_compact, float) and self.C_compact == np.inf:
            return self.C  # any number does: it only says that unlabelled points have a cost
        return self.C_compact if self.C_compact == "balanced" else finite("C_compact", self.C_compact, above=0)

    def _formulation(self, problem: Problem) -> Formulation:
        own = {"epsilon": self.epsilon, "C_compact": self.C_compact, "semi_supervised": self.semi_supervised}
        return build("rmm", problem, **own, fit_intercept=self.fit_intercept).formulation
