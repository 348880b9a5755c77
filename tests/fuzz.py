"""Random tiny instances of every degenerate kind, held to rigorous arithmetic; what fails is shrunk and saved.

    make fuzz SECONDS=600            or            python tests/fuzz.py --seconds 600 [--seed 0] [--keep fuzz_failures]

Instances have duplicates, zero rows, points far from the origin, tiny and huge scales, extreme costs and balances, odd
dtypes and layouts.  For each, every bound that the library gives (of partial labellings, relaxations, searches, CCCP)
is compared with the optimum by enumeration (``exact_optimum.py``), certificates are checked rigorously, and statuses
are compared with recomputed figures.  A failing instance is shrunk (fewer points, fewer features, rounder numbers) as
long as it fails in the same way, and saved as an ``.npz`` that ``python tests/fuzz.py --replay FILE`` runs again.
"""

import argparse
import itertools
import json
import signal
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp
from exact_optimum import reference
from flint import arb

import convex_tsvm as ct
from convex_tsvm.instance.labelling import why_not_relaxable
from convex_tsvm.relaxations import LabelModel
from convex_tsvm.relaxations.box import LabelBox
from convex_tsvm.relaxations.proof import single
from convex_tsvm.relaxations.safe_bounds import svm_bound, transduction_bound
from convex_tsvm.relaxations.svm.known_labels import SVMProof

#: A search that takes longer than this, in seconds, on so few points has lost its way; so has one CCCP.
PATIENCE = 20.0

#: Work on one instance that takes longer than this, in seconds, has no end.
HUNG = 300.0


@dataclass(frozen=True)
class Case:
    """One instance, as numbers that can be saved."""

    X: np.ndarray
    y: np.ndarray
    kernel: str = "linear"
    gamma: float = 1.0
    C: float = 1.0
    C_unlabeled: float = 1.0
    loss: str = "hinge"
    balance: object = None
    targets: bool = False
    fit_intercept: bool = True
    layout: str = "C"

    def problem(self):
        """The problem; a ValueError for one that is refused, which is as good as solved."""
        kernel = {
            "linear": ct.Linear(), "rbf": ct.RBF(gamma=self.gamma), "poly": ct.kernels.Polynomial(2, self.gamma, 1.0)
        }[self.kernel]  # fmt: skip
        X = self.X
        if self.layout == "sparse":
            X = sp.csr_array(X)
        elif self.layout == "float32":
            X = X.astype(np.float32)
        elif self.layout == "F":
            X = np.asfortranarray(X)
        elif self.layout == "strided":
            X = np.repeat(X, 2, axis=1)[:, ::2]
        return ct.Problem(
            X, self.y, kernel=kernel, C=self.C, C_unlabeled=self.C_unlabeled, balance=self.balance
        )  # fmt: skip

    def formulation(self):
        """Hinge or squared hinge, with the balance that the problem has."""
        kind = "targets" if self.targets else None if self.balance is None else "linear"
        if self.loss == "hinge":
            return ct.cccp_tsvm(0.0, balance=kind, fit_intercept=self.fit_intercept)
        return ct.s3vm(balance=kind, fit_intercept=self.fit_intercept)

    def save(self, path, why):
        """Write it, with the reason."""
        rest = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("X", "y")}
        np.savez(path, X=self.X, y=self.y, header=np.array(json.dumps({**rest, "why": why})))

    @staticmethod
    def load(path):
        """Read it."""
        file = np.load(path)
        header = json.loads(str(file["header"]))
        header.pop("why")
        if isinstance(header["balance"], list):
            header["balance"] = tuple(header["balance"])
        return Case(file["X"], file["y"], **header)


