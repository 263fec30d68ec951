"""Aligned bounds: the least interval that meets a directive, what splits make of it, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.scheduling.test_legality import refused
from tests.support.answered import Numbers, output_regions
from tests.support.dumps import pixels, producer_and_consumer
from tests.support.raising import raised

xo, xi, z = (hl.Var(n) for n in ("xo", "xi", "z"))


def stencil() -> tuple[hl.Func, hl.Func, hl.Var]:
    """``f[x] = g[x - 1] + g[x + 1]``, ``g`` at the root."""
    x = hl.Var("x")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x] = g[x - 1] + g[x + 1]
    g.compute_root()
    return g, f, x


@pytest.mark.parametrize("low", range(-9, 10))
@pytest.mark.parametrize("extent", [1, 2, 7, 8, 9])
def test_aligned_interval_is_the_least_one(low: int, extent: int) -> None:
    g, f, x = stencil()
    g.align_bounds(x, 8, 3)
    ((start, length),) = Numbers(f, {"f": [(low, extent)]}).cpu("g")
    first, last = low - 1, low + extent
    assert start % 8 == 3 and length % 8 == 0
    assert first - 8 < start <= first and last < start + length <= last + 8


@pytest.mark.parametrize("extent", [1, 2, 5, 6, 7])
def test_aligned_extent_starts_where_it_did(extent: int) -> None:
    g, f, x = stencil()
    g.align_extent(x, 4)
    assert Numbers(f, {"f": [(5, extent)]}).cpu("g") == ((4, (extent + 2 + 3) // 4 * 4),)


@pytest.mark.parametrize("m", [1, 3, 8])
def test_alignment_to_a_param(m: int) -> None:
    n = hl.Param(hl.Int(32), "n", m)
    g, f, x = stencil()
    g.align_bounds(x, n, 1)
    assert np.array_equal(np.asarray(f.realize([11])), f.evaluate([(0, 11)]))


def test_modulus_that_comes_to_nothing() -> None:
    f, x, _y = pixels()
    with pytest.raises(hl.ScheduleError, match=r"The modulus of align_bounds\(\) must be positive, not 0\."):
        f.align_bounds(x, hl.Expr(4) - hl.Expr(4))


def test_modulus_from_a_param_that_is_not_positive() -> None:
    n = hl.Param(hl.Int(32), "n", 0)
    g, f, x = stencil()
    g.align_bounds(x, n)
    with pytest.raises(hl.PipelineError, match=r"g\.align_bounds\(x, n\): it must hold that 0 < "):
        f.realize([11])


def test_split_by_the_modulus_has_no_tail() -> None:
    g, f, x = stencil()
    g.align_bounds(x, 8).split(x, xo, xi, 8, hl.TailStrategy.GuardWithIf)
    text = str(f.explain())
    program = text[text.index("== The program") :]
    assert "if g.s0.x" not in program
    assert "if g.s0.x" in text


def test_output_grows_and_is_cropped() -> None:
    f, x, _y = pixels()
    f.align_bounds(x, 8, 2).vectorize(x, 8)
    assert output_regions(f, [(0, 5), (0, 3)]) == [((-6, 16), (0, 3))]
    assert np.array_equal(np.asarray(f.realize([5, 3])), f.evaluate([(0, 5), (0, 3)]))


def test_output_into_a_buffer_that_is_too_small_names_the_directive() -> None:
    f, x, _y = pixels()
    f.align_extent(x, 8)
    with pytest.raises(hl.PipelineError, match=r"because of f\.align_extent\(x, 8\), but it has only 0 to 4"):
        f.realize(hl.Buffer(hl.Int(32), [5, 3]))
    f.realize(hl.Buffer(hl.Int(32), [16, 3]))


def test_empty_region_stays_empty() -> None:
    flag, x = hl.Param(hl.Bool(), "flag", False), hl.Var("x")
    image = hl.ImageParam(hl.Int(32), 1, "in")
    image.set(np.arange(3, dtype=np.int32))
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = image[x]
    f[x] = hl.select(hl.Expr(flag), g[x + 1000], x)
    g.compute_root().align_bounds(x, 16)
    f.specialize(hl.Expr(flag))
    assert list(np.asarray(f.realize([5]))) == [0, 1, 2, 3, 4]


def test_alignment_with_a_shifted_split_of_another_factor() -> None:
    g, f, x = stencil()
    g.align_bounds(x, 6).split(x, xo, xi, 16, hl.TailStrategy.ShiftInwards)
    ((start, length),) = Numbers(f, {"f": [(0, 2)]}).cpu("g")
    assert (start, length) == (-6, 18)
    assert np.array_equal(np.asarray(f.realize([2])), f.evaluate([(0, 2)]))


def test_alignment_of_an_update() -> None:
    x, r = hl.Var("x"), hl.RDom([(0, 4)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    g[x] += r.x * x
    f[x] = g[x] + g[x + 3]
    g.compute_root().align_bounds(x, 5, 2).update().vectorize(x, 5)
    numbers = Numbers(f, {"f": [(0, 4)]})
    assert numbers.cpu("g", 1) == numbers.cpu("g", 0) == ((-3, 10),)
    assert np.array_equal(np.asarray(f.realize([4])), f.evaluate([(0, 4)]))


def test_bound_that_is_aligned() -> None:
    f, x, _y = pixels()
    f.bound(x, 8, 16).align_bounds(x, 8).vectorize(x, 8)
    found = hl.Buffer(hl.Int(32), [16, 3])
    found.set_min([8, 0])
    f.realize(found)
    assert np.array_equal(np.asarray(found), f.evaluate([(8, 16), (0, 3)]))


@pytest.mark.uncertified("every run is refused at its start")
def test_bound_that_does_not_meet_the_alignment() -> None:
    f, x, _y = pixels()
    f.bound(x, 0, 12).align_bounds(x, 8)
    with pytest.raises(hl.PipelineError, match=r"f\.align_bounds\(x, 8\): another directive gives bounds"):
        f.realize([12, 3])


# -- what is refused


def test_dimension_that_is_not_there() -> None:
    f, _x, _y = pixels()
    raised(hl.ScheduleError, lambda: f.align_bounds(z, 4), 'no dimension "z"', "x, y")
    raised(hl.ScheduleError, lambda: f.align_extent(z, 4), 'no dimension "z"', "x, y")
    raised(hl.ScheduleError, lambda: f.set_estimate(z, 0, 4), 'no dimension "z"', "x, y")


@pytest.mark.parametrize("modulus", [0, -3, 1.5, "8"])
def test_modulus_that_is_none(modulus: object) -> None:
    f, x, _y = pixels()
    raised(hl.ScheduleError, lambda: f.align_bounds(x, modulus), "The modulus of align_bounds() must be")  # type: ignore[arg-type]  # on purpose
    raised(hl.ScheduleError, lambda: f.align_extent(x, modulus), "The modulus of align_extent() must be")  # type: ignore[arg-type]  # on purpose


def test_dimension_that_is_aligned_twice() -> None:
    f, x, y = pixels()
    f.align_bounds(x, 4).align_bounds(y, 4)
    refused(lambda: f.align_extent(x, 8), f, "f.align_extent(x, 8)", "f.align_bounds(x, 4)", "Keep one")


def test_alignment_of_an_inlined_func() -> None:
    g, f, x, _y = producer_and_consumer()
    g.align_bounds(x, 4)
    with pytest.warns(hl.HalideWarning, match=r"g\.align_bounds\(x, 4\).*no effect.*g\.compute_root\(\)"):
        f.loop_nest()


def test_rename_to_a_loop_that_is_there() -> None:
    f, x, y = pixels()
    refused(lambda: f.rename(x, y), f, "f.rename(x, y)", '"y" already names a loop')


def test_rename_of_a_loop_that_is_not_there() -> None:
    f, _x, _y = pixels()
    refused(lambda: f.rename(z, xo), f, "f.rename(z, xo)", 'no loop "z"', "innermost first: x, y")


# -- estimates


def test_estimates_change_nothing() -> None:
    g, f, x, y = producer_and_consumer()
    image, p = hl.ImageParam(hl.UInt(8), 2, "in"), hl.Param(hl.Int(32), "p")
    before = str(f.explain())
    f.set_estimate(x, 0, 100).set_estimates([(0, 100), hl.Range(0, 50)])
    g.set_estimate(y, 0, 10)
    f.output_buffer().set_estimates([(0, 100), (0, 50)]).dim(0).set_estimate(0, 7)
    assert str(f.explain()) == before
    assert image.set_estimates([(0, 10), (0, 20)]) is image
    image.dim(0).set_estimate(0, 5)
    p.set_estimate(3)
    assert image.source.estimates.keys() == {0, 1} and p.source.estimate == 3
    assert p.get() is None
    assert [str(d) for d in f.function.directives][-1] == "f.set_estimate(x, 0, 7)"


def test_estimates_of_another_number_of_dimensions() -> None:
    f, x, _y = pixels()
    image = hl.ImageParam(hl.UInt(8), 2, "in")
    raised(hl.ScheduleError, lambda: f.set_estimates([(0, 1)]), "2 dimensions", "1 ranges")
    raised(hl.DefinitionError, lambda: image.set_estimates([(0, 1)]), "2 dimensions", "1 ranges")
    raised(hl.ScheduleError, lambda: f.set_estimate(x, 0, x), "The extent of set_estimate()")


def test_unscheduled_stage() -> None:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = 0
    f[x] += x
    f.update().unscheduled()
    f.update().vectorize(x, 4)
    raised(hl.ScheduleError, lambda: f.update().unscheduled(), "has a schedule: f.update().vectorize(x, 4)")
