"""Pictures: files, notebooks, and the protocols by which memory is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest

import halide_core as hl
from halide_core.buffer.png import png


def colours() -> Any:
    return np.random.default_rng(3).integers(0, 256, (3, 6, 9)).astype(np.uint8)


def test_picture_goes_to_a_file_and_back(tmp_path: Path) -> None:
    planar = colours()
    for picture in (planar, hl.Buffer(planar), np.moveaxis(planar, 0, 2).copy()):
        hl.imageio.imwrite(tmp_path / "a.png", picture)
        back = hl.imageio.imread(tmp_path / "a.png")
        assert np.array_equal(back, planar)
        assert hl.Buffer(back).channels() == 3
    hl.imageio.imwrite(tmp_path / "grey.png", planar[0])
    assert np.array_equal(hl.imageio.imread(tmp_path / "grey.png"), planar[0])
    with pytest.raises(hl.HalideError, match=r"absent\.png"):
        hl.imageio.imread(tmp_path / "absent.png")
    with pytest.raises(hl.HalideError, match="can't be written"):
        hl.imageio.imwrite(tmp_path / "absent" / "a.png", planar)


def test_layouts() -> None:
    planar = colours()
    packed = hl.imageio.copy_to_interleaved(planar)
    assert packed.shape == (6, 9, 3)
    assert hl.imageio.is_interleaved(packed)
    assert not hl.imageio.is_interleaved(planar)
    assert np.array_equal(hl.imageio.copy_to_planar(packed), planar)
    assert np.array_equal(hl.imageio.copy_to_interleaved(packed), packed)


@pytest.mark.parametrize("array", [colours(), colours()[0], colours()[:1], np.zeros((4, 5, 6), np.uint8)])
def test_notebook_shows_the_picture(array: Any, tmp_path: Path) -> None:
    shown = hl.Buffer(array)._repr_png_()
    assert shown is not None
    (tmp_path / "a.png").write_bytes(shown)
    back = iio.imread(tmp_path / "a.png")
    assert np.array_equal(back if back.ndim == 2 else np.moveaxis(back, 2, 0), array.squeeze())


def test_other_values_are_scaled_and_other_shapes_have_no_picture() -> None:
    assert png(np.array([[0.0, np.nan], [1.0, np.inf]])) is not None
    for none in (np.zeros(3), np.zeros((2, 3, 3)), np.zeros((0, 3))):
        assert hl.Buffer(none)._repr_png_() is None


def test_memory_is_shared_by_every_protocol() -> None:
    buffer = hl.Buffer(hl.Int(32), [4, 3])
    views = [np.asarray(buffer), np.from_dlpack(buffer)]

    class ByInterface:
        __array_interface__ = buffer.__array_interface__

    views.append(np.asarray(ByInterface()))
    buffer[1, 2] = 7
    assert [v[2, 1] for v in views] == [7, 7, 7]
    assert hl.Buffer(ByInterface()).type() is hl.Int(32)
    assert np.asarray(buffer).ctypes.data % 128 == 0
