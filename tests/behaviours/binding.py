"""Documented behaviours of the objects of Halide's Python module: Buffers, targets, domains, references, Callables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.behaviours.values import Shown


def _raises(kind: type[Exception], call: Any) -> bool:
    try:
        call()
    except kind:
        return True
    return False


def _extents(buffer: Any) -> list[int]:
    return [buffer.dim(i).extent() for i in range(buffer.dimensions())]


def orders_say_where_dimensions_go(hl: Any) -> Shown:
    """transposed([2, 0, 1]) makes dimension 0 the last one, and 1 the first."""
    b = hl.Buffer(np.arange(24, dtype=np.int32).reshape(4, 2, 3))
    t = b.transposed([2, 0, 1])
    return [(_extents(b), [3, 2, 4]), (_extents(t), [2, 4, 3]), (t[1, 3, 2], b[2, 1, 3])]


def storage_has_an_order(hl: Any) -> Shown:
    """The third argument says which dimension is dense, which comes next, and so on."""
    b = hl.Buffer(hl.UInt(8), [7, 5, 3], [2, 0, 1])
    return [([b.dim(i).stride() for i in range(3)], [3, 21, 1])]


def axes_may_stay_as_they_are(hl: Any) -> Shown:
    """reverse_axes=False keeps numpy's order of dimensions."""
    b = hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3), "b", reverse_axes=False)
    return [(_extents(b), [2, 3]), (b[1, 2], 5)]


def smaller_buffers_are_copied_into_larger(hl: Any) -> Shown:
    """copy_from copies where both have points."""
    a, b = hl.Buffer(hl.Int(32), [4]), hl.Buffer(hl.Int(32), [2])
    a.fill(1), b.fill(7), b.set_min([1])
    a.copy_from(b)
    return [(list(a), [1, 7, 7, 1])]


def scalars_are_buffers(hl: Any) -> Shown:
    """A Buffer of no dimensions has one element."""
    b = hl.Buffer.make_scalar(hl.Float(32))
    b[()] = 2.5
    return [(b.dimensions(), 0), (b[()], 2.5)]


def domains_have_no_negative_index(hl: Any) -> Shown:
    """r[-1] and r[2] of two dimensions are KeyErrors."""
    r = hl.RDom([(0, 3), (0, 4)])
    return [([_raises(KeyError, lambda i=i: r[i]) for i in (-1, 0, 1, 2)], [True, False, False, True])]


def expressions_are_neither_true_nor_false(hl: Any) -> Shown:
    """and, or and not ask whether an expression is true: a ValueError."""
    x = hl.Var("x")
    calls = (lambda: (x == 0) and (x == 1), lambda: not x > 0, lambda: bool(x > 0))
    return [([_raises(ValueError, call) for call in calls], [True] * 3)]


def sums_of_oneself_define(hl: Any) -> Shown:
    """f[x] = f[x] + 1 of an undefined Func is what f[x] += 1 is."""
    x, found = hl.Var("x"), []
    for change in (lambda v: v + 1, lambda v: v - 2, lambda v: v * 3, lambda v: v / 2.0):
        f = hl.Func("f")
        f[x] = change(f[x])
        found.append(list(f.realize([2])))
    return [(found, [[1, 1], [-2, -2], [3, 3], [0.5, 0.5]])]


def sums_are_written_once(hl: Any) -> Shown:
    """An f[x] + 1 from before f was defined can't define it twice, nor another Func."""
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    point = f[x]
    point += 1
    f[x] = point

    def again() -> None:
        f[x] = point

    def elsewhere() -> None:
        g[x] = point

    return [(_raises(hl.HalideError, again), True), (_raises(hl.HalideError, elsewhere), True)]


def tuples_are_chosen_by_one_kind_of_condition(hl: Any) -> Shown:
    """Conditions of select() of Tuples are all Exprs, or all Tuples."""
    x, y = hl.Var("x"), hl.Var("y")
    mixed = lambda: hl.select((x < 3, y < 3), (x, y), x < 5, (x, y), (1, 2))  # noqa: E731
    f = hl.Func()
    f[x, y] = hl.select((x < 1, y < 1), (x, y), (7, 8))
    a, b = f.realize([2, 2])
    return [(_raises(hl.HalideError, mixed), True), ((a[0, 1], b[0, 1], a[1, 0], b[1, 0]), (0, 8, 7, 0))]


