"""Kernel rows of another array library: the same rows, and the same answers, as by NumPy."""

import copy
import importlib.util
import pickle

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.kernels import Device, DeviceRows, KernelRows
from convex_tsvm.kernels.products import Tiles
from convex_tsvm.solvers.dual import rows_held

#: array_api_strict refuses whatever the standard does not have; its device1 cannot be mixed with its default device.
DEVICES = ["numpy", "array_api_strict", "array_api_strict:device1", "torch", "torch:cpu", "torch:cuda", "cupy"]
NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
KERNELS = [ct.RBF(1.3), ct.Polynomial(3, 0.4, 1.0), ct.Polynomial(2, 1.0, 0.0)]


@pytest.fixture(params=DEVICES)
def device(request):
    if importlib.util.find_spec(request.param.split(":")[0]) is None:
        pytest.skip(f"needs {request.param}")
    if request.param in ("torch:cuda", "cupy"):
        try:
            Device(request.param)
        except ValueError as error:
            pytest.skip(str(error))
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rows_and_what_is_made_of_them(device, kernel, dtype):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3)) + 5
    rows, reference = DeviceRows(kernel, X, dtype, Device(device)), KernelRows(kernel, X)
    some, others = random.permutation(60)[:7], random.permutation(60)[:9]
    size = np.abs(reference.full()).max()
    close = {"atol": size * 60 * np.finfo(dtype).eps * 20, "rtol": 0}
    assert rows.rows(some).dtype == dtype
    rows.rows(some)[:] = 0  # a new array, that can be written to
    np.testing.assert_allclose(rows.rows(some), reference.rows(some), **close)
    np.testing.assert_allclose(rows.block(some, others), reference.block(some, others), **close)
    np.testing.assert_allclose(rows.full(), reference.full(), **close)
    assert (rows.full() == rows.full().T).all()
    np.testing.assert_allclose(rows.diag(), reference.diag(), **close)
    weights, vectors = random.standard_normal(7), random.standard_normal((60, 4))
    np.testing.assert_allclose(rows.combine(some, weights), reference.combine(some, weights), **close)
    np.testing.assert_allclose(rows.times(vectors), reference.times(vectors), **close)
    np.testing.assert_allclose(rows.mean(np.append(some, some[:2])), reference.mean(np.append(some, some[:2])), **close)


def test_sums_in_parts_are_sums(device, monkeypatch):
    monkeypatch.setattr(DeviceRows, "bytes_at_once", 8 * 30 * 4)
    X = np.random.default_rng(1).standard_normal((30, 2))
    rows = DeviceRows(ct.RBF(1.0), X, np.float64, Device(device))
    vectors = np.random.default_rng(2).standard_normal((30, 2))
    np.testing.assert_allclose(rows.times(vectors), ct.RBF(1.0)(X, X) @ vectors, atol=1e-12)


def test_many_rows_and_whole_matrices_come_in_parts(device, monkeypatch):
    monkeypatch.setattr(DeviceRows, "bytes_at_once", 8 * 30 * 4)
    monkeypatch.setattr(DeviceRows, "tiles", Tiles(rows=8))
    X = np.random.default_rng(1).standard_normal((30, 2))
    rows, matrix = DeviceRows(ct.RBF(1.0), X, np.float64, Device(device)), ct.RBF(1.0)(X, X)
    some = np.random.default_rng(2).permutation(30)[:13]
    np.testing.assert_allclose(rows.rows(some), matrix[some], atol=1e-12)
    np.testing.assert_allclose(rows.block(some, some[::2]), matrix[np.ix_(some, some[::2])], atol=1e-12)
    full = rows.full()
    np.testing.assert_allclose(full, matrix, atol=1e-12)
    assert (full == full.T).all()
    out = np.empty((26, 30))[::2]
    assert rows.device.get(rows.device.put(matrix[some]), out) is out
    np.testing.assert_array_equal(out, matrix[some])


