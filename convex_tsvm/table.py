"""What there is, by name: formulations, methods, solvers; what a method or a solver takes its class says itself.

The command line, the parameter checks of the estimators and the documentation read this table, and so does whoever
looks a method up by its name.  A new method is its file and one line here.  Nothing is imported before it is used.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from .notice import warn


@dataclass(frozen=True)
class Entry:
    """Something that can be asked for by name."""

    target: str  # where it is, as "module:attribute" inside the package
    summary: str  # what it is, in a few words

    def load(self) -> Any:
        module, _, attribute = self.target.partition(":")
        return getattr(importlib.import_module(f"{__package__}.{module}"), attribute)


class Solver(Entry):
    """What solves the convex problems that methods pose; its class says in ``takes`` which ones."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its options."""
        return tuple(name for name in inspect.signature(self.load()).parameters if name != "problem")


@dataclass(frozen=True)
class Method(Entry):
    """How a good point of a formulation is found, by a function that brings its own solver."""

    options: tuple[str, ...] = ()  # names of the options that are its own
    loss: str = "hinge"  # of unlabelled points, by which it is known; it is taken where none is asked for
    has_bias: bool = True  # whether it takes a function with a bias, and a balance
    solvers: ClassVar[tuple[str, ...]] = ()
    is_descent: ClassVar[bool] = False


class Descent(Entry):
    """An outer loop over a solver's problems: a class (:class:`~convex_tsvm.Method`) that says the rest itself."""

    has_bias = is_descent = True

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that are its own."""
        return tuple(inspect.signature(self.load()).parameters)

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers whose problems it poses."""
        return tuple(self.load().solvers)

    @property
    def loss(self) -> str:
        """The loss of unlabelled points by which it is known, and which is taken where none is asked for."""
        return str(self.load().loss)


