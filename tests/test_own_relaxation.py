"""Relaxations that are no entry of the table: what the builder asks of them, and what it refuses."""

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.exact import branching
from convex_tsvm.exact.incumbent import BestLabels
from convex_tsvm.relaxations import Proof, Relaxation, Work
from convex_tsvm.relaxations.region import Region, Rules
from convex_tsvm.relaxations.signs.signs import SignsProof


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
    with pytest.raises(ValueError, match="bounds=Bare: it lacks tighten, why_not"):
        ct.exact_search(model, problem, bounds=type("Bare", (Relaxation,), {}))


class NextUp(Proof):
    """What the SVM of the known labels proves and one unit of its last digit, of which the search claims less."""

    name = "next to an SVM's bound"

    def __init__(self, gamma):
        self.gamma = gamma

    def apply(self, model, box, cutoff):
        return np.nextafter(model.known.point(box.labels, self.gamma).value, np.inf), box


class NextBound(Relaxation):
    @staticmethod
    def why_not(model):
        return None

    def tighten(self, work):
        proof = NextUp(work.gamma)
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
        formulation, own = ct.tsvm("hinge"), NextBound
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
        assert verdict.unknown == ("next to an SVM's bound",)
        assert "passed over, as the checker does not know them: proofs by next to an SVM's bound" in str(verdict)


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


class Saying(Proof):
    """A proof that says whatever it is told to, which need not be true."""

    name = "whatever is said"

    def __init__(self, says):
        self.says = says

    def apply(self, model, box, cutoff):
        return self.says(model, box)


def saying(says):
    """A relaxation with such a proof at every node."""

    class Told(Relaxation):
        @staticmethod
        def why_not(model):
            return None

        def tighten(self, work):
            work.prove(Saying(says))

    return Told


def test_a_claim_that_the_checker_refuses_is_not_optimal_though_a_kind_was_passed_over(tmp_path):
    """A proof of one's own closes the root with a bound that is too high."""
    pytest.importorskip("flint")
    false = saying(lambda model, box: (1e9, box))
    with pytest.warns(ct.TSVMWarning, match="node 0 is closed, but .*; passed over, .*: proofs by whatever is said"):
        found = ct.exact_search(
            ct.tsvm("hinge"), problem_of(14), bounds=false, certificate=tmp_path / "c.npz", patience=0
        )
    assert found.status == "inaccurate"


@pytest.mark.parametrize(
    "says",
    [
        lambda model, box: (np.nan, box),
        lambda model, box: None,
        lambda model, box: (0.0, None),
        lambda model, box: ("0", box, 1),
    ],
    ids=["nan", "None", "no box", "three"],
)
def test_what_is_no_bound_of_a_box_is_refused(says):
    with pytest.raises(ValueError, match=r"(?s)the proof Saying says .* of a box: it must be a bound"):
        ct.exact_search(ct.tsvm("hinge"), problem_of(14), bounds=saying(says), patience=0)


def test_an_empty_box_may_have_an_infinite_bound():
    problem = problem_of(14)
    empty = saying(lambda model, box: (np.inf, box.meet(box.high + 4, box.high + 4)))
    found = ct.LowerBoundBuilder(ct.tsvm("hinge"), problem, relaxation=empty).bound()
    assert found.value <= found.upper


def test_the_proof_of_the_bound_is_kept():
    """Of proofs that leave the box as it is the best one, and every one that makes it smaller."""
    problem = problem_of(14)
    model = ct.LowerBoundBuilder(ct.tsvm("hinge"), problem, relaxation="svm").model
    work = Work(model, Region(model.root()), BestLabels(model), Rules())
    free = int(work.box.unknown[0])
    proofs = [
        Saying(lambda model, box: (1.0, box)),
        Saying(lambda model, box: (2.0, box)),
        Saying(lambda model, box: (0.5, box.with_label(free, 1))),
        Saying(lambda model, box: (1.5, box)),
    ]
    for proof in proofs:
        work.prove(proof)
    assert [proof for proof, _ in work.proofs] == proofs[1:3]
    work.prove(Saying(lambda model, box: (3.0, box.with_label(int(box.unknown[0]), 1))))
    assert [proof for proof, _ in work.proofs][:-1] == proofs[2:3]
    assert work.bound == 3.0


