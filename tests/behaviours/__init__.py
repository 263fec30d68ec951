"""Behaviours that Halide documents for a CPU: small programs that name what they show, and what comes of them.

Each is a function of the module ``hl``, so that it runs on Halide's own package too.
"""
