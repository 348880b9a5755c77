"""The theory of dai2010 §4 as numbers: transductive Rademacher complexities, and an error bound.

The transductive Rademacher complexity of a class of functions on l labelled and u unlabelled points is

    R = (1/l + 1/u) E sup_f Σ_i σ_i f(x_i),   σ_i = +1, -1 or 0 with probability p, p and 1 - 2p,   p = l u / (l + u)²

(El-Yaniv and Pechyony 2007).  For the S3VM's class ½ ‖w‖² <= D it is at most 2 √(D tr K / (l u)) (Lemma 2).  For the
CMM's, ½ ‖w‖² + (C₃/2) (w·z_i)² <= D for every i, duality gives for every α >= 0

    sup = max_w w·s <= D Σ α + ½ sᵀ A⁻¹ s,   A = Σ_i α_i (I + C₃ z_i z_iᵀ),   s = Σ σ_i x_i,

and with E s sᵀ = 2 p Σ x_i x_iᵀ Lemma 3, corrected:

    R <= min over α >= 0 of  1/(l+u) Σ_i x_iᵀ A⁻¹ x_i + (l+u)/(l u) D Σ α_i.

With α = a μ, Σ μ = 1, the best a is known, and a convex function of μ is left.  A single supremum is √(2 D) times the
residual of a least-squares problem: half its square is the conjugate of ½ ‖w‖² + (C₃/2) max_i (w·z_i)² at s,
min over λ of ½ ‖s - Σ λ_i z_i‖² + ‖λ‖₁² / (2 C₃).
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

from ..kernels import kernel_factor
from ..parallel import blas_threads_for
from ..problem import Array, Problem
from ..solution import Solution
from ..validation import finite, integer


@dataclass(frozen=True)
class Complexity:
    """Transductive Rademacher complexity of a class of linear functions without bias."""

    bound: float  # dai2010 Lemma 2 (C₃ = 0) or Lemma 3
    estimate: float  # the mean over random signs
    error: float  # its standard error

    def __str__(self) -> str:
        return f"at most {self.bound:.4g}; {self.estimate:.4g} ± {self.error:.2g} by random signs"


@dataclass(frozen=True)
class ErrorBound:
    """The terms of dai2010 Corollary 4, which add up to a bound of the error on the unlabelled points."""

    margin_error: float  # mean over the labelled points of max(0, 1 - y f / γ), each at most 1
    complexity: float  # R / γ, with the bound of R
    slack: float  # c₀ Q √min(l, u), c₀ = √(32 ln(4e) / 3), Q = 1/l + 1/u
    confidence: float  # √(S Q ln(1/δ) / 2)

    @property
    def value(self) -> float:
        """Their sum; 1 and more says nothing."""
        return self.margin_error + self.complexity + self.slack + self.confidence

    def __str__(self) -> str:
        return (
            f"error on the unlabelled points <= {self.value:.4g} = {self.margin_error:.4g} (margin) + "
            f"{self.complexity:.4g} (complexity) + {self.slack:.4g} (size) + {self.confidence:.4g} (confidence)"
        )


def rademacher_complexity(
    problem: Problem, D: float, C_compact: float = 0.0, *, n_draws: int = 100, random_state: int = 0
) -> Complexity:
    """Transductive Rademacher complexity of the S3VM's or the CMM's functions on a problem's points.

    The extra points z of the paper are the problem's own, as it suggests.

    Parameters
    ----------
    problem : Problem
        Some hundred points.
    D : float > 0
        ½ ‖w‖² <= D, or ½ ‖w‖² + (C₃/2) f(x_i)² <= D for every point; ``C_compact`` is C₃, and 0 the S3VM's class.

    Examples
    --------
    >>> complexity = ct.papers.rademacher_complexity(problem, D=1.0)
    >>> complexity.estimate <= complexity.bound
    True
    """
    D, C_compact = finite("D", D, above=0), finite("C_compact", C_compact, least=0)
    n_draws = integer("n_draws", n_draws, least=2)
    l, u = _sizes(problem)
    Z = kernel_factor(problem.gram)
    p, Q = l * u / (l + u) ** 2, 1 / l + 1 / u
    signs = np.random.default_rng(random_state).choice([1.0, -1.0, 0.0], (n_draws, problem.n), p=[p, p, 1 - 2 * p])
    suprema = Q * np.sqrt(2 * D) * _residuals(Z, signs @ Z, C_compact)
    error = float(np.std(suprema, ddof=1) / np.sqrt(n_draws))
    return Complexity(_bound(problem, Z, D, C_compact), float(suprema.mean()), error)


def error_bound(solution: Solution, *, delta: float = 0.05, margin: float = 1.0, C_compact: float = 0.0) -> ErrorBound:
    """Bound of the share of unlabelled points on the wrong side (dai2010 Corollary 4; El-Yaniv and Pechyony 2007).

    It holds with probability 1 - δ over the choice of the labelled points among all, for all functions of a class
    fixed beforehand; D is taken from the solution here, which makes the figure an illustration.  A bias is not part of
    the classes, and is left out of the complexity.

    Parameters
    ----------
    solution : Solution
    delta : float in (0, 1), default 0.05
        δ.
    margin : float > 0, default 1.0
        γ.
    C_compact : float >= 0, default 0.0
        C₃ of the class, as in :func:`rademacher_complexity`.

    Examples
    --------
    >>> solution = ct.cccp(ct.cccp_tsvm(), problem)
    >>> bound = ct.papers.error_bound(solution, delta=0.05)
    >>> bound.value > 1  # six points are too few for it to say anything
    True
    """
    problem = solution.problem
    l, u = _sizes(problem)
    delta, margin = finite("delta", delta, above=0, below=1), finite("margin", margin, above=0)
    C_compact = finite("C_compact", C_compact, least=0)
    known, outputs = problem.labeled, solution.scores - solution.bias
    D = solution.regularization + 0.5 * C_compact * float((outputs**2).max())
    complexity = _bound(problem, kernel_factor(problem.gram), D, C_compact)
    Q = 1 / l + 1 / u
    S = (l + u) / (l + u - 0.5) / (1 - 0.5 / max(l, u))
    paid = np.clip(1 - problem.y[known] * solution.scores[known] / margin, 0, 1)
    return ErrorBound(
        margin_error=float(paid.mean()),
        complexity=complexity / margin,
        slack=float(np.sqrt(32 * np.log(4 * np.e) / 3) * Q * np.sqrt(min(l, u))),
        confidence=float(np.sqrt(S * Q * np.log(1 / delta) / 2)),
    )


def _sizes(problem: Problem) -> tuple[int, int]:
    """Numbers of labelled and unlabelled points."""
    if problem.n_unlabeled == 0:
        raise ValueError("y has no unlabelled point (no 0); a transductive complexity needs one")
    return problem.n_labeled, problem.n_unlabeled


def _bound(problem: Problem, Z: Array, D: float, C_compact: float) -> float:
    """The bound of Lemma 2 (C₃ = 0) or Lemma 3, with the best μ that was found."""
    l, u = _sizes(problem)
    return float(2 * np.sqrt(D * _least_energy(Z, C_compact) / (l * u)))


def _residuals(Z: Array, sums: Array, C_compact: float) -> Array:
    """Root of the least ‖s - Zᵀ λ‖² + ‖λ‖₁² / C₃ for every row s, with λ as a difference of two vectors >= 0."""
    # C₃ below this counts as 0: it would change no digit of the result, and its inverse overflows when it is squared.
    if C_compact < 1e-100:
        return np.asarray(np.linalg.norm(sums, axis=1))
    rows = np.vstack([np.hstack([Z.T, -Z.T]), np.full(2 * len(Z), C_compact**-0.5)])
    return np.array([scipy.optimize.nnls(rows, np.append(s, 0.0), maxiter=100 * len(Z))[1] for s in sums])


def _least_energy(Z: Array, C_compact: float) -> float:
    """Least Σ_k z_kᵀ (I + C₃ Σ_i μ_i z_i z_iᵀ)⁻¹ z_k over μ >= 0, Σ μ = 1, from above; any μ gives a bound.

    By the multiplicative algorithm of optimal designs: μ_i goes with the root of its share in the value, which never
    raises it (Yu 2010).
    """
    if C_compact == 0 or not Z.any():
        return float((Z**2).sum())
    mu, value, accuracy = np.full(len(Z), 1 / len(Z)), np.inf, 1e-3
    with blas_threads_for(len(Z)):
        for _ in range(2000):
            inner = scipy.linalg.cho_factor(np.eye(Z.shape[1]) + C_compact * (Z.T * mu) @ Z)
            solved = scipy.linalg.cho_solve(inner, Z.T)
            value = float((Z.T * solved).sum())
            # Minus the derivative by μ_i of the same with Σ μ in place of I's factor 1; Σ μ_i gains_i is the value.
            gains = (solved**2).sum() + C_compact * ((Z @ solved) ** 2).sum(axis=1)
            if gains.max() <= (1 + accuracy) * value:
                break
            # Weights that vanish stay above the denormal numbers, with which arithmetic takes a hundred times as long.
            mu = np.maximum(mu * np.sqrt(gains / value), 1e-15)
            mu /= mu.sum()
    return value
