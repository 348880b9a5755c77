"""What users bring of their own: regularizers, formulations by name; and what printed symbols and multipliers mean."""

import dataclasses
import re
import warnings

import numpy as np
import pytest
from test_regularizers import MaximumNorm, random_case

import convex_tsvm as ct
from convex_tsvm.formulations import GroupLasso, OneNorm, Regularizer


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
