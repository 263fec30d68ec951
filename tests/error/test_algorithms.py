"""Definitions that are no algorithm: arity, types, undefined Funcs, pure variables misused (section 2.4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

import halide_core as hl
from tests.support.blame import refused

x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")
r = hl.RDom([(0, 3)])


def func(name: str, *args: hl.Var, value: Any = 0) -> hl.Func:
    f = hl.Func(name)
    f[args] = value
    return f


def g() -> hl.Func:
    return func("g", x, value=x * 2)


# The examples of section 2.4.2.


def test_shift_in_place_is_refused() -> None:
    f = func("f", x, value=g()[x])

    def shift() -> None:
        f[x] = f[x + 1]

    refused(hl.DefinitionError, shift, '"f"', '"x"', "f[x + 1]", "RDom", at="f[x] = f[x + 1]")
    assert not f.has_update_definition()
    assert np.asarray(f.realize([3])).tolist() == [0, 2, 4]


def test_pure_variable_in_some_places_but_not_others_is_refused() -> None:
    f = func("f", x, value=g()[x])

    def mix() -> None:
        f[x] = f[x] + f[r]

    refused(hl.DefinitionError, mix, '"f"', '"x"', "f[r.x]", at="f[x] = f[x] + f[r]")


def test_other_funcs_may_be_read_anywhere() -> None:
    f, other = func("f", x), g()
    f[x] = f[x] + other[x] + other[r]
    found = np.asarray(f.realize([4]))
    assert found.tolist() == [2 * 3 * i + 6 for i in range(4)]
    assert found.tolist() == f.evaluate([4]).tolist()


def test_pure_variable_moved_on_the_left_is_refused() -> None:
    f, h = func("f", x), func("h", x, y)

    def moved() -> None:
        f[x + 1] = f[x]

    def swapped() -> None:
        h[y, x] = h[y, x] + 1

    refused(hl.DefinitionError, moved, '"f"', '"x"', "x + 1", at="f[x + 1] = f[x]")
    refused(hl.DefinitionError, swapped, '"h"', at="h[y, x] =")


def test_pure_variable_of_a_reduced_dimension_is_refused() -> None:
    f = func("f", x)

    def reduced() -> None:
        f[r.x] = f[r.x - 1] + x

    refused(hl.DefinitionError, reduced, '"f"', '"x"', at="f[r.x] = f[r.x - 1] + x")


def test_first_definition_that_reads_itself_is_refused() -> None:
    f = hl.Func("f")

    def recursive() -> None:
        f[x] = f[x - 1] + 1

    refused(hl.DefinitionError, recursive, '"f"', at="f[x] = f[x - 1]")
    assert not f.defined()


def test_domain_that_is_no_startup_expression_is_refused() -> None:
    source = g()
    refused(hl.DefinitionError, lambda: hl.RDom([(0, source[x])]), '"r.x"', '"x"', at="hl.RDom([(0, source[x])])")
    refused(hl.DefinitionError, lambda: hl.RDom([(source[3], 2)]), '"r.x"', '"g"', at="hl.RDom([(source[3], 2)])")


def test_domains_that_are_mixed_are_refused() -> None:
    f, other = func("f", x), hl.RDom([(0, 2)], "q")

    def mix() -> None:
        f[x] += r.x + other.x

    refused(hl.DefinitionError, mix, '"r.x"', '"q.x"', at="f[x] += r.x + other.x")


def test_names_that_are_not_unique_are_refused() -> None:
    f = hl.Func("f")

    def twice() -> None:
        f[x, x] = 1

    refused(hl.DefinitionError, twice, '"f"', '"x"', at="f[x, x] = 1")


# Arity, types, what is not defined.


def test_wrong_arity_is_refused() -> None:
    f, source = func("f", x, y), hl.ImageParam(hl.UInt(8), 2, "source")
    data = hl.Buffer(hl.UInt(8), [3, 3], "data")

    def update() -> None:
        f[x] = 1

    refused(hl.DefinitionError, lambda: f[x], '"f"', "2 dimensions", at="f[x], '")
    refused(hl.DefinitionError, lambda: source[x, y, z], '"source"', "2 dimensions", "3", at="source[x, y, z]")
    refused(hl.DefinitionError, lambda: data[x], '"data"', "2 dimensions", at="data[x]")
    refused(hl.DefinitionError, update, '"f"', "2 dimensions", at="f[x] = 1")


def test_wrong_types_are_refused() -> None:
    f, small = func("f", x), hl.u8(3)

    def other() -> None:
        f[x] = 1.5

    refused(hl.TypeMismatchError, other, '"f"', "float32", "int32", at="f[x] = 1.5")
    refused(hl.TypeMismatchError, lambda: small + 300, "300", "uint8", at="small + 300")
    refused(hl.TypeMismatchError, lambda: f[hl.f32(x)], '"f"', "float32", at="f[hl.f32(x)]")
    refused(hl.TypeMismatchError, lambda: f["x"], "str", at='f["x"]')  # type: ignore[index]  # on purpose
    refused(hl.TypeMismatchError, lambda: x & 1.5, at="x & 1.5")


def test_undefined_func_is_refused() -> None:
    u, f = hl.Func("u"), hl.Func("f")

    def use() -> None:
        f[x] = u[x] + 1

    refused(hl.DefinitionError, use, '"u"', at="f[x] = u[x] + 1")
    refused(hl.PipelineError, lambda: u.realize([3]), '"u"', "not defined", at="u.realize([3])")
    refused(hl.PipelineError, lambda: hl.Pipeline([g(), u]).realize([3]), '"u"', at="hl.Pipeline([g(), u])")
    refused(hl.ScheduleError, lambda: u.vectorize(x, 4), '"u"', at="u.vectorize(x, 4)")


def test_unknown_variable_is_refused() -> None:
    f = hl.Func("f")

    def free() -> None:
        f[x] = x + y

    refused(hl.DefinitionError, free, '"y"', '"f"', at="f[x] = x + y")


def test_truth_of_an_expression_is_refused() -> None:
    refused(hl.DefinitionError, lambda: 1 if x > 3 else 0, "select", at="1 if x > 3")
    refused(hl.DefinitionError, lambda: 0 < x < 3, "&", at="0 < x < 3")


# Tuples.


def pair() -> hl.Func:
    return func("f", x, value=(x, hl.f32(x)))


def test_update_of_another_number_of_values_is_refused() -> None:
    f = pair()

    def fewer() -> None:
        f[x] = x

    def more() -> None:
        f[r] = (1, 2, 3)

    refused(hl.TypeMismatchError, fewer, '"f"', "1 value,", "2 values", "(int32, float32)", "f[…][i]", at="f[x] = x")
    refused(hl.TypeMismatchError, more, '"f"', "3 values,", at="f[r] = (1, 2, 3)")
    one = func("one", x, value=x)

    def several() -> None:
        one[x] = (x, x)

    refused(hl.TypeMismatchError, several, '"one"', "2 values", "1 value at each point, of int32", at="one[x] = (x, x)")
    assert [a.tolist() for a in f.evaluate([2])] == [[0, 1], [0.0, 1.0]]


def test_update_of_another_type_of_component_is_refused() -> None:
    f = pair()

    def other() -> None:
        f[x] = (f[x][0], f[x][0])

    refused(hl.TypeMismatchError, other, '"f"', "int32 for component 1", "float32", "hl.cast", at="f[x] = (f[x][0]")


def test_component_that_is_not_there_is_refused() -> None:
    f = pair()
    for at in (2, -1, "x"):
        refused(hl.DefinitionError, lambda at=at: f[x][at], '"f"', "2 values", "f[x][1]", at="f[x][at]")


def test_one_component_alone_cannot_be_defined() -> None:
    f = pair()

    def assign() -> None:
        f[x][1] += 3

    refused(hl.DefinitionError, assign, "every value", "f[x] = (…)", at="f[x][1] += 3")


def test_accumulation_of_another_number_of_values_is_refused() -> None:
    f = pair()

    def add() -> None:
        f[x] += 3

    refused(hl.TypeMismatchError, add, '"f"', "2 values", "+= is given 1", at="f[x] += 3")


def test_tuple_where_one_value_is_needed_is_refused() -> None:
    f, h = pair(), hl.Func("h")

    def nested() -> None:
        h[x] = (f[x], 3)

    refused(hl.DefinitionError, nested, '"f"', "2 values", "f[x][0]", at="h[x] = (f[x], 3)")

    def inside() -> None:
        h[x] = (x, (x, x))

    refused(hl.TypeMismatchError, inside, "tuple", "Tuple", at="h[x] = (x, (x, x))")

    def empty() -> None:
        h[x] = ()

    refused(hl.DefinitionError, empty, "at least one value", at="h[x] = ()")
    assert not h.defined()


def test_pure_variable_moved_in_another_component_is_refused() -> None:
    f = pair()

    def shift() -> None:
        f[x] = (f[x][0], f[x + 1][1])

    refused(hl.DefinitionError, shift, '"f"', '"x"', "f[x + 1]", "RDom", at="f[x] = (f[x][0]")


# What only a definition's values can hold, and what must be known at start-up.


def test_random_numbers_outside_of_values_are_refused() -> None:
    f = func("f", x)
    refused(hl.DefinitionError, lambda: hl.RDom([(0, hl.random_int(x))]), "random_int(x)", "starts", at="hl.RDom(")
    refused(hl.ScheduleError, lambda: f.bound(x, 0, hl.random_int(3)), "random_int(3)", "starts", at="f.bound(")
    refused(hl.DefinitionError, lambda: hl.random_uint(hl.f32(x)), "seed", "int32", at="hl.random_uint(")


def test_requirement_of_a_point_is_refused() -> None:
    refused(hl.DefinitionError, lambda: hl.require(x > 0, x), '"x"', "require()", "starts", at="hl.require(x > 0, x)")


def test_requirement_that_is_not_met_names_the_call() -> None:
    p, f = hl.Param(hl.Int(32), "p", 3), func("f", x)
    f[x] = hl.require(p < 3, f[x], "p must be less than 3, not", p)
    refused(hl.PipelineError, lambda: f.realize([4]), '"f"', "p must be less than 3, not 3", at="f.realize([4])")
