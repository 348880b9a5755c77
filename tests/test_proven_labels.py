"""What is proven of single labels, against all labellings; certificates of it, honest and forged."""

import itertools

import numpy as np
import pytest
from test_interval_certificates import no_proofs, read, write

import convex_tsvm as ct
from convex_tsvm.relaxations import LabelModel
from convex_tsvm.relaxations.box import LabelBox

#: Formulations and balances of searches for labels.
CASES = {
    "squared hinge": (ct.s3vm(), "labeled"),
    "hinge": (ct.tsvm("hinge"), 0.1),
    "counted": (ct.s3vm(), ("exact", 0.5)),
    "hinge, counted": (ct.tsvm("hinge", fit_intercept=False), ("exact", 0.5)),
    "targets": (ct.s3vm(fit_intercept=False).balancing_targets(), 0.2),
    "free": (ct.s3vm(balance=None), None),
}


def case(name, seed, n=11):
    formulation, balance = CASES[name]
    rng, truth = np.random.default_rng(seed), np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + truth[:, None] * rng.uniform(0, 1)
    y = np.where(np.arange(n) < 4, truth, 0.0)
    costs = {"C": float(rng.choice([0.5, 5])), "C_unlabeled": float(rng.choice([0.1, 1]))}
    return formulation, ct.Problem(X, y, kernel=ct.RBF(1.0), balance=balance, **costs)


def all_labellings(formulation, problem):
    """Every labelling that the balance allows, and its objective."""
    model = LabelModel(formulation, problem)
    labels, objectives = [], []
    for signs in itertools.product((1.0, -1.0), repeat=problem.n_unlabeled):
        full = problem.y.copy()
        full[problem.unlabeled] = signs
        if not model.count(LabelBox.of_labels(full)).is_empty:
            labels.append(full)
            objectives.append(model.svm.objective(full, model.svm.solve(full, tol=1e-10)))
    return np.array(labels), np.array(objectives)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 25))])
def test_labels_are_proven_where_all_labellings_within_the_slack_agree(name, seed, tmp_path):
    formulation, problem = case(name, seed)
    labels, objectives = all_labellings(formulation, problem)
    solution = ct.exact_search(formulation, problem, gap=1e-7)
    for slack in (0.0, 0.01, 0.05, 0.3):
        path = tmp_path / "proven.npz"
        proven = solution.proven(slack, certificate=path)
        assert proven.status == "optimal"
        # Objectives at the threshold, up to what solvers leave, may count or not.
        for threshold, sign in ((proven.threshold * (1 - 2e-6), 1), (proven.threshold * (1 + 2e-6), -1)):
            near = labels[objectives <= threshold]
            agree = (near == solution.labels).all(axis=0)
            if sign > 0:
                assert not (proven.labels != 0)[~agree].any()
            else:
                assert (proven.labels[agree] == solution.labels[agree]).all()
        # Each other label has a witness.
        for i in proven.open:
            row = proven.witness[i]
            assert proven.witnesses[row, i] == -solution.labels[i]
            place = int((labels == proven.witnesses[row]).all(axis=1).argmax())
            assert proven.objectives[row] == pytest.approx(objectives[place], rel=1e-6)
            assert proven.objectives[row] <= proven.threshold * (1 + 1e-6)
        assert (proven.witness[proven.labels != 0] == -1).all()
        verdict = ct.prove_certificate(path, formulation, problem)
        assert verdict.holds, verdict.problem
        assert verdict.n_proven == (proven.labels[problem.unlabeled] != 0).sum()
        assert verdict.n_witnesses == len(proven.witnesses)
        assert verdict.threshold == proven.threshold
        assert verdict.lower_bound == -np.inf


