"""One lower-bound builder: every bound of an exact search is asked of it, and so is that of ``convex-tsvm bound``."""

import json

import joblib
import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.relaxations import LabelModel
from convex_tsvm.table import RELAXATIONS

#: Every balance that exact search takes, with whether there is a bias.
BALANCES = [("linear", "labeled", True), ("linear", 0.1, False), (None, None, True), (None, None, False),
            ("linear", ("exact", 0.5), True), ("targets", 0.2, False)]  # fmt: skip


def points(seed, n=14):
    rng = np.random.default_rng(seed)
    signs = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + 0.7 * signs[:, None]
    return X, np.where(np.arange(n) < 4, signs, 0.0)


def instance(seed, squared, balance=("linear", "labeled", True), n=14):
    X, y = points(seed, n)
    kind, value, bias = balance
    loss = ct.squared_hinge() if squared else ct.hinge()
    formulation = ct.Formulation(loss, loss.minimum(loss.reflect()), balance=kind, fit_intercept=bias)
    return formulation, ct.Problem(X, y, kernel=ct.RBF(1.0), C=3.0, C_unlabeled=1.0, balance=value)


@pytest.fixture
def watched(monkeypatch):
    """How many builders are made, and what bounds they give at nodes, those included that they finish."""
    made, bounds = [], []
    init, examine = ct.LowerBoundBuilder.__init__, ct.LowerBoundBuilder.examine
    finish = ct.LowerBoundBuilder.finish

    def counted(self, *args, **options):
        made.append(self)
        init(self, *args, **options)

    def noted(self, *args, **options):
        work = examine(self, *args, **options)
        bounds.append(work.bound)
        return work

    monkeypatch.setattr(ct.LowerBoundBuilder, "__init__", counted)

    def finished(self, work):
        finish(self, work)
        bounds.append(work.bound)

    monkeypatch.setattr(ct.LowerBoundBuilder, "examine", noted)
    monkeypatch.setattr(ct.LowerBoundBuilder, "finish", finished)
    return made, bounds


#: Formulations of every kind: by labels, and by pieces of a loss.
KINDS = {
    "squared hinge": ct.s3vm(),
    "hinge": ct.cccp_tsvm(0.0),
    "ramp": ct.cccp_tsvm(-0.3),
    "compact margin": ct.compact_margin(2.0, 0.3, 0.3),
    "flat": ct.Formulation(ct.squared_hinge(), ct.losses.flat_newton()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_bound_of_a_search_is_one_builder_s(kind, n_jobs, watched):
    made, bounds = watched
    problem = instance(0, True)[1].replace(C=6.0, C_unlabeled=4.0)
    with joblib.parallel_config(backend="threading"):
        solution = ct.exact_search(KINDS[kind], problem, patience=3, n_jobs=n_jobs)
    assert solution.status == "optimal"
    assert len(made) == 1
    assert solution.n_nodes > 1
    assert len(bounds) >= solution.n_nodes
    assert {record.bound for record in solution.tree} <= set(bounds)


@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("squared", [True, False])
def test_the_builder_takes_every_balance_that_the_search_takes(balance, squared):
    if balance[0] == "targets" and not squared:
        pytest.skip("targets are for the squared hinge")
    formulation, problem = instance(1, squared, balance, n=11)
    least, _ = ct.brute_force(formulation, problem)
    kinds = {name: entry.load() for name, entry in RELAXATIONS.items()}
    for relaxation in (name for name, kind in kinds.items() if kind.about == "labels"):
        if kinds[relaxation].why_not(LabelModel(formulation, problem)) is not None:
            with pytest.raises(ValueError, match=f"relaxation='{relaxation}': "):
                ct.LowerBoundBuilder(formulation, problem, relaxation=relaxation)
            continue
        bound = ct.LowerBoundBuilder(formulation, problem, relaxation=relaxation).bound()
        assert bound.value <= least * (1 + 1e-9) <= bound.upper * (1 + 1e-6)
        assert bound.proofs
    strongest = ct.LowerBoundBuilder(formulation, problem, relaxation="auto").bound()
    assert strongest.value <= least * (1 + 1e-9)


def test_the_proofs_of_a_bound_are_enough_for_it():
    """What the builder returns, applied again one after the other by another model, gives its value."""
    formulation, problem = instance(2, True)
    bound = ct.LowerBoundBuilder(formulation, problem, relaxation="svm").bound()
    model = ct.LowerBoundBuilder(formulation, problem, relaxation="svm").model
    box, value = model.root(), -np.inf
    for proof, cutoff in bound.proofs:
        found, box = proof.apply(model, box, cutoff)
        value = max(value, found)
    assert value == bound.value


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(k, marks=pytest.mark.slow) for k in range(5, 10))])
def test_the_command_gives_the_root_bound_of_the_search(seed, tmp_path, capsys):
    squared = seed % 2 == 0
    X, y = points(seed, 16)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    relaxation = ("signs", "sdp")[seed % 2] if seed < 8 else "svm"
    options = ["--sigma", "1", "--C", "3", "--C-unlabeled", "1", "--balance", "labeled", "--unlabeled", "0"]
    loss = "squared_hinge" if squared else "hinge"
    assert (
        main(["bound", str(tmp_path / "data.npz"), *options, "--loss", loss, "--relaxation", relaxation, "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    formulation = ct.tsvm(loss, balance="linear") if squared else ct.cccp_tsvm(0.0)
    problem = ct.Problem(X, y, kernel=ct.RBF(sigma=1.0), C=3.0, C_unlabeled=1.0, balance="labeled")
    solution = ct.exact_search(formulation, problem, bounds=relaxation, patience=0, max_nodes=1)
    assert told["lower_bound"] == pytest.approx(solution.root_bound, rel=1e-9)
    assert told["objective"] == pytest.approx(solution.objective, rel=1e-9)
