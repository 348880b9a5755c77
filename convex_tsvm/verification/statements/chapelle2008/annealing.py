"""§3.3: deterministic annealing."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.optimize
from scipy.special import xlogy

from ....formulations import s3vm
from ....instance import AnnealedPrimal, Instance
from ....instance.probabilities import Probabilities
from ....losses import annealed, squared_hinge, symmetric_squared_hinge
from ....methods import annealing
from ....problem import Array
from . import PAPER
from .problem import objective
from .quantities import EXACT, Quantities, V


@PAPER.states(
    "eq. 7",
    r"\mathcal I'(w, b, p_u)",
    r"\mathbb E_{y_u \sim p_u}\,\mathcal I(w, b, y_u)",
    rests_on=("eq. 1",),
    claimed=lambda q: [mean_objective(q, one) for one in q.functions[:4]],
    faults={"p and 1 - p exchanged": lambda q: [mean_objective(q, one, other=True) for one in q.functions[:4]]},
)
def eq_7(q: Quantities) -> list[float]:
    """The expected objective is the sum of the losses weighted by p and 1 - p: against the mean over all labelings."""
    p = np.append((q.y > 0).astype(float), probabilities(q))
    return [q.instance.expected_objective(q.o(one), q.half(one), p) for one in q.functions[:4]]


def probabilities(q: Quantities) -> Array:
    """Some p_u."""
    return np.random.default_rng(1).uniform(0.1, 0.9, q.u)


def mean_objective(q: Quantities, function: tuple[Array, float], other: bool = False) -> float:
    """The mean of eq. 1 over all labelings, each with its probability."""
    p, total = probabilities(q), 0.0
    p = 1 - p if other else p
    for labels in q.labelings:
        chance = float(np.prod(np.where(labels[q.l :] > 0, p, 1 - p)))
        total += chance * objective(q, function, labels)
    return total


def best_p(q: Quantities, g: Array, T: float, *, sign: float = 1.0) -> Array:
    """Eq. 8 with the ν for which the balance holds."""

    def p(nu: float) -> Array:
        return 1 / (1 + np.exp(np.clip(sign * (g - nu) / T, -700, 700)))

    reach = float(np.abs(g).max()) + 50 * T
    nu = scipy.optimize.brentq(lambda nu: float(p(nu).sum()) - q.positive, -reach, reach, xtol=1e-14)
    return np.asarray(p(float(nu)))


def gaps(q: Quantities) -> Array:
    """g_i = C* [V(1, o_i) - V(-1, o_i)] at a function."""
    o = q.o(q.functions[1])[q.l :]
    return q.C_star * (V(1, o) - V(-1, o))


@PAPER.states(
    "eq. 8",
    r"\arg\min_{p_u} \mathcal I'' \text{ under the balance}",
    r"\frac{1}{1 + e^{(g_i - \nu)/T}},\quad g_i = C^*[V(1, o_i) - V(-1, o_i)]",
    rests_on=("eq. 7",),
    claimed=lambda q: best_p(q, gaps(q), 0.5),
    faults={
        "g with the wrong sign": lambda q: best_p(q, gaps(q), 0.5, sign=-1.0),
        "C* left out": lambda q: best_p(q, gaps(q) / q.C_star + 0.3 * gaps(q) ** 2, 0.5),
    },
)
def eq_8(q: Quantities) -> Array:
    """The best probabilities at a temperature under the balance, as the toolkit finds them."""
    return Probabilities.best(gaps(q), 0.5, q.positive).p


def annealed_value(q: Quantities, x: Array, primal: AnnealedPrimal, *, sign: float = 1.0) -> float:
    """min over p of I'' at the variables x, by CVXPY."""
    o = primal.outputs(x)
    g, p = q.C_star * (V(1, o[q.l :]) - V(-1, o[q.l :])), cp.Variable(q.u)
    goal = cp.Minimize(g @ p - sign * 0.5 * cp.sum(cp.entr(p) + cp.entr(1 - p)))
    least = float(cp.Problem(goal, [cp.sum(p) == q.positive]).solve(**EXACT))
    known = float(q.C * V(q.y, o[: q.l]).sum() + q.C_star * V(-1, o[q.l :]).sum())
    return primal.regularization(x) + known + least


def surface(q: Quantities) -> tuple[AnnealedPrimal, Array]:
    """The toolkit's S(w, b) at T = ½, and variables."""
    primal = AnnealedPrimal(Instance(s3vm().balanced_as(q.counted), q.counted)).cooled(0.5)
    return primal, np.random.default_rng(2).normal(size=primal.n_variables)


def gradient_of_minimum(q: Quantities, *, shift: float = 0.0) -> Array:
    """S and its gradient, by CVXPY and central differences."""
    primal, x = surface(q)
    steps, width = np.eye(len(x)), 1e-3
    slopes = [
        (annealed_value(q, x + width * one, primal) - annealed_value(q, x - width * one, primal)) / (2 * width)
        for one in steps
    ]
    return np.append(annealed_value(q, x, primal) + shift, slopes)


