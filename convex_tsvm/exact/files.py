"""Searches as files: checkpoints while they run, certificates when they are done.  Arrays and JSON; no code is run.

One format serves for both, and for searches of every kind: a search with open nodes certifies the bound that these
leave.  docs/certificate.rst says what is in it.
"""

import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..checker.walk import FORMAT, KNOWN, digest
from ..persistence import reading, write_arrays
from ..problem import Array
from ..relaxations.box import Box, LabelBox
from ..relaxations.envelopes.envelopes import Curvature
from ..relaxations.proof import Proof, Stored, Unread
from ..relaxations.signs.quadratic import SignMultipliers
from .tree import Node, Progress, Record, State


def save_search(path: str | os.PathLike[str], search: Any, **own: Array) -> None:
    """Write a search as one ``.npz`` file, complete or not at all; ValueError if its kernel is a Python function.

    ``own`` are arrays of this kind of search alone.
    """
    state, model = search.state, search.model
    arrays, described = model.instance.problem.to_arrays()
    stated, given = model.statement()
    kinds = sorted({proof.name for record in state.records for proof, _ in record.proofs})
    header = {
        "format": FORMAT,
        "about": model.about,
        "kinds": kinds,
        "problem": described,
        "digest": digest(arrays),
        "statement": stated,
        "formulation": str(model.instance.formulation),
        "options": search.options,
        "status": search.status,
        "lower_bound": float(search.lower_bound),
        **{name: getattr(state, name) for name in State.NUMBERS},
        "history": [asdict(progress) for progress in state.history],
    }
    header["objective"] = float(state.objective)
    arrays |= given | own | search.incumbent.store() | model.stored()
    arrays["header"] = np.array(json.dumps(header))
    used = sorted(
        {proof.number for record in state.records for proof, _ in record.proofs if proof.has_multipliers}
        | {node.number for node in state.open if node.number >= 0}
    )
    places = {number: place for place, number in enumerate(used)} | {-1: -1}
    arrays |= record_arrays(state.records, kinds, places)
    arrays |= _node_arrays(state.open, model.n, places)
    arrays |= packed("multiplier", [model.multipliers[number].store() for number in used])
    write_arrays(path, arrays)


