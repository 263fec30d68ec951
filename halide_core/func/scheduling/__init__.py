"""The calls that record directives: of Funcs, of stages, and levels to name loops by."""
