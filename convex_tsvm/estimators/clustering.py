"""Maximum-margin clustering as a scikit-learn clusterer."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from ..formulations import Formulation, mean_output
from ..methods.clustering import max_margin_clustering
from ..methods.descents import asked
from ..methods.run import Method
from ..persistence import FittedModel
from ..problem import Problem
from ..table import SMOOTH_SOLVERS
from ..ties import is_positive
from .base import Decides, KernelExpansion
from .parameters import estimator, stated, taken


@estimator
class MaxMarginClustering(KernelExpansion, Decides, ClusterMixin, BaseEstimator):
    """Two clusters that a function with a large margin tells apart (Xu et al. 2005; Sindhwani and Keerthi 2006, §1.6).

    An S3VM without labels: of all ways to divide the points in two, within the balance, it looks for the one on which
    an SVM has the least objective.  It is a hard problem; from several first guesses the best point found is kept.
    :class:`~convex_tsvm.ExactTransductiveSVC` with ``balance=0.0`` and no label solves small ones with a certificate.

    Parameters
    ----------
    C : float > 0
        Of every point.
    loss : str or Formulation
        As in :class:`~convex_tsvm.TransductiveSVC`.
    balance : (float, float), float, ("exact", float) or None
        What keeps the points from being one cluster: ends of the mean output of all points, a mean itself, or the share
        of points in cluster 1.  Ends are for methods of convex steps, and clusters of very unequal sizes need wider
        ones; None is for a formulation of your own with a constraint that does it.
    time_limit : float > 0
        Seconds, after which the best so far is kept.

    Attributes
    ----------
    labels_ : int array, shape (n_samples,)
        0 and 1; the first point's cluster is 0 where ``balance`` is the same for both.
    solution_ : Solution
    objective_ : float
    status_ : str
    n_iter_ : int
        Convex steps from the best guess.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> ct.MaxMarginClustering(sigma=1.0).fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _explained_by = max_margin_clustering

    C: float = 1.0
    loss: str | Formulation = "auto"
    method: str | Method = "cccp"
    balance: Any = (-0.3, 0.3)
    n_init: int = 4
    tol: float = 1e-3
    max_iter: int = 100
    time_limit: float | None = None

    def fit(self, X: Any, y: object = None) -> Self:
        """Divide the points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n_samples, n_features)
            For ``kernel="precomputed"`` the (n_samples, n_samples) kernel matrix.
        y : ignored
        """
        X = self._checked(X, True)
        constraint, balance = self._balance()
        kernel = self._kernel(X)
        problem = Problem(X, np.zeros(X.shape[0]), kernel=kernel, C=self.C, C_unlabeled=self.C, balance=balance)
        loss = asked(self.method).loss if isinstance(self.loss, str) and self.loss == "auto" else self.loss
        formulation = stated(loss, problem)
        if constraint is not None:
            formulation = replace(formulation, balance=None, constraints=(*formulation.constraints, constraint))
        self.solution_ = max_margin_clustering(formulation, problem, **taken(self, max_margin_clustering))
        self.labels_ = (self.solution_.labels > 0).astype(int)
        self.objective_, self.status_ = self.solution_.objective, self.solution_.status
        self.n_iter_ = max(1, self.solution_.n_iter)
        self.model_ = FittedModel.from_solutions([self.solution_], np.array([0, 1]), self.get_params(deep=False))
        return self

    def _balance(self) -> tuple[Any, Any]:
        """The constraint on the mean output, if it may be in an interval, and the balance of the problem."""
        balance = self.balance
        if isinstance(balance, (tuple, list)) and len(balance) == 2 and not isinstance(balance[0], str):
            if asked(self.method).solvers == SMOOTH_SOLVERS:
                raise ValueError(
                    f"balance={balance!r}: method={self.method!r} takes a mean such as 0.0, or ('exact', 0.5), and no "
                    "ends of one"
                )
            return mean_output(*balance), 0.0
        if isinstance(balance, str):
            raise ValueError(f"balance={balance!r} must be two ends, a number, ('exact', r) or None")
        return None, 0.0 if balance is None else balance

    def predict(self, X: Any) -> NDArray[np.int_]:
        """The cluster of each point, old or new, shape (n,): 0 and 1.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
        """
        return is_positive(self.decision_function(X)).astype(int)
