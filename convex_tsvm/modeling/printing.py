"""CVXPY problems in the symbols of the papers: names in place of numbers, at any size, as text and as LaTeX.

A :class:`ReadableProblem` is an ordinary ``cvxpy.Problem`` that prints itself.  CVXPY writes out arrays and indices;
here constants have names, parts of vectors the names of their points, and what each symbol is stands below.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any

import cvxpy as cp
import numpy as np

from .line_breaks import LINE_WIDTH, broken, broken_latex

#: Of the symbols of problems: as text, as LaTeX, and what they are.
SYMBOLS = {
    "f": ("f", "f", "outputs of the points"),
    "w": ("w", "w", "weights"),
    "a": ("a", "a", "coefficients of the kernel expansion"),
    "b": ("b", "b", "bias"),
    "gamma": ("γ", r"\gamma", "dual variables of the points"),
    "gamma0": ("γ₀", r"\gamma_0", "dual variable of the balance"),
    "slope": ("β", r"\beta", "costs times slopes of the tangents"),
    "target": ("c", "c", "mean output of the unlabelled points, as balance says"),
    "constant": ("β₀", r"\beta_0", "the constant term of all tangents"),
    "X": ("X", "X", "the points, one a row"),
    "Xᵀ": ("Xᵀ", r"X^\top", "the points, one a column"),
    "K": ("K", "K", "kernel values"),
    "K_x0": ("K₀", "K_0", "kernel values of the points and, after them, of x₀, the mean of the unlabelled ones"),
    "K_points": ("K", "K", "the rows of K₀ that are of the points"),
    "K_centred": ("K_c", r"K_{\mathrm{c}}", "<Φ(x) - x₀, Φ(z) - x₀>, x₀ the mean of the unlabelled points"),
    "K_sums": ("K₊", "K_+", "kernel values of the points, of x₀ if γ₀ is there, and of the sums in constraints"),
    "K_centred_sums": ("K_c₊", r"K_{\mathrm{c}+}", "the same about x₀, the mean of the unlabelled points"),
    "mean": ("m", "m", "mean of the unlabelled points, in the coordinates of w or a"),
    "Z": ("Z", "Z", "a factor of the kernel values, K = Z Zᵀ"),
    "feature_weights": ("λ", r"\lambda", "feature_weights of the regularizer"),
    "A": ("A", "A", "constraints on outputs, one a row, in the coordinates of w"),
    "sums": ("q", "q", "sums of the rows of the constraints, what b is multiplied with"),
    "row": ("r", "r", "coefficients of a constraint on outputs"),
    "lower": ("l", r"\ell", "lower ends of constraints"),
    "upper": ("u", "u", "upper ends of constraints"),
    "places": ("E", "E", "puts the entries of μ in their places"),
    "mu_equal": ("μ", r"\mu", "dual variables of equations"),
    "mu_lower": ("μ⁻", r"\mu^-", "dual variables of lower ends"),
    "mu_upper": ("μ⁺", r"\mu^+", "dual variables of upper ends"),
    "Gamma": ("Γ", r"\Gamma", "label matrix, in labellings y yᵀ"),
    "similarities": ("S", "S", "similarities L' D^-½ K D^-½ L"),
    "S": ("S", "S", "adds the unlabelled points up, and leaves the others as they are"),
    "Sᵀy": ("s", "s", "known labels, and the sum of the others"),
    "lifted": ("X", "X", "in place of [x 1] [x 1]ᵀ"),
    "H": ("H", "H", "projection on eigenvectors h, with v = L h"),
    "Omega": ("Ω", r"\Omega", "makes Γ̃ = Q Ω Qᵀ, whose labels are balanced"),
    "Q": ("Q", "Q", "orthonormal columns, orthogonal to (-q, 1, ..., 1) for labels that sum to q"),
    "Gamma_reduced": ("Γ̃", r"\tilde\Gamma", "label matrix of one known point and the unlabelled ones"),
    "V": ("V", "V", "basis of the subspace of label vectors"),
    "M": ("M", "M", "makes the label matrix, Γ = V M Vᵀ"),
    "t": ("t", "t", "margins, label times output"),
    "y": ("y", "y", "labels, relaxed"),
    "part": ("p", "p", "outputs that count in the positive class, else 0"),
    "zeta": ("ζ", r"\zeta", "how far outputs are from their class's mean, beyond ε"),
    "reach": ("r", "r", "how far outputs may be from zero"),
    "room": ("ρ", r"\rho", "how far outputs may be from a mean"),
    "tau": ("τ", r"\tau", "‖w‖²"),
    "C": ("C", "C", "costs, by C and C_unlabeled"),
    "1/C": ("C⁻¹", "C^{-1}", "one over the costs"),
    "alpha": ("α", r"\alpha", "dual variables of the points, each times its label"),
    "lambda": ("λ", r"\lambda", "dual variables of the diagonal of the label matrix"),
    "B": ("B", "B", "makes of the smaller label matrix that of all points"),
    "v": ("v", "v", "Σ a_i x_i, where w follows from"),
    "yyᵀ": ("y yᵀ", r"y y^\top", "known labels times known labels"),
    "offset": ("o", "o", "what the balance makes of the outputs, a number a point"),
    "yo": ("(y ∘ o)", r"(y \circ o)", "known labels times these numbers"),
    "O": ("O", "O", "these numbers of the unlabelled points, in their rows"),
    "I": ("I", "I", "identity"),
    "1": ("1", r"\mathbf{1}", "ones"),
    "e₀ᵀ": ("e₀ᵀ", r"e_0^\top", "picks the first row"),
}

#: Symbols that belong to one kind of points: prefix of the name, text, LaTeX, and what they are.
OF_KINDS = {
    "u": ("u", "u", "costs times slopes of the losses"),
    "cost": ("C", "C", "costs, by C, C_unlabeled and the cost of groups"),
    "1/cost": ("C⁻¹", "C^{-1}", "one over the costs"),
    "alpha": ("α", r"\alpha", "dual variables of the kinks of the loss"),
    "part": ("t", "t", "the output if it is on that piece of the loss, else 0"),
    "on": ("z", "z", "1 if the output is on that piece of the loss, else 0"),
    "low": ("l", r"\ell", "least outputs on that piece"),
    "high": ("u", "u", "largest outputs on that piece"),
}


class Binding(IntEnum):
    """How tightly an operation binds."""

    SUM = 1
    PRODUCT = 2
    ATOM = 3


class ReadableProblem(cp.Problem):
    """A ``cvxpy.Problem`` that prints itself in symbols; ``parts`` names parts of vectors by their places.

    Once it is solved, ``dual_value`` of its constraints has CVXPY's signs: in the primal that of f = X w + b is γ, that
    of the balance is minus the derivative of the value with respect to c, and that of an inequality is what the value
    rises by per unit that it is tightened; in the dual that of Σ γ = 0 is b.
    """

    def __init__(
        self, objective: Any, constraints: Any = None, *, parts: Mapping[str, np.ndarray[Any, Any]] | None = None
    ) -> None:
        super().__init__(objective, constraints)
        self._parts = dict(parts or {})

    def __str__(self) -> str:
        writer = Writer(self._parts, latex=False)
        head = "minimize" if isinstance(self.objective, cp.Minimize) else "maximize"
        terms = writer.summands(self.objective.args[0])
        whole = " ".join(terms)
        lines = [whole] if len(whole) <= LINE_WIDTH else [part for term in terms for part in broken(term)]
        relations = [part for relation in self._relations(writer) for part in broken(relation)]
        legend = [part for line in writer.legend() for part in broken(line)]
        parts = ((head, lines), ("subject to", relations), ("where", legend))
        return "\n".join(f"{'' if k else name:12s}{line}" for name, own in parts for k, line in enumerate(own))

    def latex(self) -> str:
        """The problem as LaTeX, an ``aligned`` environment without dollars."""
        writer = Writer(self._parts, latex=True)
        head = r"\min" if isinstance(self.objective, cp.Minimize) else r"\max"
        names = list(dict.fromkeys(writer.symbol(one.name())[1] for one in self.variables()))
        if len(names) > 4:  # the letters alone, without the marks of pieces and kinds of points
            names = list(dict.fromkeys(re.split(r"[_^]", name)[0] for name in names))
        found = ", ".join(names)
        parts = [(rf"{head}_{{{found}}}", " ".join(writer.summands(self.objective.args[0])))]
        parts += [("" if k else r"\text{s.t.}", one) for k, one in enumerate(self._relations(writer))]
        rows = []
        for start, line in parts:
            first, *others = broken_latex(line)
            rows += [rf"{start}\quad & {first}", *(rf"& \quad {other}" for other in others)]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _relations(self, writer: "Writer") -> list[str]:
        """The constraints, and what signs variables have."""
        return [writer.relation(constraint) for constraint in self.constraints] + self._signs(writer)

    def _signs(self, writer: "Writer") -> list[str]:
        """Lines that say which variables must not be negative, and which semidefinite, if any."""
        positive = [writer.write(one) for one in self.variables() if one.is_nonneg()]
        semidefinite = [writer.write(one) for one in self.variables() if one.attributes["PSD"]]
        signs = (r"\ge 0", r"\succeq 0") if writer.latex else (">= 0", "⪰ 0")
        return [
            f"{', '.join(found)} {sign}" for found, sign in zip((positive, semidefinite), signs, strict=True) if found
        ]


class Writer:
    """Writes expressions as text or LaTeX, and remembers which symbols it has used."""

    def __init__(self, parts: Mapping[str, np.ndarray[Any, Any]], latex: bool) -> None:
        self.latex = latex
        self._parts = {np.asarray(where).tobytes(): name for name, where in parts.items()}
        self._used: dict[str, tuple[str, str]] = {}  # symbol: what it is, shape

    def symbol(self, name: str) -> tuple[str, str, str]:
        """A name as text and as LaTeX, and what it is."""
        if name in SYMBOLS:
            return SYMBOLS[name]
        for prefix, (text, latex, meaning) in OF_KINDS.items():
            if name.startswith(prefix + "_"):
                kind, *side = name.removeprefix(prefix + "_").split("_", 1)
                mark = "".join({"plus": "+", "minus": "-"}.get(part, part) for part in "".join(side).split("_"))
                raised = f"^{{{mark}}}" if mark else ""
                above = mark.translate(str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
                return f"{text}{above}[{kind}]", rf"{latex}{raised}_{{\text{{{kind}}}}}", meaning
        return name, rf"\text{{{name}}}" if len(name) > 1 else name, ""

    def legend(self) -> list[str]:
        """A line for each kind of symbol that was used: what it is, and its shape."""
        same: dict[str, list[tuple[str, str]]] = {}
        for symbol, (meaning, shape) in self._used.items():
            if meaning:
                same.setdefault(meaning, []).append((symbol, shape))
        lines = []
        for meaning, own in same.items():
            shapes = ", ".join(shape for _, shape in own if shape)
            lines.append(", ".join(symbol for symbol, _ in own) + f": {meaning}" + (f" ({shapes})" if shapes else ""))
        return lines

    def relation(self, constraint: Any) -> str:
        if isinstance(constraint, cp.constraints.PSD):
            return f"{self.write(constraint.args[0])} " + (r"\succeq 0" if self.latex else "⪰ 0")
        left, right = constraint.args
        equal = isinstance(constraint, cp.constraints.Equality)
        sign = "=" if equal else (r"\le" if self.latex else "<=")
        # An equation f - (...) = 0 defines f.
        if equal and _number(right) == 0 and type(left).__name__ == "AddExpression" and len(left.args) == 2:
            first, second = left.args
            if type(second).__name__ == "NegExpression":
                left, right = first, second.args[0]
        return f"{self.write(left)} {sign} {self.write(right)}"

    def write(self, expression: Any, binding: int = 0) -> str:
        """An expression, in brackets where it binds less tightly than its surroundings."""
        text, own = self._written(expression)
        return f"({text})" if own < binding else text

    def _written(self, e: Any) -> tuple[str, int]:
        handler: Callable[[Any], tuple[str, int]] | None = getattr(self, f"_{type(e).__name__}", None)
        if handler is not None:
            return handler(e)
        if isinstance(e, (cp.Variable, cp.Parameter)):
            return self._named(e), Binding.ATOM
        if isinstance(e, cp.Constant):
            return self._constant(e)
        name = type(e).__name__
        norms = {"quad_over_lin": ("^2", "²"), "norm1": ("_1", "₁"), "norm_inf": (r"_\infty", "∞")}
        if name in norms:
            return self._norm(e, *norms[name])
        return self._applied({"diag_mat": "diag", "diag_vec": "Diag"}.get(name, name), *map(self.write, e.args))

    def _applied(self, name: str, *args: str) -> tuple[str, int]:
        """A function of what is in brackets."""
        inner = ", ".join(args)
        return (rf"\operatorname{{{name}}}({inner})" if self.latex else f"{name}({inner})"), Binding.ATOM

    def _norm(self, e: Any, latex: str, text: str) -> tuple[str, int]:
        """A norm, and what is above or below the line behind it."""
        x = self.write(e.args[0])
        return (rf"\lVert {x} \rVert{latex}" if self.latex else f"‖{x}‖{text}"), Binding.ATOM

    def _named(self, e: Any) -> str:
        text, latex, meaning = self.symbol(e.name())
        self._used.setdefault(text, (meaning, "×".join(map(str, e.shape))))
        return latex if self.latex else text

    def _constant(self, e: Any) -> tuple[str, int]:
        if self.symbol(e.name())[2]:
            return self._named(e), Binding.ATOM
        number = _same_everywhere(e)
        if number is not None:
            return f"{number + 0.0:.6g}", Binding.ATOM if number >= 0 else Binding.SUM  # no -0
        shape = "×".join(map(str, e.shape))
        return (rf"\text{{({shape} numbers)}}" if self.latex else f"[{shape} numbers]"), Binding.ATOM

    def summands(self, e: Any) -> list[str]:
        """The terms of a sum, each with its sign; what is positive comes first: 1 - f, not -f + 1."""
        parts = [(number, term) for number, term in map(_times_number, _flat(e)) if number]
        constant = sum(number for number, term in parts if term is None)
        signed = [(number, self._product(abs(number), term)[0]) for number, term in parts if term is not None]
        if constant or not signed:
            signed.insert(0 if len(signed) == 1 and constant > 0 else len(signed), (constant, f"{abs(constant):.6g}"))
        signed.sort(key=lambda part: part[0] < 0)
        first = ("" if signed[0][0] >= 0 else "-") + signed[0][1]
        return [first, *(f"{'+' if number >= 0 else '-'} {text}" for number, text in signed[1:])]

    def _product(self, number: float, e: Any) -> tuple[str, int]:
        """A positive number times an expression that is no number."""
        factor = f"{number:.6g}"
        if factor == "1":
            text, binding = self._written(e)
            return (f"({text})", Binding.ATOM) if binding < Binding.PRODUCT else (text, binding)
        if number == 0.5:
            factor = r"\tfrac12" if self.latex else "½"
        return f"{factor}{self._space}{self.write(e, Binding.PRODUCT)}", Binding.PRODUCT

    @property
    def _space(self) -> str:
        return r"\," if self.latex else " "

    def _transposed(self, text: str) -> str:
        return rf"{_to_be_raised(text)}^\top" if self.latex else f"{text}ᵀ"

    def _AddExpression(self, e: Any) -> tuple[str, int]:
        terms = self.summands(e)
        return " ".join(terms), Binding.SUM if len(terms) > 1 or terms[0].startswith("-") else Binding.PRODUCT

    _NegExpression = _AddExpression

    def _MulExpression(self, e: Any) -> tuple[str, int]:
        if _times_number(e)[1] is not e:
            return self._AddExpression(e)
        left, right = e.args
        first = self.write(left, Binding.PRODUCT)
        if left.ndim == 1 and right.ndim == 1:
            first = self._transposed(first)
        return f"{first}{self._space}{self.write(right, Binding.PRODUCT)}", Binding.PRODUCT

    def _multiply(self, e: Any) -> tuple[str, int]:
        if _times_number(e)[1] is not e:
            return self._AddExpression(e)
        left, right = e.args
        for scalar, other in ((left, right), (right, left)):
            if scalar.is_scalar() or type(scalar).__name__ in ("Promote", "broadcast_to"):
                first, second = self.write(scalar, Binding.PRODUCT), self.write(other, Binding.PRODUCT)
                return f"{first}{self._space}{second}", Binding.PRODUCT
        times = r"\circ" if self.latex else "∘"
        return f"{self.write(left, Binding.ATOM)} {times} {self.write(right, Binding.ATOM)}", Binding.PRODUCT

    def _DivExpression(self, e: Any) -> tuple[str, int]:
        return f"{self.write(e.args[0], Binding.PRODUCT)} / {self.write(e.args[1], Binding.ATOM)}", Binding.PRODUCT

    def _Promote(self, e: Any) -> tuple[str, int]:
        return self._written(e.args[0])

    _broadcast_to = _psd_wrap = _reshape = _Promote

    def _special_index(self, e: Any) -> tuple[str, int]:
        keys = [np.asarray(key).ravel() for key in (e.key if isinstance(e.key, tuple) else (e.key,))]
        # The parts are those of vectors over the points, and of matrices over them and their columns.
        vector = isinstance(e.args[0], cp.expressions.leaf.Leaf)
        vector |= type(e.args[0]).__name__ in ("index", "NegExpression", "MulExpression")
        return self._at(e.args[0], [self._place(where, named=vector) for where in keys]), Binding.ATOM

    def _index(self, e: Any) -> tuple[str, int]:
        if e.args[0].size == 1:
            return self.write(e.args[0], Binding.ATOM), Binding.ATOM
        keys = e.key if isinstance(e.key, tuple) else (e.key,)
        names = []
        for key, size in zip(keys, e.args[0].shape, strict=False):
            start, stop = (key.start or 0, key.stop or size) if isinstance(key, slice) else (key, key)
            names.append(":" if (start, stop) == (0, size) else str(start) if stop - start <= 1 else f"{start}:{stop}")
        return self._at(e.args[0], names), Binding.ATOM

    def _place(self, where: np.ndarray[Any, Any], named: bool) -> str:
        """The name of a part of a vector, or its numbers if they are few."""
        if named and (name := self._parts.get(where.tobytes())) is not None:
            return rf"\text{{{name}}}" if self.latex else name
        return ", ".join(map(str, where)) if where.size <= 4 else f"{where.size} places"

    def _at(self, e: Any, names: list[str]) -> str:
        inner = self.write(e, Binding.ATOM)
        return f"{inner}_{{{', '.join(names)}}}" if self.latex else f"{inner}[{', '.join(names)}]"

    def _Sum(self, e: Any) -> tuple[str, int]:
        inner = self.write(e.args[0], Binding.PRODUCT)
        summed = "Σ" if not self.latex else r"\sum_{ij}" if e.args[0].ndim == 2 else r"\mathbf{1}^\top"
        return f"{summed} {inner}", Binding.PRODUCT

    def _QuadForm(self, e: Any) -> tuple[str, int]:
        x, matrix = self.write(e.args[0], Binding.ATOM), self.write(e.args[1], Binding.ATOM)
        return f"{self._transposed(x)} {matrix}{self._space}{x}", Binding.PRODUCT

    def _huber(self, e: Any) -> tuple[str, int]:
        return self._applied("huber", self.write(e.args[0]), f"{float(e.M.value):g}")

    def _PnormApprox(self, e: Any) -> tuple[str, int]:
        order = float(getattr(e, "original_p", e.p))
        below = str.maketrans("0123456789.", "₀₁₂₃₄₅₆₇₈₉.")
        return self._norm(e, *(("", "") if order == 2 else (f"_{{{order:g}}}", f"{order:g}".translate(below))))

    _Pnorm = _pnorm = _PnormApprox

    def _abs(self, e: Any) -> tuple[str, int]:
        return f"|{self.write(e.args[0])}|", Binding.ATOM

    def _maximum(self, e: Any) -> tuple[str, int]:
        # CVXPY's pos(x) is max(x, 0); the papers write max(0, x).
        args = sorted(e.args, key=lambda arg: _number(arg) is None)
        inner = ", ".join(self.write(arg) for arg in args)
        return (rf"\max({inner})" if self.latex else f"max({inner})"), Binding.ATOM

    def _power(self, e: Any) -> tuple[str, int]:
        exponent = float(getattr(e.p, "value", e.p))
        inner = self.write(e.args[0], Binding.ATOM)
        if self.latex:
            return f"{_to_be_raised(inner)}^{{{exponent:g}}}", Binding.ATOM
        return inner + ("²" if exponent == 2 else f"^{exponent:g}"), Binding.ATOM

    _PowerApprox = _Power = _power

    def _Vstack(self, e: Any) -> tuple[str, int]:
        """Of rows of blocks: a matrix."""
        rows = [row.args if type(row).__name__ == "Hstack" else [row] for row in e.args]
        if self.latex:
            inner = r" \\ ".join(" & ".join(self.write(block) for block in row) for row in rows)
            return rf"\begin{{pmatrix}} {inner} \end{{pmatrix}}", Binding.ATOM
        return f"[{'; '.join(', '.join(self.write(block) for block in row) for row in rows)}]", Binding.ATOM

    def _transpose(self, e: Any) -> tuple[str, int]:
        return self._transposed(self.write(e.args[0], Binding.ATOM)), Binding.ATOM

    def _Hstack(self, e: Any) -> tuple[str, int]:
        return f"({', '.join(self.write(arg) for arg in e.args)})", Binding.ATOM


def _to_be_raised(latex: str) -> str:
    """LaTeX that a superscript can follow: in braces if it has one already, which TeX refuses a second of."""
    plain = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\{[^{}]*\}[^{}]*\}", "", latex))
    return f"{{{latex}}}" if "^" in plain and not latex.startswith("(") else latex


def _flat(e: Any, factor: float = 1.0) -> Iterable[tuple[float, Any]]:
    """The terms of a sum of sums, with their factors."""
    name = type(e).__name__
    if name in ("Promote", "broadcast_to"):
        yield from _flat(e.args[0], factor)
    elif name == "NegExpression":
        yield from _flat(e.args[0], -factor)
    elif name == "AddExpression":
        for arg in e.args:
            yield from _flat(arg, factor)
    else:
        yield factor, e


def _times_number(given: Any) -> tuple[float, Any]:
    """A number and what it is multiplied with, which is None where all of it is a number."""
    factor, e = given if isinstance(given, tuple) else (1.0, given)
    number = _number(e)
    if number is not None:
        return factor * number, None
    name = type(e).__name__
    if name in ("MulExpression", "multiply"):
        for scalar, other in (e.args, e.args[::-1]):
            found = _number(scalar)
            if found is not None and (scalar.is_scalar() or name == "multiply"):
                return _times_number((factor * found, other))
        number, inner = _times_number(e.args[1])
        if name == "MulExpression" and inner is not None and number != 1 and inner.shape == e.args[1].shape:
            return factor * number, e.args[0] @ inner
    if name == "NegExpression":
        return _times_number((-factor, e.args[0]))
    if name in ("Promote", "broadcast_to"):
        return _times_number((factor, e.args[0]))
    return factor, e


def _number(e: Any) -> float | None:
    """The number that a constant is in all its entries."""
    if type(e).__name__ in ("Promote", "broadcast_to"):
        return _number(e.args[0])
    if type(e).__name__ == "NegExpression":
        inner = _number(e.args[0])
        return None if inner is None else -inner
    if not isinstance(e, cp.Constant) or e.name() in SYMBOLS or e.name().split("_")[0] in OF_KINDS:
        return None
    return _same_everywhere(e)


def _same_everywhere(constant: cp.Constant) -> float | None:
    """The number that all entries of a constant are, if they are one."""
    value = constant.value
    values = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
    return float(values.flat[0]) if values.size and (values == values.flat[0]).all() else None
