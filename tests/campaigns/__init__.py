"""Campaigns: tests that run for minutes, by ``python -m``."""
