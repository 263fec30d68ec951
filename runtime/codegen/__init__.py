"""C text of a lowered pipeline."""
