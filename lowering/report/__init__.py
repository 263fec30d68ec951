"""Reports for people: explanations and the bounds query as objects."""
