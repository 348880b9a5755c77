"""Certificates of searches over intervals of outputs, as files; docs/certificate.rst says what is in them."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..checker import Certificate
from ..checker_intervals import IntervalCertificate
from ..losses import PLQ
from ..persistence import reading, write_arrays
from ..problem import Array
from ..relaxations.envelopes.model import EnvelopeModel
from .files import FORMAT, digest
from .intervals import IntervalRecord, IntervalSearch

FORMAT_OF_INTERVALS = "convex_tsvm intervals 1"


def save_interval_search(path: str | os.PathLike[str], search: IntervalSearch) -> None:
    """Write what proves the bound of a search over intervals as one ``.npz`` file, complete or not at all.

    Parameters
    ----------
    path : path
    search : IntervalSearch
        That has run and has kept its proofs.

    Raises
    ------
    OSError
        If writing fails.
    """
    instance, model, point = search.instance, search.model, search.best.point
    assert point is not None
    arrays, described = instance.problem.to_arrays()
    stated, own = statement_of_intervals(model)
    header = {
        "format": FORMAT_OF_INTERVALS,
        "problem": described,
        "digest": digest(arrays),
        "statement": stated,
        "formulation": str(instance.formulation),
        "status": search.status,
        "objective": float(search.objective),
        "lower_bound": float(search.lower_bound),
        "n_nodes": search.n_nodes,
    }
    arrays |= own
    arrays |= {
        "header": np.array(json.dumps(header)),
        "root": model.root,
        "root_low": search.root_box[0],
        "root_high": search.root_box[1],
        "root_cutoff": np.array([search.root_cutoff]),
        "coefficients": point.coefficients,
        "intercept": np.array([point.bias]),
        # All nodes are in the tree: those that are open have bounds of their own.
        "node_numbers": np.zeros((0, 5), dtype=np.int64),
    }
    arrays |= _tree(search.finished_records(), search)
    write_arrays(path, arrays)


def statement_of_intervals(model: EnvelopeModel) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a search over intervals is about beside its problem: plain values, and arrays."""
    bias, formulation = model.instance.bias, model.instance.formulation
    stated = {
        "bias": "centred" if bias.centred else "free" if bias.free else "none",
        "value": bias.offset,
        "lift": float(model.lift),
    }
    rows = model.rows
    return stated, {
        "loss_labeled": _pieces(formulation.labeled),
        "loss_unlabeled": _pieces(formulation.unlabeled),
        "rows": np.array([row for row, _, _ in rows]).reshape(len(rows), model.instance.problem.n),
        "row_low": np.array([low for _, low, _ in rows], dtype=float),
        "row_high": np.array([high for _, _, high in rows], dtype=float),
    }


def _pieces(loss: Any) -> Array:
    """A row (from, to, a, b, c) for every piece a t² + b t + c of a loss; none if nothing is paid."""
    if loss is None:
        return np.zeros((0, 5))
    assert isinstance(loss, PLQ)
    return np.array([(left, right, *piece) for piece, left, right in loss.spans()], dtype=float)


def _tree(records: list[IntervalRecord], search: IntervalSearch) -> dict[str, np.ndarray]:
    """The arrays of nodes and proofs; of proofs those that narrow a box, and for a leaf the best bound."""
    curvatures: dict[int, int] = {}
    vectors: list[Array] = []
    proofs = []
    for number, record in enumerate(records):
        for proof in record.kept_proofs():
            if id(proof.curvature) not in curvatures:
                curvatures[id(proof.curvature)] = len(vectors)
                vectors.append(search.bounds.curved(proof.curvature).curvature)
            proofs.append((number, curvatures[id(proof.curvature)], proof))
    n = search.model.n
    return {
        "record_parent": np.array([record.parent for record in records], dtype=np.int64),
        "record_sign": np.array([record.sign for record in records], dtype=np.int8),
        "record_variable": np.array([record.variable for record in records], dtype=np.int64),
        "record_place": np.array([record.place for record in records], dtype=float),
        "proof_record": np.array([number for number, _, _ in proofs], dtype=np.int64),
        "proof_curvature": np.array([number for _, number, _ in proofs], dtype=np.int64),
        "proof_cutoff": np.array([proof.cutoff for _, _, proof in proofs], dtype=float),
        "proof_gamma": np.array([proof.gamma for _, _, proof in proofs]).reshape(-1, n),
        "proof_low": np.array([proof.low for _, _, proof in proofs]).reshape(-1, n),
        "proof_high": np.array([proof.high for _, _, proof in proofs]).reshape(-1, n),
        "curvatures": np.array(vectors).reshape(-1, n),
    }


def read_any(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a saved search of either kind; a ValueError if the file is none, or is damaged."""
    known = Certificate.known | IntervalCertificate.known
    with reading(path, "a search", (FORMAT, FORMAT_OF_INTERVALS), known) as found:
        return found


def is_of_intervals(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it is of a search over intervals; FileNotFoundError if there is none."""
    try:
        return bool(read_any(path)[0]["format"] == FORMAT_OF_INTERVALS)
    except ValueError:
        return False
