"""Dai and Niu (2010), Compact Margin Machine: its items."""
