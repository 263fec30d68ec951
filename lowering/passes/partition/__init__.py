"""Loops are divided into a head, a steady part and a tail."""
