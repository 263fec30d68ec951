"""Ahead-of-time output: files that build systems, C programs and Python load without this package."""
