"""Files that commands write."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from typing import Any

from ..validation import new_file


def check_outputs(**paths: str | None) -> None:
    """Complain about a file that cannot be written before the work is done, not after it."""
    for name, path in paths.items():
        if path is not None:
            new_file(name, path)


def check_plot(path: str | None) -> None:
    """The same for a picture, whose ending must be a format that matplotlib writes."""
    if path is not None:
        from ..plotting import check_picture

        new_file("plot", path)
        check_picture(path)


def write_plot(draw: Callable[[], Any], path: str | None, quiet: bool) -> None:
    """Draw a picture into a file, if one was asked for, and say so."""
    if path is None:
        return
    from ..plotting import save_figure

    save_figure(draw(), path)
    if not quiet:
        print(f"picture: {path}")


def write_labels(path: str, labels: Any, scores: Any, classes: Sequence[str] = ("-1", "+1")) -> None:
    """Index, label and output of every point, as CSV, with the data's own names for -1 and +1."""
    # Signs keep theirs: a file of labels -1 and 1 says +1 as it always has.
    names = ("-1", "+1") if tuple(classes) == ("-1", "1") else tuple(classes)
    write_class_labels(path, [names[int(label > 0)] for label in labels], scores)


def write_class_labels(path: str, labels: Any, scores: Any) -> None:
    """The same for names of classes, shape (n,), and the output of each point's own class."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["index", "label", "output"])
        for index, (label, score) in enumerate(zip(labels, scores, strict=True)):
            writer.writerow([index, label, repr(float(score))])
