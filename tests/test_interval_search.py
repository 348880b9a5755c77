"""Exact search over intervals of outputs, against every choice of convex pieces of the losses."""

import contextlib
import itertools
import json
import warnings

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.cli import main
from convex_tsvm.instance import Instance


def random_loss(rng, *, concave=False):
    """A continuous function that is bounded below, with up to six breakpoints."""
    breaks = np.cumsum(rng.uniform(0.1, 1.0, rng.integers(1, 7))) - 1.5
    a = rng.choice([0, 0, 0, 0.5, -0.5] if concave else [0, 0, 0, 0.5], len(breaks) + 1) * rng.random(len(breaks) + 1)
    b = rng.normal(size=len(a))
    a[[0, -1]] = 0.0
    b[0], b[-1] = -abs(b[0]) * rng.integers(0, 2), abs(b[-1]) * rng.integers(0, 2)
    c = np.zeros(len(a))
    for j, t in enumerate(breaks):
        c[j + 1] = c[j] + ((a[j] - a[j + 1]) * t + b[j] - b[j + 1]) * t
    return ct.losses.PLQ(breaks, np.column_stack([a, b, c]))


#: A formulation for a random generator, the ramp's place, and options about the bias, the balance and constraints.
FORMULATIONS = {
    "ramp": lambda rng, s, options: ct.cccp_tsvm(s, balance=options["balance"]),
    "two slopes": lambda rng, s, options: ct.Formulation(
        ct.hinge(), ct.losses.two_slope_symmetric_ramp(-0.3, 0.3), **options
    ),
    "compact margin": lambda rng, s, options: ct.compact_margin(1.3, 0.5, 0.5, s=s, balance=options["balance"]),
    "ramps on both": lambda rng, s, options: ct.Formulation(ct.ramp(-0.4), ct.symmetric_ramp(s), **options),
    "squared hinge": lambda rng, s, options: ct.Formulation(
        ct.squared_hinge(), ct.losses.symmetric_squared_hinge(), **options
    ),
    "any": lambda rng, s, options: ct.Formulation(ct.hinge(), random_loss(rng), **options),
    "any with concave pieces": lambda rng, s, options: ct.Formulation(
        ct.hinge(), random_loss(rng, concave=True), **options
    ),
    "flat": lambda rng, s, options: ct.Formulation(ct.hinge(), ct.losses.flat_newton(), **options),
    "relative margin": lambda rng, s, options: ct.relative_margin(
        1.2, 0.5, balance=options["balance"], fit_intercept=options["fit_intercept"]
    ),
}


