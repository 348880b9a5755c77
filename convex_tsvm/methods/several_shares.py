"""Shares of several classes together, from what supervised SVMs say of unlabelled points, and of labels left out.

Outputs of one class against the rest become probabilities of the classes by what they are at labels left out.  Under
other shares than those of the labels these probabilities are others (Bayes' rule), and the shares that explain the
outputs at unlabelled points best are found by turns (Saerens, Latinne and Decaestecker 2002).  How alike shares are to
be expected beforehand is learned from the same points: their prior is a Dirichlet distribution, symmetric, of unknown
concentration.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln, softmax

from ..formulations import tsvm
from ..problem import Array
from ..solvers.dual.small import SmallProblems
from .left_out import FewPoints, Inference, folds_of


def shares_together(
    points: FewPoints, signs: Sequence[Array], at_random: float, fit_intercept: bool
) -> tuple[Array, Array]:
    """The shares of all classes among the unlabelled points, and their standard deviations, shape (n_classes,).

    ``signs`` are +1, -1 and 0 for unlabelled points, shape (n,), of each class; ``at_random`` is the probability that
    labels were drawn from all points, so that their counts are evidence.  Where counts settle it nothing else is asked.
    """
    everything = np.array([float(np.sum(one[points.known] > 0)) for one in signs])
    counted, errors = _by_counts(everything, at_random, points.how)
    if errors.max() <= points.how.known:
        return counted, errors
    how, y = points.how, np.array([one[points.keep] for one in signs])
    known, unknown = np.flatnonzero(y[0]), np.flatnonzero(y[0] == 0)
    index = y[:, known].argmax(axis=0)
    counts = np.bincount(index, minlength=len(y)).astype(float)
    prior = (counts + how.at_random) / (counts + how.at_random).sum()
    left_out, found = np.full((len(known), len(y)), np.nan), []
    if points.gram is not None:
        fold = folds_of(index, how.parts)
        parts: Any = tsvm().parts
        small = SmallProblems(points.gram, parts, fit_intercept=fit_intercept, tol=how.tol, max_iter=how.max_iter)
        for part in range(fold.max() + 1):
            learned = y.copy()
            learned[:, known[fold == part]] = 0.0
            if not (learned > 0).any(axis=1).all():
                continue
            outputs = np.column_stack([small.svm(one, points.cost) for one in learned])
            left_out[fold == part] = outputs[known[fold == part]]
            found.append(outputs[unknown])
    judged = ~np.isnan(left_out[:, 0])
    probabilities = []
    if judged.any():
        scale, offsets = calibration(left_out[judged], index[judged], how)
        probabilities = [softmax(scale * one + offsets, axis=1) / prior for one in found]
    return _posterior(prior, at_random * everything, probabilities, how.judged_alike * int(judged.sum()), how)


def _by_counts(counts: Array, at_random: float, how: Inference) -> tuple[Array, Array]:
    """Mean and standard deviation of shares by counts of labels alone: a mixture, as they may say nothing."""
    parts = np.array([counts + how.at_random, np.full(len(counts), how.per_class)])
    weight, sums = np.array([at_random, 1 - at_random]), parts.sum(axis=1, keepdims=True)
    means = parts / sums
    mean = weight @ means
    return mean, np.sqrt(weight @ (means * (1 - means) / (sums + 1) + (means - mean) ** 2))


def calibration(
    outputs: Array, index: NDArray[np.intp], how: Inference, *, with_offsets: bool = True
) -> tuple[float, Array]:
    """a and b with which softmax(a f + b) are the most likely probabilities of the classes that labels are of.

    Without offsets b is 0.
    """
    rows = np.arange(len(index))

    def cost(parameters: Array) -> tuple[float, Array]:
        scale, offsets = np.exp(parameters[0]), parameters[1:]
        p = softmax(scale * outputs + offsets, axis=1)
        value = -float(np.log(p[rows, index] + 1e-12).sum())
        p[rows, index] -= 1.0
        penalty = 0.5 * how.sure_of_offsets * float(offsets @ offsets)
        penalty += 0.5 * how.sure_of_scale * (parameters[0] - 1) ** 2
        slope = scale * float((p * outputs).sum()) + how.sure_of_scale * (parameters[0] - 1)
        return value + penalty, np.append(slope, with_offsets * (p.sum(axis=0) + how.sure_of_offsets * offsets))

    found = minimize(cost, np.append(1.0, np.zeros(outputs.shape[1])), jac=True, method="L-BFGS-B").x
    return float(np.exp(found[0])), found[1:]


def _posterior(
    prior: Array, counts: Array, likelihoods: Sequence[Array], size: float, how: Inference
) -> tuple[Array, Array]:
    """Mean and standard deviation of shares; unlabelled points count as ``size`` labels together."""
    shares, n, each = prior.copy(), len(prior), np.geomspace(1.0, how.most_alike, 25)
    for _ in range(300):
        seen = counts.copy()
        for one in likelihoods:
            given = one * shares
            seen += size / len(likelihoods) * (given / given.sum(axis=1, keepdims=True)).mean(axis=0)
        a = each[:, None] + seen
        evidence = gammaln(n * each) - gammaln(a.sum(axis=1))
        evidence += (gammaln(a) - gammaln(each)[:, None]).sum(axis=1)
        weight, means = softmax(evidence), a / a.sum(axis=1, keepdims=True)
        before, shares = shares, weight @ means
        if np.abs(shares - before).max() < 1e-6:
            break
    variances = means * (1 - means) / (a.sum(axis=1, keepdims=True) + 1)
    return shares, np.sqrt(weight @ (variances + (means - shares) ** 2))
