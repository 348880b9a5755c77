"""Fitted models as arrays and JSON: what predicts, and how it is saved.  Loading one never runs code."""

import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .decision import DecisionFunctions, chosen_classes
from .kernels import kernel_from_dict
from .notice import warn
from .solution import Solution, joint_function
from .validation import archive, integer, is_sparse

Array = NDArray[np.float64]
FORMAT = "convex_tsvm model 1"

#: What reading may raise if a file is not one of ours, or is damaged.
DAMAGED = (
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    OSError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    MemoryError,
    RecursionError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, eq=False)
class FittedModel(DecisionFunctions):
    """Decision functions f_k(x) = Σ_i a_ki k(x_i, x) + b_k and the classes they tell apart.

    Attributes
    ----------
    kernel, points, coefficients, intercept, n_features
        As in :class:`~convex_tsvm.decision.DecisionFunctions`.
    classes : array, shape (n_classes,)
        One function for two classes (positive for the second), otherwise one per class.
    parameters : dict
        What the model was fitted with, for the record.
    feature_names : tuple of str, optional
        Of the columns that new points must have, where they are a DataFrame or a ``.csv`` file.
    label_name : str, optional
        Of the column of labels in the file that was learned from.
    zero_based : bool, optional
        Whether columns were counted from 0 in the svmlight file that was learned from; None if there was none.

    Examples
    --------
    >>> model = ct.TransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]).model_
    >>> model.predict(np.array([[-0.5], [0.5]]))
    array([0, 1])
    """

    classes: NDArray[Any] = field(kw_only=True)
    parameters: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    label_name: str | None = field(default=None, kw_only=True)
    zero_based: bool | None = field(default=None, kw_only=True)

    @classmethod
    def from_solutions(
        cls, solutions: Sequence[Solution], classes: NDArray[Any], parameters: Mapping[str, Any] | None = None
    ) -> "FittedModel":
        """Model from one solution per decision function, all on the same points; ``classes`` has shape (n_classes,)."""
        found = joint_function(solutions)
        own = (found.kernel, found.points, found.coefficients, found.intercept, found.n_features)
        return cls(*own, classes=classes, parameters=parameters or {})

    def decision_function(self, X: Any) -> Array:
        """Outputs at new points, shape (n,) for two classes, else (n, n_classes).

        A ValueError says if X is a DataFrame whose columns have other names than ``feature_names``, or the same in
        another order.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (m, d)
            New points; for a precomputed kernel its values with the training points, shape (m, n).
        """
        self._check_names(X)
        scores = self(X)
        return scores.ravel() if len(self.classes) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The name of each new point's class, shape (m,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, shape (m, d)
            As for ``decision_function``.
        """
        return self.decide(self.decision_function(X))

    def _check_names(self, X: Any) -> None:
        """Raise a ValueError if columns have other names than the model's; warn if only one of both has names."""
        from sklearn.utils.validation import _get_feature_names  # here, as it takes a second

        given = _get_feature_names(X)
        if given is not None and self.feature_names is None:
            warn(f"X has feature names, but {type(self).__name__} was fitted without feature names")
        elif given is None and self.feature_names is not None:
            warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names")
        elif given is not None and self.feature_names is not None and tuple(given) != self.feature_names:
            raise ValueError(unlike(self.feature_names, given))

    def decide(self, scores: Array) -> NDArray[Any]:
        """Names of classes, shape (m,), for outputs of shape (m,), of two classes, or (m, n_classes)."""
        return np.asarray(self.classes[chosen_classes(scores)])


