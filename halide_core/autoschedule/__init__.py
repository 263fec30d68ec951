"""Schedules that the compiler writes: from an algorithm and sizes to directives, which a person could have given."""
