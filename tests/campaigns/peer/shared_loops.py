"""Loops of several stages in one, and Funcs that may be computed ahead: values, and what is refused.

In and out as in ``making``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.campaigns.peer.making import Listing, attempt

pipeline = Listing()

_SIZE = [13, 11]


def pair(hl: Any, updates: bool = False) -> tuple[Any, Any, Any, Any]:
    """``h`` reads ``f`` and ``g`` at different rows and columns; both read ``p``."""
    x, y = hl.Var("x"), hl.Var("y")
    p, f, g, h = (hl.Func(name) for name in "pfgh")
    p[x, y] = x * y + 3
    f[x, y] = p[x, y] + y
    g[x, y] = p[x, y + 2] - x
    if updates:
        f[x, y] += 1
        g[x, y] *= 2
    h[x, y] = f[x, y] + g[x + 1, y + 3]
    f.compute_root()
    g.compute_root()
    return p, f, g, h


def _made(hl: Any, schedule: Callable[..., object], updates: bool = False) -> Any:
    p, f, g, h = pair(hl, updates)
    p.compute_root()
    schedule(p, f, g, h, hl.Var("x"), hl.Var("y"))
    return h.realize(_SIZE)


def _strategies(hl: Any) -> list[Any]:
    s = hl.LoopAlignStrategy
    return [s.Auto, s.NoAlign, s.AlignStart, s.AlignEnd]


@pipeline
def shared_rows(hl: Any) -> Any:
    return [_made(hl, lambda _p, f, g, _h, _x, y, s=s: g.compute_with(hl.Stage(f), y, s)) for s in _strategies(hl)]


@pipeline
def shared_points(hl: Any) -> Any:
    return [_made(hl, lambda _p, f, g, _h, x, _y, s=s: g.compute_with(hl.Stage(f), x, s)) for s in _strategies(hl)]


@pipeline
def shared_loops_aligned_one_by_one(hl: Any) -> Any:
    pairs = [(s, t) for s in _strategies(hl) for t in _strategies(hl)]
    return [
        _made(hl, lambda _p, f, g, _h, x, y, s=s, t=t: g.compute_with(hl.Stage(f), x, [(x, s), (y, t)]))
        for s, t in pairs
    ]


@pipeline
def shared_loops_with_a_producer_in_them(hl: Any) -> Any:
    def at(p: Any, f: Any, g: Any, _h: Any, _x: Any, y: Any) -> None:
        p.compute_at(f, y)
        g.compute_with(hl.Stage(f), y)

    def sliding(p: Any, f: Any, g: Any, _h: Any, _x: Any, y: Any) -> None:
        p.store_root().compute_at(f, y)
        g.compute_with(hl.Stage(f), y)

    return [_made(hl, at), _made(hl, at, updates=False), _made(hl, sliding)]


@pipeline
def shared_loops_of_updates(hl: Any) -> Any:
    def both(_p: Any, f: Any, g: Any, _h: Any, x: Any, y: Any) -> None:
        g.compute_with(hl.Stage(f), y)
        g.update().compute_with(f.update(), x)

    def across(_p: Any, f: Any, g: Any, _h: Any, _x: Any, y: Any) -> None:
        g.compute_with(f.update(), y)

    def crossed(_p: Any, f: Any, g: Any, _h: Any, _x: Any, y: Any) -> None:
        g.compute_with(f.update(), y)
        g.update().compute_with(hl.Stage(f), y)

    return [_made(hl, both, True), _made(hl, across, True), attempt(lambda: _made(hl, crossed, True))]


@pipeline
def shared_loops_of_tiles(hl: Any) -> Any:
    def tiles(p: Any, f: Any, g: Any, _h: Any, x: Any, y: Any) -> None:
        xo, yo, xi, yi = (hl.Var(n) for n in ("xo", "yo", "xi", "yi"))
        for each in (f, g):
            each.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi, 4).parallel(yo)
        p.compute_at(f, xo)
        g.compute_with(hl.Stage(f), xo)

    return _made(hl, tiles)


@pipeline
def shared_loops_down_to_lanes(hl: Any) -> Any:
    def lanes(_p: Any, f: Any, g: Any, _h: Any, x: Any, _y: Any) -> None:
        xo, xi = hl.Var("xo"), hl.Var("xi")
        for each in (f, g):
            each.split(x, xo, xi, 4).vectorize(xi)
        g.compute_with(hl.Stage(f), xi, hl.LoopAlignStrategy.AlignEnd)

    return _made(hl, lanes)


@pipeline
def shared_loops_of_a_specialized_stage(hl: Any) -> Any:
    def made(tiled: bool) -> Any:
        def schedule(_p: Any, f: Any, g: Any, _h: Any, x: Any, y: Any) -> None:
            f.specialize(hl.Param(hl.Bool(), "tiled", tiled)).split(x, hl.Var("xo"), hl.Var("xi"), 7)
            g.compute_with(hl.Stage(f), y, hl.LoopAlignStrategy.AlignEnd)

        return _made(hl, schedule)

    return [made(True), made(False)]


@pipeline
def one_place_and_no_loop(hl: Any) -> Any:
    return _made(hl, lambda _p, f, g, _h, _x, _y: g.compute_with(hl.Stage(f), hl.Var.outermost()))


@pipeline
def levels_of_a_stage_that_joined(hl: Any) -> Any:
    x = hl.Var("x")
    p, f, g = (hl.Func(name) for name in "pfg")
    p[x] = x + 2
    f[x] = x * 3
    g[x] = p[x] - 1
    p.compute_at(g, x)
    g.compute_with(hl.Stage(f), x)
    return hl.Pipeline([f, g]).realize([8])


@pipeline
def places_of_outputs(hl: Any) -> Any:
    x = hl.Var("x")
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * x
    g[x] = f[x] + f[x + 1]
    f.compute_at(g, x)
    return [f.realize([6]), hl.Pipeline([f, g]).realize([6])]


@pipeline
def shared_loops_in_a_consumer_s_rows(hl: Any) -> Any:
    def rows(_p: Any, f: Any, g: Any, h: Any, x: Any, y: Any) -> None:
        f.store_root().compute_at(h, y)
        g.store_root().compute_at(h, y)
        g.compute_with(hl.Stage(f), x)

    return _made(hl, rows)


@pipeline
def shared_loops_of_three(hl: Any) -> Any:
    def made(first: str, second: str) -> Any:
        x, y = hl.Var("x"), hl.Var("y")
        funcs = [hl.Func(f"f{i}") for i in range(3)]
        for i, f in enumerate(funcs):
            f[x, y] = x * (i + 1) + y * y
            f.compute_root()
        h = hl.Func("h")
        h[x, y] = funcs[0][x, y] + funcs[1][x + 2, y - 1] * funcs[2][x - 1, y + 4]
        of = {"x": x, "y": y}
        funcs[1].compute_with(hl.Stage(funcs[0]), of[first])
        funcs[2].compute_with(hl.Stage(funcs[1]), of[second])
        return h.realize([12, 5])

    return [made("x", "x"), made("y", "y"), made("x", "y")]


@pipeline
def shared_loops_of_outputs(hl: Any) -> Any:
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = x + y
    g[x, y] = x - y
    g.compute_with(hl.Stage(f), y)
    one, two = hl.Buffer(hl.Int(32), [7, 3]), hl.Buffer(hl.Int(32), [4, 9])
    two.set_min([-2, 5])
    hl.Pipeline([f, g]).realize([one, two])
    return [one, two]


@pipeline
def shared_loops_of_reductions(hl: Any) -> Any:
    x, f, g, h = hl.Var("x"), hl.Func("f"), hl.Func("g"), hl.Func("h")
    r, s = hl.RDom([(0, 5), (0, 2)], "r"), hl.RDom([(0, 5), (0, 3)], "s")
    f[x] = 0
    g[x] = 1
    f[x] += r.x * x + r.y
    g[x] += s.x * s.y - x
    h[x] = f[x] - g[x + 1]
    f.compute_root()
    g.compute_root()
    g.update().compute_with(f.update(), x)
    return h.realize([6])


@pipeline
def shared_loops_that_are_refused(hl: Any) -> Any:
    return attempt(
        lambda: _made(hl, lambda p, f, _g, _h, _x, y: f.compute_with(hl.Stage(p), y)),
        lambda: _made(hl, lambda _p, f, g, _h, _x, y: (f.parallel(y), g.compute_with(hl.Stage(f), y))),
        lambda: _made(hl, lambda _p, f, g, h, _x, y: (g.compute_at(h, y), g.compute_with(hl.Stage(f), y))),
        lambda: _made(hl, lambda _p, f, g, _h, _x, y: (g.compute_inline(), g.compute_with(hl.Stage(f), y))),
        lambda: _made(hl, lambda _p, f, _g, _h, _x, y: f.update().compute_with(hl.Stage(f), y), updates=True),
    )


def _slid(of: Any, h: Any, y: Any) -> Any:
    return of.store_root().compute_at(h, y).async_()


@pipeline
def funcs_computed_ahead(hl: Any) -> Any:
    return [
        _made(hl, lambda p, f, g, _h, _x, _y: (p.async_(), f.async_(), g.async_())),
        _made(hl, lambda _p, f, _g, h, x, y: f.compute_at(h, x).hoist_storage(h, y).ring_buffer(2).async_()),
        _made(hl, lambda _p, _f, g, h, _x, y: _slid(g, h, y).fold_storage(y, 4)),
        _made(hl, lambda _p, f, g, h, _x, y: (_slid(f, h, y), _slid(g, h, y).fold_storage(y, 2))),
    ]


@pipeline
def funcs_computed_ahead_beside_others_at_the_root(hl: Any) -> Any:
    return [
        _made(hl, lambda _p, f, _g, h, _x, y: _slid(f, h, y)),
        _made(hl, lambda _p, f, _g, h, _x, y: _slid(f, h, y).vectorize(hl.Var("x"), 4)),
        _made(hl, lambda _p, f, _g, h, _x, y: f.compute_at(h, y).hoist_storage_root().ring_buffer(3).async_()),
    ]


@pipeline
def funcs_computed_ahead_of_others_that_are(hl: Any) -> Any:
    return [
        _made(hl, lambda p, f, _g, _h, _x, y: (p.compute_at(f, y).async_(), f.async_())),
        _made(hl, lambda p, f, g, h, _x, y: (p.async_(), f.compute_at(h, y).async_(), g.compute_at(h, y).async_())),
    ]
