"""Learning from one chunk of points after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from ..formulations import Formulation, tsvm
from ..kernels import Linear
from ..methods.online import OnlineDescent
from ..persistence import FittedModel
from ..validation import canonical, finite, integer
from .labels import Labels, unlabeled_points


class OnlineFit:
    """What a linear classifier has that learns from chunks: ``partial_fit``."""

    def partial_fit(self: Any, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Any:
        """Learn from one more chunk of points: one step of CCCP by averaged stochastic subgradients (§6.3).

        Every chunk sees tangents at what was learned before it, so that unlabelled points say something from the second
        one on.  The result is near that of ``fit`` with ``method="cccp"``, not the same; ``method`` has no say.  L and
        U are the numbers of points that have come: where points come several times use ``lambda_``, not C.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
        y : array, shape (n_samples,)
            Labels, with ``unlabeled`` where unknown; all may be unknown.
        classes : array, shape (n_classes,), optional
            All classes; needed at the first call.

        Returns
        -------
        self
            With ``classes_``, ``coef_``, ``intercept_``, ``n_iter_`` (steps) and ``online_``.

        Raises
        ------
        ValueError
            If ``classes`` is missing at the first call, or y has other labels.
        """
        first = not hasattr(self, "online_")
        learned = not first or hasattr(self, "coef_")
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=not learned))
        signs = self._online_signs(X, y, classes)
        if first:
            start = getattr(self, "coef_", np.zeros((signs.shape[0], X.shape[1])))
            seed = integer("random_state", self.random_state, least=0)
            self.online_ = OnlineDescent(self._online_formulation(), np.array(start, dtype=float), seed)
        online = self.online_
        online.count_labels(signs)
        ridge, ratio = self._online_costs(online, int(np.count_nonzero(signs[0] == 0)))
        online.learn(X, signs, ridge=ridge, ratio=ratio, means=self._online_means(online))
        self.coef_, self.intercept_, self.n_iter_ = online.average.copy(), online.intercept, online.n_steps
        self.model_ = FittedModel(
            Linear(),
            self.coef_,
            np.eye(len(self.coef_)),
            self.intercept_,
            X.shape[1],
            classes=self.classes_,
            parameters=self.get_params(deep=False),
        )
        return self

    def _online_signs(self: Any, X: Any, y: ArrayLike, classes: ArrayLike | None) -> NDArray[np.float64]:
        """+1, -1 and 0 of the points of a chunk for each function, shape (K, n)."""
        if self.kernel_approximation is not None:
            raise ValueError(
                f"kernel_approximation={self.kernel_approximation!r}: partial_fit learns linear functions; put a "
                "transformer before it"
            )
        if classes is not None:
            given = np.unique(column_or_1d(classes))
            if hasattr(self, "classes_") and not np.array_equal(given, self.classes_):
                raise ValueError(f"classes={given.tolist()} are not those before, {self.classes_.tolist()}")
            self.classes_ = given
        elif not hasattr(self, "classes_"):
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if len(self.classes_) < 2:
            raise ValueError(f"classes={self.classes_.tolist()}: there must be at least two")
        unknown = unlabeled_points(y, self.unlabeled)
        if len(unknown) != X.shape[0]:
            raise ValueError(f"y has {len(unknown)} entries, X has {X.shape[0]} samples; they must be equal")
        known = np.array(np.asarray(y)[~unknown].tolist())
        strange = np.setdiff1d(known, self.classes_)
        if len(strange):
            raise ValueError(f"y has the label {strange.tolist()[0]!r}, which is none of {self.classes_.tolist()}")
        index = np.full(len(unknown), -1)
        index[~unknown] = np.searchsorted(self.classes_, known)
        labels = Labels(self.classes_, index, unknown)
        return np.array([labels.signs(k) for k in labels.positives])

    def _online_formulation(self: Any) -> Formulation:
        if isinstance(self.loss, Formulation):
            return self.loss
        return tsvm(self.loss, fit_intercept=self.fit_intercept, balance="linear" if self.fit_intercept else None)

    def _online_costs(self: Any, online: OnlineDescent, new: int) -> tuple[float, float]:
        """μ and λ', for the points that have come and ``new`` unlabelled ones."""
        C, n_labeled = finite("C", self.C, above=0), max(1, online.n_labeled)
        ridge = 1 / (C * n_labeled) if self.lambda_ is None else 2 * finite("lambda_", self.lambda_, above=0)
        if self.lambda_unlabeled is not None:
            return ridge, finite("lambda_unlabeled", self.lambda_unlabeled, above=0)
        if isinstance(self.C_unlabeled, str):
            if self.C_unlabeled != "balanced":
                raise ValueError(f"C_unlabeled={self.C_unlabeled!r} must be a number > 0 or 'balanced'")
            return ridge, 1.0
        return ridge, finite("C_unlabeled", self.C_unlabeled, above=0) * (online.n_unlabeled + new) / (C * n_labeled)

    def _online_means(self: Any, online: OnlineDescent) -> NDArray[np.float64] | None:
        """The mean output of the unlabelled points for each function, by shares that are given, or those of labels."""
        if not online.centred:
            return None
        labels = Labels(self.classes_, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool))
        share = self.positive_fraction
        if share is None or isinstance(share, str):
            return 2 * online.positives / max(1, online.n_labeled) - 1 if online.n_labeled else None
        if len(self.classes_) == 2 and np.ndim(share) == 0 and not hasattr(share, "keys"):
            return np.array([2 * finite("positive_fraction", share, above=0, below=1) - 1])
        return np.array([labels.balance(share, k) for k in labels.positives])
