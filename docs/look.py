"""What cannot be read on the built pages: text and formulas that are cut off, and items of the header that overlap.

    python docs/look.py              after make docs; needs Chromium, or Google Chrome
    python docs/look.py papers.html  only pages whose name has this in it

Every page is rendered in headless Chromium without a network at four widths, and measured by a script in the page.
Exit status 1, and a line for each element, if there are any.
"""

import argparse
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

BUILT = Path(__file__).parent / "_build"

#: Widths of windows, in pixels: a telephone, a projector, a laptop, a desktop.
WIDTHS = (390, 1280, 1400, 1920)

#: Names under which browsers are installed.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

#: What is run in a page: it returns [what, where, by how many pixels] of each element that is cut off or overlaps.
MEASURE = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")

#: How many steps slides have; 1 for other pages.
STEPS = "() => Math.max(1, document.querySelectorAll('body > section, body > section .later').length)"


def browser_found():
    """The path of a browser; SystemExit if there is none."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    raise SystemExit(f"none of {', '.join(BROWSERS)} is installed")


def pages(part=""):
    """The built pages whose name has ``part`` in it."""
    made = [path for path in BUILT.rglob("*.html") if "_static" not in path.parts]
    return sorted(path for path in made if part in path.relative_to(BUILT).as_posix())


def look(paths, widths=WIDTHS):
    """Pairs of a page with a width, and what cannot be read there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_found(), args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        for path in paths:
            page.set_viewport_size({"width": widths[0], "height": 900})
            page.goto(path.resolve().as_uri(), wait_until="load")
            page.evaluate("() => window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => 0) : 0")
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                found = []
                for step in range(page.evaluate(STEPS)):
                    page.evaluate("step => { if (step) location.hash = step; }", step)
                    page.wait_for_timeout(60)
                    found += page.evaluate(MEASURE)
                yield path.relative_to(BUILT).as_posix(), width, found
        browser.close()


def main():
    """Print what cannot be read; 1 if there is anything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", default="", help="part of the pages' names")
    parser.add_argument("--json", help="file for what is found")
    options = parser.parse_args()
    paths, kept = pages(options.part), []
    if not paths:
        raise SystemExit(f"there are no built pages with {options.part!r} in their names: run  make docs  first")
    for name, width, found in look(paths):
        for what, where, by in found:
            kept.append((name, width, what, where, by))
            print(f"{name} at {width}: {what} by {by}: {where}")
    if options.json:
        Path(options.json).write_text(json.dumps(kept, indent=1), encoding="utf-8")
    print(f"{len(paths)} pages at {len(WIDTHS)} widths: {len(kept)} elements cut or overlapping")
    for what, count in Counter(what for _, _, what, *_ in kept).most_common():
        print(f"   {count} {what}")
    return 1 if kept else 0


if __name__ == "__main__":
    sys.exit(main())
