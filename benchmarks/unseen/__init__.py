"""Random small pipelines under random schedules of the kind that people write, beside the peer: programs that nobody
tuned for. ``python -m benchmarks.unseen --cases 50 --seed 7 --threads 1``."""
