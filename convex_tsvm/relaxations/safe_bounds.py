"""Lower bounds that hold whatever a solver did: from any dual point, with its infeasibility repaired.

What rounding may have done is taken off (see :mod:`~convex_tsvm.relaxations.rounding`); :func:`least_eigenvalue` takes
off what the eigenvalue routine may be wrong by.
"""

import dataclasses

import numpy as np
import scipy.linalg

from ..instance.labelling import Labelling, balanced_direction
from ..problem import Array
from .rounding import EPS, SAFE_ROOM, UNDERFLOW, safe, zero_sum


def least_eigenvalue(S: Array) -> float:
    """A lower bound of the least eigenvalue of a symmetric matrix.

    LAPACK's eigenvalues are those of a matrix within a modest multiple of n ε ‖S‖ of S.
    """
    values = scipy.linalg.eigvalsh(S, check_finite=False)
    return float(values[0] - 10 * len(S) * EPS * np.abs(values).max(initial=0.0))


def transduction_bound(search: Labelling, alpha: Array, multipliers: Array) -> float:
    """A lower bound of the relaxation of debie2004 §2, hence of the S3VM's optimum.

    For every α in the domain of the dual of the SVM and every λ with Diag(λ) ⪰ Bᵀ Diag(α) G Diag(α) B =: N (the
    offsets added to its first row and column),

        - Σ c_i ℓ*(-α_i / c_i) - Σ_known α_i y_i o_i - ½ Σ λ_j

    is at most the SVM's value for every label matrix, since <N, Γ̃> <= <Diag(λ), Γ̃> = Σ λ_j for Γ̃ ⪰ 0 with ones on its
    diagonal.  α is moved into its domain, and λ is raised until the matrix inequality holds.

    Parameters
    ----------
    alpha, multipliers : arrays, shapes (n,) and (1 + m,)
        α and λ, approximately, for m groups of labels that are tied: u, if no links tie any.
    """
    alpha, value, doubt = into_domain(search, alpha)
    return _lowered(search, alpha, value, float(dominating(search, alpha, multipliers).sum()), doubt)


def dominating(search: Labelling, alpha: Array, multipliers: Array) -> Array:
    """λ near the multipliers given with Diag(λ) ⪰ N for the exact N, of which rounding errors are taken off.

    N is known to 2 τ, the largest row sum of its errors: those of the kernel times the α of both points, added up over
    the points with known labels, which share a row, and those of the offsets.
    """
    N = coupling(search, alpha)
    sizes = np.abs(search.basis).T @ (alpha * search.gram.scale)
    errors = (search.offset_error + 8 * EPS * np.abs(search.offset)) * alpha
    tau = (search.gram.error + (4 * search.n + 16) * EPS) * float(sizes.max(initial=0.0) * sizes.sum())
    return raised(N, np.nan_to_num(multipliers)) + 2 * (tau + float(errors.sum()))


def svm_bound(search: Labelling, gamma: Array) -> float:
    """A lower bound from γ = y ∘ α of the SVM of the labels known, for a loss that never increases and no free bias."""
    known = np.where(search.y == 0, 0.0, search.cost)
    alpha, value, doubt = into_domain(dataclasses.replace(search, cost=known), search.y * gamma)
    return _lowered(search, alpha, value, search.gram.most_square(search.y * alpha), doubt)


def _lowered(search: Labelling, alpha: Array, value: float, square: float, doubt: float) -> float:
    """value - Σ_known α_i y_i o_i - ½ square + constant, or less, for a ``value`` known up to ``doubt``."""
    taken = alpha * search.y * search.offset
    sizes = float(np.abs(taken).sum()) + abs(square) + abs(search.constant)
    doubt += (search.n + 8) * EPS * sizes + float(alpha @ search.offset_error) + search.constant_error
    return safe(value - float(taken.sum()) - 0.5 * square + search.constant - 2 * doubt - SAFE_ROOM * sizes - UNDERFLOW)


