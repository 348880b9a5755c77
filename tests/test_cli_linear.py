"""The command line for many points: files in, model and labels out, and what is said about bad ones."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from convex_tsvm.cli import main
from convex_tsvm.points import open_points, read_svmlight
from convex_tsvm.progress import remaining
from convex_tsvm.table import DESCENTS


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two classes in svmlight files, with few labels and with all, and the few in a file of their own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = np.resize([1.0, -1.0], 400)
    X = sp.csr_matrix(rng.normal(size=(400, 10)) * (rng.random((400, 10)) < 0.6) + np.outer(truth, np.eye(10)[0]))
    y = np.where(np.arange(400) < 20, truth, 0)
    dump_svmlight_file(X, y, "few.svm", zero_based=False)
    dump_svmlight_file(X, truth, "all.svm", zero_based=False)
    np.savetxt("labels.txt", y, fmt="%+d")
    return y, truth


def told(capsys, *arguments):
    """Exit status and JSON of a command."""
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("method", DESCENTS)
def test_from_file_to_model_to_labels(files, capsys, method):
    y, truth = files
    outputs = ("--labels-out", "labels.csv", "--save", "model.npz")
    status, found = told(capsys, "linear", "few.svm", "--method", method, "-R", "0.5", "-W", "0.01", *outputs)
    assert (status, found["status"]) == (0, "converged")
    assert (found["n_labeled"], found["n_unlabeled"]) == (20, 380)
    with open("labels.csv", encoding="utf-8") as file:
        labels = np.array([float(row["label"]) for row in csv.DictReader(file)])
    assert (labels[y != 0] == y[y != 0]).all()
    assert np.mean(labels != truth) < 0.25
    status, judged = told(capsys, "predict", "model.npz", "all.svm")
    assert status == 0
    assert judged["error"] < 0.25
    assert main(["linear", "few.svm", "--method", method, "-R", "0.5", "-W", "0.01"]) == 0
    assert f"{method}: objective {found['objective']:.8g}, duality gap" in capsys.readouterr().out


def test_a_folder_is_the_file(files, capsys):
    assert main(["convert", "all.svm", "folder", "--dtype", "float64"]) == 0
    assert "folder: 400 points, 10 features" in capsys.readouterr().out
    written = told(capsys, "convert", "all.svm", "other")[1]
    assert (written["n"], written["n_features"], written["dtype"]) == (400, 10, "float32")
    assert open_points("folder").points.shape == (400, 10)
    from_file = told(capsys, "linear", "few.svm", "--save", "model.npz")[1]
    from_folder = told(capsys, "linear", "folder", "--labels", "labels.txt")[1]
    assert from_folder["objective"] == pytest.approx(from_file["objective"], rel=1e-9)
    judged = [told(capsys, "predict", "model.npz", data)[1] for data in ("folder", "all.svm")]
    assert judged[0] == judged[1]


def test_options_mean_what_they_do_in_python(files, capsys):
    one = told(
        capsys, "linear", "few.svm", "-S", "1", "--method-option", "annealing=3", "--method-option", "reheats=0"
    )[1]
    two = told(capsys, "linear", "few.svm", "--lambda", "0.1", "--no-intercept", "--loss", "hinge")[1]
    assert one["status"] == two["status"] == "converged"
    assert two["n_features"] == one["n_features"] == 10


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (None, [], "no such file or folder"),
        ("", [], "has no points"),
        ("1 1:1\n2 1:1\n", [], "label of point 2 is 2"),
        ("1 1:1\n0 1:1\n", [], "no point has the label -1"),
        ("1 1:1\n-1 1:x\n", [], "line 2"),
        ("1 1:1\n-1 0:1\n", [], "line 2"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["-R", "1.5"], "positive_fraction=1.5"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["-W", "0"], "lambda_=0.0"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["-S", "0"], "max_pairs=0"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["--method", "annealing", "-S", "1"], "max_pairs=1 is no option"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["--labels", "short.txt"], "has 2 labels; there are 3 points"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["--labels", "bad.svm"], "must have one number a line"),
        ("1 1:1\n-1 2:1\n0 1:1\n", ["--save", "none/model.npz"], "save="),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, text, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("1\n-1\n")
    if text is not None:
        (tmp_path / "bad.svm").write_text(text)
    assert main(["linear", "bad.svm", *arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_conversion_says_what_is_wrong(files, capsys):
    assert main(["convert", "few.svm", "labels.txt"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["convert", "none.svm", "folder"]) == 2
    assert "none.svm" in capsys.readouterr().err


def test_the_time_left_is_told_once_it_can_be():
    assert remaining(0.5, 0.5) == remaining(10, 0.01) == remaining(10, 1.0) == ""
    assert remaining(10, 0.5) == ", about 10 s left"
    assert remaining(600, 0.5) == ", about 10 min left"


def test_no_command_waits_for_scikit_learn_before_it_needs_it():
    code = "import sys, convex_tsvm.cli.parser as p; p.build_parser(); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("options", [{"n_features": 0}, {"dtype": int}])
def test_what_is_read_is_checked_like_what_is_converted(files, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        read_svmlight("few.svm", **options)


@pytest.mark.parametrize("method", DESCENTS)
def test_a_time_limit_ends_every_method(files, capsys, method):
    arguments = ["linear", "few.svm", "--method", method, "--time-limit", "1e-9", "--save", "model.npz"]
    status, found = told(capsys, *arguments)
    assert (status, found["status"]) == (1, "time_limit")
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert f"{method}: ended by the time limit, with the best found so far" in captured.out.splitlines()
    assert captured.err == ""
    assert told(capsys, "predict", "model.npz", "all.svm")[0] == 0
