"""Bounds for people: where a bound comes from, in words and as LaTeX."""
