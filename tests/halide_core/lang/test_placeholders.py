"""Random numbers and undefined values: what a definition makes of them, and where they can't stand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")
I32, F32, U32 = hl.Int(32), hl.Float(32), hl.UInt(32)


def of(value: object, *args: hl.Var) -> hl.Func:
    f = hl.Func("f")
    f[args or (x,)] = value
    return f


@pytest.mark.parametrize(("make", "type"), [(hl.random_uint, U32), (hl.random_int, I32), (hl.random_float, F32)])
def test_random_numbers_are_a_function_of_seed_and_coordinates(make: Callable[..., hl.Expr], type: hl.Type) -> None:
    assert make().type() is make(3).type() is type
    values = of(make(3), x, y).evaluate([12, 9])
    assert (values == of(make(3), y, x).evaluate([12, 9])).all()
    assert (values[:, 5:] == of(make(3), x, y).evaluate([(5, 7), 9])).all()
    assert len(np.unique(values)) > 100
    assert (values != of(make(4), x, y).evaluate([12, 9])).mean() > 0.99


def test_random_numbers_are_spread_evenly() -> None:
    values = np.asarray(of(hl.random_float(1), x, y).realize([256, 256]), np.float64)
    assert 0 <= values.min() < 0.001
    assert 0.999 < values.max() < 1
    assert abs(values.mean() - 0.5) < 0.005
    assert abs(values.var() - 1 / 12) < 0.002
    assert abs(np.corrcoef(values[:, :-1].ravel(), values[:, 1:].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]) < 0.02
    words = np.asarray(of(hl.random_uint(2)).realize([1 << 14]))
    assert all(0.48 < ((words >> bit) & 1).mean() < 0.52 for bit in range(32))


def test_calls_without_a_seed_differ() -> None:
    values = of((hl.random_uint(), hl.random_uint())).evaluate([50])
    assert (values[0] != values[1]).all()


def test_seed_may_be_a_param() -> None:
    seed = hl.Param(I32, "seed")
    f = of(hl.random_int(seed * 2))
    seed.set(3)
    first = np.array(f.realize([9]))
    assert (first == of(hl.random_int(6)).evaluate([9])).all()
    seed.set(4)
    assert (first != np.asarray(f.realize([9]))).any()
    raised(hl.DefinitionError, lambda: hl.random_int(hl.f32(x)), "seed of random_int()", "int32")
    raised(hl.DefinitionError, lambda: hl.random_float(0.5), "seed of random_float()", "integer")


def test_seed_may_depend_on_the_point() -> None:
    f = of(hl.random_int(x % 3))
    each = [of(hl.random_int(seed)).evaluate([9]) for seed in range(3)]
    assert f.evaluate([9]).tolist() == np.asarray(f.realize([9])).tolist() == [each[i % 3][i] for i in range(9)]
    r, source = hl.RDom([(0, 4)], "r"), of(x * 7)
    total = of(hl.sum(hl.random_uint(source[x] + r.x)))
    total.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    assert total.evaluate([6]).tolist() == np.asarray(total.realize([6])).tolist()
    assert len(set(total.evaluate([6]).tolist())) == 6
    nested = of(hl.random_uint(hl.random_int(3)))
    assert nested.evaluate([4]).tolist() == of(hl.random_uint(of(hl.random_int(3))[x])).evaluate([4]).tolist()


def test_random_coordinates_of_an_update() -> None:
    f, g, r = of(0), hl.Func("g"), hl.RDom([(0, 100)], "r")
    f[hl.random_int() % 5] += hl.select(r.x >= 0, 1, 0)
    g[x] = f[x]
    f.compute_root()
    values = g.evaluate([6])
    assert values.tolist() == np.asarray(g.realize([6])).tolist()
    assert values.sum() == 100 and (values[:5] > 5).all()
    assert g.certify().ok


@pytest.mark.parametrize("seed", [None, 3, x])
def test_random_predicate_of_an_rdom(seed: hl.ExprLike | None) -> None:
    r = hl.RDom([(0, 200)], "r")
    r.where(hl.random_float(seed) < 0.25)
    funcs = [of(0), of(0)]
    for f in funcs:
        f[x] += hl.select(r.x >= 0, 1, 0)
        f[x] += r.x
        f.update(0).vectorize(x, 4)
        f.update(1).reorder(x, r.x)
    first, second = (f.evaluate([9]) for f in funcs)
    assert first.tolist() == second.tolist() == np.asarray(funcs[0].realize([9])).tolist()
    only = of(0)
    only[x] += hl.select(r.x >= 0, 1, 0)
    counts = only.evaluate([9])
    assert len(set(counts.tolist())) > 1 and ((counts > 25) & (counts < 80)).all()
    raised(hl.DefinitionError, lambda: r.where(r.x > 3), "restricted")


def test_random_predicate_under_an_rfactor() -> None:
    r, ro, u, f = hl.RDom([(0, 50)], "r"), hl.RVar("ro"), hl.Var("u"), of(0)
    r.where(hl.random_int() % 2 == 0)
    f[x] += r.x
    f.update().split(r.x, ro, hl.RVar("ri"), 8).rfactor(ro, u).compute_root().update().parallel(u)
    assert f.evaluate([4]).tolist() == np.asarray(f.realize([4])).tolist()
    assert f.certify().ok


def test_random_numbers_of_an_update_differ_by_iteration() -> None:
    f, r = of(0.0), hl.RDom([(0, 40)])
    f[x] = hl.max(f[x], hl.random_float(1) + hl.f32(r.x) * 0.0)
    assert (f.evaluate([3]) > 0.8).all()
    g, s = of(hl.u32(0)), hl.RDom([(0, 4)])
    g[s.x] = hl.random_uint(7)
    wanted = of(hl.random_uint(7)).evaluate([4])
    assert (g.evaluate([4]) == wanted).all()
    assert (np.asarray(g.realize([4])) == wanted).all()


def test_random_numbers_are_the_same_under_every_schedule() -> None:
    def noise(scheduled: bool) -> hl.Func:
        f, g = hl.Func("f"), hl.Func("g")
        f[x, y] = hl.random_float(5) + hl.f32(hl.random_int(5) % 3)
        g[x, y] = f[x, y] + f[x + 1, y - 1]
        if scheduled:
            g.vectorize(x, 8, hl.TailStrategy.GuardWithIf).parallel(y)
            f.compute_at(g, y).vectorize(x, 4)
        return g

    wanted = np.asarray(noise(False).realize([19, 5]))
    assert (np.asarray(noise(True).realize([19, 5])) == wanted).all()
    assert (noise(True).evaluate([19, 5]) == wanted).all()


def test_update_leaves_what_is_undefined() -> None:
    f = of((x, x * 10))
    f[x] = (hl.undef(I32), hl.select(x < 2, -1, hl.undef(I32)))
    assert [a.tolist() for a in f.evaluate([4])] == [[0, 1, 2, 3], [-1, -1, 20, 30]]
    assert [np.asarray(b).tolist() for b in f.realize([4])] == [[0, 1, 2, 3], [-1, -1, 20, 30]]
    g = of(x)
    g[x] = hl.select(x < 2, hl.undef(I32), x == 3, 5, hl.undef(I32)) * 2 + 1
    assert g.evaluate([5]).tolist() == [0, 1, 2, 11, 4]
    assert repr(g.update_value(0)) == (
        "select(select(x < 2, false, x == 3), select(x < 2, 0, select(x == 3, 5, 0))*2 + 1, g[x])".replace("g", "f")
    )


def when(condition: hl.Expr, value: hl.ExprLike) -> hl.Expr:
    return hl.select(condition, value, hl.undef(I32))


def test_what_is_undefined_under_several_conditions_is_refused() -> None:
    f, r = of((x, x * 10)), hl.RDom([(0, 4)])
    raised(hl.DefinitionError, lambda: f.__setitem__(x, (when(x < 2, 5), when(x < 3, 6))), '"f"', "x < 2, x < 3")
    raised(hl.DefinitionError, lambda: hl.Func("u").__setitem__(x, (when(x < 2, 5), when(x < 3, 6))), '"u"', "values")
    f[x] = (when(x < 2, 5), when(hl.Expr(2) > x, 6))
    assert [a.tolist() for a in f.evaluate([4])] == [[5, 5, 2, 3], [6, 6, 20, 30]]
    g, y = hl.Func("g"), hl.Var("y")
    g[x, y] = 0
    clamped = [hl.clamp(when(r.x < n, r.x), 0, 3) for n in (2, 3)]
    raised(hl.DefinitionError, lambda: g.__setitem__(tuple(clamped), 1), '"g"', "coordinates", "< 2", "< 3")
    g[clamped[0], clamped[0]] = 1
    assert g.evaluate([4, 4]).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0] * 4, [0] * 4]


def test_two_funcs_with_other_undefined_points_are_read() -> None:
    f, g, h = of(when(x < 2, 5)), of(when(x < 3, 6)), hl.Func("h")
    h[x] = (f[x], g[x])
    assert [a.tolist() for a in h.evaluate([4])] == [[5, 5, 0, 0], [6, 6, 6, 0]]


def test_first_definition_of_something_undefined_is_zero() -> None:
    f = of(hl.undef(hl.UInt(8)) + 3)
    f[2] = hl.u8(9)
    assert f.type() is hl.UInt(8)
    assert f.evaluate([4]).tolist() == [0, 0, 9, 0]
    assert of((hl.undef(F32), x)).evaluate([2])[0].tolist() == [0.0, 0.0]
    raised(hl.DefinitionError, lambda: hl.undef(3), "type")  # type: ignore[arg-type]  # on purpose


def test_accumulation_of_something_undefined_adds_nothing() -> None:
    f, r = of(x), hl.RDom([(0, 4)])
    f[x] += hl.select(r.x > x, r.x, hl.undef(I32))
    assert f.evaluate([4]).tolist() == [6, 6, 5, 3]
    g = hl.Func("g")
    g[x] += hl.select(x > 1, x, hl.undef(I32))
    assert g.evaluate([4]).tolist() == [0, 0, 2, 3]


def test_placeholder_is_refused_where_no_definition_gives_it_a_meaning() -> None:
    f, r = of(x), hl.RDom([(0, 4)])
    raised(hl.DefinitionError, lambda: r.where(hl.undef(I32) > r.x), "undef(int32)", "predicate of an RDom")
    raised(hl.DefinitionError, lambda: hl.RDom([(0, hl.random_int(x))]), "random_int(x)", "starts")
    raised(hl.DefinitionError, lambda: hl.RDom([(0, hl.undef(I32))]), "undef(int32)", "starts")
    raised(hl.ScheduleError, lambda: f.specialize(hl.random_int(3) > 0), "random_int(3)", "starts")


BITS = np.array([0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan, -np.nan, 1e-40, 3e38])


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("lanes", [1, 4])
def test_bits_of_floats(bits: int, lanes: int) -> None:
    given = BITS.astype(f"f{bits // 8}")
    source, real = hl.Buffer(given), hl.Float(bits)
    words, back = hl.Func("words"), hl.Func("back")
    words[x] = hl.reinterpret(hl.Int(bits), source[x])
    back[x] = hl.reinterpret(real, hl.reinterpret(hl.UInt(bits), source[x]) ^ 1)
    wanted = given.view(f"i{bits // 8}").copy()
    wanted[np.isnan(given)] = np.array(np.nan, given.dtype).view(wanted.dtype)
    flipped = (wanted ^ 1).view(given.dtype)
    for f, values in ((words, wanted), (back, flipped)):
        if lanes > 1:
            f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)
        np.testing.assert_array_equal(np.asarray(f.realize([10])), values, strict=True)
        np.testing.assert_array_equal(f.evaluate([10]), values, strict=True)


def halved() -> tuple[hl.Func, hl.Param]:
    p = hl.Param(I32, "p")
    f = hl.Func("f")
    f[x] = hl.require(p > 0, x / p, "p must be positive, not", p) + 1
    return f, p


def test_requirement_is_checked_when_a_pipeline_starts() -> None:
    f, p = halved()
    assert repr(f.value()) == "x/p + 1"
    assert [a.name for a in f.infer_arguments()] == ["p"]
    p.set(2)
    assert f.evaluate([4]).tolist() == np.asarray(f.realize([4])).tolist() == [1, 1, 2, 2]
    p.set(-3)
    for run in (f.realize, f.evaluate):
        with pytest.raises(hl.PipelineError, match="Requirement Failed: \\(false\\) p must be positive, not -3"):
            run([4])


def test_requirement_of_a_producer_is_one_of_every_consumer() -> None:
    f, p = halved()
    g, h, r = hl.Func("g"), hl.Func("h"), hl.RDom([(0, 3)])
    g[x] = x
    g[r.x] = g[r.x] + f[r.x]
    h[x] = g[x] * 2 + hl.sum(r, hl.require(p < 9, f[r.x]))
    p.set(1)
    assert np.asarray(h.realize([2])).tolist() == h.evaluate([2]).tolist() == [8, 12]
    call = h.compile_to_callable([p])
    out = np.zeros(2, np.int32)
    for value, told in ((0, "p must be positive, not 0"), (9, "Requirement Failed: \\(false\\) p < 9")):
        with pytest.raises(hl.PipelineError, match=told):
            call(value, out)
        p.set(value)
        with pytest.raises(hl.PipelineError, match=told):
            h.evaluate([2])
    assert h.certify().ok


def test_requirement_of_a_point_is_refused() -> None:
    g = of(x)
    raised(hl.DefinitionError, lambda: hl.require(x > 0, x), '"x"', "condition of require()", "starts")
    raised(hl.DefinitionError, lambda: hl.require(g[x] > 0, x), '"x"', "condition of require()")
    g[0] = 3
    raised(hl.DefinitionError, lambda: hl.require(g[0] > 0, x), 'a point of "f"', "condition of require()")
    raised(hl.DefinitionError, lambda: hl.require(True, x, x), '"x"', "A value of require()")
    raised(hl.DefinitionError, lambda: hl.require(3, x), "condition of require()")


def test_requirement_by_a_func_of_params() -> None:
    p, q, s, f = hl.Param(I32, "p", 1), hl.Param(I32, "q", 2), hl.Func("s"), hl.Func("f")
    s[x, y] = hl.require(q != 5, p) + q
    f[x] = hl.require(s[x, 0] == 7, s[x, 1] * 2 + x, "the sum is", s[x, x])
    s.compute_root().vectorize(x, 4)
    f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    for run in (f.realize, f.evaluate):
        q.set(2)
        with pytest.raises(hl.PipelineError, match="the sum is 3"):
            run([5])
        q.set(6)
        assert np.asarray(run([5])).tolist() == [14, 15, 16, 17, 18]
    raised(hl.DefinitionError, lambda: s.__setitem__((x, 0), 1), '"s"', "used")
    alone = of(hl.require(s[0, 0] != 3, x))
    q.set(5)
    for run in (alone.realize, alone.evaluate):
        with pytest.raises(hl.PipelineError, match="q != 5"):
            run([5])


def test_requirement_where_a_start_up_value_stands() -> None:
    p = hl.Param(I32, "p", 3)
    r, q = hl.RDom([(0, hl.require(p > 2, p))], "r"), hl.RDom([(0, 4)], "q")
    q.where(hl.require(p > 1, q.x) < p)
    by_extent, by_predicate, by_point, by_sum = of(0), of(0), of(0), of(hl.sum(r, r.x))
    by_extent[x] += r.x
    by_predicate[x] += q.x
    by_point[hl.require(p > 0, 2)] = p
    for f, least, values in (
        (by_extent, 2, [3, 3, 3]), (by_predicate, 1, [3, 3, 3]), (by_point, 0, [0, 0, 3]), (by_sum, 2, [3, 3, 3]),
    ):  # fmt: skip
        for run in (f.realize, f.evaluate):
            p.set(3)
            assert np.asarray(run([3])).tolist() == values
            p.set(least)
            with pytest.raises(hl.PipelineError, match=f"p > {least}|{least} < p"):
                run([3])
