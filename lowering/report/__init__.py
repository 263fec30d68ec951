"""What the compiler did, for people: explanations and the bounds query as objects."""