def drawn(rng):
    """A random instance."""
    n, d = int(rng.integers(3, 6)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    kinds = rng.random(6) < 0.3
    if kinds[0]:
        X[rng.integers(n)] = X[rng.integers(n)]
    if kinds[1]:
        X[rng.integers(n)] = 0
    if kinds[2]:
        X = np.round(X)
    X = X * 10.0 ** rng.uniform(-8, 9) if kinds[3] else X * rng.choice([1e-8, 1e-4, 1.0, 1.0, 1.0, 1e4, 1e9])
    if kinds[4]:
        X = X * 10.0 ** rng.uniform(-4, 4, size=d)
    if kinds[5]:
        X = X + rng.normal(size=d) * 10.0 ** rng.uniform(0, 9)
    y = np.zeros(n)
    n_labeled = int(rng.integers(2, n))
    y[:n_labeled] = rng.choice([-1.0, 1.0], n_labeled)
    y[:2] = rng.permutation([-1.0, 1.0])
    order = rng.permutation(n)
    X, y = X[order], y[order]
    u = n - n_labeled
    spread = float(np.var(X)) or 1.0
    gamma = 10.0 ** rng.uniform(-2, 2) / spread if rng.random() < 0.8 else 10.0 ** rng.uniform(-10, 10)
    balance = rng.choice(np.array(["none", "labeled", "number", "extreme", "exact"], dtype=object))
    balance = {
        "none": None, "labeled": "labeled", "number": float(rng.uniform(-0.9, 0.9)),
        "extreme": float(rng.choice([-1, 1]) * (1 - 10.0 ** rng.uniform(-9, -1))),
        "exact": ("exact", float((rng.integers(0, u + 1) + 0.5) / (u + 1))),
    }[balance]  # fmt: skip
    loss = str(rng.choice(["hinge", "squared"]))
    targets = loss == "squared" and balance is not None and not isinstance(balance, tuple) and rng.random() < 0.3
    fit_intercept = not targets and bool(rng.random() < 0.6)
    C = 10.0 ** rng.uniform(-6, 6) if rng.random() < 0.5 else 1.0
    return Case(
        X, y, str(rng.choice(["linear", "rbf", "poly"])), gamma, C, C * 10.0 ** rng.uniform(-2, 1),
        loss, balance, targets, fit_intercept, str(rng.choice(["C", "C", "F", "float32", "strided", "sparse"])),
    )  # fmt: skip


@dataclass
class Tally:
    """What was looked at."""

    cases: int = 0
    refused: int = 0
    bounds: int = 0
    searches: int = 0
    optimal: int = 0
    proven: int = 0
    failures: list = field(default_factory=list)

    def __str__(self):
        return (
            f"{self.cases} instances ({self.refused} refused with a reason), {self.bounds} bounds, "
            f"{self.searches} searches ({self.optimal} optimal, {self.proven} proven rigorously), "
            f"{len(self.failures)} failures"
        )


class Failure(Exception):
    """Something false; the first word says of which kind."""


def checked(case, tally, folder):
    """Hold everything to the reference; Failure if something is false."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            problem, formulation = case.problem(), case.formulation()
            model = LabelModel(formulation, problem)
        except ValueError:
            tally.refused += 1
            return
        if problem.X.dtype != np.float64:
            raise Failure("dtype: points are not held in double precision")
        known = reference(formulation, problem)
        table = {tuple(labels): known.optimum(labels) for labels in known.labellings()}
        hold_partial(case, model, table, tally)
        rng = np.random.default_rng(np.frombuffer(case.X.tobytes(), dtype=np.uint32))
        hold_builder(formulation, problem, table, tally, rng)
        hold_search(formulation, problem, table, tally, folder)
        hold_descents(formulation, problem, table, tally, rng)
        hold_estimators(case, formulation, problem, table, tally, rng)


def least(table, labels, end):
    """The least optimum over the labellings that agree with some labels; end 0 or 1 of its enclosure."""
    values = [v[end] for full, v in table.items() if all(y in (0, full[i]) for i, y in enumerate(labels))]
    return min(values, key=float, default=arb("inf"))


def hold(bound, optimum, what, tally):
    """A bound is not above an optimum's upper end, by any amount."""
    tally.bounds += 1
    if np.isnan(bound) or (bound != -np.inf and not arb(float(bound)) <= optimum):
        raise Failure(f"bound: {what} says {bound!r}, the optimum is at most {float(optimum)!r}")


def hold_partial(case, model, table, tally):
    """Bounds of the SVM, of the quadratics and of the label matrices for partial labellings."""
    search, rng = model.search, np.random.default_rng(0)
    for signs in itertools.product((0.0, 1.0, -1.0), repeat=len(search.unknown)):
        labels = search.y.copy()
        labels[search.unknown] = signs
        optimum = least(table, labels, 1)
        box = model.count(LabelBox.of_labels(labels))
        if box.is_empty:
            continue
        point = model.svm.solve(box.labels)
        proof = SVMProof(point.gamma if model.svm.free_bias else single(point.gamma))
        hold(point.value, optimum, f"the SVM of {labels}", tally)
        bound, smaller = proof.apply(model, box, float(optimum))
        hold(bound, optimum, f"the stored SVM of {labels}", tally)
        hold(model.svm.point(box.labels, rng.normal(size=search.n) * search.cost).value, optimum, "any γ", tally)
        # The optimum itself is never cut off.
        if smaller.is_empty and float(optimum) < np.inf and point.value < float(optimum) * (1 - 1e-6):
            raise Failure(f"box: the SVM of {labels} leaves no solution at the optimum")
        full = (labels != 0).all()
        if full and float(optimum) < np.inf:
            objective = model.svm.objective(labels, point)
            if not arb(float(objective)) >= least(table, labels, 0):
                raise Failure(f"objective: {objective!r} for {labels}, below the optimum {float(optimum)!r}")
        if why_not_relaxable(search) is None and not full:
            part = search.fixed(box.labels)
            if len(part.unknown):
                alpha, lam = np.abs(rng.normal(size=search.n)) * search.cost, rng.normal(size=1 + len(part.unknown))
                hold(transduction_bound(part, alpha, lam), optimum, f"label matrices at {labels}", tally)
                hold(svm_bound(part, point.gamma), optimum, f"weak duality at {labels}", tally)


#: All relaxations, of which many are for other losses or balances.
RELAXATIONS = ("svm", "sdp", "signs", "envelope", "curvature")

#: How far an objective may be below the optimum, relatively: by rounding, and by the tolerance of descents.
SLACK, TOLERANCE = 1e-6, 1e-3


#: How far an objective may be below the optimum beside the costs, of which it is a sum: by rounding.
BESIDE_COSTS = 1e-9


def hold_objective(value, low, what, costs, slack=SLACK):
    """What is called reached is not below the optimum's lower end."""
    room = BESIDE_COSTS * min(1.0, float(costs.sum()))
    if np.isnan(value) or (value < np.inf and not arb(float(value)) * (1 + slack) + room >= low):
        raise Failure(f"objective: {what} says {value!r}, the optimum is at least {float(low)!r}")


def hold_builder(formulation, problem, table, tally, rng):
    """Bounds of every stage of the relaxations, and what they call reached."""
    low, high = (least(table, problem.y, end) for end in (0, 1))
    squared = formulation.label_loss()[0].isclose(ct.squared_hinge())
    for relaxation in {"signs" if squared else "sdp", str(rng.choice(RELAXATIONS)), str(rng.choice(RELAXATIONS))}:
        try:
            found = ct.LowerBoundBuilder(formulation, problem, relaxation=relaxation, max_rounds=2).bound()
        except ValueError:
            continue
        for stage in found.stages:
            hold(min(stage.bound, found.upper), high, f"relaxation {stage.name!r}", tally)
        hold(found.value, high, f"LowerBoundBuilder, {relaxation!r}", tally)
        hold_objective(found.upper, low, f"LowerBoundBuilder, {relaxation!r}, upper", problem.cost)


def hold_search(formulation, problem, table, tally, folder):
    """Bound, objective, status and certificate of a search."""
    path, (low, high) = Path(folder) / "certificate.npz", (least(table, problem.y, end) for end in (0, 1))
    began = time.process_time()  # a machine that is busy with other work is no fault of the search's
    try:
        found = ct.exact_search(formulation, problem, certificate=path, time_limit=PATIENCE, patience=0)
    except ct.InfeasibleError:
        if float(high) < np.inf:
            raise Failure("status: called infeasible, but it is not") from None
        return
    if time.process_time() - began > PATIENCE + 2:
        raise Failure(f"time: the search took {time.process_time() - began:.1f} s of the processor")
    tally.searches += 1
    hold(found.lower_bound, high, "the search", tally)
    if not arb(float(found.objective)) >= low:
        raise Failure(f"objective: the search says {found.objective!r}, the optimum is at least {float(low)!r}")
    tally.optimal += found.status == "optimal"
    if found.status == "optimal" and not found.gap <= 1e-6 * (1 + 1e-5):
        raise Failure(f"status: optimal with a gap of {found.gap!r}")
    verdict = ct.prove_certificate(path)
    tally.proven += verdict.holds
    if not verdict.holds and found.status == "optimal":
        raise Failure(f"certificate: an honest one is not proven: {verdict.problem}")


#: Descents with their options; the loss of a search for labels is what they all take, where they take it.
DESCENTS = [
    (ct.cccp, {}), (ct.cccp, {"annealing": 5}), (ct.cccp, {"solver": "cvxpy"}), (ct.switching, {}), (ct.annealing, {}),
    (ct.linearization, {}), (ct.gradient, {}), (ct.continuation, {}), (ct.newton, {}),
    (ct.sdp_transduction, {}),
]  # fmt: skip


def hold_descents(formulation, problem, table, tally, rng):
    """Bound, objective, status and time of CCCP, and of two more descents."""
    if formulation.balance == "targets":
        return
    low, high = (least(table, problem.y, end) for end in (0, 1))
    for number in {0, *rng.integers(1, len(DESCENTS), 2).tolist()}:
        descent, options = DESCENTS[number]
        began = time.process_time()
        try:
            found = descent(formulation, problem, **({"max_iter": 50} if number == 0 else {}), **options)
        except (ValueError, RuntimeError):  # the second where a solver of CVXPY's fails, which it names
            continue
        if time.process_time() - began > PATIENCE:
            raise Failure(f"time: {descent.__name__} took {time.process_time() - began:.1f} s of the processor")
        if not np.isfinite(found.scores).all() or not np.isfinite(found.objective):
            raise Failure(f"nan: {descent.__name__} returns numbers that are none")
        if found.lower_bound is not None:
            hold(found.lower_bound, high, f"{descent.__name__}'s lower bound", tally)
        counted = problem.positive_count
        as_asked = counted is None or int((found.labels[problem.unlabeled] > 0).sum()) == counted
        if found.status == "converged" and as_asked:
            hold_objective(found.objective, low, descent.__name__, problem.cost, TOLERANCE)
        if number == 0:
            again = found.certificate()
            if found.status == "converged" and not (again.gap <= 1.1e-3 and again.primal_infeasibility <= 1.1e-3):
                raise Failure(f"status: converged with a recomputed gap of {again.gap:.2g}")


def hold_estimators(case, formulation, problem, table, tally, rng):
    """What exact search, the SDP relaxation and CCCP report as estimators."""
    if problem.X.dtype != np.float64 or case.targets:
        return
    low, high = (least(table, problem.y, end) for end in (0, 1))
    kind = [ct.ExactTransductiveSVC, ct.SDPTransduction, ct.TransductiveSVC][rng.integers(3)]
    kernel = {"degree": 2, "coef0": 1.0} if case.kernel == "poly" else {}
    options = {
        "C": case.C,
        "C_unlabeled": case.C_unlabeled,
        "balance": case.balance,
        "unlabeled": 0,
        "gamma": case.gamma,
    }
    try:
        clf = kind(loss=formulation, kernel=case.kernel, **kernel, **options).fit(problem.X, case.y)
    except ValueError:
        return
    if clf.lower_bound_ is not None:
        hold(clf.lower_bound_, high, f"{kind.__name__}.lower_bound_", tally)
    counted = problem.positive_count
    if clf.status_ == "converged" and counted in (None, int((clf.transduction_[problem.unlabeled] > 0).sum())):
        hold_objective(clf.objective_, low, f"{kind.__name__}.objective_", problem.cost, TOLERANCE)


@contextmanager
def limited(seconds):
    """Raise Failure in work that takes longer than this, in seconds of the processor: it may have no end."""

    def stop(number, frame):
        raise Failure(f"time: no end after {seconds:.0f} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fails(case, folder):
    """What is false of an instance, or None."""
    try:
        with limited(HUNG):
            checked(case, Tally(), folder)
    except Failure as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def shrunk(case, why, folder):
    """A simpler instance that fails in the same way."""
    kind = why.split(":")[0]

    def simpler(case):
        n, d = case.X.shape
        for i in range(n):
            keep = np.arange(n) != i
            if {-1.0, 1.0} <= set(case.y[keep]) and (case.y[keep] == 0).any():
                yield replace(case, X=case.X[keep], y=case.y[keep])
        for j in range(d if d > 1 else 0):
            yield replace(case, X=np.delete(case.X, j, axis=1))
        for digits in (0, 1, 3):
            with np.errstate(all="ignore"):
                scale = 10.0 ** (np.floor(np.log10(np.abs(case.X).max() or 1.0)) - digits)
            rounded = np.round(case.X / scale) * scale
            if not np.array_equal(rounded, case.X):
                yield replace(case, X=rounded)
        for name, value in (("C", 1.0), ("C_unlabeled", 1.0), ("balance", None), ("layout", "C"), ("gamma", 1.0)):
            if getattr(case, name) != value and not (name == "balance" and case.targets):
                yield replace(case, **{name: value})

    began, found = time.time(), True
    while found and time.time() < began + 120:
        found = False
        for other in simpler(case):
            reason = fails(other, folder)
            if reason is not None and reason.split(":")[0] == kind:
                case, why, found = other, reason, True
                break
    return case, why


def fuzz(seconds=np.inf, instances=np.inf, seed=0, keep=None, progress=False):
    """Instances until time or number is up; the tally."""
    tally, began = Tally(), time.time()
    with TemporaryDirectory() as folder:
        while time.time() < began + seconds and tally.cases < instances:
            number = seed * 10**9 + tally.cases
            case = drawn(np.random.default_rng(number))
            tally.cases += 1
            try:
                with limited(HUNG):
                    checked(case, tally, folder)
                continue
            except Failure as error:
                why = str(error)
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
            tally.failures.append((number, why))
            if keep is not None:
                case, why = shrunk(case, why, folder)
                Path(keep).mkdir(exist_ok=True)
                case.save(Path(keep) / f"{number}.npz", why)
            if progress:
                print(f"instance {number}: {why}", flush=True)
    return tally


def main():
    """The command line; exit status 1 if something is false."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6, help="default: from the clock")
    parser.add_argument("--keep", default="fuzz_failures", help="folder for reproducers")
    parser.add_argument("--replay", help="a reproducer to be run again")
    options = parser.parse_args()
    if options.replay:
        with TemporaryDirectory() as folder:
            why = fails(Case.load(options.replay), folder)
        print(why or "nothing is false")
        return int(why is not None)
    print(f"seed {options.seed}", flush=True)
    tally = fuzz(options.seconds, seed=options.seed, keep=options.keep, progress=True)
    print(tally)
    return int(bool(tally.failures))


if __name__ == "__main__":
    raise SystemExit(main())
