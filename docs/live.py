"""Pages that move: frames and numbers of each piece, computed here, and the pages that show them without a network."""

import html
import json
import re
from pathlib import Path

import numpy as np

import convex_tsvm as ct
from convex_tsvm.data import load_data
from convex_tsvm.losses import annealed
from convex_tsvm.verification.statements import paper

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#7b3294", "#888888"
SIDES = ((1, ORANGE), (-1, BLUE))


def rounded(values):
    """Numbers as JSON has them, to six digits: a picture needs no more."""
    return [float(f"{value:.6g}") for value in np.ravel(values)]


def item(panel, kind, x, y, **look):
    """Something to be drawn on a panel."""
    return [panel, kind, rounded(x), rounded(y), look]


def axes(title, x, y, xlabel, ylabel):
    """A panel: its title, what its axes go over and mean."""
    return {"title": title, "x": rounded(x), "y": rounded(y), "xlabel": xlabel, "ylabel": ylabel}


def points_on_a_line():
    """Forty points on a line, in two groups with one label each."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-1.5, 0.4, 20), rng.normal(1.2, 0.4, 20)])
    y = np.zeros(40)
    y[[0, 20]] = -1, 1
    return x, y


def objective_on_a_line(x, y, loss, w):
    """½ w² + Σ max(0, 1 - y w x) + 0.3 Σ ℓ(w x) at weights w."""
    f = np.multiply.outer(w, x)
    known = y != 0
    return 0.5 * w**2 + np.maximum(0, 1 - y[known] * f[:, known]).sum(1) + 0.3 * loss(f[:, ~known]).sum(1)


def steps_of_cccp():
    """Each surrogate touches the objective at the disc and lies above it elsewhere; its minimum is the next disc."""
    x, y = points_on_a_line()
    loss = ct.losses.exponential()
    convex, concave = loss.split()
    w = np.linspace(-1.5, 2.5, 401)
    objective, at, frames = objective_on_a_line(x, y, loss, w), 0.1, []
    hidden = x[y == 0]
    for step in range(9):
        value = float(objective_on_a_line(x, y, loss, np.array([at]))[0])
        slope = 0.3 * float((concave.supergradient(at * hidden) * hidden).sum())
        rest = 0.3 * float(concave(at * hidden).sum())
        surrogate = objective_on_a_line(x, y, convex, w) + rest + slope * (w - at)
        lowest = int(np.argmin(surrogate))
        numbers = {"w": at, "objective": value, "least value of the surrogate": float(surrogate[lowest])}
        drawn = [
            item(0, "line", w, surrogate, color=ORANGE, dash="6 4"),
            item(0, "points", [at], [value], color=ORANGE, size=6),
        ]
        frames.append({"label": f"step {step}", "numbers": numbers, "items": drawn})
        at = float(w[lowest])
    panel = axes("Objective, and the surrogate of a step", (-1.5, 2.5), (0, 14), "w", "objective")
    fixed = [item(0, "line", w, objective, color=BLUE, width=3)]
    return {"slider": "step", "panels": [panel], "fixed": fixed, "frames": frames}


def valleys_of_annealing():
    """At a high temperature T labels are undecided and the objective has one valley; as T falls, it splits in two."""
    x, y = points_on_a_line()
    w, frames = np.linspace(-2, 2.5, 901), []
    for temperature in np.geomspace(20, 0.01, 30):
        value = objective_on_a_line(x, y, annealed(ct.hinge(), float(temperature)), w)
        value = value - value.min()
        low = np.flatnonzero((value[1:-1] < value[:-2]) & (value[1:-1] <= value[2:])) + 1
        numbers = {
            "temperature": float(temperature),
            "valleys": len(low),
            "w of the lowest": float(w[np.argmin(value)]),
        }
        drawn = [
            item(0, "line", w, value, color=BLUE, width=3),
            item(0, "points", w[low], value[low], color=ORANGE, size=6),
        ]
        frames.append({"label": f"T = {temperature:.3g}", "numbers": numbers, "items": drawn})
    panel = axes("Annealed objective, less its least value", (-2, 2.5), (0, 6), "w", "objective")
    return {"slider": "temperature", "panels": [panel], "frames": frames}


def small_problem():
    """Two overlapping groups in the plane, four labels, eight unlabelled points."""
    rng = np.random.default_rng(3)
    truth = np.repeat([-1.0, 1.0], 6)
    X = rng.normal(size=(12, 2)) + 0.9 * truth[:, None]
    y = np.where(np.arange(12) % 6 < 2, truth, 0.0)
    return ct.Problem(X, y, kernel=ct.RBF(1.0), C=2, C_unlabeled=1, balance=None)


def growing_tree():
    """Each node has one more label fixed, and a bound on all labellings below it; it is closed where none is better."""
    rng = np.random.default_rng(0)
    truth = np.resize([-1.0, 1.0], 34)
    X = rng.normal(size=(34, 2)) + 0.5 * truth[:, None]
    problem = ct.Problem(X, np.where(np.arange(34) < 4, truth, 0.0), C=1, C_unlabeled=0.3, balance=None)
    solution = ct.exact_search(ct.tsvm("hinge", balance=None), problem, bounds="svm")
    tree = solution.tree
    parent, paths = np.array([record.parent for record in tree]), [""] * len(tree)
    for k in range(1, len(tree)):
        paths[k] = paths[parent[k]] + ("1" if tree[k].sign > 0 else "0")
    depth, place = np.array([float(len(path)) for path in paths]), np.zeros(len(tree))
    leaves = sorted(set(range(len(tree))) - set(parent.tolist()), key=paths.__getitem__)
    place[leaves] = np.arange(len(leaves))
    for k in reversed(range(len(tree))):  # a node is above the middle of its two children
        if k not in leaves:
            place[k] = place[np.flatnonzero(parent == k)].mean()
    bounds = np.array([min(record.bound, solution.objective) for record in tree])
    # Children come in pairs: until both of a node's are there it is open, and the least bound of open nodes holds.
    frames, history = [], []
    for n in range(1, len(tree) + 1, 2):
        pairs = np.bincount(parent[1:n], minlength=n) == 2
        history.append(float(bounds[:n][~pairs].min()))
        edges = np.array([(parent[k], k) for k in range(1, n)], dtype=int).ravel()
        closed = bounds[:n] >= solution.objective * (1 - 1e-6)
        drawn = [item(0, "segments", place[edges], -depth[edges], color=GREY)]
        for where, look in ((closed, {"square": True, "color": GREEN}), (~closed, {"color": BLUE})):
            drawn.append(item(0, "points", place[:n][where], -depth[:n][where], **look))
        drawn.append(item(1, "steps", np.arange(1, n + 1, 2), history, color=BLUE, width=3))
        numbers = {"nodes": n, "lower bound": history[-1], "objective": solution.objective}
        frames.append({"label": f"{n} nodes", "numbers": numbers, "items": drawn})
    top = solution.objective
    panels = [
        axes(
            "The tree; squares are closed",
            (-1, len(leaves)),
            (-depth.max() - 0.5, 0.5),
            "label −1 to the left, +1 to the right",
            "labels fixed",
        ),
        axes(
            "The bound rises to the objective",
            (0, len(tree)),
            (bounds[0] - 0.05 * top, 1.05 * top),
            "nodes",
            "objective",
        ),
    ]
    fixed = [item(1, "line", [0, len(tree)], [top, top], color=ORANGE, dash="6 4")]
    return {"slider": "nodes", "panels": panels, "fixed": fixed, "frames": frames}


def staircase_of_bounds():
    """Each relaxation is at least as tight as those before it; once all labels are known, all bounds are equal."""
    problem, model = small_problem(), ct.s3vm(balance=None, fit_intercept=False)
    best = ct.exact_search(model, problem)
    hidden = problem.unlabeled[np.argsort(-np.abs(best.scores[problem.unlabeled]), kind="stable")]
    colors = {"svm": BLUE, "sdp": GREEN, "signs": PURPLE}
    found, frames = {name: [] for name in colors}, []
    for known in range(len(hidden) + 1):
        y = problem.y.copy()
        y[hidden[:known]] = best.labels[hidden[:known]]
        cost = np.where(problem.y != 0, 2.0, 1.0)
        for name in colors:
            value = best.objective
            if known < len(hidden):
                given = problem.replace(y=y, C=cost, C_unlabeled=cost)
                value = ct.LowerBoundBuilder(model, given, relaxation=name).bound(upper=np.inf).value
            found[name].append(min(float(value), best.objective))
        drawn = [
            item(0, "steps", np.arange(known + 1), values, color=colors[name], width=5 - 2 * k)
            for k, (name, values) in enumerate(found.items())
        ] + [item(0, "points", [known], [values[-1]], color=colors[name], size=5) for name, values in found.items()]
        numbers = {name: values[-1] for name, values in found.items()} | {"objective": best.objective}
        frames.append({"label": f"{known} more labels known", "numbers": numbers, "items": drawn})
    low = min(found["svm"])
    panel = axes("Bounds: svm blue, sdp green, signs purple", (0, len(hidden)), (0.95 * low, 1.03 * best.objective),
                 "further labels known", "lower bound")  # fmt: skip
    fixed = [item(0, "line", [0, len(hidden)], [best.objective] * 2, color=ORANGE, dash="6 4")]
    return {"slider": "labels known", "panels": [panel], "fixed": fixed, "frames": frames}


def dual_by_hand():
    """One multiplier a step is set to its best value; the primal and the dual value enclose the optimum."""
    X = np.array([[-1.5, 0.3], [-1.0, -0.8], [-0.2, 0.5], [0.3, -0.4], [1.1, 0.7], [1.4, -0.2]])
    y, C = np.array([-1.0, -1, -1, 1, 1, 1]), 2.0
    K, alpha, frames = X @ X.T, np.zeros(6), []
    u = np.array([-2.0, 2.0])
    for step in range(25):
        w = X.T @ (alpha * y)
        primal = 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w)).sum()
        dual = alpha.sum() - 0.5 * w @ w
        drawn = [item(1, "bars", np.arange(6), alpha, color=BLUE)]
        for level, look in ((0.0, {"width": 3}), (-1.0, {"dash": "4 4"}), (1.0, {"dash": "4 4"})):
            if abs(w[1]) > 1e-9:
                drawn.append(item(0, "line", u, (level - w[0] * u) / w[1], color=GREY, **look))
        at = step % 6
        numbers = {"primal": primal, "dual": dual, "gap": primal - dual, "next α": at}
        frames.append({"label": f"step {step}", "numbers": numbers, "items": drawn})
        alpha[at] = np.clip(alpha[at] + (1 - y[at] * (X[at] @ w)) / K[at, at], 0, C)
    panels = [
        axes("Points, boundary and margins", (-2, 2), (-1.5, 1.5), "x₁", "x₂"),
        axes("α", (-0.7, 5.7), (0, C), "point", "α"),
    ]
    fixed = [item(0, "points", *X[y == sign].T, color=color, size=6) for sign, color in SIDES]
    return {"slider": "step", "panels": panels, "fixed": fixed, "frames": frames}


def path_in_cost():
    """As the cost C* of unlabelled points rises, the boundary moves to where no points are."""
    data = load_data("two_moons")
    problem = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10, C_unlabeled=1e-3, balance=0.0)
    low, high = data.X.min(0) - 0.3, data.X.max(0) + 0.3
    u, v = np.linspace(low[0], high[0], 61), np.linspace(low[1], high[1], 61)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(u, v)])
    frames, start = [], None
    for cost in np.geomspace(1e-3, 10, 25):
        start = ct.cccp(ct.cccp_tsvm(), problem.replace(C_unlabeled=float(cost)), start=start)
        lines = boundary(u, v, start.decision_function(grid).reshape(61, 61))
        wrong = float(np.mean(start.labels != data.truth))
        drawn = [item(0, "segments", lines[:, 0], lines[:, 1], color="#222222", width=3)]
        drawn += [item(0, "points", *data.X[start.labels == sign].T, color=color, size=3) for sign, color in SIDES]
        numbers = {"C*": float(cost), "objective": start.objective, "wrong": wrong}
        frames.append({"label": f"C* = {cost:.3g}", "numbers": numbers, "items": drawn})
    panel = axes("Two moons; large points are labelled", (low[0], high[0]), (low[1], high[1]), "x₁", "x₂")
    fixed = [item(0, "points", *data.X[data.y == sign].T, color=color, size=8) for sign, color in SIDES]
    return {"slider": "C*", "panels": [panel], "fixed": fixed, "frames": frames}


def boundary(u, v, f):
    """Ends of the segments, shape (2 k, 2), along which a function on a grid is zero, triangle by triangle."""
    found = []
    for i in range(len(v) - 1):
        for j in range(len(u) - 1):
            corners = [(j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1)]
            for triple in (corners[:3], [corners[0], *corners[2:]]):
                cut = []
                for (a, b), (c, d) in ((triple[k], triple[k - 1]) for k in range(3)):
                    p, q = f[b, a], f[d, c]
                    if (p < 0) != (q < 0):
                        s = p / (p - q)
                        cut.append((u[a] + s * (u[c] - u[a]), v[b] + s * (v[d] - v[b])))
                found += cut[:2] if len(cut) == 2 else []
    return np.array(found).reshape(-1, 2)


def rules_of_a_derivation():
    r"""The dual of a CCCP step, in :math:`\alpha` (Collobert et al. 2006): each step applies a lemma, and is proven."""
    derivation = paper("collobert2006").derivations[1]
    shown = list(derivation.shown())
    proofs = derivation.prove().steps
    frames = [
        {"label": f"step {k} of {len(shown)}", "numbers": {"step": k, "how it is proven": proof.how}}
        for k, proof in enumerate(proofs, 1)
    ]
    steps = [
        f"<p><b>{html.escape(head)}.</b> {indexed(why)}</p><div class='math'>\\[{html.escape(latex)}\\]</div>"
        for head, why, latex in shown
    ]
    return {"slider": "steps", "panels": [], "frames": frames, "steps": steps}


def indexed(words):
    """Words with their indices, such as α_i and Σ_{i∈I}, as HTML."""
    return re.sub(r"_(?:\{([^}]*)\}|([A-Za-z0-9]+))", r"<sub>\1\2</sub>", html.escape(words))


def editor():
    """What follows from a loss: its envelope, its convex and concave part, conjugate and proximal map, exactly."""
    losses = {
        "symmetric ramp, s = -0.3": ct.symmetric_ramp(-0.3), "hinge": ct.hinge(), "ramp, s = -0.3": ct.ramp(-0.3),
        "symmetric hinge": ct.losses.symmetric_hinge(),
    }  # fmt: skip
    nodes = {name: [[float(t), float(loss(t))] for t in (-2.5, *loss.breaks, 2.5)] for name, loss in losses.items()}
    panels = [
        axes("The loss (blue) and its envelope: drag the dots", (-3, 3), (-1, 4), "output t", "loss"),
        axes("Convex part (green) and concave part", (-3, 3), (-4, 6), "t", "parts"),
        axes("Conjugate of the convex part", (-3, 3), (-2, 6), "slope s", "conjugate"),
        axes("Proximal map of the convex part, step 1", (-2, 3), (-2, 3), "v", "prox"),
    ]
    return {"losses": nodes, "panels": panels}


#: Name, title, and what computes the piece; its docstring stands on the page.
PIECES = (
    ("cccp", "Concave-convex steps", steps_of_cccp),
    ("editor", "A loss of one's own", editor),
    ("annealing", "A valley that splits", valleys_of_annealing),
    ("tree", "A tree that grows", growing_tree),
    ("staircase", "Bounds while labels become known", staircase_of_bounds),
    ("dual", "The dual by hand", dual_by_hand),
    ("path", "From the SVM to the TSVM", path_in_cost),
    ("derivation", "A derivation, rule by rule", rules_of_a_derivation),
)

#: The scripts of a page, in this order.
SCRIPTS = ("plq", "live", "editor")

INDEX = """Pages that move
===============

