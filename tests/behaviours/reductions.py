"""Documented behaviours of reductions, their domains, and what is made of them in lanes and threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.behaviours.funcs import plain
from tests.behaviours.values import Shown

N = 8


def _table(hl: Any, values: list[int]) -> Any:
    return hl.Buffer(np.array(values, np.int32))


def domains_are_triangles(hl: Any) -> Shown:
    """A condition between two coordinates of a domain."""
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(0, N), (0, N)])
    r.where(r.x < r.y)
    f[x, y] = 0
    f[r.x, r.y] += 1
    return [(plain(f.realize([N, N])), [[int(i < j) for i in range(N)] for j in range(N)])]


def domains_are_circles(hl: Any) -> Shown:
    """A condition that is no half plane."""
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(0, N), (0, N)])
    r.where(r.x * r.x + r.y * r.y < 30)
    f[x, y] = 0
    f[r.x, r.y] = 1
    return [(plain(f.realize([N, N])), [[int(i * i + j * j < 30) for i in range(N)] for j in range(N)])]


def domains_have_several_conditions(hl: Any) -> Shown:
    """Conditions add up; they may know pure variables."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, N), (0, N)])
    r.where(r.x < 5)
    r.where(r.y < x)
    f[x] = 0
    f[x] += r.y
    return [(plain(f.realize([N])), [5 * sum(range(k)) for k in range(N)])]


def conditions_read_params(hl: Any) -> Shown:
    """A domain may be cut by a Param."""
    f, r, p = hl.Func(), hl.RDom([(0, 100)]), hl.Param(hl.Int(32))
    r.where(r * 2 < p * 7)
    f[()] = 0
    f[()] += r
    p.set(3)
    return [(plain(f.realize([])), sum(range(11)))]


def conditions_read_funcs(hl: Any) -> Shown:
    """A domain may be cut by another Func's values."""
    x, f, g, r = hl.Var("x"), hl.Func(), hl.Func(), hl.RDom([(0, 20)])
    g[x] = x % 3 == 0
    g.compute_root()
    r.where(g[r])
    f[()] = 0
    f[()] += r
    return [(plain(f.realize([])), sum(range(0, 20, 3)))]


def conditions_read_inputs(hl: Any) -> Shown:
    """A domain may be cut by an input."""
    x, f, r, data = hl.Var("x"), hl.Func(), hl.RDom([(0, 6)]), _table(hl, [1, 0, 2, 1, 1, 0])
    r.where(data[r] == 1)
    f[x] = 0
    f[r] = 9
    return [(plain(f.realize([6])), [9, 0, 0, 9, 9, 0])]


def conditional_updates_in_lanes(hl: Any) -> Shown:
    """Lanes outside the condition store nothing."""
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(0, 30), (0, 5)])
    r.where(r.x + r.y < 30)
    f[x, y] = 10
    f[r.x, r.y] = f[r.x, r.y] + r.x
    f.update().vectorize(r.x, 8)
    wanted = [[10 + i if i + j < 30 else 10 for i in range(30)] for j in range(5)]
    return [(plain(f.realize([30, 5])), wanted)]


def extents_come_from_params(hl: Any) -> Shown:
    """The size of a domain may be computed from a Param."""
    f, p = hl.Func(), hl.Param(hl.Int(32))
    r = hl.RDom([(0, hl.min(p * 2, 20))])
    f[()] = 0
    f[()] += r
    shown = []
    for each in (5, 50):
        p.set(each)
        shown.append((plain(f.realize([])), sum(range(min(2 * each, 20)))))
    return shown


def extents_come_from_inputs(hl: Any) -> Shown:
    """A domain may be as wide as an input."""
    f, image = hl.Func(), hl.ImageParam(hl.Int(32), 1)
    f[()] = 0
    f[()] += image[hl.RDom([(0, image.width())])]
    shown = []
    for n in (3, 7):
        image.set(_table(hl, list(range(n))))
        shown.append((plain(f.realize([])), sum(range(n))))
    return shown


def scans_go_along_both_dimensions(hl: Any) -> Shown:
    """Two updates sum along x, then along y; each is parallel across its rows."""
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(1, N - 1)])
    f[x, y] = 1
    f[r, y] += f[r - 1, y]
    f[x, r] += f[x, r - 1]
    f.update(0).parallel(y)
    f.update(1).parallel(x)
    return [(plain(f.realize([N, N])), [[(i + 1) * (j + 1) for i in range(N)] for j in range(N)])]


