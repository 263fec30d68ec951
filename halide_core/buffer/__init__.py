"""Buffers: numpy arrays with coordinates of their own, and as pictures."""
