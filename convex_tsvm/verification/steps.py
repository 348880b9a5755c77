"""Lines of a derivation, the steps between them, the lemmas that these use, and what proves a step."""

import itertools
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar

from ..modeling.line_breaks import broken_latex
from .exact import Claim, Functions
from .report import plain
from .symbols import Formula, Point, Square, Sum, Symbol, numbers, total, vector


class Lemma(Enum):
    """A lemma: its title, what it says, and its proof or where that is."""

    COPIES = (
        "even loss as two",
        "ℓ(t) = r(t) + r(-t) + a constant: a point with this loss is two points with the loss r and labels +1 and -1.",
        "An identity of functions of one variable, compared piece by piece.",
    )
    SPLIT = (
        "convex and concave part",
        "ℓ = u + v with u convex and v concave.",
        "An identity of functions of one variable; slopes of u never fall and those of v never rise.",
    )
    TANGENT = (
        "tangent of a concave function",
        "v(t) <= v(t⁰) + β (t - t⁰) for every t, if v is concave and β is a slope of it at t⁰.",
        "Yuille and Rangarajan (2003); a concave function is below each of its tangents.",
    )
    DESCENT = (
        "descent",
        "A tangent has the value of the function where it touches it; a function that is nowhere above another, "
        "and equal to it at a point, is at the other's minimizer no larger than at that point.",
        "Two inequalities and an equation in a row (collobert2006 eq. 6-7).",
    )
    SLACK = (
        "slack variable",
        "The largest of some numbers is the least ξ that is at least each of them.",
        "The largest one is such a ξ, and no smaller number is.",
    )
    VARIABLE = (
        "variable for an output",
        "min over t of φ(a(t)) is the min over t and m of φ(m) under m = a(t).",
        "The equation leaves one m for each t.",
    )
    LAGRANGIAN = (
        "Lagrangian",
        "With any multipliers of equations, and multipliers >= 0 of inequalities, the objective less multipliers "
        "times slacks is nowhere above the objective where the conditions hold.",
        "What is taken away is zero, or a product of two numbers that are not negative.",
    )
    COLLECT = ("terms collected", "A sum may be written in any order.", "An identity of polynomials.")
    FREE = (
        "free variable that stands alone",
        "A function a t + c of a free t has no lower bound unless a = 0, and then it is c.",
        "Let t go to plus or minus infinity.",
    )
    CONJUGATE = (
        "conjugate",
        "min over t of c u(t) + α t is -c u*(-α / c), for c > 0 and -α / c where u* is finite; min over w of R(w)"
        " - w·v is -R*(v).",
        "Fenchel–Young: u(t) + u*(s) >= s t, with equality where s is a subgradient at t (Rockafellar 1970, §12 "
        "and §23).",
    )
    SQUARE = (
        "completing the square",
        "min over w of ½ ‖w‖² - w·v is -½ ‖v‖², at w = v.",
        "½ ‖w‖² - w·v = -½ ‖v‖² + ½ ‖w - v‖².",
    )
    CHANGE = (
        "change of variables",
        "A formula may be written in other symbols, of which the old ones are functions, or which are functions "
        "of those.",
        "Put the definition in.",
    )
    CONSTANT = (
        "constant left out",
        "A constant has no influence on where an optimum is.",
        "It is the same for every point.",
    )
    STRONG = (
        "strong duality",
        "Of a convex problem with affine conditions that can be met, the largest value of the dual is the least "
        "of the primal, and is reached.",
        "Rockafellar (1970), Theorem 28.2 and Corollary 28.3.1; for piecewise linear-quadratic functions no "
        "interior point is needed.",
    )
    ENVELOPE = (
        "convex envelope",
        "A convex function e <= ℓ in place of ℓ makes every value smaller or leaves it.",
        "A difference of pieces that is never negative.",
    )
    BETTER = ("label to be found", "min(ℓ(t), ℓ(-t)) is the least ℓ(y t) over y in {-1, 1}.", "There are two such y.")
    SIGNS = (
        "products of labels are a matrix",
        "Γ = yy' is Γ ⪰ 0 with ones on its diagonal and rank one, and each such Γ is a yy'.",
        "z'yy'z = (z·y)²; a positive semidefinite matrix of rank one is a vv', with v_i² = 1 (debie2004 "
        "Proposition 2.1).",
    )
    RELAXED = (
        "fewer conditions",
        "A minimum over a larger set is no larger.",
        "Whatever is in the smaller set is in the larger one.",
    )
    SCHUR = (
        "Schur complement",
        "[[A, b], [b', t]] ⪰ 0 if and only if A ⪰ 0, b = A a for some a, and t >= a'A a.",
        "The matrix is S'DS with D = diag(A, t - a'A a) and S = [[I, a], [0, 1]] (debie2004 Lemma 2.2).",
    )
    KNOWN_BLOCK = (
        "known block",
        "A matrix ⪰ 0 with the block yy' for known labels has y g' beside it, and is ⪰ 0 if and only if the "
        "matrix with one row for all of them is.",
        "Γ ⪰ 0 and z'Γz = 0 give Γz = 0: rows of known points are multiples of y (debie2004 Proposition 2.3).",
    )

    def __init__(self, title: str, says: str, reason: str) -> None:
        self.title, self.says, self.reason = title, says, reason


