"""Options of the command line that would not be looked at are refused by name."""

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main

#: What the commands are given, the option that none of it looks at, and what the option is for.
UNUSED = [
    ("solve two_moons --max-nodes 5", "max_nodes=5 (--max-nodes) is for --method exact, not for cccp"),
    ("solve two_moons --gap 0.1", "--method exact"),
    ("solve two_moons --bounds sdp", "--method exact"),
    ("solve two_moons --strategy best", "--method exact"),
    ("solve two_moons --branching gain", "--method exact"),
    ("solve two_moons --n-jobs 2", "--method exact"),
    ("solve two_moons --n-neighbors 6", "n_neighbors=6 (--n-neighbors) is for the formulations lapsvm, laptsvm"),
    ("solve two_moons --C-manifold 1", "lapsvm, laptsvm"),
    ("solve two_moons --C-compact 1", "cmm, rmm"),
    ("solve two_moons --epsilon 1", "cmm, rmm"),
    ("solve two_moons --degree 2", "--kernel poly"),
    ("solve two_moons --coef0 1", "--kernel poly"),
    ("solve two_moons --kernel linear --gamma 1", "--kernel rbf or --kernel poly"),
    ("solve two_moons --kernel poly --sigma 1", "--kernel rbf"),
    ("solve two_moons --loss flat --s -0.3", "--loss ramp"),
    ("solve two_moons --method switching --s -0.3", "--loss ramp"),
    ("solve two_moons --method cmm --loss ramp", "formulations svm, tsvm, laptsvm, not for cmm"),
    ("solve two_moons --method svm --C-unlabeled 1", "cost C* of unlabelled points"),
    ("solve two_moons --method lapsvm --balance none", "formulations svm, tsvm"),
    ("solve two_moons --method annealing --annealing 5", "by the methods cccp, switching, gradient, newton"),
    ("solve two_moons --method cmm --annealing 5", "formulation tsvm"),
    ("solve two_moons --method sdp --tol 0.1", "the methods cccp"),
    ("solve two_moons --method exact --max-iter 10", "the methods cccp"),
    ("solve two_moons --method spectral --solver native", "the methods cccp"),
    ("solve two_moons --method newton --cache-size 10", "--solver native"),
    ("solve two_moons --solver cvxpy --cache-size 10", "--solver native"),
    ("solve two_moons --label-column y", ".csv files"),
    ("solve two_moons --splits labeled10", "rows of labelled points"),
    ("solve two_moons --split 1 --n-labeled 10", "a row shows, not for n_labeled=10"),
    ("solve two_moons --random-state 1", "--n-labeled"),
    ("solve two_moons --formulation cs3vm --balance 0.1", "not for cccp with --formulation cs3vm"),
    ("solve two_moons --formulation-option epsilon=2", "no option of the formulations asked for (tsvm: loss, s, fit"),
    ("compare two_moons --methods cccp,newton --max-nodes 5", "--method exact, not for cccp, newton"),
    ("compare two_moons --methods cccp,newton --epsilon 1", "cmm, rmm"),
    ("compare two_moons --folds 0 --random-state 1", "folds of compare"),
    ("bound two_moons --epsilon 1", "cmm, rmm"),
    ("bound two_moons --loss hinge --rounds 3", "--relaxation signs or envelope or curvature or weights, not for"),
    ("bound two_moons --solver scs", "--relaxation sdp, not for --relaxation by default"),
    ("verify two_moons --tol 0.1", "tol=0.1 (--tol) is for solve and compare"),
    ("verify two_moons --annealing 3", "solve and compare"),
    ("verify two_moons --cache-size 3", "solve and compare"),
    ("verify two_moons --method svm --epsilon 1", "cmm, rmm"),
    ("verify --paper dai2010 --C 3", "C=3.0 (--C) is for data, not for --paper dai2010"),
    ("verify --paper dai2010 --rigorous", "rigorous is for certificates"),
    ("verify optimum.npz --sigma 3", "sigma=3.0 (--sigma) is for data, not for the certificate 'optimum.npz'"),
    ("predict model.npz two_moons --label-column y", ".csv files"),
    ("linear folder --zero-based", "is for svmlight files"),
    ("solve plain.npz --split 3", "split=3: DATA has no array 'labeled'"),
    ("solve plain.svm --split 0", "rows of labelled points"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unused")
    X, y = np.arange(12.0).reshape(6, 2), np.array([1.0, -1, 0, 0, 0, 0])
    problem = ct.Problem(X, y, C=1, C_unlabeled=0.1)
    ct.exact_search(ct.s3vm(), problem, certificate=folder / "optimum.npz")
    fitted = ct.persistence.FittedModel.from_solutions([ct.cccp(ct.cccp_tsvm(), problem)], np.array(["0", "1"]))
    ct.save_model(fitted, folder / "model.npz")
    np.savez(folder / "plain.npz", X=X, y=np.array([1, -1, np.nan, np.nan, np.nan, np.nan]))
    (folder / "plain.svm").write_text("1 1:1\n-1 1:2\n0 1:3\n")
    ct.points.convert_svmlight(folder / "plain.svm", folder / "folder")
    return folder


@pytest.mark.parametrize(("command", "said"), UNUSED, ids=[command for command, _ in UNUSED])
def test_what_is_not_looked_at_is_refused(command, said, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    assert main(command.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert said in captured.err


@pytest.mark.parametrize(
    "command",
    [
        "solve two_moons --method cmm --epsilon 1.5 --s -0.2 --C-compact 1",
        "solve two_moons --method lapsvm --n-neighbors 5 --C-manifold 2 --cache-size 50",
        "solve two_moons --kernel poly --degree 2 --coef0 1 --gamma 1 --tol 0.01 --max-iter 200",
        "solve two_moons --method switching --annealing 3 --random-state 2 --n-labeled 12",
        "compare two_moons --methods svm,cmm --epsilon 1.5 --C-unlabeled 1 --random-state 2 --folds 2",
        "compare two_moons --methods svm,newton --solver native,cvxpy --cache-size 10 --folds 0",
        "verify two_moons --method cmm --epsilon 1.5 --points 10",
        "verify optimum.npz --html page.html",
    ],
)
def test_what_one_of_the_methods_looks_at_is_taken(command, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    assert main(command.split()) == 0
    assert capsys.readouterr().err == ""
