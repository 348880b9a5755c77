"""Derivations: every step proven, wrong ones refused at their line, answers graded at points that are not optimal."""

import contextlib
import dataclasses
import itertools
import json
import re
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import plq
from test_printing import drawn

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.verification.answers import python_name, random_points
from convex_tsvm.verification.derive import KINDS
from convex_tsvm.verification.exact import Exact
from convex_tsvm.verification.steps import Lemma, Proof
from convex_tsvm.verification.symbols import Applied, Dot, Number, Product, Quotient, Square, Sum, Symbol, Total

pytestmark = pytest.mark.papers

L = ct.losses
ROOF = L.PLQ([-1.5, -0.5, 0.5, 1.5], [(0, 0, 0), (0, 1, 1.5), (-1, 0, 1.25), (0, -1, 1.5), (0, 0, 0)], name="roof")
CAPPED = ct.squared_hinge().minimum(ct.squared_hinge().reflect()).minimum(L.PLQ([], [(0, 0, 0.5)])).named("capped")
R = ct.formulations


def formulations():
    """24 formulations: losses, regularizers, with and without a balance and a bias; two losses are made up here."""
    pairs = {
        "ramp": (ct.hinge(), ct.symmetric_ramp(-0.3)),
        "hinge": (ct.hinge(), ct.symmetric_hinge()),
        "squared": (ct.squared_hinge(), L.symmetric_squared_hinge()),
        "flat": (ct.squared_hinge(), L.flat_newton()),
        "huber": (L.huber_hinge(), L.better_label(L.huber_hinge())),
        "capped": (ct.squared_hinge(), CAPPED),
        "roof": (ct.hinge(), ROOF),
        "bent labels": (ct.ramp(-0.5), ct.symmetric_ramp(-0.2)),
    }
    for (name, (one, other)), (balance, bias) in itertools.product(pairs.items(), (("linear", True), (None, False))):
        yield f"{name}, {balance}", ct.Formulation(one, other, balance=balance, fit_intercept=bias)
    irrational = ct.compact_margin(0.6**0.5, 1 / 3, 0.5, s=-0.123)
    yield "compact margin", irrational
    yield "relative margin", ct.relative_margin(2.0, 0.1)
    yield "hard relative margin", ct.relative_margin(2.0, np.inf)
    yield "supervised", ct.svm()
    yield "one norm", ct.cs3vm()
    yield "elastic net", dataclasses.replace(ct.s3vm(), regularizer=R.ElasticNet(0.5))
    yield "groups", dataclasses.replace(ct.cccp_tsvm(), regularizer=R.GroupLasso([[0], [1]], [0.5, 2.0]))
    yield "weights >= 0", dataclasses.replace(ct.s3vm(balance=None), regularizer=R.NonnegativeNorm())


FORMULATIONS = dict(formulations())


def derivations():
    """All that applies to them."""
    for name, model in FORMULATIONS.items():
        for of in KINDS:
            with contextlib.suppress(ValueError):
                yield f"{name}: {of}", ct.derive(model, of)


MADE = dict(derivations())


def test_there_are_24_formulations_and_most_kinds_apply():
    assert len(FORMULATIONS) == 24
    assert sum(name.endswith(": dual") for name in MADE) == 24
    assert len(MADE) >= 90


@pytest.mark.parametrize("name", MADE)
def test_every_step_is_proven(name):
    made = MADE[name]
    assert 1 <= len(made) <= 14
    report = made.prove()
    assert report.proven, report
    assert all(step.how in Proof.kinds[:3] for step in report.steps)


def test_lemmas_are_at_most_twenty_and_say_why():
    known = list(Lemma)
    assert len(known) <= 20
    assert all(one.says.endswith(".") and one.reason.endswith(".") for one in known)


def test_a_dual_with_its_proof_takes_a_fraction_of_a_second():
    began = time.process_time()
    assert ct.derive(ct.cccp_tsvm(), "dual").prove().proven
    print(f"{time.process_time() - began:.3f} s")


# ---------------------------------------------------------------------- wrong steps


def mutants(line):
    """Lines with a mistake in them: a sign, a factor, a term or a condition left out, one bent, one added."""
    formula = line.formula
    terms = formula.terms if isinstance(formula, Total) else (formula,)
    for k, term in enumerate(terms):
        for what, factor in (("sign", -1), ("factor", 2), ("missing", 0)):
            others = [*terms[:k], factor * term, *terms[k + 1 :]]
            if not (isinstance(term, Number) and term.number == 0):
                yield what, dataclasses.replace(line, formula=sum(others[1:], others[0]))
    for k, one in enumerate(line.conditions):
        yield "condition left out", dataclasses.replace(line, conditions=line.conditions[:k] + line.conditions[k + 1 :])
        bent = dataclasses.replace(one, left=2 * one.left + 1)
        yield (
            "condition bent",
            dataclasses.replace(line, conditions=(*line.conditions[:k], bent, *line.conditions[k + 1 :])),
        )