@pytest.mark.parametrize("held", ["whole matrix", "rows"])
@pytest.mark.parametrize("kernel", KERNELS[:2], ids=repr)
def test_the_native_solver_gives_the_same_answers(moons, device, kernel, held, monkeypatch):
    X, _, y = moons
    if held == "rows":
        monkeypatch.setattr(rows_held.HeldRows, "most_whole", 0)
        monkeypatch.setattr(rows_held.HeldRows, "most_whole_with_mean", 0)
    problem = ct.Problem(X, y, kernel=kernel, C=10)
    options = {"tol": 1e-9, "cache_size": 1.0}
    by_numpy = ct.cccp(ct.cccp_tsvm(), problem, solver=ct.solvers.NativeSolver(problem, **options))
    found = ct.cccp(ct.cccp_tsvm(), problem, solver=ct.solvers.NativeSolver(problem, device=device, **options))
    np.testing.assert_allclose(found.scores, by_numpy.scores, atol=1e-6)
    assert found.objective == pytest.approx(by_numpy.objective, abs=1e-6)
    assert (found.labels == by_numpy.labels).all()


def test_estimators_and_methods_take_it(moons, device):
    X, _, y = moons
    fit = ct.TransductiveSVC(sigma=0.5, unlabeled=0, tol=1e-7, balance="labeled")
    plain = fit.fit(X, y).transduction_scores_
    np.testing.assert_allclose(fit.set_params(device=device).fit(X, y).transduction_scores_, plain, atol=1e-5)
    for make in (ct.CompactMarginClassifier, ct.RelativeMarginClassifier):
        own = make(sigma=0.5, unlabeled=0, tol=1e-7, balance="labeled").fit(X, y)
        other = make(sigma=0.5, unlabeled=0, tol=1e-7, balance="labeled", device=device).fit(X, y)
        np.testing.assert_allclose(other.transduction_scores_, own.transduction_scores_, atol=1e-5)


def test_single_precision_is_measured_and_gives_way(device):
    # Two clusters so far apart that single precision has no digit left of distances inside them.
    random = np.random.default_rng(3)
    X = random.standard_normal((40, 2)) + np.repeat([[-3000.0, 0], [3000, 0]], 20, axis=0)
    y = np.zeros(40)
    y[[0, 1, 20, 21]] = [-1, -1, 1, 1]
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=10)
    solver = ct.solvers.NativeSolver(problem, device=device, precision="single", tol=1e-4)
    found = ct.cccp(ct.cccp_tsvm(), problem, solver=solver)
    by_numpy = ct.cccp(ct.cccp_tsvm(), problem, solver=ct.solvers.NativeSolver(problem, precision="double", tol=1e-4))
    np.testing.assert_allclose(found.scores, by_numpy.scores, atol=1e-3)


def test_another_process_takes_the_points_there_again(device):
    X = np.random.default_rng(4).standard_normal((20, 2))
    rows = DeviceRows(ct.RBF(1.0), X, np.float64, Device(device))
    before = rows.rows(np.arange(5))
    assert "_on_device_points" not in rows.__getstate__()
    for again in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):
        assert again.device.name == device
        np.testing.assert_array_equal(again.rows(np.arange(5)), before)
    solver = ct.solvers.NativeSolver(ct.Problem(X, np.resize([1, -1, 0, 0], 20), kernel="rbf", C=1), device=device)
    problem = pickle.loads(pickle.dumps(solver)).problem
    np.testing.assert_array_equal(problem.X, X)


@pytest.mark.parametrize(
    ("device", "said"),
    [
        (3, "device=3 must be a library"),
        ("", "device='' must be a library"),
        ("no_such_library", "no library 'no_such_library'"),
        ("json", "'json' is not a library of the array API"),
        ("array_api_strict:moon", "device='array_api_strict:moon'"),
        ("numpy:cuda", "device='numpy:cuda': numpy cannot use it"),
        pytest.param("torch:meta", "device='torch:meta': torch cannot use it", marks=NEEDS_TORCH),
        (".", "no library"),
    ],
)
def test_a_device_that_is_not_there(moons, device, said):
    X, _, y = moons
    with pytest.raises(ValueError, match=said):
        ct.TransductiveSVC(sigma=0.5, unlabeled=0, device=device).fit(X, y)


def test_what_has_no_rows_there(moons):
    import scipy.sparse as sp

    X, _, y = moons
    fit = ct.TransductiveSVC(sigma=0.5, unlabeled=0, device="numpy", balance="labeled")
    with pytest.raises(ValueError, match="X is sparse"):
        fit.fit(sp.csr_matrix(X), y)
    with pytest.raises(ValueError, match=r"CallableKernel.*has no rows there"):
        ct.TransductiveSVC(kernel=lambda X, Z: X @ Z.T, unlabeled=0, device="numpy", balance="labeled").fit(X, y)
    with pytest.raises(ValueError, match="device='numpy' is no option of solver='cvxpy'"):
        fit.set_params(solver="cvxpy").fit(X, y)
