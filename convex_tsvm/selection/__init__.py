"""Choosing and judging with few labels: folds, scorers, probabilities, searches, shares of classes, learning curves."""