@PAPER.states(
    "eq. 9",
    r"(\mathcal S,\ \nabla\mathcal S) \text{ with } p_u \text{ held at its best}",
    r"\min_{p_u}\mathcal I''(w, b, p_u; T) \text{ and its differences}",
    rests_on=("eq. 8",),
    tolerance=1e-3,
    quantities=lambda: PAPER.quantities()[:1],
    claimed=lambda q: gradient_of_minimum(q),
    faults={"without the entropy": lambda q: gradient_of_minimum(q, shift=0.5 * q.u * np.log(2) / 2)},
)
def eq_9(q: Quantities) -> Array:
    """The gradient of the minimum over p is that with p fixed at the best one, under the balance, too."""
    primal, x = surface(q)
    value, gradient = primal.value_and_gradient(x)
    return np.append(value, gradient)


@PAPER.states(
    "Algorithm 2",
    r"T \text{ at which the toolkit anneals}",
    r"10\,C^*,\ T \leftarrow T / 1.5,\ \dots",
    rests_on=("eq. 8",),
    claimed=lambda q: 10 * q.C_star / 1.5 ** np.arange(len(temperatures(q))),
    faults={
        "R = 2": lambda q: 10 * q.C_star / 2.0 ** np.arange(len(temperatures(q))),
        "from C*": lambda q: q.C_star / 1.5 ** np.arange(len(temperatures(q))),
    },
)
def algorithm_2(q: Quantities) -> Array:
    """The temperature starts at 10 C* and falls by a constant factor, until probabilities are labels.

    The entropy that ends the loop is a sum here and a mean in Sindhwani and Keerthi (2006), with the same 10⁻⁶; the
    toolkit's is the mean.
    """
    return temperatures(q)


def temperatures(q: Quantities) -> Array:
    """The temperatures that the toolkit's annealing goes through."""
    found = annealing(s3vm(), q.counted)
    stages = [iteration.stage for iteration in found.history if iteration.stage]
    return np.array(list(dict.fromkeys(stages)))


@PAPER.states(
    "Figure 4",
    r"\text{the toolkit's loss at } T",
    r"-T\log\left(e^{-V(1,o)/T} + e^{-V(-1,o)/T}\right)",
    rests_on=("eq. 9",),
    claimed=lambda q: [soft_minimum(q.t, T) for T in (0.05, 0.5, 3.0)],
    faults={"plus T log 2": lambda q: [soft_minimum(q.t, T) + T * np.log(2) for T in (0.05, 0.5, 3.0)]},
)
def figure_4(q: Quantities) -> list[Array]:
    """The loss with the best probability, for several temperatures: it tends to that of Figure 2."""
    assert np.allclose(annealed(squared_hinge(), 1e-8)(q.t), symmetric_squared_hinge()(q.t), atol=1e-6)
    return [annealed(squared_hinge(), T)(q.t) for T in (0.05, 0.5, 3.0)]


def soft_minimum(t: Array, T: float) -> Array:
    """min over p of p V(1, t) + (1 - p) V(-1, t) - T H(p), in closed form."""
    return -T * np.logaddexp(-V(1, t) / T, -V(-1, t) / T)


@PAPER.states(
    "§3.3, T = 0 and T = ∞",
    r"p_u \text{ at very low and very high } T",
    r"\text{labels of the } ru \text{ smallest } g_i;\ r",
    rests_on=("eq. 8",),
    tolerance=1e-4,
    claimed=lambda q: [(np.argsort(np.argsort(gaps(q))) < q.positive).astype(float), np.full(q.u, q.r)],
    faults={
        "one half for all": lambda q: [np.full(q.u, 0.5), np.full(q.u, 0.5)],
        "the largest g": lambda q: [(np.argsort(np.argsort(-gaps(q))) < q.positive).astype(float), np.full(q.u, q.r)],
    },
)
def ends(q: Quantities) -> list[Array]:
    """At T = 0 the best p are labels, at T = ∞ all are r."""
    return [Probabilities.best(gaps(q), T, q.positive).p for T in (1e-6, 1e7)]


def entropy(p: Array) -> float:
    """H(p_u) as the paper has it."""
    return float(-(xlogy(p, p) + xlogy(1 - p, 1 - p)).sum())


@PAPER.states(
    "§3.3, entropy",
    r"u \text{ times the toolkit's mean entropy}",
    r"-\sum_i p_i\log p_i + (1-p_i)\log(1-p_i)",
    claimed=lambda q: entropy(probabilities(q)),
    faults={"base 2": lambda q: entropy(probabilities(q)) / np.log(2)},
)
def entropies(q: Quantities) -> float:
    """How uncertain labels are: a sum over points, in nats."""
    p = probabilities(q)
    return q.u * Probabilities(np.log(p / (1 - p))).entropy()
