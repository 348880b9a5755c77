"""
A loss of your own: primal, dual, CCCP and native solver from three lines
=========================================================================

Take a loss that no paper has: squared hinge on either side, capped, so that a point deep inside the margin neither
pulls nor is pulled. Written as minima of functions that exist, it gives everything else.

    python examples/your_own_loss.py loss.png
"""

import sys

import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.plotting import save_figure


def your_own_loss(picture=None, show=False):
    """Objective by CVXPY and by the native solver, primal and dual value of a step; pairs that are to be equal."""
    # The loss: min(cap, max(0, 1 - |t|)²), as a minimum of two squared hinges and a constant.
    side, cap = ct.squared_hinge(), 0.5
    loss = side.minimum(side.reflect()).minimum(ct.PLQ([], [(0, 0, cap)])).named("capped squared hinge")

    # The formulation, and a problem.
    model = ct.Formulation(labeled=ct.squared_hinge(), unlabeled=loss, balance="linear", name="capped S3VM")
    data = load_data("two_moons")
    problem = ct.Problem(data.X[::2], data.y[::2], kernel=ct.RBF(sigma=0.3), C=10)

    # What follows from it.
    convex, concave = loss.split()
    save_figure(ct.plot_loss(loss, at=0.6), picture)
    outputs = np.zeros(problem.n)
    primal, dual = model.primal(problem, outputs), model.dual(problem, outputs)
    values = primal.solve(solver="CLARABEL"), dual.solve(solver="CLARABEL")
    native = ct.cccp(model, problem, solver="native")
    cvxpy = ct.cccp(model, problem, solver="cvxpy")
    if show:
        print(loss, convex, concave, sep="\n")
        print("\nLaTeX of the loss:", loss.latex(), sep="\n")
        print(f"\nconvex step: min primal = {values[0]:.8f}, max dual = {values[1]:.8f}")
        print(f"CCCP: {cvxpy.objective:.8f} by CVXPY, {native.objective:.8f} by the native solver\n")
        print(native.certificate(), ct.verify(model, problem), sep="\n\n")
    return {"primal = dual": values, "cvxpy = native": (cvxpy.objective, native.objective)}


if __name__ == "__main__":
    your_own_loss(*sys.argv[1:], show=True)
