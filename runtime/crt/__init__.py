"""The C runtime that pipelines link with, and what Python calls of it."""
