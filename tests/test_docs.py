"""Code on the pages of the documentation runs as it stands there."""

import re
import textwrap
from pathlib import Path

import pytest

from convex_tsvm.verification.statements import PAPERS

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page):
    """The Python of a page, block by block."""
    source = (DOCS / f"{page}.rst").read_text(encoding="utf-8")
    found = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", source)
    return [textwrap.dedent(block) for block in found]


@pytest.mark.parametrize("page", ["index", "quickstart", "guide/fit", "guide/verify"])
def test_the_code_of_a_page_runs(page, capsys):
    names = {}
    assert blocks(page)
    for block in blocks(page):
        exec(compile(block, page, "exec"), names)


#: Pages that are written, not made.
PAGES = sorted([*DOCS.glob("*.rst"), *(DOCS / "guide").glob("*.rst")])

#: Pages that are made with the documentation, beside those of examples.
MADE = {"auto_examples/index", "statements/index"} | {
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