def outputs_are_asked_for_their_constraints(hl: Any) -> Shown:
    """infer_input_bounds of a bounds query writes the region that constraints make of it."""
    x, source, f = hl.Var("x"), hl.ImageParam(hl.Int(32), 1), hl.Func()
    f[x] = source[x] + source[x + 1]
    extent = f.output_buffer().dim(0).extent()
    f.output_buffer().dim(0).set_bounds(0, hl.select(extent < 12, extent + 1, extent))
    query = hl.Buffer.make_bounds_query(hl.Int(32), [5])
    f.infer_input_bounds(query)
    return [(query.dim(0).extent(), 12), (source.get().dim(0).extent(), 13)]


def inputs_hold_what_rounded_loops_read(hl: Any) -> Shown:
    """Sizes are rounded up as the schedule does before inputs are inferred."""
    x, xo, xi = hl.Var("x"), hl.Var("xo"), hl.Var("xi")
    source, f = hl.ImageParam(hl.Int(32), 1), hl.Func()
    f[x] = source[x]
    f.split(x, xo, xi, 4, hl.TailStrategy.RoundUp)
    f.infer_input_bounds([10])
    return [(source.get().dim(0).extent(), 12)]


def magnitudes_have_bounds(hl: Any) -> Shown:
    """An input that is read at |x - 5| is as large as that is; so with counts of bits."""
    x, found = hl.Var("x"), []
    for e in (hl.i32(hl.abs(x - 5)), hl.i32(hl.popcount(hl.u8(x))), hl.i32(hl.count_leading_zeros(hl.u16(x)))):
        source, f = hl.ImageParam(hl.Int(32), 1), hl.Func()
        f[x] = source[e]
        f.infer_input_bounds([10])
        found.append((source.get().dim(0).min(), source.get().dim(0).extent()))
    return [(found, [(0, 6), (0, 9), (0, 17)])]


def targets_change_their_features(hl: Any) -> Shown:
    """set_feature changes a Target, with_feature makes another; features are no texts."""
    t = hl.Target("x86-64-linux")
    t.set_feature(hl.TargetFeature.AVX)
    with_fma = t.with_feature(hl.TargetFeature.FMA)
    text = lambda: hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 32, ["avx"])  # noqa: E731
    return [
        (t.to_string(), "x86-64-linux-avx"),
        (with_fma.to_string(), "x86-64-linux-avx-fma"),
        (_raises(TypeError, text), True),
    ]


def metal_has_no_doubles(hl: Any) -> Shown:
    """supports_type knows what a device lacks."""
    plain, metal = hl.Target("x86-64-osx"), hl.Target("x86-64-osx-metal")
    found = [t.supports_type(hl.Float(64)) for t in (plain, metal)]
    return [(found, [True, False]), (plain.supports_type(hl.Float(64), hl.DeviceAPI.Metal), False)]


def callables_take_names(hl: Any) -> Shown:
    """Arguments go by position and by name; what is missing, twice or unknown is an error."""
    x, source, p, f = hl.Var("x"), hl.ImageParam(hl.Int(32), 1, "source"), hl.Param(hl.Int(32), "p"), hl.Func("f")
    f[x] = source[x] + p
    c = f.compile_to_callable([source, p])
    given, out = hl.Buffer(np.arange(3, dtype=np.int32)), hl.Buffer(hl.Int(32), [3])
    c(given, f=out, p=9)
    wrong = (lambda: c(given), lambda: c(given, 1, source=given, f=out), lambda: c(source=given, p=1, q=out))
    return [(list(out), [9, 10, 11]), ([_raises(hl.HalideError, call) for call in wrong], [True] * 3)]


def hoisted_memory_needs_a_place(hl: Any) -> Shown:
    """hoist_storage of an inlined Func is an error: it has no memory."""
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = x
    g[x, y] = f[x, y]
    f.hoist_storage_root()
    return [(_raises(hl.HalideError, lambda: g.realize([4, 4])), True)]
