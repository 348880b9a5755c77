"""Pictures: axes in and out, legends and labels, what is drawn is what is claimed, and errors for the rest."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import convex_tsvm as ct
from convex_tsvm.data import load_data


@pytest.fixture
def ax():
    return plt.subplots()[1]


@pytest.fixture(scope="module")
def moons_solution():
    data = load_data("two_moons")
    return data, ct.cccp(ct.cccp_tsvm(), ct.Problem(data.X, data.y, kernel=ct.RBF(0.3), C=10))


def drawn(ax, label):
    """The line with a label."""
    return next(line for line in ax.get_lines() if line.get_label() == label)


def complete(ax):
    """Labels on both axes, and a legend."""
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert ax.get_legend() is not None


def test_a_loss_and_its_parts(ax):
    loss = ct.symmetric_ramp(-0.3)
    assert ct.plot.loss(loss, at=0.5, ax=ax) is ax
    complete(ax)
    t = drawn(ax, "surrogate").get_xdata()
    surrogate, values = drawn(ax, "surrogate").get_ydata(), loss(t)
    np.testing.assert_allclose(drawn(ax, "convex part").get_ydata() + drawn(ax, "concave part").get_ydata(), values,
                               atol=1e-12)  # fmt: skip
    assert (surrogate >= values - 1e-12).all()
    assert np.interp(0.5, t, surrogate) == pytest.approx(float(loss(0.5)), abs=1e-9)


def test_losses_that_do_not_split(ax):
    ct.plot.loss(ct.losses.logistic(), ax=ax)
    assert len(ax.get_legend_handles_labels()[0]) == 1
    ct.plot.loss(ct.hinge(), ax=ax)
    assert not any(line.get_label() == "concave part" for line in ax.get_lines())


def test_a_conjugate(ax):
    assert ct.plot.conjugate(ct.hinge(), ax=ax) is ax
    complete(ax)
    s, values = ax.get_lines()[0].get_data()
    np.testing.assert_allclose(values, s, atol=1e-12)  # the conjugate of the hinge is s on [-1, 0]
    assert (s.min(), s.max()) == (-1.0, 0.0)
    with pytest.raises(ValueError, match=r"is not convex; its convex part has a conjugate, loss.split\(\)\[0\]"):
        ct.plot.conjugate(ct.ramp(0.0), ax=ax)


def test_boundaries(ax, moons_solution):
    data, solution = moons_solution
    assert ct.plot.boundary(solution, ax=ax) is ax
    complete(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["labelled -1", "labelled +1"]
    estimator = ct.TransductiveSVC(sigma=0.3, unlabeled=0).fit(data.X, data.y)
    for arguments in ((data,), (data.X, data.y), (sp.csr_matrix(data.X), data.y)):
        complete(ct.plot.boundary(estimator, *arguments, ax=plt.figure().add_subplot()))
    plain = ct.plot.boundary(estimator, data.X, ax=plt.figure().add_subplot(), margins=False)
    assert plain.get_legend_handles_labels()[0] == []


def test_boundaries_of_several_classes_with_names(ax):
    X, truth = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    y = np.where(np.arange(150) % 10 == 0, names[truth], "?")
    clf = ct.TransductiveSVC(unlabeled="?").fit(X[:, 2:], y)
    ct.plot.boundary(clf, X[:, 2:], y, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"labelled {name}" for name in names]
    # Points are drawn once: the labelled ones by their class, the others together.
    assert sorted(len(c.get_offsets()) for c in ax.collections if hasattr(c, "get_sizes") and len(c.get_sizes())) == [
        5, 5, 5, 135,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="an estimator does not keep its points"):
        ct.plot.boundary(clf, ax=ax)
    with pytest.raises(ValueError, match=r"y has shape \(3,\); it must be \(150,\)"):
        ct.plot.boundary(clf, X[:, 2:], y[:3], ax=ax)
    with pytest.raises(ValueError, match=r"X has shape \(150, 4\); a boundary is drawn for points of two features"):
        ct.plot.boundary(clf, X, y, ax=ax)


def test_many_boundaries_wrap_into_rows(moons_solution):
    data, solution = moons_solution
    figure = ct.plot.boundaries(data, {f"method {k}": solution for k in range(6)})
    rows = {axes.get_subplotspec().rowspan.start for axes in figure.axes}
    assert rows == {0, 1}
    assert len(figure.axes) == 6


def test_surrogates_descend_and_touch(ax):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-1.5, 0.4, 20), rng.normal(1.2, 0.4, 20)])[:, None]
    y = np.zeros(40)
    y[[0, 20]] = -1, 1
    model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), fit_intercept=False, balance=None)
    problem = ct.Problem(x, y, C=1, C_unlabeled=0.3, balance=None)
    assert ct.plot.surrogates(model, problem, start=0.1, n_steps=4, ax=ax) is ax
    complete(ax)
    _, objective = drawn(ax, "objective").get_data()
    surrogates = [line for line in ax.get_lines() if str(line.get_label()).startswith("surrogate")]
    assert len(surrogates) == 4
    for line in surrogates:
        assert (line.get_ydata() >= objective - 1e-9).all()
        assert (line.get_ydata() - objective).min() == pytest.approx(0, abs=1e-3)
    touched = [line.get_ydata()[0] for line in ax.get_lines() if line.get_marker() in ("o", "*")]
    assert (np.diff(touched) <= 1e-9).all()
    assert touched[-1] < touched[0]
    with pytest.raises(ValueError, match="problem must have one feature"):
        ct.plot.surrogates(ct.cccp_tsvm(), problem, start=0.1, ax=ax)


def test_paths(ax, moons_solution):
    _, solution = moons_solution
    assert ct.plot.path({"CCCP": solution}, ax=ax) is ax
    complete(ax)
    assert drawn(ax, "CCCP").get_ydata()[-1] == pytest.approx(solution.objective)
    problem, costs = solution.problem, [0.1, 1.0, 10.0]
    along = ct.methods.cccp_path(ct.cccp_tsvm(), [problem.replace(C_unlabeled=cost) for cost in costs])
    axes = ct.plot.path(along, along=costs, ax=plt.figure().add_subplot())
    assert axes.get_xscale() == "log"
    np.testing.assert_allclose(drawn(axes, "objective").get_ydata(), [one.objective for one in along])
    with pytest.raises(ValueError, match="along has 2 values"):
        ct.plot.path(along, along=[1, 2], ax=ax)


def test_search_and_relaxations(ax, moons_solution):
    data, _ = moons_solution
    problem = ct.Problem(data.X[:30], data.truth[:30] * (np.arange(30) < 8), kernel=ct.RBF(0.5), C=1)
    model = ct.tsvm("squared_hinge")
    solution = ct.exact_search(model, problem, strategy="best")
    complete(ct.plot.progress(solution, ax=ax))
    bounds = drawn(ax, "lower bound").get_ydata()
    assert (np.diff(bounds) >= -1e-9).all()
    if solution.tree:
        tree = ct.plot.tree(solution, ax=plt.figure().add_subplot())
        assert sum(len(c.get_offsets()) for c in tree.collections) == len(solution.tree)
    bound = ct.LowerBoundBuilder(model, problem, relaxation="signs").bound(
        upper=solution.objective, upper_labels=solution.labels
    )
    gaps = ct.plot.gaps(bound, ax=plt.figure().add_subplot())
    complete(gaps)
    shown = [text.get_text().split("\n")[0] for text in gaps.get_xticklabels()]
    assert shown == list(dict.fromkeys(stage.name for stage in bound.stages)), "a name stands once on the axis"
    complete(ct.plot.gaps({"weak": 1.0, "strong": 1.8}, 2.0, ax=plt.figure().add_subplot()))
    with pytest.raises(ValueError, match="bounds is empty"):
        ct.plot.gaps({}, ax=ax)


def test_label_matrices(ax):
    labels = np.array([1.0, -1.0, 1.0, -1.0, -1.0])
    assert ct.plot.label_matrix(labels, ax=ax) is ax
    image = np.asarray(ax.get_images()[0].get_array())
    np.testing.assert_array_equal(np.abs(image), 1)
    # Sorted, a labelling is two blocks.
    assert (np.abs(np.diff(np.sign(image[0]))) > 0).sum() == 1
    with pytest.raises(ValueError, match=r"matrix has shape \(2, 3\)"):
        ct.plot.label_matrix(np.ones((2, 3)), ax=ax)
    with pytest.raises(ValueError, match=r"labels has shape \(2,\)"):
        ct.plot.label_matrix(labels, [1, 2], ax=ax)


def test_new_axes_and_files(tmp_path):
    axes = ct.plot.loss(ct.hinge())
    ct.plot.save(axes, tmp_path / "loss.png")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="must end in one of"):
        ct.plot.save(axes, tmp_path / "loss.nothing")
