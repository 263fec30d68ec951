"""``ImageParam.in_``: Funcs of an input's values, which consumers read in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.checking import check, image, numbers

x, y, xo, yo, xi, yi, _0, _1 = (hl.Var(n) for n in "x y xo yo xi yi _0 _1".split())
GUARD = hl.TailStrategy.GuardWithIf


def two() -> tuple[hl.ImageParam, hl.Func, hl.Func]:
    """An input, f, and g; both read it, and f asks for its shape too."""
    im, f, g = image(numbers((20, 20), np.uint8), "im"), hl.Func("f"), hl.Func("g")
    f[x, y] = hl.u16(im[x, y]) + im[x + 1, y + 1] + im.width()
    g[x, y] = f[x, y] * 2 + im[x, y]
    return im, f, g


def expected(g: hl.Func) -> None:
    """The compiled result is that of the reference."""
    check(g, [19, 19], np.asarray(g.evaluate([19, 19])))


def test_tile_of_an_input() -> None:
    im, f, g = two()
    f.compute_root().tile(x, y, xo, yo, xi, yi, 8, 8, GUARD)
    im.in_(f).compute_at(f, xo).vectorize(_0, 4)
    assert "produce im_in_f:" in g.loop_nest()
    expected(g)


def test_several_consumers_and_all() -> None:
    im, f, g = two()
    f.compute_root()
    assert im.in_([f, g]).compute_root().name() == "im_in_f_g"
    expected(g)
    im, f, g = two()
    f.compute_root()
    im.in_(f).compute_root()
    im.in_().compute_root().parallel(_1)
    assert all(f"produce {name}:" in g.loop_nest() for name in ("im_in_f", "im_in"))
    expected(g)


def test_without_a_place_it_changes_nothing() -> None:
    im, _f, g = two()
    before = g.loop_nest()
    im.in_()
    assert g.loop_nest() == before
    expected(g)


def test_same_call_gives_the_same_func() -> None:
    im, f, g = two()
    im.in_(f).compute_root()
    im.in_(f).vectorize(_0, 4)
    assert [d for d in hl.Schedule(g).directives() if d.startswith("im.in_")] == ["im.in_(f)"]
    with pytest.raises(hl.ScheduleError, match=r'im\.in_\(f\), at line .* made "im_in_f"'):
        im.in_([f, g])


def test_shape_of_the_input_stays_its_own() -> None:
    im = image(numbers((20, 20), np.uint8), "im")
    r, f = hl.RDom([(0, im.width()), (0, im.height())], "r"), hl.Func("f")
    f[x] = hl.u32(im.height())
    f[x] += hl.u32(im[r.x, r.y]) * hl.u32(im.width())
    im.in_(f).compute_root()
    check(f, [3], np.asarray(f.evaluate([3])))


def test_wrapper_of_a_wrapper_and_of_another_pipeline() -> None:
    im, f, g = two()
    other = hl.Func("other")
    other[x, y] = im[x, y] + 1
    f.compute_root()
    wrapper = im.in_(f).compute_root()
    wrapper.in_(f).compute_at(f, y)
    im.in_(other).compute_root()
    expected(g)
    check(other, [19, 19], np.asarray(other.evaluate([19, 19])))


def test_prefetch_of_the_input_in_its_wrapper() -> None:
    im, f, g = two()
    f.compute_root()
    im.in_(f).compute_root().prefetch(im, _1, _1, 2)
    expected(g)


def test_schedule_as_a_value() -> None:
    im, f, g = two()
    f.compute_root()
    im.in_(f).compute_at(f, y)
    plain = hl.Schedule(g)
    assert "im_in_f = im.in_(f)\n    im_in_f.compute_at(f, y)" in plain.source()
    plain.clear()
    assert "im_in_f" not in g.loop_nest()
    space: dict[str, Any] = {"hl": hl}
    exec(plain.source(), space)
    plain.apply()
    assert hl.Schedule(g).directives() == plain.directives()
    im, f, g = two()
    space["schedule"](f, im)
    assert hl.Schedule(g).directives() == plain.directives()
    with pytest.raises(hl.ScheduleError, match="makes a Func"):
        plain.apply(g)