def unlike(fitted: Sequence[str], given: Sequence[str]) -> str:
    """The message of scikit-learn for names of features that differ from those of the fit."""
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    for what, names in (("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)):
        if names:
            some = [*names[:5], *(["..."] if len(names) > 5 else [])]
            message += "".join([f"Feature names {what}:\n", *(f"- {name}\n" for name in some)])
    if not (unseen or missing):
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model as one ``.npz`` file of plain arrays and a JSON header.

    The file is complete or not there: it is written under another name and then renamed.  A ValueError says if the
    model has a callable as kernel, maps points by a transformer, or is not fitted; an OSError if the file cannot be
    written.

    Parameters
    ----------
    model : FittedModel or fitted estimator
    path : path
        Where; the name is used as given.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ct.save_model(ct.TransductiveSVC().fit(points, few), f"{folder}/model.npz")
    ...     ct.load_model(f"{folder}/model.npz").classes
    array([0, 1])
    """
    fitted = model if isinstance(model, FittedModel) else getattr(model, "model_", None)
    steps = getattr(model, "steps", None)
    if fitted is None and isinstance(steps, list) and len(steps) > 1:
        raise ValueError(
            f"model is a pipeline of {', '.join(str(name) for name, _ in steps)}, of which only the last step can be "
            "saved as plain arrays: save_model(pipeline[-1], path), and keep the others, or use joblib.dump"
        )
    if fitted is None and hasattr(model, "best_estimator_"):
        return save_model(model.best_estimator_, path)
    if (transformer := getattr(fitted, "transformer", None)) is not None:
        raise ValueError(
            f"model maps points by {transformer!r}, which is no plain array: take "
            "kernel_approximation='nystroem', whose models are expansions in the RBF kernel, or use joblib.dump"
        )
    if not isinstance(fitted, FittedModel):
        raise ValueError(f"model={model!r} must be a fitted estimator of this package or a FittedModel")
    names = getattr(model, "feature_names_in_", fitted.feature_names)
    header = {
        "format": FORMAT,
        "kernel": fitted.kernel.to_dict(),
        "n_features": int(fitted.n_features),
        "parameters": {key: value for key, value in fitted.parameters.items() if _is_json(value)},
        "feature_names": None if names is None else [str(name) for name in names],
        "label_name": fitted.label_name,
        "zero_based": fitted.zero_based,
    }
    arrays: dict[str, Any] = {
        "header": np.array(json.dumps(header)),
        "coefficients": fitted.coefficients,
        "intercept": fitted.intercept,
        "classes": fitted.classes.astype(str) if fitted.classes.dtype == object else fitted.classes,
    }
    if is_sparse(fitted.points):
        csr = fitted.points.tocsr()
        arrays.update(data=csr.data, indices=csr.indices, indptr=csr.indptr, shape=np.array(csr.shape))
    else:
        arrays["points"] = fitted.points
    write_arrays(path, arrays)


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Write arrays as one ``.npz`` file that is complete or not there: under another name first, then renamed."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load_model(path: str | os.PathLike[str]) -> "FittedModel":
    """Read a model written by :func:`save_model`.

    A ValueError says if the file is not such a model, or is truncated.

    Parameters
    ----------
    path : path
        As :func:`save_model` has written it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ct.save_model(ct.TransductiveSVC(kernel="linear").fit(X, [0, -1, -1, -1, -1, 1]), f"{folder}/model.npz")
    ...     ct.load_model(f"{folder}/model.npz").predict(X)
    array([0, 0, 0, 1, 1, 1])
    """
    known = ("header", "coefficients", "intercept", "classes", "points", "data", "indices", "indptr", "shape")
    with reading(path, "a model", FORMAT, known) as (header, arrays):
        if "points" in arrays:
            points: Any = arrays["points"]
        else:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            points = sp.csr_matrix(parts, shape=tuple(arrays["shape"]))
            points.check_format()
        model = FittedModel(
            kernel=kernel_from_dict(header["kernel"]),
            points=points,
            coefficients=arrays["coefficients"].astype(float, casting="safe"),
            intercept=arrays["intercept"].astype(float, casting="safe"),
            classes=arrays["classes"],
            n_features=integer("n_features", header["n_features"], least=1),
            parameters=header["parameters"],
            feature_names=None if (names := header.get("feature_names")) is None else tuple(names),
            label_name=header.get("label_name"),
            zero_based=header.get("zero_based"),
        )
        if model.feature_names is not None and len(model.feature_names) != model.n_features:
            raise ValueError(f"it has {len(model.feature_names)} names of {model.n_features} features")
        functions = 1 if len(model.classes) == 2 else len(model.classes)
        if model.coefficients.shape != (functions, points.shape[0]) or model.intercept.shape != (functions,):
            raise ValueError("its arrays do not fit together")
        entries = points.data if is_sparse(points) else points.astype(float, casting="safe")
        if not all(np.isfinite(numbers).all() for numbers in (entries, model.coefficients, model.intercept)):
            raise ValueError("it has numbers that are not finite")
        if model.zero_based not in (None, True, False):
            raise ValueError(f"zero_based={model.zero_based!r} must be true, false or null")
    return model


@contextmanager
def reading(
    path: str | os.PathLike[str], what: str, form: str, known: Collection[str] | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A context with the header and the arrays of a file that :func:`write_arrays` has written.

    Whatever error a damaged file leads to in reading it or in the context, or an array that is not among the ``known``,
    is a ValueError that says that the file is not ``what`` it should be.
    """
    try:
        with archive(path, known) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != form:
            raise ValueError(f"its format is {header['format']!r}, not {form!r}")
        yield header, arrays
    except FileNotFoundError:
        raise
    except DAMAGED as error:
        raise ValueError(f"{path} is not {what} saved by convex_tsvm: {error}") from error


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
