"""Appendix A: the concave–convex procedure and the dual of a step, derived from the losses."""

from ....formulations import cccp_tsvm, tsvm
from ...derivation import Derivation
from ...derive import derive
from ...dual import half
from ..statement import unconditioned, without
from .quantities import PAPER


def derivations() -> tuple[Derivation, ...]:
    """The procedure, the dual of a step, both forms of the balance, and eq. 1 with each unlabelled point twice."""
    model = cccp_tsvm()
    procedure = derive(model, "cccp").cited("eq. 3", "eq. 8-9, 15-16", "eq. 7, 11, 17", "eq. 6", "eq. 5-6")
    dual = derive(model, "dual").cited(
        *("eq. 3, 12", "eq. 15-16", "eq. 17", "eq. 18-20", "eq. 21", "", "eq. 24", "eq. 24", "eq. 23", "eq. 22, 25"),
        *("eq. 25-26", "eq. 27", "eq. 27"),
    )
    doubled = derive(tsvm("hinge"), "cccp").cited("before eq. 3")
    return procedure, dual, derive(model, "balance").cited("eq. 4, 10", "eq. 10"), doubled


two = {"one copy twice": without(2, 2), "the constant left out": without(3)}
balance = {"left out": unconditioned(0)}
PAPER.proven("eq. 2", "An unlabelled point pays the ramp losses of both labels, less a constant.", 0, 1, two)
PAPER.proven("eq. 3", "Every unlabelled point counts twice, once with each label, and pays the ramp loss.", 0, 1, two)
PAPER.proven("§2, before eq. 3", "Eq. 1 is eq. 3 for s = 0, but for a constant.", 3, 1, two)
PAPER.proven("eq. 5", "A step minimizes the convex part plus tangents.", 0, 5, {"minus tangents": without(3, -1)})
PAPER.proven("eq. 6", "A surrogate never rises in its step.", 0, 5, {"without the losses of copies": without(2)})
PAPER.proven("Algorithm 1", "The objective never rises from step to step.", 0, 5, {"no tangents": without(3)})
PAPER.proven("Algorithm 2", "The dual of a step has its value.", 1, 14, {"no condition for b": unconditioned(2)})
PAPER.proven("eq. 7", "Tangents lie above.", 0, 3, {"minus tangents": without(3, -1), "half of them": without(3, half)})
PAPER.proven("eq. 9", "The objective is a convex part plus a concave one.", 0, 2, {"the convex one alone": without(3)})
PAPER.proven("eq. 10", "x₀, the unlabelled points' mean, stands for the balance.", 1, 6, {"w left out": without(1)})
PAPER.proven("eq. 12", "Eq. 3 again: both copies of an unlabelled point pay the ramp loss.", 1, 1, two)
PAPER.proven("eq. 13", "The balance is a mean over the unlabelled points, each counted once.", 1, 1, balance)
PAPER.proven("eq. 14", "A step minimizes the surrogate under the balance.", 0, 5, {"no tangents": without(3)})
PAPER.proven("eq. 15", "½ ‖w‖² and the losses' convex parts.", 1, 2, {"without those of copies": without(2)})
PAPER.proven("eq. 16", "The sum of the losses' concave parts.", 1, 2, {"the other sign": without(3, -1)})
PAPER.proven("eq. 17", "Tangents of slope β replace the concave part.", 1, 3, {"minus tangents": without(3, -1)})
PAPER.proven("eq. 18", "A step is a quadratic program in w, b and slacks ξ.", 1, 4, {"slacks twice": without(1, 2)})
PAPER.proven("eq. 19", "Each copy has a margin of at least 1 - ξ.", 1, 4, {"no margins": unconditioned(1)})
PAPER.proven("eq. 20", "Slacks are not negative.", 1, 4, {"slacks of any sign": unconditioned(2)})
PAPER.proven("eq. 21", "The Lagrangian.", 1, 5, {"α₀ with the other sign": without(4, -1), "ν left out": without(6)})
PAPER.proven("eq. 22", "w is an expansion over the copies and x₀.", 1, 10, {"without ½": without(0, 2)})
PAPER.proven("eq. 23", "As b is free, the coefficients of w add up to 0.", 1, 9, {"no condition": unconditioned(2)})
PAPER.proven("eq. 24", "α plus the multipliers of ξ >= 0 are the costs.", 1, 7, {"no condition": unconditioned(2)})
PAPER.proven("eq. 25", "The dual objective.", 1, 11, {"without ½": without(0, 2), "without α₀ c": without(2)})
PAPER.proven("eq. 26", "α <= C; a sum is 0.", 1, 11, {"no upper bound": unconditioned(1), "no sum": unconditioned(2)})
PAPER.proven("eq. 27", "Eq. 25 less a constant, α̃ = y (α - β).", 1, 13, {"plus in place of the minus": without(2, -1)})
