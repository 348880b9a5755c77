"""The order of the gallery's pages: a tour of the field."""

TOUR = (
    "plot_two_moons",
    "plot_when_they_hurt",
    "plot_practice",
    "plot_structures",
    "plot_transduction",
    "plot_losses",
    "plot_cccp_steps",
    "plot_dual_by_hand",
    "plot_landscape",
    "plot_smoothing",
    "plot_active_sets",
    "plot_derivatives",
    "plot_compact_margin",
    "your_own_loss",
    "plot_your_own_formulation",
    "plot_constraints",
    "plot_change_the_problem",
    "plot_ordinal",
    "plot_bags",
    "plot_positive_unlabeled",
    "plot_counts",
    "plot_your_own_regularizer",
    "plot_your_own_method",
    "plot_your_own_solver",
    "plot_your_own_relaxation",
    "plot_sdp_transduction",
    "plot_relaxation_gaps",
    "plot_tree",
    "plot_exact_search",
    "plot_certificate",
)


class Tour:
    """Key by which Sphinx-Gallery sorts file names; a page that is not in the tour is an error."""

    def __init__(self, source_directory: str) -> None:
        self.source_directory = source_directory

    def __call__(self, filename: str) -> int:
        return TOUR.index(filename.removesuffix(".py"))