def packed(prefix: str, parts: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Arrays of equal names one after the other, and where each ends."""
    made: dict[str, Array] = {}
    for name in parts[0] if parts else ():
        made[f"{prefix}_{name}"] = np.concatenate([part[name] for part in parts])
        made[f"{prefix}_{name}_end"] = np.cumsum([len(part[name]) for part in parts], dtype=np.int64)
    return made


def unpacked(prefix: str, arrays: dict[str, Array]) -> list[dict[str, Array]]:
    """What :func:`packed` has put together."""
    names = [name.removeprefix(f"{prefix}_").removesuffix("_end") for name in arrays if name.endswith("_end")]
    names = [name for name in names if f"{prefix}_{name}" in arrays]
    columns = [np.split(arrays[f"{prefix}_{name}"], arrays[f"{prefix}_{name}_end"][:-1]) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def record_arrays(records: Sequence[Record], kinds: list[str], places: dict[int, int]) -> dict[str, Array]:
    """Nodes and their proofs, whose multipliers have new numbers."""
    proofs = [(r, proof, cutoff) for r, record in enumerate(records) for proof, cutoff in record.proofs]
    stored = [(proof, proof.store()) for _, proof, _ in proofs]
    numbers = [places[one.number] if proof.has_multipliers else one.number for proof, one in stored]
    vectors: dict[str, Any] = {"proof_vector": np.zeros(0, dtype=np.float32), "proof_vector_end": np.zeros(0, np.int64)}
    vectors |= packed("proof", [{"vector": one.vector} for _, one in stored])
    return {
        **{f"record_{name}": np.array([getattr(r, name) for r in records], dtype=t) for name, t in COLUMNS.items()},
        "proof_record": np.array([r for r, _, _ in proofs], dtype=np.int64),
        "proof_kind": np.array([kinds.index(proof.name) for _, proof, _ in proofs], dtype=np.int8),
        "proof_cutoff": np.array([cutoff for _, _, cutoff in proofs], dtype=float),
        "proof_number": np.array(numbers, dtype=np.int64),
        "proof_share": np.array([one.share for _, one in stored], dtype=float),
        "proof_lift": np.array([one.lift for _, one in stored], dtype=float),
        **vectors,
    }


#: What a record has as plain numbers, and their types.
COLUMNS = {"parent": np.int64, "sign": np.int8, "variable": np.int64, "place": float, "bound": float}


def _rows(arrays: dict[str, Array], prefix: str, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """Rows of plain numbers, of columns that are arrays."""
    return zip(*(arrays[f"{prefix}_{name}"].tolist() for name in names), strict=True)


def _records(kinds: list[str], arrays: dict[str, Array]) -> list[Record]:
    records = [Record(**dict(zip(COLUMNS, row, strict=True))) for row in _rows(arrays, "record", COLUMNS)]
    vectors = np.split(arrays["proof_vector"], arrays["proof_vector_end"][:-1])
    rows = _rows(arrays, "proof", ("record", "kind", "cutoff", "number", "share", "lift"))
    for vector, (r, kind, cutoff, number, share, lift) in zip(vectors, rows, strict=False):
        known, stored = Proof.kinds.get(kinds[kind], Proof), Stored(vector, number, share, lift)
        proof = Unread(stored, kinds[kind]) if known.read is Proof.read else known.read(stored)
        records[r].proofs.append((proof, cutoff))
    return records


def _node_arrays(nodes: list[Node], n: int, places: dict[int, int]) -> dict[str, Array]:
    nothing = np.full(n, np.nan)
    numbers = [(node.depth, node.parent, node.sign, places[node.number], node.since) for node in nodes]
    return {
        "node_low": np.array([node.box.low for node in nodes]).reshape(-1, n),
        "node_high": np.array([node.box.high for node in nodes]).reshape(-1, n),
        "node_gamma": np.array([nothing if node.gamma is None else node.gamma[:n] for node in nodes]).reshape(-1, n),
        "node_v": np.array([nothing if node.v is None else node.v[:n] for node in nodes]).reshape(-1, n),
        "node_bounds": np.array([(node.bound, node.base) for node in nodes], dtype=float).reshape(-1, 2),
        "node_numbers": np.array(numbers, dtype=np.int64).reshape(-1, 5),
    }


def _nodes(kind: type[Box], arrays: dict[str, Array]) -> list[Node]:
    nodes = []
    ends = zip(arrays["node_low"], arrays["node_high"], strict=True)
    starts = zip(arrays["node_gamma"], arrays["node_v"], strict=True)
    numbers = zip(arrays["node_numbers"].tolist(), arrays["node_bounds"].tolist(), strict=True)
    for box, start, ((depth, parent, sign, number, since), (bound, base)) in zip(ends, starts, numbers, strict=True):
        gamma, v = (None if np.isnan(one).any() else one for one in start)
        places = {"parent": parent, "sign": sign, "number": number, "since": since}
        nodes.append(Node(kind(*box), depth, bound, gamma, v, base=base, **places))
    return nodes


def read_search(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a saved search; FileNotFoundError if there is no such file, ValueError if it is another."""
    with reading(path, "a search", FORMAT, KNOWN) as found:
        return found


def is_search(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a saved search."""
    try:
        with zipfile.ZipFile(path) as file:
            names = set(file.namelist())
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):
        return False
    return {"header.npy", "record_parent.npy"} <= names


def load_search(path: str | os.PathLike[str], search: Any) -> State:
    """The state of a search that is to go on, and its incumbent; ValueError if it has another problem or options."""
    header, arrays = read_search(path)
    if header.get("trimmed"):
        raise ValueError(f"checkpoint={os.fspath(path)!r} is a trimmed certificate: no search can go on from it")
    model = search.model
    mine, _ = model.instance.problem.to_arrays()
    stated, own = model.statement()
    same = {
        "problem": (header["digest"], digest(mine)),
        "formulation": (header["formulation"], str(model.instance.formulation)),
        **{name: (header["statement"].get(name), value) for name, value in stated.items()},
        **{name: (header["options"].get(name), value) for name, value in search.options.items()},
    }
    for name, (theirs, ours) in same.items():
        if theirs != ours:
            shown = "another problem" if name == "problem" else f"{name}={theirs!r}, not {ours!r}"
            raise ValueError(f"checkpoint={os.fspath(path)!r} is of a search with {shown}; remove it or name another")
    if any(name not in arrays or not np.array_equal(arrays[name], values) for name, values in own.items()):
        raise ValueError(f"checkpoint={os.fspath(path)!r} is of a search with other losses or constraints")
    model.read(arrays)
    search.incumbent.read(arrays, header["objective"])
    multipliers, box = (SignMultipliers, LabelBox) if model.about == "labels" else (Curvature, Box)
    return State(
        records=_records(header["kinds"], arrays),
        open=_nodes(box, arrays),
        multipliers=[multipliers.read(one) for one in unpacked("multiplier", arrays)],
        **{name: header[name] for name in State.NUMBERS},
        history=[Progress(**progress) for progress in header["history"]],
    )
