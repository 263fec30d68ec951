"""A small array as a PNG file in memory, for notebooks.

In: an array of (y, x), or of (c, y, x) with 1, 3 or 4 channels. Out: the bytes of a PNG, or None for anything else.

    png(np.zeros((2, 2), np.uint8))   ->   b"\\x89PNG…"
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

_COLOURS = {1: 0, 3: 2, 4: 6}
"""PNG's number for grey, RGB and RGBA, by the number of channels."""
_MOST_PIXELS = 1 << 24


def png(array: Array) -> bytes | None:
    """The picture of an array; None where it has no picture, or is too large for a page."""
    planes = array[np.newaxis] if array.ndim == 2 else array
    if planes.ndim != 3 or planes.shape[0] not in _COLOURS or not 0 < planes[0].size <= _MOST_PIXELS:
        return None
    rows = np.moveaxis(_bytes(planes), 0, 2)
    height, width, channels = rows.shape
    head = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    filtered = np.zeros((height, 1 + width * channels), np.uint8)  # each row starts with the number of its filter: none
    filtered[:, 1:] = rows.reshape(height, -1)
    body = zlib.compress(filtered.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _bytes(planes: Array) -> Array:
    """The values as bytes: those of uint8 as they are; others, from the least to the greatest of them, as 0 to 255."""
    if planes.dtype == np.uint8:
        return planes
    values = planes.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    scaled = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0)
    return (scaled * 255 + 0.5).astype(np.uint8)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
