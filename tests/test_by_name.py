"""Formulations by name: one place for the command line, the estimators and the documentation, and all on offer."""

import argparse
import inspect
import itertools
import json
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.cli.parser import build_parser
from convex_tsvm.formulations import FINITE_LOSSES, by_name
from convex_tsvm.table import DESCENTS, FORMULATIONS, METHODS, RELAXATIONS, SDP_SOLVERS, SOLVERS, Entry, Formulation

X = np.random.default_rng(0).normal(size=(16, 2)) + np.repeat([[-1.5, 0], [1.5, 0]], 8, axis=0)
Y = np.r_[-1, -1, np.zeros(6), np.zeros(6), 1, 1]
CLASSES = {
    "svm": ct.TransductiveSVC(C_unlabeled=None),
    "tsvm": ct.TransductiveSVC(),
    "cmm": ct.CompactMarginClassifier(),
    "rmm": ct.RelativeMarginClassifier(balance="labeled"),
    "lapsvm": ct.LaplacianSVC(),
    "laptsvm": ct.TransductiveSVC(C_manifold=1.0),
}


@pytest.mark.parametrize("name", CLASSES)
def test_estimators_minimize_what_is_built(name):
    """The formulation that an estimator solves has the value, at the estimator's outputs, that it says it has."""
    clf = CLASSES[name].set_params(kernel="rbf", sigma=1.0, C=10.0, unlabeled=0)
    if "balance" in clf.get_params() and name != "svm":
        clf.set_params(balance="labeled")
    if "method" in clf.get_params():
        clf.set_params(method="cccp")
    clf.fit(X, Y)
    problem = ct.Problem(X, Y, kernel=ct.RBF(1.0), C=10.0, C_unlabeled="tenth", balance="labeled")
    formulation, seen = ct.build(name, problem.replace(balance=None) if name == "svm" else problem)
    instance = ct.Instance(formulation, seen)
    solution = clf.solutions_[0]
    assert instance.objective(solution.scores, solution.regularization) == pytest.approx(clf.objective_, rel=1e-9)
    assert ct.cccp(formulation, seen).objective == pytest.approx(clf.objective_, rel=1e-3)


@pytest.mark.parametrize(("name", "estimator"), CLASSES.items())
def test_defaults_are_those_of_the_table(name, estimator):
    parameters = inspect.signature(type(estimator)).parameters
    for option, default in FORMULATIONS[name].defaults.items():
        method_decides = option == "loss"  # "auto": the loss that the method is known by
        off_by_default = name == "laptsvm" and option == "C_manifold"
        if option in parameters and not method_decides and not off_by_default:
            assert parameters[option].default == default, option


def test_what_is_no_option_is_named():
    problem = ct.Problem(X, Y)
    with pytest.raises(ValueError, match="name='tsmv' must be 'svm', 'tsvm'"):
        ct.build("tsmv", problem)
    with pytest.raises(ValueError, match="epsilon=2 is no option of the formulation tsvm, which takes loss, s"):
        ct.build("tsvm", problem, epsilon=2)
    with pytest.raises(ValueError, match="C_compact='half' must be a number > 0, inf or 'balanced'"):
        ct.build("rmm", problem, C_compact="half")
    with pytest.raises(ValueError, match="takes none"):
        ct.build("cs3vm", problem, s=0.0)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    np.savez(folder / "tiny.npz", X=X, y=np.repeat([-1, 1], 8), labeled=np.flatnonzero(Y)[None])
    dump_svmlight_file(X, Y, str(folder / "tiny.svm"), zero_based=False)
    return folder


