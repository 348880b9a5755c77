"""The numbered statements of five papers, each a function that is run."""

from ..answers import Grade as Grade
from .course import grade as grade
from .statement import PAPERS as PAPERS
from .statement import Outcome as Outcome
from .statement import Paper as Paper
from .statement import PaperReport as PaperReport
from .statement import Statement as Statement
from .statement import paper as paper
