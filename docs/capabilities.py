"""The page that says what can be done with which formulation, made by doing it.

    python docs/capabilities.py          writes docs/capabilities.rst

Every cell is a run on a problem of fourteen points; where there is a refusal the page shows its message.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np

import convex_tsvm as ct
from convex_tsvm.cli import main as command_line

PAGE = Path(__file__).with_name("capabilities.rst")

TUBE = ct.losses.epsilon_insensitive(0.1)

#: Two bags of each class.
BAGS = ct.formulations.bag_loss(ct.hinge(), [[10, 11], [12, 13], [6, 7], [8, 9]], [1, 1, -1, -1])


def responses(loss: Any) -> ct.PointGroup:
    """Four points with responses."""
    return ct.PointGroup(range(10, 14), loss, 1.0, target=[0.5, -0.5, 1.0, -1.0], name="responses")


def ordinal() -> tuple[ct.PointGroup, ct.PointGroup]:
    """Points in three ordered classes, with the thresholds -1 and 1: each point has both, by a group for each."""
    above = [[1, -1, 1, 1, 1, -1, 1], [-1, -1, 1, -1, 1, -1, 1]]
    return tuple(
        ct.PointGroup(range(k, 14, 2), ct.hinge(), 1.0, f"above {t}", sign=above[k], target=t)
        for k, t in enumerate((-1.0, 1.0))
    )  # type: ignore[return-value]


def of_groups(*groups: ct.PointGroup) -> ct.Formulation:
    """A formulation of groups alone, on points without labels."""
    return ct.Formulation(ct.hinge(), balance=None, groups=groups)


def non_negative_risk(w: Any, b: Any, f: Any) -> Any:
    """That of three positive points and eight unlabelled ones, half of which are positive (Kiryo et al. 2017)."""
    return cp.sum(cp.pos(1 - f[0:6:2])) / 6 + cp.maximum(cp.sum(cp.pos(1 + f[6:])) / 8, of_positive(f))


def of_positive(f: Any) -> Any:
    """The part of the positive points in the risk of negative ones."""
    return cp.sum(cp.pos(1 + f[0:6:2])) / 6


def added(function: Any, minus: Any) -> ct.Formulation:
    """Nothing but a difference of two terms of several outputs."""
    term = ct.formulations.addition(function, minus=minus, least=0.0)
    return ct.Formulation(ct.hinge(), balance=None, fit_intercept=False, additions=[term])


#: Formulations, with the options of the command line that name them, or None.
FORMULATIONS: dict[str, tuple[Callable[[], ct.Formulation], list[str] | None]] = {
    "SVM": (ct.svm, None),
    "hinge": (lambda: ct.tsvm("hinge"), ["--loss", "hinge"]),
    "squared hinge": (ct.s3vm, ["--loss", "squared_hinge"]),
    "hard margin": (ct.hard_margin_s3vm, ["--loss", "hard_margin"]),
    "ramp (the default)": (ct.tsvm, ["--loss", "ramp"]),
    "flat loss": (lambda: ct.tsvm("flat"), ["--loss", "flat"]),
    "exp(-5 t²)": (lambda: ct.tsvm("exp"), ["--loss", "exp"]),
    "ramps on labelled points, too": (lambda: ct.Formulation(ct.ramp(-0.4), ct.symmetric_ramp(-0.3)), None),
    "a loss of one's own": (lambda: ct.Formulation(ct.hinge(), ct.losses.two_slope_symmetric_ramp(-0.3, 0.3)), None),
    "compact margin": (lambda: ct.compact_margin(1.3, 0.5, 0.5), ["--formulation", "cmm"]),
    "compact margin, hard": (lambda: ct.compact_margin(2.0, np.inf, np.inf), None),
    "relative margin": (lambda: ct.relative_margin(1.3, 0.5), ["--formulation", "rmm"]),
    "ramp with a must-link": (lambda: replace(ct.tsvm(), constraints=(ct.must_link(4, 6),)), None),
    "ramp, free bias": (lambda: ct.tsvm(balance=None), ["--loss", "ramp", "--balance", "none"]),
    "1-norm (CS³VM)": (ct.cs3vm, ["--formulation", "cs3vm", "--kernel", "linear"]),
    "elastic net, ramp": (
        lambda: ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=ct.formulations.ElasticNet(0.5)),
        None,
    ),
    "group lasso, ramp": (
        lambda: ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), regularizer=ct.formulations.GroupLasso([[0], [1]])),
        None,
    ),
    "ramp with an addition": (
        lambda: replace(
            ct.tsvm(), additions=(ct.formulations.addition(lambda w, b, f: 0.1 * b**2, name="small bias"),)
        ),
        None,
    ),
    "universum, ramp": (lambda: ct.formulations.universum_tsvm([12, 13]), None),
    "responses of a group, ramp": (lambda: replace(ct.tsvm(), groups=(responses(TUBE),)), None),
    "responses, capped tube": (lambda: of_groups(responses(TUBE.minimum(0.5))), None),
    "ordinal (signs and thresholds)": (lambda: of_groups(*ordinal()), None),
    "pairs, some of unknown order": (
        lambda: ct.Formulation(ct.hinge(), ct.symmetric_ramp(-0.3), None, fit_intercept=False),
        None,
    ),
    "positive and unlabelled (PU)": (lambda: ct.Formulation(ct.hinge(), ct.hinge().reflect(), None), None),
    "non-negative risk (nnPU)": (lambda: added(non_negative_risk, minus=of_positive), None),
    "bags (MI-SVM)": (lambda: ct.Formulation(ct.hinge(), balance=None, fit_intercept=False, additions=[BAGS]), None),
    "logistic, ramp": (lambda: ct.Formulation(ct.losses.logistic(), ct.symmetric_ramp(-0.3)), None),
    "hinge, a number of labels": (lambda: ct.tsvm("hinge"), ["--loss", "hinge", "--balance", "exact:0.5"]),
    "ramp, a number of labels": (ct.tsvm, ["--loss", "ramp", "--balance", "exact:0.5"]),
}


def formulations() -> dict[str, tuple[Callable[[], ct.Formulation], list[str] | None]]:
    """Those of the page, and those that were registered, by their names on the command line."""
    plain = ct.Problem([[-1.0], [-0.5], [0.5], [1.0]], [-1, 0, 0, 1])
    own = {
        name: (lambda name=name: ct.build(name, plain).formulation, ["--formulation", name])
        for name in ct.table.registered()
    }
    return FORMULATIONS | own


def problem_of(name: str, formulation: ct.Formulation) -> ct.Problem:
    """Fourteen points in two classes that overlap, six of them labelled."""
    rng, truth = np.random.default_rng(0), np.resize([1.0, -1.0], 14)
    X = rng.normal(size=(14, 2)) + 0.7 * truth[:, None]
    y = np.where(np.arange(14) < 6, truth, 0.0)
    balance: Any = ("exact", 0.5) if "number" in name else 0.0 if formulation.balance else None
    linear = formulation.additions or not formulation.regularizer.is_squared_norm
    kernel: Any = ct.Linear() if linear else ct.RBF(1.5)
    if formulation.unlabeled is None and not formulation.is_plain:
        y = np.zeros(14)  # groups or terms of outputs have the labels
    if "pairs" in name:
        X, kernel = ct.kernels.pairs(X, range(14), [*range(3, 14), 0, 1, 2], kernel)
    if "positive" in name:
        y = np.maximum(y, 0.0)
    return ct.Problem(X, y, kernel=kernel, C=2.0, balance=balance)


def certified(formulation: ct.Formulation, problem: ct.Problem) -> None:
    """Search with a certificate, and prove it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.npz"
        ct.exact_search(formulation, problem, gap=0.01, certificate=path)
        found = ct.prove_certificate(path, formulation, problem)
        if not found.holds:
            raise ValueError(found.problem)


