"""Making a certificate smaller: what its proof does not need is dropped.

A search stores more than its last bound needs: nodes that were branched although the bound that is claimed in the end
closes them, proofs that no node below needs, and what the search would need to go on.  Each proof was made for the
cutoff at its time; applied with the bound that is claimed as the cutoff, it leaves a smaller box.  Every decision here
is made by the rigorous checker's arithmetic, so what is left proves the same bound.
"""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..checker import BITS, Certificate, Node, Refused
from ..persistence import write_arrays
from ..relaxations.signs.quadratic import SignMultipliers
from ..validation import new_file
from .files import packed, unpacked
from .prove import check_flint


@dataclass(frozen=True)
class Trimmed:
    """What was dropped: numbers of nodes and of proofs, and sizes of the files in bytes.

    Examples
    --------
    >>> trimmed = ct.exact.trim_certificate(certificate, certificate.with_name("short.npz"))
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
    path, out : path
        A certificate or a checkpoint, and the smaller file, which may be the same.

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
    >>> short = certificate.with_name("short.npz")
    >>> trimmed = ct.exact.trim_certificate(certificate, short)
    >>> ct.prove_certificate(short).holds
    True
    """
    check_flint()
    import flint

    out, before = new_file("out", out), os.stat(path).st_size
    try:
        with np.errstate(all="ignore"), flint.ctx.workprec(BITS):
            certificate = Certificate(path)
            certificate.check()
            for thorough in (True, False):
                arrays, counts = _Trimmer(certificate, thorough).run()
                if _holds(arrays, out):
                    break
            else:
                raise ValueError(f"{path} cannot be made smaller: what is left of it would not be proven")
    except Refused as error:
        raise ValueError(f"{path} is no certificate that holds: {error}") from None
    write_arrays(out, arrays)
    return Trimmed(*counts, before, os.stat(out).st_size)


def _holds(arrays: dict[str, Any], out: Path) -> bool:
    """Whether arrays hold as a certificate."""
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        path = Path(folder) / "trimmed.npz"
        write_arrays(path, arrays)
        try:
            Certificate(path).check()
        except Refused:
            return False
    return True


