"""A certificate as a page to be read: the problem, the verdicts, the tree, and what closes each leaf."""

import html
import json
import os
from collections.abc import Iterator

from ..checker import Certificate, Verdict, walked
from ..checker.walk import FORMAT
from ..persistence import reading
from ..problem import Problem
from ..validation import new_file
from .prove import check_flint

#: Number of nodes that are shown, at most: the first ones, depth first.
NODES_SHOWN = 3000

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .8em; text-align: left; vertical-align: top }
th { border-bottom: 2px solid #888 } tr:nth-child(even) td { background: #f4f4f4 }
details { margin-left: 1.2em; border-left: 1px solid #ccc; padding-left: .6em } summary { cursor: pointer }
.leaf { margin-left: 1.2em; padding-left: .6em; border-left: 1px solid #ccc }
.yes { color: #06621c } .no { color: #a00 }
code { background: #f0f0f0; padding: 0 .2em }
"""


def certificate_page(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Verdict:
    """Write a certificate as an HTML page that needs nothing else.

    It has the problem and the verdict; the tree with what is branched on; and for each leaf the proofs that close it,
    with their bounds.

    Parameters
    ----------
    path, out : path
        A certificate or a checkpoint, and the page.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no saved search, or is damaged.
    ImportError
        If python-flint is not installed (``pip install convex_tsvm[rigorous]``).

    Examples
    --------
    >>> page = certificate.with_suffix(".html")
    >>> ct.exact.certificate_page(certificate, page).holds
    True
    >>> page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    out = new_file("out", out)
    with reading(path, "a search", FORMAT) as (header, arrays):
        problem = Problem.from_arrays(arrays, header["problem"])
    check_flint()
    found, certificate = walked(path)
    told = str(header["formulation"]), json.dumps(header["statement"])
    parts = [_head(os.path.basename(os.fspath(path)), found, problem, told), *_tree(certificate)]
    body = "\n".join(parts)
    with open(out, "w", encoding="utf-8") as file:
        file.write(
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Certificate</title>'
            f"<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
        )
    return found


def _head(name: str, found: Verdict, problem: Problem, told: tuple[str, str]) -> str:
    # What is claimed is a bound, or labels of all solutions below a threshold.
    claim = {"no solution is below": f"{found.lower_bound:.10g} (gap {found.gap:.2e})"}
    if found.n_proven is not None:
        claim = {f"labels of all solutions below {found.threshold:.10g}": f"{found.n_proven} besides those given"}
    rows = {
        "file": f"<code>{html.escape(name)}</code>",
        "points": f"{problem.n_labeled} labelled, {problem.n_unlabeled} unlabelled, "
        f"{problem.X.shape[1]} {'columns of the kernel matrix' if problem.X.shape[1] == problem.n else 'features'}",
        "kernel": html.escape(repr(problem.kernel)),
        "costs": f"from {problem.cost.min():.6g} to {problem.cost.max():.6g}",
        "formulation": html.escape(told[0]),
        "stated": html.escape(told[1]),
        "best objective found": f"{found.upper_bound:.10g}",
        **claim,
        "tree": f"{found.n_nodes} nodes, {found.n_proofs} proofs, {found.n_open} nodes still open",
    }
    word = '<b class="yes">proven</b>' if found.holds else f'<b class="no">not proven</b>: {html.escape(found.problem)}'
    verdict = f"<h2>Verdict</h2>\n<p>By arithmetic and code of its own: {word}</p>"
    return f"<h1>Certificate of an exact search</h1>\n{_table([], rows.items())}\n{verdict}"


def _tree(certificate: Certificate | None) -> Iterator[str]:
    """Nested folds, depth first: a node is shown with what leads to it."""
    nodes = {} if certificate is None else certificate.after
    children: dict[int, list[int]] = {}
    for k in sorted(nodes):
        assert certificate is not None
        children.setdefault(certificate.parents[k], []).append(k)
    yield "<h2>The tree</h2>"
    yield (
        "<p>Every fold is a node: what leads to it, the best bound proven there, and what is branched on. A leaf is "
        "closed by its bound, or because its proofs leave no solution below the cutoff.</p>"
    )
    if len(nodes) > NODES_SHOWN:
        yield f"<p>The first {NODES_SHOWN} of {len(nodes)} nodes are shown.</p>"
    shown, stack = 0, [(k, False) for k in reversed(children.get(-1, []))]
    while stack and certificate is not None:
        k, leaving = stack.pop()
        if leaving:
            yield "</details>"
            continue
        if shown == NODES_SHOWN:
            continue
        shown += 1
        below, title, steps = children.get(k, []), _title(certificate, k), _steps(certificate, k)
        if not below:
            yield f'<div class="leaf">{title}{steps}</div>'
            continue
        yield f"<details {'open' if shown < 30 else ''}><summary>{title}</summary>{steps}"
        stack.append((k, True))
        stack += [(child, False) for child in reversed(below)]


def _title(certificate: Certificate, k: int) -> str:
    node, parent, variable = certificate.after[k], certificate.parents[k], certificate.variables[k]
    way, given = "root", certificate.given
    if parent >= 0:
        way = given.told(certificate.variables[parent], certificate.places[parent], certificate.signs[k])
    bound = "" if node.bound == -float("inf") else f", bound {node.bound:.8g}"
    if node.is_empty:
        end = ": <b>closed</b>, no solution below the cutoff is left"
    elif variable >= 0:
        upper = given.told(variable, certificate.places[k], 1)
        end = f"{bound}, {given.known(node.box)}; branched on whether {html.escape(upper)}"
    else:
        end = f"{bound}: <b>closed</b>"
    return f"<b>{k}</b> {html.escape(way)}{end}"


def _steps(certificate: Certificate, k: int) -> str:
    rows = []
    for p, bound in certificate.after[k].steps.items():
        proof = certificate.stored[p]
        cutoff = "-" if proof.cutoff == float("inf") else f"{proof.cutoff:.8g}"
        rows.append((proof.kind, "-" if bound == -float("inf") else f"{bound:.10g}", cutoff))
    return _table(["proof", "bound", "for solutions below"], rows) if rows else ""


def _table(heads: list[str], rows: object) -> str:
    top = f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>" if heads else ""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)  # type: ignore[attr-defined]
    return f"<table>{top}{lines}</table>"
