"""Kernel rows by BLAS-3: kernels that are functions of inner products, in single or double precision."""

import importlib
from dataclasses import dataclass
from functools import cached_property, partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..parallel import in_threads, row_slices, tiles
from ..validation import is_sparse
from .distances import sparse_squared_norms
from .functions import Kernel, Linear, ProductForm, ProductKernel
from .ranking import PairKernel, PairRows
from .rows import Indices, KernelRows, LinearRows, Rows, RowSource
from .types import Array, Points


@dataclass(frozen=True)
class Tiles:
    """In which parts passes over all pairs of points are made."""

    rows: int = 512  # rows of a tile; in a mean it has four times as many columns
    # Columns of a tile that is used at once and not kept: with so many rows it stays in the processor's cache.
    panel: int = 512
    # Values that are summed in the precision of a tile: sums of more would lose a digit, and sums of a few are slow.
    summed: int = 64
    # Rows of a product of sparse matrices made at a time, as most entries of the product are not zero.
    sparse: int = 128


class ProductRows(RowSource):
    """Rows of a kernel k(x, z) = φ(x̃ᵀz̃ + a_x + a_z) (see :class:`~convex_tsvm.kernels.functions.ProductForm`).

    For dense points the terms a are two more columns, so that one matrix product gives the argument of φ.  Where the
    kernel depends on differences only, dense points are moved to their mean first, since the error of single precision
    grows with ‖x̃‖².  ``error`` is roughly the rounding error of the argument of φ.
    """

    tiles = Tiles()

    def __init__(self, kernel: ProductKernel, X: Points, dtype: DTypeLike = np.float64) -> None:
        self.kernel, self.dtype, self.n = kernel, np.dtype(dtype), X.shape[0]
        self._diag = kernel.diag(X)
        if is_sparse(X):
            self._points: Any = (X * self.form.scale).astype(self.dtype)
            squares = sparse_squared_norms(self._points)
            self._transposed = self._points.T.tocsr()
        else:
            self._points, squares = self._augmented(X)
        # A dense row of few features is cheap: a cache keeps it only once it is asked for again.
        self.cheap = not is_sparse(X) and X.shape[1] <= 128
        self._terms = self.form.term(squares).astype(self.dtype)
        largest = squares.max(initial=0.0) + np.abs(self._terms).max(initial=0.0)
        self.error = float(np.finfo(self.dtype).eps * largest)

    def _augmented(self, X: Array) -> tuple[Rows, Array]:
        """(x̃, a, 1) of every point, and ‖x̃‖²; made in parts, since X may fill most of the memory."""
        n, d = X.shape
        points, squares = np.empty((n, d + 2), dtype=self.dtype), np.empty(n)
        origin = X.mean(axis=0) if self.form.of_differences else 0.0
        size = self.tiles.rows
        for start in range(0, n, size):
            part = slice(start, min(start + size, n))
            scaled = (X[part] - origin) * self.form.scale
            points[part, :d] = scaled
            # Squared norms are those of the rounded points, so that the kernel stays positive semidefinite.
            squares[part] = np.einsum("ij,ij->i", points[part, :d], points[part, :d], dtype=float)
        points[:, d], points[:, d + 1] = self.form.term(squares), 1.0
        return points, squares

    @cached_property
    def form(self) -> ProductForm:
        return self.kernel.product_form

    def __getstate__(self) -> dict[str, Any]:
        # The form has lambdas, which cannot be pickled; it is made again when it is needed.
        return {name: value for name, value in self.__dict__.items() if name != "form"}

    def diag(self) -> Array:
        return self._diag

    def rows(self, indices: Indices) -> Rows:
        return self._values(indices, slice(None))

    def block(self, indices: Indices, columns: Indices) -> Rows:
        """k(X[indices], X[columns]); where both are the same array, each pair of points is computed once."""
        if columns is indices and len(indices) > self.tiles.rows:
            return self._symmetric(indices)
        return self._values(indices, columns)

    def mean(self, members: Indices) -> Array:
        """Mean of the rows of ``members``; of the pairs among them each is computed once, as k(x, z) = k(z, x)."""
        if len(np.unique(members)) < len(members):
            return super().mean(members)
        total, size, summed = np.zeros(self.n), self.tiles.rows, self.tiles.summed
        others = np.setdiff1d(np.arange(self.n), members, assume_unique=True)
        for first in range(0, len(members), size):
            left = members[first : first + size]
            for columns in (others, left):
                if len(columns):
                    total[columns] += _column_sums(self.block(left, columns), summed)
            for second in range(first + size, len(members), 4 * size):
                right = members[second : second + 4 * size]
                tile = self.block(left, right)
                total[right] += _column_sums(tile, summed)
                total[left] += _column_sums(tile.T, summed)
        return total / len(members)

    def times(self, vectors: Array) -> Array:
        """The matrix times some vectors, by tiles in memory that is used again: no row is ever whole."""
        if is_sparse(self._points):
            return super().times(vectors)
        result, size, panel = np.zeros(vectors.shape), self.tiles.rows, self.tiles.panel
        vectors = vectors.astype(self.dtype, copy=False)

        def sums(rows: slice) -> None:
            left = self._turned(self._points[rows])
            room = np.empty((len(left), panel), dtype=self.dtype)
            for start in range(0, self.n, panel):
                right = self._points[start : start + panel]
                tile = room if len(right) == panel else np.empty((len(left), len(right)), self.dtype)
                np.matmul(left, right.T, out=tile)
                if self.form.finish is not None:
                    self.form.finish(tile)
                result[rows] += tile @ vectors[start : start + panel]

        in_threads(sums, [slice(start, start + size) for start in range(0, self.n, size)])
        return result

    def full(self) -> Rows:
        everything = np.arange(self.n)
        return self.block(everything, everything)

    def _symmetric(self, indices: Indices) -> Rows:
        n, size = len(indices), self.tiles.rows
        matrix = np.empty((n, n), dtype=self.dtype)
        for start in range(0, n, size):
            stop = min(start + size, n)
            # A panel begins at the diagonal; the part to the left of it has been computed already, transposed.
            panel = self._values(indices[start:stop], indices[start:], matrix[start:stop, start:])
            if stop < n:
                below, right = matrix[stop:, start:stop], panel[:, stop - start :].T
                in_threads(partial(_copy, below, right), row_slices(below))
        return matrix

    def _values(self, indices: Indices, columns: Indices | slice, out: Rows | None = None) -> Rows:
        if not is_sparse(self._points):
            return self._dense_values(indices, columns, out)
        values = self._sparse_products(indices, columns, out)
        values += self._terms[indices][:, None]
        values += self._terms[columns]
        finish = self.form.finish
        if finish is not None:
            in_threads(lambda rows: finish(values[rows]), row_slices(values))
        return values

    def _dense_values(self, indices: Indices, columns: Indices | slice, out: Rows | None) -> Rows:
        left, right, finish = self._turned(self._points[indices]), self._points[columns].T, self.form.finish
        values = np.empty((len(left), right.shape[1]), dtype=self.dtype) if out is None else out

        def fill(tile: slice) -> None:
            np.matmul(left[tile], right, out=values[tile])
            if finish is not None:
                for rows in row_slices(values[tile]):
                    finish(values[tile][rows])

        in_threads(fill, tiles(len(left), values.size))
        return values

    @staticmethod
    def _turned(points: Rows) -> Rows:
        """(x̃, 1, a) from (x̃, a, 1), so that the product with a row (z̃, a_z, 1) is x̃ᵀz̃ + a_x + a_z."""
        left = points.copy()
        left[:, [-2, -1]] = points[:, [-1, -2]]
        return left

    def _sparse_products(self, indices: Indices, columns: Indices | slice, out: Rows | None) -> Rows:
        right = self._transposed if isinstance(columns, slice) else self._points[columns].T.tocsr()
        values = np.empty((len(indices), right.shape[1]), dtype=self.dtype) if out is None else out

        def fill(start: int) -> None:
            part = slice(start, start + self.tiles.sparse)
            product, place = self._points[indices[part]] @ right, values[part]
            if place.flags.c_contiguous:
                product.toarray(out=place)
            else:
                place[:] = product.toarray()

        in_threads(fill, range(0, len(indices), self.tiles.sparse))
        return values


