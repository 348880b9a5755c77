"""Unusual inputs: empty, sparse, huge or equal points, objects in place of names, and what is cut short."""

import dataclasses
import signal
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import convex_tsvm as ct
from convex_tsvm.deadline import in_background
from convex_tsvm.estimators.advice import acting
from convex_tsvm.estimators.labels import Labels
from convex_tsvm.exact.search import uninterrupted
from convex_tsvm.instance.step_solution import sum_to
from convex_tsvm.kernels import accurate
from convex_tsvm.kernels.distances import scaled_differences
from convex_tsvm.kernels.functions import ProductForm
from convex_tsvm.kernels.products import Device, ProductRows, _place, rows_of
from convex_tsvm.kernels.rows import KernelRows, LinearRows
from convex_tsvm.methods.cccp import CCCP
from convex_tsvm.methods.together import _have_equal_points
from convex_tsvm.points.memory_mapped import read_svmlight
from convex_tsvm.progress import PAUSES, status_line
from convex_tsvm.relaxations.rounding import zero_sum
from convex_tsvm.solvers.dual import minimize_quadratic
from convex_tsvm.solvers.dual.rows_held import CachedRows

X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
Y = np.array([-1.0, 0, 0, 0, 0, 1])
#: The same labels as estimators take them.
GIVEN = np.array([0, -1, -1, -1, -1, 1])


def line(**options):
    """Six points on a line, of which the ends are labelled."""
    return ct.Problem(X, Y, **options)


# Losses and formulations.


def test_losses_are_equal_to_losses_alone():
    assert ct.hinge() == ct.hinge()
    assert ct.hinge() != "hinge"
    with pytest.raises(TypeError, match="unsupported operand"):
        ct.hinge() + "1"


def test_both_parts_of_a_difference_may_be_piecewise():
    convex, concave = ct.symmetric_ramp(-0.3).split()
    t = np.linspace(-3, 3, 25)
    np.testing.assert_allclose(ct.losses.DCLoss(convex, concave)(t), ct.symmetric_ramp(-0.3)(t), atol=1e-12)


def test_a_convex_formulation_is_its_own_envelope():
    formulation = ct.Formulation(ct.hinge(), ct.losses.tube(0.1))
    assert formulation.envelope() is formulation
    assert ct.cccp_tsvm().envelope().unlabeled is not ct.cccp_tsvm().unlabeled


def test_points_that_act_on_a_solution():
    """Where unlabelled points pay nothing none acts; the slope of exp(-5 t²) vanishes at 0 and far out."""
    problem = line(C=1.0)
    assert acting(ct.cccp(ct.svm(), problem)).tolist() == [False] * 4
    solution = ct.gradient(ct.tsvm("exp"), problem)
    near = dataclasses.replace(solution.point, outputs=np.array([-1.0, -0.5, 0.0, 0.5, 3.0, 1.0]))
    assert acting(dataclasses.replace(solution, point=near)).tolist() == [True, False, True, False]


# Kernels.


def test_gamma_auto_is_one_over_the_features():
    assert ct.TransductiveSVC(gamma="auto").fit(np.hstack([X, X]), GIVEN).solutions_[0].problem.kernel.gamma == 0.5


@pytest.mark.parametrize("size", [1e-150, 1e150], ids=["tiny", "huge"])
def test_distances_whose_squares_are_no_numbers(size):
    found = scaled_differences(size * X, size * X[:2], 1 / size**2)
    np.testing.assert_allclose(found, (X - X[:2].T) ** 2, rtol=1e-12)


def test_a_density_kernel_of_a_given_scale():
    """The default scale is the median distance to the nearest point, here 0.1."""
    np.testing.assert_allclose(ct.kernels.density_kernel(X, scale=0.1), ct.kernels.density_kernel(X), atol=1e-12)
    assert not np.allclose(ct.kernels.density_kernel(X, scale=1.0), ct.kernels.density_kernel(X))


def test_matrices_that_overflow_or_have_no_mean():
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match="inner products of the points overflow; scale the points"),
    ):
        accurate.plain_gram(ct.Linear(), 1e200 * X)
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match=r"kernel=.* overflows at these points; scale them"),
    ):
        accurate.plain_gram(ct.Polynomial(degree=3, gamma=1.0, coef0=0.0), 1e120 * X)
    every, matrix = np.arange(6), np.outer(X, X)
    for kernel, points in ((ct.Linear(), X), (ct.Precomputed(), matrix)):
        with pytest.raises(accurate.NoMeanError, match="the mean of the points is zero"):
            accurate.projected_gram(kernel, points, every, 0.0)
        assert accurate.projected_gram(kernel, points, every[:3], 0.0).gram.n == 6


