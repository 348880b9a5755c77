"""Searches as files: checkpoints while they run, certificates when they are done.  Arrays and JSON; no code is run.

One format serves for both: a search with open nodes certifies the bound that these leave.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import asdict
from typing import Any

import numpy as np

from ..checker import Certificate
from ..formulations import Formulation
from ..losses import hinge, squared_hinge, symmetric_hinge, symmetric_squared_hinge
from ..persistence import reading, write_arrays
from ..problem import Problem
from ..relaxations.box import Box
from ..relaxations.model import BoundModel
from ..relaxations.partial_svm import Directions
from ..relaxations.proofs import KINDS, DirectionsProof, Stored
from ..relaxations.signs.cuts import SignCuts
from ..relaxations.signs.quadratic import SignMultipliers
from .state import Progress, Search, State
from .tree import Node, Record

FORMAT = "convex_tsvm search 3"


def save_search(path: str | os.PathLike[str], search: Search) -> None:
    """Write a search as one ``.npz`` file, complete or not at all.

    ValueError is raised if the problem's kernel is a Python function of the user's, OSError if writing fails.
    """
    state = search.state
    arrays, described = search.model.instance.problem.to_arrays()
    formulation = search.model.instance.formulation
    header = {
        "format": FORMAT,
        "problem": described,
        "digest": digest(arrays),
        "formulation": {"squared": search.model.svm.squared, **formulation.to_dict()},
        "statement": statement(search.model),
        "options": search.options,
        "strategy": search.strategy,
        "patience": search.patience,
        "status": search.status,
        "objective": state.objective,
        "lower_bound": search.lower_bound,
        "settled": state.settled,
        "strong": state.strong,
        "unfinished": state.unfinished,
        "n_searches": state.n_searches,
        "n_first": state.n_first,
        "n_nodes": state.n_nodes,
        "seconds": state.seconds,
        "svm_bound": state.svm_bound,
        "root_bound": state.root_bound,
        "root_fixed": state.root_fixed,
        "history": [asdict(progress) for progress in state.history],
    }
    arrays["header"] = np.array(json.dumps(header))
    arrays.update(_witness_arrays(search.model, state.labels, state.gamma))
    arrays.update(_record_arrays(state.records, search.model.n))
    arrays.update(_node_arrays(state.open, search.model.n))
    arrays.update(_sign_arrays(state.multipliers, search.model.n))
    write_arrays(path, arrays)


def statement(model: BoundModel) -> dict[str, Any]:
    """What a search is about, in plain values for a checker; docs/certificate.rst explains each of them."""
    search = model.search
    constraint, value = "none", 0.0
    if search.target_sum is not None:
        constraint, value = "targets", float(search.target_sum)
    elif search.n_positive is not None:
        constraint, value = "count", int(search.n_positive)
    elif model.instance.target is not None:
        constraint, value = "mean", float(model.instance.target)
    return {
        "loss": "squared_hinge" if model.svm.squared else "hinge",
        "bias": bool(model.instance.formulation.fit_intercept),
        "constraint": constraint,
        "value": value,
        "constant": float(search.loss_constant),
        "lift": search.gram.lift,
    }


def _witness_arrays(model: BoundModel, labels: np.ndarray | None, gamma: np.ndarray | None) -> dict[str, np.ndarray]:
    """Arrays that prove the objective of labels: γ, the mean output, and targets where their sum is given."""
    none = np.zeros(0)
    if labels is None or gamma is None:
        return {"labels": none, "gamma": none, "mean": none, "targets": none}
    found = model.svm.witness(labels, model.svm.point(labels, gamma))
    targets = none if found.targets is None else found.targets
    return {"labels": labels, "gamma": found.gamma, "mean": np.array([found.mean]), "targets": targets}


def read_search(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a file written by :func:`save_search`.

    FileNotFoundError is raised if there is no such file, ValueError if it is not a saved search or is damaged.
    """
    with reading(path, "a search", FORMAT, Certificate.known) as found:
        return found


