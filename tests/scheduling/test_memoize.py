"""Memoized Funcs: what is computed again, by what it is known, what goes, and what is refused."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import Remember
from halide_core.ir.visitor import walk
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import check, same
from tests.support.dumps import after
from tests.support.interpreted import run_program

x, y, xo, xi = hl.Var("x"), hl.Var("y"), hl.Var("xo"), hl.Var("xi")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    hl.memoization_cache_cleanup()
    yield
    hl.memoization_cache_set_size(0)
    hl.memoization_cache_cleanup()


def pair(value: Callable[[], Any]) -> tuple[hl.Func, hl.Func]:
    """A memoized producer at root, whose stores are shown, and what reads it twice."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = value()
    f[x] = g[x] + g[x + 1]
    g.compute_root().memoize().trace_stores()
    return g, f


def stores(out: Captured) -> int:
    """The number of stores of ``g`` shown since the last call."""
    return out.readouterr().out.count("Store g")


def test_computed_once_for_equal_params(capsys: Captured) -> None:
    p, real = hl.Param(hl.Int(32), "p", 3), hl.Param(hl.Float(32), "real", 0.5)
    _, f = pair(lambda: x * p + hl.i32(real * 2))
    xs = np.arange(9, dtype=np.int32)

    def wanted(scale: int, more: float) -> Any:
        values = xs * scale + np.int32(more * 2)
        return values[:-1] + values[1:]

    for scale, more, count in ((3, 0.5, 9), (3, 0.5, 0), (4, 0.5, 9), (3, 0.5, 0), (3, 1.5, 9), (4, 0.5, 0)):
        p.set(scale)
        real.set(more)
        check(f, [8], wanted(scale, more).astype(np.int32))
        assert stores(capsys) == count


def test_another_region_is_computed(capsys: Captured) -> None:
    _, f = pair(lambda: x * x)
    wanted = np.arange(40, dtype=np.int32) ** 2
    for low, n, count in ((0, 8, 9), (1, 8, 9), (0, 9, 10), (0, 8, 0), (1, 8, 0)):
        check(f, [(low, n)], (wanted[low : low + n] + wanted[low + 1 : low + n + 1]).astype(np.int32))
        assert stores(capsys) == count


def test_equal_memory_in_which_less_was_computed_is_another_region() -> None:
    g, f, p = hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "p", 1)
    g[x] = x
    g[x] += p
    f[x] = g[x]
    g.compute_root().memoize().vectorize(x, 8, hl.TailStrategy.RoundUp)  # of the first stage alone
    for n in (3, 7, 5, 8):
        check(f, [n], np.arange(1, n + 1, dtype=np.int32))


@pytest.mark.parametrize("lay", ["bound_storage", "fold_storage"])
def test_equal_regions_in_memory_of_another_shape_are_apart(lay: str) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    n, m = hl.Param(hl.Int(32), "n"), hl.Param(hl.Int(32), "m")
    g[x, y] = x + 10 * y
    f[x, y] = g[x, y] + 1
    getattr(getattr(g.compute_root().memoize(), lay)(x, n), lay)(y, m)
    j, i = np.mgrid[0:4, 0:4].astype(np.int32)
    for width, height in ((4, 6), (6, 4), (4, 6)):  # as many bytes
        n.set(width)
        m.set(height)
        check(f, [4, 4], i + 10 * j + 1)


def test_inside_of_loops_and_threads() -> None:
    g, f, p = hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "p", 2)
    g[x] = (x * p, hl.u8(x))
    f[x, y] = g[x][0] + hl.i32(g[x + 1][1]) + y
    f.split(x, xo, xi, 4).reorder(xi, y, xo).parallel(y)
    g.compute_at(f, y).memoize()
    xs, ys = np.arange(16, dtype=np.int32), np.arange(30, dtype=np.int32)[:, None]
    for scale in (2, 3, 2):
        p.set(scale)
        check(f, [16, 30], xs * scale + (xs + 1) + ys)
    for name in ("remember", "flatten", "limits"):
        same(run_program(f, [(0, 16), (0, 5)], after=name)[name], (xs * 2 + (xs + 1) + ys[:5]).astype(np.int32))


def test_few_values_that_would_be_in_registers() -> None:
    g, f, p = hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "p", 2)
    g[x] = x * p
    f[x] = g[x] + g[x + 1]
    g.compute_at(f, x).bound_extent(x, 2).unroll(x).memoize()
    for scale in (2, 3, 2):
        p.set(scale)
        check(f, [6], scale * (2 * np.arange(6, dtype=np.int32) + 1))


