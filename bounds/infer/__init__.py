"""From ranges to answers: regions, sliding windows, folds, and the program with its holes filled."""
