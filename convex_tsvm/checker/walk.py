"""The walk through a search tree, from the root down: every bound, every smaller box, and whether all is covered."""

import hashlib
import json
import math
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .balls import BITS, Refused, demand
from .envelopes import Outputs, by_envelopes
from .labels import Labels, by_matrix, by_svm
from .signs import EACH, by_signs
from .weights import Weights, by_planes

FORMAT = "convex_tsvm certificate 1"
PROBLEM = {"y", "cost", "balance_points", "X", "X_data", "X_indices", "X_indptr", "X_shape"}

#: What a search may be about: the space that says what its boxes are, and its kinds of proofs, as files call them:
#: functions of the space, a box, the stored proof and a cutoff.  Each returns a bound that no solution in the box is
#: below, and a smaller box that has all those below the cutoff.
SPACES: dict[str, tuple[Any, dict[str, Callable[..., Any]]]] = {
    "labels": (Labels, {"SVM of the known labels": by_svm, "label matrices": by_matrix, "signs": by_signs}),
    "outputs": (Outputs, {"envelopes": by_envelopes}),
    "weights": (Weights, {"planes": by_planes}),
}


def named(**parts: str) -> set[str]:
    """Names of arrays: each prefix with each of its words."""
    return {f"{prefix}_{word}" for prefix, words in parts.items() for word in words.split()}


#: Sets of multipliers: arrays one after the other, and where each ends.
MULTIPLIERS = (*EACH, "labels", "arc_low", "arc_high", "triangles", "margins", "weights", "curvature")
KNOWN = (
    PROBLEM
    | {"header", "labels", "gamma", "mean", "targets", "root", "rows", "coefficients", "intercept"}
    | {"bend", "kink", "centre", "axes", "proven", "proven_threshold"}
    | named(
        record="parent sign variable place bound",
        proof="record kind cutoff number share lift vector vector_end",
        node="low high gamma v bounds numbers",
        multiplier=" ".join(f"{name} {name}_end" for name in MULTIPLIERS),
        loss="labeled unlabeled own own_end",
        own="loss cost",
        witness="labels gamma targets mean",
        row="low high",
        root="low high cutoff",
    )
)


@dataclass
class Verdict:
    """Whether the claim is proven, why not, and what was checked; proofs of ``unknown`` kinds were passed over."""

    holds: bool
    problem: str
    lower_bound: float = math.nan
    upper_bound: float = math.nan
    n_nodes: int = 0
    n_proofs: int = 0
    n_open: int = 0
    unknown: tuple[str, ...] = ()
    seconds: float = 0.0
    n_proven: int | None = None  # labels that every solution with an objective below a threshold has
    n_witnesses: int = 0
    threshold: float = math.nan

    @property
    def gap(self) -> float:
        """(upper bound - lower bound) / upper bound."""
        return (self.upper_bound - self.lower_bound) / max(abs(self.upper_bound), 1e-300)

    def __str__(self) -> str:
        passed = f"\npassed over, as the checker does not know them: proofs by {', '.join(self.unknown)}"
        told = passed if self.unknown else ""
        if not self.holds:
            return f"NOT PROVEN: {self.problem}{told}"
        if self.n_proven is not None:
            return (
                f"PROVEN: every solution with an objective below {self.threshold!r} has {self.n_proven} labels more "
                f"than those given as that in the file, which has one of at most {self.upper_bound!r}; "
                f"{self.n_witnesses} witnesses have others otherwise\n{self.n_nodes} nodes, {self.n_proofs} proofs, "
                f"{self.seconds:.1f} s{told}"
            )
        if self.lower_bound == -math.inf:
            return f"NOTHING IS CLAIMED: the search had no bound yet; its solution has {self.upper_bound!r} at most"
        return (
            f"PROVEN: no solution has an objective below {self.lower_bound!r}; that in the file has one of at most "
            f"{self.upper_bound!r}\n{self.n_nodes} nodes, {self.n_open} open, {self.n_proofs} proofs, "
            f"{self.seconds:.1f} s{told}"
        )


def members(path: Any) -> dict[str, Any]:
    """The arrays of an .npz file, all of which must be known; no more memory is taken than a file of its size may."""
    with open(path, "rb") as opened:
        demand(zipfile.is_zipfile(opened), "it is no .npz file, or a damaged one")
        with zipfile.ZipFile(opened) as file:
            sizes = {entry.filename: entry.file_size for entry in file.infolist()}
            demand(len(sizes) == len(file.infolist()), "two members of the file have one name")
        other, total = sorted(set(sizes) - {f"{name}.npy" for name in KNOWN}), sum(sizes.values())
        demand(not other, f"the file has members that are not known: {', '.join(other[:5])}")
        size = opened.seek(0, 2)
        # Any file may unpack to so many bytes, a larger one to so many for each byte.
        demand(total <= max(2**26, 20 * size), f"a file of {size} bytes unpacks to {total}")
        opened.seek(0)
        with np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}


