"""Labels in files: what marks the unknown ones, and what is asked about because it can be read in two ways."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from convex_tsvm import TransductiveSVC, save_model
from convex_tsvm.cli import main
from convex_tsvm.data import load_classes, load_data
from convex_tsvm.points import convert_svmlight

#: Twelve points whose labels -1, 0 and +1 can be read as SVMlight has them, and as scikit-learn has them.
SIGNS = np.resize([1, -1, 0], 12)
X = np.arange(12.0)[:, None] * [1.0, 0.5] + SIGNS[:, None]


@pytest.fixture
def written(tmp_path):
    """A function that writes points with labels in each format, and gives the file's name."""

    def write(kind, labels):
        path = tmp_path / f"points{kind}"
        if kind == ".npz":
            np.savez(path, X=X, y=np.array(labels))
        elif kind == ".csv":
            rows = [f"{a},{b},{label}" for (a, b), label in zip(X, labels, strict=True)]
            path.write_text("\n".join(["a,b,kind", *rows]) + "\n")
        else:
            dump_svmlight_file(X, np.array(labels, dtype=float), str(tmp_path / "points.svm"), zero_based=False)
            path = tmp_path / "points.svm"
            if kind == "folder":
                convert_svmlight(path, tmp_path / "folder")
                path = tmp_path / "folder"
        return str(path)

    return write


KINDS = [".npz", ".csv", ".svm", "folder"]


@pytest.mark.parametrize("kind", KINDS)
def test_signs_with_zeros_are_asked_about(kind, written, capsys):
    path = written(kind, SIGNS)
    assert main(["solve", path]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    for said in (
        "0 marks unknown ones as in SVMlight (-1 4, 1 4, 4 unknown)",
        "-1 marks unknown ones as in scikit-learn (0 4, 1 4, 4 unknown)",
        "--unlabeled 0 or --unlabeled -1",
    ):
        assert said in lines[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("marker", "classes"), [("0", ("-1", "1")), ("-1", ("0", "1")), (-1, ("0", "1"))])
def test_the_marker_that_is_given_is_the_one(kind, marker, classes, written):
    data = load_data(written(kind, SIGNS), unlabeled=marker)
    unknown = float(marker) == SIGNS
    np.testing.assert_array_equal(data.y == 0, unknown)
    np.testing.assert_array_equal(data.y[~unknown] > 0, SIGNS[~unknown] == 1)
    assert data.classes == classes
    assert str(data.counts) == (
        f"labels: 12 points, 8 known ({classes[0]} 4, {classes[1]} 4), 4 unknown (marked {marker})"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_missing_ones_alone_can_be_the_unknown_ones(kind, written):
    path = written(kind, SIGNS)
    for marker in ("nan", np.nan):
        assert load_classes(path, unlabeled=marker).classes == ("-1", "0", "1")


@pytest.mark.parametrize("labels", [[-1, 0, 1, 2], [-1, 1, 2], [-1, 0, 1, 2, 3]])
@pytest.mark.parametrize("kind", [".npz", ".csv", ".svm"])
def test_minus_one_beside_several_classes_is_asked_about(kind, labels, written):
    path = written(kind, np.resize(labels, 12))
    with pytest.raises(ValueError, match=r"-1 is a class \(-1 \d.*--unlabeled -1 or --unlabeled nan"):
        load_classes(path)
    assert "-1" not in load_classes(path, unlabeled=-1).classes
    assert "-1" in load_classes(path, unlabeled="nan").classes


def test_minus_one_beside_names_is_asked_about(written):
    path = written(".csv", np.resize(["ham", "egg", "-1"], 12))
    with pytest.raises(ValueError, match="can be read in 2 ways"):
        load_data(path)
    data = load_data(path, unlabeled="-1.0")
    assert data.classes == ("egg", "ham")
    assert (data.y == 0).sum() == 4


@pytest.mark.parametrize("labels", [[-1, 1], [0, 1], [1, 2], [0, 1, 2], [-1, 2]])
@pytest.mark.parametrize("kind", [".npz", ".csv", ".svm"])
def test_what_can_only_be_classes_is_classes(kind, labels, written):
    data = load_classes(written(kind, np.resize(labels, 12)))
    assert data.classes == tuple(str(label) for label in labels)
    assert (data.labels != "").all()


def test_beside_splits_labels_are_the_truth(tmp_path):
    np.savez(tmp_path / "split.npz", X=X, y=SIGNS, labeled=[np.arange(6)])
    data = load_classes(str(tmp_path / "split.npz"))
    assert data.classes == ("-1", "0", "1")
    assert str(data.counts) == "labels: 12 points, 6 known (-1 2, 0 2, 1 2), 6 unknown (hidden by row 0 of 'labeled')"
    given = load_data(str(tmp_path / "split.npz"), unlabeled=0)
    assert given.counts.unknown == {"marked 0": 2, "hidden by row 0 of 'labeled'": 6}
    assert ((given.truth == 0) == (SIGNS == 0)).all()


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "?", "null", "None"])
def test_missing_labels_of_a_table_are_unknown(missing, written):
    data = load_data(written(".csv", np.resize(["ham", "egg", missing], 12)))
    assert data.classes == ("egg", "ham")
    assert str(data.counts).endswith(f"4 unknown (marked {missing or 'an empty field'})")


