"""A formulation as text and as LaTeX."""

from __future__ import annotations

from typing import Any

from ..losses import PLQ, BetterLabel, Loss


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
        lines.append(f"ℓ*(t) = {_text_of(formulation.unlabeled)}")
    for group in formulation.groups:
        terms.append(f"Σ over {group.name} C_i ℓ_{group.name}(f)")
        lines.append(f"ℓ_{group.name}(t) = {_text_of(group.loss)}")
    if formulation.balance is not None:
        outputs = "f" if formulation.balance == "linear" else "v = f + y ξ"
        lines.append(f"the mean of {outputs} over the unlabelled points is c")
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
        objective += rf" + \sum_{{i \in \text{{{group.name}}}}} C_i\, {loss}(f_i)"
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
