"""verify() finds what is right, and above all what is wrong."""

import json

import numpy as np
import pytest
from test_cccp import MODELS, exponential

import convex_tsvm as ct
from convex_tsvm.verification import Check, Report


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
    names = {"reduced_form", "entries", "relaxation_duality", "low_rank"}
    assert names <= {check.name for check in report.checks}
    # A bound that is none is found.
    monkeypatch.setattr("convex_tsvm.verification.relaxation.transduction_bound", lambda *a: 1e3)
    assert not ct.verify(formulation, problem)["safe_bounds"].passed


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
    assert not report["concave_unlabelled"].passed
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
