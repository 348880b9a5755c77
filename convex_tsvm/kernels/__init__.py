"""Where outputs are measured: kernel functions, and sources of kernel rows."""

from .functions import (
    RBF,
    CallableKernel,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    ProductForm,
    ProductKernel,
    kernel_from_dict,
    make_kernel,
)
from .products import ProductRows
from .rows import GramRows, KernelRows, LinearRows, RowSource
from .wrappers import CentredRows, DeformedRows, RowsWithMean

__all__ = [
    "RBF",
    "CallableKernel",
    "CentredRows",
    "DeformedRows",
    "GramRows",
    "Kernel",
    "KernelRows",
    "Linear",
    "LinearRows",
    "Polynomial",
    "Precomputed",
    "ProductForm",
    "ProductKernel",
    "ProductRows",
    "RowSource",
    "RowsWithMean",
    "kernel_from_dict",
    "make_kernel",
]