def as_latex(text: str) -> str:
    """A function's name as LaTeX in a formula, such as L(w, b; α); or words as text, whose symbols are formulas."""
    shown = plain(unicodedata.normalize("NFD", text))
    if text[1:2] == "(":
        return shown.replace("$", "")
    parts = shown.split("$")
    return "".join(rf"\text{{{one}}}" if k % 2 == 0 else one for k, one in enumerate(parts) if one)


@dataclass(frozen=True, eq=False)
class Condition:
    """left >= right, or left = right, for every member of a set if there is one."""

    left: Formula
    relation: str  # "=" or ">="
    right: Formula
    index: str = ""
    over: str = ""

    def show(self, tex: bool) -> str:
        relation = {"=": "=", ">=": r"\ge" if tex else "≥"}[self.relation]
        shown = f"{self.left.show(tex)} {relation} {self.right.show(tex)}"
        if not self.over:
            return shown
        return rf"{shown}\;(\forall {self.index} \in {self.over})" if tex else f"{shown} for {self.index}∈{self.over}"

    def slacks(self, point: Point) -> list[Any]:
        """left - right, for every member of the set."""
        slack, members = self.left - self.right, point.sets[self.over] if self.over else [0]
        return [slack.value(point.within({self.index: one})) for one in members]

    def times(self, factor: Formula) -> Formula:
        """The sum of a factor times left - right."""
        formula = factor * (self.left - self.right)
        return Sum(self.index, self.over, formula) if self.over else formula


@dataclass(frozen=True)
class Line:
    """A line: what is minimized or maximized over what, or a function, and under which conditions.

    ``optimized`` has pairs such as ``("min", (w, b))``, the outer one first; ``also`` has conditions that are no
    formulas of numbers, such as a matrix that is to be positive semidefinite, each as text and as LaTeX.
    """

    formula: Formula
    name: str = ""  # of the function, such as "L(w, b, ξ; α)"
    optimized: tuple[tuple[str, tuple[Symbol, ...]], ...] = ()
    conditions: tuple[Condition, ...] = ()
    also: tuple[tuple[str, str], ...] = ()

    @property
    def variables(self) -> set[str]:
        """Names of what is minimized or maximized over."""
        return {one.name for _, over in self.optimized for one in over}

    def show(self, tex: bool) -> str:
        """As text, or as LaTeX that is an ``aligned`` environment if there are conditions."""
        widest = 90  # characters of a formula as it looks, after which it is broken over lines
        head = f"{as_latex(self.name) if tex else self.name} = " if self.name else ""
        for sense, over in self.optimized:
            names = ", ".join(one.show(tex) for one in over)
            head += rf"\{sense}_{{{names}}}\; " if tex else f"{sense} over {names} of "
        shown = head + self.formula.show(tex)
        conditions = [*(one.show(tex) for one in self.conditions), *(one[tex] for one in self.also)]
        if tex:
            rows = [*broken_latex(shown, widest), *(rf"\quad {one}" for one in conditions)]
            return rows[0] if len(rows) == 1 else r"\begin{aligned} &" + r" \\ &".join(rows) + r" \end{aligned}"
        return shown + ("\n    where " + ", ".join(conditions) if conditions else "")

    def __str__(self) -> str:
        return self.show(False)


@dataclass(frozen=True)
class Gap:
    """A part of what one line has more than the next, and why it is not negative.

    ``kind`` is "square"; "form", of a matrix that is ⪰ 0; "zero", something times an equation among the conditions of
    the next line; "slack", where all ``conditions`` are among those; "constant", of none of the next line's variables;
    or "claim", where it has the ``shape`` of a lemma whose conditions are claims of the step.  In a shape
    ``polynomials`` stand for functions.
    """

    formula: Formula
    kind: str
    conditions: tuple[Condition, ...] = ()
    shape: Formula | None = None
    polynomials: Mapping[str, Callable[[Point, Any], Any]] = field(default_factory=dict)

    def is_sound(self, step: "Step", points: list[Point]) -> bool:
        """Whether the reason applies."""
        after = step.after
        if self.kind == "square":
            return is_square(self.formula, step.positive)
        if self.kind == "form":  # a quadratic form of the entrywise product of two matrices that are ⪰ 0
            return any(text.startswith("Γ ⪰ 0") for text, _ in after.also)
        if self.kind == "constant":
            return step.relation == "~" and not self.formula.symbols() & after.variables
        if self.shape is not None:
            read = [replace(point, functions=self.polynomials) for point in points]
            return bool(step.claims) and all(self.formula.value(one) == self.shape.value(one) for one in read)
        return all(any(alike(one, other, points) for other in after.conditions) for one in self.conditions)


