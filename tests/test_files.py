"""Files of points and models as people have them: nothing is read wrong silently, and what is unclear is asked."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.data import load_classes, load_data
from convex_tsvm.points import convert_svmlight, open_points
from convex_tsvm.validation import archive

#: Thirty points of two classes, six of each with a label.
N = 30
TRUTH = np.resize([0, 1], N)
X = np.column_stack([4.0 * TRUTH - 2 + np.arange(N) % 7 / 10, np.arange(N) % 5 / 10])
SHOWN = np.arange(N) < 12


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; gives status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        status = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        if status == 2:
            assert told.err.count("\n") == 1, told.err
        return status, told.out, told.err

    return command


def table(names=("ham", "egg"), unknown="", separator=",", header="u,v,kind", index=None, comma=False):
    """The points as text, with the names of the classes in the last column."""
    rows = [] if header is None else [header.replace(",", separator)]
    for i in range(N):
        label = names[TRUTH[i]] if SHOWN[i] else unknown
        numbers = [f"{x:.2f}".replace(".", "," if comma else ".") for x in X[i]]
        rows.append(separator.join([*([] if index is None else [str(index[i])]), *numbers, label]))
    return "\n".join(rows) + "\n"


def svmlight(points, labels, first=0):
    rows = [
        f"{label} " + " ".join(f"{j + first}:{x}" for j, x in enumerate(p) if x)
        for p, label in zip(points, labels, strict=True)
    ]
    return "\n".join(rows) + "\n"


#: Points of which the first column tells the classes, the same without it, and labels.
WIDE = np.column_stack([2.0 * TRUTH - 1, 1.5 - 3.0 * TRUTH, np.arange(N) % 4 + 1.0, np.arange(N) % 3 + 1.0])
NARROW = WIDE * [0, 1, 1, 1]
SIGNS = 2 * TRUTH - 1
FEW = np.where(SHOWN, SIGNS, 0)


@pytest.mark.parametrize("how", ["solve", "solve --zero-based", "linear", "folder"])
@pytest.mark.parametrize("new", ["svmlight", "folder"])
def test_a_model_counts_columns_as_its_file_does(how, new, run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(WIDE, FEW))
    (tmp_path / "new.svm").write_text(svmlight(NARROW, SIGNS))
    fit = {
        "solve": ["solve", "train.svm", "--unlabeled", "0", "--kernel", "linear"],
        "solve --zero-based": ["solve", "train.svm", "--unlabeled", "0", "--kernel", "linear", "--zero-based"],
        "linear": ["linear", "train.svm", "--zero-based"],
        "folder": ["linear", "train.points"],
    }[how]
    if how == "folder":
        assert run("convert", "train.svm", "train.points", "--zero-based")[0] == 0
    status, _, err = run(*fit, "--save", "m.npz")
    assert status == 0
    assert ("columns are counted from 0" in err) == (how == "solve")
    assert ct.load_model(tmp_path / "m.npz").zero_based is True
    if new == "svmlight":
        status, out, err = run("predict", "m.npz", "new.svm", "--json")
        assert (status, json.loads(out)["error"]) == (0, 0.0)
        assert "columns are counted from 0, as the model's were" in err
    else:
        assert run("convert", "new.svm", "new.points")[0] == 0
        status, _, err = run("predict", "m.npz", "new.points")
        assert status == 2
        assert "counts columns from 1, and the one of the model from 0" in err
        assert run("convert", "new.svm", "zero.points", "--zero-based")[0] == 0
        assert json.loads(run("predict", "m.npz", "zero.points", "--json")[1])["error"] == 0


@pytest.mark.parametrize("how", ["solve", "linear", "folder"])
def test_an_index_0_beside_a_model_that_counts_from_1_is_asked_about(how, run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(WIDE, FEW, first=1))
    (tmp_path / "new.svm").write_text(svmlight(WIDE, SIGNS))
    convert_svmlight(tmp_path / "train.svm", tmp_path / "folder")
    data = {"solve": ["solve", "train.svm", "--unlabeled", "0"], "linear": ["linear", "train.svm"]}
    assert run(*data.get(how, ["linear", "folder"]), "--save", "m.npz")[0] == 0
    status, _, err = run("predict", "m.npz", "new.svm")
    assert status == 2
    assert "line 1: the index 0 is below 1" in err
    assert "--zero-based" in err
    assert json.loads(run("predict", "m.npz", "new.svm", "--zero-based", "--json")[1])["error"] == 0
    assert open_points(tmp_path / "folder").zero_based is False


def test_a_model_that_knows_no_count_says_which_it_takes(run, tmp_path):
    np.savez(tmp_path / "train.npz", X=WIDE, y=FEW)
    (tmp_path / "new.svm").write_text(svmlight(NARROW, SIGNS))
    assert run("solve", "train.npz", "--unlabeled", "0", "--save", "m.npz")[0] == 0
    status, _, err = run("predict", "m.npz", "new.svm")
    assert status == 0
    assert "columns are counted from 1; --zero-based says that they are from 0" in err
    assert run("predict", "m.npz", "new.svm", "--zero-based")[2] == ""


@pytest.mark.parametrize(
    "command",
    [["compare", "--folds", "0"], ["bound", "--loss", "hinge"], ["verify", "--loss", "ramp"]],
    ids=lambda c: c[0],
)
def test_every_command_says_that_columns_are_counted_from_0(command, run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(WIDE, FEW))
    status, _, err = run(command[0], "train.svm", *command[1:], "--unlabeled", "0")
    assert status == 0
    assert "read as: 30 points; columns are counted from 0" in err


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        (["1", "1.0"], "1"),
        (["01", "1"], "1"),
        (["1e0", "+1", " 1 "], "1"),
        (["1.50", "1.5"], "1.5"),
        (["10", "1E1"], "10"),
    ],
)
def test_one_number_is_one_class(spellings, name, run, tmp_path):
    rows = [
        f"{X[i, 0]},{X[i, 1]}," + ("" if not SHOWN[i] else "2" if TRUTH[i] else spellings[i // 2 % len(spellings)])
        for i in range(N)
    ]
    (tmp_path / "a.csv").write_text("u,v,kind\n" + "\n".join(rows))
    assert set(load_data("a.csv").classes) == {name, "2"}
    status, out, err = run(
        "solve", "a.csv", "--save", "m.npz", "--labels-out", "l.csv", "--positive", spellings[-1].strip()
    )
    assert status == 0
    assert f"+1 = {name}" in out
    assert f"are one number, {name}" in err
    assert {line.split(",")[1] for line in (tmp_path / "l.csv").read_text().splitlines()[1:]} == {name, "2"}
    truth = np.where(TRUTH, 2.0, float(name))
    np.savez(tmp_path / "new.npz", X=X, y=truth)
    assert json.loads(run("predict", "m.npz", "new.npz", "--json")[1])["error"] == 0


@pytest.mark.parametrize(
    "names",
    [("1_0", "10"), ("１", "1"), ("0x1", "1"), ("inf", "1e400"), ("9007199254740993", "9007199254740992"), ("1e", "1")],
)
def test_what_is_no_number_or_another_stays_a_class(names, tmp_path):
    (tmp_path / "a.csv").write_text(table(names), encoding="utf-8")
    assert set(load_data(str(tmp_path / "a.csv")).classes) == set(names)


def test_long_integers_of_an_array_stay_apart(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=2**53 + TRUTH)
    assert load_classes(str(tmp_path / "a.npz")).classes == (str(2**53), str(2**53 + 1))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("shape", [(6, 6), (8, 5), (4, 9)], ids=str)
def test_every_sparse_format_is_the_same_matrix(form, shape, tmp_path):
    matrix = sp.random(*shape, density=0.5, random_state=0)
    given = matrix.asformat(form)
    if form == "coo":  # repeated entries are summed, in whatever order they come
        twice = [np.r_[part, part][::-1] for part in (given.data / 2, given.row, given.col)]
        given = sp.coo_matrix((twice[0], (twice[1], twice[2])), shape)
    sp.save_npz(tmp_path / "a.npz", given)
    np.savez(tmp_path / "b.npz", **np.load(tmp_path / "a.npz"), y=np.resize([1, 2], shape[0]))
    found = load_data(str(tmp_path / "b.npz")).X
    assert found.has_canonical_format
    np.testing.assert_allclose(found.toarray(), matrix.toarray())


@pytest.mark.parametrize("form", ["lil", "", "csr2"])
def test_another_sparse_format_is_refused(form, run, tmp_path):
    csr = sp.csr_matrix(X)
    np.savez(
        tmp_path / "a.npz", format=form, data=csr.data, indices=csr.indices, indptr=csr.indptr, shape=csr.shape, y=TRUTH
    )
    status, _, err = run("solve", "a.npz")
    assert status == 2
    assert f"sparse format {form!r}" in err


@pytest.mark.parametrize(
    "text",
    [
        table(header=None),
        table(names=("1", "2"), header=None),
        table(header=None, separator=";"),
        table(names=("ham", "?"), unknown="?", header=None),
        "rose,1,2\n" + "tulip,2,3\n" * 5,
        "?,1,rose\n" + "2,3,tulip\n" * 5,
        ",1,rose\n" + "2,3,tulip\n" * 5,
        "0,1,rose\n" + "2,3,rose\n1,1,tulip\n" * 5,
        "0,1,1\n" + "2,3,0\n" * 5,
    ],
)  # fmt: skip
def test_a_first_line_that_is_a_point_is_no_header(text, run, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    status, _, err = run("solve", "a.csv")
    assert status == 2
    assert "first line" in err


@pytest.mark.parametrize("header", ["0,1,kind", "1,2,kind", "x1,x2,kind", "2nd,3rd,kind"])
def test_names_may_have_digits(header, run, tmp_path):
    (tmp_path / "a.csv").write_text(table(header=header))
    data = load_data("a.csv")
    assert (len(data.y), data.feature_names) == (N, tuple(header.split(",")[:2]))
    assert ("names of columns" in run("solve", "a.csv")[2]) == header[0].isdigit() * header[1:2].startswith(",")


@pytest.mark.parametrize(
    ("command", "index"),
    [
        (["solve", "a.svm", "--unlabeled", "0"], 2_000_000_000),
        (["linear", "a.svm"], 2_000_000_000),
        (["convert", "a.svm", "folder"], 2_100_000_000),
        (["bound", "a.svm", "--unlabeled", "0", "--kernel", "linear"], 10**12),
        (["solve", "a.svm.gz", "--unlabeled", "0"], 3_000_000_000),
    ],
    ids=str,
)
def test_an_index_that_no_memory_holds_is_named(command, index, run, tmp_path):
    lines = svmlight(X, FEW, first=1).splitlines()
    lines[6] += f" {index}:1"
    (tmp_path / "a.svm").write_text("\n".join(lines))
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    status, _, err = run(*command)
    assert status == 2
    assert command[1] in err
    assert f"line 7: the index {index} is too large" in err
    assert ("GB are free" in err) or index > 2**31


def test_a_sparse_matrix_that_no_memory_holds_is_refused(run, tmp_path):
    wide = sp.csr_matrix(([1.0, 2.0], [0, 2**31 - 2], [0, 1, 2]), shape=(2, 2**31 - 1))
    np.savez(tmp_path / "a.npz", data=wide.data, indices=wide.indices, indptr=wide.indptr, shape=wide.shape, y=[0, 1])
    status, _, err = run("solve", "a.npz")
    assert status == 2
    assert "GB of memory" in err


@pytest.mark.parametrize(
    "word", ["unknown", "Unknown", "-", ".", "none", "missing", "unlabelled", "Na", "--", "not labeled", "*"]
)
@pytest.mark.parametrize("names", [("ham", "egg"), ("0", "1"), ("a", "b")], ids=str)
def test_words_that_may_mark_unknown_labels_are_asked_about(word, names, run, tmp_path):
    (tmp_path / "a.csv").write_text(table(names, unknown=word))
    status, _, err = run("solve", "a.csv")
    assert status == 2
    assert f"{word} marks unknown ones" in err
    assert "--unlabeled" in err
    data = load_data("a.csv", unlabeled=word)
    assert (set(data.classes), int((data.y == 0).sum())) == (set(names), 18)
    (tmp_path / "good.csv").write_text(table(names))
    assert run("solve", "good.csv", "--save", "m.npz")[0] == 0
    status, _, err = run("predict", "m.npz", "a.csv")
    assert status == 2
    assert "--unlabeled" in err


@pytest.mark.parametrize("word", ["xyz", "3", "todo later"])
def test_where_nothing_is_unknown_the_labels_are_named(word, run, tmp_path):
    (tmp_path / "a.csv").write_text(table(unknown=word))
    status, _, err = run("solve", "a.csv")
    assert status == 2
    assert word in err
    assert "--unlabeled" in err


@pytest.mark.parametrize(
    ("separator", "comma"), [(";", False), ("\t", False), ("|", False), (";", True), ("\t", True), ("|", True)]
)
@pytest.mark.parametrize("quoted", [False, True])
def test_other_separators_and_decimal_commas(separator, comma, quoted, run, tmp_path):
    text = table(separator=separator, comma=comma)
    if quoted:
        text = "\n".join(separator.join(f'"{field}"' for field in line.split(separator)) for line in text.splitlines())
    (tmp_path / "a.csv").write_text(text)
    status, _, err = run("solve", "a.csv", "--balance", "none")
    assert status == 0
    assert f"read as: 30 points, columns u, v; labels in 'kind'; separator {separator!r}" in err
    assert ("decimal commas" in err) == comma
    np.testing.assert_array_equal(load_data("a.csv").X, np.round(X, 2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("u v kind\n" + "1 2 a\n3 4 b\n" * 9, "has one column, 'u v kind'"),
        ("u;v;kind\n" + "1,000;2,500;a\n3,000;4,000;b\n" * 9, "'1,000' is one number with a decimal comma"),
        ("u;v;kind\n" + "1,5;2.5;a\n3,5;4.5;b\n" * 9, "line 2, column 'u': '1,5' is not a number"),
        ("u;v;kind\n" + "1.234,5;2;a\n3,5;4;b\n" * 9, "line 2, column 'u': '1.234,5' is not a number"),
        ("a;b,c\n" + "1;2,3\n" * 9, "separated by comma or by semicolon"),
        ("u;v;kind\n1;2;a\n3;4\n", "line 3 has 2 fields, the header 3"),
        ("u,v,kind\n1,2,a\n3,4,5,b\n", "line 3 has 4 fields, the header 3"),
        ('u,v,kind\n1,2,a\n3,4,"b\n', "in line 3"),
        ("", "has no rows"),
        ("kind\na\nb\n", "has one column, 'kind'"),
        (",kind\n0,a\n1,b\n", "has no column of features"),
        ("u,kind,\n1,a,2.5\n2,b,3.5\n", "column 3 has no name"),
    ],
)  # fmt: skip
def test_tables_that_are_unclear_are_asked_about(text, said, run, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    status, _, err = run("solve", "a.csv")
    assert status == 2
    assert "a.csv" in err
    assert said in err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(encoding, run, tmp_path):
    text = table(("très", "größer"), header="länge,u,kind")
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    status, _, err = run("solve", "a.csv", "--save", "m.npz")
    if encoding == "utf-16-le":  # nothing says that it is
        assert status == 2
        assert "UTF-16 without a byte order mark" in err
        return
    assert status == 0
    assert ("encoding" in err) == (not encoding.startswith("utf-8"))
    assert load_data("a.csv").classes == ("größer", "très")
    assert ct.load_model("m.npz").feature_names == ("länge", "u")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32-be"])
def test_marks_of_svmlight_and_labels_files(encoding, run, tmp_path):
    mark = "\ufeff" if encoding.endswith("be") else ""
    (tmp_path / "a.svm").write_bytes((mark + svmlight(X, FEW, first=1)).encode(encoding))
    (tmp_path / "labels.txt").write_bytes((mark + "# labels\n" + "\n".join(map(str, FEW))).encode(encoding))
    assert run("solve", "a.svm", "--unlabeled", "0")[0] == 0
    assert run("linear", "a.svm", "--labels", "labels.txt")[0] == 0
    assert run("convert", "a.svm", "folder")[0] == 0
    np.testing.assert_array_equal(open_points("folder").labels, FEW)


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKED)
def test_packed_text_is_read_by_every_command(ending, run, tmp_path):
    for name, text in (("a.csv", table()), ("a.svm", svmlight(X, FEW, first=1)), ("l.txt", "\n".join(map(str, FEW)))):
        (tmp_path / (name + ending)).write_bytes(PACKED[ending](text.encode()))
    csv, svm = f"a.csv{ending}", f"a.svm{ending}"
    assert run("solve", csv, "--label-column", "kind", "--save", "m.npz")[0] == 0
    assert run("predict", "m.npz", csv)[0] == 0
    assert run("solve", svm, "--unlabeled", "0")[0] == 0
    assert run("linear", svm, "--labels", f"l.txt{ending}", "--save", "m.npz")[0] == 0
    assert run("predict", "m.npz", svm)[0] == 0
    assert run("convert", svm, "folder")[0] == 0
    for command in (["solve", csv], ["solve", svm], ["linear", svm], ["convert", svm, "other"]):
        (tmp_path / command[1]).write_bytes((tmp_path / command[1]).read_bytes()[:-7])
        status, _, err = run(*command)
        assert status == 2
        assert "is damaged" in err
        assert command[1] in err


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.csv", "u,kind\n1,a\n\n\n2,b\nx3,a\n", 6),
        ("a.csv", 'u,v,kind\n1,2,"a\nb"\n\n2,x,b\n', 5),
        ("a.csv", "u,kind\r\n1,a\r\n\r\n2,b\r\n2020-01-02,a\r\n", 5),
        ("a.csv", "\n\nu,kind\n1,a\n1_000,b\n", 5),
        ("a.csv", "u,kind\n1,a\nnan,b\n", 3),
        ("a.csv", "u,kind\n1,a\n\n1e400,b\n", 4),
        ("a.csv", "u,kind\n1,a\n,b\n", 3),
        ("a.csv", "u,kind\n1,a\n\n2\n", 4),
        ("a.svm", "# made\n1 1:2\n\n-1 1:x\n", 4),
        ("a.svm", "1 1:2\n0 1_0:2\n", 2),
        ("a.svm", "1 1:2\n-1 1:1_0\n", 2),
        ("a.svm", "unknown 1:2\n", 1),
    ],
)  # fmt: skip
def test_lines_are_counted_as_an_editor_does(name, text, line, run, tmp_path):
    (tmp_path / name).write_bytes(text.encode())
    for command in (["solve"], ["linear"]) if name.endswith("svm") else (["solve"],):
        status, _, err = run(*command, name)
        assert status == 2
        assert f"line {line}" in err
        assert name in err


@pytest.mark.parametrize(
    ("header", "options"),
    [("u,kind,kind", ["--label-column", "kind"]), ("u,kind,kind", []), ("u,u,kind", []), ("u, u ,kind", [])],
)
def test_two_columns_of_one_name_are_refused(header, options, run, tmp_path):
    (tmp_path / "a.csv").write_text(table(header=header))
    status, _, err = run("solve", "a.csv", *options)
    assert status == 2
    assert "has 2 columns" in err


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("", list(range(N))),
        ("", list(range(1, N + 1))),
        ("", [7 * i % N + 100 for i in range(N)]),
        ("", [""] * N),
        ("Unnamed: 0", list(range(N))),
        ("index", list(range(5, N + 5))),
        ("ID", list(range(1, N + 1))),
    ],
    ids=str,
)
def test_a_column_that_counts_rows_is_no_feature(name, index, run, tmp_path):
    (tmp_path / "a.csv").write_text(table(header=f"{name},u,v,kind", index=index))
    (tmp_path / "b.csv").write_text(table())
    status, _, err = run("solve", "a.csv", "--save", "m.npz")
    assert status == 0
    assert "column 1" in err
    assert "is left out" in err
    assert load_data("a.csv").feature_names == ("u", "v")
    for data in ("a.csv", "b.csv"):
        assert json.loads(run("predict", "m.npz", data, "--json")[1])["n"] == N


@pytest.mark.parametrize("name", ["time", "index", "id"])
def test_a_column_that_does_not_count_is_a_feature(name, run, tmp_path):
    values = np.arange(N) if name == "time" else np.arange(N) ** 2 % 11 / 2
    (tmp_path / "a.csv").write_text(table(header=f"{name},u,v,kind", index=values))
    assert load_data("a.csv").feature_names == (name, "u", "v")


def bomb(path, member, megabytes, compression=zipfile.ZIP_DEFLATED, base=None):
    """Add a member of zeros to a file of arrays."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in (base or {}).items():
            file.writestr(name, content)
        with file.open(f"{member}.npy", "w", force_zip64=True) as opened:
            np.lib.format.write_array_header_1_0(
                opened, {"descr": "<f8", "fortran_order": False, "shape": (megabytes, 2**17)}
            )
            for _ in range(megabytes):
                opened.write(bytes(2**20))


