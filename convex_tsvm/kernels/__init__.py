"""Where outputs are measured: kernel functions, and sources of kernel rows."""

from .functions import (
    RBF,
    CallableKernel,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    kernel_from_dict,
    make_kernel,
)
from .rows import (
    CachedRows,
    CentredRows,
    GramRows,
    KernelRows,
    RowSource,
    RowsWithMean,
    apply_rows,
    full_matrix,
    within_budget,
)

__all__ = [
    "RBF",
    "CachedRows",
    "CallableKernel",
    "CentredRows",
    "GramRows",
    "Kernel",
    "KernelRows",
    "Linear",
    "Polynomial",
    "Precomputed",
    "RowSource",
    "RowsWithMean",
    "apply_rows",
    "full_matrix",
    "kernel_from_dict",
    "make_kernel",
    "within_budget",
]
