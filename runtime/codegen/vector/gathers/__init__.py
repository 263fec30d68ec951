"""Lanes that are loaded from places which are no ramp."""
