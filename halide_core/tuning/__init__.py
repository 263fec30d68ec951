"""Schedules that are found by measuring: candidates of the model's space, compiled side by side, run one by one."""
