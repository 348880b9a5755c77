"""Why a cell differs from the paper's, by table, data set and column, or by data set and column for all tables."""

SAME = (
    "DA and ∇DA minimize the same function.  With C* = C/100 ours agree with each other, with the paper's DA (8.3) and "
    "with its other methods (7.5 to 8.5): so weak a term hardly moves the SVM (8.2).  The paper's 6.7 is nearer to "
    "what C* = C gives."
)
GRAPH = (
    "The graph, its weights and the two costs are not printed; the figures of Sindhwani, Niyogi and Belkin (2005) were "
    "tuned for it.  Here the graph is of Euclidean distances, and two pairs of weights were tried on the first splits."
)

EXPLANATIONS: dict = {
    ("Table 2b", "g50c", "∇DA"): SAME,
    ("Table 11", "g50c", "∇DA"): SAME,
    ("Table 11", "text", "Newton"): (
        "The paper's is hardly better than its SVM (14.8), as if C* had been too small to move anything: its schedule "
        "starts at C*/1000, and a step that starts next to the SVM may end within tolerance.  Ours descends until the "
        "gradient is small at every factor."
    ),
    ("Tables 1 and 8", "uspst", "cS3VM"): (
        "The worst method on this set here and there.  Of a class of a tenth the minimum that is followed has far too "
        "many points, or far too few, whatever c is (551 off on average, of 1957), and its objective is thrice that of "
        "∇S3VM.  How the paper searched for c is not said, and where numbers jump so, that decides."
    ),
    ("Table 11", "uspst", "cS3VM"): (
        "With C* = C/100 the path still begins at wide smoothing, where a class of a tenth has no mode of its own, and "
        "keeps the minimum that it falls into; the paper's, lower, is between ours and that of the other methods (13)."
    ),
    ("Table 13", "uspst", "∇DA"): (
        "Ours is nearer to the other methods (24).  The paper does not say where its descent at a temperature ends; "
        "here the gradient is small at each."
    ),
    ("uspst", "∇DA"): (
        "Ours is lower, and nearer to the other methods (14 to 16).  The paper does not say where its descent at a "
        "temperature ends; here the gradient is small at each."
    ),
    ("uspst", "Newton"): (
        "As on text, ours is lower and nearer to the other methods (14 to 16): it descends until the gradient is small "
        "at every factor on C*, and the paper does not say where its own ends."
    ),
    ("text", "LapSVM"): GRAPH,
    ("text", "LapSVM-S3VMlight, exact r"): GRAPH,
    ("text", "LapSVM-S3VMlight, estimated r"): GRAPH,
}

#: Why figures of sets whose splits are our own differ, by data set.  The list of cells is in the report.
OWN_SETS = {
    "isolet": (
        'Our draws have five or six labels of each class.  With labels drawn from all points ("isolet, any" in the '
        "table of draws) the SVM and S3VMlight come within the paper's errors: its draws were of that kind; "
        "what is left of ∇S3VM, CCCP and Newton is lower than the paper's, as on uspst.  LapSVM: of 32 graphs and "
        "weights (6 or 10 neighbours, powers 1 and 2, weights from 0.01 to 10000, two widths, two costs) none is "
        "better than the plain SVM (30%): the more the graph weighs, the worse (up to 55%).  The one in the table is "
        "nearest to the paper's."
    ),
    "coil20": (
        "Errors of all methods but the SVM and S3VMlight are lower than the paper's: exact shares of 5% are reached "
        "here, which CCCP, ∇S3VM and Newton miss by up to a third of the class where c is searched in ±1 (the order in "
        "which c is searched decides which minimum is found).  LapSVM is better with two neighbours than the paper's."
    ),
    "coil3": "Six labels: the standard errors over ten other draws are 2 to 3 points.  LapSVM as on coil20.",
    "2moons": (
        "The set is lost; how its unlabelled points and its noise were drawn is not said.  With the labels in the "
        "middle of each moon all methods find the moons or half of them, and with labels at random places "
        '("2moons, any") '
        "the order is the paper's: Newton and ∇DA first, the others no better than a straight line."
    ),
}
