"""Installs distributions, each in an empty environment outside the checkout, and runs the demo and the command line."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

COMPARE = "compare breast_cancer --sigma 10 --C 10 --methods svm,cccp --solver native,cvxpy --plot demo.png"
SOLVE = "solve two_moons --sigma 0.3 --C 10 --save model.npz --labels-out labels.csv"


def try_distribution(path: Path) -> None:
    """Install it, and raise if anything that it should do fails."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_"))}

        def run(program: str, *arguments: str) -> str:
            command = [str(programs / program), *arguments]
            return subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True, text=True).stdout

        run("python", "-m", "pip", "install", "--quiet", str(path.resolve()))
        where = run("python", "-c", "import convex_tsvm; print(convex_tsvm.__file__)").strip()
        assert Path(where).is_relative_to(home), where
        run("convex-tsvm", *COMPARE.split())
        run("convex-tsvm", *SOLVE.split())
        assert "error 0.0" in run("convex-tsvm", "predict", "model.npz", "two_moons")
        for name in ("demo.png", "model.npz", "labels.csv"):
            assert (home / name).stat().st_size > 0, name
    print(f"{path.name}: installed, demo and command line run")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        try_distribution(Path(name))
