"""Files that commands write."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from .. import plot
from ..validation import new_file
from .requests import Request


def print_json(found: Any) -> None:
    """Print plain values as one line of JSON, which has no infinite numbers: they are null there."""
    print(json.dumps(json.loads(json.dumps(found), parse_constant=lambda name: None)))


def say(request: Request, text: object, figures: Any) -> None:
    """Print what there is to say, or the figures as JSON if that is asked for."""
    if request.json:
        print_json(figures)
    else:
        print(text)


def check_outputs(request: Request) -> None:
    """Complain about what cannot be written before the work is done, and what is read or written by another name."""
    given = {name: path for name, path in vars(request).items() if path is not None}
    others: list[tuple[str, Any]] = [
        (name, given[name]) for name in ("data", "of_data", "source", "model", "labels") if name in given
    ]
    written = (
        "save",
        "labels_out",
        "certificate",
        "checkpoint",
        "plot",
        "html",
        "trim",
        "derivation",
        "exercise",
        "target",
    )
    for name in (name for name in written if name in given):
        path = given[name]
        if path == "-":
            raise ValueError(f"{name}='-' must be the name of a file")
        for other, place in [] if os.path.realpath(path).startswith("/dev/") else others:
            if _is_same(path, place) or (os.path.isdir(place) and _is_same(os.path.dirname(path) or ".", place)):
                where = "the same file as" if _is_same(path, place) else "in the folder"
                raise ValueError(f"{name}={path!r} is {where} {'DATA' if other == 'data' else other}")
        if name != "target":
            new_file(name, path)
        if name == "plot":
            plot.check_picture(path)
        others.append((name, path))


def _is_same(path: str, other: str) -> bool:
    """Whether two names are of one file: by links, or, of files that are not there yet, but for capitals."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path).casefold() == os.path.realpath(other).casefold()


def write_plot(draw: Callable[[], Any], path: str | None, quiet: bool) -> None:
    """Draw a picture into a file, if one was asked for, and say so."""
    if path is not None:
        plot.save(draw(), path)
        if not quiet:
            print(f"picture: {path}")


def write_labels(path: str, labels: Any, scores: Any, classes: Sequence[str]) -> None:
    """Index, label and output of every point, as CSV, with the data's own names for -1 and +1."""
    # Signs keep theirs: a file of labels -1 and 1 says +1 as it always has.
    names = ("-1", "+1") if tuple(classes) == ("-1", "1") else tuple(classes)
    write_class_labels(path, [names[int(label > 0)] for label in labels], scores)


def write_class_labels(path: str, labels: Any, scores: Any) -> None:
    """The same for names of classes, shape (n,), and the output of each point's own class."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = zip(range(len(labels)), labels, map(float, scores), strict=True)
        csv.writer(file).writerows([("index", "label", "output"), *rows])
