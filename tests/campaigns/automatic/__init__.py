"""Random programs that nobody scheduled, with automatic schedules: ``python -m tests.campaigns.automatic --seed 3``."""
