"""What users bring of their own: regularizers, formulations by name; and what printed symbols and multipliers mean."""

import dataclasses
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_regularizers import MaximumNorm, random_case

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.formulations import GroupLasso, OneNorm, Regularizer

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import capabilities


class Plain(Regularizer):
    """Another regularizer, of which only its value and its expression are told."""

    def __init__(self, own, factor=1.0):
        self.own, self.factor = own, factor

    def value(self, w):
        return self.factor * self.own.value(w)

    def expression(self, cvxpy, w):
        return self.own.expression(cvxpy, w)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["of one's own", "group lasso", "one norm"])
def test_value_and_expression_are_enough(name, seed):
    whole, problem, _ = random_case(name, seed)
    plain = dataclasses.replace(whole, regularizer=Plain(whole.regularizer))
    expected, found = ct.cccp(whole, problem), ct.cccp(plain, problem)
    assert found.status == expected.status == "converged"
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-5)
    np.testing.assert_array_equal(found.predict(problem.X), expected.predict(problem.X))
    # The dual value is that of the conjugate in closed form, less what the solver of the small problem is trusted with.
    gaps = found.certificate().gap, expected.certificate().gap
    assert gaps[1] - 1e-8 <= gaps[0] <= gaps[1] + 2e-7
    if found.step.dual_infeasibility == 0:
        assert found.step.lower_bound <= expected.step.primal
    report = ct.verify(plain, problem)
    assert report.passed, str(report)
    assert "regularizer_dual" not in {check.name for check in report.checks}
    for lacking in (
        lambda: plain.dual(problem),
        lambda: ct.cccp(plain, problem, solver=ct.modeling.CvxpySolver(problem, form="dual")),
    ):
        with pytest.raises(ValueError, match=r"regularizer Plain has no conjugate_expression.*the primal problem"):
            lacking()


@pytest.mark.parametrize("own", [MaximumNorm(), GroupLasso([[0, 1], [2, 3]], 0.7), OneNorm()], ids=str)
def test_the_conjugate_that_is_found_is_no_less_than_the_true_one(own):
    rng, plain = np.random.default_rng(0), Plain(own)
    for scale in np.geomspace(1e-2, 1e2, 30):
        v = scale * rng.normal(size=5)
        inside = plain.into_domain(v)
        np.testing.assert_allclose(inside, own.into_domain(v), atol=1e-6 * scale + 1e-6)
        true = own.conjugate(own.into_domain(inside))
        assert true <= plain.conjugate(inside) <= true + 2e-7 * (1 + abs(true))
    assert Plain(OneNorm()).conjugate(np.array([0.5, 1.5])) == np.inf


def test_a_plain_regularizer_whose_value_is_wrong_is_caught():
    model, problem, _ = random_case("group lasso", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the solver's word is doubted, too
        report = ct.verify(dataclasses.replace(model, regularizer=Plain(model.regularizer, 1.2)), problem)
    assert "regularizer_value" in {check.name for check in report.checks if not check.passed}
    with pytest.raises(ValueError, match="is infinite, its value to be finite, at the weights of a solver"):
        ct.cccp(dataclasses.replace(model, regularizer=Plain(model.regularizer, np.inf)), problem)


def symbols(text):
    """What a printed problem says of its symbols: the meaning of each."""
    legend = " ".join(text.partition("where ")[2].split())
    return dict(re.findall(r"(\S+): (.*?)(?: \([\d×, ]+\))?(?= \S+(?:, \S+)*: |$)", legend))


def test_printed_symbols_say_which_parameters_they_are():
    rng = np.random.default_rng(0)
    problem = ct.Problem(rng.normal(size=(8, 2)), np.resize([1, -1, 0, 0], 8), C=2, C_unlabeled=0.5, balance=0.1)
    model = ct.Formulation(
        ct.hinge(),
        ct.symmetric_ramp(s=-0.3),
        regularizer=OneNorm([1.0, 2.0]),
        constraints=[ct.output_constraint({0: 1.0, 3: -2.0}, -1.0, 1.0)],
    )
    text = str(model.primal(problem))
    meant = symbols(text)
    assert meant["c"] == "mean output of the unlabelled points, as balance says"
    assert meant["λ"] == "feature_weights of the regularizer"
    assert "costs, by C, C_unlabeled and the cost of groups" in meant.values()
    # s is the ramp's: sums over the rows of constraints have another letter.
    assert "s" not in meant
    assert meant["q"].startswith("sums of the rows")
    assert "C* is C_unlabeled" in str(model)
    assert "c, as the problem's balance says" in str(model)
    assert "C_unlabeled" not in str(model.supervised())
    assert "balance" not in str(dataclasses.replace(model, balance=None))


@pytest.fixture
def names():
    """The table, which forgets after a test what was registered in it."""
    yield ct.table.FORMULATIONS
    for name in ct.table.registered():
        del ct.table.FORMULATIONS[name]


def points():
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 30)
    X = rng.normal(size=(30, 2)) + 1.2 * truth[:, None]
    return X, np.where(np.arange(30) < 8, truth, 0.0)


