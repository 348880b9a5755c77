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

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np, convex_tsvm as ct
    >>> X = np.array([[-2.0], [-1.8], [-0.2], [1.0], [1.5], [2.0]])
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], balance=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "optimum.npz")
    ...     solution = ct.exact_search(ct.s3vm(balance=None), problem, certificate=file)
    ...     proof = ct.check_certificate(file)
    >>> proof.holds
    True
    """
    check_flint()
    return check(path)


def check_flint() -> None:
    """Raise ImportError, with what to do, if the rigorous arithmetic is not installed."""
    if find_spec("flint") is None:
        raise ImportError("rigorous checks need python-flint: pip install 'convex_tsvm[rigorous]'")
