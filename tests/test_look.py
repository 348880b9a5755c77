"""The look at the built pages finds what cannot be read; it needs Chromium, and is skipped where there is none."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("playwright")
DOCS = Path(__file__).parents[1] / "docs"

PAGE = """<html><head><style>{style}</style></head><body>
<div class="bd-header"><a class="navbar-brand">convex_tsvm</a><a class="search-button">Search</a></div>
<div class="bd-article" style="width: 600px">{article}</div></body></html>"""


SIDEBAR = '<div class="bd-sidebar-primary"><a>a_name_that_is_long</a></div>'

FAILED = """<div class="sphx-glr-script-out"><div class="highlight"><pre>Traceback (most recent call last):
ValueError: no</pre></div></div>"""


@pytest.fixture
def look(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    module = pytest.importorskip("look")
    if not any(map(shutil.which, module.BROWSERS)):
        pytest.skip("there is no Chromium")
    return module


@pytest.mark.parametrize(
    ("said", "style", "article"),
    [
        ("", "", "<p>A page that can be read.</p>"),
        ("wider than its box", "pre {overflow-x: auto}", f"<pre>{'x' * 300}</pre>"),
        ("higher than its box", "pre {max-height: 40px; overflow-y: scroll}", "<pre>1\n2\n3\n4\n5\n6\n7</pre>"),
        ("beyond the page's column", "p {width: 900px}", "<p>too wide</p>"),
        ("page wider than its window", "", '<div style="width: 3000px">very wide</div>'),
        ("formula not drawn", "", r'<div class="math">\[\alpha\]</div>'),
        ("formula not drawn", "", r"<figure><p>\[\alpha\]</p></figure>"),
        ("word broken", "td {width: 20px; overflow-wrap: anywhere}", "<table><tr><td>reproduced</td></tr></table>"),
        ("text beyond its picture", "", '<svg width="80" height="20"><text x="40" y="15">a long legend</text></svg>'),
        ("example that failed", "", FAILED),
        ("picture not there", "", '<img src="nowhere.png" width="40" height="40">'),
        (
            "formula with an error",
            "",
            '<div class="math"><mjx-container><mjx-merror>no</mjx-merror></mjx-container></div>',
        ),
        ("header item cut", ".navbar-brand {display: block; width: 30px; overflow: hidden}", "<p>below</p>"),
        ("sidebar item cut", "a {display: block; width: 20px; overflow: hidden}", SIDEBAR),
        ("header items overlap", ".search-button {position: absolute; left: 20px}", "<p>below</p>"),
    ],
)
def test_what_cannot_be_read_is_found(look, tmp_path, monkeypatch, said, style, article):
    monkeypatch.setattr(look, "BUILT", tmp_path)
    (tmp_path / "page.html").write_text(PAGE.format(style=style, article=article), encoding="utf-8")
    found = {what for _, _, elements in look.look(look.pages(), widths=(1400,)) for what, _, _ in elements}
    assert (said in found) if said else not found


def test_every_step_of_slides_is_looked_at(look, tmp_path, monkeypatch):
    """What is wrong on a later slide, of three, is found; the script of the slides shows one after the other."""
    monkeypatch.setattr(look, "BUILT", tmp_path)
    style, script = ((DOCS / "_static" / f"slides.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    sections = "<section><p>one</p></section><section>{}</section><section><p>three</p></section>"
    for said, second in (
        (set(), "<p>two</p>"),
        ({"page wider than its window", "beyond the page's column"}, "<div style='width: 3000px'>two</div>"),
        ({"slide higher than its window"}, "<div style='min-height: 2000px'>two</div>"),
    ):
        body = f"{sections.format(second)}<footer><output></output></footer>"
        page = f"<style>{style}</style>{body}<script>{script}</script>"
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        ((_, _, elements),) = look.look(look.pages(), widths=(1400,))
        assert {what for what, _, _ in elements} == said