A slider goes through each of them, by mouse, by touch or by arrow keys.  Everything was computed while these pages were
built, and no network is needed.

.. toctree::
   :maxdepth: 1

"""


def figure(name, data):
    """The HTML of a piece."""
    kind = "data-editor" if name == "editor" else "data-frames"
    steps = "".join(f'<div class="live-step">{one}</div>' for one in data.get("steps", []))
    kept = {key: value for key, value in data.items() if key != "steps"}
    inside = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    script = f'<script type="application/json">{inside}</script>'
    return f'<figure class="live" id="live-{name}" {kind}="1">{steps}{script}</figure>'


def write_live(folder):
    """Write a page for each piece, and the page that leads to them, into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "index.rst").write_text(INDEX + "".join(f"   {name}\n" for name, *_ in PIECES), encoding="utf-8")
    scripts = "".join(f'<script src="../_static/{one}.js"></script>' for one in SCRIPTS)
    for name, title, make in PIECES:
        text = f"{title}\n{'=' * len(title)}\n\n{make.__doc__}\n\n.. raw:: html\n\n   {figure(name, make())}{scripts}\n"
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")


def standalone(name, path):
    """Write a piece as a page of its own, with its scripts in it, and return its data."""
    static = Path(__file__).parent / "_static"
    data = next(make for one, _, make in PIECES if one == name)()
    parts = [(static / f"{one}.js").read_text(encoding="utf-8") for one in SCRIPTS]
    style = (static / "site.css").read_text(encoding="utf-8")
    head = f'<!doctype html><meta charset="utf-8"><title>{name}</title><style>{style}</style>'
    scripts = "".join(f"<script>{part}</script>" for part in parts)
    path.write_text(head + figure(name, data) + scripts, encoding="utf-8")
    return data