class _Trimmer:
    """Goes through the tree from the root down, and keeps the nodes and the proofs that are needed.

    Unless it is to be ``thorough``, nodes that stay branched keep all their proofs, and closed ones those that have
    changed something.
    """

    def __init__(self, certificate: Certificate, thorough: bool) -> None:
        self.thorough, self.certificate = thorough, certificate
        self.parents, self.proofs = certificate.parents, certificate.proofs
        self.variables = list(certificate.variables)

    def run(self) -> tuple[dict[str, Any], tuple[int, int, int, int]]:
        """The smaller file's arrays, and how many nodes and proofs there were and are."""
        starts: dict[int, Node] = {}
        after: dict[int, Node] = {}
        kept: dict[int, list[int]] = {}
        for k, parent in enumerate(self.parents):
            if parent >= 0 and (parent not in after or self.variables[parent] < 0):
                continue  # the parent was dropped, or is closed now
            starts[k] = self.certificate.begin(k, after.get(parent))
            node, needed = self.apply(starts[k], self.proofs[k])
            if self.is_closed(node):
                self.variables[k] = -1
                needed = self.fewest(starts[k], needed) if self.thorough else needed
                node, _ = self.apply(starts[k], needed)
            elif not self.thorough or self.variables[k] < 0:
                needed = self.proofs[k]
            after[k], kept[k] = node, needed
        if self.thorough:
            self.simplify(starts, kept)
        n_proofs = (len(self.certificate.stored), sum(map(len, kept.values())))
        return self.made(kept), (len(self.parents), len(kept), *n_proofs)

    def simplify(self, starts: dict[int, Node], kept: dict[int, list[int]]) -> None:
        """Leave out proofs of branched nodes, from the last ones up, if all leaves below are closed without them."""
        children: dict[int, list[int]] = {k: [] for k in kept}
        sizes = dict.fromkeys(kept, 1)
        for k in reversed(list(kept)):
            if self.parents[k] >= 0:
                sizes[self.parents[k]] += sizes[k]
                children[self.parents[k]].append(k)
        for k in reversed(list(kept)):
            # Whether a branched node's proofs are needed is tried only if it and the nodes below it are at most this
            # many.
            if not children[k] or sizes[k] > 60:
                continue
            for p in list(kept[k]):
                before, kept[k] = kept[k], [other for other in kept[k] if other != p]
                if not self.closes(k, starts[k], kept, children):
                    kept[k] = before

    def closes(self, k: int, start: Node, kept: Any, children: Any) -> bool:
        """Whether all leaves below a node are closed by the proofs that are kept."""
        node, _ = self.apply(start, kept[k])
        if self.is_closed(node):
            return True
        return bool(children[k]) and all(
            self.closes(child, self.certificate.begin(child, node), kept, children) for child in children[k]
        )

    def is_closed(self, node: Node) -> bool:
        """Whether the box is empty, or its bound is at least the claimed one."""
        return node.is_empty or node.bound >= self.certificate.bound

    def apply(self, start: Node, proofs: list[int]) -> tuple[Node, list[int]]:
        """A node after some proofs, as far as is needed, and those of them that changed something."""
        needed, node = [], Node(start.box, start.bound)
        for p in proofs:
            if self.is_closed(node):
                break
            if self.certificate.stored[p].kind in self.certificate.unknown:
                continue
            try:
                proven, smaller = self.certificate.apply(p, node.box, self.cutoff(p))
            except Refused:
                continue  # it needs finite ends, or a box, that a proof made which was left out
            if any(not np.array_equal(new, old) for new, old in zip(smaller, node.box, strict=True)) or (
                proven > node.bound
            ):
                needed.append(p)
            node = Node(smaller, max(node.bound, proven))
        return node, needed

    def cutoff(self, p: int) -> float:
        """The claimed bound, or for a box that is stored with a proof its own cutoff."""
        proof = self.certificate.stored[p]
        return self.certificate.bound if self.certificate.header["about"] == "labels" else proof.cutoff

    def fewest(self, start: Node, proofs: list[int]) -> list[int]:
        """Fewer proofs that still close a node: each one is left out in turn if the others suffice."""
        left = list(proofs)
        for p in proofs:
            fewer = [other for other in left if other != p]
            if self.is_closed(self.apply(start, fewer)[0]):
                left = fewer
        return left

    def made(self, kept: dict[int, list[int]]) -> dict[str, Any]:
        """The arrays, with everything renumbered."""
        a, stored = dict(self.certificate.arrays), self.certificate.stored
        place = {k: new for new, k in enumerate(kept)} | {-1: -1}
        nodes, proofs = np.array(list(kept), dtype=np.int64), [p for own in kept.values() for p in own]
        # Open nodes below others are dropped: the bound that they inherit is at least the claimed one, so that their
        # parents are closed.
        opened = [row for row in a["node_numbers"].tolist() if row[1] < 0]
        a["record_parent"] = np.array([place[self.parents[k]] for k in kept], dtype=np.int64)
        for name in ("sign", "bound", "place"):
            a[f"record_{name}"] = a[f"record_{name}"][nodes]
        a["record_variable"] = np.array([self.variables[k] for k in kept], dtype=np.int64)
        a["node_numbers"] = np.array(opened, dtype=np.int64).reshape(-1, 5)
        for name in ("node_low", "node_high", "node_gamma", "node_v", "node_bounds"):
            a[name] = a[name][:0]
        vectors, sets = unpacked("proof", a), unpacked("multiplier", a)
        named = {p: stored[p].number for p in proofs if stored[p].kind in ("signs", "envelopes")}  # multipliers
        used = sorted({number for p, number in named.items() if stored[p].multipliers is not None})
        renumbered = {number: new for new, number in enumerate(used)}
        numbers = [
            renumbered.get(stored[p].number, stored[p].number) if p in named else stored[p].number for p in proofs
        ]
        for name in ("kind", "share", "lift"):
            a[f"proof_{name}"] = a[f"proof_{name}"][proofs]
        a["proof_number"] = np.array(numbers, dtype=np.int64)
        a["proof_cutoff"] = np.array([self.cutoff(p) for p in proofs], dtype=float)
        a["proof_record"] = np.array([place[k] for k, own in kept.items() for _ in own], dtype=np.int64)
        for name in [name for name in a if name.startswith("multiplier_")]:
            del a[name]
        nothing = {name: a[name][:0] for name in ("proof_vector", "proof_vector_end")}
        a |= packed("proof", [vectors[p] for p in proofs]) or nothing
        if "multiplier_weights" in self.certificate.arrays:  # of cuts, which are dropped where it is zero
            sets = [SignMultipliers.read(one).without_zeros().store() for one in sets]
        a |= packed("multiplier", [sets[number] for number in used])
        header = json.loads(str(a["header"]))
        header |= {"trimmed": True, "history": header["history"][-1:]}
        a["header"] = np.array(json.dumps(header))
        return a
