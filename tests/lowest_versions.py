"""The lowest versions that pyproject.toml allows, one requirement a line: what  make lowest  installs."""

import re
import tomllib
from pathlib import Path


def lowest(path=Path(__file__).parents[1] / "pyproject.toml"):
    """Requirements of the package and of its tests, pinned to their floors."""
    stated = tomllib.loads(path.read_text(encoding="utf-8"))
    given = stated["project"]["dependencies"] + stated["dependency-groups"]["test"]
    return [re.sub(r">=\s*([\w.]+)", r"==\1", requirement) for requirement in given]


if __name__ == "__main__":
    print("\n".join(lowest()))
