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
        "The worst method on this set here and there.  As c changes its number of positive points jumps by hundreds, "
        "so that the minimum it ends in depends on how c is searched, which the paper does not say."
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
        "Our draws have five or six labels of each class.  With labels drawn from all points and an estimated share "
        "the SVM has 34.1 and S3VMlight 32.6, nearer to the paper's 38.4 and 36 than in our draws (30.0 and 26.5).  "
        "With the exact share the draw changes little (29.2 and 26.2); what is left is not explained.  LapSVM: of 32 "
        "graphs and weights (6 or 10 neighbours, power 1 or 2, weights from 0.01 to 10000, two widths, two C) none is "
        "better than the plain SVM (30 on the first split): the more the graph weighs, the worse (up to 55).  The one "
        "in the table is nearest to the paper's."
    ),
    "coil20": (
        "A class has a twentieth of the points, and methods that cannot reach so small a share exactly end elsewhere: "
        "with c in ±1 ours missed 5 of 70 points with ∇S3VM and 455 with cS3VM (exact_balance.md).  LapSVM: our graph, "
        "with two neighbours, does better than the paper's, which is not printed."
    ),
    "coil3": "Six labels: the standard errors over ten other draws are 2 to 3 points.  LapSVM: as on coil20.",
    "2moons": (
        "The set is lost.  Ours has the noise (0.01) and the labelled points (0.12 and 0.2 half turns from the inner "
        "ends of the moons) that are nearest to Table 1 of 62 settings, among moons that no straight line "
        "separates (two_moons.md); as in the paper the optimum is the truth, which exact search proves on all ten "
        "draws (exact_moons.md).  What is left: CCCP and S3VMlight have 57 where the paper has 63 and 69, and ∇DA 57 "
        "where it has 22.5.  With a noise of 0.1 ∇DA has 22 and S3VMlight 62, but Newton 62, too, where the paper has "
        "11.  Errors above 50 % hang on where the two labelled points lie: with points at random "
        '("2moons, any" in the table of draws) all methods have 7 to 29.  LapSVM: on our moons it makes no error.'
    ),
}
