"""What the built pages lack: pictures of the gallery, pages of public names, targets of links; and what is misread.

    python docs/check.py          after sphinx-build, as ``make docs`` runs it

Exit status 1, and a line for each, if anything is missing.
"""

import inspect
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import convex_tsvm as ct

DOCS = Path(__file__).parent
BUILT = DOCS / "_build"

#: What is not meant as it is drawn, and how it is seen in HTML: a cell "(4)" becomes a list, for instance.
MISREAD = {
    "an empty item of a list": r"<li></li>",
    "a list that begins in its middle": r"<(td|dd)><ol[^>]* start=",
    "LaTeX as printed text": r"sphx-glr-script-out(?:(?!</pre>).)*\\(begin|frac)\{",
}

#: Pages of the gallery that there are at least.
LEAST = 14


def pages_without_pictures():
    """Names of examples for which the gallery has drawn nothing."""
    images = DOCS / "auto_examples" / "images"
    names = sorted(path.stem for path in (DOCS.parent / "examples").glob("*.py"))
    return names, [name for name in names if not list(images.glob(f"sphx_glr_{name}_0*.svg"))]


def stamped_thumbnails():
    """Gallery pages whose thumbnail is not their picture: a placeholder, or the stamp of an example that failed."""
    return sorted(path.stem for path in (DOCS / "auto_examples" / "images" / "thumb").glob("*.png"))


def names_without_pages():
    """Public names without a page of their own; of a module something must be documented."""
    from sphinx.util.inventory import InventoryFile

    with (BUILT / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, target: target)
    kinds = ("py:class", "py:function", "py:exception", "py:data")
    entries = {entry for kind in kinds for entry in inventory.get(kind, {}) if entry.startswith("convex_tsvm.")}
    known = {entry.rpartition(".")[2] for entry in entries} | {entry.split(".")[1] for entry in entries}
    modules = {name for name in ct.__all__ if inspect.ismodule(getattr(ct, name))}
    pages = {path.stem.removeprefix("convex_tsvm.") for path in (BUILT / "generated").glob("*.html")}
    return sorted(name for name in ct.__all__ if name not in known or name not in pages | modules)


class _Page(HTMLParser):
    """The links of a page, and what can be linked to on it."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = set(), set()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        self.links |= {found[key] for key in ("href", "src") if found.get(key)}


def dead_links():
    """Links inside the built pages that lead nowhere, as (page, link)."""
    pages = {}
    for path in set(BUILT.rglob("*.html")) - set((BUILT / "_static").rglob("*.html")):
        pages[path.resolve()] = _Page()
        pages[path.resolve()].feed(path.read_text(encoding="utf-8"))
    dead = []
    for path, page in pages.items():
        for link in page.links:
            scheme, host, target, _, anchor = urlsplit(link)
            if scheme or host:
                continue
            file = (path.parent / unquote(target)).resolve() if target else path
            missing = anchor and file in pages and unquote(anchor) not in pages[file].anchors
            if not file.exists() or missing:
                dead.append((path.relative_to(BUILT.resolve()).as_posix(), link))
    return sorted(dead)


def misread():
    """Pages with text that reStructuredText has taken for a list, or with LaTeX as printed output, as (page, what)."""
    found = []
    for path in sorted(BUILT.rglob("*.html")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(BUILT).as_posix()
        found += [(name, what) for what, kind in MISREAD.items() if re.search(kind, text, re.DOTALL)]
    return found


def main():
    """Print what is missing; 1 if anything is."""
    names, bare = pages_without_pictures()
    problems = [f"gallery page {name} has no picture" for name in bare]
    if len(names) < LEAST:
        problems.append(f"the gallery has {len(names)} pages; there must be {LEAST}")
    problems += [f"the thumbnail {name} is no picture of its page" for name in stamped_thumbnails()]
    problems += [f"public name {name} has no page" for name in names_without_pages()]
    problems += [f"{page} links to {link}, which is not there" for page, link in dead_links()]
    problems += [f"{page} has {what}" for page, what in misread()]
    print("\n".join(problems) or f"{len(names)} gallery pages with pictures, {len(ct.__all__)} public names documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