def rows_of(kernel: Kernel, X: Points, dtype: DTypeLike = np.float64) -> RowSource:
    """Rows of a kernel at some points, by inner products where these are accurate enough.

    Single precision is used for kernels with a product form only, and then whatever its rounding errors are.
    """
    if isinstance(kernel, Linear):
        return LinearRows(X)
    if isinstance(kernel, ProductKernel):
        products = ProductRows(kernel, X, dtype)
        single = products.dtype == np.float32
        # With larger errors differences are taken one by one, where the kernel is one of differences.
        if single or products.error <= 1e-8 or not products.form.of_differences:
            return products
    return exact_rows(kernel, X)


def exact_rows(kernel: Kernel, X: Points) -> RowSource:
    """Rows of a kernel at some points as its function computes them."""
    return PairRows.of(kernel, X) if isinstance(kernel, PairKernel) else KernelRows(kernel, X)


def _copy(target: Rows, source: Rows, rows: slice) -> None:
    target[rows] = source[rows]


def _column_sums(tile: Rows, size: int) -> Array:
    """Sums of so few values in the tile's own precision that rounding does not add up, and of these in double."""
    total = np.zeros(tile.shape[1])
    for start in range(0, len(tile), size):
        part = tile[start : start + size]
        total += np.ones(len(part), dtype=tile.dtype) @ part
    return total


