"""Section 2: the semidefinite relaxation of the transductive SVM; section 3: label matrices in a subspace."""

from typing import Any

from ....formulations import tsvm
from ...derivation import Derivation
from ...derive import derive
from ...dual import alpha, half, kernel
from ...steps import Chain, Lemma, Line, Setting
from ...symbols import Sum, Symbol, formula
from ..statement import changed, unconditioned, without
from .quantities import PAPER


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
    first = Line(linear - half * Sum("i", "I", Sum("j", "I", two * gamma["i", "j"])), "", (("max", (alpha,)),))
    legend = "I: all points; D: the d columns of V, in whose span label vectors are. K_ij = K_ji, and M_ab = M_ba."
    chain = Chain(first, Setting(balanced=False, tangents="", legend=legend))
    entry = Sum("a", "D", Sum("b", "D", V["i", "a"] * M["a", "b"] * V["j", "b"]))
    chain.defined["Γ"] = (("i", "j"), entry)
    inner = Sum("i", "I", Sum("j", "I", two * V["i", "a"] * V["j", "b"]))
    trace = Sum("a", "D", Sum("b", "D", M["a", "b"] * inner))
    last = Line(linear - half * trace, "", (("max", (alpha,)),))
    chain.add(Lemma.CHANGE, "Γ_ij is the sum of V_ia M_ab V_jb over a and b; M may be any matrix ⪰ 0.", last)
    return Derivation.of("Label matrices in a subspace", chain, ("§3",))


def gamma(entry: Any) -> Any:
    """A mistake: Γ_ij is something else."""
    return changed("defined", lambda known: known | {"Γ": (("i", "j"), entry)})


forms = changed("identities", lambda pairs: tuple((one, -other) for one, other in pairs))
free = Symbol("Γ_UU", is_symmetric=True)["i", "j"]
PAPER.proven("eq. 1", "The dual of the SVM, minimized over labels.", 0, 7, {"α'(K∘yy')α twice": without(0, 2)})
PAPER.proven("eq. 2", "The bounds of α are those of the hinge loss.", 0, 7, {"no upper bound": unconditioned(1)})
PAPER.proven("eq. 3", "The labels enter through Γ = yy' only.", 0, 8, {"Γ twice": without(0, 2)})
PAPER.proven("eq. 4", "An unknown label is the better of 1 and -1.", 0, 1, {"losses twice": without(1, 2)})
PAPER.proven("eq. 5", "A block of Γ is that of the known labels.", 0, 8, {"all ones": gamma(formula(1))})
PAPER.proven("eq. 6", "Γ has ones on its diagonal.", 0, 8, {"any diagonal": unconditioned(2)})
PAPER.proven("eq. 7", "Γ has rank one: z'Γz is a single square, (Σ z_i y_i)².", 0, 8, {"the sign": forms})
PAPER.proven("eq. 8", "Γ ⪰ 0, as z'Γz is a square; without the rank the value is no larger.", 0, 8, {"the sign": forms})
PAPER.proven("§2.3, bounds", "The relaxation is below every labelling.", 0, 9, {"another value": without(0, 2)})
PAPER.proven("§2.1, dual over α", "The dual over α.", 0, 11, {"μ left out": without(1), "without ½": without(0, 2)})
PAPER.proven("Lemma 2.2", "A Schur complement: e + ν - μ is (K∘Γ) a.", 0, 12, {"any e + ν - μ": unconditioned(3)})
PAPER.proven("eq. 9", "The relaxation as a semidefinite program.", 0, 12, {"any μ": unconditioned(2)})
PAPER.proven("eq. 10", "The matrix inequality; t is minimized.", 0, 12, {"any ν": unconditioned(1)})
PAPER.proven("Proposition 2.3", "One row of Γ̃ serves all known points.", 0, 13, {"any diagonal": unconditioned(0)})
PAPER.proven("§2.2, cross block", "Rows of known points are ±g.", 0, 13, {"any entries": gamma(free)})
