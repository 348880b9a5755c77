"""Relaxations that are no entry of the table: what the builder asks of them, and what it refuses."""

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.relaxations import Proof, Relaxation


class LabelledOnly(Proof):
    """What the labelled points cost at w = 0 at most is no bound; zero is one, since nothing costs less."""

    name = "nothing costs less than zero"

    def apply(self, model, box, cutoff):
        return model.search.constant, box


class Zero(Relaxation):
    @staticmethod
    def why_not(model):
        return "it is for at most twenty points" if model.n > 20 else None

    def tighten(self, work):
        work.prove(LabelledOnly())
        work.record("zero", 0.0)


def problem_of(n):
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + 0.5 * truth[:, None]
    return ct.Problem(X, np.where(np.arange(n) < 4, truth, 0.0), kernel=ct.RBF(1.0), balance=0.0)


def test_a_class_is_asked_like_any_other():
    model, problem = ct.tsvm("hinge"), problem_of(12)
    bound = ct.LowerBoundBuilder(model, problem, relaxation=Zero).bound()
    assert [stage.name for stage in bound.stages] == ["svm", "zero"]
    plain = ct.LowerBoundBuilder(model, problem, relaxation="svm").bound()
    assert bound.value == pytest.approx(plain.value)  # the better of both
    solution = ct.sdp_transduction(model, problem, relaxation=Zero)
    assert solution.lower_bound == pytest.approx(plain.value)


def test_what_is_refused():
    model, problem = ct.tsvm("hinge"), problem_of(24)
    with pytest.raises(ValueError, match="relaxation=Zero: it is for at most twenty points"):
        ct.LowerBoundBuilder(model, problem, relaxation=Zero)
    with pytest.raises(ValueError, match="or a subclass of Relaxation"):
        ct.LowerBoundBuilder(model, problem, relaxation=Zero())
    with pytest.raises(ValueError, match="bounds=Zero: exact search keeps proofs of the table's relaxations only"):
        ct.exact_search(model, problem, bounds=Zero)
    with pytest.raises(NotImplementedError, match="LabelledOnly is not stored"):
        LabelledOnly().store()
