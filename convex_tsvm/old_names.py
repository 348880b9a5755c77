"""Names that were at the top of the package before there were rooms; they are still found there, with a warning."""

from importlib import import_module

#: Names by the module that has them now.
_MOVED = {
    "losses": (
        "better_label ConvexLoss DCLoss epsilon_insensitive exponential flat_newton huber_hinge indicator logistic PLQ "
        "relaxed_compact_hinge relaxed_compact_symmetric_hinge SmoothConcave symmetric_squared_hinge tube "
        "two_slope_symmetric_ramp"
    ),
    "kernels": "bagged_cluster_kernel CallableKernel cluster_kernel DeformedKernel density_kernel laplacian_kernel",
    "formulations": (
        "Addition addition compactness_weights ElasticNet GroupLasso NonnegativeNorm OneNorm "
        "OutputConstraint Regularizer SafeLabels SquaredNorm universum_tsvm"
    ),
    "modeling": "CvxpySolver MixedIntegerModel UnrelaxedCompactMargin",
    "solvers": "NativeSolver",
    "methods": "cccp_path Run Settings",
    "methods.potts": "potts_annealing PottsSolution",
    "methods.safe": "SafeSolution",
    "methods.shares": "ShareEstimate",
    "methods.sdp": "RelaxedSolution",
    "solution": "Certificate Iteration",
    "persistence": "FittedModel",
    "exact": "BranchAndBound certificate_page ExactSolution trim_certificate Trimmed",
    "relaxations": "Bound",
    "selection": (
        "compare_supervised cost_path CostPath labeled_scorer LabeledKFold learning_curve LearningCurve share_path "
        "SharePath SupervisedComparison WithUnlabeled"
    ),
    "papers": "Check error_bound Grade Outcome Paper paper PaperReport rademacher_complexity Report Statement",
}
#: What was called ``plot_…`` and is in the room of pictures without it.
_PICTURES = (
    "boundaries boundary candidates conjugate gaps label_matrix learning_curve loss path progress search share_path "
    "surrogates tree"
)
#: The place of each name, under which ``convex_tsvm.`` is to be thought.
OLD_NAMES = {
    **{name: f"{room}.{name}" for room, names in _MOVED.items() for name in names.split()},
    **{f"plot_{name}": f"plot.{name}" for name in _PICTURES.split()},
    "save_figure": "plot.save",
    "check": "papers.grade",
    "check_certificate": "prove_certificate",
    "verify_certificate": "prove_certificate",
}


def at_its_place(name: str) -> object:
    """What an old name means, with a warning that says where it is now."""
    if name not in OLD_NAMES:
        raise AttributeError(f"module 'convex_tsvm' has no attribute {name!r}")
    from .notice import warn

    room, _, new = OLD_NAMES[name].rpartition(".")
    warn(f"convex_tsvm.{name} has moved to convex_tsvm.{OLD_NAMES[name]}", FutureWarning)
    return getattr(import_module(f".{room}", __package__), new)
