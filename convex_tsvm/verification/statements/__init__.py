"""The numbered statements of five papers, each a function that is run."""

from __future__ import annotations

from importlib import import_module

from ...validation import one_of
from ..answers import Grade
from .course import grade
from .statement import Outcome, Paper, PaperReport, Statement

#: The papers, by their names.
PAPERS = ("collobert2006", "chapelle2008", "sindhwani2006", "debie2004", "dai2010")


def paper(name: str) -> Paper:
    """A paper with its numbered statements, which can be run.

    Iterate over it, take a statement by its number (``paper("collobert2006")[23]``), or ``run`` them all.

    Parameters
    ----------
    name : {"collobert2006", "chapelle2008", "sindhwani2006", "debie2004", "dai2010"}

    Examples
    --------
    >>> ct.papers.paper("collobert2006")[8].run().verdict
    'holds'
    """
    made = import_module(f".{one_of('paper', name, PAPERS)}", __name__).PAPER
    assert isinstance(made, Paper)
    for module in made.modules:
        import_module(f".{name}.{module}", __name__)
    return made


__all__ = ["PAPERS", "Grade", "Outcome", "Paper", "PaperReport", "Statement", "grade", "paper"]
