import os
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

# The same examples at every run of CI, new ones at every run by hand; HYPOTHESIS_PROFILE=thorough tries many more, and
# with HYPOTHESIS_PROFILE=first the first example that fails ends a test, without a search for the simplest one.
common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", derandomize="CI" in os.environ, **common)
settings.register_profile("thorough", max_examples=3000, **common)
settings.register_profile("first", derandomize=True, phases=[Phase.explicit, Phase.generate], **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

DATA = Path(os.environ.get("CONVEX_TSVM_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


#: What is on the path of ``make bare`` is no test.
collect_ignore = ["bare"]

#: Test functions that take more than a third of a second; ``--quick`` leaves them out.
LONG = Path(__file__).parent / "long.txt"


def pytest_addoption(parser):
    parser.addoption(
        "--quick",
        action="store_true",
        help="one case of every test function that is not in tests/long.txt: what one runs while editing",
    )

    parser.addoption(
        "--perturb",
        type=int,
        metavar="SEED",
        help="change the points of tests of discrete results by 1e-14 of themselves, at random: no result may change",
    )


@pytest.fixture
def nudged(request):
    """A function of an array that returns it, or with --perturb another that differs by 1e-14 of its entries."""
    seed = request.config.getoption("--perturb")

    def nudge(X):
        return X if seed is None else X * (1 + 1e-14 * np.random.default_rng(seed).choice([-1, 1], np.shape(X)))

    return nudge


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--quick"):
        return
    long, seen, kept = set(LONG.read_text(encoding="utf-8").split()), set(), []
    for item in items:
        name = item.nodeid.split("[")[0]
        if name not in long and name not in seen:
            kept.append(item)
        seen.add(name)
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.fixture
def shared_data():
    """Reader of the benchmark sets; skips, saying so, where they are not."""

    def read(name):
        path = DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"needs {name}.npz; set CONVEX_TSVM_DATA to the folder that has it")
        return np.load(path)

    return read


# Pictures are drawn to files and looked at by tests, not shown.
mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """Close what a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def moons():
    """Two moons: points, true signs, and labels with 0 for unknown."""
    from sklearn.datasets import make_moons

    X, truth = make_moons(80, noise=0.1, random_state=0)
    truth = 2.0 * truth - 1
    y = np.zeros(80)
    for sign in (1, -1):
        y[np.flatnonzero(truth == sign)[:4]] = sign
    return X, truth, y
