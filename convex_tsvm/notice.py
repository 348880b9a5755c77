"""Warnings that name the line of whoever called the package, however deep inside it they are raised."""

import contextlib
import sys
import warnings
from pathlib import Path

import joblib


class TSVMWarning(UserWarning):
    """What this package has to say beside a result: advice, a limit that was reached, an accuracy that was not.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ct.TSVMWarning)
    ...     clf = ct.TransductiveSVC(kernel="linear").fit(X, [0, 0, 0, 1, 1, 1])  # nothing is unlabelled
    """


def warn(message: str, category: type[Warning] = TSVMWarning) -> None:
    """Warn of something in the name of the first caller from outside the package."""
    # Passed over are frames of the package, of joblib, which calls it for classes and folds, and of context managers.
    own = (str(Path(__file__).parent), str(Path(joblib.__file__).parent), contextlib.__file__)
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
