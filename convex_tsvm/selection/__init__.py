"""Choosing and judging with few labels: folds, scorers, probabilities, searches, shares of classes, learning curves."""

from .comparison import SupervisedComparison as SupervisedComparison
from .comparison import compare_supervised as compare_supervised
from .curves import LearningCurve as LearningCurve
from .curves import learning_curve as learning_curve
from .paths import CostPath as CostPath
from .paths import SharePath as SharePath
from .paths import cost_path as cost_path
from .paths import share_path as share_path
from .pool import WithUnlabeled as WithUnlabeled
from .scoring import labeled_scorer as labeled_scorer
from .splits import LabeledKFold as LabeledKFold
