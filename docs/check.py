"""What the built pages lack: a gallery page without a picture of its own, a public name without an entry.

    python docs/check.py          after sphinx-build, as ``make docs`` runs it

Exit status 1, and a line for each, if anything is missing.
"""

import sys
from pathlib import Path

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
    return names, [name for name in names if not list(images.glob(f"sphx_glr_{name}_0*.png"))]


def names_without_entries():
    """Public names that no page documents; of a module something must be documented."""
    with (BUILT / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, target: target)
    kinds = ("py:class", "py:function", "py:exception", "py:data")
    entries = {entry for kind in kinds for entry in inventory.get(kind, {}) if entry.startswith("convex_tsvm.")}
    known = {entry.rpartition(".")[2] for entry in entries} | {entry.split(".")[1] for entry in entries}
    return sorted(name for name in ct.__all__ if not name.startswith("_") and name not in known)


def main():
    """Print what is missing; 1 if anything is."""
    names, bare = pages_without_pictures()
    problems = [f"gallery page {name} has no picture" for name in bare]
    if len(names) < LEAST:
        problems.append(f"the gallery has {len(names)} pages; there must be {LEAST}")
    problems += [f"public name {name} has no entry" for name in names_without_entries()]
    print("\n".join(problems) or f"{len(names)} gallery pages with pictures, {len(ct.__all__)} public names documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
