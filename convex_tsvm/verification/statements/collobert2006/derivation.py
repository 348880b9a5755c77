"""Appendix A: the concave–convex procedure and the dual of a step, derived from the losses."""

from __future__ import annotations

from ....formulations import cccp_tsvm
from ...derivation import Derivation
from ...derive import derive


def derivations() -> tuple[Derivation, ...]:
    """The procedure, the dual of a step, and both forms of the balance."""
    model = cccp_tsvm()
    procedure = derive(model, "cccp").cited("eq. 3", "eq. 8-9, 15-16", "eq. 7, 11, 17", "eq. 6", "eq. 5-6")
    dual = derive(model, "dual").cited(
        *("eq. 3, 12", "eq. 15-16", "eq. 17", "eq. 18-20", "eq. 21", "", "eq. 24", "eq. 24", "eq. 23", "eq. 22, 25"),
        *("eq. 25-26", "eq. 27", "eq. 27"),
    )
    return procedure, dual, derive(model, "balance").cited("eq. 4, 10", "eq. 10")
