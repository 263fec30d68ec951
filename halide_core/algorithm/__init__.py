"""The algorithm language (figure 2.5) as data: Functions, their definitions, and what makes them well formed."""