def capped(cap=0.5, fit_intercept=True):
    """S3VM whose unlabelled points pay at most the cap.

    What else there is to say.
    """
    loss = ct.losses.symmetric_squared_hinge().minimum(cap)
    return ct.Formulation(ct.squared_hinge(), loss, fit_intercept=fit_intercept)


def test_a_registered_formulation_is_built_by_its_name_and_by_estimators(names):
    assert ct.register(capped) is capped
    assert ct.register(capped) is capped  # as a cell of a notebook that is run again does
    assert names["capped"].options == ("cap", "fit_intercept")
    assert names["capped"].summary == "S3VM whose unlabelled points pay at most the cap"
    X, y = points()
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=5.0, C_unlabeled=1.0, balance=0.1)
    for cap in (0.5, 0.3):
        formulation, seen = ct.build("capped", problem, **({} if cap == 0.5 else {"cap": cap}))
        assert seen is problem
        assert formulation.unlabeled(0.0) == cap
        assert formulation.balance == "linear"
    assert ct.build("capped", problem.replace(balance=None)).formulation.balance is None
    with pytest.raises(ValueError, match="cup=1 is no option of the formulation capped, which takes cap, fit"):
        ct.build("capped", problem, cup=1)
    fit = {"kernel": "rbf", "sigma": 1.0, "C": 5.0, "C_unlabeled": 1.0, "balance": 0.1, "unlabeled": 0}
    by_name = ct.TransductiveSVC(loss="capped", **fit).fit(X, y)
    assert by_name.objective_ == ct.TransductiveSVC(loss=capped(), **fit).fit(X, y).objective_
    assert by_name.objective_ != ct.TransductiveSVC(loss="squared_hinge", **fit).fit(X, y).objective_
    without = ct.TransductiveSVC(loss="capped", fit_intercept=False, **fit).fit(X, y)
    assert not without.solutions_[0].formulation.fit_intercept
    with pytest.raises(ValueError, match="loss='uncapped' must be one of ramp"):
        ct.TransductiveSVC(loss="uncapped", **fit).fit(X, y)


def test_a_registered_formulation_may_change_the_problem(names):
    @ct.register(name="wide-kernel", summary="on twice the width", is_balanced=False)
    def wide(problem, s=-0.5):
        return ct.cccp_tsvm(s, balance=None), problem.replace(kernel=ct.RBF(2 * problem.kernel.sigma))

    X, y = points()
    formulation, problem = ct.build("wide-kernel", ct.Problem(X, y, kernel=ct.RBF(1.0)))
    assert (problem.kernel.sigma, formulation.balance, formulation.unlabeled(0.0)) == (2.0, None, 0.5)
    assert (names["wide-kernel"].summary, names["wide-kernel"].is_balanced) == ("on twice the width", False)
    with pytest.raises(ValueError, match="loss='wide-kernel' changes the problem"):
        ct.TransductiveSVC(loss="wide-kernel", kernel="rbf", sigma=1.0, unlabeled=0).fit(X, y)


