"""Kernel functions: names and parameters are scikit-learn's, and so is most of the arithmetic."""

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..notice import warn
from ..points import LinearPoints
from ..validation import canonical, finite, is_sparse, one_of
from .distances import sparse_squared_norms, squared_distances
from .types import Array, Points

#: Range of widths and scales of kernels whose squares are within the range of floating point.
SMALLEST_SCALE, LARGEST_SCALE = 1e-150, 1e150


class Kernel(Protocol):
    """A positive semidefinite function of two points."""

    accepts_sparse: bool

    def __call__(self, X: Points, Z: Points) -> Array:
        """Matrix of k(x, z), shape (len(X), len(Z))."""
        ...

    def diag(self, X: Points) -> Array:
        """The values k(x, x) at the points of X, shape (n, d); shape (n,)."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters, as JSON can hold them."""
        name = next(name for name, kind in NAMED.items() if isinstance(self, kind))
        return {"name": name, **asdict(cast(Any, self))}


@dataclass(frozen=True)
class ProductForm:
    """A kernel as a function of inner products: k(x, z) = φ(x̃ᵀz̃ + a_x + a_z), x̃ = scale x.

    ``term`` computes a of every point from its ‖x̃‖²; ``finish`` applies φ in place to an array of arguments (None is
    the identity).  ``of_differences`` says whether k(x, z) depends on x - z only.  ``phi`` is φ for arrays of any
    library of the array API, called as ``phi(xp, arguments)`` with its namespace; without it rows are computed by NumPy
    only.
    """

    scale: float
    term: Callable[[Array], Array]
    finish: Callable[[NDArray[Any]], None] | None
    of_differences: bool = False
    phi: Callable[[Any, Any], Any] | None = None