def estimated(formulation: ct.Formulation, problem: ct.Problem) -> None:
    """Fit the classifier that takes any formulation."""
    labels = np.where(problem.y == 0, -1, (problem.y > 0).astype(int))
    kernel = "linear" if problem.is_linear else "rbf"
    ct.TransductiveSVC(loss=formulation, kernel=kernel, balance=problem.balance).fit(problem.X, labels)


def exactly(formulation: ct.Formulation, problem: ct.Problem) -> None:
    """Search, and see that it ends."""
    found = ct.exact_search(formulation, problem, gap=0.01)
    if found.status != "optimal":
        raise ValueError(f"it ended as {found.status}")


#: What is done, in the order of the columns.
COLUMNS: dict[str, Callable[[ct.Formulation, ct.Problem], Any]] = {
    "primal": lambda f, p: f.primal(p),
    "dual": lambda f, p: f.dual(p),
    "CCCP, native": lambda f, p: ct.cccp(f, p, solver="native"),
    "CCCP, CVXPY": lambda f, p: ct.cccp(f, p, solver="cvxpy"),
    "smooth": ct.gradient,
    "bound": lambda f, p: ct.LowerBoundBuilder(f, p).bound(),
    "exact": exactly,
    "mixed-integer": lambda f, p: ct.modeling.MixedIntegerModel(f, p, upper=50.0),
    "certificate": certified,
    "estimator": estimated,
}