def scans_of_tuples(hl: Any) -> Shown:
    """Components read each other's values of the step before."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(1, 4)])
    f[x] = (x, -x)
    f[r] = (f[r - 1][1] + 1, f[r - 1][0] - 1)
    return [(plain(f.realize([5])), [[0, 1, 0, 1, 0], [0, -1, 0, -1, 0]])]


def parts_of_tuples_are_updated(hl: Any) -> Shown:
    """``undef`` in a component leaves that component."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = (x, 2 * x)
    f[2] = (77, hl.undef(hl.Int(32)))
    return [(plain(f.realize([4])), [[0, 1, 77, 3], [0, 2, 4, 6]])]


def scans_in_place(hl: Any) -> Shown:
    """An output's own values are scanned where they stand."""
    x, f, r, data = hl.Var("x"), hl.Func(), hl.RDom([(1, 4)]), _table(hl, [1, 2, 3, 4, 5])
    f[x] = hl.undef(hl.Int(32))
    f[r] += f[r - 1]
    f.realize(data)
    return [(plain(data), [1, 3, 6, 10, 15])]


def fibonacci_without_first_values(hl: Any) -> Shown:
    """Values that are undefined at first may be defined by updates."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, 8)])
    f[x] = hl.undef(hl.Int(32))
    f[0] = 0
    f[1] = 1
    f[r + 2] = f[r] + f[r + 1]
    return [(plain(f.realize([10])), [0, 1, 1, 2, 3, 5, 8, 13, 21, 34])]


def values_are_kept_by_condition(hl: Any) -> Shown:
    """``select(c, v, undef)`` changes the points where ``c`` holds."""
    x, f, data = hl.Var("x"), hl.Func(), _table(hl, list(range(10)))
    f[x] = hl.select(x % 2 == 0, x * 100, hl.undef(hl.Int(32)))
    f.vectorize(x, 4)
    f.realize(data)
    return [(plain(data), [k * 100 if k % 2 == 0 else k for k in range(10)])]


def loops_of_a_sum_trade_places(hl: Any) -> Shown:
    """The loops of a sum may be in any order, pure ones among them."""
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(0, 3), (0, 4), (0, 2)])
    f[x, y] = 0
    f[x, y] += r.x + r.y * r.z
    f.update().reorder(r.z, x, r.y, r.x, y)
    return [(plain(f.realize([2, 2])), [[24 + 18] * 2] * 2)]


def loops_of_a_recurrence_do_not(hl: Any) -> Shown:
    """It is an error to reorder where the answer could change."""
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(1, N), (1, N)])
    f[x, y] = x + y
    f[r.x, r.y] = f[r.x - 1, r.y + 1] * 3
    try:
        f.update().reorder(r.y, r.x)
        f.realize([N, N])
    except hl.HalideError:
        return [(True, True)]
    return [(False, True)]


def dot_products_in_lanes(hl: Any) -> Shown:
    """Products of narrow numbers, widened and summed in one vector."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, 16)])
    a = hl.Buffer((np.arange(64) * 5 % 127 - 60).astype(np.int8))
    f[x] = 0
    f[x] += hl.i32(hl.i16(a[16 * x + r]) * hl.i16(a[r]))
    f.update().atomic().vectorize(r)
    v = np.asarray(a).astype(int)
    return [(plain(f.realize([4])), [int((v[16 * k : 16 * k + 16] * v[:16]).sum()) for k in range(4)])]


def all_and_any_in_lanes(hl: Any) -> Shown:
    """Truth values are combined in lanes."""
    f, g, r, data = hl.Func(), hl.Func(), hl.RDom([(0, 16)]), _table(hl, [k * 7 % 5 for k in range(16)])
    f[()] = hl.cast(hl.Bool(), True)
    f[()] = f[()] & (data[r] < 5)
    g[()] = hl.cast(hl.Bool(), False)
    g[()] = g[()] | (data[r] == 9)
    for each in (f, g):
        each.update().atomic().vectorize(r, 8)
    return [(bool(f.realize([])[()]), True), (bool(g.realize([])[()]), False)]


def places_of_minima_are_factored(hl: Any) -> Shown:
    """``rfactor`` of a minimum and its place."""
    u, f, r = hl.Var("u"), hl.Func(), hl.RDom([(0, 64)])
    data = _table(hl, [k * 37 % 64 + 3 for k in range(5, 69)])
    f[()] = (hl.i32(255), hl.i32(0))
    less = data[r] < f[()][0]
    f[()] = (hl.select(less, data[r], f[()][0]), hl.select(less, r, f[()][1]))
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    f.update().split(r, ro, ri, 8)
    f.update().rfactor(ro, u).compute_root().update().parallel(u)
    return [(plain(f.realize([])), [3, 59])]


