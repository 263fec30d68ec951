"""Pictures made brighter, by a compiled pipeline."""

from __future__ import annotations

import numpy as np

from brightly import _pipelines


def brighten(picture: np.ndarray, by: int) -> np.ndarray:
    """A brighter picture of (rows, columns) of uint8."""
    out = np.empty_like(picture, order="C")
    _pipelines.brighten(picture, by, out)
    return out