def test_a_function_without_the_problem_says_itself_what_it_is_about(names):
    ct.register(ct.svm, "labelled-only")
    assert not names["labelled-only"].is_balanced
    assert not names["labelled-only"].has_cost


def of_a_problem(problem):
    return "no formulation", problem


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ct.register(capped, "tsvm"), "name='tsvm' is taken; taken are svm, tsvm, .*cccp"),
        (lambda: ct.register(capped, "cccp"), "name='cccp' is taken"),
        (lambda: [ct.register(capped, "mine"), ct.register(ct.svm, "mine")], "name='mine' is taken"),
        (lambda: ct.register("capped"), "function='capped' must be a function that returns a Formulation"),
        (lambda: ct.register(lambda: ct.svm(None)), "name='<lambda>' must be a word .* say one with name="),
        (lambda: ct.register(capped, "a:b"), "name='a:b' must be a word"),
        (lambda: ct.register(lambda cap: capped(cap + 1), "mine"), "cap must have a default; only problem needs none"),
        (lambda: ct.register(lambda **more: capped(0.5, **more), "mine"), "more must have a default"),
        (lambda: ct.register(ct.hinge, "mine"), "function=mine returned .*hinge.*must return a Formulation"),
        (
            lambda: ct.build(ct.register(of_a_problem) and "of_a_problem", ct.Problem(*points())),
            "name='of_a_problem': its function returned .*; it must return a Formulation, or it and a Problem",
        ),
    ],
)
def test_what_cannot_be_registered_is_named(call, message, names):
    with pytest.raises(ValueError, match=message):
        call()


FILE = """
import convex_tsvm as ct


@ct.register
def clipped(cap=0.5, s=-0.7):
    return ct.Formulation(ct.squared_hinge(), ct.losses.symmetric_squared_hinge().minimum(cap + s + 0.7))
"""


def test_the_command_line_runs_files_that_register_formulations(names, tmp_path, capsys):
    mine, (X, y) = tmp_path / "mine.py", points()
    mine.write_text(FILE)
    np.savez(tmp_path / "data.npz", X=X, y=np.resize([1, -1], 30), labeled=np.arange(8)[None])
    asked = ["solve", str(tmp_path / "data.npz"), "--import", str(mine), "--formulation", "clipped", "--sigma", "1"]
    asked += ["--C-unlabeled", "2", "--balance", "0.1", "--json"]
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=10, C_unlabeled=2, balance=0.1)
    # The function's own defaults hold, not those that the command line has for formulations of the package.
    for options, built in (([], {}), (["--formulation-option", "cap=0.3"], {"cap": 0.3})):
        assert main(asked + options) == 0
        found = json.loads(capsys.readouterr().out)["objective"]
        assert found == pytest.approx(ct.cccp(*ct.build("clipped", problem, **built)).objective, rel=1e-3)
    assert main(["derive", "clipped", "--import", str(mine), "--json"]) == 0
    capsys.readouterr()
    mine.write_text("1 / 0")
    for path, why in ((mine, "ZeroDivisionError: division by zero"), (tmp_path / "none.py", "FileNotFoundError")):
        assert main([*asked[:2], "--import", str(path)]) == 2
        assert f"import={str(path)!r} does not run: {why}" in capsys.readouterr().err


def test_the_page_of_capabilities_tells_of_what_is_registered(names):
    assert "capped" not in capabilities.formulations()
    ct.register(capped)
    make, options = capabilities.formulations()["capped"]
    problem = capabilities.problem_of("capped", make())
    assert capabilities.outcome(lambda: capabilities.commanded(problem, options)) is None
    assert capabilities.outcome(lambda: capabilities.COLUMNS["CCCP, native"](make(), problem)) is None


