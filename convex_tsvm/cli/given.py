"""The data and the problem of a command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..data import Classes, Data, load_data
from ..formulations import tsvm
from ..methods.shares import infer_class_shares
from ..problem import Problem
from ..progress import status_line
from .tasks import given_problem


def given(options: argparse.Namespace) -> tuple[Data, Problem, str]:
    """The data that a command is about, the problem that its options make of two classes of it, and a heading."""
    data = load_data(options.data, positive=options.positive, **labels_shown(options))
    tsvm(options.loss or "ramp", s=options.s)  # options that do not fit are reported before any work is done
    problem = given_problem(options, data)
    (problem,), told = with_shares(options, data.classes, [problem])
    negative, positive = data.classes
    heading = (
        f"{data.name}: {problem.n_labeled} labelled and {problem.n_unlabeled} unlabelled points, "
        f"+1 = {positive}, -1 = {negative}, {problem.kernel}\n{data.counts}{told}"
    )
    return data, problem, heading


def with_shares(
    options: argparse.Namespace, classes: Sequence[str], problems: list[Problem]
) -> tuple[list[Problem], str]:
    """The problems of a class against the rest, or of every class, balanced as their shares are inferred to be.

    With them comes a line that says what these shares are, if they have been inferred.

    Parameters
    ----------
    options : argparse.Namespace
    classes : sequence of str
        Negative and positive one, or all.
    problems : list of Problem
        Of the positive class, or of each of several.
    """
    if options.balance != "auto" or problems[0].n_unlabeled == 0:
        return problems, ""
    with status_line(lambda: "shares of the classes", keeps=False) as progress:
        tell = None if progress is None else lambda tried: progress.tell(f"{tried} shares tried")
        found = infer_class_shares(problems[0], [problem.y for problem in problems], callback=tell)
    named = zip(classes, found.shares, found.errors, strict=True)
    told = ", ".join(f"{name} {share:.3f} ± {error:.3f}" for name, share, error in named)
    own = found.shares.tolist()[-len(problems) :]  # the second of two classes, or all
    balanced = [problem.replace(balance=2 * share - 1) for problem, share in zip(problems, own, strict=True)]
    return balanced, f"\nshares of the classes among the unlabelled points, inferred: {told}"


def labels_shown(options: argparse.Namespace) -> dict[str, Any]:
    """What says which labels of a file are shown, as its readers take it."""
    names = ("split", "splits", "label_column", "n_labeled", "random_state", "unlabeled", "zero_based")
    return {name: getattr(options, name) for name in names}


def of_data(data: Data | Classes) -> dict[str, Any]:
    """What a model keeps of the file that it was learned from."""
    return {name: getattr(data, name) for name in ("feature_names", "label_name", "zero_based")}
