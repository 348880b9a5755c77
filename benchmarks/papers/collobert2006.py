"""collobert2006 §4 to §6: tables and figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from common import exponent
from experiment import Figure, cells, experiment, rows_under, runs_of

TABLES = "collobert2006"


def times(n_unlabeled: bool) -> dict[tuple[str, str], dict[str, float]]:
    """Mean seconds by data set, method, and number of unlabelled points (Figure 3) or C (Figure 5)."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in runs_of("collobert2006.csv"):
        if row["data"] in ("g50c", "text") and row["test"] != "other" and (row["n_unlabeled"] != "0") == n_unlabeled:
            key = row["n_unlabeled"] if n_unlabeled else row["C"]
            if row["split"] == "0":
                found[row["data"], row["method"]][key].append(float(row["seconds"]))
    return {key: {x: float(np.mean(y)) for x, y in one.items()} for key, one in found.items()}


@experiment("collobert2006", "Figure 3", 2)
def figure_3() -> list[Figure]:
    """CCCP is faster than SVMlight's TSVM (133 times on text) and ∇TSVM (50 times) with all unlabelled points.

    Ours are all in this toolkit, whose other methods are no longer those implementations: what is decided is that CCCP
    is the fastest.
    """
    found = []
    seconds = times(True)
    for name, printed in (("text", {"SVMlight": 133.0, "∇TSVM": 50.0}),):
        for method, ratio in printed.items():
            own, other = seconds.get((name, "CCCP"), {}), seconds.get((name, method), {})
            most = max((key for key in own if key in other), key=float, default=None)
            ours = np.nan if most is None else other[most] / own[most]
            agrees = None if most is None else bool(ours > 1)
            found.append(Figure(f"{name}, {method} / CCCP", ratio, round(float(ours), 1), agrees=agrees))
    return found


@experiment("collobert2006", "Figure 4")
def figure_4() -> list[Figure]:
    """CCCP converges after five to ten steps; the objective falls, and the error with it.

    Objective and error along the steps are in benchmarks/results/collobert2006_claims.md.
    """
    found = []
    for row in rows_under("collobert2006_claims", "Figure 4", column="step 1"):
        values = [cell.value for name, cell in row.items() if name.startswith("step") and cell.value is not None]
        if row["figure"].shown == "objective":
            falls = all(b <= a * (1 + 1e-6) for a, b in zip(values[:-1], values[1:], strict=True))
            found.append(Figure(f"{row['data'].shown}: the objective falls", 1, float(falls), agrees=falls))
        else:
            found.append(Figure(f"{row['data'].shown}: last error less the first", 0, round(values[-1] - values[0], 2),
                                agrees=values[-1] <= values[0] + 0.5))  # fmt: skip
    for row in rows_under("scaling", column="CCCP steps"):
        where, steps = f"{row['data'].shown}, U = {row['U'].shown}", row["CCCP steps"].value
        found.append(Figure(where, 10, steps, agrees=steps <= 10))
    return found


@experiment("collobert2006", "§4.3, annealing", 2)
def annealing() -> list[Figure]:
    """S3VMlight's switching on g50c with a linear kernel: 7.6 % with annealing and 12.4 % without, at the best C.

    Ours are at C = 0.1, and nearly the same for every larger one; a smaller C is better still, and annealing matters
    less there (0.01: 5.2 and 5.8 %).
    """
    rows = {row["method"].shown: row for row in rows_under("collobert2006_claims", "§4.3", column="C = 0.1")}
    found = []
    for method, printed in (("annealed", 7.6), ("at once", 12.4)):
        cell = rows[method]["C = 0.1"]
        found.append(Figure.compared(f"{method}, C = 0.1", printed, cell.value, cell.error or 0.0))
    return found


@experiment("collobert2006", "Figure 5")
def figure_5() -> list[Figure]:
    """CCCP takes about the same time for every C on g50c, SVMlight up to hundreds of times as long for some."""
    found = []
    for method, printed in (("CCCP", 3.0), ("SVMlight", 3.0)):
        seconds = list(times(False).get(("g50c", method), {}).values())
        spread = max(seconds) / min(seconds) if seconds else np.nan
        agrees = None if method != "CCCP" or not seconds else bool(spread < 10)
        found.append(Figure(f"g50c, {method}: slowest C / fastest C", printed, round(float(spread), 1), agrees=agrees))
    return found


