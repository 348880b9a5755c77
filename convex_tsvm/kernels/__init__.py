"""Where outputs are measured: kernel functions, and sources of kernel rows."""

from .accurate import (
    AccurateGram,
    NoMeanError,
    Projected,
    centred_gram,
    entry_error,
    plain_gram,
    projected_gram,
    shifted_gram,
    without_direction,
)
from .cluster import bagged_cluster_kernel, cluster_kernel, density_kernel
from .deformation import DeformedRows
from .deformed import DeformedKernel, graph_laplacian, laplacian_kernel, neighbor_graph
from .device import Device, DeviceRows, why_not_on_device
from .factor import kernel_factor
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
from .products import ProductRows, rows_of
from .rows import GramRows, KernelRows, LinearRows, RowSource
from .wrappers import CentredRows, RowsWithSums

__all__ = [
    "RBF",
    "AccurateGram",
    "CallableKernel",
    "CentredRows",
    "DeformedKernel",
    "DeformedRows",
    "Device",
    "DeviceRows",
    "GramRows",
    "Kernel",
    "KernelRows",
    "Linear",
    "LinearRows",
    "NoMeanError",
    "Polynomial",
    "Precomputed",
    "ProductForm",
    "ProductKernel",
    "ProductRows",
    "Projected",
    "RowSource",
    "RowsWithSums",
    "bagged_cluster_kernel",
    "centred_gram",
    "cluster_kernel",
    "density_kernel",
    "entry_error",
    "graph_laplacian",
    "kernel_factor",
    "kernel_from_dict",
    "laplacian_kernel",
    "make_kernel",
    "neighbor_graph",
    "plain_gram",
    "projected_gram",
    "rows_of",
    "shifted_gram",
    "why_not_on_device",
    "without_direction",
]
