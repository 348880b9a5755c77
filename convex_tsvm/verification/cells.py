"""Cells of notebooks, and the files that they are written to."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def text_cell(text: str) -> dict[str, Any]:
    """A cell of Markdown."""
    return {"cell_type": "markdown", "metadata": {}, "id": _name(text), "source": text}


def code_cell(text: str) -> dict[str, Any]:
    """A cell of Python that has not been run."""
    code = {"cell_type": "code", "metadata": {}, "id": _name(text), "source": text}
    return code | {"execution_count": None, "outputs": []}


def write_notebook(cells: list[dict[str, Any]], path: str | Path) -> None:
    """Write cells to a file; ValueError if its name does not end in .ipynb."""
    if Path(path).suffix != ".ipynb":
        raise ValueError(f"{str(path)!r} must end in .ipynb")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    contents = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    Path(path).write_text(json.dumps(contents, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _name(text: str) -> str:
    """A cell's identifier, which the notebook format requires: the first 12 hex digits of its text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
