"""Numbers in as few bits, and by as few operations, as their values need."""
