"""Verification conditions: all that memory safety and equivalence rest on, and their certificate."""
