"""Vectorized loops become vector statements."""
