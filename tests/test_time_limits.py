"""Limits on time: a clock that is moved on shows what is left when time is up, whatever a machine's speed is."""

import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone
from test_interruption import moons

import convex_tsvm as ct
from convex_tsvm import deadline
from convex_tsvm.methods.cccp import supervised_svms
from convex_tsvm.methods.run import Run

#: Seconds that a clock is moved on by.
LONG = 1000.0


class Clock:
    """Stands in for the module ``time``: reads the time, and can be moved on."""

    def __init__(self):
        self.ahead = 0.0

    def time(self):
        return time.time() + self.ahead


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(deadline, "time", clock)
    return clock


def passing(monkeypatch, clock, owner, name, k):
    """Time passes after the k-th call of something, and after every one that follows."""
    function, calls = getattr(owner, name), []

    def called(*arguments, **options):
        found = function(*arguments, **options)
        calls.append(arguments)
        if len(calls) >= k:
            clock.ahead += LONG
        return found

    monkeypatch.setattr(owner, name, called)
    return calls


ESTIMATORS = [
    ct.TransductiveSVC(),
    ct.TransductiveSVC(solver="cvxpy"),
    ct.TransductiveSVC(balance=("exact", 0.5)),
    ct.TransductiveSVC(method="switching", loss="hinge"),
    ct.TransductiveSVC(method="annealing", loss="squared_hinge"),
    ct.TransductiveSVC(method="linearization", loss="squared_hinge"),
    ct.TransductiveSVC(method="gradient", loss="exp"),
    ct.TransductiveSVC(method="gradient", loss="hinge"),
    ct.TransductiveSVC(method="continuation", loss="exp"),
    ct.TransductiveSVC(method="newton", loss="flat"),
    ct.LinearTransductiveSVC(),
    ct.LinearTransductiveSVC(method="gradient", loss="exp"),
    ct.CompactMarginClassifier(),
    ct.RelativeMarginClassifier(),
    ct.SafeTransductiveSVC(),
    ct.SDPTransduction(),
    ct.SubspaceSDPTransduction(sigma=1.0),
    ct.LaplacianSVC(),
    ct.ExactTransductiveSVC(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_least_is_a_classifier(estimator):
    """A limit that has passed before anything is done: every class has a function, and labelled points their labels."""
    X, y, _ = moons(60, 24)
    y[:24] = np.where(X[:24, 0] > np.quantile(X[:24, 0], 0.66), 2, y[:24])
    clf = clone(estimator).set_params(time_limit=1e-9)
    if isinstance(getattr(clf, "balance", None), tuple):
        y = np.where(y == 2, 1, y)
    clf.fit(X, y)
    assert clf.status_ in ("time_limit", "converged")
    assert np.isfinite(clf.decision_function(X)).all()
    np.testing.assert_array_equal(clf.transduction_[:24], y[:24])
    assert clf.status_ == "time_limit" or isinstance(clf, ct.RelativeMarginClassifier | ct.SubspaceSDPTransduction)


@pytest.mark.parametrize("method", ["cccp", "gradient", "newton"])
def test_without_a_step_it_is_the_supervised_svm(method):
    X, y, _ = moons(60)
    loss = {"cccp": "ramp", "gradient": "exp", "newton": "flat"}[method]
    clf = ct.TransductiveSVC(method=method, loss=loss, time_limit=1e-9, balance=None, tol=1e-6)
    with pytest.warns(UserWarning, match="time_limit: the best point so far"):
        clf.fit(X, y)
    alone = supervised_svms(clf.solutions_[0].formulation, [clf.solutions_[0].problem])[0]
    np.testing.assert_allclose(clf.transduction_scores_, alone.scores, atol=1e-2)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_best_step_is_kept(clock, monkeypatch):
    X, y, _ = moons(60)
    calls = passing(monkeypatch, clock, Run, "record", 2)
    options = {"method": "switching", "loss": "hinge", "balance": "labeled"}
    clf = ct.TransductiveSVC(**options, time_limit=LONG / 2).fit(X, y)
    assert (clf.status_, len(calls), clf.n_iter_) == ("time_limit", 2, 2)
    whole = ct.TransductiveSVC(**options, time_limit=1e6 * LONG).fit(X, y)
    assert (whole.status_, whole.n_iter_ > 2) == ("converged", True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_class_has_its_share(n_jobs):
    """One class takes all the time that it is given; the others have theirs, also in other processes."""
    X, y, _ = moons(90)
    y[:12] = np.resize([0, 1, 2, 3], 12)
    clf = ct.TransductiveSVC(time_limit=1e-9, n_jobs=n_jobs).fit(X, y)
    assert [one.status for one in clf.solutions_] == ["time_limit"] * 4
    assert clf.transduction_scores_.shape == (90, 4)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_left_is_divided(clock, monkeypatch):
    X, y, _ = moons(90)
    y[:12] = np.resize([0, 1, 2, 3], 12)
    left, guarded = [], Run.guarded

    def noted(self):
        left.append(deadline.time_left())
        clock.ahead += LONG
        return guarded(self)

    monkeypatch.setattr(Run, "guarded", noted)
    clf = ct.TransductiveSVC(balance="labeled", multi_class="ovr", time_limit=8 * LONG).fit(X, y)
    # A quarter of 8 for the first, which takes 1; then a third of 7, half of 6, and all of the last 5.
    np.testing.assert_allclose(np.array(left[:4]) / LONG, [2, 7 / 3, 3, 5], atol=0.1)
    assert clf.status_ == "converged"


@pytest.mark.parametrize(
    ("function", "formulation"),
    [
        (ct.cccp, ct.cccp_tsvm()),
        (ct.switching, ct.tsvm("hinge")),
        (ct.annealing, ct.tsvm("squared_hinge")),
        (ct.gradient, ct.tsvm("exp")),
        (ct.continuation, ct.tsvm("exp")),
        (ct.newton, ct.tsvm("flat")),
        (ct.linearization, ct.cs3vm()),
    ],
)
def test_functions_take_a_limit(function, formulation):
    X, y, _ = moons(40)
    problem = ct.Problem(X, np.where(y < 0, 0, 2 * y - 1))
    with pytest.warns(UserWarning, match="time_limit: the best point so far"):
        solution = function(formulation, problem, time_limit=1e-9)
    assert solution.status == "time_limit"
    assert np.isfinite(solution.objective)
    assert function(formulation, problem, time_limit=1e6).status == "converged"
    with pytest.raises(ValueError, match="time_limit=-1"):
        function(formulation, problem, time_limit=-1)


def test_a_path_has_a_solution_of_every_problem():
    X, y, _ = moons(40)
    problem = ct.Problem(X, np.where(y < 0, 0, 2 * y - 1))
    with pytest.warns(UserWarning, match="time_limit"):
        path = ct.methods.cccp_path(ct.cccp_tsvm(), [problem, problem.replace(C=2.0)], time_limit=1e-9)
    assert [one.status for one in path] == ["time_limit"] * 2


def test_an_exact_search_ends_with_what_it_is_a_part_of():
    X, y, _ = moons(100)
    problem = ct.Problem(X, np.where(y < 0, 0, 2 * y - 1), kernel="rbf", C=100)
    with deadline.until(time.time() - 1):
        found = ct.exact_search(ct.s3vm(), problem, max_nodes=50)
    assert found.status == "time_limit"
    assert found.lower_bound <= found.objective


@pytest.mark.parametrize("time_limit", [0, -1.0, np.nan])
def test_no_such_limit(time_limit):
    X, y, _ = moons(40)
    for clf in (ct.TransductiveSVC(), ct.LinearTransductiveSVC(), ct.ExactTransductiveSVC(), ct.TransductiveSearchCV()):
        with pytest.raises(ValueError, match="time_limit="):
            clf.set_params(time_limit=time_limit).fit(X, y)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("estimator", [ct.TransductiveSVC(), ct.LinearTransductiveSVC()], ids=str)
def test_a_search_with_no_time_fits_its_first_candidate(estimator, n_jobs):
    X, y, _ = moons(40)
    search = ct.TransductiveSearchCV(estimator, {"C": [3.0, 5.0]}, cv=2, time_limit=1e-9, n_jobs=n_jobs)
    with pytest.warns(UserWarning, match="time_limit: 0 of 2 candidates had seen all folds"):
        search.fit(X, y)
    assert search.status_ == "time_limit"
    assert search.best_params_ == {"C": 3.0}
    assert search.predict(X).shape == (40,)


def test_a_search_takes_the_best_of_what_it_has_seen(clock, monkeypatch):
    from convex_tsvm.selection.fits import Group

    X, y, _ = moons(60)
    passing(monkeypatch, clock, Group, "scores", 5)
    search = ct.TransductiveSearchCV(
        param_grid={"sigma": [0.01, 0.3, 1.0, 2.0]}, cv=3, prune=False, time_limit=3 * LONG
    )
    with pytest.warns(UserWarning, match="time_limit: . of 4 candidates had seen all folds"):
        search.fit(X, y)
    seen = search.cv_results_["n_splits"] == 3
    assert 0 < seen.sum() < 4
    assert search.best_score_ == search.cv_results_["mean_test_score"][seen].max()
    assert (search.status_, search.best_estimator_.status_) == ("time_limit", "time_limit")


def test_a_search_gives_up_an_inverse_that_there_is_no_time_for(monkeypatch):
    """The relaxation is then the SVM, and the search ends with the status of its limit."""
    from convex_tsvm.relaxations import quadratic_program

    asked = []

    def is_up():
        asked.append(1)
        return len(asked) > 2

    monkeypatch.setattr(quadratic_program, "COLUMNS_AT_ONCE", 5)
    monkeypatch.setattr(quadratic_program, "time_is_up", is_up)
    X = np.random.default_rng(0).normal(size=(30, 2))
    problem = ct.Problem(X, np.where(np.arange(30) < 6, np.resize([1, -1], 30), 0), kernel=ct.RBF(1.0))
    search = ct.exact.BranchAndBound(ct.s3vm(), problem, time_limit=60.0, max_nodes=3)
    assert search.builder.relaxation == "svm"
    assert len(asked) == 3
    assert search.run().lower_bound <= search.state.objective


def test_a_program_waits_for_compiled_work_that_it_left_behind():
    """Left to itself it was cut off in the middle, which brought the program down with a segmentation fault."""
    program = (
        "import time, numpy as np\n"
        "from convex_tsvm.deadline import TimeIsUp, in_background, until\n"
        "def work():\n"
        "    np.linalg.eigh(np.eye(700) + 1e-3)\n"
        "    print('ended', flush=True)\n"
        "try:\n"
        "    with until(time.time() + 0.01):\n"
        "        in_background(work)\n"
        "except TimeIsUp:\n"
        "    print('left', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["left", "ended"])
