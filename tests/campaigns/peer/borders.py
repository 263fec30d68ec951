"""Boundary conditions under every tail of every kind of loop, and conditions that leave work undone.

In and out as in ``making``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.campaigns.peer.making import Listing, PipelineCase, picture

pipeline = Listing()

_CONDITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "repeat_edge": lambda hl, b: hl.BoundaryConditions.repeat_edge(b),
    "repeat_image": lambda hl, b: hl.BoundaryConditions.repeat_image(b, [(0, 9), (0, 7)]),
    "mirror_image": lambda hl, b: hl.BoundaryConditions.mirror_image(b),
    "mirror_interior": lambda hl, b: hl.BoundaryConditions.mirror_interior(b),
    "constant_exterior": lambda hl, b: hl.BoundaryConditions.constant_exterior(b, 77),
}
_TAILS = ("Auto", "GuardWithIf", "ShiftInwards", "RoundUp", "Predicate", "PredicateLoads", "PredicateStores")
_LOOPS: dict[str, Callable[[Any, Any, Any, Any, Any, Any], object]] = {
    "vectors": lambda _hl, f, x, _xi, _y, tail: f.vectorize(x, 8, tail),
    "unrolled": lambda _hl, f, x, _xi, _y, tail: f.unroll(x, 4, tail),
    "rows": lambda hl, f, _x, xi, y, tail: f.split(y, y, xi, 4, tail).parallel(y),
}


def _case(border: str, tail: str, loops: str) -> PipelineCase:
    def made(hl: Any) -> Any:
        x, y, xi = hl.Var("x"), hl.Var("y"), hl.Var("xi")
        padded = _CONDITIONS[border](hl, hl.Buffer(picture(9, 7)))
        f = hl.Func("f")
        f[x, y] = hl.u16(padded[x - 2, y]) + padded[x + 1, y - 3] * 2
        _LOOPS[loops](hl, f, x, xi, y, getattr(hl.TailStrategy, tail))
        return f.realize([13, 11])

    made.__name__ = f"border_{border}_{tail}_{loops}"
    return made


for _border in _CONDITIONS:
    for _tail in _TAILS:
        for _loops in _LOOPS:
            pipeline(_case(_border, _tail, _loops))


_PLACES: dict[str, Callable[[Any, Any, Any, Any, Any], object]] = {
    "at_the_root": lambda _x, _y, f, g, _o: (f.compute_root(), g.compute_root()),
    "in_rows": lambda _x, y, f, g, o: (f.compute_at(o, y), g.compute_at(o, y)),
    "sliding": lambda _x, y, f, g, o: (f.compute_root(), g.store_root().compute_at(o, y)),
    "kept": lambda _x, y, f, g, o: (f.store_root().compute_at(o, y), g.store_root().compute_at(o, y)),
    "in_lanes": lambda x, _y, f, g, o: (f.compute_root().vectorize(x, 4), g.compute_root(), o.vectorize(x, 8)),
}


def _skipped(name: str) -> PipelineCase:
    def made(hl: Any) -> Any:
        x, y, p = hl.Var("x"), hl.Var("y"), hl.Param(hl.Int(32), "p")
        f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
        f[x, y] = x * 3 + y
        f[x, y] += 1
        g[x, y] = f[x, y] + f[x, y + 1]
        o[x, y] = hl.select(p > 0, g[x, y], hl.select(p < -3, f[x, y], x - y))
        _PLACES[name](x, y, f, g, o)
        found = []
        for value in (1, 0, -5):
            p.set(value)
            found.append(o.realize([9, 7]))
        return found

    made.__name__ = f"skipped_{name}"
    return made


for _name in _PLACES:
    pipeline(_skipped(_name))
