"""Generators: pipelines in classes, which build systems and other pipelines instantiate with parameters."""
