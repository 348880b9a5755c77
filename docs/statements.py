"""Pages of the papers' statements: a card for each, made by running it; derivations, and their exercise sheets."""

import inspect
import json
import textwrap
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np

from convex_tsvm.modeling.line_breaks import broken_latex, rendered_length
from convex_tsvm.verification.report import write_notebook
from convex_tsvm.verification.statements import PAPERS, paper
from convex_tsvm.verification.statements.course import helpers
from convex_tsvm.verification.statements.statement import Proven

#: Verdicts in the order in which they are counted.
VERDICTS = {
    "holds": "as printed, or as the paper corrects itself elsewhere",
    "false as printed": "the printed form fails on the problem given, the corrected one holds",
    "reproduced": "a table or figure of experiments: all its figures are compared, and agree with ours",
    "differs": "all are compared, and some do not agree, with the reason",
    "unfinished": "some are not compared yet, or on fewer runs than the paper's (``make papers-compute`` goes on)",
    "not possible": "its data cannot be had; what it finds is compared on other data",
    "fails": "the statement as corrected fails: a bug",
}

#: A formula that looks longer than this many characters is broken over lines.
WIDEST = 70

HEAD = """.. list-table::
   :header-rows: 1

"""


def write_pages(folder):
    """Write all pages into a folder."""
    folder.mkdir(exist_ok=True)
    reports = [paper(name).run() for name in PAPERS]
    (folder / "index.rst").write_text(index(reports), encoding="utf-8")
    for report in reports:
        made = report.paper
        draw(report, folder / f"{made.name}.svg")
        (folder / f"{made.name}.rst").write_text(cards(report), encoding="utf-8")
        (folder / f"{made.name}_derivation.rst").write_text(derived(made), encoding="utf-8")
        write_notebook(made.cells(), folder / f"{made.name}_derivation.ipynb")
        write_notebook(made.cells(exercise=True), folder / f"{made.name}_exercise.ipynb")


def title(text, mark):
    """A heading."""
    return f"{text}\n{mark * len(text)}\n\n"


def index(reports):
    """The page that leads to the others, with the verdicts counted."""
    text = title("Statements of the papers", "=")
    text += (
        "Every numbered equation, algorithm and proposition of the five papers, and what was found in "
        "the text beside them, is a function here: it computes the two sides of the statement independently on a "
        "small problem, and the verdict comes from comparing them while this page is built. Each check has mistakes "
        "planted in it in the tests (``tests/test_statements.py``), and finds every one. Tables and figures of "
        "experiments stand at the end of each page, with the verdicts of the kept results of ``benchmarks/``. In the "
        "terminal: "
        "``convex-tsvm verify --paper collobert2006``; in Python: :func:`~convex_tsvm.papers.paper`.\n\n"
    )
    text += HEAD + row("", "paper", *VERDICTS)
    for report in reports:
        counts = [str(counts_of(report).get(verdict, 0) or "") for verdict in VERDICTS]
        text += row("", f":doc:`{report.paper.name}`", *counts)
    text += "\n" + "".join(f"- **{verdict}**: {said}.\n" for verdict, said in VERDICTS.items())
    text += "\n" + title("Derivations and exercise sheets", "-")
    text += (
        "The derivations of each paper, one line per cell; every step is proven for all points, labels, weights and "
        "multipliers. The sheets have the lines left out; what is filled in is graded at random points, and the "
        "mistake named where it can be told.\n\n"
    )
    for report in reports:
        name = report.paper.name
        text += f"- :doc:`{name}_derivation`: :download:`notebook <{name}_derivation.ipynb>`, "
        text += f":download:`exercise sheet <{name}_exercise.ipynb>`\n"
    pages = "".join(f"   {name}\n   {name}_derivation\n" for name in PAPERS)
    return text + f"\n.. toctree::\n   :hidden:\n\n{pages}"


def row(indent, *cells):
    """A row of a list table."""
    lines = [f"{'   * -' if k == 0 else '     -'} {cell}".rstrip() for k, cell in enumerate(cells)]
    return "\n".join(lines) + "\n"


def cards(report):
    """A card for every statement of a paper."""
    made = report.paper
    text = title(f"{made.name}: {made.title}", "=")
    text += f"Of {len(made)} statements {report.summary}. Arrows lead from each statement to those it rests on:\n\n"
    text += f".. image:: {made.name}.svg\n   :alt: Statements of {made.name}, with arrows to those they rest on\n\n"
    for outcome in report.outcomes:
        text += card(outcome, made)
    text += title("Tables and figures", "=")
    text += "The paper's figures beside those that ``benchmarks/`` have kept (``python benchmarks/papers``).\n\n"
    for one in experiments(made.name):
        text += title(f"{one['number']}: {one['verdict']}", "-") + f"{plain(one['says'])}\n\n{plain(one['detail'])}\n\n"
    return text


