"""The executable semantics of figure 2.6 against numpy, and against an eager simulation of update definitions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halide_core import ir
from halide_core.algorithm.model import Definition, Function, Image, ReductionDomain, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION, InternalError, Location, PipelineError
from halide_core.ir import BinaryOp
from halide_core.ir.types import BOOL, INT32, Float, Int, Type, UInt
from halide_core.reference.evaluate import evaluate

F32 = Float(32)
HERE = Location("user.py", 7)
checked = settings(derandomize=True, max_examples=150, deadline=None, database=None)

x, y, z = (ir.pure_variable(name) for name in "xyz")


# ---------------------------------------------------------------------------------------------------------
# Building programs without the front end.


def int_(value: int) -> ir.ExprNode:
    return ir.const(value, INT32)


def binary(op: BinaryOp, a: ir.ExprNode, b: ir.ExprNode) -> ir.ExprNode:
    return ir.binary(op, a, b)


def at(callee: ir.Callee, *args: ir.ExprNode | int, component: int = 0, stage: int = ir.LAST_STAGE) -> ir.ExprNode:
    """An access."""
    point = tuple(arg if isinstance(arg, ir.ExprNode) else int_(arg) for arg in args)
    return ir.Access(callee.types[component], callee, point, component, stage)


def image(name: str, type: Type = INT32, dimensions: int = 1) -> Image:
    return Image(name, type, dimensions, UNKNOWN_LOCATION)


def rdom(*bounds: tuple[int | ir.ExprNode, int | ir.ExprNode], where: ir.ExprNode = ir.TRUE) -> ReductionDomain:
    """A reduction domain from (min, extent) pairs."""
    ends = [tuple(e if isinstance(e, ir.ExprNode) else int_(e) for e in pair) for pair in bounds]
    names = tuple(f"r{i}" for i in range(len(bounds)))
    return ReductionDomain(names, tuple(ir.Interval(*pair) for pair in ends), where, HERE)


def rvar(domain: ReductionDomain, index: int = 0) -> ir.ExprNode:
    return ir.RVarRef(INT32, domain, index)


def func(name: str, args: tuple[ir.ExprNode, ...], *values: ir.ExprNode) -> Function:
    """A Func with its pure definition."""
    names = tuple(a.name for a in args if isinstance(a, ir.Variable))
    pure = Definition(args, values, None, ir.TRUE, HERE)
    return Function(name, names, tuple(v.type for v in values), [pure])


def update(
    f: Function,
    args: tuple[ir.ExprNode, ...],
    *values: ir.ExprNode,
    domain: ReductionDomain | None = None,
    where: ir.ExprNode = ir.TRUE,
) -> None:
    """Adds an update definition."""
    f.definitions.append(Definition(args, values, domain, where, HERE))


def itself(f: Function, *args: ir.ExprNode | int, component: int = 0) -> ir.ExprNode:
    """An access of a Func in the update definition that is being written."""
    return at(f, *args, component=component, stage=len(f.definitions) - 1)


@dataclass
class Bound:
    """The array that an Image is bound to, as ``semantics`` sees a Buffer."""

    array: Any
    mins: tuple[int, ...]

    def name(self) -> str:
        return "b"


def values_of(f: Function, *window: tuple[int, int], **inputs: Any) -> Any:
    return evaluate(f, window, **inputs)


def random_array(shape: tuple[int, ...], type: Type = INT32, top: int = 100) -> Any:
    return np.random.default_rng(1).integers(0, top, shape).astype(type.dtype)


# ---------------------------------------------------------------------------------------------------------
# Pure definitions.


@pytest.mark.parametrize("type", [UInt(8), Int(16), INT32, UInt(64), F32, Float(64)], ids=str)
def test_stencil_agrees_with_numpy(type: Type) -> None:
    source = image("source", type, 2)
    taps = [at(source, ir.add(x, int_(dx)), ir.add(y, int_(dy))) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    total = taps[0]
    for tap in taps[1:]:
        total = ir.add(total, tap)
    f = func("f", (x, y), total)
    a = random_array((12, 14), type)
    expected = np.zeros((10, 12), type.dtype)
    for dy in range(3):
        for dx in range(3):
            expected = expected + a[dy : dy + 10, dx : dx + 12]
    result = values_of(f, (1, 12), (1, 10), images={source: (a, (0, 0))})
    assert result.dtype == type.dtype
    np.testing.assert_array_equal(result, expected)


def test_stages_of_funcs_are_substituted() -> None:
    g = func("g", (x, y), ir.add(ir.mul(x, int_(10)), y))
    f = func("f", (x, y), ir.sub(at(g, ir.add(x, int_(1)), y), at(g, y, x)))
    ys, xs = np.mgrid[-2:3, 5:9]
    np.testing.assert_array_equal(values_of(f, (5, 4), (-2, 5)), ((xs + 1) * 10 + ys) - (ys * 10 + xs))


def test_results_have_reversed_axes_and_the_type_of_the_func() -> None:
    f = func("f", (x, y, z), ir.cast(UInt(8), ir.add(ir.mul(x, int_(100)), ir.add(y, z))))
    result = values_of(f, (0, 4), (0, 3), (0, 2))
    assert result.shape == (2, 3, 4)
    assert result.dtype == np.uint8
    assert result[1, 2, 3] == (300 + 2 + 1) % 256


def test_a_func_without_dimensions_gives_a_0d_array() -> None:
    result = values_of(func("f", (), ir.const(1.5, F32)))
    assert result.shape == ()
    assert result[()] == np.float32(1.5)


def test_an_empty_window_gives_an_empty_array() -> None:
    result = values_of(func("f", (x, y), ir.TRUE), (0, 0), (3, 4))
    assert result.shape == (4, 0)
    assert result.dtype == np.bool_


def test_several_components_give_a_tuple() -> None:
    f = func("f", (x,), x, ir.cast(F32, x))
    g = func("g", (x,), ir.add(ir.cast(F32, at(f, x)), at(f, x, component=1)))
    first, second = values_of(f, (2, 3))
    np.testing.assert_array_equal(first, np.array([2, 3, 4], np.int32))
    np.testing.assert_array_equal(second, np.array([2, 3, 4], np.float32))
    assert second.dtype == np.float32
    np.testing.assert_array_equal(values_of(g, (2, 3)), [4, 6, 8])


def test_coordinates_wrap_as_int32() -> None:
    top = 2**31 - 1
    f = func("f", (x,), ir.add(x, int_(1)))
    np.testing.assert_array_equal(values_of(f, (top, 2)), [-(2**31), -(2**31) + 1])
    g = func("g", (x,), at(f, ir.cast(Int(64), ir.add(x, int_(1)))))
    np.testing.assert_array_equal(values_of(g, (top, 1)), [-(2**31) + 1])
    wide = func("wide", (x,), ir.cast(Int(64), x))
    far = func("far", (x,), at(wide, ir.add(ir.cast(Int(64), x), ir.const(2**32, Int(64)))))
    np.testing.assert_array_equal(values_of(far, (5, 1)), [5])


def test_every_kind_of_expression_is_evaluated() -> None:
    p = ScalarParam("p", F32, UNKNOWN_LOCATION)
    less = binary(BinaryOp.LT, x, int_(2))
    either = binary(BinaryOp.OR, ir.Not(BOOL, less), binary(BinaryOp.EQ, x, int_(0)))
    root = ir.Call(F32, ir.Intrinsic.SQRT, (ir.cast(F32, ir.mul(x, x)),))
    f = func("f", (x,), ir.Select(F32, either, ir.add(root, ir.ParamRef(F32, p)), ir.const(float("-inf"), F32)))
    result = values_of(f, (0, 4), params={p: 0.5})
    np.testing.assert_array_equal(result, np.array([0.5, -np.inf, 2.5, 3.5], np.float32))


def test_a_shared_subexpression_is_evaluated_once() -> None:
    e: ir.ExprNode = x
    for _ in range(200):
        e = ir.add(e, e)
    np.testing.assert_array_equal(values_of(func("f", (x,), e), (1, 2)), [0, 0])
    e = x
    for _ in range(20000):
        e = ir.sub(int_(1), e)
    np.testing.assert_array_equal(values_of(func("f", (x,), e), (1, 2)), [1, 2])


# ---------------------------------------------------------------------------------------------------------
# Inputs.


def test_images_and_parameters_are_read_from_what_they_are_bound_to() -> None:
    source, p = image("source", INT32, 2), ScalarParam("p", INT32, UNKNOWN_LOCATION)
    source.bound, p.value = Bound(random_array((4, 5)), (10, 20)), 3
    f = func("f", (x, y), ir.mul(at(source, x, y), ir.ParamRef(INT32, p)))
    np.testing.assert_array_equal(values_of(f, (11, 4), (20, 3)), 3 * random_array((4, 5))[:3, 1:])


def test_given_inputs_come_before_bound_ones() -> None:
    source, p = image("source"), ScalarParam("p", INT32, UNKNOWN_LOCATION)
    source.bound, p.value = Bound(np.zeros(3, np.int32), (0,)), 3
    f = func("f", (x,), ir.add(at(source, x), ir.ParamRef(INT32, p)))
    result = values_of(f, (0, 1), params={p: 40}, images={source: (np.array([2], np.int32), (0,))})
    np.testing.assert_array_equal(result, [42])


def test_buffer_fields_describe_the_bound_array() -> None:
    source = image("source", INT32, 2)
    fields = [ir.BufferField(INT32, source, field, dim) for field in ir.Field for dim in (0, 1)]
    f = func("f", (), *fields)
    padded = np.zeros((4, 8), np.int32)[:, :5]
    result = values_of(f, images={source: (padded, (-3, 7))})
    assert [int(v) for v in result] == [-3, 7, 5, 4, 1, 8]
    np.testing.assert_array_equal(
        values_of(func("g", (x, y), at(source, x, y)), (-3, 5), (7, 4), images={source: (padded.T.copy().T, (-3, 7))}),
        padded,
    )


def test_a_missing_image_or_parameter_is_named() -> None:
    with pytest.raises(PipelineError, match='"source" has no buffer'):
        values_of(func("f", (x,), at(image("source"), x)), (0, 1))
    with pytest.raises(PipelineError, match='"gain" has no value'):
        values_of(func("f", (x,), ir.ParamRef(INT32, ScalarParam("gain", INT32, UNKNOWN_LOCATION))), (0, 1))


def test_inputs_of_another_type_are_refused() -> None:
    source, p = image("source"), ScalarParam("gain", UInt(8), UNKNOWN_LOCATION)
    f = func("f", (x,), at(source, x))
    with pytest.raises(PipelineError, match="of type int32, its array of float64"):
        values_of(f, (0, 1), images={source: (np.zeros(1), (0,))})
    with pytest.raises(PipelineError, match="has 1 dimensions, its array 2"):
        values_of(f, (0, 1), images={source: (np.zeros((1, 1), np.int32), (0, 0))})
    with pytest.raises(PipelineError, match="can't be 300: it is of type uint8"):
        values_of(func("f", (x,), ir.ParamRef(UInt(8), p)), (0, 1), params={p: 300})


def test_a_read_outside_of_an_image_names_point_limits_and_definition() -> None:
    source = image("source", INT32, 2)
    f = func("f", (x, y), at(source, x, ir.sub(y, int_(1))))
    with pytest.raises(PipelineError) as error:
        values_of(f, (5, 2), (11, 1), images={source: (random_array((4, 5)), (3, 11))})
    assert '"source" is read at 10 in dimension 1' in error.value.message
    assert "4 elements from 11 to 14" in error.value.message
    assert error.value.location == HERE


def test_both_sides_of_a_select_are_evaluated() -> None:
    source = image("source")
    inside = binary(BinaryOp.LT, x, int_(2))
    f = func("f", (x,), ir.Select(INT32, inside, at(source, x), int_(0)))
    with pytest.raises(PipelineError, match="read at 2"):
        values_of(f, (0, 3), images={source: (np.zeros(2, np.int32), (0,))})
    no_short_cut = func("g", (x,), binary(BinaryOp.AND, inside, binary(BinaryOp.EQ, at(source, x), int_(0))))
    with pytest.raises(PipelineError, match="read at 2"):
        values_of(no_short_cut, (0, 3), images={source: (np.zeros(2, np.int32), (0,))})


def test_points_that_are_not_needed_are_not_evaluated() -> None:
    source = image("source")
    g = func("g", (x,), at(source, x))
    f = func("f", (x,), at(g, ir.mul(x, int_(2))))
    a = np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(values_of(f, (0, 3), images={source: (a, (0,))}), [0, 2, 4])


def test_a_window_that_does_not_fit_is_refused() -> None:
    f = func("f", (x,), x)
    with pytest.raises(PipelineError, match="1 dimensions, the window 2"):
        values_of(f, (0, 1), (0, 1))
    with pytest.raises(PipelineError, match="negative extent"):
        values_of(f, (0, -1))


# ---------------------------------------------------------------------------------------------------------
# Update definitions.


def test_histogram_agrees_with_bincount() -> None:
    source = image("source", UInt(8), 2)
    domain = rdom((0, 30), (0, 20))
    bin = ir.cast(INT32, at(source, rvar(domain, 0), rvar(domain, 1)))
    h = func("h", (x,), int_(0))
    update(h, (bin,), ir.add(itself(h, bin), int_(1)), domain=domain)
    a = random_array((20, 30), UInt(8), 50)
    result = values_of(h, (-2, 60), images={source: (a, (0, 0))})
    np.testing.assert_array_equal(result[2:], np.bincount(a.ravel(), minlength=58))
    np.testing.assert_array_equal(result[:2], 0)


def test_an_equal_but_other_index_expression_reads_the_same_point() -> None:
    # h[r + 0] is not the node r, so this runs as a scan, yet means the same as h[r] += 1.
    domain = rdom((0, 4))
    r = rvar(domain)
    h = func("h", (x,), x)
    update(h, (r,), ir.add(itself(h, ir.add(r, int_(0))), int_(1)), domain=domain)
    np.testing.assert_array_equal(values_of(h, (0, 5)), [1, 2, 3, 4, 4])


def test_matrix_product_agrees_with_numpy() -> None:
    a, b = image("a", F32, 2), image("b", F32, 2)
    domain = rdom((0, 9))
    k = rvar(domain)
    f = func("f", (x, y), ir.const(0.0, F32))
    update(f, (x, y), ir.add(itself(f, x, y), ir.mul(at(a, k, y), at(b, x, k))), domain=domain)
    left, right = random_array((7, 9), F32), random_array((9, 8), F32)
    result = values_of(f, (0, 8), (0, 7), images={a: (left, (0, 0)), b: (right, (0, 0))})
    np.testing.assert_array_equal(result, left @ right)


def test_a_float_sum_is_added_in_the_order_of_the_domain() -> None:
    source = image("source", F32, 2)
    domain = rdom((0, 5), (0, 6))
    f = func("f", (), ir.const(0.0, F32))
    update(f, (), ir.add(itself(f), at(source, rvar(domain, 0), rvar(domain, 1))), domain=domain)
    a = np.random.default_rng(3).random((6, 5), np.float32)
    expected = np.float32(0)
    for value in a.ravel():
        expected = expected + value
    assert values_of(f, images={source: (a, (0, 0))})[()] == expected


def test_prefix_sum_agrees_with_cumsum_from_any_point() -> None:
    source = image("source")
    domain = rdom((1, 49))
    r = rvar(domain)
    f = func("f", (x,), at(source, x))
    update(f, (r,), ir.add(itself(f, ir.sub(r, int_(1))), itself(f, r)), domain=domain)
    a = random_array((50,))
    given = {source: (a, (0,))}
    np.testing.assert_array_equal(values_of(f, (0, 50), images=given), np.cumsum(a))
    np.testing.assert_array_equal(values_of(f, (49, 1), images=given), np.cumsum(a)[-1:])


def test_a_scan_is_evaluated_no_further_than_needed() -> None:
    source = image("source")
    domain = rdom((1, 99))
    r = rvar(domain)
    f = func("f", (x,), int_(0))
    update(f, (r,), ir.add(itself(f, ir.sub(r, int_(1))), at(source, r)), domain=domain)
    a = np.arange(10, dtype=np.int32)
    np.testing.assert_array_equal(values_of(f, (0, 10), images={source: (a, (0,))}), np.cumsum(a))


def test_recursive_filter_along_one_dimension() -> None:
    source = image("source", F32, 2)
    domain = rdom((1, 11))
    r = rvar(domain)
    half = ir.const(0.5, F32)
    f = func("f", (x, y), at(source, x, y))
    update(f, (x, r), ir.add(ir.mul(itself(f, x, ir.sub(r, int_(1))), half), itself(f, x, r)), domain=domain)
    a = random_array((12, 5), F32)
    expected = a.copy()
    for row in range(1, 12):
        expected[row] = expected[row - 1] * np.float32(0.5) + expected[row]
    np.testing.assert_array_equal(values_of(f, (0, 5), (0, 12), images={source: (a, (0, 0))}), expected)


def test_update_definitions_follow_each_other() -> None:
    domain = rdom((0, 4))
    r = rvar(domain)
    f = func("f", (x,), x)
    update(f, (x,), ir.mul(itself(f, x), int_(2)))
    update(f, (int_(3),), ir.add(itself(f, 5), int_(100)))
    update(f, (r,), ir.add(itself(f, r), itself(f, 3)), domain=domain)
    g = func("g", (x,), ir.sub(at(f, x), at(f, 0)))
    expected = np.arange(6, dtype=np.int32) * 2
    expected[3] = expected[5] + 100
    for i in range(4):
        expected[i] += expected[3]
    np.testing.assert_array_equal(values_of(f, (0, 6)), expected)
    np.testing.assert_array_equal(values_of(g, (0, 6)), expected - expected[0])


def test_an_access_to_an_inner_stage_reads_that_stage() -> None:
    f = func("f", (x,), x)
    update(f, (x,), ir.add(itself(f, x), int_(10)))
    g = func("g", (x,), ir.add(ir.mul(at(f, x, stage=0), int_(100)), at(f, x, stage=1)))
    np.testing.assert_array_equal(values_of(g, (1, 2)), [111, 212])


def test_predicates_select_the_iterations_that_write() -> None:
    domain = rdom((0, 10))
    domain.predicate = binary(BinaryOp.LT, rvar(domain), int_(8))
    r = rvar(domain)
    even = binary(BinaryOp.EQ, ir.mod(r, int_(2)), int_(0))
    count = func("count", (), int_(0))
    update(count, (), ir.add(itself(count), int_(1)), domain=domain, where=even)
    marks = func("marks", (x,), int_(-1))
    update(marks, (r,), r, domain=domain, where=even)
    assert values_of(count)[()] == 4
    np.testing.assert_array_equal(values_of(marks, (0, 10)), [0, -1, 2, -1, 4, -1, 6, -1, -1, -1])


def test_a_false_predicate_guards_arguments_and_value() -> None:
    source = image("source")
    domain = rdom((0, 10))
    domain.predicate = binary(BinaryOp.LT, rvar(domain), int_(4))
    r = rvar(domain)
    f = func("f", (x,), int_(0))
    update(f, (at(source, r),), at(source, ir.add(r, int_(0))), domain=domain)
    a = np.array([3, 1, 2, 0], np.int32)
    np.testing.assert_array_equal(values_of(f, (0, 5), images={source: (a, (0,))}), [0, 1, 2, 3, 0])


def test_a_predicate_may_use_pure_variables_and_other_funcs() -> None:
    g = func("g", (x,), ir.mul(x, x))
    domain = rdom((0, 20))
    r = rvar(domain)
    f = func("f", (x,), int_(0))
    update(f, (x,), ir.add(itself(f, x), r), domain=domain, where=binary(BinaryOp.LT, r, at(g, x)))
    expected = [sum(r for r in range(20) if r < v * v) for v in range(-3, 4)]
    np.testing.assert_array_equal(values_of(f, (-3, 7)), expected)


def test_an_update_that_does_not_read_itself_keeps_the_last_write() -> None:
    domain = rdom((0, 10))
    r = rvar(domain)
    f = func("f", (x,), int_(-1))
    update(f, (ir.mod(r, int_(4)),), r, domain=domain)
    np.testing.assert_array_equal(values_of(f, (0, 5)), [8, 9, 6, 7, -1])


def test_the_first_variable_of_a_domain_is_innermost() -> None:
    domain = rdom((1, 3), (5, 2))
    r, s = rvar(domain, 0), rvar(domain, 1)
    f = func("f", (), int_(0))
    digit = ir.add(ir.mul(s, int_(10)), r)
    update(f, (), ir.add(ir.mul(ir.mod(itself(f), int_(10**6)), int_(100)), digit), domain=domain)
    assert values_of(f)[()] == 53616263


def test_an_index_may_depend_on_the_func_itself() -> None:
    # A linked list being written: f[f[0] + 1] = r, f[0] is never changed but by r == 3.
    domain = rdom((0, 6))
    r = rvar(domain)
    f = func("f", (x,), int_(0))
    place = ir.mod(ir.add(itself(f, 0), int_(1)), int_(5))
    update(f, (ir.mod(ir.add(place, r), int_(5)),), ir.add(r, itself(f, 1)), domain=domain)
    expected = [0] * 5
    for i in range(6):
        expected[((expected[0] + 1) % 5 + i) % 5] = i + expected[1]
    np.testing.assert_array_equal(values_of(f, (0, 5)), expected)


def test_an_index_may_depend_on_the_func_itself_along_a_pure_dimension() -> None:
    domain = rdom((0, 6))
    r = rvar(domain)
    f = func("f", (x, y), ir.add(ir.mul(x, int_(3)), y))
    place = ir.mod(ir.add(itself(f, x, 0), r), int_(4))
    update(f, (x, place), ir.add(itself(f, x, 1), x), domain=domain)
    expected = np.array([[3 * column + row for column in range(5)] for row in range(4)], np.int32)
    for column in range(5):
        for i in range(6):
            expected[(expected[0, column] + i) % 4, column] = expected[1, column] + column
    np.testing.assert_array_equal(values_of(f, (0, 5), (0, 4)), expected)


def test_a_swap_of_components_reads_both_before_writing() -> None:
    f = func("f", (x,), x, ir.mul(x, int_(10)))
    update(f, (x,), itself(f, x, component=1), itself(f, x, component=0))
    first, second = values_of(f, (1, 3))
    np.testing.assert_array_equal(first, [10, 20, 30])
    np.testing.assert_array_equal(second, [1, 2, 3])


def test_argmax_as_a_two_component_fold() -> None:
    source = image("source")
    domain = rdom((0, 40))
    r = rvar(domain)
    f = func("f", (), int_(-1), int_(-1))
    better = binary(BinaryOp.LT, itself(f), at(source, r))
    pair = (ir.Select(INT32, better, at(source, r), itself(f)), ir.Select(INT32, better, r, itself(f, component=1)))
    update(f, (), *pair, domain=domain)
    a = random_array((40,))
    top, where = values_of(f, images={source: (a, (0,))})
    assert (top[()], where[()]) == (a.max(), a.argmax())


def test_an_empty_domain_changes_nothing() -> None:
    domain = rdom((0, 0), (0, 5))
    f = func("f", (x,), x)
    update(f, (rvar(domain),), int_(9), domain=domain)
    np.testing.assert_array_equal(values_of(f, (0, 3)), [0, 1, 2])


def test_a_domain_may_depend_on_parameters_and_buffers() -> None:
    source, p = image("source"), ScalarParam("p", INT32, UNKNOWN_LOCATION)
    extent = ir.sub(ir.BufferField(INT32, source, ir.Field.EXTENT, 0), ir.ParamRef(INT32, p))
    domain = rdom((ir.ParamRef(INT32, p), extent))
    f = func("f", (), int_(0))
    update(f, (), ir.add(itself(f), at(source, rvar(domain))), domain=domain)
    a = random_array((9,))
    assert values_of(f, params={p: 4}, images={source: (a, (0,))})[()] == a[4:].sum()


def test_a_domain_of_a_negative_extent_is_empty() -> None:
    p = ScalarParam("p", INT32, UNKNOWN_LOCATION)
    domain = rdom((0, 3), (0, ir.ParamRef(INT32, p)))
    f = func("f", (x,), int_(0))
    update(f, (rvar(domain),), int_(9), domain=domain)
    g = func("g", (x,), at(f, x))
    assert values_of(g, (0, 1), params={p: -2})[0] == 0


# ---------------------------------------------------------------------------------------------------------
# Depth.


def test_a_chain_of_many_funcs_needs_no_deep_stack() -> None:
    f = func("f", (x,), x)
    for _ in range(1000):
        f = func("f", (x,), ir.sub(at(f, ir.add(x, int_(1))), int_(1)))
    before = sys.getrecursionlimit()
    np.testing.assert_array_equal(values_of(f, (0, 3)), [0, 1, 2])
    assert sys.getrecursionlimit() == before


def test_a_long_scan_needs_no_deep_stack() -> None:
    domain = rdom((1, 100_000))
    r = rvar(domain)
    f = func("f", (x,), int_(0))
    update(f, (r,), ir.add(itself(f, ir.sub(r, int_(1))), int_(1)), domain=domain)
    np.testing.assert_array_equal(values_of(f, (100_000, 1)), [100_000])


def test_many_update_definitions_need_no_deep_stack() -> None:
    f = func("f", (x,), x)
    for i in range(400):
        update(f, (int_(i % 3),), ir.add(itself(f, 0), int_(i)))
    expected = list(range(5))
    for i in range(400):
        expected[i % 3] = (expected[0] + i + 2**31) % 2**32 - 2**31
    np.testing.assert_array_equal(values_of(f, (0, 5)), expected)


def test_a_fold_over_a_deep_func_runs_each_iteration_once() -> None:
    scanned = rdom((1, 3000))
    r = rvar(scanned)
    g = func("g", (x,), int_(0))
    update(g, (r,), ir.add(itself(g, ir.sub(r, int_(1))), int_(1)), domain=scanned)
    folded = rdom((0, 30))
    f = func("f", (), int_(0))
    update(f, (), ir.add(itself(f), at(g, ir.sub(int_(3000), ir.mul(rvar(folded), int_(90))))), domain=folded)
    assert values_of(f)[()] == sum(3000 - 90 * i for i in range(30))


def test_an_index_through_a_deep_func_needs_no_deep_stack() -> None:
    scanned = rdom((1, 2000))
    r = rvar(scanned)
    g = func("g", (x,), int_(0))
    update(g, (r,), ir.add(itself(g, ir.sub(r, int_(1))), int_(1)), domain=scanned)
    written = rdom((0, 10))
    f = func("f", (x,), int_(0))
    s = rvar(written)
    update(f, (ir.sub(at(g, ir.sub(int_(2000), s)), int_(1990)),), s, domain=written)
    np.testing.assert_array_equal(values_of(f, (0, 12)), [0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0])


# ---------------------------------------------------------------------------------------------------------
# Programs that the validity rules exclude.


def test_a_moved_pure_dimension_is_an_internal_error() -> None:
    f = func("f", (x,), x)
    update(f, (x,), itself(f, ir.add(x, int_(1))))
    with pytest.raises(InternalError, match="moves a pure dimension"):
        values_of(f, (0, 1))


def test_a_pure_definition_that_reads_itself_is_an_internal_error() -> None:
    f = func("f", (x,), x)
    f.definitions[0] = Definition((x,), (at(f, x),), None, ir.TRUE, HERE)
    with pytest.raises(InternalError, match="reads"):
        values_of(f, (0, 1))


def test_a_domain_over_a_func_is_an_internal_error() -> None:
    domain = rdom((0, at(func("g", (), int_(3)))))
    f = func("f", (x,), x)
    update(f, (rvar(domain),), int_(1), domain=domain)
    with pytest.raises(InternalError, match="no startup expression"):
        values_of(f, (0, 1))


def test_a_free_variable_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match='"y" has no meaning'):
        values_of(func("f", (x,), ir.add(x, y)), (0, 1))


# ---------------------------------------------------------------------------------------------------------
# Random update definitions against an eager, imperative simulation.

SIZE = 5
Memory = list[int]
Term = tuple[Callable[[Function, ir.ExprNode, ir.ExprNode], ir.ExprNode], Callable[[Memory, int, int], int]]


def clamped(e: ir.ExprNode) -> ir.ExprNode:
    return ir.mod(e, int_(SIZE))


TERMS: list[Term] = [
    (lambda f, r, s: r, lambda m, r, s: r),
    (lambda f, r, s: s, lambda m, r, s: s),
    (lambda f, r, s: int_(2), lambda m, r, s: 2),
    (lambda f, r, s: ir.add(r, ir.mul(s, int_(3))), lambda m, r, s: r + 3 * s),
    (lambda f, r, s: itself(f, clamped(r)), lambda m, r, s: m[r % SIZE]),
    (lambda f, r, s: itself(f, clamped(ir.sub(s, r))), lambda m, r, s: m[(s - r) % SIZE]),
    (lambda f, r, s: itself(f, clamped(itself(f, clamped(s)))), lambda m, r, s: m[m[s % SIZE] % SIZE]),
    (lambda f, r, s: itself(f, 1), lambda m, r, s: m[1]),
]
STAGE = st.tuples(*[st.sampled_from(range(len(TERMS)))] * 5, st.integers(0, 4), st.integers(0, 3))


@checked
@given(st.lists(STAGE, min_size=1, max_size=3), st.permutations(range(SIZE)))
def test_random_updates_agree_with_an_eager_simulation(stages: list[tuple[int, ...]], order: list[int]) -> None:
    f = func("f", (x,), ir.sub(ir.mul(x, int_(7)), int_(3)))
    memory = [7 * i - 3 for i in range(SIZE)]
    for where, first, second, left, right, width, height in stages:
        domain = rdom((-1, width), (2, height))
        r, s = rvar(domain, 0), rvar(domain, 1)
        build = [TERMS[i][0](f, r, s) for i in (where, first, second, left, right)]
        test = binary(BinaryOp.LE, clamped(build[3]), clamped(build[4]))
        update(f, (clamped(build[0]),), ir.add(build[1], build[2]), domain=domain, where=test)
        for j in range(2, 2 + height):
            for i in range(-1, width - 1):
                run = [TERMS[k][1](memory, i, j) for k in (where, first, second, left, right)]
                if run[3] % SIZE <= run[4] % SIZE:
                    memory[run[0] % SIZE] = run[1] + run[2]
    g = func("g", (x,), at(f, x))
    for point in order[:2]:
        assert values_of(g, (point, 1))[0] == memory[point]
    np.testing.assert_array_equal(values_of(f, (0, SIZE)), memory)
