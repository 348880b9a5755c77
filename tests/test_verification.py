"""verify() finds what is right, and above all what is wrong."""

import contextlib
import json
import warnings

import numpy as np
import pytest
from test_cccp import MODELS, exponential

import convex_tsvm as ct
from convex_tsvm.instance.probabilities import Probabilities
from convex_tsvm.verification import Check, Report
from convex_tsvm.verification.finite_newton import finite_newton_checks


@pytest.fixture
def problem(moons):
    X, _, y = moons
    return ct.Problem(X[:50], y[:50], kernel=ct.RBF(0.5), C=10)


@pytest.mark.parametrize("name", MODELS)
def test_every_formulation_passes(name, problem):
    report = ct.verify(MODELS[name], problem)
    assert report.passed, str(report)
    assert {"split_unlabelled", "majorizes_unlabelled", "primal_dual", "kkt_native", "monotone", "x0_centring"} <= {
        check.name for check in report.checks
    }


@pytest.mark.parametrize(
    "model",
    [
        ct.svm(),
        ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), balance=None),
        ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), fit_intercept=False),
        ct.Formulation(ct.squared_hinge(), exponential()),
        ct.svm(ct.losses.indicator(1, np.inf)),
    ],
    ids=["supervised", "no balance", "no intercept", "smooth", "hard margin"],
)
def test_other_shapes_of_formulation_pass(model, problem):
    report = ct.verify(model, problem)
    assert report.passed, str(report)


@pytest.mark.parametrize("formulation", [ct.s3vm(), ct.cccp_tsvm(0.0, balance=None, fit_intercept=False)])
def test_relaxations_are_checked_where_there_are_any(formulation, moons, monkeypatch):
    X, _, y = moons
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=3)
    report = ct.verify(formulation, problem)
    assert report.passed, report
    names = {"rank_one", "convex_in_labels", "schur", "reduced_form", "entries", "relaxation_duality", "low_rank"}
    assert names <= {check.name for check in report.checks}
    # A bound that is none is found.
    monkeypatch.setattr("convex_tsvm.verification.relaxation.transduction_bound", lambda *a: 1e3)
    assert not ct.verify(formulation, problem)["safe_bounds"].passed


LINEAR = {"eq_1_2", "eq_1_4", "eq_1_5", "newton_optimum", "eq_1_8", "eq_1_9"}


def shifted(g, temperature, n_positive=None, start=0.0):
    """Probabilities that are all a little too high."""
    return Probabilities((0.01 - g) / temperature)


WRONG = {
    "eq_1_2": ("instance.convex_step.ConvexStep.loss_value", lambda self, f: 1.0),
    "eq_1_4": ("solvers.finite_newton.directions.Directions.newton", lambda self, h, gradient, accuracy: -gradient),
    "eq_1_5": ("solvers.finite_newton.newton.NewtonDescent._line_search", lambda self, p, change, first: 0.5),
    "eq_1_8": ("instance.instance.Instance.expected_objective", lambda self, f, r, p: 1.0),
    "eq_1_9": ("instance.probabilities.Probabilities.best", shifted),
}


@pytest.mark.parametrize("balance", [None, 0.0, ("exact", 0.4)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_finite_newton_method_is_checked_where_it_applies(moons, balance, fit_intercept, monkeypatch):
    X, _, y = moons
    problem = ct.Problem(X[:40], y[:40], C=2, C_unlabeled=0.5, balance=balance)
    formulation = ct.s3vm(balance=None if balance is None else "linear", fit_intercept=fit_intercept)
    found = {check.name: check for check in finite_newton_checks(formulation, problem.by_mean(), 1e-6)}
    assert set(found) == (LINEAR if fit_intercept or balance is None else set())
    assert all(check.passed for check in found.values()), found
    assert not list(finite_newton_checks(ct.tsvm("hinge"), problem, 1e-6))
    assert not list(finite_newton_checks(formulation, problem.replace(kernel=ct.RBF(1.0)), 1e-6))


@pytest.mark.parametrize("name", WRONG)
def test_an_error_of_the_finite_newton_method_is_found(moons, name, monkeypatch):
    X, _, y = moons
    problem = ct.Problem(X[:40], y[:40], C=2, C_unlabeled=0.5, balance=None)
    place, wrong = WRONG[name]
    monkeypatch.setattr(f"convex_tsvm.{place}", wrong)
    checks = finite_newton_checks(ct.s3vm(balance=None), problem, 1e-6)
    found = {}
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in checks:
            found[check.name] = check.passed
    assert found[name] is False


def test_the_one_norm_passes(moons):
    X, _, y = moons
    report = ct.verify(ct.Formulation(ct.hinge(), ct.symmetric_hinge(), regularizer="l1"), ct.Problem(X[:40], y[:40]))
    assert report.passed, str(report)


def test_report_reads_and_serializes(problem):
    report = ct.verify(ct.cccp_tsvm(), problem)
    text = str(report)
    assert text.count("ok ") == len(report.checks)
    assert "collobert2006 eq. 25-27" in text
    assert f"{len(report.checks)} of {len(report.checks)} checks passed" in text
    data = json.loads(json.dumps(report.to_dict()))
    assert data["passed"] is True
    assert data["checks"][0]["value"] == report.checks[0].value
    assert report["primal_dual"].value <= 1e-6
    with pytest.raises(KeyError, match="the checks are"):
        report["magic"]


class _Wrong:
    """A loss whose split does not add up."""

    name = "wrong"

    def __init__(self, convex, concave, loss):
        self.convex, self.concave, self.loss = convex, concave, loss

    def __call__(self, t):
        return self.loss(t)

    def split(self):
        return self.convex, self.concave

    def reflect(self):
        return _Wrong(self.convex.reflect(), self.concave.reflect(), self.loss.reflect())


def test_a_wrong_split_is_found(problem):
    """collobert2006 Appendix A has β = C* H_s', the wrong sign: with it the two parts do not make the loss."""
    convex, concave = ct.symmetric_ramp(-0.3).split()
    report = ct.verify(ct.Formulation(ct.hinge(), _Wrong(convex, -concave, ct.symmetric_ramp(-0.3))), problem)
    assert not report.passed
    assert not report["split_unlabelled"].passed
    assert not report["curvature_unlabelled"].passed
    assert not report["majorizes_unlabelled"].passed
    assert "FAIL" in str(report)


def test_a_tangent_that_does_not_touch_is_found(problem):
    class Steep(ct.losses.PLQ):
        def supergradient(self, t):
            return super().supergradient(t) + 0.5

        def reflect(self):
            return self

    convex, concave = ct.symmetric_ramp(-0.3).split()
    wrong = _Wrong(convex, Steep(concave.breaks, concave.pieces), ct.symmetric_ramp(-0.3))
    report = ct.verify(ct.Formulation(ct.hinge(), wrong), problem)
    assert report["split_unlabelled"].passed
    assert not report["majorizes_unlabelled"].passed


def test_a_check_with_nan_fails():
    assert not Check("a", "b", "", float("nan"), 1.0).passed
    assert not Report("title", (Check("a", "b", "", 2.0, 1.0),)).passed


def test_bad_options_are_named(problem):
    with pytest.raises(ValueError, match="tol=0"):
        ct.verify(ct.cccp_tsvm(), problem, tol=0)
