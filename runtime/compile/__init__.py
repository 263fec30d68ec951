"""From C text to a loaded library: compiler, flags, cache."""
