"""The derivation of a formulation's CCCP, checked with numbers on a problem."""

from collections.abc import Iterator, Sequence

import cvxpy as cp
import numpy as np

from ..formulations import Formulation, Regularizer
from ..instance.convex_step import ConvexStep
from ..instance.step_solution import StepSolution
from ..losses import PLQ, Loss, SplitLoss
from ..methods import cccp
from ..methods.settings import why_not_solver
from ..modeling import CvxpySolver
from ..problem import Array, Problem
from ..solution import Solution
from ..solvers import NativeSolver
from ..validation import finite
from .exact import Exact, conjugate, exact_or_given, is_concave, is_conjugate, is_convex, is_sum
from .relaxation import paper_checks, relaxation_checks
from .report import Check, Report


def verify(
    formulation: Formulation, problem: Problem, *, tol: float = 1e-6, as_printed: str | Sequence[str] = ()
) -> Report:
    """Check, with numbers, every step that leads from a formulation to its CCCP solution.

    Where the formulation can be relaxed (unlabelled points pay the better of two losses), the SDP relaxation of
    debie2004 §2 is checked as well, on a few of the points.  Where a paper's numbered statements are about the
    formulation (:func:`~convex_tsvm.papers.paper`), they are run on a few of the points, too.  ``print`` the report to
    follow the derivation; ``report.passed`` and ``report["gap"].value`` are for programs.

    Parameters
    ----------
    formulation : Formulation
    problem : Problem
        Small enough for CVXPY: some hundred points.
    tol : float, default 1e-6
        Relative tolerance on values of optimization problems.
    as_printed : str or sequence of str, optional
        Misprints whose printed form is checked in place of the corrected one, such as "collobert2006 eq. 4": the
        report shows which line of the derivation breaks.  One that does not show on the problem, as a mean that is
        counted twice does not where it is 0, is checked on a problem of the paper's on which it does, and says so.

    Examples
    --------
    >>> report = ct.verify(ct.cccp_tsvm(), problem)
    >>> report.passed, report.checks[0].name
    (True, 'split_labelled')
    """
    formulation.check(problem)
    tol = finite("tol", tol, above=0)
    # Where the number of positive labels is fixed, the mean output is fixed in its place: a linear constraint.
    given, problem = problem, formulation.ungrouped(problem.by_mean())
    checks = list(_losses(formulation))
    if problem.is_linear:
        checks += _regularizer(formulation.regularizer, problem.X.shape[1])
    native = why_not_solver("native", formulation, problem) is None
    solution = cccp(formulation, problem, tol=1e-9) if native else cccp(formulation, problem, solver="cvxpy")
    step = getattr(solution.point, "step")  # noqa: B009  # of whichever kind the point is
    checks += _additions(problem, step, tol) if formulation.additions else _duality(problem, step, tol)
    checks += _descent(formulation, solution, _objectives(formulation, problem, native))
    checks += _balance(problem, step, tol) if native else []
    checks += [] if formulation.additions else _constraints(solution, tol)
    checks += relaxation_checks(formulation, problem, tol)
    checks += paper_checks(formulation, given, [as_printed] if isinstance(as_printed, str) else as_printed)
    name = formulation.name or "formulation"
    title = f"{name} on {problem.n_labeled} labelled and {problem.n_unlabeled} unlabelled points"
    return Report(title, tuple(checks))


