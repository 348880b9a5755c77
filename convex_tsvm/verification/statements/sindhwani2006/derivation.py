"""Finite Newton steps (§1.2), conjugate gradients, and the probabilities of annealing (§1.4), derived."""

from ...derivation import Derivation
from ...dual import half, w, x
from ...steps import Chain, Gap, Lemma, Line, Setting
from ...symbols import Dot, Formula, Square, Sum, Symbol, total
from .. import paper
from ..statement import without
from .quantities import PAPER

c, Y, lam = Symbol("c"), Symbol("Y"), Symbol("λ", r"\lambda")


def derivations() -> tuple[Derivation, ...]:
    """Least squares on the active set, a step of conjugate gradients, and annealing."""
    annealing = paper("chapelle2008").derivations[0].cited("eq. 1.6", "eq. 1.7", "eq. 1.9")
    return newton_point(), conjugate_gradients(), annealing


def newton_point() -> Derivation:
    """Where no point enters or leaves the active set, the objective is least at the solution of eq. 1.4."""
    best, e = Symbol("w̄", r"\bar w", is_vector=True), Symbol("e")
    legend = (
        "I: the active set, y_i w·x_i < 1, in which (1 - y_i w·x_i)² = (w·x_i - Y_i)² for the labels Y_i = y_i, as "
        "y_i² = 1; c_i: costs."
    )
    squares = half * Sum("i", "I", c["i"] * Square(Dot(w, x["i"]) - Y["i"]))
    chain = Chain(
        Line(squares + half * lam * Square(w), "f(w)"), Setting(balanced=False, unlabeled=False, legend=legend)
    )
    pull: Formula = Sum("i", "I", c["i"] * e["i"] * x["i"])
    chain.defined |= {"w̄": ((), pull / lam), "Y": (("i",), Dot(best, x["i"]) + e["i"])}
    there = half * Sum("i", "I", c["i"] * Square(e["i"])) + half * lam * Square(best)
    away = half * Sum("i", "I", c["i"] * Square(Dot(w - best, x["i"]))), half * lam * Square(w - best)
    chain.add(
        Lemma.SQUARE,
        "e_i = Y_i - w̄·x_i are the errors at w̄, where λ w̄ = Σ c_i e_i x_i, which is eq. 1.4.",
        Line(there, "f(w̄)"),
        relation=">=",
        gaps=tuple(Gap(one, "square") for one in away),
        positive=("c", "λ"),
    )
    return Derivation.of("The Newton point", chain, ("eq. 1.4",))


def conjugate_gradients() -> Derivation:
    """The length of a step along a direction, and the residual after it (CGLS, Algorithm 1)."""
    p, r, length = Symbol("p", is_vector=True), Symbol("r", is_vector=True), Symbol("γ", r"\gamma")
    legend = "I: the active set. p: a direction; r: the residual, minus the gradient at w; γ: the length of the step."
    moved = w + length * p
    first = Line(
        half * Sum("i", "I", c["i"] * Square(Dot(moved, x["i"]) - Y["i"])) + half * lam * Square(moved), "f(w + γ p)"
    )
    chain = Chain(first, Setting(balanced=False, unlabeled=False, legend=legend))
    chain.defined["r"] = ((), Sum("i", "I", c["i"] * (Y["i"] - Dot(w, x["i"])) * x["i"]) - lam * w)
    start = half * Sum("i", "I", c["i"] * Square(Dot(w, x["i"]) - Y["i"])) + half * lam * Square(w)
    curve = Symbol("q")
    chain.defined["q"] = ((), Sum("i", "I", c["i"] * Square(Dot(p, x["i"]))) + lam * Square(p))
    chain.add(
        Lemma.COLLECT,
        "By powers of γ: the slope is -r·p, and q = p'Hp, Σ c_i (p·x_i)² + λ ‖p‖², the curvature.",
        Line(total([start, -length * Dot(r, p), half * curve * Square(length)]), first.name),
    )
    best = Dot(r, p) / curve
    chain.add(
        Lemma.SQUARE,
        "The parabola is lowest at γ = r·p / q; the residual after the step is orthogonal to p.",
        Line(start - half * (Square(Dot(r, p)) / curve), "min over γ of f(w + γ p)"),
        relation=">=",
        gaps=(Gap(half * curve * Square(length - best), "square"),),
        positive=("q",),
    )
    return Derivation.of("A step of conjugate gradients", chain, ("Algorithm 1", "Algorithm 1"))


PAPER.proven("§1.2, gradient", "On the active set -r is the gradient.", 1, 1, {"the sign of r": without(2, -1)})
PAPER.proven("eq. 1.3", "w̄ is one Newton step away from w.", 0, 1, {"errors left out": without(0)})
PAPER.proven("eq. 1.4", "The Newton point is a regularized least-squares solution.", 0, 1, {"no λ": without(1)})
PAPER.proven("eq. 1.6", "The objective of annealing, with the entropy.", 2, 1, {"plus the entropy": without(2, -1)})
PAPER.proven("eq. 1.7", "The mean of the probabilities is r; ν is its multiplier.", 2, 2, {"no ν": without(3)})
PAPER.proven("eq. 1.9", "The best probabilities.", 2, 3, {"without ν": without(2), "T twice": without(0, 2)})
