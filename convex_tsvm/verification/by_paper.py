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

    Misprints named in ``as_printed``, such as "collobert2006 eq. 4", are checked in their printed form instead.  One
    that does not show on the problem, or is about another formulation, is checked on the paper's own problem, and the
    check says so.  ValueError is raised for a name that is none of a misprint.
    """
    wanted = {" ".join(name.split()): name for name in as_printed}
    misprints = {_name(one): one for name in PAPERS for one in paper(name) if one.printed is not None}
    for name, given in wanted.items():
        if name not in misprints:
            raise ValueError(f"as_printed={given!r} must be a misprint: {', '.join(misprints)}")
    concerned = list(_concerning(formulation, problem))
    for statement, q in concerned:
        if _name(statement) not in wanted:
            yield from _checked(statement, q)
    known = {_name(statement): q for statement, q in concerned}
    for name in wanted:
        yield _as_printed(misprints[name], known.get(name))


def _checked(statement: Statement, q: Any) -> Iterator[Check]:
    """The check of a statement in its corrected form; none if the methods in it refuse the problem."""
    name, detail = _name(statement), ""
    try:
        off = statement.off_with(statement.claimed, [q])
    except ValueError:
        return  # as spectral methods do where a point's similarities sum to 0
    except cp.error.SolverError as error:
        off, detail = np.inf, f"{error} Scale the points."
    yield Check(name, statement.says, name, off, statement.tolerance, detail)


def _as_printed(statement: Statement, q: Any | None) -> Check:
    """The check of a misprint, on the problem at hand, or on the paper's own where it cannot be seen on that."""
    assert statement.printed is not None
    where, off = "", 0.0
    if q is None:
        where = "It is not about this formulation; on the paper's own problem it fails. "
    else:
        try:
            off = statement.off_with(statement.printed, [q])
        except (ValueError, cp.error.SolverError):
            off = 0.0
        if off <= statement.tolerance:
            where = f"On these points it cannot be seen (off by {off:.1e}); on the paper's own problem it fails. "
    if where:
        off = statement.off_with(statement.printed)
    source = f"{_name(statement)}, as printed"
    return Check(_name(statement), statement.says, source, off, statement.tolerance, where + statement.misprint)


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
