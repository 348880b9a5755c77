"""Two moons: drawn with noise, or the set that ships with the library."""

import numpy as np
from benchmark_utils.hiding import hidden
from benchopt import BaseDataset

from convex_tsvm.data import load_data


class Dataset(BaseDataset):
    """Points on two half circles with Gaussian noise.

    ``n="bundled"`` is ``convex_tsvm.data.load_data("two_moons")`` with its six labels; the other parameters say nothing
    then but the split, which is the seed.
    """

    name = "two_moons"
    requirements = ["pip::convex_tsvm"]
    parameters = {"n, n_labeled": [("bundled", 6), (100, 6)], "noise": [0.15], "seed": [0]}
    test_parameters = {"n, n_labeled": [("bundled", 6), (20, 4)]}

    def get_data(self):
        """Draw the points, or load them."""
        if self.n == "bundled":
            data = load_data("two_moons", split=self.seed)
            return {"X": data.X, "y": data.y, "truth": data.truth}
        rng = np.random.default_rng(self.seed)
        angle, truth = np.pi * rng.random(self.n), np.resize([1.0, -1.0], self.n)
        X = np.column_stack([np.cos(angle) * truth + (truth < 0), np.sin(angle) * truth + 0.5 * (truth < 0)])
        X += self.noise * rng.normal(size=X.shape)
        return {"X": X, "y": hidden(truth, self.n_labeled, rng), "truth": truth}