def test_classes_that_lack_something_say_so_when_they_are_made():
    def apply(self, model, box, cutoff):
        return 0.0, box

    with pytest.raises(TypeError, match="Nameless needs a name of its own"):
        type("Nameless", (Proof,), {"apply": apply})
    with pytest.raises(TypeError, match="Heir needs a name of its own"):
        type("Heir", (LabelledOnly,), {"apply": apply})
    with pytest.raises(TypeError, match=r"Second: name='signs' is that of convex_tsvm\..*\.SignsProof"):
        type("Second", (Proof,), {"apply": apply, "name": "signs"})
    assert Proof.kinds["signs"] is SignsProof
    again = type("LabelledOnly", (Proof,), {"apply": apply, "name": LabelledOnly.name, "__module__": __name__})
    assert Proof.kinds[LabelledOnly.name] is again
    with pytest.raises(TypeError, match="Pointed: about='points' must be 'labels', 'outputs' or 'weights'"):
        type("Pointed", (Relaxation,), {"about": "points"})


def test_a_search_goes_on_from_proofs_that_nothing_reads(tmp_path):
    """Their numbers stay in the checkpoint, and the verdict on it says that they were passed over."""
    pytest.importorskip("flint")
    problem, path = problem_of(14), tmp_path / "search.npz"
    options = dict(bounds=NextBound, patience=0, checkpoint=path, gap=1e-4)
    first = ct.exact_search(ct.tsvm("hinge"), problem, max_nodes=3, **options)
    assert first.status == "node_limit"
    found = ct.exact_search(ct.tsvm("hinge"), problem, **options)
    assert found.status == "optimal"
    assert found.tree[0].proofs[-1][0].name == NextUp.name
    verdict = ct.prove_certificate(path)
    assert verdict.holds, verdict.problem
    assert verdict.unknown == (NextUp.name,)


@pytest.mark.parametrize(
    "chosen",
    [
        lambda work: (0, 0.0),
        lambda work: None,
        lambda work: (int(work.box.unknown[0]), 0.5),
        lambda work: 3,
        lambda work: (99, 0.0),
        lambda work: "x",
        lambda work: (-1, 0.0),
    ],
    ids=["labelled", "None", "place", "no pair", "beyond", "word", "negative"],
)
def test_a_rule_that_splits_nothing_is_refused(chosen):
    with pytest.raises(ValueError, match=r"branching=<lambda> returned .*; it must be a point without a label"):
        ct.exact_search(ct.tsvm("hinge"), problem_of(14), branching=chosen, bounds="svm", max_nodes=200)


@pytest.mark.parametrize("chosen", [None, (0, 1e9), (0, np.nan)], ids=str)
def test_a_rule_that_splits_no_interval_is_refused(chosen):
    with pytest.raises(ValueError, match=r"branching=<lambda> returned .*; it must be an output and a place in it"):
        ct.exact_search(ct.tsvm("ramp"), problem_of(14), branching=lambda work: chosen, max_nodes=200)


def test_a_rule_of_the_table_says_itself_what_it_splits(monkeypatch):
    """A new one for outputs, which is not wrapped as those for labels are."""

    def widest(work):
        found = work.split()
        return found and (found[0], found[1])

    monkeypatch.setattr(branching, "widest", widest, raising=False)
    monkeypatch.setitem(ct.table.BRANCHING, "widest", ct.table.Entry("exact.branching:widest", "where it is widest"))
    assert ct.exact_search(ct.tsvm("ramp"), problem_of(12), gap=1e-2, branching="widest").status == "optimal"
    with pytest.raises(ValueError, match="branching='widest' is none for a search about labels; there are 'auto' and"):
        ct.exact_search(ct.tsvm("hinge"), problem_of(12), branching="widest")
    with pytest.raises(ValueError, match="search about outputs; there are 'auto' and 'excess', 'widest'"):
        ct.exact_search(ct.tsvm("ramp"), problem_of(12), branching="worst")
