"""𝓑 and the engines: the query that a program with holes poses, and the answers that fill it."""
