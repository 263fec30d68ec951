"""Storage layout: no value depends on it; memory is where it was asked for, and as large; what can't be is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.infer.folding import Folding
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import certify, lower
from halide_core.scheduling import layout
from tests.support.checking import variables
from tests.support.counting import counted
from tests.support.sliding import H, W, blur, certified, window

x, y, xo, yo, xi, yi = variables("x y xo yo xi yi")


def allocated(f: hl.Func) -> ir.AllocateFlat:
    """The one allocation of a pipeline."""
    (found,) = [s for s in walk(lower(f._request()).body) if isinstance(s, ir.AllocateFlat)]
    return found


LAYOUTS: dict[str, Callable[[hl.Func], hl.Func]] = {
    "reordered": lambda g: g.reorder_storage(y, x),
    "reordered as a list": lambda g: g.reorder_storage([y, x]),
    "reordered and aligned": lambda g: g.reorder_storage(y, x).align_storage(y, 4),
    "aligned": lambda g: g.align_storage(x, 8),
    "bounded": lambda g: g.bound_storage(x, 40).bound_storage(y, 30),
    "bounded and aligned": lambda g: g.bound_storage(x, 41).align_storage(x, 16),
    "on the heap": lambda g: g.store_in(hl.MemoryType.Heap),
    "on the stack": lambda g: g.bound_storage(x, 40).bound_storage(y, 30).store_in(hl.MemoryType.Stack),
}

PLACES: dict[str, Callable[[hl.Func, hl.Func], object]] = {
    "root": lambda g, f: g.compute_root(),
    "slides": lambda g, f: g.store_root().compute_at(f, y),
    "vectors": lambda g, f: (f.vectorize(x, 4), g.compute_at(f, y).vectorize(x, 4)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_value_depends_on_the_layout(layout: str, place: str) -> None:
    g, f = blur()
    PLACES[place](g, f)
    LAYOUTS[layout](g)
    counted(f, window(f))
    region = [[low, n] for low, n in window(f)]
    buffer = hl.Buffer(hl.Int(32), [W, H])
    buffer.set_min([low for low, _ in region])
    if place != "vectors":  # the caller's buffer is as small as the window
        f.realize(buffer)
        assert (hl.Buffer(f.evaluate(window(f))).array == buffer.array).all()


def test_layouts_are_certified() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).reorder_storage(y, x).align_storage(y, 4).bound_storage(x, 64)
    certified(f)


def test_memory_of_a_set_length_that_nothing_checks_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Folding, "_enough", lambda *_: (ir.TRUE, ("",)))
    n = hl.Param(hl.Int(32), "n")
    g, f = blur()
    g.store_root().compute_at(f, y).bound_storage(x, n + 2)
    told = [each.claim.told() for each in certify(f._request()).failures]
    assert any("dimension 0 has room in its length in memory" in each for each in told), told


def test_memory_in_which_two_dimensions_are_one_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_VERIFY", "0")  # a rule of the IR, which only tests look at
    made = layout._changed
    monkeypatch.setattr(layout, "_changed", lambda *given: replace(made(*given), order=(0, 0)))
    g, f = blur()
    g.compute_root().reorder_storage(y, x)
    told = [each.claim.told() for each in certify(f._request()).failures]
    assert told == ["each dimension has its place in memory"]


def test_sizes_in_memory() -> None:
    g, f = blur()
    g.compute_root().bound_storage(x, 41).align_storage(x, 16).bound_storage(y, 3)
    assert allocated(f).limit == 48 * 3
    assert allocated(f).size is ir.i64(48 * 3)


def test_a_fold_is_aligned_too() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).bound_storage(x, 8).align_storage(y, 4)
    assert allocated(f).limit == 8 * 4


def test_a_set_length_that_is_too_short() -> None:
    g, f = blur()
    g.compute_root().bound_storage(y, 6)
    f.realize([3, 4])
    with pytest.raises(hl.HalideError, match=r'bound_storage\(y, 6\) gives "g" too few places in "y": 6 for 7'):
        f.realize([3, 5])


def test_a_set_length_of_a_run_time_size() -> None:
    n = hl.Param(hl.Int(32), "n")
    g, f = blur()
    g.store_root().compute_at(f, y).bound_storage(x, n + 1).bound_storage(y, 8)
    n.set(15)
    np.testing.assert_array_equal(np.asarray(f.realize([9, 5])), f.evaluate([9, 5]))
    certified(f)
    n.set(7)
    with pytest.raises(hl.PipelineError, match=r'bound_storage\(x, n \+ 1\) gives "g" too few places in "x": 8 for 9'):
        f.realize([9, 5])
    n.set(-1)
    with pytest.raises(hl.PipelineError, match=r'too few places in "x": 0 for'):
        f.realize([9, 5])


def test_a_set_length_of_the_size_of_an_input() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = image[x, y] + 1
    f[x, y] = 2*g[x, y]
    g.compute_at(f, y).bound_storage(x, image.width())
    image.set(hl.Buffer(np.arange(100, dtype=np.int32).reshape(10, 10)))
    np.testing.assert_array_equal(np.asarray(f.realize([10, 7])), f.evaluate([10, 7]))
    certified(f)


def test_a_set_length_that_is_too_short_for_sure() -> None:
    g, f = blur()
    g.compute_at(f, y).bound_storage(y, 2)
    with pytest.raises(hl.ScheduleError, match=r'3 points of "y" are stored'):
        f.realize([3, 5])


def test_a_set_length_that_is_too_short_in_every_window() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x, y] = g[x] + g[y] + g[x - 80]
    g.compute_root().bound_storage(x, 64)
    with pytest.raises(hl.ScheduleError, match=r"64 places are too few\. The legal choices: as many in every window"):
        lower(f._request())


def test_registers_need_a_constant_size() -> None:
    g, f = blur()
    g.compute_root().store_in(hl.MemoryType.Register)
    with pytest.raises(hl.ScheduleError, match="no constant bounds the size"):
        lower(f._request())


def test_stack_memory_of_a_size_that_only_the_run_knows_is_kept_memory() -> None:
    g, f = blur()
    g.compute_root().store_in(hl.MemoryType.Stack)
    np.testing.assert_array_equal(np.asarray(f.realize([9, 5])), f.evaluate([9, 5]))
    made = [s for s in walk(lower(f._request()).body) if isinstance(s, ir.AllocateFlat)]
    assert [s.memory for s in made] == [hl.MemoryType.Heap]


def test_stack_memory_of_a_run_time_size_with_a_loose_bound_is_kept_memory() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + y
    f[x, y] = g[x, y]
    g.compute_at(f, y).store_in(hl.MemoryType.Stack)  # a row is no longer than an int32 can say, which is no help
    np.testing.assert_array_equal(np.asarray(f.realize([9, 5])), f.evaluate([9, 5]))
    made = [s for s in walk(lower(f._request()).body) if isinstance(s, ir.AllocateFlat)]
    assert [s.memory for s in made] == [hl.MemoryType.Heap]
    assert hl.Pipeline([f]).certify().ok


@pytest.mark.parametrize("memory", [hl.MemoryType.Stack, hl.MemoryType.Register])
def test_stack_memory_of_a_constant_size_must_be_small(memory: hl.MemoryType) -> None:
    g, f = blur()
    g.compute_root().bound_storage(x, 1000).bound_storage(y, 1000).store_in(memory)
    with pytest.raises(hl.ScheduleError, match='"g" may take 4000000 bytes, more than the 262144 of the stack'):
        lower(f._request())


def test_what_every_buffer_must_be_is_checked_before_what_is_promised_of_one() -> None:
    image, n = hl.ImageParam(hl.Int(32), 1, "image"), hl.Param(hl.Int(32), "n")
    n.set_min_value(3)
    f = hl.Func("f")
    f[x] = image[x] + n
    image.dim(0).set_min(0)
    asked = [s for s in walk(lower(f._request()).body) if isinstance(s, ir.Assert)]
    told = [s.message[0] for s in asked if "must" in str(s.message[0])]
    assert told == [
        'parameter "n" must be at least ',
        'buffer "image" must have stride 1 in dimension 0, not ',
        'buffer "f" must have stride 1 in dimension 0, not ',
        'buffer "image" must have min ',
    ]


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda f: f.align_storage(x, 0), "must be a positive integer"),
        (lambda f: f.bound_storage(x, 0), "must be positive"),
        (lambda f: f.bound_storage(x, x), "start"),
        (lambda f: f.store_in("Heap"), "takes a MemoryType"),
        (lambda f: f.reorder_storage(xo), 'has no dimension "xo"'),
        (lambda f: f.reorder_storage(x, x), "each dimension can be named only once"),
    ],
)
def test_directives_that_make_no_sense(ask: Callable[[hl.Func], hl.Func], told: str) -> None:
    g, f = blur()

    def compile() -> None:
        ask(g.compute_root())
        f.realize([3, 5])

    with pytest.raises(hl.ScheduleError, match=told):
        compile()


def test_outputs_are_the_callers() -> None:
    _, f = blur()
    f.align_storage(x, 8)
    with pytest.warns(hl.HalideWarning, match="its memory is the caller's"):
        f.realize([3, 5])


def test_heap_memory_is_never_a_local_array(tmp_path: object) -> None:
    g, f = blur()
    g.compute_at(f, x).store_in(hl.MemoryType.Heap)
    name = f"{tmp_path}/heap.c"
    f.compile_to_c(name, f.infer_arguments(), "heap")
    with open(name, encoding="utf-8") as file:
        assert "g_fits ? halide_core_malloc(" in file.read()
