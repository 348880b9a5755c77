"""Stochastic CCCP: tangents at what was learned so far, and averaged subgradient steps between them.

Collobert et al. (2006, §6.3) suggest it: "online and stochastic" forms of the CCCP for TSVMs.  A chunk of points is one
step of CCCP: the concave parts of the losses are replaced by their tangents at the averaged w, and the convex problem
that is left is descended by stochastic subgradients, whose iterates are averaged (Shamir and Zhang 2013).  What is
minimized is

    ½ μ ‖w‖² + mean over labelled points of ℓ(y f) + λ' mean over unlabelled points of ℓ*(f),

the TSVM divided by C L, with μ = 1 / (C L) and λ' = C* U / (C L) for L labelled and U unlabelled points.  Of features
that stand for a kernel few carry most of the variance: there steps are divided by the covariance of the points, which
Newton's step would do for losses of constant curvature.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from ..formulations import Formulation
from ..losses import PLQ
from ..problem import Array
from ..validation import is_sparse


@dataclass(eq=False)
class OnlineDescent:
    """Functions w_k·x + b_k of K classes that learn from one chunk of points after the other.

    Parameters
    ----------
    formulation : Formulation
        With losses that split into a convex and a concave piecewise linear-quadratic part, ½ ‖w‖² for a regularizer,
        and a linear balance or none.
    w : array, shape (K, d)
        To begin with.
    random_state : int, default 0
        Of the points that are drawn for a step.
    whitened : bool, default False
        Whether steps are divided by the covariance of the points that have come (8 d² bytes, d³ operations a chunk).

    Attributes
    ----------
    average : array, shape (K, d)
        The averaged w, which is what is learned.
    intercept : array, shape (K,)
    n_labeled, n_unlabeled, n_steps : int
        Points that have come, and steps taken.
    positives : array, shape (K,)
        How many of the labelled points are of each class.
    """

    formulation: Formulation
    w: Array
    random_state: int = 0
    whitened: bool = False
    average: Array = field(init=False)
    n_labeled: int = field(default=0, init=False)
    n_unlabeled: int = field(default=0, init=False)
    n_steps: int = field(default=0, init=False)
    # How subgradient steps are made.
    # Unlabelled points of a step, and the most labelled ones, which are drawn anew for each; whitened steps are fewer.
    of_unlabeled: ClassVar[int] = 64
    of_labeled: ClassVar[int] = 256
    fewer: ClassVar[int] = 2
    most_kept: ClassVar[int] = (
        5000  # so many of the labelled points that have come are kept, drawn evenly: chunks need not have any
    )
    # The average forgets early iterates, whose tangents knew little, like t^-(this + 1) (Shamir and Zhang 2013).
    forgetting: ClassVar[float] = 40.0
    # Small chunks are gone through several times, until so many steps have been taken.
    least_steps: ClassVar[int] = 16
    # Whitened steps are so many times shorter than losses of curvature 2 would have them, against noise.
    shorter: ClassVar[float] = 8.0

    def __post_init__(self) -> None:
        formulation = self.formulation
        if not formulation.regularizer.is_squared_norm or formulation.constraints or formulation.additions:
            raise ValueError("partial_fit takes ½ ‖w‖² and a balance, no other regularizer, constraint or addition")
        if formulation.groups or formulation.balances_targets:
            raise ValueError("partial_fit takes no groups of points and no balance of targets")
        if not all(isinstance(part, PLQ) for pair in formulation.parts for part in pair):
            raise ValueError("partial_fit takes piecewise linear-quadratic losses")
        K, d = self.w.shape
        self.average, self.b, self.average_b = self.w.copy(), np.zeros(K), np.zeros(K)
        self.mean, self.positives = np.zeros(d), np.zeros(K)
        self.many = self.fewer if self.whitened else 1
        self.middle, self.scatter = np.zeros(d), np.zeros((d, d) if self.whitened else ())
        #: Convex, so that the slope nearest to zero at a kink is a subgradient.
        self.labeled: Any = formulation.labeled
        self.convex: Any = formulation.parts[2][0]
        self.kept: tuple[Any, Array] | None = None
        self.rng = np.random.default_rng(self.random_state)

    @property
    def centred(self) -> bool:
        """Whether the mean output of the unlabelled points is fixed, which sets the bias."""
        return self.formulation.fixes_bias

    @property
    def intercept(self) -> Array:
        """The bias of each function, shape (K,)."""
        return self.average_b - self.average @ self.mean if self.centred else self.average_b

    def learn(self, X: Any, signs: Array, *, ridge: float, ratio: float, means: Array | None) -> None:
        """Take one chunk of points: a step of CCCP by stochastic subgradients.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
        signs : array, shape (K, n)
            +1 and -1 for the class of each point against the others, 0 where it is unknown.
        ridge, ratio : float
            μ and λ'.
        means : array, shape (K,), or None
            The mean outputs of unlabelled points that a balance asks for.
        """
        unknown, known = np.flatnonzero(signs[0] == 0), np.flatnonzero(signs[0])
        self._count(X, unknown)
        if self.centred and means is not None:
            self.b = self.average_b = means.copy()
        self._keep(X[known], signs[:, known])
        steps = self._divided_by(ridge, ratio)
        slopes = np.zeros((0, len(self.w)))
        if len(unknown):  # those of the concave part of the loss at the averaged functions, shape (n_unlabeled, K)
            outputs = self._outputs(X[unknown], self.average, self.average_b)
            slopes = np.asarray(self.formulation.parts[2][1].supergradient(outputs))
        n_batches = max(
            1, -(-len(unknown) // (self.of_unlabeled * self.many)), -(-len(known) // (self.of_labeled * self.many))
        )
        for _ in range(-(-self.least_steps // n_batches)):
            for part in np.array_split(self.rng.permutation(len(unknown)), n_batches):
                self._step(X[unknown[part]], slopes[part], ridge, ratio, steps)

    def count_labels(self, signs: Array) -> None:
        """Count labelled points by class, before they are learned from, as shares may be theirs."""
        self.n_labeled += int(np.count_nonzero(signs[0]))
        self.positives += (signs > 0).sum(axis=1)

    def _count(self, X: Any, unknown: NDArray[np.intp]) -> None:
        """The mean of the unlabelled points, and the covariance of all points, or its trace."""
        new, n = len(unknown), X.shape[0]
        if new:
            self.n_unlabeled += new
            self.mean += (np.asarray(X[unknown].mean(axis=0)).ravel() - self.mean) * new / self.n_unlabeled
        before, middle = max(self.n_labeled + self.n_unlabeled - n, 0), np.asarray(X.mean(axis=0)).ravel()
        self.scatter = (self.scatter * before + self._scatter(X, middle)) / (before + n)
        apart, weight = middle - self.middle, n / (before + n)
        self.scatter += weight * (1 - weight) * (np.outer(apart, apart) if self.whitened else apart @ apart)
        self.middle += weight * apart

    def _scatter(self, X: Any, middle: Array) -> Array:
        """The sum of (x - middle) (x - middle)ᵀ over points whose mean is the middle, or its trace."""
        n, far = X.shape[0], middle
        if is_sparse(X):
            if not self.whitened:
                return np.asarray(X.multiply(X).sum() - n * far @ far)
            return np.asarray((X.T @ X).toarray() - n * np.outer(far, far))
        own = X - middle
        return np.asarray(own.T @ own if self.whitened else np.einsum("ij,ij->", own, own))

    def _divided_by(self, ridge: float, ratio: float) -> tuple[Callable[[Array], Array], float]:
        """What makes steps of gradients, shape (K, d), and a bound on second derivatives.

        The division is by the bound, or if ``whitened`` by the matrix that it is the trace of.
        """
        away = self.middle - self.mean if self.centred else self.middle
        outer = np.outer(away, away) if self.whitened else away @ away
        second = 2 * (1 + ratio) * (self.scatter + outer)
        bound = max(float(np.trace(second) if self.whitened else second), 1e-300)
        if not self.whitened:
            return lambda gradient: gradient / bound, bound
        # Features may depend on each other: what is added beside the ridge is far below their variance.
        added = (ridge + 1e-12 * bound) * np.eye(len(second))
        factor = scipy.linalg.cho_factor(self.shorter * second + added)
        return lambda gradient: np.asarray(scipy.linalg.cho_solve(factor, gradient.T).T), bound

    def _keep(self, X: Any, signs: Array) -> None:
        """Keep labelled points, an even sample if there are many."""
        if X.shape[0] == 0:
            return
        if self.kept is not None:
            stack = sp.vstack if is_sparse(X) or is_sparse(self.kept[0]) else np.vstack
            X, signs = stack([self.kept[0], X]), np.hstack([self.kept[1], signs])
        if X.shape[0] > self.most_kept:
            chosen = np.sort(self.rng.choice(X.shape[0], self.most_kept, replace=False))
            X, signs = X[chosen], signs[:, chosen]
        self.kept = (sp.csr_matrix(X) if is_sparse(X) else X), signs

    def _outputs(self, X: Any, w: Array, b: Array) -> Array:
        """f, shape (n, K)."""
        return np.asarray(X @ w.T) - (w @ self.mean if self.centred else 0.0) + b

    def _step(self, unlabeled: Any, slopes: Array, ridge: float, ratio: float, steps: Any) -> None:
        """One subgradient step, from some unlabelled points and labelled ones that are drawn, and the average of it."""
        w, b = self.w, self.b
        gradient, shift = ridge * w, np.zeros(len(w))
        if self.kept is not None:
            X, signs = self.kept
            drawn = self.rng.choice(X.shape[0], min(X.shape[0], self.of_labeled * self.many), replace=False)
            f, y = self._outputs(X[drawn], w, b), signs[:, drawn].T
            pull = y * self.labeled.supergradient(y * f) / len(drawn)
            gradient, shift = self._pulled(gradient, shift, X[drawn], pull)
        if len(slopes) and self.formulation.unlabeled is not None:
            f = self._outputs(unlabeled, w, b)
            pull = ratio * (self.convex.supergradient(f) + slopes) / len(slopes)
            gradient, shift = self._pulled(gradient, shift, unlabeled, pull)
        self.n_steps += 1
        divided, bound = steps
        shorter = 1 + ridge * self.n_steps / bound
        self.w = w - divided(gradient) / shorter
        if self.formulation.fit_intercept and not self.centred:
            self.b = b - shift / (bound * shorter)
        weight = (self.forgetting + 1) / (self.n_steps + self.forgetting)
        self.average += weight * (self.w - self.average)
        self.average_b = self.average_b + weight * (self.b - self.average_b)

    def _pulled(self, gradient: Array, shift: Array, X: Any, pull: Array) -> tuple[Array, Array]:
        """The gradient in w, shape (K, d), and in b with what some points add, of which ``pull`` are the slopes."""
        own = np.asarray((X.T @ pull).T)
        total = pull.sum(axis=0)
        if self.centred:
            own = own - np.outer(total, self.mean)
        return gradient + own, shift + total
