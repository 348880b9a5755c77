"""Pictures: each takes matplotlib axes and returns them, and makes new ones where there are none.

With several panels, a picture is a figure: :func:`plot_comparison`, :func:`plot_boundaries`, :func:`plot_iterations`,
:func:`plot_search` and :func:`plot_share_path`.  :func:`save_figure` writes either to a file.
"""

from .boundaries import plot_boundary as plot_boundary
from .canvas import check_picture as check_picture
from .canvas import save_figure as save_figure
from .colors import COLORS as COLORS
from .colors import CYCLE as CYCLE
from .colors import label_map as label_map
from .comparison import plot_boundaries as plot_boundaries
from .comparison import plot_comparison as plot_comparison
from .comparison import plot_iterations as plot_iterations
from .losses import plot_conjugate as plot_conjugate
from .losses import plot_loss as plot_loss
from .matrices import plot_label_matrix as plot_label_matrix
from .practice import plot_candidates as plot_candidates
from .practice import plot_learning_curve as plot_learning_curve
from .practice import plot_share_path as plot_share_path
from .search import SMALL_TREE as SMALL_TREE
from .search import plot_gaps as plot_gaps
from .search import plot_progress as plot_progress
from .search import plot_search as plot_search
from .search import plot_tree as plot_tree
from .steps import plot_path as plot_path
from .steps import plot_surrogates as plot_surrogates
