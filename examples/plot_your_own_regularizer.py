"""
A regularizer of your own
=========================

The regularizer need not be half the squared norm.  It is a convex function R of the weights, given as a number and as a
CVXPY expression.  The certificate also needs its conjugate, the largest v·w - R(w) as a function of v, which a small
CVXPY problem finds; with the conjugate written down there is the dual problem, too.  The regularizer on this page
charges differences of neighbouring weights, as for spectra or signals, where features are in an order:
½ ‖w‖² + ½ λ Σ (w_{j+1} - w_j)².

Claims: R alone gives the solution and its certificate; with the conjugate R*, primal and dual have one value, and
solution and certificate stay the same; ``verify`` passes, and catches a conjugate that is wrong; and on signals whose
classes differ in one smooth bump, this regularizer errs less than ½ ‖w‖².
"""

import warnings
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct


# %%
# R alone.
@dataclass(frozen=True)
class Smooth(ct.formulations.Regularizer):
    """Half the squared norm, and λ/2 times the squares of the differences of neighbouring weights."""

    strength: float
    size: int

    def value(self, w):
        return 0.5 * float(w @ w) + 0.5 * self.strength * float(np.sum(np.diff(w) ** 2))

    def expression(self, cvxpy, w):
        return 0.5 * cvxpy.sum_squares(w) + 0.5 * self.strength * cvxpy.sum_squares(cvxpy.diff(w)), []

    def __str__(self):
        return "½ ‖w‖² + ½ λ Σ (w_{j+1} - w_j)²"

    def latex(self):
        return r"\tfrac12 \lVert w \rVert^2 + \tfrac12 \lambda \sum_j (w_{j+1} - w_j)^2"


# %%
# Signals of fifty values; those of one class have a bump.  Ten of eighty have a label.
places, size = np.linspace(0, 1, 50), 50
bump = 0.45 * np.exp(-0.5 * ((places - 0.4) / 0.08) ** 2)


def signals(seed):
    """Problem and true labels."""
    rng, truth = np.random.default_rng(seed), np.resize([1.0, -1.0], 80)
    X = rng.normal(size=(80, size)) + truth[:, None] * bump
    return ct.Problem(X, np.where(np.arange(80) < 10, truth, 0.0), C=1.0, C_unlabeled=0.3, balance=0.0), truth


problem, truth = signals(0)
by_value = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=Smooth(30.0, size))
short = ct.cccp(by_value, problem)
print(short.certificate())
assert short.certificate().gap < 1e-6
try:
    by_value.dual(problem)
except ValueError as error:
    print(error)


# %%
# R(w) = ½ wᵀ A w with A = I + λ DᵀD, so that R*(v) = ½ vᵀ A⁻¹ v, which is reached at w = A⁻¹ v.
@dataclass(frozen=True)
class WithDual(Smooth):
    """The same with its conjugate."""

    def inverse(self):
        differences = np.diff(np.eye(self.size), axis=0)
        return np.linalg.inv(np.eye(self.size) + self.strength * differences.T @ differences)

    def weights(self, v):
        return self.inverse() @ v

    def conjugate_expression(self, cvxpy, v):
        return 0.5 * cvxpy.quad_form(v, self.inverse()), []


model = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=WithDual(30.0, size))
print(model)
values = [model.primal(problem).solve(solver="CLARABEL"), model.dual(problem).solve(solver="CLARABEL")]
print(f"primal {values[0]:.8f}, dual {values[1]:.8f}")
assert abs(values[0] - values[1]) < 1e-6 * abs(values[0])
solution = ct.cccp(model, problem)
print(solution)
assert np.allclose(solution.weights, short.weights, atol=1e-5)
assert solution.certificate().gap < 1e-6
assert ct.verify(model, problem).passed


# %%
# ``verify`` finds a conjugate that is wrong.
@dataclass(frozen=True)
class Wrong(WithDual):
    """The same with twice the conjugate."""

    def conjugate_expression(self, cvxpy, v):
        return cvxpy.quad_form(v, self.inverse()), []


wrong = ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=Wrong(30.0, size))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # the solver's word is doubted, too
    report = ct.verify(wrong, problem)
print([check.name for check in report.checks if not check.passed])
assert not report.passed

# %%
# Ten draws, and the weights of the first.
plain = ct.cccp_tsvm(s=-0.3)
errors = np.array(
    [
        [100 * (ct.cccp(one, given).labels != labels).mean() for one in (plain, model)]
        for given, labels in map(signals, range(10))
    ]
)
print(f"error: ½ ‖w‖² {errors[:, 0].mean():.1f} %, with neighbours {errors[:, 1].mean():.1f} %")
assert errors[:, 1].mean() < errors[:, 0].mean()
figure, axes = plt.subplots(figsize=(10.5, 4), layout="constrained")
for name, found in (("½ ‖w‖²", ct.cccp(plain, problem)), ("with differences of neighbours", solution)):
    axes.plot(places, found.weights / np.linalg.norm(found.weights), label=name)
axes.plot(places, bump / np.linalg.norm(bump), "k--", label="the bump")
axes.set(xlabel="place", ylabel="weight", title="weights of a classifier of signals")
axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

plt.show()
