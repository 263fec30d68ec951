"""z3: verification conditions as formulas, and their proofs."""
