"""Additions: convex terms and constraints of a formulation that are written in CVXPY."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..problem import Problem
from .groups import RowNumbers


@dataclass(frozen=True, eq=False)
class Addition:
    """A convex term, constraints, or both, in the weights, the bias and the outputs; :func:`addition` makes it.

    Attributes
    ----------
    function : callable
        ``function(w, b, f)``, which returns a convex expression, a list of constraints, or a pair of both.
    name : str
        How messages and reports call it.
    latex : str
        How LaTeX calls it, without dollars.

    Examples
    --------
    >>> import cvxpy as cp
    >>> ct.formulations.addition(lambda w, b, f: cp.square(b), name="small bias")
    addition('small bias')
    """

    function: Callable[[Any, Any, Any], Any]
    name: str
    latex: str
    numbers: RowNumbers = field(default_factory=RowNumbers, repr=False)

    def placed(self, problem: Problem) -> Addition:
        """Itself, if it may be used on a problem.

        A function of outputs, or of the coefficients of another space than the linear one, is one of the points that it
        was first used on.

        Raises
        ------
        ValueError
            If it is such a function, and the problem is one of other points, or of a part of them.
        """
        if self._is_by_row(problem) and self.numbers.places(problem, f"addition {self.name!r}") is not None:
            raise ValueError(
                f"addition {self.name!r} is a function of the outputs of all points, and cannot be one of some of them"
            )
        return self

    def _is_by_row(self, problem: Problem) -> bool:
        import cvxpy as cp

        d = problem.X.shape[1] if problem.is_linear else problem.n
        w, b, f = cp.Variable(d), cp.Variable(), cp.Variable(problem.n)
        try:
            found = self.function(w, b, f)
        except Exception:
            return True  # what is wrong is told where the problem is written
        parts = found if isinstance(found, (list, tuple)) else [found]
        parts = [one for part in parts for one in (part if isinstance(part, (list, tuple)) else [part])]
        used = {id(one) for part in parts if hasattr(part, "variables") for one in part.variables()}
        return id(f) in used or (not problem.is_linear and id(w) in used)

    def __repr__(self) -> str:
        return f"addition({self.name!r})"


def addition(
    function: Callable[[Any, Any, Any], Any], *, name: str | None = None, latex: str | None = None
) -> Addition:
    """A convex term, or constraints, of a formulation, written in CVXPY.

    With one, every method of convex steps goes through CVXPY: the objective, the trace, predictions and estimators
    have it as they have the rest.

    Parameters
    ----------
    function : callable
        ``function(w, b, f)`` is called with CVXPY expressions: the weights w, shape (d,), in the linear space, and in
        other spaces the coefficients a of f(x) = Σ a_i k(x_i, x) + b, shape (n,); the bias b; and the outputs f of all
        points of the problem, shape (n,), those without a loss included.  It returns a convex expression that is a
        number, a list of constraints, or a pair (expression, constraints).  Outputs at other points are
        ``X_new @ w + b`` in the linear space; in others give these points to the problem with a cost of 0.
    name : str, optional
        How messages and reports call it; the function's name by default.
    latex : str, optional
        How LaTeX calls it, without dollars.

    Returns
    -------
    Addition
        For ``Formulation(additions=[...])``.

    Examples
    --------
    A function that rises in its first feature, and is steady at points that nobody has labelled:

    >>> import cvxpy as cp
    >>> X = np.array([[-1.1, 0.2], [-1.0, 0.1], [-0.9, 0.3], [0.9, 0.2], [1.0, -0.1], [1.1, 0.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> model = ct.Formulation(
    ...     ct.hinge(),
    ...     ct.symmetric_ramp(-0.3),
    ...     additions=[
    ...         ct.formulations.addition(lambda w, b, f: [w[0] >= 0], name="rising"),
    ...         ct.formulations.addition(lambda w, b, f: 0.1 * cp.sum_squares(f[1:3]), name="steady"),
    ...     ],
    ... )
    >>> solution = ct.cccp(model, problem)
    >>> solution.status, solution.labels
    ('converged', array([-1., -1., -1.,  1.,  1.,  1.]))
    """
    if not callable(function):
        raise ValueError(f"function={function!r} must be a function of w, b and f")
    called = name if name is not None else getattr(function, "__name__", "addition")
    return Addition(function, called, rf"\text{{{called}}}(w, b, f)" if latex is None else latex)
