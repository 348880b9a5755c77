"""Points in parts under Dask: the same as in memory, whatever happens to the workers."""

import os
import signal

import dask
import dask.array as da
import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster, get_task_stream
from test_exact import moons

import convex_tsvm as ct
from convex_tsvm.points import DaskPoints, linear_points, open_partitioned, save_points

PRODUCTS = {
    "times": lambda points, rng: points.times(rng.normal(size=points.shape[1])),
    "transposed": lambda points, rng: points.transposed(weights(points, rng)),
    "curved": lambda points, rng: np.append(
        *points.curved(weights(points, rng), rng.normal(size=points.shape[1]), rng.normal())
    ),
    "gram": lambda points, rng: points.gram(weights(points, rng)),
    "squares": lambda points, rng: points.squares(weights(points, rng)),
    "squared_norms": lambda points, rng: points.squared_norms(),
    "mean": lambda points, rng: points.mean(np.array([3, 150, 151])),
    "take": lambda points, rng: dense(points.take(np.array([150, 3, 299, 3, 0]))),
    "blocks": lambda points, rng: np.vstack([dense(block) for _, block in points.blocks()]),
}


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def weights(points, rng):
    """Of all points but those of the first part."""
    found = rng.random(points.shape[0])
    found[:100] = 0
    return found


