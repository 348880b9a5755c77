"""Makes the corpus anew: ``python tests/certificates/make.py`` writes ``honest/`` and ``forged/`` beside this file.

One file an attack.  Honest files are certificates of small searches of every kind; each forged one is an honest one
after one change, with the digest of the problem made right again where the change is to the problem, as a forger would.
"""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np

import convex_tsvm as ct
from convex_tsvm.checker import digest

HERE = Path(__file__).parent

#: Attacks on honest files of every kind; the others are on the first kind only.
EVERYWHERE = {
    "bound_raised_by_a_thousandth", "bound_raised_by_a_billionth", "objective_lowered", "label_changed_redigested",
    "costs_lowered_redigested", "leaf_removed", "branch_flipped", "cutoffs_lowered", "vectors_doubled", "no_proofs",
    "multipliers_negative", "multipliers_nan", "multipliers_too_large", "multipliers_not_there", "share_of_three",
    "labels_all_flipped",
}  # fmt: skip


def honest():
    """Name, formulation, problem and options of each search."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(12, 2))
    y = np.zeros(12)
    y[:4] = 1, -1, 1, -1
    hinge, squared = ct.cccp_tsvm(0.0), ct.s3vm()
    free = {"balance": None}
    rbf = {"kernel": ct.RBF(sigma=0.7), "C": 2.0}
    gram = ct.RBF(sigma=0.7)(X, X)
    yield "squared", squared, ct.Problem(X, y, **rbf), {"patience": 0, "bounds": "sdp"}
    yield "squared_svm", squared, ct.Problem(X, y, **rbf), {"bounds": "svm"}
    yield "hinge", hinge, ct.Problem(X, y, **rbf), {"patience": 0}
    yield "targets", ct.s3vm(balance="targets", fit_intercept=False), ct.Problem(X, y, **rbf), {"patience": 0}
    yield "count", squared, ct.Problem(X, y, balance=("exact", 0.5), **rbf), {"patience": 0}
    yield "free_bias", ct.s3vm(balance=None), ct.Problem(X, y, **rbf, **free), {"bounds": "svm"}
    yield "hinge_free_bias", ct.cccp_tsvm(0.0, balance=None), ct.Problem(X, y, **rbf, **free), {}
    yield "linear", ct.s3vm(fit_intercept=False), ct.Problem(X + 3, y, C=2.0, balance=0.2), {"patience": 0}
    yield "polynomial", squared, ct.Problem(X, y, kernel=ct.kernels.Polynomial(2, 0.5, 1.0), C=2.0), {"bounds": "svm"}
    yield "precomputed", squared, ct.Problem(gram, y, kernel="precomputed", C=2.0), {"patience": 0}
    yield "ramp", ct.cccp_tsvm(-0.3), ct.Problem(X, y, C=9.0, kernel=ct.RBF(sigma=0.7)), {"gap": 1e-4}
    yield "unfinished", squared, ct.Problem(X, y, **rbf), {"bounds": "svm", "max_nodes": 5}
    yield "far_away", squared, ct.Problem(1e9 + np.round(X * 8), y, kernel=ct.RBF(sigma=4.0), C=2.0), {"bounds": "svm"}


def read(path):
    """Header and arrays."""
    arrays = dict(np.load(path))
    return json.loads(str(arrays["header"])), arrays


def write(path, header, arrays, *, redigest=False):
    """Write them, with the digest made right if the problem was changed."""
    if redigest:
        header = {**header, "digest": digest(arrays)}
    arrays = {**arrays, "header": np.array(json.dumps(header))}
    np.savez_compressed(path, **arrays)


def without(arrays, names, k):
    """Arrays of one kind without row k."""
    return {name: np.delete(arrays[name], k, axis=0) for name in names}


def attacks(header, a):
    """Name, header, arrays and whether the problem was changed."""
    bound, objective = header["lower_bound"], header["objective"]
    for name, value in (
        ("bound_raised_by_a_thousandth", bound * (1 + 1e-3)),
        ("bound_raised_by_a_billionth", bound * (1 + 1e-9)),
        ("bound_above_objective", objective * 1.5),
        ("bound_nan", float("nan")),
        ("bound_infinite", float("inf")),
        ("bound_text", "1.0"),
    ):
        yield name, {**header, "lower_bound": value}, a, False
    for name, value in (("lowered", objective * (1 - 1e-3)), ("nan", float("nan")), ("minus_infinity", -np.inf)):
        yield f"objective_{name}", {**header, "objective": value}, a, False
    stated = header["statement"]
    yield "statement_other_loss", {**header, "statement": {**stated, "loss": "squared"}}, a, False
    yield "statement_without_constant", {**header, "statement": {**stated, "constant": 1.0}}, a, False
    yield "format_of_before", {**header, "format": "convex_tsvm search 1"}, a, False
    # The problem.
    changed = a["X"].copy()
    changed[0, 0] += 0.5
    yield "point_moved", header, {**a, "X": changed}, False
    yield "point_moved_redigested", header, {**a, "X": changed}, True
    yield "points_swapped_redigested", header, {**a, "X": a["X"][::-1].copy()}, True
    yield "costs_lowered_redigested", header, {**a, "cost": a["cost"] * 0.9}, True
    yield "cost_negative", header, {**a, "cost": -a["cost"]}, True
    labels = a["y"].copy()
    labels[0] *= -1
    yield "label_changed_redigested", header, {**a, "y": labels}, True
    nan = a["X"].copy()
    nan[1, 1] = np.nan
    yield "point_nan", header, {**a, "X": nan}, True
    kernel = header["problem"]["kernel"]
    if "gamma" in kernel:
        for name, gamma in (("other", kernel["gamma"] * 0.8), ("negative", -1.0)):
            yield (
                f"gamma_{name}",
                {**header, "problem": {**header["problem"], "kernel": {**kernel, "gamma": gamma}}},
                a,
                False,
            )
    # The tree.
    n_records = len(a["record_parent"])
    records = ("record_parent", "record_sign", "record_variable", "record_place", "record_bound")
    yield (
        "no_tree",
        header,
        {**a, **{name: a[name][:0] for name in records}, "node_numbers": a["node_numbers"][:0]},
        False,
    )
    if n_records > 1:
        yield "leaf_removed", header, {**a, **without(a, records, n_records - 1)}, False
        for name, array in (("branch_flipped", "record_sign"), ("wrong_point_branched", "record_variable")):
            other = a[array].copy()
            other[-1 if array == "record_sign" else 0] = -other[-1] if array == "record_sign" else (other[0] + 1) % 12
            yield name, header, {**a, array: other}, False
        closed = a["record_variable"].copy()
        closed[0] = -1
        yield "root_called_closed", header, {**a, "record_variable": closed}, False
        parents = a["record_parent"].copy()
        parents[1] = 1
        yield "its_own_parent", header, {**a, "record_parent": parents}, False
        roots = a["record_parent"].copy()
        roots[-1] = -1
        yield "two_roots", header, {**a, "record_parent": roots}, False
    # Proofs.
    n_proofs = len(a["proof_record"])
    if n_proofs:
        yield "proofs_of_no_node", header, {**a, "proof_record": a["proof_record"] + n_records}, False
        yield "cutoffs_lowered", header, {**a, "proof_cutoff": a["proof_cutoff"] * 0.9}, False
        yield "cutoffs_nan", header, {**a, "proof_cutoff": a["proof_cutoff"] * np.nan}, False
        yield "kind_unknown", header, {**a, "proof_kind": a["proof_kind"] * 0 + 9}, False
        yield "vectors_nan", header, {**a, "proof_vector": a["proof_vector"] * np.nan}, False
        yield "vectors_infinite", header, {**a, "proof_vector": a["proof_vector"] * np.inf}, False
        yield "vectors_doubled", header, {**a, "proof_vector": a["proof_vector"] * 2}, False
        yield "vectors_zero", header, {**a, "proof_vector": a["proof_vector"] * 0}, False
        yield "vectors_cut_short", header, {**a, "proof_vector": a["proof_vector"][:-3]}, False
        yield "no_proofs", header, {
            **a, **{name: a[name][:0] for name in a if name.startswith("proof_")}
        }, False  # fmt: skip
    if "multiplier_arc" in a:
        yield "multipliers_negative", header, {**a, "multiplier_arc": -a["multiplier_arc"]}, False
        yield "multipliers_nan", header, {**a, "multiplier_unit": a["multiplier_unit"] * np.nan}, False
        yield "multipliers_too_large", header, {**a, "multiplier_unit": a["multiplier_unit"] - 10}, False
        yield "share_of_three", header, {**a, "proof_share": a["proof_share"] * 0 + 3}, False
        yield "multipliers_not_there", header, {**a, "proof_number": a["proof_number"] + 99}, False
    # The labels.
    if len(a.get("labels", ())):
        yield "labels_of_another", header, {**a, "labels": -a["labels"]}, False
        yield "labels_halved", header, {**a, "labels": a["labels"] / 2}, False
        free = np.flatnonzero(a["y"] == 0)
        other = a["labels"].copy()
        other[free] *= -1
        yield "labels_all_flipped", header, {**a, "labels": other}, False
        yield "dual_point_missing", header, {**a, "gamma": a["gamma"][:0], "targets": a["targets"][:0]}, False


def mangled(data):
    """Name and bytes of files that are damaged."""
    yield "truncated", data[: len(data) // 2]
    yield "empty", b""
    yield "no_archive", b"PK" + bytes(range(200))
    # In the middle of the file, where there are numbers: a date in the archive may be any.
    for k in range(6):
        place = len(data) * (k + 2) // 12
        yield f"bits_flipped_{k}", data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]


def main():
    """Write the corpus."""
    for kind in ("honest", "forged"):
        shutil.rmtree(HERE / kind, ignore_errors=True)
        (HERE / kind).mkdir()
    for name, formulation, problem, options in honest():
        path = HERE / "honest" / f"{name}.npz"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ct.exact_search(formulation, problem, certificate=path, **options)
        verdict = ct.prove_certificate(path)
        assert verdict.holds, (name, verdict.problem)
    for base in ("squared", "hinge", "targets", "count", "free_bias", "ramp"):
        header, arrays = read(HERE / "honest" / f"{base}.npz")
        for name, other, forged, redigest in attacks(header, arrays):
            if base != "squared" and name not in EVERYWHERE:
                continue
            path = HERE / "forged" / f"{base}-{name}.npz"
            write(path, other, forged, redigest=redigest)
            verdict = ct.prove_certificate(path)
            assert not verdict.holds, path
            print(f"{path.name}: {verdict.problem}")
    header, arrays = read(HERE / "honest" / "precomputed.npz")
    matrix = arrays["X"] - 0.5 * np.eye(12)
    write(HERE / "forged" / "precomputed-indefinite.npz", header, {**arrays, "X": matrix}, redigest=True)
    lifted = {**header, "statement": {**header["statement"], "lift": -0.1}}
    write(HERE / "forged" / "precomputed-lift_negative.npz", lifted, arrays)
    header, arrays = read(HERE / "honest" / "unfinished.npz")
    write(
        HERE / "forged" / "unfinished-open_nodes_left_out.npz",
        header,
        {**arrays, "node_numbers": arrays["node_numbers"][:0]},
    )
    write(HERE / "forged" / "unfinished-bound_of_closed.npz", {**header, "lower_bound": header["objective"]}, arrays)
    data = (HERE / "honest" / "squared_svm.npz").read_bytes()
    for name, content in mangled(data):
        path = HERE / "forged" / f"squared_svm-{name}.npz"
        path.write_bytes(content)
        if ct.prove_certificate(path).holds:
            path.unlink()  # a bit of what is no part of the claim, such as a seed of the search


if __name__ == "__main__":
    main()
