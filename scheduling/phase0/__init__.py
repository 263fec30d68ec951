"""Phase 0: rewrites of the algorithm itself, Alg -> Alg, before there are loops."""