def test_programs_of_one_name_keep_their_own(capsys: Captured) -> None:
    for value, wanted in ((lambda: x * 2, [2, 6, 10]), (lambda: x * 3, [3, 9, 15]), (lambda: x * 2, [2, 6, 10])):
        _, f = pair(value)
        assert np.asarray(f.realize([3])).tolist() == wanted
    assert stores(capsys) == 12  # the third has the code of the first one, and might have other inputs


def test_shape_of_a_buffer_is_part_of_the_key() -> None:
    im = hl.ImageParam(hl.Int(32), 1, "im")
    _, f = pair(lambda: x + im.width())
    for width in (3, 4, 3):
        im.set(np.zeros(width, np.int32))
        assert np.asarray(f.realize([2])).tolist() == [1 + 2 * width, 3 + 2 * width]


def test_tag_stands_for_what_is_below_it(capsys: Captured) -> None:
    im, version = hl.ImageParam(hl.Int(32), 1, "im"), hl.Param(hl.Int(64), "version", 1)
    p = hl.Param(hl.Int(32), "p", 1)
    h = hl.Func("h")
    h[x] = hl.memoize_tag(im[x] * p, version)
    _, f = pair(lambda: h[x])
    im.set(np.arange(9, dtype=np.int32))
    first = np.asarray(f.realize([8])).copy()
    assert stores(capsys) == 9
    p.set(5)  # the tag says that this makes no difference
    same(f.realize([8]), first)
    assert stores(capsys) == 0
    version.set(2)
    same(f.realize([8]), first * 5)
    assert stores(capsys) == 9
    assert hl.deserialize_pipeline(hl.serialize_pipeline(hl.Pipeline(f))).outputs()[0].name() == "f"


def test_tag_says_nothing_of_a_value_that_stands_untagged_too() -> None:
    p, version = hl.Param(hl.Int(32), "p", 1), hl.Param(hl.Int(32), "version", 0)
    im = hl.ImageParam(hl.Int(32), 1, "im")
    r = hl.RDom([(0, p * 3)], "r")
    h = hl.Func("h")
    h[x] = 0
    h[x] += hl.memoize_tag(p * 3, version) + r
    for value in (lambda: hl.memoize_tag(p * 3, version) + p * 3, lambda: h[x]):
        _, f = pair(value)
        for n in (1, 2):
            p.set(n)
            same(f.realize([3]), f.evaluate([3]))
    _, f = pair(lambda: hl.memoize_tag(im[x] * 2, version) - im[x] * 2)
    im.set(np.arange(9, dtype=np.int32))
    with pytest.raises(hl.ScheduleError, match='elements of "im"'):
        f.realize([3])


def test_output_that_keeps_points_is_an_input_too() -> None:
    o, version = hl.Func("o"), hl.Param(hl.Int(32), "version", 1)
    o[x] = hl.undef(hl.Int(32))
    o[x] = hl.select(x < 2, 5, o[x] + 1)
    _, f = pair(lambda: o[x])
    with pytest.raises(hl.ScheduleError, match='"o" is left undefined'):
        hl.Pipeline([o, f]).realize([np.zeros(5, np.int32), np.zeros(4, np.int32)])
    assert np.asarray(f.realize([4])).tolist() == [10, 6, 2, 2]  # elsewhere its points are 0 before
    _, f = pair(lambda: hl.memoize_tag(o[x], version))
    for k in (1, 2):
        version.set(k)
        whole, read = np.full(5, k, np.int32), np.zeros(4, np.int32)
        hl.Pipeline([o, f]).realize([whole, read])
        assert whole.tolist() == [5, 5, k + 1, k + 1, k + 1] and read.tolist() == [10, k + 6, 2 * k + 2, 2 * k + 2]


@pytest.mark.parametrize("made", ["in_", "clone_in"])
def test_wrappers_and_clones_keep_what_their_pipeline_made(made: str) -> None:
    for k in (1, 2):
        im, version = hl.ImageParam(hl.Int(32), 1, "im"), hl.Param(hl.Int(32), "version", 1)
        g, f = hl.Func("g"), hl.Func("f")
        g[x] = hl.memoize_tag(im[x], version)
        f[x] = g[x] + 1
        getattr(g, made)(f).compute_root().memoize()
        im.set(np.full(4, k, np.int32))
        check(f, [4], np.full(4, k + 1, np.int32))


def test_untagged_input_is_refused() -> None:
    im = hl.ImageParam(hl.Int(32), 1, "im")
    _, f = pair(lambda: im[x])
    im.set(np.arange(9, dtype=np.int32))
    with pytest.raises(hl.ScheduleError, match=r'elements of "im".*hl.memoize_tag\(im\[…\], version\)'):
        f.realize([8])


