"""Loops that no schedule makes vectors of: ``python -m tests.campaigns.fuzz --plain``.

Rows of 33 to 132 values of several types in one expression, loops that are left alone, unrolled, or of a small constant
length. gcc makes vectors of such loops by itself, and what it makes is judged by compiled code alone.
"""