def case(name, seed):
    """A formulation and a problem of five to eight points, three of them labelled."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    truth = np.resize([1.0, -1.0], n)
    X = rng.normal(size=(n, 2)) + truth[:, None] * rng.uniform(0, 1)
    balance = [None, "labeled", 0.2][seed % 3]
    kernel = [ct.RBF(1.0), "linear"][(seed // 3) % 2]
    costs = {"C": float(rng.choice([0.5, 5])), "C_unlabeled": float(rng.choice([0.3, 3]))}
    problem = ct.Problem(X, np.where(np.arange(n) < 3, truth, 0.0), kernel=kernel, balance=balance, **costs)
    options = {
        "balance": None if balance is None else "linear",
        "fit_intercept": bool(rng.integers(0, 4)) or (balance is not None and kernel == "linear"),
        "constraints": [ct.must_link(3, 4)] if rng.integers(0, 4) == 0 else [],
    }
    return FORMULATIONS[name](rng, -float(rng.choice([0.0, 0.2, 0.5, 0.9])), options), problem


def stretches(loss):
    """Convex functions whose least a loss is: each is it between two falls of its slope, and rises steeply beyond."""
    rise = 3 * np.abs(np.concatenate(loss.derivatives(loss.breaks))).max(initial=0)
    found = []
    for low, high in itertools.pairwise([-np.inf, *loss.breaks[loss.slope_jumps() < 0], np.inf]):
        part = loss.within(low, high)
        breaks, pieces = part.breaks.tolist(), part.pieces.tolist()
        if low > -np.inf:
            breaks, pieces = [low, *breaks], [(0, -rise, loss(low) + rise * low), *pieces]
        if high < np.inf:
            breaks, pieces = [*breaks, high], [*pieces, (0, rise, loss(high) - rise * high)]
        found.append(ct.losses.PLQ(breaks, pieces))
    return found


def least_of_all_pieces(formulation, problem):
    """The least objective over every choice of one convex piece for each point."""
    instance, solver = Instance(formulation, problem), ct.solvers.NativeSolver(problem, tol=1e-8)
    labeled, unlabeled = formulation.labeled, formulation.unlabeled
    pieces = [stretches(loss) for loss in (labeled, labeled.reflect(), unlabeled)]
    kind = np.where(problem.y > 0, 0, np.where(problem.y < 0, 1, 2))
    first = np.cumsum([0, *map(len, pieces)])[kind]
    losses = tuple(itertools.chain(*pieces))
    names, none = tuple(map(str, range(len(losses)))), np.zeros(problem.n)
    best = np.inf
    for chosen in itertools.product(*(range(len(pieces[k])) for k in kind)):
        step = instance.envelope_step(losses, first + np.array(chosen), instance.cost, none, names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(ct.InfeasibleError):
                best = min(best, solver.solve(step).primal)
    return best


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, 350))])
def test_search_finds_what_all_pieces_have(name, seed):
    formulation, problem = case(name, seed)
    solution = ct.exact_search(formulation, problem, bounds="curvature", gap=1e-7)
    assert solution.status == "optimal"
    assert solution.gap <= 2e-7
    # The objective is the formulation's own, at the outputs of the solution.
    instance = Instance(formulation, problem)
    assert instance.objective(solution.scores, solution.regularization) == pytest.approx(solution.objective)
    if any((loss.pieces[:, 0] < 0).any() for loss in (formulation.labeled, formulation.unlabeled)):
        starts = np.random.default_rng(seed).normal(scale=2, size=(30, problem.n))
        best = min(ct.cccp(formulation, problem, start=outputs).objective for outputs in starts)
        assert solution.objective <= best + 1e-6 * max(1.0, abs(best))
    else:
        best = least_of_all_pieces(formulation, problem)
        assert solution.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
        assert solution.lower_bound <= best + 1e-7 * max(1.0, abs(best))


def test_narrow_boxes_of_concave_losses_are_closed():
    """What is lent to them is taken from convex losses, which at last costs more than it brings."""
    formulation, problem = case("any with concave pieces", 90)
    solution = ct.exact_search(formulation, problem, gap=1e-7, max_nodes=200)
    assert solution.status == "optimal"


def test_labels_and_pieces_have_the_same_optimum(moons):
    X, _, y = moons
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:16]]
    problem = ct.Problem(X[keep], y[keep], kernel=ct.RBF(0.5), C=1, C_unlabeled=1)
    for formulation in (ct.tsvm("hinge"), ct.tsvm("squared_hinge")):
        by_labels = ct.exact_search(formulation, problem, gap=1e-5)
        by_pieces = ct.exact_search(formulation, problem, bounds="curvature", gap=1e-5)
        assert by_pieces.objective == pytest.approx(by_labels.objective, rel=2e-5)
        assert by_pieces.lower_bound <= by_labels.objective + 1e-9


def test_limits_leave_a_bound_that_holds():
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 30)
    X = rng.normal(size=(30, 10)) + 0.4 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(30) < 8, truth, 0.0), kernel=ct.RBF(3.0), C=10, C_unlabeled=1)
    told = []
    few = ct.exact_search(ct.tsvm("ramp"), problem, max_nodes=150, callback=told.append)
    assert few.status == "node_limit"
    assert few.n_nodes >= 150
    assert few.n_open > 0
    more = ct.exact_search(ct.tsvm("ramp"), problem, max_nodes=600)
    assert few.lower_bound <= more.lower_bound <= more.objective <= few.objective
    assert [reached.n_nodes for reached in told][:4] == [1, 2, 34, 66]
    assert ct.exact_search(ct.tsvm("ramp"), problem, time_limit=0.3).status == "time_limit"
    assert more.objective <= ct.cccp(ct.tsvm("ramp"), problem).objective + 1e-9


def test_what_it_does_not_take_is_named(moons):
    X, _, y = moons
    problem = ct.Problem(X[:20], y[:20], kernel=ct.RBF(0.5))
    for options, said in (
        ({"bounds": "sdp"}, r"bounds='sdp': unlabeled=symmetric_ramp.*There are 'envelope' and 'curvature'"),
        ({"branching": "gain"}, "branching='gain' is none for a search about outputs; there are 'auto' and 'excess'"),
    ):
        with pytest.raises(ValueError, match=said):
            ct.exact_search(ct.tsvm("ramp"), problem, **options)
    costs = np.where(np.arange(int((y[:20] == 0).sum())) < 2, 0.0, 1.0)
    with pytest.raises(ValueError, match="count the labels of points that pay something, and some do not"):
        ct.exact_search(ct.tsvm("ramp"), problem.replace(balance=("exact", 0.5), C_unlabeled=costs))
    with pytest.raises(ValueError, match="envelopes are for 'l2'"):
        ct.exact_search(
            ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer="l1"),
            problem.replace(kernel="linear"),
            bounds="curvature",
        )
    with pytest.raises(
        ValueError, match=r"certificate: files of searches are about .*which .* is not: its search is over"
    ):
        ct.exact_search(ct.tsvm("exp"), problem, certificate="x.npz")


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, 60))])
def test_smooth_losses(seed):
    """exp(-s t²): below what descents from many starts reach, and a bound below all of them, to the gap asked for."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], 9)
    X = rng.normal(size=(9, 2)) + truth[:, None] * rng.uniform(0, 1)
    problem = ct.Problem(X, np.where(np.arange(9) < 3, truth, 0.0), kernel=ct.RBF(1.0), C=2, C_unlabeled=3, balance=0.1)
    formulation = ct.Formulation(ct.squared_hinge(), ct.losses.exponential(float(rng.choice([1.0, 3.0, 5.0]))))
    gap = float(rng.choice([1e-2, 1e-3, 1e-4]))
    solution = ct.exact_search(formulation, problem, gap=gap)
    assert solution.status == "optimal"
    assert solution.gap <= gap
    starts = rng.normal(scale=1.5, size=(40, 9))
    best = min(ct.cccp(formulation, problem, start=start, tol=1e-8, max_iter=500).objective for start in starts)
    assert solution.lower_bound <= best + 1e-9
    assert solution.objective <= best * (1 + gap) + 1e-6
    bound = ct.LowerBoundBuilder(formulation, problem).bound()
    assert bound.value <= best + 1e-9
    assert bound.stages[-1].name == "curvature"


