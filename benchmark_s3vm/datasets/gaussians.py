"""Two Gaussians whose Bayes error is 5 %, like g50c of the papers."""

import numpy as np
from benchmark_utils.hiding import hidden
from benchopt import BaseDataset
from scipy.stats import norm


class Dataset(BaseDataset):
    """n points in d dimensions, of which some show their labels, as many of each class."""

    name = "gaussians"
    requirements = ["pip::scipy"]
    parameters = {"n, d, n_labeled": [(300, 50, 20)], "seed": [0]}
    test_parameters = {"n, d, n_labeled": [(24, 2, 6)]}

    def get_data(self):
        """Draw the points."""
        rng = np.random.default_rng(self.seed)
        truth = np.resize([1.0, -1.0], self.n)
        X = rng.standard_normal((self.n, self.d)) + truth[:, None] * norm.isf(0.05) / np.sqrt(self.d)
        return {"X": X, "y": hidden(truth, self.n_labeled, rng), "truth": truth}
