"""Ctrl-C ends what the user has started, and leaves what there is; by real signals."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GridSearchCV, cross_val_score

import convex_tsvm as ct
from convex_tsvm.methods.run import Run
from convex_tsvm.selection.fits import Group, PlainFits, SharedFits
from convex_tsvm.solvers.dual.small import BalancedProblem


@pytest.fixture(autouse=True)
def heard():
    """A shell's background processes are born deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def moons(n, n_labeled=20, seed=0):
    """Two moons that overlap, with few labels."""
    random = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = np.column_stack([np.cos(np.pi * random.random(n)), random.random(n)]) + truth[:, None]
    X += random.normal(scale=0.6, size=(n, 2))
    y = np.full(n, -1)
    y[:n_labeled] = truth[:n_labeled]
    return X, y, truth


def interrupting(monkeypatch, owner, name, k):
    """Ctrl-C comes with the k-th call of something; how often it is called is in the list that is returned."""
    function, calls = getattr(owner, name), []

    def called(*arguments, **options):
        calls.append(arguments)
        if len(calls) == k:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **options)

    monkeypatch.setattr(owner, name, called)
    return calls


#: What a program needs that is interrupted from outside.
BEGIN = """
import os, signal, sys, threading
import numpy as np
import convex_tsvm as ct
sys.path.insert(0, {folder!r})
from test_interruption import moons

signal.signal(signal.SIGINT, signal.default_int_handler)

def begun():
    print("begun", flush=True)
"""