def test_distances_of_sparse_points_too_large_to_be_made_dense(monkeypatch):
    points = np.random.default_rng(0).normal(size=(9, 4))
    expected = accurate.plain_gram(ct.RBF(1.0), points)
    monkeypatch.setattr(accurate, "MOST_DENSE_ENTRIES", 10)
    found = accurate.plain_gram(ct.RBF(1.0), sp.csr_matrix(points))
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-13)
    assert found.error > 0


class Shifted:
    """x·z + 1: a kernel of one's own that is an inner product and no function of it."""

    accepts_sparse = True

    def __call__(self, A, B):
        return np.asarray(A @ B.T) + 1.0

    def diag(self, A):
        return np.asarray(A.multiply(A).sum(axis=1) if sp.issparse(A) else (A**2).sum(axis=1)).ravel() + 1.0

    @property
    def product_form(self):
        return ProductForm(1.0, lambda squares: np.full_like(squares, 0.5), None)


@pytest.mark.parametrize(
    "kernel", [Shifted(), ct.RBF(1.0), ct.Polynomial(degree=1, gamma=2.0, coef0=0.0)], ids=["shifted", "rbf", "poly"]
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_products_with_a_kernel_matrix(kernel, form):
    points = np.random.default_rng(0).normal(size=(12, 3))
    K, rows, vectors = kernel(points, points), ProductRows(kernel, form(points)), np.eye(12)[:, :2]
    np.testing.assert_allclose(rows.times(vectors), K @ vectors, atol=1e-12)
    np.testing.assert_allclose(rows.full(), K, atol=1e-12)
    np.testing.assert_allclose(rows.mean(np.arange(12)), K.mean(axis=0), atol=1e-12)


def test_rows_of_other_kernels():
    """A function of one's own has no inner products; of no points there are no rows; sparse points have norms."""
    own = ct.kernels.CallableKernel(lambda A, B: np.asarray(A @ B.T) + 1.0)
    rows = rows_of(own, X)
    assert type(rows) is KernelRows
    np.testing.assert_allclose(rows.full(), X @ X.T + 1)
    assert rows.block(np.arange(0), np.arange(4)).shape == (0, 4)
    assert rows.block(np.arange(4), np.arange(0)).shape == (4, 0)
    np.testing.assert_allclose(LinearRows(sp.csr_matrix(X)).diag(), (X**2).ravel())


def test_a_row_cache_that_has_all_rows():
    """Rows that are there are not computed again."""
    K = ct.RBF(1.0)(X, X)
    cache, every = CachedRows(KernelRows(ct.RBF(1.0), X), 10**6), np.arange(6)
    for _ in range(3):
        np.testing.assert_allclose(cache.rows(every), K)
    computed = cache.computed
    np.testing.assert_allclose(cache.rows(every[:2]), K[:2])
    np.testing.assert_allclose(cache.block(every, every[:2]), K[:, :2])
    assert cache.computed == computed


class Far:
    """An array of a device that NumPy cannot read: with the ``get`` of CuPy's, or the ``cpu`` of PyTorch's."""

    def __init__(self, array, way):
        self.array, self.shape, self.dtype = array, array.shape, f"library.{array.dtype}"
        self.device = type("Place", (), {"type": "cuda"})
        setattr(self, way, lambda out: out.__setitem__(..., array))


class Library:
    """PyTorch's ``asarray``, whose arrays copy from any device."""

    def asarray(self, out):
        return type("Here", (), {"copy_": staticmethod(lambda far: far.cpu(out))})


@pytest.mark.parametrize("way", ["get", "cpu"])
def test_arrays_come_back_from_devices(way, monkeypatch):
    """They are written to memory of NumPy's, in one go where it is whole."""
    device, far = Device("numpy"), Far(np.arange(6.0).reshape(2, 3), way)
    monkeypatch.setattr(device, "xp", Library())
    np.testing.assert_array_equal(device.get(far), far.array)
    for out in (np.empty((2, 3)), np.empty((2, 6))[:, ::2]):
        assert device.get(far, out) is out
        np.testing.assert_array_equal(out, far.array)


def test_what_numpy_may_not_write_to_is_copied():
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    found = Device("numpy").get(fixed)
    np.testing.assert_array_equal(found, fixed)
    assert found.flags.writeable


def test_devices_are_named_as_their_libraries_want_it():
    assert [_place("cupy", "1"), _place("cupy", "x"), _place("torch", "cuda:1"), _place("cupy", "")] == [
        1,
        "x",
        "cuda:1",
        None,
    ]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_equal_points_of_two_problems(form):
    one, same, other = (ct.Problem(form(factor * X), Y, C=C) for factor, C in ((1, 1), (1, 2), (2, 1)))
    few = ct.Problem(form(X[:5]), np.array([-1.0, 0, 0, 0, 1]))
    assert _have_equal_points(one, same)
    assert not _have_equal_points(one, other)
    assert not _have_equal_points(one, few)
    assert not _have_equal_points(one, ct.Problem(form(X), Y, kernel=ct.RBF(1.0)))


# Numbers.


def test_sums_that_are_made_exact():
    """The only number takes all that is missing, as far as it has room."""
    one, two, five = np.ones(1), np.full(1, 2.0), np.full(1, 5.0)
    np.testing.assert_array_equal(sum_to(0.0, one, -five, five), [0.0])
    np.testing.assert_array_equal(sum_to(0.0, one, one, two), [1.0])
    np.testing.assert_array_equal(zero_sum(one, -five, five), [0.0])
    np.testing.assert_array_equal(zero_sum(np.array([2.0, -1.0]), np.full(2, -3.0), np.full(2, 3.0)).sum(), 0.0)


def test_nothing_to_minimize():
    found = minimize_quadratic(
        matrix=np.zeros((0, 0)), offset=np.zeros(0), cost=np.zeros(0), losses=[ct.hinge()], sums_to_zero=True
    )
    assert found.gamma.shape == found.outputs.shape == (0,)
    assert (found.bias, found.violation) == (0.0, 0.0)


def test_errors_in_the_background_are_raised_here():
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        in_background(lambda: 1 / 0)
    assert in_background(divmod, 7, 2) == (3, 1)


def test_what_is_not_to_be_interrupted_in_another_thread():
    """Signals reach the main thread alone, where Ctrl-C is held back until the block is left."""

    def block(seen):
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    before, apart, here = signal.getsignal(signal.SIGINT), [], []
    thread = threading.Thread(target=block, args=(apart,))
    thread.start()
    thread.join()
    block(here)
    assert apart == [before]
    assert here != [before]

    def press():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            here.append("done")

    with pytest.raises(KeyboardInterrupt):
        press()
    assert here[-1] == "done"
    assert signal.getsignal(signal.SIGINT) == before


# Estimators.


def labels(unlabeled=(1, 2, 3, 4), weights=None):
    mark = np.isin(np.arange(6), unlabeled)
    return Labels(np.array([0, 1]), np.where(mark, -1, (X[:, 0] > 0).astype(int)), mark, weights)


def test_weighted_costs():
    """Costs of labelled points alone, of no labelled point, and a word that is none for a cost."""
    weights = np.array([1.0, 2, 3, 4, 5, 6])
    C, C_unlabeled = labels(weights=weights).costs([10.0, 20.0], 1.0)
    np.testing.assert_array_equal(C[[0, 5]], [10, 120])
    np.testing.assert_array_equal(C_unlabeled, weights)
    everywhere = labels(unlabeled=range(6), weights=weights)
    for word, share in (("tenth", 0.1), ("balanced", 1.0)):
        C, C_unlabeled = everywhere.costs(2.0, word)
        np.testing.assert_allclose(C, 2 * weights)
        np.testing.assert_allclose(C_unlabeled, share * C)
    with pytest.raises(ValueError, match="C_unlabeled='fifth' must be"):
        ct.TransductiveSVC(C_unlabeled="fifth").fit(X, GIVEN, sample_weight=weights)


def test_labels_of_dates():
    days = np.array(["2020-01-01", *["1970-01-01"] * 4, "2021-01-01"], dtype="datetime64[D]")
    clf = ct.TransductiveSVC(kernel="linear", unlabeled=days[1].astype(object)).fit(X, days)
    assert [str(day) for day in clf.transduction_] == ["2020-01-01"] * 3 + ["2021-01-01"] * 3


def test_one_class_after_another_is_told(capsys):
    clf = ct.ExactTransductiveSVC(kernel="linear", verbose=True).fit(X, GIVEN)
    told = capsys.readouterr().out
    assert told.startswith("[ExactTransductiveSVC] class 1: objective ")
    assert f"objective {clf.objective_:.6g}, lower bound {clf.lower_bound_:.6g}, gap " in told
    assert told.endswith(" s, optimal\n")


def test_clustering_takes_objects():
    named = ct.MaxMarginClustering(kernel="linear", method="cccp", loss="hinge").fit(X)
    made = ct.MaxMarginClustering(kernel="linear", method=CCCP(), loss=ct.tsvm("hinge")).fit(X)
    np.testing.assert_array_equal(named.labels_, made.labels_)
    assert len(set(made.labels_)) == 2
    assert made.objective_ == pytest.approx(named.objective_)


def test_the_cost_of_unlabelled_points_online():
    """λ' = C* n_unlabelled / (C n_labelled): the same as when it is given."""
    points, given = np.tile(X, (5, 1)), np.tile(GIVEN, 5)
    fits = [
        ct.LinearTransductiveSVC(lambda_=None, C=2.0, **options).partial_fit(points, given, classes=[0, 1])
        for options in (
            {"lambda_unlabeled": None, "C_unlabeled": 0.5},
            {"lambda_unlabeled": 0.5 * 20 / (2.0 * 10)},
            {"lambda_unlabeled": None, "C_unlabeled": 2.0},
        )
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-12)
    assert not np.allclose(fits[0].coef_, fits[2].coef_)


def test_weights_of_labelled_points_alone():
    pool = ct.selection.WithUnlabeled(ct.TransductiveSVC(kernel="linear"), X[1:5])
    heavy = pool.fit(X[[0, 5]], [0, 1], sample_weight=[1.0, 3.0]).estimator_
    expected = ct.TransductiveSVC(kernel="linear").fit(
        np.vstack([X[[0, 5]], X[1:5]]), [0, 1, -1, -1, -1, -1], sample_weight=[1, 3, 1, 1, 1, 1]
    )
    np.testing.assert_allclose(heavy.solutions_[0].problem.cost, expected.solutions_[0].problem.cost)
    assert heavy.solutions_[0].problem.cost[1] == 3 * heavy.solutions_[0].problem.cost[0]


def test_a_learning_curve_beside_another_classifier(moons):
    """A classifier that always says the same errs at half of the points."""
    from sklearn.dummy import DummyClassifier

    points, truth, _ = moons
    curve = ct.selection.learning_curve(
        ct.TransductiveSVC(kernel="linear"),
        points,
        (truth > 0).astype(int),
        n_labeled=(4,),
        n_draws=1,
        supervised=DummyClassifier(strategy="constant", constant=1),
    )
    assert curve.supervised_errors.mean() == pytest.approx(38 / 76)
    assert curve.errors.mean() < 0.3


def test_a_search_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setitem(PAUSES, "auto", 0.0)
    y = np.array([0, 0, -1, -1, 1, 1])
    search = ct.TransductiveSearchCV(ct.TransductiveSVC(kernel="linear"), {"C": [1, 10]}, cv=2, verbose=1)
    assert set(search.fit(X, y).best_params_) == {"C"}
    told = capsys.readouterr().err
    assert "search: fold 1 of 2, 2 of 2 candidates" in told
    assert "search: fold 2 of 2, 2 of 2 candidates" in told


def test_steps_whose_share_nobody_knows(capsys, monkeypatch):
    monkeypatch.setitem(PAUSES, "auto", 0.0)
    history = ct.cccp(ct.cccp_tsvm(), line(C=10)).history
    with status_line(lambda: "work", lines=True) as progress:
        progress.step(history[0])
    told = capsys.readouterr().err
    assert f"work: step 1, objective {history[0].step_objective:.6g}, {history[0].changed} points changed; " in told
    assert "left" not in told


def test_the_default_grid_of_classifiers_without_a_width(moons):
    points, _, y = moons
    search = ct.TransductiveSearchCV(ct.LaplacianSVC(unlabeled=0), cv=2).fit(points, y)
    assert {frozenset(own) for own in search.cv_results_["params"]} == {frozenset(["C", "sigma"])}


# Files.


def test_reading_is_told(tmp_path):
    path, shares = tmp_path / "points.svm", []
    path.write_text("-1 1:1 2:2\n+1 2:3\n")
    read = read_svmlight(path, progress=shares.append)
    assert shares[-1] == 1.0
    assert read.points.shape == (2, 2)


def test_compilation_is_told_once(monkeypatch):
    """A compiler's own functions are not told of, and those of the package once, where somebody reads it."""
    from types import SimpleNamespace

    from convex_tsvm.points.compilation import _Told

    said = []
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True, write=said.append, flush=lambda: None))
    told, own = _Told(), SimpleNamespace(__module__="convex_tsvm.solvers._loops")
    for compiled in (SimpleNamespace(__module__="numba.core"), own, own):
        told.on_start(SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=compiled)}))
    assert "".join(said).count("convex_tsvm: compiling its loops, once on this machine") == 1
