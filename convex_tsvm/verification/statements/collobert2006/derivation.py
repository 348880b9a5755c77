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
PAPER.proven("eq. 2", "An unlabelled point's loss is both labels' ramp losses, but for a constant.", 0, 1, two)
PAPER.proven("eq. 3", "Every unlabelled point counts twice, once with each label, and pays the ramp loss.", 0, 1, two)
PAPER.proven("§2, before eq. 3", "Eq. 1 is eq. 3 for s = 0, but for a constant.", 3, 1, two)
PAPER.proven("eq. 5", "A step minimizes the convex part and tangents.", 0, 5, {"the sign": without(3, -1)})
PAPER.proven("eq. 6", "A step's minimum is not above its value before.", 0, 5, {"no losses of copies": without(2)})
PAPER.proven("Algorithm 1", "By such steps the objective never rises.", 0, 5, {"no tangents": without(3)})
PAPER.proven("Algorithm 2", "Steps by their dual have the same value.", 1, 14, {"no sum": unconditioned(2)})
PAPER.proven("eq. 7", "Tangents are above the concave part.", 0, 3, {"sign": without(3, -1), "half": without(3, half)})
PAPER.proven("eq. 9", "The objective is a convex part plus a concave one.", 0, 2, {"the convex one alone": without(3)})
PAPER.proven("eq. 10", "x₀, the mean of the unlabelled points, stands for the balance.", 1, 6, {"not in w": without(1)})
PAPER.proven("eq. 12", "Eq. 3 again: both copies of an unlabelled point pay the ramp loss.", 1, 1, two)
PAPER.proven("eq. 13", "The balance is a mean over the unlabelled points, each once.", 1, 1, balance)
PAPER.proven("eq. 14", "The update is by the least surrogate, under the balance.", 0, 5, {"no tangents": without(3)})
PAPER.proven("eq. 15", "The convex part is the sum of the losses' own.", 1, 2, {"of labelled points": without(2)})
PAPER.proven("eq. 16", "The concave part is the sum of the losses' own.", 1, 2, {"the sign": without(3, -1)})
PAPER.proven("eq. 17", "The concave part is replaced by its tangents, with slopes β.", 1, 3, {"sign": without(3, -1)})
PAPER.proven("eq. 18", "A step is a quadratic program in w, b and slacks ξ.", 1, 4, {"slacks twice": without(1, 2)})
PAPER.proven("eq. 19", "Each copy has its margin, but for its slack.", 1, 4, {"left out": unconditioned(1)})
PAPER.proven("eq. 20", "Slacks are not negative.", 1, 4, {"left out": unconditioned(2)})
PAPER.proven("eq. 21", "The Lagrangian.", 1, 5, {"the sign of α₀": without(4, -1), "ν left out": without(6)})
PAPER.proven("eq. 22", "w is an expansion over the copies and x₀.", 1, 10, {"without ½": without(0, 2)})
PAPER.proven("eq. 23", "The bias is free: the coefficients of w add up to 0.", 1, 9, {"left out": unconditioned(2)})
PAPER.proven("eq. 24", "The multipliers of ξ >= 0 are what α lacks of the costs.", 1, 7, {"left out": unconditioned(2)})
PAPER.proven("eq. 25", "The dual objective.", 1, 11, {"without ½": without(0, 2), "without α₀ c": without(2)})
PAPER.proven("eq. 26", "Bounds of α, and the sum.", 1, 11, {"no bound": unconditioned(1), "no sum": unconditioned(2)})
PAPER.proven("eq. 27", "The same in α̃ = y (α - β): ζ'α̃ - ½ α̃'Kα̃.", 1, 13, {"the sign": without(2, -1)})