def into_domain(search: Labelling, alpha: Array) -> tuple[Array, float, float]:
    """α moved into the domain of the SVM's dual, - Σ c_i ℓ*(-α_i / c_i) there, and how far rounding may move that."""
    conjugate, used = search.loss.conjugate(), search.cost > 0
    if search.free_bias and search.n_positive is not None:
        alpha = _balanced(search, alpha, search.cost * min(-conjugate.lower, 1e150) * (1 - 4 * EPS))
    s = np.zeros(search.n)
    s[used] = -np.nan_to_num(alpha[used]) / search.cost[used]
    s[used] = np.clip(s[used], conjugate.lower, min(conjugate.upper, 0.0))
    values = search.cost[used] * conjugate(s[used])
    # A value near zero may be the difference of terms as large as the argument or its square, so these count as well.
    sizes = float(np.abs(values).sum() + (search.cost[used] * (np.abs(s[used]) + s[used] ** 2)).sum())
    return -search.cost * s, -float(values.sum()), (search.n + 16) * EPS * sizes


def _balanced(search: Labelling, alpha: Array, most: Array) -> Array:
    """α as a free bias and a number of labels ask for it: one a for all points without a label, Σ_known α_i y_i = -a q.

    The sum has no rounding error if one number stands for a q; then that for a is wrong by its own rounding alone.
    """
    alpha, unknown, signs = np.clip(np.nan_to_num(alpha), 0.0, most), search.unknown, search.y.copy()
    first = unknown[:1]
    if len(first):
        signs[first], most = float(search.unknown_sum or 0), np.where(search.y == 0, most[unknown].min(), most)
        alpha[unknown] = min(alpha[unknown].mean(), most[first[0]])
    sums = zero_sum(signs * alpha, np.minimum(signs * most, 0.0), np.maximum(signs * most, 0.0))
    alpha = np.divide(sums, signs, out=alpha, where=signs != 0)
    alpha[unknown] = alpha[first]
    return np.asarray(alpha)


def weighted(search: Labelling, alpha: Array, basis: Array) -> Array:
    """Bᵀ Diag(α) G Diag(α) B."""
    scaled = alpha[:, None] * basis
    return np.asarray(scaled.T @ search.kernel @ scaled)


def stationary_multipliers(search: Labelling, alpha: Array, reduced: Array) -> Array:
    """λ that makes an optimal Γ̃ stationary for α, (Diag(λ) - N) Γ̃ = 0; near the optimum, nearly."""
    return np.asarray(np.einsum("ij,ji->i", coupling(search, alpha), reduced))


def coupling(search: Labelling, alpha: Array) -> Array:
    """The matrix N of :func:`transduction_bound`, shape (1 + m, 1 + m), offsets included."""
    N = weighted(search, alpha, search.basis)
    linear = search.basis[:, 1:].T @ (alpha * search.offset)
    N[0, 1:] += linear
    N[1:, 0] += linear
    if search.unknown_sum is not None:
        # <v vᵀ, Γ̃> = 0 for the direction v that a number of labels gives: any multiple of v vᵀ may be taken off.  An
        # infinite one would be best; with a large one digits are lost.
        v = balanced_direction(search)
        N -= 1e5 * float(np.abs(N).max()) / float(v @ v) * np.outer(v, v)
    return np.asarray((N + N.T) / 2)


def raised(N: Array, multipliers: Array) -> Array:
    """λ with Diag(λ) ⪰ N: the multipliers given, shifted or scaled, whichever has the smaller sum."""
    doubt = (len(N) + 8) * EPS * float(np.abs(N).max(initial=0.0) + np.abs(multipliers).max(initial=0.0))
    shifted = multipliers + max(0.0, -least_eigenvalue(np.diag(multipliers) - N)) + doubt
    # A row of zeros needs no multiplier.
    used = np.abs(N).max(axis=1) > 0
    if not used.any() or not (multipliers[used] > 0).all():
        return np.asarray(shifted)
    root = 1 / np.sqrt(multipliers[used])
    part = -N[np.ix_(used, used)] * root * root[:, None]
    # Entries of the scaled matrix are rounded by 4 ε of their size.
    factor = -least_eigenvalue(part) + 4 * EPS * float(np.linalg.norm(part))
    scaled = np.where(used, max(factor, 0.0) * multipliers, 0.0) + doubt
    return np.asarray(shifted if shifted.sum() < scaled.sum() else scaled)
