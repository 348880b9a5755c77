"""The common CVXPY layer: every problem that is given to CVXPY is made here, of the same parts.

- What is paid is written by :func:`loss_expression`, from the pieces of a PLQ loss, its stretches, its envelope or its
  conjugate; R(w) and additions by ``written`` and ``added_terms``, and linear constraints on outputs by ``rows_of``.
- Outputs f, or margins t, are variables with an equation f = X w + b, or with the matrix inequality of label matrices.
- A ``ReadableProblem`` prints the whole, and ``solve_by`` hands it to a solver.

A class says what its variables are, and that alone: w and b of a convex step (``PrimalModel``), its multipliers
(``DualModel``), which stretch each output is on (``MixedIntegerModel``), w with losses as they are (``SmoothModel``), a
label matrix (``TransductionSDP``) or its multipliers (``DualSDP``), a projection on eigenvectors (``SpectralSDP``).
"""

from .expressions import conjugate_segments as conjugate_segments
from .expressions import loss_expression as loss_expression
from .mixed_integer import MixedIntegerModel as MixedIntegerModel
from .models import DualModel as DualModel
from .models import PrimalModel as PrimalModel
from .models import StepModel as StepModel
from .solver import CvxpySolver as CvxpySolver
from .unrelaxed_compact_margin import UnrelaxedCompactMargin as UnrelaxedCompactMargin
