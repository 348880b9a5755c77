"""Sphinx configuration."""

import sys
import warnings
from pathlib import Path

import convex_tsvm
from convex_tsvm.table import FORMULATIONS, METHODS, SOLVERS

sys.path.insert(0, str(Path(__file__).parent))  # the order of the gallery is in tour.py, its looks in gallery.py

import slides

# Pictures are SVG: a PNG is the stamp of an example that has failed, which Sphinx-Gallery would keep once it runs.
for _stamp in (Path(__file__).parent / "auto_examples" / "images" / "thumb").glob("*.png"):
    _stamp.unlink()

project = "convex_tsvm"
copyright = "2026, the convex_tsvm developers"
release = convex_tsvm.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are drawn without a network
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "within_subsection_order": "tour.Tour",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("convex_tsvm",),
    "reference_url": {"convex_tsvm": None},
    "image_scrapers": ("gallery.scrape",),
    "reset_modules": ("matplotlib", "gallery.style"),
    # Axes and figures that a cell ends with are seen, and need not be named.
    "capture_repr": ("_repr_html_",),
}
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
exclude_patterns = ["_build", "_lite", "table.rst", "generated/backreferences"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "convex_tsvm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {
    "auto_examples/*": [],
    "generated/*": [],  # a list of all names beside each of them would take half of the build's time
    "statements/*": [],
    "course/*": [],
    "live/*": [],
    "quickstart": [],
    "results": [],
    "papers": [],
    "notation": [],
    "certificate": [],
    "related": [],
    "citing": [],
}
html_show_sourcelink = False


def _escape_bars(app, what, name, obj, options, lines):
    """Keep |t| from being read as a substitution of reStructuredText."""
    lines[:] = [line if line.lstrip().startswith(">>>") else line.replace("|", r"\|") for line in lines]


def _write_table(app):
    """The table of formulations, methods and solvers, as the code has it."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    heads = ("name", "what it is", "own options", "takes")
    rows = [("formulations", "", "", "")]
    for name, entry in FORMULATIONS.items():
        options = ", ".join(f"{option}={default!r}" for option, default in entry.defaults.items())
        rows.append((f"``{name}``", entry.summary, options, ""))
    rows += [("methods", "", "", "")]
    for name, entry in METHODS.items():
        solvers = ", ".join(entry.solvers) or "brings its own solver"
        rows.append((f"``{name}``", entry.summary, ", ".join(entry.options), solvers))
    rows += [("solvers", "", "", "")]
    for name, entry in SOLVERS.items():
        rows.append((f"``{name}``", entry.summary, ", ".join(entry.options), str(entry.load().takes)))
    for row in [heads, *rows]:
        lines += [f"   {'*' if k == 0 else ' '} - {cell}".rstrip() for k, cell in enumerate(row)]
    (Path(app.srcdir) / "table.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_statements(app):
    """The papers' statements, run now, and what was found in the papers."""
    from findings import write_findings
    from statements import write_pages

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_pages(Path(app.srcdir) / "statements")
        write_findings(Path(app.srcdir) / "statements")


def _write_lessons(app):
    """Sheets and keys of the course."""
    from lessons import write_lessons

    write_lessons(Path(app.srcdir) / "course")


def _write_live(app):
    """The pages that move."""
    from live import write_live

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_live(Path(app.srcdir) / "live")


def setup(app):
    """Connect the hooks."""
    app.connect("builder-inited", _write_statements)
    app.connect("builder-inited", _write_table)
    app.connect("builder-inited", _write_lessons)
    app.connect("builder-inited", _write_live)
    app.connect("autodoc-process-docstring", _escape_bars)
    app.connect("build-finished", slides.write_slides)