def members(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture
def small_limit(monkeypatch):
    """Files are unpacked up to 32 MB in place of 256, so that what is tried need not be packed first."""
    monkeypatch.setattr("convex_tsvm.validation.UNPACKED_BYTES", 2**25)


@pytest.fixture
def model(tmp_path):
    clf = ct.TransductiveSVC().fit(X, np.where(SHOWN, TRUTH, -1))
    ct.save_model(clf, tmp_path / "model.npz")
    return members(tmp_path / "model.npz")


@pytest.mark.parametrize("member", ["unused", "points", "data", "intercept"])
def test_a_model_of_little_size_takes_little_memory(member, model, tmp_path, small_limit):
    """Beyond the limit no member is unpacked, whether a reader knows it or not."""
    path = tmp_path / "bomb.npz"
    bomb(path, member, 100, base={name: content for name, content in model.items() if name != f"{member}.npy"})
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"is not a model saved by convex_tsvm: it.* member"):
            ct.load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("member", "status"), [("X", 2), ("y", 2), ("other", 0)])
def test_data_of_little_size_take_little_memory(member, status, run, tmp_path, small_limit):
    np.savez(tmp_path / "a.npz", X=X, y=np.where(SHOWN, TRUTH, np.nan))
    kept = {name: content for name, content in members(tmp_path / "a.npz").items() if name != f"{member}.npy"}
    bomb(tmp_path / "bomb.npz", member, 100, base=kept)
    tracemalloc.start()
    try:
        found, _, err = run("solve", "bomb.npz")
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()
    assert found == status
    assert status == 0 or "no more than 32 MB are read" in err


