"""Passes about memory that is allocated further out than it lives, or outlives a run."""
