"""Semi-supervised SVMs that mean different structures, weighted by what labels left out say of each."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..deadline import share_of_time, within
from ..decision import chosen_classes, of_each_class
from ..estimators.base import KernelExpansion
from ..estimators.labels import Labels, ScoresLabeled, marker_of
from ..methods.left_out import Inference, folds_of
from ..methods.several_shares import calibration
from ..notice import warn
from ..problem import Array
from ..validation import finite, integer, is_sparse, one_of
from .fits import Steps, default_estimator, fitted, routes

#: Points up to which the graph is one of the families by default: its kernel takes n³ operations.
GRAPH_POINTS = 4000


class Evidence(NamedTuple):
    """What labels left out say of a family.

    Attributes
    ----------
    weight : float
        Its share in the average; those of all families sum to 1.
    log_likelihood : float
        Mean of the logarithm of the probability of a label that was left out; NaN if none could be.
    accuracy : float
        Share of these labels that were found.
    scale : float
        By what outputs are multiplied before they become probabilities.
    """

    weight: float
    log_likelihood: float
    accuracy: float
    scale: float


@dataclass(eq=False, repr=False)
class TransductiveEnsemble(ScoresLabeled, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Several families of semi-supervised SVMs, which assume different structures, weighted by how probable each is.

    Nobody knows beforehand whether classes are clusters, lie along a graph of neighbours, or are apart by a plane.
    Each family is fitted to all points.  Then the supervised SVM with its kernel learns from the labels without some of
    them, and the probabilities that it gives to those that were left out are evidence for the kernel.  Weights are
    proportional to the prior and to exp(``evidence`` times the sum of their logarithms), and probabilities of the
    classes are averaged with these weights (or those of the family with the largest weight are taken).

    Parameters
    ----------
    estimators : list of (str, estimator), optional
        The families, classifiers of this package with a kernel or pipelines that end in one.  By default "rbf",
        ``TransductiveSVC()``; "graph" and "weak graph", the same on the kernel of a graph of neighbours (``C_manifold``
        1 and 0.1; up to 4000 points); and "linear", a supervised linear SVM of standardized features.
    combine : {"average", "best"}, default "average"
    prior : dict of str to float > 0, optional
        How probable each family is beforehand, up to a factor; 1 for families that it does not name.  By default 0.135
        for "linear" of the default families; that and ``evidence`` were chosen on 26 sets, where leaving any one out
        leads to nearly the same (``benchmarks/families.py``).
    evidence : float >= 0, default 0.3
        How much a label left out counts: 1 if all say something of their own, 0 for the prior alone.
    cv : int, default 5
        Parts that labels are left out in.  The kernel of all labelled points is in memory for it.
    time_limit : float > 0, optional
        Seconds for all families together.

    Attributes
    ----------
    estimators_ : dict of str to estimator
        The families as they were fitted, with their certificates.
    evidence_ : dict of str to Evidence
        What speaks for each family.
    classes_ : array, shape (n_classes,)
    transduction_ : array, shape (n,)
        A label for every training point; known ones are kept.
    transduction_scores_ : array, shape (n, n_classes)
        Probabilities of the classes at the training points.

    Examples
    --------
    >>> clf = ct.selection.TransductiveEnsemble().fit(points, few)
    >>> sorted(clf.evidence_), bool(clf.score(points, truth) > 0.9)
    (['graph', 'linear', 'rbf', 'weak graph'], True)
    """

    estimators: Sequence[tuple[str, Any]] | None = None
    _: KW_ONLY
    combine: str = "average"
    prior: Mapping[str, float] | None = None
    evidence: float = 0.3
    cv: int = 5
    time_limit: float | None = None

    @property
    def unlabeled(self) -> Any:
        """How the first family marks unlabelled points in ``y``."""
        return marker_of(self.estimators[0][1]) if self.estimators else -1

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all families, and weigh them.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (n, n_features)
        y : array, shape (n,)
            Labels, with the first estimator's ``unlabeled`` where unknown (-1 by default).
        sample_weight : array, shape (n,), optional

        Raises
        ------
        ValueError
            If a family has no kernel, or a parameter or the labels are not as they must be.
        """
        one_of("combine", self.combine, ("average", "best"))
        tempering, parts = finite("evidence", self.evidence, least=0), integer("cv", self.cv, least=2)
        X = X if hasattr(X, "shape") else np.asarray(X)
        families = dict(_default_families(X) if self.estimators is None else _checked(self.estimators))
        given: Any = ({"linear": 0.135} if self.estimators is None else {}) if self.prior is None else self.prior
        if not isinstance(given, Mapping) or not set(given) <= set(families):
            raise ValueError(f"prior={given!r} must be a dict of numbers by names of families: {', '.join(families)}")
        prior = {name: finite(f"prior[{name!r}]", value, above=0) for name, value in given.items()}
        labels = Labels.read(y, self.unlabeled, type(self).__name__, sample_weight)
        self.estimators_: dict[str, Any] = {}
        with within(self.time_limit):
            for name, one in families.items():
                with share_of_time(len(families) - len(self.estimators_)):
                    self.estimators_[name] = fitted(clone(one), X, column_or_1d(y), sample_weight)
        self.classes_ = labels.classes
        found = {name: _left_out(one, labels, parts) for name, one in self.estimators_.items()}
        if not any(len(likely) for likely, _, _ in found.values()):
            warn("every class has a single label: none can be left out, and families have the weights of the prior")
        speaks = np.array([float(likely.sum()) for likely, _, _ in found.values()])
        weights = softmax(tempering * speaks + np.log([prior.get(name, 1.0) for name in found]))
        if self.combine == "best":
            weights = np.eye(len(weights))[int(np.argmax(weights))]
        self.evidence_ = {
            name: Evidence(float(weight), float(likely.mean()) if len(likely) else np.nan, right, scale)
            for weight, (name, (likely, right, scale)) in zip(weights, found.items(), strict=True)
        }
        scores = {name: Steps.of(one).classifier.transduction_scores_ for name, one in self.estimators_.items()}
        self.transduction_scores_ = self._averaged(scores)
        found_classes = self.classes_[chosen_classes(self.transduction_scores_)]
        self.transduction_ = np.where(labels.unlabeled, found_classes, self.classes_[np.maximum(labels.index, 0)])
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes at points X, shape (n, n_classes): the families' averages."""
        check_is_fitted(self, "evidence_")
        return self._averaged({name: one.decision_function(X) for name, one in self.estimators_.items()})

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each point of X, shape (n,)."""
        chosen = chosen_classes(self.predict_proba(X))  # which first sees whether there has been a fit
        return np.asarray(self.classes_[chosen])

    @property
    def n_features_in_(self) -> int:
        """Number of features of a fit."""
        check_is_fitted(self, "evidence_")
        return int(next(iter(self.estimators_.values())).n_features_in_)

    def _averaged(self, outputs: dict[str, Array]) -> NDArray[np.float64]:
        """Weighted probabilities by the outputs of the families."""
        parts = [
            one.weight * softmax(one.scale * of_each_class(outputs[k]), axis=1) for k, one in self.evidence_.items()
        ]
        return np.asarray(np.sum(parts, axis=0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [one.__sklearn_tags__().input_tags for _, one in self.estimators or ()]
        tags.input_tags.sparse = all(one.sparse for one in inner)
        tags.input_tags.pairwise = any(one.pairwise for one in inner)
        return tags

    def __str__(self) -> str:
        if not hasattr(self, "evidence_"):
            return super().__str__()
        lines = ["family      weight  labels left out that are found  log-likelihood of one"]
        for name, one in self.evidence_.items():
            lines.append(f"{name:<11} {one.weight:6.2f}  {one.accuracy:31.0%}  {one.log_likelihood:21.2f}")
        return "\n".join(lines)


def _default_families(X: Any) -> list[tuple[str, Any]]:
    graphs = {"graph": 1.0, "weak graph": 0.1} if X.shape[0] <= GRAPH_POINTS else {}
    on_graphs = [(name, default_estimator(C_manifold=cost)) for name, cost in graphs.items()]
    scaler: Any = StandardScaler(with_mean=not is_sparse(X))
    scaler = scaler.set_fit_request(sample_weight=False) if routes() else scaler
    linear = make_pipeline(scaler, default_estimator(kernel="linear", C=0.1, C_unlabeled=None))
    return [("rbf", default_estimator()), *on_graphs, ("linear", linear)]


def _checked(estimators: Any) -> list[tuple[str, Any]]:
    """Pairs of names and families; a ValueError if they are none, or no classifiers with a kernel."""
    pairs = list(estimators) if isinstance(estimators, (list, tuple)) else []
    named = all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) for one in pairs)
    if not pairs or not named or len({one[0] for one in pairs}) < len(pairs):
        raise ValueError(f"estimators={estimators!r} must be a list of pairs (name, estimator) with different names")
    for name, one in pairs:
        if not isinstance(Steps.of(one).classifier, KernelExpansion):
            raise ValueError(f"estimators: {name!r} is {one!r}; families are classifiers with a kernel, or end in one")
    markers = [repr(marker_of(one)) for _, one in pairs]
    if len(set(markers)) > 1:
        raise ValueError(f"estimators mark unlabelled points by {', '.join(markers)}; take one marker")
    return pairs


def _left_out(estimator: Any, labels: Labels, parts: int) -> tuple[Array, float, float]:
    """Logarithms of the probabilities of labels left out, the share of those that are found, and the outputs' scale."""
    problem = Steps.of(estimator).classifier.solutions_[0].problem
    known = np.flatnonzero(~labels.unlabeled & (problem.cost > 0))
    gram = np.asarray(problem.rows().block(known, known), dtype=float)
    index, cost_of = labels.index[known], problem.cost[known]
    fold, outputs = folds_of(index, parts), np.full((len(known), len(labels.classes)), np.nan)
    for part in range(fold.max() + 1):
        train, test = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        if len(np.unique(index[train])) == len(labels.classes):
            outputs[test] = of_each_class(_supervised(gram, index, train, test, cost_of, labels.positives))
    judged = ~np.isnan(outputs[:, 0])
    if not judged.any():
        return np.zeros(0), np.nan, 1.0
    outputs, index = outputs[judged], index[judged]
    scale, _ = calibration(outputs, index, Inference(), with_offsets=False)
    likely = log_softmax(scale * outputs, axis=1)[np.arange(len(index)), index]
    return likely, float(np.mean(chosen_classes(outputs) == index)), scale


def _supervised(
    gram: Array,
    index: NDArray[np.intp],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    costs: Array,
    classes: list[int],
) -> Array:
    """Outputs at some labelled points of SVMs of the others, of each class or of the second of two."""
    found = [
        SVC(C=1.0, kernel="precomputed")
        .fit(gram[np.ix_(train, train)], index[train] == k, costs[train])
        .decision_function(gram[np.ix_(test, train)])
        for k in classes
    ]
    return np.column_stack(found)
