"""Sliding windows for tests: producers and consumers, one window for all, and what the certificate says.

In: nothing. Out: Funcs without a schedule.

    g, f = blur()   ->   g of three columns of an input, f of three rows of g
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core import ir
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.checking import numbers, variables

x, y, xo, yo, xi, yi = variables("x y xo yo xi yi")
W, H = 7, 9


def source(width: int = 24, height: int = 28) -> hl.ImageParam:
    """An input that reaches four points beyond the window on every side."""
    param = hl.ImageParam(hl.Int(32), 2, "source")
    buffer = hl.Buffer(np.ascontiguousarray(numbers((height, width), np.int32)))
    buffer.set_min([-6, -8])
    param.set(buffer)
    return param


def blur() -> tuple[hl.Func, hl.Func]:
    """A producer of three columns, and a consumer of three rows of it."""
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x - 1, y] + s[x, y] + s[x + 1, y]
    f[x, y] = g[x, y - 1] + g[x, y] * 2 + g[x, y + 1]
    return g, f


def window(f: hl.Func, width: int = W, height: int = H) -> list[tuple[int, int]]:
    """The window of all tests: it does not start at zero."""
    return [(1, width), (-2, height)][: f.dimensions()]


def certified(f: hl.Func) -> None:
    """The certificate has no open end."""
    certificate = f.certify()
    assert certificate.ok, str(certificate)


def chain() -> list[hl.Func]:
    """Three stencils, one after the other."""
    s, a, b, c = source(), hl.Func("a"), hl.Func("b"), hl.Func("c")
    a[x, y] = s[x, y - 1] + s[x, y] * 2
    b[x, y] = a[x, y - 1] + a[x, y + 1]
    c[x, y] = b[x, y - 1] + b[x, y] + b[x, y + 2]
    return [a, b, c]


def passes(f: hl.Func) -> dict[str, ir.Stmt]:
    """The program after each pass."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    return dict(trace.passes)
