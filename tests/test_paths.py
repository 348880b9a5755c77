"""Grids of solutions, and solutions that are followed along a parameter, against fits."""

import numpy as np
import pytest

import convex_tsvm as ct
from convex_tsvm.methods.cccp import CCCP

FORMULATIONS = {
    "svm": ct.Formulation(ct.hinge(), balance=None),
    "cccp": ct.cccp_tsvm(-0.3),
    "no balance": ct.tsvm("ramp", balance=None),
    "ramps": ct.Formulation(ct.ramp(-0.4), ct.symmetric_ramp(-0.2), balance=None, fit_intercept=False),
}


def case(name, kernel, n=60):
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.2 * truth
    formulation = FORMULATIONS[name]
    balance = None if formulation.balance is None else 0.0
    y = np.where(np.arange(n) < n // 4, truth, 0.0)
    return formulation, ct.Problem(X, y, kernel=kernel, C=0.5, C_unlabeled=0.1, balance=balance)


def fit(formulation, problem, start=None):
    return ct.cccp(formulation, problem, solver="native", tol=1e-9, start=start)


@pytest.mark.parametrize("kernel", ["linear", ct.RBF(2.0)], ids=str)
@pytest.mark.parametrize(("name", "parameter", "to"), [
    ("svm", "C", 5.0), ("svm", "C", 0.05), ("cccp", "C", 2.0), ("cccp", "C_unlabeled", 0.5), ("cccp", "C", 0.1),
    ("cccp", "balance", 0.4), ("no balance", "C_unlabeled", 0.01), ("ramps", "C", 1.5),
])  # fmt: skip
def test_a_path_is_exact_on_both_sides_of_its_breakpoints(name, parameter, to, kernel):
    formulation, problem = case(name, kernel)
    path = ct.methods.solution_path(fit(formulation, problem), parameter, to)
    assert path.values[-1] == to
    assert (np.diff(path.values) * np.sign(to - path.values[0]) >= 0).all()
    steps = np.abs(np.diff(path.values))
    for k in range(len(steps)):
        if k in path.jumps:
            assert steps[k] == 0
            assert np.abs(path.outputs[k + 1] - path.outputs[k]).max() > 1e-6
            continue
        if steps[k] <= 1e-9:
            continue
        for share in (1e-3, 0.999):
            value = (1 - share) * path.values[k] + share * path.values[k + 1]
            outputs = path.at(value)
            coefficients = (1 - share) * path.coefficients[k] + share * path.coefficients[k + 1]
            given = problem.replace(**{parameter: value})
            own = ct.Instance(formulation, given).objective(
                outputs, 0.5 * coefficients @ given.apply_kernel(coefficients)
            )
            beside = fit(formulation, given, start=outputs)
            assert own == pytest.approx(beside.objective, rel=1e-9)
            if name != "svm":  # whose bias may not be unique
                assert outputs == pytest.approx(beside.scores, abs=1e-6)
    assert ct.plot.path(path, parameter=parameter).get_xlabel() == parameter
    with pytest.raises(ValueError, match="where the path is"):
        path.at(to + 10 * np.sign(to))


def test_what_has_no_path_is_named():
    formulation, problem = case("cccp", ct.RBF(2.0))
    with pytest.raises(ValueError, match="name='sigma' must be 'C', 'C_unlabeled', 'balance' or a function"):
        ct.methods.solution_path(fit(formulation, problem), "sigma", 3.0)
    with pytest.raises(ValueError, match="is for piecewise linear losses"):
        ct.methods.solution_path(fit(ct.s3vm(), problem), "C", 3.0)
    assert len(ct.methods.solution_path(fit(formulation, problem), "C", 3.0, most=5).values) == 5


def test_a_sweep_has_the_solutions_of_fits():
    formulation, problem = case("cccp", ct.RBF(2.0))
    found = ct.sweep(formulation, problem, C=[0.5, 2.0], sigma=[1.0, 2.0, 3.0], s=[-0.5, 0.0])
    assert found.solutions.shape == (2, 3, 2)
    objectives = found.read(lambda solution: solution.objective)
    for place in np.ndindex(2, 3, 2):
        C, sigma, s = (values[k] for values, k in zip(found.values.values(), place, strict=True))
        alone = ct.cccp(ct.cccp_tsvm(s), problem.replace(C=C, kernel=ct.RBF(sigma)))
        assert objectives[place] == pytest.approx(alone.objective, rel=1e-3)
        assert found.solutions[place].problem.kernel.sigma == pytest.approx(sigma)
    switched = ct.sweep(ct.tsvm("hinge"), problem, method="switching", C_unlabeled=[0.1, 0.2])
    assert switched.solutions.shape == (2,)
    with pytest.raises(ValueError, match="parameter='width' must be one of C, "):
        ct.sweep(formulation, problem, width=[1.0])


class Stopped(CCCP):
    """Concave-convex steps, at the end of the third run of which Ctrl-C comes."""

    runs = 0

    def descend(self, run):
        Stopped.runs += 1
        status = super().descend(run)
        if Stopped.runs == 3:
            raise KeyboardInterrupt
        return status


def test_a_sweep_that_is_stopped_keeps_what_it_has():
    formulation, problem = case("cccp", ct.RBF(2.0))
    with pytest.warns(ct.TSVMWarning, match="interrupted"):
        found = ct.sweep(formulation, problem, method=Stopped(), C=[0.5, 1.0, 2.0, 4.0])
    assert [one and one.status for one in found.solutions] == ["converged", "converged", "interrupted", None]
    assert np.isnan(found.read(lambda solution: solution.objective)).tolist() == [False, False, False, True]
