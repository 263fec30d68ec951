"""C functions that count their calls, for tests of extern stages, and pipelines of them.

In: a folder. Out: the functions, in this process.

    Calls.made(folder).of(lambda: f.realize([5, 4]))   ->   the values, the calls that were made, and their points
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import halide_core as hl
from halide_core.runtime.compile.toolchain import DEFAULT_OPTIONS, compile_shared, find_compiler
from halide_core.runtime.crt.runtime_library import HEADER

x, y = hl.Var("x"), hl.Var("y")
SOURCE = r"""
int levels_calls = 0, levels_points = 0;

static int32_t *at(const halide_buffer_t *b, int32_t x, int32_t y) {
    return (int32_t *)b->host + (x - b->dim[0].min) * b->dim[0].stride + (y - b->dim[1].min) * b->dim[1].stride;
}

/* out(x, y) = in(x, y) + in(x + 1, y) + in(x, y + 1), and counts its calls and its points */
int levels_corner(halide_buffer_t *in, halide_buffer_t *out) {
    if (!in->host || !out->host) {
        if (in->host) return 0;
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent + 1;
        }
        return 0;
    }
    levels_calls++;
    for (int32_t y = out->dim[1].min; y < out->dim[1].min + out->dim[1].extent; y++) {
        for (int32_t x = out->dim[0].min; x < out->dim[0].min + out->dim[0].extent; x++, levels_points++) {
            *at(out, x, y) = *at(in, x, y) + *at(in, x + 1, y) + *at(in, x, y + 1);
        }
    }
    return 0;
}

/* the same, and writes what it needs of in whenever it is asked, also where in is there */
int levels_asks(halide_buffer_t *in, halide_buffer_t *out) {
    if (out->host) return levels_corner(in, out);
    for (int d = 0; d < 2; d++) {
        in->dim[d].min = out->dim[d].min;
        in->dim[d].extent = out->dim[d].extent + 1;
    }
    return 0;
}

/* the same, and tells by in alone that it is asked for bounds */
int levels_by_input(halide_buffer_t *in, halide_buffer_t *out) {
    return in->host && !out->host ? 7 : levels_corner(in, out);
}

/* out(x) = the number of points that a call is given, which it has rounded up to eights */
int levels_eights(halide_buffer_t *out) {
    int32_t points = (out->dim[0].extent + 7) / 8 * 8;
    if (!out->host) {
        out->dim[0].extent = points;
        return 0;
    }
    levels_calls++;
    for (int32_t x = 0; x < points; x++) ((int32_t *)out->host)[x] = out->dim[0].extent;
    return 0;
}

/* out(x) = the first number that p points to, and x; -1 where it points to none */
int levels_first(void *p, halide_buffer_t *out) {
    if (!out->host) return 0;
    levels_calls++;
    const int32_t low = out->dim[0].min;
    for (int32_t x = 0; x < out->dim[0].extent; x++) ((int32_t *)out->host)[x] = p ? *(int32_t *)p + low + x : -1;
    return 0;
}

/* a = x + 10 * y, b = x - y */
int levels_two(halide_buffer_t *a, halide_buffer_t *b) {
    if (!a->host) return 0;
    levels_calls++;
    for (int32_t y = a->dim[1].min; y < a->dim[1].min + a->dim[1].extent; y++) {
        for (int32_t x = a->dim[0].min; x < a->dim[0].min + a->dim[0].extent; x++) {
            *at(a, x, y) = x + 10 * y;
            *at(b, x, y) = x - y;
        }
    }
    return 0;
}
"""


class Calls:
    """The numbers that the C functions counted."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._calls = ctypes.c_int.in_dll(library, "levels_calls")
        self._points = ctypes.c_int.in_dll(library, "levels_points")

    @classmethod
    def made(cls, folder: Path) -> Calls:
        """The C functions, compiled and loaded."""
        source, output = folder / "levels.c", folder / "levels.so"
        source.write_text(f'#include <stdbool.h>\n#include "{HEADER}"\n{SOURCE}', encoding="utf-8")
        compile_shared([source], output, options=DEFAULT_OPTIONS, compiler=find_compiler())
        return cls(ctypes.CDLL(str(output), ctypes.RTLD_GLOBAL))

    def of(self, run: Callable[[], Any]) -> tuple[list[Any], int, int]:
        """The values of a run, the calls that it made, and the points that these computed."""
        self._calls.value = self._points.value = 0
        found = run()
        return np.asarray(found).tolist(), self._calls.value, self._points.value


def stage(first: Any = x * x + 3 * y) -> tuple[hl.Func, hl.Func]:
    """g, and e of g."""
    g, e = hl.Func("g"), hl.Func("e")
    g[x, y] = first
    e.define_extern("levels_corner", [g], hl.Int(32), [x, y])
    return g, e


def consumer(e: hl.Func) -> hl.Func:
    """f of e."""
    f = hl.Func("f")
    f[x, y] = e[x, y] + e[x, y + 1]
    return f


def made(first: Any = x * x + 3 * y) -> tuple[hl.Func, hl.Func, hl.Func]:
    """g, e of g, f of e."""
    g, e = stage(first)
    return g, e, consumer(e)


def corner(i: Any, j: Any) -> Any:
    """The values of e."""
    g = lambda a, b: a * a + 3 * b  # noqa: E731
    return g(i, j) + g(i + 1, j) + g(i, j + 1)


def wanted(width: int, height: int) -> Any:
    """The values of f."""
    j, i = np.mgrid[0:height, 0:width]
    return (corner(i, j) + corner(i, j + 1)).tolist()
