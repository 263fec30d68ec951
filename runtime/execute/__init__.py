"""Compiled pipelines at work: calls, files, profiles, extern stages and the command line."""