def with_line(made, k, line):
    """The derivation with another line after step k, from 0, which the next step starts from."""
    steps = list(made.steps)
    old = steps[k].after
    steps[k] = dataclasses.replace(steps[k], after=line)
    if k + 1 < len(steps) and steps[k + 1].before is old:
        steps[k + 1] = dataclasses.replace(steps[k + 1], before=line)
    return dataclasses.replace(made, steps=tuple(steps))


def planted():
    rng = np.random.default_rng(0)
    for name, made in MADE.items():
        found = [(k, what, line) for k, step in enumerate(made) for what, line in mutants(step.after)]
        for number in rng.permutation(len(found))[:5]:
            yield name, *found[number]


PLANTED = list(planted())


def test_there_are_more_than_200_planted_steps_of_every_kind():
    assert len(PLANTED) > 300
    assert {what for _, _, what, _ in PLANTED} == {"sign", "factor", "missing", "condition left out", "condition bent"}


@pytest.mark.parametrize("number", range(len(PLANTED)))
def test_a_wrong_step_is_refused_at_its_line(number):
    """Those before it are what they were, and proven above."""
    name, k, _, line = PLANTED[number]
    wrong = with_line(MADE[name], k, line)
    assert not wrong[k].prove(wrong.functions, wrong.setting.points).proven


def test_a_multiple_of_complementary_slackness_is_refused():
    """It is zero at the optimum, and nowhere else."""
    made = MADE["ramp, linear: dual"]
    k = next(k for k, step in enumerate(made) if step.lemma is Lemma.LAGRANGIAN)
    slackness = [one.times(f) for one, f in zip(made[k].dropped, made[k].multipliers, strict=True)]
    for later, more in itertools.product(range(k, len(made)), slackness):
        line = made[later].after
        report = with_line(made, later, dataclasses.replace(line, formula=line.formula + 7 * more)).prove()
        assert [step.proven for step in report.steps].index(False) == later


@pytest.mark.parametrize("name", ["ramp, linear: dual", "flat, linear: dual", "roof, None: dual", "hinge, linear: sdp"])
def test_a_function_with_a_wrong_piece_is_refused(name):
    made = MADE[name]
    for own, function in made.functions.items():
        pieces = list(function.pieces)
        middle = len(pieces) // 2
        for bent in (
            pieces[middle]._replace(b=pieces[middle].b + 1),
            pieces[middle]._replace(c=pieces[middle].c - 1),
            pieces[middle]._replace(a=pieces[middle].a + 1),
        ):
            wrong = Exact((*pieces[:middle], bent, *pieces[middle + 1 :]))
            report = dataclasses.replace(made, functions={**made.functions, own: wrong}).prove()
            assert not report.passed, own


def test_a_gap_that_need_not_be_positive_is_refused():
    made = MADE["supervised: dual"]
    k = next(k for k, step in enumerate(made) if step.lemma is Lemma.SQUARE)
    step = made[k]
    gap = dataclasses.replace(step.gaps[0], formula=-1 * step.gaps[0].formula)
    wrong = dataclasses.replace(step.after, formula=step.before.formula - gap.formula)
    bent = dataclasses.replace(step, after=wrong, gaps=(gap,))
    proof = bent.prove(made.functions, made.setting.points)
    assert not proof.proven
    assert "need not be" in proof.detail


# ---------------------------------------------------------------------- answers


