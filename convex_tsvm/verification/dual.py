"""Derivations of a formulation: its convex step, and the dual of that, from losses and constraints alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from ..formulations import Formulation
from ..losses import PLQ, SplitLoss, hinge
from . import exact as claim
from .exact import Claim, Exact, exact_or_given
from .steps import Chain, Condition, Gap, Lemma, Line, Setting, zero
from .symbols import Applied, Dot, Formula, Quotient, Square, Sum, Symbol, formula, total

half = Fraction(1, 2)

w, x = Symbol("w", is_vector=True), Symbol("x", is_vector=True)
b, c, k, y, m, cost, kernel = (Symbol(name) for name in ("b", "c", "k", "y", "m", "C", "K"))
alpha, beta, nu, xi = Symbol("α", r"\alpha"), Symbol("β", r"\beta"), Symbol("ν", r"\nu"), Symbol("ξ", r"\xi")
alpha_tilde, start = Symbol("α̃", r"\tilde\alpha"), Symbol("t⁰", "t^0")


def applied(name: str, of: Formula) -> Applied:
    """A function of a formula, with its name in LaTeX."""
    return Applied(name, name.replace("ℓ", r"\ell ").replace("*", "^*").strip(), of)


@dataclass
class Kind:
    """What points of a set pay: C_i times a function of y_i f(x_i)."""

    over: str  # the set, "L" or "U"
    name: str
    loss: Any
    convex: str  # names of the convex part, and of the concave one if there is any
    concave: str = ""

    def pays(self, of: str, argument: Formula) -> Sum:
        """C_i times one of its functions, summed over the points."""
        return Sum("i", self.over, cost["i"] * applied(of, argument))


class Derived(Chain):
    """What is derived from a formulation, a step after the other.

    ``copies`` is r, if ℓ_U(t) = r(t) + r(-t) + a constant and unlabelled points are to stand there once for each label.
    """

    labels_are_free = False  # whether unlabelled points have labels that are to be found
    centred = False  # whether the balance has set the bias, and x_i stand less their mean
    outer: tuple[Any, ...] = ()  # what is minimized over besides, such as labels

    def __init__(self, formulation: Formulation, copies: PLQ | None = None) -> None:
        self.formulation, self.copies, self.functions = formulation, copies, {}
        model = formulation
        for name in ("constraints", "groups", "additions"):
            if getattr(model, name):
                raise ValueError(
                    f"{name}={list(getattr(model, name))!r}: derivations are of losses, a balance and R(w)"
                )
        if model.balances_targets:
            raise ValueError("balance='targets': derivations are of a mean of outputs, balance='linear' or None")
        self.balanced = model.balance == "linear" and model.unlabeled is not None
        self.kinds = [self._kind("L", model.labeled)]
        if model.unlabeled is not None:
            self.kinds.append(self._kind("U", model.unlabeled))
        self.tangents: list[Formula] = []  # Σ β_i y_i f(x_i), once there are tangents
        self.rest: Formula = formula(0)  # constants
        charged = [self.kinds[0].pays("ℓ_L", self.margin("i"))]
        if len(self.kinds) > 1:
            charged.append(Sum("i", self.once, cost["i"] * applied("ℓ_U", self.output("i"))))
        super().__init__(self.primal(*charged), Setting(), self.functions)

    def _kind(self, over: str, loss: Any) -> Kind:
        name = f"ℓ_{over}"
        self.functions[name] = exact_or_given(loss)
        return Kind(over, name, loss, name)

    @property
    def setting(self) -> Setting:
        """The sets of points, and what their symbols mean."""
        tangents = "".join(kind.over for kind in self.kinds if kind.concave)
        has_mean, unlabeled = self.balanced or self.centred, self.formulation.unlabeled is not None
        return Setting(unlabeled, self.copies is not None, has_mean, tangents, self.labels_are_free)

    @property
    def once(self) -> str:
        """The set of the unlabelled points, each once."""
        return "U" if self.copies is None else "F"

    @property
    def all(self) -> str:
        """The set of all points that pay."""
        return "L" if self.formulation.unlabeled is None else "I"

    @property
    def has_bias(self) -> bool:
        return self.formulation.fit_intercept and not self.centred

    def feature(self, i: Any) -> Formula:
        """What is multiplied with w in an output."""
        return x[i] - x[0] if self.centred else x[i]

    def output(self, i: Any) -> Formula:
        """f(x_i)."""
        return Dot(w, self.feature(i)) + (c if self.centred else b if self.has_bias else 0)

    def margin(self, i: Any) -> Formula:
        """y_i f(x_i)."""
        return y[i] * self.output(i)

    @property
    def regularizer(self) -> Formula:
        return half * Square(w) if self.formulation.regularizer.is_squared_norm else Applied("R", "R", w)

    def losses(self, of: Callable[[Kind], str], at: Formula | None = None) -> list[Formula]:
        """What all kinds pay, by one of their functions, where there is one."""
        return [kind.pays(of(kind), self.margin("i") if at is None else at) for kind in self.kinds if of(kind)]

    def primal(self, *terms: Formula, over: Sequence[Symbol] = (), conditions: Sequence[Condition] = ()) -> Line:
        """A line of the primal: some terms besides the regularizer, and the constants so far."""
        outputs, size = Sum("i", self.once, self.output("i")), Symbol(f"|{self.once}|")
        balance = Condition(Quotient(outputs, size), "=", c)
        under = (*([balance] if self.balanced else []), *conditions)
        found = (w, *([b] if self.has_bias else []), *over)
        return Line(total([self.regularizer, *terms, self.rest]), "", (*self.outer, ("min", found)), under)

    # ------------------------------------------------------------------ what is convex

    def convexify(self) -> None:
        """Copies, convex and concave parts, and tangents of these."""
        if self.copies is not None:
            self._copy(self.kinds[1], self.copies)
        bent = [kind for kind in self.kinds if not getattr(kind.loss, "is_convex", False)]
        for kind in bent:
            if not isinstance(kind.loss, SplitLoss):
                raise ValueError(f"{kind.loss!r} has no convex and concave part: only its relaxation can be derived")
        if bent:
            self._split(bent)
            self._follow_tangents(bent)

    def _copy(self, kind: Kind, loss: PLQ) -> None:
        self.functions["r"] = Exact.of(loss)
        kind.loss, kind.name, kind.convex = loss, "r", "r"
        constant = self.functions["ℓ_U"](0) - 2 * self.functions["r"](0)
        self.rest = constant * Sum("i", "F", cost["i"])
        known = claim.is_even_sum("ℓ_U", "r", constant)
        self.add(
            Lemma.COPIES,
            f"{known.says}. Each unlabelled point of F stands in U twice, with y_i = 1 and y_i = -1.",
            self.primal(*self.losses(lambda kind: kind.name)),
            claims=(known,),
            meaning={"ℓ_U": lambda point, t: point.apply("r", t) + point.apply("r", -t) + constant},
        )

    def _split(self, bent: list[Kind]) -> None:
        known: list[Claim] = []
        meaning = {}
        for kind in bent:
            kind.convex, kind.concave = f"u_{kind.over}", f"v_{kind.over}"
            whole = self.functions[kind.name]
            u, v = whole.split(kind.loss) if isinstance(whole, Exact) else kind.loss.split()
            self.functions[kind.convex] = u if isinstance(whole, Exact) else exact_or_given(u)
            self.functions[kind.concave] = v
            known += [claim.is_sum(kind.name, kind.convex, kind.concave), claim.is_convex(kind.convex)]
            known.append(claim.is_concave(kind.concave))
            names = kind.convex, kind.concave
            meaning[kind.name] = lambda point, t, names=names: sum(point.apply(name, t) for name in names)
        after = self.primal(*self.losses(lambda kind: kind.convex), *self.losses(lambda kind: kind.concave))
        self.add(Lemma.SPLIT, claim.told(known), after, claims=tuple(known), meaning=meaning)

    def _follow_tangents(self, bent: list[Kind]) -> None:
        constants, gaps = [self.rest], []
        for kind in bent:
            there = cost["i"] * applied(kind.concave, start["i"])
            constants.append(Sum("i", kind.over, there - beta["i"] * start["i"]))
            above = there + beta["i"] * (self.margin("i") - start["i"])
            more = Sum("i", kind.over, above - cost["i"] * applied(kind.concave, self.margin("i")))
            # How far a tangent of a concave function is above it, which is never negative.
            further = beta["i"] / cost["i"] * (self.margin("i") - start["i"])
            shape = applied(kind.concave, start["i"]) + further - applied(kind.concave, self.margin("i"))
            gaps.append(Gap(more, "claim", shape=Sum("i", kind.over, cost["i"] * shape)))
        over = bent[0].over if len(bent) == 1 else "I"
        self.tangents = [Sum("i", over, beta["i"] * self.margin("i"))]
        self.defined["k"] = ((), total(constants))
        self.rest = k
        parts = " and ".join(kind.concave for kind in bent)
        self.add(
            Lemma.TANGENT,
            f"β_i is C_i times a slope of {parts} at t⁰_i, where the tangents touch; k = {total(constants)}.",
            self.primal(*self.losses(lambda kind: kind.convex), *self.tangents),
            relation="<=",
            claims=tuple(claim.is_concave(kind.concave) for kind in bent),
            gaps=tuple(gaps),
            turned=True,
        )

    @property
    def has_slacks(self) -> bool:
        """Whether all convex parts are hinge losses, which slack variables stand for."""
        found = [self.functions[kind.convex] for kind in self.kinds]
        return all(isinstance(f, Exact) and f.equals(Exact.of(hinge())) for f in found)

    def with_slacks(self) -> None:
        """Slack variables in place of hinge losses."""
        margins = Condition(self.margin("i"), ">=", 1 - xi["i"], "i", self.all)
        nonnegative = Condition(xi["i"], ">=", formula(0), "i", self.all)
        paid = Sum("i", self.all, cost["i"] * xi["i"])
        gaps = []
        for kind in self.kinds:
            more = cost["i"] * (xi["i"] - applied(kind.convex, self.margin("i")))
            gaps.append(Gap(Sum("i", kind.over, more), "slack", (margins, nonnegative)))
        known = [claim.is_hinge(kind.convex) for kind in self.kinds]
        self._add_slacks(claim.told(known), paid, (margins, nonnegative), known, gaps)

    def _add_slacks(self, why: str, paid: Formula, under: Sequence[Condition], known: list[Claim], gaps: Any) -> None:
        after = self.primal(paid, *self.tangents, over=(xi,), conditions=under)
        more = {"claims": tuple(known), "gaps": tuple(gaps), "added": tuple(under)}
        self.add(Lemma.SLACK, why, after, turned=True, **more)

    def with_epigraphs(self) -> None:
        """Slack variables in place of convex piecewise linear losses: each is the least number above all its lines."""
        under, gaps, known = list[Condition](), [], []
        for kind in self.kinds:
            f, margin = self.functions[kind.convex], self.margin("i")
            own = [Condition(xi["i"], ">=", piece.b * margin + piece.c, "i", kind.over) for piece in f.pieces]
            ends = zip(f.domain, (1, -1), strict=True)
            own += [
                Condition(sign * margin, ">=", formula(sign * end), "i", kind.over)
                for end, sign in ends
                if abs(end) < inf
            ]
            more = cost["i"] * (xi["i"] - applied(kind.convex, margin))
            gaps.append(Gap(Sum("i", kind.over, more), "slack", tuple(own)))
            known.append(claim.is_convex(kind.convex))
            under += own
        paid = Sum("i", self.all, cost["i"] * xi["i"])
        why = f"{claim.told(known)} A convex piecewise linear function is the largest of its lines."
        self._add_slacks(why, paid, under, known, gaps)

    def with_margins(self) -> None:
        """A variable for each output, with its label."""
        equal = tuple(Condition(self.margin("i"), "=", m["i"], "i", kind.over) for kind in self.kinds)
        losses = self.losses(lambda kind: kind.convex, m["i"])
        self.add(
            Lemma.VARIABLE,
            "m_i stands for y_i f(x_i).",
            self.primal(*losses, *self.tangents, over=(m,), conditions=equal),
            added=equal,
            defined=self.defined | {"m": (("i",), self.margin("i"))},
        )

    # ------------------------------------------------------------------ the dual

    def dualize(self) -> None:
        (self._by_slacks if self.has_slacks else self.by_conjugates)()
        if self.has_bias:
            condition = Condition(Sum("i", self.index, self.coefficient("i")), "=", formula(0))
            name = self.line.name.replace(", b", "")
            after = self._dual(self.gains, (*self.line.conditions, condition), name=name)
            self.add(Lemma.FREE, "b stands in one term.", after, gaps=(zero(-1 * b, condition),), added=(condition,))
        self.weigh()
        if self.formulation.regularizer.is_squared_norm:
            self.use_kernel()
        if self.has_slacks and self.tangents and self.formulation.regularizer.is_squared_norm:
            self._substitute()
        known = [claim.is_convex(kind.convex) for kind in self.kinds]
        self.add(
            Lemma.STRONG,
            f"{claim.told(known)} Conditions are affine. The value is that of the primal if these can be met.",
            self.line,
            claims=tuple(known),
        )

    @property
    def index(self) -> str:
        """The points that w is a sum of: all, and their mean x_0 if there is a balance."""
        return "J" if self.balanced else self.all

    def coefficient(self, i: Any) -> Formula:
        """What x_i has in w."""
        return y[i] * (alpha[i] - beta[i]) if self.tangents else y[i] * alpha[i]

    def pull(self) -> Formula:
        """w as a sum over points."""
        return Sum("i", self.index, self.coefficient("i") * self.feature("i"))

    def _dual(self, gains: list[Formula], conditions: Sequence[Condition], bias: bool = False, name: str = "") -> Line:
        """A line without w's own variables: the quadratic term, what multipliers gain, and constants."""
        terms = [alpha[0] * c] if self.balanced else []
        if self.centred:
            terms = [-(c * Sum("i", self.all, self.coefficient("i")))]
        if bias and self.has_bias:
            terms.insert(0, -(b * Sum("i", self.index, self.coefficient("i"))))
        whole = total([*self.quadratic, *gains, *terms, self.rest])
        if name:
            return Line(whole, name, conditions=tuple(conditions))
        return Line(whole, "", (*self.outer, ("max", (alpha,))), tuple(conditions))

    def _lagrangian(self, pairs: list[tuple[Condition, Symbol]], more: Symbol) -> str:
        """Every condition with its multiplier, that of the balance α_0; returns what the function is called then."""
        if self.balanced:
            pairs = [(self.line.conditions[0], alpha[0]), *pairs]
        terms = [self.line.formula, *(-condition.times(factor) for condition, factor in pairs)]
        signs = tuple(Condition(s, ">=", formula(0), one.index, one.over) for one, s in pairs if one.relation == ">=")
        names = ", ".join(dict.fromkeys(factor.name for _, factor in pairs))
        found = ", ".join(one.name for one in self.line.optimized[-1][1] if one is not more)
        self.add(
            Lemma.LAGRANGIAN,
            "Every condition has a multiplier" + (", those of inequalities are not negative." if signs else "."),
            Line(total(terms), f"L({found}, {more.name}; {names})", conditions=signs),
            relation=">=",
            dropped=tuple(one for one, _ in pairs),
            added=signs,
            multipliers=tuple(factor for _, factor in pairs),
        )
        return f"L({found}; {names})"

    def _collect(self, rest: list[Formula]) -> None:
        """The Lagrangian by its variables."""
        self.quadratic = [self.regularizer, -Dot(w, self.pull())]
        after = self._dual(rest, self.line.conditions, bias=True, name=self.line.name)
        mean = "x_0 is the mean of the unlabelled points, y_0 = 1" + (", β_0 = 0" if self.tangents else "")
        known = [mean] if self.balanced else []
        if self.tangents and len(self.kinds) > len(self.setting.tangents):
            known.append("β_i = 0 where there is no tangent")
        self.add(Lemma.COLLECT, ("; ".join(known) or "Terms with w, terms with b, and the rest") + ".", after)

    def _by_slacks(self) -> None:
        self.with_slacks()
        margins, nonnegative = self.line.conditions[-2:]
        name = self._lagrangian([(margins, alpha["i"]), (nonnegative, nu["i"])], xi)
        self.gains: list[Formula] = [Sum("i", self.all, alpha["i"])]
        self._collect([Sum("i", self.all, (cost["i"] - alpha["i"] - nu["i"]) * xi["i"]), *self.gains])
        equal = Condition(cost["i"], "=", alpha["i"] + nu["i"], "i", self.all)
        after = self._dual(self.gains, (*self.line.conditions, equal), bias=True, name=name)
        self.add(Lemma.FREE, "ξ_i stands in one term.", after, gaps=(zero(xi["i"], equal),), added=(equal,))
        self.defined["ν"] = (("i",), cost["i"] - alpha["i"])
        limits = (self.line.conditions[0], Condition(cost["i"], ">=", alpha["i"], "i", self.all))
        self.add(Lemma.CHANGE, "ν_i = C_i - α_i.", self._dual(self.gains, limits, bias=True, name=name))

    def by_conjugates(self) -> None:
        self.with_margins()
        conditions = self.line.conditions[-len(self.kinds) :]
        name = self._lagrangian([(one, alpha["i"]) for one in conditions], m)
        pairs = [cost["i"] * applied(kind.convex, m["i"]) + alpha["i"] * m["i"] for kind in self.kinds]
        self._collect([Sum("i", kind.over, pair) for kind, pair in zip(self.kinds, pairs, strict=True)])
        self.gains, gaps, known, limits = [], [], [], list[Condition]()
        for kind, pair in zip(self.kinds, pairs, strict=True):
            conjugate = f"{kind.convex}*"
            function = self.functions[conjugate] = claim.conjugate(self.functions[kind.convex])
            known.append(claim.is_conjugate(kind.convex, conjugate))
            term, domain = _minus_conjugate(function, conjugate), getattr(function, "domain", (-inf, inf))
            self.gains.append(Sum("i", kind.over, term))
            # Fenchel and Young's inequality, of which the best m_i makes an equation: u(m) + u*(s) >= s m.
            s = -(alpha["i"] / cost["i"])
            shape = cost["i"] * (applied(kind.convex, m["i"]) + applied(conjugate, s) - s * m["i"])
            whole = isinstance(function, Exact) and len(function.pieces) == 1
            polynomials = {conjugate: lambda _, t, f=function: f.pieces[0](t)} if whole else {}
            less = Sum("i", kind.over, pair - term)
            gaps.append(Gap(less, "claim", shape=Sum("i", kind.over, shape), polynomials=polynomials))
            low, high = domain
            if high < inf:
                limits.append(Condition(alpha["i"], ">=", -formula(high) * cost["i"], "i", kind.over))
            if low > -inf:
                limits.append(Condition(-formula(low) * cost["i"], ">=", alpha["i"], "i", kind.over))
        after = self._dual(self.gains, (*self.line.conditions, *limits), bias=True, name=name)
        self.add(Lemma.CONJUGATE, claim.told(known), after, claims=tuple(known), gaps=tuple(gaps), added=tuple(limits))

    def weigh(self) -> None:
        v, known = self.pull(), list[Claim]()
        if self.formulation.regularizer.is_squared_norm:
            self.quadratic, gap = [-half * Square(v)], Gap(half * Square(w - v), "square")
            lemma, why = Lemma.SQUARE, f"w = {v}."
        else:
            self.quadratic = [-Applied("R*", "R^*", v)]
            pair = self.regularizer - Dot(w, v) + Applied("R*", "R^*", v)
            gap = Gap(pair, "claim", shape=pair)
            lemma, why = Lemma.CONJUGATE, f"R(w) = {self.formulation.regularizer}"
            parts = claim.coordinates(self.formulation.regularizer)
            for number, part in enumerate(parts or [], 1):
                name = "ρ" if len(parts or []) == 1 else f"ρ_{number}"
                self.functions |= {name: part, f"{name}*": part.conjugate()}
                known.append(claim.is_conjugate(name, f"{name}*"))
            if parts is None:
                known.append(claim.by_regularizer(self.formulation.regularizer, self.functions))
            why = f"{why}, a sum of functions ρ of weights or of norms. {claim.told(known)}" if parts else f"{why}."
        after = self._dual(self.gains, self.line.conditions)
        self.add(lemma, why, after, claims=tuple(known), gaps=(gap,))

    def use_kernel(self) -> None:
        inner = self.coefficient("i") * self.coefficient("j") * kernel["i", "j"]
        self.quadratic = [-half * Sum("i", self.index, Sum("j", self.index, inner))]
        self.defined["K"] = (("i", "j"), Dot(self.feature("i"), self.feature("j")))
        why = "K_ij = (x_i - x_0)·(x_j - x_0)." if self.centred else "K_ij = x_i·x_j."
        self.add(Lemma.CHANGE, why, self._dual(self.gains, self.line.conditions))

    def _substitute(self) -> None:
        """α̃_i = y_i (α_i - β_i): the coefficients of w, in which the objective is a quadratic form and a line."""
        t, over = alpha_tilde, self.all
        self.defined["α"] = (("i",), y["i"] * t["i"] + beta["i"])
        quadratic = -half * Sum("i", self.index, Sum("j", self.index, t["i"] * t["j"] * kernel["i", "j"]))
        linear = [Sum("i", over, y["i"] * t["i"]), *([c * t[0]] if self.balanced else [])]
        box = [
            Condition(y["i"] * t["i"], ">=", -beta["i"], "i", over),
            Condition(cost["i"] - beta["i"], ">=", y["i"] * t["i"], "i", over),
        ]
        if self.formulation.fit_intercept:
            box.append(Condition(Sum("i", self.index, t["i"]), "=", formula(0)))
        constant = Sum("i", over, beta["i"]) + self.rest
        after = Line(total([*linear, quadratic, constant]), "", (("max", (t,)),), tuple(box))
        self.add(Lemma.CHANGE, "α̃_i = y_i (α_i - β_i), as y_i² = 1.", after)
        bare = Line(total([*linear, quadratic]), "", (("max", (t,)),), tuple(box))
        gap = Gap(constant, "constant")
        self.add(Lemma.CONSTANT, f"{constant} does not depend on α̃.", bare, relation="~", gaps=(gap,))


def _minus_conjugate(f: Any, name: str) -> Formula:
    """-C_i u*(-α_i / C_i), written out where u* is one polynomial."""
    if not isinstance(f, Exact) or len(f.pieces) > 1:
        return -(cost["i"] * applied(name, -(alpha["i"] / cost["i"])))
    a, slope, constant = f.pieces[0][:3]
    return total([-a * (Square(alpha["i"]) / cost["i"]), slope * alpha["i"], -constant * cost["i"]])
