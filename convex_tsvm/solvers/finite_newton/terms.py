"""The losses of a step as functions of all outputs at once: value, slopes and curvatures, and along a line."""

from __future__ import annotations

import numpy as np

from ...instance.convex_step import ConvexStep
from ...losses import PLQ, Pieces
from ...parallel import in_threads, n_parts, unsigned
from ...problem import Array


class Terms:
    """Σ over the terms of a step of c ℓ_k(f_i) + β f_i, with ``losses`` without kinks in place of the step's own."""

    def __init__(self, step: ConvexStep, losses: tuple[PLQ, ...]) -> None:
        self.n, table = step.problem.n, Pieces.of(losses)
        assert table.constant is not None
        breaks = np.ascontiguousarray(table.ends[:, 1:])  # loops read those between two pieces only
        pieces = np.stack([table.rate / 2, table.offset, table.constant], axis=2)
        sizes = table.count - 1
        point = np.zeros(0, dtype=np.intp) if step.point is None else step.point
        self._arrays = (breaks, pieces, unsigned(sizes), unsigned(step.kind), step.cost, step.slope, unsigned(point))
        # Terms of one run are of different points: threads that share a run do not write to the same place.
        n_terms = len(step.kind)
        starts = [0, *(np.flatnonzero(np.diff(point) <= 0) + 1).tolist(), n_terms]
        self._runs = [_parts(first, last) for first, last in zip(starts[:-1], starts[1:], strict=True)]
        self._all = list(enumerate(part for run in self._runs for part in run))

    def at(self, f: Array) -> tuple[float, Array, Array]:
        """The sum, and the slope and curvature for each output, both of shape (n,)."""
        from ._loops import evaluate

        g, h, total = np.zeros(self.n), np.zeros(self.n), 0.0
        for run in self._runs:
            sums = np.zeros(len(run))

            def work(part: tuple[int, int, int], sums: Array = sums) -> None:
                k, first, last = part
                sums[k] = evaluate(*self._arrays, f, first, last, g, h)

            in_threads(work, run)
            total += float(sums.sum())
        return total, g, h

    def along(self, f: Array, change: Array, t: float) -> tuple[float, float]:
        """First and second derivative of the sum at f + t · change, by t."""
        from ._loops import along

        found = np.zeros((len(self._all), 2))

        def work(numbered: tuple[int, tuple[int, int, int]]) -> None:
            k, (_, first, last) = numbered
            found[k] = along(*self._arrays, f, change, float(t), first, last)

        in_threads(work, self._all)
        down, bend = found.sum(axis=0)
        return float(down), float(bend)


def _parts(first: int, last: int) -> list[tuple[int, int, int]]:
    """A run of terms divided into parts for threads: the number of each part, its first term, and the term after it."""
    n = n_parts(last - first, 2**16)  # fewer terms are not worth a second thread
    edges = np.linspace(first, last, n + 1).astype(int).tolist()
    return [(k, a, b) for k, (a, b) in enumerate(zip(edges[:-1], edges[1:], strict=True))]
