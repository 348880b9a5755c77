"""The papers' statements that concern a formulation, on a problem of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np

from ..formulations import Formulation
from ..problem import Problem
from .report import Check
from .statements import PAPERS, paper
from .statements.statement import Statement


def paper_checks(formulation: Formulation, problem: Problem, as_printed: Iterable[str] = ()) -> Iterator[Check]:
    """Yield a check for every numbered statement that concerns the formulation, in its corrected form.

    Statements named in ``as_printed``, such as "collobert2006 eq. 4", are checked in their printed form instead.
    ValueError is raised for one that has no misprint or does not concern the formulation.
    """
    wanted = {" ".join(name.split()): name for name in as_printed}
    concerned = list(_concerning(formulation, problem))
    misprinted = [_name(one) for one, _ in concerned if one.printed is not None]
    for name, given in wanted.items():
        if name not in misprinted:
            shown = ", ".join(misprinted) or "none for this formulation"
            raise ValueError(f"as_printed={given!r} must be a misprint that concerns the formulation: {shown}")
    for statement, q in concerned:
        printed = _name(statement) in wanted
        claim = statement.printed if printed and statement.printed is not None else statement.claimed
        detail = statement.misprint if printed else ""
        try:
            off = statement.off_with(claim, [q])
        except ValueError:
            continue  # the methods in it refuse this problem, as spectral ones do where a point's similarities sum to 0
        except cp.error.SolverError as error:
            off, detail = np.inf, f"{error} Scale the points."
        source = f"{_name(statement)}{', as printed' if printed else ''}"
        yield Check(_name(statement), statement.says, source, off, statement.tolerance, detail)


def _name(statement: Statement) -> str:
    return f"{statement.paper} {statement.number}"


def _concerning(formulation: Formulation, problem: Problem) -> Iterator[tuple[Statement, Any]]:
    """Yield the statements that concern the formulation, each with the quantities of the problem it is run on."""
    for name in PAPERS:
        made = paper(name)
        of = getattr(type(made.quantities()[0]), "of", None)
        q = None if of is None else of(formulation, problem)
        if q is None:
            continue
        for statement in made:
            if statement.quantities == made.quantities:
                yield statement, q
