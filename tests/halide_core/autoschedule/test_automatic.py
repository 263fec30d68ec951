"""Automatic schedules: asked for in each way, they are there, they are kept, and they change no value."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import halide_core as hl

x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
HOST = "x86-64-linux-avx-avx2-fma-f16c-sse41"


def blur(width: int = 96, height: int = 80) -> hl.Func:
    values = np.random.default_rng(1).integers(0, 9999, (height + 2, width + 2), np.uint16)
    image = hl.Buffer(values, name="image")
    across, f = hl.Func("across"), hl.Func("blurred")
    across[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
    f[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3
    return f


def product(n: int = 96) -> hl.Func:
    random = np.random.default_rng(2)
    a, b = (hl.Buffer(random.random((n, n), np.float32), name=name) for name in "ab")
    total, f = hl.Func("total"), hl.Func("product")
    k = hl.RDom([(0, n)], "k")
    total[x, y] = 0.0
    total[x, y] += a[k, y] * b[x, k]
    f[x, y] = total[x, y] * 2.0
    return f


@pytest.fixture(autouse=True)
def no_default() -> Iterator[None]:
    yield
    hl.set_default_schedule(None)


def lines(f: hl.Func) -> list[str]:
    return hl.Schedule(f).directives()


def test_realize_has_a_producer_slide_and_changes_no_value() -> None:
    f = blur()
    found = f.realize([96, 80], schedule="auto")
    assert np.array_equal(found, f.evaluate([96, 80]))
    text = str(hl.Schedule(f))
    assert "across.store_at(blurred, yo)" in text
    assert "across.compute_at(blurred, yi)" in text
    assert "blurred.vectorize(x, " in text


def test_reduction_gets_a_register_tile_and_the_same_sums() -> None:
    f = product()
    plain = product().realize([96, 96])
    found = f.realize([96, 96], schedule="auto")
    assert np.array_equal(found, plain)
    assert np.allclose(found, f.evaluate([96, 96]), rtol=1e-5)
    assert "total.update(0).unroll(y)" in str(hl.Schedule(f))


@pytest.mark.parametrize("size", [(1, 1), (3, 70), (96, 1), (33, 17)])
def test_realize_of_awkward_sizes(size: tuple[int, int]) -> None:
    f = blur()
    assert np.array_equal(f.realize(list(size), schedule="auto"), f.evaluate(list(size)))


def test_realize_into_an_array_chooses_for_its_shape() -> None:
    f, out = blur(), np.zeros((64, 96), np.uint16)
    f.realize(out, schedule="auto")
    assert np.array_equal(out, f.evaluate([96, 64]))


def test_choice_is_kept_for_the_same_sizes_and_made_again_for_others() -> None:
    f = blur()
    f.realize([96, 80], schedule="auto")
    first = list(f.function.directives)
    f.realize([96, 80], schedule="auto")
    assert all(a is b for a, b in zip(first, f.function.directives, strict=True))
    text = lines(f)
    f.realize([2, 80], schedule="auto")
    assert lines(f) != text
    assert np.array_equal(f.realize([96, 80], schedule="auto"), f.evaluate([96, 80]))
    assert lines(f) == text


def test_source_and_value_give_the_same_loops_to_the_algorithm_made_anew() -> None:
    for make in (blur, product):
        f, pasted, applied = make(), make(), make()
        f.set_estimate(x, 0, 96).set_estimate(y, 0, 80)
        result = f.apply_autoscheduler(HOST)
        hl.Schedule(f).apply(applied)
        space: dict[str, object] = {"hl": hl}
        exec(result.schedule_source, space)  # what a user would paste
        funcs = {g.name: hl.Func._of(g) for g in hl.Schedule(pasted)._functions}
        called = result.schedule_source.partition("(")[2].partition(")")[0].split(", ")
        space["schedule"](*(funcs[name] for name in called))  # type: ignore[operator]  # a function
        assert pasted.loop_nest() == applied.loop_nest() == f.loop_nest()


@pytest.mark.parametrize("name", ["Mullapudi2016", "Adams2019", "Li2018"])
def test_autoschedulers_of_halide_and_their_parameters(name: str) -> None:
    f = blur(2000, 1000)
    f.set_estimates([(0, 2000), (0, 1000)])
    params = hl.AutoschedulerParams(name, {"parallelism": "16", "random_dropout_seed": "3"})
    result = hl.Pipeline(f).apply_autoscheduler(hl.Target(HOST), params)
    assert isinstance(result, hl.AutoSchedulerResults)
    assert result.autoscheduler_params is params
    assert "blurred.split(y, yo, yi, " in result.schedule_source
    assert bool(result.explanation) == (name != "Mullapudi2016")
    assert "across.vectorize(x, 16, " in result.schedule_source
    assert "blurred.parallel(yo)" in result.schedule_source


@pytest.mark.parametrize("make", [blur, product])
def test_search_chooses_for_a_call_and_changes_no_value(make: Callable[[], hl.Func]) -> None:
    f, plain = make(), make()
    assert np.array_equal(f.realize([96, 80], schedule="model"), plain.realize([96, 80]))
    assert any("vectorize" in line for line in lines(f))
    hl.set_default_schedule("model")
    again = make()
    again.realize([96, 80])
    assert lines(again) == lines(f)


def test_search_gives_each_reduction_that_is_read_at_its_points_a_register_tile() -> None:
    f = product()
    f.set_estimates([(0, 96), (0, 96)])
    result = f.apply_autoscheduler(HOST, hl.AutoschedulerParams("Model", {"parallelism": "2"}))
    assert "total.update(0).unroll(y)" in result.schedule_source
    assert "total: at each register tile of product" in result.explanation


def test_a_narrow_beam_finds_no_less_costly_choice() -> None:
    def cycles(width: int) -> float:
        f = blur(2000, 1000)
        f.set_estimates([(0, 2000), (0, 1000)])
        params = hl.AutoschedulerParams("Adams2019", {"parallelism": "2", "beam_size": str(width)})
        told = f.apply_autoscheduler(HOST, params).explanation
        return float(told.rpartition("all: ")[2].partition(" ")[0])

    assert cycles(1) >= cycles(32)


@pytest.mark.parametrize("schedule", ["auto", "model"])
def test_loop_that_selects_values_is_written_out_where_all_readers_say_a_constant(schedule: str) -> None:
    image = hl.Buffer(np.random.default_rng(5).random((90, 120), np.float32))
    chosen, f, g = hl.Func("chosen"), hl.Func("f"), hl.Func("g")
    values = [hl.sin(image[x, y]), hl.exp(image[x, y]), hl.cos(image[x, y])]
    chosen[x, y, c] = hl.select(c == 1, values[0], c == 2, values[1], values[2])
    down = [hl.max(chosen[x, y, k], chosen[x, y + 1, k], chosen[x, y + 2, k]) for k in (1, 2, 3)]
    f[x, y] = down[0] * down[2] + down[1]
    g[x, y, c] = chosen[x, y, c] + chosen[x, y + 1, c] + chosen[x, y + 2, c]
    found = np.asarray(f.realize([120, 80], schedule=schedule))
    assert np.allclose(found, f.evaluate([120, 80]), rtol=1e-6)
    assert "chosen.bound(c, 1, 3)" in lines(f)
    assert "chosen.unroll(c)" in lines(f)
    first = list(chosen.function.directives)
    f.realize([120, 80], schedule=schedule)
    assert all(a is b for a, b in zip(first, chosen.function.directives, strict=True))
    assert np.array_equal(f.realize([110, 50], schedule=schedule), found[:50, :110])
    g.realize([120, 80, 2], schedule=schedule)
    assert "chosen.unroll(c)" not in lines(g)


@pytest.mark.parametrize("schedule", ["auto", "model"])
def test_reduction_that_is_also_read_elsewhere_by_way_of_an_inlined_func(schedule: str) -> None:
    """In a register tile it would have the size of what the inlined Func reads, which no constant says."""
    f, r = hl.Func("f"), hl.RDom([(0, 40)], "r")
    f[x, y] = 0
    f[x, y] += (r * 7 + y * 13) * (x * 3 + r)
    k, g = hl.Func("k"), hl.Func("g")
    k[x, y] = f[hl.clamp(x - 1, 0, 90), y]
    g[x, y] = f[x, y] * 2 + k[x, y]
    plain = np.asarray(g.realize([100, 96]))
    assert np.array_equal(g.realize([100, 96], schedule=schedule), plain)


@pytest.mark.parametrize("schedule", ["auto", "model"])
def test_reduction_whose_loops_have_promised_lengths_gets_no_register_tile(schedule: str) -> None:
    def made() -> hl.Func:
        r, f, g = hl.RDom([(0, 40)], "r"), hl.Func("f"), hl.Func("g")
        f[x, y] = 0
        f[x, y] += (r * 7 + y * 13) * (x * 3 + r)
        g[x, y] = f[x, y] * 2
        f.align_bounds(x, 24)
        return g

    assert np.array_equal(made().realize([100, 96], schedule=schedule), made().realize([100, 96]))


def test_update_of_whole_columns_is_not_computed_again_for_every_strip() -> None:
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 512)], "r")
    f[x, y] = 0
    f[x, r] = (x * 3 + r) * (x - r)
    g[x, y] = f[x, y] + f[x, y + 1]
    assert np.array_equal(g.realize([512, 500], schedule="auto"), g.evaluate([512, 500]))
    assert "f.compute_root()" in lines(g)


@pytest.mark.parametrize("schedule", ["auto", "model"])
@pytest.mark.parametrize("size", [0, 32])
def test_func_whose_region_nothing_says_and_what_it_reads(schedule: str, size: int) -> None:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = x * 3 + y * 7
    g[x, y] = f[x, y] + f[x, y + 1]
    g[x, y] += f[x, y] * 2
    h[x, y] = g[hl.i32(hl.abs(x)), y] + g[x, y + 1]
    plain = np.asarray(h.realize([size, size]))
    assert np.array_equal(h.realize([size, size], schedule=schedule), plain)


def test_one_thread_gets_no_parallel_loop() -> None:
    f = blur(2000, 1000)
    f.set_estimates([(0, 2000), (0, 1000)])
    result = f.apply_autoscheduler(HOST, hl.AutoschedulerParams("", {"parallelism": "1"}))
    assert "parallel" not in result.schedule_source


def test_compiles_choose_for_the_estimates() -> None:
    f = blur()
    f.set_estimates([(0, 96), (0, 80)])
    out = np.zeros((80, 96), np.uint16)
    f.compile_to_callable([], schedule="auto")(out)
    assert np.array_equal(out, f.evaluate([96, 80]))
    assert any("vectorize" in line for line in lines(f))


def test_default_is_for_pipelines_without_a_schedule() -> None:
    hl.set_default_schedule("auto")
    f = blur()
    assert np.array_equal(f.realize([96, 80]), f.evaluate([96, 80]))
    assert any("compute_at" in line for line in lines(f))
    mine = blur()
    mine.vectorize(x, 8)
    before = lines(mine)
    mine.realize([96, 80])
    assert lines(mine) == before
    unknown = blur()
    unknown.compile_jit()
    assert not lines(unknown)


def test_func_of_two_pipelines_is_chosen_for_each() -> None:
    f = blur()
    g = hl.Func("twice")
    g[x, y] = f[x, y] * 2 + f[x + 1, y]
    f.realize([96, 80], schedule="auto")
    assert np.array_equal(g.realize([64, 60], schedule="auto"), g.evaluate([64, 60]))
    assert np.array_equal(f.realize([96, 80], schedule="auto"), f.evaluate([96, 80]))


def test_choice_for_another_pipeline_of_one_size_is_none_for_this_one() -> None:
    g, f, h, k = (hl.Func(name) for name in "gfhk")
    g[x, y] = hl.i32(hl.abs(x * 7 - y * 3)) * x
    g[x, y] += 1
    f[x, y] = g[x, y] + g[x, y + 1] + g[x, y + 2]
    h[x, y] = g[x, y] * 2 + f[x, y]
    k[x, y] = g[x, y] - g[x + 1, y]
    for each in (f, h, f, h, k, f, k, h):
        assert np.array_equal(each.realize([100, 100], schedule="auto"), each.evaluate([100, 100]))
        assert all(f"({other}, " not in line for other in {"f", "h", "k"} - {each.name()} for line in lines(each))


def test_histogram_is_summed_in_order_and_its_table_stays() -> None:
    values = np.random.default_rng(3).integers(0, 255, (90, 120), np.uint8)
    image = hl.Buffer(values)
    counts, f = hl.Func("counts"), hl.Func("shares")
    r = hl.RDom([(0, 120), (0, 90)], "r")
    counts[x] = 0
    counts[hl.i32(image[r.x, r.y])] += 1
    f[x, y] = counts[hl.i32(image[x, y])] * 3
    assert np.array_equal(f.realize([120, 90], schedule="auto"), f.evaluate([120, 90]))
    assert any("counts.compute_root()" in line for line in lines(f))


def test_scan_along_a_dimension_keeps_its_order() -> None:
    image = hl.Buffer(np.random.default_rng(4).integers(0, 9, (70, 130), np.int32))
    f = hl.Func("running")
    r = hl.RDom([(1, 129)], "r")
    f[x, y] = image[x, y]
    f[r, y] = f[r - 1, y] + image[r, y]
    assert np.array_equal(f.realize([130, 70], schedule="auto"), f.evaluate([130, 70]))


def test_generator_is_scheduled_for_its_estimates() -> None:
    @hl.generator("doubled")
    class Doubled:
        source = hl.InputBuffer(hl.UInt(16), 2)
        out = hl.OutputBuffer(hl.UInt(16), 2)

        def generate(self) -> None:
            g = self
            g.out[x, y] = g.source[x, y] * 2
            g.out.set_estimates([(0, 640), (0, 480)])

    with hl.GeneratorContext(hl.Target(HOST), hl.AutoschedulerParams("Mullapudi2016", {"parallelism": "4"})):
        made = Doubled()
    (f,) = made._build_pipeline().outputs()
    assert "out.vectorize(x, 16, " in str(hl.Schedule(f))


def test_refusals() -> None:
    f = blur()
    with pytest.raises(hl.ScheduleError, match=r'"blurred" in dimension "x" is not known: set_estimate\(x'):
        f.apply_autoscheduler(HOST)
    with pytest.raises(hl.ScheduleError, match='no autoscheduler "Best"'):
        f.apply_autoscheduler(HOST, hl.AutoschedulerParams("Best"))
    f.set_estimates([(0, 9), (0, 9)])
    with pytest.raises(hl.ScheduleError, match='"parallelism" must be a positive whole number, not "many"'):
        f.apply_autoscheduler(HOST, hl.AutoschedulerParams("", {"parallelism": "many"}))
    with pytest.raises(hl.ScheduleError, match='is one of "auto", "model", "tuned", "measured", or None'):
        f.realize([4, 4], schedule="best")
    f.vectorize(x, 8)
    with pytest.raises(hl.ScheduleError, match=r"scheduled already .*vectorize\(x, 8\)"):
        f.realize([96, 80], schedule="auto")


def test_import_loads_nothing_of_it() -> None:
    code = "import sys, halide_core; sys.exit(any('autoschedule' in m for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def chain_of_means() -> hl.Func:
    before: hl.ImageParam | hl.Func = hl.ImageParam(hl.Float(32), 2)
    for _ in range(6):
        f = hl.Func()
        f[x, y] = (before[x, y - 1] + before[x, y] + before[x, y + 1]) / 3
        before = f
    assert isinstance(before, hl.Func)
    return before


def doubled() -> hl.Func:
    f, across, out = hl.ImageParam(hl.Float(32), 2), hl.Func("across"), hl.Func("out")
    across[x, y] = f[x / 2, y] * 0.25 + f[x / 2 + 1, y] * 0.75
    out[x, y] = across[x, y / 2 - 1 + 2 * (y % 2)] * 0.25 + across[x, y / 2] * 0.75
    return out


@pytest.mark.parametrize("by", ["Heuristic", "Model"])
@pytest.mark.parametrize("make", [chain_of_means, doubled])
def test_every_slide_that_is_chosen_is_made(make: Callable[[], hl.Func], by: str) -> None:
    f = make()
    f.set_estimates([(0, 1920), (0, 1080)])
    f.apply_autoscheduler(None, hl.AutoschedulerParams(by))
    assert "does not slide" not in f.loop_nest()
