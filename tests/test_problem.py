"""What a problem checks, and what it derives."""

import numpy as np
import pytest
import scipy.sparse as sp

import convex_tsvm as ct

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.5]])
Y = np.array([1, -1, 0, 0])
NOT_PSD = np.array([[1.0, 2.0], [2.0, 1.0]])

BAD = {
    "NaN in X": (dict(X=np.where(X == 2, np.nan, X)), "X contains NaN or infinity"),
    "infinity in X": (dict(X=np.where(X == 2, np.inf, X)), "X contains NaN or infinity"),
    "NaN in sparse X": (dict(X=sp.csr_matrix(np.where(X == 2, np.nan, X))), "X contains NaN or infinity"),
    "text in X": (dict(X=[["a", "b"]] * 4), "X must be an array of numbers"),
    "X one-dimensional": (dict(X=X[:, 0]), r"X has shape \(4,\)"),
    "X empty": (dict(X=np.zeros((0, 2)), y=[]), r"X has shape \(0, 2\)"),
    "X without features": (dict(X=np.zeros((4, 0))), r"X has shape \(4, 0\)"),
    "y too short": (dict(y=[1, -1, 0]), r"y has shape \(3,\); X has 4 points"),
    "y two-dimensional": (dict(y=Y[:, None]), r"y has shape \(4, 1\)"),
    "y not numbers": (dict(y=["a", "b", "c", "d"]), r"y must be an array of \+1, -1 and 0"),
    "NaN in y": (dict(y=[1, -1, np.nan, 0]), "y contains NaN"),
    "unknown label in y": (dict(y=[1, -1, 2, 0]), "y contains 2"),
    "one class only": (dict(y=[1, 1, 0, 0]), r"y has one class only: no point is labelled -1"),
    "no labelled point": (dict(y=[0, 0, 0, 0]), "y has no labelled point"),
    "no unlabelled point": (dict(y=[1, -1, 1, -1]), "y has no unlabelled point"),
    "C = 0": (dict(C=0), "C=0 must be a finite number > 0"),
    "C < 0": (dict(C=-1.0), "C=-1 must"),
    "C NaN": (dict(C=np.nan), "C=nan"),
    "C infinite": (dict(C=np.inf), "C=inf"),
    "C text": (dict(C="big"), "C='big'"),
    "C of another length": (dict(C=[1.0, 2.0, 3.0]), r"C has shape \(3,\)"),
    "C per point, negative": (dict(C=[1.0, -1.0]), "C=array with minimum -1 must be finite numbers >= 0"),
    "C as text": (dict(C="10"), "C='10' must be a number > 0"),
    "C of zeros": (dict(C=[0.0, 0.0]), "C=array of zeros"),
    "C_unlabeled = 0": (dict(C_unlabeled=0), "C_unlabeled=0"),
    "C_unlabeled unknown word": (dict(C_unlabeled="auto"), "C_unlabeled='auto'"),
    "balance out of range": (dict(balance=15.0), r"balance=15.0 must be None, 'labeled', a number c in \(-10, 10\)"),
    "balance NaN": (dict(balance=np.nan), "balance=nan"),
    "balance unknown word": (dict(balance="equal"), "balance='equal'"),
    "balance exact out of range": (dict(balance=("exact", 1.0)), r"balance=\('exact', 1.0\)"),
    "balance a flag": (dict(balance=True), "balance=True"),
    "kernel unknown": (dict(kernel="gauss"), "kernel='gauss' must be one of rbf, linear, poly, precomputed"),
    "kernel a number": (dict(kernel=3), "kernel=3"),
    "kernel matrix not square": (dict(kernel="precomputed"), r"X has shape \(4, 2\); a precomputed kernel"),
    "kernel matrix not PSD": (
        dict(X=np.kron(np.eye(2), NOT_PSD), kernel="precomputed"),
        "kernel matrix is not positive semidefinite: its least eigenvalue is -1",
    ),
    "kernel matrix not symmetric": (dict(X=np.triu(np.ones((4, 4))), kernel="precomputed"), "not symmetric"),
    "callable kernel not PSD": (dict(kernel=lambda A, B: -A @ B.T), "not positive semidefinite"),
    "callable kernel of wrong shape": (dict(kernel=lambda A, B: A), r"kernel returned shape \(4, 2\)"),
    "callable kernel with NaN": (dict(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)), "kernel returned NaN"),
    "sparse X with a callable": (dict(X=sp.csr_matrix(X), kernel=lambda A, B: A @ B.T), "X is sparse"),
    "sparse X precomputed": (dict(X=sp.eye(4, format="csr"), kernel="precomputed"), "X is sparse"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    arguments, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        ct.Problem(**{"X": X, "y": Y, **arguments})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (ct.RBF, "exactly one of sigma and gamma"),
        (lambda: ct.RBF(1.0, gamma=1.0), "exactly one of sigma and gamma"),
        (lambda: ct.RBF(0), "sigma=0"),
        (lambda: ct.RBF(gamma=-1), "gamma=-1"),
        (lambda: ct.Polynomial(0), "degree=0"),
        (lambda: ct.Polynomial(2.5), "degree=2.5"),
        (lambda: ct.Polynomial(2, 1.0, -1.0), "coef0=-1.0"),
        (lambda: ct.TransductiveSVC(gamma="big").fit(X, [0, 1, -1, -1]), "gamma='big'"),
        pytest.param(
            lambda: ct.TransductiveSVC(gamma=1.0, sigma=1.0).fit(X, [0, 1, -1, -1]),
            "exactly one of sigma and gamma",
            id="estimator-both",
        ),
    ],
)
def test_bad_kernel_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_balanced_costs_follow_collobert2006():
    problem = ct.Problem(X, Y, C=3.0)
    assert problem.cost[problem.unlabeled] == pytest.approx(3.0 * 2 / 2)
    assert ct.Problem(X, [1, -1, 1, 0], C=[1.0, 2.0, 6.0]).cost.tolist() == [1, 2, 6, 9]


