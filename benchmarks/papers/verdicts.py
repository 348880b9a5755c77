"""The verdicts of all experiments of a paper."""

from __future__ import annotations

import chapelle2008  # noqa: F401  (these five add their experiments)
import collobert2006  # noqa: F401
import dai2010  # noqa: F401
import debie2004  # noqa: F401
import sindhwani2006  # noqa: F401
from experiment import EXPERIMENTS

PAPERS = ("collobert2006", "chapelle2008", "sindhwani2006", "debie2004", "dai2010")


def verdicts(paper: str) -> list[dict[str, str]]:
    """Number, claim, verdict and detail of every table and figure of a paper."""
    found = []
    for one in EXPERIMENTS:
        if one.paper == paper:
            judged = one.judged()
            found.append({"number": one.number, "says": one.says, "verdict": judged.verdict, "detail": judged.detail})
    return found


def totals() -> tuple[int, int]:
    """How many printed figures are compared, and how many there are."""
    counts = [one.counts() for one in EXPERIMENTS]
    return sum(known for known, _ in counts), sum(printed for _, printed in counts)