@runtime_checkable
class ProductKernel(Kernel, Protocol):
    """A kernel that is a function of inner products."""

    @property
    def product_form(self) -> ProductForm: ...


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = x · z: the linear space.

    Examples
    --------
    >>> ct.Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[11.,  2.]])
    """

    accepts_sparse = True

    def __call__(self, X: Points, Z: Points) -> Array:
        from sklearn.metrics.pairwise import linear_kernel

        return dense(linear_kernel(X, Z))

    def diag(self, X: Points) -> Array:
        return _squared_norms(X)


@dataclass(frozen=True, init=False)
class RBF(Kernel):
    """k(x, z) = exp(-γ ‖x - z‖²), γ = 1 / (2 σ²).

    Parameters
    ----------
    sigma : float > 0, optional
        Width σ (chapelle2008 §5.2).
    gamma : float > 0, optional
        γ (collobert2006 §4); give exactly one of the two.

    Examples
    --------
    >>> ct.RBF(sigma=1.0)(np.array([[0.0]]), np.array([[0.0], [1.0]])).round(4)
    array([[1.    , 0.6065]])
    >>> ct.RBF(gamma=0.5) == ct.RBF(sigma=1.0)
    True
    """

    gamma: float
    accepts_sparse = True

    def __init__(self, sigma: float | None = None, *, gamma: float | None = None) -> None:
        if (sigma is None) == (gamma is None):
            raise ValueError(f"give exactly one of sigma and gamma, not sigma={sigma!r} and gamma={gamma!r}")
        if gamma is None:
            gamma = 1 / (2 * finite("sigma", sigma, least=SMALLEST_SCALE, most=LARGEST_SCALE) ** 2)
        object.__setattr__(self, "gamma", finite("gamma", gamma, above=0, most=LARGEST_SCALE**2))

    @property
    def sigma(self) -> float:
        """The width σ = 1 / sqrt(2 γ)."""
        return float(1 / np.sqrt(2 * self.gamma))

    def __call__(self, X: Points, Z: Points) -> Array:
        values = squared_distances(X, Z, self.gamma)
        np.negative(values, out=values)
        return np.asarray(np.exp(values, out=values))

    def diag(self, X: Points) -> Array:
        return np.ones(X.shape[0])

    @property
    def product_form(self) -> ProductForm:
        """exp(2γ x·z - γ‖x‖² - γ‖z‖²)."""
        scale = float(np.sqrt(2 * self.gamma))
        return ProductForm(
            scale, lambda squares: -squares / 2, _exp, True, lambda xp, values: xp.exp(xp.clip(values, max=0.0))
        )


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (γ x·z + coef0)^degree.

    Parameters
    ----------
    degree : int >= 1, default 3
    gamma : float > 0, default 1.0
    coef0 : float >= 0, default 1.0
        Not negative: otherwise the function is not positive semidefinite.

    Examples
    --------
    >>> ct.Polynomial(degree=2, gamma=1.0, coef0=1.0)(np.array([[1.0]]), np.array([[2.0], [3.0]]))
    array([[ 9., 16.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    accepts_sparse = True

    def __post_init__(self) -> None:
        if self.degree != int(self.degree) or self.degree < 1:
            raise ValueError(f"degree={self.degree!r} must be an integer >= 1")
        finite("gamma", self.gamma, above=0, most=LARGEST_SCALE)
        finite("coef0", self.coef0, least=0)
        object.__setattr__(self, "degree", int(self.degree))

    def __call__(self, X: Points, Z: Points) -> Array:
        from sklearn.metrics.pairwise import polynomial_kernel

        return dense(polynomial_kernel(X, Z, degree=self.degree, gamma=self.gamma, coef0=self.coef0))

    def diag(self, X: Points) -> Array:
        return (self.gamma * _squared_norms(X) + self.coef0) ** self.degree

    def monomials(self, n_features: int) -> list[tuple[int, ...]]:
        """The powers of the features in each monomial that :meth:`features` has, the constant one last."""
        places = range(n_features + (self.coef0 > 0))
        chosen = itertools.combinations_with_replacement(places, self.degree)
        return [tuple(one.count(j) for j in range(n_features)) for one in chosen]

    def features(self, X: Points) -> Array:
        """Monomials whose inner products are the kernel's values, shape (n, m), m = C(d + degree, degree).

        Without ``coef0`` there are those of the highest degree alone.

        Examples
        --------
        >>> ct.Polynomial(degree=2, coef0=0.0).features(np.array([[3.0, 2.0]])).round(4)
        array([[9.    , 8.4853, 4.    ]])
        """
        X = dense(X)
        columns = []
        for powers in self.monomials(X.shape[1]):
            missing = self.degree - sum(powers)
            ways = math.factorial(self.degree) / math.prod(map(math.factorial, [*powers, missing]))
            factor = np.sqrt(ways * self.gamma ** sum(powers) * self.coef0**missing)
            columns.append(factor * np.prod(X ** np.array(powers), axis=1))
        return np.column_stack(columns)

    @property
    def product_form(self) -> ProductForm:
        """(γ x·z + coef0/2 + coef0/2)^degree."""
        half, degree = self.coef0 / 2, self.degree

        def power(values: NDArray[Any]) -> None:
            np.power(values, degree, out=values)

        return ProductForm(
            float(np.sqrt(self.gamma)),
            lambda squares: np.full_like(squares, half),
            power,
            phi=lambda xp, values: values**degree,
        )


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The points are given as their kernel matrix: rows of new points hold k(new point, training points).

    Examples
    --------
    >>> K = ct.RBF(1.0)(X, X)
    >>> given = ct.Problem(K, problem.y, kernel=ct.Precomputed(), C=10)
    >>> solution = ct.cccp(ct.cccp_tsvm(), given)
    >>> solution.labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    accepts_sparse = False

    def __call__(self, X: Points, Z: Points) -> Array:
        raise TypeError("a precomputed kernel has no points to evaluate")

    def diag(self, X: Points) -> Array:
        return np.array(np.diag(X), dtype=float)


#: Kernels that have a name, and are saved by it and their parameters.
NAMED: dict[str, type[Kernel]] = {"linear": Linear, "rbf": RBF, "poly": Polynomial, "precomputed": Precomputed}


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A kernel given as a function ``k(X, Z)`` returning the matrix, as scikit-learn's ``SVC`` takes it.

    Parameters
    ----------
    function : callable
        Takes two dense arrays of points and returns an (n, m) matrix.

    Examples
    --------
    >>> kernel = ct.kernels.CallableKernel(lambda X, Z: (1 + X @ Z.T) ** 2)
    >>> kernel(np.array([[1.0], [2.0]]), np.array([[3.0]]))
    array([[16.],
           [49.]])
    """

    function: Callable[[Any, Any], Any]
    accepts_sparse = False

    def __call__(self, X: Points, Z: Points) -> Array:
        K = np.asarray(self.function(X, Z), dtype=float)
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(f"kernel returned shape {K.shape}; it must be ({X.shape[0]}, {Z.shape[0]})")
        if not np.isfinite(K).all():
            raise ValueError("kernel returned NaN or infinity")
        return K

    def diag(self, X: Points) -> Array:
        return np.array([float(self(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(X.shape[0])])

    def to_dict(self) -> dict[str, Any]:
        """A callable is code, which is never saved."""
        raise ValueError("kernel is a callable, which cannot be saved; use kernel='precomputed' or a named kernel")


def make_kernel(
    kernel: str | Kernel | Callable[[Any, Any], Any],
    X: Points = None,
    *,
    gamma: float | str | None = None,
    sigma: float | None = None,
    degree: int = 3,
    coef0: float = 0.0,
) -> Kernel:
    """Kernel from the parameters that estimators and the command line share.

    As in ``sklearn.svm.SVC``, ``gamma`` may be "scale", 1 / (d Var X), which is the default, or "auto", 1 / d; both
    need the points X.  An RBF kernel takes ``sigma`` or ``gamma``, not both.  ValueError names the parameter that does
    not fit.
    """
    if isinstance(kernel, str) and kernel in NAMED:
        if kernel == "linear":
            return Linear()
        if kernel == "precomputed":
            return Precomputed()
        if kernel == "rbf" and sigma is not None:
            if gamma is not None:
                raise ValueError(f"give exactly one of sigma and gamma, not sigma={sigma!r} and gamma={gamma!r}")
            return RBF(sigma)
        # The parameter of a polynomial is raised to its degree.
        value = _gamma(gamma, X, LARGEST_SCALE**2 if kernel == "rbf" else LARGEST_SCALE)
        return RBF(gamma=value) if kernel == "rbf" else Polynomial(degree, value, coef0)
    if hasattr(kernel, "accepts_sparse") and hasattr(kernel, "diag"):
        return cast(Kernel, kernel)
    if callable(kernel):
        return CallableKernel(kernel)
    raise ValueError(f"kernel={kernel!r} must be one of rbf, linear, poly, precomputed, a callable, or a Kernel")


def kernel_from_dict(saved: dict[str, Any]) -> Kernel:
    """The inverse of ``to_dict``."""
    name = one_of("kernel", saved.get("name"), tuple(NAMED))
    return NAMED[name](**{key: value for key, value in saved.items() if key != "name"})


def _gamma(gamma: float | str | None, X: Points, most: float) -> float:
    if gamma is None or gamma == "scale":
        X = canonical(X)
        variance = _variance(X)
        if variance == 0 and X.max() == X.min():
            return 1.0
        with np.errstate(divide="ignore", over="ignore"):
            wanted = float(1 / (X.shape[1] * np.float64(variance)))
        found = float(np.clip(wanted, SMALLEST_SCALE**2, most))
        if found != wanted:
            warn(f"gamma='scale': entries of X are so large or so small that γ is {found:g}, not {wanted:g}: scale X")
        return found
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} must be a number > 0, 'scale' or 'auto'")
    return finite("gamma", gamma, above=0)


def _variance(X: Points) -> float:
    """The variance of all entries, from differences to the mean: squares of large entries would lose digits."""
    if not is_sparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.nan_to_num(np.var(X), nan=np.inf))
    mean, size = float(X.mean()), X.shape[0] * X.shape[1]
    return float((np.square(X.data - mean).sum() + (size - X.nnz) * mean**2) / size)


def _exp(values: NDArray[Any]) -> None:
    """exp, in place, of numbers that only rounding can make positive; those are taken as 0."""
    np.minimum(values, 0, out=values)
    np.exp(values, out=values)


def _squared_norms(X: Points) -> Array:
    if isinstance(X, LinearPoints):
        return X.squared_norms()
    if is_sparse(X):
        return sparse_squared_norms(X)
    return np.einsum("ij,ij->i", X, X, dtype=float)


def dense(K: Any) -> Array:
    """An array of 64-bit numbers, of an array or a sparse matrix."""
    return np.asarray(K.toarray() if is_sparse(K) else K, dtype=float)
