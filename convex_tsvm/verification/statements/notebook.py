"""A derivation as a notebook, an equation a cell; and the same as an exercise sheet, with right-hand sides left out."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from .statement import RELATIONS, Paper, Statement

#: Main derivations, by paper, in the order in which they are followed.
DERIVATIONS = {
    "collobert2006": tuple(f"eq. {number}" for number in range(12, 28)),
    "chapelle2008": ("eq. 14", "eq. 15", "eq. 16", "eq. 17", "eq. 18"),
    "sindhwani2006": tuple(f"eq. 1.{number}" for number in range(3, 10)),
    "debie2004": ("Proposition 2.1", "Proposition 2.2", "Proposition 2.3", "Proposition 4.1"),
    "dai2010": ("Algorithm 1", "Lemma 3"),
}


def derivation(paper: Paper) -> list[Statement]:
    """The statements of a paper's main derivation, in the order of :data:`DERIVATIONS`."""
    return [paper[number] for number in DERIVATIONS[paper.name]]


def helpers(statement: Statement) -> list[Callable[..., Any]]:
    """The functions in the paper's modules that the right side calls, directly or through others.

    Functions of the module ``quantities`` are left out, as a notebook has the quantities ``q`` themselves.
    """
    module = inspect.getmodule(statement.computed)
    beside = f"{__package__}.{statement.paper}."
    found: list[Callable[..., Any]] = []
    todo = [statement.claim]
    while todo:
        for name in sorted({node.id for node in ast.walk(ast.parse(todo.pop())) if isinstance(node, ast.Name)}):
            function: Any = getattr(module, name, None)
            where = getattr(function, "__module__", "")
            known = inspect.isfunction(function) and where.startswith(beside) and not where.endswith(".quantities")
            if known and function not in found:
                found.append(function)
                todo.append(inspect.getsource(function))
    return found


def solution(statement: Statement) -> str:
    """The code of a function ``answer(q)`` that returns the right side, after the functions that it calls."""
    parts = [inspect.getsource(function) for function in helpers(statement)]
    body = statement.claim.replace("\n", "\n    ")
    return "\n\n".join(
        [*parts, f"def answer(q):\n    return {body}" if "\n" not in body else _bracketed(statement.claim)]
    )


def _bracketed(expression: str) -> str:
    inner = "\n".join(f"        {line}" for line in expression.splitlines())
    return f"def answer(q):\n    return (\n{inner}\n    )"


def quantities_of(paper: Paper) -> list[tuple[str, str]]:
    """Pairs of a quantity's name, such as "q.y", and what it is: from the docstrings of the paper's quantities."""
    kind = type(paper.quantities()[0])
    section = (inspect.getdoc(kind) or "").partition("Attributes\n----------\n")[2]
    found, names = [], ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            names, _, form = line.partition(" : ")
            names = ", ".join(f"q.{name}" for name in names.split(", "))
            found.append((names, form))
        elif line.strip():
            found[-1] = (names, f"{found[-1][1]}. {line.strip()}")
    for name, member in vars(kind).items():
        said = inspect.getdoc(member.func if isinstance(member, cached_property) else member)
        if not name.startswith("_") and said and not isinstance(member, classmethod):
            call = "()" if inspect.isfunction(member) else ""
            found.append((f"q.{name}{call}", said.split("\n")[0]))
    return found


def notebook(paper: Paper, *, exercise: bool = False) -> dict[str, Any]:
    """A paper's main derivation on its problem of six points, as the contents of an .ipynb file.

    An ``exercise`` has the right-hand sides left out, to be filled in and graded.
    """
    statements = derivation(paper)
    sides = [side for one in statements for side in (*helpers(one), one.computed)]
    modules = dict.fromkeys(inspect.getmodule(side) for side in sides)
    imports = "".join(f"from {module.__name__} import *\n" for module in modules if module is not None)
    if exercise:  # these modules hold the answers
        imports = ""
    table = "\n".join(f"| `{name}` | {said} |" for name, said in quantities_of(paper))
    task = (
        "Fill in each right-hand side as a function of the quantities `q`, and run the cell: it is graded."
        if exercise
        else "Each cell has an equation, its right-hand side as code, and compares it with what the toolkit computes."
    )
    cells = [
        _markdown(f"# {paper.title} ({paper.name})\n\n{task}\n\n| name | what it is |\n|---|---|\n{table}"),
        _code(f"import numpy as np\nimport convex_tsvm as ct\n{imports}\nq = ct.paper({paper.name!r}).quantities()[0]"),
    ]
    for one in statements:
        right = r"\;?" if exercise else one.right
        cells.append(_markdown(f"## {one.number}\n\n{one.says}\n\n$${one.left} {RELATIONS[one.relation]} {right}$$"))
        body = "def answer(q):\n    return ...  # the right-hand side" if exercise else solution(one)
        cells.append(_code(f"{body}\n\nct.check({paper.name!r}, {one.number!r}, answer)"))
    return {
        "cells": cells,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write_notebook(paper: Paper, path: str | Path, *, exercise: bool = False) -> None:
    """Write :func:`notebook` to a file; ValueError if its name does not end in .ipynb."""
    if Path(path).suffix != ".ipynb":
        raise ValueError(f"{str(path)!r} must end in .ipynb")
    text = json.dumps(notebook(paper, exercise=exercise), ensure_ascii=False, indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "id": _name(text), "source": text}


def _code(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": {},
        "id": _name(text),
        "execution_count": None,
        "outputs": [],
        "source": text,
    }


def _name(text: str) -> str:
    """A cell's identifier, which the notebook format requires: the first 12 hex digits of its text's SHA-256."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:12]
