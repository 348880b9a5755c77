"""The kernel matrix of the points in a file, in Arb's balls."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from .balls import EPS, Ball, Refused, column, definite, demand


def points_of(arrays: Any) -> Any:
    """The points in the file, one for each label, as a dense matrix."""
    X = arrays.get("X")
    if X is None:
        X = sp.csr_matrix((arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]), tuple(arrays["X_shape"]))
        X = X.toarray()
    X = np.asarray(X, dtype=np.float64)
    right = X.ndim == 2 and len(X) == len(arrays["y"]) and np.isfinite(X).all()
    demand(right, "the points are not n rows of finite numbers")
    return X


def kernel_matrix(kernel: Any, stated: Any, arrays: Any, n: int) -> Any:
    """Kernel values of the points in the file, in Arb's balls."""
    from flint import arb, arb_mat

    X, name = points_of(arrays), kernel["name"]
    # Numbers in balls of 192 bits take about 100 bytes each.
    demand(n <= 1000 and X.size <= 2_500_000, f"{n} points of {X.shape[1]} features are more than is checked")
    if name == "precomputed":
        demand(X.shape == (n, n) and math.isfinite(stated["lift"]) and stated["lift"] >= 0, "wrong shape or lift of K")
        K = (arb_mat(X.tolist()) + arb_mat(X.T.tolist())) * arb(0.5)
        K = K + arb_mat((stated["lift"] * np.eye(n)).tolist())
        ball = Ball.exact(K)
        if not definite(K, ball):
            least, largest = float(np.linalg.eigvalsh(ball.mid)[0]), float(np.abs(ball.mid).max())
            told = "is negative" if least < -n * n * EPS * largest else "cannot be told from 0"
            raise Refused(
                f"the kernel matrix is not proven positive semidefinite: its least eigenvalue, {least:.2g}, {told} "
                f"beside entries of {largest:.2g}"
            )
        return K
    points = arb_mat(X.tolist())
    K = points * points.transpose()
    if name == "linear":
        return K
    gamma, each = arb(float(kernel["gamma"])), range(n)
    demand(gamma > 0 and name in ("rbf", "poly"), f"the kernel {name!r} with this gamma is not covered")
    if name == "rbf":
        return arb_mat([[(gamma * (2 * K[i, j] - K[i, i] - K[j, j])).exp() for j in each] for i in each])
    degree, coef0 = int(kernel["degree"]), arb(float(kernel["coef0"]))
    demand(degree >= 1 and coef0 >= 0, f"the polynomial kernel must have degree >= 1, not {degree}, and coef0 >= 0")
    return arb_mat([[math.prod([gamma * K[i, j] + coef0] * degree, start=arb(1)) for j in each] for i in each])


def centred(K: Any, share: Any) -> Any:
    """The kernel with its origin at the mean of the points with share 1."""
    from flint import arb

    scale, ones = arb(1) / int(share.sum()), column(np.ones(len(share)))
    mean = K * column(share) * scale
    middle = (column(share).transpose() * mean)[0, 0] * scale
    return K - mean * ones.transpose() - ones * mean.transpose() + ones * ones.transpose() * middle