def products_of_complex_numbers_are_factored(hl: Any) -> Shown:
    """``rfactor`` of a product of complex numbers."""
    u, f, r = hl.Var("u"), hl.Func(), hl.RDom([(0, 8)])
    re, im = _table(hl, [k % 3 + 1 for k in range(8)]), _table(hl, [k % 2 for k in range(8)])
    f[()] = (1, 0)
    a = f[()]
    f[()] = (a[0] * re[r] - a[1] * im[r], a[0] * im[r] + a[1] * re[r])
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    f.update().split(r, ro, ri, 4)
    f.update().rfactor(ro, u).compute_root()
    wanted = complex(1)
    for k in range(8):
        wanted *= complex(k % 3 + 1, k % 2)
    return [(plain(f.realize([])), [int(wanted.real), int(wanted.imag)])]


def histograms_are_factored(hl: Any) -> Shown:
    """Partial histograms of rows, in threads, summed in lanes."""
    x, u, h, r = hl.Var("x"), hl.Var("u"), hl.Func(), hl.RDom([(0, 16), (0, 8)])
    data = np.arange(128).reshape(8, 16) * 31 % 13
    given = hl.Buffer(data.astype(np.uint8))
    h[x] = 0
    h[hl.clamp(hl.i32(given[r.x, r.y]), 0, 15)] += 1
    part = h.update().rfactor(r.y, u).compute_root()
    part.update().parallel(u)
    h.update().vectorize(x, 4)
    return [(plain(h.realize([16])), np.bincount(data.ravel(), minlength=16).tolist())]


def reductions_are_unrolled(hl: Any) -> Shown:
    """A reduction of known size is unrolled, its producer computed inside."""
    x, f, g, r = hl.Var("x"), hl.Func(), hl.Func(), hl.RDom([(0, 4)])
    g[x] = x
    f[x] = 0
    f[x] += g[4 * x + r]
    f.update().unroll(r)
    g.compute_at(f, r)
    return [(plain(f.realize([4])), [16 * k + 6 for k in range(4)])]


def matrices_are_multiplied_in_tiles(hl: Any) -> Shown:
    """A product of matrices in tiles of an output's wrapper."""
    x, y, xi, yi, ix, iy = (hl.Var(n) for n in "x y xi yi ix iy".split())
    a, b = np.arange(256).reshape(16, 16) % 7, np.arange(256).reshape(16, 16) % 5
    left, right = hl.Buffer(a.astype(np.int32)), hl.Buffer(b.astype(np.int32))
    product, out, r = hl.Func(), hl.Func(), hl.RDom([(0, 16)])
    product[x, y] = 0
    product[x, y] += left[r, y] * right[x, r]
    out[x, y] = product[x, y]
    out.tile(x, y, ix, iy, 8, 8)
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    stage = product.compute_at(out, x).update()
    stage.tile(x, y, xi, yi, 4, 4).split(r, ro, ri, 8).reorder(xi, yi, ri, x, y, ro).vectorize(xi).unroll(yi)
    return [(plain(out.realize([16, 16])), (a @ b).tolist())]


def streams_are_compacted(hl: Any) -> Shown:
    """A prefix sum says where each value that is kept goes."""
    x, place, out = hl.Var("x"), hl.Func(), hl.Func()
    data = _table(hl, [5, 1, 7, 2, 8, 3])
    r = hl.RDom([(1, 6)])
    place[x] = 0
    place[r] = place[r - 1] + hl.select(data[r - 1] > 2, 1, 0)
    place.compute_root()
    kept = hl.RDom([(0, 6)])
    kept.where(data[kept] > 2)
    out[x] = 0
    out[hl.clamp(place[kept], 0, 5)] = data[kept]
    return [(plain(out.realize([6])), [5, 7, 8, 3, 0, 0])]


def points_are_exchanged_at_once(hl: Any) -> Shown:
    """An update of several points reads all that it reads before it writes."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = x
    f[hl.scatter([0, 3])] = hl.gather([f[3], f[0]])
    return [(plain(f.realize([6])), [3, 1, 2, 0, 4, 5])]


def neighbours_are_sorted_at_once(hl: Any) -> Shown:
    """A bubble sort, whose step writes two points."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, 9), (0, 9)])
    f[x] = (7 * x) % 10
    r.where(r.x < 9 - r.y)
    f[hl.scatter([r.x, r.x + 1])] = hl.gather([hl.min(f[r.x], f[r.x + 1]), hl.max(f[r.x], f[r.x + 1])])
    return [(plain(f.realize([10])), list(range(10)))]


def lists_are_part_of_formulas(hl: Any) -> Shown:
    """Lists of coordinates and of values may be computed with."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = x
    f[hl.scatter([0, 1]) + 1] = hl.gather([1, 2]) + hl.gather([5, 7])
    return [(plain(f.realize([6])), [0, 6, 9, 3, 4, 5])]


def of_values_for_one_point_the_last_stays(hl: Any) -> Shown:
    """Points that are listed twice have what comes last; each value is of what was there before."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = x
    f[hl.scatter([0, 0])] += hl.gather([10, 20])
    return [(plain(f.realize([4])), [20, 1, 2, 3])]
