"""A course of eight lessons: statements of the papers as sheets, which a class fills in and has graded."""

import ast
import inspect
import io
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...kernels import RBF, Precomputed
from ...validation import integer
from ..answers import Grade, answered, apart, hint
from ..derivation import Derivation
from ..report import code_cell, text_cell
from .statement import Proven, Statement
from .statement import paper as named


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
    parts = [bare(inspect.getsource(function)) for function in helpers(statement)]
    body = statement.claim
    if body.startswith("def "):
        return "\n\n".join([*parts, re.sub(r"^def \w+", "def answer", bare(body))])
    if "\n" in body:
        body = f"(\n{textwrap.indent(body, ' ' * 8)}\n    )"
    taken = ", ".join(inspect.signature(statement.claimed).parameters)
    return "\n\n".join([*parts, f"def answer({taken}):\n    return {body}"])


def bare(source: str) -> str:
    """A function's code without annotations, whose names a notebook does not have."""
    source = textwrap.dedent(source).rstrip()
    node = ast.parse(source).body[0]
    if not isinstance(node, ast.FunctionDef):
        return source
    lines = source.splitlines()
    inner = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]
    cuts = [
        (one.lineno, one.col_offset + len(one.arg), one.annotation)
        for f in inner
        for one in (*f.args.args, *f.args.kwonlyargs)
    ]
    cuts += [(f.returns.lineno, lines[f.returns.lineno - 1].rindex(" ->"), f.returns) for f in inner if f.returns]
    for line, begin, annotation in sorted(cuts, key=lambda cut: cut[:2], reverse=True):
        if annotation is not None:
            text = lines[line - 1].encode()
            lines[line - 1] = (text[:begin] + text[annotation.end_col_offset :]).decode()
    return "\n".join(lines)


def introduced(statements: Sequence[Statement]) -> list[list[tuple[str, str]]]:
    """For each statement the quantities that none before it has used, such as "q.y", and what they are."""
    seen: set[tuple[type, str]] = set()
    found = []
    for one in statements:
        kind = type(one.quantities()[0])
        said = quantities_of(kind)
        new = [name for name in dict.fromkeys(re.findall(r"\bq\.\w+", solution(one))) if name in said]
        found.append([(name, said[name]) for name in new if (kind, name) not in seen])
        seen |= {(kind, name) for name in new}
    return found


def form_of(statement: Statement, name: str) -> str:
    """What a quantity is in Python, in brackets: its type, its shape, and what it begins with on the problem given."""
    value = getattr(statement.quantities()[0], name.removeprefix("q."))
    if callable(value):
        return f"(a function, `{name}({', '.join(inspect.signature(value).parameters)})`)"
    return f"({_form(value)})"


