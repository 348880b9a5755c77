"""Successive linearization: CS³VM of Fung and Mangasarian (2001), as collobert2006 §3 has it."""

from .descents import function_of
from .run import Method, Run


class Linearization(Method):
    """Minimize over w and both slacks ξ, ξ* of every unlabelled point, with min(ξ, ξ*) replaced by its tangent.

    The tangent is the lesser slack, so that in each step an unlabelled point pays the labelled points' loss for the
    sign of its output.  With ‖w‖₁ and the hinge loss (:func:`~convex_tsvm.cs3vm`) every step is a linear program, and
    this is CS³VM.  The objective never rises, and labels repeat after finitely many steps.  The tangent of CCCP is the
    same but for points with the wrong sign outside the margin, which pay twice as much there.

    Parameters
    ----------
    formulation : Formulation
        Whose unlabelled points pay for the better label, such as the symmetric hinge beside the hinge loss.
    problem, solver, start, tol, max_iter, callback, time_limit, **options
        As in :func:`~convex_tsvm.cccp`; with ‖w‖₁ the solver is "cvxpy".

    Examples
    --------
    >>> problem = ct.Problem(X, [-1, 0, 0, 0, 0, 1], C=10)
    >>> ct.linearization(ct.cs3vm(), problem).labels
    array([-1., -1., -1.,  1.,  1.,  1.])
    """

    name, best = "linearization", False  # the last point, as in the paper
    loss = "hinge"

    def descend(self, run: Run) -> str:
        """SVMs in which every unlabelled point pays for one label, until all outputs have the signs of these labels."""
        instance = run.instance
        instance.formulation.label_loss(compared=True)  # complains about a loss without labels
        outputs = run.envelope().outputs if run.start is None else run.start
        labels, changed = instance.best_labels(outputs), instance.problem.n_unlabeled
        for _ in range(run.settings.max_iter):
            point = run.solve(instance.svm(labels))
            run.record(point, changed=changed)
            before, labels = labels, instance.best_labels(point.outputs)
            changed = int((labels != before).sum())
            if changed == 0:
                return "converged"
        return "max_iter"


linearization = function_of(Linearization)
