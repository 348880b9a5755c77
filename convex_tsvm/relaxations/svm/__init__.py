"""The SVM of the labels known: points without a label pay nothing (chapelle2008 §3.1)."""
