"""Pipelines as text that another process, or another year, reads again."""
