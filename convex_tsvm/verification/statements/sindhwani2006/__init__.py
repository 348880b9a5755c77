"""Sindhwani and Keerthi (2006), Newton Methods for Fast Solution of Semi-supervised Linear SVMs: its items in order."""
