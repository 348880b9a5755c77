"""Boxes of weights and bias: what points pay in one is above a plane, and part of it is decided for all of it."""