@dataclass(frozen=True)
class Formulation(Entry):
    """What is minimized, stated for a problem by :func:`~convex_tsvm.build`."""

    defaults: Mapping[str, Any] = field(default_factory=dict)  # its options, and what they are if they are not given
    solver: str = ""  # the only solver of convex steps that takes its regularizer, if not all do
    is_balanced: bool = True  # whether the balance of a problem is one of its constraints
    has_cost: bool = True  # whether its unlabelled points have the cost C* of the problem
    function: Callable[..., Any] | None = None  # what states it, if it was registered

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its options."""
        return tuple(self.defaults)

    def load(self) -> Any:
        return self.function or super().load()


SOLVERS = {
    "native": Solver("solvers:NativeSolver", "compiled working-set solver of the dual, with Newton steps"),
    "linear": Solver("solvers:LinearSolver", "coordinate descent or finite Newton, whichever is faster"),
    "finite_newton": Solver("solvers:FiniteNewton", "modified finite Newton in w, by products with the points"),
    "coordinates": Solver("solvers:CoordinateDescent", "coordinate steps in the dual with w kept up to date"),
    "cvxpy": Solver("modeling:CvxpySolver", "readable CVXPY problems, compiled once"),
    "smooth": Solver(
        "solvers:SmoothSolver", "descent on the smooth primal: L-BFGS, and Newton steps for method='newton'"
    ),
}

#: In the order in which "auto" asks them.
STEP_SOLVERS = ("linear", "native", "finite_newton", "coordinates", "cvxpy")
SMOOTH_SOLVERS = ("smooth",)

METHODS: dict[str, Method | Descent] = {
    "cccp": Descent("methods.cccp:CCCP", "tangents of the concave parts"),
    "switching": Descent("methods.switching:Switching", "labels that are exchanged in pairs"),
    "annealing": Descent("methods.annealing:Annealing", "probabilities of labels at falling temperatures"),
    "self_training": Descent("methods.self_training:SelfTraining", "labels of more and more points, the surest first"),
    "linearization": Descent("methods.linearization:Linearization", "linear programs for the better label (CS³VM)"),
    "gradient": Descent(
        "methods.gradient:Gradient", "gradient descent: ∇S3VM for smooth losses, ∇DA for those of labels"
    ),
    "continuation": Descent("methods.continuation:Continuation", "smoothed losses, narrowing (cS3VM)"),
    "newton": Descent("methods.newton:Newton", "Levenberg-Marquardt steps (Newton-S3VM)"),
    "sdp": Method("methods.sdp:sdp_transduction", "labels of the SDP relaxation"),
    "subspace": Method(
        "methods.subspace:subspace_transduction", "labels of the SDP on a subspace", ("cvxpy_solver",), has_bias=False
    ),
    "spectral": Method("methods.spectral:spectral_transduction", "labels from eigenvectors"),
    "safe": Method(
        "methods.safe:safe_transduction",
        "labels that are safe against several separators (S4VM)",
        ("n_separators", "n_starts", "penalty"),
    ),
    "exact": Method("exact:exact_search", "branch and bound, with a certificate", loss="squared_hinge"),
}

#: The methods that are descents.
DESCENTS = tuple(name for name, entry in METHODS.items() if entry.is_descent)

_TSVM = {"loss": "ramp", "s": -0.3, "fit_intercept": True}
_COMPACT = {"epsilon": 2.0, "C_compact": "tenth", "s": -0.3, "fit_intercept": True}
_RELATIVE = {"epsilon": 2.0, "C_compact": "balanced", "semi_supervised": True, "fit_intercept": True}
_GRAPH = {"C_manifold": 1.0, "n_neighbors": 6, "normalized": True, "power": 1, "cache_size": "auto"}

FORMULATIONS = {
    "svm": Formulation("formulations.by_name:_supervised", "SVM of the labelled points", _TSVM, has_cost=False),
    "tsvm": Formulation("formulations.tsvm:tsvm", "transductive SVM (S3VM)", _TSVM),
    "cs3vm": Formulation(
        "formulations.tsvm:cs3vm", "1-norm S3VM of Fung and Mangasarian", solver="cvxpy", is_balanced=False
    ),
    "cmm": Formulation("formulations.by_name:_compact_margin", "Compact Margin Machine", _COMPACT),
    "rmm": Formulation("formulations.by_name:_relative_margin", "Relative Margin Machine", _RELATIVE, has_cost=False),
    "lapsvm": Formulation(
        "formulations.by_name:_laplacian", "Laplacian SVM", {**_GRAPH, "fit_intercept": True}, "", False, has_cost=False
    ),
    "laptsvm": Formulation(
        "formulations.by_name:_transductive_laplacian", "transductive SVM on lapsvm's kernel", {**_TSVM, **_GRAPH}
    ),
}

RELAXATIONS = {
    "svm": Entry("relaxations.svm.known_labels:KnownLabels", "the labelled points alone"),
    "sdp": Entry("relaxations.label_matrix.label_matrix:LabelMatrix", "label matrices (De Bie and Cristianini)"),
    "signs": Entry("relaxations.signs.signs:Signs", "products of outputs and their signs, with cuts of both"),
    "envelope": Entry("relaxations.envelopes.envelopes:Envelopes", "convex envelopes of any losses"),
    "curvature": Entry("relaxations.envelopes.envelopes:LentCurvature", "the same with curvature lent by ½ ‖w‖²"),
    "weights": Entry("relaxations.weights.planes:TangentPlanes", "tangent planes over boxes of weights and bias"),
}

#: Which point exact search branches on.
BRANCHING = {
    "auto": Entry("exact.branching:automatic", "worst where that closes the node soon, else correlation; excess"),
    "gain": Entry("exact.branching:by_gain", "for which the bounds of both halves rise most"),
    "correlation": Entry("exact.branching:by_correlation", "whose label says most about the others"),
    "confidence": Entry("exact.branching:by_confidence", "that is furthest from the boundary"),
    "ambiguity": Entry("exact.branching:by_ambiguity", "that is nearest to the boundary"),
    "worst": Entry("exact.branching:by_worst", "for which the bound of the better half rises most"),
    "excess": Entry("exact.branching:by_excess", "whose loss is furthest above its envelope (outputs, not labels)"),
}

#: Which open node of exact search is next.
STRATEGIES = {
    "auto": "best for outputs, else hybrid",
    "hybrid": "dives from the least bound",
    "best": "the least bound",
    "depth": "the last one made",
}

#: What solves the relaxation in label matrices.
SDP_SOLVERS = {
    "native": "a low-rank method of our own",
    "sdpa": "SDPA, by CVXPY (needs sdpa-python)",
    "scs": "SCS, by CVXPY",
    "clarabel": "Clarabel, by CVXPY",
}

#: Relaxations of earlier versions, and what is used in their place.
RETIRED_RELAXATIONS = dict.fromkeys(("box", "rlt", "triangles"), "signs")


def relaxation_named(argument: str, name: str) -> str:
    """The name of a relaxation, or of what is used in place of one that is retired, with a warning."""
    if name not in RETIRED_RELAXATIONS:
        return name
    instead = RETIRED_RELAXATIONS[name]
    warn(f"{argument}={name!r} is retired: {argument}={instead!r}, which is stronger and faster, is used")
    return instead


def registered() -> list[str]:
    """The formulations that were given a name by :func:`register`."""
    return [name for name, entry in FORMULATIONS.items() if entry.function is not None]


def register(
    function: Any = None, name: Any = None, *, summary: str = "", is_balanced: bool = True, has_cost: bool = True
) -> Any:
    """Give a formulation of one's own a name, by which it can be asked for as those of the package can.

    The name is for :func:`~convex_tsvm.build`, ``loss=`` of estimators, whose ``s`` and ``fit_intercept`` it gets where
    these are options, and the command line, which runs files that register formulations: ``--import FILE``.

    Parameters
    ----------
    function : callable
        Returns the :class:`~convex_tsvm.Formulation`, or that and the :class:`~convex_tsvm.Problem` as it sees it.
        Its parameters are options, with their defaults; one called ``problem`` is the problem that it is stated for.
        Without one it is called once to see that it works.
    name : str, optional
        Letters, digits, _ and -; by default the function's.  The same function may be registered again.
    summary : str, optional
        What it is, in a few words; by default the first line of the function's docstring.
    is_balanced, has_cost : bool, default True
        Of a function of the problem: whether the balance of the problem is one of its constraints, and whether its
        unlabelled points have the cost C*.  What another function returns says both itself.

    Returns
    -------
    callable
        The function, so that this is a decorator, too, with or without arguments.  A ValueError says if the name is
        taken or is none, if the function is none, or if it returned something else.

    Examples
    --------
    >>> @ct.register(name="capped")
    ... def capped_s3vm(cap=0.5):
    ...     '''S3VM whose unlabelled points pay at most the cap.'''
    ...     return ct.Formulation(ct.squared_hinge(), ct.losses.symmetric_squared_hinge().minimum(cap))
    >>> ct.cccp(*ct.build("capped", problem, cap=0.3)).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    >>> del ct.table.FORMULATIONS["capped"]
    """
    if function is None:
        return partial(register, name=name, summary=summary, is_balanced=is_balanced, has_cost=has_cost)
    if not inspect.isfunction(function):
        raise ValueError(f"function={function!r} must be a function that returns a Formulation")
    name = function.__name__ if name is None else name
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w-]*", name):
        raise ValueError(f"name={name!r} must be a word of letters, digits, _ and -; say one with name=")
    place, before = f"{function.__module__}:{function.__qualname__}", FORMULATIONS.get(name)
    if name in METHODS or (before is not None and (before.function is None or before.target != place)):
        raise ValueError(f"name={name!r} is taken; taken are {', '.join([*FORMULATIONS, *METHODS])}")
    taken = inspect.signature(function).parameters
    defaults = {option: one.default for option, one in taken.items() if option != "problem"}
    wanting = [option for option, default in defaults.items() if default is inspect.Parameter.empty]
    if wanting:
        raise ValueError(f"function={name}: {', '.join(wanting)} must have a default; only problem needs none")
    if "problem" not in taken:
        made = function()
        if not hasattr(made, "is_balanced"):
            raise ValueError(f"function={name} returned {made!r}; it must return a Formulation")
        is_balanced, has_cost = made.is_balanced, made.unlabeled is not None
    summary = summary or (inspect.getdoc(function) or name).partition("\n")[0].rstrip(".")
    FORMULATIONS[name] = Formulation(place, summary, defaults, "", is_balanced, has_cost, function)
    return function