def _form(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        inner = " and ".join(map(_form, value)) if len(value) <= 2 else f"{len(value)}, each {_form(value[0])}"
        return f"a {type(value).__name__} of {inner}"
    if not isinstance(value, np.ndarray):
        return f"a number, here {value:.4g}" if isinstance(value, (int, float)) else f"{value}"
    first = ", ".join(f"{one:.3g}" for one in value.ravel()[:3].tolist())
    return f"an array, shape {value.shape}, that begins {first}"


def quantities_of(kind: type) -> dict[str, str]:
    """What quantities of a class are, by names such as "q.y": comments of its ``__init__``, docstrings of methods."""
    made = inspect.getsource(kind).partition("    def __init__")[2].partition("\n    @")[0]
    found: dict[str, str] = {}
    for names, text in re.findall(r"^ +(self\.[^=\n]*?)(?:: [^=\n]+)? = .*?  # (.+)$", made, re.MULTILINE):
        found |= dict(zip((f"q.{name[5:]}" for name in names.split(", ")), text.split("; "), strict=True))
    for name, member in vars(kind).items():
        said = inspect.getdoc(member.func if isinstance(member, cached_property) else member)
        if not name.startswith("_") and said and not isinstance(member, classmethod):
            found[f"q.{name}"] = said.split("\n")[0].rstrip(".")
    return {name: text[0].upper() + text[1:] if text[0].isascii() else text for name, text in found.items()}


def cells(statements: Sequence[Statement], *, exercise: bool) -> list[dict[str, Any]]:
    """Statements in their order, an equation a cell: of a sheet, with blank right-hand sides, or of the key to it."""
    sides = [] if exercise else [side for one in statements for side in (*helpers(one), one.computed)]
    modules = dict.fromkeys(inspect.getmodule(side) for side in sides)  # what right sides need of them is imported
    imports = "".join(f"from {module.__name__} import *\n" for module in modules if module is not None)
    found = [code_cell(f"import cvxpy as cp\nimport numpy as np\nimport convex_tsvm as ct\n{imports}")]
    before = None
    for one, new in zip(statements, introduced(statements), strict=True):
        right = r"\;?" if exercise else one.right
        text = f"## {one.number}\n\n{one.says} {one.remark}".rstrip()
        # How a quantity is computed may be what a sheet asks for, so that a sheet says only what it is.
        text += "".join(f"\n\n- `{name}`: {what} {form_of(one, name)}" for name, what in new)
        found.append(text_cell(f"{text}\n\n$${one.left} {one.relation_tex} {right}$$"))
        body = "def answer(q):\n    return ...  # the right-hand side" if exercise else solution(one)
        points = (
            ""
            if one.quantities == before
            else f"q = ct.papers.paper({one.paper!r})[{one.number!r}].quantities()[0]\n\n"
        )
        before = one.quantities
        found.append(code_cell(f"{points}{body}\n\nct.papers.grade({one.paper!r}, {one.number!r}, answer)"))
    return found


@dataclass(frozen=True)
class Lesson:
    """A lesson's title, and what its sheet is of: numbers of statements by paper, or derivations of a paper."""

    number: int
    title: str
    # Papers and numbers of their statements, or places among their derivations, counted from 0.
    items: tuple[tuple[str, str | int], ...]

    @property
    def statements(self) -> list[Statement]:
        """The statements of the sheet, in their order."""
        return [named(name)[number] for name, number in self.items if isinstance(number, str)]

    @property
    def derivations(self) -> list[tuple[str, Derivation]]:
        """The derivations of the sheet, each after the code that makes it."""
        return [
            (f"ct.papers.paper({name!r}).derivations[{place}]", named(name).derivations[place])
            for name, place in self.items
            if isinstance(place, int)
        ]

    def sheet(self, *, exercise: bool) -> list[dict[str, Any]]:
        """The cells of the lesson's sheet, or, without ``exercise``, of the key to it."""
        kind = "sheet" if exercise else "answer key"
        task = (
            "Write the missing right-hand side as a function of the quantities `q`. Running the cell grades it. "
            "A wrong answer gets a hint; the argument `reveal=True` of `grade` shows a number instead."
        )
        found = [text_cell(f"# Lesson {self.number}: {self.title} ({kind})\n\n{task if exercise else ''}".rstrip())]
        if self.statements:
            found += cells(self.statements, exercise=exercise)
        for made, derivation in self.derivations:
            found += derivation.cells(made, exercise=exercise)
        return found

    def marks(self, path: str | Path, seed: int | None = None) -> list[tuple[str, Grade]]:
        """What each answer of a filled-in sheet is of, and its grade, on problems that are drawn from a seed.

        The notebook's code is run.
        """
        graders: dict[str, Callable[[Any], Grade]] = {
            f"{one.paper} {one.number}": partial(grade, one.paper, one.number, seed=seed) for one in self.statements
        }
        for _, made in self.derivations:
            steps = range(1, len(made) + 1)
            graders |= {f"{made.title}, step {k}": partial(made.grade, k, seed=seed) for k in steps}
        found, answers = [], run_cells(path)
        for name, graded in graders.items():
            answer, failure = answers.get(name, (None, "no cell grades it"))
            found.append((name, Grade(False, failure) if failure else graded(answer)))
        return found


def run_cells(path: str | Path) -> dict[str, tuple[Any, str]]:
    """Run a notebook; for each cell that grades an answer, by what it is of, the answer, and how the cell failed."""
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{str(path)!r} is not a notebook: {error}") from None
    found: dict[str, tuple[Any, str]] = {}
    names: dict[str, Any] = {"__name__": "__main__"}
    for source in sources:
        names.pop("answer", None)
        failure = ""
        try:
            with redirect_stdout(io.StringIO()):
                exec(source, names)
        except (Exception, SystemExit) as error:  # what a student has written may raise anything
            failure = f"the cell raises {type(error).__name__}: {error}"
        if called := re.search(r"""papers\.grade\(["'](\w+)["'], ["']([^"']+)["']|derivation\.grade\((\d+)""", source):
            title = getattr(names.get("derivation"), "title", "")
            found[f"{title}, step {called[3]}" if called[3] else f"{called[1]} {called[2]}"] = (
                names.get("answer"),
                failure,
            )
    return found


#: The lessons, in their order.
_SHEETS: tuple[tuple[Any, ...], ...] = (
    (
        "What points without labels tell",
        ("chapelle2008", "eq. 2", "eq. 1", "eq. 3", "eq. 5", "Figure 2"),
        ("collobert2006", "eq. 1", "eq. 4"),
    ),
    (
        "Losses and their two parts",
        ("collobert2006", "eq. 8", "Figure 2", "Figure 1"),
        ("chapelle2008", "Figure 5"),
        ("sindhwani2006", "Figure 1.1"),
    ),
    (
        "The concave-convex procedure",
        ("collobert2006", "eq. 11", "Appendix A, β"),
        ("chapelle2008", "§4.1, effective loss"),
        ("collobert2006", 0),
    ),
    ("The dual of a step", ("collobert2006", 1, 2)),
    ("Annealing, and Newton's method in the primal", ("chapelle2008", 0, 1, 3)),
    ("A hundred thousand points: least squares on active sets", ("sindhwani2006", 0, 1, 2)),
    ("A relaxation, and bounds that hold", ("debie2004", 0, 1)),
    ("A formulation of one's own, and its optimum", ("dai2010", 0, 1)),
)
LESSONS = tuple(
    Lesson(number, title, tuple((name, item) for name, *items in sheet for item in items))
    for number, (title, *sheet) in enumerate(_SHEETS, 1)
)


def lesson(number: int) -> Lesson:
    """A lesson by its number; a ValueError if there is none of that number."""
    return LESSONS[integer("lesson", number, least=1, most=len(LESSONS)) - 1]


def grade(paper: str, number: str | float, answer: Any, *, reveal: bool = False, seed: int | None = None) -> Grade:
    """Grade a right-hand side of a numbered statement.

    The grade is true if the answer is right; if not it prints the kind of mistake, or a hint.

    Parameters
    ----------
    paper : str
        As in :func:`~convex_tsvm.papers.paper`.
    number : int, float or str
        An equation's number, or "Algorithm 2" and the like.
    answer : callable, number or array
        The right-hand side as a function of the paper's quantities ``q`` (their names are those of the derivation
        pages); or its value on the paper's problem of six points.
    reveal : bool
        Whether a value that the answer misses is shown, in place of a hint.
    seed : int, optional
        Draws the problems that the answer is tried on, in place of the two that everybody has: other points and costs.

    Examples
    --------
    >>> ct.papers.grade("collobert2006", 8, lambda q: np.maximum(0, 1 - q.z) - np.maximum(0, q.s - q.z))
    right: off by 0.0e+00, allowed 1e-06
    >>> ct.papers.grade("collobert2006", 8, lambda q: np.maximum(0, 1 - q.z) + np.maximum(0, q.s - q.z))
    not right: that is the formula with a mistake: a plus in place of the minus
    """
    statement = named(paper)[number]
    if isinstance(statement, Proven):
        return statement.made.grade(statement.step, answer, reveal=reveal, seed=seed)
    # A value is graded on the problem of six points, which is the first.
    problems = statement.quantities() if callable(answer) else statement.quantities()[:1]
    if seed is not None:
        integer("seed", seed, least=0)
        problems = [redrawn(q, np.random.default_rng([seed, k])) for k, q in enumerate(problems)]
    wanted = [np.asarray(statement.claimed(q), dtype=float) for q in problems]
    found = answered(answer, problems, [right.shape for right in wanted])
    if isinstance(found, Grade):
        return found
    off = max(apart(value, right) for value, right in zip(found, wanted, strict=True))
    if off <= statement.tolerance:
        return Grade(True, f"off by {off:.1e}, allowed {statement.tolerance:.0e}")
    if not all(np.isfinite(value).all() for value in found):
        return Grade(False, "the answer is not finite")
    known = {f"that is the formula with a mistake: {name}": side for name, side in statement.faults.items()}
    if statement.printed is not None:
        known[f"that is what the paper prints. {statement.misprint}"] = statement.printed
    for reason, side in known.items():
        others = [np.asarray(side(q), dtype=float) for q in problems]
        if all(a.shape == b.shape and apart(a, b) <= statement.tolerance for a, b in zip(found, others, strict=True)):
            return Grade(False, reason)
    k = max(range(len(found)), key=lambda k: apart(found[k], wanted[k]))
    return Grade(
        False, _difference(found[k], wanted[k]) or hint(answer, solution(statement), found[k], wanted[k], reveal)
    )


def redrawn(quantities: Any, rng: np.random.Generator) -> Any:
    """Quantities of a problem with points moved and costs multiplied by a factor; the same if they are of none."""
    problem = getattr(quantities, "problem", None)
    if problem is None:
        return quantities
    if isinstance(problem.kernel, Precomputed):  # as if points had two features more
        added = 0.5 * rng.normal(size=(problem.n, 2))
        X = problem.gram * RBF(1.0)(added, added)
    else:
        X = problem.X + 0.3 * problem.X.std(axis=0) * rng.normal(size=problem.X.shape)
    cost = rng.uniform(0.7, 1.4) * problem.cost
    own = list(inspect.signature(type(quantities)).parameters)[1:]
    changed = problem.replace(X=X, C=cost, C_unlabeled=cost)
    return type(quantities)(changed, *(getattr(quantities, name) for name in own))


def _difference(value: Any, right: Any) -> str:
    """What is to be seen of a difference: a sign, a factor or a constant; "" if it is none of them."""
    scale = float(np.abs(right).max(initial=0.0)) or 1.0
    if np.allclose(value, -right, atol=1e-6 * scale):
        return "it has the wrong sign"
    factor = float(np.vdot(value, right)) / max(float(np.vdot(right, right)), 1e-300)
    if factor and np.allclose(value, factor * right, atol=1e-6 * scale):
        return f"it is {factor:.4g} times what it should be"
    between = np.atleast_1d(value - right)
    if between.size > 1 and np.ptp(between) <= 1e-6 * scale:
        return f"it differs by the constant {between.flat[0]:.4g}"
    return ""