def commanded(problem: ct.Problem, options: list[str]) -> None:
    """Solve by the command line."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path, said = Path(folder) / "data.npz", io.StringIO()
        np.savez(path, X=problem.X, y=np.where(np.arange(14) % 2 == 0, 1, -1), labeled=np.arange(6)[None])
        own = [] if "--balance" in options or "cs3vm" in options else ["--balance", "labeled"]
        with contextlib.redirect_stderr(said):
            status = command_line(["solve", str(path), *options, *own])
        if status:
            raise ValueError(said.getvalue().strip().removeprefix("convex-tsvm: "))


def outcome(run: Callable[[], Any]) -> str | None:
    """None where something works, else the first sentence of why not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run()
        except ValueError as error:
            return re.sub(r"\s+", " ", str(error)).strip()
    return None


def found() -> dict[str, list[str | None]]:
    """For every formulation the outcomes of all columns, the command line's last; "-" where it has no name there."""
    table: dict[str, list[str | None]] = {}
    for name, (make, options) in formulations().items():
        formulation = make()
        problem = problem_of(name, formulation)
        outcomes = [outcome(partial(do, formulation, problem)) for do in COLUMNS.values()]
        for more in ([], ["--method", "exact", "--gap", "0.01"]):
            outcomes.append("-" if options is None else outcome(partial(commanded, problem, [*options, *more])))
        table[name] = outcomes
    return table


def page(table: dict[str, list[str | None]]) -> str:
    """The page."""
    notes: list[str] = []
    lines = [
        "What works with what", "====================", "",
        "Every cell is a run on fourteen points (``python docs/capabilities.py``): ✓ where it works, otherwise the",
        "number of the error message below. Formulations without a name on the command line have –. A",
        "test makes the page anew and compares.", "",
        ".. list-table::", "   :header-rows: 1", "   :class: capabilities", "",
    ]  # fmt: skip
    for number, (name, cells) in enumerate(
        [("formulation", [*COLUMNS, "command line", "command line, exact"]), *table.items()]
    ):
        lines.append(f"   * - {name}")
        for cell in cells:
            shown = cell
            if number:
                if cell is None:
                    shown = "✓"
                elif cell == "-":
                    shown = "–"
                else:
                    if cell not in notes:
                        notes.append(cell)
                    shown = str(notes.index(cell) + 1)
            lines.append(f"     - {shown}")
    lines += ["", "Refusals", "--------", ""]
    lines += [f"{number}. ``{note.replace('`', chr(39))}``" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(found()), encoding="utf-8")