@pytest.fixture(scope="module")
def cluster():
    """Two processes on this machine."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        yield client


def rows(kind, dtype, n=300, d=20):
    X = sp.random_array((n, d), density=0.3, rng=np.random.default_rng(0), format="csr").astype(dtype)
    return X.toarray() if kind == "dense" else X


def problem_of(points, n_features):
    """Points of two classes along the first feature, as a problem."""
    n = points.shape[0]
    signs = np.where(points.times(np.eye(n_features)[0]) > 0, 1.0, -1.0)
    return ct.Problem(points, np.where(np.arange(n) % 29 < 2, signs, 0), C=1.0, C_unlabeled=0.1, balance=("exact", 0.5))


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_products_are_those_in_memory(kind, dtype, product):
    X = rows(kind, dtype)
    parts = [dask.delayed(X[first : first + 100]) for first in (0, 100, 200)]
    with dask.config.set(scheduler="synchronous"):
        found, expected = (
            PRODUCTS[product](p, np.random.default_rng(1)) for p in (DaskPoints(parts), linear_points(X))
        )
    # Directions are multiplied with 32-bit points as 32-bit numbers, whose sums depend on how points are parted.
    rounding = 1e-6 if (kind, dtype, product) == ("dense", np.float32, "curved") else 1e-12
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding * np.abs(expected).max())


def test_dask_arrays_are_points():
    X = rows("dense", np.float64)
    with dask.config.set(scheduler="synchronous"):
        for array in (da.from_array(X, chunks=(70, 6)), da.from_array(X.astype(int), chunks=(70, 20))):
            points = linear_points(array)
            assert points.shape == X.shape
            np.testing.assert_allclose(points.times(np.ones(20)), np.asarray(array).sum(axis=1))
        y = np.where(np.arange(300) < 20, np.resize([1, 0], 300), -1)
        options = {"method_options": {"annealing": 2, "reheats": 0}, "tol": 1e-9}
        first, second = (
            ct.LinearTransductiveSVC(**options).fit(points, y) for points in (X, da.from_array(X, chunks=(70, 20)))
        )
        np.testing.assert_allclose(second.coef_, first.coef_, rtol=1e-6, atol=1e-9)
        assert (second.predict(da.from_array(X, chunks=(70, 20))) == first.predict(X)).all()
        with pytest.raises(ValueError, match="X has 19 features, but the model was fitted with 20"):
            second.predict(da.from_array(X[:, :19], chunks=(70, 19)))


def test_weights_of_nothing_read_nothing():
    read = []
    parts = [dask.delayed(lambda k: read.append(k) or rows("dense", np.float64, n=5))(k) for k in range(3)]
    with dask.config.set(scheduler="synchronous"):
        points = DaskPoints(parts)
        assert sorted(read) == [0, 1, 2]
        read.clear()
        assert not points.transposed(np.zeros(15)).any()
        assert not points.gram(np.zeros(15)).any()
        assert read == []
        points.curved(np.eye(15)[7], np.ones(20))
        assert read == [1]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "parts is empty"),
        ([np.ones((2, 3)), np.ones((2, 4))], r"\[3, 4\] features"),
        ([np.ones((2, 3)), np.full((2, 3), np.nan)], "NaN or infinity"),
        ([np.ones(3)], "2-dimensional"),
    ],
)
def test_bad_parts(parts, message):
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=message):
        DaskPoints([dask.delayed(part) for part in parts])


def test_arrays_have_two_dimensions():
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        linear_points(da.ones(5))


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install convex_tsvm\[distributed\]"):
        DaskPoints([])


@pytest.mark.parametrize("method", ["switching", "annealing", "cccp"])
def test_a_cluster_finds_the_same_weights(cluster, tmp_path, method):
    X = rows("sparse", np.float32, n=2000)
    points = linear_points(X)
    save_points(points, np.zeros(2000), tmp_path / "points")
    parted = open_partitioned(tmp_path / "points", part_entries=5000)
    assert len(list(parted.blocks())) == 3
    options = {"annealing": {"cooling": 100.0}, "switching": {"annealing": 2}, "cccp": {}}[method]
    formulation = ct.tsvm("squared_hinge") if method == "cccp" else ct.s3vm(fit_intercept=False)
    balance = 0.0 if method == "cccp" else ("exact", 0.5)
    found, expected = (
        getattr(ct, method)(formulation, problem.replace(balance=balance), solver="finite_newton", tol=1e-5, **options)
        for problem in (problem_of(parted, 20), problem_of(points, 20))
    )
    assert found.status == "converged"
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-6, atol=1e-8)


def test_a_killed_worker_is_survived(cluster, tmp_path):
    points = linear_points(rows("sparse", np.float64, n=2000))
    save_points(points, np.zeros(2000), tmp_path / "points")
    killed = []

    def kill(iteration):
        if len(killed) == 0 and iteration.stage == 1:
            killed.append(next(iter(cluster.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    def weights_of(points, callback=None):
        problem, options = problem_of(points, 20), {"solver": "finite_newton", "annealing": 2, "tol": 1e-5}
        return ct.switching(ct.s3vm(fit_intercept=False), problem, callback=callback, **options).weights

    found = weights_of(open_partitioned(tmp_path / "points", part_entries=5000), kill)
    assert len(killed) == 1
    np.testing.assert_allclose(found, weights_of(points), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("megabytes", [50, pytest.param(1500, marks=pytest.mark.slow)])
def test_the_memory_of_workers_is_bounded(cluster, tmp_path, megabytes):
    """A file is five times what a worker's memory grows by, at least."""
    n, length = megabytes * 250, 500
    columns = np.random.default_rng(0).integers(0, 4, (n, length)) + 4 * np.arange(length)
    data = np.random.default_rng(1).standard_normal(columns.size, dtype=np.float32)
    X = sp.csr_array((data, columns.ravel().astype(np.int32), np.arange(0, n * length + 1, length)), shape=(n, 2000))
    save_points(linear_points(X), np.zeros(n), tmp_path / "points")
    size = sum(file.stat().st_size for file in (tmp_path / "points").iterdir())
    assert size >= megabytes * 1e6

    psutil = pytest.importorskip("psutil")

    def memory():
        pids = cluster.run(os.getpid).values()
        return np.array([psutil.Process(pid).memory_info().rss for pid in pids])

    small = open_partitioned(tmp_path / "points", part_entries=2**19)
    small.times(np.ones(2000))  # compiles
    small.curved((np.arange(n) == 0).astype(float), np.ones(2000))
    before, most = memory(), []
    problem = problem_of(small, 2000).replace(C=1e-6, C_unlabeled=1e-7)  # w is next to nothing: few products
    options = {"solver": "finite_newton", "annealing": [1.0], "tol": 0.01, "callback": lambda _: most.append(memory())}
    ct.switching(ct.s3vm(fit_intercept=False), problem, **options)
    assert (np.max(most, axis=0) - before < size / 5).all()


@pytest.mark.slow
def test_exact_search_under_dask_finds_the_same(cluster):
    formulation, problem, _ = moons(20, noise=0.3)
    with joblib.parallel_config(backend="dask"), get_task_stream(cluster) as stream:
        found = ct.exact_search(formulation, problem, patience=0, bounds="svm", n_jobs=2)
    assert stream.data  # it was they who searched
    assert found.status == "optimal"
    assert found.objective == pytest.approx(ct.exact_search(formulation, problem).objective, rel=1e-6)
