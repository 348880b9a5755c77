"""The linear S3VM as a scikit-learn classifier: SVMlin's methods (Sindhwani and Keerthi 2006), for many points."""

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from ..formulations import Formulation, tsvm
from ..kernels import RBF, Linear, make_kernel
from ..methods.online import OnlineDescent
from ..methods.run import Method
from ..notice import warn
from ..parallel import in_threads, one_blas_thread
from ..persistence import FittedModel
from ..points import DensePoints, LinearPoints, WithConstant, linear_points
from ..problem import Array, Problem
from ..solution import Solution
from ..ties import eigenvectors
from ..validation import canonical, finite, integer, is_sparse, one_of
from .descent import Descent
from .labels import Labels, unlabeled_points
from .parameters import estimator, stated, taken

#: Centres of sparse points are not sparse: if they would have more entries than this, landmarks are some of the points.
MOST_CENTRE_ENTRIES = 2**24


def fitted_map(asked: Any, X: LinearPoints, *, n_components: int, gamma: float | str | None, random_state: int) -> Any:
    """A map φ from points to some hundred features whose inner products are nearly a kernel's: linear methods learn it.

    It is the one that is asked for, "nystroem", "fourier" or a transformer, fitted to at most 10 000 of the points X.
    scikit-learn makes it: Nyström's from the kernel values with some landmarks (Williams and Seeger 2001), at most as
    many as there are points to fit to, or random Fourier features of the RBF kernel (Rahimi and Recht 2008).  Landmarks
    are centres of k-means, which lose less of the kernel than as many of the points do (Zhang, Tsang and Kwok 2008).
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
            return RBFSampler(n_components=n_components, **common).fit(sample)
        landmarks = _landmarks(sample, n_components, random_state)
        return _turned(Nystroem(kernel="rbf", n_components=landmarks.shape[0], **common).fit(landmarks))
    if not (hasattr(asked, "fit") and hasattr(asked, "transform")):
        raise ValueError(
            f"kernel_approximation={asked!r} must be 'nystroem', 'fourier', a transformer of scikit-learn, or None"
        )
    return clone(asked).fit(sample)


def mapped(transformer: Any, X: LinearPoints) -> DensePoints:
    """Features of n points, shape (n, n_components), in single precision: 4 bytes for each point and feature."""
    n, at_once = X.shape[0], 2048
    first = np.asarray(transformer.transform(X.take(np.arange(1))))
    features = np.empty((n, first.shape[1]), dtype=np.float32)

    def fill(start: int) -> None:
        rows = np.arange(start, min(start + at_once, n))
        features[rows] = transformer.transform(X.take(rows))

    with one_blas_thread():
        in_threads(fill, range(0, n, at_once))
    return DensePoints(features)


def model_of_points(transformer: Any, found: FittedModel, n_features: int) -> FittedModel:
    """The model of points with ``n_features`` that is linear in their features as ``found`` says.

    With Nyström's features w·φ(x) is an expansion in the RBF kernel, Σ_j c_j k(z_j, x), which can be saved.
    """
    from sklearn.kernel_approximation import Nystroem

    if isinstance(transformer, Nystroem) and transformer.kernel == "rbf" and transformer.gamma is not None:
        coefficients = found.weights @ transformer.normalization_
        own = {"kernel": RBF(gamma=transformer.gamma), "points": transformer.components_, "coefficients": coefficients}
        return replace(found, **own, n_features=n_features)
    whole = {one.name: getattr(found, one.name) for one in fields(found)}
    return MappedModel(**{**whole, "n_features": n_features}, transformer=transformer)


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
        features = mapped(self.transformer, linear_points(X)).X
        return np.asarray(features @ self.weights.T + self.intercept, dtype=float)


@estimator
class LinearTransductiveSVC(Descent):
    """Semi-supervised (transductive) linear support vector classifier for many points, sparse or not.

    Minimizes ½ ‖w‖² + C Σ ℓ(y f(x)) + C* Σ ℓ*(f(x)), f(x) = w·x + b, the last sum over the unlabelled points, by
    SVMlin's methods (Sindhwani and Keerthi 2006) and by CCCP; their least squares are solved by products with the
    points.  Time grows with the number of stored entries.  More than two classes are learned one-vs-rest, or together.
    ``partial_fit`` learns from one chunk of points after the other.

    Parameters
    ----------
    method : str
        Multi-switch TSVM (§1.3, the default), deterministic annealing (§1.4), the concave-convex procedure (Collobert
        et al. 2006), or another descent of ``ct.table.METHODS`` in its default form.  Annealing finds lower objectives
        where unlabelled points say more than the labelled ones, as in texts.
    loss : {"squared_hinge", "hinge", "huber_hinge", "ramp", "flat"} or Formulation
        Loss of the unlabelled points, as in :class:`~convex_tsvm.TransductiveSVC`; "ramp" and "flat" with
        ``method="cccp"``.  Losses with kinks take several times as long.
    C_unlabeled : float > 0 or "balanced"
        Cost C* of unlabelled points; "balanced" is C L / U, which is λ' = 1.
    lambda_ : float > 0
        SVMlin's λ in place of C, which is 1 / (2 l λ) with l labelled points: λ times the objective is then that of the
        paper.
    lambda_unlabeled : float > 0
        SVMlin's λ' in place of C*, which is λ' / (2 u λ) with u unlabelled points.
    positive_fraction : "auto", "labeled", float in (0, 1), or dict of class to float
        r, the share of the unlabelled points that are positive (of ``classes_[1]``), or of every class: inferred as
        with ``balance="auto"`` of :class:`~convex_tsvm.TransductiveSVC`, that among the labels, or a number.  Switching
        and annealing meet it exactly; with CCCP the mean output is 2 r - 1.
    intercept_scaling : float > 0
        With switching and annealing the bias is the weight of one more feature, which is this number for all points,
        and is regularized like the others, as in SVMlin and ``sklearn.svm.LinearSVC``.
    kernel_approximation : {"nystroem", "fourier"} or transformer
        Learn with an RBF kernel, nearly: the points are replaced by ``n_components`` features whose inner products are
        about k(x, z), Nyström's with centres of k-means for landmarks, or random Fourier features (or those of a
        transformer of scikit-learn; all are fitted to at most 10 000 of the points).  Takes 4 bytes for each point and
        feature.  Objective, bound and gap are those of the approximate problem, with the kernel φ(x)·φ(z).
    n_components : int >= 1
        Features, for a ``kernel_approximation`` by name.
    gamma : float > 0, "scale" or None
        γ of the approximated kernel exp(-γ ‖x - z‖²), by name; None is "scale", 1 / (n_features X.var()).
    random_state : int
        Of the landmarks, or frequencies, that the features are made of.
    method_options : dict
        Options of the method in place of those that are its defaults here: for "switching" ``annealing=14`` (factors on
        C*) and ``reheats=4``, for "annealing" ``best=True``, ``cooling=1.2``, ``settled=5e-6`` and ``certain=1e-2``.
        ``max_pairs=1`` is Joachims's TSVM.
    tol : float
        Relative duality gap of the last convex problem.
    max_iter : int
        Limit on convex problems, for each factor on C* or temperature.

    Attributes
    ----------
    coef_ : array, shape (n_classifiers, n_features)
        Not there with a ``kernel_approximation``.
    approximation_ : object
        The fitted transformer behind ``kernel_approximation``.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = ["ham egg", "egg toast", "ham toast", "wheel car", "car road", "wheel road"]
    >>> X = TfidfVectorizer().fit_transform(texts)
    >>> ct.LinearTransductiveSVC(C=10).fit(X, [0, -1, -1, 1, -1, -1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    _share_parameter = "positive_fraction"
    #: They lead to as good an objective in less time.
    _own_defaults = {
        "switching": {"annealing": 14, "reheats": 4},
        "annealing": {"best": True, "cooling": 1.2, "settled": 5e-6, "certain": 1e-2},
    }

    method: str | Method = "switching"
    loss: str | Formulation = "squared_hinge"
    C: float = 1.0
    C_unlabeled: float | str = "balanced"
    lambda_: float | None = None
    lambda_unlabeled: float | None = None
    positive_fraction: Any = "auto"
    intercept_scaling: float = 1.0
    kernel_approximation: Any = None
    n_components: int = 500
    gamma: float | str | None = None
    random_state: int = 0
    method_options: Mapping[str, Any] | None = None
    multi_class: str = "ovr"
    tol: float = 1e-4
    max_iter: int = 1000
    warm_start: bool = False

    def _faster(self, problem: Problem) -> str:
        return ("fewer n_components, or " if self.kernel_approximation else "") + "a larger tol takes less"

    def _asked_solver(self, method: Method, formulation: Formulation) -> str:
        """Finite Newton steps for methods that take them, since these need products with the points only."""
        return "finite_newton" if "finite_newton" in method.solvers else "auto"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        if hasattr(X, "dask"):
            X = linear_points(X)
        if isinstance(X, LinearPoints):
            if reset:
                self.n_features_in_ = X.shape[1]
            return X
        least, kinds = 2 if reset else 1, (np.float64, np.float32)
        X = validate_data(self, X, accept_sparse="csr", dtype=kinds, reset=reset, ensure_min_samples=least)
        return linear_points(X) if reset else canonical(X)

    def _read(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[Any, Labels]:
        X, labels = super()._read(X, y, sample_weight)
        if self.kernel_approximation is None:
            return X, labels
        self._fit_features(X)
        return mapped(self.approximation_, X), labels

    def _fit_features(self, X: LinearPoints) -> None:
        integer("random_state", self.random_state, least=0)
        self.approximation_ = fitted_map(self.kernel_approximation, X, **taken(self, fitted_map))

    def _store(self, labels: Labels, solutions: list[Solution]) -> None:
        super()._store(labels, solutions)
        if hasattr(self, "online_"):  # a stream goes on from what was fitted last
            del self.online_
        self._keep_coefficients()

    def _keep_coefficients(self) -> None:
        """Set ``coef_``, or with features the model of points that is linear in them."""
        self._learned = self.coef_ = self.model_.weights
        if self.kernel_approximation is not None:
            self.model_ = model_of_points(self.approximation_, self.model_, self.n_features_in_)
            del self.coef_

    def _problem(self, X: LinearPoints, labels: Labels, k: int) -> Problem:
        if self._counts and self.fit_intercept:
            X = WithConstant(X, finite("intercept_scaling", self.intercept_scaling, above=0))
        return Problem(X, kernel="linear", **self._given(labels, k))

    def _given(self, labels: Labels, k: int) -> dict[str, Any]:
        (C, C_unlabeled), balance = self._costs(labels), self._balance(labels, k)
        given = {"C": C, "C_unlabeled": C_unlabeled, "balance": balance, "balance_sample": labels.counted}
        return given | {"y": labels.signs(k)}

    def _balance(self, labels: Labels, k: int) -> Any:
        """The balance of the problem of class k against the rest, from ``positive_fraction``."""
        if not self._counts and not self.fit_intercept:
            return None
        known, share = labels.signs(k)[~labels.unlabeled] > 0, self.positive_fraction
        weights = None if labels.weights is None else labels.weights[~labels.unlabeled]
        if isinstance(share, str) and share == "auto" and labels.inferred is not None:
            r = float(labels.inferred.shares[k])
        elif share is None or isinstance(share, str):
            one_of("positive_fraction", share or "labeled", ("auto", "labeled"))
            r = float(np.average(known, weights=weights))
        elif isinstance(share, numbers.Real):
            if len(labels.classes) > 2:
                raise ValueError(
                    f"positive_fraction={share!r}: with {len(labels.classes)} classes it must be 'auto', 'labeled', "
                    "or the share of every class, such as {'a': 0.6, 'b': 0.3, 'c': 0.1}"
                )
            r = finite("positive_fraction", share, above=0, below=1)
        else:
            r = (labels.balance(share, k) + 1) / 2
        return ("exact", r) if self._counts else 2 * r - 1

    def _asked_balance(self) -> Any:
        return self.positive_fraction if isinstance(self.positive_fraction, str) else None

    def _costs(self, labels: Labels) -> tuple[Any, Any]:
        """C and C* of a problem, from ``lambda_`` and ``lambda_unlabeled`` where these are given."""
        n_labeled, n_unlabeled = int((~labels.unlabeled).sum()), int(labels.unlabeled.sum())
        C, C_unlabeled = self.C, self.C_unlabeled
        if n_labeled == 0 and (self.lambda_ is not None or self.lambda_unlabeled is not None):
            raise ValueError("lambda_ and lambda_unlabeled are means over labelled points, and y has none; use C")
        if self.lambda_ is not None:
            C = 1 / (2 * n_labeled * finite("lambda_", self.lambda_, above=0))
        if self.lambda_unlabeled is not None and n_unlabeled:
            ratio = finite("lambda_unlabeled", self.lambda_unlabeled, above=0)
            C_unlabeled = ratio * finite("C", C, above=0) * n_labeled / n_unlabeled
        return labels.costs(C, C_unlabeled if n_unlabeled else None)

    @property
    def _counts(self) -> bool:
        """Whether the method keeps a prescribed number of positive labels itself."""
        return self._asked_method().keeps_number

    def _formulation(self, problem: Problem) -> Formulation:
        return stated(self.loss, problem, fit_intercept=self.fit_intercept and not self._counts)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from one more chunk of points: one step of CCCP by averaged stochastic subgradients (§6.3).

        Every chunk sees tangents at what was learned before it, so that unlabelled points say something from the second
        one on.  The result is near that of ``fit`` with ``method="cccp"``, not the same; ``method`` has no say.  L and
        U are the numbers of points that have come: where points come several times use ``lambda_``, not C.  The
        estimator then has ``classes_``, ``coef_``, ``intercept_``, ``n_iter_`` (steps) and ``online_``.  With a
        ``kernel_approximation`` the features are fitted to the first chunk, which should have ``n_components`` points
        at least, and it learns a function of the kernel.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
        y : array, shape (n_samples,)
            Labels, with ``unlabeled`` where unknown; all may be unknown.
        classes : array, shape (n_classes,), optional
            All classes; needed at the first call.
        """
        learned, with_features = hasattr(self, "model_"), self.kernel_approximation is not None
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=not learned))
        signs = self._online_signs(X, y, classes)
        if learned and with_features != hasattr(self, "approximation_"):
            before = "None" if with_features else "another"
            raise ValueError(f"kernel_approximation={self.kernel_approximation!r} must stay; before it was {before}")
        if with_features:
            if not learned:
                if isinstance(self.kernel_approximation, str) and X.shape[0] < self.n_components:
                    warn(
                        f"n_components={self.n_components}: the first chunk, for the features, has {X.shape[0]} points"
                    )
                self._fit_features(linear_points(X))
            X = np.asarray(mapped(self.approximation_, linear_points(X)).X, dtype=float)
        if not hasattr(self, "online_"):
            start = self._learned if learned else np.zeros((signs.shape[0], X.shape[1]))
            seed = integer("random_state", self.random_state, least=0)
            with_bias, model = self.fit_intercept, self.loss
            if not isinstance(model, Formulation):
                model = tsvm(model, fit_intercept=with_bias, balance="linear" if with_bias else None)
            self.online_ = OnlineDescent(model, np.array(start, dtype=float), seed, whitened=with_features)
        online, new = self.online_, int(np.count_nonzero(signs[0] == 0))
        self._online_costs(online, new), self._online_means(online)  # bad arguments are told before points are counted
        online.count_labels(signs)
        ridge, ratio = self._online_costs(online, new)
        online.learn(X, signs, ridge=ridge, ratio=ratio, means=self._online_means(online))
        self.intercept_, self.n_iter_ = online.intercept, online.n_steps
        own = (Linear(), online.average.copy(), np.eye(len(signs)), self.intercept_, X.shape[1])
        self.model_ = FittedModel(*own, classes=self.classes_, parameters=self.get_params(deep=False))
        self._keep_coefficients()
        return self

    def _online_signs(self, X: Any, y: ArrayLike, classes: ArrayLike | None) -> NDArray[np.float64]:
        """+1, -1 and 0 of the points of a chunk for each function, shape (K, n)."""
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

    def _online_costs(self, online: OnlineDescent, new: int) -> tuple[float, float]:
        """μ and λ', for the points that have come and ``new`` unlabelled ones."""
        C, n_labeled = finite("C", self.C, above=0), max(1, online.n_labeled)
        ridge = 1 / (C * n_labeled) if self.lambda_ is None else 2 * finite("lambda_", self.lambda_, above=0)
        if self.lambda_unlabeled is not None:
            return ridge, finite("lambda_unlabeled", self.lambda_unlabeled, above=0)
        if self.C_unlabeled == "balanced":
            return ridge, 1.0
        if isinstance(self.C_unlabeled, str):
            raise ValueError(f"C_unlabeled={self.C_unlabeled!r} must be a number > 0 or 'balanced'")
        return ridge, finite("C_unlabeled", self.C_unlabeled, above=0) * (online.n_unlabeled + new) / (C * n_labeled)

    def _online_means(self, online: OnlineDescent) -> NDArray[np.float64] | None:
        """The mean output of the unlabelled points for each function, by shares that are given, or those of labels."""
        if not online.centred:
            return None
        share = self.positive_fraction
        if share is None or isinstance(share, str):
            return 2 * online.positives / max(1, online.n_labeled) - 1 if online.n_labeled else None
        if len(self.classes_) == 2 and np.ndim(share) == 0 and not hasattr(share, "keys"):
            return np.array([2 * finite("positive_fraction", share, above=0, below=1) - 1])
        labels = Labels(self.classes_, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool))
        return np.array([labels.balance(share, k) for k in labels.positives])
