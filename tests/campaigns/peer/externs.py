"""Extern stages: pipelines one of whose Funcs a C function computes, the same function on both sides.

In and out as in ``making``.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing, attempt

pipeline = Listing()

# The layout of buffers is Halide's on both sides.
_SOURCE = r"""
#include <stdint.h>
typedef struct { int32_t min, extent, stride; uint32_t flags; } dimension;
typedef struct {
    uint64_t device; const void *interface; uint8_t *host; uint64_t flags;
    struct { uint8_t code, bits; uint16_t lanes; } type;
    int32_t dimensions; dimension *dim; void *padding;
} buffer;

/* out(x) = in(x - 1) + in(x) + in(x + 1) + k */
int peer_box3(buffer *in, int32_t k, buffer *out) {
    const int32_t min = out->dim[0].min, extent = out->dim[0].extent;
    if (!in->host) {
        in->dim[0].min = min - 1;
        in->dim[0].extent = extent + 2;
        return 0;
    }
    for (int32_t x = 0; x < extent; x++) {
        const int32_t *from = (const int32_t *)in->host + (min + x - in->dim[0].min);
        ((int32_t *)out->host)[x] = from[-1] + from[0] + from[1] + k;
    }
    return 0;
}

/* a(x) = in(x) * 2, b(x) = in(x) / 2 as float */
int peer_two(buffer *in, buffer *a, buffer *b) {
    if (!in->host) {
        in->dim[0].min = a->dim[0].min;
        in->dim[0].extent = a->dim[0].extent;
        return 0;
    }
    for (int32_t x = 0; x < a->dim[0].extent; x++) {
        const int32_t from = ((const int32_t *)in->host)[a->dim[0].min + x - in->dim[0].min];
        ((int32_t *)a->host)[x] = from * 2;
        ((float *)b->host)[x] = from / 2.0f;
    }
    return 0;
}

/* out(x, y) = the distances in memory of neighbours and of rows */
int peer_strides(buffer *out) {
    if (!out->host) return 0;
    for (int32_t y = 0; y < out->dim[1].extent; y++) {
        for (int32_t x = 0; x < out->dim[0].extent; x++) {
            ((int32_t *)out->host)[x * out->dim[0].stride + y * out->dim[1].stride] =
                out->dim[0].stride * 1000 + out->dim[1].stride;
        }
    }
    return 0;
}

int peer_calls = 0;

/* out(x, y) = 10 * x + y, and counts its calls */
int peer_tens(buffer *out) {
    if (!out->host) return 0;
    peer_calls++;
    for (int32_t y = 0; y < out->dim[1].extent; y++) {
        for (int32_t x = 0; x < out->dim[0].extent; x++) {
            ((int32_t *)out->host)[x * out->dim[0].stride + y * out->dim[1].stride] =
                10 * (out->dim[0].min + x) + out->dim[1].min + y;
        }
    }
    return 0;
}

/* out(x) = the number that p points to; -1 where it points to none */
int peer_first(void *p, buffer *out) {
    for (int32_t x = 0; out->host && x < out->dim[0].extent; x++) ((int32_t *)out->host)[x] = p ? *(int32_t *)p : -1;
    return 0;
}

