"""Points in parts that Dask holds, or makes when they are asked for, on several machines; and points of whatever kind.

Every product is one small task for each part and a sum of their results; a part is read, used and forgotten, unless
the user has made Dask keep it.  Tasks do not depend on a worker's state, so that another worker can repeat those of one
that is lost.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..validation import integer, is_sparse
from .memory import in_memory, unchecked
from .memory_mapped import open_points
from .protocol import Array, LinearPoints


class DaskPoints(LinearPoints):
    """Rows in parts, each the result of a Dask task; products are computed where Dask is told to (a client, threads).

    An ImportError says if Dask is not installed, and a ValueError if there are no parts, or they are not such rows,
    with as many features as each other.

    Parameters
    ----------
    parts : sequence of dask.delayed.Delayed
        Each gives the next rows, as an array or a CSR array of 32 or 64-bit numbers.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        _dask()
        self._blocks = list(parts)
        if not self._blocks:
            raise ValueError("parts is empty; there must be at least one")
        facts = self._computed([self._task(_facts, block) for block in self._blocks])
        counts, features, entries = (np.array(column, dtype=np.int64) for column in zip(*facts, strict=True))
        if (features != features[0]).any():
            raise ValueError(f"parts have {sorted(set(features.tolist()))} features; all must have the same number")
        edges = np.concatenate([[0], counts.cumsum()]).tolist()
        self.shape, self.n_entries = (edges[-1], int(features[0])), int(entries.sum())
        self._rows = [slice(first, last) for first, last in zip(edges[:-1], edges[1:], strict=True)]

    @classmethod
    def of(cls, X: Any) -> "DaskPoints":
        """The rows of a two-dimensional Dask array, of dense parts or sparse ones."""
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions; it must have 2, (n, d)")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return cls(X.to_delayed().ravel().tolist())

    def times(self, w: Array) -> Array:
        return np.concatenate(self._computed([self._task(_product, part, "times", w) for part in self._blocks]))

    def transposed(self, q: Array) -> Array:
        return np.asarray(self._sum("transposed", q, np.zeros(self.shape[1])))

    def curved(self, h: Array, p: Array, shift: float = 0.0) -> tuple[Array, float]:
        image, total = self._sum("curved", h, (np.zeros(self.shape[1]), 0.0), p, float(shift))
        return image, float(total)

    def gram(self, h: Array) -> Array:
        return np.asarray(self._sum("gram", h, np.zeros((self.shape[1],) * 2)))

    def squares(self, h: Array) -> Array:
        return np.asarray(self._sum("squares", h, np.zeros(self.shape[1])))

    def squared_norms(self) -> Array:
        return np.concatenate(self._computed([self._task(_product, part, "squared_norms") for part in self._blocks]))

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows, part in zip(self._rows, self._blocks, strict=True):
            yield rows, self._computed([part])[0]

    def take(self, rows: NDArray[np.intp]) -> Any:
        part = np.searchsorted([block.stop for block in self._rows], rows, side="right")
        used = np.unique(part).tolist()
        found = self._computed(
            [self._task(_product, self._blocks[k], "take", rows[part == k] - self._rows[k].start) for k in used]
        )
        if not found:
            return sp.csr_array((0, self.shape[1]))
        # ``found`` has the rows sorted by parts; they are put into the order in which they were asked for.
        order = np.argsort(np.argsort(part, kind="stable"), kind="stable")
        together = sp.vstack(found, format="csr") if is_sparse(found[0]) else np.vstack(found)
        return together[order]

    def _sum(self, name: str, weights: Array, nothing: Any, *given: Any) -> Any:
        """The sum of the parts' products; parts whose weights are all zero are not read."""
        tasks = [
            self._task(_product, part, name, np.ascontiguousarray(weights[rows]), *given)
            for rows, part in zip(self._rows, self._blocks, strict=True)
            if weights[rows].any()
        ]
        while len(tasks) > 1:
            tasks = [self._task(_added, tasks[first : first + 8]) for first in range(0, len(tasks), 8)]
        return self._computed(tasks)[0] if tasks else nothing

    def _task(self, function: Any, *given: Any) -> Any:
        # ``pure=False`` gives tasks random names: to derive names from the arguments, Dask would read all of these.
        return _dask().delayed(function, pure=False)(*given)

    def _computed(self, tasks: list[Any]) -> list[Any]:
        # Graphs here hold a number for each point, as they must: Dask is to warn of them from this number of bytes on.
        with _dask().config.set({"distributed.admin.large-graph-warning-threshold": 2**33}):
            return list(_dask().compute(*tasks))


def open_partitioned(path: str | os.PathLike[str], *, part_entries: int = 2**22) -> "DaskPoints":
    """Points of a folder that every worker can see, in parts that are read for each product and forgotten.

    Parameters
    ----------
    path : path
        The folder, as :func:`~convex_tsvm.points.convert_svmlight` wrote it; :func:`~convex_tsvm.points.open_points`
        says what is raised.
    part_entries : int, default 4 194 304
        Entries of a part, about, which are 32 MB: a worker's memory holds as many parts as it has threads.
    """
    wanted, points = integer("part_entries", part_entries, least=1), open_points(path).points
    n = points.shape[0]
    edges = np.searchsorted(points.indptr, np.arange(0, points.n_entries, wanted)[1:])
    edges = np.unique(np.concatenate([[0], edges, [n]]))
    folder = str(Path(path).resolve())
    parts = [
        _dask().delayed(read_part, pure=False)(folder, first, last)
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    return DaskPoints(parts)


def read_part(folder: str, first: int, last: int) -> Any:
    """Some rows of a folder of points, read rather than mapped, since Dask counts mapped files as a worker's memory."""
    points = open_points(folder, check=False).points
    begin, end = int(points.indptr[first]), int(points.indptr[last])
    path, indptr = Path(folder), np.asarray(points.indptr[first : last + 1])
    data, indices = (
        np.fromfile(path / name, kind, count=end - begin, offset=begin * kind.itemsize)
        for name, kind in (("data", points.data.dtype), ("indices", points.indices.dtype))
    )
    return sp.csr_array((data, indices, indptr - begin), shape=(last - first, points.shape[1]))


def _facts(part: Any) -> tuple[int, int, int]:
    """Numbers of rows, features and entries of a part, which is checked for NaN and infinity."""
    points = in_memory(part)
    return *points.shape, points.n_entries


def _product(part: Any, name: str, *given: Any) -> Any:
    """A method of :class:`LinearPoints` on a part, which :func:`_facts` has checked once."""
    return getattr(unchecked(part), name)(*given)


def _added(results: list[Any]) -> Any:
    """The sum of some results, each an array or a pair."""
    if isinstance(results[0], tuple):
        return tuple(sum(values[1:], values[0]) for values in zip(*results, strict=True))
    return sum(results[1:], results[0])


def _dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            "points in parts are computed by Dask, which is not installed: pip install convex_tsvm[distributed]"
        ) from error
    return dask


def linear_points(X: Any) -> LinearPoints:
    """An array or a sparse matrix as points that are asked for products only; nothing is copied that need not be.

    A ValueError says if X is not two-dimensional, is empty, or holds NaN or infinity.

    Parameters
    ----------
    X : array, sparse matrix, Dask array or LinearPoints, shape (n, d)
        Of 32 or 64-bit floating-point numbers; others are converted.  Sparse rows that are not sorted, or hold a column
        twice, are copied.
    """
    if isinstance(X, LinearPoints):
        return X
    return DaskPoints.of(X) if hasattr(X, "dask") and hasattr(X, "to_delayed") else in_memory(X)
