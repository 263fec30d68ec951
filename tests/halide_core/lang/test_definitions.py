"""Definitions and their validity (definitions 2.7 to 2.10): what is stored, what is refused, and at which line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir.visitor import subexpressions
from tests.support.raising import raised

x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")


def func(name: str, *args: hl.Var, value: object = 0) -> hl.Func:
    f = hl.Func(name)
    f[args] = value
    return f


def test_pure_definition_when_written() -> None:
    f = hl.Func("f")
    assert not f.defined()
    assert f.args() == []
    f[x, y] = x + y
    assert f.defined()
    assert [a.name() for a in f.args()] == ["x", "y"]
    assert f.dimensions() == 2
    assert f.type() is hl.Int(32)
    assert repr(f.value()) == "x + y"
    assert f.num_update_definitions() == 0


def test_update_definition_when_it_reads_itself() -> None:
    f, r = func("f", x), hl.RDom([(1, 9)])
    f[r.x] = f[r.x - 1] + 1
    assert f.has_update_definition()
    assert [repr(a) for a in f.update_args()] == ["r.x"]
    assert [v.name() for v in f.rvars()] == ["r.x"]
    f[r.x] += 1
    stages = [[e.stage for e in _accesses(d.values[0])] for d in f.function.definitions]
    assert stages == [[], [0], [1]]


def _accesses(e: ir.ExprNode) -> list[ir.Access]:
    return [s for s in subexpressions((e,)) if isinstance(s, ir.Access)]


def test_access_stage_when_another_func_reads() -> None:
    f = func("f", x)
    f[x] += 1
    g = func("g", x, value=f[x])
    assert [e.stage for e in _accesses(g.value()._node())] == [ir.LAST_STAGE]


def test_second_pure_definition_warns_when_it_hides_the_first() -> None:
    f = func("f", x)
    with pytest.warns(hl.HalideWarning, match='hides all earlier definitions of "f"') as caught:
        f[x] = x + 1
    assert caught[0].filename == __file__
    assert f.num_update_definitions() == 1


@pytest.mark.filterwarnings("error")
def test_second_pure_definition_is_silent_when_it_uses_the_first() -> None:
    f = func("f", x)
    f[x] = f[x] + 1


@pytest.mark.parametrize(
    ("accumulate", "neutral", "type"),
    [
        (lambda f: f.__setitem__(x, f[x].__iadd__(hl.u8(x))), "0:uint8", hl.UInt(8)),
        (lambda f: f.__setitem__(x, f[x].__isub__(hl.u8(x))), "0:uint8", hl.UInt(8)),
        (lambda f: f.__setitem__(x, f[x].__imul__(hl.f32(x))), "1.0f", hl.Float(32)),
        (lambda f: f.__setitem__(x, f[x].__itruediv__(hl.f32(x))), "1.0f", hl.Float(32)),
    ],
)
def test_accumulation_defines_when_the_func_is_undefined(
    accumulate: Callable[[hl.Func], None], neutral: str, type: hl.Type
) -> None:
    f = hl.Func("f")
    accumulate(f)
    assert repr(f.value()) == neutral
    assert f.type() is type
    assert f.num_update_definitions() == 1


def test_accumulation_names_dimensions_when_the_coordinate_is_no_var() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 5)])
    f[x, r.x, x + 1] += 1
    assert [a.name() for a in f.args()] == ["x", "_1", "_2"]
    assert [repr(a) for a in f.update_args()] == ["x", "r.x", "x + 1"]


def test_accumulation_changes_nothing_when_it_is_refused() -> None:
    f = hl.Func("f")
    raised(hl.DefinitionError, lambda: f.__setitem__(x, f[x].__iadd__(y)), '"y"')
    assert not f.defined()
    f[x] = 1
    assert f.num_update_definitions() == 0


def test_zero_dimensions_when_indexed_with_an_empty_tuple() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 5)])
    f[()] = 0
    f[()] += r.x
    assert f.dimensions() == 0
    assert repr(f[()]) == "f[]"


def test_coordinates_become_int32_when_they_are_narrower() -> None:
    g = func("g", x)
    assert repr(func("f", x, value=g[hl.u8(x)]).value()) == "g[int32(uint8(x))]"
    assert repr(func("f", x, value=g[hl.i64(3)]).value()) == "g[3]"


@pytest.mark.parametrize("type", [hl.Int(64), hl.UInt(32), hl.Float(32)])
def test_coordinate_error_when_int32_can_not_hold_it(type: hl.Type) -> None:
    g = func("g", x)
    raised(hl.TypeMismatchError, lambda: g[hl.cast(type, x)], "argument 1", '"g"', str(type))


def test_definition_error_when_the_first_one_is_not_pure() -> None:
    r = hl.RDom([(0, 5)], "q")
    f = hl.Func("f")
    raised(hl.DefinitionError, lambda: f.__setitem__((x, x), 0), '"x"', '"f"')
    raised(hl.DefinitionError, lambda: f.__setitem__((x, 3), 0), "Argument 2")
    raised(hl.DefinitionError, lambda: f.__setitem__(x + 1, 0), "x + 1")
    raised(hl.DefinitionError, lambda: f.__setitem__(r.x, 0), "q.x")
    raised(hl.DefinitionError, lambda: f.__setitem__(x, r.x), '"q.x"')
    raised(hl.DefinitionError, lambda: f.__setitem__(x, y), '"y"', '"f"')
    raised(hl.DefinitionError, lambda: f.__setitem__(x, f[x - 1]), '"f"', "not yet been defined")
    raised(hl.DefinitionError, lambda: f.__setitem__(x, hl.Func("u")[x]), '"u"')
    assert not f.defined()


def test_arity_error_when_coordinates_are_too_few_or_many() -> None:
    f, g = func("f", x, y), func("g", x)
    raised(hl.DefinitionError, lambda: g[x, y], '"g"', "1 dimension", "2")
    raised(hl.DefinitionError, lambda: f.__setitem__(x, 1), '"f"', "2 dimensions", "1")
    raised(hl.DefinitionError, lambda: g[()], "0")


@pytest.mark.parametrize(
    ("at", "value", "named"),
    [
        (lambda f, r: x, lambda f, r: f[x + 1, y], ('"x"', "f[x + 1, y]")),
        (lambda f, r: (x, y), lambda f, r: f[x, y] + f[x, r.x], ('"y"', "f[x, r.x]", "argument 2")),
        (lambda f, r: (x, r.x), lambda f, r: y, ('"y"', "argument 2", "r.x")),
        (lambda f, r: (x + 1, 0), lambda f, r: x, ('"x"', "argument 1", "x + 1")),
        (lambda f, r: (y, x), lambda f, r: f[y, x], ('"y"', "argument 2")),
        (lambda f, r: (x, y), lambda f, r: z, ('"z"', "not defined")),
        (lambda f, r: (z, y), lambda f, r: z, ('"z"', "not defined")),
    ],
)
def test_separation_error_when_a_pure_variable_is_out_of_place(
    at: Callable[..., object], value: Callable[..., object], named: tuple[str, ...]
) -> None:
    f, r = func("f", x, y), hl.RDom([(0, 5)])
    left, right = at(f, r), value(f, r)
    left = left if isinstance(left, tuple) else (left, y)
    raised(hl.DefinitionError, lambda: f.__setitem__(left, right), "Update definition 0", '"f"', *named)
    assert f.num_update_definitions() == 0


def test_separation_holds_when_other_funcs_are_read_anywhere() -> None:
    f, g, r = func("f", x), func("g", x), hl.RDom([(0, 3)])
    f[x] = f[x] + g[x] + g[r.x]
    f[r.x] = f[r.x + 1] + f[0]
    h = func("h", x, y)
    h[x, r.x] = h[x, r.x - 1]
    h[x, x] += 1
    assert f.function.pure_dims(1) == (True,)
    assert f.function.pure_dims(2) == (False,)
    assert h.function.pure_dims(1) == (True, False)
    assert h.function.pure_dims(2) == (True, False)


def test_rdom_error_when_two_are_mixed() -> None:
    f = func("f", x, y)
    r, s = hl.RDom([(0, 5)], "r"), hl.RDom([(0, 5)], "s")
    raised(hl.DefinitionError, lambda: f.__setitem__((r.x, s.x), 1), '"r.x"', '"s.x"')
    raised(hl.DefinitionError, lambda: f.__setitem__((r.x, 0), s.x), '"r.x"', '"s.x"')
    s.where(s.x < r.x)
    raised(hl.DefinitionError, lambda: f.__setitem__((s.x, 0), 1), '"r.x"', '"s.x"')


def test_rdom_error_when_its_variable_is_called_like_a_pure_one() -> None:
    f, r = func("f", hl.Var("q.x")), hl.RDom([(0, 5)], "q")
    raised(hl.DefinitionError, lambda: f.__setitem__(r.x, 1), '"q.x"', '"f"')


def test_predicate_when_it_mentions_variables_and_funcs() -> None:
    g, f, r = func("g", x), func("f", x), hl.RDom([(0, 5)])
    r.where((r.x > x) & (g[r.x] > 0))
    f[x] += r.x
    assert g.function.frozen_by is not None
    raised(hl.DefinitionError, lambda: f.__setitem__(3, r.x), '"x"')


def test_predicate_means_the_stage_before_when_it_reads_the_func_itself() -> None:
    f, r = func("f", x), hl.RDom([(0, 5)])
    f[x] += 1
    r.where(f[r.x] > 0)
    f[r.x] += 1
    domain = f.function.definitions[2].domain
    assert domain is not None
    assert [e.stage for e in _accesses(domain.predicate)] == [1]
    assert [e.stage for e in _accesses(r.domain.predicate)] == [ir.LAST_STAGE]
    raised(hl.DefinitionError, lambda: r.where(r.x > 3), "uses it")


@pytest.mark.parametrize("value", [300, -1, 0.5, x, hl.u16(x), hl.Expr(3)])
def test_update_type_error_when_it_is_not_the_funcs(value: object) -> None:
    f = func("f", x, value=hl.u8(x))
    raised(hl.TypeMismatchError, lambda: f.__setitem__(0, value), '"f"', "uint8")


def test_update_takes_the_funcs_type_when_it_is_a_python_number() -> None:
    f = func("f", x, value=hl.u8(x))
    f[0] = 3
    f[1] += 4
    assert [d.values[0].type for d in f.function.definitions] == [hl.UInt(8)] * 3


def test_update_error_when_the_func_is_used_already() -> None:
    f = func("f", x)
    unused = f[x] + 1
    f[0] = 5
    line = func.__code__.co_firstlineno + 2  # where "g" is defined
    func("g", x, value=f[x])
    found = raised(hl.DefinitionError, lambda: f.__setitem__(1, 5), '"f"', f"{__file__}:{line}")
    assert "Write all of its updates before" in found.message
    assert unused.type() is hl.Int(32)


@pytest.mark.parametrize("value", [(1, (2, 3)), [], "text", None, np.zeros(3), hl.Func("g")])
def test_value_error_when_it_is_no_expression(value: object) -> None:
    raised(hl.DefinitionError, lambda: hl.Func("f").__setitem__(x, value))


def test_func_error_when_it_is_called_or_iterated() -> None:
    f = func("f", x)
    raised(hl.DefinitionError, lambda: f(x), "f[x, y]")
    raised(hl.DefinitionError, lambda: list(f), "realize")
    raised(hl.DefinitionError, lambda: f[x][0], "Tuple")
    raised(hl.DefinitionError, lambda: 1 if f[x] > 1 else 0, "hl.select")


def test_constructor_when_made_from_other_things() -> None:
    ip = hl.ImageParam(hl.UInt(8), 2, "ip")
    assert repr(hl.Func(ip).value()) == "ip[_0, _1]"
    assert repr(hl.Func(hl.Buffer(np.zeros(3, np.uint8), "b")).value()) == "b[_0]"
    assert repr(hl.Func(hl.Expr(3)).value()) == "3"
    typed = hl.Func(hl.UInt(8), 1, "q")
    assert (typed.name(), typed.type(), typed.dimensions(), typed.defined()) == ("q", hl.UInt(8), 1, False)
    raised(hl.TypeMismatchError, lambda: typed.__setitem__(x, hl.f32(x)), '"q"', "uint8", "float32")
    raised(hl.DefinitionError, lambda: typed.__setitem__((x, y), hl.u8(x)), '"q"')
    raised(hl.DefinitionError, lambda: hl.Func(x + y), '"x"')


def test_definition_when_the_expression_is_very_deep() -> None:
    f, r = func("f", x), hl.RDom([(0, 5)])
    e = f[r.x] + 0
    for i in range(5000):
        e = e + i
    f[r.x] = e
    assert f.num_update_definitions() == 1


def test_coordinates_when_they_are_a_list() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    ip, data = hl.ImageParam(hl.Int(32), 2, "ip"), hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3), "b")
    f[[x, y]] = x + 10 * y
    f[[x, 0]] += 1
    g[[x]] = f[[x, x]] + ip[[x, 0]] + data[[x % 3, 1]]
    assert [a.name() for a in f.args()] == ["x", "y"]
    assert repr(g.value()) == "f[x, x] + ip[x, 0] + b[x%3, 1]"
    data[[2, 1]] = 7
    assert data[[2, 1]] == data[2, 1] == 7


def test_output_buffers_of_a_promised_func_change_no_definition() -> None:
    for asked in (False, True):
        f = hl.Func([hl.UInt(8), hl.Int(16)], 1, "f")
        if asked:
            assert [b.type() for b in f.output_buffers()] == [hl.UInt(8), hl.Int(16)]
        assert (f.defined(), f[x].size()) == (False, 1)
        raised(hl.TypeMismatchError, lambda f=f: f.__setitem__(x, (3, 4)), "(int32, int32)")
        f[x] = (hl.u8(3), hl.i16(x))
        assert f[x].size() == 2


def test_unevaluated_update_is_no_value() -> None:
    reference = hl.Func("u")[x] + 1
    raised(TypeError, lambda: reference + 1, "unevaluated reference to 'u'")