/* out(x) = k, whatever the context is */
int peer_in_context(const void *context, int32_t k, buffer *out) {
    (void)context;
    for (int32_t x = 0; out->host && x < out->dim[0].extent; x++) ((int32_t *)out->host)[x] = k;
    return 0;
}
"""


@cache
def _loaded() -> ctypes.CDLL:
    """The library with the C function, where both packages find it."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "stages.c", Path(folder) / "stages.so"
        source.write_text(_SOURCE, encoding="utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


def _tens(hl: Any) -> tuple[Any, ...]:
    """x, y, the stage, and a Func of two rows of it."""
    _loaded()
    x, y, e, f = hl.Var("x"), hl.Var("y"), hl.Func("e"), hl.Func("f")
    e.define_extern("peer_tens", [], hl.Int(32), [x, y])
    return x, y, e, f


def _counted(run: Callable[[], Any]) -> list[Any]:
    """The values of a run, and the calls that it made."""
    calls = ctypes.c_int.in_dll(_loaded(), "peer_calls")
    calls.value = 0
    return [run(), calls.value]


@pipeline
def extern_stage(hl: Any) -> Any:
    _loaded()
    x, g, e, f, k = hl.Var("x"), hl.Func("g"), hl.Func("e"), hl.Func("f"), hl.Param(hl.Int(32), "k", 7)
    g[x] = x * x
    e.define_extern("peer_box3", [hl.ExternFuncArgument(g), hl.ExternFuncArgument(k)], hl.Int(32), 1)
    f[x] = e[x] + e[x + 2]
    g.compute_root()
    e.compute_root()
    told = [e.is_extern(), e.extern_function_name(), e.defined(), e.type(), e.dimensions(), len(e.args())]
    return [told, f.realize([6])]


@pipeline
def extern_stage_as_output(hl: Any) -> Any:
    _loaded()
    x, g, e, image = hl.Var("x"), hl.Func("g"), hl.Func("e"), hl.ImageParam(hl.Int(32), 1, "image")
    g[x] = image[x] * 3
    g.compute_root()
    e.define_extern("peer_box3", [hl.ExternFuncArgument(g), hl.ExternFuncArgument(hl.Expr(1))], hl.Int(32), 1)
    data = hl.Buffer(np.arange(9, dtype=np.int32))
    data.set_min([-1])
    image.set(data)
    return e.realize([6])


@pipeline
def extern_arguments(hl: Any) -> Any:
    x, g = hl.Var("x"), hl.Func("g")
    g[x] = x
    given = [g, hl.Expr(3), hl.Buffer(hl.UInt(8), [2]), hl.ImageParam(hl.UInt(8), 1, "image"), 5]
    arguments = [hl.ExternFuncArgument(), *map(hl.ExternFuncArgument, given)]
    told = [[a.defined(), a.is_func(), a.is_expr(), a.is_buffer(), a.is_image_param()] for a in arguments]
    return [told, attempt(lambda: hl.ExternFuncArgument("text"))]


@pipeline
def extern_function_that_is_not_there(hl: Any) -> Any:
    e = hl.Func("e")
    e.define_extern("peer_has_no_such_function", [], hl.Int(32), 1)
    return attempt(lambda: e.realize([3]))


@pipeline
def extern_stage_of_two_values(hl: Any) -> Any:
    _loaded()
    x, g, e, f = hl.Var("x"), hl.Func("g"), hl.Func("e"), hl.Func("f")
    g[x] = x * x
    e.define_extern("peer_two", [hl.ExternFuncArgument(g)], [hl.Int(32), hl.Float(32)], 1)
    f[x] = hl.f32(e[x][0]) + e[x][1]
    g.compute_root()
    e.compute_root()
    return f.realize([6])


@pipeline
def extern_stage_of_two_values_as_output(hl: Any) -> Any:
    _loaded()
    x, g, e = hl.Var("x"), hl.Func("g"), hl.Func("e")
    g[x] = x * x
    e.define_extern("peer_two", [hl.ExternFuncArgument(g)], [hl.Int(32), hl.Float(32)], 1)
    g.compute_root()
    return list(e.realize([6]))


@pipeline
def extern_stage_with_memory_reordered(hl: Any) -> Any:
    _loaded()
    x, y, e, f = hl.Var("x"), hl.Var("y"), hl.Func("e"), hl.Func("f")
    e.define_extern("peer_strides", [], hl.Int(32), [x, y])
    f[x, y] = e[x, y]
    e.compute_root().reorder_storage(y, x)
    return f.realize([5, 3])


@pipeline
def extern_stage_after_its_outermost_place(hl: Any) -> Any:
    _loaded()
    x, g, e, f = hl.Var("x"), hl.Func("g"), hl.Func("e"), hl.Func("f")
    g[x] = x * x
    e.define_extern("peer_box3", [hl.ExternFuncArgument(g), hl.ExternFuncArgument(hl.Expr(1))], hl.Int(32), 1)
    f[x] = e[x]
    e.compute_root()
    g.compute_at(e, hl.Var.outermost())
    return f.realize([6])


@pipeline
def extern_stage_at_levels(hl: Any) -> Any:
    xo, xi, yo, yi = map(hl.Var, "xo xi yo yi".split())
    found = []
    for level in (None, "y", "xo", "yi", "fused"):
        x, y, e, f = _tens(hl)
        f[x, y] = e[x, y] + e[x, y + 1]
        if level == "y":
            e.compute_at(f, y)
        elif level is None:
            e.compute_root()
        else:
            f.tile(x, y, xo, yo, xi, yi, 4, 2).vectorize(xi)
            if level == "fused":
                f.fuse(xo, yo, xo)
            e.compute_at(f, yi if level == "yi" else xo)
        found.append(_counted(lambda f=f: f.realize([8, 6])))
    return found


@pipeline
def extern_stage_with_loops_of_its_own(hl: Any) -> Any:
    xo, xi, yo, yi = map(hl.Var, "xo xi yo yi".split())
    found = []
    for loops in (
        lambda e, x, y: e.serial(y), lambda e, x, y: e.tile(x, y, xo, yo, xi, yi, 4, 3),
        lambda e, x, y: e.tile(x, y, xo, yo, xi, yi, 4, 3).fuse(xo, yo, xo), lambda e, x, y: e.reorder(y, x).serial(x),
    ):  # fmt: skip
        x, y, e, _ = _tens(hl)
        loops(e, x, y)
        found.append(_counted(lambda e=e: e.realize([8, 6])))
    return found


@pipeline
def extern_stage_with_updates(hl: Any) -> Any:
    found = []
    for at_level in (False, True):
        x, y, e, f = _tens(hl)
        e[x, y] += x
        e[0, y] = e[1, y] - y
        e.update().vectorize(x, 4)
        f[x, y] = e[x, y] + e[x, y + 1]
        e.compute_at(f, y) if at_level else e.compute_root()
        found.append(_counted(lambda f=f: f.realize([8, 6])))
    return found


@pipeline
def extern_stage_that_others_stand_for(hl: Any) -> Any:
    found = []
    for make in (lambda e, f, y: e.in_(f).compute_at(f, y), lambda e, f, y: e.clone_in(f).compute_at(f, y)):
        x, y, e, f = _tens(hl)
        h = hl.Func("h")
        f[x, y] = e[x, y] + e[x, y + 1]
        h[x, y] = f[x, y] - e[x, y]
        e.compute_root()
        f.compute_root()
        make(e, f, y)
        found.append(_counted(lambda h=h: h.realize([8, 6])))
    return found


@pipeline
def extern_stage_in_a_factored_reduction(hl: Any) -> Any:
    x, _, e, f = _tens(hl)
    r = hl.RDom([(0, 6), (0, 5)])
    f[x] = 0
    f[x] += e[r.x, r.y] * x
    e.compute_root()
    f.update().rfactor(r.y, hl.Var("u")).compute_root()
    return _counted(lambda: f.realize([4]))


@pipeline
def extern_stage_with_a_pointer(hl: Any) -> Any:
    _loaded()
    p, e, number = hl.Param(hl.Handle(), "p"), hl.Func("e"), ctypes.c_int32(42)
    e.define_extern("peer_first", [hl.ExternFuncArgument(p)], hl.Int(32), 1)
    found = []
    for address in (ctypes.addressof(number), 0):
        p.set(address)
        found.append(e.realize([3]))
    return [str(p.type()), found]


@pipeline
def extern_stage_with_the_context(hl: Any) -> Any:
    _loaded()
    e = hl.Func("e")
    passed = [hl.ExternFuncArgument(hl.user_context_value()), hl.ExternFuncArgument(hl.Expr(7))]
    e.define_extern("peer_in_context", passed, hl.Int(32), 1)
    return e.realize([3])
