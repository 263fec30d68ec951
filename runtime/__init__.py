"""IR to C to machine: emits C, compiles it, caches it, loads it and calls it."""
