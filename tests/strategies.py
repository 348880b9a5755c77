"""Random PLQ functions and random problems."""

import numpy as np
from hypothesis import strategies as st

import convex_tsvm as ct
from convex_tsvm.relaxations.signs.cuts import SignCuts


def cuts_of(triangles, margins):
    """Cuts from rows of numbers."""
    return SignCuts(
        np.array(triangles, dtype=np.intp).reshape(-1, 5), np.array(list(margins), dtype=np.intp).reshape(-1, 3)
    )


def value_in(space, v):
    """q(v) of an ``OutputSpace``, with the constant of the objective."""
    x = np.concatenate([[1.0], v])
    return float(x @ space.C @ x) + space.constant


def quarters(low, high):
    return st.integers(4 * low, 4 * high).map(lambda k: k / 4)


@st.composite
def plq(draw, convex=False, finite=None):
    """A PLQ function with breakpoints, slopes and curvatures in quarters; bounded domains among them."""
    breaks = np.array(sorted(draw(st.sets(quarters(-5, 5), max_size=5))))
    k = len(breaks)
    low = 0 if convex else -2
    curvature = np.array(draw(st.lists(quarters(low, 2), min_size=k + 1, max_size=k + 1)))
    # Half of the pieces straight: kinks alone, and kinks beside curved pieces, must both occur.
    straight = np.array(draw(st.lists(st.booleans(), min_size=k + 1, max_size=k + 1)))
    curvature = np.where(straight, 0.0, curvature)
    jumps = np.array(draw(st.lists(quarters(low, 2), min_size=k, max_size=k)))
    slope, constant = draw(quarters(-3, 3)), draw(quarters(-3, 3))
    pieces = [(curvature[0], slope, constant)]
    for j in range(k):
        a0, b0, c0 = pieces[-1]
        a1, t = curvature[j + 1], breaks[j]
        b1 = b0 + 2 * (a0 - a1) * t + jumps[j]
        pieces.append((a1, b1, c0 + (a0 - a1) * t * t + (b0 - b1) * t))
    lower, upper = -np.inf, np.inf
    if finite is None and draw(st.booleans()):
        lower = (breaks[0] if k else 0.0) - draw(quarters(1, 3)) if draw(st.booleans()) else -np.inf
        upper = (breaks[-1] if k else 0.0) + draw(quarters(1, 3)) if draw(st.booleans()) else np.inf
    return ct.losses.PLQ(breaks, np.array(pieces), (lower, upper))


outputs = st.floats(-8, 8, allow_nan=False)

CATALOGUE = {
    "hinge": ct.hinge(),
    "squared_hinge": ct.squared_hinge(),
    "epsilon_insensitive": ct.losses.epsilon_insensitive(0.5),
    "ramp": ct.ramp(-0.4),
    "symmetric_hinge": ct.symmetric_hinge(),
    "symmetric_ramp": ct.symmetric_ramp(-0.3),
    "symmetric_squared_hinge": ct.losses.symmetric_squared_hinge(),
    "two_slope_symmetric_ramp": ct.losses.two_slope_symmetric_ramp(-0.4, 0.3),
    "flat_newton": ct.losses.flat_newton(),
    "relaxed_compact_hinge": ct.losses.relaxed_compact_hinge(1.2, 0.5),
    "relaxed_compact_symmetric_hinge": ct.losses.relaxed_compact_symmetric_hinge(1.2, 0.5, -0.2),
}
LABELED = ["hinge", "squared_hinge", "ramp", "relaxed_compact_hinge"]
UNLABELED = [
    "epsilon_insensitive",
    "symmetric_hinge",
    "symmetric_ramp",
    "symmetric_squared_hinge",
    "two_slope_symmetric_ramp",
    "flat_newton",
    "relaxed_compact_symmetric_hinge",
]


def random_case(seed):
    """A formulation and a problem, drawn so that losses, spaces, costs and balances all vary."""
    rng = np.random.default_rng(seed)
    n, n_labeled = int(rng.integers(8, 30)), int(rng.integers(2, 7))
    X = rng.standard_normal((n, int(rng.integers(1, 5))))
    if rng.random() < 0.3:
        X[n // 2 :] = X[: n - n // 2]  # duplicates make the kernel matrix singular
    y = np.zeros(n)
    y[:n_labeled] = np.resize([1, -1], n_labeled)
    kernel = [ct.Linear(), ct.RBF(1.0), ct.Polynomial(2, 0.5, 1.0)][rng.integers(3)]
    C, C_unlabeled = np.exp(rng.uniform(-2, 3, n)), np.exp(rng.uniform(-2, 3, n))
    balance = ["labeled", 0.3, None][rng.integers(3)]
    sample = int(rng.integers(1, n - n_labeled)) if rng.random() < 0.2 else None
    problem = ct.Problem(X, y, kernel=kernel, C=C, C_unlabeled=C_unlabeled, balance=balance, balance_sample=sample)
    formulation = ct.Formulation(
        CATALOGUE[LABELED[rng.integers(len(LABELED))]],
        CATALOGUE[UNLABELED[rng.integers(len(UNLABELED))]],
        balance=None if balance is None else "linear",
        fit_intercept=bool(rng.random() < 0.8),
    )
    return formulation, problem, rng


def searches(seed, n_unlabeled=None, squared=None, balance="any"):
    """A small random S3VM that exact search can take: formulation and problem."""
    rng = np.random.default_rng(seed)
    n_labeled = int(rng.integers(2, 7))
    n_unlabeled = int(rng.integers(2, 9)) if n_unlabeled is None else n_unlabeled
    n, d = n_labeled + n_unlabeled, int(rng.integers(1, 5))
    y = np.zeros(n)
    y[:n_labeled] = rng.choice([-1.0, 1.0], n_labeled)
    y[:2] = 1, -1
    X = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    squared = bool(rng.integers(2)) if squared is None else squared
    kinds = ["none", "linear", "exact", *(["targets"] if squared else [])]
    balance = str(rng.choice(kinds)) if balance == "any" else balance
    C = 10 ** rng.uniform(-2, 2)
    problem = ct.Problem(
        X,
        y,
        kernel=[ct.RBF(gamma=0.5), ct.Linear()][int(rng.integers(2))],
        C=C,
        C_unlabeled=C * 10 ** rng.uniform(-1, 0.5),
        balance={"none": None, "exact": ("exact", float(rng.uniform(0.2, 0.8)))}.get(
            balance, float(rng.uniform(-0.5, 0.5))
        ),
    )
    fit_intercept = bool(rng.integers(2)) and balance != "targets"
    constraint = {"none": None, "exact": "linear"}.get(balance, balance)
    losses = (
        (ct.squared_hinge(), ct.losses.symmetric_squared_hinge()) if squared else (ct.hinge(), ct.symmetric_hinge())
    )
    return ct.Formulation(*losses, balance=constraint, fit_intercept=fit_intercept), problem
