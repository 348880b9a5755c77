"""How families of SVMs are weighed: error of their average for priors and for how much a label left out counts.

    python benchmarks/families.py [--minutes 30] [--report]

The draws are those of few_labels.py.  The setting that is best on all sets but one is judged on that one, for each set
in turn, so that nothing is chosen by what it is judged on.  Draws that are done are kept in results/families.csv.
"""

import itertools
import os
import warnings
from dataclasses import asdict, dataclass

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import few_labels
import numpy as np
from document import Document
from scipy.special import softmax
from store import Keyed, resume

import convex_tsvm as ct

PATH = few_labels.RESULTS / "families.csv"
#: How much a label left out counts, and priors of each graph and of "linear", that of "rbf" being 1.
EVIDENCE, GRAPH, LINEAR = (0.1, 0.2, 0.3, 0.5, 0.8), (1.0, 0.37), (1.0, 0.37, 0.135)
SETTINGS = tuple(itertools.product(EVIDENCE, GRAPH, LINEAR))
FAMILIES = ("rbf", "graph", "weak graph", "linear")
FIGURES = (*("error_" + name for name in FAMILIES), *("error_" + "_".join(map(str, one)) for one in SETTINGS))


@dataclass(frozen=True)
class Draw(Keyed):
    """Labels of one draw of a data set."""

    data: str
    kind: str
    n_labeled: int
    split: int


def run(draw):
    """Errors of every family, and of their averages for all settings."""
    X, truth, visible = few_labels.draw(draw.data, draw.kind, draw.n_labeled, draw.split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = ct.selection.TransductiveEnsemble().fit(X, np.where(visible, truth, -1))
    hidden, names = truth[~visible], list(clf.evidence_)
    found = {**asdict(draw), "method": "families"}
    outputs, speaks = {}, {}
    for name, one in clf.estimators_.items():
        last = one[-1] if hasattr(one, "steps") else one
        scores, evidence = last.transduction_scores_[~visible], clf.evidence_[name]
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        outputs[name] = softmax(evidence.scale * scores, axis=1)
        speaks[name] = 0.0 if np.isnan(evidence.log_likelihood) else draw.n_labeled * evidence.log_likelihood
        found[f"error_{name}"] = 100 * float(np.mean(last.transduction_[~visible] != hidden))
    for weight, graph, linear in SETTINGS:
        prior = {"rbf": 1.0, "graph": graph, "weak graph": graph, "linear": linear}
        weights = softmax([weight * speaks[name] + np.log(prior[name]) for name in names])
        chosen = sum(w * outputs[name] for w, name in zip(weights, names, strict=True)).argmax(axis=1)
        found[f"error_{weight}_{graph}_{linear}"] = 100 * float(np.mean(chosen != hidden))
    return found | {"error": found["error_0.3_1.0_0.135"], "seconds": 0.0}


def write_report(known):
    keys = sorted(known)
    table = np.array([[known[key][name] for name in FIGURES] for key in keys])
    sets, labels = np.array([key[0] for key in keys]), np.array([int(key[2]) for key in keys])
    numbers = sorted(set(labels))

    def means(rows):
        return np.array([table[rows & (labels == n)].mean(axis=0) for n in numbers]).mean(axis=0)

    left_out, picks = np.zeros(len(keys)), {}
    for name in sorted(set(sets)):
        first = len(FAMILIES)
        best = first + int(np.argmin(means(sets != name)[first:]))
        left_out[sets == name] = table[sets == name, best]
        picks.setdefault(FIGURES[best], []).append(name)
    out = Document("families", "Families of SVMs, averaged: how much labels left out count, and the prior")
    out.text(f"`python benchmarks/families.py`: {len(keys)} draws of few_labels.py; errors in % of unlabelled points.")
    out.table("evidence, prior of graphs and linear", *(f"{n} labels" for n in numbers))
    rows = [*((name, table[:, k]) for k, name in enumerate(FIGURES)), ("best of the other sets", left_out)]
    for name, errors in rows:
        shown = name.removeprefix("error_").replace("_", ", ")
        out.row(shown, *(f"{errors[labels == n].mean():.2f}" for n in numbers))
    chosen = "; ".join(f"{name.removeprefix('error_').replace('_', ', ')}: {len(own)}" for name, own in picks.items())
    out.text(f"Chosen without one set, and how many sets leave it: {chosen}.")
    print(out.save())


def main():
    draws = [
        Draw(name, kind, n, k)
        for k in range(2)
        for name in few_labels.SETS
        for kind in few_labels.KINDS
        for n in few_labels.LABELS
        if few_labels.draw(name, kind, n, k) is not None
    ]
    resume(__doc__, draws, run, FIGURES, PATH, write_report)


if __name__ == "__main__":
    main()
