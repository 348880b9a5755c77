"""Choosing and judging with few labels: folds, scorers, probabilities, searches, shares of classes, learning curves."""

from .calibration import WithUnlabeled as WithUnlabeled
from .comparison import LearningCurve as LearningCurve
from .comparison import SupervisedComparison as SupervisedComparison
from .comparison import compare_supervised as compare_supervised
from .comparison import learning_curve as learning_curve
from .ensemble import Evidence as Evidence
from .ensemble import TransductiveEnsemble as TransductiveEnsemble
from .paths import CostPath as CostPath
from .paths import cost_path as cost_path
from .splits import LabeledKFold as LabeledKFold
from .splits import labeled_scorer as labeled_scorer
