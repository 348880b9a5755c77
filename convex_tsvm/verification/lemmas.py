"""The lemmas that derivations use: what each says, when it applies, and why it is so."""

from __future__ import annotations

from enum import Enum


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
