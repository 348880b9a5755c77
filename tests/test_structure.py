"""The layers: what may import what, where compiled loops live, and what an import costs."""

import ast
import functools
import inspect
import pkgutil
import re
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm
import convex_tsvm as ct
from convex_tsvm.verification.statements import PAPERS

ROOT = Path(convex_tsvm.__file__).parent
#: From the bottom up; a module may import from its own layer and from those before it.
LAYERS = [
    ["checker", "deadline", "memory", "notice", "parallel", "text", "ties", "validation", "table"],
    ["points"],
    ["losses", "kernels"],
    ["problem_checks"],
    ["problem"],
    ["formulations"],
    ["instance"],
    ["modeling", "solvers"],
    ["decision", "derivatives"],
    ["solution"],
    ["relaxations", "progress"],
    ["methods"],
    ["persistence"],
    ["exact"],
    ["verification", "estimators", "selection"],
    ["files", "data"],
    ["papers"],
    ["plot"],
    ["cli"],
]
#: The doors that open upwards: a formulation can be bound to a problem, and an instance be read as a CVXPY problem.
DOORS = {
    ("formulations/formulation.py", "instance"),
    ("instance/instance.py", "modeling"),
}
#: The only circle of files, which is the first of these doors: ``Formulation.on(problem)`` makes an ``Instance`` of it.
CIRCLE = {"convex_tsvm.formulations.formulation", "convex_tsvm.instance.instance"}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.name != "__init__.py")


def place(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0]


@functools.cache
def source(path):
    """The text of a file, which is read once."""
    return path.read_text(encoding="utf-8")


@functools.cache
def tree(path):
    """What a file says to Python, which is parsed once."""
    return ast.parse(source(path))


@functools.cache
def nodes(path, *kinds):
    """The nodes of these kinds anywhere in a file, inside functions as well."""
    return [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]


