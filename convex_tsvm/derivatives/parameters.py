"""What of a formulation on a problem may be moved, by name, and what is known of a solution that moves with it."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from ..formulations import Formulation
from ..instance import Instance
from ..kernels import RBF, Polynomial
from ..losses.catalogue import remade
from ..problem import Array, Problem

#: A formulation and a problem for each value of a parameter.
Path = Callable[[float], tuple[Formulation, Problem]]


@dataclass(frozen=True, eq=False)
class Derivative:
    """How a solution moves with a parameter.

    Attributes
    ----------
    outputs : array, shape (n,)
        df/dθ at the training points.
    coefficients : array, shape (n,)
        da/dθ, where f(x) = Σ a_i k(x_i, x) + b; of points with equal rows of the kernel the sum alone has a meaning.
    bias : float
        db/dθ.
    w : array, shape (d,), or None
        dw/dθ, for the linear kernel.
    objective : float
        d(objective)/dθ.
    interval : (float, float)
        How far θ may go down and up before, to first order, an output reaches a kink of its loss, or leaves one.
    """

    outputs: Array
    coefficients: Array
    bias: float
    w: Array | None
    objective: float
    interval: tuple[float, float]

    @property
    def nearest_kink(self) -> float:
        """The smaller distance of both ends of the interval; 0 where left and right derivative may differ."""
        return min(-self.interval[0], self.interval[1])


class Parameter(NamedTuple):
    """A number, what there is ``at`` other values of it, and what is a large change."""

    value: float
    at: Path
    size: float = 1.0

    @property
    def step(self) -> float:
        """A change over which differences of a kernel miss as much by their width as by rounding."""
        return 6e-6 * self.size


def parameters_of(instance: Instance) -> dict[str, Parameter]:
    """C and C* if they are one number, the mean of a balance, numbers of the kernel, and of losses of the catalogue."""
    formulation, problem, kernel = instance.formulation, instance.problem, instance.problem.kernel
    kinds = formulation.kinds(problem)  # points of groups have costs and losses of their own
    has = {"labeled": bool((kinds < 2).any())}
    has["unlabeled"] = formulation.unlabeled is not None and bool((kinds == 2).any())
    given: dict[str, Any] = {"C": problem.C} if has["labeled"] else {}
    given |= {"balance": instance.target, **({"C_unlabeled": problem.C_unlabeled} if has["unlabeled"] else {})}
    found: list[tuple[str, Any, Any]] = [
        (name, value, lambda v, name=name: (formulation, problem.replace(**{name: v}))) for name, value in given.items()
    ]
    kernels: dict[str, tuple[Any, Any]] = {}
    if isinstance(kernel, RBF):
        kernels = {"sigma": (kernel.sigma, RBF), "gamma": (kernel.gamma, lambda v: RBF(gamma=v))}
    elif isinstance(kernel, Polynomial):
        for name in ("gamma", "coef0"):
            kernels[name] = getattr(kernel, name), lambda v, name=name: dataclasses.replace(kernel, **{name: v})
    found += [
        (name, value, lambda v, make=make: (formulation, problem.replace(kernel=make(v))))
        for name, (value, make) in kernels.items()
    ]
    for field in (name for name in ("unlabeled", "labeled") if has[name]):
        loss = getattr(formulation, field)
        for name, value in (getattr(loss, "made_by", None) or ("", {}))[1].items():

            def moved(v: float, field: str = field, loss: Any = loss, name: str = name) -> Any:
                changes: dict[str, Any] = {field: remade(loss, **{name: v})}
                return dataclasses.replace(formulation, **changes), problem

            found.append((f"{field}.{name}", value, moved))
    numbers = [one for one in found if isinstance(one[1], Real)]
    return {name: Parameter(float(value), at, max(abs(float(value)), 1e-3)) for name, value, at in numbers}


def parameter(known: dict[str, Parameter], name: str | Path) -> Parameter:
    """The parameter of a name, or of a path at 0; a loss's own without the loss is first that of unlabelled points."""
    if callable(name):
        return Parameter(0.0, name)
    for whole in (name, f"unlabeled.{name}", f"labeled.{name}"):
        if whole in known:
            return known[whole]
    raise ValueError(
        f"parameter={name!r} must be one of {', '.join(known)}, which are numbers that something is paid by here, or a "
        "function of h with what is at h"
    )
