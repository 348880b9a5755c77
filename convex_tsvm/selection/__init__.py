"""Choosing and judging with few labels: folds, scorers, probabilities, searches, shares of classes, learning curves."""

from .comparison import SupervisedComparison as SupervisedComparison
from .comparison import compare_supervised as compare_supervised
from .cost_path import CostPath as CostPath
from .cost_path import cost_path as cost_path
from .curves import LearningCurve as LearningCurve
from .curves import learning_curve as learning_curve
from .pool import WithUnlabeled as WithUnlabeled
from .scoring import labeled_scorer as labeled_scorer
from .shares import SharePath as SharePath
from .shares import share_path as share_path
from .splits import LabeledKFold as LabeledKFold
