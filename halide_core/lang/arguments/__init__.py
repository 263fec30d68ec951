"""Arguments of the language's calls: numbers, ranges, names, loops and implicit variables."""