def imports(path):
    """(package, module inside it or None) of every import in a file."""
    depth = len(path.relative_to(ROOT).parts) - 1
    for node in nodes(path, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name
        else:
            base = node.module or ""
            if node.level == 0:
                yield base
            elif node.level == depth + 1:
                for name in [base] if base else [n.name for n in node.names]:
                    yield "convex_tsvm." + name


def upward(path):
    """The packages above its own layer that a file imports."""
    targets = {name.split(".")[1] for name in imports(path) if name.startswith("convex_tsvm.")} - {"__version__"}
    return {target for target in targets if LEVEL[target] > LEVEL[place(path)]}


def test_arrows_go_down_only():
    """What goes up are the doors, each of which is used."""
    assert {(path.relative_to(ROOT).as_posix(), above) for path in FILES for above in upward(path)} == DOORS


def relative_imports(path, module):
    """(module, name) of every name that a file imports from the package, inside functions and for types as well."""
    base = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in nodes(path, ast.ImportFrom):
        if node.level:
            above = base[: len(base) - node.level + 1]
            for alias in node.names:
                yield ".".join([*above, *([node.module] if node.module else [])]), alias.name


def files_and_what_they_import():
    """Every module's file-level arrows; a name that a package passes on is that of the file that it comes from."""
    modules = {}
    for path in ROOT.rglob("*.py"):
        name = ".".join(["convex_tsvm", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
        modules[name] = path
    passed_on = {
        module: {name: origin for origin, name in relative_imports(path, module)}
        for module, path in modules.items()
        if path.name == "__init__.py"
    }

    def origin(module, name):
        inside = f"{module}.{name}"
        if inside in modules and inside not in passed_on:
            return inside
        return origin(passed_on[module][name], name) if name in passed_on.get(module, ()) else module

    return {
        module: {origin(*one) for one in relative_imports(path, module)} - {module}
        for module, path in modules.items()
        if module not in passed_on
    }


def circles(arrows):
    """Sets of nodes of which each is reached from every other."""
    reached = {node: {node} for node in arrows}
    changed = True
    while changed:
        changed = False
        for node, targets in arrows.items():
            new = set().union(reached[node], *(reached[target] for target in targets if target in reached))
            changed |= new != reached[node]
            reached[node] = new
    together = {frozenset(other for other in reached[node] if node in reached.get(other, ())) for node in arrows}
    return [one for one in together if len(one) > 1]


def test_no_circle_among_files():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
    assert circles(files_and_what_they_import()) == [CIRCLE]


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("cvxpy", {"modeling", "formulations", "instance", "verification"}),
        ("numba", {"solvers", "points", "relaxations", "checker"}),
        ("sklearn.base", {"estimators", "selection"}),
        ("matplotlib", {"plot"}),
        ("rich", {"cli", "progress"}),
    ],
)
def test_a_library_is_known_where_it_belongs(package, allowed):
    users = {place(path) for path in FILES for name in imports(path) if (name + ".").startswith(package + ".")}
    assert users <= allowed
    assert users


def test_only_the_instance_asks_what_a_balance_means():
    """Outside it, and what it is made from, nobody reads a balance: they read facts about the instance."""
    words = re.compile(r"\b(balance_target|positive_count|balance_points|formulation\.balance|problem\.balance)\b")
    allowed = {"problem", "instance", "formulations", "checker"}  # the last read it from files
    asking = [p.relative_to(ROOT).as_posix() for p in FILES if words.search(source(p))]
    assert {name.split("/")[0].removesuffix(".py") for name in asking} <= allowed, asking


def test_frames_from_fit_to_a_compiled_loop(monkeypatch, capsys):
    """At most ten calls inside the package, by a real fit; docs/guide/internals.rst names them."""
    from convex_tsvm.solvers.dual import working_sets

    stacks, loop = [], working_sets.descend_single

    def watched(*arguments):
        frames = [(Path(f.filename), f.name) for f in traceback.extract_stack()[:-1]]
        stacks.append([(p.relative_to(ROOT).as_posix(), name) for p, name in frames if p.is_relative_to(ROOT)])
        return loop(*arguments)

    monkeypatch.setattr(working_sets, "descend_single", watched)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)) + np.resize([1, -1], 200)[:, None], np.full(200, -1)
    y[:20] = np.resize([0, 1], 20)
    ct.TransductiveSVC(balance={0: 0.5, 1: 0.5}).fit(X, y)
    longest = max(stacks, key=len)
    with capsys.disabled():
        print("", *(f"{k + 1:2d} {file}: {name}" for k, (file, name) in enumerate(longest)), sep="\n")
    assert longest[0] == ("estimators/base.py", "fit")
    assert len(longest) <= 10
    page = (ROOT.parent / "docs" / "guide" / "internals.rst").read_text(encoding="utf-8")
    for _, name in longest:
        assert name in page


def test_warnings_name_the_callers_line():
    """Whatever the depth inside the package, a warning is about the line that called it."""
    users = [p.relative_to(ROOT).as_posix() for p in FILES if "warnings.warn(" in source(p)]
    assert users == ["notice.py"]
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(np.arange(30) < 6, np.resize([0, 1], 30), -1)
    problem = ct.Problem(X, np.where(y < 0, 0, 2 * y - 1), kernel=ct.RBF(1.0), balance=("exact", 0.5))
    for call in (
        lambda: ct.TransductiveSVC(max_iter=1, balance="labeled", C_unlabeled=5.0, method="cccp").fit(X, y),
        lambda: ct.TransductiveSVC().fit(X, np.resize([0, 1], 30)),
        lambda: ct.cccp(ct.cccp_tsvm(), problem, max_iter=1),
    ):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        assert found, call
        assert {Path(one.filename).name for one in found} == {"test_structure.py"}


