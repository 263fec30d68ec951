"""Schedules as data: directives, their source and their values, and loop nests with holes that they rewrite."""
