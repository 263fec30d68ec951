"""Rows wide enough for whole vectors, for compiled code alone: ``python -m tests.campaigns.fuzz --wide``.

    idioms      formulas of narrow numbers that a target has instructions for
    programs    stages that read rows in strides, through tables and by other values, and updates that store so
    schedules   vectors of 2 to 64 lanes of all of that, by all tails
"""
