"""The check of a certificate: :mod:`convex_tsvm.checker` with this package's errors."""

import os
from importlib.util import find_spec

import numpy as np

from ..checker import Verdict, check, digest
from ..formulations import Formulation
from ..instance import with_one_label
from ..persistence import DAMAGED
from ..problem import Problem
from ..relaxations import LowerBoundBuilder
from .files import read_search


def prove_certificate(
    path: str | os.PathLike[str], formulation: Formulation | None = None, problem: Problem | None = None
) -> Verdict:
    """Prove what a certificate claims, in rigorous arithmetic, by code that shares nothing with the search.

    Parameters
    ----------
    path : path
        A certificate or a checkpoint.
    formulation, problem : optional
        With both, the file must be about this formulation on this problem; otherwise nothing is proven.

    Returns
    -------
    Verdict
        ``holds`` says whether the claim is proven, ``problem`` why not, ``lower_bound`` and ``upper_bound`` what is.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If only one of formulation and problem is given.
    ImportError
        If python-flint is not installed (``pip install convex_tsvm[rigorous]``).

    Examples
    --------
    >>> ct.prove_certificate(certificate).holds
    True
    >>> ct.prove_certificate(certificate, ct.s3vm(), problem.replace(C=2)).problem
    'it is about another problem: cost is another'
    """
    if (formulation is None) != (problem is None):
        raise ValueError("formulation and problem are given together, or not at all")
    check_flint()
    if formulation is not None and problem is not None:
        why = _differs(path, formulation, problem)
        if why is not None:
            return Verdict(False, why)
    return check(path)


def _differs(path: str | os.PathLike[str], formulation: Formulation, problem: Problem) -> str | None:
    """In what a file is about something else than a formulation on a problem, or None if it is about that."""
    try:
        header, theirs = read_search(path)
        labels, kinds = header["about"] == "labels", {"labels": "svm", "outputs": "envelope", "weights": "weights"}
        if labels and problem.n_labeled == 0:
            problem = with_one_label(formulation, problem, int(np.argmax(theirs["y"])))  # as the search has it
        problem = formulation.on(problem).problem  # whose balance does not count points of groups
        mine, described = problem.to_arrays()
        for name in sorted({*mine, *(set(theirs) & set(Problem.ARRAYS))}):
            if name not in mine or name not in theirs or digest({name: mine[name]}) != digest({name: theirs[name]}):
                return f"it is about another problem: {name} is another"
        if header["problem"]["kernel"] != described["kernel"]:
            return f"it is about another problem: its kernel is {header['problem']['kernel']}"
        builder = LowerBoundBuilder(formulation, problem, relaxation=kinds[header["about"]], searched=True)
        stated, arrays = builder.model.statement()
        claims = header["statement"]
        for name in sorted({*stated, *claims}):
            if claims.get(name) != stated.get(name):
                return f"it is about another formulation: its {name} is {claims.get(name)!r}, not {stated.get(name)!r}"
        own = {name for name in theirs if name.startswith(("own_", "loss_"))}
        for name in sorted({*arrays, *own}):
            if name not in arrays or not np.array_equal(theirs[name], arrays[name]):
                return f"it is about another formulation: {name} is another"
    except FileNotFoundError:
        raise
    except DAMAGED as error:
        return f"the file is damaged, or about another kind of formulation: {error}"
    return None


def check_flint() -> None:
    """Raise ImportError, with what to do, if the rigorous arithmetic is not installed."""
    if find_spec("flint") is None:
        raise ImportError("checks of certificates need python-flint: pip install 'convex_tsvm[rigorous]'")