def is_square(formula: Formula, positive: Collection[str] = ()) -> bool:
    """Whether a formula is a square, or a sum of such, times positive numbers and symbols."""
    if isinstance(formula, Sum):
        return is_square(formula.of, positive)
    factors = formula.parts() if getattr(formula, "factor", 0) > 0 else (formula,)
    rest = [one for one in factors if not (isinstance(one, Symbol) and one.name in positive)]
    return len(rest) == 1 and (
        isinstance(rest[0], Square) or (isinstance(rest[0], Sum) and is_square(rest[0], positive))
    )


def zero(factor: Formula, condition: Condition) -> Gap:
    """A factor times a condition that is an equation."""
    assert condition.relation == "="
    return Gap(condition.times(factor), "zero", (condition,))


@dataclass(frozen=True)
class Proof:
    """What proving a step has found: whether it is ``proven``, ``how``, one of ``kinds``, and the ``detail``."""

    #: How a step is proven, from the strongest to the weakest.
    kinds: ClassVar[tuple[str, ...]] = ("exact", "identity", "inequality", "numbers")

    proven: bool
    how: str
    detail: str


@dataclass(frozen=True)
class Step:
    """From one line to the next, by a lemma.

    The line before is the next one plus the gaps, or, if ``turned``, the next one is the line before plus the gaps; in
    either case under the definitions, and with what ``meaning`` says of functions.  The conditions are those before
    without those dropped and with those added, but for those that the definitions make true.  With multipliers, the
    line before is the next one plus multipliers times the dropped conditions.
    """

    lemma: Lemma
    why: str
    before: Line
    after: Line
    relation: str = "="  # of the values of both lines: "=", ">=" or "<="
    claims: tuple[Claim, ...] = ()
    gaps: tuple[Gap, ...] = ()
    dropped: tuple[Condition, ...] = ()
    added: tuple[Condition, ...] = ()
    multipliers: tuple[Formula, ...] = ()  # of the dropped conditions
    turned: bool = False
    identities: tuple[tuple[Formula, Formula], ...] = ()  # that the lemma needs besides
    defined: Mapping[str, tuple[tuple[str, ...], Formula]] = field(default_factory=dict)
    meaning: Mapping[str, Callable[[Point, Any], Any]] = field(default_factory=dict)
    positive: tuple[str, ...] = ()  # symbols that are positive, such as costs
    source: str = ""  # where a paper has the line after it

    def how(self, functions: Functions) -> str:
        """How the step is proven: one of ``Proof.kinds``, the weakest of what it takes."""
        if not all(claim.is_exact(functions) for claim in self.claims):
            return "numbers"
        if self.relation != "=" or any(gap.kind in ("square", "slack", "claim") for gap in self.gaps):
            return "inequality"
        return "exact" if self.claims else "identity"

    def prove(self, functions: Functions, points: Callable[..., Iterator[Point]]) -> Proof:
        """Prove the step: the claims, then the identity, then the conditions and the reasons of the gaps."""
        how = self.how(functions)
        for claim in self.claims:
            if not claim.holds(functions):
                return Proof(False, how, f"it is not so that {claim.says}")
        places = list(points(self.defined, self.meaning))
        upper, lower = (self.after, self.before) if self.turned else (self.before, self.after)
        products = [c.times(m) for c, m in zip(self.dropped, self.multipliers, strict=False)]
        least = total([lower.formula, *(gap.formula for gap in self.gaps), *products])
        for point in places:
            if upper.formula.value(point) != least.value(point):
                return Proof(False, how, "both sides differ at random numbers")
        for one, other in self.identities:
            if any(one.value(point) != other.value(point) for point in places):
                return Proof(False, how, f"{one} is not {other}")
        for gap in self.gaps:
            if not gap.is_sound(self, places):
                return Proof(False, how, f"{gap.formula} need not be ≥ 0")
        kept = [one for one in self.before.conditions if not any(one is other for other in self.dropped)]
        if not same(kept, list(self.added), self.after.conditions, places):
            return Proof(False, how, "the conditions are others")
        told = [claim.says for claim in self.claims] or (["the line is the same"] if self.before is self.after else [])
        if self.before.formula is not self.after.formula or self.identities:
            chance = f"{Setting.most_degree / 2**Point.bits:.0e}"
            told.append(f"an identity at {len(places)} random points; a false one passes with probability < {chance}")
        return Proof(True, how, "; ".join(told))