@pytest.mark.parametrize("name", ["switching", "annealing"])
def test_a_method_is_short(name):
    """What methods share is in the frame: a method is its mathematics and its documentation."""
    assert len((ROOT / "methods" / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_table_is_true():
    """Every entry is there, takes the options it lists, and the loop over a solver's problems is a method."""

    from convex_tsvm import table
    from convex_tsvm.methods.run import Method

    for entries in (table.METHODS, table.SOLVERS, table.FORMULATIONS, table.RELAXATIONS, table.BRANCHING):
        for entry in entries.values():
            assert callable(entry.load())
    for entry in table.METHODS.values():
        if entry.is_descent:
            assert issubclass(entry.load(), Method)
            assert set(entry.solvers) <= set(table.SOLVERS)


def test_compiled_loops_are_in_files_of_their_own():
    assert {p.name for p in FILES if "@njit" in source(p)} == {"_loops.py"}


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("cvxpy", "sklearn", "numba", "matplotlib", "scipy", "pandas")
    code = f"import sys, convex_tsvm; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


#: Names in rooms that have an example, as those at the top have.
EXPLAINED = re.findall(
    r"\S+",
    """
    exact.BranchAndBound exact.ExactSolution exact.Trimmed exact.certificate_page exact.trim_certificate
    formulations.Addition formulations.ElasticNet formulations.GroupLasso formulations.NonnegativeNorm
    formulations.OneNorm formulations.OutputConstraint formulations.Regularizer formulations.SafeLabels
    formulations.SquaredNorm formulations.addition formulations.bag_loss formulations.compactness_weights
    formulations.universum_tsvm formulations.unrelaxed_compact_margin kernels.CallableKernel kernels.DeformedKernel
    kernels.bagged_cluster_kernel kernels.cluster_kernel kernels.density_kernel kernels.laplacian_kernel
    losses.ConvexLoss losses.DCLoss losses.PLQ losses.SmoothConcave losses.better_label losses.epsilon_insensitive
    losses.exponential losses.flat_newton losses.huber_hinge losses.indicator losses.logistic
    losses.relaxed_compact_hinge losses.relaxed_compact_symmetric_hinge losses.symmetric_squared_hinge losses.tube
    losses.two_slope_symmetric_ramp methods.Run methods.Settings methods.cccp_path methods.potts.PottsSolution
    methods.potts.potts_annealing methods.safe.SafeSolution methods.sdp.RelaxedSolution methods.self_training
    methods.shares.ShareEstimate modeling.CvxpySolver modeling.MixedIntegerModel modeling.UnrelaxedCompactMargin
    papers.Check papers.Grade papers.Outcome papers.Paper papers.PaperReport papers.Report papers.Statement
    papers.error_bound papers.grade papers.paper papers.rademacher_complexity persistence.FittedModel
    plot.boundaries plot.boundary plot.candidates plot.conjugate plot.gaps plot.label_matrix plot.learning_curve
    plot.loss plot.path plot.progress plot.save plot.search plot.surrogates plot.tree prove_certificate
    relaxations.Bound selection.CostPath selection.LabeledKFold selection.LearningCurve
    selection.SupervisedComparison selection.TransductiveEnsemble selection.WithUnlabeled
    selection.compare_supervised selection.cost_path selection.labeled_scorer selection.learning_curve
    solution.Certificate solution.Iteration solvers.NativeSolver
    """,
)
#: Names that the reference lists.
LISTED = re.findall(r"(?m)^   ([A-Za-z][\w.]*)$", (ROOT.parent / "docs" / "reference.rst").read_text())
#: What is at the top, and in the rooms, by its name.
PUBLIC = {name: pkgutil.resolve_name(f"convex_tsvm.{name}") for name in sorted({*convex_tsvm.__all__, *EXPLAINED})}


def test_every_public_name_resolves_and_the_top_is_short():
    for name in convex_tsvm.__all__:
        assert getattr(convex_tsvm, name) is not None
    assert {"Problem", "Formulation", "TransductiveSVC", "verify", "cccp"} <= set(convex_tsvm.__all__)
    assert len(convex_tsvm.__all__) <= 80


def test_every_name_of_the_reference_resolves():
    assert {name for name in PUBLIC if callable(PUBLIC[name])} <= set(LISTED)
    for name in LISTED:
        assert pkgutil.resolve_name(f"convex_tsvm.{name}") is not None


@pytest.mark.slow
def test_kernels_are_compiled_once(tmp_path):
    """A second process finds every compiled loop in the cache of the first."""
    code = (
        "import numpy as np, convex_tsvm as ct\n"
        "y = np.resize([1, -1, 0], 12)\n"
        "p = ct.Problem(np.arange(24.0).reshape(12, 2), y, kernel=ct.RBF(1.0), balance=None)\n"
        "ct.cccp(ct.cccp_tsvm(balance=None), p); q = p.replace(balance=0.0); ct.cccp(ct.cccp_tsvm(), q)\n"
        "from convex_tsvm.solvers import _loops\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "loops = [f for f in vars(_loops).values() if isinstance(f, Dispatcher)]\n"
        "print(sum(sum(f.stats.cache_misses.values()) for f in loops), sum(bool(f.signatures) for f in loops))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT.parent)},
        ).stdout.split()
        for _ in range(2)
    ]
    assert int(runs[0][0]) > 0
    assert int(runs[1][0]) == 0
    assert int(runs[1][1]) >= 2


#: What makes a function branch.
BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.BoolOp, ast.match_case)


