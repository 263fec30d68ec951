"""The passes of lowering, one a module; ``lowering.driver`` lists them in order."""
