"""The course as a site of JupyterLite, whose notebooks run in the browser: no server, and nothing to compile.

    python docs/lite.py           writes the site to docs/_lite, as ``make lite`` runs it

The package comes from a wheel beside the notebooks, what it needs from Pyodide's distribution, which the browser loads
from where jupyterlite-pyodide-kernel says; for rooms without a network see "--pyodide" of ``jupyter lite build``.
What has no build for Pyodide, or is not needed for the course, is left out: numba, psutil, SCS and HiGHS.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from lessons import write_lessons

from convex_tsvm.verification.report import code_cell

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_lite"

#: The name of Pyodide's kernel in JupyterLite.
KERNEL = "python"

#: Dependencies that are left out, and those of another name in Pyodide's distribution.
LEFT_OUT, RENAMED = {"numba", "psutil", "scs", "highspy"}, {"cvxpy": "cvxpy-base"}


def install_cell():
    """The first cell of every notebook: what is installed in the browser, and from where."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[\w-]+", one)[0] for one in project["dependencies"]]
    kept = " ".join(RENAMED.get(name, name) for name in names if name not in LEFT_OUT)
    return code_cell(
        "# In the browser: packages of Pyodide's distribution, and the wheel beside this notebook.\n"
        f'import piplite\n\npackages = "{kept}"\nawait piplite.install(packages.split())\n'
        'await piplite.install("convex_tsvm", deps=False)  # without numba, psutil, SCS and HiGHS'
    )


def main():
    """Build the wheel, the notebooks and the site."""
    with tempfile.TemporaryDirectory() as place:
        wheels, notebooks = Path(place, "wheels"), Path(place, "notebooks")
        notebooks.mkdir()
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, ROOT]
        subprocess.run(pip, check=True)
        write_lessons(notebooks, install_cell(), kernel=KERNEL)
        (wheel,) = wheels.glob("convex_tsvm-*.whl")
        lite = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", place, "--output-dir", SITE]
        subprocess.run([*lite, "--contents", notebooks, "--piplite-wheels", wheel], check=True, cwd=place)
    print(f"{SITE}: python -m http.server --directory {SITE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