def is_search(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a saved search."""
    try:
        with zipfile.ZipFile(path) as file:
            names = set(file.namelist())
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):
        return False
    return {"header.npy", "record_parent.npy"} <= names


def load_search(path: str | os.PathLike[str], search: Search) -> State:
    """The saved state of a search that is to go on with the same problem and options.

    ValueError is raised if the file is not a saved search, is one of another problem or with other options, or is
    trimmed.
    """
    header, arrays = read_search(path)
    if header.get("trimmed"):
        raise ValueError(f"checkpoint={os.fspath(path)!r} is a trimmed certificate: no search can go on from it")
    mine, _ = search.model.instance.problem.to_arrays()
    formulation = search.model.instance.formulation
    same = {
        "problem": (header["digest"], digest(mine)),
        **{name: (header["formulation"][name], value) for name, value in formulation.to_dict().items()},
        "loss": (header["formulation"]["squared"], search.model.svm.squared),
        "strategy": (header["strategy"], search.strategy),
        **{name: (header["options"][name], value) for name, value in search.options.items()},
    }
    for name, (theirs, ours) in same.items():
        if theirs != ours:
            shown = "another problem" if name == "problem" else f"{name}={theirs!r}, not {ours!r}"
            raise ValueError(f"checkpoint={os.fspath(path)!r} is of a search with {shown}; remove it or name another")
    return State(
        records=_records(arrays),
        open=_nodes(arrays),
        multipliers=_multipliers(arrays),
        objective=header["objective"],
        labels=arrays["labels"] if len(arrays["labels"]) else None,
        gamma=arrays["gamma"] if len(arrays["labels"]) else None,
        settled=header["settled"],
        strong=header["strong"],
        unfinished=header["unfinished"],
        n_searches=header["n_searches"],
        n_first=header["n_first"],
        n_nodes=header["n_nodes"],
        seconds=header["seconds"],
        svm_bound=header["svm_bound"],
        root_bound=header["root_bound"],
        root_fixed=header["root_fixed"],
        history=[Progress(**progress) for progress in header["history"]],
    )


def problem_of(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> tuple[Formulation, Problem]:
    """Formulation and problem of a saved search; ValueError if the problem's arrays have another digest than saved."""
    if digest(arrays) != header["digest"]:
        raise ValueError("the problem's arrays are not those that the search was about (their digest differs)")
    problem = Problem.from_arrays(arrays, header["problem"])
    said = header["formulation"]
    losses = (squared_hinge(), symmetric_squared_hinge()) if said["squared"] else (hinge(), symmetric_hinge())
    return Formulation(*losses, balance=said["balance"], fit_intercept=said["fit_intercept"]), problem


def read_records(arrays: dict[str, np.ndarray]) -> tuple[list[Record], list[SignMultipliers | None]]:
    """The records of a saved search, with their proofs, and the multipliers that these use."""
    return _records(arrays), _multipliers(arrays)


def digest(arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 of a problem's arrays."""
    result = hashlib.sha256()
    for name in sorted(arrays):
        if name in Problem.ARRAYS:
            result.update(f"{name} {arrays[name].shape} {arrays[name].dtype.str} ".encode())
            result.update(np.ascontiguousarray(arrays[name]).tobytes())
    return result.hexdigest()


def _record_arrays(records: list[Record], n: int) -> dict[str, np.ndarray]:
    proofs = [(r, proof, cutoff) for r, record in enumerate(records) for proof, cutoff in record.proofs]
    stored = [proof.store() for _, proof, _ in proofs]
    directions = [one.directions for one in stored if one.directions is not None]
    return {
        "record_parent": np.array([record.parent for record in records], dtype=np.int64),
        "record_sign": np.array([record.sign for record in records], dtype=np.int8),
        "record_variable": np.array([record.variable for record in records], dtype=np.int64),
        "record_bound": np.array([record.bound for record in records], dtype=float),
        "proof_record": np.array([r for r, _, _ in proofs], dtype=np.int64),
        "proof_kind": np.array([KINDS.index(type(proof)) for _, proof, _ in proofs], dtype=np.int8),
        "proof_cutoff": np.array([cutoff for _, _, cutoff in proofs], dtype=float),
        "proof_number": np.array([one.number for one in stored], dtype=np.int64),
        "proof_share": np.array([one.share for one in stored], dtype=float),
        "proof_lift": np.array([one.lift for one in stored], dtype=float),
        "proof_end": np.cumsum([len(one.vector) for one in stored], dtype=np.int64),
        "proof_vectors": np.concatenate([np.zeros(0, dtype=np.float32), *(one.vector for one in stored)]),
        "direction_end": np.cumsum([len(one.index) for one in directions], dtype=np.int64),
        "direction_index": np.concatenate([np.zeros(0, dtype=np.int64), *(one.index for one in directions)]),
        "direction_theta": np.concatenate([np.zeros(0), *(one.theta for one in directions)]),
        "direction_gamma": np.vstack([np.zeros((0, n), dtype=np.float32), *(one.gamma for one in directions)]),
    }


def _records(arrays: dict[str, np.ndarray]) -> list[Record]:
    records = [
        Record(int(parent), int(sign), int(variable), float(bound))
        for parent, sign, variable, bound in zip(
            *(arrays[f"record_{name}"] for name in ("parent", "sign", "variable", "bound")), strict=True
        )
    ]
    starts = np.concatenate([[0], arrays["proof_end"]])
    blocks = np.concatenate([[0], arrays["direction_end"]])
    n, n_directions = arrays["direction_gamma"].shape[1], 0
    for k, (r, kind) in enumerate(zip(arrays["proof_record"], arrays["proof_kind"], strict=True)):
        found = None
        if KINDS[kind] is DirectionsProof:
            block = slice(blocks[n_directions], blocks[n_directions + 1])
            n_directions += 1
            found = Directions(*(arrays[f"direction_{name}"][block] for name in ("index", "theta", "gamma")))
        vector = arrays["proof_vectors"][starts[k] : starts[k + 1]]
        number, share = int(arrays["proof_number"][k]), float(arrays["proof_share"][k])
        proof = KINDS[kind].read(Stored(vector, number, share, found, float(arrays["proof_lift"][k])), n)
        records[r].proofs.append((proof, float(arrays["proof_cutoff"][k])))
    return records


def _node_arrays(nodes: list[Node], n: int) -> dict[str, np.ndarray]:
    nothing = np.full(n, np.nan)
    return {
        "node_low": np.array([node.box.low for node in nodes]).reshape(-1, n),
        "node_high": np.array([node.box.high for node in nodes]).reshape(-1, n),
        "node_gamma": np.array([nothing if node.gamma is None else node.gamma for node in nodes]).reshape(-1, n),
        "node_v": np.array([nothing if node.v is None else node.v[:n] for node in nodes]).reshape(-1, n),
        "node_bounds": np.array([(node.bound, node.base) for node in nodes], dtype=float).reshape(-1, 2),
        "node_numbers": np.array(
            [(node.depth, node.parent, node.sign, node.number, node.since) for node in nodes], dtype=np.int64
        ).reshape(-1, 5),
    }


def _nodes(arrays: dict[str, np.ndarray]) -> list[Node]:
    nodes = []
    for k, (depth, parent, sign, number, since) in enumerate(arrays["node_numbers"].tolist()):
        gamma, v = arrays["node_gamma"][k], arrays["node_v"][k]
        nodes.append(
            Node(
                box=Box(arrays["node_low"][k], arrays["node_high"][k]),
                depth=depth,
                bound=float(arrays["node_bounds"][k, 0]),
                parent=parent,
                sign=sign,
                gamma=None if np.isnan(gamma).any() else gamma,
                v=None if np.isnan(v).any() else v,
                number=number,
                since=since,
                base=float(arrays["node_bounds"][k, 1]),
            )
        )
    return nodes


#: Numbers of every point among multipliers with signs, as arrays of a file.
SIGN_PARTS = ("labels", "square", "unit", "upper", "lower", "arc", "arc_low", "arc_high")


def _sign_arrays(multipliers: list[SignMultipliers | None], n: int) -> dict[str, np.ndarray]:
    """Multipliers with signs."""
    none, own = SignCuts.none(), [z for z in multipliers if z is not None]
    sizes = [(len(z.cuts.triangles), len(z.cuts.margins)) for z in own]
    return {
        **{f"sign_{part}": np.array([getattr(z, part) for z in own]).reshape(-1, n) for part in SIGN_PARTS},
        "sign_sizes": np.array(sizes, dtype=np.int64).reshape(-1, 2),
        "sign_triangles": np.vstack([none.triangles, *(z.cuts.triangles for z in own)]).astype(np.int32),
        "sign_margins": np.vstack([none.margins, *(z.cuts.margins for z in own)]).astype(np.int32),
        "sign_count": np.array([z.count for z in own], dtype=float),
        "sign_weights": np.concatenate([np.zeros(0), *(z.weights for z in own)]),
    }


def _multipliers(arrays: dict[str, np.ndarray]) -> list[SignMultipliers | None]:
    found: list[SignMultipliers | None] = []
    p, q, w = 0, 0, 0
    for k, (n_triangles, n_margins) in enumerate(arrays["sign_sizes"].tolist()):
        own = SignCuts(
            arrays["sign_triangles"][p : p + n_triangles].astype(np.intp),
            arrays["sign_margins"][q : q + n_margins].astype(np.intp),
        )
        parts = {part: arrays[f"sign_{part}"][k] for part in SIGN_PARTS}
        weights = arrays["sign_weights"][w : w + own.m]
        found.append(SignMultipliers(**parts, cuts=own, weights=weights, count=float(arrays["sign_count"][k])))
        p, q, w = p + n_triangles, q + n_margins, w + own.m
    return found
