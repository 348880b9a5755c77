"""Section 2: the semidefinite relaxation of the transductive SVM; section 3: label matrices in a subspace."""

from __future__ import annotations

from fractions import Fraction

from ....formulations import tsvm
from ...derivation import Derivation
from ...derive import derive
from ...dual import alpha, kernel
from ...lemmas import Lemma
from ...steps import Chain, Line, Setting
from ...symbols import Sum, Symbol


def derivations() -> tuple[Derivation, ...]:
    """The relaxation, and what becomes of it in a subspace."""
    model = tsvm("hinge", balance=None, fit_intercept=False)
    relaxation = derive(model, "sdp").cited(
        *("§2", "", "", "", "", "", "eq. 1-2", "eq. 3-7", "eq. 8", "§2.1", "§2.1", "eq. 9-10", "Proposition 2.3")
    )
    return relaxation, subspace()


def subspace() -> Derivation:
    """What is maximized over α is linear in M, of which there are d (d + 1) / 2 numbers, if Γ = VMV'."""
    gamma, V = Symbol("Γ", r"\Gamma", is_symmetric=True), Symbol("V")
    M = Symbol("M", is_symmetric=True)
    two = alpha["i"] * alpha["j"] * kernel["i", "j"]
    linear = Sum("i", "I", alpha["i"])
    first = Line(
        linear - Fraction(1, 2) * Sum("i", "I", Sum("j", "I", two * gamma["i", "j"])), "", (("max", (alpha,)),)
    )
    legend = "I: all points; D: the d columns of V, in whose span label vectors are. K_ij = K_ji, and M_ab = M_ba."
    chain = Chain(first, Setting(balanced=False, tangents="", legend=legend))
    entry = Sum("a", "D", Sum("b", "D", V["i", "a"] * M["a", "b"] * V["j", "b"]))
    chain.defined["Γ"] = (("i", "j"), entry)
    inner = Sum("i", "I", Sum("j", "I", two * V["i", "a"] * V["j", "b"]))
    trace = Sum("a", "D", Sum("b", "D", M["a", "b"] * inner))
    last = Line(linear - Fraction(1, 2) * trace, "", (("max", (alpha,)),))
    chain.add(Lemma.CHANGE, "Γ_ij is the sum of V_ia M_ab V_jb over a and b; M may be any matrix ⪰ 0.", last)
    return Derivation.of("Label matrices in a subspace", chain, ("§3",))
