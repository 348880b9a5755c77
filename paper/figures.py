"""Every figure of both documents, as PDF in paper/images: of the library's losses, and of kept results.

    python paper/figures.py [NAME ...]

Sources are the loss algebra itself, benchmarks/results/*.json and paper/runs/*.json (:mod:`tables` reads them).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

mpl.use("pdf")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tables import RELAXATIONS, gaps_of_relaxations, rows, run, value

IMAGES = Path(__file__).resolve().parent / "images"

STYLE = {
    "font.family": "serif",
    "font.serif": ["DejaVu Serif"],
    "mathtext.fontset": "dejavuserif",
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.titlesize": 8,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,
}

BLUE, RED, GREEN, GREY = "#1f5fa8", "#c0392b", "#2e7d32", "#777777"

#: Width of a figure in inches, the text's own.
WIDTH = 6.5


def panels(number: int, height: float) -> tuple[Figure, list[Axes]]:
    """Panels side by side, with letters."""
    figure, axes = plt.subplots(1, number, figsize=(WIDTH, height), layout="constrained")
    found = list(np.atleast_1d(axes))
    for letter, axis in zip("abc", found, strict=False):
        axis.set_title(f"({letter})", loc="left")
    return figure, found


def losses() -> Figure:
    """The symmetric ramp: its split and a tangent, the conjugate of the convex part, and envelopes on an interval."""
    from convex_tsvm.losses import PLQ, symmetric_ramp

    figure, (left, middle, right) = panels(3, 2.4)
    loss = symmetric_ramp(-0.3)
    convex, concave = loss.split()
    t = np.linspace(-2, 2, 801)
    at = -0.8
    slope = float(concave.supergradient(at))
    left.plot(t, loss(t), color="black", label=r"$\ell$", linewidth=1.8)
    left.plot(t, convex(t), color=BLUE, label=r"$\ell_\cup$")
    left.plot(t, concave(t), color=RED, label=r"$\ell_\cap$")
    left.plot(t, concave(at) + slope * (t - at), color=RED, linestyle=":", label=rf"tangent at ${at}$")
    left.plot(t, convex(t) + concave(at) + slope * (t - at), color=GREEN, linestyle="--", label="convex step")
    left.set(xlabel="$t$", ylim=(-4.1, 2.6))
    left.legend(loc="lower center", ncols=2, handlelength=1.4, columnspacing=0.8, borderaxespad=0.1)
    conjugate = convex.conjugate()
    s = np.linspace(*conjugate.domain, 401)
    middle.plot(s, conjugate(s), color=BLUE)
    for end in conjugate.domain:
        middle.axvline(end, color=GREY, linestyle=":", linewidth=0.8)
    middle.set(xlabel="$s$", ylabel=r"$\ell_\cup^*(s)$", xlim=(-1.25, 1.25))
    low, high, lent = -0.9, 1.6, 0.9
    inside = np.linspace(low, high, 501)
    right.plot(t, loss(t), color="black", linewidth=1.8, label=r"$\ell$")
    right.plot(inside, loss.envelope(low, high)(inside), color=BLUE, label=rf"envelope on $[{low}, {high}]$")
    bent = loss + PLQ([], [(lent / 2, 0.0, 0.0)])
    raised = bent.envelope(low, high)(inside) - lent / 2 * inside**2
    right.plot(inside, raised, color=GREEN, linestyle="--", label=rf"with $d={lent}$ lent, less $\frac{{1}}{{2}}dt^2$")
    right.set(xlabel="$t$", xlim=(-1.5, 2.2), ylim=(-0.2, 1.6))
    right.legend(loc="upper right", handlelength=1.4)
    return figure


def search() -> Figure:
    """Bound and objective of searches on wine, against time and against nodes."""
    figure, (left, right) = panels(2, 2.5)
    found = run("search")
    for name, color, shown in (("svm", GREY, "labelled SVM's bound"), ("all", BLUE, "with the sign-lifted relaxation")):
        course = np.array(found[name]["progress"], dtype=float)
        left.plot(course[:, 0], proven(course), color=color, label=shown, drawstyle="steps-post")
        left.plot(course[-1, 0], course[-1, 2], color=color, marker="o", markersize=3)
    left.axhline(
        found["all"]["objective"], color="black", linewidth=1.4, linestyle=":", label="objective, proven optimal"
    )
    left.axhline(found["all"]["cccp"], color=RED, linewidth=0.8, linestyle="--", label="objective of CCCP")
    left.set(xlabel="seconds", ylabel="objective, lower bound", ylim=(0, None))
    left.legend(loc="center right", bbox_to_anchor=(1, 0.62), fontsize=6.5)
    course = np.array(found["ramp"]["progress"], dtype=float)
    right.plot(course[:, 1], proven(course), color=BLUE, label="lower bound", drawstyle="steps-post")
    right.plot(course[:, 1], course[:, 3], color="black", linewidth=0.8, label="best objective")
    right.set(xlabel="nodes")
    right.legend(loc="lower right")
    return figure


def proven(course: np.ndarray) -> np.ndarray:
    """The lower bounds of a search as they stay: what is told while a node is branched may be above what comes next."""
    return np.minimum.accumulate(course[::-1, 2])[::-1]


def bounds() -> Figure:
    """Gaps of relaxations, a point for every instance."""
    figure, axes = panels(2, 2.1)
    gaps = gaps_of_relaxations()
    settings = [name for name in gaps if name != "all"]
    for axis, C in zip(axes, ("C = 1", "C = 10"), strict=True):
        own = [name for name in settings if name.endswith(C)]
        for k, relaxation in enumerate(RELAXATIONS):
            for setting, color, shift in zip(own, (BLUE, RED), (-0.12, 0.12), strict=True):
                each = np.maximum(gaps[setting][relaxation], 0.005)
                label = setting.split(",")[0] if k == 0 else None
                axis.plot(np.full(len(each), k + shift), each, "o", color=color, markersize=3, alpha=0.7, label=label)
        shown = [text.split(" (")[0].replace(" ", "\n") for text in RELAXATIONS.values()]
        axis.set_xticks(range(len(shown)), shown, fontsize=6.5)
        axis.set(yscale="log", ylim=(0.004, 150))
        axis.set_title(f"$ {C} $", loc="center")
    axes[0].set_ylabel("gap, %")
    axes[1].legend(loc="lower left")
    return figure


def few_labels() -> Figure:
    """Errors of the transductive and of the supervised SVM on every set, by the number of labels."""
    figure, axes = panels(2, 2.9)
    found = rows("few_labels", "All")
    for axis, kind in zip(axes, ("at random", "per class"), strict=True):
        for count, color, marker in ((10, RED, "o"), (20, BLUE, "s"), (100, GREEN, "^")):
            own = [row for row in found if row["labels"].shown == f"{count} {kind}"]
            x, y = ([value(row[head]) for row in own] for head in ("SVM, C=10", "ours"))
            axis.plot(x, y, marker, color=color, markersize=3.5, alpha=0.8, label=f"{count} labels")
        axis.plot([0, 66], [0, 66], color=GREY, linewidth=0.6)
        axis.set(xlabel="error of the supervised SVM, %", xlim=(0, 66), ylim=(0, 66), aspect="equal")
        axis.set_title(kind, loc="center")
    axes[0].set_ylabel("error of the transductive SVM, %")
    axes[0].legend(loc="upper left")
    return figure


def scaling() -> Figure:
    """Seconds against the number of points, for kernels and for linear functions."""
    figure, (left, right) = panels(2, 2.4)
    for data, color, shown in (("like g50c", BLUE, "native, Gaussians"), ("MNIST, 8 vs rest", GREEN, "native, MNIST")):
        own = [row for row in rows("scaling") if row["data"].shown == data]
        left.plot([value(row["U"]) for row in own], [value(row["s"]) for row in own], "o-", color=color,
                  markersize=3, label=shown)  # fmt: skip
    through = rows("libsvm", "CCCP through CVXPY")
    left.plot([value(row["U"]) for row in through], [value(row["CVXPY, s"]) for row in through], "s--", color=RED,
              markersize=3, label="CVXPY, Gaussians")  # fmt: skip
    left.set(xscale="log", yscale="log", xlabel="unlabelled points", ylabel="seconds")
    left.legend(loc="lower right")
    for method, color in (("switching", BLUE), ("annealing", RED)):
        own = [row for row in rows("linear_growth")
               if row["points"].shown == "synthetic" and row["method"].shown == method]  # fmt: skip
        right.plot([value(row["entries"]) for row in own], [value(row["seconds"]) for row in own], "o-", color=color,
                   markersize=3, label=method)  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="entries of the sparse matrix")
    right.legend(loc="upper left")
    return figure


#: Figures by the names of their files.
FIGURES: dict[str, Callable[[], Figure]] = {
    made.__name__: made for made in (losses, search, bounds, few_labels, scaling)
}


def draw(names: list[str] | None = None) -> list[Path]:
    """Draw some figures, or all of them; returns their files."""
    IMAGES.mkdir(exist_ok=True)
    paths = []
    with plt.rc_context(STYLE):
        for name in names or list(FIGURES):
            figure = FIGURES[name]()
            path = IMAGES / f"{name}.pdf"
            figure.savefig(path, metadata={"CreationDate": None})
            plt.close(figure)
            paths.append(path)
    return paths


if __name__ == "__main__":
    for path in draw(sys.argv[1:]):
        print(path)
