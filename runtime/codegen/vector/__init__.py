"""Vectors in C: types, operations, gathers, and what compilers don't find by themselves."""
