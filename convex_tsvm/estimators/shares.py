"""The shares of the classes among the unlabelled points, as an estimator infers them: ``balance="auto"``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from ..methods.shares import ShareEstimate, class_shares, infer_share
from ..problem import Problem
from .labels import Labels


def with_inferred_shares(first: Problem, labels: Labels, fit_intercept: bool, n_jobs: int | None) -> Labels:
    """The labels with the shares of their classes among the unlabelled points (:func:`~convex_tsvm.infer_share`).

    Parameters
    ----------
    first : Problem
        Of any class against the rest: points, kernel and costs.
    labels : Labels
    fit_intercept : bool
    n_jobs : int or None
        Classes at the same time.

    Returns
    -------
    Labels
    """
    known = ~labels.unlabeled if labels.weights is None else ~labels.unlabeled & (labels.weights > 0)
    counts = np.bincount(labels.index[known], minlength=len(labels.classes))
    plain = first.replace(balance=None, balance_sample=None)

    def infer(k: int) -> ShareEstimate:
        order = [k, *np.delete(np.arange(len(counts)), k)]
        return infer_share(plain.replace(y=labels.signs(k)), counts=counts[order].tolist(), fit_intercept=fit_intercept)

    jobs = min(effective_n_jobs(n_jobs), len(labels.positives))
    found = Parallel(n_jobs=jobs)(delayed(infer)(k) for k in labels.positives)
    errors = np.array([one.error for one in found])
    errors = np.repeat(errors, 2) if len(labels.classes) == 2 else errors
    return replace(labels, shares=class_shares(found), share_errors=errors, share_estimates=tuple(found))
