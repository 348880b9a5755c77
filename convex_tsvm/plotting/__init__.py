"""Pictures: each takes matplotlib axes and returns them, and makes new ones where there are none.

With several panels, a picture is a figure: :func:`plot_comparison`, :func:`plot_boundaries`, :func:`plot_iterations`,
:func:`plot_search` and :func:`plot_share_path`.  :func:`save_figure` writes either to a file.
"""

from .boundaries import plot_boundary
from .canvas import check_picture, save_figure
from .colors import COLORS, CYCLE, label_map
from .comparison import plot_boundaries, plot_comparison, plot_iterations
from .losses import plot_conjugate, plot_loss
from .matrices import plot_label_matrix
from .practice import plot_candidates, plot_learning_curve, plot_share_path
from .search import SMALL_TREE, plot_gaps, plot_progress, plot_search, plot_tree
from .steps import plot_path, plot_surrogates

__all__ = [
    "COLORS",
    "CYCLE",
    "SMALL_TREE",
    "check_picture",
    "label_map",
    "plot_boundaries",
    "plot_boundary",
    "plot_candidates",
    "plot_comparison",
    "plot_conjugate",
    "plot_gaps",
    "plot_iterations",
    "plot_label_matrix",
    "plot_learning_curve",
    "plot_loss",
    "plot_path",
    "plot_progress",
    "plot_search",
    "plot_share_path",
    "plot_surrogates",
    "plot_tree",
    "save_figure",
]
