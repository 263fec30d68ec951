"""Index arithmetic: linear forms, simplification, and a small prover of facts."""
