"""The rule of this benchmark: a result is judged by what is computed here from the function that a solver returns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

import convex_tsvm as ct
from convex_tsvm.instance import certify

from .task import Task


@dataclass(frozen=True, eq=False)
class Judge:
    """What recomputes values, violations, bounds and errors of results.

    Attributes
    ----------
    task : Task
    truth : array, shape (n,)
        True labels, 0 where none is known; no solver sees them.
    """

    task: Task
    truth: np.ndarray

    def __post_init__(self) -> None:
        formulation, problem = self.task.stated()
        object.__setattr__(self, "_instance", ct.Instance(formulation, problem))

    def __call__(
        self,
        *,
        bias: float,
        weights: np.ndarray | None = None,
        coefficients: np.ndarray | None = None,
        dual: np.ndarray | None = None,
        certificate: str | None = None,
        claimed_bound: float = np.nan,
    ) -> dict[str, float]:
        """The figures of a result.

        Parameters
        ----------
        bias : float
            b.
        weights : array, shape (d,), optional
            w, for the linear kernel.
        coefficients : array, shape (n,), optional
            a in f(x) = Σ a_i k(x_i, x) + b; one of the two is given.
        dual : array, shape (n,), optional
            Dual variables of the supervised problem, whose dual value is below the optimum of both formulations.
        certificate : path, optional
            A file of exact search.
        claimed_bound : float, optional
            A lower bound that a solver claims without a proof: it is shown, and counts for nothing.

        Returns
        -------
        dict
            ``value``: the objective at the function whose bias is moved so that the mean output is the one asked for;
            ``returned_value`` and ``violation``: the objective at the function as it came, and by how much its mean
            output is off; ``lower_bound`` and ``gap``: proven, or NaN; ``error``: the share of unlabelled points with a
            known truth on whose wrong side the function as it came is.
        """
        free, regularization = self._outputs(weights, coefficients)
        unlabeled, target = self.task.unlabeled, self.task.target
        off = 0.0 if target is None else float((free + bias)[unlabeled].mean()) - target
        value = self._value(free + bias - off, regularization)
        bound = max(self._bound_of_dual(dual), self._bound_of_certificate(certificate))
        return {
            "value": value,
            "returned_value": self._value(free + bias, regularization),
            "violation": abs(off),
            "lower_bound": bound if np.isfinite(bound) else np.nan,
            "gap": relative_gap(value, bound),
            "claimed_bound": claimed_bound,
            "claimed_gap": relative_gap(value, claimed_bound),
            "error": self._error(free + bias),
        }

    def _outputs(self, weights: np.ndarray | None, coefficients: np.ndarray | None) -> tuple[np.ndarray, float]:
        """The outputs without the bias, and ½ ‖w‖²."""
        if (weights is None) == (coefficients is None):
            raise ValueError("a result has weights or coefficients, and not both")
        if weights is not None:
            if self.task.sigma is not None:
                raise ValueError("weights are for the linear kernel; a kernel's function is told by its coefficients")
            w = np.asarray(weights, dtype=float).ravel()
            return np.asarray(self.task.X @ w).ravel(), 0.5 * float(w @ w)
        a = np.asarray(coefficients, dtype=float).ravel()
        outputs = self._instance.problem.apply_kernel(a)
        return outputs, 0.5 * float(a @ outputs)

    def _value(self, outputs: np.ndarray, regularization: float) -> float:
        return float(self._instance.objective(outputs, regularization))

    def _error(self, outputs: np.ndarray) -> float:
        judged = self.task.unlabeled[self.truth[self.task.unlabeled] != 0]
        wrong = np.where(outputs >= 0, 1.0, -1.0)[judged] != self.truth[judged]
        return float(wrong.mean()) if len(judged) else np.nan

    def _bound_of_dual(self, dual: np.ndarray | None) -> float:
        """The dual value of the supervised problem, less what rounding may have added.

        Unlabelled points never pay less than 0, so it is below every value of the S3VM too.
        """
        if dual is None:
            return -np.inf
        alone = self._instance.replaced(self._instance.formulation.supervised()).step()
        bound = certify(alone, np.asarray(dual, dtype=float), 0.0, 0.0).lower_bound
        return -np.inf if bound is None else float(bound)

    def _bound_of_certificate(self, path: str | None) -> float:
        """The bound that the independent checker proves from the file, which must be about this very problem.

        Without python-flint nothing is proven, and the bound does not count.
        """
        if path is None or find_spec("flint") is None:
            return -np.inf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            verdict = ct.prove_certificate(path, self._instance.formulation, self._instance.problem)
        return float(verdict.lower_bound) if verdict.holds else -np.inf


def relative_gap(value: float, bound: float) -> float:
    """(value - bound) / |value|, NaN without a bound."""
    return (value - bound) / max(abs(value), 1e-300) if np.isfinite(bound) else np.nan
