"""Code on the pages of the documentation runs as it stands there, and prints what the pages say."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.data import load_data
from convex_tsvm.verification.statements import PAPERS

DOCS = Path(__file__).parents[1] / "docs"


#: Pages whose blocks of code run one after the other.
RUN = ("index", "quickstart", "guide/fit", "guide/verify", "guide/derivatives")


def blocks(page, language="python"):
    """The Python of a page, or what else its blocks are, block by block."""
    source = (DOCS / f"{page}.rst").read_text(encoding="utf-8")
    found = re.findall(rf"\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", source)
    return [textwrap.dedent(block) for block in found]


def printed(line):
    """The number that a line of code ends with in a comment, if it is all of the comment, or None."""
    found = re.search(r"#\s*(-?\d+(?:\.\d+)?)\s*$", line)
    return found and found.group(1)


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs(page, capsys):
    """An expression with a number beside it has that value, in as many digits."""
    names = {}
    assert blocks(page)
    for block in blocks(page):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            code, number = ast.get_source_segment(block, statement), printed(lines[statement.end_lineno - 1])
            if number is None or not isinstance(statement, ast.Expr):
                exec(compile(code, page, "exec"), names)
                continue
            digits = len(number.partition(".")[2])
            assert f"{eval(code, names):.{digits}f}" == number, code


def test_numbers_are_beside_code_that_runs_only():
    pages = [path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES]
    beside = {page for page in pages for block in blocks(page) if any(map(printed, block.splitlines()))}
    assert beside <= set(RUN)
    assert "index" in beside
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert not any(map(printed, readme.splitlines()))


def shown(page):
    """What a page shows as printed: lines without the command, where "..." stands for anything."""
    (block,) = blocks(page, "text")
    words = [word for line in block.splitlines() if not line.startswith("$") for word in line.split()]
    return re.compile(r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*?") for word in words), re.DOTALL)


def test_the_terminal_shows_what_the_page_on_verification_says(capsys):
    main(["verify", "--paper", "collobert2006"])
    assert shown("guide/verify").search(capsys.readouterr().out)


def test_a_primal_prints_as_the_page_on_teaching_says():
    data = load_data("two_moons")
    problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10)
    assert shown("guide/teach").search(str(ct.cccp_tsvm().primal(problem, np.ones(200))))


#: Pages that are written, not made.
PAGES = sorted([*DOCS.glob("*.rst"), *(DOCS / "guide").glob("*.rst")])

#: Pages that are made with the documentation, beside those of examples.
MADE = {"auto_examples/index", "statements/index", "live/index"} | {
    f"statements/{name}{kind}" for name in PAPERS for kind in ("", "_derivation")
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_link_to_files_that_there_are(path):
    """Links to pages of the gallery and to other pages, without building anything."""
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r":doc:`(?:[^`<]*<)?([^`>]+)>?`", text):
        place = (DOCS / target.lstrip("/")) if target.startswith("/") else path.parent / target
        name = place.relative_to(DOCS).as_posix() if place.is_relative_to(DOCS) else str(place)
        example = DOCS.parent / "examples" / f"{name.removeprefix('auto_examples/')}.py"
        assert place.with_suffix(".rst").exists() or example.exists() or name in MADE, target


@pytest.mark.parametrize("name", [name for name in ct.__all__ if hasattr(getattr(ct, name), "get_params")])
def test_every_parameter_of_an_estimator_has_an_entry_with_its_default(name):
    """The entries are made from a table, or are the class's own."""
    made = getattr(ct, name)
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", inspect.getdoc(made), re.DOTALL)[1]
    heads = [line for line in section.splitlines() if not line.startswith(" ")]
    names = [one for head in heads for one in head.partition(" :")[0].split(", ")]
    signature = inspect.signature(made).parameters
    assert sorted(names) == sorted(signature)
    for head in heads:
        default = signature[head.partition(" :")[0].split(", ")[0]].default
        if default is not None and " : " in head and default is not inspect.Parameter.empty:
            assert "default" in head, head


@pytest.mark.parametrize(
    ("html", "what"),
    [
        ('<td><ol class="arabic simple" start="4">\n<li>x</li>', "a list that begins in its middle"),
        ("<td><ul class='simple'><li></li></ul></td>", "an empty item of a list"),
        ('<div class="sphx-glr-script-out x"><pre>a\n\\begin{cases}</pre>', "LaTeX as printed text"),
        ("<ol><li>one</li></ol><div class='sphx-glr-script-out'><pre>1</pre></div><p>\\begin{cases}</p>", None),
    ],
)
def test_what_is_misread_is_found(html, what, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    check = importlib.import_module("check")
    monkeypatch.setattr(check, "BUILT", tmp_path)
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    assert check.misread() == ([("page.html", what)] if what else [])
