"""§3.3: deterministic annealing."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from ....formulations import s3vm
from ....instance.probabilities import Probabilities
from ....losses import annealed, squared_hinge
from ....methods import annealing
from ....problem import Array
from . import PAPER
from .quantities import Quantities, V


def probabilities(q: Quantities) -> Array:
    """Some p_u."""
    return np.random.default_rng(1).uniform(0.1, 0.9, q.u)


def gaps(q: Quantities) -> Array:
    """g_i = C* [V(1, o_i) - V(-1, o_i)] at a function."""
    o = q.o(q.functions[1])[q.l :]
    return q.C_star * (V(1, o) - V(-1, o))


PAPER.states(
    "Algorithm 2",
    r"T \text{ at which the toolkit anneals}",
    r"10\,C^*,\ T \leftarrow T / 1.5,\ \dots",
    says="The temperature starts at 10 C* and falls by a constant factor, until probabilities are labels.\n\n"
    "The entropy that ends the loop is a sum here and a mean in Sindhwani and Keerthi (2006), with the same 10⁻⁶; the"
    " toolkit's is the mean.",
    rests_on=("eq. 8",),
    computed=lambda q: temperatures(q),
    claimed=lambda q: 10 * q.C_star / 1.5 ** np.arange(len(temperatures(q))),
    faults={"R = 2": lambda q: 10 * q.C_star / 2.0 ** np.arange(len(temperatures(q)))},
)


def temperatures(q: Quantities) -> Array:
    """The temperatures that the toolkit's annealing goes through."""
    found = annealing(s3vm(), q.counted)
    stages = [iteration.stage for iteration in found.history if iteration.stage]
    return np.array(list(dict.fromkeys(stages)))


PAPER.states(
    "Figure 4",
    r"\text{the toolkit's loss at } T",
    r"-T\log\left(e^{-V(1,o)/T} + e^{-V(-1,o)/T}\right)",
    says="The loss with the best probability, for several temperatures; for one near 0 it is that of Figure 2.",
    rests_on=("eq. 9",),
    computed=lambda q: [annealed(squared_hinge(), T)(q.t) for T in (1e-8, 0.05, 0.5, 3.0)],
    claimed=lambda q: [soft_minimum(q.t, T) for T in (1e-8, 0.05, 0.5, 3.0)],
    faults={"plus T": lambda q: [soft_minimum(q.t, T) + T for T in (1e-8, 0.05, 0.5, 3.0)]},
)


def soft_minimum(t: Array, T: float) -> Array:
    """min over p of p V(1, t) + (1 - p) V(-1, t) - T H(p), in closed form."""
    return -T * np.logaddexp(-V(1, t) / T, -V(-1, t) / T)


PAPER.states(
    "§3.3, T = 0 and T = ∞",
    r"p_u \text{ at very low and very high } T",
    r"\text{labels of the } ru \text{ smallest } g_i;\ r",
    says="At T = 0 the best p are labels, at T = ∞ all are r.",
    rests_on=("eq. 8",),
    tolerance=1e-4,
    computed=lambda q: [Probabilities.best(gaps(q), T, q.positive).p for T in (1e-6, 1e7)],
    claimed=lambda q: [(np.argsort(np.argsort(gaps(q))) < q.positive).astype(float), np.full(q.u, q.r)],
    faults={"one half for all": lambda q: [np.full(q.u, 0.5), np.full(q.u, 0.5)]},
)

PAPER.states(
    "§3.3, entropy",
    r"u \text{ times the toolkit's mean entropy}",
    r"-\sum_i p_i\log p_i + (1-p_i)\log(1-p_i)",
    says="How uncertain labels are: a sum over points, in nats.",
    computed=lambda q: q.u * Probabilities(np.log(1 / (1 / probabilities(q) - 1))).entropy(),
    claimed=lambda q: -xlogy(p := probabilities(q), p).sum() - xlogy(1 - p, 1 - p).sum(),
    faults={"without 1 - p": lambda q: -xlogy(p := probabilities(q), p).sum()},
)