class Retyped:
    """A formula as somebody might type it, of quantities: in order, backwards with halves, or with products apart."""

    def __init__(self, formula, way):
        self.formula, self.way = formula, way

    def __call__(self, q):
        return self.value(self.formula, q, {})

    def value(self, one, q, at):
        if isinstance(one, Number):
            return float(one.number)
        if isinstance(one, Symbol):
            if one.name in ("|F|", "|U|"):
                return len(q.F)
            own = getattr(q, python_name(one.name))
            start = 0 if len(q.J) > len(q.I) else 1
            return own[tuple(at[i] if isinstance(i, str) else i - start for i in one.indices)] if one.indices else own
        if isinstance(one, Sum):
            members = getattr(q, one.over)
            found = [self.value(one.of, q, {**at, one.index: i}) for i in (members[::-1] if self.way == 1 else members)]
            return sum(found) if found else 0.0
        if isinstance(one, Total):
            terms = one.terms[::-1] if self.way == 1 else one.terms
            values = [self.value(term, q, at) for term in terms]
            return sum(0.5 * value for value in values) * 2 if self.way == 1 else sum(values)
        if isinstance(one, Product):
            if self.way == 2 and one.factors and isinstance(one.factors[-1], Total):
                *front, last = one.factors
                return sum(self.value(Product(one.factor, (*front, term)), q, at) for term in last.terms)
            found = float(one.factor)
            for factor in one.factors:
                found = found * self.value(factor, q, at)
            return found
        if isinstance(one, Quotient):
            return self.value(one.above, q, at) / self.value(one.below, q, at)
        if isinstance(one, Square):
            value = np.asarray(self.value(one.of, q, at))
            return float(value.ravel() @ value.ravel())
        if isinstance(one, Dot):
            return float(self.value(one.one, q, at) @ self.value(one.other, q, at))
        assert isinstance(one, Applied)
        if one.name in ("R", "R*"):
            pytest.skip("regularizers are no functions of quantities")
        return float(getattr(q, python_name(one.name))(self.value(one.of, q, at)))


GRADED = [name for name in MADE if not re.search(r"norm|net|groups|weights|labels", name)]


@pytest.mark.parametrize("name", GRADED)
def test_right_answers_are_right_however_they_are_typed(name):
    made = MADE[name]
    for k, step in enumerate(made, 1):
        for way in range(3):
            grade = made.grade(k, Retyped(step.after.formula, way))
            assert grade, (k, way, grade)


@pytest.mark.parametrize("number", range(0, len(PLANTED), 3))
def test_wrong_answers_are_wrong(number):
    name, k, what, line = PLANTED[number]
    if what.startswith("condition") or name not in GRADED:
        return
    points = list(random_points(MADE[name], MADE[name][k].defined))
    values = [(float(line.formula.value(p)), float(MADE[name][k].after.formula.value(p))) for p in points]
    grade = MADE[name].grade(k + 1, Retyped(line.formula, 0))
    assert bool(grade) == all(a == pytest.approx(b) or a == b for a, b in values), (what, grade)
    if what == "missing" and not grade:
        assert "missing" in grade.reason or "factor" in grade.reason or "infinite" in grade.reason


def quadratic(q):
    """-½ a'Ka of the answers that follow."""
    a = q.y * (q.alpha - q.beta)
    return -0.5 * a @ q.K @ a


def slackness(q):
    """Σ α_i (y_i f(x_i) - 1 + ξ_i), which is zero at the optimum."""
    f = q.x @ q.w + q.b
    return (q.alpha * (q.y * f - 1 + q.xi))[q.I].sum()


#: What was graded right while duals were compared at the optimum: the primal in disguise, and multiples of slackness.
FOOLS = {
    "seven times slackness": lambda q: quadratic(q) + q.alpha[q.I].sum() + q.alpha[0] * q.c + q.k + 7 * slackness(q),
    "plus in place of minus": lambda q: -quadratic(q) + q.C[q.I] @ q.xi[q.I] + (q.beta * q.y) @ (q.x @ q.w + q.b) + q.k,
    "the primal": lambda q: -2 * quadratic(q) + 2 * q.C[q.I] @ q.xi[q.I],
    "multipliers and slacks": lambda q: q.alpha[q.I].sum() + q.C[q.I] @ q.xi[q.I],
    "a mixture": lambda q: 3 * q.alpha[q.I].sum() + 4 * quadratic(q) - q.C[q.I] @ q.xi[q.I],
    "half of the square": lambda q: quadratic(q) / 2 + q.alpha[q.I].sum() + q.alpha[0] * q.c + q.k,
}


@pytest.mark.parametrize("name", FOOLS)
def test_what_is_right_at_the_optimum_only_is_wrong(name):
    made = MADE["ramp, linear: dual"]
    k = 1 + next(k for k, step in enumerate(made) if step.lemma is Lemma.CHANGE and "K_ij" in step.why)
    assert made.grade(k, lambda q: quadratic(q) + q.alpha[q.I].sum() + q.alpha[0] * q.c + q.k)
    grade = made.grade(k, FOOLS[name])
    assert not grade
    if name == "seven times slackness":
        assert re.search(
            r"differs by .*7 times .*α_i \(y_i \(w·x_i \+ b\) - 1 \+ ξ_i\).*, which is 0 at the optimum only",
            grade.reason,
        )
    if name == "half of the square":
        assert "has the factor 0.5" in grade.reason


