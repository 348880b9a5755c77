"""A formulation derives itself: its dual, its problem with slacks, CCCP, its balance, its relaxation, its bounds."""

from __future__ import annotations

from ..formulations import Formulation
from ..losses import PLQ, ramp, symmetric_ramp
from ..validation import one_of
from . import claims as claim
from .derivation import Derivation
from .dual import Derived, applied, beta, c, cost, half, kernel, start, w, x, y
from .exact import Exact
from .lemmas import Lemma
from .relaxed_labels import relax_labels
from .steps import Condition, Gap, Line
from .symbols import Dot, Sum, Symbol, formula, total

#: What can be derived.
KINDS = ("dual", "primal", "cccp", "balance", "sdp", "bound")


def derive(formulation: Formulation, of: str = "dual") -> Derivation:
    """Derive something from a formulation, in steps that are proven.

    Parameters
    ----------
    formulation : Formulation
        Of losses, a balance and a regularizer; without constraints on outputs, groups and additions.
    of : {"dual", "primal", "cccp", "balance", "sdp", "bound"}, default "dual"
        "dual": the dual, of a step of CCCP if a loss is not convex; "primal": the problem of such a step with slack
        variables; "cccp": convex and concave parts, tangents, and why the objective never rises; "balance": the mean
        output as a fixed bias and as an extra point; "sdp": the relaxation over label matrices; "bound": the dual of
        the convex envelope, every point of which is a lower bound.

    Returns
    -------
    Derivation
        ``print`` it, ``prove()`` it, ``grade(k, answer)`` an answer to its k-th step.

    Raises
    ------
    ValueError
        If there is nothing of this name, or it does not apply to the formulation, with the reason.

    Examples
    --------
    >>> derivation = ct.derive(ct.cccp_tsvm(), "dual")
    >>> len(derivation), derivation.prove().proven
    (14, True)
    """
    given: object = formulation
    if not isinstance(given, Formulation):
        raise ValueError(f"formulation={formulation!r} must be a Formulation, such as ct.cccp_tsvm()")
    one_of("of", of, KINDS)
    derived = Derived(formulation, copies_of(formulation) if of in ("dual", "primal", "cccp") else None)
    made = {"dual": _dual, "primal": _primal, "cccp": _cccp, "balance": _balance, "sdp": relax_labels, "bound": _bound}
    made[of](derived)
    return Derivation.of(f"{formulation.name or 'Formulation'}: {of}", derived)


def copies_of(formulation: Formulation) -> PLQ | None:
    """What a copy of an unlabelled point pays in collobert2006, if the loss is the one of that paper: a ramp loss."""
    loss = formulation.unlabeled
    if not isinstance(loss, PLQ) or len(loss.breaks) not in (3, 4):
        return None
    s = 0.0 if len(loss.breaks) == 3 else float(loss.breaks[1])
    return ramp(s) if -1 < s <= 0 and loss == symmetric_ramp(s) else None


def _dual(derived: Derived) -> None:
    derived.convexify()
    derived.dualize()


def _primal(derived: Derived) -> None:
    derived.convexify()
    if derived.has_slacks:
        derived.with_slacks()
        return
    known = [derived.functions[kind.convex] for kind in derived.kinds]
    if not all(isinstance(f, Exact) and not any(piece.a for piece in f.pieces) for f in known):
        derived.with_margins()
        return
    derived.with_epigraphs()


