"""Wrappers of inputs that are refused: of what is no Func, or does not read the input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x = hl.Var("x")


def test_wrong_arguments() -> None:
    im = hl.ImageParam(hl.UInt(8), 1, "im")
    bad: Any = "f"
    none: Any = []
    refused(hl.ScheduleError, lambda: im.in_(bad), "in_()", "'f'", at="im.in_(bad)")
    refused(hl.ScheduleError, lambda: im.in_(none), "in_()", "list", at="im.in_(none)")


def test_consumer_that_does_not_read_it() -> None:
    im, f, g = hl.ImageParam(hl.UInt(8), 1, "im"), hl.Func("f"), hl.Func("g")
    f[x] = im[x]
    g[x] = f[x] + hl.u8(im.width())
    im.in_(g).compute_root()
    refused(hl.ScheduleError, g.loop_nest, "im.in_(g)", '"g" does not read it', "yet: f", at="im.in_(g)")


def test_func_of_an_image_that_others_read_beside_it_is_told() -> None:
    """In Halide a Func that is made of an ImageParam is the one that all readers of it read."""
    image, f, g = hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("f"), hl.Func("g")
    image.set(np.arange(8, dtype=np.int32))
    copied = hl.Func(image)
    g[x] = image[x] * 2
    f[x] = g[x] + copied[x]
    assert list(f.realize([4])) == [0, 3, 6, 9], "nothing is scheduled"
    copied.compute_root()
    told = r'f\.compute_root\(\): "g" reads "image" itself, .*Schedule image\.in_\(\)'
    with pytest.warns(hl.HalideWarning, match=told) as caught:
        assert list(f.realize([5])) == [0, 3, 6, 9, 12]
    assert caught[0].filename == __file__


def test_func_of_an_image_that_all_read_is_not_told_of() -> None:
    image, f, g = hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("f"), hl.Func("g")
    image.set(np.arange(8, dtype=np.int32))
    copied = hl.Func(image)
    g[x] = copied[x] * 2
    f[x] = g[x] + copied[x]
    copied.compute_root()
    assert list(f.realize([4])) == [0, 3, 6, 9]
