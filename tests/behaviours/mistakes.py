"""Documented mistakes: each ends with an error, when it is made or at the latest when the pipeline runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.behaviours.values import Shown


def _refused(hl: Any, run: Callable[[], object]) -> Shown:
    try:
        run()
    except hl.HalideError:
        return [("an error", "an error")]
    return [("no error", "an error")]


def _with(hl: Any, mistake: Callable[[Any, Any, Any, Any], object], size: tuple[int, ...] = (8,)) -> Shown:
    """A mistake made with two Funcs, the first of which is x, and two Vars."""
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")

    def run() -> object:
        f[(x, y)[: len(size)]] = x
        last = mistake(f, g, x, y)
        return (last if isinstance(last, hl.Func) else f).realize(list(size))

    return _refused(hl, run)


def _set(f: Any, at: Any, value: Any) -> Any:
    f[at] = value
    return f


def funcs_are_defined_before_they_are_read(hl: Any) -> Shown:
    """A Func without a definition has no values."""
    return _with(hl, lambda f, g, x, _: _set(f, x, g[x]))


def funcs_are_defined_before_they_are_run(hl: Any) -> Shown:
    """Neither can it be realized."""
    return _refused(hl, lambda: hl.Func("f").realize([3]))


def first_definitions_are_of_all_points(hl: Any) -> Shown:
    """The first definition has a Var for each dimension."""
    return _refused(hl, lambda: _set(hl.Func("f"), (hl.Var("x"), 0), 1))


def first_definitions_have_different_vars(hl: Any) -> Shown:
    """One Var is one dimension."""
    return _refused(hl, lambda: _set(hl.Func("f"), (hl.Var("x"), hl.Var("x")), 1))


def first_definitions_have_no_domain(hl: Any) -> Shown:
    """A reduction variable is no dimension."""
    return _refused(hl, lambda: _set(hl.Func("f"), hl.RDom([(0, 3)]).x, 1))


def calls_have_no_more_coordinates_than_dimensions(hl: Any) -> Shown:
    """f[x, x] of a Func of one dimension."""
    return _with(hl, lambda f, g, x, _: _set(g, x, f[x, x]))


def calls_have_a_coordinate_for_each_dimension(hl: Any) -> Shown:
    """f[x] of a Func of two dimensions has no implicit ones."""
    return _with(hl, lambda f, g, x, _: _set(g, x, f[x]), (8, 8))


def coordinates_are_integers(hl: Any) -> Shown:
    """Coordinates are not rounded."""
    return _with(hl, lambda f, g, x, _: _set(g, x, f[hl.f32(x) * 0.5]))


def updates_have_the_type_of_the_func(hl: Any) -> Shown:
    """A byte is not increased by a fraction without a cast."""
    return _with(hl, lambda f, g, x, _: (_set(g, x, hl.u8(0)), _set(g, x, g[x] + hl.f32(1.5))))


def updates_have_as_many_values_as_the_func(hl: Any) -> Shown:
    """A pair is not updated by three values."""
    return _with(hl, lambda f, g, x, _: (_set(g, x, (0, 1)), _set(g, x, (1, 2, 3))))


def updates_read_their_own_row_of_pure_dimensions(hl: Any) -> Shown:
    """A dimension that is read at neighbours is no free one: it needs a domain."""
    return _with(hl, lambda f, g, x, _: (_set(g, x, 0), _set(g, x, g[x - 1] + g[x + 1])))


def updates_have_one_domain(hl: Any) -> Shown:
    """The reduction variables of an update are of one RDom."""
    a, b = hl.RDom([(0, 3)]), hl.RDom([(0, 3)])
    return _with(hl, lambda f, g, x, _: _set(f, a.x, f[a.x] + b.x))


def updates_come_before_the_first_use(hl: Any) -> Shown:
    """A Func that another one reads is final."""
    return _with(hl, lambda f, g, x, _: (_set(g, x, f[x]), _set(f, x, f[x] + 1)))


def updates_come_before_the_first_run(hl: Any) -> Shown:
    """A Func that was realized is final."""
    return _with(hl, lambda f, g, x, _: (f.realize([3]), _set(f, x, f[x] + 1)))


def domains_are_of_known_size(hl: Any) -> Shown:
    """The bounds of an RDom depend on no Var."""
    return _with(hl, lambda f, g, x, _: _set(g, x, hl.sum(f[hl.RDom([(0, x)]).x])))


def inline_reductions_are_over_one_domain(hl: Any) -> Shown:
    """sum(f[r] + q) does not say which of two domains is reduced."""
    r, q = hl.RDom([(0, 20)]), hl.RDom([(0, 10)])
    return _with(hl, lambda f, g, x, _: _set(g, x, hl.sum(f[r.x] + q.x)))


def literals_fit_their_type(hl: Any) -> Shown:
    """1000 is no byte."""
    return _with(hl, lambda f, g, x, _: _set(g, x, hl.u8(x) + 1000))


def limits_of_clamp_fit_the_type(hl: Any) -> Shown:
    """255 is no value of int8."""
    return _with(hl, lambda f, g, x, _: _set(g, x, hl.clamp(hl.i8(x), 0, 255)))


def weights_of_lerp_are_unsigned_or_floats(hl: Any) -> Shown:
    """lerp's weight is no signed integer."""
    return _refused(hl, lambda: hl.lerp(hl.u8(0), hl.u8(42), hl.i8(5)))


