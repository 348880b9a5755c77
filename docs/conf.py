"""Sphinx configuration."""

import convex_tsvm

project = "convex_tsvm"
copyright = "2026, the convex_tsvm developers"
release = convex_tsvm.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
}
autodoc_typehints = "none"
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
html_theme = "alabaster"


def _escape_bars(app, what, name, obj, options, lines):
    """Keep |t| from being read as a substitution of reStructuredText."""
    lines[:] = [line if line.lstrip().startswith(">>>") else line.replace("|", r"\|") for line in lines]


def setup(app):
    """Connect the hook."""
    app.connect("autodoc-process-docstring", _escape_bars)