def test_what_is_asked_for_and_what_is_told(tmp_path):
    formulation, problem = case("squared hinge", 3, n=40)
    solution = ct.exact_search(formulation, problem, gap=1e-6)
    wide, narrow = solution.proven(0.2), solution.proven(0.0)
    assert set(narrow.open) <= set(wide.open)
    assert narrow.query() in {None, *narrow.open}
    assert wide.query() in wide.open
    assert wide.objectives[wide.witness[wide.query()]] == wide.objectives.min()
    assert "labels are the same in every labelling below" in str(wide)
    side_by_side = solution.proven(0.2, n_jobs=2)
    assert set(side_by_side.open) == set(wide.open)
    short = solution.proven(0.2, max_nodes=2, certificate=tmp_path / "short.npz")
    assert short.status in ("node_limit", "optimal")
    assert set(wide.open) <= set(short.open)
    assert ct.prove_certificate(tmp_path / "short.npz").holds
    ct.exact.certificate_page(tmp_path / "short.npz", tmp_path / "short.html")
    assert f"labels of all solutions below {short.threshold:.10g}" in (tmp_path / "short.html").read_text()
    with pytest.raises(ValueError, match="slack=-1"):
        solution.proven(-1)
    ramp = ct.exact_search(ct.tsvm("ramp"), problem.part(np.arange(12)), gap=1e-2)
    with pytest.raises(ValueError, match="labels are proven of formulations whose exact search is for labels"):
        ramp.proven()


def test_estimator():
    formulation, problem = case("squared hinge", 3, n=30)
    marked = np.where(problem.y == 0, -1, (problem.y > 0).astype(int))
    clf = ct.ExactTransductiveSVC(
        sigma=1.0, C=problem.C, C_unlabeled=problem.C_unlabeled, balance="labeled", slack=0.01
    )
    clf.fit(problem.X, marked)
    proven = ct.exact_search(formulation, problem).proven(0.01)
    assert np.array_equal(clf.proven_, proven.labels != 0)
    with pytest.raises(ValueError, match=r"slack=-0.5 must be"):
        clf.set_params(slack=-0.5).fit(problem.X, marked)
    assert not hasattr(ct.ExactTransductiveSVC(sigma=1.0).fit(problem.X, marked), "proven_")


def test_the_picture_has_open_points_hollow():
    plt = pytest.importorskip("matplotlib.pyplot")
    formulation, problem = case("squared hinge", 3, n=40)
    proven = ct.exact_search(formulation, problem).proven(0.2)
    solution = ct.exact_search(formulation, problem)
    for given in (proven, proven.labels != 0):
        ax = ct.plot.boundary(solution, proven=given, ax=plt.figure().add_subplot())
        drawn = {one.get_label(): one for one in ax.collections}
        assert len(drawn["open"].get_offsets()) == len(proven.open)
        assert len(drawn["open"].get_facecolors()) == 0
        assert len(drawn["proven"].get_offsets()) == (proven.labels[problem.unlabeled] != 0).sum()
        assert len(drawn["proven"].get_facecolors()) > 0
        plt.close()
    with pytest.raises(ValueError, match=r"proven has shape \(3,\); it must be \(40,\)"):
        ct.plot.boundary(solution, proven=[True, False, True])


def turned(header, arrays):
    where = int(np.flatnonzero((arrays["proven"] != 0) & (arrays["y"] == 0))[0])
    arrays["proven"][where] *= -1


def more_proven(header, arrays):
    arrays["proven"] = arrays["labels"]


def higher_threshold(header, arrays):
    arrays["proven_threshold"] = arrays["proven_threshold"] * 1.2


def lower_threshold(header, arrays):
    arrays["proven_threshold"] = arrays["proven_threshold"] * 0.95


def no_threshold(header, arrays):
    arrays["proven_threshold"] = arrays["proven_threshold"] * np.nan


def other_witness(header, arrays):
    arrays["witness_labels"] = -arrays["witness_labels"]


def worse_witness(header, arrays):
    arrays["witness_gamma"] = 0 * arrays["witness_gamma"]


@pytest.mark.parametrize(
    "forge",
    [
        turned,
        more_proven,
        higher_threshold,
        lower_threshold,
        no_threshold,
        other_witness,
        worse_witness,
        no_proofs,
    ],
)
def test_forged_certificates_of_labels_are_refused(forge, tmp_path):
    pytest.importorskip("flint")
    formulation, problem = case("squared hinge", 3, n=24)
    path = tmp_path / "proven.npz"
    proven = ct.exact_search(formulation, problem, gap=1e-6).proven(0.05, certificate=path)
    assert len(proven.witnesses)
    assert (proven.labels[problem.unlabeled] != 0).any()
    header, arrays = read(path)
    forge(header, arrays)
    assert not ct.prove_certificate(write(tmp_path / "forged.npz", header, arrays)).holds
