"""Decision functions f(x) = Σ a_i k(x_i, x) + b: the one place where new points get their outputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .kernels import DeformedKernel, Kernel, Linear, PairKernel, Precomputed
from .points import LinearPoints, WithConstant
from .problem import Array, Problem
from .ties import ZERO_OUTPUT, is_positive
from .validation import is_sparse

#: Kernel values of new points are computed in parts of about this many bytes.
OUTPUT_BYTES_AT_ONCE = 32 * 2**20


def chosen_classes(outputs: Array) -> NDArray[np.intp]:
    """Indices of the classes, shape (n,), that outputs of shape (n,), (n, 1) or (n, n_classes) stand for.

    Of two classes it is 1 where outputs are >= 0, of more the one with the largest output, of equal ones the first.
    """
    if outputs.ndim == 1 or outputs.shape[1] == 1:
        return is_positive(outputs.ravel()).astype(np.intp)
    return np.asarray((outputs >= outputs.max(axis=1, keepdims=True) - ZERO_OUTPUT).argmax(axis=1), dtype=np.intp)


def of_each_class(outputs: Array) -> Array:
    """Outputs of every class, shape (n, n_classes), where those of two may be of the second alone, (n,) or (n, 1)."""
    outputs = outputs.reshape(len(outputs), -1)
    return np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs


@dataclass(frozen=True, eq=False)
class DecisionFunctions:
    """Some functions f_k(x) = Σ_i a_ki k(x_i, x) + b_k on the same points, or w_k·x + b_k in the linear space.

    Attributes
    ----------
    kernel : Kernel
    points : array or CSR matrix, shape (n_support, d)
        The x_i; for a precomputed kernel, indices of training points, shape (n_support,).
    coefficients : array, shape (n_functions, n_support)
    intercept : array, shape (n_functions,)
    n_features : int
        Columns that new points must have.
    """

    kernel: Kernel
    points: Any
    coefficients: Array
    intercept: Array
    n_features: int

    @classmethod
    def on(
        cls, problem: Problem, coefficients: Array | None, intercept: Array, weights: Array | None = None
    ) -> "DecisionFunctions":
        """Functions on a problem's points, of which only the support is kept.

        ``coefficients`` have the shape (n_functions, n), ``intercept`` (n_functions,).  ``weights``, (n_functions, d),
        are in their place where w is no combination of the points, as for the 1-norm: unit vectors serve as points
        then.
        """
        kernel, n_features = problem.kernel, problem.X.shape[1]
        if weights is not None:
            if isinstance(problem.X, WithConstant):
                # New points come without the constant feature, so its weight becomes a part of the intercept.
                intercept, weights = intercept + problem.X.constant * weights[:, -1], weights[:, :-1]
                n_features -= 1
            return cls(kernel, sp.csr_matrix(sp.identity(n_features)), weights, intercept, n_features)
        if coefficients is None:
            raise ValueError("coefficients or weights must be given")
        if isinstance(kernel, DeformedKernel):
            # The same function is expanded in the base kernel, which needs no graph, over all points.
            coefficients, kernel = kernel.expand(coefficients.T).T, kernel.base
        support = np.flatnonzero(coefficients.any(axis=0))
        points: Any = support if isinstance(kernel, Precomputed) else problem.X[support]
        return cls(kernel, points, coefficients[:, support], intercept, n_features)

    @property
    def weights(self) -> Array:
        """w of each function, shape (n_functions, d), for a linear kernel."""
        if not isinstance(self.kernel, Linear):
            raise ValueError("weights exist for kernel='linear' only")
        return np.asarray((self.points.T @ self.coefficients.T).T)

    def __call__(self, X: Any) -> Array:
        """Outputs, shape (n_new, n_functions), at X, shape (n_new, n_features), or values with training points."""
        if not (is_sparse(X) or isinstance(X, LinearPoints)):
            X = np.asarray(X, dtype=float)
        if isinstance(X, LinearPoints) and not isinstance(self.kernel, Linear):
            raise ValueError(f"X={X!r}: points that are known by products alone need kernel='linear'")
        if len(X.shape) != 2:
            raise ValueError(f"X has shape {X.shape}; it must be 2-dimensional, (n_new, {self.n_features})")
        widths = (self.n_features, *([self.kernel.n_features] if isinstance(self.kernel, PairKernel) else []))
        if X.shape[1] not in widths:
            raise ValueError(f"X has {X.shape[1]} features, but the model was fitted with {self.n_features} features")
        if isinstance(X, LinearPoints):
            return np.column_stack([X.times(w) for w in self.weights]) + self.intercept
        if isinstance(self.kernel, Linear):
            return np.asarray(X @ self.weights.T) + self.intercept
        if isinstance(self.kernel, Precomputed):
            return np.asarray(X)[:, self.points] @ self.coefficients.T + self.intercept
        if is_sparse(X):
            X = X.tocsr() if self.kernel.accepts_sparse else X.toarray()
        size = max(1, OUTPUT_BYTES_AT_ONCE // (8 * max(1, self.points.shape[0])))
        parts = [self._outputs(X[start : start + size]) for start in range(0, X.shape[0], size)]
        return np.concatenate([np.zeros((0, len(self.intercept))), *parts])

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        if self.points.shape[0] == 0:
            return np.tile(self.intercept, (X.shape[0], 1))
        return np.asarray(self.kernel(X, self.points) @ self.coefficients.T) + self.intercept
