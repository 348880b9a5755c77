# %% [markdown]
# # A relaxation, and bounds that hold
#
# Lesson 7
#
# How good is a labelling, if nobody knows the best one?

# %% [markdown]
# ## Labels only come in pairs
#
# In the dual of the SVM labels stand as products:
#
# $$v(\Gamma) = \max_{0 \le \alpha \le C}\ 2\alpha^\top e - \alpha^\top (K \odot \Gamma)\,\alpha,$$
#
# $$\Gamma = y y^\top$$
#
# $v$ is a maximum of functions that are linear in $\Gamma$: it is convex in $\Gamma$.

# %%
import matplotlib.pyplot as plt
import numpy as np

import convex_tsvm as ct

plt.rcParams["font.size"] = 16
axes = ct.plot.label_matrix(np.array([1.0, 1, 1, -1, -1, 1, -1, -1]))

# %% [markdown]
# ## What a label matrix is
#
# $$\Gamma = yy^\top \iff \Gamma \succeq 0,\quad \Gamma_{ii} = 1,$$
#
# $$\Gamma_{tt} = y_t y_t^\top,\quad \operatorname{rank}\Gamma = 1$$
#
# Three of the four are convex. Which is not?

# %% [markdown]
# ## Leave the rank out
#
# More matrices are allowed, so that the least $v(\Gamma)$ can only fall:
#
# $$\text{relaxation} \;\le\; \text{the best labelling} \;\le\; \text{any labelling}$$

# %% [markdown]
# ## As a semidefinite program
#
# $$\min\ t \quad\text{s.t.}\quad
# \begin{pmatrix} K\odot\Gamma & e + \nu - \mu\\ (e + \nu - \mu)^\top & t - 2C\mu^\top e \end{pmatrix} \succeq 0$$
#
# $\nu$ and $\mu$ are the multipliers of $0 \le \alpha \le C$; the corner is a Schur complement.

# %% [markdown]
# ## Twenty-four points, four labels
#
# Two groups that overlap. A descent finds a labelling; is it the best one?

# %%
truth = np.resize([1.0, -1.0], 24)
X = np.random.default_rng(3).normal(size=(24, 2)) + truth[:, None]
y = np.where(np.arange(24) < 4, truth, 0.0)
problem = ct.Problem(X, y, kernel=ct.RBF(sigma=1.5), C=1, C_unlabeled=1)
known = ct.cccp(ct.s3vm(), problem, tol=1e-6)
print(f"a labelling of objective {known.objective:.4f}")
axes = ct.plot.boundary(known)

# %% [markdown]
# ## Bounds, one after the other

# %%
builder = ct.LowerBoundBuilder(ct.s3vm(), problem, relaxation="signs")
bound = builder.bound(upper=known.objective, upper_labels=known.labels)
print(f"the best labelling that came up: {bound.upper:.4f}; the bound: {bound.value:.4f}; gap {bound.gap:.2%}")
axes = ct.plot.gaps(bound)

# %% [markdown]
# ## What such a gap says
#
# No labelling has an objective that is lower by more than the gap than the best one known, whatever anybody tries. (The
# descent's labelling was not the best: the search for the bound came across a better one.)
#
# It does not say that the labelling is right: that is for the data to say.

# %% [markdown]
# ## Your turn
#
# `lesson7_sheet.ipynb`: from the SVM's Lagrangian to the semidefinite program, twenty steps on six points, graded.
