"""What parameters and attributes of classifiers mean, said once for all that have them."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

from sklearn.base import ClassifierMixin

from ..formulations import Formulation, build
from ..table import FORMULATIONS, registered
from ..validation import one_of

T = TypeVar("T", bound=type)


def _entries(text: str) -> dict[str, str]:
    """The entries of a section of a docstring, without indentation, by the names that they are about."""
    entries = [entry.rstrip() for entry in re.split(r"\n(?=\S)", text.strip())] if text.strip() else []
    return {entry.partition("\n")[0].partition(" :")[0]: entry for entry in entries}


#: Parameters; where a classifier's own docstring has an entry of the name, that one is taken.
PARAMETERS = _entries(
    """
kernel : {"rbf", "linear", "poly", "precomputed"} or callable
    As in ``sklearn.svm.SVC``.
gamma : float > 0, "scale" or "auto"
    Kernel coefficient; "scale" (1 / (d Var X)) by default, as in ``SVC``.
sigma : float > 0
    RBF width, γ = 1 / (2 σ²); instead of ``gamma``.
degree : int
    Of the polynomial kernel.
coef0 : float
    Of the polynomial kernel.
C : float > 0 or array, shape (n_samples,)
    Cost of labelled points, or of each of them.
C_unlabeled : float > 0, "tenth" or "balanced"
    Cost C* of unlabelled points; "tenth" is C / 10, "balanced" C L / U (collobert2006 §4.3).
loss : {"hinge", "squared_hinge", "hard_margin"} or Formulation
    Loss of all points, or a formulation of your own or its registered name, for instance with links between points
    (:func:`~convex_tsvm.must_link`).
s : float in (-1, 0]
    Plateau of the ramp loss.
balance : "auto", "labeled", dict of class to float, float, ("exact", shares) or None
    The mean output over the unlabelled points.  "auto" infers the shares of the classes from the counts of labels,
    which say little if they were drawn per class, and from how well left-out labels are predicted
    (:func:`~convex_tsvm.infer_share`): by some thirty fits to at most 600 points for two classes, by none where the
    counts suffice, by five supervised ones per class for more.  "labeled": the mean of the labels.  A dict has the
    shares of the classes (2 r - 1 is the mean for a share r, each class against the rest).  A float in (-1, 1) is the
    mean itself; ("exact", shares) searches the mean for which these shares get the labels; None constrains nothing.
    A float or a single share is for two classes.
class_weight : dict of class to float, "balanced" or None
    Factors on the cost of labelled points by their class, as in ``sklearn.svm.SVC``; unlabelled points have none.
fit_intercept : bool
    Whether the function has an intercept b.
annealing : int or sequence of float
    Raise C* in so many steps (Chapelle et al. 2008, §5.4.4), for all methods but annealing and continuation.
multi_class : {"auto", "ovr", "potts"}
    More than two classes are learned one against the rest, or together, so that a point has one label: by
    ``method="self_training"``, unless it is "ovr", and with "potts" by ``method="annealing"``, where the probabilities
    of the classes of a point sum to 1 (:func:`~convex_tsvm.methods.potts.potts_annealing`).
solver : str or StepSolver
    What solves the convex steps: "linear", "native", "finite_newton", "coordinates" or "cvxpy", which give the same
    answer to the tolerance, or an object; "auto" is "linear" with the linear kernel, else "native", or "cvxpy" for
    formulations that only that takes.  Or what descends: "smooth", for the methods gradient, continuation and
    newton, which take no other.
cvxpy_solver : str
    One of CVXPY's solvers, such as "SCS", with which it is CVXPY that solves the convex steps; "CLARABEL" if
    ``solver="cvxpy"`` and nothing is said.
device : str
    Where kernel rows are computed, by a library of the array API: ``"torch:cuda"``, ``"cupy"``, ``"torch"`` (its
    processor).  For the native solver, dense points, and the kernels "rbf" and "poly"; the rest of the work stays
    where it is, so that a device pays where points have many features (see "Limits and costs" in the guide).
unlabeled : object
    Marks unlabelled points in ``y``: -1 as in ``sklearn.semi_supervised``, 0, NaN, a string, or None for none.
tol : float
    Tolerance on the optimality conditions of the convex steps.
max_iter : int
    Limit on convex steps.
cache_size : float or "auto"
    Memory for kernel rows in MB; "auto" is a quarter of what is free, but 200 at least and no more than all rows
    take.  Each of several jobs has so much.
warm_start : bool
    Whether ``fit`` starts at the last fit's ``solutions_``, at the full costs, where
    points and features are as many and a class has the same name; there is no ``lower_bound_`` then.
outliers : float in [0, 1)
    Share of the entries of the eigenvectors that are cut down (De Bie and Cristianini 2004, footnote 4).
random_state : int
    Seed of all that is drawn at random.
time_limit : float > 0
    Seconds for all classes together, after which the best so far is kept, with a warning and ``status_``
    "time_limit".  At least the supervised SVM is learned, however long it takes.
n_jobs : int
    Classes learned at the same time (joblib).
