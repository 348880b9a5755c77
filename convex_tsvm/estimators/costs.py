"""What a fit costs, said before it begins: a warning where it will take minutes, with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..notice import warn

#: A fit that takes longer than this, in seconds, is worth a warning.
LONG = 120.0


@dataclass(frozen=True)
class Cost:
    """How the time of a fit grows.

    Attributes
    ----------
    what : str
        What is counted, as "points" or "unlabelled points".
    measured : int
        So many took ...
    seconds : float
        ... so long, on one core of a machine of 2024.
    power : float
        Time grows like their number to this power.
    instead : str
        What to do about it.
    """

    what: str
    measured: int
    seconds: float
    power: float
    instead: str

    def expected(self, count: int) -> float:
        """Seconds for so many."""
        return self.seconds * (count / self.measured) ** self.power


#: The relaxation in Γ by itself.
RELAXATION = Cost("unlabelled points", 300, 40.0, 2.7, "for more than some hundred, TransductiveSVC has no such limit")

#: Methods that factor the kernel matrix, and then take n² for every step.
FACTORED = Cost("points", 1500, 15.0, 2.0, "method='cccp' does not factor the kernel matrix")

#: All of a kernel with a graph in it.
DEFORMED = Cost("points", 5000, 6.0, 3.0, "LaplacianSVC needs the rows of labelled points only")


def warn_of_cost(name: str, cost: Cost, count: int, n_fits: int) -> None:
    """Warn if a fit is going to take long.

    Parameters
    ----------
    name : str
        Of the estimator.
    cost : Cost
    count : int
        Of what is counted.
    n_fits : int
        Classes that are learned one against the rest.
    """
    seconds = n_fits * cost.expected(count)
    if seconds < LONG:
        return
    times = f" for each of {n_fits} classes" if n_fits > 1 else ""
    whole = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
    warn(
        f"{name}: {count} {cost.what}{times} take about {whole}, and time grows like their number to the power of "
        f"{cost.power:g}; {cost.instead}. verbose=1 says how far it is",
    )
