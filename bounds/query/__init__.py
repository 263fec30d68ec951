"""𝓑: the query that a program with holes poses, and the query as conjuncts and as SMT-LIB."""
