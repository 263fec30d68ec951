"""Pictures in files, as planar arrays: ``imread`` and ``imwrite`` on the library imageio.

In: a file's name. Out: an array of (c, y, x), which a Buffer sees as (x, y, c); of (y, x) where a picture has no
channels.

    image = hl.Buffer(hl.imageio.imread("photo.png"));  hl.imageio.imwrite("out.png", f.realize([640, 480, 3]))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import imageio.v3 as files
import numpy as np

from halide_core.buffer.png import Array
from halide_core.errors import HalideError
from halide_core.lang.buffer import Buffer
from halide_core.whole_files import replaced

_MOST_CHANNELS = 4


def is_interleaved(im: Buffer | Array) -> bool:
    """True where an array is of (y, x, c) with at most four channels, which are neighbours in memory."""
    array = np.asarray(im)
    return array.ndim == 3 and array.shape[2] <= _MOST_CHANNELS and array.strides[2] == array.itemsize


def copy_to_interleaved(im: Buffer | Array) -> Array:
    """A copy of (y, x, c), its channels neighbours in memory, of an array of (c, y, x); else a copy as it is."""
    array = np.asarray(im)
    if array.ndim == 3 and not is_interleaved(array):
        array = np.moveaxis(array, 0, 2)
    return np.array(array, order="C")


def copy_to_planar(im: Buffer | Array) -> Array:
    """A copy of (c, y, x), each channel's pixels together, of an array of (y, x, c); else a copy as it is."""
    array = np.asarray(im)
    if is_interleaved(array):
        array = np.moveaxis(array, 2, 0)
    return np.array(array, order="C")


def imread(uri: str | Path, **options: Any) -> Array:
    """The picture in a file, planar. ``options`` are those of ``imageio.v3.imread``.

    Raises:
        HalideError: the file can't be read.
    """
    try:
        return copy_to_planar(files.imread(uri, **options))
    except OSError as wrong:
        raise HalideError(f'The picture "{uri}" can\'t be read: {wrong}') from wrong


def imwrite(uri: str | Path, im: Buffer | Array, **options: Any) -> None:
    """Writes a picture, planar or interleaved, in the format that the file's name ends with. ``options`` are those of
    ``imageio.v3.imwrite``.

    Raises:
        HalideError: the file can't be written.
    """
    try:
        with replaced(Path(uri)) as part:
            files.imwrite(part, copy_to_interleaved(im), **options)
    except OSError as wrong:
        raise HalideError(f'The picture "{uri}" can\'t be written: {wrong}') from wrong
