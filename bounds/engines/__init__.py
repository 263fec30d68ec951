"""The engines: ranges of expressions along a path, by several methods behind one interface."""
