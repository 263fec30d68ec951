"""Funcs, inputs and Buffers made or asked wrongly. Cases are made as in ``test_expressions``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x, y = hl.Var("x"), hl.Var("y")
POINTER, NO_BUFFER = hl.Param(hl.Handle(), "pointer"), hl.Buffer()
Case = tuple[Callable[[], Any], type[hl.HalideError], tuple[str, ...], str]
anything: Any = object()
number: Any = 3
half: Any = 1.5


def f() -> hl.Func:
    made = hl.Func("f")
    made[x, y] = x + y
    return made


def typed(type: hl.Type, dimensions: int) -> hl.Func:
    return hl.Func(type, dimensions, "g")


def put(func: hl.Func, at: Any, value: Any) -> None:
    func[at] = value


def param() -> hl.Param:
    return hl.Param(hl.UInt(8), "p")


def image() -> hl.ImageParam:
    return hl.ImageParam(hl.UInt(8), 2, "image")


def buffer() -> hl.Buffer:
    return hl.Buffer(np.zeros((3, 4), np.uint8), "data")


FUNCS: list[Case] = [
    (lambda: typed(hl.Float(32), 1).define_extern("c", [], hl.Int(32), 1), hl.TypeMismatchError,
     ('"g"', "float32", "int32"), "define_extern("),
    (lambda: typed(hl.Int(32), 1).define_extern("c", [], hl.Int(32), 2), hl.DefinitionError,
     ('"g"', "exactly 1 dimensions"), "define_extern("),
    (lambda: hl.Func("u").output_buffer(), hl.DefinitionError, ('"u"', "not defined"), "output_buffer()"),
    (lambda: typed(hl.Int(32), 1).output_buffer().dim(1), hl.DefinitionError, ('"g"', "1 dimensions"), "dim(1)"),
    (lambda: typed(hl.Int(32), 1).output_buffer().dim(0).set_estimate(0, 5), hl.DefinitionError,
     ('"g"', "not defined", "set_estimate"), "set_estimate("),
    (lambda: f()[x, 1.5], hl.TypeMismatchError, ('"f"', "float32", "argument 2"), "f()[x, 1.5]"),
    (lambda: f()[x, hl.i64(y)], hl.TypeMismatchError, ('"f"', "int64", "hl.i32("), "f()[x, hl.i64(y)]"),
    (lambda: f()[x, y, 0], hl.DefinitionError, ('"f"', "2 dimensions", "3"), "f()[x, y, 0]"),
    (lambda: f()[x, y][0], hl.DefinitionError, ("Tuple",), "f()[x, y][0]"),
    (lambda: list(f()), hl.DefinitionError, ('"f"', "iterated", "realize"), "list(f())"),  # type: ignore[call-overload]
    (lambda: f()(x, y), hl.DefinitionError, ('"f"', "f[x, y]"), "f()(x, y)"),  # type: ignore[func-returns-value]
    (lambda: f().update(2), hl.ScheduleError, ('"f"', "update(2)", "0"), "f().update(2)"),
    (lambda: f().update_value(), hl.DefinitionError, ('"f"', "update(0)"), "f().update_value()"),
    (lambda: hl.Func("u").value(), hl.DefinitionError, ('"u"', "not defined"), 'hl.Func("u").value()'),
    (lambda: hl.Func("u").type(), hl.DefinitionError, ('"u"', "not defined"), 'hl.Func("u").type()'),
    (lambda: 1 + hl.Func("u")[x], hl.DefinitionError, ('"u"', "not yet"), '1 + hl.Func("u")[x]'),
    (lambda: 1 + hl.Func("u")[hl._], hl.DefinitionError, ('"u"', '"_"'), '1 + hl.Func("u")[hl._]'),
    # Alone, what is to the right of + would be the first definition of u.
    (lambda: hl.Func("u")[x] + 1 + 2, hl.DefinitionError, ('"u"', "before"), 'hl.Func("u")[x] + 1 + 2'),
    (lambda: hl.f32(hl.Func("u")[hl._] * 3), hl.DefinitionError, ('"u"', '"_"'), 'hl.f32(hl.Func("u")[hl._] * 3)'),
    (lambda: hl.Func(anything), hl.DefinitionError, ("Func",), "hl.Func(anything)"),
    (lambda: hl.Func(hl.UInt(8)), hl.DefinitionError, ("dimensions",), "hl.Func(hl.UInt(8))"),
    (lambda: put(hl.Func("g"), (x + 1,), 0), hl.DefinitionError, ('"g"',), "func[at] = value"),
    (lambda: put(hl.Func("g"), x, "text"), hl.TypeMismatchError, ("str",), "func[at] = value"),
    (lambda: put(hl.Func("g"), x, [[1]]), hl.TypeMismatchError, ("list",), "func[at] = value"),
    (lambda: put(typed(hl.UInt(8), 1), x, x), hl.TypeMismatchError, ('"g"', "uint8", "int32"), "func[at] = value"),
    (lambda: put(typed(hl.Int(32), 2), x, x), hl.DefinitionError, ('"g"', "2 dimensions"), "func[at] = value"),
    (lambda: hl.lambda_func(*()), hl.DefinitionError, ("lambda_func",), "hl.lambda_func(*())"),
    (lambda: hl.Var(""), hl.DefinitionError, ("Var", "name"), 'hl.Var("")'),
    (lambda: hl.Var(number), hl.DefinitionError, ("Var", "3"), "hl.Var(number)"),
    (lambda: hl.Var.implicit(12), hl.DefinitionError, ("12",), "hl.Var.implicit(12)"),
    (lambda: hl.Pipeline(anything), hl.PipelineError, ("Pipeline",), "hl.Pipeline(anything)"),
    (lambda: hl.Pipeline([]), hl.PipelineError, ("Pipeline",), "hl.Pipeline([])"),
]

def unallocated() -> hl.Buffer:
    return hl.Buffer.make_bounds_query(hl.UInt(8), [4, 3])


PARTS: list[Case] = [
    (lambda: hl.VarOrRVar(number), hl.DefinitionError, ("VarOrRVar", "3"), "hl.VarOrRVar(number)"),
    (lambda: hl.VarOrRVar("x"), hl.DefinitionError, ("VarOrRVar", "'x'"), 'hl.VarOrRVar("x")'),
    (lambda: hl.VarOrRVar(x, True), hl.DefinitionError, ("VarOrRVar",), "hl.VarOrRVar(x, True)"),
    (lambda: f().unroll(hl.VarOrRVar(x), 0), hl.ScheduleError, ("factor", "0"), "f().unroll(hl.VarOrRVar(x), 0)"),
    (lambda: hl.Argument(number), hl.PipelineError, ("Argument", "Param", "3"), "hl.Argument(number)"),
    (lambda: image().store_in(hl.MemoryType.Stack), hl.DefinitionError, ('"image"', "Heap"), "image().store_in"),
    (lambda: unallocated()[0, 0], hl.HalideError, ("no memory", "allocate()"), "unallocated()[0, 0]"),
    (lambda: unallocated().fill(3), hl.HalideError, ("no memory",), "unallocated().fill(3)"),
    (lambda: buffer().set_region([(0, 1)]), hl.HalideError, ("has memory",), "buffer().set_region([(0, 1)])"),
    (lambda: hl.Handle().max(), hl.DefinitionError, ("handle64", "pointer"), "hl.Handle().max()"),
    (lambda: POINTER + 2, hl.TypeMismatchError, ("+", "'pointer'", "reinterpret"), "POINTER + 2"),
    (lambda: hl.u64(2) - POINTER, hl.TypeMismatchError, ("-", "'pointer'"), "- POINTER"),
    (lambda: POINTER == 0, hl.TypeMismatchError, ("==", "'pointer'"), "POINTER == 0"),
    (lambda: ~POINTER, hl.TypeMismatchError, ("~", "'pointer'"), "~POINTER"),
    (lambda: POINTER << 1, hl.TypeMismatchError, ("<<", "'pointer'"), "POINTER << 1"),
    (lambda: POINTER**2, hl.TypeMismatchError, ("**", "'pointer'"), "POINTER**2"),
    (lambda: NO_BUFFER.dim(0), hl.HalideError, ("undefined", "defined()"), "NO_BUFFER.dim(0)"),
    (lambda: 1 + NO_BUFFER.width(), hl.HalideError, ("undefined",), "NO_BUFFER.width()"),
    (lambda: NO_BUFFER[0], hl.HalideError, ("undefined",), "NO_BUFFER[0]"),
    (lambda: NO_BUFFER.set_min([0]), hl.HalideError, ("undefined",), "NO_BUFFER.set_min([0])"),
    (lambda: hl.Func(NO_BUFFER), hl.HalideError, ("undefined",), "hl.Func(NO_BUFFER)"),
    (lambda: hl.Buffer(NO_BUFFER).width(), hl.HalideError, ("undefined",), "width()"),
    (lambda: hl.Param(hl.Handle(2)), hl.DefinitionError, ("Param", "handle64x2"), "hl.Param(hl.Handle(2))"),
    (lambda: hl.Buffer(hl.Handle(), [3]), hl.DefinitionError, ("Buffer", "handle64"), "hl.Buffer(hl.Handle(), [3])"),
]


INPUTS: list[Case] = [
    (lambda: hl.Param(number), hl.DefinitionError, ("Param", "hl.Int(32)"), "hl.Param(number)"),
    (lambda: hl.Param(hl.UInt(8), "p", 300), hl.TypeMismatchError, ('"p"', "300"), 'hl.Param(hl.UInt(8), "p", 300)'),
    (lambda: hl.Param(hl.UInt(8), 3, 4), hl.DefinitionError, ("name", "3"), "hl.Param(hl.UInt(8), 3, 4)"),
    (lambda: param().set(half), hl.TypeMismatchError, ('"p"', "1.5"), "param().set(half)"),
    (lambda: param().set_range(9, 3), hl.DefinitionError, ('"p"', "empty", "9"), "param().set_range(9, 3)"),
    (lambda: param().set_max_value(256), hl.TypeMismatchError, ('"p"', "256"), "param().set_max_value(256)"),
    (lambda: param().set_min_value(x + 0), hl.DefinitionError, ('"p"', "constant"), "param().set_min_value(x + 0)"),
    (lambda: param() + 300, hl.TypeMismatchError, ("300", "uint8"), "param() + 300"),
    (lambda: hl.ImageParam(number, 2), hl.DefinitionError, ("ImageParam",), "hl.ImageParam(number, 2)"),
    (lambda: hl.ImageParam(hl.UInt(8), -1), hl.DefinitionError, ("-1",), "hl.ImageParam(hl.UInt(8), -1)"),
    (lambda: image()[x], hl.DefinitionError, ('"image"', "2 dimensions", "1"), "image()[x]"),
    (lambda: image()[x, 0.5], hl.TypeMismatchError, ('"image"', "float32"), "image()[x, 0.5]"),
    (lambda: image().dim(2), hl.DefinitionError, ('"image"', "2 dimensions", "2"), "image().dim(2)"),
    (lambda: image().dim(0).set_bounds(0, -3), hl.DefinitionError, ("-3", "negative"), "set_bounds(0, -3)"),
    (lambda: image().dim(0).set_min(x), hl.DefinitionError, ('"x"', "starts"), "set_min(x)"),
    (lambda: image().dim(1).set_stride(half), hl.DefinitionError, ("set_stride", "1.5"), "set_stride(half)"),
    (lambda: image().set_host_alignment(3), hl.DefinitionError, ("power of two", "3"), "set_host_alignment(3)"),
    (lambda: image().set([1, 2]), hl.DefinitionError, ("list",), "image().set([1, 2])"),  # type: ignore[arg-type]
    (lambda: image().set(np.zeros((2, 2))), hl.TypeMismatchError, ('"image"', "float64"), "image().set(np.zeros("),
]

BUFFERS: list[Case] = [
    (lambda: buffer()[4, 0], hl.CoordinateError, ('"data"', "4"), "buffer()[4, 0]"),
    (lambda: buffer()[0, -1], hl.CoordinateError, ('"data"', "-1"), "buffer()[0, -1]"),
    (lambda: buffer()[0], hl.HalideError, ('"data"', "2"), "buffer()[0]"),
    (lambda: buffer()[x], hl.DefinitionError, ('"data"', "2 dimensions"), "buffer()[x]"),
    (lambda: buffer().dim(2), hl.DefinitionError, ('"data"', "2"), "buffer().dim(2)"),
    (lambda: buffer().fill(300), hl.TypeMismatchError, ('"data"', "300"), "buffer().fill(300)"),
    (lambda: buffer().__setitem__((0, 0), 1.5), hl.TypeMismatchError, ('"data"', "1.5"), "__setitem__((0, 0), 1.5)"),
    (lambda: hl.Buffer(number), hl.DefinitionError, ("Buffer", "int"), "hl.Buffer(number)"),
    (lambda: hl.Buffer(hl.UInt(8), 3), hl.DefinitionError, ("sizes", "3"), "hl.Buffer(hl.UInt(8), 3)"),  # type: ignore[arg-type]
    (lambda: hl.Buffer(hl.UInt(8), [half]), hl.DefinitionError, ("sizes", "1.5"), "hl.Buffer(hl.UInt(8), [half])"),
    (lambda: hl.Buffer(hl.UInt(8), [-1]), hl.DefinitionError, ("negative", "-1"), "hl.Buffer(hl.UInt(8), [-1])"),
    (lambda: hl.Buffer(hl.UInt(8), [2, 2], [0, 0]), hl.DefinitionError, ("[0, 0]", "2"), "[2, 2], [0, 0])"),
    (lambda: hl.Buffer(np.zeros(3, complex)), hl.HalideError, ("complex128",), "np.zeros(3, complex)"),
]


@pytest.mark.parametrize("case", FUNCS, ids=lambda case: case[3])
def test_func_made_or_used_wrongly_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)


@pytest.mark.parametrize("case", PARTS, ids=lambda case: case[3])
def test_part_made_or_used_wrongly_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)


@pytest.mark.parametrize("case", INPUTS, ids=lambda case: case[3])
def test_input_made_or_used_wrongly_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)


@pytest.mark.parametrize("case", BUFFERS, ids=lambda case: case[3])
def test_buffer_made_or_used_wrongly_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)
