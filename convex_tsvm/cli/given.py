"""The data and the problem of a command."""

from __future__ import annotations

import argparse
from typing import Any

from ..data import Data, load_data
from ..formulations import tsvm
from ..problem import Problem
from .tasks import given_problem


def given(options: argparse.Namespace) -> tuple[Data, Problem]:
    """The data that a command is about, two classes of it, and the problem that its options make of them."""
    data = load_data(options.data, positive=options.positive, **labels_shown(options))
    tsvm(options.loss, s=options.s)  # options that do not fit are reported before any work is done
    return data, given_problem(options, data)


def labels_shown(options: argparse.Namespace) -> dict[str, Any]:
    """What says which labels of a file are shown, as its readers take it."""
    names = ("split", "splits", "label_column", "n_labeled", "random_state")
    return {name: getattr(options, name) for name in names}


def heading(data: Data, problem: Problem) -> str:
    """What was given, in a line."""
    negative, positive = data.classes
    return (
        f"{data.name}: {problem.n_labeled} labelled and {problem.n_unlabeled} unlabelled points, "
        f"+1 = {positive}, -1 = {negative}, {problem.kernel}"
    )