def sizes(function):
    """Lines of code and branches of a function, its docstring left out."""
    documented = ast.get_docstring(function, clean=False) is not None and len(function.body) > 1
    first = function.body[1 if documented else 0].lineno
    return function.end_lineno - first + 1, sum(isinstance(node, BRANCHES) for node in ast.walk(function))


def test_no_function_holds_too_many_cases():
    """Outside compiled loops at most fifty lines and fourteen branches."""
    (probe,) = ast.parse(
        "def f(x):\n    'What it is.'\n    if x and x:\n        return x\n    return 1 if x else 2"
    ).body
    assert sizes(probe) == (3, 3)
    for path in FILES:
        if path.name == "_loops.py":
            continue
        for node in nodes(path, ast.FunctionDef):
            lines, branches = sizes(node)
            assert lines <= 50, (path, node.name, lines)
            assert branches <= 14, (path, node.name, branches)


def test_files_are_short_and_constants_few():
    """At most 450 lines a file, but for compiled loops and what papers state; at most 150 constants in all."""
    long = [path for path in FILES if len(source(path).splitlines()) > 450]
    assert {path.parent.name for path in long if path.name != "_loops.py"} <= {"statements", *PAPERS}
    constants = [
        one.id
        for path in FILES
        for node in ast.parse(source(path)).body
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
        for one in getattr(target, "elts", [target])
        if isinstance(one, ast.Name) and one.id.isupper()
    ]
    assert len(constants) <= 150, sorted(constants)


def public_functions():
    """Functions and methods of the public names, by the names that users call them."""
    for name, value in PUBLIC.items():
        if inspect.isclass(value):
            own = [key for key in vars(value) if not key.startswith("_")]
            yield from ((f"{name}.{key}", getattr(value, key)) for key in own if callable(getattr(value, key)))
        elif callable(value):
            yield name, value


#: An entry of a docstring that says no more than an annotation does.
BARE = re.compile(r"[\w, ]+ : (an? )?[\w.]+( or [\w.]+)*")


@pytest.mark.parametrize(("name", "function"), list(public_functions()), ids=lambda v: v if isinstance(v, str) else "")
def test_every_public_function_says_what_it_takes(name, function):
    """Parameters have entries where annotations do not say all: where they may be anything, or one needs words."""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n|$)", inspect.getdoc(function), re.DOTALL)
    taken = inspect.signature(function).parameters
    if section is None:
        assert "Any" not in [str(taken[key].annotation) for key in taken if key not in ("self", "cls")]
    else:
        assert not all(BARE.fullmatch(line) for line in section[1].splitlines())


@pytest.mark.parametrize("name", [name for name in PUBLIC if callable(PUBLIC[name])])
def test_every_public_name_has_an_example(name):
    """It runs: doctests are collected with the tests."""
    assert "Examples\n--------" in inspect.getdoc(PUBLIC[name])
    assert ">>> " in inspect.getdoc(PUBLIC[name])


def test_no_docstring_copies_a_part_of_a_table():
    """A list in braces of three names of a table or more has them all: the next entry is not left out."""
    from convex_tsvm import table

    tables = [
        table.METHODS,
        table.FORMULATIONS,
        table.RELAXATIONS,
        table.BRANCHING,
        table.STRATEGIES,
        table.SDP_SOLVERS,
    ]
    for path in FILES:
        for listed in re.findall(r"^ +\w+ : \{(.*?)\}", source(path), re.MULTILINE):
            names = {name.strip('" ') for name in listed.split(",")} - {"auto"}
            for one in tables:
                assert len(names & set(one)) < 3 or names >= set(one), (path, listed)
