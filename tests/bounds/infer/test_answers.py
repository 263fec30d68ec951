"""Exact answers of bounds inference: closed forms for known shapes, and by brute force for random pipelines."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halide_core as hl
from halide_core import TailStrategy
from halide_core.reference import evaluate
from tests.support.answered import Box, Numbers, cpu, mem, needed, output_regions, region
from tests.support.dumps import histogram, tiled_blur

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))


def root(name: str = "g") -> hl.Func:
    """``g[x] = x*3``, computed at the root."""
    g = hl.Func(name)
    g[x] = x * 3
    return g.compute_root()


def of(e: hl.Expr) -> hl.Func:
    """``f[x] = e``."""
    f = hl.Func("f")
    f[x] = e
    return f


# -- one access


@pytest.mark.parametrize(
    ("taps", "expected"),
    [
        ([0], "(f.min.0, f.extent.0)"),
        ([-1, 0, 1], "(f.min.0 - 1, f.extent.0 + 2)"),
        ([-2, 5], "(f.min.0 - 2, f.extent.0 + 7)"),
        ([3], "(f.min.0 + 3, f.extent.0)"),
    ],
)
def test_stencil(taps: list[int], expected: str) -> None:
    g = root()
    f = of(sum((g[x + t] for t in taps[1:]), hl.Expr(g[x + taps[0]])))
    assert cpu(f, "g", "x") == mem(f, "g", "x") == expected


def test_upsampling() -> None:
    assert cpu(of(root()[x // 2]), "g", "x") == "(f.min.0/2, (f.min.0 + f.extent.0 + 1)/2 - f.min.0/2)"


def test_upsampling_with_interpolation() -> None:
    g = root()
    expected = "(f.min.0/2, (f.min.0 + f.extent.0 + 1)/2 - f.min.0/2 + 1)"
    assert cpu(of(g[x // 2] + g[x // 2 + 1]), "g", "x") == expected


def test_downsampling() -> None:
    g = root()
    assert cpu(of(g[2 * x] + g[2 * x + 1]), "g", "x") == "(f.min.0*2, f.extent.0*2)"


def test_downsampling_and_then_upsampling_cancel() -> None:
    g = root()
    h = hl.Func("h")
    h[x] = g[2 * x] + g[2 * x + 1]
    assert cpu(of(h[x // 2]), "g", "x") == "(f.min.0/2*2, (f.min.0 + f.extent.0 + 1)/2*2 - f.min.0/2*2)"


def test_mirror() -> None:
    assert cpu(of(root()[-x]), "g", "x") == "(1 - f.min.0 - f.extent.0, f.extent.0)"


def test_transposition() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + y
    f[x, y] = g[y, x + 1]
    g.compute_root()
    assert (cpu(f, "g", "x"), cpu(f, "g", "y")) == ("(f.min.1, f.extent.1)", "(f.min.0 + 1, f.extent.0)")


def test_modulo() -> None:
    assert cpu(of(root()[x % 5]), "g", "x") == "(0, 5)"


def test_modulo_of_a_tile_that_it_divides() -> None:
    f = of(root()[x % 8])
    f.bound(x, 0, 8)
    assert cpu(f, "g", "x") == "(0, 8)"


def test_clamp_to_constants() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    f = of(root()[hl.clamp(image[x], 3, 12)])
    assert cpu(f, "g", "x") == "(3, 10)"
    assert region(f, "in") == ("(f.min.0, f.extent.0)",)


def test_clamp_of_a_coordinate() -> None:
    length = "max(min(f.min.0 + f.extent.0, 8), 1) - max(min(f.min.0, 7), 0)"
    assert cpu(of(root()[hl.clamp(x, 0, 7)]), "g", "x") == f"(max(min(f.min.0, 7), 0), {length})"


def test_repeat_edge_stays_inside_the_image() -> None:
    image = hl.ImageParam(hl.UInt(8), 2, "in")
    image.set(np.zeros((6, 10), np.uint8))
    edge = hl.BoundaryConditions.repeat_edge(image)
    f = hl.Func("f")
    f[x, y] = edge[x - 1, y] + edge[x + 1, y]
    assert f.realize([30, 20]).array.shape == (20, 30)
    far = hl.Buffer(hl.UInt(8), [3, 3])
    far.set_min([-50, 100])
    f.realize(far)


def test_data_dependent_index_of_a_narrow_type() -> None:
    image = hl.ImageParam(hl.UInt(8), 1, "in")
    assert cpu(of(root()[hl.i32(image[x])]), "g", "x") == "(0, 256)"


def test_data_dependent_index_through_a_func() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    h = hl.Func("h")
    h[x] = image[x] % 16
    h.compute_root()
    f = of(root()[h[x - 1] + 1])
    assert cpu(f, "g", "x") == "(1, 16)"
    assert cpu(f, "h", "x") == "(f.min.0 - 1, f.extent.0)"


def test_lookup_table() -> None:
    image = hl.ImageParam(hl.UInt(8), 2, "in")
    lut, f, i = hl.Func("lut"), hl.Func("f"), hl.Var("i")
    lut[i] = i * i
    f[x, y] = lut[image[x, y]]
    lut.compute_root()
    assert cpu(f, "lut", "i") == "(0, 256)"
    assert region(f, "in") == ("(f.min.0, f.extent.0)", "(f.min.1, f.extent.1)")


def test_both_sides_of_a_select_are_read() -> None:
    g = root()
    assert cpu(of(hl.select(x < 5, g[x], g[x - 10])), "g", "x") == "(f.min.0 - 10, f.extent.0 + 10)"


def test_select_in_an_index() -> None:
    expected = "(min(f.min.0, 0), max(f.min.0 + f.extent.0, 1) - min(f.min.0, 0))"
    assert cpu(of(root()[hl.select(x < 5, x, 0)]), "g", "x") == expected


# -- reductions


def test_histogram_needs_memory_for_all_bins_but_computes_those_that_are_read() -> None:
    _hist, out, _r = histogram()
    asked = "(out.min.0, out.extent.0 + 1)"
    assert cpu(out, "hist", "i", 1) == cpu(out, "hist", "i", 0) == asked
    assert mem(out, "hist", "i") == "(min(out.min.0, 0), max(out.min.0 + out.extent.0, 255) - min(out.min.0, 0) + 1)"
    assert region(out, "in") == ("(0, 10)", "(0, 6)")


def test_scan_reads_what_it_wrote() -> None:
    g = root()
    r = hl.RDom([(1, 9)], "r")
    s = hl.Func("s")
    s[x] = g[x]
    s[r] = s[r - 1] + g[r]
    s.compute_root()
    f = of(s[x])
    # s[r - 1] reaches 0 … 8, whatever window is asked for; writes reach 1 … 9.
    own = "(min(f.min.0, 0), max(f.min.0 + f.extent.0, 9) - min(f.min.0, 0))"
    assert cpu(f, "s", "x", 1) == cpu(f, "s", "x", 0) == own
    assert Numbers(f, {"f": [(20, 2)]}).mem("s") == ((0, 22),)
    assert Numbers(f, {"f": [(3, 1)]}).mem("s") == ((0, 10),)
    assert Numbers(f, {"f": [(3, 1)]}).cpu("g") == ((0, 10),)


def test_scan_along_one_dimension_keeps_the_other() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "in")
    r = hl.RDom([(1, 9)], "r")
    s, f = hl.Func("s"), hl.Func("f")
    s[x, y] = image[x, y]
    s[r, y] += s[r - 1, y]
    f[x, y] = s[x, y - 1]
    s.compute_at(f, y)
    assert cpu(f, "s", "y", 1) == "(f.s0.y - 1, 1)"
    assert region(f, "in")[1] == "(f.min.1 - 1, f.extent.1)"


def test_reduction_extent_from_a_param() -> None:
    n = hl.Param(hl.Int(32), "n", 5)
    r = hl.RDom([(0, n)], "r")
    g = root()
    f = of(hl.Expr(0))
    f[x] += g[x + r]
    assert cpu(f, "g", "x") == "(f.min.0, max(f.extent.0 + int64(n), 1) - 1)"


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (lambda r: r.x, "(0, 6)"),
        (lambda r: r.y, "(0, 6)"),
        (lambda r: r.x - r.y, "(-5, 6)"),
        (lambda r: r.x + r.y, "(0, 11)"),
    ],
)
def test_predicate_narrows(index: Any, expected: str) -> None:
    r = hl.RDom([(0, 10), (0, 6)], "r")
    r.where(r.x <= r.y)
    g = root()
    f = of(hl.Expr(0))
    f[x] += g[index(r)]
    assert cpu(f, "g", "x") == expected


def test_predicate_with_a_param_narrows() -> None:
    n = hl.Param(hl.Int(32), "n", 3)
    r = hl.RDom([(0, 10)], "r")
    r.where(r.x < n)
    g = root()
    f = of(hl.Expr(0))
    f[x] += g[r.x]
    assert cpu(f, "g", "x") == "(0, max(min(10, int64(n)), 0))"


# -- tiles


@pytest.mark.parametrize("tail", ["ShiftInwards", "Auto"])
def test_shifted_tile_needs_a_constant_length(tail: str) -> None:
    f = _tiled(TailStrategy[tail])
    start = "f.min.0 + min(f.s0.x.xo*32 + 32, max(f.extent.0, 32)) - 33"
    assert cpu(f, "g", "x") == mem(f, "g", "x") == f"({start}, 34)"
    assert region(f, "f") == ("(f.min.0, max(f.extent.0, 32))",)


def test_guarded_tile_needs_what_is_left() -> None:
    f = _tiled(TailStrategy.GuardWithIf)
    left = "min(f.s0.x.xo*32 + 32, f.extent.0) - f.s0.x.xo*32 + 2"
    assert cpu(f, "g", "x") == mem(f, "g", "x") == f"(f.min.0 + f.s0.x.xo*32 - 1, {left})"


def test_rounded_tile_needs_memory_of_a_constant_length() -> None:
    f = _tiled(TailStrategy.RoundUp)
    left = "min(f.s0.x.xo*32 + 32, f.extent.0) - f.s0.x.xo*32 + 2"
    assert cpu(f, "g", "x") == f"(f.min.0 + f.s0.x.xo*32 - 1, {left})"
    assert mem(f, "g", "x") == "(f.min.0 + f.s0.x.xo*32 - 1, 34)"
    assert region(f, "f") == ("(f.min.0, (f.extent.0 + 31)/32*32)",)


def _tiled(tail: TailStrategy) -> hl.Func:
    g = hl.Func("g")
    g[x] = x * 3
    f = of(g[x - 1] + g[x] + g[x + 1])
    f.split(x, xo, xi, 32, tail)
    g.compute_at(f, xo)
    return f


def test_tile_that_divides_a_bound_needs_a_constant_length() -> None:
    f = _tiled(TailStrategy.GuardWithIf)
    f.bound(x, 0, 128)
    for i in range(4):
        assert Numbers(f, {"f": [(0, 128)]}, {"f.s0.x.xo": i}).cpu("g") == ((i * 32 - 1, 34),)


def test_tile_of_a_resampled_producer() -> None:
    g = hl.Func("g")
    g[x] = x
    f = of(g[2 * x] + g[2 * x + 1])
    f.split(x, xo, xi, 32, TailStrategy.ShiftInwards)
    g.compute_at(f, xo)
    assert cpu(f, "g", "x").endswith(", 64)")


def test_tiles_of_a_blur() -> None:
    _bx, by = tiled_blur()
    assert cpu(by, "bx", "x").endswith(", 32)") and mem(by, "bx", "x").endswith(", 32)")
    assert cpu(by, "bx", "y").endswith(", 10)") and mem(by, "bx", "y").endswith(", 10)")
    assert needed(by, [(0, 100), (0, 50)]) == {"in": ((-1, 102), (-1, 52))}


def test_tiles_of_a_chain_grow_by_the_taps() -> None:
    stages = [hl.Func(f"c{i}") for i in range(4)]
    stages[0][x] = x
    for before, after in itertools.pairwise(stages):
        after[x] = before[x - 1] + before[x + 1]
    stages[3].split(x, xo, xi, 16, TailStrategy.ShiftInwards)
    for s in stages[:3]:
        s.compute_at(stages[3], xo)
    assert [cpu(stages[3], f"c{i}", "x").rsplit(", ", 1)[1] for i in range(3)] == ["22)", "20)", "18)"]


# -- several consumers, outputs and stages


def test_two_consumers_need_the_union() -> None:
    g = root()
    a, b = hl.Func("a"), hl.Func("b")
    a[x] = g[x - 3]
    b[x] = g[x + 4]
    a.compute_root()
    b.compute_root()
    assert cpu(of(a[x] + b[x]), "g", "x") == "(f.min.0 - 3, f.extent.0 + 7)"


def test_two_stages_need_the_union() -> None:
    g = root()
    f = of(g[x])
    f[x] += g[x + 2]
    f[5] = g[40]
    assert Numbers(f, {"f": [(0, 10)]}).cpu("g") == ((0, 41),)
    assert Numbers(f, {"f": [(50, 10)]}).cpu("g") == ((40, 22),)


def test_several_outputs_have_windows_of_their_own() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    g, a, b = hl.Func("g"), hl.Func("a"), hl.Func("b")
    g[x] = image[x]
    a[x] = g[x - 3]
    b[x] = g[x + 4]
    g.compute_root()
    both = hl.Pipeline([a, b])
    assert needed(both, [(0, 10)], [(0, 10)]) == {"in": ((-3, 17),)}
    assert needed(both, [(100, 1)], [(-50, 2)]) == {"in": ((-46, 144),)}


def test_output_that_is_also_a_producer() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x - 1] + g[x + 1]
    both = hl.Pipeline([f, g])
    assert output_regions(both, [(0, 10)], [(0, 10)]) == [((0, 10),), ((-1, 12),)]
    assert output_regions(both, [(0, 10)], [(-5, 30)]) == [((0, 10),), ((-5, 30),)]


def test_chain_of_stages() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    stages = [hl.Func(f"c{i}") for i in range(5)]
    stages[0][x] = image[x]
    for before, after in itertools.pairwise(stages):
        after[x] = before[x - 1] + before[x + 1]
    for s in stages[:-1]:
        s.compute_root()
    for i in range(4):
        assert cpu(stages[4], f"c{i}", "x") == f"(c4.min.0 - {4 - i}, c4.extent.0 + {2 * (4 - i)})"
    assert region(stages[4], "in") == ("(c4.min.0 - 4, c4.extent.0 + 8)",)


# -- rounding and shifting a producer: figure 2.3


def _producer(tail: TailStrategy) -> hl.Func:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    g = hl.Func("g")
    g[x] = image[x]
    g.compute_root().split(x, xo, xi, 8, tail)
    return of(g[x - 1] + g[x + 1])


def test_rounding_up_grows_memory_and_not_the_compute_bounds() -> None:
    f = _producer(TailStrategy.RoundUp)
    assert cpu(f, "g", "x") == "(f.min.0 - 1, f.extent.0 + 2)"
    assert mem(f, "g", "x") == "(f.min.0 - 1, (f.extent.0 + 1)/8*8 + 8)"
    assert needed(f, [(0, 10)]) == {"in": ((-1, 16),)}
    assert needed(f, [(0, 14)]) == {"in": ((-1, 16),)}
    assert needed(f, [(0, 15)]) == {"in": ((-1, 24),)}


def test_rounding_up_asks_of_producers_only_what_is_needed() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    h, g = hl.Func("h"), hl.Func("g")
    h[x] = image[x]
    g[x] = h[x - 1] + h[x + 1]
    h.compute_root()
    g.compute_root().split(x, xo, xi, 8, TailStrategy.RoundUp)
    f = of(g[x])
    assert cpu(f, "h", "x") == "(f.min.0 - 1, f.extent.0 + 2)"
    assert mem(f, "h", "x") == "(f.min.0 - 1, (f.extent.0 + 7)/8*8 + 2)"
    assert region(f, "in") == ("(f.min.0 - 1, f.extent.0 + 2)",)


def test_shifting_inwards_makes_the_compute_bounds_at_least_the_factor() -> None:
    f = _producer(TailStrategy.ShiftInwards)
    assert cpu(f, "g", "x") == mem(f, "g", "x") == "(f.min.0 - 1, max(f.extent.0, 6) + 2)"
    assert needed(f, [(0, 3)]) == {"in": ((-1, 8),)}
    assert needed(f, [(0, 13)]) == {"in": ((-1, 15),)}


def test_guard_changes_nothing() -> None:
    f = _producer(TailStrategy.GuardWithIf)
    assert cpu(f, "g", "x") == mem(f, "g", "x") == "(f.min.0 - 1, f.extent.0 + 2)"


@pytest.mark.parametrize(
    ("tail", "window", "expected"),
    [
        ("RoundUp", (3, 10), (3, 16)),
        ("RoundUp", (3, 16), (3, 16)),
        ("ShiftInwards", (3, 5), (3, 8)),
        ("ShiftInwards", (3, 9), (3, 9)),
        ("GuardWithIf", (3, 5), (3, 5)),
    ],
)
def test_region_of_a_split_output(tail: str, window: tuple[int, int], expected: tuple[int, int]) -> None:
    f = of(hl.Expr(x))
    f.split(x, xo, xi, 8, TailStrategy[tail])
    assert output_regions(f, [window]) == [(expected,)]


def test_infer_input_bounds_makes_a_buffer_of_the_region() -> None:
    image = hl.ImageParam(hl.UInt(8), 2, "in")
    f = hl.Func("f")
    f[x, y] = image[2 * x, y - 1] + image[2 * x + 1, y + 3]
    f.infer_input_bounds([10, 7])
    found = image.get()
    assert found is not None
    assert [(found.dim(d).min(), found.dim(d).extent()) for d in range(2)] == [(0, 20), (-1, 11)]
    assert f.realize([10, 7]).array.shape == (7, 10)


# -- brute force: the exact region is what the reference semantics reads


class _Recording(list[Any]):
    """A flat image that remembers which elements were read."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__(values)
        self.read: set[int] = set()

    def __getitem__(self, i: Any) -> Any:
        self.read.add(i)
        return super().__getitem__(i)


