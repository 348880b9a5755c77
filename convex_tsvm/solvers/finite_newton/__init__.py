"""Finite Newton: convex steps of linear problems, by products with the points."""

from .newton import FiniteNewton as FiniteNewton