def test_estimator_and_command_line(moons, tmp_path, capsys):
    X, truth, y = moons
    keep = np.r_[np.flatnonzero(y), np.flatnonzero(y == 0)[:10]]
    marked = np.where(y[keep] == 0, -1, (y[keep] > 0).astype(int))
    clf = ct.ExactTransductiveSVC(loss="ramp", sigma=0.5, balance="labeled", gap=1e-4).fit(X[keep], marked)
    assert clf.status_ == "converged"
    assert clf.gap_ <= 1e-4
    heuristic = ct.TransductiveSVC(sigma=0.5, balance="labeled").fit(X[keep], marked)
    assert clf.lower_bound_ <= clf.objective_ <= heuristic.objective_ + 1e-6
    np.savez(tmp_path / "some.npz", X=X[keep], y=truth[keep].astype(int), labeled=np.flatnonzero(y[keep])[None])
    arguments = [str(tmp_path / "some.npz"), "--sigma", "0.5", "--balance", "labeled", "--gap", "1e-4", "--json"]
    for own in (["--loss", "ramp"], ["--formulation", "cmm"]):
        assert main(["solve", *arguments, "--method", "exact", *own]) == 0
    assert '"status": "optimal"' in capsys.readouterr().out


@pytest.mark.parametrize("loss", ["ramp", "exp"])
@pytest.mark.parametrize("balance", [None, 0.0])
def test_points_that_are_all_the_same(loss, balance):
    """w changes no output of them but all at once, or none where they are balanced."""
    problem = ct.Problem(np.ones((12, 2)), np.r_[1, -1, np.zeros(10)], C=2, balance=balance)
    formulation = ct.tsvm(loss, balance=None if balance is None else "linear")
    solution = ct.exact_search(formulation, problem, gap=1e-3)
    assert solution.status == "optimal"
    assert solution.objective <= ct.cccp(formulation, problem).objective + 1e-6
    assert solution.lower_bound <= solution.objective


