"""Derivatives of solutions with respect to their data."""

from .fixed_point import FixedPoint as FixedPoint
from .fixed_point import TangentChangesError as TangentChangesError
from .gradients import backward as backward
from .layers import jax_function as jax_function
from .layers import torch_function as torch_function
from .parameters import Derivative as Derivative
