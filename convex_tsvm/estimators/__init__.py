"""The scikit-learn face."""

from .transductive import TransductiveSVC

__all__ = ["TransductiveSVC"]