def test_a_marker_makes_other_missing_labels_classes_or_errors(written):
    data = load_classes(written(".csv", np.resize(["ham", "egg", "NA", "?"], 12)), unlabeled="?")
    assert data.classes == ("NA", "egg", "ham")
    with pytest.raises(ValueError, match=r"the label of point 3 is missing.*unlabeled='\?'"):
        load_data(written(".csv", np.resize(["ham", "egg", ""], 12)), unlabeled="?")
    with pytest.raises(ValueError, match="the label of point 3 is missing"):
        load_data(written(".npz", np.resize([0, 1, np.nan], 12)), unlabeled=-1)


def test_large_numbers_stay_apart(written):
    """Seven digits are more than a short format has."""
    data = load_data(written(".npz", np.resize([12345678, 12345679, np.nan], 12)))
    assert data.classes == ("12345678", "12345679")


def test_a_model_knows_its_classes(written, tmp_path, capsys):
    """What can be read in two ways with nothing known can be read in one way beside the classes of a model."""
    model, path = str(tmp_path / "model.npz"), written(".npz", SIGNS)
    for marker in ("0", "-1"):
        assert main(["solve", path, "--unlabeled", marker, "--save", model]) == 0
        capsys.readouterr()
        found = []
        for options in ([], ["--unlabeled", marker]):
            assert main(["predict", model, path, "--json", *options]) == 0
            found.append(json.loads(capsys.readouterr().out))
        assert found[0] == found[1]
        assert found[0]["error"] is not None
    other = written(".csv", np.resize(["ham", "egg"], 12))
    assert main(["predict", model, other]) == 2
    assert "has the labels egg, ham, which are none of the model's classes (0, 1)" in capsys.readouterr().err


def test_linear_reads_the_marker_it_is_given(written, tmp_path, capsys):
    path, model, out = written(".svm", SIGNS), str(tmp_path / "model.npz"), tmp_path / "labels.csv"
    for options, classes in (([], {"-1", "+1"}), (["--unlabeled", "-1"], {"0", "1"})):
        assert main(["linear", path, "--json", "--save", model, "--labels-out", str(out), *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["n_labeled"], found["n_unlabeled"]) == (8, 4)
        assert {line.split(",")[1] for line in out.read_text().splitlines()[1:]} == classes
    assert main(["linear", path, "--unlabeled", "nan"]) == 2
    assert "has 3 classes beside unlabeled=nan" in capsys.readouterr().err
    assert main(["linear", path, "--unlabeled", "x"]) == 2
    assert "unlabeled='x' must be a number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["solve"], ["compare"], ["bound", "--loss", "hinge"], ["linear"]], ids=lambda c: c[0]
)
def test_commands_say_how_labels_were_read(command, written, capsys):
    path = written(".svm", SIGNS)
    arguments = [*command, path, "--unlabeled", "-1"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "labels: 12 points, 8 known (0 4, 1 4), 4 unknown (marked -1)"
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == {"0": 4, "1": 4}


def test_several_classes_are_counted_too(written, capsys):
    path = written(".csv", np.resize(["ham", "egg", "toast", "NA"], 12))
    assert main(["solve", path]) == 0
    said = "labels: 12 points, 9 known (egg 3, ham 3, toast 3), 3 unknown (marked NA)"
    assert capsys.readouterr().out.splitlines()[1] == said


@pytest.mark.filterwarnings("ignore:y has no unlabelled point")
@pytest.mark.parametrize("kind", [int, float, str, object])
@pytest.mark.parametrize("classes", [[0, 1], [1, 2, 3]])
def test_models_of_estimators_are_judged_by_labels_in_files(kind, classes, written, tmp_path, capsys):
    """Numbers are written in files without decimals, whatever type they have in the model."""
    truth = np.resize(classes, 12)
    names = np.array([kind(label) if kind is not object else str(label) for label in truth], dtype=kind)
    points = np.column_stack([truth, truth**2]) + 0.01 * X
    clf = TransductiveSVC(C=100, unlabeled=None).fit(points, names)
    save_model(clf, tmp_path / "model.npz")
    np.savez(tmp_path / "new.npz", X=points, y=truth)
    assert main(["predict", str(tmp_path / "model.npz"), str(tmp_path / "new.npz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == 0


def test_a_name_with_a_comma_is_one_class_and_may_be_several(written, tmp_path, capsys):
    model, path = str(tmp_path / "model.npz"), str(tmp_path / "points.npz")
    labels = np.resize(["ham, egg", "toast", ""], 12)
    np.savez(path, X=X, y=labels)
    assert main(["solve", path, "--save", model]) == 0
    capsys.readouterr()
    assert main(["predict", model, path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] is not None


def test_a_marker_hides_no_label_that_a_model_does_not_know(written, tmp_path, capsys):
    model = str(tmp_path / "model.npz")
    assert main(["solve", written(".npz", SIGNS), "--unlabeled", "0", "--save", model]) == 0
    capsys.readouterr()
    assert main(["predict", model, written(".npz", np.resize([1, -1, 0, 2], 12)), "--unlabeled", "0"]) == 2
    assert "has the labels 2, which are none of the model's classes" in capsys.readouterr().err
