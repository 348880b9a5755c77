"""De Bie and Cristianini (2004), Convex Methods for Transduction: its items."""