@pytest.mark.parametrize("tagged", [False, True])
def test_what_an_output_keeps_is_refused_without_a_tag(*, tagged: bool) -> None:
    version = hl.Param(hl.Int(32), "version", 0)
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x] = hl.undef(hl.Int(32))
    f[0] = 3
    g[x] = (hl.memoize_tag(f[x], version) if tagged else f[x]) + 1
    h[x] = g[x] * 2
    g.compute_root().memoize()
    h.realize([4])
    both = hl.Pipeline([f, h])
    for value in (10, 20):
        version.set(value)
        kept, result = np.full(4, value, np.int32), np.zeros(4, np.int32)
        if not tagged:
            with pytest.raises(hl.ScheduleError, match="what the caller's buffer has"):
                both.realize([kept, result])
            continue
        both.realize([kept, result])
        same(result, np.array([8, *[2 * value + 2] * 3], np.int32))


def test_eviction_size_and_cleanup(capsys: Captured) -> None:
    p = hl.Param(hl.Int(32), "p", 1)
    _, f = pair(lambda: x * p)
    other = hl.Func("g")
    other[x] = x - p
    f[x] += other[x]
    other.compute_root().memoize(hl.EvictionKey(p + 40)).trace_stores()
    f.realize([8])
    assert stores(capsys) == 17
    hl.memoization_cache_evict(7)
    f.realize([8])
    assert stores(capsys) == 0
    hl.memoization_cache_evict(41)
    f.realize([8])
    assert stores(capsys) == 8
    hl.memoization_cache_cleanup()
    f.realize([8])
    assert stores(capsys) == 17
    hl.memoization_cache_set_size(1)  # no room for any
    for _ in range(2):
        f.realize([8])
        assert stores(capsys) == 17
    hl.memoization_cache_set_size(1000)
    for scale in range(50):  # the oldest go
        p.set(scale)
        f.realize([8])
    capsys.readouterr()
    p.set(49)
    f.realize([8])
    assert stores(capsys) == 0
    p.set(0)
    f.realize([8])
    assert stores(capsys) == 17
    with pytest.raises(hl.PipelineError, match="not -1"):
        hl.memoization_cache_set_size(-1)


