"""Features whose inner products are nearly those of a kernel, so that linear methods learn with it.

scikit-learn makes them: Nyström's from the kernel values with some landmarks (Williams and Seeger 2001), and random
Fourier features of the RBF kernel (Rahimi and Recht 2008).  Landmarks are centres of k-means, which lose less of
the kernel than as many of the points do (Zhang, Tsang and Kwok 2008).  What is minimized with them is the problem of
the kernel φ(x)·φ(z), not of the kernel itself: bounds and gaps are about that problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import RBF, make_kernel
from ..parallel import in_threads, one_blas_thread
from ..persistence import FittedModel
from ..points import DensePoints, LinearPoints, linear_points
from ..problem import Array
from ..validation import integer

#: A transformer is fitted to so many points, drawn at random.
SAMPLE = 10_000

#: Points that are mapped at a time.
BLOCK = 2048

#: Rounds of k-means over the sample: more bring landmarks little nearer to the points.
ROUNDS = 5

#: Axes of the landmarks' kernel matrix with eigenvalues below this share of the largest are left out.
NOTHING = 1e-10

#: Centres of sparse points are not sparse: where they would have more numbers than this, points are landmarks.
LARGEST = 2**24

NAMES = ("nystroem", "fourier")


@dataclass(frozen=True, eq=False)
class KernelApproximation:
    """A map φ to some hundred features.

    Attributes
    ----------
    transformer : object
        Fitted, with the method ``transform`` of scikit-learn.
    """

    transformer: Any

    @classmethod
    def fit(
        cls, asked: Any, X: LinearPoints, *, n_components: int, gamma: float | str | None, random_state: int
    ) -> KernelApproximation:
        """The map that is asked for, made for some points.

        Parameters
        ----------
        asked : {"nystroem", "fourier"} or transformer
            A transformer of scikit-learn is cloned, and fitted to at most 10 000 of the points.
        X : LinearPoints
        n_components : int >= 1
            Features, for the names; there are no more of Nyström's than points.
        gamma : float > 0, "scale" or None
            Of the RBF kernel, for the names.
        random_state : int

        Raises
        ------
        ValueError
            If it is neither, or an argument is not as stated.
        """
        from sklearn.base import clone
        from sklearn.kernel_approximation import Nystroem, RBFSampler

        rng, n = np.random.default_rng(random_state), X.shape[0]
        sample = X.take(np.sort(rng.choice(n, min(n, SAMPLE), replace=False)))
        if isinstance(asked, str) and asked in NAMES:
            n_components = integer("n_components", n_components, least=1)
            kernel = make_kernel("rbf", sample, gamma=gamma)
            common = {"gamma": kernel.gamma, "random_state": random_state}  # type: ignore[attr-defined]
            if asked == "fourier":
                return cls(RBFSampler(n_components=n_components, **common).fit(sample))
            landmarks = _landmarks(sample, n_components, random_state)
            return cls(_turned(Nystroem(kernel="rbf", n_components=landmarks.shape[0], **common).fit(landmarks)))
        if not (hasattr(asked, "fit") and hasattr(asked, "transform")):
            shown = ", ".join(map(repr, NAMES))
            raise ValueError(f"kernel_approximation={asked!r} must be {shown}, a transformer of scikit-learn, or None")
        return cls(clone(asked).fit(sample))

    def __call__(self, X: LinearPoints) -> DensePoints:
        """Features of points, in single precision: 4 bytes for each point and feature.

        Parameters
        ----------
        X : LinearPoints, shape (n, d)

        Returns
        -------
        DensePoints, shape (n, n_components)
        """
        n = X.shape[0]
        first = np.asarray(self.transformer.transform(X.take(np.arange(1))))
        features = np.empty((n, first.shape[1]), dtype=np.float32)

        def fill(start: int) -> None:
            rows = np.arange(start, min(start + BLOCK, n))
            features[start : start + BLOCK] = self.transformer.transform(X.take(rows))

        with one_blas_thread():
            in_threads(fill, range(0, n, BLOCK))
        return DensePoints(features)

    def model(self, found: FittedModel, n_features: int) -> FittedModel:
        """A model of features as one of the points themselves.

        Of Nyström's features of the RBF kernel w·φ(x) is an expansion in that kernel, Σ_j c_j k(z_j, x), which is
        saved like any other; of others it is a model that maps new points first.

        Parameters
        ----------
        found : FittedModel
            Linear in the features.
        n_features : int
            Of the points.

        Returns
        -------
        FittedModel
        """
        from sklearn.kernel_approximation import Nystroem

        made = self.transformer
        if isinstance(made, Nystroem) and made.kernel == "rbf" and made.gamma is not None:
            return FittedModel(
                RBF(gamma=made.gamma),
                made.components_,
                found.weights @ made.normalization_,
                found.intercept,
                n_features,
                classes=found.classes,
                parameters=found.parameters,
            )
        return MappedModel(
            found.kernel,
            found.points,
            found.coefficients,
            found.intercept,
            n_features,
            classes=found.classes,
            parameters=found.parameters,
            transformer=made,
        )


def _landmarks(sample: Any, count: int, random_state: int) -> Any:
    """Points with which kernel values are computed: centres of k-means, or some of the points."""
    n = sample.shape[0]
    if n <= count:
        return sample
    if sp.issparse(sample) and count * sample.shape[1] > LARGEST:
        return sample[np.sort(np.random.default_rng(random_state).choice(n, count, replace=False))]
    from sklearn.cluster import MiniBatchKMeans

    if sp.issparse(sample):
        # scikit-learn takes indices of 32 bits only.
        where = (sample.indices.astype(np.int32), sample.indptr.astype(np.int32))
        sample = sp.csr_array((sample.data, *where), shape=sample.shape)
    # Every centre begins at a point of its own and stays where points are: none is moved because it has few.
    plain = {"init": "random", "n_init": 1, "reassignment_ratio": 0, "random_state": random_state}
    return MiniBatchKMeans(count, max_iter=ROUNDS, batch_size=4096, **plain).fit(sample).cluster_centers_


def _turned(made: Any) -> Any:
    """Nyström's features turned to the principal axes of the landmarks, without those that hold nothing but rounding.

    Inner products stay what they are; second derivatives in these coordinates are nearly diagonal, which conjugate
    gradients that divide by the diagonal need.
    """
    K = RBF(gamma=made.gamma)(made.components_, made.components_)
    values, axes = np.linalg.eigh((K + K.T) / 2)
    kept = values > NOTHING * values[-1]
    made.normalization_ = (axes[:, kept] / np.sqrt(values[kept])).T[::-1]
    return made


@dataclass(frozen=True, eq=False)
class MappedModel(FittedModel):
    """A model that is linear in features of the points.

    Attributes
    ----------
    transformer : object
        What makes the features.
    """

    transformer: Any = field(kw_only=True)

    def __call__(self, X: Any) -> Array:
        mapped = KernelApproximation(self.transformer)(linear_points(X)).X
        return np.asarray(mapped @ self.weights.T + self.intercept, dtype=float)