def ends_of_lerp_have_one_type(hl: Any) -> Shown:
    """lerp does not widen."""
    return _refused(hl, lambda: hl.lerp(hl.u16(0), hl.u8(42), hl.f32(0.5)))


def params_hold_values_of_their_type(hl: Any) -> Shown:
    """300 is no byte."""
    return _refused(hl, lambda: hl.Param(hl.UInt(8), "p").set(300))


def bounds_are_of_dimensions(hl: Any) -> Shown:
    """bound() of a Var that is no dimension."""
    return _with(hl, lambda f, g, x, y: f.bound(y, 0, 3))


def loops_are_there_before_they_are_scheduled(hl: Any) -> Shown:
    """parallel() of a loop that is not there."""
    return _with(hl, lambda f, g, x, y: f.parallel(y))


def loops_are_there_before_they_trade_places(hl: Any) -> Shown:
    """reorder() of a loop that is not there."""
    return _with(hl, lambda f, g, x, y: f.reorder(y, x))


def loops_trade_places_once(hl: Any) -> Shown:
    """reorder() names each loop once."""
    return _with(hl, lambda f, g, x, y: f.reorder(x, x))


def loops_have_different_names(hl: Any) -> Shown:
    """The two loops of a split have names of their own, which no other loop has."""
    return _with(hl, lambda f, g, x, y: f.split(x, y, y, 4)) + _with(
        hl, lambda f, g, x, y: f.split(x, y, hl.Var("q"), 4), (8, 8)
    )


def factors_are_positive(hl: Any) -> Shown:
    """A loop is split by 1 at least, and vectors have lanes."""
    return [
        *_with(hl, lambda f, g, x, y: f.split(x, y, hl.Var("q"), 0)),
        *_with(hl, lambda f, g, x, y: f.vectorize(x, 0)),
        *_with(hl, lambda f, g, x, y: f.vectorize(x, -2)),
    ]


def vectors_have_a_constant_width(hl: Any) -> Shown:
    """A loop of any length is no vector."""
    return _with(hl, lambda f, g, x, y: f.vectorize(x))


def loops_of_any_length_are_not_unrolled(hl: Any) -> Shown:
    """Copies of a body are counted when the pipeline is compiled."""
    return _with(hl, lambda f, g, x, y: f.unroll(x))


def updates_that_are_not_there_have_no_schedule(hl: Any) -> Shown:
    """update() of a Func without updates."""
    return _with(hl, lambda f, g, x, y: f.update().vectorize(x, 4))


def reduction_loops_end_where_they_end(hl: Any) -> Shown:
    """The tail of a split reduction loop is guarded: nothing is added twice, or besides."""
    r, o, i = hl.RDom([(0, 20)]), hl.RVar("o"), hl.RVar("i")
    return _with(hl, lambda f, g, x, y: _set(f, x, f[x] + r.x).update().split(r.x, o, i, 3, hl.TailStrategy.RoundUp))


def updates_are_not_repeated(hl: Any) -> Shown:
    """ShiftInwards computes some points twice, which an update may not."""
    o, i = hl.Var("o"), hl.Var("i")
    return _with(hl, lambda f, g, x, y: _set(f, x, f[x] + 1).update().split(x, o, i, 3, hl.TailStrategy.ShiftInwards))


def reductions_keep_their_order(hl: Any) -> Shown:
    """Loops of a reduction whose order matters stay in place."""
    r = hl.RDom([(0, 4), (0, 4)])
    return _with(hl, lambda f, g, x, y: _set(f, x, f[x] * 3 + r.x + 2 * r.y).update().reorder(r.y, r.x))


