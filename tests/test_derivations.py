"""Derivations: each step an equation whose two sides are computed apart, from what a student has."""

import ast
import inspect

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.verification.statements import PAPERS
from convex_tsvm.verification.statements.leftsides import PACKAGE
from convex_tsvm.verification.statements.notebook import given, introduced, is_step, solution

pytestmark = pytest.mark.papers

STEPS = [one for name in PAPERS for one in ct.papers.paper(name).derivation]
PLAIN = [one for one in STEPS if is_step(one)]


def named(one):
    return f"{one.paper} {one.number}"


@pytest.mark.parametrize("name", PAPERS)
def test_a_derivation_has_ten_to_twenty_steps_and_six_points(name):
    made = ct.papers.paper(name)
    assert 10 <= len(made.derivation) <= 20
    assert len(made.derivation[0].quantities()) >= 2
    assert all(one.says.endswith(".") and one.left and one.right for one in made.derivation)


@pytest.mark.parametrize("one", STEPS, ids=named)
def test_a_step_holds_and_a_mistake_in_it_shows(one):
    outcome = one.run()
    assert outcome.verdict in ("holds", "false as printed"), outcome
    assert one.faults
    for fault, side in one.faults.items():
        assert one.off_with(side) > 10 * one.tolerance, fault


@pytest.mark.parametrize("one", STEPS, ids=named)
def test_the_left_side_of_a_step_is_refused(one):
    assert ct.papers.grade(one.paper, one.number, one.claimed)
    assert not ct.papers.grade(one.paper, one.number, one.computed)
    called = one.computed
    assert not ct.papers.grade(one.paper, one.number, lambda q: [called(q)][0])


@pytest.mark.parametrize("one", PLAIN, ids=named)
def test_a_step_needs_nothing_of_the_toolkit(one):
    """Its code has the names of NumPy, of CVXPY, of Python and of functions beside it, and so do its quantities."""
    module = inspect.getmodule(one.computed)
    new = [
        quantity.code
        for quantity in introduced(ct.papers.paper(one.paper).derivation)[
            ct.papers.paper(one.paper).derivation.index(one)
        ]
    ]
    for code in (solution(one), given(one), *new):
        if not code:
            continue
        names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        for name in names:
            value = getattr(module, name, None)
            if value is None or value in (np, np.ndarray) or getattr(value, "__name__", "") in ("cvxpy", "itertools"):
                continue
            file = inspect.getsourcefile(value) if callable(value) else ""
            assert not str(file).startswith(PACKAGE) or file == module.__file__, (named(one), name)
    # What is shown is what runs: with these names alone.
    names = {}
    exec("import itertools\nimport cvxpy as cp\nimport numpy as np", names)
    exec(f"{given(one)}\n\n{solution(one)}", names)
    q = one.quantities()[0]
    assert np.allclose(np.asarray(names["left"](q), dtype=float), np.asarray(one.computed(q), dtype=float), atol=1e-9)
    assert ct.papers.grade(one.paper, one.number, names["answer"])


@pytest.mark.parametrize("name", PAPERS)
def test_every_quantity_is_introduced_where_it_comes_in(name):
    made = ct.papers.paper(name)
    new = introduced(made.derivation)
    names = [quantity.name for one in new for quantity in one]
    assert len(names) == len(set(names))
    # None opens with a table of all of them.
    assert len(new[0]) <= 9
    for one in PLAIN:
        if one.paper == name:
            used = {
                node.attr
                for node in ast.walk(ast.parse(solution(one)))
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "q"
            }
            assert {f"q.{attribute}" for attribute in used} <= set(names), named(one)
