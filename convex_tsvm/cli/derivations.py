"""The command ``derive``: a formulation by its name, derived in proven steps, as text, LaTeX, HTML or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..formulations import build
from ..problem import Problem
from ..table import FORMULATIONS
from .files import say
from .options import option, read_assignment
from .requests import Reporting


def _kinds() -> tuple[str, ...]:
    """What can be derived."""
    from ..verification.derive import KINDS

    return KINDS


@dataclass(frozen=True, kw_only=True)
class Derive(Reporting):
    """Derive the dual of a formulation, or its problem, CCCP, balance, relaxation or bound, in proven steps."""

    takes = "FORMULATION"
    example = "convex-tsvm derive tsvm --of dual --formulation-option s=-0.3 --exercise sheet.ipynb"

    formulation: str = option("its name", ..., part="model", choices=lambda: tuple(FORMULATIONS))
    of: str = option("what is derived", "dual", part="model", choices=_kinds)
    formulation_option: Sequence[tuple[str, Any]] = option(
        "NAME=VALUE  an option of the formulation, such as loss=squared_hinge or fit_intercept=false", (), part="model",
        type=read_assignment, action="append",
    )  # fmt: skip
    latex: str | None = option("FILE  write it as LaTeX", part="written")
    html: str | None = option("FILE  write it as HTML, with formulas for MathJax", part="written")
    notebook: str | None = option("FILE  write it as a notebook (.ipynb), a step a cell", part="written")
    exercise: str | None = option("FILE  the same with the lines left out, to be filled in and graded", part="written")


def derive(request: Derive) -> int:
    """Print a derivation, and prove it."""
    from ..verification import derive as derived
    from ..verification.cells import write_notebook

    options = dict(request.formulation_option)
    # Costs and points have no influence on a derivation, which is for all of them.
    problem = Problem([[-1.0], [-0.5], [0.5], [1.0]], [-1, 0, 0, 1], C=1.0)
    made = derived(build(request.formulation, problem, **options).formulation, request.of)
    report = made.prove()
    lines = [str(made.first), *(str(one.after) for one in made)]
    figures = {"title": made.title, "proven": report.proven, "lines": lines, "how": [step.how for step in report.steps]}
    say(request, f"{made}\n\n{report}", figures)
    for path, text in ((request.latex, made.latex), (request.html, made.html)):
        if path is not None:
            Path(path).write_text(text() + "\n", encoding="utf-8")
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    code = f"ct.build({request.formulation!r}, ct.Problem([[-1.0], [-0.5], [0.5], [1.0]], [-1, 0, 0, 1], C=1.0){given})"
    for path, exercise in ((request.notebook, False), (request.exercise, True)):
        if path is not None:
            write_notebook(made.cells(f"ct.derive({code}.formulation, {request.of!r})", exercise=exercise), path)
    return 0 if report.passed else 1
