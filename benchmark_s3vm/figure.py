"""The page's figure and tables, from the kept results: ``python benchmark_s3vm/figure.py``.

It writes ``docs/benchopt.svg`` and ``results/tables.rst``, which the page includes.
"""

from pathlib import Path

import matplotlib as mpl
import pandas as pd

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
SVG = HERE.parent / "docs" / "benchopt.svg"
PROBLEM = ["data", "formulation", "loss", "kernel", "draw", "repetition"]
COLORS = {"hinge": "#0072B2", "squared_hinge": "#D55E00", "ramp": "#009E73"}
LIMITED = ("exact", "SCIP")

#: Solvers of other packages; what is in no list here is the library's.
OTHERS = ("libsvm", "liblinear", "ReHLine", "self_training", "UniverSVM", "SVMlight", "SVMlin", "QN-S3VM", "SCIP")

#: Labelled points and features of the sets of the convex problem.
NAMES = {
    "gaussians[d=50,n=4000,n_labeled=2000]": "2000 × 50",
    "gaussians[d=2000,n=400,n_labeled=200]": "200 × 2000",
    "text": "text, 50 × 7511",
}

#: A value counts as the best where it is above it by this share at most.
SAME = 1e-3


def with_excess(rows):
    """The rows with what a value is above the best one of its problem, and errors and seconds beside the SVM's."""
    rows = rows.copy()
    rows["excess"] = rows["value"] / rows.groupby(PROBLEM)["value"].transform("min") - 1
    alone = rows[rows["solver"] == "supervised"].set_index(PROBLEM)
    alone = alone.reindex(pd.MultiIndex.from_frame(rows[PROBLEM]))
    rows["ratio"] = rows["seconds"].to_numpy() / alone["seconds"].to_numpy()
    rows["more_wrong"] = rows["error"].to_numpy() - alone["error"].to_numpy()
    return rows


def once(rows):
    """One row of a solver and a problem: the last point of its curve."""
    return rows.sort_values("point").groupby([*PROBLEM, "solver"], sort=False).tail(1)


def table(name, heads, lines):
    """Lines of a list-table."""
    out = [f".. list-table:: {name}", "   :header-rows: 1", ""]
    for cells in [heads, *lines]:
        out += [f"   {'* -' if k == 0 else '  -'} {cell}" for k, cell in enumerate(cells)]
    return [*out, ""]


