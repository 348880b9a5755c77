"""Stochastic CCCP of linear functions: tangents at what was learned so far, averaged subgradient steps between them.

Collobert et al. (2006, §6.3) suggest it: "online and stochastic" forms of the CCCP for TSVMs.  A chunk of points is one
step of CCCP: the concave parts of the losses are replaced by their tangents at the averaged w, and the convex problem
that is left is descended by stochastic subgradients, whose iterates are averaged (Shamir and Zhang 2013).  What is
minimized is

    ½ μ ‖w‖² + mean over labelled points of ℓ(y f) + λ' mean over unlabelled points of ℓ*(f),

the TSVM divided by C L, with μ = 1 / (C L) and λ' = C* U / (C L) for L labelled and U unlabelled points.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
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
    average: Array = field(init=False)
    n_labeled: int = field(default=0, init=False)
    n_unlabeled: int = field(default=0, init=False)
    n_steps: int = field(default=0, init=False)
    # How subgradient steps are made.
    # Unlabelled points of a step, and the most labelled ones, which are drawn anew for each.
    of_unlabeled: ClassVar[int] = 64
    of_labeled: ClassVar[int] = 32
    most_kept: ClassVar[int] = (
        5000  # so many of the labelled points that have come are kept, drawn evenly: chunks need not have any
    )
    forgetting: ClassVar[float] = 3.0  # the average forgets early iterates like t^-(this + 1) (Shamir and Zhang 2013)

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
        self.mean, self.square, self.positives = np.zeros(d), 0.0, np.zeros(K)
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
        slopes = np.zeros((0, len(self.w)))
        if len(unknown):  # those of the concave part of the loss at the averaged functions, shape (n_unlabeled, K)
            outputs = self._outputs(X[unknown], self.average, self.average_b)
            slopes = np.asarray(self.formulation.parts[2][1].supergradient(outputs))
        order = self.rng.permutation(len(unknown))
        n_batches = max(1, -(-len(order) // self.of_unlabeled), -(-len(known) // self.of_labeled))
        for part in np.array_split(order, n_batches):
            self._step(X[unknown[part]], slopes[part], ridge, ratio)

    def count_labels(self, signs: Array) -> None:
        """Count labelled points by class, before they are learned from, as shares may be theirs."""
        self.n_labeled += int(np.count_nonzero(signs[0]))
        self.positives += (signs > 0).sum(axis=1)

    def _count(self, X: Any, unknown: NDArray[np.intp]) -> None:
        """The mean of the unlabelled points, and the mean square of all points, from that mean if w is."""
        new, n = len(unknown), X.shape[0]
        if new:
            self.n_unlabeled += new
            self.mean += (np.asarray(X[unknown].mean(axis=0)).ravel() - self.mean) * new / self.n_unlabeled
        square = float(X.multiply(X).sum() if is_sparse(X) else np.einsum("ij,ij->", X, X)) / n
        if self.centred:
            middle = np.asarray(X.mean(axis=0)).ravel()
            square = max(square - float(middle @ middle), 0.0) + float(np.sum((middle - self.mean) ** 2))
        self.square += (square - self.square) * n / max(n, self.n_labeled + self.n_unlabeled)

    def _keep(self, X: Any, signs: Array) -> None:
        """Keep labelled points, an even sample if there are many."""
        if X.shape[0] == 0:
            return
        if self.kept is not None:
            stack = sp.vstack if is_sparse(X) else np.vstack
            X, signs = stack([self.kept[0], X]), np.hstack([self.kept[1], signs])
        if X.shape[0] > self.most_kept:
            chosen = np.sort(self.rng.choice(X.shape[0], self.most_kept, replace=False))
            X, signs = X[chosen], signs[:, chosen]
        self.kept = (sp.csr_matrix(X) if is_sparse(X) else X), signs

    def _outputs(self, X: Any, w: Array, b: Array) -> Array:
        """f, shape (n, K)."""
        return np.asarray(X @ w.T) - (w @ self.mean if self.centred else 0.0) + b

    def _step(self, unlabeled: Any, slopes: Array, ridge: float, ratio: float) -> None:
        """One subgradient step, from some unlabelled points and labelled ones that are drawn, and the average of it."""
        w, b = self.w, self.b
        gradient, shift = ridge * w, np.zeros(len(w))
        if self.kept is not None:
            X, signs = self.kept
            drawn = self.rng.choice(X.shape[0], min(X.shape[0], self.of_labeled), replace=False)
            f, y = self._outputs(X[drawn], w, b), signs[:, drawn].T
            pull = y * self.labeled.supergradient(y * f) / len(drawn)
            gradient, shift = self._pulled(gradient, shift, X[drawn], pull)
        if len(slopes) and self.formulation.unlabeled is not None:
            f = self._outputs(unlabeled, w, b)
            pull = ratio * (self.convex.supergradient(f) + slopes) / len(slopes)
            gradient, shift = self._pulled(gradient, shift, unlabeled, pull)
        self.n_steps += 1
        first = 1 / (2 * (1 + ratio) * max(self.square, 1e-300))
        rate = 1 / (ridge * self.n_steps + 1 / first)
        self.w = w - rate * gradient
        if self.formulation.fit_intercept and not self.centred:
            self.b = b - rate * shift
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
