"""Commands for linear functions of many points, as SVMlin's users know them: svmlight files and folders of points."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import LabelCounts, listed
from ..deadline import within
from ..files import as_text
from ..persistence import save_model
from ..points import convert_svmlight, open_points, read_svmlight
from ..progress import share_line, status_line
from ..text import is_number, read_text
from .requests import Convert, Linear
from .table import say, stopped, write_labels


def linear(request: Linear) -> int:
    """Fit a linear transductive SVM; print its figures."""
    from ..estimators.linear import LinearTransductiveSVC  # here, as no other command waits for scikit-learn

    own = dict(request.method_option)
    if request.max_pairs is not None:
        own["max_pairs"] = request.max_pairs
    points, y, marker, zero_based = _given(request)
    names = ("method", "loss", "lambda_", "lambda_unlabeled", "tol", "max_iter")
    clf: Any = LinearTransductiveSVC(
        **{name: getattr(request, name) for name in names},
        positive_fraction="auto" if request.positive_fraction is None else request.positive_fraction,
        fit_intercept=not request.no_intercept,
        method_options=own,
        unlabeled=marker,
    )
    clf._status = status_line  # on a terminal, and no other lines
    with within(request.time_limit), warnings.catch_warnings(action="ignore" if request.json else "default"):
        warnings.filterwarnings("ignore", "time_limit: ")  # a line says so
        try:
            clf.fit(points, y)
        except KeyboardInterrupt:
            if not hasattr(clf, "model_"):
                raise  # else it holds the best so far, which is written
    signs = np.where(clf.transduction_ == clf.classes_[1], 1, -1)
    counts, solution = _counts(y, marker), clf.solutions_[0]
    result = {
        "method": request.method,
        "n_labeled": sum(counts.known.values()),
        "n_unlabeled": sum(counts.unknown.values()),
        "n_features": points.shape[1],
        "n_entries": points.n_entries,
        "n_positive": int((signs > 0).sum()),
        "objective": solution.objective,
        "step_duality_gap": float(solution.point.gap),
        "iterations": solution.n_iter,
        "seconds": solution.seconds,
        "status": solution.status,
        "classes": counts.known,
    }
    told = (
        "{n_labeled} labelled and {n_unlabeled} unlabelled points, {n_features} features, {n_entries} entries\n"
        f"{counts}\n"
        "{method}: objective {objective:.8g}, duality gap of the last step {step_duality_gap:.0e}, "
        "{n_positive} points positive, {iterations} steps, {seconds:.2f} s, {status}".format(**result)
    )
    say(request, "\n".join([told, *stopped([result])]), result)
    if request.labels_out:
        write_labels(request.labels_out, signs, clf.transduction_scores_, [str(name) for name in clf.classes_])
    if request.save:
        save_model(replace(clf.model_, zero_based=zero_based), request.save)
    return 0 if result["status"] == "converged" else 1


def _counts(y: NDArray[Any], marker: float) -> LabelCounts:
    """How many points have each label, and how many none."""
    values, numbers = np.unique(y[y != marker], return_counts=True)
    known = dict(zip(as_text(values).tolist(), numbers.tolist(), strict=True))
    return LabelCounts(known, {f"marked {marker:g}": int((y == marker).sum())})


def convert(request: Convert) -> int:
    """Convert an svmlight file to a folder of points."""
    if Path(request.source).is_dir():
        raise IsADirectoryError(f"source={request.source!r} is a folder; it must be an svmlight file")
    with share_line(f"converting {request.source}") as progress:
        saved = convert_svmlight(
            request.source,
            request.target,
            n_features=request.n_features,
            zero_based=request.zero_based,
            dtype=np.dtype(request.dtype),
            progress=progress,
        )
    n, d = saved.points.shape
    found = {"n": n, "n_features": d, "n_entries": saved.points.n_entries, "dtype": request.dtype}
    say(request, f"{request.target}: {n} points, {d} features, {found['n_entries']} entries, {request.dtype}", found)
    return 0


def _given(request: Linear) -> tuple[Any, NDArray[Any], float, bool | None]:
    """Points, labels (-1, 0 and +1 without another marker), what marks unknown ones, whether the file counts from 0."""
    path = Path(request.data)
    if path.is_dir():
        if request.zero_based:
            raise ValueError(
                f"zero_based is for svmlight files; DATA={request.data!r} is a folder, which counts from 0"
            )
        saved = open_points(path)
    elif path.is_file():
        with share_line(f"reading {path}") as progress:
            saved = read_svmlight(path, zero_based=request.zero_based, progress=progress)
    else:
        raise FileNotFoundError(f"DATA={request.data!r}: no such file or folder of points")
    y, source = saved.labels, f"DATA={request.data!r}"
    if request.labels:
        source = f"labels={request.labels!r}"
        y = _labels(request.labels, source)
        if y.shape != (saved.points.shape[0],):
            raise ValueError(f"{source} has {y.size} labels; there are {saved.points.shape[0]} points")
    marker = 0.0
    if request.unlabeled is not None:
        try:
            marker = float(request.unlabeled)
        except ValueError:
            said = f"unlabeled={request.unlabeled!r}"
            raise ValueError(f"{said} must be a number, as the labels of {source} are") from None
    elif len(wrong := np.flatnonzero(~np.isin(y, (-1, 0, 1)))):
        raise ValueError(
            f"{source}: the label of point {wrong[0] + 1} is {y[wrong[0]]:g}; it must be +1, -1 or 0 (unknown), unless "
            "--unlabeled says what marks unknown ones"
        )
    classes = as_text(np.unique(y[y != marker])).tolist()
    if request.unlabeled is None and (absent := {"-1", "1"} - set(classes)):
        raise ValueError(f"{source}: no point has the label {int(max(absent)):+d}; at least one must have it")
    if len(classes) != 2:
        found = f"{len(classes)} classes beside unlabeled={marker:g} ({listed(classes)})"
        raise ValueError(f"{source} has {found}; it must have 2")
    whole = np.isfinite(y).all() and (y == np.round(y)).all()
    return saved.points, (y.astype(int) if whole else y), marker, saved.zero_based


def _labels(path: str, source: str) -> NDArray[np.float64]:
    """The numbers of a file with one a line, where "#" begins a comment."""
    try:
        lines = [line.partition("#")[0].strip() for line in read_text(path)[0].splitlines()]
        wrong = [(k, line) for k, line in enumerate(lines, start=1) if line and not is_number(line)]
        if wrong:
            raise ValueError(f"line {wrong[0][0]} is {wrong[0][1][:40]!r}")
    except ValueError as error:
        raise ValueError(f"{source} must have one number a line: {error}") from None
    return np.array([float(line) for line in lines if line])
