"""Derives, proves, verifies and grades; looks at every layer, and none of them knows it."""

from .complexity import Complexity as Complexity
from .complexity import ErrorBound as ErrorBound
from .complexity import error_bound as error_bound
from .complexity import rademacher_complexity as rademacher_complexity
from .derivation import Derivation as Derivation
from .derivation import ProvenDerivation as ProvenDerivation
from .derive import derive as derive
from .report import Check as Check
from .report import Report as Report
from .statements import Grade as Grade
from .statements import Outcome as Outcome
from .statements import Paper as Paper
from .statements import PaperReport as PaperReport
from .statements import Statement as Statement
from .statements import grade as grade
from .statements import paper as paper
from .verify import verify as verify
