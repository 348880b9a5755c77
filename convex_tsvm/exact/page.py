"""A certificate as a page to be read: the problem, the verdicts, the tree, and what closes each leaf."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from ..checker import check
from ..persistence import reading
from ..problem import Problem
from ..validation import new_file
from .certificate import CertificateCheck, Visit, visited
from .files import FORMAT
from .interval_files import FORMAT_OF_INTERVALS, is_of_intervals

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


def certificate_page(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> CertificateCheck:
    """Write a certificate as an HTML page that needs nothing else.

    It has the problem, the verdict of the fast check and, where python-flint is installed, of the rigorous one; the
    tree with the labels that are branched on; and for each leaf the proofs that close it, with their bounds.

    Parameters
    ----------
    path : path
        A certificate or a checkpoint.
    out : path
        The page.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no saved search, or is damaged.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "optimum.npz")
    ...     solution = ct.exact_search(ct.s3vm(balance=None), problem, certificate=file)
    ...     check = ct.certificate_page(file, pathlib.Path(folder, "optimum.html"))
    ...     page = pathlib.Path(folder, "optimum.html").read_text(encoding="utf-8")
    >>> page[:15]
    '<!DOCTYPE html>'
    """
    out = new_file("out", out)
    found, visits, asked = visited(path)
    with reading(path, "a search", (FORMAT, FORMAT_OF_INTERVALS)) as (header, arrays):
        problem = Problem.from_arrays(arrays, header["problem"])
    head = _head(os.path.basename(os.fspath(path)), found, problem, asked)
    parts = [head, _verdicts(path, found), *_tree(visits)]
    body = "\n".join(parts)
    with open(out, "w", encoding="utf-8") as file:
        file.write(
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Certificate</title>'
            f"<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
        )
    return found


def _head(name: str, found: CertificateCheck, problem: Problem, asked: str) -> str:
    rows = {
        "file": f"<code>{html.escape(name)}</code>",
        "points": f"{problem.n_labeled} labelled, {problem.n_unlabeled} unlabelled, "
        f"{problem.X.shape[1]} {'columns of the kernel matrix' if problem.X.shape[1] == problem.n else 'features'}",
        "kernel": html.escape(repr(problem.kernel)),
        "costs": f"from {problem.cost.min():.6g} to {problem.cost.max():.6g}",
        "asked of solutions": html.escape(asked),
        "best objective found": f"{found.objective:.10g}",
        "no solution is below": f"{found.lower_bound:.10g} (gap {found.gap:.2e})",
        "tree": f"{found.n_records} nodes, {found.n_closed} of them closed by {found.n_proofs} proofs, "
        f"{found.n_open} still open",
    }
    return f"<h1>Certificate of an exact search</h1>\n{_table([], rows.items())}"


def _verdicts(path: str | os.PathLike[str], found: CertificateCheck) -> str:
    wrong = "; ".join(found.problems)
    if is_of_intervals(path):
        return "<h2>Verdict</h2>\n" + _verdict("rigorous check, by arithmetic and code of its own", found.holds, wrong)
    lines = [_verdict("fast check, by the search's own arithmetic", found.holds, wrong)]
    if find_spec("flint") is None:
        lines.append("<p>The rigorous check needs python-flint: <code>pip install 'convex_tsvm[rigorous]'</code>.</p>")
    else:
        rigorous = check(path)
        shown = "" if rigorous.holds else rigorous.problem
        lines.append(_verdict("rigorous check, by arithmetic and code of its own", rigorous.holds, shown))
    return "<h2>Verdicts</h2>\n" + "\n".join(lines)


def _verdict(what: str, holds: bool, problem: str) -> str:
    word = '<b class="yes">holds</b>' if holds else f'<b class="no">does not hold</b>: {html.escape(problem)}'
    return f"<p>{what}: {word}</p>"


def _tree(visits: list[Visit]) -> Iterator[str]:
    """Nested folds, depth first: a node is shown with what leads to it."""
    children: dict[int, list[int]] = {}
    for k, visit in enumerate(visits):
        children.setdefault(visit.parent, []).append(k)
    yield "<h2>The tree</h2>"
    yield (
        "<p>Every fold is a node: what leads to it, the best bound proven there, and what is branched on. A leaf is "
        "closed by its bound, or because its proofs leave no solution below the cutoff.</p>"
    )
    if len(visits) > NODES_SHOWN:
        yield f"<p>The first {NODES_SHOWN} of {len(visits)} nodes are shown.</p>"
    shown, stack = 0, [(k, False) for k in reversed(children.get(-1, []))]
    while stack:
        k, leaving = stack.pop()
        if leaving:
            yield "</details>"
            continue
        if shown == NODES_SHOWN:
            continue
        shown += 1
        below, title = children.get(k, []), _title(k, visits[k])
        if not below:
            yield f'<div class="leaf">{title}{_steps(visits[k])}</div>'
            continue
        yield f"<details {'open' if shown < 30 else ''}><summary>{title}</summary>{_steps(visits[k])}"
        stack.append((k, True))
        stack += [(child, False) for child in reversed(below)]


def _title(k: int, visit: Visit) -> str:
    bound = "" if np.isinf(visit.bound) else f", bound {visit.bound:.8g}"
    if visit.is_empty:
        end = ": <b>closed</b>, no solution below the cutoff is left"
    else:
        end = f"{bound}, {html.escape(visit.next)}" if visit.next else f"{bound}: <b>closed</b>"
    return f"<b>{k}</b> {html.escape(visit.way)}{end}"


def _steps(visit: Visit) -> str:
    if not visit.steps:
        return ""
    rows = [(name, "-" if np.isinf(bound) else f"{bound:.10g}", settled) for name, bound, settled in visit.steps]
    return _table(["proof", "bound", "settled"], rows)


def _table(heads: list[str], rows: object) -> str:
    top = f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>" if heads else ""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)  # type: ignore[attr-defined]
    return f"<table>{top}{lines}</table>"
