"""Pictures of label matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .canvas import axes_of, label_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def label_matrix(matrix: ArrayLike, labels: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a label matrix Γ, in labellings Γ = y yᵀ: red where two points have the same label, blue where not.

    Parameters
    ----------
    matrix : array, shape (n, n), or (n,)
        Entries in [-1, 1]; a vector of labels stands for y yᵀ.
    labels : array, shape (n,), optional
        By which points are sorted; by default the entries of the eigenvector with the largest eigenvalue.

    Raises
    ------
    ValueError
        If the matrix is not square, or there are not as many labels.

    Examples
    --------
    >>> labels = np.array([1.0, -1.0, 1.0])
    >>> axes = ct.plot.label_matrix(np.outer(labels, labels), labels)
    >>> len(axes.images)
    1
    """
    values = np.asarray(matrix, dtype=float)
    values = np.outer(values, values) if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"matrix has shape {values.shape}; it must be square, or a vector")
    keys = np.linalg.eigh((values + values.T) / 2)[1][:, -1] if labels is None else np.asarray(labels, dtype=float)
    if keys.shape != (len(values),):
        raise ValueError(f"labels has shape {keys.shape}; it must be {(len(values),)}")
    order = np.argsort(keys, kind="stable")
    ax = axes_of(ax, (5.0, 4.2))
    drawn = ax.imshow(values[np.ix_(order, order)], cmap=label_map(), vmin=-1, vmax=1, interpolation="nearest")
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(drawn, ax=ax, label="entry of Γ")
    ax.set(xlabel="points, sorted", ylabel="points, sorted")
    return ax
