"""A warning before a fit that will take minutes, from measured times, with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..notice import warn

#: A fit that takes longer than this, in seconds, is worth a warning.
WARNED_SECONDS = 120.0


@dataclass(frozen=True)
class Cost:
    """How the time of a fit grows: ``measured`` points took ``seconds``, and time grows with their number to ``power``.

    ``what`` says which points are counted, such as "unlabelled points", and ``instead`` what to do about a long fit.
    The seconds are those of one core of a machine of 2024.
    """

    what: str
    measured: int
    seconds: float
    power: float
    instead: str

    def expected(self, count: int) -> float:
        """Seconds for ``count`` points."""
        return self.seconds * (count / self.measured) ** self.power


#: The relaxation in label matrices.
LABEL_MATRICES = Cost(
    "unlabelled points", 300, 40.0, 2.7, "for more than some hundred, TransductiveSVC has no such limit"
)

#: Methods that factor the kernel matrix, and then take n² for every step.
FACTORED = Cost("points", 1500, 15.0, 2.0, "method='cccp' does not factor the kernel matrix")

#: The whole matrix of a kernel that a graph deforms.
DEFORMED = Cost("points", 5000, 6.0, 3.0, "LaplacianSVC needs the rows of labelled points only")


def warn_of_cost(name: str, cost: Cost, count: int, n_fits: int) -> None:
    """Warn in the name of an estimator if ``n_fits`` fits to ``count`` points take ``WARNED_SECONDS`` or more."""
    seconds = n_fits * cost.expected(count)
    if seconds < WARNED_SECONDS:
        return
    times = f" for each of {n_fits} classes" if n_fits > 1 else ""
    whole = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
    warn(
        f"{name}: {count} {cost.what}{times} take about {whole}, and time grows like their number to the power of "
        f"{cost.power:g}; {cost.instead}. verbose=1 says how far it is"
    )
