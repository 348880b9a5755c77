"""A formulation derives itself: its dual, its problem with slacks, CCCP, its balance, its relaxation, its bounds."""

from typing import Any

from ..formulations import Formulation
from ..losses import PLQ, ramp, symmetric_ramp
from ..validation import one_of
from . import exact as claim
from .derivation import Derivation
from .dual import Derived, Kind, alpha, applied, beta, c, cost, half, kernel, nu, start, w, x, y
from .exact import Claim, Exact
from .steps import Condition, Gap, Lemma, Line
from .symbols import Dot, Formula, Square, Sum, Symbol, formula, total

#: What can be derived.
KINDS = ("dual", "primal", "cccp", "balance", "sdp", "bound")


def derive(formulation: Formulation, of: str = "dual") -> Derivation:
    """Derive something from a formulation, in steps that are proven.

    A ValueError says if there is nothing of this name, or it does not apply to the formulation, with the reason.
    ``print`` the derivation, ``prove()`` it, ``grade(k, answer)`` an answer to its k-th step.

    Parameters
    ----------
    formulation : Formulation
        Of losses, a balance and a regularizer; without constraints on outputs, groups and additions.
    of : {"dual", "primal", "cccp", "balance", "sdp", "bound"}, default "dual"
        "dual": the dual, of a step of CCCP if a loss is not convex; "primal": the problem of such a step with slack
        variables; "cccp": convex and concave parts, tangents, and why the objective never rises; "balance": the mean
        output as a fixed bias and as an extra point; "sdp": the relaxation over label matrices; "bound": the dual of
        the convex envelope, every point of which is a lower bound.

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
    known = [derived.functions[kind.convex] for kind in derived.kinds]
    straight = all(isinstance(f, Exact) and not any(piece.a for piece in f.pieces) for f in known)
    with_lines = derived.with_epigraphs if straight else derived.with_margins
    (derived.with_slacks if derived.has_slacks else with_lines)()


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
        "By the choice of k the surrogate equals the objective at the outputs t⁰.",
        Line(total([derived.regularizer, *there, *values, *straight]), "J where y_i f(x_i) = t⁰_i"),
    )
    derived.line = surrogate
    derived.add(
        Lemma.DESCENT, "With t⁰ the outputs of the last step, J(next) <= S(next) <= S(last) = J(last).", surrogate
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


Gamma = Symbol("Γ", r"\Gamma", is_symmetric=True)
g, z, q, a, t = (Symbol(name) for name in ("g", "z", "q", "a", "t"))
mu = Symbol("μ", r"\mu")


def relax_labels(derived: Derived) -> None:
    """All steps from the formulation to the semidefinite program."""
    model = derived.formulation
    loss, constant = model.label_loss()
    if not model.regularizer.is_squared_norm:
        raise ValueError(f"regularizer={model.regularizer!r}: label matrices are of ½ ‖w‖²")
    if model.fit_intercept and not derived.balanced:
        raise ValueError(
            "of='sdp': a free bias asks Σ α_i y_i = 0 for every labelling, which leaves the SVM of the labelled points "
            "of the relaxation; use fit_intercept=False, or balance='linear'"
        )
    if derived.balanced and not model.fit_intercept:
        raise ValueError("of='sdp': with fit_intercept=False the balance must be None")
    conjugate = Exact.of(loss).conjugate()
    if len(conjugate.pieces) > 1 or conjugate.domain[1] != 0:
        raise ValueError(
            f"{loss.name}: its conjugate must be one polynomial on slopes up to 0, as that of a hinge loss"
        )
    derived.labels_are_free = True
    _find_labels(derived, constant)
    _Inner(derived, conjugate).derive()


def _find_labels(derived: Derived, constant: float) -> None:
    """Labels of unlabelled points are variables."""
    less = formula(Exact.of(derived.kinds[1].loss)(0) - derived.functions["ℓ_L"](0)) if constant else formula(0)
    derived.rest = total([less * Sum("i", "U", cost["i"])]) if constant else formula(0)

    def exactly(upper: Any, lower: Any) -> bool:
        return bool(lower.scaled(1, -less.number).is_least_of(upper, upper.reflect()))  # type: ignore[attr-defined]

    shown = f"and {less} more, " if constant else ""
    known = Claim(f"ℓ_U(t) is the smaller one of ℓ_L(t) and ℓ_L(-t) {shown}for every t", ("ℓ_L", "ℓ_U"), exactly)
    pays = Sum("i", "I", cost["i"] * applied("ℓ_L", derived.margin("i")))
    more = cost["i"] * (applied("ℓ_L", derived.margin("i")) + less - applied("ℓ_U", derived.output("i")))
    gap = Gap(Sum("i", "U", more), "claim", shape=Sum("i", "U", more))
    after = derived.primal(pays)
    after = Line(after.formula, "", (("min", (y,)), *after.optimized), after.conditions)
    derived.add(Lemma.BETTER, f"{known.says}.", after, claims=(known,), gaps=(gap,), turned=True)
    derived.outer, derived.kinds = (("min", (y,)),), [Kind("I", "ℓ_L", derived.kinds[0].loss, "ℓ_L")]
    if derived.balanced:
        derived.defined["b"] = ((), c - Dot(w, x[0]))
        derived.centred, derived.balanced = True, False
        after = derived.primal(*derived.losses(lambda kind: kind.convex))
        derived.add(Lemma.CHANGE, "x_0 is the mean of the unlabelled points: b = c - w·x_0.", after)


class _Inner:
    """The steps after labels are variables; A_ij = Γ_ij K_ij, and its diagonal has more if the loss is curved."""

    def __init__(self, derived: Derived, conjugate: Exact) -> None:
        self.derived, self.conjugate = derived, conjugate
        piece = conjugate.pieces[0]
        self.curvature, self.slope, self.constant = piece.a, piece.b, piece.c

    def derive(self) -> None:
        """The dual for given labels, the matrix in place of their products, the dual of that."""
        self.derived.by_conjugates()
        self.derived.weigh()
        self.derived.use_kernel()
        self.box = self.derived.line.conditions
        self._matrix()
        self._dual_of_matrix()

    def rest(self) -> Formula:
        found = [self.derived.rest]
        if self.constant:
            found.append(-self.constant * Sum("i", "I", cost["i"]))
        return total(found)

    def _matrix(self) -> None:
        derived, two = self.derived, alpha["i"] * alpha["j"]
        linear = self.slope * alpha["i"] - (c * (alpha["i"] * g["i"]) if derived.centred else 0)
        bent = Sum("i", "I", self.curvature * (Square(alpha["i"]) / cost["i"]))  # of the conjugates
        self.gains = [Sum("i", "I", linear), -bent if self.curvature else formula(0), self.rest()]
        self.quadratic = -half * Sum("i", "I", Sum("j", "I", two * Gamma["i", "j"] * kernel["i", "j"]))
        labels = {"Γ": (("i", "j"), y["i"] * y["j"]), "g": (("i",), y["i"])}
        border = ", bordered by g and 1," if derived.centred else ""
        rank = (f"Γ{border} has rank one", rf"\text{{rank}}\,\Gamma = 1\text{{{border.rstrip(',')}}}")
        ones = Condition(Gamma["i", "i"], "=", formula(1), "i", "I")
        psd = ("Γ ⪰ 0 (8)", r"\Gamma \succeq 0")
        block = ("Γ_ij = y_i y_j for i, j ∈ L", r"\Gamma_{ij} = y_i y_j \;(i, j \in L)")
        inner = (("max", (alpha,)),)
        line = Line(total([self.quadratic, *self.gains]), "", (("min", (Gamma,)), *inner), (*self.box, ones),
                    (psd, block, rank))  # fmt: skip
        form = Sum("i", "I", Sum("j", "I", z["i"] * z["j"] * Gamma["i", "j"]))
        derived.add(
            Lemma.SIGNS,
            "Γ_ij = y_i y_j, which has ones on its diagonal, and z'Γz = (Σ z_i y_i)².",
            line,
            added=(ones,),
            defined=derived.defined | labels,
            identities=((form, Square(Sum("i", "I", z["i"] * y["i"]))),),
        )
        derived.add(
            Lemma.RELAXED,
            "The rank is left out, the only condition that is not convex: a lower bound.",
            Line(line.formula, "", line.optimized, line.conditions, (psd, block)),
            relation=">=",
        )
        self.also, self.ones = (psd, block), ones

    def _dual_of_matrix(self) -> None:
        derived = self.derived
        factors = (nu["i"], mu["i"])[: len(self.box)]
        signs = tuple(Condition(one, ">=", formula(0), "i", "I") for one in factors)
        whole = total([self.quadratic, *self.gains, *(one.times(f) for one, f in zip(self.box, factors, strict=True))])
        outer = ("min", (Gamma, nu, *([mu] if len(factors) > 1 else [])))
        derived.add(
            Lemma.LAGRANGIAN,
            "For a given Γ ⪰ 0 what is maximized is concave, as Γ ∘ K ⪰ 0 (Schur): nothing is lost.",
            Line(whole, "", (outer, ("max", (alpha,))), (self.ones, *signs), self.also),
            relation="=",
            dropped=tuple(self.box),
            added=signs,
            multipliers=tuple(-one for one in factors),
        )
        pulled = self.slope + nu["i"] - (mu["i"] if len(factors) > 1 else 0)
        pulled = pulled - c * g["i"] if derived.centred else pulled
        own: Formula = Sum("j", "I", Gamma["i", "j"] * kernel["i", "j"] * a["j"])
        if self.curvature:
            own = own + 2 * self.curvature * (a["i"] / cost["i"])
        equation = Condition(own, "=", pulled, "i", "I")
        square = self._form(a)
        apart = self._form(alpha, a)
        paid = (
            Sum("i", "I", -formula(self.conjugate.domain[0]) * cost["i"] * mu["i"]) if len(factors) > 1 else formula(0)
        )
        line = Line(total([half * square, paid, self.rest()]), "", (outer,), (self.ones, *signs, equation), self.also)
        # The equation gives ν, with which the line before is this one less a form of a matrix that is ⪰ 0.
        given = total([own, *([mu["i"]] if len(factors) > 1 else []), *([c * g["i"]] if derived.centred else [])])
        derived.add(
            Lemma.SQUARE,
            "The maximum is at α = a if (Γ ∘ K) a are the factors of α; without such an a there is none.",
            line,
            gaps=(Gap(half * apart, "form"),),
            turned=True,
            added=(equation,),
            defined=derived.defined | {"ν": (("i",), given - self.slope)},
        )
        self._schur(line, own, square, paid)

    def _form(self, one: Symbol, other: Symbol | None = None, times: Any = 1) -> Formula:
        """d'Ad for d = one, or one - times other."""

        def d(i: str) -> Formula:
            return one[i] if other is None else one[i] - times * other[i]

        form: Formula = Sum("i", "I", Sum("j", "I", d("i") * d("j") * Gamma["i", "j"] * kernel["i", "j"]))
        if self.curvature:
            form = form + 2 * self.curvature * Sum("i", "I", Square(d("i")) / cost["i"])
        return form

    def _schur(self, line: Line, own: Formula, square: Formula, paid: Formula) -> None:
        derived = self.derived
        matrix = "A = Γ ∘ K" + (" + a diagonal" if self.curvature else "")
        text = f"[[A, A a], [a'A, 2 t - 2 Σ C_i μ_i]] ⪰ 0 with {matrix}, A a as above (10)"
        tex = r"\begin{pmatrix} A & A a \\ a^\top A & 2 t - 2 \sum_i C_i \mu_i \end{pmatrix} \succeq 0"
        tex += r",\; A = \Gamma \circ K"
        if not isinstance(paid, Sum):
            text, tex = text.replace(" - 2 Σ C_i μ_i", ""), tex.replace(r" - 2 \sum_i C_i \mu_i", "")
        if self.curvature:
            tex += r" + \text{a diagonal}"
        # z'Az + 2 q z'Aa + q² s is the form of the bordered matrix at (z, q), with s in its corner.
        corner = Symbol("s")
        bordered = self._form(z) + 2 * q * Sum("i", "I", z["i"] * own) + Square(q) * corner
        moved = self._form(z, a, -q) + Square(q) * (corner - square)
        line = Line(t, "", (("min", (*line.optimized[0][1], t)),), line.conditions, (*line.also, (text, tex)))
        derived.add(
            Lemma.SCHUR,
            "t is what was minimized. With s in the corner the form of this matrix at (z, q) is that of A at z + q a, "
            "plus q² (s - a'A a).",
            line,
            defined=derived.defined | {"t": ((), derived.line.formula)},
            identities=((bordered, moved),),
        )
        form = Sum("i", "I", Sum("j", "I", z["i"] * z["j"] * Gamma["i", "j"]))
        known = Sum("i", "L", z["i"] * y["i"])
        cross = Sum("i", "U", z["i"] * g["i"])
        small = Square(known) + 2 * known * cross + Sum("i", "U", Sum("j", "U", z["i"] * z["j"] * Gamma["i", "j"]))
        reduced = ("[[1, g'], [g, Γ_UU]] ⪰ 0", r"\begin{pmatrix} 1 & g^\top \\ g & \Gamma_{UU} \end{pmatrix} \succeq 0")
        derived.add(
            Lemma.KNOWN_BLOCK,
            "Γ ⪰ 0 with Γ_ij = y_i y_j for known labels has Γ_ij = y_i g_j beside them: its form at z is that of the "
            "smaller matrix at (Σ_{i∈L} z_i y_i, z_U).",
            Line(t, "", line.optimized, line.conditions, (reduced, *line.also[1:])),
            defined=derived.defined | {"Γ": (("i", "j"), _blocks())},
            identities=((form, small),),
        )


def _blocks() -> Formula:
    """Γ_ij where labels of i or j are known; l_i is 1 if i is labelled, and 0 if not."""
    l, rest = Symbol("l"), Symbol("Γ_UU", is_symmetric=True)
    i, j = (l[one] * y[one] for one in "ij")
    free_i, free_j = ((1 - l[one]) * g[one] for one in "ij")
    both = (1 - l["i"]) * (1 - l["j"]) * rest["i", "j"]
    return total([i * j, i * free_j, j * free_i, both])
