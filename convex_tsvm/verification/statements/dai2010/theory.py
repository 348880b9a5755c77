"""§4: transductive Rademacher complexities, and the error bound."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from ....problem import Array
from ...complexity import rademacher_complexity
from . import PAPER
from .quantities import Quantities

#: D of the classes.
RADIUS = 2.0


@PAPER.states(
    "Lemma 2",
    r"R_{l+u}(\mathcal H_D) \text{ by random signs}",
    r"2\sqrt{\tfrac{D}{lu}\sum_i \lambda_i}",
    relation="<=",
    claimed=lambda q: 2 * np.sqrt(RADIUS / (q.l * q.u) * np.linalg.eigvalsh(q.problem.gram).sum()),
    faults={"without the factor 2": lambda q: np.sqrt(RADIUS / (q.l * q.u) * np.trace(q.problem.gram))},
)
def lemma_2(q: Quantities) -> float:
    """The S3VM's class ½ ‖w‖² <= D has no larger complexity: the mean over signs, less four standard errors."""
    found = rademacher_complexity(q.problem, RADIUS, n_draws=4000)
    return found.estimate - 4 * found.error


PAPER.states(
    "Lemma 3",
    r"\text{the toolkit's bound of } R_{l+u}(\mathcal F_{D,C_3})",
    r"\min_{\alpha\ge0}\ \tfrac{1}{l+u}\sum_i x_i^\top K_\alpha x_i + \tfrac{l+u}{lu} D\sum_i\alpha_i,\quad"
    r" K_\alpha = \left(\sum_i\alpha_i (I + C_3 z_i z_i^\top)\right)^{-1}",
    says="The machine's class ½ ‖w‖² + (C₃/2)(w·z_i)² <= D has a smaller bound, the least over α.\n\n"
    "The paper has C₃ |f| beyond ε in eq. 8, and C₃ f² in this class.",
    rests_on=("Lemma 2",),
    tolerance=2e-3,
    computed=lambda q: rademacher_complexity(q.problem, RADIUS, q.C_3, n_draws=2).bound,
    claimed=lambda q: least_over_alpha(q),
    printed=lambda q: 0.0,
    printed_tex=r"\min_{\alpha\ge0}\ \tfrac{1}{l+u}\sum_i x_i K_\alpha x_i + \tfrac{lu}{(m+u)^2}\,D\sum_i\alpha_i,\quad"
    r" K_\alpha = \sum_i\alpha_i I + C_3\sum_i\alpha_i z_i^\top",
    corrected_tex=r"\min_{\alpha\ge0}\ \tfrac{1}{l+u}\sum_i x_i^\top K_\alpha x_i + \tfrac{l+u}{lu}\,D\sum_i\alpha_i,"
    r"\quad K_\alpha = \Big(\sum_i\alpha_i I + C_3\sum_i\alpha_i z_i z_i^\top\Big)^{-1}",
    misprint="K_{α,C₃} is the inverse of what is printed, with z_i z_iᵀ, and the factor of D Σ α is (l+u)/(lu), not"
    " lu/(m+u)²: as printed the value at α = 0 is 0.",
    faults={"without C₃": lambda q: least_over_alpha(q, compact=False)},
)


def least_over_alpha(q: Quantities, *, compact: bool = True) -> float:
    """Lemma 3's minimum, by CVXPY."""
    alpha = cp.Variable(q.n, nonneg=True)
    A = cp.sum(alpha) * np.eye(q.Z.shape[1]) + compact * q.C_3 * q.Z.T @ cp.diag(alpha) @ q.Z
    first = sum(cp.matrix_frac(x, A) for x in q.Z) / q.n
    return float(cp.Problem(cp.Minimize(first + q.n / (q.l * q.u) * RADIUS * cp.sum(alpha))).solve(solver="CLARABEL"))


@dataclass(frozen=True)
class Population:
    """Many points x = ±``size`` on a line with f(x) = x and margin γ = ``gamma``, the first ``l`` of them labelled.

    The share ``wrong`` of all points has an output of the wrong sign.
    """

    wrong: float
    size: float
    gamma: float
    l: int = 50_000
    u: int = 50_000

    def margins(self) -> Array:
        """y f(x) of all points, the labelled ones first, drawn at random."""
        n = self.l + self.u
        signs = np.where(np.arange(n) < self.wrong * n, -1.0, 1.0)
        return np.asarray(self.size * np.random.default_rng(0).permutation(signs))

    def bound(self, *, margin: float | None = None, printed: bool = False) -> float:
        """Corollary 4 with δ = 1/20, and D = ½ for w = 1."""
        l, u, gamma = self.l, self.u, self.gamma
        Q, S = (l + u) / (l * u), (l + u) / ((l + u - 0.5) * (1 - 0.5 / max(l, u)))
        xi = np.maximum(0, (gamma if margin is None else margin) - self.margins()[:l])
        complexity = 2 * np.sqrt(0.5 / (l * u) * (l + u) * self.size**2)
        size = np.sqrt(32 * np.log(4 * np.e) / 3) * Q * np.sqrt(min(l, u))
        confidence = np.sqrt((2 if printed else S / 2) * Q * np.log(20))
        return float(xi.sum() / (l * gamma) + complexity / gamma + size + confidence)


POPULATIONS = [
    Population(0.1, 2.0, 1.0),
    Population(0.4, 1.0, 1.0),
    Population(0.3, 0.001, 1e3),
    Population(0.0, 1.0, 0.5),
]


PAPER.states(
    "Corollary 4",
    r"P[y \ne \mathrm{sign} f(x)] \text{ on the unlabelled points}",
    r"\tfrac{1}{l\gamma}\sum_{i=1}^{l}\max(0, \gamma - y_i f(x_i)) + \tfrac{R}{\gamma} + c_0 Q\sqrt{\min(l,u)}"
    r" + \sqrt{\tfrac{S Q}{2}\ln\tfrac1\delta}",
    says="On 50 000 labelled and as many unlabelled points the error is below the bound, for few and many wrong "
    "labels.",
    relation="<=",
    rests_on=("Lemma 2",),
    quantities=lambda: POPULATIONS,
    computed=lambda q: float((q.margins()[q.l :] < 0).mean()),
    claimed=lambda q: q.bound(),
    printed=lambda q: q.bound(margin=1.0, printed=True),
    printed_tex=r"\tfrac{1}{n\gamma}\sum_{i=1}^{l}\max(0, 1 - y_i f(x_i)) + \dots",
    corrected_tex=r"\tfrac{1}{l\gamma}\sum_{i=1}^{l}\max(0, \gamma - y_i f(x_i)) + \dots",
    misprint="The ξ_i are those of margin γ, max(0, γ - y f): with γ > 1 those that are printed are too small, here"
    " with n = l. What n is the corollary does not say; it must be l.",
    faults={"without the margin errors": lambda q: q.bound(margin=-1e9)},
)
