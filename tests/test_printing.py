"""Problems, formulations and solutions as a person reads them: names, not numbers, at any size."""

import dataclasses
import re
import shutil
import subprocess

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from test_modeling import random_case

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.instance import labelling
from convex_tsvm.modeling.label_matrix import DualSDP, FullSDP, ReducedSDP
from convex_tsvm.modeling.line_breaks import broken, broken_latex, rendered_length
from convex_tsvm.modeling.printing import ReadableProblem, Writer
from convex_tsvm.verification.report import plain
from convex_tsvm.verification.statements import PAPERS

EVERY = {
    "cccp_tsvm": ct.cccp_tsvm(),
    "squared hinge": ct.tsvm("squared_hinge"),
    "compact margin": ct.compact_margin(2.0, 0.1, 0.1),
    "1-norm": ct.cs3vm(),
    "elastic net": ct.Formulation(ct.hinge(), ct.symmetric_hinge(), regularizer=ct.formulations.ElasticNet(0.3)),
    "constraints": ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3), constraints=[ct.must_link(2, 3), ct.mean_output(-0.1, 0.1)]
    ),
    "no bias": ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), fit_intercept=False),
    "logistic": ct.svm(ct.losses.logistic()),
}


def problem_of(n, formulation, sparse=False):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) < 4, np.resize([1.0, -1.0], n), 0.0)
    kernel = "linear" if not formulation.regularizer.is_squared_norm or sparse else ct.RBF(1.0)
    return ct.Problem(sp.csr_matrix(X) if sparse else X, y, kernel=kernel, C=10)


def shown(formulation, problem):
    outputs = np.random.default_rng(1).normal(size=problem.n)
    found = [formulation.primal(problem), formulation.primal(problem, outputs)]
    if formulation.labeled is EVERY["logistic"].labeled:
        return found
    return [*found, *(formulation.dual(problem, outputs, balance_by=by) for by in ("centring", "x0"))]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("sparse", [False, True])
def test_names_and_no_numbers_at_any_size(name, sparse):
    formulation = EVERY[name]
    texts = []
    for n in (12, 150):
        if formulation.constraints:  # row numbers are of one set of points
            links = [ct.must_link(2, 3), *formulation.constraints[1:]]
            formulation = dataclasses.replace(formulation, constraints=links)
        for problem in shown(formulation, problem_of(n, formulation, sparse)):
            assert isinstance(problem, cp.Problem)
            text, latex = str(problem), problem.latex()
            texts.append(text)
            assert len(text) < 2500
            # No array is written out, nothing is said by CVXPY's names, and no sign comes twice.
            for unwanted in ("...", "Promote", "psd_wrap", "None", "--", "numbers", "[0 ", "places"):
                assert unwanted not in text.split("where  ", maxsplit=1)[0]
            assert not re.search(r"[+-] -|\+ \+", text)
            for left, right in ("{}", "()"):
                assert latex.count(left) == latex.count(right)
            assert latex.count(r"\begin") == latex.count(r"\end") == 1
            assert problem._repr_latex_().startswith("$")
    # What is shown does not depend on the size, but for the shapes.
    half = len(texts) // 2
    for small, large in zip(texts[:half], texts[half:], strict=True):
        assert re.sub(r"\([\d×, ]+\)", "", small) == re.sub(r"\([\d×, ]+\)", "", large)


def test_the_readme_s_problem():
    data = load_data("two_moons")
    text = str(ct.cccp_tsvm().primal(ct.Problem(data.X, data.y, kernel=ct.RBF(0.3), C=10)))
    assert text.startswith("minimize    ½ aᵀ K₀ a\n            + βᵀ f\n")
    assert "+ C[positive]ᵀ max(0, 1 - f[positive])" in text
    assert "+ C[negative]ᵀ max(0, 1 + f[negative])" in text
    assert "subject to  f = K a + b\n            mᵀ a + b = c" in text
    assert "K₀: kernel values of the points and, after them, of x₀" in text
    assert "K: the rows of K₀ that are of the points (200×201)" in text


def matrices(problem):
    """The named matrices of a problem."""
    return {one.name(): np.asarray(one.value) for one in problem.constants() if one.name().startswith("K")}