def _losses(formulation: Formulation) -> Iterator[Check]:
    """The split is exact, its parts are convex and concave, and tangents majorize."""
    losses: list[tuple[str, Loss]] = [("labelled", formulation.labeled)]
    if formulation.unlabeled is not None:
        losses.append(("unlabelled", formulation.unlabeled))
    losses += [(group.name, group.loss) for group in formulation.groups]
    for kind, loss in losses:
        if not isinstance(loss, SplitLoss):
            raise ValueError(f"the loss of {kind} points, {loss!r}, has no convex and concave part to be checked")
        convex, concave = loss.split()
        functions = {"ℓ": exact_or_given(loss), "u": exact_or_given(convex), "v": exact_or_given(concave)}
        if isinstance(functions["ℓ"], Exact) and isinstance(loss, PLQ):
            functions["u"], functions["v"] = functions["ℓ"].split(loss)
        functions["u*"] = conjugate(functions["u"])
        shown = f"loss     {loss!r}\nconvex   {convex!r}\nconcave  {concave!r}"
        for name, claim, source in (
            ("split", is_sum("ℓ", "u", "v"), "collobert2006 eq. 8-9, chapelle2008 §4.1"),
            ("curvature", is_convex("u"), "collobert2006 eq. 8-9, chapelle2008 §4.1"),
            ("concave", is_concave("v"), "collobert2006 eq. 8-9, chapelle2008 §4.1"),
            ("conjugate", is_conjugate("u", "u*"), "Fenchel-Young"),
        ):
            how = "exactly" if claim.is_exact(functions) else "on a grid of outputs"
            says = f"of the loss of {kind} points: {claim.says}, {how}"
            off = 0.0 if claim.holds(functions) else np.inf
            yield Check(f"{name}_{kind}", says, source, off, 0.0, shown if name == "split" else "")
        says = "convex part + tangent of the concave part lies above the loss, and touches it"
        t = np.linspace(-3, 3, 241).clip(*convex.domain)
        # By how much a tangent with the slope that CCCP takes is below the concave part somewhere.
        tangents = concave(t)[:, None] + concave.supergradient(t)[:, None] * (t[None, :] - t[:, None])
        above = float((concave(t)[None, :] - tangents).max())
        yield Check(f"majorizes_{kind}", says, "collobert2006 eq. 5, 7 and 11", above, 1e-9)


def _regularizer(regularizer: Regularizer, n_features: int) -> Iterator[Check]:
    """Checks of a regularizer on random weights; none for ½ ‖w‖², which nothing has to be derived from."""
    if regularizer.is_squared_norm:
        return
    rng = np.random.default_rng(0)
    sizes = np.geomspace(0.3, 10, 6)[:, None]
    slopes = [regularizer.into_domain(v) for v in sizes * rng.normal(size=(len(sizes), n_features))]
    reached = [regularizer.supremum(v) for v in slopes]
    # What a solver found may be outside the domain of R by its tolerance, where the value is infinite.
    weights = [w for _, w in reached if np.isfinite(regularizer.value(w))] or [np.zeros(n_features)]
    values = [regularizer.value(w) for w in weights]
    written = [_least_value(*regularizer.expression(cp, cp.Constant(w))) for w in weights]
    conjugates = [regularizer.conjugate(v) for v in slopes]
    in_dual = slopes if regularizer.has_dual else []
    dual = [_least_value(*regularizer.conjugate_expression(cp, cp.Constant(v))) for v in in_dual]
    largest = "the regularizer's conjugate is the largest value of v·w - R(w), found by CVXPY"
    for name, says, source, found, others in (
        ("value", "the regularizer's value is that of its CVXPY expression", "", written, values),
        ("conjugate", largest, "Fenchel", conjugates, [value for value, _ in reached]),
        ("dual", "the conjugate as a CVXPY expression has the same values", "", dual, conjugates),
    ):
        # A conic solver's value is compared, if there is one.
        if found:
            yield Check(f"regularizer_{name}", says, source, _apart(np.array(found), np.array(others)), 1e-5)
    triples = [(v, regularizer.weights(v), conjugate) for v, conjugate in zip(slopes, conjugates, strict=True)]
    gaps = [(regularizer.value(w) + c - v @ w) / (1 + abs(c)) for v, w, c in triples if w is not None]
    says = "R(w) + R*(v) = v·w at the weights that belong to v" if gaps else "v does not determine the weights"
    yield Check("regularizer_weights", says, "Fenchel-Young", float(np.abs(gaps).max(initial=0.0)), 1e-8)


