"""The data and the problem of a command."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..data import Classes, Data, load_data
from ..formulations import tsvm
from ..persistence import FittedModel
from ..problem import Problem
from .tasks import given_problem


def given(options: argparse.Namespace) -> tuple[Data, Problem]:
    """The data that a command is about, two classes of it, and the problem that its options make of them."""
    data = load_data(options.data, positive=options.positive, **labels_shown(options))
    tsvm(options.loss or "ramp", s=options.s)  # options that do not fit are reported before any work is done
    return data, given_problem(options, data)


def labels_shown(options: argparse.Namespace) -> dict[str, Any]:
    """What says which labels of a file are shown, as its readers take it."""
    names = ("split", "splits", "label_column", "n_labeled", "random_state", "unlabeled")
    return {name: getattr(options, name) for name in names}


def of_data(data: Data | Classes) -> dict[str, Any]:
    """What a model keeps of the file that it was learned from, as far as that has names."""
    # Names that come twice say nothing, and are not kept.
    names = data.feature_names
    known = names is not None and len(set(names)) == len(names)
    return {"feature_names": names if known else None, "label_name": data.label_name if known else None}


def read_points(
    reader: Callable[..., Any], options: argparse.Namespace, model: FittedModel, classes: Sequence[str], **others: Any
) -> Any:
    """Points for a model and what their file says of their labels; what the reader has to say goes to stderr."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = reader(
            options.data,
            model.n_features,
            label_column=options.label_column,
            unlabeled=options.unlabeled,
            feature_names=model.feature_names,
            label_name=model.label_name,
            classes=classes,
            **others,
        )
    for warning in said:
        print(f"convex-tsvm: {warning.message}", file=sys.stderr)
    return found


def heading(data: Data, problem: Problem) -> str:
    """What was given, and how its labels were read, in two lines."""
    negative, positive = data.classes
    return (
        f"{data.name}: {problem.n_labeled} labelled and {problem.n_unlabeled} unlabelled points, "
        f"+1 = {positive}, -1 = {negative}, {problem.kernel}\n{data.counts}"
    )
