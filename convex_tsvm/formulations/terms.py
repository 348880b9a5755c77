"""Losses of a formulation: values near their domains, envelopes, whether about labels; and it as text and LaTeX."""

from typing import Any

import numpy as np

from ..losses import PLQ, BetterLabel, Loss
from ..problem import Array

#: How far an output may be outside the domain of a loss, which is a constraint, and still count as inside.
DOMAIN_TOLERANCE = 1e-6


def envelope(loss: Loss) -> Loss | None:
    """The convex envelope of a loss; None if it is not known."""
    if getattr(loss, "is_convex", False):
        return loss
    if not isinstance(loss, PLQ) or np.isinf(loss.minimizers()[0]):
        return None
    return loss.envelope()


def value(loss: Loss, t: Array) -> Array:
    """A loss at some outputs; just outside its domain it is that at the end."""
    if isinstance(loss, BetterLabel):
        return np.minimum(value(loss.loss, t), value(loss.loss, -t))
    # This is asked for every point of a descent, where a check against a protocol would take longer than the values.
    split = getattr(loss, "split", None)
    convex = None if split is None else split()[0]
    if convex is None or convex.is_finite:
        return loss(t)
    inside = np.clip(t, *convex.domain)
    return loss(np.where(np.abs(t - inside) <= DOMAIN_TOLERANCE, inside, t))


def _never_increases(loss: PLQ) -> bool:
    a, b, _ = loss.pieces[-1]
    return bool(a == 0 and b <= 0 if np.isinf(loss.upper) else 2 * a * loss.upper + b <= 0)


def label_loss(formulation: Any, compared: bool) -> tuple[PLQ, float]:
    """See :meth:`Formulation.label_loss`."""
    labeled, unlabeled = formulation.labeled, formulation.unlabeled
    if formulation.groups:
        raise ValueError(
            f"groups={list(formulation.groups)!r}: searches for labels know no other points than unlabelled ones"
        )
    if unlabeled is None:
        raise ValueError(
            "the formulation has no loss for unlabelled points; there is nothing to relax, and no label to be found"
        )
    name = getattr(unlabeled, "name", "") or repr(unlabeled)
    if not (isinstance(labeled, PLQ) and labeled.is_convex and _never_increases(labeled)):
        raise ValueError(f"labeled={labeled!r}: labels are searched for with a convex PLQ loss that never increases")
    if isinstance(unlabeled, BetterLabel) and unlabeled.loss.isclose(labeled):
        if compared:
            raise ValueError(
                f"labeled={labeled.name or labeled!r} is infinite for one label of each point, so that labels "
                "cannot be compared at given outputs; relaxations and exact search take it"
            )
        return labeled, 0.0
    better = labeled.minimum(labeled.reflect()) if labeled.is_finite else None
    wrong = "is no finite PLQ loss"
    if isinstance(unlabeled, PLQ) and better is not None:
        constant = float(unlabeled(0.0) - better(0.0))
        if unlabeled.isclose(better + constant):
            return labeled, constant
        wrong = "is not the loss min(ℓ(f), ℓ(-f)) of a point with a label to be found"
    raise ValueError(
        f"unlabeled={name} {wrong}; searches for labels (relaxations, exact search, switching, annealing) are for "
        "symmetric_hinge beside hinge (loss='hinge'), symmetric_squared_hinge beside squared_hinge "
        "(loss='squared_hinge'), better_label(indicator(1, inf)) beside indicator(1, inf) (loss='hard_margin'), "
        "and the like"
    )


def _text_of(loss: Loss) -> str:
    """A loss by its pieces, or by its name."""
    if isinstance(loss, BetterLabel):
        return "min(ℓ(t), ℓ(-t))"
    return str(loss) if isinstance(loss, PLQ) else f"{getattr(loss, 'name', '') or loss}(t)"


def _latex_of(loss: Loss) -> str:
    """A loss of t as LaTeX: its pieces, or its name."""
    if isinstance(loss, BetterLabel):
        return r"\min(\ell(t), \ell(-t))"
    return loss.latex("t") if isinstance(loss, PLQ) else rf"\text{{{getattr(loss, 'name', '') or 'a loss'}}}(t)"


def as_text(formulation: Any) -> str:
    """What is minimized, in words and symbols."""
    terms = [str(formulation.regularizer), "Σ over labelled points C ℓ(y f)"]
    lines = [f"ℓ(t) = {_text_of(formulation.labeled)}"]
    if formulation.unlabeled is not None:
        terms.append("Σ over unlabelled points C* ℓ*(f)")
        lines.append(f"ℓ*(t) = {_text_of(formulation.unlabeled)}; C* is C_unlabeled")
    for group in formulation.groups:
        seen = "f - target" if group.has_targets else "f"
        terms.append(f"Σ over {group.name} C_i ℓ_{group.name}({seen if group.sign is None else f'sign ({seen})'})")
        lines.append(f"ℓ_{group.name}(t) = {_text_of(group.loss)}")
    if formulation.balance is not None:
        outputs = "f" if formulation.balance == "linear" else "v = f + y ξ"
        lines.append(f"the mean of {outputs} over the unlabelled points is c, as the problem's balance says")
    lines += [f"constraint: {constraint}" for constraint in formulation.constraints]
    lines += [f"added: {one.name}" for one in formulation.additions]
    lines.append("f(x) = w·Φ(x) + b" if formulation.fit_intercept else "f(x) = w·Φ(x)")
    return "\n".join([f"{formulation.name or 'Formulation'}: minimize " + " + ".join(terms), *lines])


def as_latex(formulation: Any) -> str:
    """What is minimized, as LaTeX, an ``aligned`` environment without dollars."""
    objective = formulation.regularizer.latex() + r" + \sum_{i \in L} C_i\, \ell(y_i f_i)"
    rows = [rf"\ell(t) &= {_latex_of(formulation.labeled)}"]
    if formulation.unlabeled is not None:
        objective += r" + \sum_{i \in U} C^*_i\, \ell^*(f_i)"
        rows.append(rf"\ell^*(t) &= {_latex_of(formulation.unlabeled)}")
    for group in formulation.groups:
        loss = rf"\ell_{{\text{{{group.name}}}}}"
        seen = r"f_i - \tau_i" if group.has_targets else "f_i"
        seen = seen if group.sign is None else rf"\sigma_i ({seen})"
        objective += rf" + \sum_{{i \in \text{{{group.name}}}}} C_i\, {loss}({seen})"
        rows.append(rf"{loss}(t) &= {_latex_of(group.loss)}")
    objective += "".join(f" + {one.latex}" for one in formulation.additions)
    outputs = r"f_i = w^\top \Phi(x_i)" + (" + b" if formulation.fit_intercept else "")
    under = [outputs]
    if formulation.balance is not None:
        what = "f_i" if formulation.balance == "linear" else r"(f_i + y_i \xi_i)"
        under.append(rf"\tfrac{{1}}{{|U|}} \sum_{{i \in U}} {what} = c")
    under += [rf"\text{{{one.name or 'a linear constraint on outputs'}}}" for one in formulation.constraints]
    found = "w, b" if formulation.fit_intercept else "w"
    conditions = r",\quad ".join(under)
    rows = [rf"\min_{{{found}}}\quad & {objective}", rf"\text{{s.t.}}\quad & {conditions}", *rows]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"
