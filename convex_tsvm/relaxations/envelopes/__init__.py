"""Bounds from the convex envelopes of losses, to which the regularizer may lend some of its curvature."""
