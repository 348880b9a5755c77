"""Classifiers with the interface of scikit-learn."""

from .transductive import TransductiveSVC

__all__ = ["TransductiveSVC"]