def choices(command, option):
    """What ``--help`` of a command offers for an option."""
    (commands,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return next(a.choices for a in commands.choices[command]._actions if option in a.option_strings)


def run(capsys, *arguments):
    """Exit status, output, and what is said on standard error, which is never a traceback."""
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return status, captured.out, captured.err


def kernel_of(name):
    return ["--kernel", "linear"] if "cs3vm" in name or name == "linearization" else ["--sigma", "1"]


#: What knows no balance; linearization is tried on the formulation cs3vm.
UNBALANCED = {name for name, entry in FORMULATIONS.items() if not entry.is_balanced} | {"linearization"}
UNBALANCED |= {name for name, entry in METHODS.items() if not entry.has_bias}


@pytest.mark.parametrize("name", choices("solve", "--method"))
def test_every_method_and_solver_of_solve_works_or_is_refused(name, tiny, capsys):
    """To the files that it writes: a model that predicts the labels written."""
    labels, model = tiny / f"{name}.csv", tiny / f"{name}.model"
    formulation = ["--formulation", "cs3vm"] if name == "linearization" else []
    for solver in choices("solve", "--solver"):
        arguments = ["solve", tiny / "tiny.npz", "--method", name, *formulation, *kernel_of(name)]
        if solver != "auto":
            arguments += ["--solver", solver]
            arguments += [] if name in UNBALANCED else ["--balance", "labeled"]  # shares are inferred once
        status, _, err = run(capsys, *arguments, "--labels-out", labels, "--save", model, "--json")
        assert status in (0, 2), err
        if status == 2:
            assert solver != "auto"
            assert "solver=" in err
            continue
        assert len(labels.read_text().splitlines()) == len(X) + 1
        status, _, err = run(capsys, "predict", model, tiny / "tiny.npz", "--json")
        assert status == 0, err


@pytest.mark.parametrize(("method", "loss"), list(itertools.product(choices("linear", "--method"), FINITE_LOSSES)))
def test_every_method_and_loss_of_linear_works_or_is_refused(method, loss, tiny, capsys):
    labels, model = tiny / "linear.csv", tiny / "linear.model"
    for path in (labels, model):
        path.unlink(missing_ok=True)
    arguments = ["linear", tiny / "tiny.svm", "--method", method, "--loss", loss, "--json"]
    if loss != METHODS[method].loss:
        arguments += ["--positive-fraction", "0.4"]  # shares are inferred once for each method
    status, _, err = run(capsys, *arguments, "--labels-out", labels, "--save", model)
    assert status in (0, 2), err
    if status == 2:
        assert "loss=" in err  # with the losses that are allowed
        return
    assert len(labels.read_text().splitlines()) == len(X) + 1
    assert run(capsys, "predict", model, tiny / "tiny.svm", "--json")[0] == 0


@pytest.mark.parametrize("relaxation", choices("bound", "--relaxation"))
def test_every_relaxation_and_solver_of_bound_works_or_is_refused(relaxation, tiny, capsys):
    kernel = ["--kernel", "linear"] if relaxation == "weights" else ["--sigma", "1"]
    arguments = ["bound", tiny / "tiny.npz", *kernel, "--loss", "squared_hinge", "--relaxation", relaxation]
    takes = ("solver", "max_rounds") if relaxation == "auto" else RELAXATIONS[relaxation].load().takes
    own = ["--rounds", "1"] if "max_rounds" in takes else []
    # Shares are inferred once, without a solver.
    runs = [own, *([*own, "--balance", "labeled", "--solver", solver] for solver in choices("bound", "--solver"))]
    for options in runs:
        status, _, err = run(capsys, *arguments, *options, "--json")
        if "--solver" in options and "solver" not in takes:
            assert status == 2
            assert "(--solver) is for --relaxation sdp" in err
        elif "sdpa" in options and find_spec("sdpap") is None:
            assert status == 2
            assert "solver='sdpa' is not installed" in err
        else:
            assert status in (0, 1), err  # 1: the rounds were over before the gap was closed


@pytest.mark.parametrize("name", choices("verify", "--method"))
def test_every_derivation_of_verify_holds(name, tiny, capsys):
    status, _, err = run(capsys, "verify", tiny / "tiny.npz", *kernel_of(name), "--method", name, "--json")
    assert status == 0, err


def test_help_offers_what_the_table_has():
    assert set(choices("solve", "--solver")) == {"auto", *SOLVERS}
    assert set(choices("solve", "--method")) == {*METHODS, *FORMULATIONS} - {"tsvm"}
    assert set(choices("linear", "--method")) == set(DESCENTS)
    assert set(choices("bound", "--relaxation")) == {"auto", *RELAXATIONS}
    assert set(choices("bound", "--solver")) == {"auto", *SDP_SOLVERS}


def test_a_formulation_is_its_function_and_one_line_of_the_table(tiny, monkeypatch, capsys):
    """The command line takes a balance, a cost and its own options for it, and names it where it refuses others."""

    def clipped(problem, cap, fit_intercept):
        loss = ct.losses.symmetric_squared_hinge().minimum(cap)
        formulation = ct.Formulation(ct.squared_hinge(), loss, fit_intercept=fit_intercept)
        return by_name.Stated(formulation.balanced_as(problem), problem)

    monkeypatch.setattr(by_name, "_clipped", clipped, raising=False)
    entry = Formulation("formulations.by_name:_clipped", "clipped", defaults={"cap": 0.5, "fit_intercept": True})
    monkeypatch.setitem(FORMULATIONS, "clipped", entry)
    asked = ["--sigma", "1", "--balance", "0.1", "--C-unlabeled", "2", "--json"]
    problem = ct.Problem(X, Y, kernel=ct.RBF(1.0), C=10, C_unlabeled=2, balance=0.1)
    for cap in (0.5, 0.25):
        options = [] if cap == 0.5 else ["--formulation-option", "cap=0.25"]
        status, out, err = run(capsys, "solve", tiny / "tiny.npz", "--formulation", "clipped", *asked, *options)
        assert status == 0, err
        found = json.loads(out)["objective"]
        assert found == pytest.approx(ct.cccp(*ct.build("clipped", problem, cap=cap)).objective, rel=1e-3)
    assert run(capsys, "verify", tiny / "tiny.npz", "--method", "clipped", "--sigma", "1", "--json")[0] == 0
    status, _, err = run(capsys, "solve", tiny / "tiny.npz", "--formulation", "clipped", "--epsilon", "1")
    assert status == 2
    assert "not for cccp with --formulation clipped" in err


def test_a_relaxation_says_itself_which_options_it_looks_at(tiny, monkeypatch, capsys):
    class Plain(RELAXATIONS["svm"].load()):
        """One that looks at no option."""

    monkeypatch.setattr(ct.relaxations, "Plain", Plain, raising=False)
    monkeypatch.setitem(RELAXATIONS, "plain", Entry("relaxations:Plain", "nothing more"))
    arguments = ["bound", tiny / "tiny.npz", "--sigma", "1", "--loss", "hinge", "--relaxation", "plain"]
    for option, value in (("--solver", "scs"), ("--rounds", "2")):
        status, _, err = run(capsys, *arguments, option, value)
        assert status == 2
        assert "not for --relaxation plain" in err
    Plain.takes = ("solver",)
    assert run(capsys, *arguments, "--solver", "clarabel", "--json")[0] in (0, 1)
