"""The rigorous check of a certificate: :mod:`convex_tsvm.checker` with this package's errors."""

from __future__ import annotations

import os
from importlib.util import find_spec

from ..checker import Verdict, check


def check_certificate(path: str | os.PathLike[str]) -> Verdict:
    """Prove what a certificate claims, in arithmetic that cannot err on the wrong side and by code that shares nothing.

    Parameters
    ----------
    path : path
        A certificate or a checkpoint.

    Returns
    -------
    Verdict
        ``holds`` says whether the claim is proven, ``problem`` why not, ``lower_bound`` and ``upper_bound`` what is.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If python-flint is not installed (``pip install convex_tsvm[rigorous]``).
    """
    check_flint()
    return check(path)


def check_flint() -> None:
    """Raise ImportError, with what to do, if the rigorous arithmetic is not installed."""
    if find_spec("flint") is None:
        raise ImportError("rigorous checks need python-flint: pip install 'convex_tsvm[rigorous]'")
