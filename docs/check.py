"""What the built pages lack: pictures of the gallery, pages of public names, targets of links.

    python docs/check.py          after sphinx-build, as ``make docs`` runs it

Exit status 1, and a line for each, if anything is missing.
"""

import inspect
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import sphinx_gallery
from sphinx.util.inventory import InventoryFile

import convex_tsvm as ct

DOCS = Path(__file__).parent
BUILT = DOCS / "_build"

#: Pages of the gallery that there are at least.
LEAST = 14


def pages_without_pictures():
    """Names of examples for which the gallery has drawn nothing."""
    images = DOCS / "auto_examples" / "images"
    names = sorted(path.stem for path in (DOCS.parent / "examples").glob("*.py"))
    return names, [name for name in names if not list(images.glob(f"sphx_glr_{name}_0*.svg"))]


def placeholder_thumbnails():
    """Gallery pages whose thumbnail is that of a page without pictures."""
    thumbnails = DOCS / "auto_examples" / "images" / "thumb"
    placeholder = (Path(sphinx_gallery.__file__).parent / "_static" / "no_image.png").read_bytes()
    return sorted(path.stem for path in thumbnails.glob("*.png") if path.read_bytes() == placeholder)


def names_without_pages():
    """Public names without a page of their own; of a module something must be documented."""
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


def main():
    """Print what is missing; 1 if anything is."""
    names, bare = pages_without_pictures()
    problems = [f"gallery page {name} has no picture" for name in bare]
    if len(names) < LEAST:
        problems.append(f"the gallery has {len(names)} pages; there must be {LEAST}")
    problems += [f"the thumbnail {name} is the placeholder" for name in placeholder_thumbnails()]
    problems += [f"public name {name} has no page" for name in names_without_pages()]
    problems += [f"{page} links to {link}, which is not there" for page, link in dead_links()]
    print("\n".join(problems) or f"{len(names)} gallery pages with pictures, {len(ct.__all__)} public names documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
