"""Each demand of the checker refuses a file that breaks it alone, and its arithmetic holds every possible result."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.checker import Ball, Certificate
from convex_tsvm.checker.envelopes import Lent

flint = pytest.importorskip("flint")
HONEST = Path(__file__).parent / "certificates" / "honest"


def held(ball, k, value):
    """Whether the k-th ball holds a number."""
    return Fraction(float(ball.low.ravel()[k])) <= value <= Fraction(float(ball.high.ravel()[k]))


@pytest.mark.parametrize("seed", range(20))
def test_balls_hold_every_possible_result(seed):
    """Sums and products of any numbers in the balls, among them the ends, without rounding."""
    rng = np.random.default_rng(seed)
    one, other = (
        Ball(rng.normal(size=4) * 10.0 ** rng.integers(-3, 3, 4), 10.0 ** rng.uniform(-18, -1, 4)) for _ in range(2)
    )
    total, product, added, inner = one + other, one * other, one.sum(), one @ other
    for signs in itertools.product((-1, 0, 1), repeat=2):
        a, b = (
            [Fraction(float(mid)) + sign * Fraction(float(rad)) for mid, rad in zip(ball.mid, ball.rad, strict=True)]
            for ball, sign in zip((one, other), signs, strict=True)
        )
        for k in range(4):
            assert held(total, k, a[k] + b[k])
            assert held(product, k, a[k] * b[k])
        assert held(added, 0, sum(a))
        assert held(inner, 0, sum(x * y for x, y in zip(a, b, strict=True)))
    exact = Ball(rng.normal(size=50)), Ball(rng.normal(size=50))
    products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(exact[0].mid, exact[1].mid, strict=True)]
    assert held(exact[0] @ exact[1], 0, sum(products))
    for k in range(50):
        x, y = (Fraction(float(ball.mid[k])) for ball in exact)
        assert held(exact[0] + exact[1], k, x + y)
        assert held(exact[0] * exact[1], k, x * y)


def vectors_of(header, values, which):
    """Where the vectors of proofs of one kind are."""
    kind, end = values["proof_kind"], values["proof_vector_end"]
    start, number = np.append(0, end[:-1]), header["kinds"].index(which)
    return [slice(int(a), int(b)) for a, b, one in zip(start, end, kind, strict=True) if one == number]


def point_moved(header, a):
    a["X"][0, 0] += 0.5


def label_contradicts(header, a):
    a["labels"][0] *= -1
    header["objective"] = 1e9


def claim_above_open_nodes(header, a):
    header["lower_bound"] = 5.2


def negative_multipliers(header, a):
    a["multiplier_arc"] = -1 - np.abs(a["multiplier_arc"])


def matrix_multipliers_of_zero(header, a):
    n = len(a["y"])
    for where in vectors_of(header, a, "label matrices"):
        vector = a["proof_vector"][where]
        vector[n:][~np.isnan(vector[n:])] = 0.0
        a["proof_vector"][where] = vector


def multipliers_without_their_sum(header, a):
    for where in vectors_of(header, a, "SVM of the known labels"):
        a["proof_vector"][where][0] *= 0.5


#: An honest file, a change, and what the checker says.
CHANGES = {
    "the problem is another": ("squared", point_moved, "its digest is another"),
    "a given label is another": ("squared", label_contradicts, "contradict given ones"),
    "an open node has a lower bound": ("unfinished", claim_above_open_nodes, "an open node below node"),
    "a quadratic has negative multipliers": ("targets", negative_multipliers, "multipliers must be >= 0"),
    "a matrix is indefinite": ("hinge", matrix_multipliers_of_zero, "is closed, but what is proven there is"),
    "multipliers have another sum": ("hinge_free_bias", multipliers_without_their_sum, "what is proven there is -inf"),
}


def changed(path, out, change):
    """A file after a change to its header and arrays."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays["header"]))
    change(header, arrays)
    np.savez(out, **{**arrays, "header": np.array(json.dumps(header))})
    return out


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_refused_for_its_own_reason(name, tmp_path):
    file, change, said = CHANGES[name]
    assert ct.prove_certificate(HONEST / f"{file}.npz").holds
    verdict = ct.prove_certificate(changed(HONEST / f"{file}.npz", tmp_path / "changed.npz", change))
    assert not verdict.holds
    assert said in verdict.problem


