"""A derivation checked line by line: claims, figures, tolerances."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One claim with the figure that decides it.

    Attributes
    ----------
    name : str
        Short name, stable for programs.
    claim : str
        What is claimed, as a sentence.
    source : str
        Paper and equation.
    value : float
        By how much the claim fails; zero would be exact.
    tolerance : float
    detail : str
        Figures behind the value.

    Examples
    --------
    >>> import convex_tsvm as ct
    >>> check = ct.Check("half", "2 · ½ = 1", "arithmetic", value=abs(2 * 0.5 - 1), tolerance=1e-12)
    >>> check.passed
    True
    """

    name: str
    claim: str
    source: str
    value: float
    tolerance: float
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether the value is within its tolerance (never for NaN)."""
        return bool(self.value <= self.tolerance)


@dataclass(frozen=True)
class Report:
    """All checks of a formulation on a problem.

    Attributes
    ----------
    title : str
    checks : tuple of Check

    Examples
    --------
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], kernel=ct.RBF(1.0), C=10)
    >>> report = ct.verify(ct.cccp_tsvm(), problem)
    >>> report.passed, len(report.checks) > 10
    (True, True)
    """

    title: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"{name!r}; the checks are {', '.join(check.name for check in self.checks)}")

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        checks = [{**asdict(check), "passed": check.passed} for check in self.checks]
        return {"title": self.title, "passed": self.passed, "checks": checks}

    def __str__(self) -> str:
        lines = [self.title, "=" * len(self.title)]
        for number, check in enumerate(self.checks, 1):
            mark = "ok  " if check.passed else "FAIL"
            source = f"   [{check.source}]" if check.source else ""
            lines.append(f"{mark} {number}. {check.claim}{source}")
            lines.append(f"        off by {check.value:.1e} (allowed {check.tolerance:.0e})")
            lines += [f"        {line}" for line in check.detail.splitlines()]
        count = sum(check.passed for check in self.checks)
        lines.append(f"{count} of {len(self.checks)} checks passed")
        return "\n".join(lines)
