"""Collobert, Sinz, Weston and Bottou (2006), Large Scale Transductive SVMs: its items."""
