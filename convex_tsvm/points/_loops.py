"""Compiled products with sparse rows: each reads the rows from ``first`` to ``last - 1`` once.

A row whose weight is 0 is not read at all, so that the rows of an active set need no matrix of their own.

Indices are unsigned: a negative index would count from the end, and testing for that at every entry takes longer than
the product.  Sums are not reordered, as rows are short, and vectorized sums of short rows are slower.
"""

import numpy as np

from .compilation import njit, tell_of_compilation

tell_of_compilation()

OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}

ONE = np.uint64(1)


@njit(**OPTIONS)
def times(indptr, indices, data, w, first, last, out):
    """out_i = x_i · w."""
    for i in range(np.uint64(first), np.uint64(last)):
        total = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
            total += data[k] * w[indices[k]]
        out[i] = total


@njit(**OPTIONS)
def add_transposed(indptr, indices, data, q, first, last, out):
    """out += Σ q_i x_i."""
    for i in range(np.uint64(first), np.uint64(last)):
        weight = q[i]
        if weight != 0.0:
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                out[indices[k]] += weight * data[k]


@njit(**OPTIONS)
def add_curved(indptr, indices, data, h, p, shift, first, last, out):
    """out += Σ h_i (x_i · p + shift) x_i; the sum of h_i (x_i · p + shift)."""
    total = 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        weight = h[i]
        if weight != 0.0:
            change = shift
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                change += data[k] * p[indices[k]]
            change *= weight
            total += change
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                out[indices[k]] += change * data[k]
    return total


@njit(**OPTIONS)
def add_gram(indptr, indices, data, h, first, last, out):
    """The lower triangle of out += Σ h_i x_i x_iᵀ, for rows whose indices increase."""
    for i in range(np.uint64(first), np.uint64(last)):
        weight = h[i]
        if weight != 0.0:
            start = np.uint64(indptr[i])
            for a in range(start, np.uint64(indptr[i + ONE])):
                value, row = weight * data[a], out[indices[a]]
                for b in range(start, a + ONE):
                    row[indices[b]] += value * data[b]


@njit(**OPTIONS)
def add_squares(indptr, indices, data, h, first, last, out):
    """out_j += Σ h_i x_ij²."""
    for i in range(np.uint64(first), np.uint64(last)):
        weight = h[i]
        if weight != 0.0:
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                out[indices[k]] += weight * data[k] * data[k]


@njit(**OPTIONS)
def squared_norms(indptr, data, first, last, out):
    """out_i = ‖x_i‖²."""
    for i in range(np.uint64(first), np.uint64(last)):
        total = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
            value = float(data[k])
            total += value * value
        out[i] = total