class _RecordedArray:
    """Stands for a numpy array where the reference semantics takes one."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.ndim, self.dtype, self.shape = array.ndim, array.dtype, array.shape
        self.strides, self.itemsize = array.strides, array.itemsize
        self.flat = _Recording(array.ravel().tolist())

    def ravel(self) -> _RecordedArray:
        return self

    def tolist(self) -> _Recording:
        return self.flat


def read_region(f: hl.Func, image: hl.ImageParam, window: Box) -> Box | None:
    """The smallest box around the elements that the reference semantics reads."""
    size = 160
    recorded = _RecordedArray(np.arange(size**image.dimensions(), dtype=np.int32).reshape((size,) * image.dimensions()))
    mins = (-size // 2,) * image.dimensions()
    evaluate.evaluate(f.function, window, images={image.source: (recorded, mins)})  # type: ignore[dict-item]
    points = [(i % size, i // size) if image.dimensions() == 2 else (i,) for i in recorded.flat.read]
    if not points:
        return None
    ends = [(min(p[d] for p in points), max(p[d] for p in points)) for d in range(image.dimensions())]
    return tuple((low + mins[d], high - low + 1) for d, (low, high) in enumerate(ends))


def coordinate(r: random.Random, v: hl.Var) -> hl.Expr:
    """A coordinate that is monotone in a variable."""
    match r.randint(0, 6):
        case 0:
            return v * 2 + r.randint(0, 1)
        case 1:
            return (v + r.randint(-3, 3)) // r.randint(2, 3)
        case 2:
            return r.randint(-2, 2) - v
        case 3:
            return hl.clamp(v + r.randint(-2, 2), r.randint(-4, 0), r.randint(1, 9))
        case 4:
            return hl.max(v, r.randint(-5, 5))
    return v + r.randint(-3, 3)


def pipeline(seed: int) -> tuple[hl.Func, hl.ImageParam, list[hl.Func], Box]:
    """A chain or a diamond of stages that read an image at affine and clamped coordinates, in one or two dimensions."""
    r = random.Random(seed)
    dims = [x, y][: r.randint(1, 2)]
    image = hl.ImageParam(hl.Int(32), len(dims), "in")
    sources: list[Any] = [image]
    funcs: list[hl.Func] = []
    for i in range(r.randint(1, 3)):
        f = hl.Func(f"f{i}")
        e: hl.Expr = hl.Expr(0)
        # The last source is always read, so that every Func is reached.
        for source in [sources[-1], *r.choices(sources, k=r.randint(0, 2))]:
            e = e + source[tuple(coordinate(r, v) for v in dims)]
        f[tuple(dims)] = e
        if r.random() < 0.3:
            rd = hl.RDom([(r.randint(-2, 2), r.randint(1, 4))], "r")
            f[tuple(dims)] += sources[-1][(dims[0] + rd, *dims[1:])]
        funcs.append(f)
        sources.append(f)
    return funcs[-1], image, funcs, tuple((r.randint(-4, 4), r.randint(1, 6)) for _ in dims)


@settings(max_examples=40)
@given(st.integers(0, 1 << 30), st.booleans())
def test_region_of_an_input_is_exactly_what_is_read(seed: int, inline: bool) -> None:
    f, image, funcs, window = pipeline(seed)
    for g in funcs[:-1]:
        if not inline:
            g.compute_root()
    asked = Numbers(f, {f.name(): window}).needs("in")
    assert asked == read_region(f, image, window)


@settings(max_examples=40)
@given(st.integers(0, 1 << 30))
def test_region_of_an_input_covers_what_is_read_under_any_schedule(seed: int) -> None:
    f, image, funcs, window = pipeline(seed)
    r = random.Random(seed)
    tails = [TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.Auto]
    for g in funcs:
        g.split(x, xo, xi, r.randint(1, 5), r.choice(tails))
        if g is not f:
            g.compute_root()
    asked, read = Numbers(f, {f.name(): window}).needs("in"), read_region(f, image, window)
    assert read is not None
    for (low, extent), (first, count) in zip(asked, read, strict=True):
        assert low <= first and first + count <= low + extent


@settings(max_examples=40)
@given(st.integers(0, 1 << 30))
def test_region_of_an_input_is_exact_for_guarded_tiles(seed: int) -> None:
    f, image, funcs, window = pipeline(seed)
    f.split(x, xo, xi, random.Random(seed).randint(1, 7), TailStrategy.GuardWithIf)
    for g in funcs[:-1]:
        g.compute_root()
    assert Numbers(f, {f.name(): window}).needs("in") == read_region(f, image, window)


@pytest.mark.parametrize("seed", range(4))
def test_compiled_query_gives_the_region_that_was_answered(seed: int) -> None:
    f, image, funcs, window = pipeline(seed)
    for g in funcs[:-1]:
        g.compute_root()
    assert needed(f, window)["in"] == read_region(f, image, window)


def test_region_of_data_dependent_reads_covers_all_of_them() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "in")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = hl.clamp(image[x], -3, 4)
    f[x] = image[g[x] * 2]
    g.compute_root()
    (low, extent), (first, count) = needed(f, [(0, 20)])["in"][0], read_region(f, image, ((0, 20),))[0]  # type: ignore[index]
    assert (low, extent) == (-6, 26)
    assert low <= first and first + count <= low + extent
