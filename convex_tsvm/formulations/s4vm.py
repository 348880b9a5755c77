"""S4VM (Li and Zhou 2015, "Towards making unlabeled data never hurt"): labels that are safe.

Several different low-density separators are at hand, each with labels ŷ_t of the unlabelled points, and none is known
to be the right one.  Against separator t, labels y gain where they correct the supervised SVM's labels s, and lose
where they spoil them:

    gain_t(y) = number of points with y = ŷ_t ≠ s,     loss_t(y) = number of points with y ≠ ŷ_t = s,

and those are chosen that improve most on the SVM in the worst case, at a price λ for every point that is spoilt:

    max over y in {-1, +1}^u of  min over t of  J_t(y),     J_t(y) = gain_t(y) - λ loss_t(y).

The labels y = s have J_t = 0 for all t, so the value is never negative: if the truth is one of the separators, the
labels are no worse than the SVM's.
"""

from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from ..problem import Array
from ..validation import finite


@dataclass(frozen=True, eq=False)
class SafeLabels:
    """The problem of choosing safe labels for u points against T separators.

    Parameters
    ----------
    separators : array, shape (T, u)
        ŷ_t, of +1 and -1.
    supervised : array, shape (u,)
        s, the labels of the supervised SVM.
    penalty : float >= 0, default 3.0
        λ; the paper's is 3.

    Examples
    --------
    >>> separators = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, 1.0, 1.0, -1.0]])  # two of them, four points
    >>> game = ct.formulations.SafeLabels(separators, supervised=np.array([1.0, -1.0, 1.0, -1.0]))
    >>> labels = game.solve()
    >>> labels, game.worst(labels) >= 0
    (array([ 1.,  1.,  1., -1.]), True)
    """

    separators: Array
    supervised: Array
    penalty: float = 3.0

    def __post_init__(self) -> None:
        separators, supervised = np.atleast_2d(np.asarray(self.separators, float)), np.asarray(self.supervised, float)
        if supervised.ndim != 1 or separators.shape != (len(separators), len(supervised)) or len(separators) == 0:
            raise ValueError(
                f"separators has shape {separators.shape} and supervised {supervised.shape}; they must be (T, u) with "
                "T >= 1, and (u,)"
            )
        if not (np.isin(separators, (-1, 1)).all() and np.isin(supervised, (-1, 1)).all()):
            raise ValueError("separators and supervised must be labels +1 and -1")
        object.__setattr__(self, "separators", separators)
        object.__setattr__(self, "supervised", supervised)
        object.__setattr__(self, "penalty", finite("penalty", self.penalty, least=0))

    def worst(self, y: ArrayLike) -> float:
        """The least J_t(y), for labels y, shape (u,)."""
        agrees, differs = np.asarray(y) == self.separators, self.separators != self.supervised
        gain, loss = (agrees & differs).sum(axis=1), (~agrees & ~differs).sum(axis=1)
        return float((gain - self.penalty * loss).min())

    def solve(self, confidence: ArrayLike | None = None) -> Array:
        """The best labels, shape (u,), with :meth:`worst` of at least 0.

        Turning the label of a point away from s adds 1 to J_t if separator t differs from s there, and takes λ off if
        not.  So points at which the same separators differ are alike, and what is looked for is how many of each kind
        to turn: an integer program with a variable for each kind, of which there are at most min(2^T, u).  Of points
        that are alike those with more ``confidence``, shape (u,), are turned first.
        """
        differs = self.separators != self.supervised
        kinds, which, sizes = np.unique(differs, axis=1, return_inverse=True, return_counts=True)
        which = np.asarray(which).ravel()
        effect = np.where(kinds, 1.0, -self.penalty)
        n_turned = _most_in_the_worst_case(effect, sizes.astype(float))
        order = np.argsort(np.zeros(len(which)) if confidence is None else -np.asarray(confidence), kind="stable")
        y = self.supervised.copy()
        for kind, number in enumerate(n_turned):
            turned = order[which[order] == kind][:number]
            y[turned] = -y[turned]
        return y if self.worst(y) >= 0 else self.supervised.copy()


def _most_in_the_worst_case(effect: Array, sizes: Array, seconds: float = 20.0) -> Array:
    """Integers n, 0 <= n <= sizes, shape (n_kinds,), for which the least entry of effect·n is largest.

    They are the best that the integer program finds within its time, or 0 if it finds nothing.
    """
    n_separators, n_kinds = effect.shape
    found = scipy.optimize.milp(
        c=np.append(np.zeros(n_kinds), -1.0),
        constraints=scipy.optimize.LinearConstraint(np.column_stack([effect, -np.ones(n_separators)]), lb=0.0),
        integrality=np.append(np.ones(n_kinds), 0.0),
        bounds=scipy.optimize.Bounds(np.append(np.zeros(n_kinds), 0.0), np.append(sizes, np.inf)),
        options={"time_limit": seconds},
    )
    return np.zeros(n_kinds, dtype=int) if found.x is None else np.round(found.x[:-1]).astype(int)