def test_a_gap_that_is_not_reached_is_told(monkeypatch):
    """Where a box that is not split has a bound that is too low, the search says "inaccurate"."""
    formulation, problem = case("ramp", 0)
    monkeypatch.setattr("convex_tsvm.exact.dive.choice", lambda rule, work: None)
    with pytest.warns(ct.TSVMWarning, match="end .* below the objective: kernel values times costs are too large"):
        found = ct.exact_search(formulation, problem, gap=1e-3)
    assert found.gap > 1e-3
    assert found.status == "inaccurate"


def overlapping(n=24):
    """A formulation with a ramp and two Gaussians that overlap."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 2)) + np.repeat([[-0.8, 0], [0.8, 0]], n // 2, axis=0)
    y = np.zeros(n)
    y[[0, 1, n // 2, n // 2 + 1]] = [-1, -1, 1, 1]
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0), C=1.0, C_unlabeled=0.5, balance=None)
    return ct.cccp_tsvm(-0.3, balance=None), problem


def test_an_interrupted_search_claims_no_more_than_the_nodes_that_wait_prove(tmp_path, monkeypatch):
    """Its bound is that of the least of them, wherever Ctrl-C came."""
    path, examine = tmp_path / "proof.npz", ct.LowerBoundBuilder.examine
    for last in range(2, 60, 3):
        count = 0

        def interrupted(self, *given, last=last, **options):
            nonlocal count
            count += 1
            if count == last:
                raise KeyboardInterrupt
            return examine(self, *given, **options)

        monkeypatch.setattr(ct.LowerBoundBuilder, "examine", interrupted)
        found = ct.exact_search(*overlapping(), certificate=path)
        if found.status != "interrupted":
            break
        verdict = ct.prove_certificate(path)
        assert verdict.holds, verdict.problem
        assert verdict.lower_bound >= found.lower_bound - 1e-9 * abs(found.lower_bound)
        assert verdict.n_open > 0


@pytest.mark.parametrize("strategy", ["best", "hybrid", "depth"])
def test_strategies_jobs_and_bounds_have_the_same_optimum(strategy, tmp_path):
    """What searches for labels can do these can: strategies, parallel dives, cheaper bounds; and all is proven."""
    known = ct.exact_search(*overlapping(), gap=1e-4)
    for options in ({}, {"n_jobs": 2}, {"bounds": "envelope"}):
        path = tmp_path / "c.npz"
        found = ct.exact_search(*overlapping(), gap=1e-4, strategy=strategy, certificate=path, **options)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(known.objective, rel=1e-4)
        verdict = ct.prove_certificate(path, *overlapping())
        assert verdict.holds, verdict.problem


def test_a_search_is_taken_up_from_a_checkpoint(tmp_path):
    """It goes on where it was, to the same optimum, and its file is a certificate, which can be trimmed."""
    path = tmp_path / "search.npz"
    few = ct.exact_search(*overlapping(), gap=1e-5, max_nodes=9, checkpoint=path)
    assert few.status == "node_limit"
    whole = ct.exact_search(*overlapping(), gap=1e-5, checkpoint=path)
    straight = ct.exact_search(*overlapping(), gap=1e-5)
    assert whole.status == straight.status == "optimal"
    assert whole.objective == pytest.approx(straight.objective, rel=1e-6)
    assert whole.n_nodes > few.n_nodes
    assert ct.prove_certificate(path).holds
    trimmed = ct.exact.trim_certificate(path, tmp_path / "short.npz")
    assert trimmed.n_proofs_after < trimmed.n_proofs_before
    assert ct.prove_certificate(tmp_path / "short.npz").holds
    formulation, problem = overlapping()
    with pytest.raises(ValueError, match="is of a search with another problem"):
        ct.exact_search(formulation, problem.replace(C=3), gap=1e-5, checkpoint=path)
    with pytest.raises(ValueError, match="is of a search with formulation="):
        ct.exact_search(ct.cccp_tsvm(-0.2, balance=None), problem, gap=1e-5, checkpoint=path)


@pytest.mark.parametrize("seed", range(12))
def test_a_number_of_labels_is_met_by_the_search_over_outputs(seed, tmp_path):
    """As the search for labels finds it, for the losses that both take; for the ramp beside every labelling."""
    rng = np.random.default_rng(seed)
    truth = np.resize([1.0, -1.0], 9)
    X, y = rng.normal(size=(9, 2)) + truth[:, None] * rng.uniform(0, 1), np.where(np.arange(9) < 3, truth, 0.0)
    share = [1 / 6, 1 / 2, 1 / 3, 2 / 3][seed % 4]
    costs = {"C": float(rng.choice([0.5, 5])), "C_unlabeled": float(rng.choice([0.5, 3]))}
    problem = ct.Problem(X, y, kernel=ct.RBF(1.0) if seed % 2 else "linear", balance=("exact", share), **costs)
    formulation = [ct.tsvm("ramp"), ct.tsvm("hinge"), ct.tsvm("squared_hinge")][seed % 3]
    path = tmp_path / "c.npz"
    found = ct.exact_search(formulation, problem, bounds="curvature", gap=1e-6, certificate=path)
    assert found.status == "optimal"
    assert (found.labels[y == 0] > 0).sum() == problem.positive_count
    verdict = ct.prove_certificate(path, formulation, problem)
    assert verdict.holds, verdict.problem
    bound = ct.LowerBoundBuilder(formulation, problem, relaxation="curvature").bound()
    assert bound.value <= found.objective * (1 + 1e-6) <= bound.upper * (1 + 2e-6)
    if seed % 3:
        known = ct.exact_search(formulation, problem, bounds="svm", gap=1e-6)
        assert found.objective == pytest.approx(known.objective, rel=2e-6)
    else:
        assert found.objective == pytest.approx(least_of_all_labels(formulation, problem), rel=1e-5)
    # Another number is refused: that of the file, and that of its solution.
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    header["statement"]["positive"] += 1
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})
    assert not ct.prove_certificate(path).holds


def least_of_all_labels(formulation, problem):
    """The least objective over all labels with the number of positive ones, and every piece on the label's side."""
    plain = Instance(formulation, problem).replaced(formulation)
    solver, unlabeled = ct.solvers.NativeSolver(problem, tol=1e-8), problem.unlabeled
    convex = [formulation.labeled, formulation.labeled.reflect()]
    sides = [[], []]
    for piece in stretches(formulation.unlabeled):
        for side, ends in enumerate(((0.0, np.inf), (-np.inf, 0.0))):
            with contextlib.suppress(ValueError):
                sides[side].append(len(convex))
                convex.append(piece.within(*ends))
    names, best = tuple(map(str, range(len(convex)))), np.inf
    for positive in itertools.combinations(range(len(unlabeled)), problem.positive_count):
        choices = [sides[0] if k in positive else sides[1] for k in range(len(unlabeled))]
        for chosen in itertools.product(*choices):
            kind = np.where(problem.y > 0, 0, 1)
            kind[unlabeled] = chosen
            step = plain.envelope_step(tuple(convex), kind, plain.cost, np.zeros(problem.n), names)
            with warnings.catch_warnings(), contextlib.suppress(ct.InfeasibleError):
                warnings.simplefilter("ignore")
                best = min(best, solver.solve(step).primal)
    return best
