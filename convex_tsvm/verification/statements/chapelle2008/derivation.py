"""Annealing (§3.3), continuation (§3.1), and Newton's method in the primal (§4.3), derived."""

import numpy as np

from ....formulations import s3vm, svm
from ....losses import squared_hinge
from ...derivation import Derivation
from ...derive import derive
from ...dual import beta, half, kernel, nu
from ...exact import Claim
from ...steps import Chain, Condition, Gap, Lemma, Line, Setting
from ...symbols import Applied, Formula, Quotient, Square, Sum, Symbol, formula, total
from ..statement import unconditioned, without
from .quantities import PAPER

T, p = Symbol("T"), Symbol("p")


def derivations() -> tuple[Derivation, ...]:
    """The probabilities of annealing, the smoothing of continuation, CCCP's step (Algorithm 4), and Newton's."""
    steps = derive(s3vm(), "cccp").cited("§4.1", "§4.1", "", "Algorithm 4")
    balance = derive(s3vm(), "balance").cited("eq. 12", "eq. 13")
    dual = derive(svm(squared_hinge(), balance=None), "dual")
    return annealing(), continuation(), steps, newton(), balance, dual


def annealing() -> Derivation:
    """The best probabilities of labels, whose mean is given, and the objective that is left."""
    a, d, g, r, size = (Symbol(name) for name in ("a", "d", "g", "r", "|F|"))
    logs = [Symbol("log p̂", r"\log \hat p"), Symbol("log q̂", r"\log \hat q")]
    log = [Applied("log", r"\log", p["i"]), Applied("log", r"\log", 1 - p["i"])]
    entropy = T * Sum("i", "F", p["i"] * log[0] + (1 - p["i"]) * log[1])
    mean = Condition(Sum("i", "F", p["i"]), "=", size * r)
    over = (("min", (p,)),)
    legend = (
        "F: unlabelled points. p_i: probability of the label 1, with which a point pays a_i, and d_i with the other; "
        "T: temperature; r: the share of positive labels."
    )
    first = Line(Sum("i", "F", p["i"] * a["i"] + (1 - p["i"]) * d["i"]) + entropy, "", over, (mean,))
    setting = Setting(balanced=False, tangents="", shares=("p",), legend=legend)
    chain = Chain(first, setting, {"log": np.log})
    chain.defined["a"] = (("i",), g["i"] + d["i"])
    rest: Formula = Sum("i", "F", d["i"])
    gained = total([Sum("i", "F", p["i"] * g["i"]), rest, entropy])
    chain.add(Lemma.COLLECT, "g_i = a_i - d_i is what the label 1 costs more.", Line(gained, "", over, (mean,)))
    chain.add(
        Lemma.LAGRANGIAN,
        "ν is the multiplier of the mean.",
        Line(gained - mean.times(nu), "L(p; ν)"),
        relation=">=",
        dropped=(mean,),
        multipliers=(nu,),
    )
    chain.defined["log p̂"] = (("i",), logs[1]["i"] + (nu - g["i"]) / T)
    tangent = Claim("z log z >= z log ẑ + z - ẑ for z, ẑ > 0, the tangent of a convex function", (), lambda: True)
    gap = p["i"] * (log[0] - logs[0]["i"]) + (1 - p["i"]) * (log[1] - logs[1]["i"])
    least = total([T * Sum("i", "F", logs[1]["i"]), rest, nu * size * r])
    chain.add(
        Lemma.TANGENT,
        "For z = p_i and z = 1 - p_i, at p̂_i = 1 / (1 + exp((g_i - ν) / T)) and q̂_i = 1 - p̂_i: log p̂_i - log q̂_i = "
        "(ν - g_i) / T. Equality is at p = p̂. The mean of p̂ rises with ν, and is r for one ν.",
        Line(least, "min over p of L(p; ν)"),
        claims=(tangent,),
        gaps=(Gap(T * Sum("i", "F", gap), "claim", shape=T * Sum("i", "F", gap)),),
    )
    return Derivation.of("Annealing: the probabilities of labels", chain, ("eq. 7", "eq. 8", "eq. 8-9"))


def continuation() -> Derivation:
    """The mean of exp(-s (t + σz)²) over a normal z is exp(-s t² / (1 + 2sσ²)) / √(1 + 2sσ²)."""
    s, t, z, sigma, spread = Symbol("s"), Symbol("t"), Symbol("z"), Symbol("σ", r"\sigma"), Symbol("q")
    legend = "z: normal, with density exp(-½ z²) / √(2π); σ: the width of the smoothing; q = 1 + 2 s σ²."
    first = Line(-s * Square(t + sigma * z) - half * Square(z), "log of the density times the loss, up to a constant")
    chain = Chain(first, Setting(balanced=False, tangents="", legend=legend))
    chain.defined["q"] = ((), 1 + 2 * s * Square(sigma))
    centre = 2 * s * sigma * t / spread
    chain.add(
        Lemma.COLLECT,
        "The square completed: a parabola in z around -2 s σ t / q, and a term without z.",
        Line(-s * Quotient(Square(t), spread) - half * spread * Square(z + centre), first.name),
    )
    chain.add(
        Lemma.SQUARE,
        "The integral of exp(-½ q (z + e)²) / √(2π) over z is 1 / √q, whatever e is: the smoothed loss is 1 / √q times "
        "the exponential of this.",
        Line(-s * Quotient(Square(t), spread), "log of the smoothed loss, but for -½ log q"),
        relation="<=",
        gaps=(Gap(half * spread * Square(z + centre), "square"),),
        positive=("q",),
        turned=True,
    )
    return Derivation.of("Continuation: a loss smoothed by a Gaussian", chain, ("", "eq. 14", "eq. 14"))


