"""The course in the browser: notebooks that install what Pyodide has, and a package that needs no threads."""

import ast
import importlib
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from convex_tsvm.deadline import in_background
from convex_tsvm.verification.statements.course import LESSONS

DOCS = Path(__file__).parents[1] / "docs"

#: What Pyodide 314.0 (Python 3.14) has of what the package needs, in the versions of its lock file.
PYODIDE = """clarabel 0.11.1, cvxpy-base 1.8.2, joblib 1.5.3, lazy_loader 0.5, matplotlib 3.10.8, numpy 2.4.6,
pandas 3.0.2, rich 14.3.3, scikit-learn 1.8.0, scipy 1.18.0, threadpoolctl 3.6.0"""


def test_notebooks_install_what_pyodide_has(tmp_path, monkeypatch):
    """Each sheet and key, after its title; with the wheel beside it, whose own requirements are not asked for."""
    monkeypatch.syspath_prepend(str(DOCS))
    lite = importlib.import_module("lite")
    lite.write_lessons(tmp_path, lite.install_cell(), kernel=lite.KERNEL)
    assert len(list(tmp_path.glob("*.ipynb"))) == 2 * len(LESSONS)
    known = {one.split()[0] for one in PYODIDE.split(",")}
    for path in tmp_path.glob("*.ipynb"):
        title, install, *cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert title["source"].startswith("# Lesson")
        assert len(cells) > 5
        _, packages, first, second = ast.parse(install["source"]).body
        assert set(ast.literal_eval(packages.value).split()) == known
        assert ast.unparse(first) == "await piplite.install(packages.split())"
        assert ast.unparse(second) == "await piplite.install('convex_tsvm', deps=False)"


def test_work_in_the_background_needs_no_thread(monkeypatch):
    """In a browser none can be started: the work is done at once."""

    def none_left(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    np.testing.assert_allclose(in_background(np.linalg.eigvalsh, np.diag([1.0, 2.0])), [1, 2])
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 / 0)