def slices(ends: Any, size: int) -> list[slice]:
    """Where each of some arrays is that are stored one after the other."""
    places = [0, *ends.tolist()]
    demand(places == sorted(places) and places[-1] <= size, "arrays that are stored one after the other overlap")
    return [slice(a, b) for a, b in zip(places[:-1], places[1:], strict=True)]


@dataclass
class Stored:
    """A proof as a file has it: a vector, and numbers whose meaning its kind says; and the multipliers it names."""

    kind: str
    vector: Any
    number: int
    share: float
    lift: float
    cutoff: float
    multipliers: dict[str, Any] | None


@dataclass
class Node:
    """A node after its proofs: the box, the best bound, and what each of the proofs gave."""

    box: Any
    bound: float
    steps: dict[int, float] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no solution below the cutoff is left."""
        return bool((self.box[0] > self.box[1]).any())


class Certificate:
    """A file with a certificate, whose search tree is checked from the root down."""

    def __init__(self, path: Any) -> None:
        a = self.arrays = members(path)
        header = self.header = json.loads(str(a["header"]))
        demand(header["format"] == FORMAT, f"the format is {header['format']!r}, not {FORMAT!r}")
        demand(digest(a) == header["digest"], "the problem is not the one that was searched: its digest is another")
        self.bound, self.objective = header["lower_bound"], header["objective"]
        if "proven" in a:
            self.bound = float(a["proven_threshold"][0])
        demand(isinstance(self.bound, float) and not math.isnan(self.bound), f"{self.bound!r} is no number for a bound")
        demand(header["about"] in SPACES, f"a search about {header['about']!r} is not covered")
        space, self.kinds = SPACES[header["about"]]
        self.given = space(header["statement"], header["problem"]["kernel"], a)
        self.parents, self.signs, self.variables, self.places = (
            a[f"record_{name}"].tolist() for name in ("parent", "sign", "variable", "place")
        )
        self.opened = [(int(row[1]), int(row[2])) for row in a["node_numbers"].tolist()]
        self.proofs: list[list[int]] = [[] for _ in self.parents]
        for p, record in enumerate(a["proof_record"].tolist()):
            demand(0 <= record < len(self.parents), f"proof {p} is for node {record}, which is not there")
            self.proofs[record].append(p)
        vectors = slices(a["proof_vector_end"], len(a["proof_vector"]))
        sets = self._sets()
        kinds = [str(header["kinds"][kind]) for kind in a["proof_kind"].tolist()]
        parts = [a["proof_vector"][where].astype(np.float64) for where in vectors]
        numbers = (a[f"proof_{name}"].tolist() for name in ("number", "share", "lift", "cutoff"))
        self.stored = [
            Stored(kind, part, number, share, lift, cutoff, sets[number] if 0 <= number < len(sets) else None)
            for kind, part, number, share, lift, cutoff in zip(kinds, parts, *numbers, strict=True)
        ]
        self.unknown = tuple(sorted({proof.kind for proof in self.stored} - set(self.kinds)))
        self.after: dict[int, Node] = {}

    def _sets(self) -> list[dict[str, Any]]:
        """The sets of multipliers."""
        a, found = self.arrays, list[dict[str, Any]]()
        for name in MULTIPLIERS:
            if f"multiplier_{name}" not in a:
                continue
            values = a[f"multiplier_{name}"]
            where = slices(a[f"multiplier_{name}_end"], len(values))
            found = found or [{} for _ in where]
            demand(len(where) == len(found), f"there are not as many sets of {name} as of other multipliers")
            for one, part in zip(found, where, strict=True):
                one[name] = values[part]
        return found

    def check(self) -> Verdict:
        """Check all bounds, that all solutions are in leaves, and the objective; ``after`` is what is proven."""
        self.check_shape()
        children: dict[int, list[int]] = {-1: []}
        for k, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(k)
        # From a node its halves come next, so that what a box says of points is needed on the way from the root alone.
        stack = [(k, self.begin(k, None)) for k in children[-1]]
        while stack:
            k, node = stack.pop()
            for p in self.proofs[k]:
                if node.is_empty:
                    break
                if self.stored[p].kind in self.unknown:
                    continue
                demand(self.stored[p].cutoff >= self.bound, f"node {k}: a proof leaves out solutions below the bound")
                node.steps[p], node.box = self.apply(p, node.box, self.stored[p].cutoff)
                node.bound = max(node.bound, node.steps[p])
            self.after[k] = Node(tuple(node.box), node.bound, node.steps)
            stack += [(child, self.begin(child, node)) for child in children.get(k, ())]
            closed = self.variables[k] >= 0 or node.is_empty or node.bound >= self.bound or self.agrees(node.box)
            demand(closed, f"node {k} is closed, but what is proven there is {node.bound!r}")
        for parent, sign in self.opened:
            if parent < 0:
                proven, box = self.given.nothing, self.given.root(self.arrays, self.bound)
            else:
                proven, box = self.after[parent].bound, self.half(parent, sign, self.after[parent].box)
            closed = proven >= self.bound or self.agrees(box)
            demand(closed, f"an open node below node {parent} has a bound of {proven!r} only")
        upper = self.given.upper_bound(self.arrays)
        right = upper <= self.objective + 1e-6 * abs(self.objective)
        demand(right, f"the solution in the file has an objective of {upper!r}, as far as is known")
        counts = len(self.parents), len(self.stored), len(self.opened)
        if "proven" in self.arrays:
            # Below the threshold there are solutions: it is no bound.
            return self.check_labels(Verdict(True, "", -math.inf, upper, *counts, self.unknown))
        return Verdict(True, "", self.bound, upper, *counts, self.unknown)

    def agrees(self, box: Any) -> bool:
        """Whether all labels that the file says are proven are known in a box, as they are there."""
        if "proven" not in self.arrays:
            return False
        proven = self.arrays["proven"]
        return bool((self.given.labels(box) == proven)[proven != 0].all())

    def check_labels(self, found: Verdict) -> Verdict:
        """Check that proven labels are the solution's, and each witness within the threshold, to a millionth."""
        a, n = self.arrays, self.given.n
        proven, best, rows = a["proven"], a["labels"], a["witness_labels"]
        right = proven.shape == best.shape == (n,) and rows.ndim == 2 and rows.shape[1] == n
        right = right and (proven[proven != 0] == best[proven != 0]).all()
        demand(right, "a label is proven that the solution has not")
        demand(math.isfinite(self.bound), "the threshold is no number")
        for k in range(len(rows)):
            one = {name: a[f"witness_{name}"][k] for name in ("labels", "gamma", "targets")}
            value = self.given.upper_bound(a | one | {"mean": a["witness_mean"][k : k + 1]})
            demand(value <= self.bound + 2e-6 * abs(self.bound), f"witness {k} has an objective of {value!r} only")
        found.n_proven = int(((proven != 0) & (self.given.y == 0)).sum())
        found.n_witnesses, found.threshold = len(rows), self.bound
        return found

    def begin(self, k: int, over: Node | None) -> Node:
        """Box and bound before the proofs of node k, from those after the proofs of the node over it, if it has one."""
        if over is None:
            return Node(self.given.root(self.arrays, self.bound), -math.inf)
        return Node(self.half(self.parents[k], self.signs[k], over.box), over.bound)

    def half(self, k: int, sign: int, box: Any) -> Any:
        """A half of the box after the proofs of node k."""
        return self.given.half(box, self.variables[k], self.places[k], sign)

    def apply(self, p: int, box: Any, cutoff: float) -> Any:
        """The bound that proof p gives in a box, and the box that it leaves for solutions below the cutoff."""
        proof = self.stored[p]
        return self.kinds[proof.kind](self.given, box, proof, cutoff)

    def check_shape(self) -> None:
        """Check that there is one root, and below every node that is not closed both of its halves, once."""
        parents, nodes = self.parents, [*zip(self.parents, self.signs, strict=True), *self.opened]
        demand(sum(parent < 0 for parent, _ in nodes) == 1, "the tree must have exactly one root")
        children: dict[int, list[int]] = {k: [] for k in range(len(parents))}
        for k, (parent, sign) in enumerate(nodes):
            demand(parent < min(k, len(parents)), f"node {k} is below node {parent}, which is no earlier one")
            if parent >= 0:
                children[parent].append(sign)
        for k, variable in enumerate(self.variables):
            wanted = [] if variable < 0 else [-1, 1]
            demand(variable < self.given.n and sorted(children[k]) == wanted, f"node {k} lacks a half, or has more")


def digest(arrays: Any) -> str:
    """SHA-256 of the arrays that are the problem."""
    found = hashlib.sha256()
    for name in sorted(set(arrays) & PROBLEM):
        found.update(f"{name} {arrays[name].shape} {arrays[name].dtype.str} ".encode())
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def check(path: Any) -> Verdict:
    """Check a certificate; FileNotFoundError if there is none, ImportError without python-flint."""
    return walked(path)[0]


def walked(path: Any) -> tuple[Verdict, Certificate | None]:
    """The same, and the certificate with what was found at its nodes, as far as it can be read."""
    import flint

    began, certificate = time.perf_counter(), None
    try:
        with np.errstate(all="ignore"), flint.ctx.workprec(BITS):
            certificate = Certificate(path)
            found = certificate.check()
    except (FileNotFoundError, KeyboardInterrupt):
        raise
    except np.linalg.LinAlgError:
        found = Verdict(False, "a matrix that must be positive semidefinite is not")
    except Exception as error:  # whatever a damaged file leads to, it is no proof
        found = Verdict(False, str(error) if isinstance(error, Refused) else f"the file is damaged: {error!r}")
    if certificate is not None:
        found.unknown = certificate.unknown
    found.seconds = time.perf_counter() - began
    return found, certificate