def interrupted(code, group=False):
    """What a program prints that gets Ctrl-C as soon as it has printed "begun"."""
    program = BEGIN.format(folder=os.path.dirname(__file__)) + textwrap.dedent(code)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout.readline() == "begun\n"
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        return process.communicate(timeout=60)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "estimator",
    [
        ct.TransductiveSVC(balance="labeled"),
        ct.TransductiveSVC(method="switching", loss="hinge", balance="labeled"),
        ct.TransductiveSVC(balance=("exact", 0.3)),
        ct.LinearTransductiveSVC(positive_fraction="labeled"),
        ct.SafeTransductiveSVC(balance="labeled"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_keeps_its_best_and_raises(estimator, monkeypatch):
    X, y, _ = moons(60)
    calls = interrupting(monkeypatch, Run, "solve", 4)
    with pytest.raises(KeyboardInterrupt, match="holds the best that it has found"):
        estimator.fit(X, y)
    assert len(calls) == 4
    assert estimator.status_ == "interrupted"
    assert np.isin(estimator.predict(X), [0, 1]).all()
    np.testing.assert_array_equal(estimator.transduction_[:20], y[:20])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_exact_search_keeps_its_best_and_raises(monkeypatch):
    X, y, _ = moons(100)
    interrupting(monkeypatch, ct.exact.BranchAndBound, "step", 1)
    clf = ct.ExactTransductiveSVC(C=100)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.status_ == "interrupted"
    assert clf.lower_bound_ <= clf.objective_


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_before_the_shares_are_known_there_is_nothing_to_keep(monkeypatch):
    X, y, _ = moons(60)
    interrupting(monkeypatch, BalancedProblem, "outputs", 4)
    ct.methods.shares._kept.clear()
    clf = ct.TransductiveSVC()
    with pytest.raises(KeyboardInterrupt, match="shares of the classes were not known yet"):
        clf.fit(X, y)
    assert not hasattr(clf, "model_")


@pytest.mark.parametrize(
    "estimator", [ct.TransductiveSVC(balance="labeled"), ct.SafeTransductiveSVC(balance="labeled")], ids=str
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_class_too_few_is_no_classifier(estimator, monkeypatch):
    X, y, _ = moons(60)
    y[:9] = np.resize([0, 1, 2], 9)
    interrupting(monkeypatch, Run, "solve", 3)
    with pytest.raises(KeyboardInterrupt, match="had been learned: nothing is kept"):
        estimator.fit(X, y)
    assert not hasattr(estimator, "model_")


def test_functions_return_their_best_with_a_warning(monkeypatch):
    X, y, _ = moons(60)
    problem = ct.Problem(X, np.where(y < 0, 0, 2 * y - 1), kernel="rbf")
    interrupting(monkeypatch, Run, "solve", 4)
    with pytest.warns(UserWarning, match="interrupted"):
        assert ct.safe_transduction(ct.s3vm(), problem).status == "interrupted"
    interrupting(monkeypatch, ct.exact.BranchAndBound, "step", 1)
    with pytest.warns(UserWarning, match="interrupted"):
        assert ct.exact_search(ct.s3vm(), problem).status == "interrupted"


LOOPS = {
    "cross_val_score": lambda X, y, truth: cross_val_score(ct.TransductiveSVC(), X, y, cv=ct.selection.LabeledKFold(5)),
    "GridSearchCV": lambda X, y, truth: GridSearchCV(
        ct.TransductiveSVC(), {"C": [1, 10, 100]}, cv=ct.selection.LabeledKFold(5)
    ).fit(X, y),
    "CalibratedTransduction": lambda X, y, truth: ct.CalibratedTransduction(ct.TransductiveSVC()).fit(X, y),
    "compare_supervised": lambda X, y, truth: ct.selection.compare_supervised(ct.TransductiveSVC(), X, y),
    "TransductiveSearchCV": lambda X, y, truth: ct.TransductiveSearchCV().fit(X, y),
    "learning_curve": lambda X, y, truth: ct.selection.learning_curve(ct.TransductiveSVC(), X, truth, n_labeled=(10,)),
}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_loop_ends(loop, k, monkeypatch):
    """The interruption of its first fit, which has a point to keep or none yet, is that of the loop."""
    calls = interrupting(monkeypatch, Run, "solve", k)
    with pytest.raises(KeyboardInterrupt):
        LOOPS[loop](*moons(60))
    assert len(calls) == k


def test_a_learning_curve_has_the_draws_that_were_done(monkeypatch):
    X, _, truth = moons(60)
    interrupting(monkeypatch, ct.TransductiveSVC, "fit", 10)  # two numbers of labels, two fits each: the third draw
    with pytest.warns(UserWarning, match="2 of 9 draws"):
        curve = ct.selection.learning_curve(ct.TransductiveSVC(), X, truth, n_labeled=(4, 10), n_draws=9)
    assert curve.status == "interrupted"
    assert curve.errors.shape == curve.supervised_errors.shape == (2, 2)


def test_a_search_holds_the_best_of_the_candidates_that_were_done(monkeypatch):
    X, y, _ = moons(60)
    scores, calls = Group.scores, []

    def counted(self, fold, which):
        calls.append(fold)
        if calls.count(2) == 3:
            signal.raise_signal(signal.SIGINT)
        return scores(self, fold, which)

    monkeypatch.setattr(Group, "scores", counted)
    search = ct.TransductiveSearchCV(cv=3, prune=False)
    with (
        pytest.warns(UserWarning, match="candidates had seen all folds"),
        pytest.raises(KeyboardInterrupt, match="the search holds the best"),
    ):
        search.fit(X, y)
    done = ~np.isnan([search.cv_results_[f"split{f}_test_score"] for f in range(3)]).any(axis=0)
    assert 0 < done.sum() < len(done)
    assert search.best_score_ == search.cv_results_["mean_test_score"][done].max()
    assert done[search.best_index_]
    assert (search.status_, search.best_estimator_.status_) == ("interrupted", "converged")
    assert np.isin(search.predict(X), [0, 1]).all()


@pytest.mark.parametrize(
    "estimator", [ct.TransductiveSVC(), ct.LinearTransductiveSVC(positive_fraction="labeled")], ids=str
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_whose_last_fit_is_interrupted_holds_its_best(estimator, monkeypatch):
    X, y, _ = moons(60)
    search = ct.TransductiveSearchCV(estimator, {"C": [1.0]}, cv=2)
    for fits in (SharedFits, PlainFits):

        def begin(self, i, finish=fits.finish, **options):
            interrupting(monkeypatch, Run, "solve", 2)
            finish(self, i, **options)

        monkeypatch.setattr(fits, "finish", begin)
    with pytest.raises(KeyboardInterrupt, match="holds the best that it has found"):
        search.fit(X, y)
    assert search.status_ == search.best_estimator_.status_ == "interrupted"
    assert search.predict(X).shape == (60,)


def test_a_loop_of_jobs_ends():
    """At a terminal Ctrl-C is sent to all processes."""
    out = interrupted(
        """
        X, _, truth = moons(3000)
        threading.Timer(2.0, begun).start()
        try:
            curve = ct.selection.learning_curve(ct.TransductiveSVC(C=1000), X, truth, n_draws=1000, n_jobs=2)
            print(curve.status)
        except KeyboardInterrupt:
            print("interrupted")
        """,
        group=True,
    )
    assert out == "interrupted\n"


def test_a_factorization_is_not_waited_for():
    """The eigenvectors of a kernel matrix take long, and no solver is there yet that could end before its end."""
    out = interrupted(
        """
        X, y, truth = moons(1500)
        eigh = np.linalg.eigh
        def reported(K):
            begun()
            found = eigh(K)
            print("done", flush=True)
            return found
        np.linalg.eigh = reported
        try:
            ct.TransductiveSVC(method="gradient", loss="exp").fit(X, y)
        except KeyboardInterrupt:
            print("ended", flush=True)
            os._exit(0)
        """
    )
    assert out == "ended\n"


def test_a_solver_of_others_is_interrupted():
    """It runs compiled code for seconds."""
    out = interrupted(
        """
        from convex_tsvm.modeling import label_matrix
        X, y, _ = moons(90)
        backend = label_matrix.solve_by
        def reported(*arguments):
            threading.Timer(0.3, begun).start()
            backend(*arguments)
            print("done", flush=True)
        label_matrix.solve_by = reported
        clf = ct.SDPTransduction(sigma=0.3, loss="squared_hinge", solver="clarabel")
        try:
            clf.fit(X, y)
        except KeyboardInterrupt:
            print(clf.status_, flush=True)
            os._exit(0)
        """
    )
    assert out.splitlines()[-1] == "interrupted"
    assert "done" not in out


def test_the_command_line_writes_the_best_so_far(tmp_path, monkeypatch, capsys):
    from convex_tsvm.cli import main

    X, y, _ = moons(60)
    dump_svmlight_file(X, np.where(y < 0, 0, 2 * y - 1), str(tmp_path / "points.svm"), zero_based=False)
    interrupting(monkeypatch, Run, "solve", 4)
    arguments = ["linear", str(tmp_path / "points.svm"), "-R", "0.5", "--labels-out", str(tmp_path / "labels.csv")]
    assert main(arguments) == 1
    assert capsys.readouterr().err == "convex-tsvm: warning: interrupted: the best point so far is returned\n"
    assert len((tmp_path / "labels.csv").read_text().split()) >= 60