def reductions_are_not_parallel(hl: Any) -> Shown:
    """A loop whose iterations read each other's values is neither parallel nor a vector."""
    r = hl.RDom([(1, 7)])
    return [
        *_with(hl, lambda f, g, x, y: _set(f, r.x, f[r.x - 1] + 1).update().parallel(r.x)),
        *_with(hl, lambda f, g, x, y: _set(f, 0, f[0] + r.x).update().vectorize(r.x, 4)),
    ]


def atomic_updates_read_their_own_point(hl: Any) -> Shown:
    """An update that reads other points of its Func is no atomic one."""
    r = hl.RDom([(0, 7)])
    return _with(hl, lambda f, g, x, y: _set(f, r.x, f[r.x] + f[r.x + 1]).update().atomic().parallel(r.x))


def factored_reductions_are_associative(hl: Any) -> Shown:
    """rfactor of what depends on the order of its steps."""
    r = hl.RDom([(0, 4), (0, 4)])
    return _with(hl, lambda f, g, x, y: _set(f, x, f[x] * 2 + r.x).update().rfactor(r.x, y))


def levels_are_around_all_uses(hl: Any) -> Shown:
    """compute_at a loop of a Func, where another Func reads the values too."""

    def mistake(f: Any, g: Any, x: Any, _: Any) -> Any:
        h = _set(hl.Func("h"), x, _set(g, x, f[x])[x] + f[x])
        g.compute_root()
        f.compute_at(g, x)
        return h

    return _with(hl, mistake)


def levels_are_set(hl: Any) -> Shown:
    """A LoopLevel that was never set is no place."""
    return _with(hl, lambda f, g, x, _: (f.compute_at(hl.LoopLevel()), _set(g, x, f[x]))[1])


def memory_is_around_the_loop_that_fills_it(hl: Any) -> Shown:
    """hoist_storage to a loop inside of the one that the memory is stored at."""
    return _with(
        hl,
        lambda f, g, x, y: (_set(g, (x, y), f[x, y]), f.store_at(g, y).compute_at(g, x).hoist_storage(g, x))[0],
        (8, 8),
    )


def specialize_fail_is_the_last_case(hl: Any) -> Shown:
    """Nothing comes after specialize_fail."""
    p = hl.Param(hl.Int(32), "p", 1)
    return [
        *_with(hl, lambda f, g, x, y: (f.specialize_fail("one"), f.specialize(p == 1))),
        *_with(hl, lambda f, g, x, y: (f.specialize_fail("one"), f.specialize_fail("two"))),
    ]


def wrappers_are_final(hl: Any) -> Shown:
    """A wrapper or a clone has no updates of one's own."""
    return [
        *_with(hl, lambda f, g, x, _: (_set(g, x, f[x]), _set(f.in_(g), x, 4))),
        *_with(hl, lambda f, g, x, _: (_set(g, x, f[x]), _set(f.clone_in(g), x, 4))),
    ]


def buffers_are_of_the_func_s_shape(hl: Any) -> Shown:
    """An output has the type, the dimensions and the components of the Func."""
    return [
        *_with(hl, lambda f, g, x, _: f.realize(hl.Buffer(hl.UInt(8), [3]))),
        *_with(hl, lambda f, g, x, _: f.realize(hl.Buffer(hl.Int(32), [3, 3]))),
        *_with(hl, lambda f, g, x, _: _set(g, x, (x, x)).realize(hl.Buffer(hl.Int(32), [3]))),
    ]


def inputs_are_set_before_a_run(hl: Any) -> Shown:
    """An ImageParam without data has no elements."""
    image = hl.ImageParam(hl.UInt(8), 1, "image")
    return _with(hl, lambda f, g, x, _: _set(g, x, image[x]))


def unbounded_coordinates_are_clamped(hl: Any) -> Shown:
    """Coordinates that an input may say are any: they have no bounds, and no memory."""
    image = hl.ImageParam(hl.Int(32), 1, "image")
    return _with(
        hl, lambda f, g, x, _: (f.compute_root(), image.set(hl.Buffer(hl.Int(32), [8])), _set(g, x, f[image[x]]))[2]
    )


def targets_are_known(hl: Any) -> Shown:
    """The text of a Target has names that there are."""
    return _refused(hl, lambda: hl.Target("x86-64-linux-nonsense"))
