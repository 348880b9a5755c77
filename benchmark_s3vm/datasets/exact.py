"""The instances of Piccialli, Schwiddessen and Sudoso (2024), from the folder of the papers' data."""

import numpy as np
from benchmark_utils.hiding import hidden, names, read
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """A standardized set with a share of its labels shown; ``size`` points of it, or all where that is None."""

    name = "exact"
    requirements = ["pip::convex_tsvm"]
    parameters = {"set": ["art100"], "n_labeled": [20], "size": [None], "seed": [0]}
    test_parameters = {"set": ["2moons"], "n_labeled": [6], "size": [24]}

    def get_data(self):
        """Read the file; where it is missing the reason is passed on."""
        file = read(f"exact_{self.set}")
        if isinstance(file, str):
            return {"X": None, "y": None, "truth": None, "missing": file}
        rng = np.random.default_rng(self.seed)
        order = rng.permutation(len(file["y"]))[: self.size]
        X, truth = file["X"][order].astype(float), np.where(file["y"][order] == file["y"].max(), 1.0, -1.0)
        return {"X": X, "y": hidden(truth, self.n_labeled, rng), "truth": truth}

    @classmethod
    def get_all_parameter_values(cls, name):
        """The sets that are in the folder."""
        return names("exact_") if name == "set" else None