def test_costs_are_taken_per_point():
    per_point = ct.Problem(X, Y, C=[1.0, 2.0, 9.0, 9.0], C_unlabeled=[9.0, 9.0, 3.0, 4.0])
    assert per_point.cost.tolist() == [1, 2, 3, 4]
    assert ct.Problem(X, Y, C=[1.0, 2.0], C_unlabeled=[3.0, 4.0]).cost.tolist() == [1, 2, 3, 4]


def test_balance_target():
    assert ct.Problem(X, [1, 1, -1, 0]).balance_target == pytest.approx(1 / 3)
    assert ct.Problem(X, Y, balance=0.2).balance_target == 0.2
    assert ct.Problem(X, Y, balance=None).balance_target is None
    exact = ct.Problem(X, Y, balance=("exact", 0.5))
    assert (exact.balance_target, exact.positive_count) == (0.0, 1)


def test_problem_cannot_be_changed():
    points = X.copy()
    problem = ct.Problem(points, Y)
    points[0, 0] = 99
    assert problem.X[0, 0] == 0
    with pytest.raises(AttributeError, match="cannot be changed"):
        problem.C = 2
    sparse = ct.Problem(sp.csr_matrix(X), Y)
    for array in (problem.X, problem.y, problem.cost, sparse.X.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_balance_may_be_about_a_sample():
    X, y = np.arange(12.0).reshape(6, 2), [1, -1, 0, 0, 0, 0]
    drawn = ct.Problem(X, y, balance_sample=2)
    assert set(drawn.balance_points) < set(drawn.unlabeled)
    assert len(drawn.balance_points) == 2
    given = drawn.replace(balance_sample=[5, 3])
    assert list(given.balance_points) == [3, 5]
    assert list(given.replace(C=2).balance_points) == [3, 5]
    assert list(drawn.replace(balance_sample=None).balance_points) == [2, 3, 4, 5]
    solution = ct.cccp(ct.cccp_tsvm(), given)
    assert solution.scores[[3, 5]].mean() == pytest.approx(given.balance_target)


@pytest.mark.parametrize("sample", [0, 5, True, 2.5, [], [[2]], [-1, 2], [2, 9], "all"])
def test_a_bad_sample_is_named(sample):
    with pytest.raises(ValueError, match="balance_sample"):
        ct.Problem(np.arange(12.0).reshape(6, 2), [1, -1, 0, 0, 0, 0], balance_sample=sample)


def test_replace_shares_points_and_keeps_the_rest():
    problem = ct.Problem(X, Y, kernel=ct.RBF(1.0), C=2.0, C_unlabeled=0.5, balance=0.1)
    gram = problem.gram
    other = problem.replace(balance=0.3)
    assert other.gram is gram
    assert other.cost.tolist() == problem.cost.tolist()
    assert other.balance_target == 0.3
    assert problem.replace(kernel="linear").is_linear
    balanced = ct.Problem(X, Y, C=2.0)
    assert balanced.replace(y=[1, -1, 1, 0]).cost.tolist() == [2, 2, 2, 6]
    assert balanced.replace(C=3.0).cost.tolist() == [3, 3, 3, 3]
    per_label = ct.Problem(X, Y, C=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"C has shape \(2,\)"):
        per_label.replace(y=[1, -1, 1, 0])
    assert problem.replace(y=-Y).y.tolist() == (-Y).tolist()
    with pytest.raises(ValueError, match="y has shape"):
        problem.replace(y=[1, -1])


def test_formulation_and_problem_must_fit():
    model = ct.cccp_tsvm()
    supervised = ct.Problem(X, [1, -1, 1, -1], C_unlabeled=None)
    with pytest.raises(ValueError, match="no unlabelled point"):
        model.on(supervised).step()
    with pytest.raises(ValueError, match="C_unlabeled=None"):
        model.on(ct.Problem(X, Y, C_unlabeled=None)).step()
    with pytest.raises(ValueError, match="balance=None in the problem"):
        model.on(ct.Problem(X, Y, balance=None)).step()
    with pytest.raises(ValueError, match="regularizer='l1' needs kernel='linear'"):
        ct.Formulation(ct.hinge(), regularizer="l1").on(ct.Problem(X, Y, kernel=ct.RBF(1.0))).step()
    with pytest.raises(ValueError, match="labeled=3"):
        ct.Formulation(3)
    with pytest.raises(ValueError, match="balance='exact'"):
        ct.Formulation(ct.hinge(), balance="exact")
    with pytest.raises(ValueError, match="regularizer='l3'"):
        ct.Formulation(ct.hinge(), regularizer="l3")


def test_kernels_are_scikit_learns():
    from sklearn.metrics import pairwise

    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    for kernel, expected in [
        (ct.Linear(), pairwise.linear_kernel(A, B)),
        (ct.RBF(2.0), pairwise.rbf_kernel(A, B, gamma=1 / 8)),
        (ct.Polynomial(2, 0.5, 1.0), pairwise.polynomial_kernel(A, B, degree=2, gamma=0.5, coef0=1)),
        (ct.kernels.CallableKernel(pairwise.laplacian_kernel), pairwise.laplacian_kernel(A, B)),
    ]:
        np.testing.assert_allclose(kernel(A, B), expected)
        np.testing.assert_allclose(kernel.diag(A), np.diag(kernel(A, A)))
        if kernel.accepts_sparse:
            np.testing.assert_allclose(kernel(sp.csr_matrix(A), sp.csr_matrix(B)), expected)
            np.testing.assert_allclose(kernel.diag(sp.csr_matrix(A)), kernel.diag(A))
    assert ct.RBF(gamma=0.5).sigma == pytest.approx(1.0)


@pytest.mark.parametrize("kernel", ["linear", ct.RBF(1.0)])
def test_kernel_matrix_applied_whole_or_in_blocks(kernel, monkeypatch):
    rng = np.random.default_rng(0)
    problem = ct.Problem(rng.standard_normal((30, 3)), np.resize([1, -1, 0], 30), kernel=kernel)
    vectors = rng.standard_normal((30, 2)) * (rng.random((30, 1)) < 0.5)
    expected = problem.kernel(problem.X, problem.X) @ vectors
    for most in (problem.n**2 * 8, 0):
        monkeypatch.setattr("convex_tsvm.problem.GRAM_BYTES", most)
        again = problem.replace()
        np.testing.assert_allclose(again.apply_kernel(vectors[:, 0]), expected[:, 0])
        np.testing.assert_allclose(again.apply_kernel(vectors), expected)
        _ = again.gram
        np.testing.assert_allclose(again.apply_kernel(vectors[:, 1]), expected[:, 1])
