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
    with pytest.raises(ValueError, match="bounds=Zero: it is for at most twenty points"):
        ct.exact_search(model, problem, bounds=Zero)
    with pytest.raises(ValueError, match="this kind of proof is not stored"):
        LabelledOnly.read(LabelledOnly().store())


class Half(Proof):
    """Half of what the SVM of the known labels proves: a bound, in a search of no use."""

    name = "half of an SVM's bound"

    def __init__(self, gamma):
        self.gamma = gamma

    def apply(self, model, box, cutoff):
        return 0.5 * model.known.point(box.labels, self.gamma).value, box


class HalfBound(Relaxation):
    @staticmethod
    def why_not(model):
        return None

    def tighten(self, work):
        proof = Half(work.gamma)
        work.accept(proof, work.cutoff, *proof.apply(work.model, work.box, work.cutoff))
        asked.append(work.bound)


class Eigenvalue(Relaxation):
    """½ ‖w‖² is at least ½ ‖g‖² / λ for the largest eigenvalue λ of the kernel of the outputs g."""

    about = "outputs"

    @staticmethod
    def why_not(model):
        return "it takes no free bias" if model.free_bias else None

    def tighten(self, work):
        proof = EigenvalueProof()
        work.prove(proof)
        asked.append(work.bound)


class EigenvalueProof(Proof):
    name = "the largest eigenvalue"

    def apply(self, model, box, cutoff):
        rate = 0.5 / float(np.linalg.eigvalsh(model.factor @ model.factor.T)[-1]) * (1 - 1e-9)
        functions = model.losses.within(box.low, box.high).plus(np.full(model.n, rate), *np.zeros((2, model.n)))
        return float(functions.least()[0].min(axis=1).sum()) - 1e-9, box


asked = []


@pytest.mark.parametrize("kind", ["labels", "outputs"])
def test_one_s_own_relaxation_works_in_a_search_with_a_certificate(kind, tmp_path):
    """Every node asks it; the checker passes over its proofs, which it does not know, and the others are enough."""
    pytest.importorskip("flint")
    asked.clear()
    problem, path = problem_of(14), tmp_path / "c.npz"
    if kind == "labels":
        formulation, own = ct.tsvm("hinge"), HalfBound
    else:
        formulation, own = ct.tsvm("ramp"), Eigenvalue
    known = ct.exact_search(formulation, problem, gap=1e-4)
    found = ct.exact_search(formulation, problem, gap=1e-4, bounds=own, certificate=path, patience=0)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(known.objective, rel=1e-4)
    assert asked
    verdict = ct.prove_certificate(path)
    assert verdict.holds, verdict.problem
    if kind == "labels":
        assert verdict.unknown == ("half of an SVM's bound",)
        assert "passed over, as the checker does not know them: proofs by half of an SVM's bound" in str(verdict)


def test_a_rule_of_one_s_own_branches_a_search():
    problem, chosen = problem_of(14), []

    def first(work):
        """The first point without a label."""
        chosen.append(int(work.box.unknown[0]) if len(work.box.unknown) else -1)
        return None if chosen[-1] < 0 else (chosen[-1], 0.0)

    model = ct.tsvm("hinge")
    found = ct.exact_search(model, problem, branching=first, bounds="svm")
    assert found.status == "optimal"
    assert chosen
    assert found.objective == pytest.approx(ct.exact_search(model, problem).objective, rel=1e-6)