def same(kept: list[Condition], added: list[Condition], found: Sequence[Condition], points: list[Point]) -> bool:
    """Whether conditions are those kept, but for equations that definitions make true, and those added."""
    left = list(found)
    for one in [*kept, *added]:
        match = next((other for other in left if alike(one, other, points)), None)
        if match is not None:
            left.remove(match)
        elif one in added or one.relation != "=" or any(any(one.slacks(point)) for point in points):
            return False
    return not left


def alike(one: Condition, other: Condition, points: list[Point]) -> bool:
    """Whether two conditions are the same: their slacks are equal, or for equations of either sign."""
    if (one.relation, one.over) != (other.relation, other.over):
        return False
    pairs = [(one.slacks(point), other.slacks(point)) for point in points]
    if all(a == b for a, b in pairs):
        return True
    return one.relation == "=" and all(a == [-v for v in b] for a, b in pairs)


@dataclass(frozen=True)
class Setting:
    """The sets of points of a derivation, and the values that symbols have by their meaning.

    ``copies`` says whether unlabelled points F stand in U once for each label; otherwise U is F, with labels 1.  Labels
    are 1 or -1: all patterns of the labelled points' are gone through.
    """

    #: Numbers of labelled points, of others, and of features, at which identities are looked at.
    sizes: ClassVar[tuple[tuple[int, int, int], ...]] = ((1, 1, 1), (2, 3, 2), (3, 2, 4))
    #: No formula of a derivation is a polynomial of a higher degree than this.
    most_degree: ClassVar[int] = 16

    unlabeled: bool = True
    copies: bool = False
    balanced: bool = True
    tangents: str = "U"  # letters of the sets whose losses have a concave part
    free_labels: bool = False  # whether unlabelled points have labels that are to be found
    shares: tuple[str, ...] = ()  # symbols between 0 and 1, such as probabilities
    legend: str = ""  # what symbols are, in place of what they are of a formulation

    def points(self, defined: Mapping[str, Any], meaning: Mapping[str, Any]) -> Iterator[Point]:
        """Points at which formulas are evaluated, for some sizes and all labels."""
        for number, (known, unknown, dimension) in enumerate(self.sizes[:2] if self.free_labels else self.sizes):
            count = known + unknown if self.free_labels else known
            for pattern, signs in enumerate(itertools.product((1, -1), repeat=count)):
                point = self.point(known, unknown, dimension, signs, numbers(100 * number + pattern))
                yield replace(point, defined=defined, functions=meaning)

    def point(self, known: int, unknown: int, dimension: int, signs: tuple[int, ...], draw: Callable[[], Any]) -> Point:
        """A point with labels, and for copies with the same x twice."""
        L = list(range(1, known + 1))
        others = unknown if self.unlabeled else 0
        U = list(range(known + 1, known + 1 + (2 * others if self.copies else others)))
        first = U[:others]
        sets = {
            "L": L,
            "U": U,
            "F": first,
            "I": L + U,
            "J": [*([0] if self.balanced else []), *L, *U],
            "D": list(range(dimension)),
        }
        point = Point(sets, dimension, draw)
        point.values |= {("y", i): 1 if i in first else -1 for i in U} | {("y", 0): 1}
        point.values |= {("y", i): sign for i, sign in zip(L + U, signs, strict=False)}
        straight = [i for name in "LU" if name not in self.tangents for i in sets[name]]
        point.values |= {("l", i): int(i in L) for i in L + U}
        point.values |= {("β", i): 0 for i in (0, *straight)} | {("|F|",): others, ("|U|",): len(U)}
        x = Symbol("x", is_vector=True)
        for i in first:  # multiples of their number, whose mean has no fractions
            point.values["x", i] = others * x[i].value(point)
        if self.copies:
            for i in first:  # a copy is the same point, at the same cost
                for symbol in (x, Symbol("C")):
                    point.values[symbol.name, i + others] = symbol[i].value(point)
        if first:
            mean = Sum("i", "F", x["i"]).value(point)
            point.values["x", 0] = vector(one // others if isinstance(one, int) else one / others for one in mean)
        return point


class Chain:
    """A derivation that is being made: the last line, and the steps so far."""

    def __init__(self, line: Line, setting: Setting, functions: Mapping[str, Any] | None = None) -> None:
        self.problem = self.line = line
        self._setting = setting
        self.functions: dict[str, Any] = dict(functions or {})
        self.steps: list[Step] = []
        self.defined: dict[Any, Any] = {}  # what symbols stand for from here on

    @property
    def setting(self) -> Setting:
        """The sets of points, and what their symbols mean."""
        return self._setting

    def add(self, lemma: Lemma, why: str, after: Line, **more: Any) -> None:
        """Add a step from the last line; ``more`` are fields of :class:`Step`."""
        more = {"defined": dict(self.defined)} | more
        self.steps.append(Step(lemma, why, self.line, after, **more))
        self.line = after