def test_mistakes_are_told():
    made = MADE["supervised: dual"]
    right = lambda q: q.alpha.sum() - 0.5 * (q.y * q.alpha) @ q.K @ (q.y * q.alpha)  # noqa: E731
    cases = {
        "has the wrong sign": lambda q: 2 * q.alpha.sum() - right(q) * 1 - q.alpha.sum() + right(q) - q.alpha.sum()
        + 0.5 * (q.y * q.alpha) @ q.K @ (q.y * q.alpha),
        "is missing": lambda q: q.alpha.sum(),
        "has the factor 3": lambda q: right(q) + 2 * q.alpha.sum(),
        "not filled in yet": lambda q: ...,
        "the answer raises AttributeError": lambda q: q.gamma,
        "has shape (2,)": lambda q: np.zeros(2),
        "the formula depends on q.y, q.alpha, q.K": lambda q: 1.0,
        "too large at 23 and too small at 1 of 24 values; reveal=True": lambda q: 1.0 + 0 * right(q),
        "is not finite": lambda q: np.nan,
    }  # fmt: skip
    assert made.grade(len(made), right)
    for reason, answer in cases.items():
        grade = made.grade(len(made), answer)
        assert not grade
        assert reason in grade.reason, (reason, grade)
    with pytest.raises(ValueError, match="k=99 must be an integer from 1 to"):
        made.grade(99, right)
    with pytest.raises(ValueError, match="must be a function of the quantities"):
        made.grade(1, 3.0)


def test_a_bound_is_told_to_be_one():
    made = MADE["squared, linear: cccp"]
    k = 1 + next(k for k, step in enumerate(made) if step.lemma is Lemma.TANGENT)
    above = Retyped(made[k - 1].after.formula, 0)
    assert made.grade(k, above)
    grade = made.grade(k, lambda q: above(q) + 1e3)
    assert not grade


# ---------------------------------------------------------------------- what is shown


def test_eq_27_is_where_the_dual_of_the_ramp_loss_ends():
    line = MADE["ramp, linear: dual"][-1].after
    assert str(line) == (
        "max over α̃ of Σ_{i∈I} y_i α̃_i + c α̃_0 - ½ Σ_{i∈J} Σ_{j∈J} α̃_i α̃_j K_ij\n"
        "    where y_i α̃_i ≥ -β_i for i∈I, C_i - β_i ≥ y_i α̃_i for i∈I, Σ_{i∈J} α̃_i = 0"
    )


def test_parameters_are_symbols_and_numbers_exact():
    made = MADE["compact margin: dual"]
    assert str(made.functions["v_U"]) == "t - s for t ≤ s; 0 for s ≤ t ≤ -s; -t - s for -s ≤ t"
    assert "-(1 + λ) t" in str(made.functions["u_U"])
    assert str(ct.derive(ct.relative_margin(0.6**0.5), "dual").functions["ℓ_U"]).endswith("t - ε for ε ≤ t")
    plain = L.PLQ([0.6**0.5], [(0, 0, 0), (0, 1, -(0.6**0.5))])
    assert str(Exact.of(plain)) == "0 for t ≤ √(3/5); t - √(3/5) for √(3/5) ≤ t"
    assert "1 - s" in str(MADE["ramp, linear: dual"].functions["r"])


def test_a_formulation_derives_itself_and_says_what_it_cannot():
    assert ct.cccp_tsvm().derive("cccp").prove().proven
    with pytest.raises(ValueError, match="of='x' must be"):
        ct.derive(ct.svm(), "x")
    with pytest.raises(ValueError, match="formulation='svm' must be a Formulation"):
        ct.derive("svm")
    for of, model, said in (
        ("cccp", ct.svm(), "all losses are convex"),
        ("balance", ct.svm(), "must have balance='linear'"),
        ("sdp", ct.s3vm(balance=None), "a free bias asks"),
        ("dual", ct.hard_margin_s3vm(), "has no convex and concave part"),
        ("dual", dataclasses.replace(ct.s3vm(), balance="targets", fit_intercept=False), "balance='targets'"),
        ("dual", dataclasses.replace(ct.s3vm(), constraints=(ct.must_link(0, 1),)), "constraints="),
    ):
        with pytest.raises(ValueError, match=said):
            ct.derive(model, of)