def _least_value(objective: cp.Expression, constraints: list[cp.Constraint]) -> float:
    """The value of an expression, which may have variables of its own."""
    return float(cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL"))


def _apart(one: Array, other: Array) -> float:
    """The largest relative difference; infinite where one of them is infinite."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(one - other) / (1 + np.abs(other))
    return float(np.nan_to_num(apart, nan=np.inf).max())


def _duality(problem: Problem, step: ConvexStep, tol: float) -> Iterator[Check]:
    """Primal, dual and native solver agree on the last convex step."""
    plq = all(isinstance(loss, PLQ) for loss in step.losses)
    written = all(isinstance(loss, PLQ) or loss.conjugate_expression is not None for loss in step.losses)
    written = written and step.regularizer.has_dual
    # Primal and dual values are those that CVXPY reports for each problem; the dual needs conjugates.
    solvers = [CvxpySolver(problem, form=form) for form in ("primal", *(["dual"] if written else []))]
    dual = [solver.solve(step) for solver in solvers][-1]
    least = float(solvers[0].model(step).problem.value)
    most = float(solvers[1].model(step).problem.value) if written else dual.dual
    scale = max(1.0, abs(least))
    says = "the primal and the dual, solved separately through CVXPY, have the same value"
    detail = f"min primal = {least:.10g}\nmax dual   = {most:.10g}"
    yield Check("primal_dual", says, "collobert2006 eq. 25-27", abs(least - most) / scale, tol, detail)
    yield _optimality("cvxpy", dual, step, tol)
    if not step.regularizer.is_squared_norm or not plq:
        return
    native = NativeSolver(problem, tol=1e-9).solve(step)
    says = "the native solver's own primal and dual values meet, recomputed from its dual variables"
    detail = f"primal = {native.primal:.12g}\ndual   = {native.dual:.12g}"
    yield Check("gap", says, "", abs(native.gap), tol, detail)
    says, detail = "the native solver and CVXPY find the same value", f"native {native.primal:.10g}, CVXPY {least:.10g}"
    yield Check("native_cvxpy", says, "", abs(native.primal - least) / scale, tol, detail)
    yield _optimality("native", native, step, tol)


def _additions(problem: Problem, step: ConvexStep, tol: float) -> Iterator[Check]:
    """The value of a step with additions is the one that is recomputed from its point; its dual is not known."""
    solver = CvxpySolver(problem)
    point = solver.solve(step)
    value = float(solver.model(step).problem.value)
    says = "the last convex step, with its additions, has the value that is recomputed from w (or a) and b"
    detail = f"{point.word}: {value:.10g}, recomputed: {point.primal:.10g}"
    detail += f", constraints met to {point.primal_infeasibility:.1e}"
    yield Check("additions", says, "", abs(point.primal - value) / max(1.0, abs(value)), max(tol, 1e-5), detail)


def _optimality(solver: str, point: StepSolution, step: ConvexStep, tol: float) -> Check:
    """Fenchel-Young gaps: each is >= 0 and all are zero exactly at an optimum (the KKT conditions)."""
    outputs, gamma = point.outputs, point.gamma
    total = step.loss_value(outputs) + step.conjugate_value(gamma) + float(gamma @ outputs)
    if step.rows is not None:
        total += step.rows.conjugate_value(point.multipliers) + float(point.multipliers @ (step.rows.A @ outputs))
    says = f"KKT conditions ({solver}): -γ_i is a subgradient of point i's loss at f_i, Σ γ_i + γ₀ = 0"
    source = "collobert2006 Algorithm 2, KKT conditions after eq. 26"
    off = max(abs(total) / max(1.0, abs(point.primal)), point.dual_infeasibility / (1 + float(np.abs(gamma).sum())))
    detail = f"Σ Fenchel-Young gaps = {total:.1e}, largest |f - prox(f - γ)| = {point.kkt:.1e}"
    return Check(f"kkt_{solver}", says, source, off, tol, detail)


def _objectives(formulation: Formulation, problem: Problem, native: bool) -> Array:
    """Objectives of some steps from random outputs, each computed from the formulation rather than taken from CCCP."""
    solver = NativeSolver(problem, tol=1e-9) if native else CvxpySolver(problem)
    outputs, found = np.random.default_rng(0).normal(size=problem.n), []
    # Steps from random outputs, whose objectives are compared.
    for _ in range(5):
        point = solver.solve(formulation.on(problem).step(outputs))
        outputs = point.outputs
        found.append(formulation.objective(problem, outputs, point.regularization))
    return np.array(found)


def _descent(formulation: Formulation, solution: Solution, objectives: Array) -> Iterator[Check]:
    """The objective never rises, and CCCP stops at a stationary point."""
    rises = np.diff(objectives) / np.maximum(1.0, np.abs(objectives[:-1]))
    says, detail = "the objective never rises from step to step", " → ".join(f"{value:.8g}" for value in objectives)
    off = float(rises.max(initial=0.0))
    yield Check("monotone", says, "collobert2006 eq. 6-7", off, 1e-6, f"objective {detail}")
    # With smooth concave parts the tangents converge without ever being equal.
    share = 0.0 if formulation.has_finitely_many_tangents else 0.01
    changed = solution.certificate().tangents_changed
    says = f"the tangents at the solution are those it was found with, after {solution.n_iter} steps"
    source, off = "collobert2006 §2, finite convergence", (changed or 0) / max(1, solution.problem.n)
    yield Check("stationary", says, source, off, share, f"tangents that differ: {changed}")


def _balance(problem: Problem, step: ConvexStep, tol: float) -> Iterator[Check]:
    """The extra point x₀ and centring give the same value, and the mean output is c."""
    if step.target is None or not step.fit_intercept:
        return
    centred, extra = (NativeSolver(problem, tol=1e-9, balance_by=by).solve(step) for by in ("centring", "x0"))
    dual_x0 = CvxpySolver(problem, form="dual", balance_by="x0").solve(step)
    values: Array = np.array([centred.primal, extra.primal, dual_x0.primal])
    yield Check(
        "x0_centring",
        "the extra point x₀ with a free bias = features centred on the unlabelled mean with the bias fixed",
        "collobert2006 eq. 10 and 27, chapelle2008 eq. 13",
        float(np.ptp(values)) / max(1.0, abs(values[0])),
        tol,
        f"centring {centred.primal:.10g}, x₀ {extra.primal:.10g} (native), {dual_x0.primal:.10g} (CVXPY)\n"
        f"α₀ = {extra.gamma0:.6g} with x₀, -Σ γ = {centred.gamma0:.6g} with centring; "
        f"outputs differ by {np.abs(centred.outputs - extra.outputs).max():.1e}",
    )
    mean = float(extra.outputs[step.members].mean())
    says, source = "the mean output over the unlabelled points is c", "collobert2006 eq. 4, chapelle2008 eq. 12"
    yield Check("balance", says, source, abs(mean - step.target), 1e-8, f"mean {mean:.10g}, c {step.target:.10g}")


def _constraints(solution: Solution, tol: float) -> Iterator[Check]:
    """Constraints on outputs hold, and pull only where they are met with equality."""
    rows, point = solution.step.step.rows, solution.step
    if rows is None:
        return
    sums, mu = np.asarray(rows.A @ point.outputs), point.multipliers
    pulls = mu * (sums - np.where(mu > 0, rows.lower, np.where(mu < 0, rows.upper, sums)))
    says, off = "every constrained sum of outputs is in its interval", float(rows.infeasibility(point.outputs).max())
    found = (
        f"{name}: {s:.8g} in [{low:g}, {high:g}], multiplier {m:.4g}"
        for name, s, low, high, m in zip(rows.names, sums, rows.lower, rows.upper, mu, strict=True)
    )
    yield Check("constraints", says, "", off, 1e-5, "\n".join(found))
    says = "a constraint's multiplier is zero unless its sum is at an end (the KKT condition of a point Σ a_i Φ(x_i))"
    source, off = "collobert2006 eq. 10, for any a", float(np.abs(pulls).max()) / max(1.0, abs(point.primal))
    yield Check("constraints_pull", says, source, off, max(tol, 1e-5))
