"""Points in files: what is converted is what was there, and what cannot be says where."""

import errno
import os
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import convex_tsvm as ct
from convex_tsvm.points import SparsePoints, convert_svmlight, memory_mapped, open_points, save_points


@pytest.fixture
def written(tmp_path):
    """A matrix with empty rows and an empty last column, its labels, and the svmlight file of both."""
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 30), density=0.1, rng=rng, format="csr")
    X.data[X.indptr[50] : X.indptr[51]] = 0
    X.eliminate_zeros()
    y = rng.choice([-1.0, 0.0, 1.0], 200)
    path = tmp_path / "points.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False, comment="two lines\nof comment")
    return X, y, path


@pytest.mark.parametrize("size", [10, 500, 2**20])
def test_what_is_converted_is_what_was_there(written, tmp_path, size, monkeypatch):
    X, y, path = written
    before = memory_mapped.read_blocks
    monkeypatch.setattr(
        "convex_tsvm.points.memory_mapped.read_blocks", lambda *args, **options: before(*args, **options, size=size)
    )
    seen = []
    found = convert_svmlight(path, tmp_path / "folder", n_features=30, dtype=np.float64, progress=seen.append)
    assert found.points.shape == X.shape
    assert isinstance(found.points, SparsePoints)
    np.testing.assert_allclose(np.vstack([block.toarray() for _, block in found.points.blocks()]), X.toarray())
    np.testing.assert_array_equal(found.labels, y)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    w = np.arange(30.0)
    np.testing.assert_allclose(open_points(tmp_path / "folder").points.times(w), X @ w)


def test_values_are_kept_in_single_precision_and_columns_counted(written, tmp_path):
    X, _, path = written
    found = convert_svmlight(path, tmp_path / "folder")
    assert found.points.data.dtype == np.float32
    assert found.points.indices.dtype == np.int32
    assert found.points.shape[1] == X.indices.max() + 1
    assert not found.points.data.flags.writeable


def test_an_estimator_fits_points_that_are_on_disk(tmp_path):
    rng = np.random.default_rng(1)
    truth = np.arange(300) % 2
    X = rng.normal(size=(300, 5)) + 2.5 * np.eye(2, 5)[truth]
    y = np.where(np.arange(300) < 10, truth, -1)
    saved = save_points(ct.points.linear_points(sp.csr_matrix(X)), y, tmp_path / "folder")
    clf = ct.LinearTransductiveSVC().fit(saved.points, saved.labels)
    assert (clf.transduction_ == truth).mean() >= 0.95
    np.testing.assert_allclose(clf.decision_function(saved.points), clf.decision_function(X))


BAD = {
    "a label": ("1 1:2\nx 1:2\n", 2, "the label 'x'"),
    "a missing label": ("1 1:2\n1:2 2:3\n", 2, "the label '1:2'"),
    "no colon": ("1 1:2\n-1 1\n", 2, "'1' is not index:value"),
    "a value": ("1 1:2\n\n# comment\n-1 1:two\n", 4, "the value in '1:two'"),
    "truncated": ("1 1:2\n-1 2:1.5 3:", 2, "the value in '3:'"),
    "unsorted": ("1 3:2 2:1\n", 1, "the index 2 comes after 3"),
    "twice": ("1 1:1\n1 3:2 3:1\n", 2, "the index 3 comes twice"),
    "zero": ("1 1:1\n1 0:2\n", 2, "zero_based=True"),
    "negative": ("1 -1:1\n", 1, "'-1:1' is not index:value"),
    "NaN": ("1 1:1\n1 1:nan\n", 2, "not a finite number"),
    "infinite": ("1 1:1\n1 1:1 2:inf\n", 2, "not a finite number"),
    "NaN label": ("1 1:1\nnan 1:1\n", 2, "the label 'nan'"),
    "beyond": ("1 1:1\n1 11:1\n", 2, "beyond the 10 columns"),
    "huge": ("1 1:1\n1 99999999999999999999:1\n", 2, "99999999999999999999"),
    "binary": (b"1 1:1\n\xff\xfe\x00\n", 2, ""),
    "empty": ("", None, "no points"),
    "comments": ("# nothing\n", None, "no points"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_says_where(name, tmp_path):
    content, line, message = BAD[name]
    path = tmp_path / "bad.svm"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    where = "" if line is None else f", line {line}: "
    with pytest.raises(ValueError, match=re.escape(f"bad.svm{where}") + ".*" + re.escape(message)):
        convert_svmlight(path, tmp_path / "folder", n_features=10)
    assert os.listdir(tmp_path) == ["bad.svm"]


def test_a_full_disk_leaves_nothing(written, tmp_path, monkeypatch):
    path = written[2]

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("convex_tsvm.points.memory_mapped._describe", full)
    with pytest.raises(OSError, match=r"target=.*folder.*No space left"):
        convert_svmlight(path, tmp_path / "folder")
    assert os.listdir(tmp_path) == ["points.svm"]


def test_ctrl_c_leaves_nothing(written, tmp_path):
    def pressed(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_svmlight(written[2], tmp_path / "folder", progress=pressed)
    assert os.listdir(tmp_path) == ["points.svm"]


def test_targets_that_cannot_be(written, tmp_path):
    path = written[2]
    convert_svmlight(path, tmp_path / "folder")
    with pytest.raises(FileExistsError, match="is there already"):
        convert_svmlight(path, tmp_path / "folder")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        convert_svmlight(path, tmp_path / "no" / "folder")
    with pytest.raises(FileNotFoundError):
        convert_svmlight(tmp_path / "none.svm", tmp_path / "other")
    with pytest.raises(ValueError, match="dtype"):
        convert_svmlight(path, tmp_path / "other", dtype=np.int32)
    with pytest.raises(ValueError, match="labels has shape"):
        save_points(open_points(tmp_path / "folder").points, [1.0], tmp_path / "other")


@pytest.mark.parametrize("what", ["header", "format", "shorter", "gone", "indptr", "indices"])
def test_folders_that_are_not_whole(written, tmp_path, what):
    folder = tmp_path / "folder"
    convert_svmlight(written[2], folder)
    if what == "header":
        (folder / "header.json").write_text("{")
    elif what == "format":
        (folder / "header.json").write_text('{"format": "another"}')
    elif what == "shorter":
        (folder / "data").write_bytes((folder / "data").read_bytes()[:-4])
    elif what == "gone":
        (folder / "labels").unlink()
    elif what == "indices":
        (folder / "indices").write_bytes(b"\xff" * os.stat(folder / "indices").st_size)
    else:
        (folder / "indptr").write_bytes(b"\1" * os.stat(folder / "indptr").st_size)
    with pytest.raises(ValueError, match="is no whole folder of points"):
        open_points(folder)
    with pytest.raises(FileNotFoundError):
        open_points(tmp_path / "none")