def convex_model(lower=-9.0, upper=9.0, shift=0.0, balance="linear", fit_intercept=True):
    """A convex formulation whose optimum moves smoothly: a constraint on outputs, and a point whose loss is shifted."""
    tube = ct.losses.PLQ([], [(0.5, 0, 0)])
    return ct.Formulation(
        ct.squared_hinge(),
        tube,
        balance=balance,
        fit_intercept=fit_intercept,
        constraints=[ct.output_constraint({0: 1.0, 9: -2.0}, lower, upper)],
        groups=[ct.PointGroup([12], (0.5 * ct.squared_hinge()).shift(-shift), cost=2.0)],
    )


def slope(value, at=0.0, h=1e-4):
    """The derivative by central differences."""
    return (value(at + h) - value(at - h)) / (2 * h)


@pytest.mark.parametrize("kernel", [ct.Linear(), ct.RBF(1.5)], ids=str)
@pytest.mark.parametrize("form", ["primal", "dual", "native"])
def test_multipliers_are_the_derivatives_that_their_docstrings_say(form, kernel):
    X, y = points()
    problem = ct.Problem(X, y, kernel=kernel, C=3.0, C_unlabeled=0.2, balance=0.2)
    finely = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)

    def solved(given=problem, **changed):
        step = convex_model(**changed).on(given).step(np.zeros(given.n))
        solver = ct.solvers.NativeSolver(step.problem, tol=1e-10)
        if form != "native":
            solver = ct.modeling.CvxpySolver(step.problem, form=form, cvxpy_options=finely)
        return solver.solve(step)

    def value(*args, **changed):
        return solved(*args, **changed).primal

    free = solved()
    middle = float(free.outputs[0] - 2 * free.outputs[9])
    assert abs(free.multipliers[0]) < 1e-6
    for end, sign in (("lower", 1), ("upper", -1)):
        at = middle + 0.3 * sign
        point = solved(**{end: at})
        found = slope(lambda x, end=end: value(**{end: x}), at)
        assert found * sign > 1e-3
        assert point.multipliers[0] == pytest.approx(found, rel=1e-3)
    equal = solved(lower=middle - 0.3, upper=middle - 0.3)
    found = slope(lambda x: value(lower=x, upper=x), middle - 0.3)
    assert found < -1e-3
    assert equal.multipliers[0] == pytest.approx(found, rel=1e-3)
    for c, bias in ((-0.6, True), (0.6, True), (0.6, False)):
        found = slope(lambda x, bias=bias: value(problem.replace(balance=x), fit_intercept=bias), c)
        assert abs(found) > 1e-2
        assert solved(problem.replace(balance=c), fit_intercept=bias).gamma0 == pytest.approx(found, rel=1e-3)
    found = slope(lambda x: value(shift=x))
    assert found < -1e-3
    assert -free.gamma[12] == pytest.approx(found, rel=1e-3)


def test_dual_values_of_cvxpy_have_the_signs_that_are_stated():
    X, y = points()
    problem = ct.Problem(X, y, C=3.0, C_unlabeled=0.2, balance=0.6)

    def written(c=0.6, lower=3.0, form="primal", balance="linear"):
        model = convex_model(lower=lower, balance=balance)
        given = getattr(model, form)(problem.replace(balance=c))
        given.solve(solver="CLARABEL", **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10))
        return given

    definition, balance, end, _ = (one for one in written().constraints if one.args[0].size in (30, 1))
    point = ct.cccp(convex_model(lower=3.0), problem, solver="cvxpy").step
    np.testing.assert_allclose(definition.dual_value, point.gamma, atol=1e-5)
    assert -balance.dual_value == pytest.approx(slope(lambda c: written(c).value, 0.6), rel=1e-3)
    assert abs(balance.dual_value) > 1e-2
    assert end.dual_value[0] == pytest.approx(slope(lambda x: written(lower=x).value, 3.0), rel=1e-3)
    assert end.dual_value[0] > 1e-2
    whole = written(form="dual", balance=None)
    bias = next(one.value for one in written(balance=None).variables() if one.name() == "b")
    assert whole.constraints[-1].dual_value == pytest.approx(float(bias), abs=1e-5)
    assert abs(bias) > 1e-2
