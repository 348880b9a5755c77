"""Coordinate descent: convex steps of linear problems with points in memory."""

from .descent import CoordinateDescent as CoordinateDescent
