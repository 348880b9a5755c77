"""The kernel S3VM as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..formulations import Formulation, on_neighbor_graph
from ..methods.run import Method
from ..methods.shares import leave_labels_out, spoilt
from ..problem import Problem
from ..validation import finite
from .base import KernelExpansion
from .descent import Descent
from .labels import Labels
from .parameters import estimator, stated, taken
from .pilot import Cost


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
    C_unlabeled : float > 0, "tenth", "balanced" or None
        Cost C* of unlabelled points; "tenth" is C / 10, "balanced" C L / U (collobert2006 §4.3), and None the
        supervised SVM, without any balance.  The guide says what these defaults were chosen among.
    loss : {"auto", "ramp", "hinge", "squared_hinge", "huber_hinge", "flat", "exp"} or Formulation
        Loss of the unlabelled points: symmetric ramp or symmetric hinge beside the hinge loss (Collobert et al.
        2006, eq. 3 and 1), symmetric squared hinge, the flat loss or exp(-5 t²) beside the squared hinge (Chapelle et
        al. 2008, eq. 5, Figure 7 and eq. 14), or a formulation of your own.  "auto" is the loss that the method is
        known by, such as "ramp" for cccp.
    method : str or Method
        How the objective is minimized: a descent of ``ct.table.METHODS``, or a :class:`~convex_tsvm.Method` of your
        own.  By default tangents of the concave part (Collobert et al. 2006); "switching" (S3VMlight, Joachims 1999)
        and "annealing" (Sindhwani and Keerthi 2006) are for ``loss="hinge"`` and ``"squared_hinge"``; as in Chapelle et
        al. 2008 are "gradient" (∇S3VM with ``"exp"``, ∇DA with those two), "continuation" (``"exp"``) and "newton"
        (``"flat"``).  The guide says which to take.
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

    C_unlabeled: float | str | None = "tenth"
    loss: str | Formulation = "auto"
    s: float = -0.3
    method: str | Method = "cccp"
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
    multi_class: str = "ovr"
    warm_start: bool = False

    def _asked_balance(self) -> Any:
        # The supervised SVM has no balance, and there is nothing to warn of.
        unbalanced = isinstance(self.loss, Formulation) and not self.loss.is_balanced
        return None if self.C_unlabeled is None or unbalanced else self.balance

    def _in_feature_space(self, problem: Problem) -> Problem:
        if finite("C_manifold", self.C_manifold, least=0) == 0:
            return problem
        return on_neighbor_graph(problem, normalized=True, **taken(self, on_neighbor_graph))

    def _costly(self, problem: Problem) -> Cost | None:
        if "smooth" in self._asked_method().solvers:  # factors the kernel matrix, and takes n² for every step then
            return Cost(problem.n, "points", 1500, 15.0, 2.0, "method='cccp' does not factor the kernel matrix")
        if self.C_manifold:  # takes the whole matrix of a kernel that a graph deforms
            return Cost(problem.n, "points", 5000, 6.0, 3.0, "LaplacianSVC needs the rows of labelled points only")
        return None

    def _falls_back(self, first: Problem, labels: Labels, formulation: Formulation) -> bool:
        self.fell_back_ = False
        if not self.safe or formulation.unlabeled is None or not labels.unlabeled.any():
            return False
        estimates = () if labels.inferred is None else labels.inferred.estimates
        parts = [estimate.left_out for estimate in estimates if len(estimate.left_out)]
        if len(parts) < len(labels.positives):
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
