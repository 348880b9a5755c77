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
from .statements.kept import Measured
from .statements.statement import Statement


def paper_checks(formulation: Formulation, problem: Problem, as_printed: Iterable[str] = ()) -> Iterator[Check]:
    """A check for every numbered statement about the formulation, as it is corrected or as it is printed.

    Parameters
    ----------
    formulation : Formulation
    problem : Problem
    as_printed : iterable of str
        Statements whose printed form is checked in place of the corrected one, such as "collobert2006 eq. 4".

    Raises
    ------
    ValueError
        If one of them has no misprint, or does not concern the formulation.
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
        claim = statement.printed if printed else statement.claimed
        assert claim is not None
        detail = statement.misprint if printed else ""
        try:
            off = statement.off_with(claim, [q])
        except ValueError:
            continue  # it asks more of a problem, as spectral methods ask kernel values that are similarities
        except cp.error.SolverError as error:
            off, detail = np.inf, f"{error} Scale the points."
        source = f"{_name(statement)}{', as printed' if printed else ''}"
        yield Check(_name(statement), statement.says, source, off, statement.tolerance, detail)


def _name(statement: Statement) -> str:
    return f"{statement.paper} {statement.number}"


def _concerning(formulation: Formulation, problem: Problem) -> Iterator[tuple[Statement, Any]]:
    """Statements, and the quantities of the problem that they are run on."""
    for name in PAPERS:
        made = paper(name)
        of = getattr(type(made.quantities()[0]), "of", None)
        q = None if of is None else of(formulation, problem)
        if q is None:
            continue
        for statement in made:
            checked = statement.claimed is not None and not isinstance(statement, Measured)
            if checked and statement.quantities == made.quantities:
                yield statement, q
