"""Errors: each names the argument, its value, and what is allowed in its place."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.cli.options import read_task
from convex_tsvm.data import load_classes
from convex_tsvm.decision import DecisionFunctions
from convex_tsvm.estimators.labels import marker_of
from convex_tsvm.instance.labelling import SideInformation
from convex_tsvm.kernels.functions import kernel_from_dict
from convex_tsvm.losses.pieces import WeightedSums
from convex_tsvm.losses.smooth import annealed
from convex_tsvm.methods.balance import search_balance
from convex_tsvm.methods.cccp import CCCP
from convex_tsvm.methods.gradient import Gradient
from convex_tsvm.methods.online import OnlineDescent
from convex_tsvm.methods.spectral import spectral_subspace
from convex_tsvm.points import DensePoints
from convex_tsvm.points.memory_mapped import read_blocks
from convex_tsvm.relaxations import LabelModel, OutputModel
from convex_tsvm.selection.splits import Judge
from convex_tsvm.solvers.smooth import SmoothSolver

X = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1]])
Y = np.array([-1.0, 0, 0, 0, 0, 1])


def line(**options):
    """Six points on a line, of which the ends are labelled."""
    return ct.Problem(X, Y, **options)


def refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def identified(cases):
    """Cases as pytest parametrizes over them, with what they are about as their ids."""
    return [pytest.param(*case, id=name) for name, case in cases.items()]


LOSSES = {
    "factor": (lambda: ct.hinge() * np.inf, "factor=inf: a PLQ function is scaled by a finite number"),
    "factor a word": (lambda: ct.hinge() * "2", "factor='2': a PLQ function is scaled by a finite number"),
    "negative factor": (
        lambda: -1 * ct.hinge().conjugate(),
        r"factor=-1.* must be at least 0 for a function that is \+inf somewhere",
    ),
    "sum": (
        lambda: ct.losses.PLQ([], [[0, 0, 0]], (0, 1)) + ct.losses.PLQ([], [[0, 0, 0]], (2, 3)),
        "the domains .*0.*1.*2.*3.* have no point in common",
    ),
    "weighted sum": (
        lambda: WeightedSums(
            [ct.losses.PLQ([], [[0, 0, 0]], (0, 1)), ct.losses.PLQ([], [[0, 0, 0]], (2, 3))], [[1.0, 1.0]]
        ),
        "the domains .*0.*1.*2.*3.* have no interval in common",
    ),
    "difference": (
        lambda: ct.losses.DCLoss(ct.hinge(), ct.hinge()),
        "concave=.* must be a concave PLQ function, finite",
    ),
    "annealed": (lambda: annealed("ramp", 1.0), "loss='ramp' must be a PLQ function, finite everywhere"),
    "annealed beyond its domain": (
        lambda: annealed(ct.hinge().conjugate(), 1.0),
        "loss=.* must be a PLQ function, finite everywhere",
    ),
}


KERNELS = {
    "saved kernel": (
        lambda: kernel_from_dict({"name": "sigmoid"}),
        "'sigmoid' must be 'linear', 'rbf', 'poly' or 'precomputed'",
    ),
    "gram matrix": (lambda: ct.kernels.cluster_kernel(np.diag([1.0, np.nan])), "contains NaN or infinity"),
    "overflow": (
        lambda: ct.Problem(1e200 * X, Y, kernel=ct.Polynomial(degree=3, gamma=1.0)).gram,
        "kernel=.* overflows at these points; scale them",
    ),
    "weights": (
        lambda: ct.cccp(ct.cccp_tsvm(), line(kernel=ct.RBF(1.0), C=10)).function.weights,
        "weights exist for kernel='linear' only",
    ),
    "no coefficients": (
        lambda: DecisionFunctions.on(line(), None, np.zeros(1)),
        "coefficients or weights must be given",
    ),
    "points of products": (
        lambda: ct.cccp(ct.cccp_tsvm(), line(kernel=ct.RBF(1.0), C=10)).decision_function(DensePoints(X)),
        "points that are known by products alone need kernel='linear'",
    ),
    "neighbours of a matrix": (
        lambda: ct.spectral_transduction(
            ct.s3vm(), ct.Problem(X @ X.T, Y, kernel="precomputed"), affinity="nearest_neighbors"
        ),
        "affinity='nearest_neighbors' needs points, but the kernel is precomputed",
    ),
}


def without_pieces():
    """A loss that is neither made of pieces nor convex."""
    return ct.losses.DCLoss(ct.squared_hinge(), ct.losses.SmoothConcave(lambda t: -np.cosh(t), lambda t: -np.sinh(t)))


def grouped(points, loss=None):
    """A formulation in which some points pay a loss of their own."""
    group = ct.PointGroup(points, ct.losses.tube(0.1) if loss is None else loss, 1.0)
    return ct.Formulation(ct.hinge(), ct.symmetric_hinge(), groups=[group])


class Bend:
    """A concave part that knows its slopes and no more."""

    def __call__(self, t):
        return -np.square(t)

    def supergradient(self, t):
        return -2.0 * np.asarray(t)


FORMULATIONS = {
    "no point to constrain": (
        lambda: ct.mean_output(0.0).coefficients(ct.Problem(X, np.sign(X[:, 0]), C_unlabeled=None)),
        r"mean output \(unlabeled\): the problem has no unlabeled point",
    ),
    "all in groups": (
        lambda: ct.cccp(grouped([1, 2, 3, 4]), line()),
        "balance: all unlabelled points are in groups, which a balance does not count; use None",
    ),
    "a link to nowhere": (
        lambda: SideInformation.of(Y, [ct.must_link(1, 6)]),
        "6 is not the index of a point, from 0 to 5",
    ),
    "labels of a nonconvex loss": (
        lambda: ct.Instance(ct.Formulation(ct.ramp(-0.3), ct.symmetric_ramp(-0.3)), line()).svm(np.sign(X[:, 0])),
        "labeled=.* must be convex: its SVM for given labels is the problem to be solved",
    ),
    "no curvature": (
        lambda: ct.losses.DCLoss(ct.squared_hinge(), Bend()).curvature([0.0]),
        "dc loss: its concave part has no curvature, which Newton steps need",
    ),
}


def alone(loss):
    """A formulation without a bias and a balance."""
    return ct.tsvm(loss, balance=None, fit_intercept=False)


class Endless(ct.Method):
    """A method that does not say how it has ended."""

    def descend(self, run):
        run.record(run.envelope())


METHODS_ASKED = {
    "no method": (lambda: ct.minimize("exact", ct.tsvm(), line()), "method='exact' must be 'cccp', .*, or a Method"),
    "a method that returns no status": (
        lambda: ct.minimize(Endless(), ct.tsvm(), line()),
        r"Endless.descend\(run\)=None must be 'converged', 'max_iter', 'inaccurate', ",
    ),
    "solver of steps": (
        lambda: ct.minimize(Gradient(), ct.tsvm("exp"), line(), solver=ct.solvers.NativeSolver(line())),
        "solver=.* solves convex steps; this method takes solver='smooth'",
    ),
    "another problem": (
        lambda: SmoothSolver(line()).primal(ct.Instance(ct.tsvm("exp"), ct.Problem(2 * X, Y))),
        r"the solver was made for Problem\(.*not for Problem\(",
    ),
    "no number of positives": (
        lambda: search_balance(None, None, ct.Instance(ct.tsvm(), line(balance=0.0))),
        r"must be \('exact', r\) for a search",
    ),
    "separators of others": (
        lambda: ct.safe_transduction(
            ct.s3vm(), line(), separators=[ct.cccp(ct.s3vm(), ct.Problem(X[[0, 1, 4, 5]], Y[[0, 1, 4, 5]]))]
        ),
        "separators: one has labels for 4 points, the problem has 6",
    ),
    "similarity": (
        lambda: spectral_subspace(np.ones((6, 5)), Y),
        r"similarity has shape \(6, 5\), y \(6,\); they must be \(n, n\) and \(n,\)",
    ),
    "groups online": (
        lambda: OnlineDescent(grouped([1]), np.zeros((1, 1))),
        "partial_fit takes no groups of points and no balance of targets",
    ),
    "exact search without a cost": (
        lambda: LabelModel(ct.s3vm(fit_intercept=False, balance=None), line(C_unlabeled=[1, 0, 1, 1])).svm,
        "exact search needs a cost > 0 for every point",
    ),
    "v-space without a cost": (
        lambda: LabelModel(ct.s3vm(fit_intercept=False, balance=None), line(C_unlabeled=[1, 0, 1, 1])).space,
        "relaxations in v-space need a cost > 0 for every point",
    ),
    "exact search of another loss": (
        lambda: LabelModel(alone("huber_hinge"), line()).svm,
        r"labeled=.*: exact search is for hinge\(\) and squared_hinge\(\)",
    ),
    "a free bias of another loss": (
        lambda: LabelModel(ct.tsvm("huber_hinge", balance=None), line(balance=None)),
        "a free bias: bounds are for hinge.* and squared_hinge.*, with a cost > 0 for every point",
    ),
    "bounds of no labels": (
        lambda: ct.LowerBoundBuilder(ct.tsvm("ramp", s=-0.3), line(), relaxation="envelope").search,
        "is not the loss min.* of a point with a label to be found",
    ),
    "envelopes of a loss": (
        lambda: OutputModel(ct.Instance(ct.Formulation(without_pieces(), ct.symmetric_hinge()), line())),
        "labeled=.*: envelopes are of piecewise linear-quadratic losses, of convex ones and of exp",
    ),
    "envelopes of a group": (
        lambda: OutputModel(ct.Instance(grouped([1], without_pieces()), line())),
        "group 'group': loss=.*: envelopes are of piecewise linear-quadratic losses",
    ),
    "v-space of the hinge": (
        lambda: LabelModel(alone("hinge"), line()).space,
        "labeled=.*: relaxations in v-space are for the squared hinge",
    ),
}


ESTIMATORS = {
    "options of a method": (
        lambda: ct.TransductiveSVC(method=CCCP(), annealing=3).fit(X, [0, -1, -1, -1, -1, 1]),
        "annealing=3 is for methods by name; this one was made with its own options",
    ),
    "no marker": (
        lambda: marker_of(LogisticRegression()),
        r"estimator=LogisticRegression\(\) marks no unlabelled points: it must be one of this package",
    ),
    "scoring": (lambda: Judge.of(3), "scoring=3 must be a name or a function"),
    "nothing unlabelled": (
        lambda: ct.selection.cost_path(ct.TransductiveSVC(), X, [0, 0, 0, 1, 1, 1]),
        r"y has no unlabelled point: C\* is the cost of unlabelled points",
    ),
}


PICTURES = {
    "tangent": (
        lambda: ct.plot.loss(Bend(), at=0.5),
        "at=0.5: .* has no concave part, of which there would be a tangent",
    ),
    "balance": (
        lambda: ct.plot.surrogates(dataclasses.replace(alone("ramp"), balance="linear"), line(balance=0.0), start=0.5),
        r"formulation must have no balance \(balance=None\) and the regularizer 'l2'",
    ),
    "regularizer": (
        lambda: ct.plot.surrogates(
            dataclasses.replace(alone("ramp"), regularizer=ct.formulations.OneNorm()), line(balance=None), start=0.5
        ),
        r"formulation must have no balance \(balance=None\) and the regularizer 'l2'",
    ),
}


ASKED = {
    "loss": LOSSES,
    "kernel": KERNELS,
    "formulation": FORMULATIONS,
    "method": METHODS_ASKED,
    "estimator": ESTIMATORS,
    "picture": PICTURES,
}


@pytest.mark.parametrize(
    ("make", "message"),
    identified({f"{what}: {name}": case for what, cases in ASKED.items() for name, case in cases.items()}),
)
def test_arguments(make, message):
    refuses(make, message)


def test_pictures_of_searches():
    """A parameter that was not searched, and a search that ended before it had a tree."""
    y = np.array([0, 0, -1, -1, 1, 1])
    search = ct.TransductiveSearchCV(ct.TransductiveSVC(kernel="linear"), {"C": [1, 10]}, cv=2).fit(X, y)
    refuses(lambda: ct.plot.candidates(search, "sigma"), "parameter='sigma' must be one of those searched, C")
    found = ct.exact_search(ct.s3vm(balance=None), line(balance=None))
    assert found.tree
    refuses(
        lambda: ct.plot.tree(dataclasses.replace(found, tree=[])),
        "the search ended without a tree: there is nothing to draw",
    )


def test_steps_of_methods_that_take_none():
    solution = ct.cccp(ct.tsvm("hinge"), line(C=1.0))
    assert solution.step is solution.point
    with pytest.raises(AttributeError, match="this Solution came without a convex step"):
        dataclasses.replace(solution, point=ct.gradient(ct.tsvm("exp"), line(C=1.0)).point).step


LINES = {
    "an index beyond 32 bits": (
        "1 1:1 2147483648:1",
        "the index 2147483648 is too large; .* possible one is 2147483647",
    ),
    "no mistake but the query": ("1 qid:3 1:1 1:2", "the index 1 comes twice"),
}


@pytest.mark.parametrize(("text", "message"), identified(LINES))
def test_lines_of_svmlight_files(text, message, tmp_path):
    path = tmp_path / "points.svm"
    path.write_text(f"-1 1:2\n{text}\n")
    refuses(lambda: list(read_blocks(path, zero_based=False, n_features=None)), f"points.svm, line 2: {message}")


@pytest.fixture
def model_of_three(tmp_path, capsys):
    """A saved model of three classes, and its data."""
    data, model = tmp_path / "three.npz", tmp_path / "model.npz"
    centres = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 4, axis=0)
    points = centres + np.tile([[0, 0], [0, 0.5], [0.5, 0], [0.5, 0.5]], (3, 1))
    np.savez(data, X=points, y=np.repeat([1, 2, 3], 4), labeled=np.array([[0, 1, 4, 5, 8, 9]]))
    assert main(["solve", str(data), "--split", "0", "--save", str(model)]) == 0
    capsys.readouterr()
    return data, model


def test_options_that_do_not_fit_each_other(model_of_three, capsys):
    """On the command line an error is one line, and the status is 2."""
    data, model = map(str, model_of_three)
    cases = [
        (["predict", model, data, "--positive", "1"], "positive='1' is for models of two classes"),
        (["solve", data, "--method-option", "tries"], "'tries' must be NAME=VALUE"),
        (["solve", data, "--method-option", "tries=3"], "method_option=tries=3 is no option of the methods asked for"),
        (["solve", data, "--cache-size", "large"], "'large' must be a number > 0 or 'auto'"),
    ]
    for arguments, message in cases:
        assert main(arguments) == 2, arguments
        said = capsys.readouterr()
        assert message in said.err
        assert said.err.count("\n") == 1
        assert said.out == ""
    refuses(lambda: read_task("cmm:cccp", "tsvm"), "formulation='tsvm' and method='cmm:cccp' are two formulations")
    assert read_task("cmm:cccp", "cmm").formulation == "cmm"


def test_infeasible_problems_are_told_to_people_and_programs(tmp_path, monkeypatch, capsys):
    """A program reads the status from standard output, on which there is nothing for people."""

    def infeasible(*_, **__):
        raise ct.InfeasibleError("no outputs\n meet the constraints")

    data = tmp_path / "line.npz"
    np.savez(data, X=X, y=Y.astype(int))
    monkeypatch.setattr("convex_tsvm.cli.commands.read_task", infeasible)
    for options, shown in (([], ""), (["--json"], "infeasible")):
        assert main(["solve", str(data), *options]) == 1
        said = capsys.readouterr()
        assert said.err == "convex-tsvm: infeasible: no outputs meet the constraints\n"
        assert (json.loads(said.out)["status"] if said.out else "") == shown


def test_labels_of_a_file(tmp_path):
    """There must be two classes, and a labelled point of each."""
    one, three = tmp_path / "one.npz", tmp_path / "three.npz"
    np.savez(one, X=X, y=np.ones(6, dtype=int))
    np.savez(three, X=X, y=np.array([1, 1, 2, 2, 3, 3]), labeled=np.array([[0, 1, 2]]))
    refuses(lambda: load_classes(one), r"DATA has 1 classes \(1\); two classes are needed")
    refuses(lambda: load_classes(three, split=0), "DATA has no labelled point of the classes 3; each of them needs one")