def newton() -> Derivation:
    """Newton's step in the primal: where no loss passes a bend, the objective is a parabola in β."""
    s, h, curve, value = Symbol("s"), Symbol("h"), Symbol("D"), Symbol("ℓ", r"\ell")
    pull = Sum("j", "I", kernel["i", "j"] * s["j"])
    moved = half * Sum("i", "I", Sum("j", "I", (beta["i"] + s["i"]) * (beta["j"] + s["j"]) * kernel["i", "j"]))
    losses = Sum("i", "I", value["i"] + h["i"] * pull + half * curve["i"] * Square(pull))
    legend = (
        "I: all points. β: weights of points in f; s: the step; ℓ_i, h_i and D_i: a point's loss, its slope and its "
        "curvature."
    )
    first = Line(moved + losses, "Ω(β + s)")
    chain = Chain(first, Setting(balanced=False, tangents="IJ", legend=legend))
    # A symbol whose indices may be exchanged stands for K.
    chain.defined["K"] = (("i", "j"), Symbol("Φ", is_symmetric=True)["i", "j"])
    start = half * Sum("i", "I", Sum("j", "I", beta["i"] * beta["j"] * kernel["i", "j"])) + Sum("i", "I", value["i"])
    slope = Sum("i", "I", (beta["i"] + h["i"]) * pull)
    bend = half * Sum("i", "I", s["i"] * pull) + half * Sum("i", "I", curve["i"] * Square(pull))
    chain.add(
        Lemma.COLLECT,
        "By powers of s: the gradient is K(β + h), and the Hessian K + KDK.",
        Line(total([start, slope, bend]), "Ω(β + s)"),
    )
    best = Symbol("ŝ", r"\hat s")
    there = Sum("j", "I", kernel["i", "j"] * best["j"])
    equation = Condition(beta["i"] + h["i"] + best["i"] + curve["i"] * there, "=", formula(0), "i", "I")
    away = Sum("j", "I", kernel["i", "j"] * (s["j"] - best["j"]))
    squares = half * Sum("i", "I", Sum("j", "I", (s["i"] - best["i"]) * (s["j"] - best["j"]) * kernel["i", "j"]))
    more = half * Sum("i", "I", curve["i"] * Square(away))
    least = start + half * Sum("i", "I", (beta["i"] + h["i"]) * there)
    claim = Claim("K ⪰ 0 and D >= 0", (), lambda: True)
    chain.defined["h"] = (("i",), -beta["i"] - best["i"] - curve["i"] * there)
    chain.add(
        Lemma.SQUARE,
        "ŝ solves the equation; multiplied by K this is Newton's equation, whose common factor K is cancelled here.",
        Line(least, "Ω(β + ŝ)", conditions=(equation,)),
        claims=(claim,),
        gaps=(Gap(squares + more, "claim", shape=squares + more),),
        added=(equation,),
    )
    return Derivation.of("Newton's method in the primal", chain, ("eq. 16-17", "eq. 18"))


PAPER.proven("eq. 7", "The mean loss over labels of probability p.", 0, 1, {"minus g": without(0, -1)})
PAPER.proven("eq. 8", "The Lagrangian of the balance.", 0, 2, {"ν with the other sign": without(3, -1)})
PAPER.proven("eq. 9", "The objective after p is eliminated.", 0, 3, {"without the entropy": without(0)})
PAPER.proven("Figure 4", "The loss with the best probability.", 0, 3, {"twice the entropy": without(0, 2)})
PAPER.proven("eq. 10", "The dual for given labels.", 5, 7, {"without ½": without(0, 2), "no bias": unconditioned(1)})
PAPER.proven("§4, method 1", "Points enter by inner products alone.", 5, 7, {"products twice": without(0, 2)})
PAPER.proven("§4.1, decomposition", "Convex and concave part of the loss.", 2, 1, {"half of -2|t|": without(3, half)})
PAPER.proven("Algorithm 3", "Steps with tangents never raise the objective.", 2, 4, {"no tangents": without(3)})
PAPER.proven("Algorithm 4", "A step minimizes effective losses, labels being signs.", 2, 2, {"no tangents": without(3)})
PAPER.proven("eq. 12", "The balance sets the bias.", 4, 1, {"losses of labelled points left out": without(1)})
PAPER.proven("eq. 13", "The kernel of the centred points.", 4, 2, {"½ left out": without(0, 2)})
PAPER.proven("§4, centring and the bias", "Centring is the same as the balance.", 4, 2, {"without c": without(1)})
PAPER.proven("Algorithm 5", "exp(-s t²), smoothed by a Gaussian.", 1, 2, {"a loss of the other sign": without(0, -1)})
PAPER.proven("§4.3, infinite width", "As q grows the smoothed loss vanishes.", 1, 2, {"no square": without(0)})
PAPER.proven("§4.2, gradient", "Losses enter by their slopes.", 3, 1, {"slopes left out": without(2)})
PAPER.proven("eq. 16", "The gradient is K(β + h).", 3, 1, {"h left out": without(2), "twice this": without(2, 2)})
PAPER.proven("eq. 17", "The Hessian is K + KDK.", 3, 1, {"D left out": without(4), "K left out": without(3)})
