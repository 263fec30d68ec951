"""The target semantics (figure 2.8): a machine that runs the tree after any pass and checks every access."""