def test_a_loss_that_is_only_compared_with_numbers_says_so():
    report = ct.derive(ct.tsvm("exp"), "dual").prove()
    assert report.passed
    assert not report.proven
    assert report.steps[0].how == "numbers"
    assert "holds" in str(report)


@pytest.mark.parametrize("name", list(MADE)[::7])
def test_latex_is_read(name):
    for shown in (*MADE[name].functions_in_latex(), *(step.after.show(True) for step in MADE[name])):
        drawn(shown)


def test_text_latex_html_and_notebook_have_every_step():
    for name in ("ramp, linear: dual", "hinge, linear: sdp"):
        made = MADE[name]
        for shown in (str(made), made.latex(), made.html(), made._repr_markdown_()):
            for number, step in enumerate(made, 1):
                assert f"{number}. {step.lemma.title}" in shown
        tex = made.latex()
        assert tex.isascii()
        assert tex.count("{") == tex.count("}")
        assert len(re.findall(r"\\begin", tex)) == len(re.findall(r"\\end", tex))
        assert len(re.findall(r"\\left[(]", tex)) == len(re.findall(r"\\right[)]", tex))
        cells = made.cells("ct.derive(ct.cccp_tsvm())", exercise=True)
        assert len(cells) == 3 + 2 * len(made)
        blank = [cell["source"] for cell in cells if "return ..." in cell["source"]]
        assert len(blank) == len(made)


# ---------------------------------------------------------------------- functions in rational numbers


@settings(deadline=None, max_examples=60)
@given(plq(convex=True))
def test_conjugates_in_rational_numbers_are_conjugates(loss):
    f = Exact.of(loss)
    conjugate = f.conjugate()
    assert f.has_conjugate(conjugate)
    assert conjugate.conjugate().equals(f.merged())
    assert not f.has_conjugate(conjugate.scaled(1, 1))
    inside = [t for t in np.linspace(-3, 3, 25) if loss.lower <= t <= loss.upper]
    assert np.allclose([float(f(Fraction(t))) for t in inside], loss(np.array(inside)), atol=1e-7)


@pytest.mark.parametrize("name", [name for name in FORMULATIONS if name.endswith("linear")])
def test_parts_in_rational_numbers_are_those_of_the_loss(name):
    loss = FORMULATIONS[name].unlabeled
    f = Exact.of(loss)
    u, v = f.split(loss)
    assert (u + v).equals(f)
    t = np.linspace(-3, 3, 61)
    for part, own in zip((u, v), loss.split(), strict=True):
        assert np.allclose([float(part(Fraction(x))) for x in t], own(t), atol=1e-9)
    assert not f.equals(f.scaled(1, Fraction(1, 10**9)))
    assert f.scaled(1, -1).is_below(f)
    assert not f.is_below(f.scaled(1, Fraction(-1, 10**9)))


def test_the_command_line_derives(capsys, tmp_path):
    sheet, page = tmp_path / "sheet.ipynb", tmp_path / "page.html"
    asked = ["derive", "tsvm", "--of", "dual", "--formulation-option", "loss=squared_hinge", "--html", str(page)]
    assert main([*asked, "--exercise", str(sheet)]) == 0
    assert "10. strong duality" in capsys.readouterr().out
    assert "10. strong duality" in page.read_text(encoding="utf-8")
    names = {}
    for cell in json.loads(sheet.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    assert not names["derivation"].grade(1, names["answer"])
    assert main(["derive", "svm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proven"]
    assert main(["derive", "svm", "--of", "sdp"]) == 2
    assert "no label to be found" in capsys.readouterr().err


def test_every_step_needs_labels_of_both_signs():
    """What is an identity for labels 1 alone is none: y_i in place of 1 in the middle of a dual."""
    made = MADE["supervised: dual"]
    k = next(k for k, step in enumerate(made) if "K_ij" in step.why)
    line = made[k].after
    y, alpha = Symbol("y"), Symbol("α")
    gain = Sum("i", "L", (y["i"] - 1) * alpha["i"])
    wrong = with_line(made, k, dataclasses.replace(line, formula=line.formula + gain))
    assert not wrong[k].prove(wrong.functions, wrong.setting.points).proven


def test_a_parabola_may_dip_between_its_ends():
    dip = Exact.of(L.PLQ([], [(1, 0, -0.25)], (-1, 1)))
    zero = Exact.of(L.PLQ([], [(0, 0, 0)], (-1, 1)))
    assert not zero.is_below(dip)
    assert zero.is_below(dip.scaled(1, Fraction(1, 4)))
