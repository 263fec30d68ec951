"""Funcs of several values: definitions, updates, schedules, buffers, errors, and the places of extremes.

In and out as in ``making``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing, attempt

pipeline = Listing()


@pipeline
def tuple_valued(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.Tuple((x * 2, hl.f32(x) / 2))
    g[x] = f[x][0] + 1
    return [f.realize([4]), f.outputs(), f.types(), g.realize([4]), f[x].size(), len(f[x])]


@pipeline
def tuple_update(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 5)])
    f[x] = (0, -1)
    f[x] = (f[x][0] + r.x * x, hl.max(f[x][1], r.x - x))
    return f.realize([4])


@pipeline
def tuple_exchange(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 3)])
    f[x] = (x, hl.f32(x) / 2, hl.u8(x * 7))
    f[r.x] = (hl.i32(f[r.x][2]), hl.f32(f[r.x][0]), hl.u8(f[r.x][1]))
    f[x] = (f[x][0] + 1, f[x][1], f[x][2])
    return [f.realize([5]), len(f.update_values(1)), len(f.values())]


@pipeline
def tuple_scheduled(hl: Any) -> Any:
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = (x * y, x - y)
    f[x, y] = (f[x, y][1], f[x, y][0])
    g[x, y] = f[x, y][0] * 3 + f[x + 1, y][1]
    g.vectorize(x, 4).parallel(y)
    f.compute_at(g, y).vectorize(x, 4)
    f.update(0).vectorize(x, 4)
    return g.realize([8, 6])


@pipeline
def tuple_of_another_func(hl: Any) -> Any:
    x, f, g, h = hl.Var("x"), hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x] = (x, hl.f32(x))
    g[x] = f[x + 1]
    h[x] = hl.select(x > 1, (x, 1), (-x, 2))
    return [g.realize([4]), g.types(), h.realize([4]), hl.Pipeline([h, f]).realize([3])]


@pipeline
def tuple_buffers(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = (hl.u8(x), hl.f32(x) / 4)
    a, b, c = hl.Buffer(hl.UInt(8), [4]), hl.Buffer(hl.Float(32), [4]), hl.Buffer(hl.Float(32), [5])
    f.realize([a, b])
    called = [np.zeros(6, np.uint8), np.zeros(6, np.float32)]
    f.compile_to_callable([])(*called)
    kinds = [(o.type(), o.dimensions()) for o in f.output_buffers()]
    return [a, b, called, [list(k) for k in kinds], attempt(lambda: f.realize([a, c]), lambda: f.realize(a))]


@pipeline
def tuple_errors(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = (x, hl.f32(x))

    def put(at: Any, value: Any) -> None:
        f[at] = value

    return attempt(
        lambda: put((x,), x),
        lambda: put((x,), (x,)),
        lambda: put((x,), (x, x)),
        lambda: put((x,), (x, hl.f32(x), x)),
        lambda: f[x] + 1,
        lambda: f[x][2],
        lambda: f[x][-1],
        lambda: hl.sqrt(f[x]) + 1,
        lambda: [f.type()],
        lambda: [f.value()],
        lambda: [f.output_buffer()],
        lambda: hl.Tuple(()),
        lambda: g[x][0],
        lambda: hl.select(x > 1, (x, x), (x, x, x)),
    )


@pipeline
def places_of_extremes(hl: Any) -> Any:
    x, f, g, h = hl.Var("x"), hl.Func("f"), hl.Func("g"), hl.Func("h")
    r = hl.RDom([(-1, 4), (2, 3)])
    f[x] = hl.argmin(r, hl.i16((r.x * 5 + r.y * 3 + x) % 7))
    g[x] = hl.argmax(hl.f32(r.x * r.y) - x, "named")
    r.where(r.x < 0)
    h[x] = hl.argmax(r, r.x + x)
    return [f.realize([4]), f.types(), g.realize([3]), g.outputs()]


@pipeline
def borders_of_tuples(hl: Any) -> Any:
    x, y, borders = hl.Var("x"), hl.Var("y"), hl.BoundaryConditions
    found = []
    for make in (borders.repeat_edge, borders.repeat_image, borders.mirror_image, borders.mirror_interior):
        f, g = hl.Func("f"), hl.Func("g")
        f[x, y] = hl.Tuple((x * 10 + y, hl.f32(x) - y))
        padded = make(f, [(1, 4), (0, 3)])
        g[x, y] = hl.Tuple((padded[x - 3, y - 2][0], padded[x - 3, y - 2][1] * 2))
        found.append(g.realize([11, 9]))
    return found
