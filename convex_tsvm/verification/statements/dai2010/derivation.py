"""Algorithm 1: a step of the Compact Margin Machine, and its dual; C₃ is λ times the cost of a point."""

from ....formulations import compact_margin, relative_margin
from ...derivation import Derivation
from ...derive import derive
from ..statement import unconditioned, without
from .quantities import PAPER


def derivations() -> tuple[Derivation, ...]:
    """The procedure, the dual of a step, and the program of the relative margin machine."""
    model = compact_margin(2.0, 0.5, 0.5, s=-0.3, balance=None)
    procedure = derive(model, "cccp").cited("J_vex + J_cav", "Algorithm 1", "", "Algorithm 1")
    dual = derive(model, "dual").cited("J_vex + J_cav", "Algorithm 1", *[""] * 6, "Algorithm 1")
    return procedure, dual, derive(relative_margin(2.0, 0.5), "primal").cited("eq. 9")


wrong = {"slacks twice": without(1, 2), "one side only": unconditioned(6)}
PAPER.proven("eq. 9", "The semi-supervised relative margin machine, one convex problem with slacks.", 2, 1, wrong)
