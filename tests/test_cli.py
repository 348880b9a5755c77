"""The command line: figures, files, exit statuses, and one line for a bad input."""

import csv
import dataclasses
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import SVC

import convex_tsvm as ct
from convex_tsvm.cli import _warnings_told, main
from convex_tsvm.data import load_classes
from convex_tsvm.table import METHODS

KEYS = {
    "method",
    "solver",
    "n_labeled",
    "n_unlabeled",
    "objective",
    "lower_bound",
    "gap",
    "error_unlabeled",
    "iterations",
    "seconds",
    "status",
}


def rows_of(path):
    """The rows of a CSV file as dictionaries."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture
def files(moons, tmp_path):
    """The moons in every format: with a split, without, sparse, with names, with several classes."""
    X, truth, y = moons
    split = np.flatnonzero(y)[None]
    np.savez(tmp_path / "split.npz", X=X, y=truth.astype(int), labeled=split)
    np.savez(tmp_path / "plain.npz", X=X, y=y.astype(int))
    csr = sp.csr_matrix(X)
    parts = dict(data=csr.data, indices=csr.indices, indptr=csr.indptr, shape=np.array(csr.shape))
    np.savez(tmp_path / "sparse.npz", **parts, y=truth.astype(int), labeled10=split)
    dump_svmlight_file(X, y, str(tmp_path / "moons.svm"))
    with open(tmp_path / "moons.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["kind", "a", "b"])
        for point, sign in zip(X, y, strict=True):
            writer.writerow([{1: "up", -1: "down", 0: ""}[sign], *point])
    np.savez(tmp_path / "three.npz", X=X, y=np.arange(80) % 3, labeled=np.arange(12)[None])
    return tmp_path


MODEL = ["--sigma", "0.5", "--C", "10"]


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    "data",
    [
        ["split.npz"],
        ["plain.npz", "--unlabeled", "0"],
        ["sparse.npz", "--splits", "labeled10"],
        ["moons.svm", "--unlabeled", "0"],
        ["moons.csv", "--label-column", "kind"],
    ],
    ids=lambda d: d[0],
)
def test_every_format_gives_the_same(data, files, moons, capsys):
    X, _, y = moons
    expected = ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, C_unlabeled=1))
    status, out, err = run(capsys, "solve", files / data[0], *data[1:], *MODEL, "--balance", "labeled", "--json")
    result = json.loads(out)
    assert status == 0
    assert ("columns are counted from 0, as there is an index 0" in err) if data[0] == "moons.svm" else err == ""
    assert set(result) >= KEYS
    assert result["objective"] == pytest.approx(expected.objective, rel=1e-6)
    assert (result["n_labeled"], result["n_unlabeled"], result["status"]) == (8, 72, "converged")
    if data[0] in ("split.npz", "sparse.npz"):
        assert 0 <= result["error_unlabeled"] < 0.1
    else:
        assert result["error_unlabeled"] is None


def test_classes_can_be_grouped(files, capsys):
    status, out, _ = run(capsys, "solve", files / "three.npz", "--positive", "0,2", "--json")
    assert status == 0
    assert json.loads(out)["n_labeled"] == 12


def test_labels_can_be_drawn(capsys):
    status, out, _ = run(capsys, "solve", "two_moons", "--n-labeled", 12, "--random-state", 3, "--json", *MODEL)
    assert status == 0
    assert json.loads(out)["n_labeled"] == 12


@pytest.mark.parametrize("name", ["two_moons", "breast_cancer", "digits", "iris", "wine"])
def test_bundled_sets(name, capsys):
    positive = {"digits": "8", "iris": "virginica", "wine": "class_0"}.get(name)
    options = ["--positive", positive] if positive else []
    status, out, _ = run(capsys, "solve", name, "--split", 9, "--json", *options)
    assert status == 0
    assert json.loads(out)["error_unlabeled"] < 0.5


def test_compare_prints_a_table_and_draws(files, capsys):
    picture = files / "picture.png"
    status, out, _ = run(capsys, "compare", files / "split.npz", *MODEL, "--solver", "native,cvxpy", "--plot", picture)
    lines = out.splitlines()
    assert status == 0
    assert [line.split()[:2] for line in lines[5:9]] == [
        ["svm", "native"],
        ["svm", "cvxpy"],
        ["cccp", "native"],
        ["cccp", "cvxpy"],
    ]
    assert "differ on 0 labels" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_solve_bound_and_verify_draw(files, capsys):
    split, loss = files / "split.npz", ["--loss", "squared_hinge"]
    commands = {
        "solve": ["solve", split, *MODEL],
        "exact": ["solve", split, "--sigma", "0.5", "--C", "1", *loss, "--method", "exact", "--time-limit", "1"],
        "bound": ["bound", split, *MODEL, *loss],
        "verify": ["verify", split, *MODEL],
    }
    for name, command in commands.items():
        picture = files / f"{name}.png"
        status, out, _ = run(capsys, *command, "--plot", picture)
        assert status == 0 or (name == "exact" and status == 1)  # which may run out of time
        assert f"picture: {picture}" in out
        assert picture.read_bytes().startswith(b"\x89PNG")
    status, _, err = run(capsys, "bound", split, *loss, "--plot", files / "p.xyz")
    assert (status, err.count("\n")) == (2, 1)
    assert "must end in one of" in err
    status, _, err = run(capsys, "solve", files / "three.npz", "--plot", files / "p.png")
    assert status == 2
    assert "is for two classes" in err


def test_compare_sets_the_supervised_svm_beside(files, moons, capsys):
    X, _, y = moons
    status, out, _ = run(
        capsys, "compare", files / "split.npz", *MODEL, "--folds", "4", "--balance", "labeled", "--json"
    )
    found = json.loads(out)
    assert status == 0
    known, unknown = y != 0, y == 0
    alone = SVC(C=10, gamma=2.0).fit(X[known], y[known])
    problem = ct.Problem(X, y, kernel=ct.RBF(0.5), C=10, C_unlabeled=1)
    cccp = ct.cccp(ct.cccp_tsvm(), problem)
    result = found["results"][1]
    assert result["agreement"] == pytest.approx(np.mean(alone.predict(X[unknown]) == cccp.labels[unknown]))
    parts = ct.selection.LabeledKFold(4, unlabeled=0).split(X, y)
    wrong, wrong_alone = 0, 0
    for train, test in parts:
        left = y.copy()
        left[test] = 0
        wrong += (ct.cccp(ct.cccp_tsvm(), problem.replace(y=left)).labels[test] != y[test]).sum()
        shown = train[y[train] != 0]
        wrong_alone += (SVC(C=10, gamma=2.0).fit(X[shown], y[shown]).predict(X[test]) != y[test]).sum()
    assert result["left_out_error"] == pytest.approx(wrong / known.sum())
    supervised = found["supervised"]
    assert supervised["left_out_error"] == pytest.approx(wrong_alone / known.sum())
    # At the supervised SVM the objective of the others is no lower than at their own minimum.
    assert supervised["objective"] > result["objective"]
    # No folds, and no error of them.
    _, out, _ = run(capsys, "compare", files / "split.npz", *MODEL, "--folds", "0")
    row = next(line for line in out.splitlines() if line.startswith("supervised SVM"))
    assert "100.0%" in row
    assert " -  " in row
    status, _, err = run(capsys, "compare", files / "split.npz", "--folds", "-1")
    assert (status, err.count("\n")) == (2, 1)
    assert "folds=-1 must be 0, or an integer >= 2" in err


def test_compare_draws_iterations_for_more_dimensions(tmp_path, capsys):
    status, out, _ = run(
        capsys, "compare", "breast_cancer", "--json", "--plot", tmp_path / "p.svg", "--solver", "native,cvxpy"
    )
    result = json.loads(out)
    assert status == 0
    assert [r["method"] for r in result["results"]] == ["svm", "svm", "cccp", "cccp"]
    assert all(a["labels_different"] == 0 and a["objective_difference"] < 1e-6 for a in result["agreement"])
    assert b"<svg" in (tmp_path / "p.svg").read_bytes()


def test_solve_writes_labels_and_a_model_that_predicts(files, capsys):
    model, labels, again = files / "model.npz", files / "labels.csv", files / "again.csv"
    status, out, _ = run(capsys, "solve", files / "split.npz", *MODEL, "--save", model, "--labels-out", labels)
    assert status == 0
    assert "relative gap" in out
    rows = rows_of(labels)
    assert len(rows) == 80
    assert {row["label"] for row in rows} == {"+1", "-1"}
    status, out, _ = run(capsys, "predict", model, files / "split.npz", "--labels-out", again, "--json")
    assert status == 0
    assert json.loads(out)["error"] < 0.1
    assert [row["label"] for row in rows_of(again)] == [row["label"] for row in rows]


def test_labels_are_written_as_the_data_has_them(files, capsys):
    model, labels, again = files / "model.npz", files / "labels.csv", files / "again.csv"
    status, _, _ = run(capsys, "solve", files / "moons.csv", "--label-column", "kind", *MODEL, "--save", model,
                       "--labels-out", labels)  # fmt: skip
    assert status == 0
    rows = rows_of(labels)
    assert {row["label"] for row in rows} == {"up", "down"}
    assert all((row["label"] == "up") == (float(row["output"]) >= 0) for row in rows)
    status, _, _ = run(capsys, "predict", model, files / "moons.csv", "--label-column", "kind", "--labels-out", again)
    assert [row["label"] for row in rows_of(again)] == [row["label"] for row in rows]


def test_more_than_two_classes(tmp_path, capsys):
    model, labels, again = tmp_path / "model.npz", tmp_path / "labels.csv", tmp_path / "again.csv"
    status, out, _ = run(capsys, "solve", "iris", "--C", 10, "--save", model, "--labels-out", labels)
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines()[5:8]] == [
        ["cccp:", "setosa"],
        ["cccp:", "versicolor"],
        ["cccp:", "virginica"],
    ]
    rows = rows_of(labels)
    assert {row["label"] for row in rows} == {"setosa", "versicolor", "virginica"}
    status, out, _ = run(capsys, "solve", "iris", "--C", 10, "--json")
    result = json.loads(out)
    assert result.keys() >= KEYS
    assert result["error_unlabeled"] < 0.1
    assert len(result["classes"]) == 3
    assert result["objective"] == pytest.approx(np.mean([one["objective"] for one in result["classes"]]))
    # The estimator finds the same.
    data = load_classes("iris")
    clf = ct.TransductiveSVC(C=10, unlabeled="", multi_class="ovr").fit(data.X, data.labels)
    assert clf.objective_ == pytest.approx(result["objective"], rel=1e-6)
    assert result["error_unlabeled"] == pytest.approx(data.error(clf.transduction_))
    status, out, _ = run(capsys, "predict", model, "iris", "--labels-out", again, "--json")
    predicted = json.loads(out)
    assert predicted["n"] == sum(predicted["classes"].values()) == 150
    assert predicted["error"] < 0.1
    assert len(rows_of(again)) == 150
    status, out, _ = run(capsys, "solve", "iris", "--n-labeled", 12, "--json")
    assert json.loads(out)["n_labeled"] == 12


def test_points_to_predict_need_no_labels(files, moons, capsys):
    X, _, _ = moons
    model = files / "model.npz"
    run(capsys, "solve", files / "split.npz", *MODEL, "--save", model)
    np.savez(files / "new.npz", X=X)
    np.savetxt(files / "new.csv", X, delimiter=",", header="a,b", comments="")
    np.savez(files / "nan.npz", X=X, y=np.full(80, np.nan))
    dump_svmlight_file(X[:, :1], np.zeros(80), str(files / "narrow.svm"))
    found = []
    for name in ("new.npz", "new.csv", "nan.npz", "narrow.svm"):
        status, out, _ = run(capsys, "predict", model, files / name, "--json")
        result = json.loads(out)
        assert (status, result["n"], result["error"]) == (0, 80, None)
        found.append(result["n_positive"])
    assert found[0] == found[1] == found[2]


def test_bound(files, capsys):
    """A bound below what every method reaches, each relaxation at least as good as the one before."""
    status, out, _ = run(
        capsys, "bound", files / "split.npz", "--sigma", "0.5", "--C", "1", "--loss", "hinge", "--json"
    )
    result = json.loads(out)
    assert status == 0
    assert set(result) >= KEYS
    status, out, _ = run(
        capsys, "compare", files / "split.npz", "--sigma", "0.5", "--C", "1", "--loss", "hinge",
        "--methods", "cccp,sdp,subspace,spectral", "--folds", "0", "--json",
    )  # fmt: skip
    assert status == 0
    found = {entry["method"]: entry for entry in json.loads(out)["results"]}
    assert list(found) == ["cccp", "sdp", "subspace", "spectral"]
    for method in ("cccp", "sdp", "spectral"):
        assert result["lower_bound"] <= found[method]["objective"] + 1e-9
    assert found["sdp"]["lower_bound"] == pytest.approx(result["lower_bound"], rel=1e-3)
    assert found["subspace"]["lower_bound"] is None
    status, out, _ = run(capsys, "bound", files / "split.npz", "--sigma", "0.5", "--C", "1", "--loss", "squared_hinge",
                         "--relaxation", "signs", "--rounds", "1")  # fmt: skip
    assert "lower bound" in out


def test_verify_prints_the_derivation(files, capsys):
    status, out, _ = run(capsys, "verify", files / "split.npz", *MODEL, "--points", 40)
    assert status == 0
    assert "on 8 labelled and 32 unlabelled points" in out
    assert "FAIL" not in out
    status, out, _ = run(capsys, "verify", files / "split.npz", *MODEL, "--json", "--loss", "flat")
    assert json.loads(out)["passed"] is True


def test_not_solved_is_status_1(files, capsys):
    status, out, _ = run(capsys, "solve", files / "split.npz", *MODEL, "--max-iter", 1, "--json")
    assert status == 1
    assert json.loads(out)["status"] == "max_iter"


def test_interrupted_is_status_1(files, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("convex_tsvm.cli.solving.minimize", interrupted)
    status, out, err = run(capsys, "solve", files / "split.npz")
    assert (status, out) == (1, "")
    assert "interrupted" in err


#: A small problem that every method solves in no time.
SMALL = ["two_moons", "--sigma", "0.3", "--n-labeled", "10"]


#: How those that know a balance have the one that is not inferred, which would take longer than all else.
BALANCE = {method: [] if method == "subspace" else ["--balance", "labeled"] for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_loss_that_fits_it(method, capsys):
    limits = ["--max-nodes", "1"] if method == "exact" else []
    status, out, err = run(capsys, "solve", *SMALL, *BALANCE[method], "--method", method, "--json", *limits)
    assert (status, err) == (int(method == "exact"), "")
    assert json.loads(out)["loss"] == ct.tsvm(METHODS[method].loss).unlabeled.name


def test_a_comparison_of_all_descents_with_no_loss_named(capsys):
    methods = ["svm", "cccp", "switching", "annealing", "gradient", "newton", "cmm", "lapsvm"]
    status, out, _ = run(capsys, "compare", *SMALL, "--methods", ",".join(methods), "--folds", "0", "--json")
    results = json.loads(out)["results"]
    assert status == 0
    assert [row["method"] for row in results] == methods
    assert {row["status"] for row in results} == {"converged"}
    assert results[0]["loss"] is None
    assert json.loads(out)["supervised"]["objective"] is None  # they do not minimize the same


def test_a_method_that_fails_leaves_the_others(capsys):
    arguments = ["compare", *SMALL, "--loss", "ramp", "--folds", "0", "--methods"]
    status, out, _ = run(capsys, *arguments, "switching,cccp,annealing")
    rows = {line.split()[0]: line for line in out.splitlines()[4:]}
    assert status == 1
    assert rows["cccp"].endswith("converged")
    for name in ("switching", "annealing"):
        assert "failed: unlabeled=symmetric_ramp(-0.3) is not the loss" in rows[name]
    status, out, _ = run(capsys, *arguments, "switching,cccp", "--json")
    results = json.loads(out)["results"]
    assert [row["status"] for row in results] == ["failed", "converged"]
    assert results[0].keys() >= KEYS
    # Where nothing can be shown the input is bad.
    status, out, err = run(capsys, *arguments, "switching,annealing")
    assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError("the solver ran off")])
@pytest.mark.parametrize("place", ["solved", "supervised_svms"])
def test_no_finished_row_is_lost(stop, place, capsys, monkeypatch):
    from convex_tsvm.cli import comparison

    original, calls = getattr(comparison, place), []

    def stopping(*args, **kwargs):
        calls.append(args)
        if len(calls) > (place == "solved"):
            raise stop
        return original(*args, **kwargs)

    monkeypatch.setattr(comparison, place, stopping)
    status, out, err = run(capsys, "compare", *SMALL, "--folds", "0")
    assert status == 1
    assert "converged" in next(line for line in out.splitlines() if line.startswith("svm"))
    if place == "solved":
        assert ("interrupted: Ctrl-C" if stop is KeyboardInterrupt else "failed: the solver ran off") in out
    else:
        assert ("interrupted" if stop is KeyboardInterrupt else "the solver ran off") in err


def test_ctrl_c_in_the_cross_validation_keeps_the_rows(capsys, monkeypatch):
    from convex_tsvm.cli import comparison

    original, calls = comparison.solved, []

    def solved(*args, **kwargs):
        calls.append(args)
        solution = original(*args, **kwargs)
        return dataclasses.replace(solution, status="interrupted") if len(calls) == 3 else solution

    monkeypatch.setattr(comparison, "solved", solved)
    status, out, err = run(capsys, "compare", *SMALL)
    assert status == 1
    assert "interrupted" in err
    assert [line.split()[0] for line in out.splitlines()[5:7]] == ["svm", "cccp"]
    assert len(calls) == 3


def test_an_interrupted_comparison_shows_what_there_is(files, capsys, monkeypatch):
    from convex_tsvm.cli import solving

    original = solving.minimize

    def interrupted(method, formulation, problem, *, settings, **options):
        def stop(iteration):
            raise KeyboardInterrupt

        return original(method, formulation, problem, settings=dataclasses.replace(settings, callback=stop), **options)

    monkeypatch.setattr(solving, "minimize", interrupted)
    status, out, _ = run(capsys, "compare", files / "split.npz", "--solver", "native,cvxpy", "--json")
    assert status == 1
    assert [result["status"] for result in json.loads(out)["results"]] == ["interrupted"]


#: Files with a flipped bit.
DAMAGED = Path(__file__).parent / "certificates"

BAD = {
    "no such file": (["solve", "missing.npz"], "DATA='missing.npz': no such file, and no bundled set"),
    "folder": (["solve", "{dir}"], "is a folder"),
    "truncated npz": (["solve", "{dir}/truncated.npz"], "cannot be read as .npz"),
    "empty npz": (["solve", "{dir}/empty.npz"], "cannot be read as .npz"),
    "npz of objects": (["solve", "{dir}/objects.npz"], "cannot be read as .npz"),
    "npz without y": (["solve", "{dir}/no_y.npz"], "has no array 'y'; it has X"),
    "npz without X": (["solve", "{dir}/no_x.npz"], "has neither 'X' nor a CSR matrix"),
    "npz with another length": (["solve", "{dir}/short.npz"], r"y has shape (2,), but there are 4 points"),
    "npz with a wrong index": (["solve", "{dir}/index.npz"], "holds an index outside 0..3"),
    "npz with NaN": (["solve", "{dir}/nan.npz", "--unlabeled", "0"], "X contains NaN or infinity"),
    "broken CSR": (["solve", "{dir}/csr.npz"], "cannot be read as .npz"),
    "svmlight that is none": (["solve", "{dir}/text.svm"], "cannot be read as"),
    "binary as svmlight": (["solve", "{dir}/binary.svm"], "cannot be read as"),
    "csv with text": (["solve", "{dir}/text.csv"], "line 2, column 'a': 'x' is not a number"),
    "csv with a short line": (["solve", "{dir}/short.csv"], "line 3 has 1 fields, the header 2"),
    "csv without rows": (["solve", "{dir}/header.csv"], "no rows below its header"),
    "unknown column": (
        ["solve", "{dir}/moons.csv", "--label-column", "color"],
        "label_column='color' is not in",
    ),
    "split out of range": (["solve", "{dir}/split.npz", "--split", "5"], "split=5 must be in 0..0"),
    "unknown splits": (["solve", "{dir}/split.npz", "--splits", "labeled10"], "splits='labeled10' is not in"),
    "several classes": (["compare", "{dir}/three.npz"], "DATA has 3 classes (0, 1, 2); say which count as +1"),
    "share of several classes": (
        ["solve", "iris", "--balance", "0.1"],
        "with 3 classes it must be 'auto', 'labeled' or none",
    ),
    "checkpoint of several classes": (["solve", "iris", "--method", "exact", "--checkpoint", "{dir}/c"], "two classes"),
    "unknown positive": (["solve", "{dir}/three.npz", "--positive", "7"], "positive='7' must be some, not all"),
    "all positive": (["solve", "{dir}/three.npz", "--positive", "0,1,2"], "must be some, not all"),
    "one class": (["solve", "{dir}/one.npz"], "DATA has 1 classes (1); two classes are needed"),
    "nothing unlabelled": (["solve", "{dir}/known.npz"], "y has no unlabelled point"),
    "nothing labelled": (["solve", "{dir}/unknown.npz"], "DATA has 0 classes"),
    "split with one class": (["solve", "{dir}/lopsided.npz"], "y has one class only"),
    "too many labels": (["solve", "two_moons", "--n-labeled", "200"], "n_labeled=200"),
    "C = 0": (["solve", "two_moons", "--C", "0"], "C=0 must be a finite number > 0"),
    "C no number": (["solve", "two_moons", "--C", "big"], "argument --C: invalid float value: 'big'"),
    "C_unlabeled < 0": (["solve", "two_moons", "--C-unlabeled", "-1"], "C_unlabeled=-1 must"),
    "C_unlabeled no number": (
        ["solve", "two_moons", "--C-unlabeled", "x"],
        "'x' must be a number > 0, 'tenth' or 'bal",
    ),
    "s": (["solve", "two_moons", "--s", "-1"], "s=-1.0 must be in (-1, 0]"),
    "s positive": (["solve", "two_moons", "--s", "0.5"], "s=0.5 must be in (-1, 0]"),
    "balance": (["solve", "two_moons", "--balance", "20"], "balance=20.0 must be"),
    "balance no number": (["solve", "two_moons", "--balance", "exact:x"], "must be auto, labeled, none, a number"),
    "exact balance": (["solve", "two_moons", "--balance", "exact:1"], "balance=('exact', 1.0)"),
    "sigma and gamma": (["solve", "two_moons", "--sigma", "1", "--gamma", "1"], "exactly one of sigma and gamma"),
    "sigma": (["solve", "two_moons", "--sigma", "0"], "sigma=0.0"),
    "degree": (["solve", "two_moons", "--kernel", "poly", "--degree", "0"], "degree=0"),
    "coef0": (["solve", "two_moons", "--kernel", "poly", "--coef0", "-1"], "coef0=-1.0"),
    "tol": (["solve", "two_moons", "--tol", "0"], "tol=0.0"),
    "max_iter": (["solve", "two_moons", "--max-iter", "0"], "max_iter=0"),
    "annealing": (["solve", "two_moons", "--annealing", "0"], "annealing=0"),
    "cache_size": (["solve", "two_moons", "--cache-size", "0"], "cache_size=0"),
    "method": (["solve", "two_moons", "--method", "magic"], "argument --method: invalid choice: 'magic'"),
    "methods": (["compare", "two_moons", "--methods", "svm,magic"], "must be a comma-separated list of svm, cccp"),
    "solver": (
        ["compare", "two_moons", "--solver", "magic"],
        "list of auto, native, linear, finite_newton, coordinates, cvxpy, smooth",
    ),
    "unknown option": (["solve", "two_moons", "--magic"], "unrecognized arguments: --magic"),
    "no command": ([], "COMMAND"),
    "relaxation": (["bound", "two_moons", "--relaxation", "magic"], "invalid choice: 'magic'"),
    "relaxation of the hinge": (
        ["bound", "two_moons", "--loss", "hinge", "--relaxation", "signs"],
        "the relaxation with signs is for the squared hinge",
    ),
    "relaxation of the ramp": (
        ["bound", "two_moons", "--loss", "ramp", "--relaxation", "sdp"],
        "is not the loss min(",
    ),
    "relaxation of a free bias": (
        ["bound", "two_moons", "--loss", "hinge", "--relaxation", "sdp", "--balance", "none"],
        "use balance='linear'",
    ),
    "relaxation by the ramp": (["solve", "two_moons", "--method", "sdp", "--loss", "ramp"], "is not the loss min("),
    "rounds": (
        ["bound", "two_moons", "--relaxation", "signs", "--rounds", "-1"],
        "max_rounds=-1 must be an integer >= 0",
    ),
    "picture format": (["compare", "two_moons", "--plot", "{dir}/p.xyz"], "must end in one of"),
    "picture folder": (["compare", "two_moons", "--plot", "{dir}/no/p.png"], "there is no folder"),
    "model folder": (["solve", "two_moons", "--save", "{dir}/no/m.npz"], "there is no folder"),
    "points": (["verify", "two_moons", "--points", "3"], "points=3 must exceed"),
    "no model": (["predict", "{dir}/split.npz", "two_moons"], "is not a model saved by convex_tsvm"),
    "missing model": (["predict", "{dir}/missing.npz", "two_moons"], "missing.npz"),
    "scalar npz": (["solve", "{dir}/scalar.npz"], "X has shape (); it must be 2-dimensional"),
    "vector npz": (["solve", "{dir}/vector.npz"], "X has shape (4,); it must be 2-dimensional"),
    "huge index": (["solve", "{dir}/huge.svm"], "cannot be read as .svm"),
    "long field": (["solve", "{dir}/long.csv"], "cannot be read as .csv: field larger than field limit"),
    "huge sigma": (["solve", "two_moons", "--sigma", "1e200"], "sigma=1e+200 must be a finite number >= 1e-150"),
    "tiny sigma": (["solve", "two_moons", "--sigma", "1e-200"], "sigma=1e-200 must be a finite number >= 1e-150"),
    "huge gamma": (["solve", "two_moons", "--gamma", "1e308"], "gamma=1e+308 must be a finite number"),
    "overflowing points": (["solve", "{dir}/vast.npz", "--unlabeled", "0"], "overflows at these points; scale them"),
    "damaged archive": (["verify", str(DAMAGED / "damaged_zlib.npz")], "is not a search saved by convex_tsvm"),
    "damaged directory": (["verify", str(DAMAGED / "damaged_zip.npz")], "damaged_zip.npz"),
    "model of text": (["predict", "{dir}/text_model.npz", "two_moons"], "is not a model saved by convex_tsvm"),
    "model of infinity": (["predict", "{dir}/inf_model.npz", "two_moons"], "n_features=inf must be an integer >= 1"),
    "labels folder": (["solve", "two_moons", "--labels-out", "{dir}"], "is a folder"),
    "labels in a file": (["solve", "two_moons", "--labels-out", "{dir}/split.npz/l.csv"], "there is no folder"),
    "rigorous data": (["verify", "two_moons", "--rigorous"], "rigorous is for certificates"),
    "model of other points": (["predict", "{dir}/model.npz", "breast_cancer"], "X has 30 features, but the model"),
}


@pytest.fixture
def bad_files(files, moons):
    X, _, y = moons
    points, signs = np.eye(4), np.array([1, -1, 0, 0])
    content = (files / "split.npz").read_bytes()
    (files / "truncated.npz").write_bytes(content[: len(content) // 2])
    (files / "empty.npz").write_bytes(b"")
    np.savez(files / "objects.npz", X=np.array([{}], dtype=object), y=[1])
    np.savez(files / "no_y.npz", X=points)
    np.savez(files / "no_x.npz", y=signs)
    np.savez(files / "short.npz", X=points, y=signs[:2])
    np.savez(files / "index.npz", X=points, y=[1, -1, 1, -1], labeled=[[0, 9]])
    np.savez(files / "nan.npz", X=points * np.nan, y=signs)
    np.savez(files / "csr.npz", data=[1.0], indices=[9], indptr=[0, 1], shape=[1, 2], y=[1])
    (files / "text.svm").write_text("this is not svmlight\n")
    (files / "binary.svm").write_bytes(bytes(range(256)))
    (files / "text.csv").write_text("a,label\nx,1\n2,0\n")
    (files / "short.csv").write_text("a,label\n1,1\n2\n")
    (files / "header.csv").write_text("a,label\n")
    np.savez(files / "one.npz", X=points, y=[1, 1, 1, 1], labeled=[[0, 1]])
    np.savez(files / "known.npz", X=points, y=[1, -1, 1, -1])
    np.savez(files / "unknown.npz", X=points, y=np.full(4, np.nan))
    np.savez(files / "lopsided.npz", X=points, y=[1, -1, 1, -1], labeled=[[0, 2]])
    np.savez(files / "scalar.npz", X=3.0, y=1.0)
    np.savez(files / "vector.npz", X=np.arange(4.0), y=signs)
    np.savez(files / "vast.npz", X=1e200 * points, y=signs)
    (files / "huge.svm").write_text("1 999999999999:1\n-1 1:1\n0 1:1\n")
    (files / "long.csv").write_text("a,y\n" + "1" * 140_000 + ",1\n2,-1\n")
    solution = ct.cccp(ct.cccp_tsvm(), ct.Problem(X, y))
    ct.save_model(ct.persistence.FittedModel.from_solutions([solution], np.array(["-1", "1"])), files / "model.npz")
    model = dict(np.load(files / "model.npz"))
    np.savez(files / "text_model.npz", **{**model, "intercept": np.array(["a"])})
    header = {**json.loads(str(model["header"])), "n_features": np.inf}
    np.savez(files / "inf_model.npz", **{**model, "header": np.array(json.dumps(header))})
    return files


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_status_2(case, bad_files, capsys):
    arguments, message = BAD[case]
    before = sorted(path.name for path in bad_files.iterdir())
    status, out, err = run(capsys, *(a.replace("{dir}", str(bad_files)) for a in arguments))
    assert message in err
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert sorted(path.name for path in bad_files.iterdir()) == before


def test_installed_command_prints_nothing_but_json_in_a_pipe(files):
    command = [sys.executable, "-m", "convex_tsvm.cli", "solve", str(files / "split.npz"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "converged"


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["solve", "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for option in ("--method", "--solver", "--kernel", "--sigma", "--gamma", "--C", "--C-unlabeled", "--s", "--split",
                   "--positive", "--labels-out", "--save", "--json"):  # fmt: skip
        assert option in out


def test_exact_search_and_its_certificate(files, capsys):
    certificate, checkpoint = files / "certificate.npz", files / "search.npz"
    model = ["--sigma", "0.5", "--C", "1", "--loss", "squared_hinge", "--method", "exact", "--gap", "0.2"]
    arguments = ["solve", files / "split.npz", *model, "--certificate", certificate, "--checkpoint", checkpoint]
    status, out, err = run(capsys, *arguments, "--json")
    result = json.loads(out)
    assert (status, err, result["status"]) == (0, "", "optimal")
    assert result["gap"] == pytest.approx(0.2)
    status, out, _ = run(capsys, "verify", certificate)
    assert status == 0
    assert out.startswith("PROVEN")
    status, out, _ = run(capsys, "verify", checkpoint, "--json")
    assert json.loads(out)["holds"]
    # A search that is done is not done again.
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert "no solution has an objective below" in out
    whole = certificate.read_bytes()
    certificate.write_bytes(whole[:-200])
    status, _, err = run(capsys, "verify", certificate)
    assert status == 2
    assert len(err.splitlines()) == 1


def test_exact_search_stops_at_a_limit(files, capsys):
    model = ["--sigma", "0.5", "--loss", "hinge", "--method", "exact", "--max-nodes", "3", "--bounds", "svm"]
    status, out, _ = run(capsys, "solve", files / "split.npz", *model, "--json")
    assert (status, json.loads(out)["status"]) == (1, "node_limit")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "cccp", "--certificate", "c.npz"], "certificate='c.npz' is for --method exact"),
        (["--method", "exact", "--loss", "ramp", "--branching", "gain"], "is none for a search about outputs"),
        (["--method", "exact", "--loss", "hinge", "--bounds", "signs"], "bounds='signs'"),
        (["--method", "exact", "--loss", "hinge", "--gap", "2"], "gap=2"),
        (["--method", "exact", "--loss", "hinge", "--certificate", "nowhere/c.npz"], "there is no folder"),
    ],
)
def test_bad_options_of_exact_search(arguments, said, files, capsys):
    status, _, err = run(capsys, "solve", files / "split.npz", *arguments)
    assert status == 2
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.fixture
def table(moons, tmp_path, capsys):
    """A model of a table whose first column is the label, its points, and the outputs at them."""
    X, _, y = moons
    names = np.array(["", "up", "down"])[y.astype(int)]

    def write(name, columns):
        values = {"kind": names, "length": X[:, 0], "width": X[:, 1], "more": np.ones(len(X))}
        with open(tmp_path / name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(values[column] for column in columns), strict=True))
        return tmp_path / name

    model = tmp_path / "model.npz"
    data = write("data.csv", ["kind", "length", "width"])
    assert run(capsys, "solve", data, "--label-column", "kind", *MODEL, "--save", model)[0] == 0
    return model, write


def outputs(capsys, model, data, *options):
    """Exit status, what is written of every point, what is said, and the error."""
    out = Path(data).with_suffix(".out")
    status, said, err = run(capsys, "predict", model, data, "--labels-out", out, "--json", *options)
    return status, rows_of(out), err, json.loads(said)["error"]


@pytest.mark.parametrize(
    ("columns", "judged"),
    [
        (["kind", "length", "width"], True),
        (["length", "width"], False),
        (["width", "length"], False),
        (["width", "kind", "length"], True),
    ],
    ids=str,
)
def test_columns_are_taken_by_name(columns, judged, table, capsys):
    model, write = table
    known = ct.load_model(model)
    assert (known.feature_names, known.label_name) == (("length", "width"), "kind")
    _, expected, _, _ = outputs(capsys, model, write("again.csv", ["kind", "length", "width"]))
    status, found, err, error = outputs(capsys, model, write("new.csv", columns))
    assert status == 0
    assert found == expected
    assert (error is not None) == judged
    in_order = [name for name in columns if name != "kind"] == ["length", "width"]
    assert err.count("\n") == (not in_order)
    assert in_order or "they are taken by name" in err


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["length", "width", "more"], "unseen at fit time: - more (label_column='more' says that it is the label)"),
        (["kind", "length", "width", "more"], "unseen at fit time: - more"),
        (["kind", "length"], "yet now missing: - width"),
        (["kind", "length", "more"], "unseen at fit time: - more Feature names seen at fit time, yet now missing"),
    ],
    ids=str,
)
def test_other_columns_are_named(columns, said, table, capsys):
    model, write = table
    status, out, err = run(capsys, "predict", model, write("new.csv", columns))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_a_label_of_another_name_is_said(table, capsys):
    model, write = table
    data = write("new.csv", ["kind", "length", "width"])
    data.write_text(data.read_text().replace("kind", "sort", 1))
    assert run(capsys, "predict", model, data)[0] == 2
    status, _found, _, error = outputs(capsys, model, data, "--label-column", "sort")
    assert status == 0
    assert error is not None


def test_models_of_several_classes_know_names_too(table, tmp_path, capsys):
    _, write = table
    data = write("three.csv", ["kind", "length", "width"])
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines, "left,0.1,0.2", "left,0.2,0.1"]) + "\n")
    model = tmp_path / "three.npz"
    run(capsys, "solve", data, "--label-column", "kind", *MODEL, "--save", model)
    assert ct.load_model(model).feature_names == ("length", "width")
    status, _, err = run(capsys, "predict", model, write("new.csv", ["width", "length"]))
    assert status == 0
    assert "they are taken by name" in err


@pytest.mark.parametrize(("method", "balance"), [*BALANCE.items(), ("cccp", [])])
def test_a_time_limit_ends_every_method(method, balance, capsys):
    """So short a limit has passed at the first step; what there is comes out, with exit status 1 and a line."""
    arguments = ["solve", *SMALL, *balance, "--method", method, "--time-limit", "1e-9"]
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (1, "")
    assert f"{method}: ended by the time limit, with the best found so far" in out.splitlines()
    status, out, _ = run(capsys, *arguments, "--json")
    found = json.loads(out)
    assert (status, found["status"]) == (1, "time_limit")
    assert np.isfinite(found["objective"])


@pytest.mark.parametrize("method", ["cccp", "gradient", "safe"])
def test_a_time_limit_that_is_not_reached_changes_nothing(method, capsys):
    found = []
    for limit in ([], ["--time-limit", "1000"]):
        balance = [] if method == "cccp" else BALANCE[method]
        status, out, _ = run(capsys, "solve", *SMALL, *balance, "--method", method, "--json", *limit)
        assert status == 0
        found.append({**json.loads(out), "seconds": None})
    assert found[0] == found[1]


def test_a_time_limit_is_that_of_each_method_of_a_comparison(capsys):
    arguments = ["compare", *SMALL, "--methods", "cccp,newton", "--time-limit"]
    status, out, err = run(capsys, *arguments, "1e-9")
    assert (status, err) == (1, "")
    assert "cccp, newton: ended by the time limit, with the best found so far" in out.splitlines()
    status, out, _ = run(capsys, *arguments, "1e-9", "--json")
    assert [row["left_out_error"] for row in json.loads(out)["results"]] == [None, None]
    assert run(capsys, *arguments, "1000")[0] == 0


def test_a_time_limit_ends_all_classes(capsys):
    status, out, err = run(capsys, "solve", "iris", "--time-limit", "1e-9")
    assert (status, err) == (1, "")
    assert "cccp: setosa, cccp: versicolor, cccp: virginica: ended by the time limit" in out


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf"])
@pytest.mark.parametrize("command", ["solve", "compare"])
def test_a_time_limit_is_a_positive_number(limit, command, capsys):
    status, out, err = run(capsys, command, *SMALL, "--time-limit", limit)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"time_limit={float(limit)} must be" in err


def test_no_file_is_written_over_another(files, capsys):
    """Neither over what a command reads nor over another file of its own; nothing is done then."""
    (files / "d.csv").write_text("a,b,label\n0,1,x\n1,0,y\n1,1,\n", encoding="utf-8")
    path, other = str(files / "d.csv"), str(files / "m.npz")
    before = (files / "d.csv").read_bytes()
    for arguments, said in [
        (["--labels-out", path], "is the same file as DATA"),
        (["--labels-out", other, "--save", other], "is the same file as save"),
        (["--save", str(files / "." / "d.csv")], "is the same file as DATA"),
        (["--labels-out", "-"], "labels_out='-' must be the name of a file"),
    ]:
        status, out, err = run(capsys, "solve", path, *arguments)
        assert (status, out) == (2, "")
        assert said in err
    assert (files / "d.csv").read_bytes() == before
    assert not (files / "m.npz").exists()


def test_json_has_no_infinite_numbers(capsys, files):
    certificate = str(files / "c.npz")
    limits = ["--method", "exact", "--time-limit", "1e-9", "--certificate", certificate]
    _, out, _ = run(capsys, "solve", *SMALL, *limits, "--json")
    found = json.loads(out, parse_constant=pytest.fail)
    assert (found["lower_bound"], found["gap"], found["status"]) == (None, None, "time_limit")
    _, out, _ = run(capsys, "solve", *SMALL, *limits)
    assert "nothing was proven yet when the search ended" in out
    assert "inf" not in out.split("lower bound: nothing")[0].split("labels:")[1].replace("inferred", "")


def test_a_program_is_told_of_errors_and_warnings_in_json(capsys):
    status, _, err = run(capsys, "solve", "nowhere.csv", "--progress", "json")
    assert status == 2
    assert "nowhere.csv" in json.loads(err)["error"]
    with _warnings_told("json"):
        warnings.warn("so it is", ct.TSVMWarning, stacklevel=1)
    assert json.loads(capsys.readouterr().err) == {"warning": "so it is"}
    with _warnings_told("auto"):
        warnings.warn("so it is", ct.TSVMWarning, stacklevel=1)
    assert capsys.readouterr().err == "convex-tsvm: warning: so it is\n"


def test_a_header_is_no_point_and_a_label_is_not_guessed(files, capsys):
    (files / "no_header.csv").write_text("0,1,1\n1,0,0\n1,1,1\n", encoding="utf-8")
    status, _, err = run(capsys, "solve", str(files / "no_header.csv"))
    assert status == 2
    assert "has numbers only; it must be a header" in err
    rows = "".join(f"{x},{y},{int(x > 1)}\n" for x in range(4) for y in range(4))
    (files / "train.csv").write_text("a,b,label\n" + rows, encoding="utf-8")
    model = str(files / "signs.npz")
    assert (
        run(capsys, "solve", str(files / "train.csv"), "--unlabeled", "nan", "--n-labeled", "8", "--save", model)[0]
        == 0
    )
    (files / "other.csv").write_text("a,b,label\n0,0,-1\n3,3,1\n", encoding="utf-8")
    status, _, err = run(capsys, "predict", model, str(files / "other.csv"))
    assert status == 2
    assert "-1 may mark unknown labels" in err
    status, out, _ = run(capsys, "predict", model, str(files / "other.csv"), "--unlabeled", "-1")
    assert (status, "error 0.0000" in out) == (0, True)


def test_output_that_nobody_reads_to_its_end_is_no_error():
    command = [sys.executable, "-m", "convex_tsvm.cli", "verify", "--paper", "debie2004"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
