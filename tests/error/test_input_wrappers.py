"""Wrappers of inputs that are refused: of what is no Func, or does not read the input."""

from __future__ import annotations

from typing import Any

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