def experiments(name):
    """The tables and figures of a paper, with their verdicts."""
    kept = Path(__file__).parents[1] / "benchmarks" / "results" / "papers.json"
    return json.loads(kept.read_text(encoding="utf-8"))["facts"][name]


def counts_of(report):
    """How many items have each verdict, tables and figures too."""
    found = report.counts
    for one in experiments(report.paper.name):
        found[one["verdict"]] = found.get(one["verdict"], 0) + 1
    return found


def card(outcome, made):
    """What is claimed, in LaTeX and words; the code of both sides; both numbers; the verdict."""
    one = outcome.statement
    if isinstance(one, Proven):
        text = f".. _{label(one)}:\n\n" + title(f"{one.number}: {outcome.verdict}", "-")
        text += (
            f"{math(one.tex)}{plain(one.says)}\n\nA line of :doc:`{one.paper}_derivation`, proven ({outcome.detail}). "
        )
        return text + f"Planted mistakes that are refused: {plain('; '.join(one.faults))}.\n\n"
    text = f".. _{label(one)}:\n\n" + title(f"{one.number}: {outcome.verdict}", "-")
    text += display(one)
    text += f"{plain(one.says)} {plain(one.remark)}".rstrip() + "\n\n"
    if one.printed is not None:
        text += beside(one)
    relation = "equal to" if one.relation == "=" else one.relation
    called = "".join(f"\n\n\n{inspect.getsource(function).rstrip()}" for function in helpers(one))
    code = f"{one.code}\n\n# to be {relation}\n{one.claim}{called}"
    text += (
        code_block(code)
        + HEAD
        + row("", "computed", "claimed", "off by", "allowed", *(["as printed off by"] if one.printed else []))
    )
    figures = [shown(outcome.computed), shown(outcome.claimed), f"{outcome.off:.1e}", f"{one.tolerance:.0e}"]
    text += row("", *figures, *([f"{outcome.printed_off:.1e}"] if one.printed else [])) + "\n"
    if one.rests_on:
        links = (f":ref:`{number} <{label(made[number])}>`" for number in one.rests_on)
        text += f"Rests on {', '.join(links)}. "
    return text + f"Planted mistakes that it finds: {plain('; '.join(one.faults))}.\n\n"


def display(one):
    """A statement as a displayed formula, which is broken over lines where it is long."""
    if not one.right:
        return math(one.left)
    if rendered_length(one.tex) <= WIDEST:
        return math(one.tex)
    left, (first, *others) = (broken_latex(side, WIDEST) for side in (one.left, one.right))
    return math(aligned([*left, rf"\quad {one.relation_tex} {first}", *(rf"\qquad {line}" for line in others)]))


def aligned(lines):
    """Lines of LaTeX below each other; a single one as it is."""
    return lines[0] if len(lines) == 1 else r"\begin{aligned} &" + r" \\ &".join(lines) + r" \end{aligned}"


def math(latex):
    """A displayed formula."""
    return f".. math::\n\n   {latex}\n\n"


def beside(one):
    """What is wrong with a misprint, its printed form, the corrected one below it, and numbers that decide."""
    return _beside(one.paper, one.number)


@cache
def _beside(name, number):
    one = paper(name)[number]
    rows = [("as printed", one.printed_tex), ("corrected", one.corrected_tex)]
    text = f"{plain(one.misprint)}\n\n.. list-table::\n   :class: misprint\n   :widths: 16 84\n\n"
    for kind, latex in rows:
        first, *others = broken_latex(latex, WIDEST)
        whole = aligned([first, *(rf"\quad {line}" for line in others)])
        text += f"   * - {kind}\n     - .. math::\n\n          {whole}\n\n"
    found = one.counterexample()
    common = one.quantities == paper(one.paper).quantities
    where = "On a problem of its own" if not common else "On other points" if found.problem else "On six points"
    return text + f"   * - counterexample\n     - {where}, {found}.\n\n"


def label(one):
    """What links to a card."""
    return f"{one.paper}-{one.key}"


def plain(text):
    """Text in which nothing is markup."""
    for character in "\\*`|_":
        text = text.replace(character, "\\" + character)
    return text


