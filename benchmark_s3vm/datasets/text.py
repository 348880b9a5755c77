"""Newsgroups mac against mswindows (Collobert et al. 2006), from the folder of the papers' data."""

import numpy as np
import scipy.sparse as sp
from benchmark_utils.hiding import read
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """1946 sparse points with 50 labels, one of the ten original splits; ``size`` of them, or all if None."""

    name = "text"
    requirements = ["pip::convex_tsvm"]
    parameters = {"split": [0], "size": [None]}
    test_parameters = {"split": [0], "size": [60]}

    def get_data(self):
        """Read the file; where it is missing the reason is passed on."""
        file = read("text")
        if isinstance(file, str):
            return {"X": None, "y": None, "truth": None, "missing": file}
        parts = (file["data"].astype(float), file["indices"], file["indptr"])
        X, truth = sp.csr_matrix(parts, shape=tuple(file["shape"])), np.sign(file["y"].astype(float))
        labeled = file["labeled"][self.split]
        y = np.zeros(len(truth))
        y[labeled] = truth[labeled]
        if self.size is not None:
            # The labelled points first, then as many of the others as there is room for, spread over the file.
            others = np.flatnonzero(y == 0)
            step = np.linspace(0, len(others) - 1, self.size - len(labeled)).astype(int)
            kept = np.concatenate([labeled, others[step]])
            X, y, truth = X[kept], y[kept], truth[kept]
        return {"X": X, "y": y, "truth": truth}
