"""Threads of producers: forks, and memory of several iterations."""