def _cccp(derived: Derived) -> None:
    """The surrogate touches the objective where its tangents do, and is above it: so it never rises."""
    if derived.formulation.is_convex:
        raise ValueError("of='cccp': all losses are convex, and nothing is linearized; of='dual' has the dual")
    derived.convexify()
    there = [kind.pays(kind.convex, start["i"]) for kind in derived.kinds]
    over = derived.tangents[0].over  # type: ignore[attr-defined]
    touching = [derived.regularizer, *there, Sum("i", over, beta["i"] * start["i"]), derived.rest]
    values = [kind.pays(kind.concave, start["i"]) for kind in derived.kinds if kind.concave]
    surrogate = derived.line
    name = "S(w, b; t⁰)" if derived.formulation.fit_intercept else "S(w; t⁰)"
    derived.line = Line(total(touching), f"{name} where y_i f(x_i) = t⁰_i")
    constant = derived.defined["k"][1]
    straight = [term for term in getattr(constant, "terms", ()) if "t⁰" not in term.symbols()]
    derived.add(
        Lemma.DESCENT,
        "k has the values at t⁰ and takes the tangents' own away: the surrogate is the objective there.",
        Line(total([derived.regularizer, *there, *values, *straight]), "J where y_i f(x_i) = t⁰_i"),
    )
    derived.line = surrogate
    derived.add(
        Lemma.DESCENT,
        "With t⁰ the outputs of the last step, J(next) <= S(next) <= S(last) = J(last).",
        surrogate,
    )


def _balance(derived: Derived) -> None:
    if not derived.balanced or not derived.formulation.fit_intercept:
        raise ValueError("of='balance': the formulation must have balance='linear', unlabelled points and a bias")
    moved = y["i"] * (Dot(w, x["i"] - x[0]) + c)
    derived.defined["b"] = ((), c - Dot(w, x[0]))
    losses = [kind.pays(kind.convex, moved) for kind in derived.kinds]
    derived.add(
        Lemma.CHANGE,
        "x_0 is the mean of the unlabelled points, whose output is c: b = c - w·x_0.",
        Line(total([derived.regularizer, *losses]), "", (("min", (w,)),)),
    )
    a, centred = Symbol("a"), Symbol("K̄", r"\bar K")
    derived.defined["K"] = (("i", "j"), Dot(x["i"], x["j"]))
    derived.defined["K̄"] = (("i", "j"), Dot(x["i"] - x[0], x["j"] - x[0]))
    quadratic = Sum("i", "J", Sum("j", "J", a["i"] * a["j"] * kernel["i", "j"]))
    equation = Condition(Sum("i", "J", a["i"]), "=", formula(0))
    name = "terms of the dual with a_i = y_i (α_i - β_i)"
    derived.line = Line(-half * quadratic + c * a[0], name, conditions=(equation,))
    inner = Sum("i", "I", Sum("j", "I", a["i"] * a["j"] * centred["i", "j"]))
    derived.defined["a", 0] = ((), -Sum("i", "I", a["i"]))
    derived.add(
        Lemma.CHANGE,
        "K̄_ij = (x_i - x_0)·(x_j - x_0), and the equation gives a_0 = -Σ_{i∈I} a_i.",
        Line(-half * inner - c * Sum("i", "I", a["i"]), "the same without the extra point"),
    )


def _bound(derived: Derived) -> None:
    """The dual of the convex envelope: a lower bound at every point that meets its conditions."""
    bent = [kind for kind in derived.kinds if not getattr(kind.loss, "is_convex", False)]
    if any(not isinstance(kind.loss, PLQ) for kind in bent):
        raise ValueError("of='bound': envelopes are of piecewise linear-quadratic losses")
    gaps, known = [], []
    for kind in bent:
        name = f"e_{kind.over}"
        derived.functions[name] = Exact.of(kind.loss.envelope())
        margin = derived.margin("i")
        more = cost["i"] * (applied(kind.name, margin) - applied(name, margin))
        known += [claim.is_below(name, kind.name), claim.is_convex(name)]
        gaps.append(Gap(Sum("i", kind.over, more), "claim", shape=Sum("i", kind.over, more)))
        kind.convex, kind.loss = name, kind.loss.envelope()
    if bent:
        line = derived.primal(*derived.losses(lambda kind: kind.convex))
        derived.add(Lemma.ENVELOPE, claim.told(known), line, relation=">=", claims=tuple(known), gaps=tuple(gaps))
    derived.dualize()
