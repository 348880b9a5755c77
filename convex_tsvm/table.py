"""What there is, and who takes what: formulations, methods, solvers.

The command line, the parameter checks of the estimators and the documentation read this table, and so does whoever
looks a method up by its name.  A new method is its file and one entry here.  Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Something that can be asked for by name.

    Attributes
    ----------
    target : str
        Where it is, as "module:attribute" inside the package.
    summary : str
        What it is, in a few words.
    options : tuple of str
        Names of the options that are its own.
    """

    target: str
    summary: str
    options: tuple[str, ...] = ()

    def load(self) -> Any:
        """Import it."""
        module, _, attribute = self.target.partition(":")
        return getattr(importlib.import_module(f"{__package__}.{module}"), attribute)


@dataclass(frozen=True)
class Solver(Entry):
    """What solves the convex problems that methods pose.

    Attributes
    ----------
    regularizers, losses : str
        What it takes, in words for messages and documentation.
    """

    regularizers: str = ""
    losses: str = ""


@dataclass(frozen=True)
class Method(Entry):
    """How a good point of a formulation is found.

    Attributes
    ----------
    solvers : tuple of str
        The solvers whose problems it poses; none for methods that bring their own.
    loss : str
        Name of the loss of unlabelled points that it is known by, which it takes where none is asked for.
    """

    solvers: tuple[str, ...] = ()
    loss: str = "hinge"

    @property
    def is_descent(self) -> bool:
        """Whether it is an outer loop over a solver's problems (a :class:`~convex_tsvm.methods.frame.Method`)."""
        return bool(self.solvers)


SOLVERS = {
    "native": Solver(
        "solvers:NativeSolver",
        "compiled working-set solver of the dual, with Newton steps",
        ("tol", "max_iter", "cache_size", "precision", "balance_by", "progress"),
        regularizers="½ ‖w‖²",
        losses="convex PLQ",
    ),
    "finite_newton": Solver(
        "solvers:FiniteNewton",
        "modified finite Newton in w, by products with the points: the linear kernel only",
        ("tol", "max_iter", "progress"),
        regularizers="½ ‖w‖²",
        losses="convex PLQ, finite everywhere",
    ),
    "cvxpy": Solver(
        "modeling:CvxpySolver",
        "readable CVXPY problems, compiled once",
        ("form", "solver", "balance_by", "options"),
        regularizers="½ ‖w‖², ‖w‖₁, elastic net",
        losses="convex PLQ, and other convex losses with a CVXPY expression",
    ),
    "smooth": Solver(
        "solvers:SmoothSolver",
        "descent on the smooth primal: L-BFGS, and Newton steps for method='newton'",
        ("tol", "max_iter", "progress"),
        regularizers="½ ‖w‖²",
        losses="with slopes, and curvatures for Newton steps; kinks that open upwards are rounded",
    ),
}

STEPS = ("native", "finite_newton", "cvxpy")
DESCENT = ("smooth",)

METHODS = {
    "cccp": Method("methods.cccp:CCCP", "tangents of the concave parts", ("annealing",), STEPS, loss="ramp"),
    "switching": Method(
        "methods.switching:Switching", "labels, exchanged in pairs", ("annealing", "max_pairs", "reheats"), STEPS
    ),
    "annealing": Method(
        "methods.annealing:Annealing",
        "probabilities of labels, cooled",
        ("cooling", "settled", "certain", "best"),
        STEPS,
        loss="squared_hinge",
    ),
    "linearization": Method(
        "methods.linearization:Linearization", "the lesser slack of both labels (CS³VM)", (), STEPS
    ),
    "gradient": Method(
        "methods.gradient:Gradient",
        "gradient descent: ∇S3VM for smooth losses, ∇DA for those of labels",
        ("annealing", "cooling", "certain"),
        DESCENT,
        loss="exp",
    ),
    "continuation": Method(
        "methods.continuation:Continuation",
        "smoothed losses, narrowing (cS3VM)",
        ("widths", "whole"),
        DESCENT,
        loss="exp",
    ),
    "newton": Method(
        "methods.newton:Newton", "Levenberg-Marquardt steps (Newton-S3VM)", ("annealing",), DESCENT, loss="flat"
    ),
    "sdp": Method("methods.sdp:sdp_transduction", "labels of the SDP relaxation"),
    "subspace": Method("methods.subspace:subspace_transduction", "labels of the SDP on a subspace"),
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

FORMULATIONS = {
    "svm": Entry("formulations:svm", "the labelled points alone"),
    "tsvm": Entry("formulations:tsvm", "transductive SVM (S3VM)", ("loss", "s")),
    "cs3vm": Entry("formulations:cs3vm", "1-norm S3VM of Fung and Mangasarian"),
    "cmm": Entry("formulations:compact_margin", "Compact Margin Machine", ("epsilon", "C_compact", "s")),
    "rmm": Entry("formulations:relative_margin", "Relative Margin Machine", ("epsilon", "C_compact")),
    "lapsvm": Entry("formulations:svm", "Laplacian SVM", ("C_manifold", "n_neighbors")),
    "laptsvm": Entry("formulations:tsvm", "transductive SVM on its kernel", ("loss", "s", "C_manifold", "n_neighbors")),
}

RELAXATIONS = {
    "svm": Entry("relaxations.known_labels:KnownLabels", "the labelled points alone"),
    "sdp": Entry("relaxations.label_matrix.relaxation:LabelMatrix", "label matrices (De Bie and Cristianini)"),
    "box": Entry("relaxations.output_space.relaxation:Boxes", "products of outputs, in the box the incumbent leaves"),
    "rlt": Entry("relaxations.output_space.relaxation:Products", "the same with products of ends"),
    "triangles": Entry("relaxations.output_space.relaxation:Triangles", "the same with triangle inequalities"),
}
