# %% [markdown]
# # The concave-convex procedure
#
# Lesson 3
#
# How to go down an objective that is not convex, by convex problems only.

# %% [markdown]
# ## What is minimized
#
# $$J(w) = \tfrac12 w^2 + \sum_{i\ \text{labelled}} H_1(y_i\,w x_i) + C^* \sum_{j\ \text{unlabelled}} \ell^*(w x_j)$$
#
# $\ell^*$ has a hill at 0: unlabelled points want to be away from the boundary.

# %%
import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

plt.rcParams["font.size"] = 16
axes = ct.plot.loss(ct.losses.exponential())

# %% [markdown]
# ## Two parts
#
# $$\ell^*(t) = \underbrace{k\,t^2}_{\text{convex}} + \underbrace{\ell^*(t) - k\,t^2}_{\text{concave for large } k}$$
#
# The concave part is the one that makes trouble. What lies above a concave function and touches it? Its tangent.

# %%
axes = ct.plot.loss(ct.losses.exponential(), at=0.4)

# %% [markdown]
# ## A step
#
# $$w^{t+1} = \arg\min_w\ J_{vex}(w) + J_{cav}'(w^t)\,w$$
#
# It is convex: whatever solves an SVM solves it.

# %% [markdown]
# ## Why it never rises
#
# $$J(w^{t+1}) \;\le\; J_{vex}(w^{t+1}) + \text{tangent}_t(w^{t+1})$$
#
# $$\le\; J_{vex}(w^t) + \text{tangent}_t(w^t) \;=\; J(w^t)$$
#
# 1. a tangent of a concave function lies above it,
# 2. $w^{t+1}$ is the minimum,
# 3. the tangent touches at $w^t$.

# %% [markdown]
# ## Forty points on a line
#
# Two groups, one label each, and $f(x) = w x$: the whole objective can be drawn. Where will it end, from $w = 0.1$?

# %%
rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(-1.5, 0.4, 20), rng.normal(1.2, 0.4, 20)])[:, None]
y = np.zeros(40)
y[[0, 20]] = -1, 1
model = ct.Formulation(ct.hinge(), ct.losses.exponential(), balance=None, fit_intercept=False)
problem = ct.Problem(x, y, C=1.0, C_unlabeled=0.3, balance=None)
axes = ct.plot.surrogates(model, problem, start=0.1, n_steps=4, span=(-1.5, 2.5))

# %% [markdown]
# ## And from $w = -0.1$?

# %%
axes = ct.plot.surrogates(model, problem, start=-0.1, n_steps=4, span=(-2.0, 2.0))

# %% [markdown]
# ## A descent is no search
#
# The end depends on the start. What helps:
#
# - start where both classes are told apart, at the SVM of the labels,
# - raise $C^*$ in steps,
# - anneal the loss (lesson 5),
# - search (lesson 8).

# %%
data = ct.data.load_data("two_moons", split=5)
moons = ct.Problem(data.X, data.y, kernel=ct.RBF(sigma=0.3), C=10, C_unlabeled=10)
plain, raised = ct.cccp(ct.cccp_tsvm(), moons), ct.cccp(ct.cccp_tsvm(), moons, annealing=10)
print(f"plain:  objective {plain.objective:5.1f}, {100 * data.error(plain.labels):4.1f} % wrong")
print(f"raised: objective {raised.objective:5.1f}, {100 * data.error(raised.labels):4.1f} % wrong")

# %% [markdown]
# ## Your turn
#
# `lesson3_sheet.ipynb`: seven equations of Collobert et al. (2006) and Chapelle et al. (2008), graded.