def percent(share):
    """A share in %, with two digits where it is small."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def shown(solver):
    """A solver's name, in italics where it is other people's."""
    return f"*{solver}*" if solver.split(" (")[0] in OTHERS else solver


def of_s3vm(rows, title):
    """The table of the S3VM: who reaches the best value by loss, how far the others are, and in what time."""
    losses, lines = [loss for loss in COLORS if loss in set(rows["loss"])], []
    for solver, own in sorted(rows.groupby("solver"), key=lambda pair: pair[1]["excess"].median()):
        reached = own.assign(best=own["excess"] <= SAME).groupby("loss")["best"].agg(["sum", "size"])
        lines.append(
            [
                shown(solver),
                *(f"{reached['sum'][k]} of {reached['size'][k]}" if k in reached.index else "–" for k in losses),
                percent(own["excess"].median()),
                percent(own["excess"].max()),
                f"{own['violation'].median():.1g}" if own["violation"].max() > 1e-6 else "0",
                f"{100 * own['more_wrong'].mean():+.1f}",
                f"{own['ratio'].median():.1f}",
            ]
        )
    heads = [f"best, {loss.replace('_', ' ')}" for loss in losses]
    others = ["above it, median", "at most", "violation", "error - SVM's, points", "time / SVM's"]
    return table(title, ["solver", *heads, *others], lines)


def of_bounds(rows):
    """The table of exact search and SCIP: value and time at the last limit, and the best bound of all limits."""
    best_bounds = rows.groupby([*PROBLEM, "solver"])[["lower_bound", "claimed_bound"]].transform("max")
    last, lines = once(rows.assign(**best_bounds)), []
    for (data, loss), own in last.groupby(["data", "loss"]):
        cells = own.set_index("solver")
        best = cells["value"].min()
        above = [f"{100 * (cells['value'][name] / best - 1):.1f} %" for name in LIMITED]
        bounds = (cells["lower_bound"]["exact"], cells["claimed_bound"]["SCIP"])
        gaps = [percent(max(0.0, 1 - bound / best)) for bound in bounds]
        seconds = [f"{cells['seconds'][name]:.1f}" for name in LIMITED]
        lines.append([data.split("[")[0], loss.replace("_", " "), *above, *gaps, *seconds])
    heads = ["data", "loss", "exact above best", "SCIP above best", "exact: proven gap", "SCIP: claimed gap"]
    return table("Exact search and SCIP, stopped after 32 s at most", [*heads, "exact, s", "SCIP, s"], lines)


def of_svm(rows):
    """The table of the convex problem: in how many times the quickest one's time a solver comes near the best value.

    Of a solver's tolerances that which is the quickest to do so counts; where none does, the least excess is shown.
    """
    rows = rows.assign(family=rows["solver"].str.replace(r",? ?(tol|intercept_scaling)=[^,)]*", "", regex=True))
    rows["family"] = rows["family"].str.replace(" ()", "", regex=False).str.replace("supervised (solver=", "(")
    rows["family"] = rows["family"].str.strip("()")
    found = {"value": ("value", "min"), "seconds": ("seconds", "median")}
    rows = rows.groupby(["data", "loss", "family", "solver"], as_index=False, sort=False).agg(**found)
    cells = {}
    rows["excess"] = rows["value"] / rows.groupby(["data", "loss"])["value"].transform("min") - 1
    for problem, own in rows.groupby(["data", "loss"], sort=False):
        quickest = own[own["excess"] <= SAME].groupby("family")["seconds"].min()
        least = own.groupby("family")["excess"].min()
        for family in least.index:
            ratio = f"{quickest[family] / quickest.min():.1f}" if family in quickest else None
            cells[family, problem] = ratio or f"({percent(least[family])} above)"
    problems = list(dict.fromkeys(problem for _, problem in cells))
    names = [f"{NAMES.get(data, data)}, {loss}" for data, loss in problems]
    lines = [
        [shown(family), *(cells.get((family, problem), "–") for problem in problems)]
        for family in dict.fromkeys(family for family, _ in cells)
    ]
    title = f"The convex problem: time until {100 * SAME:g} % above the best value, in units of the quickest solver's"
    return table(title, ["solver", *(name.replace("_", " ") for name in names)], lines)


def draw(small, bounds):
    """Left, how far above the best value of its problem each solver is; right, gaps against time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), width_ratios=[1.25, 1], layout="constrained")
    order = small.groupby("solver")["excess"].agg(["median", "mean"]).sort_values(["median", "mean"]).index[::-1]
    for loss, color in COLORS.items():
        own = small[small["loss"] == loss]
        shift = (list(COLORS).index(loss) - 1) * 0.22
        places = [order.get_loc(name) + shift for name in own["solver"]]
        left.scatter(100 * own["excess"], places, s=11, color=color, alpha=0.7, label=loss.replace("_", " "), lw=0)
    left.set_xscale("symlog", linthresh=0.1, linscale=0.6)
    left.set_xlim(-0.02, None)
    left.set_yticks(range(len(order)), order)
    left.axvline(100 * SAME, color="0.8", lw=0.8, zorder=0)
    left.set(xlabel="above the best value known of the problem, %", title="Value, recomputed")
    left.legend(frameon=False, fontsize=8, loc="upper right")
    for (solver, _, loss), own in bounds.groupby(["solver", "data", "loss"], sort=False):
        column = "lower_bound" if solver == "exact" else "claimed_bound"
        gap = 100 * (1 - own[column] / own["value"]).clip(upper=1)
        style = {"exact": "-", "SCIP": "--"}[solver]
        right.plot(own["seconds"], gap.clip(lower=0.01), style, color=COLORS[loss], lw=1.2, marker=".", ms=4)
    for style, name in (("-", "exact search, proven"), ("--", "SCIP, claimed")):
        right.plot([], [], style, color="0.3", label=name)
    right.set(xscale="log", yscale="log", xlabel="seconds", ylabel="gap between value and bound, %")
    right.set_title("Bound against time")
    right.legend(frameon=False, fontsize=8, loc="lower left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    with mpl.rc_context({"svg.hashsalt": "benchopt"}):
        figure.savefig(SVG, metadata={"Date": None})


def parts(rows):
    """The kept rows in four parts: the S3VM on small sets and on texts, what is driven by time, the convex problem."""
    s3vm, svm = rows[rows["formulation"] == "s3vm"], rows[rows["formulation"] == "svm"]
    # Values of exact search and SCIP count among the best known, of the draw that they were run on.
    judged, bounds = with_excess(once(s3vm)), s3vm[s3vm["solver"].isin(LIMITED)]
    judged = judged[~judged["solver"].isin(LIMITED)]
    text = judged["data"].str.startswith("text")
    return judged[~text], judged[text], bounds, svm


def tables(rows):
    """The text of the page's tables."""
    small, text, bounds, svm = parts(rows)
    lines = of_s3vm(small, "Four small sets, five draws, three losses")
    lines += of_s3vm(text, "Texts: 1946 sparse points, two losses") + of_bounds(bounds) + of_svm(svm)
    return "\n".join(lines)


def main():
    """Write both."""
    rows = pd.read_csv(HERE / "results" / "results.csv")
    small, _, bounds, _ = parts(rows)
    draw(small, bounds)
    (HERE / "results" / "tables.rst").write_text(tables(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