@experiment("collobert2006", "Figure 6")
def figure_6() -> list[Figure]:
    """With growing U the heuristic UC* = LC beats C* = C on USPS: least mean error over C and σ at the largest U known.

    Nothing is decided before all splits of both are computed for at least one U.
    """
    errors: dict[tuple[float, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in runs_of("collobert2006.csv"):
        if row["data"] == "usps" and row["method"] == "CCCP" and float(row["s"]) == 0:
            setting = row["sigma"], row["C"]
            errors[float(row["n_unlabeled"]), row["C_unlabeled"]][setting].append(float(row["error"]))
    least = {
        key: min(np.mean(values) for values in found.values())
        for key, found in errors.items()
        if len(found) == 9 and all(len(values) == 10 for values in found.values())
    }
    sizes = [u for u, star in least if star == "C" and (u, "balanced") in least]
    if not sizes:
        return [Figure("usps, least error of UC* = LC less that of C* = C", 0, np.nan)]
    largest = max(sizes)
    ours = float(least[largest, "balanced"] - least[largest, "C"])
    where = f"usps, U = {largest:g}: least error of UC* = LC less that of C* = C"
    return [Figure(where, 0, round(ours, 2), agrees=ours <= 0)]


@experiment("collobert2006", "Figure 7")
def figure_7() -> list[Figure]:
    """Clipping the loss (s < 0) lowers the least error, most of all on text."""
    best: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in runs_of("collobert2006.csv"):
        if row["method"] == "CCCP" and row["data"] in ("g50c", "text") and row["n_unlabeled"] == "0":
            best[row["data"], float(row["s"])].append(float(row["error"]))
    found = []
    for name in ("text", "g50c"):
        peaked = min(best.get((name, 0.0), [np.nan]))
        clipped = min((min(values) for (data, s), values in best.items() if data == name and s < 0), default=np.nan)
        found.append(
            Figure(f"{name}: s = 0, least error less that of s < 0", 0, peaked - clipped, agrees=clipped <= peaked)
        )
    return found


@experiment("collobert2006", "Figure 8")
def figure_8() -> list[Figure]:
    """The time of CCCP on RCV1 grows quadratically with the unlabelled points.

    RCV1 cannot be had: ours is the exponent of seconds against U on the newsgroups, computers against science.
    """
    seconds: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in runs_of("collobert2006.csv"):
        if row["data"] == "news20" and row["method"] == "CCCP":
            seconds[row["n_labeled"], float(row["n_unlabeled"])].append(float(row["seconds"]))
    found = []
    for labels in ("100", "1000"):
        own = np.array([(U, np.mean(values)) for (n, U), values in sorted(seconds.items()) if n == labels])
        if len(own) >= 3:
            power = exponent(*own.T)
            found.append(Figure(f"{labels} labels: exponent", 2.0, round(power, 2), agrees=power <= 2.1))
    return found


@experiment("collobert2006", "Figure 9")
def figure_9() -> list[Figure]:
    """The time of CCCP on MNIST grows like a polynomial of degree two of the number of unlabelled points.

    Ours is the exponent of seconds against U from 5000 on, which is to be no larger.
    """
    rows = [row for row in rows_under("scaling", column="CCCP steps") if row["data"].shown.startswith("MNIST")]
    own = [(row["U"].value, row["s"].value) for row in rows if row["U"].value >= 5000]
    power = exponent(*np.array(own).T)
    return [Figure("MNIST, 8 vs rest: exponent", 2.0, round(power, 2), agrees=power <= 2.1)]


@experiment("collobert2006", "Table 1", 16)
def table_1() -> list[Figure]:
    """The sizes of the data sets.  g50c has 550 points, not 500, as chapelle2008's Table 4 and the file say."""
    printed = {
        "g50c": (2, 50, 500, 50),
        "coil20": (20, 1024, 1440, 40),
        "text": (2, 7511, 1946, 50),
        "uspst": (10, 256, 2007, 50),
    }
    return sizes(printed)


def sizes(printed: Mapping[str, tuple[int, ...]]) -> list[Figure]:
    """Classes, dimensions, points and labelled points of data sets beside those of the files."""
    found = []
    for row in rows_under("data_sets"):
        name = next(iter(row.values())).shown
        for column, theirs in zip(("classes", "dims", "points", "labelled"), printed.get(name, ()), strict=False):
            ours = row[column].value
            found.append(Figure(f"{name}, {column}", theirs, ours, agrees=ours == theirs))
    return found


@experiment("collobert2006", "Table 2", 24)
def table_2() -> list[Figure]:
    """Least errors over hyperparameters, tuned on the test points: CCCP beside SVMlight and ∇TSVM."""
    keep = ("SVM,", "SVMlight", "∇TSVM", "CCCP, s = 0, UC* = LC", "CCCP, UC* = LC", "CCCP,")
    return [one for one in cells(TABLES, "Tables 2 and 3") if one.where.startswith(keep)]


@experiment("collobert2006", "Table 3", 24)
def table_3() -> list[Figure]:
    """Least errors with C* = C, with UC* = LC, and with C* free."""
    return [one for one in cells(TABLES, "Tables 2 and 3") if one.where.startswith("CCCP")]


@experiment("collobert2006", "Table 4", 12, lost=12)
def table_4() -> list[Figure]:
    """Errors on RCV1 for 100 and 1000 labels and up to 10 000 unlabelled documents.

    RCV1 cannot be had: ours are errors in units of the SVM's, on the newsgroups, computers against science, of which
    there are no 10 000.
    """
    rows = list(rows_under(TABLES, "Table 4", column="test error, %"))
    found = []
    for row in rows:
        svm = next(
            one for one in rows if one["labelled"].shown == row["labelled"].shown and one["unlabelled"].value == 0
        )
        if row["unlabelled"].value:
            columns = ("test error, %", "of RCV1")
            ours, theirs = (float(row[c].value or np.nan) / float(svm[c].value or np.nan) for c in columns)
            where = f"{row['labelled'].shown} labels, U = {row['unlabelled'].shown}: error / SVM's"
            found.append(
                Figure(where, round(theirs, 2), round(ours, 2), agrees=None if np.isnan(ours) else ours <= theirs + 0.1)
            )
    return found


@experiment("collobert2006", "Table 5", 9)
def table_5() -> list[Figure]:
    """Errors on MNIST with up to 60 000 unlabelled points.

    Drawn with another seed; with 100 labels errors vary by several points, so that four points are let pass there.
    """
    found = []
    for row in rows_under("table5", column="the paper's"):
        points = 4.0 if row["L"].shown == "100" else POINTS_1000
        where = f"L = {row['L'].shown}, U = {row['U'].shown}"
        found.append(Figure.compared(where, row["the paper's"].value, row["test error, %"].value, 0.0, points))
    return found


#: With 1000 labels errors of two draws differ by less than this.
POINTS_1000 = 1.0


@experiment("collobert2006", "Table 6", 6)
def table_6() -> list[Figure]:
    """Errors on test points that are among the unlabelled ones, and on others: the first are a little lower."""
    return cells(TABLES, "Table 6")