def shown(value):
    """A number, or the first of several."""
    values = np.atleast_1d(np.asarray(value, dtype=float)).ravel()
    first = ", ".join(f"{number:.6g}" for number in values[:3])
    return first if len(values) <= 3 else f"{first}, … ({len(values)})"


def derived(made):
    """The derivations of a paper: lines, the lemmas that lead to them, and how each step is proven."""
    name = made.name
    text = title(f"The derivations of {name}", "=")
    text += f"{made.title}. :download:`This page as a notebook <{name}_derivation.ipynb>`, and "
    text += f":download:`as an exercise sheet <{name}_exercise.ipynb>` with the lines left out. In Python: "
    text += f"``ct.papers.paper({name!r}).derivations``.\n\n"
    for one in made.derivations:
        report = one.prove()
        text += title(one.title, "-") + plain(one.legend) + "\n\n"
        text += "".join(math(shown) for shown in (*one.functions_in_latex(), one.first.show(True)))
        for (head, why, formula), proof in zip(one.shown(), report.steps, strict=True):
            text += f"**{plain(head)}.** {plain(why)}\n\n{math(formula)}*{proof.how}*: {plain(proof.detail)}.\n\n"
    used = dict.fromkeys(step.lemma for one in made.derivations for step in one)
    text += title("The lemmas used", "-")
    return text + "".join(f"**{plain(one.title)}.** {plain(one.says)} *{plain(one.reason)}*\n\n" for one in used)


def code_block(code):
    """Python code."""
    return ".. code-block:: python\n\n" + textwrap.indent(code, "   ") + "\n\n"


#: Statements in a row of a graph, whose names are then large enough to be read.
IN_A_ROW = 7


def draw(report, path):
    """The graph of what rests on what: each statement above those that it rests on, at most IN_A_ROW in a row."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    edges = [(one.number, other) for one in report.paper for other in one.rests_on]
    names = [one.number for one in report.paper if any(one.number in edge for edge in edges)]
    level = dict.fromkeys(names, 0)
    for _ in names:
        for upper, lower in edges:
            level[upper] = max(level[upper], level[lower] + 1)
    rows = []
    for k in range(max(level.values()) + 1):
        own = [name for name in names if level[name] == k]
        count = -(-len(own) // IN_A_ROW)
        rows += [own[part::count] for part in range(count)]
    place = {name: ((k + 0.5) / len(one), height) for height, one in enumerate(rows) for k, name in enumerate(one)}
    figure = plt.figure(figsize=(11, 0.95 * len(rows) + 0.3))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(-0.6, len(rows) - 0.4))
    ax.axis("off")
    boxes = {}
    for name, (x, y) in place.items():
        verdict = report[name].verdict
        colour = {"holds": "#dbe9f6", "false as printed": "#fde0c5"}.get(verdict, "#e4e4ee")
        style = {"boxstyle": "round", "fc": colour, "ec": "0.5"}
        boxes[name] = ax.text(x, y, textwrap.fill(name, 15), ha="center", va="center", fontsize=11, bbox=style)
    figure.canvas.draw()
    extents = {name: box.get_bbox_patch().get_window_extent().padded(3) for name, box in boxes.items()}
    for upper, lower in edges:
        others = [extent for name, extent in extents.items() if name not in (upper, lower)]
        ends = ax.transData.transform([place[upper], place[lower]])
        bent = min(BENDS, key=lambda bend: (hits(ends, bend, others), abs(bend)))
        arrow = {"arrowstyle": "-|>", "color": "0.45", "connectionstyle": f"arc3,rad={bent}"}
        arrow |= {"patchA": boxes[upper].get_bbox_patch(), "patchB": boxes[lower].get_bbox_patch()}
        ax.annotate("", place[lower], place[upper], arrowprops=arrow)
    figure.savefig(path)
    plt.close(figure)


#: How much an arrow may be bent, relative to its length, to go around boxes.
BENDS = (0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.45, -0.45, 0.6, -0.6, 0.8, -0.8)


def hits(ends, bend, boxes):
    """How many points of a bent arrow are inside of boxes."""
    begin, end = ends
    across = np.array([end[1] - begin[1], begin[0] - end[0]])
    middle = (begin + end) / 2 + bend * across
    t = np.linspace(0, 1, 60)[:, None]
    curve = (1 - t) ** 2 * begin + 2 * t * (1 - t) * middle + t**2 * end
    return sum(box.contains(x, y) for x, y in curve for box in boxes)


if __name__ == "__main__":
    write_pages(Path(__file__).parent / "statements")