class Device:
    """An array library and one of its devices; a ValueError where there is no such library or device.

    The name is the library's as it is imported, and after a colon, if it is not the library's default, its device:
    ``"torch"``, ``"torch:cuda"``, ``"torch:cuda:1"``, ``"cupy"``, ``"cupy:1"``, ``"numpy"``, ``"array_api_strict"``.
    """

    def __init__(self, name: Any) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"device={name!r} must be a library and its device, such as 'torch:cuda' or 'cupy', or None"
            )
        library, _, place = name.partition(":")
        self.name = name
        self.xp = _namespace(library, name)
        try:
            self.place = _place(library, place)
            self.get(self.put(np.zeros(1)))
        except Exception as error:  # every library has exceptions of its own for a device that is not there
            why = (str(error) or type(error).__name__).splitlines()[0]
            raise ValueError(f"device={name!r}: {library} cannot use it: {why}") from error

    def __reduce__(self) -> tuple[type["Device"], tuple[str]]:
        # A library is a module, which is imported where a copy is made.
        return Device, (self.name,)

    def put(self, array: NDArray[Any]) -> Any:
        place = {} if self.place is None else {"device": self.place}
        return self.xp.asarray(np.ascontiguousarray(array), **place)

    def get(self, array: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """An array of the device as one of NumPy that can be written to: ``out``, or memory of its own."""
        on_processor = self._on_processor(array)
        if on_processor is not None:
            if out is None:
                return on_processor if on_processor.flags.writeable else on_processor.copy()
            out[...] = on_processor
            return out
        if out is None:
            # NumPy asks for large pages; new memory in small ones takes longer than the way from the device.
            out = np.empty(tuple(array.shape), dtype=str(array.dtype).rpartition(".")[2])
        elif not out.flags.c_contiguous:
            # Libraries write in one go only to memory that is.
            out[...] = self.get(array)
            return out
        if hasattr(array, "get"):  # CuPy
            array.get(out=out)
        else:  # PyTorch
            self.xp.asarray(out).copy_(array)
        return out

    def _on_processor(self, array: Any) -> NDArray[Any] | None:
        """The array as it is, if the processor can read it."""
        if isinstance(array, np.ndarray):
            return array
        if hasattr(array, "get"):  # CuPy
            return None
        if hasattr(array, "cpu"):  # PyTorch
            return array.numpy() if array.device.type == "cpu" else None
        # The library may say which of its devices NumPy can read.
        memory = self.xp.__array_namespace_info__().default_device()
        return np.from_dlpack(array if memory is None else array.to_device(memory))


class DeviceRows(ProductRows):
    """Rows, from another device, of a kernel with φ for arrays of any library (``product_form.phi``).

    Points go to the device once, by PyTorch, CuPy, or any other library of the array API; a row comes back for every
    one that a solver asks for, and sums of rows and products with the matrix are made where the rows are.
    """

    bytes_at_once = 256 * 2**20  # parts in which rows are computed, as the memory of the device may be the smaller one

    def __init__(self, kernel: ProductKernel, X: Points, dtype: DTypeLike, device: Device) -> None:
        super().__init__(kernel, X, dtype)
        self.device = device
        self.cheap = False  # a row costs a transfer even where it is quickly computed

    def __getstate__(self) -> dict[str, Any]:
        # Another process has no part of this one's memory of the device: points go there again.
        return {name: value for name, value in super().__getstate__().items() if not name.startswith("_on_device")}

    def combine(self, indices: Indices, coefficients: Array) -> Array:
        """Σ coefficients_k row_k, of which only the sum leaves the device."""
        return self.times_columns(indices, coefficients[:, None]).ravel()

    def times(self, vectors: Array) -> Array:
        """The matrix times some vectors; no row leaves the device."""
        return self.times_columns(np.arange(self.n), vectors)

    def times_columns(self, indices: Indices, vectors: Array) -> Array:
        """Columns of the matrix times vectors, shape (len(indices), k), in double precision; shape (n, k)."""
        total = np.zeros((self.n, vectors.shape[1]))
        for part in self.parts(len(indices)):
            weights = self.device.put(vectors[part].astype(self.dtype, copy=False))
            total += self.device.get(self.device.xp.matmul(self._on_device_values(indices[part], None).T, weights))
        return total

    #: A sum, in place of the tiles that would have to leave the device.
    mean = RowSource.mean

    def block(self, indices: Indices, columns: Indices) -> Rows:
        """k(X[indices], X[columns]); where both are the same array, symmetric to the last digit."""
        if columns is not indices:
            return self._values(indices, columns)
        matrix = self._symmetric(indices)
        size = self.tiles.rows
        for start in range(0, len(indices), size):
            tile = matrix[start : start + size, start : start + size]
            tile[...] = (tile + tile.T) / 2
        return matrix

    def _values(self, indices: Indices, columns: Indices | slice, out: Rows | None = None) -> Rows:
        there = None if isinstance(columns, slice) else columns
        n_columns = self.n if there is None else len(there)
        parts = self.parts(len(indices), n_columns)
        if out is None and len(parts) <= 1:
            return self.device.get(self._on_device_values(indices, there))
        values = np.empty((len(indices), n_columns), dtype=self.dtype) if out is None else out
        for part in parts:
            self.device.get(self._on_device_values(indices[part], there), values[part])
        return values

    @cached_property
    def _on_device_points(self) -> tuple[Any, Any]:
        """(x̃, a, 1) and (x̃, 1, a) of every point, on the device."""
        return self.device.put(self._points), self.device.put(self._turned(self._points))

    def _on_device_values(self, indices: Indices, columns: Indices | None) -> Any:
        """k(X[indices], X[columns]) on the device; all columns for None."""
        xp, (right, left) = self.device.xp, self._on_device_points
        left = xp.take(left, self.device.put(indices), axis=0)
        if columns is not None:
            right = xp.take(right, self.device.put(columns), axis=0)
        arguments, phi = xp.matmul(left, right.T), self.form.phi
        return arguments if phi is None else phi(xp, arguments)


def why_not_on_device(kernel: Kernel, X: Points) -> str | None:
    """Why rows of a kernel cannot be computed on another device, or None if they can."""
    if not isinstance(kernel, ProductKernel) or (
        kernel.product_form.finish is not None and kernel.product_form.phi is None
    ):
        return f"kernel={kernel!r} has no rows there; the kernels 'rbf' and 'poly' have"
    if is_sparse(X) or not isinstance(X, np.ndarray):
        return "X is sparse, or not in memory; rows of dense points are computed there"
    return None


def _namespace(library: str, name: str) -> ModuleType:
    """The array API of a library, by array-api-compat where the library's own differs from the standard."""
    try:
        module = importlib.import_module(library)
    except (ImportError, TypeError, ValueError):
        raise ValueError(
            f"device={name!r}: there is no library {library!r} here; it must be one of the array API"
        ) from None
    if library in ("numpy", "torch", "cupy"):
        try:
            return importlib.import_module(f"array_api_compat.{library}")
        except ImportError:
            raise ValueError(f"device={name!r} needs array-api-compat: pip install 'convex_tsvm[device]'") from None
    if not hasattr(module, "__array_namespace_info__"):
        raise ValueError(f"device={name!r}: {library!r} is not a library of the array API, such as 'torch' or 'cupy'")
    return module


def _place(library: str, place: str) -> Any:
    """A device as the library wants it named; None is its default."""
    if not place:
        return None
    if library == "cupy":
        return int(place) if place.isdecimal() else place
    if library == "array_api_strict":
        return importlib.import_module(library).Device(place)
    return place