REFUSED: dict[str, tuple[Callable[[hl.Func, hl.Func], Any], str]] = {
    "inlined": (lambda g, f: g.memoize(), "has no loops of its own"),
    "an output": (lambda g, f: f.memoize(), "is an output of the pipeline"),
    "kept between iterations": (lambda g, f: g.compute_at(f, x).store_root().memoize(), "computes a part"),
    "in lanes": (lambda g, f: (f.split(x, xo, xi, 4).vectorize(xi), g.compute_at(f, xi).memoize()), "vectorized loop"),
    "in a thread": (lambda g, f: g.compute_root().async_().memoize(), "async_"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_memoize_is_refused_where_it_can_not_be(what: str) -> None:
    schedule, told = REFUSED[what]
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x] + g[x + 1]
    schedule(g, f)
    with pytest.raises(hl.ScheduleError, match=told):
        f.realize([8])


def test_memoize_in_loops_of_another_func_is_refused() -> None:
    g, h, f = hl.Func("g"), hl.Func("h"), hl.Func("f")
    g[x], h[x] = x, x + 1
    f[x] = g[x] + h[x]
    g.compute_root()
    h.compute_root().compute_with(g, x).memoize()
    with pytest.raises(hl.ScheduleError, match="shares loops"):
        f.realize([8])


def test_second_eviction_key_is_refused() -> None:
    g, f = pair(lambda: x)
    g.memoize(hl.EvictionKey(1)).memoize()
    with pytest.raises(hl.ScheduleError, match="has this eviction key already"):
        g.memoize(hl.EvictionKey(2))
    with pytest.raises(hl.DefinitionError, match="must be an integer"):
        hl.EvictionKey(1.5)
    assert any(isinstance(s, Remember) and s.evicted is not None for s in walk(after(f, "remember")))


C_MAIN = """
int main(void) {
    int32_t out[8];
    halide_dimension_t d[1] = {{0, 8, 1, 0}};
    halide_buffer_t result = describe(out, halide_type_int, 32, 1, d);
    const int32_t scales[4] = {3, 3, 4, 3};
    for (int i = 0; i < 4; i++) {
        int error = summed(scales[i], &result);
        printf("%d %d\\n", error, out[7]);
    }
    halide_memoization_cache_evict(NULL, 5);
    halide_memoization_cache_set_size(0);
    printf("%d %d\\n", summed(3, &result), out[7]);
    halide_memoization_cache_cleanup();
    return 0;
}
"""


def test_memoized_func_in_a_c_program(tmp_path: Path) -> None:
    p = hl.Param(hl.Int(32), "p")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * p
    f[x] = g[x] + g[x + 1]
    g.compute_root().memoize(hl.EvictionKey(5))
    f.compile_to_static_library(str(tmp_path / "summed"), [p], "summed")
    program = build(tmp_path, "main", f'#include "summed.h"\n{DESCRIBE}{C_MAIN}', "summed.a")
    assert run(program).stdout.splitlines() == ["0 45", "0 45", "0 60", "0 45", "0 45"]


@pytest.mark.parametrize("made", ["", "in_", "clone_in"])
def test_pipelines_of_equal_code_share_nothing(made: str) -> None:
    def filtered() -> tuple[hl.ImageParam, hl.Param, hl.Func]:
        source, version = hl.ImageParam(hl.Int(32), 1, "source"), hl.Param(hl.Int(64), "version", 0)
        g, f = hl.Func("g"), hl.Func("f")
        g[x] = hl.memoize_tag(source[x], version)
        f[x] = g[x] + 1
        (getattr(g, made)(f) if made else g).compute_root().memoize()
        return source, version, f

    for add in (10, 20):
        source, version, f = filtered()
        array = np.arange(8, dtype=np.int32) + add
        source.set(array)
        version.set(1)
        same(np.asarray(f.realize([8])), array + 1)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_memory_that_outlives_the_loops_of_a_memoized_func_is_refused(asynchronous: bool) -> None:
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x + 10 * y
    g[x, y] = h[x, y - 1] + h[x, y] + h[x, y + 1]
    f[x, y] = g[x, y] * 2
    g.compute_at(f, y).reorder(y, x).memoize()
    h.store_root().compute_at(g, x)
    if asynchronous:
        h.async_()
    with pytest.raises(hl.ScheduleError, match='"h" is computed inside of its loops, with memory outside'):
        f.realize([16, 4])
    h.compute_at(g, x)
    h.store_at(g, x)
    if not asynchronous:
        for low in (0, 2):
            b = hl.Buffer(hl.Int(32), [16, 5])
            b.set_min([0, low])
            f.realize(b)
            ys, xs = np.meshgrid(np.arange(low, low + 5), np.arange(16), indexing="ij")
            same(np.asarray(b), ((3 * xs + 30 * ys) * 2).astype(np.int32))


def test_memory_that_outlives_a_case_of_a_memoized_func_is_refused() -> None:
    """The loops of a case's copy have its name."""
    n = hl.Param(hl.Int(32), "n")
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x + 10 * y
    g[x, y] = h[x, y] + h[x, y + 1]
    f[x, y] = g[x, y] * 2
    f.specialize(n > 3)
    f.specialize_fail("n is small")
    g.compute_at(f, y).memoize()
    h.compute_at(g, y).store_root()
    with pytest.raises(hl.ScheduleError, match='"h" is computed inside of its loops, with memory outside'):
        f.compile_jit()


def test_ring_around_the_loops_of_a_memoized_func_is_none() -> None:
    """The thread that computes what goes into it would wait for iterations that are left out."""
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x + 10 * y
    g[x, y] = h[x, y] + h[x + 1, y]
    f[x, y] = g[x, y] + g[x, y + 1] + g[x, y + 2]
    g.compute_at(f, y).memoize()
    h.compute_at(g, y).hoist_storage_root().ring_buffer(2).async_()
    with pytest.warns(hl.IgnoredDirectiveWarning, match='"g", in whose loops it is computed, is memoized'):
        f.compile_jit()
    for _ in range(2):
        same(f.realize([6, 9]), np.asarray(f.evaluate([6, 9])))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is nothing to fork")
def test_child_of_a_fork_gives_up_what_is_kept() -> None:
    code = """
import os, threading
import halide_core as hl
x, p, g, f = hl.Var("x"), hl.Param(hl.Int(32), "p", 0), hl.Func("g"), hl.Func("f")
g[x] = x * p
f[x] = g[x] + 1
g.compute_root().memoize()
run, ended = f.compile_to_callable([p]), threading.Event()
out = hl.Buffer(hl.Int(32), [20000])
hl.memoization_cache_set_size(1 << 24)
def work():
    n = 0
    while not ended.is_set():
        n += 1
        run(n, out)
thread = threading.Thread(target=work)
thread.start()
for _ in range(30):
    child = os.fork()
    if child == 0:
        hl.memoization_cache_cleanup()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
ended.set()
thread.join()
"""
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True, timeout=120)


@pytest.mark.parametrize("key", [5, x + 1])
def test_eviction_key_that_is_none(key: object) -> None:
    f = hl.Func("f")
    f[x] = x
    with pytest.raises(hl.ScheduleError, match=r"hl\.EvictionKey"):
        f.memoize(key)  # type: ignore[arg-type]
