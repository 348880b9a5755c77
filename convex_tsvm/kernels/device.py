"""Kernel rows computed by another array library, on a device of its own: PyTorch, CuPy, or any other of the array API.

Points go to the device once; a row comes back for every one that a solver asks for, and sums of rows and products with
the matrix are made where the rows are.
"""

from __future__ import annotations

import importlib
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..validation import is_sparse
from .functions import Kernel, ProductKernel
from .products import ProductRows
from .rows import Indices, Rows, RowSource
from .types import Array, Points


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

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
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
    """Rows, from another device, of a kernel with φ for arrays of any library (``product_form.phi``)."""

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
        size = max(1, self.bytes_at_once // (self.dtype.itemsize * self.n))
        for start in range(0, len(indices), size):
            part = slice(start, start + size)
            weights = self.device.put(vectors[part].astype(self.dtype, copy=False))
            total += self.device.get(self.device.xp.matmul(self._on_device_values(indices[part], None).T, weights))
        return total

    def mean(self, members: Indices) -> Array:
        """Mean of the rows of ``members``: a sum, in place of the tiles that would have to leave the device."""
        return RowSource.mean(self, members)

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
        size = max(1, self.bytes_at_once // (self.dtype.itemsize * max(n_columns, 1)))
        if out is None and len(indices) <= size:
            return self.device.get(self._on_device_values(indices, there))
        values = np.empty((len(indices), n_columns), dtype=self.dtype) if out is None else out
        for start in range(0, len(indices), size):
            part = slice(start, start + size)
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
    if library not in ("numpy", "torch", "cupy", "dask"):
        return _imported(library, name)
    _imported(library, name)
    try:
        return importlib.import_module(f"array_api_compat.{library}")
    except ImportError:
        raise ValueError(f"device={name!r} needs array-api-compat: pip install 'convex_tsvm[device]'") from None


def _imported(library: str, name: str) -> ModuleType:
    try:
        module = importlib.import_module(library)
    except (ImportError, TypeError, ValueError):
        raise ValueError(
            f"device={name!r}: there is no library {library!r} here; it must be one of the array API"
        ) from None
    if library not in ("numpy", "torch", "cupy") and not hasattr(module, "__array_namespace_info__"):
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