verbose : int
    1 prints what is done, and shows how far it is: on a terminal always, else every ten seconds.
"""
)

#: Attributes after a fit, of the same kind.
ATTRIBUTES = _entries(
    """
classes_ : array, shape (n_classes,)
transduction_ : array, shape (n_samples,)
    A label for every training point; known ones are kept.
transduction_scores_ : array, shape (n_samples,) or (n_samples, n_classes)
    Outputs at the training points.
objective_ : float
    Objective; the mean over the classifiers if there are several (as in Chapelle et al. 2008, §5.2).
lower_bound_, gap_ : float or None
    A lower bound of the optimum (from the labelled points alone) and the relative gap to it, for two classes.
class_shares_, class_shares_error_ : array, shape (n_classes,)
    With ``balance="auto"`` the inferred shares of ``classes_`` among the unlabelled points, and their standard
    deviations.
history_ : list of Iteration, or list of such lists
status_ : {"converged", "inaccurate", "max_iter", "time_limit", "interrupted"}
    How the fit ended: the worst of the classifiers' statuses, in this order.
n_iter_ : int
    Convex steps (the most of any classifier).
solutions_ : list of Solution
    One per classifier, with certificates; not part of a saved model.
dual_coef_ : array, shape (n_classifiers, n_samples)
    Coefficients of the kernel expansion.
intercept_ : array, shape (n_classifiers,)
coef_ : array, shape (n_classifiers, n_features)
    For a linear kernel.
n_features_in_, feature_names_in_ : int, array
    As in scikit-learn.
"""
)


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(made: T) -> T:
    """Make a dataclass of a class, with a signature for scikit-learn, and complete its docstring if it has examples."""
    dataclass(kw_only=True, eq=False, repr=False)(made)
    if made.__doc__ and "Examples\n" in made.__doc__:
        made.__doc__ = _completed(made)
    init: Any = vars(made)["__init__"]
    signature = inspect.signature(init)
    own = [signature.parameters[name] for name in ("self", *_in_order(made))]
    init.__signature__ = signature.replace(parameters=own)
    return made


def fixed(value: Any) -> Any:
    """The value of what is no parameter of a class, and may be one of its subclasses."""
    return value


def _in_order(made: Any) -> list[str]:
    """The parameters of a class in the order of the table, those of its own before those that say how."""
    table = list(PARAMETERS)
    own = table.index("solver") - 0.5
    return sorted((one.name for one in fields(made)), key=lambda name: table.index(name) if name in table else own)


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the sections of a docstring, and the sections by their names."""
    head, *parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return head, dict(zip(parts[::2], parts[1::2], strict=True))


def _completed(made: Any) -> str:
    """The docstring of a class with an entry for each parameter and attribute."""
    head, sections = _sections(made.__doc__)
    explained = getattr(made, "_explained_by", None)
    others = {} if explained is None else _entries(_sections(explained.__doc__)[1]["Parameters"])
    known = others | PARAMETERS | _entries(sections.get("Parameters", ""))
    found = {one.name: _with_default(known[one.name], one.default) for one in fields(made)}
    attributes = _entries(sections.get("Attributes", ""))
    own = {name for names in attributes for name in names.split(", ")}
    if issubclass(made, ClassifierMixin):
        # Attributes that only those classifiers have that have a parameter of this name.
        only_with = {"dual_coef_": "kernel", "class_shares_, class_shares_error_": "balance"}
        attributes |= {
            names: entry
            for names, entry in ATTRIBUTES.items()
            if only_with.get(names, "unlabeled") in found and not own.issuperset(names.split(", "))
        }
    made_of = {
        "Parameters": "\n".join(found[name] for name in _in_order(made)),
        "Attributes": "\n".join(attributes.values()),
        "Examples": sections["Examples"].strip(),
    }
    return head + "\n\n".join(f"{name}\n{'-' * len(name)}\n{text}" for name, text in made_of.items()) + "\n"


def stated(loss: Any, problem: Any, among: Sequence[str] | None = None, **options: Any) -> Formulation:
    """What ``loss=`` asks for: a formulation of the user's, or by its name one that was registered, or the S3VM with a
    loss ``among`` those given, with these options.
    """
    if isinstance(loss, Formulation):
        return loss
    if loss not in registered():
        loss = loss if among is None else one_of("loss", loss, among)
        return build("tsvm", problem, loss=loss, **options).formulation
    made = build(loss, problem, **{name: options[name] for name in options if name in FORMULATIONS[loss].options})
    if made.problem is not problem:
        raise ValueError(f"loss={loss!r} changes the problem, which build({loss!r}, ...) and the command line take")
    return made.formulation


def taken(made: Any, function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of an estimator that a function takes by the same names."""
    own = {one.name for one in fields(made)}
    return {name: getattr(made, name) for name in inspect.signature(function).parameters if name in own}


def _with_default(entry: str, default: Any) -> str:
    first, newline, rest = entry.partition("\n")
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    if "default" not in first and "optional" not in first:
        first += ", optional" if default is None else f", default {shown}"
    return first + newline + rest