@pytest.mark.parametrize("balance", ["linear", None])
def test_a_printed_matrix_is_what_its_name_says(balance):
    """Whoever types what is printed with the kernel and the words beside it gets the same matrices."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 2)), np.array([1.0, -1, 0, 0, 0, 0, 0])
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=2, balance=0.1 if balance else None)
    model, K = ct.cccp_tsvm(balance=balance), ct.RBF(1.0)(X, X)
    about = np.eye(7) - (y == 0) / 5  # <Φ(x) - x₀, ·>: the mean of the unlabelled points is taken off
    dual, primal = model.dual(problem), model.primal(problem)
    if balance is None:
        np.testing.assert_allclose(matrices(dual)["K"], K)
        assert "K: kernel values (7×7)" in str(dual)
        return
    np.testing.assert_allclose(matrices(dual)["K_centred"], about @ K @ about.T, atol=1e-12)
    assert "½ γᵀ K_c γ" in str(dual)
    assert "K_c: <Φ(x) - x₀, Φ(z) - x₀>, x₀ the mean of the unlabelled points (7×7)" in str(dual)
    whole = np.vstack([np.eye(7), (y == 0) / 5]) @ K @ np.vstack([np.eye(7), (y == 0) / 5]).T
    np.testing.assert_allclose(matrices(primal)["K_x0"], whole, atol=1e-12)
    np.testing.assert_allclose(matrices(primal)["K_points"], whole[:7], atol=1e-12)


#: Random cases in the linear space.
LINEAR = [
    seed for seed in range(60) if random_case(seed)[1].is_linear and random_case(seed)[0].regularizer.is_squared_norm
]


@pytest.mark.parametrize("seed", LINEAR)
def test_what_is_printed_is_what_is_solved(seed):
    """The objective as it is printed, evaluated at the solution by rules that know nothing of the printer."""
    formulation, problem, rng = random_case(seed)
    primal = formulation.primal(problem, rng.normal(size=problem.n))
    value = primal.solve(solver="CLARABEL")
    text = str(primal).split("subject to")[0].removeprefix("minimize").replace("\n", " ")
    known = {one.name(): np.asarray(one.value) for one in [*primal.variables(), *primal.parameters()]}
    parts = primal._parts
    text = (
        text.replace("½", "0.5 *").replace("β₀", "constant").replace("‖w‖²", "(w @ w)").replace("βᵀ f", "(slope @ f)")
    )
    text = re.sub(r"C\[(\w+)\]ᵀ ", r"cost_\1 @ ", text)
    text = re.sub(r"f\[(\w+)\]", r"f_\1", text).replace("²", "**2")
    text = re.sub(r"([\d.]) (max|huber|\()", r"\1 * \2", text)
    known |= {f"f_{name}": known["f"][where] for name, where in parts.items()}

    def huber(x, width):
        return np.where(np.abs(x) <= width, x**2, 2 * width * np.abs(x) - width**2)

    def maximum(*values):
        return np.maximum(*values)

    evaluated = eval(text.replace("max(", "maximum("), {**known, "huber": huber, "maximum": maximum})
    assert float(np.sum(evaluated)) == pytest.approx(value, rel=1e-5, abs=1e-5)


def test_signs_and_numbers():
    x = cp.Variable(3, name="x")
    writer = Writer({"these": np.array([0, 2])}, latex=False)
    assert writer.write(-x - 1.5 - 0.5) == "-x - 2"
    assert writer.write(2 * -x + 3) == "3 - 2 x"
    assert writer.write(x[np.array([0, 2])]) == "x[these]"
    assert writer.write(x[np.array([0, 1])]) == "x[0, 1]"
    assert writer.write(cp.pos(1 - x)) == "max(0, 1 - x)"
    assert writer.write(cp.multiply(x, cp.Parameter(3, name="p"))) == "x ∘ p"
    assert writer.write(cp.exp(x)) == "exp(x)"
    problem = ReadableProblem(cp.Minimize(cp.sum_squares(x - 1)), [x >= 0, cp.sum(x) == 2])
    assert problem.solve(solver="CLARABEL") == pytest.approx(1 / 3)
    assert str(problem) == "minimize    ‖x - 1‖²\nsubject to  0 <= x\n            Σ x = 2"


@pytest.mark.parametrize("name", EVERY)
def test_formulations(name):
    formulation = EVERY[name]
    assert len(str(formulation)) < 900
    assert "function" not in str(formulation)
    assert "minimize" in str(formulation)
    latex = formulation.latex()
    assert latex.count("{") == latex.count("}")
    assert (r"\ell^*" in latex) == (formulation.unlabeled is not None)
    assert (r"+ b" in latex) == formulation.fit_intercept


def test_solutions_and_data():
    data = load_data("two_moons")
    problem = ct.Problem(data.X, data.y, kernel=ct.RBF(0.3), C=10)
    solution = ct.cccp(ct.cccp_tsvm(), problem)
    assert len(repr(solution)) < 120
    assert f"objective {solution.objective:.8g}" in str(solution)
    assert "96 of the 194 unlabelled points are labelled +1" in str(solution)
    shown = "3 labelled -1 (class 0), 3 labelled +1 (class 1), 194 unknown"
    assert repr(data) == f"Data('two_moons': 200 points, 2 features; {shown})"
    # The value of the last step is that of the objective, as its tangents touch it there.
    certificate = solution.certificate()
    assert certificate.tangents_changed == 0
    assert certificate.primal == pytest.approx(solution.objective, rel=1e-6)
    small = problem.replace(X=data.X[:30], y=data.truth[:30] * (np.arange(30) < 8))
    exact = ct.exact_search(ct.tsvm("squared_hinge"), small)
    assert "nodes" in str(exact)
    relaxed = ct.sdp_transduction(ct.tsvm("hinge"), small)
    safe = ct.safe_transduction(ct.tsvm("hinge"), small, n_starts=4, n_separators=2)
    for other in (exact, relaxed, safe):
        assert len(repr(other)) < 120


@pytest.mark.parametrize("form", [FullSDP, ReducedSDP, DualSDP])
@pytest.mark.parametrize("balance", [None, 0.1])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_relaxations_print_themselves(form, balance, loss):
    formulation = ct.tsvm(loss, s=0.0, balance=None if balance is None else "linear", fit_intercept=balance is not None)
    texts = []
    for n in (12, 40):
        problem = problem_of(n, formulation).replace(balance=balance)
        shown = form(labelling(formulation, problem)).problem
        text, latex = str(shown), shown.latex()
        head = text.split("where  ", maxsplit=1)[0]
        for unwanted in ("...", "slice", "Promote", "numbers", "places", "--", "Hstack", "bmat"):
            assert unwanted not in head
        for left, right in ("{}", "()"):
            assert latex.count(left) == latex.count(right)
        texts.append(re.sub(r"\(\d+(×\d+)?\)", "", text))
    assert texts[0] == texts[1]  # the same at any size
    assert ("Γ ⪰ 0" in texts[0], "Γ̃ ⪰ 0" in texts[0], "maximize" in texts[0]).count(True) == 1


def test_a_share_of_labels_is_printed_with_its_points():
    search = labelling(ct.s3vm(fit_intercept=False), problem_of(12, ct.s3vm()).replace(balance=("exact", 0.5)))
    text = str(ReducedSDP(search).problem)
    assert "diag(Q Ω Qᵀ) = 1" in text
    assert "orthogonal to (-q, 1, ..., 1)" in text
    full = str(FullSDP(search).problem)
    assert "[unknown]" in full
    assert "places" not in text + full


def test_a_bound_is_a_few_lines_and_its_relaxation_is_written_down():
    problem = problem_of(20, ct.s3vm()).replace(balance=0.1)
    builder = ct.LowerBoundBuilder(ct.s3vm(), problem)
    bound = builder.bound()
    assert (bound.proven == problem.y).all()  # else the relaxation is that of fewer labellings
    assert len(str(bound).splitlines()) < 8
    assert len(repr(bound)) < 120
    primal, dual = builder.primal(), builder.dual()
    for written in (primal, dual):
        assert written.solve(solver="CLARABEL") == pytest.approx(bound.value, rel=1e-3)
        assert written.latex() in written._repr_latex_()
    with pytest.raises(ValueError, match="relaxation='signs' must be 'sdp'"):
        ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="signs").primal()


def test_reports_for_notebooks_and_papers():
    report = ct.verify(ct.s3vm(), problem_of(12, ct.s3vm()))
    html, latex = report._repr_html_(), report.latex()
    assert html.count("<tr>") == 1 + len(report.checks)
    assert latex.count(r"\\") == len(report.checks)  # after the head, and between the rows
    assert latex.isascii()
    assert plain("α̃_i in [0, C₂]²") == r"$\tilde{\alpha}$\_i in [0, C$_2$]$^2$"
    words = [text for name in PAPERS for one in ct.papers.paper(name) for text in (one.number, one.says, one.remark)]
    assert plain(" ".join(words)).isascii()
    assert "<b>fails</b>" not in html
    wrong = dataclasses.replace(report, checks=(dataclasses.replace(report.checks[0], value=1.0, claim="a < b & c_1"),))
    assert "<b>fails</b>" in wrong._repr_html_()
    assert "a &lt; b &amp; c_1" in wrong._repr_html_()
    assert r"a < b \& c\_1" in wrong.latex()
    assert r"\textbf{fails}" in wrong.latex()


LONG = "f = max(0, f[unlabeled] - 1.1) + max(0, f[unlabeled] - 1) + max(0, -f[unlabeled] - 1.1 + max(0, 1 - g)) + h"


def test_long_lines_are_broken_outside_of_brackets_first():
    lines = broken(LONG, 60)
    assert lines == [
        "f = max(0, f[unlabeled] - 1.1) + max(0, f[unlabeled] - 1)",
        "    + max(0, -f[unlabeled] - 1.1 + max(0, 1 - g)) + h",
    ]
    assert " ".join(line.strip() for line in lines) == LONG
    assert broken("a, b, c >= 0", 8) == ["a, b,", "    c >= 0"]
    assert broken("w" * 200, 100) == ["w" * 200]
    latex = broken_latex(r"\frac{a + b}{c} + \begin{pmatrix} a + b \end{pmatrix} + c", 5)
    assert latex == [r"\frac{a + b}{c}", r"+ \begin{pmatrix} a + b \end{pmatrix}", "+ c"]
    assert rendered_length(r"\tfrac12\,\max(0, f_{\text{ab}})") == len("12x(0,fab)")


@pytest.mark.parametrize("model", [ct.compact_margin(1.1, 0.5, 1.0), ct.cccp_tsvm(), ct.s3vm(), ct.cs3vm()])
def test_nothing_that_is_printed_is_longer_than_a_terminal_or_a_page(model, moons):
    X, _, y = moons
    kernel = ct.Linear() if model == ct.cs3vm() else ct.RBF(0.5)
    problem = ct.Problem(X, y, kernel=kernel, C=3)
    shown = [model.primal(problem)]
    if model != ct.cs3vm():
        shown.append(model.dual(problem))
    for one in shown:
        assert max(map(len, str(one).splitlines())) <= 120
        for line in one.latex().splitlines():
            assert rendered_length(line) <= 105, line


#: What mathtext writes otherwise than LaTeX, or lacks: sizes, braces, alignment and matrices, which are drawn by entry.
TOKEN = r"(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\\[A-Za-z]+|.)"
OTHERWISE = [
    (r"\\[td]frac", r"\\frac"),
    (r"\\[lr]Vert", r"\\Vert"),
    (r"\\(le|ge)(?![A-Za-z])", r"\\\1q"),
    (r"\\(?:Big|textstyle|displaystyle|underbrace)(?![A-Za-z])", ""),
    (r"\\(mathcal|mathbb|mathbf)\s*([A-Za-z])", r"\\\1{\2}"),
    (
        rf"\\frac\s*{TOKEN}\s*{TOKEN}",
        lambda found: r"\frac" + "".join(one if one[0] == "{" else f"{{{one}}}" for one in found.groups()),
    ),
    (r"\\(begin|end)\{aligned\}", ""),
]


def drawn(latex):
    """Draw LaTeX by matplotlib: ValueError is raised if it cannot be read."""
    from matplotlib.mathtext import MathTextParser

    for known, other in OTHERWISE:
        latex = re.sub(known, other, latex)
    for row in latex.split(r"\\"):
        for cell in re.split(r"\\(?:begin|end)\{(?:pmatrix|cases)\}|&", row):
            if cell.strip():
                MathTextParser("path").parse(f"${cell.strip()}$")


def compiled(formulas, folder):
    """Compile formulas by LaTeX, one a display."""
    body = "\n".join(rf"\[ {formula} \]" for formula in formulas)
    text = rf"\documentclass{{article}}\usepackage{{amsmath,amssymb}}\begin{{document}}{body}\end{{document}}"
    (folder / "all.tex").write_text(text, encoding="utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "all.tex"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def formulas_of_models(moons):
    """LaTeX of models and of their problems."""
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=3)
    for model in (ct.compact_margin(1.1, 0.5, 1.0), ct.cccp_tsvm(), ct.s3vm(), ct.svm(ct.squared_hinge())):
        yield from (model.latex(), model.primal(problem).latex(), model.dual(problem).latex())


def formulas_of_papers():
    """LaTeX of every statement and step, as it is printed and as it is right."""
    for name in PAPERS:
        for one in ct.papers.paper(name):
            yield from filter(None, (one.latex(), one.printed_tex, one.corrected_tex))
        for derivation in ct.papers.paper(name).derivations:
            yield from (*derivation.functions_in_latex(), *(step.after.show(True) for step in derivation))


@pytest.mark.parametrize("of", ["models", pytest.param("papers", marks=pytest.mark.papers)])
def test_latex_is_drawn(of, moons, tmp_path):
    formulas = list(formulas_of_models(moons) if of == "models" else formulas_of_papers())
    assert len(formulas) >= {"models": 12, "papers": 200}[of]
    for formula in formulas:
        drawn(formula)
    if shutil.which("pdflatex"):
        compiled(formulas, tmp_path)