def test_members_that_numpy_does_not_write(tmp_path):
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        bomb(tmp_path / "a.npz", "X", 1, method)
        with archive(tmp_path / "a.npz") as file, pytest.raises(ValueError, match="packed as NumPy does not pack"):
            file["X"]
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as file:
        file.writestr("X.npy", b"no array")
        file.writestr("text", b"no array")
    with archive(tmp_path / "b.npz") as file:
        for name in ("X", "text"):
            with pytest.raises(ValueError, match=r"array|magic"):
                file[name]
    with pytest.raises(ValueError, match="do not belong there: text"), archive(tmp_path / "b.npz", known=["X"]):
        pass


@pytest.mark.parametrize("member", ["coefficients", "intercept", "points"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_of_a_model_are_finite(member, number, model, tmp_path):
    arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(content)) for name, content in model.items()}
    arrays[member] = np.full_like(arrays[member], number)
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match="numbers that are not finite"):
        ct.load_model(tmp_path / "a.npz")


@pytest.mark.parametrize("command", [["solve", "a.csv.gz"], ["solve", "a.svm.gz"], ["linear", "a.svm.gz"]], ids=str)
def test_text_that_unpacks_to_far_more_than_its_size_is_refused(command, run, tmp_path, monkeypatch):
    """As it is from 64 MB on; here from 2 MB on, as what is tried is packed first."""
    monkeypatch.setattr("convex_tsvm.text.TEXT_BYTES", 2**21)
    line = b"u,v,kind\n" if "csv" in command[1] else b"1 1:1\n"
    (tmp_path / command[1]).write_bytes(gzip.compress(line * (2**23 // len(line)), 9))
    status, _, err = run(*command)
    assert status == 2
    assert f"{command[1]} unpacks to" in err
    assert "unpack it beforehand" in err


def linked(path, how):
    """Another name of a file."""
    other = path.parent / "other"
    {"hard": lambda: os.link(path, other), "symbolic": lambda: other.symlink_to(path)}[how]()
    return other


@pytest.mark.parametrize("how", ["hard", "symbolic"])
@pytest.mark.parametrize("option", ["--labels-out", "--save", "--plot", "--certificate", "--checkpoint"])
def test_no_name_of_the_input_is_written_over(how, option, run, tmp_path):
    (tmp_path / "a.csv").write_text(table())
    other = linked(tmp_path / "a.csv", how)
    exact = ["--method", "exact", "--loss", "hinge"] if option in ("--certificate", "--checkpoint") else []
    status, _, err = run("solve", "a.csv", *exact, option, other)
    assert status == 2
    assert "is the same file as DATA" in err
    assert (tmp_path / "a.csv").read_text() == table()


def test_no_output_goes_into_the_folder_that_is_read_or_over_another(run, tmp_path):
    (tmp_path / "a.svm").write_text(svmlight(X, FEW, first=1))
    assert run("convert", "a.svm", "folder")[0] == 0
    labels = (tmp_path / "folder" / "labels").read_bytes()
    status, _, err = run("linear", "folder", "--labels-out", "folder/labels")
    assert (status, "is in the folder DATA" in err) == (2, True)
    assert (tmp_path / "folder" / "labels").read_bytes() == labels
    for first, second in (("out", "./out"), ("out", "OUT"), ("out", tmp_path / "out")):
        status, _, err = run("solve", "a.svm", "--unlabeled", "0", "--save", first, "--labels-out", second)
        assert (status, "is the same file as save" in err) == (2, True)
    status, _, err = run("linear", "a.svm", "--labels", "a.svm", "--save", "./a.svm")
    assert (status, "is the same file as" in err) == (2, True)


def test_memory_that_runs_out_is_told_in_a_line(run, tmp_path, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr("convex_tsvm.cli.solving.given", exhausted)
    status, _, err = run("solve", "two_moons")
    assert (status, "not enough memory: Unable to allocate 9 GiB" in err) == (2, True)


def test_pandas_is_loaded_for_tables_only():
    code = "import sys, convex_tsvm.cli.parser, convex_tsvm.data; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
