"""Files that commands write."""

from __future__ import annotations

import csv
from typing import Any

from ..validation import new_file


def check_outputs(**paths: str | None) -> None:
    """Complain about a file that cannot be written before the work is done, not after it."""
    for name, path in paths.items():
        if path is not None:
            new_file(name, path)


def write_labels(path: str, labels: Any, scores: Any) -> None:
    """Index, label and output of every point, as CSV."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["index", "label", "output"])
        for index, (label, score) in enumerate(zip(labels, scores, strict=True)):
            writer.writerow([index, f"{label:+g}", repr(float(score))])
