"""Making a certificate smaller: what its proof does not need is dropped.

A search stores more than its last bound needs: nodes that were branched although the bound that is claimed in the end
closes them, proofs that no node below needs, and what the search would need to go on.  Each proof was made for the
cutoff at its time; applied with the bound that is claimed as the cutoff, it leaves a smaller box.  Every decision here
is made by the rigorous checker's arithmetic, so what is left proves the same bound.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..checker import BITS, Certificate, Refused
from ..persistence import write_arrays
from ..validation import new_file
from .certificate import verify_certificate
from .files import SIGN_PARTS
from .rigorous import check_flint

#: Relative amount by which the cutoff is raised while proofs are tried, so that the smaller file also passes the fast
#: check, which has rounding errors of its own.
LOOSER = 1e-7

#: Whether a branched node's proofs are needed is tried only if it and the nodes below it are at most this many.
MOST_BELOW = 60


@dataclass(frozen=True)
class Trimmed:
    """What was dropped.

    Attributes
    ----------
    n_nodes_before, n_nodes_after, n_proofs_before, n_proofs_after : int
    bytes_before, bytes_after : int
        Sizes of the files.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "optimum.npz")
    ...     solution = ct.exact_search(ct.s3vm(balance=None), problem, certificate=file)
    ...     trimmed = ct.trim_certificate(file, pathlib.Path(folder, "short.npz"))
    >>> trimmed.n_nodes_after <= trimmed.n_nodes_before
    True
    """

    n_nodes_before: int
    n_nodes_after: int
    n_proofs_before: int
    n_proofs_after: int
    bytes_before: int
    bytes_after: int

    def __str__(self) -> str:
        saved = 1 - self.bytes_after / self.bytes_before
        return (
            f"{self.n_nodes_before - self.n_nodes_after} of {self.n_nodes_before} nodes and "
            f"{self.n_proofs_before - self.n_proofs_after} of {self.n_proofs_before} proofs dropped; "
            f"{self.bytes_before} bytes before, {self.bytes_after} after ({saved:.0%} less)"
        )


def trim_certificate(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Trimmed:
    """Write what of a certificate its proof needs.  A search cannot be taken up from it.

    Parameters
    ----------
    path : path
        A certificate or a checkpoint.
    out : path
        The smaller file; may be the same.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file proves nothing that could be kept.
    ImportError
        If python-flint is not installed (``pip install convex_tsvm[rigorous]``).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "optimum.npz")
    ...     solution = ct.exact_search(ct.s3vm(balance=None), problem, certificate=file)
    ...     trimmed = ct.trim_certificate(file, pathlib.Path(folder, "short.npz"))
    ...     ct.verify_certificate(pathlib.Path(folder, "short.npz")).holds
    True
    """
    check_flint()
    import flint

    out, before, bits = new_file("out", out), os.stat(path).st_size, flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        with np.errstate(all="ignore"):
            certificate = Certificate(path)
            certificate.check()
            for thorough in (True, False):
                arrays, counts = _Trimmer(certificate, thorough).run()
                if _holds(arrays, out):
                    break
            else:
                raise ValueError(f"{path} cannot be made smaller: what is left of it would not pass both checks")
    except Refused as error:
        raise ValueError(f"{path} is no certificate that holds: {error}") from None
    finally:
        flint.ctx.prec = bits
    write_arrays(out, arrays)
    return Trimmed(*counts, before, os.stat(out).st_size)


def _holds(arrays: dict[str, Any], out: Path) -> bool:
    """Whether arrays hold as a certificate, for both checkers."""
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        path = Path(folder) / "trimmed.npz"
        write_arrays(path, arrays)
        try:
            Certificate(path).check()
        except Refused:
            return False
        return verify_certificate(path).holds


class _Trimmer:
    """Goes through the tree from the root down, and keeps the nodes and the proofs that are needed.

    Unless it is to be ``thorough``, nodes that stay branched keep all their proofs, and closed ones those that have
    changed something.
    """

    def __init__(self, certificate: Certificate, thorough: bool) -> None:
        self.thorough, self.cutoff = thorough, certificate.bound + LOOSER * abs(certificate.bound)
        self.certificate, self.arrays = certificate, certificate.arrays
        self.parents, self.proofs = certificate.parents, certificate.proofs
        self.variables = list(certificate.variables)

    def run(self) -> tuple[dict[str, Any], tuple[int, int, int, int]]:
        """The smaller file's arrays, and how many nodes and proofs there were and are."""
        starts: dict[int, tuple[Any, float]] = {}
        after: dict[int, tuple[Any, float]] = {}
        kept: dict[int, list[int]] = {}
        for k, parent in enumerate(self.parents):
            if parent >= 0 and (parent not in after or self.variables[parent] < 0):
                continue  # the parent was dropped, or is closed now
            starts[k] = self.certificate.begin(k, after.get(parent))
            box, bound, needed = self.apply(*starts[k], self.proofs[k])
            if self.is_closed(box, bound):
                self.variables[k] = -1
                needed = self.fewest(*starts[k], needed) if self.thorough else needed
                box, bound, _ = self.apply(*starts[k], needed)
            elif not self.thorough or self.variables[k] < 0:
                needed = self.proofs[k]
            after[k], kept[k] = (box, bound), needed
        if self.thorough:
            self.simplify(starts, kept)
        n_proofs = (len(self.arrays["proof_record"]), sum(map(len, kept.values())))
        return self.made(kept), (len(self.parents), len(kept), *n_proofs)

    def simplify(self, starts: dict[int, tuple[Any, float]], kept: dict[int, list[int]]) -> None:
        """Leave out proofs of branched nodes without which all leaves below them are closed as well.

        It goes from the last nodes up; nodes with many others below them are left out, as trying takes too long there.
        """
        children: dict[int, list[int]] = {k: [] for k in kept}
        sizes = dict.fromkeys(kept, 1)
        for k in reversed(list(kept)):
            if self.parents[k] >= 0:
                sizes[self.parents[k]] += sizes[k]
                children[self.parents[k]].append(k)
        for k in reversed(list(kept)):
            if not children[k] or sizes[k] > MOST_BELOW:
                continue
            for p in list(kept[k]):
                before, kept[k] = kept[k], [other for other in kept[k] if other != p]
                if not self.closes(k, starts[k], kept, children):
                    kept[k] = before

    def closes(self, k: int, start: tuple[Any, float], kept: Any, children: Any) -> bool:
        """Whether all leaves below a node are closed by the proofs that are kept."""
        box, bound, _ = self.apply(*start, kept[k])
        if self.is_closed(box, bound):
            return True
        return bool(children[k]) and all(
            self.closes(child, self.certificate.begin(child, (box, bound)), kept, children) for child in children[k]
        )

    def is_closed(self, box: Any, bound: float) -> bool:
        """Whether the box is empty, or its bound is at least the claimed one."""
        return bool((box[0] > box[1]).any() or bound >= self.certificate.bound)

    def apply(self, box: Any, bound: float, proofs: list[int]) -> tuple[Any, float, list[int]]:
        """Box and bound after some proofs, as far as is needed, and those of them that changed something."""
        needed = []
        for p in proofs:
            if self.is_closed(box, bound):
                break
            try:
                proven, smaller = self.certificate.apply(p, box, self.cutoff)
            except Refused:
                continue  # the quadratic needs finite ends, and the proof that made them was left out
            changed = not (np.array_equal(smaller[0], box[0]) and np.array_equal(smaller[1], box[1]))
            if changed or proven > bound:
                needed.append(p)
            box, bound = smaller, max(bound, proven)
        return box, bound, needed

    def fewest(self, box: Any, bound: float, proofs: list[int]) -> list[int]:
        """Fewer proofs that still close a node: each one is left out in turn if the others suffice."""
        left = list(proofs)
        for p in proofs:
            fewer = [other for other in left if other != p]
            if self.is_closed(*self.apply(box, bound, fewer)[:2]):
                left = fewer
        return left

    def made(self, kept: dict[int, list[int]]) -> dict[str, Any]:
        """The arrays, with everything renumbered."""
        a = dict(self.arrays)
        place = {k: new for new, k in enumerate(kept)} | {-1: -1}
        nodes, proofs = np.array(list(kept), dtype=np.int64), [p for own in kept.values() for p in own]
        # Open nodes below others are dropped: the bound that they inherit is at least the claimed one, so that their
        # parents are closed.
        opened = [row for row in a["node_numbers"].tolist() if row[1] < 0]
        a["record_parent"] = np.array([place[self.parents[k]] for k in kept], dtype=np.int64)
        a["record_sign"], a["record_bound"] = a["record_sign"][nodes], a["record_bound"][nodes]
        a["record_variable"] = np.array([self.variables[k] for k in kept], dtype=np.int64)
        a["node_numbers"] = np.array(opened, dtype=np.int64).reshape(-1, 5)
        for name in ("node_low", "node_high", "node_gamma", "node_v", "node_bounds"):
            a[name] = a[name][:0]
        a["proof_cutoff"] = np.full(len(proofs), self.certificate.bound)
        a["proof_record"] = np.array([place[k] for k, own in kept.items() for _ in own], dtype=np.int64)
        a |= self._vectors(proofs) | self._directions(proofs)
        numbers = self.arrays["proof_number"][proofs]
        used = np.unique(numbers[numbers >= 0])
        a |= self._signs(used)
        a["proof_number"] = np.where(numbers >= 0, np.searchsorted(used, numbers), -1)
        header = json.loads(str(a["header"]))
        header |= {"trimmed": True, "history": header["history"][-1:]}
        a["header"] = np.array(json.dumps(header))
        return a

    def _vectors(self, proofs: list[int]) -> dict[str, Any]:
        a, ends = self.arrays, np.concatenate([[0], self.arrays["proof_end"]])
        parts = [a["proof_vectors"][ends[p] : ends[p + 1]] for p in proofs]
        made: dict[str, Any] = {name: a[name][proofs] for name in ("proof_kind", "proof_share", "proof_lift")}
        made["proof_vectors"] = np.concatenate([a["proof_vectors"][:0], *parts])
        made["proof_end"] = np.cumsum([len(part) for part in parts], dtype=np.int64)
        return made

    def _directions(self, proofs: list[int]) -> dict[str, Any]:
        a, ends = self.arrays, np.concatenate([[0], self.arrays["direction_end"]])
        kind = a["proof_kind"] == 1
        which = np.cumsum(kind) - 1
        chosen = [which[p] for p in proofs if kind[p]]
        rows = np.concatenate([np.zeros(0, dtype=int), *(np.arange(ends[w], ends[w + 1]) for w in chosen)])
        made = {f"direction_{name}": a[f"direction_{name}"][rows] for name in ("index", "theta", "gamma")}
        made["direction_end"] = np.cumsum([ends[w + 1] - ends[w] for w in chosen], dtype=np.int64)
        return made

    def _signs(self, used: Any) -> dict[str, Any]:
        """Sets of multipliers that proofs use, without the cuts whose multiplier is zero."""
        a = self.arrays
        sizes = a["sign_sizes"].astype(np.int64)
        p, q = (np.concatenate([[0], np.cumsum(sizes[:, k])]) for k in (0, 1))
        parts: dict[str, list[Any]] = {"triangles": [], "margins": [], "weights": []}
        new_sizes = []
        for k in used.tolist():
            w = a["sign_weights"][p[k] + q[k] : p[k + 1] + q[k + 1]]
            m = int(sizes[k, 0])
            first, second = w[:m] != 0, w[m:] != 0
            parts["triangles"].append(a["sign_triangles"][p[k] : p[k + 1]][first])
            parts["margins"].append(a["sign_margins"][q[k] : q[k + 1]][second])
            parts["weights"] += [w[:m][first], w[m:][second]]
            new_sizes.append((int(first.sum()), int(second.sum())))
        made = {f"sign_{name}": np.concatenate([a[f"sign_{name}"][:0], *own]) for name, own in parts.items()}
        made["sign_sizes"] = np.array(new_sizes, dtype=np.int64).reshape(-1, 2)
        return made | {f"sign_{name}": a[f"sign_{name}"][used] for name in (*SIGN_PARTS, "count")}
