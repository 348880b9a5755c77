"""Checks of the SDP relaxation of debie2004 §2, and of the papers' statements that concern a formulation."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np

from ..formulations import Formulation
from ..instance import Labelling, check_relaxable, labelling
from ..modeling.label_matrix import DualSDP, FullSDP, ReducedSDP
from ..problem import Problem
from ..relaxations import LowerBoundBuilder, solve_low_rank, transduction_bound
from ..relaxations.safe_bounds import stationary_multipliers
from .report import Check
from .statements import PAPERS, paper
from .statements.concerned import few_points
from .statements.statement import Statement


def relaxation_checks(formulation: Formulation, problem: Problem, tol: float) -> Iterator[Check]:
    """Checks for a formulation that can be relaxed, on some of the points; none for another."""
    if formulation.constraints:  # they name points, of which few are left
        return
    try:
        search = labelling(formulation, few_points(problem))
        check_relaxable(search)
    except ValueError:
        return
    yield from _forms(search, tol)


def _forms(search: Labelling, tol: float) -> Iterator[Check]:
    full, reduced, dual = FullSDP(search), ReducedSDP(search), DualSDP(search)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            for model in (full, reduced, dual):
                model.problem.solve(solver="CLARABEL")
        except cp.error.SolverError as error:
            yield Check("reduced_form", "CVXPY solves the relaxation", "", np.inf, 0.0, f"{error} Scale the points.")
            return
    value = float(reduced.problem.value)
    scale = max(1.0, abs(value))
    point = solve_low_rank(search, tol=1e-6)
    whole = "Γ ⪰ 0 may be replaced by Γ̃ = [[1, gᵀ], [g, Γʷ]] ⪰ 0: the full and the reduced form have the same value"
    for name, says, source, other in (
        ("reduced_form", whole, "debie2004 Proposition 2.3", float(full.problem.value)),
        ("relaxation_duality", "the maximum over α and λ is the same", "debie2004 §2.1", float(dual.problem.value)),
        ("low_rank", "an S3VM with vectors for outputs is the same relaxation", "Burer, Monteiro 2003", point.value),
    ):
        # An interior-point solver gives no more digits on matrices that are singular at the optimum.
        detail = f"reduced form {value:.8g}, here {other:.8g}"
        yield Check(name, says, source, abs(other - value) / scale, max(tol, 1e-4), detail)
    beyond = max(0.0, float(np.abs(reduced.reduced()).max()) - 1)
    yield Check("entries", "entries of the label matrix are between -1 and 1", "debie2004 Corollary 2.1", beyond, 1e-4)
    multipliers = stationary_multipliers(search, reduced.alpha, reduced.reduced())
    bounds = {
        "reduced": transduction_bound(search, reduced.alpha, multipliers),
        "dual": transduction_bound(search, dual.alpha.value, dual.multipliers.value),
        "low rank": point.bound,
        "α = C / 2": transduction_bound(search, search.cost / 2, np.ones(1 + len(search.unknown))),
    }
    builder = LowerBoundBuilder(search.formulation, search.problem, relaxation="svm")
    labels = search.y.copy()
    labels[search.unknown] = np.where(reduced.scores >= 0, 1.0, -1.0)
    upper = builder.evaluate(labels)[0]
    says = "bounds from the dual points of all solvers, and from an arbitrary one, are below what the labels reach"
    off = max(0.0, *(bound - upper for bound in bounds.values())) / scale
    detail = ", ".join(f"{name} {bound:.6g}" for name, bound in bounds.items()) + f" <= {upper:.6g}"
    yield Check("safe_bounds", says, "debie2004 §2.3", off, 1e-9, detail)


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
