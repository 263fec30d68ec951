"""Funcs: definitions, inputs that are Funcs too, and the calls that schedule them."""