def test_ends_of_arcs_are_on_both_sides(tmp_path):
    rng = np.random.default_rng(7)
    y = np.r_[1.0, -1.0, 1.0, -1.0, np.zeros(8)]
    problem = ct.Problem(rng.normal(size=(12, 2)), y, kernel=ct.RBF(0.7), C=2)
    ct.exact_search(ct.s3vm(), problem, bounds="signs", patience=0, certificate=tmp_path / "signs.npz")
    assert ct.prove_certificate(tmp_path / "signs.npz").holds

    def one_sided(header, a):
        assert len(a["multiplier_arc_low"])
        a["multiplier_arc_low"][:] = 0.5

    verdict = ct.prove_certificate(changed(tmp_path / "signs.npz", tmp_path / "changed.npz", one_sided))
    assert "an arc's ends are on one side" in verdict.problem


# --- searches over intervals ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def intervals(tmp_path_factory):
    """A certificate of the ramp loss, with a constraint on outputs."""
    rng = np.random.default_rng(0)
    y = np.r_[1.0, -1.0, np.zeros(8)]
    problem = ct.Problem(rng.normal(size=(10, 2)) + 0.5 * y[:, None], y, kernel=ct.RBF(1.0), C=3, balance=None)
    formulation = ct.Formulation(
        ct.hinge(), ct.symmetric_ramp(-0.3), balance=None, fit_intercept=False, constraints=[ct.mean_output(0.2, 0.4)]
    )
    path = tmp_path_factory.mktemp("intervals") / "honest.npz"
    ct.exact_search(formulation, problem, certificate=path)
    assert ct.prove_certificate(path).holds
    return path


def curvatures_too_large(header, a):
    a["multiplier_curvature"] = a["multiplier_curvature"] * 100 + 50


def root_too_narrow(header, a):
    a["root_low"] = a["root_low"] + 0.6 * (a["root_high"] - a["root_low"])


def solution_elsewhere(header, a):
    a["coefficients"][:] = 0.0
    header["objective"] = 1e9


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (curvatures_too_large, "positive"),
        (root_too_narrow, "the root leaves out outputs that are too low"),
        (solution_elsewhere, "the solution breaks constraints"),
    ],
)
def test_a_change_of_intervals_is_refused_for_its_own_reason(change, said, intervals, tmp_path):
    verdict = ct.prove_certificate(changed(intervals, tmp_path / "changed.npz", change))
    assert not verdict.holds
    assert said in verdict.problem


def test_a_proof_by_intervals_has_the_bound_of_its_formula(intervals):
    """-½ γᵀ M γ + Σ least, which is computed here by NumPy: the checker's is no higher, and not much lower."""
    with np.errstate(all="ignore"):
        given = Certificate(intervals).given
    rng, L = np.random.default_rng(0), given.L.mid
    for share in (0.0, 0.5):
        d = share * np.ones(given.n) / np.linalg.eigvalsh(L @ L.T)[-1]
        lent = Lent(given, d)
        form = np.eye(L.shape[1]) - (L.T * d) @ L
        low, high = -rng.uniform(1, 3, given.n), rng.uniform(1, 3, given.n)
        gamma = 3 * rng.normal(size=given.n)
        t = np.linspace(low, high, 20_001)
        a, b, c = (ball.mid[None] for ball in (given.a, given.b, given.c))
        inside = (given.low[None] <= t[:, :, None]) & (t[:, :, None] <= given.high[None])
        paid = np.where(inside, (a * t[:, :, None] + b) * t[:, :, None] + c, np.inf).min(axis=2)
        least = (paid + 0.5 * d * t**2 + gamma * t).min(axis=0)
        p = L.T @ gamma
        value = float(least[np.isfinite(least)].sum() - 0.5 * p @ np.linalg.solve(form, p))
        if not np.isfinite(least).all():
            continue
        with np.errstate(all="ignore"):
            bound, _ = lent.prove((low, high), gamma, 1e9, (low, high))
        assert bound <= value + 1e-9 * abs(value)
        assert bound >= value - 1e-2 * abs(value)
