"""sindhwani2006 §1.5: what was found in experiments.

RCV1 and the UseNet articles cannot be had: other texts are in their place, and what is compared is what the paper finds
and not its figures.  Of kdd99 the 10 % file can be had.
"""

from __future__ import annotations

import numpy as np
from experiment import Figure, experiment, rows_under

LARGE = "sindhwani2006_large"


def findings(*words: str) -> list[Figure]:
    """Which of the paper's findings hold on our data sets: 1 where one holds, 0 where it does not."""
    found = []
    for row in rows_under("svmlin_findings", "The paper's statements"):
        statement = row["statement"].shown
        if any(word in statement for word in words):
            for name, cell in list(row.items())[1:]:
                found.append(Figure(f"{statement}, {name}: {cell.shown}", 1, cell.value, agrees=cell.value == 1))
    return found


@experiment("sindhwani2006", "Figure 1.3")
def figure_1_3() -> list[Figure]:
    """Multiple switching loses no objective against single switching, and annealing finds lower ones."""
    return findings("loses no optimization", "DA optimizes better")


@experiment("sindhwani2006", "Figure 1.4")
def figure_1_4() -> list[Figure]:
    """Errors of single and multiple switching are nearly the same."""
    return findings("errors of single and maximum")


@experiment("sindhwani2006", "Figure 1.5")
def figure_1_5() -> list[Figure]:
    """Unlabelled points help, most where labels are few."""
    return findings("unlabelled points help")


@experiment("sindhwani2006", "Figure 1.6")
def figure_1_6() -> list[Figure]:
    """Single switching is six to seven times slower than multiple switching where labels are few.

    Ours is 1.3 times: one Newton step follows each exchange, where SVMlin solves to the end.
    """
    return findings("(Fig. 1.6)")


def texts(*columns: str) -> list[tuple[str, list[float]]]:
    """Rows of the texts that are in the place of RCV1: what they are, and their figures in some columns."""
    found = []
    for row in rows_under(LARGE, "Texts", column=columns[0]):
        values = [np.nan if row[column].value is None else row[column].value for column in columns]
        found.append((f"{row['data'].shown}, {row['labels'].shown} labels, {row['unlabelled'].shown}", values))
    return found


def kdd(figure: str) -> dict[str, tuple[float, float]]:
    """A figure of kdd99 and its standard error, by method and by the paper's."""
    row = next(row for row in rows_under(LARGE, "kdd99", column="TSVM") if row["figure"].shown == figure)
    return {
        column: (np.nan if cell.value is None else cell.value, cell.error or 0.0)
        for column, cell in row.items()
        if column != "figure"
    }


@experiment("sindhwani2006", "Table 1.1", 31, lost=28)
def table_1_1() -> list[Figure]:
    """The data sets: of kdd99 features, entries a point, and the share of positive points.

    The paper has 128 features here and 127 in Table 1.7, and all 4 898 431 rows; ours are 494 021, 118 features.  With
    a column for each value of the symbolic features that have two, and one for the bias, ours have 17.4 entries, too.
    """
    row = next(row for row in rows_under(LARGE, "Data sets") if row["data"].shown == "kdd99")
    printed = {"features": 128, "entries a point": 17.3, "share of positive points": 0.80}
    return [
        Figure(f"kdd99, {name}", theirs, row[name].value, agrees=abs(row[name].value - theirs) <= 0.1 * theirs)
        for name, theirs in printed.items()
    ]


@experiment("sindhwani2006", "Table 1.2", 16, lost=16)
def table_1_2() -> list[Figure]:
    """Least objectives on all of RCV1: annealing is lower by up to 0.4 %.  Ours is the ratio, on the newsgroups."""
    rows = texts("λ objective, DA", "λ objective, TSVM")
    return [Figure(f"{what}: DA / TSVM", 0.999, round(da / tsvm, 4), agrees=da <= tsvm) for what, (da, tsvm) in rows]


@experiment("sindhwani2006", "Table 1.3", 2)
def table_1_3() -> list[Figure]:
    """Least objectives on kdd99: annealing is lower.  Ours is the ratio, on a tenth of the rows.

    Ours is higher, and SVMlin's own is on three of six draws of 9000 of these rows (sindhwani2006_large.md).
    """
    own = kdd("λ objective")
    ratio = own["DA"][0] / own["TSVM"][0]
    return [Figure("kdd99: DA / TSVM", round(0.0063 / 0.0066, 3), round(ratio, 3), agrees=ratio <= 1, stands_for=2)]


@experiment("sindhwani2006", "Table 1.4", 24, lost=24)
def table_1_4() -> list[Figure]:
    """Errors on all of RCV1: unlabelled documents take 40 to 50 % of the errors with 100 labels, 5 to 23 % with 1000.

    Ours is the ratio of errors to those of the SVM, on the newsgroups, where it is lower for 1000 labels, too.
    """
    found = []
    for what, (tsvm, da, svm) in texts("error, %, TSVM", "error, %, DA", "error, %, SVM"):
        few = "100 labels" in what and "1000" not in what
        for name, error in (("TSVM", tsvm), ("DA", da)):
            printed = 0.55 if few else 0.86
            found.append(
                Figure(f"{what}: {name} / SVM", printed, round(error / svm, 2), agrees=error / svm <= printed + 0.1)
            )
    return found


@experiment("sindhwani2006", "Table 1.5", 3)
def table_1_5() -> list[Figure]:
    """Errors on kdd99: annealing 0.22 %, the SVM 0.29 %, switching 0.48 %.

    On a tenth of the rows, with features divided by their standard deviations, errors of the same method are twice as
    high with some draws of labels as with others, and the paper has one draw.  On 9000 of these rows SVMlin's own
    annealing has 0.72 % in the mean of six draws, as its switching has (sindhwani2006_large.md).
    """
    own = kdd("error, %")
    return [
        Figure.compared(f"kdd99, {m}", own[f"{m}, the paper's"][0], *own[m], points=0.1) for m in ("TSVM", "DA", "SVM")
    ]


@experiment("sindhwani2006", "Table 1.6", 16, lost=16)
def table_1_6() -> list[Figure]:
    """Times on all of RCV1, which about double with the points (1.3 to 2.0 times).  Ours are of the newsgroups."""
    seconds = dict(texts("s, TSVM", "s, DA"))
    found = []
    for what, values in seconds.items():
        half = seconds.get(what.replace("100 %", "50 %"))
        if what.endswith("100 %") and half is not None:
            for name, all_of_them, part in zip(("TSVM", "DA"), values, half, strict=True):
                ratio = all_of_them / part
                found.append(Figure(f"{what}: {name}, against half", 1.8, round(ratio, 2), agrees=ratio <= 3))
    return found


@experiment("sindhwani2006", "Table 1.7", 2)
def table_1_7() -> list[Figure]:
    """Times on kdd99: annealing takes 9.5 times as long as switching.  Ours is this ratio, on a tenth of the rows."""
    own = kdd("minutes")
    ratio = own["DA"][0] / own["TSVM"][0]
    return [Figure("kdd99: DA / TSVM", 9.5, round(ratio, 1), agrees=ratio > 1, stands_for=2)]
