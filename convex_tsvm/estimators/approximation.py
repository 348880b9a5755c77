"""Features whose inner products are nearly those of a kernel, so that linear methods learn with it.

scikit-learn makes them: Nyström's from the kernel values with some landmarks (Williams and Seeger 2001), and random
Fourier features of the RBF kernel (Rahimi and Recht 2008).  Landmarks are centres of k-means, which lose less of
the kernel than as many of the points do (Zhang, Tsang and Kwok 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import RBF, make_kernel
from ..parallel import in_threads, one_blas_thread
from ..persistence import FittedModel
from ..points import DensePoints, LinearPoints, linear_points
from ..problem import Array
from ..ties import eigenvectors
from ..validation import integer, is_sparse

#: Centres of sparse points are not sparse: if they would have more entries than this, landmarks are some of the points.
MOST_CENTRE_ENTRIES = 2**24


@dataclass(frozen=True, eq=False)
class KernelApproximation:
    """A map φ from points to some hundred features, by a fitted transformer of scikit-learn."""

    transformer: Any

    @classmethod
    def fit(
        cls, asked: Any, X: LinearPoints, *, n_components: int, gamma: float | str | None, random_state: int
    ) -> KernelApproximation:
        """The map that is asked for, "nystroem", "fourier" or a transformer, fitted to at most 10 000 of the points X.

        Nyström's map has at most as many features as there are points to fit to.
        """
        from sklearn.base import clone
        from sklearn.kernel_approximation import Nystroem, RBFSampler

        rng, n = np.random.default_rng(random_state), X.shape[0]
        sample = X.take(np.sort(rng.choice(n, min(n, 10_000), replace=False)))
        if isinstance(asked, str) and asked in ("nystroem", "fourier"):
            n_components = integer("n_components", n_components, least=1)
            kernel = make_kernel("rbf", sample, gamma=gamma)
            common = {"gamma": kernel.gamma, "random_state": random_state}  # type: ignore[attr-defined]
            if asked == "fourier":
                return cls(RBFSampler(n_components=n_components, **common).fit(sample))
            landmarks = _landmarks(sample, n_components, random_state)
            return cls(_turned(Nystroem(kernel="rbf", n_components=landmarks.shape[0], **common).fit(landmarks)))
        if not (hasattr(asked, "fit") and hasattr(asked, "transform")):
            raise ValueError(
                f"kernel_approximation={asked!r} must be 'nystroem', 'fourier', a transformer of scikit-learn, or None"
            )
        return cls(clone(asked).fit(sample))

    def __call__(self, X: LinearPoints) -> DensePoints:
        """Features of n points, shape (n, n_components), in single precision: 4 bytes for each point and feature."""
        n, at_once = X.shape[0], 2048
        first = np.asarray(self.transformer.transform(X.take(np.arange(1))))
        features = np.empty((n, first.shape[1]), dtype=np.float32)

        def fill(start: int) -> None:
            rows = np.arange(start, min(start + at_once, n))
            features[rows] = self.transformer.transform(X.take(rows))

        with one_blas_thread():
            in_threads(fill, range(0, n, at_once))
        return DensePoints(features)

    def model(self, found: FittedModel, n_features: int) -> FittedModel:
        """The model of points with ``n_features`` that is linear in their features as ``found`` says.

        With Nyström's features w·φ(x) is an expansion in the RBF kernel, Σ_j c_j k(z_j, x), which can be saved.
        """
        from sklearn.kernel_approximation import Nystroem

        made = self.transformer
        if isinstance(made, Nystroem) and made.kernel == "rbf" and made.gamma is not None:
            coefficients = found.weights @ made.normalization_
            own = {"kernel": RBF(gamma=made.gamma), "points": made.components_, "coefficients": coefficients}
            return replace(found, **own, n_features=n_features)
        whole = {one.name: getattr(found, one.name) for one in fields(found)}
        return MappedModel(**{**whole, "n_features": n_features}, transformer=made)


def _landmarks(sample: Any, count: int, random_state: int) -> Any:
    """Nyström's landmarks: ``count`` centres of k-means, or some of the points, if centres would take too much room."""
    n = sample.shape[0]
    if n <= count:
        return sample
    if is_sparse(sample) and count * sample.shape[1] > MOST_CENTRE_ENTRIES:
        return sample[np.sort(np.random.default_rng(random_state).choice(n, count, replace=False))]
    from sklearn.cluster import MiniBatchKMeans

    if is_sparse(sample):
        # scikit-learn takes indices of 32 bits only.
        where = (sample.indices.astype(np.int32), sample.indptr.astype(np.int32))
        sample = sp.csr_array((sample.data, *where), shape=sample.shape)
    # Every centre begins at a point of its own, and none is moved elsewhere because few points are near it.
    plain = {"init": "random", "n_init": 1, "reassignment_ratio": 0, "random_state": random_state}
    # More rounds than these would bring landmarks only a little nearer to the points.
    return MiniBatchKMeans(count, max_iter=5, batch_size=4096, **plain).fit(sample).cluster_centers_


def _turned(made: Any) -> Any:
    """Turn Nyström's features to the principal axes of the landmarks, without axes that are only rounding.

    Inner products stay, and second derivatives are nearly diagonal, which makes conjugate gradients converge faster.
    """
    K = RBF(gamma=made.gamma)(made.components_, made.components_)
    values, axes = np.linalg.eigh((K + K.T) / 2)
    values, axes = eigenvectors(values, axes, int(np.sum(values > 1e-10 * values[-1])))
    made.normalization_ = (axes / np.sqrt(values)).T
    return made


@dataclass(frozen=True, eq=False)
class MappedModel(FittedModel):
    """A model that is linear in features of the points, which ``transformer`` computes."""

    transformer: Any = field(kw_only=True)

    def __call__(self, X: Any) -> Array:
        mapped = KernelApproximation(self.transformer)(linear_points(X)).X
        return np.asarray(mapped @ self.weights.T + self.intercept, dtype=float)
