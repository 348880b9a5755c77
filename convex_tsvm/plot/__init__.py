"""Pictures: each takes matplotlib axes and returns them, and makes new ones where there are none.

With several panels, a picture is a figure: :func:`comparison`, :func:`boundaries`, :func:`iterations`
and :func:`search`.  :func:`save` writes either to a file.
"""

from .canvas import COLORS as COLORS
from .canvas import CYCLE as CYCLE
from .canvas import check_picture as check_picture
from .canvas import label_map as label_map
from .canvas import save as save
from .planes import boundaries as boundaries
from .planes import boundary as boundary
from .planes import comparison as comparison
from .planes import iterations as iterations
from .planes import label_matrix as label_matrix
from .steps import conjugate as conjugate
from .steps import loss as loss
from .steps import path as path
from .steps import surrogates as surrogates
from .trees import candidates as candidates
from .trees import gaps as gaps
from .trees import learning_curve as learning_curve
from .trees import progress as progress
from .trees import search as search
from .trees import tree as tree
