"""Proofs by the relaxation in label matrices (debie2004 §2)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .balls import EPS, Ball, demand, norm
from .labels import Labels, labels_of


def by_matrix(given: Labels, box: Any, proof: Any, cutoff: float) -> Any:
    """A bound by weak duality for the relaxation in label matrices (debie2004 §2); the box stays as it is."""
    demand(not given.bias and given.kind in ("none", "mean"), "label matrices take no free bias, no count, no targets")
    n = given.n
    demand(proof.vector.shape == (2 * n + 1,), f"a proof by label matrices must have {2 * n + 1} numbers")
    alpha, multipliers = proof.vector[:n], proof.vector[n:]
    y, free = labels_of(*box), np.flatnonzero(~np.isnan(multipliers[1:]))
    # Points that the proof takes as unknown may be known by now; those it takes as known must be.
    demand((np.delete(y, free) != 0).all(), "a proof takes a label as known that is not")
    y[free] = 0
    lam, alpha = np.append(multipliers[0], multipliers[1:][free]), np.clip(np.nan_to_num(alpha), 0, given.cap)
    B = np.zeros((n, 1 + len(free)))
    B[:, 0], B[free, 1 + np.arange(len(free))] = y * alpha, alpha[free]
    N, linear = Ball(B.T) @ (given.G @ B), given.o[free] * alpha[free]
    edge = np.zeros_like(N.mid), np.zeros_like(N.mid)
    for part, values in zip(edge, (linear.mid, linear.rad), strict=True):
        part[0, 1:] = part[1:, 0] = values
    N = N + Ball(*edge)
    # A Cholesky factorization that ends proves S ⪰ -(n + 2) EPS trace(S) (Higham 2002, Theorem 10.3).
    S, off = np.diag(lam) - (N.mid + N.mid.T) / 2, norm(N.rad + N.rad.T) + 2 * EPS * norm(np.abs(N.mid) + np.diag(lam))
    try:
        np.linalg.cholesky(S - ((len(S) + 3) * EPS * float(np.diag(S).sum()) + off) * np.eye(len(S)))
    except np.linalg.LinAlgError:
        return -math.inf, box
    total = Ball(lam).sum()
    value = (Ball(alpha) - given.o * (y * alpha)).sum() + given.constant - 0.5 * total
    if given.squared:
        value = value - (given.ridge * alpha * alpha).sum() * 0.5
    return float(value.low), box
